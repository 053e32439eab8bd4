/* tags: threads */
/* test_fencing_strict.c - `fencing strict` on real masters: tokens grow past every loss of
 * counters, whatever the masters' clocks are set to. */
#include "config_auto.h"

#include "client.h"
#include "stepped.h"

#include "kinds/fencing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_NS (3600 * INT64_C(1000000000))
#define STRICT "fencing strict\nmax-ttl 4s\n"
#define CLOCK "fencing clock\nmax-ttl 4s\n"

static struct masters *masters;
static volatile int64_t *step_ns;
static redlock_node_vote votes[5];
static redlock_report report = REDLOCK_REPORT_INIT(votes, 5);

static struct reply join(unsigned node, const char *what, const char *loss, const char *number)
{
    return master_do(masters, node, "EVAL", rl_fence_join, "1", RL_FENCING_KEY,
                     "00000000000000aa", what, loss, number, NULL);
}

/* As `redlock init` does. */
static void certify(unsigned node)
{
    ck_assert_str_eq(join(node, "lose", "", "0").text,
                     "00000000000000aa missing 00000000000000aa 0");
    ck_assert_str_eq(join(node, "certify", "00000000000000aa", "0").text,
                     "00000000000000aa certified 00000000000000aa00000000000000aa 0");
}

static void start(unsigned n, bool certified)
{
    masters = masters_start_stepped(n, &step_ns);
    *step_ns = 0;
    for (unsigned i = 0; certified && i < n; i++)
        certify(i);
}

static redlock *open_to(const char *settings)
{
    return client_open(masters_file(masters, settings));
}

static int try_for(redlock *client, const char *name, int64_t wait_ms, uint64_t *ret_token)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.ttl_ms = 2000;
    options.wait_ms = wait_ms;
    options.fenced = 1;
    options.report = &report;
    int result = redlock_try(client, name, &options, &lock);
    if (result == 0) {
        *ret_token = redlock_fencing_token(lock);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    return result;
}

static int try_with(redlock *client, int64_t wait_ms, uint64_t *ret_token)
{
    return try_for(client, "name", wait_ms, ret_token);
}

static uint64_t take(redlock *client)
{
    uint64_t token = 0;
    int result = try_with(client, 10000, &token);
    ck_assert_msg(result == 0, "%d: %s", result, client_told(&report));
    return token;
}

static uint64_t take_anew(const char *settings)
{
    redlock *client = open_to(settings);
    uint64_t token = take(client);
    redlock_close(client);
    return token;
}

static bool certified_at(unsigned node)
{
    return strstr(join(node, "lose", "", "0").text, " certified ") != NULL;
}

static void lose(unsigned node, int how)
{
    if (how == 0)
        ck_assert_str_eq(master_do(masters, node, "FLUSHALL", NULL).text, "OK");
    else if (how == 1)
        master_restart_stepped(masters, node, true);
    else
        ck_assert_int_eq(master_do(masters, node, "DEL", RL_FENCING_KEY, "{name}:redlock:fence",
                                   NULL)
                             .number,
                         2);
}

/* Two masters grant the first token. One of them loses it, and all clocks are set back by more
 * than any window. The next majority is that master and the third. */
TEST(real, token_falls_by_clock_and_not_in_strict_mode, .rows = 5)
{
    bool strict = _i < 3;
    const char *settings = strict ? STRICT : CLOCK;
    uint64_t token = 0;
    start(3, strict);
    master_pause(masters, 2);
    uint64_t first = take_anew(settings);
    *step_ns = -HOUR_NS;
    lose(0, _i % 3);
    master_resume(masters, 2);
    master_pause(masters, 1);
    if (strict) {
        redlock *client = open_to(settings);
        ck_assert_int_eq(try_with(client, 300, &token), REDLOCK_ENOQUORUM);
        ck_assert_msg(strstr(votes[0].text, "not certified for fencing tokens") != NULL, "%s",
                      client_told(&report));
        master_resume(masters, 1);
        take(client);
        while (!certified_at(0))
            take(client);
        redlock_close(client);
        master_pause(masters, 1);
    }
    uint64_t second = take_anew(settings);
    ck_assert_msg(strict ? second > first : second < first, "%llu after %llu",
                  (unsigned long long)second, (unsigned long long)first);
    master_resume(masters, 1);
}

