/* tags: long unsanitized */
/* test_run_kinds.c - redlock run with every kind of lock: who runs at once, who waits and in
 * which order, and what is left when somebody is killed. */
#include "config_auto.h"

#include "cli_rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char go[SUITE_PATH_MAX + 16]; /* commands wait for it */

/* A command that says `word`, and ends when the file is there. */
static struct program *begin(const char *kind, const char *name, const char *ttl,
                             const char *word)
{
    char script[2 * SUITE_PATH_MAX];
    snprintf(script, sizeof(script), "echo %s; while [ ! -e %s ]; do sleep 0.02; done", word,
             go);
    return program_start(NULL, REDLOCK("run", kind, "--ttl", ttl, "--wait", "60s", name, "--",
                                       "sh", "-c", script));
}

static void set_go(struct masters *masters, int number)
{
    snprintf(go, sizeof(go), "%s/go.%d", masters->node[0].dir, number);
    unlink(go);
}

static void finish(struct program *program)
{
    ck_assert_int_eq(program_wait(program, 20000), 0);
}

/* How many wait, or listen, as inspect sees it. */
static unsigned count_waiting(const char *name)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL, REDLOCK("inspect", "--json", name), &program), 0);
    const char *last = NULL, *at = program_out(program);
    while ((at = strstr(at, "\"waiting\":")) != NULL)
        last = at += strlen("\"waiting\":");
    ck_assert_ptr_nonnull(last);
    unsigned count = (unsigned)strtoul(last, NULL, 10);
    return count;
}

/* Two readers run at once, a writer waits for both; a reader that comes then waits for it. */
TEST(kinds, readers_run_at_once_and_writer_waits, .rows = 2)
{
    cli_choose(_i == 0, NULL);
    set_go(cli_masters, 1);
    struct program *one = begin("--shared", "rw", "5s", "one");
    struct program *two = begin("--shared", "rw", "5s", "two");
    ck_assert(wait_until(program_printed(one, "one") && program_printed(two, "two"), 10000));
    struct program *writer = program_start(
        NULL, REDLOCK("run", "--exclusive", "--wait", "60s", "rw", "--", "echo", "wrote"));
    ck_assert(wait_until(count_waiting("rw") >= 1, 10000));
    pause_ms(300); /* whoever runs too early has the time to */
    ck_assert(!program_printed(writer, "wrote"));
    ck_assert(process_lives(one->pid) && process_lives(two->pid));
    file_write(go, "");
    finish(one);
    finish(two);
    ck_assert_int_eq(program_wait(writer, 20000), 0);
    ck_assert(program_printed(writer, "wrote"));
}

TEST(kinds, writer_keeps_all_others_out, .rows = 2)
{
    cli_choose(_i == 0, NULL);
    set_go(cli_masters, 2);
    struct program *writer = begin("--exclusive", "wr", "5s", "writes");
    ck_assert(wait_until(program_printed(writer, "writes"), 10000));
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--shared", "--try", "wr", "--", "true"), NULL), 75);
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", "--exclusive", "--try", "wr", "--", "true"), NULL),
        75);
    struct program *readers[2];
    for (int i = 0; i < 2; i++)
        readers[i] = program_start(
            NULL, REDLOCK("run", "--shared", "--wait", "60s", "wr", "--", "echo", "read"));
    ck_assert(wait_until(count_waiting("wr") >= 2, 10000));
    ck_assert(!program_printed(readers[0], "read") && !program_printed(readers[1], "read"));
    file_write(go, "");
    finish(writer);
    finish(readers[0]);
    finish(readers[1]);
}

/* In the order they came, whoever is quicker. */
TEST(kinds, fair_waiters_run_in_order)
{
    enum { WAITERS = 4 };
    char log[SUITE_PATH_MAX + 16], script[2 * SUITE_PATH_MAX], text[64];
    struct program *waiters[WAITERS];
    cli_choose(true, NULL);
    set_go(cli_masters, 3);
    snprintf(log, sizeof(log), "%s/order", cli_masters->node[0].dir);
    unlink(log);
    struct program *holder = begin("--fair", "fair", "5s", "holds");
    ck_assert(wait_until(program_printed(holder, "holds"), 10000));
    for (unsigned i = 0; i < WAITERS; i++) {
        snprintf(script, sizeof(script), "echo %u >> %s", i, log);
        waiters[i] = program_start(
            NULL, REDLOCK("run", "--fair", "--wait", "60s", "fair", "--", "sh", "-c", script));
        ck_assert(wait_until(count_waiting("fair") == i + 1, 10000));
    }
    file_write(go, "");
    finish(holder);
    for (unsigned i = 0; i < WAITERS; i++)
        finish(waiters[i]);
    file_text(log, text, sizeof(text));
    ck_assert_str_eq(text, "0\n1\n2\n3\n");
    ck_assert_int_eq(master_do(cli_lone, 0, "DBSIZE", NULL).number, 0); /* nothing is left */
}

