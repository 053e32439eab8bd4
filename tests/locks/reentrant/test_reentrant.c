/* tags: threads */
/* test_reentrant.c - reentrant locks in use, on one master and on three: counts, leases, names.
 * What is lost and given up is in test_reentrant_lost.c, who owns them in
 * test_reentrant_owner.c, and who else may have them in test_reentrant_peer.c. */
#include "config_auto.h"

#include "reentrant_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting --------------------------------------------------------------------------- */

TEST(in_use, d58_lock_taken_three_times_is_free_after_three_releases, .rows = 2)
{
    redlock_lock *lock[3];
    OPEN_MASTERS(sizes[_i]);
    for (int i = 0; i < 3; i++) {
        lock[i] = take(one, NULL);
        count_becomes(i + 1);
    }
    for (int i = 3; i-- > 0;) {
        ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
        ck_assert_int_gt(redlock_validity_ms(lock[i]), 0);
        ck_assert_int_eq(redlock_release(lock[i]), 0);
        count_becomes(i);
    }
    ck_assert_int_eq(try_once(two, NULL), 0);
}

TEST(in_use, holds_end_in_any_order, .rows = 2)
{
    static const int orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}, {0, 2, 1}};
    OPEN_MASTERS(sizes[_i]);
    for (size_t k = 0; k < sizeof(orders) / sizeof(orders[0]); k++) {
        redlock_lock *lock[3];
        for (int i = 0; i < 3; i++)
            lock[i] = take(one, NULL);
        for (int i = 0; i < 3; i++) {
            ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
            ck_assert_int_gt(redlock_validity_ms(lock[orders[k][i]]), 0);
            ck_assert_int_eq(redlock_release(lock[orders[k][i]]), 0);
        }
        count_becomes(0);
    }
}

TEST(in_use, c55_second_release_of_hold_takes_no_other, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, NULL), *inner = take(one, NULL);
    ck_assert_int_eq(redlock_release(inner), 0);
    ck_assert_int_eq(redlock_release(inner), REDLOCK_ENOTHELD);
    count_becomes(1);
    ck_assert_int_gt(redlock_validity_ms(outer), 0);
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(outer), 0);
}

/* A server that answers too late has taken the lock all the same: it is told to give it back,
 * and that takes nothing from whoever has it by then. */
TEST(in_use, grant_that_comes_too_late_is_not_counted, .rows = 2)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.kind = REDLOCK_REENTRANT;
    options.ttl_ms = 400;
    OPEN_MASTERS(sizes[_i]);
    for (unsigned i = 0; i < masters->n; i++)
        master_pause(masters, i);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_ENOQUORUM);
    for (unsigned i = 0; i < masters->n; i++)
        master_resume(masters, i);
    ck_assert(wait_until(client_ready(one) == masters->n, 10000));
    lock = take(one, NULL);
    count_becomes(1);
    redlock_lock *inner = take(one, NULL);
    count_becomes(2);
    ck_assert_int_eq(redlock_release(inner), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    count_becomes(0);
}

/* ---- leases ----------------------------------------------------------------------------- */

TEST(in_use, b25_nested_lease_never_shortens_nor_adds_up, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_for(one, NULL, 10000);
    count_becomes(1);
    redlock_lock *shorter = take_for(one, NULL, 1000);
    count_becomes(2);
    ck_assert_int_gt(least_left_ms(), 5000);
    ck_assert_int_le(most_left_ms(), 10000);
    ck_assert_int_le(redlock_validity_ms(shorter), 1000);
    ck_assert_int_gt(redlock_validity_ms(outer), 5000);
    ck_assert_int_eq(redlock_release(shorter), 0);
    count_becomes(1);
    ck_assert_int_gt(least_left_ms(), 5000);
    redlock_lock *longer = take_for(one, NULL, 20000);
    count_becomes(2);
    ck_assert_int_gt(least_left_ms(), 15000);
    ck_assert_int_le(most_left_ms(), 20000);
    ck_assert_int_le(redlock_validity_ms(outer), 10000); /* each has its own */
    ck_assert_int_eq(redlock_extend(outer, 1000, NULL), 0);
    ck_assert_int_eq(redlock_release(longer), 0);
    count_becomes(1);
    ck_assert_int_gt(least_left_ms(), 15000);
    ck_assert_int_eq(redlock_release(outer), 0);
}

