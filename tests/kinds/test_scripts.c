/* tags: source */
/* test_scripts.c - the scripts: what is embedded is what the files say, their names are the
 * server's own, and on a real server each does what its first lines promise. */
#include "config_auto.h"

#include "base/sha1.h"
#include "kinds/kind.h"
#include "kinds/marker.h"
#include "script_talk.h"
#include "script_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rl_script *script_of(int verb)
{
    bool any = verb == RL_INSPECT || verb == RL_FORCE;
    return &rl_kind(any ? RL_ROW_ANY : RL_ROW_PLAIN)->script[verb];
}

/* ---- the texts ------------------------------------------------------------------------- */

/* The lines of lib/kinds/NAME.lua onto the end of `text`, with what they include and without
 * comments. NAME has the folder in it. */
static size_t append_file(const char *name, bool included, size_t len, char text[8192])
{
    static const char include[] = "-- include ";
    const char *srcdir = getenv("srcdir");
    char path[512], line[512];
    snprintf(path, sizeof(path), "%s/lib/kinds/%s.lua", srcdir ? srcdir : ".", name);
    FILE *file = fopen(path, "re");
    ck_assert_msg(file, "%s can't be read", path);
    while (fgets(line, sizeof(line), file)) {
        size_t line_len = strlen(line);
        ck_assert(line_len > 0 && line[line_len - 1] == '\n');
        if (strncmp(line, include, strlen(include)) == 0) {
            ck_assert(!included); /* parts include no parts: embed.awk doesn't */
            line[line_len - 1] = '\0';
            len = append_file(line + strlen(include), true, len, text);
            continue;
        }
        if (strncmp(line, "-- ", 3) == 0)
            continue;
        ck_assert_uint_lt(len + line_len, 8192);
        memcpy(text + len, line, line_len);
        len += line_len;
    }
    ck_assert(feof(file));
    fclose(file);
    return len;
}

TEST(texts, embedded_text_is_files, .rows = RL_VERBS)
{
    const struct rl_script *script = script_of(_i);
    char text[8192];
    const char *folder = strncmp(script->name, "plain", 5) == 0 ? "plain" : "shared";
    char name[64];
    snprintf(name, sizeof(name), "%s/%s", folder, script->name);
    size_t len = append_file(name, false, 0, text);
    ck_assert_uint_gt(len, 0);
    const char *body = script_text(script->body);
    ck_assert_uint_eq(strlen(body), len);
    ck_assert_mem_eq(body, text, len);
}

static void expect_sum(const char *before, const char *const *parts, const char *sha)
{
    char text[32768], sum[RL_SHA1_TEXT];
    int len = snprintf(text, sizeof(text), "%s%s", before, script_text(parts));
    ck_assert(len > 0 && (size_t)len < sizeof(text));
    ck_assert_int_eq(rl_sha1_text(text, sum), 0);
    ck_assert_str_eq(sha, sum);
}

/* The build sums up the whole text, and what is sent are its parts. */
TEST(texts, parts_are_text_that_is_summed_up, .rows = RL_ROWS)
{
    const struct rl_kind *kind = rl_kind(_i);
    for (int verb = 0; verb < RL_VERBS; verb++) {
        const struct rl_script *script = &kind->script[verb];
        if (!script->name)
            continue;
        expect_sum("", script->body, script->sha);
        if (script->strict_sha)
            expect_sum(rl_marker_strict, script->body, script->strict_sha);
        if (script->fenced_body) {
            expect_sum("", script->fenced_body, script->fenced_sha);
            expect_sum(rl_marker_strict, script->fenced_body, script->fenced_strict_sha);
        }
    }
}

/* Arguments come in as data, never into the text: no script is ever made at run time. */
TEST(texts, texts_are_ascii_and_end_in_newline, .rows = RL_VERBS)
{
    const char *body = script_text(script_of(_i)->body);
    for (const char *at = body; *at; at++)
        ck_assert(*at == '\n' || (*at >= ' ' && *at <= '~'));
    ck_assert_int_eq(body[strlen(body) - 1], '\n');
    ck_assert_uint_lt(strlen(body), 8192); /* as far as these tests have room */
}

