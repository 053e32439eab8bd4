/* tags: long threads */
/* test_absence.c - time in which nobody looks is no evidence against masters: the first call
 * after a pause, connections that were cut before a call or in it, renewals and releases that
 * meet such connections. */
#include "config_auto.h"

#include "client.h"
#include "look.h"
#include "masters.h"
#include "proxy.h"

#include <pthread.h>
#include <stdio.h>

enum { NODES = 5, CONNECT_MS = 1000, PAUSE_MS = CONNECT_MS + 200, TTL_MS = 15000 };

static struct masters *masters;
static struct proxy *proxies[NODES];
static redlock *client;

/* Masters, and a client that nobody drives between calls. */
static void open_idle(const char *settings)
{
    char all[128];
    snprintf(all, sizeof(all), "background never\n%s", settings);
    masters = masters_start(NODES, NULL);
    client = client_open(masters_file(masters, all));
}

/* The same behind proxies, on connections that have stood for longer than a moment or not. */
static void open_cuttable(const char *settings, bool lasting)
{
    masters = masters_start(NODES, NULL);
    client = client_open(proxies_start(masters, proxies, true, settings));
    ck_assert(wait_until(client_ready(client) == NODES, 10000));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    if (lasting)
        pause_ms(1100);
}

static void close_all(void)
{
    redlock_close(client);
    if (proxies[0])
        proxies_stop(proxies, NODES);
}

static void cut_all(void)
{
    for (unsigned i = 0; i < NODES; i++)
        proxy_cut(proxies[i], PROXY_ALL, false);
}

static int try_once(redlock_lock **ret_lock)
{
    return client_try(client, "name", TTL_MS, 0, NULL, ret_lock);
}

/* ---- the first call after a pause ------------------------------------------------------ */

TEST(absence, try_long_after_opening_gets_lock)
{
    redlock_lock *lock;
    open_idle("");
    pause_ms(PAUSE_MS);
    ck_assert_int_eq(try_once(&lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_OK);
    close_all();
}

TEST(absence, status_long_after_opening_is_ready)
{
    redlock_node_status status_nodes[REDLOCK_NODES_MAX];
    redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
    open_idle("");
    pause_ms(PAUSE_MS);
    ck_assert_int_eq(redlock_get_status(client, &status), REDLOCK_OK);
    ck_assert_uint_eq(status.ready, NODES);
    close_all();
}

TEST(absence, look_long_after_opening_sees_all_masters)
{
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    open_idle("");
    pause_ms(PAUSE_MS);
    ck_assert_int_eq(redlock_inspect_n(client, "name", 4, NULL, &info), REDLOCK_OK);
    ck_assert_uint_eq(info.answered, NODES);
    close_all();
}

/* What one process has detached, another one takes up, and does other things first. */
static redlock_lock *attached_long_ago(void)
{
    char text[512];
    redlock_lock *lock;
    open_idle("");
    ck_assert_int_eq(redlock_detach(client_take(client, "name"), text, sizeof(text)), 0);
    redlock_close(client);
    client = client_open(masters_file(masters, "background never\n"));
    ck_assert_int_eq(redlock_attach(client, text, &lock), REDLOCK_OK);
    pause_ms(PAUSE_MS);
    return lock;
}

TEST(absence, extension_long_after_opening_is_confirmed)
{
    redlock_lock *lock = attached_long_ago();
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_OK);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_OK);
    close_all();
}

TEST(absence, release_long_after_opening_is_confirmed)
{
    ck_assert_int_eq(redlock_release(attached_long_ago()), REDLOCK_OK);
    close_all();
}

/* They were down when the client was opened, and are up when it is used. */
TEST(absence, failure_while_nobody_looked_is_tried_anew)
{
    redlock_lock *lock;
    masters = masters_start(NODES, NULL);
    for (unsigned i = 0; i < NODES; i++)
        master_kill(masters, i);
    client = client_open(masters_file(masters, "background never\n"));
    for (unsigned i = 0; i < NODES; i++)
        master_restart(masters, i, true);
    pause_ms(200);
    ck_assert_int_eq(try_once(&lock), REDLOCK_OK);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_OK);
    close_all();
}

/* ---- connections that are found closed ------------------------------------------------- */

/* Each time in another state: the end has been heard of, or is met by the try. */
static void expect_lock_after_cuts(bool lasting, int64_t cut_before_ms)
{
    open_cuttable("background never\n", lasting);
    for (unsigned i = 0; i < 5; i++) {
        redlock_lock *lock;
        if (lasting && i > 0)
            pause_ms(1100);
        cut_all();
        pause_ms(cut_before_ms);
        ck_assert_msg(try_once(&lock) == REDLOCK_OK, "try %u", i);
        ck_assert_int_eq(redlock_release(lock), REDLOCK_OK);
    }
    close_all();
}

TEST(absence, try_gets_lock_on_connections_cut_right_before)
{
    expect_lock_after_cuts(true, 20);
}

TEST(absence, and_on_young_ones)
{
    expect_lock_after_cuts(false, 20);
}

TEST(absence, and_on_those_cut_long_before)
{
    expect_lock_after_cuts(false, 500);
}

