/* test_scripts_foreign.c - what other programs keep under the keys that stand beside a lock: each
 * script leaves it as it is, whatever its type and its numbers, and each reply is one that its
 * verb promises. */
#include "config_auto.h"

#include "kinds/name_set.h"
#include "script_talk.h"

#include <stdio.h>
#include <string.h>

/* ---- what stands where -------------------------------------------------------------------- */

/* Beside the lock "k" of the kind of this row. `own` is the type that the kind keeps there. Data of
 * that type and with an end is known as foreign where its shape can tell. */
static const struct place {
    int row;
    const char *key, *own;
    bool by_shape;
    const char *told; /* to who wants the lock; NULL: it is to be had */
} places[] = {
    {RL_ROW_PLAIN, "{k}:redlock:queue", "zset", true, NULL},
    {RL_ROW_PLAIN, "{k}:redlock:broken", "string", true, NULL},
    {RL_ROW_SEVERAL, "{k}:redlock:queue", "zset", true, NULL},
    {RL_ROW_SEVERAL, "{m}:redlock:queue", "zset", true, NULL},
    {RL_ROW_REENTRANT, "{k}:redlock:holds", "set", false, "under its name and :redlock:holds"},
    {RL_ROW_REENTRANT, "{k}:redlock:broken", "string", true, NULL},
    {RL_ROW_FAIR, "{k}:redlock:holds", "set", false, "under its name and :redlock:holds"},
    {RL_ROW_FAIR, "{k}:redlock:seen", "zset", false, "in {k}:redlock:seen"},
};

/* How data comes there: a script, KEYS[1] is the key. */
static const struct data {
    const char *type, *made_by;
} all_data[] = {
    {"string", "redis.call('SET', KEYS[1], 'abc')"},
    {"string", "redis.call('SET', KEYS[1], '12345')"},
    {"string", "redis.call('SET', KEYS[1], '99999999999999999999999999 x')"},
    {"list", "redis.call('RPUSH', KEYS[1], 'x', 'y')"},
    {"hash", "redis.call('HSET', KEYS[1], 'mode', 'x')"},
    {"set", "redis.call('SADD', KEYS[1], 'x', 'y')"},
    {"set", "for i = 1, 3000 do redis.call('SADD', KEYS[1], 'x' .. i) end"},
    {"zset", "redis.call('ZADD', KEYS[1], '-inf', 'x', 0, 'y', '1e300', 'z')"},
    {"zset", "redis.call('ZADD', KEYS[1], 'inf', 'x')"},
    {"zset", "for i = 1, 3000 do redis.call('ZADD', KEYS[1], i, 'x' .. i) end"},
};
enum { PLACES = sizeof(places) / sizeof(places[0]), DATA = sizeof(all_data) / sizeof(all_data[0]) };

/* Two minutes, in half of the plays: such data is not ours either, where its shape can tell. */
#define ENDS_MS 120000

static void put(const struct place *place, const struct data *data, bool ends)
{
    char script[256];
    snprintf(script, sizeof(script), "%s%s", data->made_by,
             ends ? "\nredis.call('PEXPIRE', KEYS[1], 120000)" : "");
    talk_do(&talk_here, "FLUSHALL", (char *)NULL);
    struct wire_item item = talk_do(&talk_here, "EVAL", script, "1", place->key, (char *)NULL);
    ck_assert_msg(item.type != '-', "%.*s", (int)item.len, item.bytes);
}

/* A sum of all that stands there: of a set's members in order, which no look changes. */
static void sum_up(const struct place *place, char ret_sum[48])
{
    struct wire_item item =
        talk_do(&talk_here, "EVAL",
                "local there = redis.call('TYPE', KEYS[1]).ok\n"
                "return redis.sha1hex(there == 'none' and '' or there ~= 'set' and\n"
                "  redis.call('DUMP', KEYS[1]) or\n"
                "  table.concat(redis.call('SORT', KEYS[1], 'ALPHA'), ' '))",
                "1", place->key, (char *)NULL);
    ck_assert_msg(item.type == '$' && item.len == 40, "%.*s", (int)item.len, item.bytes);
    snprintf(ret_sum, 48, "%.*s", (int)item.len, item.bytes);
}

/* ---- the play ----------------------------------------------------------------------------- */

static struct script_told run(int row, enum rl_verb verb, const char *who, unsigned round)
{
    static const redlock_bytes names[] = {{.bytes = "k", .len = 1}, {.bytes = "m", .len = 1}};
    char waiter[RL_WAITER_MAX], packed[RL_NAMES_BYTES_MAX], why[160], token[80];
    snprintf(token, sizeof(token), "%032x:%s%u", (unsigned)who[0], who, round);
    struct script_call call = {
        .row = row,
        .name = "k",
        .owner = who,
        .token = token,
        .waiter = talk_waiter((unsigned)who[0], 1, waiter),
        .age_us = 4000000000,
        .ttl_ms = 60000,
        .reserve_ms = 20000,
        .queue_ms = 30000,
        .fair_ms = 5000,
        .writer_waiting_ms = 4000,
    };
    if (row == RL_ROW_SEVERAL && verb != RL_INSPECT && verb != RL_FORCE) {
        call.name = packed;
        call.name_len = rl_names_pack(names, 2, packed, why, sizeof(why));
    }
    return script_run(&talk_here, verb, &call);
}

