/* test_inspect.c - redlock_inspect() and redlock_force_release() with locks of every kind that
 * the library itself has taken, on one master and on three; and masters that lie about them.
 * What one owner has: test_inspect_owner.c. */
#include "config_auto.h"

#include "clients.h"
#include "fake.h"
#include "look.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct look look;
static const redlock_lock_info *const all = &look.all;

static const unsigned sizes[] = {1, 3};

/* Until a majority says that so many have it, or every master that nobody has: grants and
 * releases may still be on their way. */
static void look_for(const char *owner, unsigned holders)
{
    int64_t end_ms = now_ms() + 5000;
    bool so = false;
    while (!so) {
        ck_assert_int_eq(look_at(&look, one, "name", owner), REDLOCK_OK);
        so = all->holders == holders;
        for (unsigned i = 0; holders == 0 && i < all->nodes; i++)
            so &= look.node[i].holders == 0;
        ck_assert(so || now_ms() < end_ms);
    }
}

static void expect_holders(unsigned holders)
{
    look_for(NULL, holders);
}

static void expect_state(unsigned holders, int state)
{
    expect_holders(holders);
    ck_assert_int_eq(all->state, state);
}

/* One of those that a majority names. */
static void expect_holder(unsigned i, int mode, const char *owner)
{
    const redlock_holder *holder = look_holder(&look, -1, i);
    ck_assert_str_eq(holder->owner, owner);
    ck_assert_uint_eq(holder->owner_len, strlen(owner));
    ck_assert_int_eq(holder->mode, mode);
    ck_assert_int_gt(holder->ttl_ms, CLIENT_TTL_MS - 5000);
    ck_assert_int_le(holder->ttl_ms, CLIENT_TTL_MS + 10);
}

/* ---- each kind -------------------------------------------------------------------------- */

TEST(inspect, plain_lock_is_its_tokens, .rows = 2)
{
    OPEN_COLD_CLIENTS(sizes[_i], NULL);
    expect_state(0, REDLOCK_STATE_FREE);
    redlock_lock *lock = client_take(one, "name");
    expect_holders(1);
    /* One that was slow a moment ago is not asked. */
    ck_assert(wait_until((expect_holders(1), all->answered == sizes[_i]), 5000));
    ck_assert_int_eq(all->state, REDLOCK_STATE_PLAIN);
    expect_holder(0, REDLOCK_MODE_EXCLUSIVE, redlock_token(lock));
    ck_assert_uint_eq(all->nodes, sizes[_i]);
    ck_assert_uint_eq(all->needed, sizes[_i] / 2 + 1);
    for (unsigned i = 0; i < all->nodes; i++) {
        ck_assert_int_eq(look.node[i].answered, 1);
        ck_assert_int_eq(look.node[i].state, REDLOCK_STATE_PLAIN);
        ck_assert_ptr_nonnull(strstr(look.node[i].node, "redis.sock"));
        ck_assert_str_eq(look_holder(&look, (int)i, 0)->owner, redlock_token(lock));
    }
    look_for(redlock_token(lock), 1);
    ck_assert_uint_eq(all->own_exclusive, 1);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(inspect, readers_and_writer_are_told_by_name, .rows = 2)
{
    OPEN_COLD_CLIENTS(sizes[_i], NULL);
    redlock_lock *a = client_take_as(one, "name", REDLOCK_READ, "a");
    redlock_lock *b = client_take_as(two, "name", REDLOCK_READ, "b");
    redlock_lock *again = client_take_as(two, "name", REDLOCK_READ, "b");
    expect_state(2, REDLOCK_STATE_READ_WRITE);
    expect_holder(0, REDLOCK_MODE_READ, "a");
    expect_holder(1, REDLOCK_MODE_READ, "b");
    ck_assert_uint_eq(look_holder(&look, -1, 1)->count, 2);
    look_for("b", 2);
    expect_holder(0, REDLOCK_MODE_READ, "b");
    ck_assert_int_eq(redlock_release(a), 0);
    ck_assert_int_eq(redlock_release(b), 0);
    ck_assert_int_eq(redlock_release(again), 0);
    redlock_lock *writer = client_take_as(one, "name", REDLOCK_WRITE, "w");
    expect_holders(1);
    expect_holder(0, REDLOCK_MODE_WRITE, "w");
    redlock_lock *reads = client_take_as(one, "name", REDLOCK_READ, "w");
    expect_holders(2); /* the same owner, as a reader and as the writer */
    expect_holder(0, REDLOCK_MODE_READ, "w");
    expect_holder(1, REDLOCK_MODE_WRITE, "w");
    ck_assert_int_eq(redlock_release(writer), 0);
    expect_holders(1);
    expect_holder(0, REDLOCK_MODE_READ, "w");
    ck_assert_int_eq(redlock_release(reads), 0);
}

TEST(inspect, reentrant_lock_is_counted, .rows = 2)
{
    redlock_lock *lock[3];
    OPEN_COLD_CLIENTS(sizes[_i], NULL);
    for (unsigned i = 0; i < 3; i++) {
        lock[i] = client_take_as(one, "name", REDLOCK_REENTRANT, "me");
        /* A majority has it; the others soon. */
        ck_assert(
            wait_until((expect_holders(1), look_holder(&look, -1, 0)->count == i + 1), 5000));
        ck_assert_int_eq(all->state, REDLOCK_STATE_REENTRANT);
        expect_holder(0, REDLOCK_MODE_EXCLUSIVE, "me");
    }
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_release(lock[i]), 0);
    expect_state(0, REDLOCK_STATE_FREE);
}

