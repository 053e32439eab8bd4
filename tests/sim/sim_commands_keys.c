/* sim_commands_keys.c - Redis's own commands on keys, as far as tests and peers use them. */
#include "config_auto.h"

#include "sim_master_parts.h"

static struct sim_key *find(const struct sim_call *call, unsigned word)
{
    const struct sim_word *name = &call->word[word];
    return sim_key_find(call->server, call->db, name->bytes, name->len);
}

bool sim_end_ms(const struct sim_call *call, int64_t ttl_ms, int64_t *ret_end_ms)
{
    if (ttl_ms > 0 && ttl_ms > INT64_MAX - call->now_ms)
        return false;
    if (ttl_ms < 0 && ttl_ms < INT64_MIN + call->now_ms)
        return false;
    *ret_end_ms = call->now_ms + ttl_ms;
    return true;
}

/* ---- strings --------------------------------------------------------------------------- */

static void run_get(struct sim_call *call)
{
    if (sim_server_dies_before(call->server, "get"))
        return;
    const struct sim_key *key = find(call, 1);
    if (!key)
        sim_put_nil(call->out);
    else if (key->type != SIM_STRING)
        sim_put_error(call->out, sim_wrong_type);
    else
        sim_put_bulk(call->out, key->value.bytes, key->value.len);
}

struct set_options {
    bool nx, xx, get, keep;
    bool seconds;
    unsigned ttl; /* which word; 0: none */
};

static bool read_set_options(const struct sim_call *call, struct set_options *options)
{
    *options = (struct set_options){0};
    for (unsigned i = 3; i < call->words; i++) {
        const struct sim_word *word = &call->word[i];
        bool ex = sim_word_is(word, "EX"), px = sim_word_is(word, "PX");
        if (sim_word_is(word, "NX") && !options->xx)
            options->nx = true;
        else if (sim_word_is(word, "XX") && !options->nx)
            options->xx = true;
        else if (sim_word_is(word, "GET"))
            options->get = true;
        else if (sim_word_is(word, "KEEPTTL") && !options->ttl)
            options->keep = true;
        else if ((ex || px) && !options->keep && !options->ttl && i + 1 < call->words) {
            options->seconds = ex;
            options->ttl = ++i;
        } else {
            return false;
        }
    }
    return true;
}

/* The error, or NULL. */
static const char *read_set_end(const struct sim_call *call, const struct set_options *options,
                                int64_t *ret_end_ms)
{
    static const char invalid[] = "ERR invalid expire time in 'set' command";
    int64_t ttl;
    *ret_end_ms = SIM_NEVER;
    if (!options->ttl)
        return NULL;
    if (!sim_word_integer(&call->word[options->ttl], &ttl))
        return sim_not_integer;
    if (ttl <= 0 || (options->seconds && ttl > INT64_MAX / 1000))
        return invalid;
    return sim_end_ms(call, options->seconds ? ttl * 1000 : ttl, ret_end_ms) ? NULL : invalid;
}

/* The native pair's SET, as the acquire that it is. */
static void tell_set(const struct sim_call *call, const struct set_options *options, bool set)
{
    const char *by = call->session->by ? call->session->by->name : "?";
    if (!sim_tells() || !options->nx || !options->ttl)
        return;
    sim_tell("n%u SET %s for %s: %s%s%s", call->server->index + 1, call->word[1].bytes, by,
             set ? "granted, " : "another has it", set ? call->word[options->ttl].bytes : "",
             set ? " ms" : "");
}

