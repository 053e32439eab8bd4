/* sim_qrw_set.c - see sim_qrw.h. */
#include "config_auto.h"

#include "sim_qrw.h"

#include <ctype.h>
#include <stdio.h>

bool sim_qrw_begin(struct sim_qrw *qrw, struct sim_run *run)
{
    const struct sim_word *owner = sim_argv_at(run, 2), *token = sim_argv_at(run, 3);
    *qrw = (struct sim_qrw){.run = run, .set = sim_keys_at(run, 1), .owner = owner};
    if (!owner || !token) {
        sim_script_fail_lua(run, "local me =",
                            owner ? "attempt to concatenate field '?' (a nil value)"
                                  : "attempt to get length of field '?' (a nil value)");
        return false;
    }
    static struct sim_text me;
    sim_text_set(&me, "r:", 2);
    sim_put_number(&me, (int64_t)owner->len);
    sim_text_add(&me, ":", 1);
    sim_text_add(&me, owner->bytes, owner->len);
    sim_text_add(&me, ":", 1);
    sim_text_add(&me, token->bytes, token->len);
    assert(me.len < sizeof(qrw->me[0]));
    qrw->me_len = me.len;
    for (int mode = SIM_QRW_READER; mode <= SIM_QRW_WRITER; mode++)
        memcpy(qrw->me[mode], me.bytes, me.len + 1);
    qrw->me[SIM_QRW_WRITER][0] = 'w';
    const char *error = sim_script_enter(run, SIM_STALE | SIM_WHILE_LOADING);
    if (error)
        sim_script_fail(run, "redis.call('TIME'", error);
    qrw->now_ms = (double)(sim_wall_ns(run->call->server) / SIM_MS);
    return !error;
}

bool sim_qrw_owner_of(const struct sim_member *member, struct sim_word *ret_owner)
{
    const char *text = member->text;
    size_t at = 2, len = 0;
    if (member->len < 4 || (text[0] != 'r' && text[0] != 'w') || text[1] != ':')
        return false;
    for (; at < member->len && isdigit((unsigned char)text[at]); at++)
        len = len < 100000 ? 10 * len + (size_t)(text[at] - '0') : len;
    if (at == 2 || at == member->len || text[at] != ':')
        return false;
    at++;
    *ret_owner = (struct sim_word){text + at, len < member->len - at ? len : member->len - at};
    return true;
}

static bool is_mine(const struct sim_qrw *qrw, const struct sim_member *member)
{
    struct sim_word owner;
    return sim_qrw_owner_of(member, &owner) && owner.len == qrw->owner->len &&
           memcmp(owner.bytes, qrw->owner->bytes, owner.len) == 0;
}

struct sim_key *sim_qrw_set(const struct sim_qrw *qrw)
{
    return sim_script_key(qrw->run, qrw->set);
}

static const char *token_of(const struct sim_member *member)
{
    struct sim_word owner;
    return sim_qrw_owner_of(member, &owner) ? owner.bytes + owner.len + 1 : NULL;
}

/* The token of one that must not be in beside it; NULL: there is none. */
static const char *beside(const struct sim_key *key, const struct sim_member *member)
{
    struct sim_word owner, other;
    for (size_t i = 0; i < key->members && sim_qrw_owner_of(member, &owner); i++) {
        const struct sim_member *in = &key->member[i];
        bool writes = in->text[0] == 'w' || member->text[0] == 'w';
        if (writes && sim_qrw_owner_of(in, &other) &&
            (owner.len != other.len || memcmp(owner.bytes, other.bytes, owner.len) != 0))
            return token_of(in);
    }
    return NULL;
}

void sim_qrw_tell(const struct sim_qrw *qrw, const struct sim_member *member,
                  enum sim_change change)
{
    struct sim_key key = *sim_qrw_set(qrw);
    const char *token = token_of(member);
    key.type = SIM_STRING;
    if (change == SIM_TAKEN)
        sim_key_tell(&key, qrw->run->call, change, beside(&key, member), token);
    else if (token)
        sim_key_tell(&key, qrw->run->call, change, token, NULL);
}

/* sim_qrw_tidy(). SIM_QRW_OTHERS: something else stands there; it is told (with that place,
 * where it is not NULL) if `tells`. */