/* ---- room ------------------------------------------------------------------------------- */

enum { READERS = 20 };

/* A master that was slow, or not connected yet, gets them now. */
static void extend_all(redlock_lock *const lock[READERS])
{
    for (unsigned i = 0; i < READERS; i++)
        ck_assert_int_eq(redlock_extend(lock[i], 0, NULL), 0);
}

/* What does not fit is counted; those whom a majority names come first. */
TEST(inspect, as_much_is_told_as_there_is_room_for)
{
    enum { NAMED = 4 * REDLOCK_HOLDERS_SHOWN };
    redlock_node_info node[3];
    redlock_holder holder[NAMED];
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock[READERS];
    options.kind = REDLOCK_READ;
    options.ttl_ms = 30000;
    OPEN_COLD_CLIENTS(3, NULL);
    for (unsigned i = 0; i < READERS; i++) {
        char owner[8];
        snprintf(owner, sizeof(owner), "r%02u", i);
        options.owner = owner;
        ck_assert_int_eq(redlock_try(one, "name", &options, &lock[i]), 0);
    }
    ck_assert(wait_until(
        (extend_all(lock), expect_holders(READERS), all->holder_count == NAMED), 5000));
    ck_assert_uint_eq(look.node[2].holders, READERS);
    for (unsigned room = 0; room <= NAMED; room++) {
        bool nodes = room % 4 > 0, holders = room > 0;
        redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(nodes ? node : NULL, room % 4,
                                                        holders ? holder : NULL, room);
        memset(holder, 0x5a, sizeof(holder));
        memset(node, 0x5a, sizeof(node));
        ck_assert_int_eq(redlock_inspect_n(one, "name", 4, NULL, &info), 0);
        ck_assert_uint_eq(info.holders, READERS);
        ck_assert_uint_eq(info.node_count, room % 4);
        ck_assert_uint_eq(info.holder_count, room);
        ck_assert_uint_eq(info.holder_left, NAMED - room);
        for (unsigned i = 0; i < room; i++) {
            ck_assert_int_eq(holder[i].node, (int)(i / REDLOCK_HOLDERS_SHOWN) - 1);
            ck_assert_str_eq(holder[i].owner, look.holder[i].owner);
        }
        for (unsigned i = room; i < NAMED; i++)
            ck_assert_int_eq(holder[i].node, 0x5a5a5a5a);
        for (unsigned i = room % 4; i < 3; i++)
            ck_assert_int_eq(node[i].answered, 0x5a5a5a5a);
    }
}

/* ---- deleting, with somebody who waits -------------------------------------------------- */

struct waiter {
    pthread_t thread;
    int kind, result;
    redlock_lock *lock;
};

static void *wait_for_it(void *context)
{
    struct waiter *waiter = context;
    const char *owner = waiter->kind == REDLOCK_PLAIN ? NULL : "two";
    waiter->result = client_try_as(two, "name", waiter->kind, owner, 60000, &waiter->lock);
    return NULL;
}

static const struct {
    int holds, waits;
    bool one_only;
} forced[] = {
    {REDLOCK_PLAIN, REDLOCK_PLAIN, false}, {REDLOCK_REENTRANT, REDLOCK_REENTRANT, false},
    {REDLOCK_FAIR, REDLOCK_FAIR, true},    {REDLOCK_READ, REDLOCK_WRITE, false},
    {REDLOCK_WRITE, REDLOCK_READ, false},  {REDLOCK_WRITE, REDLOCK_WRITE, false},
};
enum { FORCED = sizeof(forced) / sizeof(forced[0]) };

