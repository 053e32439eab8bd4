/* tags: unsanitized */
/* test_two_servers.c - one address that leads to two masters, as a balancer or a name does. A
 * client's second connection, on which it hears of releases, meets the other one. */
#include "config_auto.h"

#include "masters.h"
#include "proxy.h"
#include "told.h"
#include "waiter.h"

#include <stdatomic.h>
#include <string.h>

enum { SOON_MS = 20000, TTL_MS = 1500 };

static struct masters *masters; /* two */
static struct proxy *proxy;
static redlock *client;
static char text[192];

static atomic_uint found; /* lines of the log that tell of two servers */

static void note(void *context, int level, const char *line)
{
    (void)context;
    if (strstr(line, "two servers") && level == REDLOCK_LOG_ERROR)
        atomic_fetch_add(&found, 1);
}

static void start(void)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    struct node_list list = {.len = 0};
    masters = masters_start(2, NULL);
    proxy = proxy_start(&masters->node[0].unix_at, false);
    node_list_line(&list, "guard off\nmax-ttl 2s\nttl 1500ms\nconnect-timeout 10s");
    node_list_add(&list, proxy_endpoint(proxy));
    config.file = node_list_write(&list);
    config.log = note;
    atomic_store(&found, 0);
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    ck_assert(wait_until(client_ready(client) == 1, SOON_MS));
    for (unsigned i = 0; i < 2; i++) /* what nobody gets */
        (void)master_do(masters, i, "SET", "busy", "x", NULL);
}

static void stop(void)
{
    redlock_close(client);
}

/* It waits in vain for so long, and has its second connection from then on. */
static void wait_in_vain(void)
{
    redlock_lock *lock = NULL;
    int code = client_try(client, "busy", TTL_MS, 300, NULL, &lock);
    ck_assert_msg(code == REDLOCK_EHELD || code == REDLOCK_ENOQUORUM ||
                      code == REDLOCK_EUNDECIDED,
                  "%s", redlock_err_name(code));
}

static bool has_no_vote(void)
{
    int state = client_state(client, 0, text);
    return state != REDLOCK_NODE_READY && strstr(text, "two servers") != NULL;
}

static void expect_no_lock(void)
{
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "y", TTL_MS, 0, NULL, &lock), REDLOCK_ENOQUORUM);
}

static void expect_lock(void)
{
    redlock_lock *lock = NULL;
    ck_assert(wait_until(client_try(client, "y", TTL_MS, 0, NULL, &lock) == 0, SOON_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(masters, waiter_meets_second_server)
{
    struct told lost;
    memset(&lost, 0, sizeof(lost));
    (void)told_take_renewed(client, "x", TTL_MS, &lost);
    proxy_lead_next(proxy, &masters->node[1].unix_at);
    wait_in_vain();
    ck_assert_msg(wait_until(has_no_vote(), SOON_MS), "%s", text);
    expect_no_lock();
    ck_assert(wait_until(atomic_load(&lost.calls) == 1, SOON_MS)); /* it stood on one of two */
}

TEST(masters, second_connection_that_was_first_is_asked_whether_it_lives)
{
    wait_in_vain();
    proxy_lead_next(proxy, &masters->node[1].unix_at);
    proxy_cut(proxy, 0, true);
    ck_assert(wait_until(client_ready(client) == 1 || has_no_vote(), SOON_MS));
    wait_in_vain();
    /* before it would be asked anyway, because it is silent */
    ck_assert_msg(wait_until(has_no_vote(), 3000), "%s", text);
    expect_no_lock();
}

/* A balancer that leads there in turns is seen by each new connection. */
TEST(masters, balancer_has_no_vote_for_as_long_as_it_leads_to_two)
{
    proxy_take_turns(proxy, &masters->node[1].unix_at);
    wait_in_vain();
    ck_assert_msg(wait_until(has_no_vote(), SOON_MS), "%s", text);
    int64_t end_ms = now_ms() + 5000; /* more than two of max-ttl */
    while (now_ms() < end_ms) {
        ck_assert_uint_eq(client_ready(client), 0);
        pause_ms(50);
    }
}

TEST(masters, name_that_was_moved_votes_again_after_max_ttl)
{
    wait_in_vain();
    proxy_lead_next(proxy, &masters->node[1].unix_at); /* the former one lives on */
    proxy_cut(proxy, 0, true);
    ck_assert_msg(wait_until((wait_in_vain(), has_no_vote()), SOON_MS), "%s", text);
    int64_t found_ms = now_ms();
    ck_assert(wait_until(client_ready(client) == 1, SOON_MS));
    ck_assert_int_ge(now_ms() - found_ms, 1000);
    expect_lock();
}

TEST(masters, server_that_is_restarted_is_one)
{
    for (int i = 0; i < 4; i++) {
        wait_in_vain();
        master_restart(masters, 0, true);
        (void)master_do(masters, 0, "SET", "busy", "x", NULL);
        wait_in_vain();
        expect_lock();
        ck_assert_uint_eq(atomic_load(&found), 0);
    }
}

CASE(masters, .timeout_s = 90, .set_up = start, .tear_down = stop)