enum sim_tidied sim_qrw_tidy(const struct sim_qrw *qrw, bool tells, const int64_t *place)
{
    struct sim_run *run = qrw->run;
    struct sim_word owner;
    const char *error = sim_script_enter(run, 0);
    struct sim_key *key = error || !qrw->set ? NULL : sim_qrw_set(qrw);
    if (!error && !qrw->set)
        error = "ERR Lua redis lib command arguments must be strings or integers";
    if (!error && key && key->type != SIM_ZSET)
        error = sim_wrong_type;
    if (error && (tells || error != sim_wrong_type))
        sim_script_foreign_data(run, qrw->set, "zset", error, place);
    if (error)
        return error == sim_wrong_type && !tells ? SIM_QRW_OTHERS : SIM_QRW_FAILED;
    if (key && !sim_qrw_owner_of(&key->member[0], &owner)) {
        static const char what[] = "a sorted set";
        int64_t left_ms;
        sim_script_pttl(run, qrw->set, &left_ms);
        if (tells)
            sim_script_refuse(run, RL_REPLY_WRONGTYPE, left_ms,
                              &(struct sim_word){what, sizeof(what) - 1}, place);
        return tells ? SIM_QRW_FAILED : SIM_QRW_OTHERS;
    }
    if (!key || key->member[0].score > qrw->now_ms)
        return SIM_QRW_OURS;
    if ((error = sim_script_enter(run, SIM_WRITES))) {
        sim_script_fail(run, "redis.call('ZREMRANGEBYSCORE'", error);
        return SIM_QRW_FAILED;
    }
    while ((key = sim_qrw_set(qrw)) && key->member[0].score <= qrw->now_ms) {
        sim_qrw_tell(qrw, &key->member[0], SIM_EXPIRED);
        sim_member_remove(key, 0);
    }
    return SIM_QRW_OURS;
}

bool sim_qrw_settle(const struct sim_qrw *qrw)
{
    const struct sim_key *key = sim_qrw_set(qrw);
    double score = key ? key->member[key->members - 1].score : 0;
    const char *error =
        key ? sim_script_pexpireat(qrw->run, qrw->set, score < 1e15 ? score : 1e15) : NULL;
    if (error)
        sim_script_fail(qrw->run, "redis.call('PEXPIREAT', set", error);
    return !error;
}

bool sim_qrw_put(const struct sim_qrw *qrw, int mode)
{
    struct sim_run *run = qrw->run;
    const struct sim_word *ttl = sim_argv_at(run, 4);
    const struct sim_word member = {qrw->me[mode], qrw->me_len};
    double ttl_ms;
    if (!ttl || !sim_lua_number(ttl, &ttl_ms)) {
        sim_script_fail_lua(run, "local ends, had",
                            ttl ? "attempt to perform arithmetic on local 'ms' (a string value)"
                                : "attempt to perform arithmetic on local 'ms' (a nil value)");
        return false;
    }
    double ends_ms = qrw->now_ms + ttl_ms + 1;
    struct sim_key *key = sim_qrw_set(qrw);
    size_t which = key ? sim_member_find(key, member.bytes, member.len) : 0;
    bool is_new = !key || which == key->members;
    if (!is_new && key->member[which].score >= ends_ms)
        return true;
    if (!is_new && !sim_qrw_settle(qrw))
        return false;
    const char *error = sim_script_zadd(run, qrw->set, sim_lua_whole(ends_ms), &member);
    if (error) {
        sim_script_fail(run, "redis.call('ZADD'", error);
        return false;
    }
    if (is_new) {
        key = sim_qrw_set(qrw);
        sim_qrw_tell(qrw, &key->member[sim_member_find(key, member.bytes, member.len)],
                     SIM_TAKEN);
    }
    return sim_qrw_settle(qrw);
}

unsigned sim_qrw_look(const struct sim_qrw *qrw, bool others, bool writers,
                      const struct sim_member **ret_last)
{
    const struct sim_key *key = sim_qrw_set(qrw);
    unsigned count = 0;
    for (size_t i = 0; key && i < key->members; i++) {
        const struct sim_member *member = &key->member[i];
        if (is_mine(qrw, member) == others || (writers && member->text[0] != 'w'))
            continue;
        *ret_last = member;
        count++;
    }
    return count;
}

struct sim_word sim_qrw_shown(const struct sim_member *member)
{
    struct sim_word owner = {member->text, member->len};
    sim_qrw_owner_of(member, &owner);
    return owner;
}

void sim_qrw_refuse(const struct sim_qrw *qrw, enum rl_code code, double ends_ms,
                    const struct sim_word *holder, const int64_t *place)
{
    static const int64_t first = 0;
    sim_script_refuse(qrw->run, code, (int64_t)(ends_ms - qrw->now_ms), holder,
                      place && code == RL_REFUSED ? &first : place);
}