/* Case 56: who waits hears of it at once, whatever is left of the lease. Case 60: its holder
 * has it no more. */
TEST(inspect, force_wakes_waiters, .rows = 2 * FORCED)
{
    struct waiter waiter = {.kind = forced[_i / 2].waits};
    unsigned n = sizes[_i % 2];
    if (n > 1 && forced[_i / 2].one_only)
        return;
    open_cold_clients(n, NULL);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *held = NULL;
    options.kind = forced[_i / 2].holds;
    options.ttl_ms = 30000;
    options.owner = options.kind == REDLOCK_PLAIN ? NULL : "one";
    ck_assert_int_eq(redlock_try(one, "name", &options, &held), 0);
    ck_assert_int_eq(pthread_create(&waiter.thread, NULL, wait_for_it, &waiter), 0);
    ck_assert(wait_until(client_stats(two).waiting == 1, 5000));
    ck_assert(wait_until((expect_holders(1), all->waiting > 0), 5000));
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(redlock_force_release_n(one, "name", 4, REDLOCK_DEFAULT, NULL), 0);
    pthread_join(waiter.thread, NULL);
    ck_assert_int_eq(waiter.result, 0);
    ck_assert_int_lt(now_ms() - begun_ms, 5000); /* its lease would have lasted for 30 s */
    ck_assert_int_eq(redlock_extend(held, 30000, NULL), REDLOCK_EEXPIRED);
    (void)redlock_release(held);
    ck_assert_int_gt(redlock_validity_ms(waiter.lock), 0);
    ck_assert_int_eq(redlock_release(waiter.lock), 0);
    expect_holders(0);
    close_clients();
}

/* ---- data, and too few masters ---------------------------------------------------------- */

TEST(inspect, data_is_told_and_not_deleted, .rows = 2)
{
    static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    OPEN_COLD_CLIENTS(sizes[_i], NULL);
    for (unsigned i = 0; i < masters->n; i++)
        (void)master_do(masters, i, "SADD", "name", "some", "data", NULL);
    expect_state(0, REDLOCK_STATE_DATA);
    ck_assert_str_eq(all->data, "set");
    ck_assert_int_eq(all->ttl_ms, -1);
    ck_assert_int_eq(all->held, 1); /* no lock can be had there */
    ck_assert_str_eq(look.node[0].data, "set");
    ck_assert_int_eq(redlock_force_release_n(one, "name", 4, REDLOCK_ON, &report),
                     REDLOCK_EWRONGTYPE);
    ck_assert_uint_eq(report.failed, masters->n);
    ck_assert_str_eq(report.node[0].text,
                     "has a set that is no lock under this name, which was left alone");
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert_int_eq(master_do(masters, i, "SCARD", "name", NULL).number, 2);
}

/* Data on one of three masters: the two others are free of the lock, which is a majority. */
TEST(inspect, one_masters_data_is_that_ones_business)
{
    static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    OPEN_COLD_CLIENTS(3, NULL);
    redlock_lock *lock = client_take_as(one, "name", REDLOCK_REENTRANT, "me");
    expect_holders(1);
    (void)master_do(masters, 1, "DEL", "name", NULL);
    (void)master_do(masters, 1, "RPUSH", "name", "data", NULL);
    ck_assert_int_eq(look_at(&look, one, "name", NULL), 0);
    ck_assert_int_eq(all->state, REDLOCK_STATE_REENTRANT);
    ck_assert_str_eq(all->data, "");
    ck_assert_int_eq(look.node[1].state, REDLOCK_STATE_DATA);
    ck_assert_int_eq(redlock_force_release_n(one, "name", 4, REDLOCK_OFF, &report), 0);
    ck_assert_uint_eq(report.failed, 1);
    ck_assert_uint_eq(report.granted, 2);
    ck_assert_int_eq(master_do(masters, 1, "LLEN", "name", NULL).number, 1);
    (void)redlock_release(lock);
}

