/* test_link_connect.c - every address of a name within one budget: addresses that refuse, are
 * silent or can't be reached, and connections that are none. */
#include "config_auto.h"

#include "base/clock.h"
#include "fake_dns.h"
#include "base/limits.h"
#include "link_scene.h"
#include "loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LIMIT_MS = 5000 };

/* What the library calls instead of connect(): it can make TCP connect a socket to itself, as
 * happens by chance with ports of the ephemeral range. */
static bool connect_to_self;
/* All but the first go there: one address whose tries fare differently. */
static struct sockaddr_in divert_to;
static unsigned connects;

int connect(int fd, const struct sockaddr *to, socklen_t len)
{
    connects++;
    if (connect_to_self && bind(fd, to, len) != 0)
        return -1;
    if (divert_to.sin_family != AF_UNSPEC && connects > 1)
        to = (const struct sockaddr *)&divert_to;
    return (int)syscall(SYS_connect, fd, to, len);
}

static void divert(const char *address)
{
    divert_to = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((in_port_t)port)};
    ck_assert_int_eq(inet_pton(AF_INET, address, &divert_to.sin_addr), 1);
}

TEST(addresses, refused_addresses_are_passed_over_at_once)
{
    loopback_listen("127.0.0.4", port, 8);
    fake_dns_answer("127.0.0.2 127.0.0.3 127.0.0.4");
    int64_t begun = now_ms();
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.4:%d"));
    ck_assert_int_lt(now_ms() - begun, 1000);
    ck_assert_uint_eq(connects, 3);
}

TEST(addresses, both_families_are_tried)
{
    loopback_listen("127.0.0.2", port, 8);
    fake_dns_answer("::1 127.0.0.2");
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.2:%d"));
    rl_link_close(link_rig.link);
    loopback_listen("::1", port, 8);
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("[::1]:%d"));
}

TEST(addresses, where_all_refuse_each_is_named)
{
    fake_dns_answer("127.0.0.2 ::1 127.0.0.3");
    rig_open(&link_rig, LIMIT_MS);
    rig_expect_failed(&link_rig,
                      with_port("127.0.0.2:%d: Connection refused; [::1]:%d: Connection "
                                "refused; 127.0.0.3:%d: Connection refused"));
}

TEST(addresses, address_that_can_not_be_reached_is_passed_over)
{
    loopback_listen("127.0.0.2", port, 8);
    fake_dns_answer("255.255.255.255 127.0.0.2"); /* no TCP to the broadcast address */
    rig_expect_open(&link_rig);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.2:%d"));
}

/* Time is handed in: nobody waits here for the shares to pass. */
TEST(addresses, silent_address_costs_its_share_and_no_more)
{
    loopback_black_hole("127.0.0.2", port);
    loopback_listen("127.0.0.4", port, 8);
    fake_dns_answer("127.0.0.2 127.0.0.2 127.0.0.3 127.0.0.4"); /* three different ones */
    int64_t now_ns = rl_clock_now_ns();
    rl_link_open(link_rig.link, now_ns, now_ns + 900 * RL_NS_PER_MS);
    ck_assert_int_eq(rl_link_due_ns(link_rig.link), now_ns + 900 * RL_NS_PER_MS);
    while (rl_link_state(link_rig.link) == RL_LINK_RESOLVING)
        rl_link_step(link_rig.link, 0, now_ns);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_CONNECTING);
    ck_assert_int_le(rl_link_due_ns(link_rig.link), now_ns + 300 * RL_NS_PER_MS);
    rl_link_step(link_rig.link, 0, now_ns + 300 * RL_NS_PER_MS - 1);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.2:%d"));
    rl_link_step(link_rig.link, 0, now_ns + 300 * RL_NS_PER_MS);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.3:%d"));
    ck_assert_int_le(rl_link_due_ns(link_rig.link), now_ns + 600 * RL_NS_PER_MS);
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.4:%d"));
    ck_assert_str_eq(rl_link_text(link_rig.link), "");
}

