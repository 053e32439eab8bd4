/* tags: long unsanitized */
/* test_scripts_reentrant.c - random operations of a few owners and tokens on locks of the
 * reentrant kind, of Redisson on the same ones, of time, and of people who put something else
 * there: every answer, and every message in a lock's channel, must be the model's. */
#include "config_auto.h"

#include "reentrant_model.h"

#include <stdio.h>
#include <string.h>

enum { LOCKS = 3, OWNERS = 4, TOKENS = 6, OPERATIONS = 100000 };

static const struct {
    const char *name, *holds, *channel;
} names[LOCKS] = {
    {"a", "{a}:redlock:holds", "redisson_lock__channel:{a}"},
    {"a b%s", "{a b%s}:redlock:holds", "redisson_lock__channel:{a b%s}"},
    {"{orders}:42", "{orders}:42{}:redlock:holds", "redisson_lock__channel:{orders}:42"},
};

/* Two threads of one client, another client, and somebody who is named by its caller. */
static const char *const owners[OWNERS] = {
    "8743c9c0-0795-4907-87fd-6c719a6b4586:1",
    "8743c9c0-0795-4907-87fd-6c719a6b4586:11",
    "00000000-0795-4907-87fd-6c719a6b4586:1",
    "{job} 7%s",
};

static struct reentrant lock[LOCKS];
static unsigned long peers, others, strange_holds;

/* ---- the library's scripts -------------------------------------------------------------- */

static void expect_message(struct frame *frame, unsigned i, bool published)
{
    struct talk_message messages[TALK_CALLS_MAX];
    unsigned count = frame_heard(frame, messages);
    FRAME_CHECK(frame, count == published);
    if (count > 0) {
        FRAME_CHECK(frame, strcmp(messages[0].channel, names[i].channel) == 0);
        FRAME_CHECK(frame, strcmp(messages[0].text, "0") == 0);
    }
}

/* Mostly who has it, and what is among the tokens; else whoever, and whatever. */
static void draw_call(struct frame *frame, unsigned i, struct reentrant_call *ret)
{
    const struct reentrant *at = &lock[i];
    ret->owner = owners[frame_draw(frame, OWNERS)];
    if (reentrant_held(at) && frame_draw(frame, 3) > 0)
        ret->owner = at->owner;
    ret->token = frame_draw(frame, TOKENS);
    if (at->tokens != 0 && frame_draw(frame, 2))
        while (!(at->tokens & 1u << ret->token))
            ret->token = frame_draw(frame, TOKENS);
    ret->ttl_ms = frame_draw_ttl(frame);
    ret->wakes = frame_draw(frame, 4) > 0;
}

static void run_script(struct frame *frame, unsigned i, enum rl_verb verb)
{
    struct reentrant_call call;
    struct span when;
    char owner[64], token[16];
    bool published;
    draw_call(frame, i, &call);
    snprintf(owner, sizeof(owner), "%s", call.owner); /* the model may forget it */
    call.owner = owner;
    snprintf(token, sizeof(token), "token-%u", call.token);
    struct script_call script = {
        .row = REDLOCK_REENTRANT,
        .name = names[i].name,
        .owner = owner,
        .token = token,
        .ttl_ms = call.ttl_ms,
        .reserve_ms = call.wakes ? 20 : 0,
    };
    struct script_told told = frame_run(frame, verb, &script, &when);
    call.said = told.yes;
    struct frame_answer expected = reentrant_run(&lock[i], verb, &call, when, &published);
    frame_compare(frame, &told, &expected);
    expect_message(frame, i, published);
}

/* ---- Redisson, with its own scripts ----------------------------------------------------- */

static const char peer_lock[] = "if ((redis.call('exists', KEYS[1]) == 0) or"
                                "    (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then"
                                "  redis.call('hincrby', KEYS[1], ARGV[2], 1);"
                                "  redis.call('pexpire', KEYS[1], ARGV[1]);"
                                "  return -1; end;"
                                "return redis.call('pttl', KEYS[1]);";
