/* tags: threads */
/* test_fair.c - fair locks: who came first is first, in threads and in processes; who goes
 * leaves nothing behind, and moves nobody. The numbers are those of cases that other locks'
 * users have met. */
#include "config_auto.h"

#include "fair_scene.h"
#include "stall.h"
#include "told.h"

#include <stdio.h>
#include <string.h>

enum { CROWD = 5 };
#define SHARE_MS INT64_C(300000)

static struct waiter crowd[10];

/* ---- in turn ---------------------------------------------------------------------------- */

/* Each thread of one client stands for itself. */
TEST(fair, f71_threads_are_served_in_order_they_came)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    for (int i = 0; i < CROWD; i++)
        fair_wait(&crowd[i], two, NULL);
    ck_assert_int_eq(redlock_release(held), 0);
    waiters_expect_in_turn(crowd, CROWD, FAIR_SOON_MS);
}

TEST(fair, f71_processes_are_served_in_order_they_came)
{
    static const char *const owner[CROWD] = {"e", "a", "d", "c", "b"};
    struct child child[CROWD];
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    for (int i = 0; i < CROWD; i++)
        child[i] = fair_child(owner[i]);
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < CROWD; i++)
        ck_assert_int_eq(child_wait(&child[i], FAIR_SOON_MS), 0);
    struct reply order = master_do(masters, 0, "LRANGE", "order", "0", "-1", NULL);
    ck_assert_str_eq(order.text, "e a d c b");
    master_do(masters, 0, "DEL", "order", NULL);
}

/* Nobody else is called, only to be refused. */
TEST(fair, release_tells_first_and_no_other)
{
    static const char *const owner[] = {"a", "b", "c"};
    struct talk ear;
    struct talk_message messages[TALK_CALLS_MAX];
    char channel[FAIR_KEY_MAX];
    FAIR_OPEN();
    talk_open(&ear, masters, 0);
    redlock_lock *held = fair_hold(one, NULL);
    for (int i = 0; i < 3; i++) {
        fair_wait(&crowd[i], two, owner[i]);
        fair_hears(owner[i]);
    }
    for (int i = 1; i < 3; i++)
        talk_do(&ear, "SUBSCRIBE", fair_peer_channel(FAIR_NAME, owner[i], channel),
                (char *)NULL);
    int64_t released_ms = now_ms();
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(waiter_is_back(&crowd[0], FAIR_SOON_MS));
    ck_assert_int_lt(crowd[0].back_ms - released_ms, FAIR_PROBE_MS);
    ck_assert_uint_eq(talk_messages(&ear, messages), 0);
    waiter_expect_lock(&crowd[0], FAIR_SOON_MS);
    ck_assert(waiter_is_back(&crowd[1], FAIR_SOON_MS));
    ck_assert_uint_ge(talk_messages(&ear, messages), 1);
    ck_assert_str_eq(messages[0].channel, fair_peer_channel(FAIR_NAME, "b", channel));
    waiter_expect_lock(&crowd[1], FAIR_SOON_MS);
    waiter_expect_lock(&crowd[2], FAIR_SOON_MS);
    talk_close(&ear);
}

/* Where somebody waits, who would not wait is refused, also while the lock is free. */
TEST(fair, nobody_slips_in_before_first)
{
    redlock_lock *lock = NULL;
    FAIR_OPEN();
    struct fair_peer peer = fair_peer_open("peer:1");
    redlock_lock *held = fair_hold(one, NULL);
    ck_assert(!fair_peer_locks(&peer)); /* and does not react to what it is told */
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < 20; i++) {
        ck_assert_int_eq(client_try_as(two, FAIR_NAME, REDLOCK_FAIR, NULL, 0, &lock),
                         REDLOCK_EHELD);
        ck_assert(!master_has(masters, 0, FAIR_NAME));
    }
    ck_assert(fair_peer_locks(&peer));
    ck_assert_int_eq(fair_peer_unlocks(&peer), 1);
}

/* Who has it comes in again before all who wait, and they wait until the last of it is back. */
TEST(fair, owner_nests_before_waiters)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, "me");
    fair_wait(&waiter, two, "other");
    redlock_lock *nested = NULL;
    ck_assert_int_eq(client_try_as(one, FAIR_NAME, REDLOCK_FAIR, "me", -1, &nested), 0);
    ck_assert_str_eq(master_do(masters, 0, "HGET", FAIR_NAME, "me", NULL).text, "2");
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(!waiter_is_back(&waiter, 100));
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(nested), 0);
    waiter_expect_woken(&waiter, 1);
}

