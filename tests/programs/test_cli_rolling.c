/* tags: long */
/* test_cli_rolling.c - redlock status --wait: masters are restarted one after the other, each
 * when it says so, and no lock that is renewed is lost. Without it, each loss is told. */
#include "config_auto.h"

#include "cli_rig.h"
#include "client.h"
#include "stall.h"
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 8, LOCKS = 56 }; /* 64 holders */

static struct masters *masters;

static int status_within(const char *time, int64_t *ret_took_ms)
{
    int64_t began_ms = now_ms();
    struct program *program = NULL;
    int status = program_run(NULL, REDLOCK("status", "--wait", time), &program);
    *ret_took_ms = now_ms() - began_ms;
    return status;
}

/* Of three masters two are needed: one that is not filled in yet would be missed. */
static const unsigned counts[] = {3, 5};

struct holders {
    struct program *program[PROGRAMS];
    redlock *client;
    redlock_lock *lock[LOCKS];
    struct told lost[LOCKS];
    redlock *other; /* wants what they have */
};

static const char *name_of(const char *what, unsigned i)
{
    static char name[16];
    snprintf(name, sizeof(name), "%s:%u", what, i);
    return name;
}

static void take_all(struct holders *holders, const char *file)
{
    holders->client = client_open(file);
    for (unsigned i = 0; i < PROGRAMS; i++)
        holders->program[i] = cli_hold("", name_of("held", i));
    for (unsigned i = 0; i < LOCKS; i++)
        holders->lock[i] =
            told_take_renewed(holders->client, name_of("lock", i), 2000, &holders->lost[i]);
}

static bool is_lost(struct holders *holders, unsigned i)
{
    if (i < PROGRAMS)
        return strstr(program_err(holders->program[i]), "was lost") != NULL ||
               strstr(program_err(holders->program[i]), "was given up") != NULL;
    return atomic_load(&holders->lost[i - PROGRAMS].calls) > 0 ||
           redlock_validity_ms(holders->lock[i - PROGRAMS]) == 0;
}

/* Nobody else gets a lock whose holder has not lost it. Has none lost it? */
static bool all_held(struct holders *holders)
{
    bool lost = false;
    redlock_lock *lock = NULL;
    for (unsigned i = 0; i < PROGRAMS + LOCKS; i++) {
        const char *name = i < PROGRAMS ? name_of("held", i) : name_of("lock", i - PROGRAMS);
        int code = 0;
        /* ENOQUORUM: masters were too late. */
        wait_until((code = client_try(holders->other, name, 1000, 0, NULL, &lock)) !=
                   REDLOCK_ENOQUORUM,
                   CLI_MOMENT_MS);
        bool told = wait_until(code != 0 || is_lost(holders, i), CLI_MOMENT_MS);
        ck_assert_msg(told, "%s has two holders", name);
        if (code == 0)
            redlock_release(lock);
        if (is_lost(holders, i) || code != REDLOCK_EHELD) {
            fprintf(stderr, "%s: %s %s\n", name, redlock_err_name(code),
                    i < PROGRAMS ? program_err(holders->program[i]) : "was lost");
            lost = true;
        }
    }
    return !lost;
}

/* Of so many masters, which vote by then. */
static void start_held(struct holders *holders, unsigned n)
{
    int64_t took_ms;
    masters = masters_start(n, NULL);
    const char *file = masters_guarded_file(masters, "max-ttl 2s");
    setenv("REDLOCK_NODES", file, 1);
    ck_assert_int_eq(status_within("60s", &took_ms), CLI_FIT);
    take_all(holders, file);
    holders->other = client_open(file);
}

static void end_held(struct holders *holders)
{
    redlock_close(holders->other);
    for (unsigned i = 0; i < PROGRAMS; i++)
        program_kill(holders->program[i]);
    for (unsigned i = 0; i < LOCKS; i++)
        redlock_release(holders->lock[i]);
    redlock_close(holders->client);
}

/* Each master is restarted when the status is fit: so a lock that was taken by a bare majority
 * is at all masters by then. */
static bool play_restarts(unsigned n)
{
    struct holders holders = {0};
    int64_t took_ms;
    start_held(&holders, n);
    bool held = true;
    for (unsigned i = 0; held && i <= n; i++) {
        ck_assert_int_eq(status_within("60s", &took_ms), CLI_FIT);
        /* the guard of a master that was restarted, half of max-ttl, 2 s */
        ck_assert_int_ge(took_ms, (i > 0 ? 2000 : 0) + 1000 + 2000);
        held = all_held(&holders);
        if (held && i < n)
            master_restart(masters, i, true);
    }
    end_held(&holders);
    return held;
}

