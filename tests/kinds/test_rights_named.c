/* test_rights_named.c - each script, with each right that it uses taken away, whatever stands
 * there: where it fails, people are told the name of that right. */
#include "config_auto.h"

#include "node/request.h"
#include "kinds/name_set.h"
#include "kinds/script_error.h"
#include "script_talk.h"
#include "script_text.h"

#include <stdio.h>
#include <string.h>

static const char uuid[] = "01234567-89ab-cdef-0123-456789abcdef";
static const char others_uuid[] = "11234567-89ab-cdef-0123-456789abcdef";
static const char token[] = "0123456789abcdef0123456789abcdef:ann";
static const char others_token[] = "1123456789abcdef0123456789abcdef:bob";

static struct talk few; /* whose user lacks one right */

/* A script's request as the library sends it. Returns the first item of its answer. */
static struct wire_item send(struct talk *talk, const struct rl_kind *kind, enum rl_verb verb,
                             bool fenced, bool other)
{
    static const redlock_bytes names[] = {{.bytes = "k", .len = 1}, {.bytes = "m", .len = 1}};
    static char bytes[RL_REQUEST_MAX];
    static struct wire_item items[WIRE_ITEMS_MAX];
    const char *words[WIRE_ITEMS_MAX];
    size_t lens[WIRE_ITEMS_MAX];
    char packed[RL_NAMES_BYTES_MAX], why[160];
    struct rl_target target = {.kind = kind, .name = "k", .name_len = 1};
    target.owner = other ? "bob" : "ann";
    unsigned count;
    target.owner_len = 3;
    if (kind->several) {
        target.name = packed;
        target.name_len = rl_names_pack(names, 2, packed, why, sizeof(why));
    }
    struct rl_request request = {
        .target = &target,
        .script = verb,
        .token = other ? others_token : token,
        .token_len = sizeof(token) - 1,
        .ttl_ms = 60000,
        .uuid = other ? others_uuid : uuid,
        .waiter = 1,
        .age_us = 1000,
        .reserve_ms = 5000,
        .who = "here:1",
        .max_ttl_ms = 60000,
        .writer_waiting_ms = 4000,
        .fenced = fenced,
        .counter = 'F',
        .proposed = 1000,
        .ahead_us = 1000000,
        .counter_life_ms = 100000,
        .fencing_token = 1000,
    };
    memcpy(request.nonce, "0123456789abcdef", RL_NONCE_LEN);
    size_t len = rl_request_encode(&request, true, bytes);
    ck_assert_int_eq(wire_parse(bytes, len, items, &count), (long)len);
    for (unsigned i = 1; i < count; i++) {
        words[i - 1] = items[i].bytes;
        lens[i - 1] = items[i].len;
    }
    talk_ask(talk, count - 1, words, lens, items);
    return items[0];
}

enum stands { NOTHING, OWN, ANOTHERS, WAITED_FOR, STATES };

static bool has(const struct rl_kind *kind, enum rl_verb verb)
{
    return kind->script[verb].name != NULL;
}

static void prepare(const struct rl_kind *kind, enum stands stands, bool fenced)
{
    talk_do(&talk_here, "FLUSHALL", (char *)NULL);
    if (stands == NOTHING || !has(kind, RL_ACQUIRE))
        return;
    bool fences = fenced && rl_kind_fences(kind, RL_ACQUIRE);
    send(&talk_here, kind, RL_ACQUIRE, fences, stands == ANOTHERS);
    if (stands == WAITED_FOR)
        send(&talk_here, kind, RL_ACQUIRE_OR_QUEUE, fences, true);
}

/* The next command that the text calls; NULL: there is no other. */
static const char *next_command(const char **at, char ret_name[32])
{
    const char *call = strstr(*at, "call('");
    if (!call)
        return NULL;
    size_t len = strspn(call + 6, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    *at = call + 6 + len;
    snprintf(ret_name, 32, "%.*s", (int)len, call + 6);
    return ret_name;
}

/* Of what is said behind the message: "(HGET or HLEN in write_wait)". */
static bool names(const char *told, const char *right)
{
    char word[40];
    const char *at = strrchr(told, '('), *in = at ? strstr(at, " in ") : NULL;
    size_t len = (size_t)snprintf(word, sizeof(word), "%s ", right);
    for (; in && (at = strstr(at, word)) && at < in; at += len) {
        if (at[-1] == '(' || at[-1] == ' ')
            return true;
    }
    return false;
}

static unsigned failed;

static void try_without(const struct rl_kind *kind, enum rl_verb verb, bool fenced,
                        const char *right)
{
    const struct rl_script *script = &kind->script[verb];
    char rule[40], told[256], error[512];
    snprintf(rule, sizeof(rule), "-%s", right);
    talk_do(&talk_here, "ACL", "SETUSER", "few", "+@all", rule, (char *)NULL);
    for (int stands = 0; stands < STATES; stands++) {
        for (int other = 0; other < 2; other++) {
            prepare(kind, (enum stands)stands, fenced);
            struct wire_item answer = send(&few, kind, verb, fenced, other);
            if (answer.type != '-')
                continue;
            failed++;
            snprintf(error, sizeof(error), "%.*s", (int)answer.len, answer.bytes);
            rl_script_error(script, fenced, false, error, told, sizeof(told));
            ck_assert_msg(names(told, right), "%s%s without %s: %s", script->name,
                          fenced ? ", fenced" : "", right, told);
        }
    }
}

TEST(rights_named, right_that_lacks_is_named, .rows = RL_ROWS)
{
    static const char *const rules[] = {"~*", "&*", NULL};
    const struct rl_kind *kind = rl_kind(_i);
    talk_log_in(&talk_here, talk_masters, rules, &few);
    for (int verb = 0; verb < RL_VERBS; verb++) {
        for (int fenced = 0; fenced < 2; fenced++) {
            const struct rl_script *script = &kind->script[verb];
            const char *at = script_text(fenced ? script->fenced_body : script->body);
            char name[32];
            while (at && next_command(&at, name)) {
                if (*name)
                    try_without(kind, (enum rl_verb)verb, fenced, name);
            }
        }
    }
    ck_assert_uint_gt(failed, 50);
    talk_close(&few);
}

CASE(rights_named, TALK_FIXTURES, .timeout_s = 120)