static void run_set(struct sim_call *call)
{
    struct set_options options;
    int64_t end_ms;
    const char *error = sim_syntax;
    if (read_set_options(call, &options))
        error = read_set_end(call, &options, &end_ms);
    if (!error && options.nx && sim_server_dies_before(call->server, "acquire"))
        return;
    struct sim_key *key = find(call, 1);
    if (!error && options.get && key && key->type != SIM_STRING)
        error = sim_wrong_type;
    if (error) {
        sim_put_error(call->out, error);
        return;
    }
    if (options.get && key)
        sim_put_bulk(call->out, key->value.bytes, key->value.len);
    else if (options.get)
        sim_put_nil(call->out);
    if ((options.nx && key) || (options.xx && !key)) {
        if (!options.get)
            sim_put_nil(call->out);
        tell_set(call, &options, false);
        return;
    }
    if (options.keep && key)
        end_ms = key->end_ms;
    call->argument = call->word[2].bytes;
    sim_key_set(call->server, call, &call->word[1], &call->word[2], end_ms);
    if (!options.get)
        sim_put_ok(call->out);
    sim_mark(SIM_MARK_COMMAND, call->server->index, options.nx);
    tell_set(call, &options, true);
}

/* ---- keys of any type ------------------------------------------------------------------- */

static void run_del(struct sim_call *call)
{
    int64_t deleted = 0;
    for (unsigned i = 1; i < call->words; i++) {
        struct sim_key *key = find(call, i);
        if (key)
            sim_key_delete(key, call, SIM_DELETED);
        deleted += key != NULL;
    }
    sim_put_integer(call->out, deleted);
}

static void run_exists(struct sim_call *call)
{
    int64_t there = 0;
    for (unsigned i = 1; i < call->words; i++)
        there += find(call, i) != NULL;
    sim_put_integer(call->out, there);
}

static void run_type(struct sim_call *call)
{
    const struct sim_key *key = find(call, 1);
    sim_put(call->out, "+");
    sim_put(call->out, key ? sim_type_name(key->type) : "none");
    sim_put(call->out, "\r\n");
}

static void run_pttl(struct sim_call *call)
{
    const struct sim_key *key = find(call, 1);
    int64_t left_ms = !key ? -2 : key->end_ms == SIM_NEVER ? -1 : key->end_ms - call->now_ms;
    sim_put_integer(call->out, left_ms);
}

static void run_pexpire(struct sim_call *call)
{
    int64_t ttl_ms, end_ms;
    if (!sim_word_integer(&call->word[2], &ttl_ms)) {
        sim_put_error(call->out, sim_not_integer);
        return;
    }
    if (!sim_end_ms(call, ttl_ms, &end_ms)) {
        sim_put_error(call->out, "ERR invalid expire time in 'pexpire' command");
        return;
    }
    struct sim_key *key = find(call, 1);
    if (key && end_ms <= call->now_ms)
        sim_key_delete(key, call, SIM_DELETED);
    else if (key)
        sim_key_end(key, call, end_ms);
    sim_put_integer(call->out, key != NULL);
}

static void flush(struct sim_call *call, bool all)
{
    struct sim_server *server = call->server;
    for (size_t i = server->keys; i-- > 0;) {
        if (all || server->key[i]->db == call->db)
            sim_key_delete(server->key[i], call, SIM_FLUSHED);
    }
    sim_put_ok(call->out);
}

static void run_flushall(struct sim_call *call)
{
    flush(call, true);
}

static void run_flushdb(struct sim_call *call)
{
    flush(call, false);
}

static void run_dbsize(struct sim_call *call)
{
    int64_t keys = 0;
    for (size_t i = 0; i < call->server->keys; i++)
        keys += call->server->key[i]->db == call->db;
    sim_put_integer(call->out, keys);
}

/* ---- sorted sets ------------------------------------------------------------------------ */

static void run_zadd(struct sim_call *call)
{
    double score[SIM_WORDS_MAX];
    int64_t added = 0;
    struct sim_key *key;
    if (call->words % 2 != 0) {
        sim_put_error(call->out, sim_syntax);
        return;
    }
    for (unsigned i = 2; i < call->words; i += 2) {
        if (!sim_word_float(&call->word[i], &score[i])) {
            sim_put_error(call->out, sim_not_float);
            return;
        }
    }
    if (!sim_find_of_type(call, SIM_ZSET, &key))
        return;
    for (unsigned i = 2; i < call->words; i += 2)
        added += sim_member_put(call->server, call->db, &call->word[1], &key, score[i],
                                call->word[i + 1].bytes, call->word[i + 1].len);
    sim_put_integer(call->out, added);
}

