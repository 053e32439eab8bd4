/* test_example_fenced_store.c - examples/fenced_store.c on real masters: writers in turn are
 * served, and one that was stopped for longer than its lease is refused. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "fenced_store"
#define SETTINGS "max-ttl 10s\nttl 1200ms\nconnect-timeout 10s\n"

enum { NODES = 3, LIMIT_MS = 30000, LEASE_MS = 1200, PATH_SIZE = 4096 };

static struct masters *masters;
static char node_file[SUITE_PATH_MAX + 16];
static char directory[SUITE_PATH_MAX];
static char store[SUITE_PATH_MAX + 16];

static void set_up(void)
{
    masters = masters_start(NODES, NULL);
    snprintf(node_file, sizeof(node_file), "%s", masters_file(masters, SETTINGS));
    suite_new_dir(directory);
    snprintf(store, sizeof(store), "%s/shelf", directory);
}

static void tear_down(void)
{
    masters_stop(masters);
    suite_remove_dir(directory);
}

static struct program *start(const char *text, const char *stop)
{
    const char *build = getenv("builddir");
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/examples/fenced_store", build && *build ? build : ".");
    return program_start(NULL, (const char *const[]){path, node_file, store, text, stop, NULL});
}

/* The token that the store has, with this text. */
static unsigned long long stored(const char *expected)
{
    char line[128], text[64] = "";
    unsigned long long token = 0;
    file_text(store, line, sizeof(line));
    ck_assert_msg(sscanf(line, "%llu %63s\n", &token, text) == 2, "%s", line);
    ck_assert_str_eq(text, expected);
    return token;
}

static void expect_written(struct program *program)
{
    int status = program_wait(program, LIMIT_MS);
    ck_assert_msg(status == 0, "%d: %s", status, program_err(program));
    ck_assert(program_printed(program, "written with token "));
}

/* A writer between its look at the lease and its write. */
static struct program *start_stopped(const char *text)
{
    struct program *program = start(text, "stop");
    ck_assert(wait_until(process_stands(program->pid), LIMIT_MS));
    ck_assert_uint_ge(masters_with(masters, NAME), 2);
    return program;
}

TEST(fenced_store, writers_in_turn_are_served)
{
    unsigned long long before = 0;
    static const char *const texts[] = {"one", "second", "3"};
    for (int i = 0; i < 3; i++) {
        expect_written(start(texts[i], NULL));
        ck_assert_uint_gt(stored(texts[i]), before);
        before = stored(texts[i]);
    }
    ck_assert(wait_until(masters_with(masters, NAME) == 0, LEASE_MS / 2)); /* given back */
}

/* What it is all for. */
TEST(fenced_store, writer_that_was_stopped_past_its_lease_is_refused)
{
    struct program *early = start_stopped("early");
    expect_written(start("late", NULL)); /* it waits for the end of the lease */
    unsigned long long token = stored("late");
    kill(early->pid, SIGCONT);
    ck_assert_int_eq(program_wait(early, LIMIT_MS), 1);
    char expected[64];
    snprintf(expected, sizeof(expected), "refused: the store has seen token %llu, ", token);
    ck_assert_msg(strstr(program_err(early), expected), "%s", program_err(early));
    ck_assert_str_eq(program_out(early), "");
    ck_assert_uint_eq(stored("late"), token);
}

/* The token is the last one still: nobody is harmed. */
TEST(fenced_store, writer_that_was_stopped_while_nobody_wrote_is_served)
{
    expect_written(start("before", NULL));
    unsigned long long token = stored("before");
    struct program *program = start_stopped("alone");
    ck_assert(wait_until(masters_with(masters, NAME) == 0, LIMIT_MS));
    kill(program->pid, SIGCONT);
    expect_written(program);
    ck_assert_uint_gt(stored("alone"), token);
}

TEST(fenced_store, wrong_arguments_are_told_with_usage)
{
    struct program *program = start("text", "halt");
    ck_assert_int_eq(program_wait(program, LIMIT_MS), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "usage: fenced_store NODES FILE TEXT"));
}

CASE(fenced_store, .set_up = set_up, .tear_down = tear_down, .timeout_s = 60)
