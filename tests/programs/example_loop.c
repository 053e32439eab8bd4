/* example_loop.c - an example that has the library in an event loop (EXAMPLE: poll, libuv,
 * libevent or asio), on real masters: it renews its lock, waits its turn, and ends cleanly when it is
 * done, told to end, or lost the lock. FOUND is "no" where configure found no such library. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"
#include "program.h"
#include "stall.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "job:count"
/* Shorter than what an example does under its lock: one that does not renew is too late. */
#define SETTINGS "max-ttl 10s\nttl 1200ms\n"

enum { NODES = 3, STEPS = 10, LIMIT_MS = 30000, PATH_SIZE = 4096 };

static struct masters *masters;
static char node_file[SUITE_PATH_MAX + 16];
static char directory[SUITE_PATH_MAX]; /* of the file "counter" */

static void set_up(void)
{
    masters = masters_start(NODES, NULL);
    snprintf(node_file, sizeof(node_file), "%s", masters_file(masters, SETTINGS));
    suite_new_dir(directory);
}

static void path_of(const char *example, char *ret_path, size_t size)
{
    const char *build = getenv("builddir");
    snprintf(ret_path, size, "%s/examples/%s", build && *build ? build : ".", example);
}

static struct program *start(const char *example)
{
    const struct program_how how = {.directory = directory};
    char path[PATH_SIZE];
    char absolute[PATH_SIZE];
    path_of(example, path, sizeof(path));
    if (!realpath(path, absolute))
        suite_die("there is no %s; set builddir", path);
    return program_start(&how, (const char *const[]){absolute, node_file, NAME, NULL});
}

static long counter(void)
{
    char path[SUITE_PATH_MAX + 16];
    char text[32];
    snprintf(path, sizeof(path), "%s/counter", directory);
    file_text(path, text, sizeof(text));
    return strtol(text, NULL, 10);
}

/* The steps that it says were done, at its end. */
static long steps_of(struct program *program)
{
    const char *line = strstr(program_out(program), " steps\n");
    ck_assert_msg(line != NULL, "%s%s", program_out(program), program_err(program));
    while (line > program_out(program) && line[-1] != '\n')
        line--;
    return strtol(line, NULL, 10);
}

/* It did all, and says nothing on stderr. False: its lease was over in the midst of it. */
static bool is_done(struct program *program)
{
    int status = program_wait(program, LIMIT_MS);
    bool done = status == 0;
    bool lost = strstr(program_err(program), "lost the lock\n") ||
                strstr(program_err(program), "too late to write\n");
    ck_assert_msg(done || (status == 1 && lost), "%d: %s", status, program_err(program));
    if (done) {
        ck_assert_str_eq(program_err(program), "");
        ck_assert_int_eq(steps_of(program), STEPS);
    }
    return done;
}

/* A machine that stalls for longer than a lease makes it lose the lock. */
enum { PLAYS = 4 };

static void forget_counter(void)
{
    char path[SUITE_PATH_MAX + 16];
    snprintf(path, sizeof(path), "%s/counter", directory);
    (void)remove(path);
}

/* It ended early with `text`, and every step that it did is in the file, no other. */
static void expect_ended(struct program *program, const char *text)
{
    ck_assert_int_eq(program_wait(program, LIMIT_MS), 1);
    ck_assert_str_eq(program_err(program), text);
    ck_assert_int_lt(steps_of(program), STEPS);
    ck_assert_int_eq(steps_of(program), counter());
}

static bool is_free(void)
{
    return masters_with(masters, NAME) == 0;
}

static bool holds_for_longer(void)
{
    forget_counter();
    struct program *program = start(EXAMPLE);
    ck_assert(wait_until(program_printed(program, "taken\n"), LIMIT_MS));
    bool held = wait_until(masters_with(masters, NAME) >= 2, 1000);
    return is_done(program) && held;
}

