/* test_link_alloc.c - every allocation of the transport fails once: nothing crashes, nothing
 * leaks, and the text says what is the matter. */
#include "config_auto.h"

#include "alloc.h"
#include "fake_dns.h"
#include "net/resolve.h"
#include "rig.h"
#include "suite.h"
#include "tls_pair.h"

#include <netdb.h>
#include <openssl/err.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LIMIT_MS = 5000, MOST = 5000 };

static struct tls_world world;

static void make_world(void)
{
    tls_world_make(&world);
}

/* What an action saw that should not be. (Check allocates as well: not while one fails.) */
static char wrong[512];

struct outcome {
    bool worked;
    bool hit;    /* there was such an allocation */
    bool leaked;
};

static struct outcome fail_at(long number, bool (*action)(void), int64_t limit_ms)
{
    struct outcome outcome;
    long live = alloc_live();
    alloc_fail_at(number);
    outcome.worked = action();
    outcome.hit = alloc_count() >= number;
    alloc_fail_at(0);
    ck_assert_msg(!wrong[0], "allocation %ld: %s", number, wrong);
    /* A look-up's thread may be the last to free. */
    outcome.leaked = !wait_until(alloc_live() <= live, limit_ms);
    ck_assert_uint_eq(ERR_peek_error(), 0);
    return outcome;
}

/* Do `action` with its first allocation failing, then its second, ... until one run has fewer
 * allocations than that, and so must work. Returns how many there were to fail. */
static long fail_each(bool (*action)(void))
{
    if (!alloc_works())
        return 1;
    for (long number = 1; number < MOST; number++) {
        /* Some things are allocated once and kept; a leak comes back each time. */
        struct outcome outcome = fail_at(number, action, 50);
        if (outcome.leaked)
            outcome = fail_at(number, action, LIMIT_MS);
        ck_assert_msg(!outcome.leaked, "allocation %ld leaves something behind", number);
        if (!outcome.hit) {
            ck_assert(outcome.worked);
            return number - 1;
        }
    }
    ck_abort_msg("no end of allocations");
}

static int epoll_fd, wake_fd;

static void set_up(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    fake_dns_answer("127.0.0.1 ::1");
}

static bool make_and_open_a_link(void)
{
    const struct rl_node_config node = {
        .transport = RL_TCP, .host = (char *)"redis.example", .port = 6379};
    struct rl_link *link = rl_link_new(&node, NULL, epoll_fd, wake_fd, NULL);
    if (!link)
        return false;
    rl_link_open(link, 0, 1000);
    bool worked = rl_link_state(link) == RL_LINK_RESOLVING;
    if (worked) {
        /* The thread's allocations are among those to fail. */
        while (rl_link_state(link) == RL_LINK_RESOLVING)
            rl_link_step(link, 0, 0);
    } else {
        if (rl_link_state(link) != RL_LINK_FAILED ||
            !strstr(rl_link_text(link), "no thread for the name look-up"))
            snprintf(wrong, sizeof(wrong), "state %d: %s", rl_link_state(link),
                     rl_link_text(link));
    }
    rl_link_free(link);
    return worked;
}

TEST(alloc, link_with_name)
{
    fake_dns_fail(EAI_AGAIN); /* so that the stand-in allocates nothing */
    ck_assert_int_ge(fail_each(make_and_open_a_link), 1);
}

static bool make_a_context(void)
{
    char why[256] = "";
    struct rl_tls_context *context = rl_tls_context_new(&world.node, why, sizeof(why));
    if ((context != NULL) != (why[0] == '\0'))
        snprintf(wrong, sizeof(wrong), "with or without a context: %s", why);
    rl_tls_context_free(context);
    return context != NULL;
}

TEST(alloc, context_allocations)
{
    ck_assert_int_ge(fail_each(make_a_context), 1);
}

static struct rl_tls_context *context;

static bool make_a_session(void)
{
    struct rl_tls *tls = rl_tls_new(context, &world.node, wake_fd);
    rl_tls_free(tls);
    return tls != NULL;
}

TEST(alloc, session_allocations)
{
    char why[256];
    context = rl_tls_context_new(&world.node, why, sizeof(why));
    ck_assert_int_ge(fail_each(make_a_session), 1);
    rl_tls_context_free(context);
}

/* Plain links only: OpenSSL allocates at every record, whatever is done about it. */
TEST(alloc, round_trips_allocate_nothing)
{
    struct endpoint at = {.port = 0};
    struct rig rig;
    char bytes[64];
    bool right = true;
    int listener = net_listen(&at, 8);
    rig_begin_tcp(&rig, "127.0.0.1", at.port);
    rig_expect_open(&rig);
    int peer = accept(listener, NULL, NULL);
    alloc_fail_at(0);
    for (int i = 0; i < 1000; i++) {
        right = right && rl_link_send(rig.link, "PING\r\n", 6) == 6 &&
                read(peer, bytes, sizeof(bytes)) == 6 && write(peer, "+PONG\r\n", 7) == 7 &&
                rl_link_recv(rig.link, bytes, sizeof(bytes)) == 7;
    }
    long count = alloc_count();
    ck_assert(right);
    ck_assert_int_eq(count, 0);
    rig_end(&rig);
    close(listener);
    close(peer);
}

CASE(alloc, .timeout_s = 60, .set_up_once = make_world, .set_up = set_up)

int main(void)
{
    tls_certs_lax_policy();
    return suite_main();
}
