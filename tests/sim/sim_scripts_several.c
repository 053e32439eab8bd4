/* sim_scripts_several.c - the scripts of plain locks on several names, all or none
 * (lib/kinds/name_set/several_*.lua), said in C. Held against the real ones on a real server by
 * test_sim_master_real. */
#include "config_auto.h"

#include "sim_several.h"

#include <stdio.h>

enum { WHAT_MAX = 32 /* "a sorted set under " */ };

enum sim_seen sim_several_look(struct sim_run *run, const struct sim_word *lock,
                               const struct sim_key **ret_key, const char **ret_error)
{
    *ret_key = NULL;
    *ret_error = sim_script_get(run, lock, ret_key);
    return *ret_error ? SIM_NO_STRING : *ret_key ? SIM_SOMEBODY : SIM_NOBODY;
}

/* Where there are names, and as many queues behind them. */
unsigned sim_several_names(const struct sim_run *run)
{
    return run->n_keys / 2;
}

/* KEYS[count + i]: an odd number of keys has no such. */
const struct sim_word *sim_several_queue(const struct sim_run *run, unsigned i)
{
    return run->n_keys % 2 ? NULL : sim_keys_at(run, sim_several_names(run) + i);
}

bool sim_several_takes(struct sim_run *run, const struct sim_word *lock)
{
    bool done;
    const char *error =
        sim_script_set(run, lock, sim_argv_at(run, 2), sim_argv_at(run, 3), false, &done);
    if (error)
        sim_script_fail(run, "redis.call('SET', KEYS[i]", error);
    return !error;
}

/* several_blocked.lua of what is no string. */
void sim_several_foreign_data(struct sim_run *run, const struct sim_word *lock,
                              const char *error, int64_t left_ms, const int64_t *place)
{
    const char *type;
    char what[WHAT_MAX + SIM_SHOWN_MAX];
    if (error != sim_wrong_type) {
        sim_script_fail(run, "redis.call('GET'", error);
        return;
    }
    error = sim_script_type(run, lock, &type);
    if (error) {
        sim_script_fail(run, "redis.call('TYPE'", error);
        return;
    }
    int len =
        snprintf(what, sizeof(what), "a %s under %.*s",
                 strcmp(type, "zset") == 0 ? "sorted set" : type, (int)lock->len, lock->bytes);
    assert((size_t)len < sizeof(what));
    sim_script_refuse(run, RL_REPLY_WRONGTYPE, left_ms, &(struct sim_word){what, (size_t)len},
                      place);
}

/* How long that one blocks. False: the script has failed. */
bool sim_several_left(struct sim_run *run, const struct sim_word *lock, int64_t *ret_left_ms)
{
    const char *error = sim_script_pttl(run, lock, ret_left_ms);
    if (error)
        sim_script_fail(run, "redis.call('PTTL'", error);
    return !error;
}

static void acquire(struct sim_run *run)
{
    int64_t left_ms;
    const char *error;
    const struct sim_key *key;
    for (unsigned i = 1; i <= run->n_keys; i++) {
        const struct sim_word *lock = sim_keys_at(run, i);
        enum sim_seen seen = sim_several_look(run, lock, &key, &error);
        if (seen == SIM_NOBODY)
            continue;
        if (!sim_several_left(run, lock, &left_ms))
            return;
        if (seen == SIM_NO_STRING) {
            sim_several_foreign_data(run, lock, error, left_ms, NULL);
            return;
        }
        struct sim_word holder = sim_value_of(key);
        sim_script_refuse(run, RL_REFUSED, left_ms, &holder, NULL);
        return;
    }
    for (unsigned i = 1; i <= run->n_keys; i++) {
        if (!sim_several_takes(run, sim_keys_at(run, i)))
            return;
    }
    sim_script_answer(run, true);
}

/* It is to last at least so long; `where` it is compared. False: the script has failed. */
static bool lengthen(struct sim_run *run, const struct sim_word *lock, int64_t left_ms,
                     const char *where)
{
    const struct sim_word *ttl = sim_argv_at(run, 3);
    double wanted_ms;
    if (!ttl || !sim_lua_number(ttl, &wanted_ms)) {
        sim_script_fail_lua(run, where, "attempt to compare number with nil");
        return false;
    }
    const char *error = (double)left_ms < wanted_ms ? sim_script_pexpire(run, lock, ttl) : NULL;
    if (error)
        sim_script_fail(run, "redis.call('PEXPIRE'", error);
    return !error;
}