TEST(example, it_holds_lock_for_longer_than_lease)
{
    ck_assert(met_unless_stalled(holds_for_longer(), STALL_MS, PLAYS));
    ck_assert_int_eq(counter(), STEPS);
    ck_assert(wait_until(is_free(), 1000)); /* less than a lease */
}

/* One of three masters that is gone, or stands, costs nothing. */
TEST(example, with_master_that_is_stopped)
{
    master_pause(masters, 0);
    ck_assert(met_unless_stalled((forget_counter(), is_done(start(EXAMPLE))), STALL_MS, PLAYS));
    master_resume(masters, 0);
    ck_assert_int_eq(counter(), STEPS);
    ck_assert(wait_until(is_free(), 5000));
}

/* A number that was read before another's was written would be lost. */
static bool all_take_turns(void)
{
    bool done = true;
    forget_counter();
    struct program *program[3] = {start(EXAMPLE), start("poll"), start(EXAMPLE)};
    for (int i = 0; i < 3; i++)
        done = is_done(program[i]) && done;
    return done;
}

TEST(example, they_take_turns)
{
    ck_assert(met_unless_stalled(all_take_turns(), STALL_MS, PLAYS));
    ck_assert_int_eq(counter(), 3 * STEPS);
    ck_assert(wait_until(is_free(), 1000));
}

/* It has the lock, and has begun. */
static void expect_working(struct program *program)
{
    ck_assert_msg(wait_until(counter() > 0, LIMIT_MS), "%s%s", program_out(program),
                  program_err(program));
}

static const int endings[] = {SIGTERM, SIGINT};

TEST(example, told_to_end_while_it_works, .rows = 2)
{
    struct program *program = start(EXAMPLE);
    expect_working(program);
    ck_assert_int_eq(kill(program->pid, endings[_i]), 0);
    expect_ended(program, "");
    ck_assert_int_gt(counter(), 0);
    ck_assert(wait_until(is_free(), 1000));
}

TEST(example, told_to_end_while_it_waits, .rows = 2)
{
    CLIENT client = client_open(node_file);
    redlock_lock *lock = client_take(client, NAME);
    struct program *program = start(EXAMPLE);
    ck_assert_msg(wait_until(program_printed(program, "waiting for " NAME "\n"), LIMIT_MS),
                  "%s%s", program_out(program), program_err(program));
    ck_assert_int_eq(kill(program->pid, endings[_i]), 0);
    expect_ended(program, "not taken: canceled\n");
    ck_assert_int_eq(counter(), 0);
    ck_assert_int_eq(redlock_release(lock), 0); /* it is ours as before */
}

TEST(example, it_stops_when_lock_is_taken_away)
{
    struct program *program = start(EXAMPLE);
    expect_working(program);
    for (unsigned i = 0; i < NODES; i++)
        (void)master_do(masters, i, "DEL", NAME, NULL);
    expect_ended(program, "lost the lock\nreleasing: the lock was lost or had run out\n");
    ck_assert(wait_until(is_free(), 1000));
}

TEST(example, wrong_arguments_are_told_with_usage)
{
    char path[PATH_SIZE];
    struct program *program = NULL;
    path_of(EXAMPLE, path, sizeof(path));
    ck_assert_int_eq(program_run(NULL, (const char *const[]){path, NULL}, &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), "usage: " EXAMPLE " NODES NAME"));
    const char *const missing[] = {path, "/nowhere/nodes.conf", NAME, NULL};
    ck_assert_int_eq(program_run(NULL, missing, &program), 1);
    ck_assert_ptr_nonnull(strstr(program_err(program), "/nowhere/nodes.conf"));
}

CASE(example, .timeout_s = 60, .set_up = set_up)

int main(void)
{
    if (strcmp(FOUND, "no") == 0) {
        puts("configure found no " EXAMPLE " that can be used: the example is not built, and "
             "not tested");
        return 77; /* skipped, to automake */
    }
    return suite_main();
}
