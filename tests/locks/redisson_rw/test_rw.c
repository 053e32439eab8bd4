/* test_rw.c - locks to read and to write on one master: readers share, a writer is alone, who
 * writes may go on as a reader (this on three as well), and what became of the trouble that
 * others had with that. Cases b25, d60, g82 and g83 are named after what users of other locks
 * have met. */
#include "config_auto.h"

#include "rw_scene.h"

#include <stdio.h>
#include <string.h>

enum { MOMENT_MS = 10000, PROBE_MS = 1000 };

static const unsigned sizes[] = {1, 3};

/* ---- sharing and excluding -------------------------------------------------------------- */

TEST(rw, readers_share_and_writer_is_alone)
{
    readers_share_and_writer_does_not(1);
}

/* A thread is an owner, and so is a name that a caller gives. */
TEST(rw, threads_are_owners_where_none_is_named)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(1);
    redlock_lock *mine = write_as(one, NULL), *again = write_as(one, NULL);
    ck_assert_int_eq(try_read(two, NULL, 0, &lock), REDLOCK_EHELD); /* of another client */
    waiter_start_as(&waiter, one, NAME, REDLOCK_READ, NULL, 50);    /* another thread */
    waiter_expect_code(&waiter, REDLOCK_EHELD, MOMENT_MS);
    ck_assert_int_eq(redlock_release(mine), 0);
    ck_assert_int_eq(try_read(two, NULL, 0, &lock), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(again), 0);
    ck_assert_int_eq(try_read(two, NULL, 0, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(rw, b25_nested_leases_neither_cut_nor_add_up, .rows = 2)
{
    bool write = _i;
    OPEN_MASTERS(1);
    redlock_lock *outer = rw_take_for(one, write, "owner", 10000);
    expect_left(9000, 10000);
    redlock_lock *inner = rw_take_for(one, write, "owner", 2000);
    expect_left(8000, 10000);
    ck_assert_int_eq(redlock_release(inner), 0);
    expect_left(7000, 10000);
    inner = rw_take_for(one, write, "owner", 20000);
    expect_left(19000, 20000);
    ck_assert_int_eq(redlock_extend(outer, 12000, NULL), 0);
    expect_left(18000, 20000);
    ck_assert_int_eq(redlock_release(inner), 0); /* for readers the longest that is left */
    expect_left(10000, write ? 20000 : 12000);
    ck_assert_int_eq(redlock_release(outer), 0);
}

TEST(rw, holds_are_given_up_in_any_order, .rows = 2)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}};
    redlock_lock *locks[3], *other = NULL;
    OPEN_MASTERS(1);
    for (unsigned i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        for (int k = 0; k < 3; k++)
            locks[k] = rw_take_for(one, _i, "owner", 10000 + 1000 * k);
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(try_write(two, "other", 0, &other), REDLOCK_EHELD);
            ck_assert_int_eq(held_by("owner", _i), 3 - k);
            ck_assert_int_eq(redlock_release(locks[orders[i][k]]), 0);
        }
        ck_assert_int_eq(held_by("owner", _i), 0);
        ck_assert_int_eq(redlock_release(write_as(two, "other")), 0);
    }
}

/* A reader's lease is its own: who died is not kept alive by those who read on. */
TEST(rw, dead_readers_lease_ends_while_others_read_on)
{
    OPEN_MASTERS(1);
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *dead = rw_take_for(one, false, "dead", 700);
    redlock_lock *alive = rw_take_for(one, false, "alive", 20000);
    ck_assert_int_eq(redlock_detach(dead, text, sizeof(text)), 0);
    waiter_start_as(&waiter, two, NAME, REDLOCK_WRITE, "writer", 30000);
    ck_assert(wait_until(lease_left("dead", 1) == -2, MOMENT_MS));
    ck_assert(!waiter_is_back(&waiter, 0));
    int64_t released_ms = now_ms();
    ck_assert_int_eq(redlock_release(alive), 0);
    waiter_expect_lock(&waiter, MOMENT_MS);
    ck_assert_int_lt(waiter.back_ms - released_ms, PROBE_MS);
}