/* It does not wait for those that are gone. */
TEST(absence, try_on_masters_that_died_fails_at_once)
{
    redlock_lock *lock;
    open_cuttable("background never\n", true);
    for (unsigned i = 0; i < 3; i++) {
        proxy_shut(proxies[i], true);
        proxy_cut(proxies[i], PROXY_ALL, false);
    }
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(try_once(&lock), REDLOCK_ENOQUORUM);
    ck_assert_int_lt(now_ms() - begun_ms, CONNECT_MS / 2);
    close_all();
}

TEST(absence, look_sees_all_masters_on_connections_cut_right_before)
{
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    redlock_node_status status_nodes[REDLOCK_NODES_MAX];
    redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
    open_cuttable("background never\n", true);
    cut_all();
    pause_ms(20);
    ck_assert_int_eq(redlock_inspect_n(client, "name", 4, NULL, &info), REDLOCK_OK);
    ck_assert_uint_eq(info.answered, NODES);
    cut_all();
    pause_ms(20);
    ck_assert_int_eq(redlock_get_status(client, &status), REDLOCK_OK);
    ck_assert_uint_eq(status.ready, NODES);
    close_all();
}

/* A majority is down, and found to be at once: the others have their chance all the same. */
TEST(absence, look_hears_living_where_most_are_dead)
{
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    static struct look look;
    redlock_lock *lock;
    masters = masters_start(NODES, NULL);
    for (unsigned i = 0; i < 3; i++)
        master_kill(masters, i);
    for (unsigned i = 0; i < 5; i++) {
        client = client_open(masters_file(masters, NULL));
        ck_assert_int_eq(look_at(&look, client, "name", NULL), REDLOCK_ENOQUORUM);
        ck_assert_uint_eq(look.all.answered, NODES - 3);
        for (unsigned k = 0; k < NODES; k++)
            ck_assert_int_eq(look.node[k].state,
                             k < 3 ? REDLOCK_STATE_UNKNOWN : REDLOCK_STATE_FREE);
        redlock_close(client);
        client = client_open(masters_file(masters, NULL));
        ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
        for (unsigned k = 3; k < NODES; k++)
            ck_assert_int_ne(report.node[k].vote, REDLOCK_VOTE_FAILED);
        if (i < 4)
            redlock_close(client);
    }
    close_all();
}

/* ---- what a holder asks for ------------------------------------------------------------ */

/* A lease that is renewed outlives it that no connection lasts for more than a moment. */
TEST(absence, renewal_goes_on_when_connections_are_back)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock;
    open_cuttable("", true);
    options.ttl_ms = 3000;
    options.auto_renew = 1;
    ck_assert_int_eq(redlock_try(client, "name", &options, &lock), REDLOCK_OK);
    for (int64_t until_ms = now_ms() + 8000; now_ms() < until_ms;) {
        cut_all();
        pause_ms(100);
        ck_assert_int_gt(redlock_validity_ms(lock), 0);
    }
    ck_assert(wait_until(client_ready(client) == NODES, 10000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_OK);
    close_all();
}

static void expect_release(redlock_lock *lock)
{
    int result = redlock_release(lock);
    ck_assert_msg(result == REDLOCK_OK, "%s", redlock_err_name(result));
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

TEST(absence, release_that_can_not_be_sent_is_said_again_and_confirmed)
{
    open_cuttable("", true);
    for (unsigned i = 0; i < 5; i++) {
        redlock_lock *lock;
        ck_assert_int_eq(try_once(&lock), REDLOCK_OK);
        ck_assert(wait_until(masters_with(masters, "name") == NODES, 5000));
        cut_all();
        expect_release(lock);
    }
    close_all();
}

/* When the release has arrived everywhere, and before an answer has. */
static void *cut_when_released(void *unused)
{
    (void)unused;
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    cut_all();
    return NULL;
}

TEST(absence, release_whose_answers_are_lost_is_said_again_and_confirmed)
{
    pthread_t thread;
    redlock_lock *lock;
    unsigned before[NODES];
    open_cuttable("", true);
    ck_assert_int_eq(try_once(&lock), REDLOCK_OK);
    ck_assert(wait_until(masters_with(masters, "name") == NODES, 5000));
    for (unsigned i = 0; i < NODES; i++) {
        before[i] = proxy_connections(proxies[i]);
        for (unsigned k = 0; k < before[i]; k++)
            proxy_limit(proxies[i], (int)k, PROXY_BACK, 0);
    }
    ck_assert_int_eq(pthread_create(&thread, NULL, cut_when_released, NULL), 0);
    expect_release(lock);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < NODES; i++)
        ck_assert(wait_until(proxy_connections(proxies[i]) > before[i], 5000));
    close_all();
}

/* Only for as long as there is hope. */
TEST(absence, release_does_not_wait_for_masters_that_died)
{
    redlock_lock *lock;
    open_cuttable("", true);
    ck_assert_int_eq(try_once(&lock), REDLOCK_OK);
    for (unsigned i = 0; i < 3; i++) {
        proxy_shut(proxies[i], true);
        proxy_cut(proxies[i], PROXY_ALL, false);
    }
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EUNCONFIRMED);
    ck_assert_int_lt(now_ms() - begun_ms, TTL_MS / NODES / 3);
    close_all();
}

CASE(absence, .timeout_s = 120)