TEST(masters, masters_restarted_in_turn_cost_no_lock, .rows = 2)
{
    ck_assert(met_unless_stalled(play_restarts(counts[_i]), STALL_MS, 2));
}

/* What the other one gets is nobody's by then. Programs say a little later that theirs is
 * lost. */
static bool all_lost(struct holders *holders)
{
    bool lost = true;
    redlock_lock *lock = NULL;
    for (unsigned i = 0; i < PROGRAMS + LOCKS; i++) {
        const char *name = i < PROGRAMS ? name_of("held", i) : name_of("lock", i - PROGRAMS);
        if (client_try(holders->other, name, 1000, 0, NULL, &lock) == 0) {
            if (i >= PROGRAMS)
                ck_assert_int_eq(redlock_validity_ms(holders->lock[i - PROGRAMS]), 0);
            redlock_release(lock);
        }
        lost &= is_lost(holders, i);
    }
    return lost;
}

/* Nobody waits for the status: keys of a majority are gone before they are filled in. False:
 * some were filled in, as the restarts took too long. */
static bool play_restarts_at_once(unsigned n)
{
    struct holders holders = {0};
    start_held(&holders, n);
    ck_assert(wait_until(client_ready(holders.other) == n, CLI_MOMENT_MS));
    for (unsigned i = 0; i < n; i++)
        master_restart(masters, i, true);
    bool lost = wait_until(all_lost(&holders), CLI_MOMENT_MS);
    for (unsigned i = 0; lost && i < LOCKS; i++)
        ck_assert(wait_until(atomic_load(&holders.lost[i].calls) == 1, CLI_MOMENT_MS));
    end_held(&holders);
    return lost;
}

TEST(masters, masters_restarted_at_once_cost_locks_that_are_told, .rows = 2)
{
    ck_assert(met_unless_stalled(play_restarts_at_once(counts[_i]), STALL_MS, 2));
}

TEST(masters, good_look_is_not_enough)
{
    int64_t took_ms;
    struct program *program = NULL;
    masters = masters_start(3, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, "max-ttl 2s"), 1);
    ck_assert_int_eq(status_within("forever", &took_ms), CLI_FIT);
    ck_assert_int_ge(took_ms, 1000 + 2000);
    setenv("REDLOCK_NODES", masters_file(masters, "max-ttl 10m"), 1);
    ck_assert_int_eq(program_run(NULL, REDLOCK("status", "--wait", "1ms"), &program),
                     CLI_DEGRADED);
    ck_assert_ptr_nonnull(strstr(program_err(program), "use a longer --wait"));
    ck_assert_ptr_nonnull(strstr(program_out(program), "fit: 3 of 3 masters vote"));
}

/* A master that goes away begins the time anew. */
TEST(masters, break_begins_it_anew)
{
    masters = masters_start(3, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, "max-ttl 4s"), 1);
    struct program *program = program_start(NULL, REDLOCK("status", "--wait", "60s"));
    pause_ms(1000); /* it may have seen them by now */
    master_pause(masters, 1);
    pause_ms(3000); /* and sees that they are not all there */
    int64_t resumed_ms = now_ms();
    master_resume(masters, 1);
    ck_assert_int_eq(program_wait(program, CLI_MOMENT_MS), CLI_FIT);
    ck_assert_int_ge(now_ms() - resumed_ms, 2000 + 2000);
}

TEST(masters, time_that_is_over_tells_last_look)
{
    int64_t took_ms;
    masters = masters_start(3, NULL);
    setenv("REDLOCK_NODES", masters_file(masters, "max-ttl 1s"), 1);
    master_kill(masters, 0);
    ck_assert_int_eq(status_within("300ms", &took_ms), CLI_DEGRADED);
    ck_assert_int_ge(took_ms, 300);
    master_kill(masters, 1);
    ck_assert_int_eq(status_within("300ms", &took_ms), CLI_NOT_FIT);
}

static const struct {
    const char *with, *words;
} forms[] = {{"--watch", "choose one"}, {"--acl", "--acl goes with none of"}};

TEST(masters, it_goes_with_one_look_only, .rows = 2)
{
    struct program *program = NULL;
    ck_assert_int_eq(
        program_run(NULL, REDLOCK("status", "--wait", "1s", forms[_i].with), &program), 64);
    ck_assert_ptr_nonnull(strstr(program_err(program), forms[_i].words));
}

CASE(masters, .timeout_s = 240)
