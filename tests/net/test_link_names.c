/* tags: threads */
/* test_link_names.c - a link and its name: looked up at every connect, by a resolver that may
 * hang, fail or change its mind. */
#include "config_auto.h"

#include "base/clock.h"
#include "fake_dns.h"
#include "base/limits.h"
#include "link_scene.h"
#include "loopback.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <unistd.h>

enum { LIMIT_MS = 5000 };

TEST(names, name_leads_to_its_address)
{
    loopback_listen("127.0.0.2", port, 8);
    fake_dns_answer("127.0.0.2");
    rig_open(&link_rig, LIMIT_MS);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_RESOLVING);
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
    ck_assert_uint_eq(link_rig.wakes, 1);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.2:%d"));
}

TEST(names, resolver_that_hangs_costs_budget_and_one_thread)
{
    fake_dns_answer("127.0.0.2");
    fake_dns_hold();
    for (int i = 0; i < 5; i++) {
        rig_open(&link_rig, 20);
        rig_expect_failed(&link_rig, "redis.example: the name look-up takes too long");
        rl_link_close(link_rig.link);
    }
    ck_assert_uint_eq(fake_dns_calls(), 1);

    /* Joined when it ends at last. */
    loopback_listen("127.0.0.2", port, 8);
    rig_open(&link_rig, LIMIT_MS);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_RESOLVING);
    fake_dns_release();
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
    ck_assert_uint_eq(fake_dns_calls(), 1);
}

TEST(names, link_may_be_freed_while_its_name_is_looked_up)
{
    int ends[2];
    char byte;
    fake_dns_answer("127.0.0.2");
    fake_dns_hold();
    rig_open(&link_rig, LIMIT_MS);
    ck_assert(wait_until(fake_dns_waiting() == 1, LIMIT_MS));
    ck_assert_uint_eq(fake_dns_threads(), 1);
    int wake_fd = link_rig.wake_fd;
    rig_end(&link_rig); /* the thread is still in there */

    /* The number of the wake descriptor now belongs to a pipe. */
    ck_assert_int_eq(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    if (ends[1] != wake_fd)
        ck_assert_int_eq(dup2(ends[1], wake_fd), wake_fd);
    fake_dns_release();
    ck_assert(wait_until(fake_dns_waiting() == 0 && fake_dns_threads() == 0, LIMIT_MS));
    ck_assert_int_eq(read(ends[0], &byte, 1), -1);
    ck_assert_int_eq(errno, EAGAIN);
    set_up_name();
}

static void put_last_first(void *context, struct rl_addresses *addresses)
{
    unsigned *calls = context, last = addresses->count - 1;
    struct rl_address first = addresses->list[0];
    (*calls)++;
    ck_assert_int_eq(link_rig.link->fd, -1); /* none has been tried */
    addresses->list[0] = addresses->list[last];
    addresses->list[last] = first;
}

TEST(names, owner_may_choose_which_address_is_first)
{
    unsigned calls = 0;
    loopback_listen("127.0.0.2", port, 8);
    loopback_listen("127.0.0.3", port, 8);
    fake_dns_answer("127.0.0.2 127.0.0.3");
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.2:%d"));
    rl_link_close(link_rig.link);
    rl_link_set_order(link_rig.link, put_last_first, &calls);
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.3:%d"));
    ck_assert_uint_eq(calls, 1); /* at each connect */
    rl_link_close(link_rig.link);
    rig_expect_open(&link_rig);
    ck_assert_uint_eq(calls, 2);
}

TEST(names, name_that_is_not_known_fails_with_reason)
{
    char expected[128];
    fake_dns_fail(EAI_NONAME);
    rig_open(&link_rig, LIMIT_MS);
    snprintf(expected, sizeof(expected), "redis.example: %s", gai_strerror(EAI_NONAME));
    rig_expect_failed(&link_rig, expected);
}

TEST(names, every_connect_asks_anew)
{
    loopback_listen("127.0.0.2", port, 8);
    loopback_listen("127.0.0.3", port, 8);
    fake_dns_answer("127.0.0.2");
    rig_expect_open(&link_rig);
    rl_link_close(link_rig.link);
    fake_dns_answer("127.0.0.3"); /* the master has moved; the old address still answers */
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.3:%d"));
    ck_assert_uint_eq(fake_dns_calls(), 2);
}

TEST(names, where_name_is_not_known_any_more_earlier_addresses_serve)
{
    char expected[256];
    int server = loopback_listen("127.0.0.2", port, 8);
    fake_dns_answer("127.0.0.2");
    rig_expect_open(&link_rig);
    rl_link_close(link_rig.link);
    fake_dns_fail(EAI_AGAIN);
    rig_expect_open(&link_rig);
    rl_link_close(link_rig.link);
    close(server);
    rig_open(&link_rig, LIMIT_MS);
    snprintf(expected, sizeof(expected), "redis.example: %s; 127.0.0.2:%d: Connection refused",
             gai_strerror(EAI_AGAIN), port);
    rig_expect_failed(&link_rig, expected);
}

TEST(names, where_resolver_hangs_earlier_addresses_serve_after_half_budget)
{
    loopback_listen("127.0.0.2", port, 8);
    fake_dns_answer("127.0.0.2");
    rig_expect_open(&link_rig);
    rl_link_close(link_rig.link);
    fake_dns_hold();
    int64_t now_ns = rl_clock_now_ns();
    rl_link_open(link_rig.link, now_ns, now_ns + 1000 * RL_NS_PER_MS);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_RESOLVING);
    ck_assert_int_eq(rl_link_due_ns(link_rig.link), now_ns + 500 * RL_NS_PER_MS);
    rl_link_step(link_rig.link, 0, now_ns + 500 * RL_NS_PER_MS - 1);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_RESOLVING);
    rl_link_step(link_rig.link, 0, now_ns + 500 * RL_NS_PER_MS);
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
    /* What the look-up says in the end wakes the loop, and changes nothing. */
    fake_dns_release();
    ck_assert(wait_until((rig_turn(&link_rig, 10), link_rig.wakes == 2), LIMIT_MS));
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_OPEN);
}

TEST(names, numeric_hosts_ask_nobody)
{
    rig_end(&link_rig);
    rig_begin_tcp(&link_rig, "::1", port);
    loopback_listen("::1", port, 8);
    fake_dns_hold();
    rig_open(&link_rig, LIMIT_MS);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_CONNECTING);
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
    ck_assert_uint_eq(fake_dns_calls(), 0);
}

CASE(names, .timeout_s = 30, .set_up = set_up_name, .tear_down = tear_down_name)
