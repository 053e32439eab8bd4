/* tags: long */
/* test_peer_cases_b.c - what went wrong for the users of other quorum locks while holding one:
 * validity, extension, renewal, loss; each test is named after its case. The cases that need
 * several kinds are not here. */
#include "config_auto.h"

#include "child.h"
#include "clients.h"
#include "fake.h"
#include "proxy.h"
#include "told.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fake *fakes[3];
static struct proxy *proxies[3];
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_lock *lock;
static struct told lost;

static void open_fakes(const char *settings)
{
    fakes_start(fakes, 3);
    one = client_open(fakes_file(fakes, 3, settings));
    ck_assert(wait_until(client_ready(one) == 3, 10000));
}

static void close_fakes(void)
{
    redlock_close(one);
}

static void open_proxied(void)
{
    masters = masters_start(3, NULL);
    one = client_open(proxies_start(masters, proxies, true, NULL));
    ck_assert(wait_until(client_ready(one) == 3, 10000));
}

static void close_proxied(void)
{
    redlock_close(one);
}

static void let_answers_pass(long bytes)
{
    for (unsigned i = 0; i < 3; i++)
        proxy_limit(proxies[i], PROXY_ALL, PROXY_BACK, bytes);
}

static int64_t drift_ms(int64_t ttl_ms)
{
    return ttl_ms / 100 + 2;
}

static int number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

/* ---- extending -------------------------------------------------------------------------- */

