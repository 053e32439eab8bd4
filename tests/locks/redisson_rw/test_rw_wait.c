/* test_rw_wait.c - readers and writers who wait: a writer keeps new readers out while it waits
 * and no longer, on one master and on three; and releases wake whom they are for. Cases e67,
 * g89 and g90 are named after what users of other locks have met. */
#include "config_auto.h"

#include "base/limits.h"
#include "rw_scene.h"

#include <stdio.h>
#include <string.h>

enum { MOMENT_MS = 10000, PROBE_MS = 1000, READERS = 8 };

static const unsigned sizes[] = {1, 3};

/* ---- writers who wait ------------------------------------------------------------------- */

TEST(rw_wait, waiting_writer_keeps_new_readers_out, .rows = 2)
{
    static struct waiter reader;
    redlock_lock *lock = NULL, *nested = NULL;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *read = everywhere(read_as(one, "early"), 1);
    waiter_start_as(&waiter, two, NAME, REDLOCK_WRITE, "writer", 30000);
    await_mark(true);
    ck_assert_int_eq(try_read(one, "late", 0, &lock), REDLOCK_EHELD);
    waiter_start_as(&reader, one, NAME, REDLOCK_READ, "late", 30000);
    /* Who reads already may do so again: the writer waits for it. */
    ck_assert_int_eq(try_read(one, "early", 30000, &nested), 0);
    ck_assert_int_eq(redlock_release(nested), 0);
    ck_assert(!waiter_is_back(&waiter, 0) && !waiter_is_back(&reader, 0));
    ck_assert_int_eq(redlock_release(read), 0);
    ck_assert(waiter_is_back(&waiter, MOMENT_MS));
    ck_assert(!waiter_is_back(&reader, 0));
    ck_assert(!marked());
    waiter_expect_lock(&waiter, 0);
    waiter_expect_lock(&reader, MOMENT_MS);
}

TEST(rw_wait, leaving_writer_lets_readers_in_at_once, .rows = 2)
{
    static struct waiter reader;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *read = everywhere(read_as(one, "early"), 1);
    waiter_start_as(&waiter, two, NAME, REDLOCK_WRITE, "writer", 700);
    await_mark(true);
    waiter_start_as(&reader, one, NAME, REDLOCK_READ, "late", 30000);
    waiter_expect_code(&waiter, REDLOCK_EHELD, MOMENT_MS);
    int64_t left_ms = now_ms();
    waiter_expect_lock(&reader, MOMENT_MS);
    ck_assert_int_lt(reader.back_ms - left_ms, PROBE_MS / 2);
    await_mark(false);
    ck_assert_int_eq(redlock_release(read), 0);
}

static int wait_to_write(void *argument)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    child_expect(redlock_open(argument, NULL, &client) == 0);
    return client_try_as(client, NAME, REDLOCK_WRITE, "writer", -1, &lock);
}

TEST(rw_wait, g89_mark_of_dead_writer_runs_out, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *read = everywhere(read_as(one, "early"), 1);
    struct child child = child_start(wait_to_write, (void *)masters_file(masters, NULL));
    await_mark(true);
    kill(child.pid, SIGKILL);
    int64_t killed_ms = now_ms();
    ck_assert_int_eq(child_wait(&child, MOMENT_MS), -2);
    waiter_start_as(&waiter, two, NAME, REDLOCK_READ, "late", 30000);
    ck_assert(!waiter_is_back(&waiter, 0));
    waiter_expect_lock(&waiter, MOMENT_MS);
    ck_assert_int_lt(waiter.back_ms - killed_ms, RL_WRITER_WAITING_MS + 2 * PROBE_MS);
    await_mark(false);
    ck_assert_int_eq(redlock_release(read), 0);
}

/* ---- waking ----------------------------------------------------------------------------- */

/* Those of several clients, and several of one; all of them have it at one time. */
TEST(rw_wait, e67_writers_release_lets_all_readers_in)
{
    static struct waiter readers[READERS];
    redlock *clients[READERS / 2];
    OPEN_MASTERS(1);
    redlock_lock *write = write_as(one, NULL);
    for (int i = 0; i < READERS; i++) {
        if (i < READERS / 2)
            clients[i] = client_open(masters_file(masters, NULL));
        waiter_start_as(&readers[i], clients[i % (READERS / 2)], NAME, REDLOCK_READ, owner(i),
                        30000);
    }
    await_listeners(READERS / 2);
    int64_t released_ms = now_ms();
    ck_assert_int_eq(redlock_release(write), 0);
    for (int i = 0; i < READERS; i++)
        ck_assert(waiter_is_back(&readers[i], MOMENT_MS));
    for (int i = 0; i < READERS; i++) {
        ck_assert_int_lt(readers[i].back_ms - released_ms, PROBE_MS);
        waiter_expect_lock(&readers[i], 0);
    }
    for (int i = 0; i < READERS / 2; i++)
        redlock_close(clients[i]);
}

/* Its lease ran out, and another has the lock by now: that one keeps it, and nobody is woken.
 */
TEST(rw_wait, g90_release_by_former_holder_wakes_nobody, .rows = 2)
{
    bool write = _i;
    OPEN_MASTERS(1);
    redlock_lock *lost = rw_take_for(one, write, "lost", 10000);
    waiter_start_as(&waiter, two, NAME, REDLOCK_WRITE, "waits", 30000);
    await_listeners(1);
    client_is_quiet(two); /* it does not find by itself what is free in between */
    master_do(masters, 0, "DEL", NAME, NULL);
    rw_peer_takes("11111111-2222-4333-8444-555555555555:7:write", "write");
    uint64_t before = client_stats(two).wakes;
    ck_assert_int_gt(lease_left(write ? "lost:write" : "lost", 1), 0);
    ck_assert_int_eq(redlock_release(lost), REDLOCK_EEXPIRED);
    ck_assert_int_eq(lease_left(write ? "lost:write" : "lost", 1), -2);
    ck_assert_int_eq(master_do(masters, 0, "HLEN", NAME, NULL).number, 2);
    master_do(masters, 0, "PUBLISH", "redisson_rwlock:{" NAME "}", "1", NULL); /* comes last */
    ck_assert(wait_until(client_stats(two).wakes > before, MOMENT_MS));
    ck_assert_uint_eq(client_stats(two).wakes, before + 1);
    master_do(masters, 0, "DEL", NAME, NULL);
    waiter_expect_lock(&waiter, MOMENT_MS);
}

CASE(rw_wait, .timeout_s = 60)