TEST(fair, release_by_force_wakes_first)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    fair_wait(&crowd[0], two, "first");
    fair_hears("first");
    fair_wait(&crowd[1], two, "second");
    client_is_quiet(two); /* it does not find by itself what is free now */
    waiter_mark(&crowd[0]);
    ck_assert_int_eq(
        redlock_force_release_n(one, FAIR_NAME, strlen(FAIR_NAME), REDLOCK_OFF, NULL), 0);
    waiter_expect_woken(&crowd[0], 1);
    waiter_expect_lock(&crowd[1], FAIR_SOON_MS);
    ck_assert_int_eq(redlock_release(held), REDLOCK_EEXPIRED);
}

static uint64_t wait_async(redlock *client, const char *owner, struct told *told)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    uint64_t id = 0;
    options.kind = REDLOCK_FAIR;
    options.owner = owner;
    options.wait_ms = FAIR_LONG_MS;
    ck_assert_int_eq(
        redlock_try_async_n(client, FAIR_NAME, strlen(FAIR_NAME), &options, told_done, told, &id),
        0);
    return id;
}

/* It is the owner who stands there: whichever of its tries goes, the place stays for the rest.
 */
TEST(fair, tries_of_one_owner_share_place, .rows = 2)
{
    struct told told[2] = {{0}, {0}};
    uint64_t id[2];
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    id[0] = wait_async(two, "twice", &told[0]);
    fair_queue_becomes(1);
    id[1] = wait_async(two, "twice", &told[1]);
    fair_wait(&waiter, two, "other");
    ck_assert_int_eq(fair_queued(), 2);
    ck_assert_int_eq(redlock_cancel(two, id[_i]), 0);
    ck_assert(wait_until(atomic_load(&told[_i].calls) == 1, FAIR_SOON_MS));
    ck_assert_str_eq(fair_queued_at(0), "twice");
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(atomic_load(&told[1 - _i].calls) == 1, FAIR_SOON_MS));
    ck_assert_int_eq(told[1 - _i].result, 0);
    ck_assert(!waiter_is_back(&waiter, 0));
    ck_assert_int_eq(redlock_release(told[1 - _i].lock), 0);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
}

/* ---- who goes --------------------------------------------------------------------------- */

enum way { TIME_IS_OVER, TRY_IS_CANCELED, CLIENT_IS_CANCELED, CLIENT_IS_CLOSED, WAYS };

static void one_waits_and_goes(enum way way)
{
    struct told told = {0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    uint64_t id = 0;
    options.kind = REDLOCK_FAIR;
    options.owner = "leaver";
    options.wait_ms = way == TIME_IS_OVER ? 300 : FAIR_LONG_MS;
    ck_assert_int_eq(
        redlock_try_async_n(two, FAIR_NAME, strlen(FAIR_NAME), &options, told_done, &told, &id),
        0);
    fair_queue_becomes(1);
    if (way == TRY_IS_CANCELED)
        ck_assert_int_eq(redlock_cancel(two, id), 0);
    else if (way == CLIENT_IS_CANCELED)
        redlock_shutdown(two);
    else if (way == CLIENT_IS_CLOSED)
        redlock_close(two);
    ck_assert(wait_until(atomic_load(&told.calls) == 1, FAIR_SOON_MS));
    ck_assert_int_eq(told.result, way == TIME_IS_OVER ? REDLOCK_EHELD : REDLOCK_ECANCELED);
    if (way == CLIENT_IS_CLOSED)
        two = client_open(masters_file(masters, NULL));
}

TEST(fair, f72_waiter_that_goes_is_out_of_queue, .rows = WAYS)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    one_waits_and_goes((enum way)_i);
    fair_queue_becomes(0);
    ck_assert(!master_has(masters, 0, FAIR_QUEUE) && !master_has(masters, 0, FAIR_TIMES));
    ck_assert(!master_has(masters, 0, FAIR_SEEN));
    ck_assert_int_eq(redlock_release(held), 0);
}

/* The first one is told that the lock is free, and goes: the next one hears of it, which would
 * look by itself a second later. */
TEST(fair, f72_first_that_goes_wakes_next)
{
    struct talk talk;
    FAIR_OPEN();
    talk_open(&talk, masters, 0);
    struct script_call first = fair_call("first");
    redlock_lock *held = fair_hold(one, NULL);
    ck_assert_int_eq(script_run(&talk, RL_ACQUIRE_OR_QUEUE, &first).yes, 0);
    fair_wait(&waiter, two, "next");
    fair_hears("next");
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(!waiter_is_back(&waiter, 50));
    uint64_t before = client_stats(two).wakes;
    ck_assert_int_eq(script_run(&talk, RL_DEQUEUE, &first).yes, 1);
    ck_assert(waiter_is_back(&waiter, FAIR_SOON_MS));
    ck_assert_uint_ge(client_stats(two).wakes - before, 1);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    talk_close(&talk);
}

