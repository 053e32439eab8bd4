/* tags: long threads */
/* test_run_hold.c - redlock run: the lock is held for as long as COMMAND runs, by one alone. */
#include "config_auto.h"

#include "cli_rig.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN_SH(name, script) REDLOCK("run", name, "--", "sh", "-c", script)

TEST(holding, lock_is_extended_for_as_long_as_command_runs)
{
    struct program *program =
        program_start(NULL, REDLOCK("run", "--ttl", "1500ms", "long", "--", "sleep", "6"));
    ck_assert(wait_until(masters_with(cli_masters, "long") >= 3, CLI_MOMENT_MS));
    for (int64_t end = now_ms() + 4000; now_ms() < end; pause_ms(20))
        ck_assert_uint_ge(masters_with(cli_masters, "long"), 3);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), 0);
    ck_assert_str_eq(program_err(program), "");
    cli_expect_free("long");
}

/* The guard hears of each renewal well before half of the lease is gone. */
TEST(holding, with_half_of_lease_as_grace_command_is_left_alone)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL,
                                 REDLOCK("run", "--ttl", "4s", "--grace", "2s", "graced", "--",
                                         "sleep", "6"),
                                 &program),
                     0);
    ck_assert_str_eq(program_err(program), "");
}

/* It is for services that make other calls meanwhile: run makes none. */
TEST(holding, background_never_is_not_for_run)
{
    const char *nodes = masters_file(cli_masters, "background never\n");
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL,
                    REDLOCK("run", "-n", nodes, "--ttl", "1500ms", "never", "--", "sleep", "3"),
                    &program),
        0);
    ck_assert_str_eq(program_err(program), "");
    cli_expect_free("never");
}

static pid_t number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at ? (pid_t)strtol(at + strlen(word), NULL, 10) : 0;
}

TEST(holding, processes_left_in_commands_group_are_ended_before_release)
{
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL, RUN_SH("left", "sleep 61 & echo left=$!; exit 5"), &program), 5);
    pid_t left = number_after(program_out(program), "left=");
    ck_assert_int_gt(left, 0);
    ck_assert(!process_lives(left));
    ck_assert(cli_one_line(program_err(program)));
}

TEST(holding, daemon_that_command_starts_lives_on)
{
    struct program *program = NULL;
    ck_assert_int_eq(program_run(NULL,
                                 RUN_SH("daemon", "setsid sh -c 'echo daemon=$$; exec sleep "
                                                  "62' & while ! grep -qs sleep "
                                                  "/proc/$!/comm; do :; done; exit 0"),
                                 &program),
                     0);
    pid_t daemon_pid = number_after(program_out(program), "daemon=");
    ck_assert_int_gt(daemon_pid, 0);
    ck_assert(process_lives(daemon_pid));
    ck_assert(cli_one_line(program_err(program)));
    char named[64];
    snprintf(named, sizeof(named), "runs on without the lock: process %d (sleep)", daemon_pid);
    ck_assert_msg(strstr(program_err(program), named) != NULL, "%s", program_err(program));
    kill(daemon_pid, SIGKILL);
}

/* A lease is 1 s: the lock outlives it, and ends with the daemon. */
TEST(holding, with_descendants_lock_is_held_until_daemon_ends)
{
    struct program *program = program_start(
        NULL, REDLOCK("run", "--descendants", "--ttl", "1s", "daemon", "--", "sh", "-c",
                      "setsid sh -c 'echo daemon=$$; exec sleep 63' & exit 7"));
    ck_assert(wait_until(program_printed(program, "daemon="), 10000));
    ck_assert(wait_until(program_printed(program, "\n"), 10000));
    pid_t daemon_pid = number_after(program_out(program), "daemon=");
    ck_assert_int_gt(daemon_pid, 0);
    int64_t began_ms = now_ms();
    while (now_ms() - began_ms < 2500) {
        ck_assert_int_eq(
            program_run(NULL, REDLOCK("run", "--try", "daemon", "--", "true"), NULL), 75);
        ck_assert(process_lives(daemon_pid));
    }
    ck_assert_int_eq(kill(daemon_pid, SIGKILL), 0);
    ck_assert_int_eq(program_wait(program, 10000), 7);
    ck_assert_str_eq(program_err(program), "");
    ck_assert_int_eq(program_run(NULL, REDLOCK("run", "--try", "daemon", "--", "true"), NULL), 0);
}

/* Signals and the end of the lock reach it too. */
TEST(holding, with_descendants_term_goes_to_daemon)
{
    struct program *program = program_start(
        NULL, REDLOCK("run", "--descendants", "daemon", "--", "sh", "-c",
                      "setsid sh -c 'echo daemon=$$; exec sleep 64' & exit 0"));
    ck_assert(wait_until(program_printed(program, "\n"), 10000));
    pid_t daemon_pid = number_after(program_out(program), "daemon=");
    ck_assert_int_gt(daemon_pid, 0);
    while (process_lives(daemon_pid)) { /* it may come while COMMAND still runs */
        (void)kill(program->pid, SIGTERM);
        pause_ms(20);
    }
    (void)program_wait(program, 10000);
}

/* ---- many at once ---- */

#define CONTENDERS 100

/* Read, wait a little, write back: any overlap loses an update. */
static const char increment[] =
    "read n < counter; sleep 0.00$((n % 5)); echo $((n + 1)) > counter";

TEST(many, hundred_contenders_lose_no_update_while_masters_die)
{
    char directory[SUITE_PATH_MAX];
    char counter[SUITE_PATH_MAX + 16];
    char text[32];
    suite_new_dir(directory);
    snprintf(counter, sizeof(counter), "%s/counter", directory);
    file_write(counter, "0\n");
    struct program *programs[CONTENDERS];
    struct program_how how = {.directory = directory};
    for (int i = 0; i < CONTENDERS; i++)
        programs[i] = program_start(&how, RUN_SH("counter", increment));
    for (unsigned round = 0; round < 2; round++) {
        unsigned node = round * 2;
        pause_ms(150);
        master_kill(cli_masters, node);
        pause_ms(150);
        master_restart(cli_masters, node, false);
    }
    for (int i = 0; i < CONTENDERS; i++) {
        int status = program_wait(programs[i], 120000);
        ck_assert_msg(status == 0, "contender %d: %d: %s", i, status, program_err(programs[i]));
    }
    file_text(counter, text, sizeof(text));
    ck_assert_str_eq(text, "100\n");
    suite_remove_dir(directory);
}

CASE(holding, .timeout_s = 60, .set_up_once = cli_rig_start, .tear_down_once = cli_rig_stop)
CASE(many, .timeout_s = 180, .set_up = cli_rig_start_keeping, .tear_down = cli_rig_stop)