static const char peer_unlock[] =
    "if (redis.call('hexists', KEYS[1], ARGV[2]) == 0) then return -1; end;"
    "local counter = redis.call('hincrby', KEYS[1], ARGV[2], -1);"
    "if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[1]); return 0;"
    "else redis.call('del', KEYS[1]); redis.call('publish', KEYS[2], '0'); return 1; end;";
static const char peer_force[] =
    "if (redis.call('del', KEYS[1]) == 1) then redis.call('publish', KEYS[2], '0'); return 1;"
    "else return 0; end";

static void peer(struct frame *frame, unsigned i)
{
    static const unsigned weights[] = {5, 4, 1};
    static const char *const calls[] = {"lock()", "unlock()", "forceUnlock()"};
    struct reentrant *at = &lock[i];
    const char *owner = owners[frame_draw(frame, OWNERS)], *ttl = "7200000";
    bool published = false;
    if (reentrant_held(at) && frame_draw(frame, 2))
        owner = owners[frame_draw(frame, OWNERS)];
    unsigned what = frame_choose(frame, weights, 3);
    const char *script = what == 0 ? peer_lock : what == 1 ? peer_unlock : peer_force;
    snprintf(frame->doing, sizeof(frame->doing), "Redisson's %s of '%s' for '%s'", calls[what],
             names[i].name, owner);
    if (at->other[0])
        return; /* to Redisson's scripts that is an error */
    peers++;
    struct span when = {.low_ms = now_ms()};
    long long said = talk_do(&frame->talk, "EVAL", script, "2", names[i].name, names[i].channel,
                             ttl, owner, (char *)NULL)
                         .number;
    when.high_ms = now_ms() + 1;
    if (what == 0) {
        bool locked = reentrant_peer_lock(at, owner, 2 * HOUR_MS, when);
        FRAME_CHECK(frame, (said == -1) == locked);
    } else if (what == 1) {
        bool had = reentrant_peer_unlock(at, owner, 2 * HOUR_MS, when, &published);
        FRAME_CHECK(frame, said == (!had ? -1 : published ? 1 : 0));
    } else {
        published = reentrant_peer_force(at);
        FRAME_CHECK(frame, said == published);
    }
    expect_message(frame, i, published);
}

/* ---- what else may stand there ---------------------------------------------------------- */

