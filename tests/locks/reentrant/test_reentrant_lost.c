/* tags: long threads */
/* test_reentrant_lost.c - reentrant locks that are renewed, that are lost, and whose releases
 * are late or said twice. */
#include "config_auto.h"

#include "reentrant_scene.h"
#include "told.h"

/* ---- renewing, and losing --------------------------------------------------------------- */

static redlock_lock *take_renewed(redlock *client, int64_t ttl_ms, struct told *lost)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.kind = REDLOCK_REENTRANT;
    options.ttl_ms = ttl_ms;
    options.auto_renew = 1;
    options.on_lost = told_lost;
    options.lost_context = lost;
    ck_assert_int_eq(redlock_try(client, "name", &options, &lock), 0);
    return lock;
}

TEST(lost, nested_holds_are_renewed_until_last_is_released, .rows = 2)
{
    struct told lost[2] = {{.calls = 0}, {.calls = 0}};
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_renewed(one, 1500, &lost[0]);
    redlock_lock *inner = take_renewed(one, 1200, &lost[1]);
    uint64_t extended = client_stats(one).extended;
    ck_assert(wait_until(client_stats(one).extended >= extended + 8, 30000));
    ck_assert_int_gt(redlock_validity_ms(inner), 0);
    ck_assert_int_eq(redlock_release(inner), 0);
    extended = client_stats(one).extended;
    ck_assert(wait_until(client_stats(one).extended >= extended + 4, 30000));
    ck_assert_int_gt(redlock_validity_ms(outer), 0);
    count_becomes(1);
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(outer), 0);
    count_becomes(0);
    ck_assert_int_eq(lost[0].calls + lost[1].calls, 0);
}

TEST(lost, b37_lost_lock_is_taken_anew_by_same_thread, .rows = 2)
{
    struct told lost[2] = {{.calls = 0}, {.calls = 0}};
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_renewed(one, 1200, &lost[0]);
    count_becomes(1);
    for (unsigned i = 0; i < masters->n; i++)
        master_do(masters, i, "DEL", "name", NULL); /* as Redisson's forceUnlock() does */
    ck_assert(wait_until(lost[0].calls == 1, 10000));
    ck_assert_int_eq(redlock_validity_ms(outer), 0);
    redlock_lock *again = take_renewed(one, 1200, &lost[1]);
    count_becomes(1);
    uint64_t extended = client_stats(one).extended;
    ck_assert(wait_until(client_stats(one).extended >= extended + 4, 30000));
    ck_assert_int_eq(redlock_release(outer), REDLOCK_EEXPIRED);
    client_ready(one);
    count_becomes(1);
    ck_assert_int_gt(redlock_validity_ms(again), 0);
    ck_assert_int_eq(redlock_release(again), 0);
    ck_assert_int_eq(lost[0].calls, 1);
    ck_assert_int_eq(lost[1].calls, 0);
}

/* Somebody else has it, and the stale tokens of ours say nothing. */
TEST(lost, hold_whose_lock_is_anothers_is_lost, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *lost = take(one, NULL);
    count_becomes(1);
    client_ready(one);
    for (unsigned i = 0; i < masters->n; i++) {
        master_do(masters, i, "DEL", "name", NULL);
        master_do(masters, i, "HSET", "name", "peer:1", "1", NULL);
        master_do(masters, i, "PEXPIRE", "name", "30000", NULL);
    }
    ck_assert_int_eq(redlock_extend(lost, 20000, NULL), REDLOCK_EEXPIRED);
    redlock_release(lost);
    client_ready(one);
    for (unsigned i = 0; i < masters->n; i++) {
        ck_assert_int_eq(count_at(i), 1);
        ck_assert_int_eq(master_do(masters, i, "DEL", "name", NULL).number, 1);
        master_do(masters, i, "DEL", "{name}:redlock:holds", NULL);
    }
}

/* ---- releases --------------------------------------------------------------------------- */

/* The next lock() asks the masters anew: no memory of this process says that it has it still.
 */
TEST(lost, c50_release_that_nobody_answered_leaves_no_hold, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *lock = take_for(one, NULL, 5000);
    count_becomes(1);
    for (unsigned i = 0; i < masters->n; i++)
        master_pause(masters, i);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EUNCONFIRMED);
    for (unsigned i = 0; i < masters->n; i++)
        master_resume(masters, i);
    ck_assert(wait_until(client_ready(one) == masters->n, 10000));
    uint64_t rounds = client_stats(one).rounds;
    lock = take(one, NULL);
    ck_assert_uint_gt(client_stats(one).rounds, rounds);
    count_becomes(1);
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(lock), 0);
    count_becomes(0);
}

TEST(lost, c51_release_waits_for_no_silent_master)
{
    OPEN_MASTERS(3);
    redlock_lock *outer = take(one, NULL), *inner = take(one, NULL);
    count_becomes(2);
    client_ready(one);
    master_pause(masters, 1);
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(redlock_release(inner), 0);
    ck_assert_int_eq(redlock_release(outer), 0);
    ck_assert_int_lt(now_ms() - begun_ms, CLIENT_TTL_MS / 3);
    ck_assert_int_eq(try_once(two, NULL), 0);
    master_resume(masters, 1);
    ck_assert(wait_until((client_ready(one), count_at(1) == 0), 10000));
}

CASE(lost, .timeout_s = 60)
