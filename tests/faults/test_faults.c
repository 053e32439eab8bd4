/* tags: threads */
/* test_faults.c - masters and networks that die, stop, stall, lose and come back, with real
 * masters behind a proxy where it is the network's turn. */
#include "config_auto.h"

#include "clients.h"
#include "fake.h"
#include "proxy.h"
#include "stall.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 5 };

static struct proxy *proxies[NODES_MAX];
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_lock *lock;

/* Client `one` sees the masters through proxies, `two` sees them as they are. */
static void open_through_proxies(unsigned n, const char *settings)
{
    masters = masters_start(n, NULL);
    one = client_open(proxies_start(masters, proxies, false, settings));
    two = client_open(masters_file(masters, settings));
    ck_assert(wait_until(client_ready(one) == n && client_ready(two) == n, 10000));
}

static void close_all(void)
{
    redlock_close(one);
    redlock_close(two);
    if (proxies[0])
        proxies_stop(proxies, masters->n);
}

/* What `condition` waits for may need the client to move: every look gives it a turn. */
#define comes_true(client, condition, limit_ms)                                                \
    wait_until((client_ready(client), (condition)), limit_ms)

/* ---- a node is killed ------------------------------------------------------------------- */

/* The acquire never gets there; or it does, and its answer does not come back. */
TEST(faults, killed_before_or_after_acquire, .rows = 2)
{
    bool executed = _i == 1;
    open_through_proxies(3, NULL);
    proxy_limit(proxies[2], PROXY_ALL, executed ? PROXY_BACK : PROXY_THERE, 0);
    lock = client_take(one, "name");
    ck_assert(wait_until(master_has(masters, 2, "name") == executed, 5000));
    master_kill(masters, 2);
    proxy_cut(proxies[2], PROXY_ALL, true);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    close_all();
}

/* A third of the TTL passes before a renewal is back: the next one is due at once, and yet a
 * caller's own extension has its turn. */
TEST(faults, extension_has_its_turn_between_renewals)
{
    enum { TTL_MS = 1800, WAY_MS = 320 };
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = TTL_MS;
    options.auto_renew = 1;
    open_through_proxies(1, NULL);
    proxy_delay(proxies[0], PROXY_ALL, PROXY_THERE, WAY_MS);
    proxy_delay(proxies[0], PROXY_ALL, PROXY_BACK, WAY_MS);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert(wait_until(client_stats(one).extended > 0, 5000));
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), TTL_MS);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* It was executed, the round is lost, and the link breaks before the release gets there: the
 * key must not stand until its ttl. */
TEST(faults, release_is_replayed_after_reconnect, .rows = 2)
{
    open_through_proxies(3, NULL);
    redlock_release(client_take(one, "warm"));
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 5000));
    long before = proxy_passed(proxies[2], PROXY_THERE);
    lock = client_take(one, "name");
    ck_assert(wait_until(master_has(masters, 2, "name"), 5000));
    long acquire_len = proxy_passed(proxies[2], PROXY_THERE) - before;
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 5000));

    master_do(masters, 0, "SET", "name", "rival", NULL);
    master_do(masters, 1, "SET", "name", "rival", NULL);
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, acquire_len);
    lock = NULL;
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
    ck_assert(wait_until(master_has(masters, 2, "name"), 5000));
    proxy_cut(proxies[2], PROXY_ALL, _i == 0);
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, -1);
    ck_assert(comes_true(one, !master_has(masters, 2, "name"), 5000));
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 5000));
    close_all();
}

/* More of them than a connection holds at once. */
TEST(faults, many_releases_are_replayed_after_reconnect)
{
    enum { LOCKS = 300 };
    static redlock_lock *locks[LOCKS];
    char name[32];
    open_through_proxies(3, NULL);
    for (int i = 0; i < LOCKS; i++) {
        snprintf(name, sizeof(name), "name-%d", i);
        locks[i] = client_take(one, name);
    }
    ck_assert(wait_until(master_do(masters, 2, "DBSIZE", NULL).number == LOCKS, 5000));
    proxy_shut(proxies[2], true);
    proxy_cut(proxies[2], PROXY_ALL, true);
    for (int i = 0; i < LOCKS; i++)
        ck_assert_int_eq(redlock_release(locks[i]), 0);
    ck_assert_int_eq(master_do(masters, 2, "DBSIZE", NULL).number, LOCKS);
    proxy_shut(proxies[2], false);
    ck_assert(comes_true(one, master_do(masters, 2, "DBSIZE", NULL).number == 0, 4000));
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 4000));
    close_all();
}

