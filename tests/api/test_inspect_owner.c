/* test_inspect_owner.c - what redlock_inspect() says of one owner: of every kind that has one,
 * on one master and on three, while it is held, nested, expired, another's, or half unknown. */
#include "config_auto.h"

#include "reentrant_scene.h"

#include <stdio.h>

static redlock_lock_info ask_as(redlock *client, const char *owner, int expected)
{
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    info.own_exclusive = info.own_read = info.own_write = 99;
    info.held = 99;
    info.own_ms = info.held_ms = 99;
    ck_assert_int_eq(redlock_inspect_n(client, "name", 4, owner, &info), expected);
    return info;
}

static redlock_lock_info ask(redlock *client, const char *owner)
{
    return ask_as(client, owner, REDLOCK_OK);
}

static void expect_none(redlock_lock_info info)
{
    ck_assert_uint_eq(info.own_exclusive + info.own_read + info.own_write, 0);
    ck_assert_int_eq(info.own_ms, 0);
}

static void expect_free(redlock_lock_info info)
{
    expect_none(info);
    ck_assert_int_eq(info.held, 0);
    ck_assert_int_eq(info.held_ms, 0);
}

static void expect_left(int64_t left_ms, int64_t of_ms)
{
    ck_assert_int_le(left_ms, of_ms);
    ck_assert_int_gt(left_ms, of_ms - 5000);
}

TEST(inspect_owner, d58_it_counts_3_2_1_0, .rows = 2)
{
    redlock_lock *lock[3];
    OPEN_MASTERS(sizes[_i]);
    expect_free(ask(one, NULL));
    for (unsigned i = 0; i < 3; i++) {
        lock[i] = take(one, NULL);
        count_becomes(i + 1);
        redlock_lock_info info = ask(one, NULL);
        ck_assert_uint_eq(info.own_exclusive, i + 1);
        ck_assert_int_eq(info.held, 1);
        expect_left(info.own_ms, CLIENT_TTL_MS);
        expect_left(info.held_ms, CLIENT_TTL_MS);
    }
    for (unsigned i = 3; i-- > 0;) {
        ck_assert_int_eq(redlock_release(lock[i]), 0);
        count_becomes(i);
        ck_assert_uint_eq(ask(one, NULL).own_exclusive, i);
    }
    expect_free(ask(one, NULL));
}

