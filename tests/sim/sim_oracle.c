/* sim_oracle.c - see sim_oracle.h: verdicts, assumptions, and calls that are done once. */
#include "config_auto.h"

#include "sim_judge.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { CALLS_MAX = 1024, MARK_FOUND = 0x301, MARK_CALL = 0x302, MARK_CALLED = 0x303 };

static struct sim_verdict verdict;
static unsigned broken; /* assumptions, a bit each */

/* Calls that have not ended, by number; 0: a free place. */
static struct call {
    uint64_t number;
    const char *what;
    const struct sim_proc *proc;
} calls[CALLS_MAX];
static uint64_t last_call;

const char *sim_oracle_name(enum sim_oracle oracle)
{
    static const char *const names[SIM_ORACLES] = {
        [SIM_OVERLAP] = "overlap",
        [SIM_REVIVED] = "revived",
        [SIM_FOREIGN_WRITE] = "foreign write",
        [SIM_TWICE] = "twice",
        [SIM_TOO_LONG] = "too long",
        [SIM_ORPHAN] = "orphan",
        [SIM_STARVED] = "starved",
        [SIM_LEAK] = "leak",
        [SIM_UNFAIR] = "unfair",
        [SIM_WRONG_RESULT] = "wrong result",
        [SIM_UNFENCED] = "unfenced",
        [SIM_TOO_SOON] = "too soon",
        [SIM_UNWITNESSED] = "unwitnessed",
    };
    return names[oracle];
}

const char *sim_assumption_name(enum sim_assumption assumption)
{
    static const char *const names[SIM_ASSUMPTIONS] = {
        [SIM_KEYS_STAY] = "keys stay",         [SIM_GUARD_ON] = "guard on",
        [SIM_NO_STEP] = "no clock steps",      [SIM_RATES] = "clock rates",
        [SIM_TIME_COUNTS] = "all time counts", [SIM_ONE_SERVER] = "one server a node",
        [SIM_ONE_LIST] = "one list of nodes",  [SIM_STEADY] = "steady clients' clocks",
        [SIM_REMEMBER] = "Sentinels remember", [SIM_CUT] = "demotions cut connections",
    };
    return names[assumption];
}

void sim_oracle_begin(void)
{
    memset(&verdict, 0, sizeof(verdict));
    memset(calls, 0, sizeof(calls));
    broken = 0;
    sim_oracle_max_ttl_ns = 0;
    last_call = 0;
    sim_holds_begin();
    sim_order_begin();
    sim_fences_begin();
    sim_witnessed_begin();
}

void sim_oracle_end(void)
{
    sim_holds_end();
}

void sim_broke(enum sim_assumption assumption)
{
    if (!(broken & 1u << assumption) && sim_tells())
        sim_tell("an assumption is broken: %s", sim_assumption_name(assumption));
    broken |= 1u << assumption;
}

unsigned sim_assumptions_broken(void)
{
    return broken;
}

const struct sim_verdict *sim_verdict(void)
{
    return &verdict;
}

bool sim_violated(void)
{
    for (unsigned i = 0; i < SIM_ORACLES; i++) {
        if (verdict.violations[i])
            return true;
    }
    return false;
}

/* Did a fair lock lose a key by itself? */
static bool any_evicted(void)
{
    for (unsigned i = 0; i < sim_master_count(); i++) {
        if (sim_order_evicted(i))
            return true;
    }
    return false;
}

bool sim_oracle_strict;
int64_t sim_oracle_max_ttl_ns;

/* What a broken assumption can cost: that two have the lock. All are served all the same, but
 * for one thing: who waits for a fair lock and is gone is taken for Redisson's, and waited for
 * as long as those are, where the key was evicted by which it is known as ours, or did not come
 * back with the others. That needs no broken assumption. Where the order
 * of waiters can't be told any more sim_order.c does not judge it. A fencing token rests on no
 * client's clock and on no lock's key, but on counters, which masters may lose; not so with
 * `fencing strict`. Nothing excuses a call that is done twice or memory that is lost; nor does
 * anything that happens to keys excuse a foreign write. */
static bool excused(enum sim_oracle oracle)
{
    unsigned forgets = 1u << SIM_KEYS_STAY | 1u << SIM_GUARD_ON | 1u << SIM_NO_STEP |
                       1u << SIM_ONE_SERVER | 1u << SIM_ONE_LIST | 1u << SIM_STEADY;
    if (oracle == SIM_UNFENCED)
        return broken & (sim_oracle_strict ? 1u << SIM_ONE_LIST : forgets);
    /* Of four Sentinels two may be remembered with a later term than they know, and the others
     * not: a client that does is not served before the next failover. */
    if (oracle == SIM_STARVED && broken & 1u << SIM_REMEMBER)
        return true;
    return oracle == SIM_STARVED ? any_evicted()
                                 : broken && (oracle == SIM_OVERLAP || oracle == SIM_TOO_SOON);
}

void sim_found(enum sim_oracle oracle, const char *format, ...)
{
    char text[sizeof(verdict.text)];
    va_list arguments;
    bool cost = excused(oracle);
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    /* The verdict tells the first violation; without one the first cost. */
    if (cost ? verdict.text[0] == '\0' : !sim_violated())
        snprintf(verdict.text, sizeof(verdict.text), "%s: %.236s", sim_oracle_name(oracle),
                 text);
    (cost ? verdict.costs : verdict.violations)[oracle]++;
    sim_mark(MARK_FOUND, oracle, cost);
    sim_tell("%s %s: %s", cost ? "COST" : "VIOLATION", sim_oracle_name(oracle), text);
}

/* ---- calls ---------------------------------------------------------------------------- */

uint64_t sim_call_begins(const char *what)
{
    for (unsigned tried = 0; tried < CALLS_MAX; tried++) {
        struct call *call = &calls[++last_call % CALLS_MAX];
        if (call->number)
            continue;
        *call = (struct call){last_call, what, sim_proc()};
        sim_mark(MARK_CALL, last_call, call->proc ? call->proc->index : 0);
        return last_call;
    }
    assert(false); /* more calls at once than any world has */
    return 0;
}

void sim_call_ends(uint64_t number)
{
    struct call *call = &calls[number % CALLS_MAX];
    if (call->number != number) {
        sim_found(SIM_TWICE, "call %llu is done a second time", (unsigned long long)number);
        return;
    }
    sim_mark(MARK_CALLED, number, 0);
    call->number = 0;
}

void sim_look_for_open_calls(void)
{
    for (unsigned i = 0; i < CALLS_MAX; i++) {
        if (calls[i].number)
            sim_found(SIM_TWICE, "%s of %s was begun and never done", calls[i].what,
                      calls[i].proc ? calls[i].proc->name : "nobody");
        calls[i].number = 0;
    }
}
