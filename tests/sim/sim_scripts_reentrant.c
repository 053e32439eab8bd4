/* sim_scripts_reentrant.c - the scripts of reentrant locks
 * (lib/kinds/reentrant/reentrant_*.lua), said in C. Held against the real ones on a real server
 * by test_sim_master_real. */
#include "config_auto.h"

#include "sim_reentrant.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char bad_arguments[] =
    "ERR Lua redis lib command arguments must be strings or integers";

enum { NO = 0, YES = 1, FOREIGN_DATA = -1, FAILED = -2 };

static struct sim_key *key_at(const struct sim_run *run, unsigned i)
{
    const struct sim_word *name = sim_keys_at(run, i);
    return name ? sim_script_key(run, name) : NULL;
}

/* redisson_count.lua. -1: it is none. */
static int64_t redisson_count(const struct sim_member *member)
{
    int64_t count = 0;
    if (member->value_len == 0 || member->value_len >= 16)
        return -1;
    for (size_t i = 0; i < member->value_len; i++) {
        if (!isdigit((unsigned char)member->value[i]))
            return -1;
        count = 10 * count + (member->value[i] - '0');
    }
    return count;
}

static const struct sim_member *field(const struct sim_key *key, const char *bytes, size_t len)
{
    size_t which = sim_member_find(key, bytes, len);
    return which < key->members ? &key->member[which] : NULL;
}

/* foreign_data.lua where that command has failed: FOREIGN_DATA, or how the script fails. */
static int foreign_data(struct sim_run *run, unsigned key, enum sim_type expected,
                        const char *error, const char *where)
{
    const char *type;
    if (error != sim_wrong_type) {
        sim_script_fail(run, where, error);
        return FAILED;
    }
    error = sim_script_type(run, sim_keys_at(run, key), &type);
    if (error) {
        sim_script_fail(run, "redis.call('TYPE'", error);
        return FAILED;
    }
    assert(strcmp(type, sim_type_name(expected)) != 0);
    return FOREIGN_DATA;
}

/* count_of_owner(); NO: not at all. */
static int64_t count_of_owner(struct sim_run *run)
{
    const struct sim_word *owner = sim_argv_at(run, 2);
    const struct sim_key *key = key_at(run, 1);
    const char *error = owner && sim_keys_at(run, 1) ? sim_script_enter(run, 0) : bad_arguments;
    if (!error && key && key->type != SIM_HASH)
        error = sim_wrong_type;
    if (error) {
        int other = foreign_data(run, 1, SIM_HASH, error, "redis.call('HMGET'");
        return other == FOREIGN_DATA ? NO : other;
    }
    if (!key || field(key, "mode", 4))
        return NO;
    const struct sim_member *own = field(key, owner->bytes, owner->len);
    int64_t count = own ? redisson_count(own) : -1;
    return count >= 0 ? count + 1 : NO; /* 0 is a count, too */
}

/* Is ARGV[3] among the tokens KEYS[2]? */
static int among_tokens(struct sim_run *run, unsigned flags)
{
    const struct sim_word *token = sim_argv_at(run, 3);
    const struct sim_key *key = key_at(run, 2);
    const char *error =
        token && sim_keys_at(run, 2) ? sim_script_enter(run, flags) : bad_arguments;
    if (!error && key && key->type != SIM_SET)
        error = sim_wrong_type;
    if (error)
        return foreign_data(run, 2, SIM_SET, error,
                            flags & SIM_WRITES ? "redis.call('SREM', KEYS[2]"
                                               : "redis.call('SISMEMBER', KEYS[2]");
    return key && field(key, token->bytes, token->len) ? YES : NO;
}

/* Who is counted beside the owner, and can't be any more when that has the lock; NULL: nobody.
 */
static const char *beside(const struct sim_run *run, const struct sim_key *key)
{
    const struct sim_word *owner = sim_argv_at(run, 2);
    for (size_t i = 0; i < key->members; i++) {
        const struct sim_member *member = &key->member[i];
        if (member->len != owner->len || memcmp(member->text, owner->bytes, owner->len) != 0)
            return member->text;
    }
    return NULL;
}

/* What the oracles are told of a token that comes or goes, as of a lock that is a string: one
 * that comes beside another owner's as if it took that one's place. */
static void tell(const struct sim_run *run, enum sim_change change, const char *token)
{
    struct sim_key key = *key_at(run, 1);
    key.type = SIM_STRING;
    if (change == SIM_TAKEN)
        sim_key_tell(&key, run->call, change, beside(run, &key), token);
    else
        sim_key_tell(&key, run->call, change, token, NULL);
}

/* The lock goes, and with it whatever tokens there still are. (Those that an
 * acquire takes out for stale have lost it before.) */