TEST(faults, reset_in_mid_request_is_lost_vote)
{
    open_through_proxies(3, NULL);
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, 20); /* half a request */
    lock = client_take(one, "name");
    proxy_cut(proxies[2], PROXY_ALL, true);
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, -1);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 5000));
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    ck_assert(wait_until(client_ready(one) == 3, 5000));
    close_all();
}

TEST(faults, refused_connections_fail_at_once)
{
    masters = masters_start(5, NULL);
    for (unsigned i = 0; i < 3; i++)
        master_kill(masters, i);
    one = client_open(masters_file(masters, NULL));
    int64_t begun = now_ms();
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_lt(now_ms() - begun, 1500);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_str_ne(report.node[i].text, "");
    redlock_close(one);
}

/* ---- a node is stopped, slow or out of reach -------------------------------------------- */

TEST(faults, stopped_node_costs_nothing_and_follows_when_it_resumes)
{
    open_clients(5, NULL);
    master_pause(masters, 4);
    for (int i = 0; i < 50; i++) {
        int64_t begun = now_ms();
        lock = client_take(one, "name");
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert_int_lt(now_ms() - begun, 1500); /* a share of the ttl would be 2 s */
    }
    /* Resumed, it executes what it was sent: acquires, and behind each its release. */
    master_resume(masters, 4);
    ck_assert(wait_until(!master_has(masters, 4, "name"), 2000));
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 5000));
    ck_assert(!master_has(masters, 4, "name"));
    ck_assert(wait_until(client_ready(one) == 5, 5000));
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 5, 5000));
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

TEST(faults, lost_round_is_undone_on_stopped_node_when_it_resumes)
{
    open_clients(3, NULL);
    master_pause(masters, 2);
    master_do(masters, 0, "SET", "name", "rival", NULL);
    master_do(masters, 1, "SET", "name", "rival", NULL);
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EHELD);
    /* Nobody calls the library any more: all of it is on its way already. */
    master_resume(masters, 2);
    ck_assert(wait_until(!master_has(masters, 2, "name"), 1000));
    close_all();
}

/* How many scripts a master has executed. */
static long long scripts_run(unsigned node)
{
    static const char *const names[] = {"cmdstat_eval:calls=", "cmdstat_evalsha:calls="};
    struct reply info = master_do(masters, node, "INFO", "commandstats", NULL);
    long long count = 0;
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(info.text, names[i]);
        count += at ? strtoll(at + strlen(names[i]), NULL, 10) : 0;
    }
    return count;
}

/* Silent for longer than stall-limit: the old link drains while a new one works. What was
 * asked on the old one may still be executed: a release must come behind it there too. */
TEST(faults, drained_link_is_released_too)
{
    open_through_proxies(3, "node-timeout 300ms\nstall-limit 300ms\n");
    unsigned before = proxy_connections(proxies[2]);
    proxy_limit(proxies[2], PROXY_ALL, PROXY_THERE, 0);
    lock = client_take(one, "name");
    ck_assert(comes_true(one, proxy_connections(proxies[2]) > before, 5000));
    proxy_limit(proxies[2], (int)before, PROXY_THERE, -1); /* the new connection alone */
    ck_assert(wait_until(client_ready(one) == 3, 5000));
    redlock_lock *another = client_take(one, "another");
    ck_assert(wait_until(master_has(masters, 2, "another"), 5000));
    ck_assert_int_eq(redlock_release(another), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(!master_has(masters, 2, "name"));
    client_take(one, "behind");
    ck_assert(wait_until(master_has(masters, 2, "behind"), 5000)); /* and all before it */

    /* Now what the old one carried arrives, and its answers do not. */
    long long run = scripts_run(2);
    for (unsigned i = 0; i < before; i++) {
        proxy_limit(proxies[2], (int)i, PROXY_BACK, 0);
        proxy_limit(proxies[2], (int)i, PROXY_THERE, -1);
    }
    ck_assert(wait_until(scripts_run(2) > run, 5000));
    ck_assert(wait_until(masters_with(masters, "name") == 0, 1000));
    ck_assert_int_eq(scripts_run(2), run + 2); /* the acquire, and behind it the release */
    close_all();
}

TEST(faults, late_grant_joins_hold_or_is_undone, .rows = 2)
{
    bool held = _i == 1;
    open_through_proxies(3, NULL);
    proxy_delay(proxies[2], PROXY_ALL, PROXY_BACK, 300);
    lock = client_take(one, "name");
    int64_t validity = redlock_validity_ms(lock);
    if (!held)
        ck_assert_int_eq(redlock_release(lock), 0);
    pause_ms(350); /* its answer is there by now */
    client_ready(one);
    ck_assert(wait_until(masters_with(masters, "name") == (held ? 3 : 0), 2000));
    if (held) {
        ck_assert_int_le(redlock_validity_ms(lock), validity - 350);
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(wait_until(masters_with(masters, "name") == 0, 2000));
    }
    close_all();
}

/* Three nodes are quick, and two have fallen behind a caller who does not rest. They are
 * alive, and with them there is a majority when one of the quick ones dies. */
TEST(faults, nodes_that_lag_count_when_another_one_dies)
{
    open_through_proxies(5, NULL);
    proxy_delay(proxies[1], PROXY_ALL, PROXY_BACK, 60);
    proxy_delay(proxies[2], PROXY_ALL, PROXY_BACK, 60);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 400; i++)
            ck_assert_int_eq(redlock_release(client_take(one, "name")), 0);
        master_pause(masters, 3);
        int code = client_try(one, "name", 0, 0, &report, &lock);
        ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
        ck_assert_int_eq(redlock_release(lock), 0);
        master_resume(masters, 3);
        ck_assert(wait_until(client_ready(one) == 5, 5000));
    }
    close_all();
}

