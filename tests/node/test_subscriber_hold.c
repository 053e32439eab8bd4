/* tags: valgrind */
/* test_subscriber_hold.c - what a subscriber holds: descriptors and memory, at each step, in a
 * forked child, and where there are none. */
#include "config_auto.h"

#include "alloc.h"
#include "child.h"
#include "base/clock.h"
#include "rig.h"
#include "sub_scene.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

TEST(hold, nothing_is_made_of_nothing)
{
    struct rl_sub none = {0};
    rl_sub_done(&none, false);
    rl_sub_done(&none, true);
    rl_sub_unwant(&none);
    rl_sub_tick(&none, 1);
    ck_assert(!rl_sub_listens(&none) && !rl_sub_pending(&none));
    ck_assert_int_eq(rl_sub_due_ns(&none), INT64_MAX);
    rl_sub_done(&rig.sub, false);
    rl_sub_done(&rig.sub, false); /* once more is nothing */
}

TEST(hold, it_may_be_done_with_at_any_step)
{
    for (enum rl_sub_mode mode = RL_SUB_OFF; mode <= RL_SUB_DENIED; mode++) {
        unsigned before = rig_descriptors();
        rig.node.password = (char *)"s3cr3t";
        sub_rig_end(&rig);
        sub_rig_begin(&rig);
        if (mode > RL_SUB_OFF)
            sub_rig_want(&rig);
        if (mode > RL_SUB_OFF)
            sub_peer_admit(&peer, &rig);
        if (mode > RL_SUB_CONNECTING && mode != RL_SUB_DOWN)
            ck_assert(sub_peer_hears(&peer, &rig, "AUTH"));
        if (mode > RL_SUB_AUTH)
            sub_peer_say(&peer, &rig, SUB_OK);
        if (mode == RL_SUB_UP)
            sub_peer_say(&peer, &rig, SUB_OK SUB_CONFIRMED);
        if (mode == RL_SUB_DENIED)
            sub_peer_say(&peer, &rig, SUB_OK "-NOPERM no\r\n");
        if (mode == RL_SUB_DOWN)
            sub_peer_say(&peer, &rig, "-ERR no\r\n");
        ck_assert_int_eq(rig.sub.mode, mode);
        rl_sub_done(&rig.sub, false);
        ck_assert(peer.fd < 0 || sub_peer_is_left(&peer, &rig));
        sub_peer_hang_up(&peer);
        rig.came = rig.went;
        ck_assert_uint_eq(rig_descriptors(), before);
    }
}

TEST(hold, event_that_comes_too_late_is_nothing)
{
    unsigned all = EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP;
    rig.sub.tag.ready(&rig.sub.tag, all, rl_clock_now_ns());
    ck_assert_int_eq(rig.sub.mode, RL_SUB_OFF);
    shut_the_door();
    sub_rig_want(&rig);
    rig.sub.tag.ready(&rig.sub.tag, all, rl_clock_now_ns());
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
}

static int forget_it(void *argument)
{
    (void)argument;
    unsigned before = rig_descriptors();
    rl_sub_done(&rig.sub, true);
    return rig_descriptors() == before - 1 ? 0 : 1;
}

TEST(hold, child_that_is_done_with_it_disturbs_nobody)
{
    sub_peer_expect_listening(&peer, &rig);
    ck_assert_int_eq(child_run(forget_it, NULL, 5000), 0);
    sub_peer_say(&peer, &rig, SUB_MESSAGE_7);
    ck_assert_uint_eq(rig.woken, 1);
}

TEST(hold, without_descriptors_it_tries_again)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t usual = limit.rlim_cur;
    limit.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    sub_rig_want(&rig);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
    limit.rlim_cur = usual;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    sub_peer_expect_listening(&peer, &rig);
}

TEST(hold, each_allocation_of_beginning_may_fail)
{
    static const struct rl_sub zeroed;
    struct rl_sub_events none = {0};
    struct rl_sub sub;
    if (!alloc_works())
        return;
    for (long number = 1;; number++) {
        long live = alloc_live();
        alloc_fail_at(number);
        int result =
            rl_sub_init(&sub, &rig.master, &none, SUB_RIG_UUID, rig.epoll_fd, rig.wake_fd);
        bool hit = alloc_count() >= number;
        alloc_fail_at(0);
        ck_assert_int_eq(result, hit ? REDLOCK_ENOMEM : 0);
        ck_assert(!hit || memcmp(&sub, &zeroed, sizeof(sub)) == 0);
        rl_sub_done(&sub, false);
        ck_assert_int_eq(alloc_live(), live);
        ck_assert_int_lt(number, 100);
        if (!hit) {
            ck_assert_int_gt(number, 3);
            return;
        }
    }
}

TEST(hold, without_memory_for_connection_it_tries_again)
{
    if (!alloc_works())
        return;
    alloc_fail_at(1);
    sub_rig_want(&rig);
    alloc_fail_at(0);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
    ck_assert_str_eq(rig.sub.why, "out of memory");
    ck_assert(!rl_sub_pending(&rig.sub));
    ck_assert_int_gt(rl_sub_due_ns(&rig.sub), 0);
    sub_peer_expect_listening(&peer, &rig);
}

/* Check's assertions, which the rig's events have, allocate. */
static void count_quietly(void *owner, struct rl_node *node, uint64_t seq, int64_t now_ns)
{
    struct sub_rig *one = owner;
    (void)node;
    (void)now_ns;
    one->sum += seq;
}

TEST(hold, messages_and_pings_allocate_nothing)
{
    static const struct rl_sub_events quiet = {.woken = count_quietly};
    static const char message[] = SUB_MESSAGE_7, pong[] = SUB_PONG;
    sub_peer_expect_listening(&peer, &rig);
    for (int i = 0; i < 20; i++) /* the reader's buffer has its size by then */
        sub_peer_say(&peer, &rig, SUB_MESSAGE_7);
    rig.sub.events = &quiet;
    rig.sum = 0;
    bool sent = true;
    alloc_fail_at(0);
    for (int i = 0; i < 1000; i++) {
        rig.sub.connection.heard_ns -= RL_PING_AFTER_MS * RL_NS_PER_MS;
        rl_sub_tick(&rig.sub, rl_clock_now_ns());
        sent = sent && net_send(peer.fd, message, sizeof(message) - 1);
        rig.sub.tag.ready(&rig.sub.tag, EPOLLIN, rl_clock_now_ns());
        sent = sent && net_send(peer.fd, pong, sizeof(pong) - 1);
        rig.sub.tag.ready(&rig.sub.tag, EPOLLIN, rl_clock_now_ns());
    }
    long count = alloc_count();
    ck_assert(sent && rig.sum == 7 * 1000 && !rig.sub.pinged_ns);
    ck_assert_int_eq(count, 0);
}

CASE(hold, .timeout_s = 30, .set_up = sub_set_up, .tear_down = sub_tear_down)