/* And who has the longest one has the lock for so long, whoever else goes. */
TEST(rw, long_lease_outlasts_others)
{
    OPEN_MASTERS(1);
    redlock_lock *longer = rw_take_for(one, false, "longer", 20000);
    redlock_lock *shorter = rw_take_for(two, false, "shorter", 1000);
    ck_assert_int_eq(redlock_release(shorter), 0);
    expect_left(18000, 20000);
    shorter = rw_take_for(two, false, "shorter", 1000);
    ck_assert_int_eq(redlock_release(longer), 0);
    expect_left(1, 1000);
    ck_assert_int_eq(redlock_release(shorter), 0);
}

/* ---- from one to the other -------------------------------------------------------------- */

TEST(rw, g82_readers_come_at_once_when_writer_reads_on, .rows = 2)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *write = write_as(one, "writer");
    redlock_lock *read = everywhere(read_as(one, "writer"), 2);
    waiter_start_as(&waiter, two, NAME, REDLOCK_READ, "reader", 30000);
    await_listeners(1);
    client_is_quiet(two); /* its look after it listens does not find the lock free */
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(write), 0);
    ck_assert_int_eq(try_write(two, "other", 0, &lock), REDLOCK_EHELD);
    waiter_expect_woken(&waiter, 1);
    ck_assert_int_eq(redlock_extend(read, 20000, NULL), 0);
    ck_assert_int_eq(try_write(two, "other", 0, &lock), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(read), 0);
    ck_assert_int_eq(redlock_release(write_as(two, "other")), 0);
}

/* Also among others, with a wait that would never end. */
TEST(rw, g83_reader_that_wants_to_write_is_told_so_at_once, .rows = 2)
{
    redlock_lock *write = NULL;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *read = everywhere(read_as(one, NULL), 1);
    for (int others = 0; others < 2; others++) {
        redlock_lock *other = others ? everywhere(read_as(two, NULL), 2) : NULL;
        int64_t begun_ms = now_ms();
        ck_assert_int_eq(try_write(one, NULL, 0, &write), REDLOCK_EUPGRADE);
        ck_assert_int_eq(try_write(one, NULL, -1, &write), REDLOCK_EUPGRADE);
        ck_assert_int_lt(now_ms() - begun_ms, PROBE_MS);
        ck_assert_int_gt(redlock_validity_ms(read), 0);
        if (other)
            ck_assert_int_eq(redlock_release(other), 0);
    }
    ck_assert_uint_eq(masters_with(masters, MARK), 0); /* nor does it keep others out */
    ck_assert_int_eq(redlock_release(read), 0);
    ck_assert_int_eq(redlock_release(write_as(one, NULL)), 0);
}

static redlock_lock_info ask(const char *owner)
{
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    ck_assert_int_eq(redlock_inspect_n(two, NAME, strlen(NAME), owner, &info), 0);
    return info;
}

/* Of an owner who reads and writes, and of one whose lease has run out while others read on. */
TEST(rw, d60_holder_is_told_and_former_holder_is_not)
{
    char text[REDLOCK_HANDLE_MAX];
    OPEN_MASTERS(1);
    redlock_lock *write = write_as(one, "owner"), *read = read_as(one, "owner");
    ck_assert_uint_eq(ask("owner").own_write, 1);
    ck_assert_uint_eq(ask("owner").own_read, 1);
    ck_assert_uint_eq(ask("other").own_read, 0);
    ck_assert(ask("other").held);
    ck_assert_int_eq(redlock_release(write), 0);
    ck_assert_uint_eq(ask("owner").own_write, 0);
    ck_assert_uint_eq(ask("owner").own_read, 1);
    redlock_lock *dead = rw_take_for(one, false, "dead", 700);
    ck_assert_uint_eq(ask("dead").own_read, 1);
    ck_assert_int_eq(redlock_detach(dead, text, sizeof(text)), 0);
    ck_assert(wait_until(lease_left("dead", 1) == -2, MOMENT_MS));
    ck_assert_uint_eq(ask("dead").own_read, 0);
    ck_assert_uint_eq(ask("owner").own_read, 1);
    ck_assert_int_eq(redlock_release(read), 0);
    ck_assert(!ask("owner").held);
}

/* What a thread of Redisson's has that is the same owner is not ours to give up, nor the other
 * way round: it counts, and has no lease. */
