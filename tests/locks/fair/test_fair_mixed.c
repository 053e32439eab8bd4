/* tags: threads */
/* test_fair_mixed.c - fair locks that are shared with Redisson (fair_peer.c): both sides wait
 * in one queue, wake each other, and find the times there that they expect. */
#include "config_auto.h"

#include "fair_scene.h"

#include <stdio.h>
#include <string.h>

#define SHARE_MS INT64_C(300000)
enum { LEASE_MS = 30000, SLACK_MS = 2000 };

static struct talk ear;
static struct fair_peer peer[FAIR_PEERS];

static void open_peers(int count)
{
    static const char *const owner[] = {"peer:1", "peer:2", "peer:3"};
    char channel[FAIR_KEY_MAX];
    fair_open();
    talk_open(&ear, masters, 0);
    for (int i = 0; i < count; i++) {
        peer[i] = fair_peer_open(owner[i]);
        talk_do(&ear, "SUBSCRIBE", fair_peer_channel(FAIR_NAME, owner[i], channel),
                (char *)NULL);
    }
}

static void close_peers(void)
{
    talk_close(&ear);
    fair_close();
}

/* Nobody else was told since the last look, and it as Redisson expects it. Returns how often:
 * more than once where ours has looked meanwhile, and found it free. */
static unsigned told_alone(const struct fair_peer *who)
{
    char channel[FAIR_KEY_MAX];
    struct talk_message messages[TALK_CALLS_MAX];
    unsigned count = talk_messages(&ear, messages);
    for (unsigned i = 0; i < count; i++) {
        ck_assert_str_eq(messages[i].channel,
                         fair_peer_channel(FAIR_NAME, who->owner, channel));
        ck_assert_str_eq(messages[i].text, "0");
    }
    return count;
}

static void is_told(const struct fair_peer *who)
{
    ck_assert_uint_ge(told_alone(who), 1);
}

static void is_about(int64_t ms, int64_t expected_ms)
{
    ck_assert_msg(ms <= expected_ms + 10 && ms > expected_ms - SLACK_MS, "%lld, not %lld",
                  (long long)ms, (long long)expected_ms);
}

TEST(mixed, all_have_their_turns)
{
    struct waiter last;
    open_peers(2);
    redlock_lock *held = fair_hold(one, "ours:0");
    ck_assert(!fair_peer_locks(&peer[0]));
    fair_wait(&waiter, two, "ours:1");
    ck_assert(!fair_peer_locks(&peer[1]));
    fair_wait(&last, two, "ours:2");
    fair_hears("ours:1");
    fair_hears("ours:2");

    ck_assert_int_eq(redlock_release(held), 0);
    is_told(&peer[0]);
    ck_assert(!fair_peer_locks(&peer[1]));
    ck_assert(fair_peer_locks(&peer[0]));
    (void)told_alone(&peer[0]); /* once more, before it came */
    waiter_mark(&waiter);
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), 1);
    waiter_expect_woken(&waiter, 1);
    is_told(&peer[1]);
    ck_assert(!waiter_is_back(&last, 50));
    ck_assert(fair_peer_locks(&peer[1]));
    waiter_mark(&last);
    ck_assert_int_eq(fair_peer_unlocks(&peer[1]), 1);
    waiter_expect_woken(&last, 1);
    close_peers();
}

/* Each is waited for from the one before it on, and whoever takes the lock, or gives up, takes
 * its own time back from all behind it. */
TEST(mixed, times_are_redissons)
{
    open_peers(3);
    peer[2].wait_ms = 5000; /* a tryLock() that waits */
    ck_assert(fair_peer_locks(&peer[0]));
    fair_wait(&waiter, two, "ours");
    ck_assert(!fair_peer_locks(&peer[1]));
    ck_assert(!fair_peer_locks(&peer[2]));
    is_about(fair_left_ms("ours"), LEASE_MS + SHARE_MS);
    is_about(fair_left_ms("peer:2"), LEASE_MS + 2 * SHARE_MS);
    is_about(fair_left_ms("peer:3"), LEASE_MS + 2 * SHARE_MS + 5000);
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), 1);
    ck_assert(waiter_is_back(&waiter, FAIR_SOON_MS)); /* and has the lock */
    is_about(fair_left_ms("peer:2"), LEASE_MS + SHARE_MS);
    is_about(fair_left_ms("peer:3"), LEASE_MS + SHARE_MS + 5000);
    fair_peer_leaves(&peer[1]);
    is_about(fair_left_ms("peer:3"), LEASE_MS + 5000);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    ck_assert(fair_peer_locks(&peer[2]));
    ck_assert_int_eq(fair_peer_unlocks(&peer[2]), 1);
    close_peers();
}