static void run_zrem(struct sim_call *call)
{
    int64_t removed = 0;
    struct sim_key *key;
    if (!sim_find_of_type(call, SIM_ZSET, &key))
        return;
    for (unsigned i = 2; key && i < call->words; i++) {
        size_t which = sim_member_find(key, call->word[i].bytes, call->word[i].len);
        bool last = key->members == 1;
        if (which == key->members)
            continue;
        sim_member_remove(key, which);
        removed++;
        if (last)
            key = NULL;
    }
    sim_put_integer(call->out, removed);
}

static void run_zcard(struct sim_call *call)
{
    sim_run_count(call, SIM_ZSET);
}

static void run_zrange(struct sim_call *call)
{
    sim_run_range(call, SIM_ZSET);
}

/* ---- hashes, sets: as much as puts other data where a lock is to be -----------------------
 */

static void run_hset(struct sim_call *call)
{
    int64_t added = 0;
    struct sim_key *key = find(call, 1);
    if (call->words % 2 != 0)
        sim_put_error(call->out, "ERR wrong number of arguments for 'hset' command");
    else if (key && key->type != SIM_HASH)
        sim_put_error(call->out, sim_wrong_type);
    else {
        for (unsigned i = 2; i < call->words; i += 2)
            added += sim_member_set(call->server, call->db, &call->word[1], &key, SIM_HASH,
                                    &call->word[i], &call->word[i + 1]);
        sim_put_integer(call->out, added);
    }
}

static void run_hget(struct sim_call *call)
{
    const struct sim_key *key = find(call, 1);
    const struct sim_word *field = &call->word[2];
    size_t which = key ? sim_member_find(key, field->bytes, field->len) : 0;
    if (key && key->type != SIM_HASH)
        sim_put_error(call->out, sim_wrong_type);
    else if (!key || which == key->members)
        sim_put_nil(call->out);
    else
        sim_put_bulk(call->out, key->member[which].value, key->member[which].value_len);
}

static void run_sadd(struct sim_call *call)
{
    static const struct sim_word none = {"", 0};
    int64_t added = 0;
    struct sim_key *key = find(call, 1);
    if (key && key->type != SIM_SET) {
        sim_put_error(call->out, sim_wrong_type);
        return;
    }
    for (unsigned i = 2; i < call->words; i++)
        added += sim_member_set(call->server, call->db, &call->word[1], &key, SIM_SET,
                                &call->word[i], &none);
    sim_put_integer(call->out, added);
}

static void run_scard(struct sim_call *call)
{
    const struct sim_key *key = find(call, 1);
    if (key && key->type != SIM_SET)
        sim_put_error(call->out, sim_wrong_type);
    else
        sim_put_integer(call->out, key ? (int64_t)key->members : 0);
}

const struct sim_command sim_commands_keys[] = {
    {"get", 2, 0, run_get},
    {"set", -3, SIM_WRITES | SIM_DENYOOM, run_set},
    {"del", -2, SIM_WRITES, run_del},
    {"exists", -2, 0, run_exists},
    {"type", 2, 0, run_type},
    {"pttl", 2, 0, run_pttl},
    {"pexpire", -3, SIM_WRITES, run_pexpire},
    {"flushall", -1, SIM_WRITES, run_flushall},
    {"flushdb", -1, SIM_WRITES, run_flushdb},
    {"dbsize", 1, 0, run_dbsize},
    {"zadd", -4, SIM_WRITES | SIM_DENYOOM, run_zadd},
    {"zrem", -3, SIM_WRITES, run_zrem},
    {"zcard", 2, 0, run_zcard},
    {"zrange", -4, 0, run_zrange},
    {"hset", -4, SIM_WRITES | SIM_DENYOOM, run_hset},
    {"hget", 3, 0, run_hget},
    {"sadd", -3, SIM_WRITES | SIM_DENYOOM, run_sadd},
    {"scard", 2, 0, run_scard},
    {NULL, 0, 0, NULL},
};