TEST(rw, peer_that_is_same_owner_keeps_its_own)
{
    redlock_lock *other = NULL;
    OPEN_MASTERS(1);
    rw_peer_takes("owner:write", "write");
    redlock_lock *write = write_as(one, "owner"), *read = read_as(one, "owner");
    ck_assert_int_eq(held_by("owner", true), 2);
    ck_assert_int_eq(redlock_release(write), 0);
    ck_assert_int_eq(redlock_release(read), 0);
    ck_assert_int_eq(held_by("owner", true), 1);
    expect_left(20000, 30000);
    ck_assert_int_eq(try_read(two, "other", 0, &other), REDLOCK_EHELD);
    write = write_as(one, "owner");
    master_do(masters, 0, "HINCRBY", NAME, "owner:write", "-1", NULL);
    ck_assert_int_eq(redlock_extend(write, 12000, NULL), 0);
    ck_assert_int_eq(try_read(two, "other", 0, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(write), 0);
    ck_assert_int_eq(redlock_release(write_as(two, "other")), 0);
}

/* ---- what others do to it --------------------------------------------------------------- */

/* A peer's reader that renews the lock cuts leases above its own: so there are none. */
TEST(rw, reader_asks_for_30_s_at_most)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    masters = masters_start(1, NULL);
    one = client_open(masters_file(masters, "max-ttl 60s\n"));
    two = client_open(masters_file(masters, NULL));
    options.kind = REDLOCK_READ;
    options.ttl_ms = 30001;
    ck_assert_int_eq(redlock_try(one, NAME, &options, &lock), REDLOCK_EINVAL);
    options.ttl_ms = 30000;
    ck_assert_int_eq(redlock_try(one, NAME, &options, &lock), 0);
    ck_assert_int_eq(redlock_extend(lock, 30001, NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_extend(lock, 30000, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    options.kind = REDLOCK_WRITE;
    options.ttl_ms = 60000;
    ck_assert_int_eq(redlock_try(one, NAME, &options, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

static void count_loss(void *context, redlock_lock *lock)
{
    (void)lock;
    atomic_fetch_add((atomic_int *)context, 1);
}

/* A peer with a shorter watchdog cut the lock; it ran out before the lease did. */
TEST(rw, lock_that_peer_cut_is_lost_at_next_renewal, .rows = 2)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    atomic_int losses = 0;
    OPEN_MASTERS(1);
    options.kind = _i ? REDLOCK_WRITE : REDLOCK_READ;
    options.ttl_ms = 1500;
    options.auto_renew = 1;
    options.on_lost = count_loss;
    options.lost_context = &losses;
    ck_assert_int_eq(redlock_try(one, NAME, &options, &lock), 0);
    ck_assert(wait_until(client_stats(one).extended > 1, MOMENT_MS));
    ck_assert_int_eq(atomic_load(&losses), 0);
    master_do(masters, 0, "PEXPIRE", NAME, "1", NULL);
    ck_assert(wait_until(atomic_load(&losses) == 1, MOMENT_MS));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

TEST(rw, foreign_key_of_that_name_is_left_alone)
{
    static const char *const data[][4] = {{"SET", "x"},
                                          {"HSET", "owner", "1"},
                                          {"RPUSH", "x"},
                                          {"HSET", "mode", "fast"},
                                          {"HSET", "mode", "read"}};
    redlock_lock *lock = NULL;
    OPEN_MASTERS(1);
    for (unsigned i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
        master_do(masters, 0, data[i][0], NAME, data[i][1], data[i][2], NULL);
        struct reply before = master_do(masters, 0, "DUMP", NAME, NULL);
        ck_assert_int_eq(try_read(one, NULL, -1, &lock), REDLOCK_EWRONGTYPE);
        ck_assert_int_eq(try_write(one, NULL, -1, &lock), REDLOCK_EWRONGTYPE);
        struct reply after = master_do(masters, 0, "DUMP", NAME, NULL);
        ck_assert(before.len == after.len && memcmp(before.text, after.text, after.len) == 0);
        ck_assert_int_eq(master_do(masters, 0, "DBSIZE", NULL).number, 1);
        master_do(masters, 0, "DEL", NAME, NULL);
    }
}

CASE(rw, .timeout_s = 60)