static void extend(struct sim_run *run)
{
    int64_t left_ms;
    const struct sim_key *key;
    for (unsigned i = 1; i <= run->n_keys; i++) {
        if (!sim_holder_of(run, sim_keys_at(run, i), &key))
            return;
        if (!sim_value_is(key, sim_argv_at(run, 2))) {
            sim_script_answer(run, false);
            return;
        }
    }
    for (unsigned i = 1; i <= run->n_keys; i++) {
        if (!sim_several_left(run, sim_keys_at(run, i), &left_ms) ||
            !lengthen(run, sim_keys_at(run, i), left_ms, "redis.call('PTTL'"))
            return;
    }
    sim_script_answer(run, true);
}

static void retake(struct sim_run *run)
{
    int64_t left_ms;
    const struct sim_key *key;
    for (unsigned i = 1; i <= run->n_keys; i++) {
        if (!sim_holder_of(run, sim_keys_at(run, i), &key))
            return;
        if (key && !sim_value_is(key, sim_argv_at(run, 2))) {
            sim_script_answer(run, false);
            return;
        }
    }
    for (unsigned i = 1; i <= run->n_keys; i++) {
        const struct sim_word *lock = sim_keys_at(run, i);
        if (!sim_several_left(run, lock, &left_ms))
            return;
        if (left_ms == -2 ? !sim_several_takes(run, lock)
                          : !lengthen(run, lock, left_ms, "elseif left"))
            return;
    }
    sim_script_answer(run, true);
}

/* False: the script has failed. */
static bool deletes(struct sim_run *run, const struct sim_word *lock)
{
    bool there;
    const char *error = sim_script_del(run, lock, &there);
    if (error)
        sim_script_fail(run, "redis.call('DEL'", error);
    return !error;
}

static void release(struct sim_run *run)
{
    bool all = true;
    const struct sim_key *key;
    const struct sim_word *ms = sim_argv_at(run, 3);
    bool silent = ms && ms->len == 1 && ms->bytes[0] == '0';
    for (unsigned i = 1; i <= sim_several_names(run); i++) {
        const struct sim_word *lock = sim_keys_at(run, i);
        if (!sim_holder_of(run, lock, &key))
            return;
        bool nobodys = !key, mine = sim_value_is(key, sim_argv_at(run, 2));
        if (mine && !deletes(run, lock))
            return;
        all = all && mine;
        if (!silent && (mine || nobodys) &&
            !sim_wake_next(run, lock, sim_several_queue(run, i), ms))
            return;
    }
    sim_script_answer(run, all);
}

/* False: the script has failed. */
bool sim_several_waiter(struct sim_run *run, const struct sim_word *waiter)
{
    if (!waiter)
        sim_script_fail_lua(run, "local count, kept",
                            "attempt to concatenate field '?' (a nil value)");
    return waiter != NULL;
}

static void leave(struct sim_run *run)
{
    bool there;
    const struct sim_key *key;
    const struct sim_word *waiter = sim_argv_at(run, 2);
    if (!sim_several_waiter(run, waiter))
        return;
    for (unsigned i = 1; i <= sim_several_names(run); i++) {
        const struct sim_word *lock = sim_keys_at(run, i), *queue = sim_several_queue(run, i);
        sim_script_zrem(run, queue, waiter, &there);
        if (!sim_holder_of(run, lock, &key))
            return;
        bool nobodys = !key, kept = sim_kept_for(key, waiter);
        if (kept && !deletes(run, lock))
            return;
        if ((kept || nobodys) && !sim_wake_next(run, lock, queue, sim_argv_at(run, 3)))
            return;
    }
    sim_script_answer(run, true);
}

const struct sim_known_script sim_scripts_several[] = {
    {"several_acquire", acquire},
    {"several_extend", extend},
    {"several_retake", retake},
    {"several_release", release},
    {"several_wait", sim_several_wait},
    {"several_leave", leave},
    {NULL, NULL},
};
