/* test_sim_master_real.c - random commands, as bytes, to a model master and to redis-server:
 * every reply of theirs must be the same, byte for byte, but for times, which must be as near
 * to each other as the measured course of the run allows.
 *
 * REDLOCK_TEST_SEED names a run, REDLOCK_TEST_OPERATIONS its length. */
#include "config_auto.h"

#include "sim_real_pair.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 200000, PAIRS = 6, EARS = 4 /* from here on they subscribe a lot */ };

static struct rl_prng draws;

static unsigned below(unsigned n)
{
    return (unsigned)rl_prng_below(&draws, n);
}

/* ---- the run ---------------------------------------------------------------------------- */

/* A key of no long life on both, gone on both before it goes on. */
static void let_expire(struct pair_run *run)
{
    struct pair_words words = {0};
    char ttl[8];
    const char *lock = below(3) ? some_lock() : some_queue();
    unsigned how = below(3);
    snprintf(ttl, sizeof(ttl), "%u", 1 + below(3));
    if (how == 0) {
        pair_line(&words, "SET", lock, "short", "PX", ttl, NULL);
    } else if (how == 1) {
        pair_line(&words, "PEXPIRE", lock, ttl, NULL);
    } else {
        pair_line(&words, "DEL", lock, NULL);
        pair_send(run, 0, &words);
        words.count = 0;
        words.used = 0;
        pair_line(&words, "EVAL", script_body("acquire"), "1", lock, "0123456789abcdef",
                  "short", ttl, NULL);
    }
    pair_send(run, 0, &words);
    pair_compare(run, 0);
    pair_await_gone(run, lock);
}

/* One name of two is kept for who asks, and stays so for longer. All of it at once, so that how
 * fast we are does not matter. */
static void let_stay(struct pair_run *run)
{
    static const char waiter[] = "00000001-aaaa-bbbb-cccc-123456789abc:1";
    struct pair_words kept = {0}, other = {0}, round = {0}, gone = {0};
    bool first = below(2);
    const char *one = first ? "a" : "x y", *two = first ? "x y" : "a";
    char value[80], age[24];
    snprintf(value, sizeof(value), "redlock:next:%s", waiter);
    snprintf(age, sizeof(age), "%u", 1200000 + below(1600000)); /* us: for 300 ms and more */
    pair_line(&kept, "SET", one, value, "PX", "290", NULL);
    pair_line(&other, "SET", two, "peer", "PX", "7200000", NULL);
    pair_line(&round, "EVAL", script_body("several_wait"), "4", "a", "x y", "{a}:redlock:queue",
              "{x y}:redlock:queue", "0123456789abcdef", "tok-1", "7200000", waiter, age,
              "7200000", "7200000", NULL);
    pair_line(&gone, "DEL", one, two, NULL);
    pair_send(run, 0, &kept);
    pair_send(run, 0, &other);
    pair_send(run, 0, &round);
    pair_send(run, 0, &gone);
    pair_compare(run, 0);
}

static void speak_no_protocol(struct pair_run *run, unsigned pair)
{
    static const char *const nonsense[] = {
        "*x\r\n",
        "*1\r\nPING\r\n",
        "*1\r\n$x\r\n",
        "*1\r\n$-1\r\n",
        "*+1\r\n$4\r\nPING\r\n",
        "*01\r\n$4\r\nPING\r\n",
        "*1\r\n$04\r\nPING\r\n",
        "*1\r\n$999999999999\r\n",
    };
    pair_send_bytes(run, pair, nonsense[below(8)]);
    pair_compare_end(run, pair);
}

static void speak_oddly(struct pair_run *run, unsigned pair)
{
    static const char *const odd[] = {"PING\r\n",       "\r\nPING\n",      "*-1\r\nPING\r\n",
                                      "*0\r\nPING\r\n", "  PING   x \r\n", "GET\r\n",
                                      "get a\r\n"};
    pair_send_bytes(run, pair, odd[below(7)]);
    pair_compare(run, pair);
}

static void step(struct pair_run *run)
{
    unsigned pair = below(PAIRS), count = 1 + below(12);
    struct pair_words words;
    if (below(400) == 0) {
        let_expire(run);
        return;
    }
    if (below(400) == 0) {
        let_stay(run);
        return;
    }
    if (below(300) == 0) {
        speak_no_protocol(run, pair);
        return;
    }
    if (below(100) == 0)
        speak_oddly(run, pair);
    for (; count > 0; count--) {
        make_command(&words, pair >= EARS);
        pair_send(run, pair, &words);
    }
    pair_compare(run, pair);
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void expect_no_dull_life(const struct pair_run *run)
{
    const struct pair_tally *tally = &run->tally;
    unsigned long least = run->operations / 2500;
    printf("errors %lu, WRONGTYPE %lu, NOSCRIPT %lu, Lua's %lu, granted %lu, refused %lu, "
           "queued %lu, messages %lu, times %lu, expired %lu, ended %lu\n",
           tally->errors, tally->wrong_type, tally->no_script, tally->in_lua, tally->granted,
           tally->refused, tally->queued, tally->messages, tally->times, tally->expired,
           tally->ended);
    ck_assert_uint_gt(tally->errors, least);
    ck_assert_uint_gt(tally->wrong_type, least);
    ck_assert_uint_gt(tally->no_script, least);
    ck_assert_uint_gt(tally->in_lua, least);
    ck_assert_uint_gt(tally->granted, least);
    ck_assert_uint_gt(tally->refused, least);
    ck_assert_uint_gt(tally->queued, least);
    ck_assert_uint_gt(tally->messages, least);
    ck_assert_uint_gt(tally->times, 0);
    ck_assert_uint_gt(tally->expired, 5);
    ck_assert_uint_gt(tally->ended, 5);
}

TEST(random, model_master_answers_as_redis_does)
{
    static struct pair_run run;
    struct masters *masters = masters_start(1, NULL);
    unsigned long operations = setting("REDLOCK_TEST_OPERATIONS", OPERATIONS);
    unsigned long seed = setting("REDLOCK_TEST_SEED", 1);
    printf("REDLOCK_TEST_SEED=%lu, %lu operations\n", seed, operations);
    fflush(stdout);
    rl_prng_seed(&draws, seed);
    words_draw_from(&draws);
    pair_begin(&run, seed, PAIRS, masters, NULL);
    while (run.operations < operations)
        step(&run);
    printf("%lu replies; at most %lld us apart, and times %lld ms\n", run.compared,
           (long long)(run.apart_ns / SIM_US), (long long)run.times_apart_ms);
    if (operations >= OPERATIONS)
        expect_no_dull_life(&run);
    pair_end(&run);
}

CASE(random, .timeout_s = 60)

int main(void)
{
    random_case.timeout_s += (double)setting("REDLOCK_TEST_OPERATIONS", OPERATIONS) / 1000;
    return pair_main();
}