/* A command may run itself under the lock that it has, by its owner's name. */
TEST(kinds, reentrant_lock_is_taken_by_nested_run, .rows = 2)
{
    struct program *program = NULL;
    cli_choose(_i == 0, NULL);
    ck_assert_int_eq(
        program_run(NULL,
                    REDLOCK("run", "--reentrant", "--owner", "job", "nested", "--",
                            program_redlock(), "run", "--reentrant", "--owner", "job", "--try",
                            "nested", "--", "sh", "-c", "echo \"$REDLOCK_KIND\"; exit 7"),
                    &program),
        7);
    ck_assert_str_eq(program_out(program), "reentrant\n");
    ck_assert_int_eq(
        program_run(NULL,
                    REDLOCK("run", "--reentrant", "nested", "--", program_redlock(), "run",
                            "--reentrant", "--try", "nested", "--", "true"),
                    NULL),
        75); /* another process is another owner */
}

TEST(kinds, several_names_are_held_while_it_runs, .rows = 2)
{
    struct program *program = NULL;
    cli_choose(_i == 0, NULL);
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "second", "first", "--", "sh", "-c",
                                         "echo \"$REDLOCK_NAME\"; \"$0\" lock first; echo $?; "
                                         "\"$0\" lock second; echo $?",
                                         program_redlock()),
                                 &program),
                     0);
    ck_assert_str_eq(program_out(program), "second\nfirst\n75\n75\n");
    struct masters *all = _i == 0 ? cli_lone : cli_masters;
    ck_assert(wait_until(masters_with(all, "first") + masters_with(all, "second") == 0, 5000));
}

/* ---- killed, and lost ------------------------------------------------------------------- */

static const char *const options[] = {"--reentrant", "--shared", "--exclusive", "--fair"};
enum { OPTIONS = sizeof(options) / sizeof(options[0]) };

/* It is killed: its command goes with it, and its lease is over soon. */
TEST(kinds, killed_waiter_keeps_nobody_out_for_long, .rows = 2 * OPTIONS)
{
    const char *option = options[_i / 2];
    bool one = _i % 2 == 0;
    if (!one && strcmp(option, "--fair") == 0)
        return;
    cli_choose(one, NULL);
    set_go(cli_masters, 4);
    struct program *holder = begin(option, "dead", "2s", "runs");
    ck_assert(wait_until(program_printed(holder, "runs"), 10000));
    kill(holder->pid, SIGKILL);
    int64_t killed_ms = boot_ms();
    const char *next = strcmp(option, "--shared") == 0 ? "--exclusive" : option;
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("run", next, "--wait", "30s", "dead", "--", "true"), NULL),
        0);
    ck_assert_int_lt(boot_ms() - killed_ms, 2000 + 3000);
}

/* Somebody deletes the lock: the command is ended. */
TEST(kinds, lock_that_is_lost_ends_command, .rows = 2 * OPTIONS)
{
    const char *option = options[_i / 2];
    bool one = _i % 2 == 0;
    if (!one && strcmp(option, "--fair") == 0)
        return;
    cli_choose(one, NULL);
    struct masters *masters = one ? cli_lone : cli_masters;
    struct program *holder =
        program_start(NULL, REDLOCK("run", option, "--ttl", "2s", "lost", "--", "sleep", "60"));
    ck_assert(wait_until(masters_with(masters, "lost") == masters->n, 10000));
    for (unsigned i = 0; i < masters->n; i++)
        (void)master_do(masters, i, "DEL", "lost", "{lost}:redlock:holds", NULL);
    ck_assert_int_eq(program_wait(holder, 10000), 74);
    ck_assert_ptr_nonnull(strstr(program_err(holder), "'lost' was lost"));
}

CASE(kinds,
     .timeout_s = 90, .set_up_once = cli_rig_start_with_lone, .tear_down_once = cli_rig_stop)
