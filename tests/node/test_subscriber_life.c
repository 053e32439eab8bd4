/* test_subscriber_life.c - when a subscriber connects and when it does not, and what its owner
 * may do from within. */
#include "config_auto.h"

#include "base/clock.h"
#include "sub_scene.h"

#include <sys/socket.h>
#include <unistd.h>

/* ---- when ----------------------------------------------------------------------------- */

TEST(life, first_loss_is_made_good_at_once_and_then_less_eagerly)
{
    sub_peer_expect_listening(&peer, &rig);
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.went == 1));
    ck_assert_uint_eq(rig.sub.connects, 2);
    ck_assert(rl_sub_pending(&rig.sub));
    sub_peer_expect_listening(&peer, &rig);
    rig.sub.since_ns = rl_clock_now_ns();
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.went == 2));
    ck_assert_uint_eq(rig.sub.retry.flaws, 2);
    ck_assert_int_gt(rig.sub.retry.at_ns, rig.sub.since_ns);
    ck_assert_int_le(rig.sub.retry.at_ns,
                     rig.sub.since_ns + RL_RECONNECT_MAX_MS * RL_NS_PER_MS);
    sub_peer_expect_listening(&peer, &rig);
    rig.sub.since_ns -= RL_NS_PER_S; /* it has been well since */
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.went == 3));
    ck_assert_uint_eq(rig.sub.connects, 4);
    ck_assert(rl_sub_pending(&rig.sub));
}

TEST(life, server_that_is_gone_is_tried_again_but_not_constantly)
{
    shut_the_door();
    int64_t now_ns = rl_clock_now_ns(), begun_ns = now_ns;
    rl_sub_want(&rig.sub, now_ns);
    for (unsigned i = 1; i <= 200; i++) {
        ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
        ck_assert_uint_eq(rig.sub.connects, i);
        ck_assert(!rl_sub_pending(&rig.sub));
        int64_t due_ns = rl_sub_due_ns(&rig.sub);
        ck_assert_int_gt(due_ns, now_ns);
        ck_assert_int_le(due_ns - now_ns, RL_RECONNECT_MAX_MS * RL_NS_PER_MS);
        rl_sub_tick(&rig.sub, due_ns - 1);
        ck_assert_uint_eq(rig.sub.connects, i);
        rl_sub_tick(&rig.sub, now_ns = due_ns);
    }
    /* Full jitter of at most half a second: a quarter on the average. */
    ck_assert_int_gt(now_ns - begun_ns, 190 * RL_RECONNECT_MAX_MS * RL_NS_PER_MS / 3);
    ck_assert_uint_eq(rig.warnings, 1);
    ck_assert_uint_eq(rig.came + rig.went, 0);
}

TEST(life, waiter_after_pause_does_not_wait_for_backoff)
{
    shut_the_door();
    int64_t now_ns = rl_clock_now_ns();
    rl_sub_want(&rig.sub, now_ns);
    for (int i = 0; i < 20; i++)
        rl_sub_tick(&rig.sub, now_ns = rl_sub_due_ns(&rig.sub));
    rig.sub.retry.at_ns = now_ns + RL_RECONNECT_MAX_MS * RL_NS_PER_MS;
    uint64_t connects = rig.sub.connects;
    now_ns += RL_RECONNECT_MIN_MS * RL_NS_PER_MS;
    rl_sub_want(&rig.sub, now_ns); /* one more is nothing new */
    ck_assert_uint_eq(rig.sub.connects, connects);
    rl_sub_unwant(&rig.sub);
    rl_sub_tick(&rig.sub, now_ns + 3600 * RL_NS_PER_S);
    ck_assert_uint_eq(rig.sub.connects, connects);
    rl_sub_want(&rig.sub, now_ns);
    ck_assert_uint_eq(rig.sub.connects, connects + 1);
    ck_assert(!rl_sub_pending(&rig.sub)); /* the failure was a moment ago */
    /* After a long one, all is new. */
    rl_sub_unwant(&rig.sub);
    rl_sub_want(&rig.sub, now_ns + 3600 * RL_NS_PER_S);
    ck_assert_uint_eq(rig.sub.connects, connects + 2);
    ck_assert_uint_eq(rig.sub.retry.failures, 1);
}

