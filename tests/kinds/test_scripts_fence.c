/* test_scripts_fence.c - the scripts with fencing tokens, run on a real master: which number a
 * grant gets, and who may write one. */
#include "config_auto.h"

#include "kinds/kind.h"
#include "masters.h"
#include "script_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONCE "0123456789abcdef"
#define LIFE "100000"
#define AHEAD_US 15000000

static struct masters *masters;

static const char *fenced(enum rl_verb verb)
{
    return script_text(rl_kind(RL_ROW_PLAIN)->script[verb].fenced_body);
}

/* {nonce, 1, number}, or 0: refused, or -1: an error. */
static long long take_for(const char *token, uint64_t proposed, const char *life)
{
    char text[32], ahead[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)proposed);
    snprintf(ahead, sizeof(ahead), "%d", AHEAD_US);
    struct reply reply =
        master_do(masters, 0, "EVAL", fenced(RL_ACQUIRE), "2", "name", "{name}:redlock:fence",
                  NONCE, token, "60000", "1", text, ahead, life, (char *)NULL);
    if (reply.type != '*')
        return -1;
    long long code = 0, number = 0;
    if (sscanf(reply.text, NONCE "- %lld %lld", &code, &number) != 2 || code != 1)
        return 0;
    return number;
}

static uint64_t take(uint64_t proposed)
{
    long long number = take_for("token", proposed, LIFE);
    ck_assert_int_gt(number, 0);
    master_do(masters, 0, "DEL", "name", (char *)NULL);
    return (uint64_t)number;
}