/* Redisson's behind them is waited for as long as if they had never been there. */
TEST(fair, f74_ten_waiters_that_give_up_move_nobody)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    int64_t lease_ms = master_do(masters, 0, "PTTL", FAIR_NAME, NULL).number;
    for (int i = 0; i < 10; i++) {
        waiter_start_as(&crowd[i], two, FAIR_NAME, REDLOCK_FAIR, NULL, 1000);
        fair_queue_becomes(i + 1);
    }
    struct fair_peer peer = fair_peer_open("peer:1");
    ck_assert(!fair_peer_locks(&peer));
    ck_assert_int_gt(fair_left_ms(peer.owner), 10 * SHARE_MS);
    for (int i = 0; i < 10; i++)
        waiter_expect_code(&crowd[i], REDLOCK_EHELD, FAIR_SOON_MS);
    fair_queue_becomes(1);
    int64_t left_ms = fair_left_ms(peer.owner);
    ck_assert_int_le(left_ms, lease_ms + SHARE_MS);
    ck_assert_int_gt(left_ms, lease_ms + SHARE_MS - FAIR_SOON_MS);
    fair_peer_leaves(&peer);
    ck_assert_int_eq(redlock_release(held), 0);
}

/* ---- long waits ------------------------------------------------------------------------- */

/* Redisson's scripts take out whose time is over: ours is raised while it waits, and what is
 * behind it with it. */
TEST(fair, f75_waiter_of_more_than_five_minutes_keeps_its_place)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    fair_wait(&waiter, two, "patient");
    struct fair_peer peer = fair_peer_open("peer:1");
    ck_assert(!fair_peer_locks(&peer));
    for (int i = 0; i < 2; i++) {
        fair_age(fair_left_ms("patient") - SHARE_MS / 10);
        ck_assert(wait_until(fair_left_ms("patient") > SHARE_MS - FAIR_SOON_MS, FAIR_SOON_MS));
        int64_t looked_ms = now_ms();
        int64_t behind_ms = fair_left_ms(peer.owner) - fair_left_ms("patient");
        looked_ms = now_ms() - looked_ms; /* between the two */
        ck_assert_int_ge(behind_ms, SHARE_MS - 10);
        ck_assert_int_le(behind_ms, SHARE_MS + 10 + looked_ms);
        ck_assert(!fair_peer_locks(&peer));
        ck_assert_str_eq(fair_queued_at(0), "patient");
    }
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    fair_peer_leaves(&peer);
}

/* And if its time is over all the same, it comes again. */
TEST(fair, f75_waiter_taken_out_comes_again)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    fair_wait(&waiter, two, "patient");
    struct fair_peer peer = fair_peer_open("peer:1");
    /* Its own probe may be quicker than the peer: then it has entered the queue anew. */
    for (int i = 0; i < 10 && strcmp(fair_queued_at(0), "peer:1") != 0; i++) {
        fair_age(fair_left_ms("patient") + 1);
        ck_assert(!fair_peer_locks(&peer));
    }
    ck_assert_str_eq(fair_queued_at(0), "peer:1");
    fair_queue_becomes(2);
    ck_assert_str_eq(fair_queued_at(1), "patient");
    fair_peer_leaves(&peer);
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
}

/* ---- torn, and left over ---------------------------------------------------------------- */

/* An owner without a time would be the first for ever; a time without an owner is never told.
 */
TEST(fair, f77_torn_queue_is_mended, .rows = 4)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    fair_wait(&waiter, two, "mine");
    if (_i == 0) /* ghosts */
        master_do(masters, 0, "LPUSH", FAIR_QUEUE, "ghost:1", "ghost:2", NULL);
    else if (_i == 1)
        master_do(masters, 0, "ZADD", FAIR_TIMES, "1", "ghost:1", "2", "ghost:2", NULL);
    else
        master_do(masters, 0, "DEL", _i == 2 ? FAIR_QUEUE : FAIR_TIMES, NULL);
    ck_assert(wait_until(master_do(masters, 0, "LLEN", FAIR_QUEUE, NULL).number ==
                             master_do(masters, 0, "ZCARD", FAIR_TIMES, NULL).number,
                         FAIR_SOON_MS));
    fair_left_ms("mine");
    if (_i == 0)
        fair_age(fair_left_ms("ghost:1") + 10); /* both are over, of Redisson's as they are */
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
}