/* A client that is connected does not look for a while: the script itself sees it. */
TEST(real, loss_on_live_connection_gives_no_vote)
{
    uint64_t token = 0;
    start(3, true);
    CLIENT client = open_to(STRICT);
    uint64_t first = take(client);
    *step_ns = -HOUR_NS;
    lose(0, 0);
    lose(1, 0);
    ck_assert_int_eq(try_with(client, 0, &token), REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(client_told(&report), "fencing") != NULL, "%s", client_told(&report));
    /* Nobody but an operator knows what tokens there were. */
    ck_assert_int_eq(try_with(client, 2500, &token), REDLOCK_ENOQUORUM);
    ck_assert(certified_at(2) && !certified_at(0) && !certified_at(1));
    ck_assert_uint_gt(first, 0);
}

/* Another program has put its own data there meanwhile, of another type. */
TEST(real, data_in_certificates_place_gives_no_vote_and_stays)
{
    uint64_t token = 0;
    start(3, true);
    CLIENT client = open_to(STRICT);
    ck_assert_uint_gt(take(client), 0);
    for (unsigned i = 0; i < 2; i++) {
        master_do(masters, i, "DEL", RL_FENCING_KEY, NULL);
        master_do(masters, i, "RPUSH", RL_FENCING_KEY, "data", NULL);
    }
    ck_assert_int_eq(try_with(client, 0, &token), REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(client_told(&report), "fencing") != NULL, "%s",
                  client_told(&report));
    ck_assert_int_eq(try_with(client, 1000, &token), REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(client_told(&report), RL_FENCING_KEY) != NULL, "%s",
                  client_told(&report));
    for (unsigned i = 0; i < 2; i++)
        ck_assert_int_eq(master_do(masters, i, "LLEN", RL_FENCING_KEY, NULL).number, 1);
}

/* What is lost is certified while locks are taken, and none of them fails. */
TEST(real, minority_that_loses_its_counters_costs_no_lock)
{
    enum { LOSSES = 6 };
    start(5, true);
    redlock *one = open_to(STRICT), *two = open_to(STRICT);
    uint64_t last = 0;
    for (unsigned i = 0; i < LOSSES; i++) {
        ck_assert(wait_until(client_ready(one) == 5 && client_ready(two) == 5, 10000));
        *step_ns = i % 2 ? HOUR_NS : -HOUR_NS;
        lose(i % 5, 0);
        lose((i + 2) % 5, i % 2);
        while (!certified_at(i % 5) || !certified_at((i + 2) % 5)) {
            uint64_t token = 0;
            int result = try_with(i % 2 ? one : two, 0, &token);
            ck_assert_msg(result == 0, "%d: %s", result, client_told(&report));
            ck_assert_uint_gt(token, last);
            last = token;
        }
    }
    redlock_close(one);
    redlock_close(two);
}

/* Masters that were never certified: nobody certifies the first ones but `redlock init`. */
/* Masters that were just started do not vote for a minute. They have their counters, so they tell
 * them all the same. */
TEST(real, guarded_masters_vouch_for_one_that_lost_its_counters)
{
    start(3, true);
    redlock *client = client_open(masters_guarded_file(masters, "fencing strict\nmax-ttl 60s\n"));
    ck_assert_int_eq(client_ready(client), 0);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "x", 1000, 0, NULL, &lock), REDLOCK_ENOQUORUM);
    lose(0, 1);
    ck_assert(wait_until(client_ready(client) == 0 && certified_at(0), 10000));
    redlock_close(client);
}

/* It asks at once, and not with the next INFO. */
TEST(real, client_that_looked_first_certifies_when_it_wants_lock)
{
    redlock_lock *lock = NULL;
    start(3, true);
    lose(0, 0);
    CLIENT client = open_to(STRICT);
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    ck_assert(!master_has(masters, 0, RL_FENCING_KEY));
    ck_assert_int_eq(client_try(client, "x", 1000, 0, NULL, &lock), 0);
    ck_assert(wait_until((client_ready(client), certified_at(0)), 5000));
}