/* As one that was set by hand. */
TEST(inspect, endless_lock_is_deleted_only_where_that_is_said, .rows = 2)
{
    OPEN_COLD_CLIENTS(sizes[_i], NULL);
    for (unsigned i = 0; i < masters->n; i++)
        (void)master_do(masters, i, "SET", "name", "by hand", NULL);
    for (int endless = REDLOCK_DEFAULT; endless <= REDLOCK_OFF; endless += REDLOCK_OFF)
        ck_assert_int_eq(redlock_force_release_n(one, "name", 4, endless, NULL),
                         REDLOCK_EWRONGTYPE);
    expect_state(1, REDLOCK_STATE_PLAIN);
    ck_assert_int_eq(all->ttl_ms, -1);
    ck_assert_int_eq(all->held_ms, -1);
    ck_assert_int_eq(redlock_force_release_n(one, "name", 4, REDLOCK_ON, NULL), 0);
    expect_state(0, REDLOCK_STATE_FREE);
}

TEST(inspect, masters_that_are_down_are_told_of)
{
    OPEN_COLD_CLIENTS(3, NULL);
    redlock_lock *lock = client_take_as(one, "name", REDLOCK_READ, "a");
    expect_holders(1);
    master_kill(masters, 0);
    ck_assert(
        wait_until(look_at(&look, one, "name", "a") == 0 && !look.node[0].answered, 5000));
    ck_assert_str_ne(look.node[0].text, "");
    ck_assert_ptr_nonnull(strstr(look.node[0].node, "redis.sock"));
    ck_assert_uint_eq(look_shown(&look, 0), 0);
    ck_assert_uint_eq(all->answered, 2);
    ck_assert_uint_eq(all->holders, 1);
    master_kill(masters, 1);
    ck_assert(wait_until(look_at(&look, one, "name", "a") == REDLOCK_ENOQUORUM, 5000));
    ck_assert_int_eq(all->state, REDLOCK_STATE_UNKNOWN);
    ck_assert_uint_eq(look_shown(&look, -1), 0);
    ck_assert_str_eq(look_holder(&look, 2, 0)->owner, "a"); /* what is known is there */
    (void)redlock_release(lock);
}

/* ---- masters that lie ------------------------------------------------------------------- */

/* None of these is an answer to an inspection: that master has failed, and is alone in it. */
static const char *const lies[] = {
    "*2\r\n{nonce-}:1\r\n",
    "*4\r\n{nonce-}:0\r\n:9\r\n$2\r\nme\r\n",
    "*5\r\n{nonce-}:0\r\n:9\r\n$2\r\nme\r\n:0\r\n",
    "*5\r\n{nonce-}:3\r\n:9\r\n$2\r\nme\r\n$11\r\nfree 0 0 0\n\r\n",
    "*5\r\n{nonce-}:1\r\n:9\r\n$0\r\n\r\n$0\r\n\r\n",
    "*5\r\n{nonce-}:1\r\n:9\r\n$0\r\n\r\n$10\r\nfree 0 0 0\r\n",
    "*5\r\n{nonce-}:0\r\n:9\r\n$2\r\nme\r\n$28\r\nplain 0 0 1\nx 1 9 99999 me\n\n\r\n",
    "*5\r\n{nonce-}:0\r\n:9\r\n$2\r\nme\r\n$18\r\nplain 0 0 1\nx 1 9 \r\n",
    "-WRONGTYPE nonsense\r\n",
};
enum { LIES = sizeof(lies) / sizeof(lies[0]) };

TEST(inspect, lie_is_no_answer, .rows = LIES)
{
    struct fake *fakes[3];
    fakes_start(fakes, 3);
    one = client_open(fakes_file(fakes, 3, NULL));
    ck_assert(wait_until(client_ready(one) == 3, 10000)); /* so that all are asked */
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(fake_has(fakes[0], "name") && fake_has(fakes[1], "name") &&
                             fake_has(fakes[2], "name"),
                         5000));
    fake_rule(fakes[2], &(struct fake_rule){.match = "inspect *", .reply = lies[_i]});
    ck_assert_int_eq(look_at(&look, one, "name", NULL), 0);
    ck_assert_int_eq(look.node[2].answered, 0);
    ck_assert_int_eq(look.node[2].state, REDLOCK_STATE_UNKNOWN); /* nor a part of it */
    ck_assert_int_eq(look.node[2].ttl_ms, 0);
    ck_assert_uint_eq(look_shown(&look, 2), 0);
    ck_assert_str_ne(look.node[2].text, "");
    ck_assert_uint_eq(all->answered, 2);
    ck_assert_str_eq(look_holder(&look, -1, 0)->owner, redlock_token(lock));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(one);
}

CASE(inspect, .timeout_s = 60)