/* ---- on a server ----------------------------------------------------------------------- */

/* Behind marker_strict.lua. */
static void expect_strict_name(const char *sha, const char *body)
{
    char text[16384];
    if (!sha)
        return;
    int len = snprintf(text, sizeof(text), "%s%s", rl_marker_strict, body);
    ck_assert(len > 0 && (size_t)len < sizeof(text));
    ck_assert_str_eq(sha,
                     master_do(talk_masters, 0, "SCRIPT", "LOAD", text, (char *)NULL).text);
}

/* EVALSHA's name as the build has computed it, and as the server does: of every kind. */
TEST(server, names_are_servers, .rows = RL_ROWS)
{
    const struct rl_kind *kind = rl_kind(_i);
    for (int verb = 0; kind && verb < RL_VERBS; verb++) {
        const struct rl_script *script = &kind->script[verb];
        if (!script->name)
            continue;
        struct reply reply = master_do(talk_masters, 0, "SCRIPT", "LOAD",
                                       script_text(script->body), (char *)NULL);
        ck_assert_int_eq(reply.type, '$');
        ck_assert_str_eq(script->sha, reply.text);
        expect_strict_name(script->strict_sha, script_text(script->body));
        ck_assert_int_eq(script->strict_sha != NULL,
                         verb == RL_ACQUIRE || verb == RL_ACQUIRE_OR_QUEUE ||
                             verb == RL_EXTEND || verb == RL_RETAKE);
        if (!script->fenced_body)
            continue;
        const char *fenced = script_text(script->fenced_body);
        reply = master_do(talk_masters, 0, "SCRIPT", "LOAD", fenced, (char *)NULL);
        ck_assert_str_eq(script->fenced_sha, reply.text);
        ck_assert_ptr_nonnull(script->fenced_strict_sha);
        expect_strict_name(script->fenced_strict_sha, fenced);
    }
}

/* The lock is "k", and who waits for it is always the same. */
#define WAITER "11111111-2222-3333-4444-555555555555:1"
#define QUEUE "{k}" RL_QUEUE_SUFFIX

static struct script_told run(int verb, const char *token, int64_t ttl_ms)
{
    struct script_call call = {
        .name = "k",
        .token = token,
        .ttl_ms = ttl_ms,
        .waiter = WAITER,
        .age_us = 1000,
        .queue_ms = 30000,
        .reserve_ms = 20000,
    };
    return script_run(&talk_here, (enum rl_verb)verb, &call);
}

/* Two elements: the nonce, and this. */
static void expect(struct script_told told, int yes)
{
    ck_assert_msg(told.type == '*', "%s", told.text);
    ck_assert_uint_eq(told.parts, 2);
    ck_assert_int_eq(told.yes, yes);
}

#define TOOK 1
#define REFUSED 0

/* What an inspection says of a lock that nobody has. */
static void expect_free(void)
{
    struct script_told told = run(RL_INSPECT, NULL, 0);
    ck_assert_uint_eq(told.parts, 5);
    ck_assert_int_eq(told.yes, 1);
    ck_assert_int_eq(told.left_ms, -2);
    ck_assert_uint_eq(told.holder_len, 0);
}

/* A no that tells a TTL just below `ttl_ms` and the holder; of plain_wait, a place too. */
static void expect_holder(struct script_told told, int64_t ttl_ms, const char *holder)
{
    ck_assert_msg(told.type == '*', "%s", told.text);
    ck_assert_uint_eq(told.parts, told.details_len > 0 ? 5 : 4); /* of an inspection */
    ck_assert_int_eq(told.yes, 0);
    ck_assert_int_le(told.left_ms, ttl_ms);
    ck_assert_int_gt(told.left_ms, ttl_ms < 0 ? ttl_ms - 1 : ttl_ms - 5000);
    ck_assert_str_eq(told.holder, holder);
}

