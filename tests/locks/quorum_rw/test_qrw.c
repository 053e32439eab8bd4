/* tags: long */
/* test_qrw.c - locks to read and to write on several masters: what a quorum makes different
 * from one master, also while masters are gone. What is the same is in test_rw.c and
 * test_rw_wait.c, on one master and on three. */
#include "config_auto.h"

#include "rw_scene.h"

#include <unistd.h>

enum { MOMENT_MS = 10000, PROBE_MS = 1000 };

static const unsigned sizes[] = {2, 3, 5};

/* ---- sharing and excluding -------------------------------------------------------------- */

TEST(shares, readers_share_and_writer_is_alone_on_quorum, .rows = 3)
{
    readers_share_and_writer_does_not(sizes[_i]);
}

/* However often and in whatever order: the lock goes with the last hold. */
TEST(shares, nested_holds_are_given_up_in_any_order, .rows = 2)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}};
    redlock_lock *locks[3], *other = NULL;
    OPEN_MASTERS(3);
    for (unsigned i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        for (int k = 0; k < 3; k++)
            locks[k] = everywhere(rw_take_for(one, _i, "owner", 10000 + 5000 * (k % 2)), k + 1);
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(try_write(two, "other", 0, &other), REDLOCK_EHELD);
            ck_assert_int_eq(redlock_release(locks[orders[i][k]]), 0);
            ck_assert_int_eq(redlock_release(locks[orders[i][k]]), REDLOCK_ENOTHELD);
        }
        ck_assert_int_eq(redlock_release(write_as(two, "other")), 0);
        everywhere(NULL, 0); /* a minority may still have to hear of it, and refuse the next */
    }
}

/* The writer is not among the first sixteen of those that a script looks at at once. */
TEST(shares, writer_behind_seventeen_reads_of_its_own_is_seen, .rows = 2)
{
    redlock_lock *reads[17], *other = NULL;
    OPEN_MASTERS(_i == 0 ? 1 : 3);
    redlock_lock *writer = rw_take_for(one, true, "owner", 30000);
    for (int i = 0; i < 17; i++)
        reads[i] = rw_take_for(one, false, "owner", 25000);
    ck_assert_int_eq(try_read(two, "other", 0, &other), REDLOCK_EHELD);
    ck_assert_int_eq(try_write(two, "other", 0, &other), REDLOCK_EHELD);
    for (int i = 0; i < 17; i++)
        ck_assert_int_eq(redlock_release(reads[i]), 0);
    ck_assert_int_eq(try_read(two, "other", 0, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(writer), 0);
    ck_assert_int_eq(try_read(two, "other", MOMENT_MS, &other), 0);
    ck_assert_int_eq(redlock_release(other), 0);
}

/* Each reader's lease is its own. */
TEST(shares, dead_readers_lease_ends_while_others_read_on)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    redlock_lock *longer = everywhere(rw_take_for(one, false, "longer", 20000), 1);
    redlock_lock *shorter = everywhere(rw_take_for(two, false, "shorter", 900), 2);
    ck_assert(wait_until(redlock_validity_ms(shorter) == 0, MOMENT_MS));
    ck_assert_int_eq(redlock_extend(shorter, 0, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(shorter), REDLOCK_EEXPIRED);
    ck_assert_int_eq(try_write(one, "writer", 0, &lock), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(longer), 0);
    ck_assert_int_eq(redlock_release(write_as(two, "writer")), 0);
}

TEST(shares, other_kinds_under_name_are_told)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    redlock_lock *held = everywhere(read_as(one, "reader"), 1);
    ck_assert_int_eq(client_try(two, NAME, 0, 30000, NULL, &lock), REDLOCK_EWRONGTYPE);
    ck_assert_int_eq(client_try_as(two, NAME, REDLOCK_REENTRANT, "x", 30000, &lock),
                     REDLOCK_EWRONGTYPE);
    ck_assert_int_gt(redlock_validity_ms(held), 0);
    ck_assert_int_eq(redlock_release(held), 0);
    held = take_everywhere(masters, one, NAME);
    ck_assert_int_eq(try_read(two, "reader", 30000, &lock), REDLOCK_EWRONGTYPE);
    ck_assert_int_eq(try_write(two, "writer", 30000, &lock), REDLOCK_EWRONGTYPE);
    ck_assert_int_eq(redlock_release(held), 0);
}

/* ---- from one to the other -------------------------------------------------------------- */

/* What was left on one master, as by an attempt that could not be undone there yet, is no read
 * lock: it refuses, and the writer may wait for its end. */