/* Not even where all of them die at once: what they have left ends. */
TEST(fair, f79_keys_left_behind_expire)
{
    static const char *const keys[] = {FAIR_QUEUE, FAIR_TIMES, FAIR_SEEN};
    fair_open();
    redlock_lock *held = fair_hold(one, NULL);
    fair_wait(&crowd[0], two, "a");
    fair_wait(&crowd[1], two, "b");
    int64_t last_ms = fair_left_ms("b");
    for (int i = 0; i < 3; i++) {
        int64_t left_ms = master_do(masters, 0, "PTTL", keys[i], NULL).number;
        ck_assert_int_gt(left_ms, last_ms + SHARE_MS);
        ck_assert_int_lt(left_ms, last_ms + 2 * SHARE_MS);
    }
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&crowd[0], FAIR_SOON_MS);
    waiter_expect_lock(&crowd[1], FAIR_SOON_MS);
    fair_close(); /* nothing is left */
}

/* ---- without a release ------------------------------------------------------------------ */

/* How long it took, of 2700 ms. */
static int64_t outwait_a_peer(void)
{
    fair_open();
    struct fair_peer peer = fair_peer_open("peer:1");
    peer.lease_ms = 2700; /* rounds in case of lost messages are not near */
    ck_assert(fair_peer_locks(&peer));
    int64_t taken_ms = now_ms();
    fair_wait(&crowd[0], two, "a");
    fair_wait(&crowd[1], two, "b");
    ck_assert(waiter_is_back(&crowd[0], FAIR_SOON_MS));
    int64_t took_ms = crowd[0].back_ms - taken_ms;
    ck_assert_msg(took_ms >= 2690, "after %d ms", (int)took_ms);
    ck_assert(!waiter_is_back(&crowd[1], 0));
    waiter_expect_lock(&crowd[0], FAIR_SOON_MS);
    waiter_expect_lock(&crowd[1], FAIR_SOON_MS);
    fair_close();
    return took_ms;
}

TEST(fair, f80_lock_that_runs_out_is_firsts)
{
    int64_t took_ms = 0;
    bool in_time = met_unless_stalled((took_ms = outwait_a_peer()) < 2690 + 250, STALL_MS, 2);
    ck_assert_msg(in_time, "after %d ms", (int)took_ms);
}

/* The first is woken all the same: nobody has it. */
TEST(fair, f81_release_of_lost_lock_is_none)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    fair_wait(&waiter, two, "next");
    fair_hears("next");
    client_is_quiet(two); /* it does not find by itself what is free now */
    ck_assert_int_eq(master_do(masters, 0, "DEL", FAIR_NAME, NULL).number, 1);
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(held), REDLOCK_EEXPIRED);
    waiter_expect_woken(&waiter, 1);
    master_do(masters, 0, "DEL", "{" FAIR_NAME "}:redlock:holds", NULL);
}

/* ---- where it can't be ------------------------------------------------------------------ */

static char said[512];

static void note(void *context, int level, const char *text)
{
    (void)context;
    if (level == REDLOCK_LOG_ERROR)
        snprintf(said, sizeof(said), "%s", text);
}

TEST(fair, on_three_masters_there_is_none)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_node node[3];
    char url[3][64];
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    for (int i = 0; i < 3; i++) {
        snprintf(url[i], sizeof(url[i]), "redis://127.0.0.1:%d", masters->node[i].tcp_at.port);
        node[i] = (redlock_node){.size = sizeof(node[i]), .url = url[i]};
    }
    config.nodes = node;
    config.node_count = 3;
    config.guard = REDLOCK_OFF;
    config.log = note;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    ck_assert_int_eq(client_try_as(client, FAIR_NAME, REDLOCK_FAIR, NULL, 0, &lock),
                     REDLOCK_ENOTSUP);
    ck_assert_str_eq(said,
                     "a fair lock is not possible on 3 masters: it needs a node list of 1");
    nothing_is_left(masters);
    redlock_close(client);
}

TEST(fair, on_other_data_there_is_none, .rows = 2)
{
    redlock_lock *lock = NULL;
    FAIR_OPEN();
    const char *key = _i == 0 ? FAIR_NAME : FAIR_QUEUE;
    master_do(masters, 0, "SET", key, "value", NULL);
    ck_assert_int_eq(
        client_try_as(one, FAIR_NAME, REDLOCK_FAIR, NULL, _i ? FAIR_LONG_MS : 0, &lock),
        REDLOCK_EWRONGTYPE);
    ck_assert_str_eq(master_do(masters, 0, "GET", key, NULL).text, "value");
    master_do(masters, 0, "DEL", key, NULL);
}

CASE(fair, .timeout_s = 60)