static struct reply keep_or_fail(enum rl_verb verb, const char *token, uint64_t number,
                                 bool writes_back)
{
    char text[32], ahead[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    snprintf(ahead, sizeof(ahead), "%d", AHEAD_US);
    return master_do(masters, 0, "EVAL", fenced(verb), "2", "name", "{name}:redlock:fence", NONCE,
                     token, "60000", "1", text, ahead, writes_back ? "1" : "0", LIFE,
                     (char *)NULL);
}

static bool keep(enum rl_verb verb, const char *token, uint64_t number)
{
    struct reply reply = keep_or_fail(verb, token, number, true);
    ck_assert(reply.type == '*' || reply.type == '$');
    return strcmp(reply.text, NONCE) == 0;
}

static uint64_t counter(void)
{
    struct reply reply = master_do(masters, 0, "GET", "{name}:redlock:fence", (char *)NULL);
    bool missing = reply.text[0] == '-'; /* nil's length */
    return reply.type == '$' && !missing ? strtoull(reply.text, NULL, 10) : 0;
}

static void set_counter(uint64_t number)
{
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    master_do(masters, 0, "SET", "{name}:redlock:fence", text, (char *)NULL);
}

/* The master's clock, in us. */
static uint64_t time_us(void)
{
    unsigned long long s = 0, us = 0;
    struct reply reply = master_do(masters, 0, "TIME", (char *)NULL);
    ck_assert_int_eq(sscanf(reply.text, "%llu %llu", &s, &us), 2);
    return s * 1000000 + us;
}

static void begin(void)
{
    masters = masters_start(1, NULL);
}

TEST(grant, proposal_becomes_number)
{
    begin();
    uint64_t proposed = time_us() + 5000000;
    ck_assert_uint_eq(take(proposed), proposed);
    ck_assert_uint_eq(counter(), proposed);
}

TEST(grant, number_is_above_previous_one)
{
    begin();
    uint64_t far = time_us() + 3600 * UINT64_C(1000000);
    set_counter(far);
    ck_assert_uint_eq(take(0), far + 1);
    ck_assert_uint_eq(take(far + 1), far + 2);
    ck_assert_uint_eq(counter(), far + 2);
}

TEST(grant, number_is_not_behind_clock, .rows = 2)
{
    begin();
    if (_i == 1)
        set_counter(7);
    uint64_t before = time_us();
    uint64_t number = take(9);
    ck_assert_uint_ge(number, before);
    ck_assert_uint_le(number, time_us());
}

TEST(grant, proposal_far_ahead_is_cut)
{
    begin();
    uint64_t before = time_us();
    uint64_t number = take(before + 3600 * UINT64_C(1000000));
    ck_assert_uint_ge(number, before + AHEAD_US);
    ck_assert_uint_le(number, time_us() + AHEAD_US);
}

/* Redisson's clients never do, but other programs may: it is named, and it stays. */
TEST(grant, data_in_counters_place_is_named_and_stays, .rows = 2)
{
    begin();
    master_do(masters, 0, "RPUSH", "{name}:redlock:fence", "data", (char *)NULL);
    if (_i == 1)
        master_do(masters, 0, "SET", "name", "token", (char *)NULL);
    struct reply reply = keep_or_fail(_i == 0 ? RL_RETAKE : RL_EXTEND, "token", 7, true);
    ck_assert_int_eq(reply.type, '-');
    ck_assert_msg(strstr(reply.text, "{name}:redlock:fence is no number") != NULL, "%s",
                  reply.text);
    ck_assert_int_eq(take_for("other", 7, LIFE), -1);
    ck_assert_int_eq(master_do(masters, 0, "LLEN", "{name}:redlock:fence", (char *)NULL).number, 1);
}

TEST(grant, refusal_changes_no_counter)
{
    begin();
    long long number = take_for("token", 0, LIFE);
    ck_assert_int_gt(number, 0);
    ck_assert_int_eq(take_for("another", 0, LIFE), 0);
    ck_assert_uint_eq(counter(), (uint64_t)number);
}

TEST(grant, life_is_set_or_there_is_no_end, .rows = 2)
{
    begin();
    ck_assert_int_gt(take_for("token", 0, _i == 0 ? LIFE : "0"), 0);
    long long left = master_do(masters, 0, "PTTL", "{name}:redlock:fence", (char *)NULL).number;
    if (_i == 0)
        ck_assert(left > 50000 && left <= 100000);
    else
        ck_assert_int_eq(left, -1);
}

static const enum rl_verb keeping[] = {RL_EXTEND, RL_RETAKE};

TEST(keep, holder_writes_its_token_upwards, .rows = 2)
{
    begin();
    uint64_t number = (uint64_t)take_for("token", 0, LIFE);
    ck_assert(keep(keeping[_i], "token", number + 5));
    ck_assert_uint_eq(counter(), number + 5);
    ck_assert(keep(keeping[_i], "token", number));
    ck_assert_uint_eq(counter(), number + 5);
    ck_assert_int_gt(master_do(masters, 0, "PTTL", "{name}:redlock:fence", (char *)NULL).number,
                     50000);
}

TEST(keep, others_write_nothing, .rows = 2)
{
    begin();
    uint64_t number = (uint64_t)take_for("token", 0, LIFE);
    ck_assert(!keep(keeping[_i], "another", number + 5));
    ck_assert_uint_eq(counter(), number);
}

/* 0: there is a counter; 1: it has gone. Only a write-back must be known to have failed. */
TEST(keep, token_too_far_ahead_is_not_written, .rows = 2)
{
    begin();
    uint64_t number = (uint64_t)take_for("token", 0, LIFE);
    if (_i == 1)
        master_do(masters, 0, "DEL", "{name}:redlock:fence", (char *)NULL);
    uint64_t before = counter();
    ck_assert_uint_eq(before, _i == 1 ? 0 : number);
    for (int i = 0; i < 2; i++) {
        uint64_t far = time_us() + AHEAD_US + 60 * UINT64_C(1000000);
        struct reply reply = keep_or_fail(keeping[i], "token", far, true);
        ck_assert_int_eq(reply.type, '-');
        ck_assert_msg(strstr(reply.text, "too far ahead of this master's clock"), "%s",
                      reply.text);
        reply = keep_or_fail(keeping[i], "token", far, false);
        ck_assert_str_eq(reply.text, NONCE);
        ck_assert_uint_eq(counter(), before);
    }
}

TEST(keep, token_less_far_ahead_is_written, .rows = 2)
{
    begin();
    ck_assert_int_gt(take_for("token", 0, LIFE), 0);
    uint64_t most = time_us() + AHEAD_US; /* the clock goes on until the script reads it */
    ck_assert(keep(keeping[_i], "token", most));
    ck_assert_uint_eq(counter(), most);
}

/* It has that number already, whatever its clock says. */
TEST(keep, token_that_is_there_is_never_too_far_ahead, .rows = 2)
{
    begin();
    ck_assert_int_gt(take_for("token", 0, LIFE), 0);
    uint64_t far = time_us() + 3600 * UINT64_C(1000000);
    set_counter(far);
    ck_assert(keep(keeping[_i], "token", far));
    ck_assert_uint_eq(counter(), far);
}

TEST(keep, missing_counter_is_written_again, .rows = 2)
{
    begin();
    ck_assert_int_gt(take_for("token", 0, LIFE), 0);
    master_do(masters, 0, "DEL", "{name}:redlock:fence", (char *)NULL);
    ck_assert(keep(keeping[_i], "token", 77));
    ck_assert_uint_eq(counter(), 77);
}