TEST(changes, leftover_on_one_master_makes_no_reader)
{
    redlock_lock *write = NULL;
    OPEN_MASTERS(3);
    master_do(masters, 0, "ZADD", NAME, "99999999999999", "r:2:me:left-over", (char *)NULL);
    master_do(masters, 1, "ZADD", NAME, "99999999999999", "r:5:other:token", (char *)NULL);
    ck_assert_int_eq(try_write(one, "me", 0, &write), REDLOCK_EHELD);
    master_do(masters, 1, "ZADD", NAME, "99999999999999", "r:2:me:left-over", (char *)NULL);
    master_do(masters, 1, "ZREM", NAME, "r:5:other:token", (char *)NULL);
    ck_assert_int_eq(try_write(one, "me", -1, &write), REDLOCK_EUPGRADE);
    for (unsigned i = 0; i < 2; i++)
        master_do(masters, i, "DEL", NAME, (char *)NULL);
    ck_assert_int_eq(redlock_release(write_as(one, "me")), 0);
}

/* Two masters have lost it, to another reader. The one that has it is no majority, but its
 * client knows that it reads. */
TEST(changes, upgrade_of_own_lock_is_refused_by_one_master_too)
{
    redlock_lock *write = NULL;
    OPEN_MASTERS(3);
    redlock_lock *read = everywhere(read_as(one, "me"), 1);
    for (unsigned i = 0; i < 2; i++) {
        master_do(masters, i, "DEL", NAME, (char *)NULL);
        master_do(masters, i, "ZADD", NAME, "99999999999999", "r:5:other:token", (char *)NULL);
    }
    ck_assert_int_gt(redlock_validity_ms(read), 0);
    ck_assert_int_eq(try_write(one, "me", 2000, &write), REDLOCK_EUPGRADE);
    (void)redlock_release(read);
    for (unsigned i = 0; i < 2; i++)
        master_do(masters, i, "DEL", NAME, (char *)NULL);
}

/* ---- who dies --------------------------------------------------------------------------- */

static int read_and_die(void *argument)
{
    redlock *client = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    child_expect(redlock_open(argument, NULL, &client) == 0);
    options.kind = REDLOCK_READ;
    options.ttl_ms = 1000;
    child_expect(redlock_try(client, NAME, &options, &lock) == 0);
    kill(getpid(), SIGKILL);
    return 0;
}

TEST(killed, reader_that_was_killed_costs_its_lease_and_no_more)
{
    OPEN_MASTERS(3);
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(child_run(read_and_die, (void *)masters_file(masters, NULL), MOMENT_MS),
                     -2);
    waiter_start_as(&waiter, two, NAME, REDLOCK_WRITE, "writer", 30000);
    waiter_expect_lock(&waiter, MOMENT_MS);
    ck_assert_int_ge(waiter.back_ms - begun_ms, 1000);
    ck_assert_int_lt(waiter.back_ms - waiter.begun_ms, 1000 + PROBE_MS);
}

/* ---- masters that are gone -------------------------------------------------------------- */

TEST(gone, one_master_may_be_gone, .rows = 2)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    if (_i)
        master_pause(masters, 1);
    else
        master_kill(masters, 1);
    redlock_lock *reads[2] = {read_as(one, "a"), read_as(two, "b")};
    ck_assert_int_eq(try_write(one, "w", 0, &lock), REDLOCK_EHELD);
    waiter_start_as(&waiter, one, NAME, REDLOCK_WRITE, "w", 30000);
    ck_assert(wait_until(masters_with(masters, MARK) == 2, MOMENT_MS));
    ck_assert_int_eq(redlock_release(reads[0]), 0);
    ck_assert_int_eq(redlock_release(reads[1]), 0);
    ck_assert(waiter_is_back(&waiter, MOMENT_MS));
    ck_assert_int_eq(waiter.code, 0);
    ck_assert_int_eq(try_read(two, "b", 0, &lock), REDLOCK_EHELD);
    waiter_expect_lock(&waiter, 0);
    if (_i)
        master_resume(masters, 1);
}

/* A majority still has it, so that the rest is filled in; where the majority has lost it, it is
 * lost, and whoever has it there by then stays. */
TEST(gone, names_lost_by_minority_are_filled_in, .rows = 2)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    redlock_lock *held = everywhere(rw_take_for(one, _i, "owner", 20000), 1);
    ck_assert_int_eq(master_do(masters, 2, "DEL", NAME, NULL).number, 1);
    /* Answers that come after the majority's are read by the next call. */
    ck_assert(wait_until(redlock_extend(held, 0, NULL) == 0 && held_everywhere(1), MOMENT_MS));
    ck_assert_int_eq(master_do(masters, 0, "DEL", NAME, NULL).number, 1);
    ck_assert_int_eq(master_do(masters, 1, "DEL", NAME, NULL).number, 1);
    ck_assert_int_eq(try_write(two, "other", 0, &lock), 0);
    ck_assert_int_ne(redlock_extend(held, 0, NULL), 0);
    ck_assert_int_eq(redlock_validity_ms(held), 0);
    redlock_release(held);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

CASE(shares, .timeout_s = 60)
CASE(changes, .timeout_s = 60)
CASE(killed, .timeout_s = 60)
CASE(gone, .timeout_s = 60)
