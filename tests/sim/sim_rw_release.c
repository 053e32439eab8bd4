/* sim_rw_release.c - see sim_rw.h: rw_extend.lua and rw_release.lua, said in C. */
#include "config_auto.h"

#include "sim_rw.h"

#include <stdio.h>

enum { LEFT_BEHIND = 16, LOOKS_MAX = 1000, FIELDS_MAX = 1000 };

void sim_rw_extend(struct sim_run *run, bool writes)
{
    struct sim_rw rw;
    sim_rw_begin(&rw, run);
    const struct sim_word *field = writes ? &rw.writer : rw.owner;
    int i = sim_rw_find(&rw, field);
    if (i == 0)
        sim_script_answer(run, false);
    else if (sim_rw_last_longer(&rw, field, i) &&
             sim_rw_at_least(&rw, rw.lock, sim_argv_at(run, 4)) && sim_rw_keep_writes(&rw))
        sim_script_answer(run, true);
}

/* longest() */
static int64_t longest_ms(const struct sim_rw *rw)
{
    const struct sim_key *key = sim_rw_lock(rw);
    size_t looks = key ? key->members : 0, fields = looks <= FIELDS_MAX ? looks : 0;
    int64_t most_ms = 0;
    for (size_t m = 0; m < fields; m++) {
        struct sim_word field = {key->member[m].text, key->member[m].len};
        if (strcmp(field.bytes, "mode") == 0)
            continue;
        int count = sim_rw_is_count(rw, &field) ? sim_rw_count(rw, &field) : LOOKS_MAX;
        looks += (size_t)count;
        for (int i = 1; looks <= LOOKS_MAX && i <= count; i++) {
            const struct sim_key *lease = sim_rw_lease(rw, &field, i);
            int64_t left_ms = lease ? lease->end_ms - rw->run->call->now_ms : 0;
            most_ms = left_ms > most_ms ? left_ms : most_ms;
        }
    }
    if (looks > LOOKS_MAX)
        sim_script_pttl(rw->run, rw->lock, &most_ms);
    return most_ms;
}

static bool take_out(const struct sim_rw *rw, const struct sim_word *field, int i)
{
    int count = sim_rw_count(rw, field), last = count;
    if (!sim_rw_may(rw, SIM_WRITES, "call('DEL', lease(field, i))"))
        return false;
    sim_key_delete(sim_rw_lease(rw, field, i), rw->run->call, SIM_DELETED);
    if (field == rw->owner)
        return sim_rw_compact(rw, field, &count);
    while (last > i && !sim_rw_lease(rw, field, last))
        last--;
    if (last > i)
        sim_rw_rename(rw, field, last, i);
    if (count > 1)
        return sim_rw_set_count(rw, field, count - 1, "call('HINCRBY'");
    sim_rw_forget_count(rw, field);
    return true;
}

/* What is left of a lock that somebody deleted. */
static bool take_left_behind(const struct sim_rw *rw, const struct sim_word *field)
{
    const struct sim_word *token = sim_argv_at(rw->run, 3);
    int count = sim_rw_count(rw, field);
    for (int k = count + 1; k <= count + LEFT_BEHIND; k++) {
        struct sim_key *key = sim_rw_lease(rw, field, k);
        if (!key || key->value.len != token->len ||
            memcmp(key->value.bytes, token->bytes, token->len) != 0)
            continue;
        if (!sim_rw_may(rw, SIM_WRITES, "call('DEL', lease(field, k))"))
            return false;
        sim_key_delete(key, rw->run->call, SIM_DELETED);
    }
    return true;
}

/* Whose turn is it, and who is told? */
static void turn_over(struct sim_run *run, bool wrote)
{
    const struct sim_word *set = sim_keys_at(run, 4);
    const struct sim_key *key = sim_script_key(run, set);
    bool is_set = !key || key->type == SIM_SET;
    if (wrote && is_set && !sim_script_pexpire(run, set, sim_argv_at(run, 4)) && key)
        sim_rw_turn_begins(run);
    sim_script_publish(run, sim_keys_at(run, 3), wrote ? "1" : "0");
}

static bool set_end(const struct sim_rw *rw, int64_t left_ms)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%lld", (long long)left_ms);
    const char *error;
    bool there;
    if (left_ms > 0)
        error = sim_script_pexpire(rw->run, rw->lock, &(struct sim_word){text, (size_t)len});
    else
        error = sim_script_del(rw->run, rw->lock, &there);
    if (error)
        sim_script_fail(rw->run, "call('PEXPIRE', KEYS[1], left)", error);
    return !error;
}

/* rw_release.lua, and the answer. */
void sim_rw_give_up(struct sim_run *run, bool writes)
{
    struct sim_rw rw;
    sim_rw_begin(&rw, run);
    const struct sim_word *field = writes ? &rw.writer : rw.owner;
    const struct sim_word *keep = sim_argv_at(run, 4);
    bool silent = keep->len == 1 && keep->bytes[0] == '0';
    int i = sim_rw_find(&rw, field);
    if (i == 0) {
        if (take_left_behind(&rw, field))
            sim_script_answer(run, false);
        return;
    }
    bool wrote = sim_rw_mode_is(&rw, "write");
    if (!take_out(&rw, field, i))
        return;
    if (wrote && sim_rw_count(&rw, &rw.writer) > 0) {
        sim_script_answer(run, true);
        return;
    }
    int64_t left_ms = longest_ms(&rw);
    bool reads_on = wrote && left_ms > 0;
    if (!set_end(&rw, left_ms) ||
        (reads_on && !sim_rw_set_mode(&rw, "read", "call('HSET', KEYS[1], 'mode', 'read')")))
        return;
    if (!silent && (reads_on || left_ms <= 0))
        turn_over(run, wrote);
    sim_script_answer(run, true);
}
