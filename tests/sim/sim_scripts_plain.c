/* sim_scripts_plain.c - the scripts of the plain kind (lib/kinds/plain/plain_*.lua), said in C
 * line by line. Held against the real ones on a real server by test_sim_master_real. */
#include "config_auto.h"

#include "sim_plain.h"

static void acquire(struct sim_run *run)
{
    bool done;
    int64_t left_ms;
    const struct sim_key *key;
    const struct sim_word *lock = sim_keys_at(run, 1);
    const char *where = "redis.call('SET'";
    const char *error =
        sim_script_set(run, lock, sim_argv_at(run, 2), sim_argv_at(run, 3), true, &done);
    if (!error && done) {
        sim_script_answer(run, true);
        return;
    }
    if (!error) {
        where = "redis.call('PTTL'";
        error = sim_script_pttl(run, lock, &left_ms);
    }
    if (error) {
        sim_script_fail(run, where, error);
        return;
    }
    if ((error = sim_script_get(run, lock, &key))) {
        sim_script_foreign_data(run, lock, "string", error, NULL);
        return;
    }
    struct sim_word holder = sim_value_of(key);
    sim_script_refuse(run, RL_REFUSED, left_ms, &holder, NULL);
}

/* The end of extend and retake: it is ours, and is to last at least so long. */
static void lengthen(struct sim_run *run)
{
    const struct sim_word *ttl = sim_argv_at(run, 3);
    int64_t left_ms;
    double wanted_ms;
    const char *error = sim_script_pttl(run, sim_keys_at(run, 1), &left_ms);
    if (error) {
        sim_script_fail(run, "redis.call('PTTL'", error);
        return;
    }
    if (!ttl || !sim_lua_number(ttl, &wanted_ms)) {
        sim_script_fail_lua(run, "redis.call('PTTL'", "attempt to compare number with nil");
        return;
    }
    if ((double)left_ms < wanted_ms &&
        (error = sim_script_pexpire(run, sim_keys_at(run, 1), ttl))) {
        sim_script_fail(run, "redis.call('PEXPIRE'", error);
        return;
    }
    sim_script_answer(run, true);
}

static void extend(struct sim_run *run)
{
    const struct sim_key *key;
    if (!sim_holder_of(run, sim_keys_at(run, 1), &key))
        return;
    if (!sim_value_is(key, sim_argv_at(run, 2)))
        sim_script_answer(run, false);
    else
        lengthen(run);
}

static void retake(struct sim_run *run)
{
    bool done;
    const struct sim_key *key;
    const char *error = NULL;
    if (!sim_holder_of(run, sim_keys_at(run, 1), &key))
        return;
    if (!key) {
        error = sim_script_set(run, sim_keys_at(run, 1), sim_argv_at(run, 2),
                               sim_argv_at(run, 3), false, &done);
        if (!error) {
            sim_script_answer(run, true);
            return;
        }
    }
    if (error)
        sim_script_fail(run, "redis.call('SET'", error);
    else if (!sim_value_is(key, sim_argv_at(run, 2)))
        sim_script_answer(run, false);
    else
        lengthen(run);
}

static void release(struct sim_run *run)
{
    bool there;
    const struct sim_key *key;
    const struct sim_word *ms = sim_argv_at(run, 2);
    const char *error;
    if (!sim_holder_of(run, sim_keys_at(run, 1), &key))
        return;
    bool nobodys = !key, mine = sim_value_is(key, sim_argv_at(run, 1));
    if (mine && (error = sim_script_del(run, sim_keys_at(run, 1), &there))) {
        sim_script_fail(run, "redis.call('DEL'", error);
        return;
    }
    bool silent = ms && ms->len == 1 && ms->bytes[0] == '0';
    if (!silent && (mine || nobodys) &&
        !sim_wake_next(run, sim_keys_at(run, 1), sim_keys_at(run, 2), ms))
        return;
    sim_script_answer(run, mine);
}

/* Into the queue, by the server's clock less the time waited: the place; -1: it could not be
 * done; -2: the script has failed. */
static int64_t enter_queue(struct sim_run *run)
{
    const struct sim_word *queue = sim_keys_at(run, 2);
    int64_t place = -1;
    double since;
    if (!sim_is_free_or_ours(run, queue))
        return -1;
    if (!sim_waits_since(run, sim_argv_at(run, 5), &since))
        return -2;
    if (sim_script_zadd(run, queue, since, sim_argv_at(run, 4)) == NULL) {
        sim_script_pexpire(run, queue, sim_argv_at(run, 6));
        sim_script_zrank(run, queue, sim_argv_at(run, 4), &place);
    }
    return place;
}

static void wait(struct sim_run *run)
{
    bool done;
    int64_t left_ms, place, nowhere = -1;
    const struct sim_key *key;
    const struct sim_word *lock = sim_keys_at(run, 1), *waiter = sim_argv_at(run, 4);
    const char *error = sim_script_get(run, lock, &key);
    if (error) {
        sim_script_foreign_data(run, lock, "string", error, &nowhere);
    } else if (key && !waiter) {
        sim_script_fail_lua(run,
                            "or holder ==", "attempt to concatenate field '?' (a nil value)");
    } else if (!key || sim_kept_for(key, waiter)) {
        error =
            sim_script_set(run, lock, sim_argv_at(run, 2), sim_argv_at(run, 3), false, &done);
        if (error) {
            sim_script_fail(run, "redis.call('SET'", error);
            return;
        }
        sim_script_zrem(run, sim_keys_at(run, 2), waiter, &done);
        sim_script_answer(run, true);
    } else if ((place = enter_queue(run)) != -2) {
        sim_script_pttl(run, lock, &left_ms);
        struct sim_word holder = sim_value_of(key);
        sim_script_refuse(run, RL_REFUSED, left_ms, &holder, &place);
    }
}

static void leave(struct sim_run *run)
{
    bool there;
    const struct sim_key *key;
    const struct sim_word *lock = sim_keys_at(run, 1), *waiter = sim_argv_at(run, 2);
    sim_script_zrem(run, sim_keys_at(run, 2), waiter, &there);
    const char *error;
    if (!sim_holder_of(run, lock, &key))
        return;
    if (!waiter) {
        sim_script_fail_lua(run, "local kept",
                            "attempt to concatenate field '?' (a nil value)");
        return;
    }
    bool nobodys = !key, kept = sim_kept_for(key, waiter);
    if (kept && (error = sim_script_del(run, lock, &there))) {
        sim_script_fail(run, "redis.call('DEL'", error);
        return;
    }
    if ((kept || nobodys) &&
        !sim_wake_next(run, lock, sim_keys_at(run, 2), sim_argv_at(run, 3)))
        return;
    sim_script_answer(run, true);
}

const struct sim_known_script sim_scripts_plain[] = {
    {"plain_acquire", acquire},
    {"plain_extend", extend},
    {"plain_retake", retake},
    {"plain_release", release},
    {"plain_wait", wait},
    {"plain_leave", leave},
    {NULL, NULL},
};
