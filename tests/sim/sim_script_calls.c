/* sim_script_calls.c - what the scripts of the library call, in Redis's order of checks, and
 * how a script's errors and replies look. */
#include "config_auto.h"

#include "sim_script_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char bad_arguments[] =
    "ERR Lua redis lib command arguments must be strings or integers";

/* May the script call such a command? From the first write on, some refusals are over. */
const char *sim_script_enter(struct sim_run *run, unsigned flags)
{
    const char *error = sim_trouble_refuses(run->call, flags, true);
    if (!error && flags & SIM_WRITES)
        run->call->dirty = true;
    return error;
}

struct sim_key *sim_script_key(const struct sim_run *run, const struct sim_word *name)
{
    return sim_key_find(run->call->server, run->call->db, name->bytes, name->len);
}

const char *sim_script_get(struct sim_run *run, const struct sim_word *name,
                           const struct sim_key **ret_key)
{
    if (!name)
        return bad_arguments;
    const char *error = sim_script_enter(run, 0);
    if (error)
        return error;
    *ret_key = sim_script_key(run, name);
    return *ret_key && (*ret_key)->type != SIM_STRING ? sim_wrong_type : NULL;
}

const char *sim_script_type(struct sim_run *run, const struct sim_word *name,
                            const char **ret_type)
{
    if (!name)
        return bad_arguments;
    const char *error = sim_script_enter(run, 0);
    if (error)
        return error;
    const struct sim_key *key = sim_script_key(run, name);
    *ret_type = key ? sim_type_name(key->type) : "none";
    return NULL;
}

const char *sim_script_set(struct sim_run *run, const struct sim_word *name,
                           const struct sim_word *value, const struct sim_word *ttl,
                           bool if_absent, bool *ret_done)
{
    int64_t ttl_ms, end_ms;
    if (!name || !value || !ttl)
        return bad_arguments;
    const char *error = sim_script_enter(run, SIM_WRITES | SIM_DENYOOM);
    if (error)
        return error;
    if (!sim_word_integer(ttl, &ttl_ms))
        return sim_not_integer;
    if (ttl_ms <= 0 || !sim_end_ms(run->call, ttl_ms, &end_ms))
        return "ERR invalid expire time in 'set' command";
    *ret_done = !if_absent || !sim_script_key(run, name);
    if (*ret_done)
        sim_key_set(run->call->server, run->call, name, value, end_ms);
    return NULL;
}

const char *sim_script_set_for_ever(struct sim_run *run, const struct sim_word *name,
                                    const struct sim_word *value)
{
    if (!name || !value)
        return bad_arguments;
    const char *error = sim_script_enter(run, SIM_WRITES | SIM_DENYOOM);
    if (!error)
        sim_key_set(run->call->server, run->call, name, value, SIM_NEVER);
    return error;
}

const char *sim_script_del(struct sim_run *run, const struct sim_word *name, bool *ret_there)
{
    if (!name)
        return bad_arguments;
    const char *error = sim_script_enter(run, SIM_WRITES);
    if (error)
        return error;
    struct sim_key *key = sim_script_key(run, name);
    *ret_there = key != NULL;
    if (key)
        sim_key_delete(key, run->call, SIM_DELETED);
    return NULL;
}

const char *sim_script_pttl(struct sim_run *run, const struct sim_word *name,
                            int64_t *ret_left_ms)
{
    if (!name)
        return bad_arguments;
    const char *error = sim_script_enter(run, 0);
    if (error)
        return error;
    const struct sim_key *key = sim_script_key(run, name);
    *ret_left_ms = !key ? -2 : key->end_ms == SIM_NEVER ? -1 : key->end_ms - run->call->now_ms;
    return NULL;
}

const char *sim_script_pexpire(struct sim_run *run, const struct sim_word *name,
                               const struct sim_word *ttl)
{
    int64_t ttl_ms, end_ms;
    if (!name || !ttl)
        return bad_arguments;
    const char *error = sim_script_enter(run, SIM_WRITES);
    if (error)
        return error;
    if (!sim_word_integer(ttl, &ttl_ms))
        return sim_not_integer;
    if (!sim_end_ms(run->call, ttl_ms, &end_ms))
        return "ERR invalid expire time in 'pexpire' command";
    struct sim_key *key = sim_script_key(run, name);
    if (key && end_ms <= run->call->now_ms)
        sim_key_delete(key, run->call, SIM_DELETED);
    else if (key)
        sim_key_end(key, run->call, end_ms);
    return NULL;
}