TEST(real, new_masters_are_certified_by_nobody)
{
    uint64_t token = 0;
    start(3, false);
    CLIENT client = open_to(STRICT);
    ck_assert_int_eq(try_with(client, 1500, &token), REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(client_told(&report), "it was emptied, or is new") != NULL, "%s",
                  client_told(&report));
    for (unsigned i = 0; i < 3; i++)
        ck_assert(!certified_at(i));
    /* Locks without tokens do not depend on it. */
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "other", 2000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

static long looks_at(unsigned node)
{
    static const char word[] = "cmdstat_eval:calls=";
    struct reply info = master_do(masters, node, "INFO", "commandstats", NULL);
    const char *calls = strstr(info.text, word);
    return calls ? strtol(calls + sizeof(word) - 1, NULL, 10) : 0;
}

/* The other one is no quorum. An operator may certify the lost one: it is looked at for that, each
 * second or two. */
TEST(real, master_that_nobody_can_certify_is_looked_at_now_and_then)
{
    uint64_t token = 0;
    start(2, true);
    CLIENT client = open_to(STRICT);
    uint64_t first = take(client);
    lose(0, 0);
    ck_assert_int_eq(try_with(client, 1000, &token), REDLOCK_ENOQUORUM);
    long before = looks_at(0);
    ck_assert_int_eq(try_with(client, 3000, &token), REDLOCK_ENOQUORUM);
    long looks = looks_at(0) - before;
    ck_assert_msg(looks >= 1 && looks < 50, "%ld looks", looks);
    char above[24], id[17];
    snprintf(above, sizeof(above), "%llu", (unsigned long long)first);
    struct reply lost = join(0, "lose", "", "0");
    const char *loss = strstr(lost.text, "missing ");
    ck_assert_ptr_nonnull(loss);
    snprintf(id, sizeof(id), "%.16s", loss + strlen("missing "));
    ck_assert_ptr_nonnull(strstr(join(0, "certify", id, above).text, " certified "));
    ck_assert_uint_gt(take(client), first);
}

/* An expired counter is one that was lost. */
TEST(real, counter_that_is_gone_is_no_way_back)
{
    start(1, true);
    CLIENT client = open_to(STRICT);
    uint64_t first = take(client);
    *step_ns = -HOUR_NS;
    ck_assert_int_eq(master_do(masters, 0, "DEL", "{name}:redlock:fence", NULL).number, 1);
    ck_assert_uint_gt(take(client), first);
}

/* A counter of one name on one of three masters has a number near the end of all numbers. */
TEST(real, number_in_one_counter_costs_that_name_on_that_master, .rows = 6)
{
    static const char *const numbers[] = {"9007199254740990", "9007199254740991", "4503599627370496",
                                          "99999999999999999999", "-1", "x"};
    uint64_t token = 0, more = 0;
    start(3, true);
    CLIENT client = open_to(STRICT);
    uint64_t first = take(client);
    master_do(masters, 0, "SET", "{name}:redlock:fence", numbers[_i], NULL);
    ck_assert_int_eq(try_for(client, "name", 5000, &token), 0);
    ck_assert_uint_gt(token, first);
    master_pause(masters, 1); /* what is left needs the other one's vote */
    /* Longer than a master may be silent: it has failed then. */
    ck_assert_int_eq(try_for(client, "name", 1200, &token),
                     _i == 2 ? REDLOCK_OK : REDLOCK_ENOQUORUM);
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(try_for(client, "other", 5000, &more) == 0, "%s", client_told(&report));
        ck_assert_uint_gt(more, first);
        ck_assert_uint_lt(more, (UINT64_C(1) << 52) + (UINT64_C(1) << 20));
    }
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "plain", 2000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    master_resume(masters, 1);
}

/* A day, and what the guard's window is: by then a master's clock is past all numbers that it had
 * when its counter was used last. */
TEST(real, counter_outlives_lock_by_a_day_and_a_window)
{
    const long long day_ms = 86400000;
    start(1, true);
    take_anew(STRICT);
    long long left = master_do(masters, 0, "PTTL", "{name}:redlock:fence", NULL).number;
    ck_assert_msg(left > day_ms && left < day_ms + 60000, "%lld", left);
}

/* A master tells another loss each time that it is asked. The others are read for it once a second
 * or so. */
TEST(real, losses_without_end_are_no_work_for_others)
{
    enum { SECONDS = 3, READINGS = 8 };
    char text[160], server[96];
    uint64_t token = 0;
    start(3, true);
    CLIENT client = open_to("background always\n" STRICT);
    take(client);
    const char *ids = master_do(masters, 0, "GET", RL_FENCING_KEY, NULL).text;
    for (int i = 0; i < 4; i++)
        ids = strchr(ids, ' ') + 1;
    snprintf(server, sizeof(server), "%s", ids);
    lose(0, 0);
    long before = looks_at(1);
    int64_t until_ms = now_ms() + SECONDS * 1000;
    for (unsigned i = 0; now_ms() < until_ms; i++) {
        snprintf(text, sizeof(text), "missing %016x 0 0 %s", i + 1, server);
        ck_assert_str_eq(master_do(masters, 0, "SET", RL_FENCING_KEY, text, NULL).text, "OK");
        if (i % 1000 == 0)
            try_with(client, 0, &token);
    }
    long looks = looks_at(1) - before;
    ck_assert_msg(looks <= READINGS * 2, "%ld readings in %d s", looks, SECONDS);
    ck_assert_int_eq(try_with(client, 10000, &token), 0);
}

CASE(real, .timeout_s = 60)
