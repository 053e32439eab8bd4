/* sim_scripts_fair.c - the scripts of fair locks (lib/kinds/fair/fair_*.lua), said in C. Held
 * against the real ones on a real server by test_sim_master_real. */
#include "config_auto.h"

#include "sim_fair.h"
#include "sim_reentrant.h"

static bool is_free(const struct sim_run *run)
{
    return !sim_script_key(run, sim_keys_at(run, 1));
}

static void wake(const struct sim_fair *fair, const struct sim_word *head)
{
    const struct sim_word *prefix = sim_keys_at(fair->run, 6);
    static struct sim_text channel;
    if (!head->bytes)
        return;
    sim_text_set(&channel, prefix->bytes, prefix->len);
    sim_text_add(&channel, ":", 1);
    sim_text_add(&channel, head->bytes, head->len);
    sim_script_publish(fair->run, &(struct sim_word){channel.bytes, channel.len}, "0");
}

static void refused(enum rl_code code, int64_t left_ms, const char *text, size_t len,
                    struct sim_taken *ret)
{
    *ret = (struct sim_taken){.code = code, .left_ms = left_ms, .len = len};
    memcpy(ret->who, text, len);
}

/* fair_take.lua. False: the script has failed. */
static bool take(struct sim_fair *fair, struct sim_taken *ret)
{
    struct sim_run *run = fair->run;
    const struct sim_word *owner = sim_argv_at(run, 2);
    struct sim_fair_first first;
    if (!sim_fair_first(fair, &first))
        return false;
    if (first.foreign[0]) {
        refused(RL_REPLY_WRONGTYPE, -1, first.foreign, strlen(first.foreign), ret);
        return true;
    }
    bool is_first = first.head.bytes && first.head.len == owner->len &&
                    memcmp(first.head.bytes, owner->bytes, owner->len) == 0;
    if (first.head.bytes && !is_first && is_free(run)) {
        wake(fair, &first.head);
        refused(RL_REFUSED, sim_fair_left_ms(fair, &first.head), first.text, first.head.len,
                ret);
        return true;
    }
    if (!sim_reentrant_take(run, ret))
        return false;
    return ret->code != RL_GRANTED || !first.head.bytes || sim_fair_drop(fair, owner);
}

static void acquire(struct sim_run *run)
{
    struct sim_fair fair;
    struct sim_taken taken;
    if (sim_fair_begin(&fair, run) && take(&fair, &taken))
        sim_taken_answer(run, &taken, NULL);
}

static void retake(struct sim_run *run)
{
    struct sim_fair fair;
    struct sim_taken taken;
    if (sim_fair_begin(&fair, run) && take(&fair, &taken))
        sim_script_answer(run, taken.code == RL_GRANTED);
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* When it would be waited for no more. */
static double end_of_place(const struct sim_fair *fair)
{
    struct sim_run *run = fair->run;
    const struct sim_key *queue = sim_script_key(run, fair->queue);
    double from = 0;
    int64_t lock_ms;
    bool behind = false;
    if (queue) {
        const struct sim_member *last = &queue->member[queue->members - 1];
        behind =
            sim_fair_score(fair, fair->times, &(struct sim_word){last->text, last->len}, &from);
    }
    if (!behind) {
        sim_script_pttl(run, sim_keys_at(run, 1), &lock_ms);
        from = fair->now_ms + (double)lock_ms;
    }
    return (from > fair->now_ms ? from : fair->now_ms) + SIM_FAIR_SHARE_MS;
}

/* At its end, or heard of where it is. A place of -1: the master may not write. */
static bool enter(const struct sim_fair *fair, const struct sim_word *who, int64_t *ret_place)
{
    struct sim_run *run = fair->run;
    double till;
    *ret_place = -1;
    if (!sim_fair_score(fair, fair->times, who, &till)) {
        till = end_of_place(fair);
        if (sim_script_enter(run, SIM_WRITES | SIM_DENYOOM))
            return true;
        sim_list_push(run->call->server, run->call->db, fair->queue, who->bytes, who->len);
        sim_script_zadd(run, fair->times, till, who);
        sim_script_zadd(run, fair->seen, fair->now_ms, who);
    } else {
        if (sim_script_zadd(run, fair->seen, fair->now_ms, who))
            return true;
        sim_script_zrank(run, fair->times, who, ret_place);
        double place = (double)*ret_place;
        if (till < fair->now_ms + (place + 0.5) * SIM_FAIR_SHARE_MS &&
            !sim_fair_move(fair, who, fair->now_ms + (place + 1) * SIM_FAIR_SHARE_MS - till,
                           true))
            return false;
    }
    return sim_fair_set_end(fair) && !sim_script_zrank(run, fair->times, who, ret_place);
}

static void wait(struct sim_run *run)
{
    struct sim_fair fair;
    struct sim_taken taken;
    int64_t place = -1;
    if (!sim_fair_begin(&fair, run) || !take(&fair, &taken))
        return;
    if (taken.code == RL_REFUSED && !enter(&fair, sim_argv_at(run, 2), &place))
        return;
    sim_taken_answer(run, &taken, &place);
}

static void leave(struct sim_run *run)
{
    struct sim_fair fair;
    struct sim_fair_first first;
    if (!sim_fair_begin(&fair, run) || !sim_fair_first(&fair, &first))
        return;
    if (!first.foreign[0]) {
        if (!sim_fair_drop(&fair, sim_argv_at(run, 2)))
            return;
        const struct sim_key *queue = sim_script_key(run, fair.queue);
        if (queue && is_free(run)) {
            const struct sim_member head = queue->member[0];
            wake(&fair, &(struct sim_word){head.text, head.len});
        }
    }
    sim_script_answer(run, true);
}

/* ---- giving up -------------------------------------------------------------------------- */

static void release(struct sim_run *run)
{
    struct sim_fair fair;
    struct sim_fair_first first;
    const struct sim_word *keep = sim_argv_at(run, 4);
    bool silent = keep && keep->len == 1 && keep->bytes[0] == '0', mine;
    if (!sim_reentrant_give(run, &mine) || !sim_fair_begin(&fair, run))
        return;
    if ((mine || !silent) && is_free(run)) {
        size_t said = run->call->out->len;
        if (sim_fair_first(&fair, &first))
            wake(&fair, &first.head);
        run->call->out->len = said; /* pcall(): whatever has failed */
    }
    sim_script_answer(run, mine);
}

const struct sim_known_script sim_scripts_fair[] = {
    {"fair_acquire", acquire}, {"fair_wait", wait},   {"fair_retake", retake},
    {"fair_release", release}, {"fair_leave", leave}, {NULL, NULL},
};
