/* sim_order.c - the oracle of order: who waits for a fair lock is not overtaken.
 *
 * It keeps a queue of its own, from what clients ask of the master and what that says: whoever
 * is told to wait stands at the end, until it is given the lock, leaves, or is not heard of for
 * as long as the master waits for it. Nobody who does not have the lock may be given it while
 * another one stands before it. What the master keeps is not looked at.
 *
 * Where the master has lost something of its queue, or its clock was set back, nobody can say
 * from outside who is before whom; there the order is not judged any more.
 */
#include "config_auto.h"

#include "sim_judge.h"

#include "kinds/kind.h"
#include "base/limits.h"

#include <stdio.h>
#include <string.h>

enum { WAITERS_MAX = 512, TEXT_MAX = 64 };

static struct waiter {
    unsigned master;
    char name[TEXT_MAX], owner[TEXT_MAX];
    int64_t heard_ms;   /* of the master's clock */
} waiters[WAITERS_MAX]; /* in their order */
static size_t count;
static uint64_t torn, evicted; /* masters, a bit each */
static bool any;               /* fair locks at all */

void sim_order_begin(void)
{
    count = 0;
    torn = evicted = 0;
    any = false;
}

bool sim_order_evicted(unsigned master)
{
    return any && evicted & UINT64_C(1) << master;
}

static void remove_at(size_t i)
{
    count--;
    memmove(&waiters[i], &waiters[i + 1], (count - i) * sizeof(waiters[0]));
}

static bool is_of(const struct waiter *waiter, const struct sim_asked *asked)
{
    return waiter->master == asked->master && strcmp(waiter->name, asked->name) == 0;
}

static void forget(unsigned master)
{
    for (size_t i = count; i-- > 0;) {
        if (waiters[i].master == master)
            remove_at(i);
    }
}

/* They were silent for too long, wherever they stand. */
static void drop_silent(const struct sim_asked *asked)
{
    for (size_t i = count; i-- > 0;) {
        if (is_of(&waiters[i], asked) &&
            waiters[i].heard_ms + RL_FAIR_WAITER_MS < asked->now_ms)
            remove_at(i);
    }
}

/* NULL: it does not wait. */
static struct waiter *find(const struct sim_asked *asked)
{
    for (size_t i = 0; i < count; i++) {
        if (is_of(&waiters[i], asked) && strcmp(waiters[i].owner, asked->owner) == 0)
            return &waiters[i];
    }
    return NULL;
}

static void look_at_grant(const struct sim_asked *asked)
{
    for (size_t i = 0; i < count && !asked->had; i++) {
        const struct waiter *first = &waiters[i];
        if (!is_of(first, asked))
            continue;
        if (strcmp(first->owner, asked->owner) != 0)
            sim_found(SIM_UNFAIR, "%s is given to %s on n%u, and %s waits before it",
                      asked->name, asked->owner, asked->master + 1, first->owner);
        return;
    }
}

static void look_at_waiter(const struct sim_asked *asked)
{
    struct waiter *waiter = find(asked);
    if (!waiter && count == WAITERS_MAX) {
        torn |= UINT64_C(1) << asked->master; /* more than can be told apart */
        forget(asked->master);
        return;
    }
    if (!waiter) {
        waiter = &waiters[count++];
        waiter->master = asked->master;
        snprintf(waiter->name, sizeof(waiter->name), "%s", asked->name);
        snprintf(waiter->owner, sizeof(waiter->owner), "%s", asked->owner);
    }
    waiter->heard_ms = asked->now_ms;
}

void sim_master_asked(const struct sim_asked *asked)
{
    if (!asked->script) {
        forget(asked->master);
        if (asked->torn)
            torn |= UINT64_C(1) << asked->master;
        if (asked->evicted)
            evicted |= UINT64_C(1) << asked->master;
        return;
    }
    any = true;
    if (torn & UINT64_C(1) << asked->master || strcmp(asked->script, "fair_release") == 0)
        return;
    drop_silent(asked);
    bool granted = asked->code == RL_GRANTED;
    if (granted && strcmp(asked->script, "fair_leave") != 0)
        look_at_grant(asked);
    struct waiter *waiter = find(asked);
    if (granted && waiter)
        remove_at((size_t)(waiter - waiters));
    else if (asked->code == RL_REFUSED && asked->place >= 0)
        look_at_waiter(asked);
}