/* Nobody ran the loop for a while: what was sent meanwhile had no chance to be answered. */
TEST(addresses, absence_is_not_charged_to_address)
{
    enum { SHARE_MS = 400, ABSENT_MS = 1000 };
    loopback_black_hole("127.0.0.2", port);
    loopback_listen("127.0.0.4", port, 8);
    fake_dns_answer("127.0.0.2 127.0.0.4");
    int64_t now_ns = rl_clock_now_ns();
    int64_t over_ns = now_ns + (SHARE_MS + ABSENT_MS) * RL_NS_PER_MS;
    rl_link_open(link_rig.link, now_ns, now_ns + 2 * SHARE_MS * RL_NS_PER_MS);
    while (rl_link_state(link_rig.link) == RL_LINK_RESOLVING)
        rl_link_step(link_rig.link, 0, now_ns);
    rl_link_absent(link_rig.link, ABSENT_MS * RL_NS_PER_MS);
    rl_link_step(link_rig.link, 0, over_ns - 1);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.2:%d"));
    ck_assert_int_eq(rl_link_due_ns(link_rig.link), over_ns);
    rl_link_step(link_rig.link, 0, over_ns);
    ck_assert_str_eq(link_rig.link->where, with_port("127.0.0.4:%d"));
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
}

/* The kernel alone would say SYN again after a second, and after three. */
TEST(addresses, address_that_was_silent_is_found_soon)
{
    int listens = loopback_black_hole("127.0.0.2", port);
    fake_dns_answer("127.0.0.2");
    rig_open(&link_rig, LIMIT_MS);
    int64_t answers_ms = now_ms() + 1200;
    while (now_ms() < answers_ms)
        rig_turn(&link_rig, answers_ms - now_ms());
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_CONNECTING);
    ck_assert_int_eq(listen(listens, 64), 0);
    answers_ms = now_ms();
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
    ck_assert_int_lt(now_ms() - answers_ms, 1500); /* which it does 1.8 s from here */
    ck_assert_int_eq(rl_link_due_ns(link_rig.link), INT64_MAX);
}

/* Time is handed in. */
TEST(addresses, silent_address_is_tried_four_times_per_second)
{
    loopback_black_hole("127.0.0.2", port);
    unsigned before = rig_descriptors();
    fake_dns_answer("127.0.0.2");
    int64_t now_ns = rl_clock_now_ns();
    int64_t end_ns = now_ns + 10 * RL_NS_PER_S;
    rl_link_open(link_rig.link, now_ns, end_ns);
    while (rl_link_state(link_rig.link) == RL_LINK_RESOLVING)
        rl_link_step(link_rig.link, 0, now_ns);
    for (unsigned i = 1; i < 40; i++) {
        ck_assert_uint_eq(connects, i);
        ck_assert_uint_eq(rig_descriptors(), before + (i < 4 ? i : 4));
        ck_assert_int_eq(rl_link_due_ns(link_rig.link), now_ns + i * 250 * RL_NS_PER_MS);
        rl_link_step(link_rig.link, 0, rl_link_due_ns(link_rig.link) - 1);
        ck_assert_uint_eq(connects, i);
        rl_link_step(link_rig.link, 0, rl_link_due_ns(link_rig.link));
    }
    ck_assert_int_eq(rl_link_due_ns(link_rig.link), end_ns);
    rl_link_step(link_rig.link, 0, end_ns);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_FAILED);
    ck_assert_uint_eq(rig_descriptors(), before);
}

/* Where it is further away than a second, none of the later tries has the time: it is the first
 * that is answered, when four and more of them are under way. */
TEST(addresses, address_that_is_far_away_is_found)
{
    int listens = loopback_black_hole("127.0.0.2", port);
    loopback_black_hole("127.0.0.3", port);
    rig_end(&link_rig);
    rig_begin_tcp(&link_rig, "127.0.0.2", port);
    divert("127.0.0.3");
    int64_t now_ns = rl_clock_now_ns();
    rl_link_open(link_rig.link, now_ns, now_ns + 60 * RL_NS_PER_S);
    for (unsigned i = 1; i < 20; i++)
        rl_link_step(link_rig.link, 0, rl_link_due_ns(link_rig.link));
    ck_assert_uint_eq(connects, 20);
    ck_assert_int_eq(listen(listens, 64), 0);
    ck_assert_int_eq(rig_settle(&link_rig, LIMIT_MS), RL_LINK_OPEN);
}

