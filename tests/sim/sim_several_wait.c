/* sim_several_wait.c - lib/kinds/name_set/several_wait.lua, said in C: who waits for several
 * names takes all, or stands in the queues of those that others have. */
#include "config_auto.h"

#include "sim_several.h"

#include <stdio.h>

/* What a waiting round finds, name by name. */
struct round {
    const struct sim_word *waiter;
    enum { FREE, KEPT, BLOCKED } state[SIM_WORDS_MAX]; /* from 1 */
    unsigned first;                                    /* that is blocked; 0: none */
    struct sim_word holder;                            /* of that one */
    char shown[SIM_SHOWN_MAX];
    int64_t left_ms, place;
    bool enters; /* the queues, as far as it came */
    double since;
    int64_t stays_ms; /* what is kept for it */
    bool yields;      /* it hands that on */
};

/* False: it has been answered, or has failed. */
static bool look_at_all(struct sim_run *run, struct round *round)
{
    static const int64_t nowhere = -1;
    const char *error;
    const struct sim_key *key;
    for (unsigned i = 1; i <= sim_several_names(run); i++) {
        const struct sim_word *lock = sim_keys_at(run, i);
        enum sim_seen seen = sim_several_look(run, lock, &key, &error);
        if (seen == SIM_NO_STRING) {
            if (sim_several_left(run, lock, &round->left_ms))
                sim_several_foreign_data(run, lock, error, round->left_ms, &nowhere);
            return false;
        }
        round->state[i] = seen == SIM_NOBODY                 ? FREE
                          : sim_kept_for(key, round->waiter) ? KEPT
                                                             : BLOCKED;
        if (round->state[i] != BLOCKED || round->first)
            continue;
        struct sim_word holder = sim_value_of(key); /* others' keys come and go below */
        memcpy(round->shown, holder.bytes, holder.len);
        round->holder = (struct sim_word){round->shown, holder.len};
        round->first = i;
    }
    return true;
}

static void take_all(struct sim_run *run, const struct round *round)
{
    bool there;
    for (unsigned i = 1; i <= sim_several_names(run); i++) {
        if (!sim_several_takes(run, sim_keys_at(run, i)))
            return;
        sim_script_zrem(run, sim_several_queue(run, i), round->waiter, &there);
    }
    sim_script_answer(run, true);
}

/* Has somebody waited for longer for what is kept for us? */
static bool is_wanted(struct sim_run *run, const struct round *round, unsigned i)
{
    const struct sim_member *head;
    return !sim_script_head(run, sim_several_queue(run, i), &head) && round->enters && head &&
           sim_is_waiter(head->text, head->len) &&
           (head->len != round->waiter->len ||
            memcmp(head->text, round->waiter->bytes, head->len) != 0) &&
           head->score < round->since;
}

/* It is kept for us, and stays so for a while. False: the script has failed. */
static bool keep(struct sim_run *run, struct round *round, const struct sim_word *lock)
{
    char text[32];
    int64_t left_ms;
    const char *error = sim_script_pttl(run, lock, &left_ms);
    assert(!error); /* as it was for the first one */
    if (left_ms < round->stays_ms) {
        int len = snprintf(text, sizeof(text), "%lld", (long long)round->stays_ms);
        error = sim_script_pexpire(run, lock, &(struct sim_word){text, (size_t)len});
    }
    if (error) {
        sim_script_fail(run, "redis.call('PEXPIRE', lock", error);
        return false;
    }
    sim_script_pttl(run, lock, &left_ms);
    if (round->left_ms < 0 || left_ms < round->left_ms)
        round->left_ms = left_ms;
    return true;
}

static void enter_queue(struct sim_run *run, struct round *round, unsigned i)
{
    int64_t rank;
    const struct sim_word *queue = sim_several_queue(run, i);
    if (round->enters && (!sim_is_free_or_ours(run, queue) ||
                          sim_script_zadd(run, queue, round->since, round->waiter)))
        round->enters = false;
    if (!round->enters)
        return;
    sim_script_pexpire(run, queue, sim_argv_at(run, 6));
    sim_script_zrank(run, queue, round->waiter, &rank);
    if (i == round->first)
        round->place = rank;
}

/* False: the script has failed. */
static bool queue_up(struct sim_run *run, struct round *round)
{
    bool there;
    for (unsigned i = 1; i <= sim_several_names(run); i++) {
        const struct sim_word *lock = sim_keys_at(run, i);
        if (round->state[i] == KEPT && !round->yields && !is_wanted(run, round, i)) {
            if (!keep(run, round, lock))
                return false;
            continue;
        }
        if (round->state[i] == BLOCKED) {
            enter_queue(run, round, i);
            continue;
        }
        sim_script_zrem(run, sim_several_queue(run, i), round->waiter, &there);
        if (!sim_wake_next(run, lock, sim_several_queue(run, i), sim_argv_at(run, 7)))
            return false;
    }
    return true;
}

/* As Lua's math.floor; of larger numbers there are none but whole ones. */
static double whole_below(double number)
{
    if (!(number > -9e15 && number < 9e15))
        return number;
    double whole = (double)(int64_t)number;
    return whole > number ? whole - 1 : whole;
}

/* A quarter of the time waited, half a second at most, what is below 0 is all the same; and
 * nothing in every fourth second. */
static void decide_for_how_long(struct round *round, const struct sim_word *age)
{
    double age_us;
    bool number = sim_lua_number(age, &age_us);
    round->stays_ms = -1;
    if (number && age_us >= 0)
        round->stays_ms = age_us / 4000 < 500 ? (int64_t)(age_us / 4000) : 500;
    round->yields = number && age_us - whole_below(age_us / 4e6) * 4e6 >= 3e6;
}

void sim_several_wait(struct sim_run *run)
{
    struct round round = {.waiter = sim_argv_at(run, 4), .enters = true, .place = -1};
    const struct sim_word *age = sim_argv_at(run, 5);
    if (!sim_several_waiter(run, round.waiter) || !look_at_all(run, &round))
        return;
    if (!round.first) {
        take_all(run, &round);
        return;
    }
    if (!sim_several_left(run, sim_keys_at(run, round.first), &round.left_ms) ||
        !sim_waits_since(run, age, &round.since))
        return;
    decide_for_how_long(&round, age);
    if (!queue_up(run, &round))
        return;
    int64_t place = round.enters ? round.place : -1;
    sim_script_refuse(run, RL_REFUSED, round.left_ms, &round.holder, &place);
}