TEST(in_use, each_hold_is_extended_by_itself, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_for(one, NULL, 3000), *inner = take_for(one, NULL, 3000);
    count_becomes(2);
    client_ready(one); /* a grant that came late is heard */
    ck_assert_int_eq(redlock_extend(outer, 20000, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(outer), 15000);
    ck_assert_int_le(redlock_validity_ms(inner), 3000);
    ck_assert(wait_until(least_left_ms() > 15000, 5000));
    ck_assert_int_eq(redlock_release(outer), 0);
    ck_assert_int_eq(redlock_release(inner), 0);
}

TEST(in_use, d61_lease_that_ends_two_deep_ends_both, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_for(one, NULL, 1200), *inner = take_for(one, NULL, 1500);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert_int_eq(redlock_validity_ms(outer), 0);
    ck_assert_int_eq(redlock_validity_ms(inner), 0);
    redlock_lock *again = take(one, NULL);
    count_becomes(1);
    ck_assert_int_eq(redlock_release(inner), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(outer), REDLOCK_EEXPIRED);
    client_ready(one); /* their releases are through */
    count_becomes(1);
    ck_assert_int_gt(redlock_validity_ms(again), 0);
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(again), 0);
}

/* The inner one keeps the keys alive, and its count goes when both are given back. */
TEST(in_use, outer_hold_that_ran_out_leaves_nothing_behind, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take_for(one, NULL, 1200), *inner = take(one, NULL);
    count_becomes(2);
    ck_assert(wait_until(redlock_validity_ms(outer) == 0, 5000));
    ck_assert_int_gt(redlock_validity_ms(inner), 0);
    ck_assert_int_eq(redlock_release(outer), REDLOCK_EEXPIRED);
    count_becomes(1);
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(inner), 0);
    count_becomes(0);
}

/* ---- names and scripts ------------------------------------------------------------------ */

static void take_and_release(const void *name, size_t len)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock[2] = {NULL, NULL}, *other = NULL;
    options.kind = REDLOCK_REENTRANT;
    options.ttl_ms = CLIENT_TTL_MS;
    ck_assert_int_eq(redlock_try_n(one, name, len, &options, &lock[0]), 0);
    ck_assert_int_eq(redlock_try_n(one, name, len, &options, &lock[1]), 0);
    const char *words[] = {"HVALS", name};
    const size_t lens[] = {5, len};
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert(
            wait_until(strcmp(master_do_n(masters, i, 2, words, lens).text, "2") == 0, 5000));
    ck_assert_int_eq(redlock_try_n(two, name, len, &options, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_extend(lock[0], 2 * CLIENT_TTL_MS, NULL), 0);
    ck_assert_int_eq(redlock_release(lock[0]), 0);
    ck_assert_int_eq(redlock_try_n(two, name, len, &options, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(lock[1]), 0);
    options.wait_ms = 5000;
    ck_assert_int_eq(redlock_try_n(two, name, len, &options, &other), 0);
    ck_assert_int_eq(redlock_release(other), 0);
}

TEST(in_use, i101_names_are_bytes, .rows = 2)
{
    static char longest[REDLOCK_NAME_MAX];
    static const struct {
        const char *bytes;
        size_t len;
    } names[] = {
        {"two words", 9},   {"%s%n%d", 6},   {"{tag}:x", 7},         {"{", 1},
        {"}", 1},           {"a:b:c", 5},    {"nul\0within", 10},    {"\0", 1},
        {"new\r\nline", 9}, {"\xff\xfe", 2}, {":redlock:x", 10}, {"'\"\\", 3},
    };
    OPEN_MASTERS(sizes[_i]);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        take_and_release(names[i].bytes, names[i].len);
    memset(longest, 'n', sizeof(longest));
    take_and_release(longest, sizeof(longest));
}

/* A master that had to be told a script again may be late, and then it is one grant fewer. */
TEST(in_use, i102_scripts_that_were_flushed_are_sent_again, .rows = 2)
{
    redlock_lock *lock[3];
    OPEN_MASTERS(sizes[_i]);
    for (int turn = 0; turn < 10; turn++) {
        for (unsigned i = 0; i < masters->n; i++)
            master_do(masters, i, "SCRIPT", "FLUSH", NULL);
        switch (turn % 5) {
        case 0:
        case 1:
            lock[turn % 5] = take(one, NULL);
            break;
        case 2:
            ck_assert_int_eq(redlock_extend(lock[0], 2 * CLIENT_TTL_MS, NULL), 0);
            ck_assert_int_gt(redlock_validity_ms(lock[0]), CLIENT_TTL_MS);
            break;
        default:
            ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
            ck_assert_int_eq(redlock_release(lock[turn % 5 - 3]), 0);
            break;
        }
    }
    count_becomes(0);
}

CASE(in_use, .timeout_s = 60)