/* The news of both come at once: of the one that is connected, and of one that is refused. */
TEST(addresses, refusal_does_not_end_try_that_was_connected)
{
    enum { EVENTS = 2 };
    struct epoll_event events[EVENTS];
    loopback_listen("127.0.0.2", port, 8);
    rig_end(&link_rig);
    rig_begin_tcp(&link_rig, "127.0.0.2", port);
    divert("127.0.0.3"); /* where nobody listens */
    int64_t now_ns = rl_clock_now_ns();
    rl_link_open(link_rig.link, now_ns, now_ns + LIMIT_MS * RL_NS_PER_MS);
    rl_link_step(link_rig.link, 0, rl_link_due_ns(link_rig.link));
    ck_assert_uint_eq(connects, 2);
    ck_assert(wait_until(epoll_wait(link_rig.epoll_fd, events, EVENTS, 0) == EVENTS, LIMIT_MS));
    /* Either may be told first. */
    bool refused_first = (events[0].events & EPOLLERR) != 0;
    ck_assert((events[refused_first ? 0 : 1].events & EPOLLERR) != 0);
    rl_link_step(link_rig.link, events[refused_first ? 1 : 0].events, now_ns);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_OPEN);
    rl_link_step(link_rig.link, events[refused_first ? 0 : 1].events, now_ns);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_OPEN);
}

TEST(addresses, silence_everywhere_ends_with_budget)
{
    loopback_black_hole("127.0.0.2", port);
    loopback_black_hole("127.0.0.3", port);
    fake_dns_answer("127.0.0.2 127.0.0.3");
    int64_t begun = now_ms();
    rig_open(&link_rig, 300);
    rig_expect_failed(&link_rig,
                      with_port("127.0.0.2:%d: timed out while connecting; 127.0.0.3:%d: "
                                "timed out while connecting"));
    ck_assert_int_ge(now_ms() - begun, 299);
    ck_assert_int_lt(now_ms() - begun, 2000);
}

TEST(addresses, budget_that_is_over_tries_nothing)
{
    int64_t now_ns = rl_clock_now_ns();
    rig_end(&link_rig);
    rig_begin_tcp(&link_rig, "127.0.0.2", port);
    rl_link_open(link_rig.link, now_ns, now_ns);
    rig_expect_failed(&link_rig, with_port("127.0.0.2:%d: no time was left to try it"));
    ck_assert_uint_eq(connects, 0);
}

TEST(addresses, where_there_is_no_descriptor_no_other_address_is_tried)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t usual = limit.rlim_cur;
    limit.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    fake_dns_answer("127.0.0.2 127.0.0.3 127.0.0.4");
    rig_open(&link_rig, LIMIT_MS);
    rig_expect_failed(&link_rig,
                      with_port("127.0.0.2:%d: no socket to be had: Too many open files"));
    limit.rlim_cur = usual;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* An event that was meant for an earlier socket of the link is no connection. */
TEST(addresses, stray_event_does_not_make_connection)
{
    loopback_black_hole("127.0.0.2", port);
    fake_dns_answer("127.0.0.2");
    rig_open(&link_rig, LIMIT_MS);
    while (rl_link_state(link_rig.link) == RL_LINK_RESOLVING)
        rig_turn(&link_rig, LIMIT_MS);
    rl_link_step(link_rig.link, EPOLLOUT, rl_clock_now_ns());
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_CONNECTING);
    rl_link_step(link_rig.link, EPOLLERR | EPOLLHUP | EPOLLIN, rl_clock_now_ns());
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_CONNECTING);
}

TEST(addresses, connection_to_itself_is_refusal)
{
    connect_to_self = true;
    fake_dns_answer("127.0.0.2 ::1");
    rig_open(&link_rig, LIMIT_MS);
    rig_expect_failed(&link_rig,
                      with_port("127.0.0.2:%d: Connection refused; [::1]:%d: Connection "
                                "refused"));
}

TEST(addresses, link_may_be_closed_or_freed_on_its_way)
{
    unsigned before = rig_descriptors();
    loopback_black_hole("127.0.0.2", port);
    unsigned with_hole = rig_descriptors();
    ck_assert_uint_gt(with_hole, before);
    fake_dns_answer("127.0.0.2");
    for (int i = 0; i < 3; i++) {
        rig_open(&link_rig, LIMIT_MS);
        while (rl_link_state(link_rig.link) != RL_LINK_CONNECTING)
            rig_turn(&link_rig, LIMIT_MS);
        ck_assert_uint_eq(rig_descriptors(), with_hole + 1);
        rl_link_close(link_rig.link);
        ck_assert_uint_eq(rig_descriptors(), with_hole);
    }
    rig_open(&link_rig, LIMIT_MS);
    while (rl_link_state(link_rig.link) != RL_LINK_CONNECTING)
        rig_turn(&link_rig, LIMIT_MS);
}

CASE(addresses, .timeout_s = 30, .set_up = set_up_name, .tear_down = tear_down_name)
