/* tags: long threads */
/* test_renewals_many.c - more renewals are due than may be under way at once: who goes first, how
 * many there may be, and what waits behind them. */
#include "config_auto.h"

#include "fake.h"
#include "masters.h"
#include "proxy.h"
#include "stall.h"
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redlock *client;
static struct told lost;

/* As many as `count` locks that are renewed: all are had. */
static bool take_many(int count, int64_t ttl_ms, struct told *taken, struct told *losses)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = ttl_ms;
    options.auto_renew = 1;
    options.on_lost = told_lost;
    options.lost_context = losses;
    for (int i = 0; i < count; i++) {
        char name[32];
        int len = snprintf(name, sizeof(name), "name-%d", i);
        ck_assert_int_eq(redlock_try_async_n(client, name, (size_t)len, &options, told_done,
                                             &taken[i], NULL),
                         0);
    }
    bool all = true;
    for (int i = 0; i < count; i++) {
        ck_assert(wait_until(taken[i].calls == 1, 20000));
        all = all && taken[i].result == 0;
    }
    return all;
}

static void give_back(int count, const struct told *taken)
{
    for (int i = 0; i < count; i++) {
        if (taken[i].result == 0)
            ck_assert_int_eq(redlock_release_async(taken[i].lock, NULL, NULL), 0);
    }
    ck_assert(wait_until(client_stats(client).pending_releases == 0, 20000));
}

/* ---- how many --------------------------------------------------------------------------- */

/* A round trip takes half a second, so 512 at once would be 1,024 a second. The locks need 1,200,
 * if each is renewed in the last moment. */
static bool are_kept_far_away(int64_t ttl_ms)
{
    enum { MANY = 2400, AWAY_MS = 250 };
    static struct told taken[MANY];
    struct proxy *proxies[3];
    struct masters *masters = masters_start(3, NULL);
    memset(taken, 0, sizeof(taken));
    memset(&lost, 0, sizeof(lost));
    client = client_open(proxies_start(masters, proxies, true, NULL));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    for (unsigned i = 0; i < 3; i++) {
        proxy_delay(proxies[i], PROXY_ALL, PROXY_THERE, AWAY_MS);
        proxy_delay(proxies[i], PROXY_ALL, PROXY_BACK, AWAY_MS);
    }
    bool kept = take_many(MANY, ttl_ms, taken, &lost);
    if (kept)
        pause_ms(2 * ttl_ms);
    kept = kept && lost.calls == 0;
    give_back(MANY, taken);
    redlock_close(client);
    proxies_stop(proxies, 3);
    masters_stop(masters);
    return kept;
}

TEST(renewals_many, far_masters_renew_more_at_once)
{
    bool kept = met_unless_stalled(are_kept_far_away(2600), STALL_MS, 2);
    ck_assert_msg(kept, "%d lost", lost.calls);
}

/* ---- in which order --------------------------------------------------------------------- */

/* The earlier half is due first and lost last. Nobody drives the client until all are due. */
TEST(renewals_many, renewals_due_together_go_by_when_they_are_lost)
{
    enum { EACH = 6, LATE_MS = 1500 };
    struct fake *fakes[3];
    redlock_lock *locks[2 * EACH];
    struct fake_record record;
    fakes_start(fakes, 3);
    client = client_open(fakes_file(fakes, 3, "background never\n"));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    int64_t begun = now_ms();
    for (int i = 0; i < 2 * EACH; i++) {
        char name[32];
        if (i == EACH)
            pause_ms(begun + LATE_MS - now_ms());
        snprintf(name, sizeof(name), i < EACH ? "long-%d" : "short-%d", i);
        locks[i] = told_take_renewed(client, name, i < EACH ? 6000 : 1800, &lost);
    }
    ck_assert_uint_eq(fake_count(fakes[0], "extend *"), 0);
    pause_ms(begun + LATE_MS + 900 - now_ms());
    ck_assert(turn_until(client, fake_count(fakes[0], "extend *") == 2 * EACH, 5000));
    for (unsigned i = 0; i < EACH; i++) {
        ck_assert(fake_find(fakes[0], "extend *", i, &record));
        ck_assert_msg(strncmp(record.line, "extend short-", 13) == 0, "%u: %s", i, record.line);
    }
    ck_assert_int_eq(lost.calls, 0);
    for (int i = 0; i < 2 * EACH; i++)
        (void)redlock_release(locks[i]);
    redlock_close(client);
}

/* ---- who waits behind them -------------------------------------------------------------- */

/* Answers of 600 tries at once come late, and of a master that seems far more than 512 renewals
 * are asked for at once. The shortest of a few round trips is what counts then. */
static void see_that_masters_are_near(void)
{
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    for (int i = 0; i < 10; i++) {
        redlock_lock *near = NULL;
        if (redlock_try(client, "near", NULL, &near) == 0)
            (void)redlock_release(near);
    }
    ck_assert(wait_until(client_stats(client).pending_releases == 0, 10000));
}

/* The masters do all that they are asked for, and their answers are kept back. False: 512
 * renewals were not what was under way, which a stalled machine explains. */
static bool try_waits(void)
{
    enum { MANY = 600 };
    static struct told taken[MANY];
    struct told more = {0};
    struct proxy *proxies[3];
    struct masters *masters = masters_start(3, NULL);
    memset(taken, 0, sizeof(taken));
    client = client_open(proxies_start(masters, proxies, true, NULL));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    bool waits = take_many(MANY, 6000, taken, &lost);
    see_that_masters_are_near();
    for (unsigned i = 0; i < 3; i++)
        proxy_limit(proxies[i], PROXY_ALL, PROXY_BACK, 0);
    uint64_t before = client_stats(client).commands;
    waits = waits && wait_until(client_stats(client).commands - before >= 3 * 512, 3000);
    told_try(client, "more", 30000, &more);
    pause_ms(100);
    waits = waits && client_stats(client).commands - before == 3 * 512;
    if (waits)
        ck_assert_uint_eq(masters_with(masters, "more"), 0);
    for (unsigned i = 0; i < 3; i++)
        proxy_limit(proxies[i], PROXY_ALL, PROXY_BACK, -1);
    ck_assert(wait_until(more.calls == 1, 20000));
    ck_assert_int_eq(more.result, 0);
    ck_assert_int_eq(redlock_release(more.lock), 0);
    give_back(MANY, taken);
    redlock_close(client);
    proxies_stop(proxies, 3);
    masters_stop(masters);
    return waits;
}

TEST(renewals_many, try_waits_while_renewals_wait)
{
    ck_assert(met_unless_stalled(try_waits(), STALL_MS, 3));
}

CASE(renewals_many, .timeout_s = 120)