const char *sim_script_pexpireat(struct sim_run *run, const struct sim_word *name, double at_ms)
{
    char text[400];
    int64_t end_ms;
    const char *error = sim_script_enter(run, SIM_WRITES);
    if (error)
        return error;
    if (at_ms >= 1 && at_ms < 1e15 && (double)(int64_t)at_ms == at_ms) {
        end_ms = (int64_t)at_ms; /* nearly always: no need of digits */
    } else {
        int len = snprintf(text, sizeof(text), "%.0f", at_ms);
        if (!sim_word_integer(&(struct sim_word){text, (size_t)len}, &end_ms))
            return sim_not_integer;
    }
    struct sim_key *key = sim_script_key(run, name);
    if (key && end_ms <= run->call->now_ms)
        sim_key_delete(key, run->call, SIM_DELETED);
    else if (key)
        sim_key_end(key, run->call, end_ms);
    return NULL;
}

void sim_script_publish(struct sim_run *run, const struct sim_word *channel, const char *text)
{
    if (channel)
        sim_publish(run->call->server, channel, &(struct sim_word){text, strlen(text)});
}

/* ---- sorted sets, messages -------------------------------------------------------------- */

static const char *find_set(struct sim_run *run, unsigned flags, const struct sim_word *name,
                            struct sim_key **ret_key)
{
    if (!name)
        return bad_arguments;
    const char *error = sim_script_enter(run, flags);
    if (error)
        return error;
    *ret_key = sim_script_key(run, name);
    return *ret_key && (*ret_key)->type != SIM_ZSET ? sim_wrong_type : NULL;
}

const char *sim_script_zadd(struct sim_run *run, const struct sim_word *name, double score,
                            const struct sim_word *member)
{
    struct sim_key *key;
    const char *error = find_set(run, SIM_WRITES | SIM_DENYOOM, name, &key);
    if (!error && score != score)
        error = sim_not_float;
    if (!error)
        sim_member_put(run->call->server, run->call->db, name, &key, score, member->bytes,
                       member->len);
    return error;
}

const char *sim_script_zrem(struct sim_run *run, const struct sim_word *name,
                            const struct sim_word *member, bool *ret_there)
{
    struct sim_key *key;
    const char *error = member ? find_set(run, SIM_WRITES, name, &key) : bad_arguments;
    *ret_there = false;
    if (error || !key)
        return error;
    size_t which = sim_member_find(key, member->bytes, member->len);
    *ret_there = which < key->members;
    if (*ret_there)
        sim_member_remove(key, which);
    return NULL;
}

const char *sim_script_zrank(struct sim_run *run, const struct sim_word *name,
                             const struct sim_word *member, int64_t *ret_rank)
{
    struct sim_key *key;
    const char *error = find_set(run, 0, name, &key);
    *ret_rank = -1;
    if (error || !key)
        return error;
    size_t which = sim_member_find(key, member->bytes, member->len);
    if (which < key->members)
        *ret_rank = (int64_t)which;
    return NULL;
}

const char *sim_script_head(struct sim_run *run, const struct sim_word *name,
                            const struct sim_member **ret_member)
{
    struct sim_key *key;
    const char *error = find_set(run, 0, name, &key);
    *ret_member = error || !key ? NULL : &key->member[0];
    return error;
}

const char *sim_script_first(struct sim_run *run, const struct sim_word *name,
                             char ret_text[SIM_MEMBER_MAX + 1], struct sim_word *ret_member)
{
    struct sim_key *key;
    const char *error = find_set(run, 0, name, &key);
    *ret_member = (struct sim_word){NULL, 0};
    if (error || !key)
        return error;
    memcpy(ret_text, key->member[0].text, key->member[0].len + 1);
    *ret_member = (struct sim_word){ret_text, key->member[0].len};
    return NULL;
}

/* ---- numbers --------------------------------------------------------------------------- */

bool sim_lua_number(const struct sim_word *word, double *ret)
{
    char *end;
    int64_t integer;
    if (sim_word_integer(word, &integer)) { /* nearly all are */
        *ret = (double)integer;
        return true;
    }
    *ret = strtod(word->bytes, &end);
    if (end == word->bytes)
        return false;
    while (isspace((unsigned char)*end))
        end++;
    return *end == '\0';
}

double sim_lua_whole(double number)
{
    const double big = 4503599627370496.0; /* from here on there are no fractions */
    if (!(number > -big && number < big))
        return number;
    return number < 0 ? number - big + big : number + big - big;
}