TEST(faults, connections_that_hang_have_their_own_budget, .rows = 4)
{
    static const enum fake_door doors[] = {FAKE_DEAF, FAKE_HOLE, FAKE_SHUT, FAKE_REFUSE};
    struct fake *fake = fake_start(false);
    struct node_list list = {.len = 0};
    masters = masters_start(2, NULL);
    fake_door(fake, doors[_i]);
    node_list_line(&list, "guard off\nconnect-timeout 300ms");
    node_list_add(&list, fake_endpoint(fake));
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    one = client_open(node_list_write(&list));
    int64_t begun = now_ms();
    lock = client_take(one, "name");
    ck_assert_int_lt(now_ms() - begun, 1000);
    ck_assert_int_eq(redlock_release(lock), 0);
    char text[192];
    ck_assert(wait_until(client_state(one, 0, text) == REDLOCK_NODE_DOWN, 3000));
    ck_assert_str_ne(text, "");
    /* It is let in again by itself once the way is free. */
    fake_door(fake, FAKE_OPEN);
    ck_assert(wait_until(client_ready(one) == 3, 10000));
    redlock_close(one);
}

static void never_mind(void *context, int result, redlock_lock *none)
{
    (void)context, (void)result, (void)none;
}

/* It was twice that, and connecting anew came on top. */
static bool lasts_as_long_as_it_may(int64_t wait_ms)
{
    int64_t begun = now_ms();
    int code = client_try(one, "x", 0, wait_ms, NULL, &lock);
    int64_t took_ms = now_ms() - begun;
    bool is_so = code == REDLOCK_ENOQUORUM && took_ms >= wait_ms - 50 &&
                 took_ms < wait_ms * 19 / 10;
    if (!is_so)
        printf("%d after %d ms\n", code, (int)took_ms);
    return is_so;
}

/* So many requests are unanswered that the next ones wait their turn: that is part of a wait,
 * as connecting is not. */
TEST(faults, crowd_takes_no_more_than_wait)
{
    enum { WAIT_MS = 3000, STALL_LEAST_MS = 250 };
    redlock_options patient = REDLOCK_OPTIONS_INIT;
    char name[16];
    open_clients(1, "ttl 30s\nconnect-timeout 500ms\n"); /* may come on top */
    patient.wait_ms = 40000;
    master_pause(masters, 0);
    for (int i = 0; i < 9000; i++) {
        size_t len = (size_t)snprintf(name, sizeof(name), "n%d", i);
        ck_assert_int_eq(redlock_try_async_n(one, name, len, &patient, never_mind, NULL, NULL),
                         0);
    }
    ck_assert(met_unless_stalled(lasts_as_long_as_it_may(WAIT_MS), STALL_LEAST_MS, 2));
    master_resume(masters, 0);
    close_clients();
}