TEST(peer_cases_b, b25_lease_is_never_shortened_nor_added_up)
{
    open_fakes(NULL);
    lock = client_take(one, "name"); /* 10 s */
    for (int64_t ttl = 10; ttl < 9000; ttl *= 3) {
        int64_t before = redlock_validity_ms(lock);
        ck_assert_int_eq(redlock_extend(lock, ttl, NULL), 0);
        ck_assert_int_ge(redlock_validity_ms(lock), before - 200);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(fake_count(fakes[i], "extend *"), 0);
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(redlock_extend(lock, 15000, NULL), 0);
    ck_assert_int_le(redlock_validity_ms(lock), 15000 - drift_ms(15000));
    ck_assert_int_eq(redlock_release(lock), 0);
    close_fakes();
}

TEST(peer_cases_b, b26_extension_counts_from_its_own_start)
{
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    master_kill(masters, 1);
    for (int64_t ttl = 3000; ttl <= 11000; ttl += 2000) {
        int64_t begun = now_ms();
        ck_assert_int_eq(redlock_extend(lock, ttl, &report), 0);
        int64_t left = redlock_validity_ms(lock), took = now_ms() - begun;
        ck_assert_int_le(left, ttl - drift_ms(ttl));
        ck_assert_int_ge(left, ttl - drift_ms(ttl) - took - 2);
    }
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(peer_cases_b, b26_lock_that_has_run_out_is_refused_without_asking)
{
    open_fakes(NULL);
    ck_assert_int_eq(client_try(one, "name", 600, 0, NULL, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_extend(lock, 10000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(fake_count(fakes[i], "extend *") + fake_count(fakes[i], "retake *"),
                          0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_fakes();
}

TEST(peer_cases_b, b27_lock_that_majority_lost_is_lost, .rows = 2)
{
    OPEN_CLIENTS(3, NULL);
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(one);
    for (unsigned i = 0; i < 2; i++) {
        if (_i == 0)
            master_do(masters, i, "DEL", "name", NULL);
        else
            master_do(masters, i, "SET", "name", "rival", NULL);
    }
    ck_assert_int_eq(redlock_extend(lock, 20000, &report), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert(wait_until(!master_has(masters, 2, "name"), 2000));
    ck_assert_uint_eq(masters_with(masters, "name"), _i == 0 ? 0 : 2); /* the rival's */
}

TEST(peer_cases_b, b28_key_lost_on_minority_is_filled_in_where_it_is_absent, .rows = 6)
{
    unsigned node = (unsigned)_i % 3;
    OPEN_CLIENTS(3, NULL);
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(one);
    if (_i < 3)
        master_do(masters, node, "DEL", "name", NULL);
    else
        master_do(masters, node, "SET", "name", "rival", NULL);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    client_ready(one);
    if (_i < 3) {
        ck_assert(wait_until(master_has(masters, node, "name"), 2000));
        ck_assert_int_gt(master_do(masters, node, "PTTL", "name", NULL).number, 15000);
    }
    ck_assert_str_eq(master_do(masters, node, "GET", "name", NULL).text,
                     _i < 3 ? redlock_token(lock) : "rival");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == (_i < 3 ? 0u : 1u), 2000));
}

TEST(peer_cases_b, b30_slow_node_is_not_waited_for_and_not_asked_twice)
{
    enum { SLOW_MS = 2000 };
    struct fake_rule slow = {.match = "extend *", .delay_ms = SLOW_MS, .times = 1};
    open_fakes(NULL);
    lock = client_take(one, "name");
    ck_assert(wait_until((client_ready(one), fake_has(fakes[2], "name")), 2000));
    fake_rule(fakes[2], &slow);
    int64_t first = now_ms();
    for (int64_t ttl = 12000; ttl < 16000; ttl += 1000)
        ck_assert_int_eq(redlock_extend(lock, ttl, &report), 0);
    ck_assert_int_lt(now_ms() - first, SLOW_MS * 3 / 4);
    pause_ms(SLOW_MS + 100);
    client_ready(one); /* what it had to say is heard */
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    ck_assert(wait_until(fake_count(fakes[2], "extend *") == 2, 2000));
    ck_assert(wait_until(fake_count(fakes[0], "extend *") == 5, 2000));
    ck_assert_int_eq(redlock_release(lock), 0);
    close_fakes();
}

/* ---- renewing --------------------------------------------------------------------------- */

TEST(peer_cases_b, b31_failing_renewal_is_retried_until_validity_ends_and_not_in_loop)
{
    struct fake_rule broken = {.match = "extend *", .reply = "-ERR broken\r\n"};
    open_fakes(NULL);
    fake_rule(fakes[0], &broken);
    fake_rule(fakes[1], &broken);
    lock = told_take_renewed(one, "name", 2000, &lost);
    int64_t end = now_ms() + redlock_validity_ms(lock);
    struct fake_record first, last;
    ck_assert(wait_until(lost.calls == 1, 3000));
    unsigned tries = fake_count(fakes[0], "extend *");
    ck_assert_msg(tries >= 5 && tries <= 100, "%u", tries);
    ck_assert(fake_find(fakes[0], "extend *", 0, &first));
    ck_assert(fake_find(fakes[0], "extend *", tries - 1, &last));
    ck_assert_int_lt(first.at_ms, end - 1000);
    ck_assert_int_gt(last.at_ms, end - 700);
    ck_assert_int_le(lost.at_ms, end + 500);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    close_fakes();
}

/* Nobody drives the client: the deadline is kept all the same. */
TEST(peer_cases_b, b32_validity_ends_without_any_thread_and_loss_is_told_once)
{
    OPEN_CLIENTS(3, "background never\n");
    lock = told_take_renewed(one, "name", 400, &lost);
    int64_t end = now_ms() + redlock_validity_ms(lock);
    for (int64_t now = now_ms(); redlock_validity_ms(lock) > 0; now = now_ms())
        ck_assert_int_le(now, end + 2);
    ck_assert_int_ge(now_ms(), end - 2);
    ck_assert_int_eq(lost.calls, 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_process(one), 0);
    ck_assert_int_eq(lost.calls, 1);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
}

static atomic_bool let_go, stalled;

static void stall(void *context, redlock_lock *which)
{
    (void)context, (void)which;
    atomic_store(&stalled, true);
    while (!atomic_load(&let_go))
        pause_ms(1);
}

/* The thread that would renew stands in a callback. */
TEST(peer_cases_b, b32_validity_ends_though_watchdog_is_stalled)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *short_one;
    OPEN_CLIENTS(3, NULL);
    options.ttl_ms = 600;
    options.on_lost = stall;
    ck_assert_int_eq(redlock_try(one, "short", &options, &short_one), 0);
    lock = told_take_renewed(one, "name", 1000, &lost);
    ck_assert(wait_until(stalled, 5000));
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(lost.calls, 0);
    atomic_store(&let_go, true);
    ck_assert(wait_until(lost.calls == 1, 5000));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

/* The masters grant it, and nobody hears of it in time. */
TEST(peer_cases_b, b35_try_that_was_given_up_is_not_renewed_and_leaves_no_key, .rows = 2)
{
    struct told told = {.calls = 0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 4000;
    options.wait_ms = 250;
    options.auto_renew = 1;
    uint64_t id;
    open_proxied();
    let_answers_pass(0);
    if (_i == 0) {
        /* A quarter of a second is less than masters may take to answer. */
        ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EUNDECIDED);
    } else {
        ck_assert_int_eq(redlock_try_async_n(one, "name", 4, &options, told_done, &told, &id), 0);
        ck_assert(wait_until(masters_with(masters, "name") == 3, 200) || told.calls == 0);
        ck_assert_int_eq(redlock_cancel(one, id), 0);
        ck_assert(wait_until(told.calls == 1, 5000));
        ck_assert_int_eq(told.result, REDLOCK_ECANCELED);
    }
    ck_assert_uint_eq(client_stats(one).renewing, 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 2000)); /* not by its TTL */
    let_answers_pass(-1);
    ck_assert(!wait_until(masters_with(masters, "name") > 0, 500));
    ck_assert_uint_eq(client_stats(one).extended, 0);
    ck_assert_uint_eq(client_stats(one).held, 0);
    close_proxied();
}

/* Bytes that reached the masters: one of them may be greeted anew, and get nothing else. */
static long passed_there(void)
{
    long passed = 0;
    for (unsigned i = 0; i < 3; i++)
        passed += proxy_passed(proxies[i], PROXY_THERE);
    return passed;
}

/* Each renewal's answers are kept back, and then the connections end. */
TEST(peer_cases_b, b36_after_connection_error_next_renewal_is_made)
{
    open_proxied();
    lock = told_take_renewed(one, "name", 1500, &lost);
    for (int i = 0; i < 3; i++) {
        uint64_t extended = client_stats(one).extended;
        /* Before: one that is sent right now may be the last until its connection ends. */
        long passed = passed_there();
        let_answers_pass(0);
        ck_assert(wait_until(passed_there() > passed, 1000));
        for (unsigned k = 0; k < 3; k++)
            proxy_cut(proxies[k], PROXY_ALL, i % 2 == 1);
        let_answers_pass(-1);
        ck_assert(wait_until(client_stats(one).extended > extended, 1500));
        ck_assert_int_gt(redlock_validity_ms(lock), 700);
    }
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_proxied();
}

TEST(peer_cases_b, b37_lock_taken_again_after_its_loss_is_renewed)
{
    struct told again = {.calls = 0};
    OPEN_CLIENTS(3, NULL);
    lock = told_take_renewed(one, "name", 900, &lost);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "FLUSHALL", NULL);
    ck_assert(wait_until(lost.calls == 1, 5000));
    redlock_lock *next =
        told_take_renewed(one, "name", 900, &again); /* the old one not yet freed */
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert(!wait_until(redlock_validity_ms(next) == 0, 2000));
    ck_assert_uint_ge(client_stats(one).extended, 4);
    ck_assert_int_eq(again.calls, 0);
    ck_assert_int_eq(redlock_release(next), 0);
}

TEST(peer_cases_b, b38_many_locks_are_all_renewed_in_time)
{
    int count = number("PEER_LOCKS", 1000);
    int64_t ttl_ms = count > 20000 ? 30000 : 6000, least = ttl_ms;
    redlock_lock **locks = calloc((size_t)count, sizeof(*locks));
    OPEN_CLIENTS(3, "max-ttl 60s\nlinger 10s\n");
    for (int i = 0; i < count; i++) {
        char name[24];
        snprintf(name, sizeof(name), "name-%d", i);
        locks[i] = told_take_renewed(one, name, ttl_ms, &lost);
    }
    for (int64_t end = now_ms() + ttl_ms * 3 / 2; now_ms() < end; pause_ms(10)) {
        for (int i = 0; i < count; i++) {
            int64_t left = redlock_validity_ms(locks[i]);
            least = left < least ? left : least;
        }
    }
    ck_assert_msg(least > ttl_ms / 2 - drift_ms(ttl_ms), "%d ms left", (int)least);
    ck_assert_uint_ge(client_stats(one).extended, (uint64_t)count * 3);
    ck_assert_uint_eq(client_stats(one).renewing, (uint64_t)count);
    ck_assert_int_eq(lost.calls, 0);
    redlock_close(one);
    ck_assert_int_eq(master_do(masters, 0, "DBSIZE", NULL).number, 0);
    one = NULL;
    free(locks);
}

TEST(peer_cases_b, b39_after_many_locks_nothing_is_left_of_them)
{
    int count = number("PEER_PAIRS", 10000);
    size_t in_use = 0;
    OPEN_CLIENTS(3, NULL);
    for (int i = 0; i < count; i++) {
        if (i == count / 2)
            in_use = mallinfo2().uordblks;
        lock = told_take_renewed(one, "name", 10000, &lost);
        int code = redlock_release(lock);
        if (code != 0)
            ck_abort_msg("release %d: %s", i, redlock_err_name(code));
    }
    ck_assert(wait_until(client_stats(one).pending_releases == 0, 5000));
    redlock_stats stats = client_stats(one);
    ck_assert_uint_eq(stats.acquired, (uint64_t)count);
    ck_assert_uint_eq(stats.released, (uint64_t)count);
    ck_assert_uint_eq(stats.renewing, 0);
    ck_assert_uint_eq(stats.held, 0);
    ck_assert_uint_eq(stats.waiting, 0);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_uint_le(mallinfo2().uordblks, in_use + (1 << 20));
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(master_do(masters, i, "DBSIZE", NULL).number, 0);
}

/* ---- holders that are gone, or hang ----------------------------------------------------- */

enum { KILLED_TTL_MS = 1500 };

static int ready[2];

static int hold_for_ever(void *argument)
{
    redlock *own = client_open(argument);
    lock = told_take_renewed(own, "name", KILLED_TTL_MS, NULL);
    child_expect(write(ready[1], "", 1) == 1);
    for (;;)
        pause_ms(1000);
}

TEST(peer_cases_b, b40_key_of_killed_holder_is_gone_within_its_ttl)
{
    char byte;
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_eq(pipe(ready), 0);
    struct child child = child_start(hold_for_ever, (void *)masters_file(masters, NULL));
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    pause_ms(KILLED_TTL_MS * 4 / 3); /* it is renewed */
    ck_assert_int_eq(client_try(two, "name", 0, 0, NULL, &lock), REDLOCK_EHELD);
    kill(child.pid, SIGKILL);
    int64_t begun = now_ms();
    ck_assert_int_eq(child_wait(&child, 5000), -2);
    ck_assert_int_eq(client_try(two, "name", 0, 5000, NULL, &lock), 0);
    ck_assert_int_lt(now_ms() - begun, KILLED_TTL_MS + 800);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* The worker never comes back; what renews its lock lives. */
TEST(peer_cases_b, b42_cap_on_hold_ends_hanging_holder)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 900;
    options.auto_renew = 1;
    options.max_hold_ms = 2000;
    redlock_lock *next;
    OPEN_CLIENTS(3, NULL);
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert_int_eq(client_try(two, "name", 0, 10000, NULL, &next), 0);
    ck_assert_int_ge(now_ms() - begun, 1900);
    ck_assert_int_lt(now_ms() - begun, 2000 + 2000);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(next), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

CASE(peer_cases_b, .timeout_s = 600)