static const struct step {
    enum rl_verb verb;
    const char *who;
    unsigned round;
} steps[] = {
    {RL_ACQUIRE, "mine", 1},   {RL_ACQUIRE_OR_QUEUE, "yours", 1}, {RL_ACQUIRE, "mine", 2},
    {RL_EXTEND, "mine", 1},    {RL_RETAKE, "mine", 1},            {RL_INSPECT, "mine", 1},
    {RL_RELEASE, "mine", 2},   {RL_RELEASE, "mine", 1},           {RL_EXTEND, "mine", 1},
    {RL_ACQUIRE, "yours", 2},  {RL_RELEASE, "yours", 2},          {RL_DEQUEUE, "yours", 1},
    {RL_RETAKE, "mine", 3},    {RL_FORCE, "mine", 3},             {RL_EXTEND, "mine", 3},
    {RL_ACQUIRE, "others", 4}, {RL_RELEASE, "others", 4},
};

static bool has_verb(int row, enum rl_verb verb)
{
    return verb == RL_INSPECT || verb == RL_FORCE || rl_kind(row)->script[verb].name;
}

static void expect_kept(const struct place *place, const struct data *data, bool ends,
                        const struct step *step, const char *before)
{
    char now[48];
    sum_up(place, now);
    long long left = talk_do(&talk_here, "PTTL", place->key, (char *)NULL).number;
    bool same = strcmp(now, before) == 0 &&
                (ends ? left > ENDS_MS - 60000 && left <= ENDS_MS : left == -1);
    ck_assert_msg(same, "%s at %s (%s): %s's verb %d, row %d, ends in %lld",
                  data->made_by, place->key, ends ? "ends" : "endless", step->who,
                  (int)step->verb, place->row, left);
}

static void play(const struct place *place, const struct data *data, bool ends)
{
    char before[48];
    put(place, data, ends);
    sum_up(place, before);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (!has_verb(place->row, steps[i].verb))
            continue;
        struct script_told told = run(place->row, steps[i].verb, steps[i].who, steps[i].round);
        ck_assert_msg(told.type == '*' && told.left_ms >= -2 && told.left_ms <= ENDS_MS,
                      "%s: verb %d: %s", place->key, (int)steps[i].verb, told.text);
        if (i == 0) {
            ck_assert_int_eq(told.yes, place->told ? RL_REPLY_WRONGTYPE : RL_GRANTED);
            ck_assert_msg(!place->told || strstr(told.holder, place->told), "%s", told.holder);
        }
        expect_kept(place, data, ends, &steps[i], before);
    }
}

TEST(foreign, data_beside_lock_stays_as_it_is, .rows = PLACES)
{
    const struct place *place = &places[_i];
    for (unsigned i = 0; i < DATA; i++) {
        play(place, &all_data[i], false);
        if (strcmp(all_data[i].type, place->own) != 0 || place->by_shape)
            play(place, &all_data[i], true);
    }
}

/* Behind waiters of ours, who are called in their order: the dead ones go, and nothing else. */
TEST(foreign, release_takes_nothing_from_queue_but_waiters, .rows = 2)
{
    char dead[3][RL_WAITER_MAX];
    int row = _i == 0 ? RL_ROW_PLAIN : RL_ROW_SEVERAL;
    ck_assert_int_eq(run(row, RL_ACQUIRE, "mine", 1).yes, RL_GRANTED);
    talk_do(&talk_here, "ZADD", "{k}:redlock:queue", "1", talk_waiter(1, 1, dead[0]),
            "2", talk_waiter(2, 1, dead[1]), "3", "x", "4", talk_waiter(4, 1, dead[2]),
            (char *)NULL);
    ck_assert_int_eq(run(row, RL_RELEASE, "mine", 1).yes, RL_GRANTED);
    ck_assert_int_eq(talk_do(&talk_here, "ZCARD", "{k}:redlock:queue", (char *)NULL).number, 2);
    ck_assert_int_eq(talk_do(&talk_here, "EXISTS", "k", (char *)NULL).number, 0);
    ck_assert_int_eq(run(row, RL_ACQUIRE, "mine", 1).yes, RL_GRANTED);
    ck_assert_int_eq(run(row, RL_ACQUIRE_OR_QUEUE, "yours", 1).place, -1);
}

