/* tags: unsanitized */
/* test_run_loss.c - the one line that says why a lock was lost names the cause, for each cause,
 * and so does the JSON. test_run_clock.c has those of the clock. */
#include "config_auto.h"

#include "run_loss.h"

#include "proxy.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

TEST(causes, masters_that_are_dead_are_named_with_their_reason_and_time)
{
    struct program *run = loss_hold("2s");
    pause_ms(900); /* it has been extended */
    for (unsigned i = 0; i < 3; i++)
        master_kill(cli_masters, i);
    loss_expect(run, "masters", "3 of 5 masters did not confirm it, which left no majority");
    loss_expect_text(run, "refused");
    loss_expect_text(run, "; held for ");
    loss_expect_text(run, " before by 5 of 5 masters; ");
    for (unsigned i = 0; i < 3; i++)
        loss_expect_node(run, i, "vote", "failed");
    loss_expect_node(run, 0, "since_ms", NULL);
    loss_expect_node(run, 0, "text", NULL);
}

TEST(causes, masters_behind_a_partition_do_not_answer)
{
    struct proxy *proxies[MASTERS_MAX];
    setenv("REDLOCK_NODES", proxies_start(cli_masters, proxies, false, CLI_PATIENT), 1);
    struct program *run = loss_hold("2s");
    for (unsigned i = 0; i < 3; i++) {
        proxy_limit(proxies[i], PROXY_ALL, PROXY_THERE, 0);
        proxy_limit(proxies[i], PROXY_ALL, PROXY_BACK, 0);
    }
    loss_expect(run, "masters", "3 of 5 masters did not confirm it, which left no majority");
    loss_expect_text(run, "does not answer (for ");
    loss_expect_node(run, 2, "vote", "failed");
}

TEST(causes, keys_that_were_flushed_are_gone)
{
    struct program *run = loss_hold("2s");
    for (unsigned i = 1; i < 5; i++)
        (void)master_do(cli_masters, i, "FLUSHALL", NULL);
    loss_expect(run, "gone", "its key was deleted on ");
    loss_expect_text(run, "FLUSHALL");
    loss_expect_text(run, "no longer has its key");
}

TEST(causes, holder_that_was_stopped_did_not_run)
{
    struct program *run = loss_hold("2s");
    kill(run->pid, SIGSTOP);
    pause_ms(3000);
    kill(run->pid, SIGCONT);
    loss_expect(run, "stopped", "this process, or the thread of its client, stood still for ");
    loss_expect_node(run, 0, "vote", "granted"); /* no master is blamed */
}

/* What it appends to its file fails, as on a full disk, so it refuses every write. */
static void fail_to_append(unsigned node)
{
    char dir[SUITE_PATH_MAX + 32], path[SUITE_PATH_MAX + 96];
    snprintf(dir, sizeof(dir), "%s/appendonlydir", cli_masters->node[node].dir);
    snprintf(path, sizeof(path), "%s/temp-appendonly.aof.incr", dir);
    (void)mkdir(dir, 0700);
    ck_assert_int_eq(symlink("/dev/full", path), 0);
    (void)master_do(cli_masters, node, "CONFIG", "SET", "appendonly", "yes", NULL);
}

static void expect_append_failed(unsigned node)
{
    ck_assert(wait_until(strstr(master_do(cli_masters, node, "INFO", "persistence", NULL).text,
                                "aof_last_write_status:err"),
                         CLI_MOMENT_MS));
}

TEST(causes, masters_that_refuse_to_write_say_why)
{
    struct program *run = loss_hold("3s");
    for (unsigned i = 0; i < 3; i++)
        fail_to_append(i);
    for (unsigned i = 0; i < 3; i++)
        expect_append_failed(i);
    loss_expect(run, "masters", "3 of 5 masters did not confirm it, which left no majority");
    loss_expect_text(run, "MISCONF");
}

TEST(causes, lock_that_was_broken_by_hand_says_so)
{
    struct program *run = loss_hold("2s");
    ck_assert_int_eq(program_run(NULL, REDLOCK("break", "--yes", LOSS_NAME), NULL), 0);
    loss_expect(run, "broken", "it was broken by hand (redlock break) ");
    loss_expect_text(run, " before, by ");
    loss_expect_text(run, " of 5 masters say; held for ");
}

static void delete_on(unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        (void)master_do(cli_masters, i, "DEL", LOSS_NAME, NULL);
}

/* It was another hold that was broken, a moment before this one was taken. */
TEST(causes, earlier_break_is_not_the_cause)
{
    struct program *run = loss_hold("10s");
    ck_assert_int_eq(program_run(NULL, REDLOCK("break", "--yes", LOSS_NAME), NULL), 0);
    struct program *next = loss_hold("2s");
    pause_ms(50);
    delete_on(0, 5);
    loss_expect(next, "gone", "its key was deleted on ");
    kill(run->pid, SIGTERM);
    (void)program_wait(run, CLI_MOMENT_MS);
}

/* A minority can't say that somebody broke it. */
TEST(causes, word_of_one_master_is_not_enough)
{
    struct program *run = loss_hold("2s");
    pause_ms(300);
    char note[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(note, sizeof(note), "%lld%03ld liar:1", (long long)now.tv_sec,
             now.tv_nsec / 1000000);
    for (unsigned i = 0; i < 2; i++)
        (void)master_do(cli_masters, i, "SET", "{" LOSS_NAME "}:redlock:broken", note, NULL);
    delete_on(0, 5);
    loss_expect(run, "gone", "its key was deleted on ");
}

TEST(causes, master_that_goes_and_comes_back_is_told_with_the_time)
{
    struct program *run = loss_hold("10s");
    master_kill(cli_masters, 4);
    ck_assert(wait_until(strstr(program_err(run), " has not voted for "), CLI_MOMENT_MS));
    ck_assert_ptr_nonnull(strstr(program_err(run), "redlock: 20")); /* the time of day */
    master_restart(cli_masters, 4, false);
    ck_assert(wait_until(strstr(program_err(run), " votes again, after "), CLI_MOMENT_MS));
    kill(run->pid, SIGTERM);
    ck_assert_int_eq(program_wait(run, CLI_MOMENT_MS), 128 + SIGTERM);
    ck_assert_ptr_null(strstr(program_err(run), "\"error\"")); /* it is no outcome */
}

CASE(causes, .timeout_s = 60, .set_up = cli_rig_start, .tear_down = cli_rig_stop)
