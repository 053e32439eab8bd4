/* reachability.c - the contenders that a fault cuts off from a master, and the state in which
 * it leaves a master. The engine does faults by these rules; the checker and the report judge
 * by them. */
#include "config_auto.h"

#include "chaos/chaos.h"

#include <assert.h>

static bool has_bit(uint64_t mask, unsigned bit)
{
    return (mask >> bit & 1) != 0;
}

bool chaos_fault_cuts(const struct chaos_fault *fault, unsigned nodes, unsigned client,
                      unsigned node)
{
    assert(client < CHAOS_CLIENTS_MAX && node < nodes && nodes <= REDLOCK_NODES_MAX);
    bool its_node = has_bit(fault->nodes, node);
    bool its_client = has_bit(fault->clients, client);
    bool anyone = fault->clients == 0; /* it names none: all of them */
    switch (fault->kind) {
    case CHAOS_FAULT_PARTITION:
    case CHAOS_FAULT_PARTITION_THERE:
    case CHAOS_FAULT_PARTITION_BACK:
        return its_node && (its_client || anyone);
    case CHAOS_FAULT_HALVES:
        return its_node != its_client;
    case CHAOS_FAULT_RING:
        return (its_client || anyone) &&
               (node + nodes - client % nodes) % nodes >= nodes / 2 + 1;
    default:
        return false;
    }
}

/* The state in which a fault in force leaves a node that it is about. A clock that is stepped
 * back makes a quarantine longer. */
static enum chaos_node_state state_under(const struct chaos_options *options,
                                         enum chaos_fault_kind kind)
{
    switch (kind) {
    case CHAOS_FAULT_KILL:
    case CHAOS_FAULT_KILL_AOF:
    case CHAOS_FAULT_KILL_RDB:
    case CHAOS_FAULT_DISCONNECT:
        return CHAOS_NODE_DOWN;
    case CHAOS_FAULT_PAUSE:
    case CHAOS_FAULT_CLIENT_PAUSE:
    case CHAOS_FAULT_SLEEP:
        return CHAOS_NODE_SILENT;
    case CHAOS_FAULT_OOM:
    case CHAOS_FAULT_MEMBERS: /* for some */
    case CHAOS_FAULT_MEMBERS_AT_ONCE:
        return CHAOS_NODE_NO_VOTE;
    case CHAOS_FAULT_FLUSHALL:
        return options->markers || options->certified ? CHAOS_NODE_NO_VOTE : CHAOS_NODE_UP;
    case CHAOS_FAULT_CLOCK_BACK:
        return options->markers ? CHAOS_NODE_NO_VOTE : CHAOS_NODE_UP;
    case CHAOS_FAULT_WARM:
        return options->client_cmd == NULL ? CHAOS_NODE_NO_VOTE : CHAOS_NODE_UP;
    default:
        return CHAOS_NODE_UP;
    }
}

int64_t chaos_guard_ns(const struct chaos_history *history)
{
    return history->options->client_cmd == NULL ? history->guard_ns : 0;
}

enum chaos_node_state chaos_node_state(const struct chaos_history *history, unsigned node,
                                       int64_t at_ns)
{
    enum chaos_node_state worst = CHAOS_NODE_UP;
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (!has_bit(fault->nodes, node) || fault->begun_ns == 0 || fault->begun_ns > at_ns)
            continue;
        enum chaos_node_state state = CHAOS_NODE_UP;
        if (fault->undone_ns == 0 || at_ns < fault->undone_ns)
            state = state_under(history->options, fault->kind);
        else if (chaos_fault_guarded(history->options, fault->kind) &&
                 at_ns < fault->undone_ns + chaos_guard_ns(history))
            state = CHAOS_NODE_NO_VOTE;
        if (state > worst)
            worst = state;
    }
    return worst;
}