/* A user who lacks PEXPIREAT leaves it so, and others go on. */
TEST(foreign, queue_of_ours_without_end_is_ours)
{
    talk_do(&talk_here, "FLUSHALL", (char *)NULL);
    ck_assert_int_eq(run(RL_ROW_FAIR, RL_ACQUIRE, "mine", 1).yes, RL_GRANTED);
    ck_assert_int_eq(run(RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "yours", 1).yes, RL_REFUSED);
    ck_assert_int_eq(talk_do(&talk_here, "PERSIST", "{k}:redlock:seen", (char *)NULL).number, 1);
    ck_assert_int_eq(run(RL_ROW_FAIR, RL_ACQUIRE_OR_QUEUE, "others", 1).yes, RL_REFUSED);
    ck_assert_int_gt(talk_do(&talk_here, "PTTL", "{k}:redlock:seen", (char *)NULL).number, 0);
}

/* A peer of the same owner's name has the lock, so its count covers that data. */
TEST(foreign, data_in_holds_place_gets_no_token_where_owner_counts)
{
    talk_do(&talk_here, "FLUSHALL", (char *)NULL);
    talk_do(&talk_here, "HSET", "k", "mine", "1", (char *)NULL);
    talk_do(&talk_here, "PEXPIRE", "k", "60000", (char *)NULL);
    talk_do(&talk_here, "SADD", "{k}:redlock:holds", "x", (char *)NULL);
    ck_assert_int_eq(run(RL_ROW_REENTRANT, RL_ACQUIRE, "mine", 1).yes, RL_REPLY_WRONGTYPE);
    ck_assert_int_eq(talk_do(&talk_here, "SCARD", "{k}:redlock:holds", (char *)NULL).number, 1);
    ck_assert_int_eq(talk_do(&talk_here, "PTTL", "{k}:redlock:holds", (char *)NULL).number, -1);
}

/* ---- numbers at their end ------------------------------------------------------------------ */

/* In a lock's own keys, of the shape that its kind writes. */
static const struct {
    int row;
    const char *made_by;
} numbers[] = {
    {RL_ROW_QREAD, "redis.call('ZADD', 'k', 'inf', 'w:5:other:token')"},
    {RL_ROW_QREAD, "redis.call('ZADD', 'k', '1e300', 'r:5:other:token')"},
    {RL_ROW_QREAD, "redis.call('ZADD', 'k', '-inf', 'w:5:other:token')"},
    {RL_ROW_QWRITE, "redis.call('ZADD', 'k', 'inf', 'w:5:other:token')"},
    {RL_ROW_QWRITE, "redis.call('ZADD', 'k', 'inf', 'r:4:mine:token')"},
    {RL_ROW_FAIR, "redis.call('RPUSH', 'redisson_lock_queue:{k}', 'other')\n"
                  "redis.call('ZADD', 'redisson_lock_timeout:{k}', 'inf', 'other')"},
    {RL_ROW_FAIR, "redis.call('RPUSH', 'redisson_lock_queue:{k}', 'other')\n"
                  "redis.call('ZADD', 'redisson_lock_timeout:{k}', '-inf', 'other')"},
    {RL_ROW_FAIR, "redis.call('RPUSH', 'redisson_lock_queue:{k}', 'other')\n"
                  "redis.call('ZADD', 'redisson_lock_timeout:{k}', 'inf', 'other')\n"
                  "redis.call('ZADD', '{k}:redlock:seen', 'inf', 'other')\n"
                  "redis.call('PEXPIRE', '{k}:redlock:seen', 60000)"},
    {RL_ROW_PLAIN, "redis.call('SET', '{k}:redlock:broken', '9999999999999999 x', 'PX', 60000)"},
    {RL_ROW_REENTRANT, "redis.call('HSET', 'k', 'other', '999999999999999')\n"
                       "redis.call('PEXPIRE', 'k', 60000)"},
    {RL_ROW_WRITE, "redis.call('HSET', 'k', 'mode', 'read', 'other', '9999')\n"
                   "redis.call('PEXPIRE', 'k', 60000)"},
};

/* A time that is no number of ms would be nonsense to the client, which then has no use for the
 * whole master. */
TEST(foreign, numbers_at_their_end_give_replies_that_can_be_read, .rows = ROWS(numbers))
{
    talk_do(&talk_here, "FLUSHALL", (char *)NULL);
    struct wire_item item =
        talk_do(&talk_here, "EVAL", numbers[_i].made_by, "0", (char *)NULL);
    ck_assert_msg(item.type != '-', "%.*s", (int)item.len, item.bytes);
    for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (!has_verb(numbers[_i].row, steps[i].verb))
            continue;
        struct script_told told = run(numbers[_i].row, steps[i].verb, steps[i].who, steps[i].round);
        ck_assert_msg(told.type == '*', "verb %d: %s", (int)steps[i].verb, told.text);
        ck_assert_msg(told.left_ms >= -2 && told.left_ms <= 1000000000000001,
                      "verb %d: %lld ms", (int)steps[i].verb, (long long)told.left_ms);
        ck_assert_msg(!strstr(told.details, "inf") && !strstr(told.details, "nan"), "%s",
                      told.details);
    }
}

CASE(foreign, TALK_FIXTURES, .timeout_s = 60)