/* What they take back as they come and go leaves ours enough. */
TEST(mixed, ours_outlasts_those_before_it)
{
    open_peers(3);
    redlock_lock *held = fair_hold(one, NULL);
    for (int i = 0; i < 3; i++)
        ck_assert(!fair_peer_locks(&peer[i]));
    fair_wait(&waiter, two, "ours");
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert(fair_peer_locks(&peer[i]));
        ck_assert_int_gt(fair_left_ms("ours"), (3 - i) * SHARE_MS - SLACK_MS - FAIR_SOON_MS);
        ck_assert(!waiter_is_back(&waiter, 20));
        ck_assert_int_eq(fair_peer_unlocks(&peer[i]), 1);
    }
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    close_peers();
}

/* Also where the first of Redisson's takes its share back when it has waited for it: then ours
 * has been raised by as much. */
TEST(mixed, ours_outlasts_patient_one)
{
    open_peers(1);
    redlock_lock *held = fair_hold(one, NULL);
    ck_assert(!fair_peer_locks(&peer[0]));
    fair_wait(&waiter, two, "ours");
    fair_age(fair_left_ms("peer:1") - FAIR_SOON_MS);
    ck_assert(wait_until(fair_left_ms("ours") > 2 * SHARE_MS - SLACK_MS, FAIR_SOON_MS / 2));
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(fair_peer_locks(&peer[0]));
    is_about(fair_left_ms("ours"), SHARE_MS);
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), 1);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    close_peers();
}

/* Dead, or only slow: it is waited for as long as Redisson would, and no longer. */
TEST(mixed, silent_redisson_is_waited_for_until_its_time)
{
    open_peers(1);
    redlock_lock *held = fair_hold(one, NULL);
    ck_assert(!fair_peer_locks(&peer[0]));
    fair_wait(&waiter, two, "ours");
    ck_assert_int_eq(redlock_release(held), 0);
    fair_age(fair_left_ms("peer:1") - 3300);
    int64_t over_ms = now_ms() + fair_left_ms("peer:1");
    ck_assert(waiter_is_back(&waiter, FAIR_SOON_MS));
    ck_assert_msg(waiter.back_ms >= over_ms - 5 && waiter.back_ms < over_ms + 500, "%d ms late",
                  (int)(waiter.back_ms - over_ms));
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    close_peers();
}

/* A key that would end is no queue for those who do not know. */
TEST(mixed, queue_of_redissons_alone_is_left_as_it_was)
{
    redlock_lock *lock = NULL;
    open_peers(1);
    redlock_lock *held = fair_hold(one, NULL);
    ck_assert(!fair_peer_locks(&peer[0]));
    ck_assert_int_eq(master_do(masters, 0, "PTTL", FAIR_QUEUE, NULL).number, -1);
    ck_assert_int_eq(client_try_as(two, FAIR_NAME, REDLOCK_FAIR, NULL, 100, &lock),
                     REDLOCK_EHELD);
    fair_queue_becomes(1);
    ck_assert_int_eq(master_do(masters, 0, "PTTL", FAIR_QUEUE, NULL).number, -1);
    ck_assert_int_eq(master_do(masters, 0, "PTTL", FAIR_TIMES, NULL).number, -1);
    is_about(fair_left_ms("peer:1"), FAIR_LEASE_MS + SHARE_MS);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(fair_peer_locks(&peer[0]));
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), 1);
    close_peers();
}

/* While Redisson has it more than once, ours is no more than a waiter. */
TEST(mixed, redisson_gives_back_twice_lock_it_has_twice)
{
    open_peers(1);
    ck_assert(fair_peer_locks(&peer[0]));
    ck_assert(fair_peer_tries(&peer[0]));
    fair_wait(&waiter, two, "ours");
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), 0);
    ck_assert(!waiter_is_back(&waiter, 50));
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), 1);
    ck_assert(waiter_is_back(&waiter, FAIR_SOON_MS));
    ck_assert(!fair_peer_tries(&peer[0]));
    ck_assert_int_eq(fair_peer_unlocks(&peer[0]), -1);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    close_peers();
}

CASE(mixed, .timeout_s = 60)