TEST(faults, name_that_does_not_resolve_delays_nobody)
{
    struct node_list list = {.len = 0};
    masters = masters_start(2, NULL);
    node_list_line(&list, "guard off\nnode redis://no-such-host.invalid:6379");
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    one = client_open(node_list_write(&list));
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_release(client_take(one, "name")), 0);
    ck_assert_int_lt(now_ms() - begun, 1500);
    char text[192];
    ck_assert_int_ne(client_state(one, 0, text), REDLOCK_NODE_READY);
    ck_assert_ptr_nonnull(strstr(text, "no-such-host.invalid"));
    redlock_close(one);
}

/* ---- out of step ------------------------------------------------------------------------ */

/* The reply comes after its time: it is nobody else's reply. */
TEST(faults, reply_that_comes_late_belongs_to_its_own_request)
{
    open_through_proxies(1, "node-timeout 50ms\nstall-limit 2s\n");
    proxy_delay(proxies[0], PROXY_ALL, PROXY_BACK, 120);
    ck_assert_int_eq(client_try(one, "first", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    proxy_delay(proxies[0], PROXY_ALL, PROXY_BACK, 0);
    master_do(masters, 0, "SET", "second", "rival", NULL);
    ck_assert(
        wait_until(client_try(one, "second", 0, 0, &report, &lock) == REDLOCK_EHELD, 5000));
    ck_assert_str_eq(report.node[0].holder, "rival");
    ck_assert(comes_true(one, client_stats(one).pending_releases == 0, 5000));
    ck_assert(!master_has(masters, 0, "first"));
    close_all();
}

/* ---- errors of real servers ------------------------------------------------------------- */

static void expect_error(const char *word)
{
    int code = client_try(one, "name", 0, 0, &report, &lock);
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%d: %s", code, client_told(&report));
    ck_assert_msg(strstr(report.node[0].text, word) != NULL, "%s", report.node[0].text);
    ck_assert_ptr_null(lock);
}

TEST(faults, out_of_memory_there_refuses_new_locks_only)
{
    open_clients(1, NULL);
    redlock_lock *held = client_take(one, "held");
    master_do(masters, 0, "CONFIG", "SET", "maxmemory", "1", NULL);
    expect_error("OOM");
    ck_assert_int_eq(redlock_extend(held, 20000, NULL), 0);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(!master_has(masters, 0, "held"));
    close_all();
}

TEST(faults, foreign_data_under_name_is_error_and_stays)
{
    open_clients(1, NULL);
    master_do(masters, 0, "RPUSH", "name", "data", NULL);
    ck_assert_int_eq(client_try(one, "name", 0, 0, &report, &lock), REDLOCK_EWRONGTYPE);
    ck_assert_str_eq(report.node[0].holder, "a list");
    ck_assert_int_eq(master_do(masters, 0, "LLEN", "name", NULL).number, 1);
    close_all();
}

TEST(faults, writes_that_are_refused_fail_that_node)
{
    open_clients(1, NULL);
    master_do(masters, 0, "CONFIG", "SET", "min-replicas-to-write", "1", NULL);
    expect_error("NOREPLICAS");
    master_do(masters, 0, "CONFIG", "SET", "min-replicas-to-write", "0", NULL);
    ck_assert(wait_until(client_can_take(one, "name"), 5000));
    close_all();
}

/* A busy master answers BUSY to releases too: they are sent again until they are done. */
static void *keep_busy(void *argument)
{
    (void)argument;
    master_do(masters, 2, "EVAL", "while true do end", "0", NULL);
    return NULL;
}

TEST(faults, busy_master_is_released_later)
{
    pthread_t thread;
    open_clients(3, NULL);
    master_do(masters, 2, "CONFIG", "SET", "lua-time-limit", "50", NULL);
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    ck_assert_int_eq(pthread_create(&thread, NULL, keep_busy, NULL), 0);
    ck_assert(
        wait_until(strncmp(master_do(masters, 2, "PING", NULL).text, "BUSY", 4) == 0, 5000));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(client_take(one, "other")), 0);
    ck_assert_str_eq(master_do(masters, 2, "SCRIPT", "KILL", NULL).text, "OK");
    pthread_join(thread, NULL);
    ck_assert(comes_true(one, !master_has(masters, 2, "name"), 5000));
    close_all();
}

TEST(faults, flushed_keys_are_found_by_next_extension)
{
    open_clients(3, NULL);
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(one); /* a grant that came late is heard */
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "FLUSHALL", NULL);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    close_all();
}

CASE(faults, .timeout_s = 120)
