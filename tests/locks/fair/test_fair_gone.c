/* tags: long unsanitized */
/* test_fair_gone.c - waiters of a fair lock that are gone without a word, or do not run for a
 * while: they cost those behind them one timeout at most. */
#include "config_auto.h"

#include "fair_scene.h"

#include "base/limits.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static struct waiter crowd[3];

static void silence(const char *owner)
{
    fair_silence(owner, RL_FAIR_WAITER_MS + 100);
}

/* Killed by itself: child_wait() would say so, after a while. */
static void kill_child(struct child *child)
{
    ck_assert_int_eq(kill(child->pid, SIGKILL), 0);
    ck_assert_int_eq(child_wait(child, FAIR_SOON_MS), -2);
}

/* The release tells the dead one; whoever is next looks often enough. In true time, once. */
TEST(gone, killed_waiter_costs_one_timeout)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    struct child first = fair_child("first");
    fair_wait(&crowd[0], two, "second");
    fair_wait(&crowd[1], two, "third");
    kill_child(&first);
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(waiter_is_back(&crowd[0], RL_FAIR_WAITER_MS + FAIR_SOON_MS));
    int64_t took_ms = crowd[0].back_ms - begun_ms;
    /* It was heard of for the last time before it was killed; the next one looks when that
     * time is over. A second timeout would be as long again. */
    ck_assert_msg(took_ms <= RL_FAIR_WAITER_MS * 3 / 2, "%d ms", (int)took_ms);
    ck_assert_msg(took_ms > RL_FAIR_WAITER_MS - 2 * FAIR_PROBE_MS, "%d ms", (int)took_ms);
    ck_assert(!waiter_is_back(&crowd[1], 0));
    waiter_expect_lock(&crowd[0], FAIR_SOON_MS);
    waiter_expect_lock(&crowd[1], FAIR_PROBE_MS);
}

/* Not one each; and it is no matter whether the lock is held meanwhile. */
TEST(gone, many_killed_cost_no_more, .rows = 2)
{
    static const char *const owner[] = {"a", "b", "c", "d"};
    struct child child[4];
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    for (int i = 0; i < 4; i++)
        child[i] = fair_child(owner[i]);
    fair_wait(&waiter, two, "alive");
    for (int i = 0; i < 4; i++)
        kill_child(&child[i]);
    if (_i == 0) {
        ck_assert_int_eq(redlock_release(held), 0);
        ck_assert(!waiter_is_back(&waiter, 50));
    }
    for (int i = 0; i < 4; i++)
        silence(owner[i]);
    if (_i == 1) {
        fair_queue_becomes(1);
        ck_assert_int_eq(redlock_release(held), 0);
    }
    waiter_expect_lock(&waiter, 3 * FAIR_PROBE_MS);
}

/* Who hears of a free lock because another was taken for gone need not be who took it out. */
TEST(gone, next_waiter_is_woken_by_any_look)
{
    struct talk talk;
    FAIR_OPEN();
    talk_open(&talk, masters, 0);
    struct script_call dead = fair_call("dead"), other = fair_call("passes by");
    redlock_lock *held = fair_hold(one, NULL);
    script_run(&talk, RL_ACQUIRE_OR_QUEUE, &dead);
    fair_wait(&waiter, two, "next");
    fair_hears("next");
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(!waiter_is_back(&waiter, 50));
    /* Now, and not when it looks by itself. */
    silence("dead");
    uint64_t before = client_stats(two).wakes;
    ck_assert_int_eq(script_run(&talk, RL_ACQUIRE, &other).yes, 0);
    ck_assert(waiter_is_back(&waiter, FAIR_SOON_MS));
    ck_assert_uint_ge(client_stats(two).wakes - before, 1);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    talk_close(&talk);
}

/* It loses its turn, and has the next one when it runs on. */
TEST(gone, stopped_waiter_comes_again)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    struct child first = fair_child("first");
    fair_wait(&waiter, two, "second");
    child_signal(first.pid, SIGSTOP, WUNTRACED);
    silence("first");
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(waiter_is_back(&waiter, 3 * FAIR_PROBE_MS));
    ck_assert_int_eq(waiter.code, 0);
    fair_queue_becomes(0);
    ck_assert_int_eq(kill(first.pid, SIGCONT), 0);
    fair_queue_becomes(1);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    ck_assert_int_eq(child_wait(&first, FAIR_SOON_MS), 0);
    master_do(masters, 0, "DEL", "order", NULL);
}

/* Stopped for less it keeps its place. */
TEST(gone, short_stop_costs_no_place)
{
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    struct child first = fair_child("first");
    fair_wait(&waiter, two, "second");
    child_signal(first.pid, SIGSTOP, WUNTRACED);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(!waiter_is_back(&waiter, 3 * FAIR_PROBE_MS));
    ck_assert_str_eq(fair_queued_at(0), "first");
    ck_assert_int_eq(kill(first.pid, SIGCONT), 0);
    ck_assert_int_eq(child_wait(&first, FAIR_SOON_MS), 0);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
    master_do(masters, 0, "DEL", "order", NULL);
}

/* The more are before it the less often it looks, but often enough to be believed alive. */
TEST(gone, waiter_far_back_is_heard_of_in_time)
{
    char owner[32];
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    struct fair_peer peer = fair_peer_open(owner);
    for (int i = 0; i < 60; i++) {
        snprintf(owner, sizeof(owner), "peer:%d", i);
        ck_assert(!fair_peer_locks(&peer));
    }
    fair_wait(&waiter, two, "far");
    fair_hears("far");
    struct reply last = master_do(masters, 0, "ZSCORE", FAIR_SEEN, "far", NULL), now = last;
    for (int i = 0; i < 2; i++) {
        ck_assert(wait_until((now = master_do(masters, 0, "ZSCORE", FAIR_SEEN, "far", NULL),
                              strcmp(now.text, last.text) != 0),
                             RL_FAIR_WAITER_MS / 3));
        last = now;
    }
    for (int i = 0; i < 60; i++) {
        snprintf(owner, sizeof(owner), "peer:%d", i);
        fair_peer_leaves(&peer);
    }
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, FAIR_SOON_MS);
}

/* Whoever comes later finds what they left, and clears it away. */
TEST(gone, after_all_were_killed_nothing_stays)
{
    struct child child[2];
    redlock_lock *lock = NULL;
    FAIR_OPEN();
    redlock_lock *held = fair_hold(one, NULL);
    child[0] = fair_child("a");
    child[1] = fair_child("b");
    kill_child(&child[0]);
    kill_child(&child[1]);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert_int_eq(client_try_as(one, FAIR_NAME, REDLOCK_FAIR, NULL, 0, &lock),
                     REDLOCK_EHELD);
    silence("a");
    silence("b");
    ck_assert_int_eq(client_try_as(one, FAIR_NAME, REDLOCK_FAIR, NULL, 0, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

CASE(gone, .timeout_s = 60)
