/* sim_plain.c - what the scripts of plain locks have in common, those of one name and those of
 * several: lib/kinds/shared/holder_text.lua, wake_next.lua and a few lines of theirs. */
#include "config_auto.h"

#include "sim_plain.h"

#include <ctype.h>

bool sim_value_is(const struct sim_key *key, const struct sim_word *word)
{
    return key && word && key->type == SIM_STRING && key->value.len == word->len &&
           memcmp(key->value.bytes, word->bytes, word->len) == 0;
}

/* Is the lock kept for that waiter? */
bool sim_kept_for(const struct sim_key *key, const struct sim_word *waiter)
{
    size_t prefix = sizeof(RL_RESERVED_PREFIX) - 1;
    return key && key->type == SIM_STRING && key->value.len == prefix + waiter->len &&
           memcmp(key->value.bytes, RL_RESERVED_PREFIX, prefix) == 0 &&
           memcmp(key->value.bytes + prefix, waiter->bytes, waiter->len) == 0;
}

/* As much of it as a refusal tells. */
struct sim_word sim_value_of(const struct sim_key *key)
{
    size_t len = key->value.len;
    return (struct sim_word){key->value.bytes, len < 512 ? len : 512};
}

/* holder_text.lua: NULL: nobody. False: the script has failed. */
bool sim_holder_of(struct sim_run *run, const struct sim_word *lock,
                   const struct sim_key **ret_key)
{
    const char *type;
    const char *error = sim_script_get(run, lock, ret_key);
    if (!error)
        return true;
    if (error != sim_wrong_type) {
        sim_script_fail(run, "redis.call('GET'", error);
        return false;
    }
    error = sim_script_type(run, lock, &type);
    if (error)
        sim_script_fail(run, "redis.call('TYPE'", error);
    return !error;
}

/* waiters.lua: "%x+-%x+-%x+-%x+-%x+:%d+". */
bool sim_is_waiter(const char *name, size_t len)
{
    const char *at = name, *end = name + len;
    for (unsigned part = 0; part < 5; part++) {
        const char *from = at;
        while (at < end && isxdigit((unsigned char)*at))
            at++;
        if (at == from || at == end || *at++ != (part < 4 ? '-' : ':'))
            return false;
    }
    const char *digits = at;
    while (at < end && isdigit((unsigned char)*at))
        at++;
    return at == end && at > digits;
}

bool sim_is_free_or_ours(struct sim_run *run, const struct sim_word *queue)
{
    const struct sim_member *head;
    return sim_script_head(run, queue, &head) || !head || sim_is_waiter(head->text, head->len);
}

/* wake_next.lua. False: the script has failed. */
bool sim_wake_next(struct sim_run *run, const struct sim_word *lock,
                   const struct sim_word *queue, const struct sim_word *ms)
{
    char text[SIM_MEMBER_MAX + 1];
    char channel[sizeof(RL_WAKE_PREFIX) + 36],
        kept[sizeof(RL_RESERVED_PREFIX) + SIM_MEMBER_MAX];
    struct sim_word first;
    for (int i = 0; i < 1000; i++) {
        bool there;
        if (sim_script_first(run, queue, text, &first) || !first.bytes ||
            !sim_is_waiter(first.bytes, first.len))
            return true;
        if (sim_script_zrem(run, queue, &first, &there) || !there)
            return true;
        size_t id = first.len < 36 ? first.len : 36, prefix = sizeof(RL_WAKE_PREFIX) - 1;
        memcpy(channel, RL_WAKE_PREFIX, prefix);
        memcpy(channel + prefix, first.bytes, id);
        channel[prefix + id] = '\0';
        if (sim_publish(run->call->server, &(struct sim_word){channel, prefix + id}, &first) ==
            0)
            continue;
        prefix = sizeof(RL_RESERVED_PREFIX) - 1;
        memcpy(kept, RL_RESERVED_PREFIX, prefix);
        memcpy(kept + prefix, first.bytes, first.len + 1);
        const char *error = sim_script_set(
            run, lock, &(struct sim_word){kept, prefix + first.len}, ms, false, &there);
        if (error)
            sim_script_fail(run, "redis.call('SET', lock", error);
        return !error;
    }
    return true;
}

bool sim_waits_since(struct sim_run *run, const struct sim_word *age, double *ret_since)
{
    double age_us;
    if (!age || !sim_lua_number(age, &age_us)) {
        sim_script_fail_lua(run, "local since",
                            age ? "attempt to perform arithmetic on field '?' (a string value)"
                                : "attempt to perform arithmetic on field '?' (a nil value)");
        return false;
    }
    int64_t now_us = sim_wall_ns(run->call->server) / SIM_US;
    *ret_since = sim_lua_whole((double)now_us - age_us);
    return true;
}