static const struct {
    const char *what;
    const char *words[7];
} strange[] = {
    {"a string (a plain lock, or data)", {"SET", NULL, "value"}},
    {"a list", {"RPUSH", NULL, "value"}},
    {"a set", {"SADD", NULL, "value"}},
    {"a sorted set", {"ZADD", NULL, "1", "value"}},
    {"a stream", {"XADD", NULL, "*", "field", "value"}},
    {"a read-write lock of Redisson", {"HSET", NULL, "mode", "read"}},
    {"a read-write lock of Redisson",
     {"HSET", NULL, "mode", "read", "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "1"}},
    {"a hash that is no lock", {"HSET", NULL, "field", "value"}},
    {"a hash that is no lock", {"HSET", NULL, "{job} 7%s", "-1"}},
    {"a hash that is no lock", {"HSET", NULL, "{job} 7%s", "1.0"}},
    {"a hash that is no lock", {"HSET", NULL, "{job} 7%s", "1234567890123456"}},
    {"a hash that is no lock", {"HSET", NULL, "field", "1", "another", "1"}},
};

static void put_strange(struct frame *frame, unsigned which, const char *key)
{
    const char *words[7];
    size_t lens[7];
    unsigned count = 0;
    struct wire_item items[WIRE_ITEMS_MAX];
    for (; count < 7 && (count == 1 || strange[which].words[count]); count++) {
        words[count] = count == 1 ? key : strange[which].words[count];
        lens[count] = strlen(words[count]);
    }
    snprintf(frame->doing, sizeof(frame->doing), "%s comes to '%s'", words[0], key);
    FRAME_CHECK(frame, talk_ask(&frame->talk, count, words, lens, items) == 1);
    FRAME_CHECK(frame, items[0].type != '-');
}

/* Data comes, whatever was there, and goes again. */
static void other(struct frame *frame, unsigned i)
{
    struct reentrant *at = &lock[i];
    bool goes = at->other[0] != '\0';
    talk_do(&frame->talk, "DEL", names[i].name, (char *)NULL);
    reentrant_lock_gone(at);
    if (goes)
        return;
    unsigned which = frame_draw(frame, sizeof(strange) / sizeof(strange[0]));
    put_strange(frame, which, names[i].name);
    snprintf(at->other, sizeof(at->other), "%s", strange[which].what);
    at->life.for_ever = true;
    others++;
}

static void other_holds(struct frame *frame, unsigned i)
{
    static const unsigned kinds[] = {0, 1, 3, 6, 7};
    struct reentrant *at = &lock[i];
    talk_do(&frame->talk, "DEL", names[i].holds, (char *)NULL);
    if (at->holds_other[0]) {
        reentrant_holds_gone(at);
        return;
    }
    static const char *const said[] = {"a string", "a list", "a sorted set", "a hash",
                                       "a hash"};
    unsigned nth = frame_draw(frame, sizeof(kinds) / sizeof(kinds[0]));
    unsigned which = kinds[nth];
    reentrant_holds_gone(at);
    put_strange(frame, which, names[i].holds);
    snprintf(at->holds_other, sizeof(at->holds_other), "%s", said[nth]);
    strange_holds++;
}

/* ---- time, and all of it ---------------------------------------------------------------- */

static void run_out(struct frame *frame, unsigned i, unsigned which)
{
    struct reentrant *at = &lock[i];
    snprintf(frame->doing, sizeof(frame->doing), "'%s' runs out (%u)", names[i].name, which);
    if ((which & 1) && reentrant_held(at)) {
        frame_runs_out(frame, names[i].name);
        reentrant_lock_gone(at);
    }
    if ((which & 2) && at->tokens != 0) {
        frame_runs_out(frame, names[i].holds);
        reentrant_holds_gone(at);
    }
}

/* What ends in a moment is waited for. */
static void await_ends(struct frame *frame, unsigned i)
{
    struct reentrant *at = &lock[i];
    struct span when = {.low_ms = now_ms(), .high_ms = now_ms()};
    if (reentrant_held(at) && life_ends_soon(&at->life, when)) {
        frame_await_gone(frame, names[i].name);
        reentrant_lock_gone(at);
    }
    if (at->tokens != 0 && life_ends_soon(&at->holds_life, when)) {
        frame_await_gone(frame, names[i].holds);
        reentrant_holds_gone(at);
    }
}

/* All that the master has is what the model has. */
static void compare_keys(struct frame *frame, unsigned i)
{
    const struct reentrant *at = &lock[i];
    struct wire_item items[WIRE_ITEMS_MAX];
    const char *const words[] = {"HGETALL", names[i].name};
    const size_t lens[] = {7, strlen(names[i].name)};
    if (!at->other[0]) {
        char count[24];
        unsigned parts = talk_ask(&frame->talk, 2, words, lens, items);
        FRAME_CHECK(frame, parts == (reentrant_held(at) ? 3 : 1));
        snprintf(count, sizeof(count), "%ld", at->count);
        FRAME_CHECK(frame,
                    parts == 1 || (items[1].len == strlen(at->owner) &&
                                   memcmp(items[1].bytes, at->owner, items[1].len) == 0));
        FRAME_CHECK(frame, parts == 1 || (items[2].len == strlen(count) &&
                                          memcmp(items[2].bytes, count, items[2].len) == 0));
    }
    frame_compare_life(frame, names[i].name, !reentrant_free(at), &at->life);
    if (at->holds_other[0])
        return;
    for (unsigned token = 0; token < TOKENS; token++) {
        char text[16];
        snprintf(text, sizeof(text), "token-%u", token);
        long long in =
            talk_do(&frame->talk, "SISMEMBER", names[i].holds, text, (char *)NULL).number;
        FRAME_CHECK(frame, in == (at->tokens >> token & 1));
    }
    frame_compare_life(frame, names[i].holds, at->tokens != 0, &at->holds_life);
}

static void step(struct frame *frame)
{
    static const enum rl_verb verbs[] = {RL_ACQUIRE, RL_ACQUIRE_OR_QUEUE, RL_EXTEND,
                                         RL_RETAKE, RL_RELEASE};
    static const unsigned weights[] = {75, 36, 30, 24, 90, 24, 6, 3, 2, 1, 1};
    unsigned i = frame_draw(frame, LOCKS);
    unsigned what = frame_choose(frame, weights, sizeof(weights) / sizeof(weights[0]));
    if (what < 5)
        run_script(frame, i, verbs[what]);
    else if (what == 5)
        peer(frame, i);
    else if (what == 6)
        other(frame, i);
    else if (what == 7)
        other_holds(frame, i);
    else
        run_out(frame, i, what == 8 ? 3 : what == 9 ? 1 : 2);
    if (lock[i].other[0] && frame_draw(frame, 5) == 0)
        other(frame, i);
    if (lock[i].holds_other[0] && frame_draw(frame, 4) == 0)
        other_holds(frame, i);
    await_ends(frame, i);
    if (frame->operation % 16 == 0)
        compare_keys(frame, frame_draw(frame, LOCKS));
}

static void begin(struct frame *frame)
{
    for (unsigned i = 0; i < LOCKS; i++)
        frame_listen(frame, names[i].channel);
}

/* Whatever is there goes; then a lock is taken with all tokens and given back in some order,
 * and nothing stays. */
static void go(struct frame *frame)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        compare_keys(frame, i);
        talk_do(&frame->talk, "DEL", names[i].name, names[i].holds, (char *)NULL);
        for (unsigned nth = 0; nth < 2 * TOKENS; nth++) {
            char token[16];
            struct span when;
            struct script_call call = {
                .row = REDLOCK_REENTRANT,
                .name = names[i].name,
                .owner = owners[i],
                .token = token,
                .ttl_ms = HOUR_MS,
            };
            snprintf(token, sizeof(token), "token-%u", nth * 5 % TOKENS);
            enum rl_verb verb = nth < TOKENS ? RL_ACQUIRE : RL_RELEASE;
            FRAME_CHECK(frame, frame_run(frame, verb, &call, &when).yes == 1);
        }
    }
    ck_assert_int_eq(talk_do(&frame->talk, "DBSIZE", (char *)NULL).number, 0);
}

static void end(struct frame *frame)
{
    unsigned long least = frame->operations / 2500;
    go(frame);
    if (frame->operations < OPERATIONS)
        return;
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE][0], least);
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE][1], least);
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE][3], least);
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE_OR_QUEUE][0], least);
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE_OR_QUEUE][1], least);
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE_OR_QUEUE][3], least);
    for (int code = 0; code < 2; code++) {
        ck_assert_uint_gt(frame->codes[RL_EXTEND][code], least);
        ck_assert_uint_gt(frame->codes[RL_RETAKE][code], least);
        ck_assert_uint_gt(frame->codes[RL_RELEASE][code], least);
    }
    ck_assert_uint_gt(peers, least);
    ck_assert_uint_gt(others, least);
    ck_assert_uint_gt(strange_holds, least);
    ck_assert_uint_gt(frame->ran_out, least);
}

int main(void)
{
    static const struct frame_play play = {
        .name = "scripts_reentrant",
        .operations = OPERATIONS,
        .begin = begin,
        .step = step,
        .end = end,
    };
    return frame_main(&play);
}