TEST(life, waiters_that_come_and_go_make_no_storm)
{
    shut_the_door();
    int64_t now_ns = rl_clock_now_ns();
    for (unsigned i = 0; i < 10000; i++) { /* in a second */
        rl_sub_want(&rig.sub, now_ns);
        rl_sub_tick(&rig.sub, now_ns);
        rl_sub_unwant(&rig.sub);
        now_ns += RL_NS_PER_S / 10000;
    }
    /* The first few backoffs may be shorter than that. */
    ck_assert_uint_le(rig.sub.connects, 10 + 1000 / RL_RECONNECT_MIN_MS);
    ck_assert_uint_gt(rig.sub.connects, 10);
}

TEST(life, connect_attempt_goes_on_without_users)
{
    sub_rig_want(&rig);
    rl_sub_unwant(&rig.sub);
    ck_assert(!rl_sub_pending(&rig.sub));
    sub_peer_admit(&peer, &rig);
    sub_peer_say(&peer, &rig, SUB_OK SUB_CONFIRMED);
    ck_assert(rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.came, 1);
}

/* A unix socket does not say when its backlog has room: the link asks from time to time. */
TEST(life, it_is_due_whenever_link_is)
{
    char byte;
    close(peer.listener);
    peer.listener = net_listen(&peer.at, 0);
    int filler = net_connect(&peer.at);
    sub_rig_want(&rig);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_CONNECTING);
    ck_assert_int_lt(rl_sub_due_ns(&rig.sub), rig.sub.deadline_ns);
    close(accept(peer.listener, NULL, NULL));
    ck_assert_int_eq(recv(filler, &byte, 1, 0), 0);
    close(filler);
    /* Not with the turns of a loop, which look more often than they must. */
    rl_sub_tick(&rig.sub, rl_sub_due_ns(&rig.sub));
    sub_peer_expect_listening(&peer, &rig);
    ck_assert_uint_eq(rig.sub.connects, 1);
}

/* ---- from within ---------------------------------------------------------------------- */

static void unwant_and_want(struct sub_rig *one)
{
    rl_sub_unwant(&one->sub);
    sub_rig_want(one);
}

static void unwant(struct sub_rig *one)
{
    rl_sub_unwant(&one->sub);
}

TEST(life, woken_waiter_may_go_or_come_back)
{
    sub_peer_expect_listening(&peer, &rig);
    rig.on_woken = unwant;
    sub_peer_say(&peer, &rig, SUB_MESSAGE_7 SUB_MESSAGE_7);
    rig.on_woken = unwant_and_want;
    sub_peer_say(&peer, &rig, SUB_MESSAGE_7 SUB_MESSAGE_7);
    ck_assert_uint_eq(rig.woken, 4);
    ck_assert_uint_eq(rig.sub.connects, 1);
}

/* The next connection begins inside the end of the last, whatever ended it. */
TEST(life, callback_of_loss_may_want_next_at_once)
{
    static const char *const ends[] = {NULL, SUB_OK SUB_MESSAGE_7, SUB_MESSAGE_7 "?",
                                       "-ERR\r\n"};
    rig.on_went = unwant_and_want;
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        sub_peer_expect_listening(&peer, &rig);
        rig.sub.retry.begun_ns = 0;
        if (ends[i])
            sub_peer_say(&peer, &rig, ends[i]);
        else
            sub_peer_hang_up(&peer);
        ck_assert(sub_rig_until(&rig, rig.went == i + 1));
        ck_assert_uint_eq(rig.sub.connects, i + 2);
    }
    sub_peer_expect_listening(&peer, &rig);
    int64_t ping_ns = rig.sub.connection.heard_ns + RL_PING_AFTER_MS * RL_NS_PER_MS;
    rl_sub_tick(&rig.sub, ping_ns);
    rl_sub_tick(&rig.sub, ping_ns + rig.settings.stall_limit_ns);
    ck_assert_uint_eq(rig.went, rig.came);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_CONNECTING);
    ck_assert_uint_eq(rig.woken, 1);
}

TEST(life, callback_of_loss_may_leave)
{
    rig.on_went = unwant;
    sub_peer_expect_listening(&peer, &rig);
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.went == 1));
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), INT64_MAX);
}

CASE(life, .timeout_s = 30, .set_up = sub_set_up, .tear_down = sub_tear_down)
