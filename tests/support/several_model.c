/* several_model.c - see several_model.h. */
#include "config_auto.h"

#include "several_model.h"

#include <stdio.h>
#include <string.h>

struct run {
    struct model *model;
    struct model_lock *locks;
    unsigned names;
    const struct model_call *call;
    struct span when;
    struct several_told told;
};

/* What the script for one name does with one of them. */
static bool do_one(struct run *run, unsigned i, enum rl_verb verb, unsigned *ret_place)
{
    struct model_told one = model_run(run->model, &run->locks[i], verb, run->call, run->when);
    if (one.called >= 0)
        run->told.called[run->told.calls++] = one.called;
    if (ret_place)
        *ret_place = one.place;
    return one.yes;
}

static bool do_all(struct run *run, enum rl_verb verb)
{
    bool all = true;
    for (unsigned i = 0; i < SEVERAL_MAX; i++) {
        if (run->names & 1u << i)
            all &= do_one(run, i, verb, NULL);
    }
    return all;
}

enum state { FREE, MINE, KEPT, ANOTHERS };

static enum state state_of(const struct run *run, unsigned i, bool waits)
{
    const struct model_lock *lock = &run->locks[i];
    if (!lock->holder[0])
        return FREE;
    if (waits && model_kept_for(lock, run->call->waiter))
        return KEPT;
    return run->call->token && strcmp(lock->holder, run->call->token) == 0 ? MINE : ANOTHERS;
}

/* The first name that is in none of these states; SEVERAL_MAX: there is none. */
static unsigned first_not(const struct run *run, bool waits, enum state one, enum state other)
{
    for (unsigned i = 0; i < SEVERAL_MAX; i++) {
        enum state state = state_of(run, i, waits);
        if ((run->names & 1u << i) && state != one && state != other)
            return i;
    }
    return SEVERAL_MAX;
}

static void refuse(struct run *run, unsigned first, bool waits)
{
    const struct model_lock *lock = &run->locks[first];
    struct frame_answer *answer = &run->told.answer;
    answer->parts = waits ? 5 : 4;
    answer->left.low_ms = lock->end.low_ms - run->when.high_ms;
    answer->left.high_ms = lock->end.high_ms - run->when.low_ms;
    snprintf(answer->holder, sizeof(answer->holder), "%s", lock->holder);
}

/* What is kept for it and may run out before: it comes back for that. */
static void come_back_for(struct run *run, const struct model_lock *lock)
{
    struct span *left = &run->told.answer.left;
    if (lock->end.low_ms - run->when.high_ms < left->low_ms)
        left->low_ms = lock->end.low_ms - run->when.high_ms;
    if (lock->end.high_ms - run->when.low_ms < left->high_ms)
        left->high_ms = lock->end.high_ms - run->when.low_ms;
}

/* Who has waited for longer gets what is kept for this one; if it listens. */
static bool is_wanted(const struct run *run, const struct model_lock *lock)
{
    return lock->queued > 0 && lock->queue[0].waiter != run->call->waiter &&
           lock->queue[0].rank < run->call->rank;
}

static void give_way(struct run *run, unsigned i)
{
    struct model_lock *lock = &run->locks[i], kept = *lock;
    unsigned calls = run->told.calls;
    do_one(run, i, RL_DEQUEUE, NULL);
    if (run->told.calls > calls)
        return;
    memcpy(lock->holder, kept.holder, sizeof(kept.holder));
    lock->end = kept.end;
}

/* Queued for what others have; what is free is left to waiters for that alone. */
static bool wait(struct run *run)
{
    unsigned first = first_not(run, true, FREE, KEPT), place = 0;
    if (first == SEVERAL_MAX)
        return do_all(run, RL_ACQUIRE_OR_QUEUE);
    refuse(run, first, true);
    for (unsigned i = 0; i < SEVERAL_MAX; i++) {
        if (!(run->names & 1u << i))
            continue;
        enum state state = state_of(run, i, true);
        if (state == KEPT && (run->call->yields || is_wanted(run, &run->locks[i])))
            give_way(run, i);
        else if (state == KEPT)
            come_back_for(run, &run->locks[i]);
        else
            do_one(run, i, state == FREE ? RL_DEQUEUE : RL_ACQUIRE_OR_QUEUE,
                   i == first ? &place : NULL);
    }
    run->told.answer.place = place;
    return false;
}

static bool decide(struct run *run, enum rl_verb verb)
{
    unsigned first;
    switch (verb) {
    case RL_ACQUIRE:
        first = first_not(run, false, FREE, FREE);
        if (first == SEVERAL_MAX)
            return do_all(run, verb);
        refuse(run, first, false);
        return false;
    case RL_ACQUIRE_OR_QUEUE:
        return wait(run);
    case RL_EXTEND:
        return first_not(run, false, MINE, MINE) == SEVERAL_MAX && do_all(run, verb);
    case RL_RETAKE:
        return first_not(run, false, MINE, FREE) == SEVERAL_MAX && do_all(run, verb);
    case RL_RELEASE:
    case RL_DEQUEUE:
        return do_all(run, verb);
    default:
        suite_die("several names know no verb %d", (int)verb);
    }
}

struct several_told several_run(struct model *model, struct model_lock locks[SEVERAL_MAX],
                                unsigned names, enum rl_verb verb,
                                const struct model_call *call, struct span when)
{
    struct run run = {
        .model = model, .locks = locks, .names = names, .call = call, .when = when};
    run.told.answer.parts = 2;
    run.told.answer.code = decide(&run, verb);
    return run.told;
}