/* ---- how it ends ------------------------------------------------------------------------ */

static int line_of(const struct sim_run *run, const char *where)
{
    const char *at = strstr(run->body, where);
    assert(at && "the script has changed, and its model has not");
    int line = 1;
    for (const char *c = run->body; c < at; c++)
        line += *c == '\n';
    return line;
}

void sim_script_fail(struct sim_run *run, const char *where, const char *error)
{
    char text[768];
    snprintf(text, sizeof(text), "%s script: %s, on @user_script:%d.", error, run->sha,
             line_of(run, where));
    sim_put_error(run->call->out, text);
}

void sim_script_fail_lua(struct sim_run *run, const char *where, const char *error)
{
    char text[256];
    snprintf(text, sizeof(text), "ERR user_script:%d: %s", line_of(run, where), error);
    sim_script_fail(run, where, text);
}

static void note_answer(struct sim_run *run, int code)
{
    run->answered = true;
    run->yes = code == RL_GRANTED;
    run->code = code;
}

/* What the answer begins with. */
static struct sim_word proof_of(const struct sim_run *run)
{
    const struct sim_word *nonce = sim_argv_at(run, 1);
    assert(nonce); /* Lua would fail */
    size_t from = run->echoes && nonce->len > 0;
    return (struct sim_word){nonce->bytes + from, nonce->len - from};
}

static void begin_answer(struct sim_run *run, size_t parts, int code)
{
    const struct sim_word proof = proof_of(run);
    struct sim_text *out = run->call->out;
    char text[1024];
    assert(proof.len < sizeof(text));
    memcpy(text, proof.bytes, proof.len);
    text[proof.len] = '-';
    note_answer(run, code);
    sim_put_array(out, parts);
    sim_put_bulk(out, text, proof.len + 1);
    sim_put_integer(out, code);
}

/* The nonce alone: yes. */
static void grant(struct sim_run *run)
{
    const struct sim_word proof = proof_of(run);
    note_answer(run, RL_GRANTED);
    sim_put_bulk(run->call->out, proof.bytes, proof.len);
}

void sim_script_answer(struct sim_run *run, bool yes)
{
    if (yes)
        grant(run);
    else
        begin_answer(run, 2, RL_REFUSED);
}

void sim_script_answer_code(struct sim_run *run, enum rl_code code)
{
    begin_answer(run, 2, (int)code);
}

void sim_script_answer_number(struct sim_run *run, int64_t number)
{
    begin_answer(run, 3, RL_GRANTED);
    sim_put_integer(run->call->out, number);
}

void sim_script_refuse(struct sim_run *run, enum rl_code code, int64_t left_ms,
                       const struct sim_word *holder, const int64_t *place)
{
    struct sim_text *out = run->call->out;
    size_t len = holder->len < sizeof(run->holder) ? holder->len : sizeof(run->holder) - 1;
    memcpy(run->holder, holder->bytes, len);
    run->holder[len] = '\0';
    run->left_ms = left_ms;
    run->place = place ? *place : -1;
    begin_answer(run, place ? 5 : 4, (int)code);
    sim_put_integer(out, left_ms);
    sim_put_bulk(out, holder->bytes, holder->len);
    if (place)
        sim_put_integer(out, *place);
}

void sim_script_foreign_data(struct sim_run *run, const struct sim_word *name,
                             const char *expected, const char *error, const int64_t *place)
{
    const char *type, *may_be = "";
    char what[64];
    int64_t left_ms;
    bool plain = strcmp(expected, "string") == 0; /* foreign_kind.lua */
    if (error != sim_wrong_type) {
        sim_script_fail(run, plain ? "redis.call('GET'" : "redis.call('ZRANGE'", error);
        return;
    }
    if (!(error = sim_script_type(run, name, &type)))
        error = sim_script_pttl(run, name, &left_ms);
    if (error) {
        sim_script_fail(run, "redis.call('TYPE'", error);
        return;
    }
    assert(strcmp(type, expected) != 0);
    if (plain && strcmp(type, "hash") == 0)
        may_be = " (a reentrant, fair or read-write lock, or data)";
    else if (plain && strcmp(type, "zset") == 0)
        may_be = " (a read-write lock, or data)";
    snprintf(what, sizeof(what), "a %s%s", strcmp(type, "zset") == 0 ? "sorted set" : type,
             may_be);
    sim_script_refuse(run, RL_REPLY_WRONGTYPE, left_ms, &(struct sim_word){what, strlen(what)},
                      place);
}