static void expect_place(struct script_told told, int64_t ttl_ms, const char *holder, int place)
{
    ck_assert_uint_eq(told.parts, 5);
    ck_assert_int_eq(told.place, place);
    told.parts = 4;
    expect_holder(told, ttl_ms, holder);
}

static int64_t left_ms(void)
{
    return talk_do(&talk_here, "PTTL", "k", (char *)NULL).number;
}

static bool queued(void)
{
    return talk_do(&talk_here, "ZSCORE", QUEUE, WAITER, (char *)NULL).number >= 0;
}

TEST(server, acquire_takes_free_lock_and_names_holder)
{
    expect(run(RL_ACQUIRE, "me", 60000), TOOK);
    ck_assert_int_le(left_ms(), 60000);
    ck_assert_int_gt(left_ms(), 55000);
    expect_holder(run(RL_ACQUIRE, "you", 60000), 60000, "me");
    expect_holder(run(RL_ACQUIRE, "me", 90000), 60000, "me"); /* its own too: CE14, CE16 */
    talk_do(&talk_here, "SET", "k", "them", (char *)NULL);
    expect_holder(run(RL_ACQUIRE, "me", 60000), -1, "them"); /* for ever */
}

TEST(server, extend_is_upwards_only_and_for_its_holder)
{
    expect(run(RL_EXTEND, "me", 60000), REFUSED); /* nobody's */
    expect(run(RL_ACQUIRE, "me", 60000), TOOK);
    expect(run(RL_EXTEND, "you", 90000), REFUSED);
    ck_assert_int_le(left_ms(), 60000);
    expect(run(RL_EXTEND, "me", 90000), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    expect(run(RL_EXTEND, "me", 1000), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
}

TEST(server, retake_takes_free_lock_too)
{
    expect(run(RL_RETAKE, "me", 60000), TOOK);
    ck_assert_int_gt(left_ms(), 55000);
    expect(run(RL_RETAKE, "me", 90000), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    expect(run(RL_RETAKE, "me", 1000), TOOK);
    ck_assert_int_gt(left_ms(), 85000);
    expect(run(RL_RETAKE, "you", 90000), REFUSED);
    expect_holder(run(RL_INSPECT, NULL, 0), 90000, "me");
}

/* CE19: only the token's own key is deleted. */
TEST(server, release_deletes_ones_own)
{
    expect(run(RL_RELEASE, "me", 0), REFUSED);
    expect(run(RL_ACQUIRE, "me", 60000), TOOK);
    expect(run(RL_RELEASE, "you", 0), REFUSED);
    expect(run(RL_RELEASE, "m", 0), REFUSED);
    expect_holder(run(RL_INSPECT, NULL, 0), 60000, "me");
    expect(run(RL_RELEASE, "me", 0), TOOK);
    expect(run(RL_RELEASE, "me", 0), REFUSED);
    ck_assert_int_eq(left_ms(), -2);
}

TEST(server, inspect_looks_and_force_deletes)
{
    expect_free();
    expect(run(RL_FORCE, NULL, 0), REFUSED);
    expect(run(RL_ACQUIRE, "me", 60000), TOOK);
    expect_holder(run(RL_INSPECT, NULL, 0), 60000, "me");
    expect(run(RL_FORCE, NULL, 0), TOOK);
    ck_assert_int_eq(left_ms(), -2);
}

TEST(server, wait_takes_free_lock_and_queues_refused_waiters)
{
    expect(run(RL_ACQUIRE_OR_QUEUE, "me", 60000), TOOK);
    ck_assert_int_gt(left_ms(), 55000);
    ck_assert(!queued());
    expect_place(run(RL_ACQUIRE_OR_QUEUE, "you", 60000), 60000, "me", 0);
    ck_assert(queued());
    expect_place(run(RL_ACQUIRE_OR_QUEUE, "me", 90000), 60000, "me",
                 0); /* its own too: CE14, CE16 */
    talk_do(&talk_here, "DEL", "k", (char *)NULL);
    expect(run(RL_ACQUIRE_OR_QUEUE, "you", 60000), TOOK);
    ck_assert(!queued());
    talk_do(&talk_here, "SET", "k", "them", (char *)NULL);
    expect_place(run(RL_ACQUIRE_OR_QUEUE, "me", 60000), -1, "them", 0); /* for ever */
}

TEST(server, leave_leaves_queue_and_nothing_else)
{
    expect(run(RL_DEQUEUE, NULL, 0), TOOK); /* was not even there */
    expect(run(RL_ACQUIRE, "me", 60000), TOOK);
    expect_place(run(RL_ACQUIRE_OR_QUEUE, "you", 60000), 60000, "me", 0);
    expect(run(RL_DEQUEUE, NULL, 0), TOOK);
    ck_assert(!queued());
    expect_holder(run(RL_INSPECT, NULL, 0), 60000, "me");
}

TEST(server, release_and_force_wake_waiters_and_reserve_lock, .first = RL_RELEASE,
     .rows = RL_RELEASE + 1)
{
    struct talk listener;
    talk_open(&listener, talk_masters, 0);
    talk_listen(&listener, WAITER);
    expect(run(RL_ACQUIRE, "me", 60000), TOOK);
    expect_place(run(RL_ACQUIRE_OR_QUEUE, "you", 60000), 60000, "me", 0);
    expect(run(_i, "me", 0), TOOK);
    ck_assert_str_eq(talk_called(&listener), WAITER);
    ck_assert(!queued());
    expect_holder(run(RL_INSPECT, NULL, 0), 20000, RL_RESERVED_PREFIX WAITER);
    expect(run(RL_ACQUIRE_OR_QUEUE, "you", 60000), TOOK);
    expect_holder(run(RL_INSPECT, NULL, 0), 60000, "you");
    talk_close(&listener);
}

/* Somebody's data under the name is told to who wants it, looks at it or would delete it, is
 * nobody's lock to every other verb, and stays. */
TEST(server, data_of_another_type_is_left_alone, .rows = RL_VERBS)
{
    talk_do(&talk_here, "RPUSH", "k", "data", (char *)NULL);
    struct script_told told = run(_i, "me", 60000);
    if (_i == RL_ACQUIRE || _i == RL_ACQUIRE_OR_QUEUE) {
        ck_assert_int_eq(told.yes, RL_REPLY_WRONGTYPE);
        ck_assert_int_eq(told.left_ms, -1);
        ck_assert_str_eq(told.holder, "a list");
        ck_assert_uint_eq(told.parts, _i == RL_ACQUIRE_OR_QUEUE ? 5 : 4);
    } else if (_i == RL_INSPECT || _i == RL_FORCE) {
        ck_assert_int_eq(told.yes, _i == RL_FORCE ? RL_REPLY_WRONGTYPE : RL_REFUSED);
        ck_assert_int_eq(told.left_ms, -1);
        ck_assert_str_eq(told.holder, "a list that is no lock");
        ck_assert_uint_eq(told.parts, _i == RL_INSPECT ? 5 : 4);
    } else {
        ck_assert_int_eq(told.type, '*');
        ck_assert_int_eq(told.yes, _i == RL_DEQUEUE);
    }
    ck_assert_int_eq(talk_do(&talk_here, "LLEN", "k", (char *)NULL).number, 1);
    ck_assert_int_eq(left_ms(), -1);
    ck_assert_int_eq(talk_do(&talk_here, "DBSIZE", (char *)NULL).number, 1);
}

CASE(server, TALK_FIXTURES, .timeout_s = 30)
ALSO(server, release_and_force_wake_waiters_and_reserve_lock, .first = RL_FORCE,
     .rows = RL_FORCE + 1)