static void tell_deleted(const struct sim_run *run)
{
    const struct sim_key *tokens = key_at(run, 2);
    for (size_t i = 0; tokens && i < tokens->members; i++)
        tell(run, SIM_DELETED, tokens->member[i].text);
}

static bool at_least(struct sim_run *run, unsigned which)
{
    const struct sim_word *name = sim_keys_at(run, which), *ms = sim_argv_at(run, 4);
    int64_t left_ms;
    double wanted_ms;
    sim_script_pttl(run, name, &left_ms);
    if (!ms || !sim_lua_number(ms, &wanted_ms)) {
        sim_script_fail_lua(run, "redis.call('PTTL', key) <",
                            "attempt to compare number with nil");
        return false;
    }
    const char *error = (double)left_ms < wanted_ms ? sim_script_pexpire(run, name, ms) : NULL;
    if (error)
        sim_script_fail(run, "redis.call('PEXPIRE', key", error);
    return !error;
}

static bool set_count(struct sim_run *run, int64_t count, const char *where)
{
    char text[24];
    struct sim_key *key = key_at(run, 1);
    const char *error = sim_script_enter(run, SIM_WRITES | SIM_DENYOOM);
    if (error) {
        sim_script_fail(run, where, error);
        return false;
    }
    int len = snprintf(text, sizeof(text), "%lld", (long long)count);
    sim_member_set(run->call->server, run->call->db, sim_keys_at(run, 1), &key, SIM_HASH,
                   sim_argv_at(run, 2), &(struct sim_word){text, (size_t)len});
    return true;
}

/* ---- taking ---------------------------------------------------------------------------- */

static bool refused(struct sim_run *run, unsigned key, enum rl_code code, const char *text,
                    size_t len, struct sim_taken *ret)
{
    sim_script_pttl(run, sim_keys_at(run, key), &ret->left_ms);
    ret->code = code;
    ret->len = len;
    memcpy(ret->who, text, len);
    ret->who[len] = '\0';
    return true;
}

/* describe_key.lua */
static bool refused_and_described(struct sim_run *run, const struct sim_key *key,
                                  struct sim_taken *ret)
{
    char what[64];
    if (key->type == SIM_HASH && !field(key, "mode", 4) && key->members == 1 &&
        redisson_count(&key->member[0]) >= 0 && key->end_ms != SIM_NEVER)
        return refused(run, 1, RL_REFUSED, key->member[0].text, key->member[0].len, ret);
    if (key->type == SIM_HASH)
        snprintf(what, sizeof(what), "%s",
                 field(key, "mode", 4) ? "a read-write lock of Redisson"
                                       : "a hash that is no lock");
    else if (key->type == SIM_STRING)
        snprintf(what, sizeof(what), "a string (a plain lock, or data)");
    else
        snprintf(what, sizeof(what), "a %s",
                 key->type == SIM_ZSET ? "sorted set" : sim_type_name(key->type));
    return refused(run, 1, RL_REPLY_WRONGTYPE, what, strlen(what), ret);
}

static bool add(struct sim_run *run, int64_t count)
{
    static const struct sim_word none = {"", 0};
    struct sim_key *tokens;
    if (!set_count(run, count + 1, "redis.call('HINCRBY'"))
        return false;
    tokens = key_at(run, 2);
    sim_member_set(run->call->server, run->call->db, sim_keys_at(run, 2), &tokens, SIM_SET,
                   sim_argv_at(run, 3), &none);
    tell(run, SIM_TAKEN, sim_argv_at(run, 3)->bytes);
    return true;
}

bool sim_reentrant_take(struct sim_run *run, struct sim_taken *ret)
{
    static const char no_lock[] = "a hash that is no lock";
    static const char endless[] = "a set without an end under its name and :redlock:holds";
    int64_t count = count_of_owner(run);
    const struct sim_key *key = key_at(run, 1), *tokens;
    ret->code = RL_GRANTED;
    if (count == FAILED)
        return false;
    if (count == NO && key)
        return refused_and_described(run, key, ret);
    if (count != NO && (key->members > 1 || key->end_ms == SIM_NEVER))
        return refused(run, 1, RL_REPLY_WRONGTYPE, no_lock, sizeof(no_lock) - 1, ret);
    count = count == NO ? 0 : count - 1;
    int known = among_tokens(run, 0);
    if (known == FOREIGN_DATA) {
        char what[96];
        enum sim_type type = key_at(run, 2)->type;
        snprintf(what, sizeof(what), "a %s under its name and :redlock:holds",
                 type == SIM_ZSET ? "sorted set" : sim_type_name(type));
        return refused(run, 2, RL_REPLY_WRONGTYPE, what, strlen(what), ret);
    }
    if (known < 0)
        return false;
    tokens = key_at(run, 2);
    bool more = tokens && (int64_t)tokens->members > count;
    if (tokens && (more || known == NO) && tokens->end_ms == SIM_NEVER)
        return refused(run, 2, RL_REPLY_WRONGTYPE, endless, sizeof(endless) - 1, ret);
    if (more) {
        bool done;
        const char *error = sim_script_del(run, sim_keys_at(run, 2), &done);
        if (error) {
            sim_script_fail(run, "redis.call('DEL'", error);
            return false;
        }
        known = NO;
    }
    return (known == YES || add(run, count)) && at_least(run, 1) && at_least(run, 2);
}

