/* assumptions.c - which findings a broken assumption may have caused.
 *
 * A lock rests on keys that stay on masters for as long as it is believed. A second holder
 * needs a majority of the masters too. So at least 2 * needed - nodes of them must have lost
 * the first holder's key. They lost it after the first holder began to ask, and before the
 * second one had the lock. The rule: a finding is excused if and only if faults that break an
 * assumption
 *
 *   - acted in that time (their effect may have begun before the second had it, and may have
 *     ended after the first began to ask), and
 *   - acted, taken together, on at least 2 * needed - nodes masters.
 *
 * When a fault that breaks an assumption acts:
 *
 *   - one that deletes keys (flushall), or leads to another server (warm): from when it is
 *     begun until it is undone. Not where the guard is by markers: there it also ends all
 *     connections, so every later vote is by a client that has read the marker since;
 *   - two masters that leave the list (members-at-once): until all contenders have it again;
 *   - a clock that steps forward: at its beginning. Keys that are set later live as long as
 *     they should;
 *   - where the client has no restart guard (--client): a master that may have come back
 *     without its keys, from when the fault is begun until it is undone.
 *
 * Fencing tokens rest on counters that outlive locks: there any earlier loss of keys counts.
 * With `fencing strict` none does, and only other lists are an excuse.
 *
 * Keys left on a master are excused while its clock is stepped back, because older keys live
 * longer by that step. Once the clock is put right no key is excused. Older keys have their own
 * time again, keys set meanwhile a shorter one, and a new process has no keys. */
#include "config_auto.h"

#include "chaos/check/check.h"

#include <assert.h>

/* An immediate fault is done within this time of its beginning. */
#define AT_ONCE_NS (1 * CHAOS_S)

enum chaos_assumption chaos_broken_by(const struct chaos_options *options,
                                      const struct chaos_fault *fault)
{
    const uint64_t proven = CHAOS_BIT_OF(FLUSHALL) | CHAOS_BIT_OF(WARM);
    if (options->client_cmd != NULL && chaos_fault_restarts(fault->kind) &&
        fault->kind != CHAOS_FAULT_KILL_AOF)
        return CHAOS_GUARD;
    if (options->markers && (proven & CHAOS_BIT(fault->kind)) != 0)
        return CHAOS_NONE_BROKEN;
    return chaos_fault_breaks(fault->kind);
}

/* When it acts. False: never. */
static bool acts(const struct chaos_history *history, const struct chaos_fault *fault,
                 int64_t *ret_from_ns, int64_t *ret_to_ns)
{
    if (fault->begun_ns == 0)
        return false;
    *ret_from_ns = fault->begun_ns;
    *ret_to_ns = fault->begun_ns + AT_ONCE_NS;
    switch (chaos_broken_by(history->options, fault)) {
    case CHAOS_NONE_BROKEN:
        return false;
    case CHAOS_NO_STEP:
        return true;
    case CHAOS_KEYS_STAY:
    case CHAOS_ONE_SERVER:
    case CHAOS_ONE_LIST:
        if (fault->undone_ns != 0)
            *ret_to_ns = fault->undone_ns;
        return true;
    case CHAOS_GUARD:
        *ret_to_ns = fault->undone_ns != 0 ? fault->undone_ns : INT64_MAX;
        return true;
    }
    return false;
}

static unsigned masters_of(const struct chaos_history *history, uint64_t nodes)
{
    unsigned count = 0;
    for (unsigned i = 0; i < history->nodes; i++)
        count += (nodes & CHAOS_BIT(i)) != 0;
    return count;
}

const struct chaos_fault *chaos_broken_assumption(const struct chaos_history *history,
                                                  int64_t asked_ns, int64_t taken_ns,
                                                  bool tokens)
{
    assert(asked_ns <= taken_ns);
    const struct chaos_fault *first = NULL;
    uint64_t hit = 0;
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        int64_t from_ns, to_ns;
        if (!acts(history, fault, &from_ns, &to_ns) || from_ns >= taken_ns || to_ns < asked_ns)
            continue;
        enum chaos_assumption broken = chaos_broken_by(history->options, fault);
        if (tokens && (history->options->certified ? broken != CHAOS_ONE_LIST
                                                   : broken == CHAOS_NO_STEP))
            continue;
        hit |= fault->nodes;
        if (first == NULL)
            first = fault;
    }
    unsigned both =
        2 * history->needed > history->nodes ? 2 * history->needed - history->nodes : 1;
    return masters_of(history, hit) >= both ? first : NULL;
}

const struct chaos_fault *chaos_step_back_of(const struct chaos_history *history, unsigned node)
{
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->kind == CHAOS_FAULT_CLOCK_BACK && fault->begun_ns != 0 &&
            fault->undone_ns == 0 && (fault->nodes & CHAOS_BIT(node)) != 0)
            return fault;
    }
    return NULL;
}

const struct chaos_fault *chaos_pause_of(const struct chaos_history *history, unsigned client,
                                         int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->kind == CHAOS_FAULT_PAUSE_HOLDER && fault->begun_ns != 0 &&
            (fault->clients & CHAOS_BIT(client)) != 0 && fault->begun_ns <= to_ns &&
            (fault->undone_ns == 0 || fault->undone_ns >= from_ns))
            return fault;
    }
    return NULL;
}
