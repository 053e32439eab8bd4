/* scripts_model.c - see scripts_model.h. */
#include "config_auto.h"

#include "scripts_model.h"

#include <stdio.h>
#include <string.h>

const char *model_waiter(unsigned waiter, char ret_text[RL_WAITER_MAX])
{
    return talk_waiter(1 + waiter / 2, 1 + waiter % 2, ret_text);
}

void model_set(struct model_lock *lock, const char *holder, int64_t ttl_ms, struct span when)
{
    snprintf(lock->holder, sizeof(lock->holder), "%s", holder);
    lock->end.low_ms = when.low_ms + ttl_ms;
    lock->end.high_ms = when.high_ms + ttl_ms;
}

bool model_kept(const struct model_lock *lock)
{
    return strncmp(lock->holder, RL_RESERVED_PREFIX, strlen(RL_RESERVED_PREFIX)) == 0;
}

bool model_kept_for(const struct model_lock *lock, unsigned waiter)
{
    char text[RL_WAITER_MAX];
    return model_kept(lock) &&
           strcmp(lock->holder + strlen(RL_RESERVED_PREFIX), model_waiter(waiter, text)) == 0;
}

bool model_queue_is(struct talk *talk, const char *queue, const struct model_lock *lock)
{
    struct wire_item items[WIRE_ITEMS_MAX];
    const char *const words[] = {"ZRANGE", queue, "0", "-1"};
    const size_t lens[] = {6, strlen(queue), 1, 2};
    bool same = talk_ask(talk, 4, words, lens, items) == 1 + lock->queued;
    for (unsigned k = 0; same && k < lock->queued; k++) {
        char waiter[RL_WAITER_MAX];
        model_waiter(lock->queue[k].waiter, waiter);
        same = items[1 + k].len == strlen(waiter) &&
               memcmp(items[1 + k].bytes, waiter, items[1 + k].len) == 0;
    }
    return same;
}

static void drop(struct model_lock *lock, unsigned waiter)
{
    unsigned left = 0;
    for (unsigned i = 0; i < lock->queued; i++)
        if (lock->queue[i].waiter != waiter)
            lock->queue[left++] = lock->queue[i];
    lock->queued = left;
}

static unsigned enter(struct model_lock *lock, unsigned waiter, int rank)
{
    drop(lock, waiter);
    unsigned place = lock->queued++;
    for (; place > 0 && lock->queue[place - 1].rank > rank; place--)
        lock->queue[place] = lock->queue[place - 1];
    lock->queue[place] = (struct model_entry){.waiter = waiter, .rank = rank};
    return place;
}

static void hand_on(struct model *model, struct model_lock *lock, int64_t reserve_ms,
                    struct span when, struct model_told *told)
{
    while (lock->queued > 0) {
        unsigned first = lock->queue[0].waiter;
        drop(lock, first);
        if (model->listens[first / 2]) {
            char waiter[RL_WAITER_MAX], holder[MODEL_HOLDER_MAX];
            snprintf(holder, sizeof(holder), RL_RESERVED_PREFIX "%s",
                     model_waiter(first, waiter));
            model_set(lock, holder, reserve_ms, when);
            told->called = (int)first;
            model->tally.woken++;
            return;
        }
        model->tally.skipped++;
    }
    model->tally.nobody_left++;
}

/* Upwards only. Where it can't be known from here which is longer, the end is either. */
static void lengthen(struct model_lock *lock, int64_t ttl_ms, struct span when)
{
    if (lock->end.low_ms < when.low_ms + ttl_ms && lock->end.high_ms < when.low_ms + ttl_ms)
        lock->end.low_ms = when.low_ms + ttl_ms;
    if (lock->end.high_ms < when.high_ms + ttl_ms)
        lock->end.high_ms = when.high_ms + ttl_ms;
}

static bool acquire(struct model *model, struct model_lock *lock, bool waits,
                    const struct model_call *call, struct span when, struct model_told *told)
{
    bool kept = waits && model_kept_for(lock, call->waiter);
    if (lock->holder[0] && !kept) {
        if (waits)
            told->place = enter(lock, call->waiter, call->rank);
        return false;
    }
    model->tally.kept_taken += kept;
    model_set(lock, call->token, call->ttl_ms, when);
    if (waits)
        drop(lock, call->waiter);
    return true;
}

static bool leave(struct model *model, struct model_lock *lock, const struct model_call *call,
                  struct span when, struct model_told *told)
{
    drop(lock, call->waiter);
    if (model_kept_for(lock, call->waiter))
        model_free(lock);
    if (!lock->holder[0])
        hand_on(model, lock, call->reserve_ms, when, told);
    return true;
}

static bool give_up(struct model *model, struct model_lock *lock, bool force,
                    const struct model_call *call, struct span when, struct model_told *told)
{
    bool had = lock->holder[0] && (force || strcmp(lock->holder, call->token) == 0);
    if (had)
        model_free(lock);
    lock->broken |= had && force;
    if (!lock->holder[0] && (force || call->reserve_ms > 0))
        hand_on(model, lock, call->reserve_ms, when, told);
    return had;
}

static bool run(struct model *model, struct model_lock *lock, enum rl_verb verb,
                const struct model_call *call, struct span when, struct model_told *told)
{
    bool mine = lock->holder[0] && call->token && strcmp(lock->holder, call->token) == 0;
    switch (verb) {
    case RL_ACQUIRE:
    case RL_ACQUIRE_OR_QUEUE:
        return acquire(model, lock, verb == RL_ACQUIRE_OR_QUEUE, call, when, told);
    case RL_EXTEND:
        if (mine)
            lengthen(lock, call->ttl_ms, when);
        return mine;
    case RL_RETAKE:
        if (mine)
            lengthen(lock, call->ttl_ms, when);
        else if (!lock->holder[0])
            model_set(lock, call->token, call->ttl_ms, when);
        return strcmp(lock->holder, call->token) == 0;
    case RL_RELEASE:
    case RL_FORCE:
        return give_up(model, lock, verb == RL_FORCE, call, when, told);
    case RL_DEQUEUE:
        return leave(model, lock, call, when, told);
    case RL_INSPECT:
        return !lock->holder[0];
    default:
        suite_die("the model knows no verb %d", (int)verb);
    }
}

struct model_told model_run(struct model *model, struct model_lock *lock, enum rl_verb verb,
                            const struct model_call *call, struct span when)
{
    struct model_told told = {.parts = 2, .called = -1};
    told.yes = run(model, lock, verb, call, when, &told);
    told.noted = verb == RL_EXTEND && !told.yes && lock->broken;
    if (verb == RL_INSPECT)
        told.parts = 5; /* test_scripts_look knows what the last one says */
    if (!told.yes &&
        (verb == RL_ACQUIRE || verb == RL_INSPECT || verb == RL_ACQUIRE_OR_QUEUE)) {
        told.parts = verb == RL_ACQUIRE ? 4 : 5;
        told.left.low_ms = lock->end.low_ms - when.high_ms;
        told.left.high_ms = lock->end.high_ms - when.low_ms;
        snprintf(told.holder, sizeof(told.holder), "%s", lock->holder);
    }
    (told.yes ? model->tally.taken : model->tally.refused)[verb]++;
    return told;
}