TEST(inspect_owner, others_see_that_it_is_held_and_not_by_them, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *lock = take(one, "job");
    count_becomes(1);
    const char *const others[] = {NULL, "jo", "job2"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        redlock_lock_info info = ask(two, others[i]);
        expect_none(info);
        ck_assert_int_eq(info.held, 1);
        expect_left(info.held_ms, CLIENT_TTL_MS);
    }
    expect_none(ask(one, NULL));
    ck_assert_uint_eq(ask(two, "job").own_exclusive, 1); /* whoever asks */
    ck_assert_uint_eq(ask(two, "job").own_read + ask(two, "job").own_write, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(inspect_owner, d60_expired_hold_counts_nothing, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_for(one, NULL, 800), *inner = take_for(one, NULL, 1000);
    ck_assert(wait_until(redlock_validity_ms(inner) == 0, 5000));
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    expect_free(ask(one, NULL));
    ck_assert_int_eq(redlock_release(inner), REDLOCK_EEXPIRED);
    expect_free(ask(one, NULL));
    ck_assert_int_eq(redlock_release(outer), REDLOCK_EEXPIRED);
}

TEST(inspect_owner, longest_nested_lease_is_told, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_for(one, NULL, 20000), *inner = take_for(one, NULL, 10000);
    count_becomes(2);
    expect_left(ask(one, NULL).own_ms, 20000);
    ck_assert_int_eq(redlock_release(outer), 0);
    ck_assert_int_eq(redlock_release(inner), 0);
}

/* Each on as many masters as there are, and none counts as the other. */
TEST(inspect_owner, d60_readers_and_writer_are_counted_apart, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *reader = client_take_as(one, "name", REDLOCK_READ, "r1");
    redlock_lock *again = client_take_as(one, "name", REDLOCK_READ, "r1");
    redlock_lock *other = client_take_as(two, "name", REDLOCK_READ, "r2");
    ck_assert(wait_until(ask(two, "r1").own_read == 2, 5000));
    ck_assert(wait_until(ask(one, "r2").own_read == 1, 5000));
    ck_assert_int_eq(ask(one, "r3").held, 1);
    expect_none(ask(one, "r3"));
    ck_assert_uint_eq(ask(one, "r1").own_write + ask(one, "r1").own_exclusive, 0);
    ck_assert_int_eq(redlock_release(reader), 0);
    ck_assert_int_eq(redlock_release(other), 0);
    ck_assert(wait_until(ask(two, "r1").own_read == 1, 5000));
    ck_assert_int_eq(redlock_release(again), 0);
    ck_assert(wait_until(ask(two, "r1").held == 0, 5000));
    redlock_lock *writer = client_take_as(one, "name", REDLOCK_WRITE, "w");
    redlock_lock *down = client_take_as(one, "name", REDLOCK_READ, "w");
    ck_assert(wait_until(ask(two, "w").own_read == 1, 5000));
    ck_assert_uint_eq(ask(two, "w").own_write, 1);
    ck_assert_int_eq(redlock_release(writer), 0);
    ck_assert(wait_until(ask(two, "w").own_write == 0, 5000));
    ck_assert_uint_eq(ask(two, "w").own_read, 1);
    ck_assert_int_eq(redlock_release(down), 0);
    ck_assert(wait_until(ask(two, "w").held == 0, 5000));
}

TEST(inspect_owner, fair_lock_is_counted_too)
{
    OPEN_MASTERS(1);
    redlock_lock *lock = client_take_as(one, "name", REDLOCK_FAIR, NULL);
    redlock_lock *again = client_take_as(one, "name", REDLOCK_FAIR, NULL);
    ck_assert_uint_eq(ask(one, NULL).own_exclusive, 2);
    expect_none(ask(two, NULL));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_eq(ask(one, NULL).own_exclusive, 1);
    ck_assert_int_eq(redlock_release(again), 0);
    expect_free(ask(one, NULL));
}

TEST(inspect_owner, redissons_own_counts_too)
{
    OPEN_MASTERS(1);
    master_do(masters, 0, "HSET", "name", "peer:7", "3", NULL);
    master_do(masters, 0, "PEXPIRE", "name", "30000", NULL);
    redlock_lock_info info = ask(one, "peer:7");
    ck_assert_uint_eq(info.own_exclusive, 3);
    expect_left(info.own_ms, 30000);
    expect_left(info.held_ms, 30000);
    master_do(masters, 0, "DEL", "name", NULL);
}

/* So often as a majority says, whatever the others do. */
TEST(inspect_owner, majority_says_how_often)
{
    static const struct {
        int here[3]; /* -1: another's */
        unsigned count;
        int held;
    } cases[] = {
        {{1, 1, 1}, 1, 1},  {{1, 0, 0}, 0, 0},   {{0, 1, 2}, 1, 1},
        {{2, 2, 0}, 2, 1},  {{3, 1, 2}, 2, 1},   {{-1, 1, 0}, 0, 1},
        {{-1, 1, 2}, 1, 1}, {{-1, -1, 1}, 0, 1}, {{0, 0, -1}, 0, 0},
    };
    OPEN_MASTERS(3);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        for (unsigned i = 0; i < 3; i++) {
            char count[16];
            int here = cases[k].here[i];
            snprintf(count, sizeof(count), "%d", here < 0 ? 1 : here);
            if (here != 0) {
                master_do(masters, i, "HSET", "name", here < 0 ? "rival" : "me", count, NULL);
                master_do(masters, i, "PEXPIRE", "name", i == 0 ? "10000" : "20000", NULL);
            }
        }
        redlock_lock_info info = ask(one, "me");
        ck_assert_uint_eq(info.own_exclusive, cases[k].count);
        ck_assert_int_eq(info.held, cases[k].held);
        ck_assert_int_eq(info.own_ms > 0, cases[k].count > 0);
        ck_assert_int_eq(info.held_ms > 0, cases[k].held);
        if (k == 0) /* two have it for 20 s, and a third for 10: a majority for 20 */
            expect_left(info.own_ms, 20000);
        if (k == 3)
            expect_left(info.own_ms, 10000);
        for (unsigned i = 0; i < 3; i++)
            master_do(masters, i, "DEL", "name", NULL);
    }
}

/* Of two, one is no majority, and yet in the way of everybody. */
TEST(inspect_owner, one_of_two_holds_nothing_and_blocks)
{
    OPEN_MASTERS(2);
    master_do(masters, 1, "HSET", "name", "me", "2", NULL);
    master_do(masters, 1, "PEXPIRE", "name", "10000", NULL);
    redlock_lock_info info = ask(one, "me");
    expect_none(info);
    ck_assert_int_eq(info.held, 1);
    expect_left(info.held_ms, 10000);
    master_do(masters, 0, "HSET", "name", "me", "1", NULL);
    master_do(masters, 0, "PEXPIRE", "name", "20000", NULL);
    info = ask(one, "me");
    ck_assert_uint_eq(info.own_exclusive, 1);
    expect_left(info.own_ms, 10000);
    expect_left(info.held_ms, 20000);
    for (unsigned i = 0; i < 2; i++)
        master_do(masters, i, "DEL", "name", NULL);
}

TEST(inspect_owner, without_majority_only_certain_facts_are_told)
{
    OPEN_MASTERS(3);
    redlock_lock *lock = take(one, "me");
    count_becomes(1);
    master_kill(masters, 0);
    ck_assert_uint_eq(ask(two, "me").own_exclusive, 1);
    master_kill(masters, 1);
    redlock_lock_info info = ask_as(two, "me", REDLOCK_ENOQUORUM);
    expect_none(info);
    ck_assert_int_eq(info.held, 0);
    master_restart(masters, 0, true);
    master_restart(masters, 1, true);
    redlock_release(lock);
    ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 20000));
}

CASE(inspect_owner, .timeout_s = 60)
