/* sim_rw_holds.c - see sim_rw.h: rw_holds.lua, rw_compact.lua and rw_state.lua, said in C. */
#include "config_auto.h"

#include "sim_rw.h"

#include <ctype.h>
#include <stdio.h>

enum { LEASE_MAX = 1024, FIELDS_BELIEVED = 16 };

static const struct sim_word mode_field = {"mode", 4};

void sim_rw_begin(struct sim_rw *rw, struct sim_run *run)
{
    *rw =
        (struct sim_rw){.run = run, .lock = sim_keys_at(run, 1), .owner = sim_argv_at(run, 2)};
    assert(rw->lock && rw->owner && run->n_keys > 1 && run->n_args > 3);
    int len = snprintf(rw->writer_text, sizeof(rw->writer_text), "%s:write", rw->owner->bytes);
    assert(len < (int)sizeof(rw->writer_text));
    rw->writer = (struct sim_word){rw->writer_text, (size_t)len};
}

bool sim_rw_may(const struct sim_rw *rw, unsigned flags, const char *where)
{
    const char *error = sim_script_enter(rw->run, flags);
    if (error)
        sim_script_fail(rw->run, where, error);
    return !error;
}

struct sim_key *sim_rw_lock(const struct sim_rw *rw)
{
    return sim_script_key(rw->run, rw->lock);
}

/* Good until it is called again. */
static const struct sim_word *lease_name(const struct sim_rw *rw, const struct sim_word *field,
                                         int i)
{
    static char text[LEASE_MAX];
    static struct sim_word word;
    int len = snprintf(text, sizeof(text), "%s:%s:rwlock_timeout:%d",
                       sim_keys_at(rw->run, 2)->bytes, field->bytes, i);
    assert(len < (int)sizeof(text));
    word = (struct sim_word){text, (size_t)len};
    return &word;
}

struct sim_key *sim_rw_lease(const struct sim_rw *rw, const struct sim_word *field, int i)
{
    return sim_script_key(rw->run, lease_name(rw, field, i));
}

bool sim_rw_at_least(const struct sim_rw *rw, const struct sim_word *key,
                     const struct sim_word *ms)
{
    int64_t left_ms;
    double wanted_ms;
    sim_script_pttl(rw->run, key, &left_ms);
    if (!sim_lua_number(ms, &wanted_ms)) {
        sim_script_fail_lua(rw->run, "call('PTTL', key) <",
                            "attempt to compare number with nil");
        return false;
    }
    const char *error =
        (double)left_ms < wanted_ms ? sim_script_pexpire(rw->run, key, ms) : NULL;
    if (error)
        sim_script_fail(rw->run, "call('PEXPIRE', key", error);
    return !error;
}

/* ---- counts, and leases ----------------------------------------------------------------- */

static const struct sim_member *get(const struct sim_rw *rw, const struct sim_word *field)
{
    const struct sim_key *key = sim_rw_lock(rw);
    size_t which = key ? sim_member_find(key, field->bytes, field->len) : 0;
    return key && key->type == SIM_HASH && which < key->members ? &key->member[which] : NULL;
}

/* as_count(); -1: it is none. */
static int as_count(const struct sim_member *member)
{
    int count = 0;
    if (!member || member->value_len == 0 || member->value_len > 4)
        return -1;
    for (size_t i = 0; i < member->value_len; i++) {
        if (!isdigit((unsigned char)member->value[i]))
            return -1;
        count = 10 * count + (member->value[i] - '0');
    }
    return count;
}

int sim_rw_count(const struct sim_rw *rw, const struct sim_word *field)
{
    int count = as_count(get(rw, field));
    return count > 0 ? count : 0;
}

bool sim_rw_is_count(const struct sim_rw *rw, const struct sim_word *field)
{
    return as_count(get(rw, field)) >= 0;
}

int sim_rw_find(const struct sim_rw *rw, const struct sim_word *field)
{
    const struct sim_word *token = sim_argv_at(rw->run, 3);
    for (int i = sim_rw_count(rw, field); i > 0; i--) {
        const struct sim_key *key = sim_rw_lease(rw, field, i);
        if (key && key->value.len == token->len &&
            memcmp(key->value.bytes, token->bytes, token->len) == 0)
            return i;
    }
    return 0;
}

bool sim_rw_last_longer(const struct sim_rw *rw, const struct sim_word *field, int i)
{
    return sim_rw_at_least(rw, lease_name(rw, field, i), sim_argv_at(rw->run, 4));
}

/* The other holds of its owner are its business as well. */
bool sim_rw_keep_writes(const struct sim_rw *rw)
{
    struct sim_call *call = rw->run->call;
    const char *argument = call->argument;
    char text[24];
    int64_t left_ms;
    bool done = true;
    sim_script_pttl(rw->run, rw->lock, &left_ms);
    int len = snprintf(text, sizeof(text), "%lld", (long long)left_ms);
    for (int i = 1; done && i <= sim_rw_count(rw, &rw->writer); i++) {
        const struct sim_key *key = sim_rw_lease(rw, &rw->writer, i);
        if (!key)
            continue;
        call->argument = key->value.bytes;
        done = sim_rw_at_least(rw, lease_name(rw, &rw->writer, i),
                               &(struct sim_word){text, (size_t)len});
    }
    call->argument = argument;
    return done;
}

static void set_field(const struct sim_rw *rw, const struct sim_word *field,
                      const struct sim_word *value)
{
    struct sim_key *key = sim_rw_lock(rw);
    sim_member_set(rw->run->call->server, rw->run->call->db, rw->lock, &key, SIM_HASH, field,
                   value);
}