void sim_taken_answer(struct sim_run *run, const struct sim_taken *taken, const int64_t *place)
{
    if (taken->code == RL_GRANTED)
        sim_script_answer(run, true);
    else
        sim_script_refuse(run, taken->code, taken->left_ms,
                          &(struct sim_word){taken->who, taken->len}, place);
}

static void acquire(struct sim_run *run)
{
    struct sim_taken taken;
    if (sim_reentrant_take(run, &taken))
        sim_taken_answer(run, &taken, NULL);
}

static void wait(struct sim_run *run)
{
    static const int64_t nowhere = -1;
    struct sim_taken taken;
    if (sim_reentrant_take(run, &taken))
        sim_taken_answer(run, &taken, &nowhere);
}

static void retake(struct sim_run *run)
{
    struct sim_taken taken;
    if (sim_reentrant_take(run, &taken))
        sim_script_answer(run, taken.code == RL_GRANTED);
}

/* ---- the rest -------------------------------------------------------------------------- */

/* give(): YES, NO or FAILED. */
static int give(struct sim_run *run)
{
    int64_t count = count_of_owner(run);
    if (count == FAILED || count == NO)
        return (int)count;
    int mine = among_tokens(run, SIM_WRITES);
    if (mine != YES)
        return mine == FAILED ? FAILED : NO;
    const struct sim_word *token = sim_argv_at(run, 3);
    struct sim_key *tokens = key_at(run, 2);
    tell(run, SIM_DELETED, token->bytes);
    sim_member_remove(tokens, sim_member_find(tokens, token->bytes, token->len));
    tokens = key_at(run, 2);
    int64_t left = tokens ? (int64_t)tokens->members : 0;
    count -= 2; /* as it was, less one */
    if (left > count)
        count = left;
    if (count > 0)
        return set_count(run, count, "redis.call('HSET'") ? YES : FAILED;
    tell_deleted(run);
    bool done;
    const char *error = sim_script_del(run, sim_keys_at(run, 1), &done);
    if (error)
        sim_script_fail(run, "redis.call('DEL'", error);
    return error ? FAILED : YES;
}

/* Does the lock end well before its tokens? False: the script has failed. */
static bool look_at_ends(struct sim_run *run, bool *ret_shortened)
{
    const struct sim_word *slack = sim_argv_at(run, 5);
    int64_t left_ms, tokens_left_ms;
    double slack_ms;
    *ret_shortened = false;
    sim_script_pttl(run, sim_keys_at(run, 1), &left_ms);
    if (left_ms < 0)
        return true;
    if (!slack || !sim_lua_number(slack, &slack_ms)) {
        sim_script_fail_lua(run, "if left >= 0",
                            slack
                                ? "attempt to perform arithmetic on field '?' (a string value)"
                                : "attempt to perform arithmetic on field '?' (a nil value)");
        return false;
    }
    sim_script_pttl(run, sim_keys_at(run, 2), &tokens_left_ms);
    *ret_shortened = (double)left_ms + slack_ms < (double)tokens_left_ms;
    return true;
}

static void extend(struct sim_run *run)
{
    bool shortened;
    int64_t count = count_of_owner(run);
    if (count == FAILED)
        return;
    int known = count == NO ? NO : among_tokens(run, 0);
    if (known == NO || known == FOREIGN_DATA)
        sim_script_answer(run, false);
    else if (known == YES && look_at_ends(run, &shortened) &&
             (shortened || (at_least(run, 1) && at_least(run, 2))))
        sim_script_answer(run, !shortened);
}

bool sim_reentrant_give(struct sim_run *run, bool *ret_mine)
{
    int mine = give(run);
    *ret_mine = mine == YES;
    return mine != FAILED;
}

static void release(struct sim_run *run)
{
    const struct sim_word *keep = sim_argv_at(run, 4);
    bool silent = keep && keep->len == 1 && keep->bytes[0] == '0', mine;
    if (!sim_reentrant_give(run, &mine))
        return;
    if (!silent && !key_at(run, 1))
        sim_script_publish(run, sim_keys_at(run, 3), "0");
    sim_script_answer(run, mine);
}

const struct sim_known_script sim_scripts_reentrant[] = {
    {"reentrant_acquire", acquire}, {"reentrant_wait", wait},
    {"reentrant_extend", extend},   {"reentrant_retake", retake},
    {"reentrant_release", release}, {NULL, NULL},
};