bool sim_rw_set_count(const struct sim_rw *rw, const struct sim_word *field, int count,
                      const char *where)
{
    char text[16];
    if (!sim_rw_may(rw, SIM_WRITES | SIM_DENYOOM, where))
        return false;
    int len = snprintf(text, sizeof(text), "%d", count);
    set_field(rw, field, &(struct sim_word){text, (size_t)len});
    return true;
}

bool sim_rw_set_mode(const struct sim_rw *rw, const char *mode, const char *where)
{
    if (!sim_rw_may(rw, SIM_WRITES | SIM_DENYOOM, where))
        return false;
    set_field(rw, &mode_field, &(struct sim_word){mode, strlen(mode)});
    return true;
}

bool sim_rw_set_lease(const struct sim_rw *rw, const struct sim_word *field, int i)
{
    bool done;
    int64_t ttl_ms, end_ms;
    if (sim_word_integer(sim_argv_at(rw->run, 4), &ttl_ms) && ttl_ms > 0 &&
        sim_end_ms(rw->run->call, ttl_ms, &end_ms))
        sim_rw_drop_left(rw, field, i);
    const char *error =
        sim_script_set(rw->run, lease_name(rw, field, i), sim_argv_at(rw->run, 3),
                       sim_argv_at(rw->run, 4), false, &done);
    if (error)
        sim_script_fail(rw->run, "call('SET', lease", error);
    return !error;
}

void sim_rw_forget_count(const struct sim_rw *rw, const struct sim_word *field)
{
    struct sim_key *key = sim_rw_lock(rw);
    size_t which = key ? sim_member_find(key, field->bytes, field->len) : 0;
    if (key && which < key->members)
        sim_member_remove(key, which);
}

void sim_rw_drop_left(const struct sim_rw *rw, const struct sim_word *field, int i)
{
    struct sim_key *key = sim_rw_lease(rw, field, i);
    if (!key)
        return;
    sim_undo_whole(key);
    sim_key_drop(key);
}

void sim_rw_rename(const struct sim_rw *rw, const struct sim_word *field, int from, int to)
{
    struct sim_call *call = rw->run->call;
    static struct sim_text value;
    struct sim_key *key = sim_rw_lease(rw, field, from);
    int64_t end_ms = key->end_ms;
    sim_text_set(&value, key->value.bytes, key->value.len);
    sim_rw_drop_left(rw, field, from);
    const struct sim_word *name = lease_name(rw, field, to);
    key = sim_key_new(call->server, call->db, name->bytes, name->len, SIM_STRING);
    sim_undo_absent(key);
    sim_text_set(&key->value, value.bytes, value.len);
    sim_key_move(key, end_ms);
}

/* ---- gaps ------------------------------------------------------------------------------- */

bool sim_rw_compact(const struct sim_rw *rw, const struct sim_word *field, int *ret_count)
{
    int before = sim_rw_count(rw, field), count = before;
    for (int i = 1; i <= count;) {
        if (sim_rw_lease(rw, field, i)) {
            i++;
            continue;
        }
        if (i < count && sim_rw_lease(rw, field, count)) {
            if (!sim_rw_may(rw, SIM_WRITES, "call('RENAME'"))
                return false;
            sim_rw_rename(rw, field, count, i);
        }
        count--;
    }
    *ret_count = count;
    if (count == before)
        return true;
    if (count > 0)
        return sim_rw_set_count(rw, field, count, "call('HSET', KEYS[1], field, count)");
    if (!sim_rw_may(rw, SIM_WRITES, "call('HDEL', KEYS[1], field)"))
        return false;
    sim_rw_forget_count(rw, field);
    struct sim_key *key = sim_rw_lock(rw);
    if (key && key->members == 1)
        sim_key_delete(key, rw->run->call, SIM_DELETED);
    return true;
}

/* ---- what stands there ------------------------------------------------------------------ */

bool sim_rw_mode_is(const struct sim_rw *rw, const char *mode)
{
    const struct sim_member *member = get(rw, &mode_field);
    return member && member->value_len == strlen(mode) &&
           memcmp(member->value, mode, member->value_len) == 0;
}

static bool is_lock(const struct sim_rw *rw)
{
    const struct sim_key *key = sim_rw_lock(rw);
    bool few = key->members <= FIELDS_BELIEVED;
    for (size_t i = 0; few && i < key->members; i++) {
        const struct sim_member *member = &key->member[i];
        bool is_mode = member->len == 4 && memcmp(member->text, "mode", 4) == 0;
        if (!is_mode && as_count(member) < 0)
            return false;
    }
    const struct sim_word *const own[] = {rw->owner, &rw->writer};
    for (size_t i = 0; !few && i < 2; i++) {
        const struct sim_member *member = get(rw, own[i]);
        if (member && as_count(member) < 0)
            return false;
    }
    return key->end_ms != SIM_NEVER;
}

enum sim_rw_mode sim_rw_state(const struct sim_rw *rw, char ret_what[64])
{
    const struct sim_key *key = sim_rw_lock(rw);
    bool reads = sim_rw_mode_is(rw, "read"), writes = sim_rw_mode_is(rw, "write");
    if (!key)
        return SIM_RW_FREE;
    if ((reads || writes) && is_lock(rw))
        return reads ? SIM_RW_READS : SIM_RW_WRITES;
    bool counts = !get(rw, &mode_field) && key->type == SIM_HASH && key->members == 1;
    if (key->type == SIM_STRING)
        snprintf(ret_what, 64, "a string (a plain lock, or data)");
    else if (key->type != SIM_HASH)
        snprintf(ret_what, 64, "a %s",
                 key->type == SIM_ZSET ? "sorted set" : sim_type_name(key->type));
    else
        snprintf(ret_what, 64, "%s",
                 counts && is_lock(rw) ? "a reentrant or a fair lock"
                                       : "a hash that is no lock");
    return SIM_RW_OTHER;
}
