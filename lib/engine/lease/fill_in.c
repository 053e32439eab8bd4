/* fill_in.c - see fill_in.h: which masters are away, and which are back. lease_fill.c sends. */
#include "config_auto.h"

#include "engine/lease/lease.h"

#include <assert.h>

#define AGAIN_MIN_NS (200 * RL_NS_PER_MS)
#define AGAIN_MAX_NS (10 * RL_NS_PER_S)
#define CALM_NS RL_NS_PER_S /* so long after a node was asked again, a refusal is another one */

void rl_fill_in_init(struct rl_fill_in *fill_in)
{
    fill_in->due_ns = INT64_MAX;
    rl_backoff_init(&fill_in->pause, AGAIN_MIN_NS, AGAIN_MAX_NS);
}

int64_t rl_fill_in_due_ns(const struct rl_fill_in *fill_in)
{
    return fill_in->refused ? rl_earlier_ns(fill_in->due_ns, fill_in->again_ns)
                            : fill_in->due_ns;
}

void rl_fill_in_left_out(struct rl_voters *voters, uint64_t nodes, int64_t now_ns)
{
    assert((nodes & ~rl_all(voters->n)) == 0);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        /* One that has too many requests votes all the same: nothing will tell of its return. */
        if (rl_node_standing(voters->node[i], now_ns) <= RL_STANDING_STALLED)
            voters->fill_in.away |= rl_bit(i);
    }
}

void rl_fill_in_node_changed(struct rl_voters *voters, const struct rl_node *node)
{
    assert(node->index < voters->n);
    if (node->mode != RL_UP || !rl_node_is_fit(node) || node->forgot)
        voters->fill_in.away |= rl_bit(node->index);
}

/* R8: A contender that lost has a key on a minority, until its release comes. To wait for the
 * next renewal would be late after a long first lease, and the lock would rest on one master less
 * until then. A key that stays costs a request in AGAIN_MAX_NS, as renewals do. */
void rl_fill_in_refused(struct rl_voters *voters, unsigned node, int64_t now_ns)
{
    struct rl_fill_in *fill_in = &voters->fill_in;
    assert(node < voters->n);
    if (!fill_in->refused) {
        if (now_ns - fill_in->again_ns > CALM_NS)
            rl_backoff_reset(&fill_in->pause);
        fill_in->again_ns =
            now_ns + rl_backoff_calm_ns(&fill_in->pause, voters->settings->prng);
    }
    fill_in->refused |= rl_bit(node);
}

void rl_fill_in_pass_over(const struct rl_lease *lease)
{
    struct rl_fill_in *fill_in = &lease->voters->fill_in;
    if (fill_in->next == lease)
        fill_in->next = RL_NEXT(fill_in->next, struct rl_lease, entry);
}

/* R8: Only nodes that vote now. */
void rl_fill_in_begin(struct rl_voters *voters, struct rl_leases *leases, int64_t now_ns)
{
    struct rl_fill_in *fill_in = &voters->fill_in;
    if (fill_in->refused && now_ns >= fill_in->again_ns) {
        fill_in->away |= fill_in->refused;
        fill_in->refused = 0;
    }
    uint64_t nodes = fill_in->away ? fill_in->away & rl_voters_to_ask(voters, now_ns) : 0;
    if (!nodes)
        return;
    for (uint64_t rest = nodes; rest; rest &= rest - 1) {
        struct rl_node *node = voters->node[rl_first(rest)];
        if (node->forgot)
            fill_in->forgot |= rl_bit(node->index);
        node->forgot = false;
    }
    fill_in->away &= ~nodes;
    fill_in->back |= nodes;
    fill_in->next = RL_FIRST(&leases->open, struct rl_lease, entry);
    fill_in->due_ns = now_ns;
}

/* Nodes that do not vote any more are away again. */
static void drop(struct rl_voters *voters, uint64_t nodes)
{
    struct rl_fill_in *fill_in = &voters->fill_in;
    fill_in->back &= ~nodes;
    fill_in->away |= nodes;
}

bool rl_fill_in_has_room(struct rl_voters *voters, struct rl_leases *leases, int64_t now_ns)
{
    struct rl_fill_in *fill_in = &voters->fill_in;
    bool room = !rl_renewals_wait(leases);
    for (uint64_t rest = fill_in->back; rest; rest &= rest - 1) {
        unsigned i = rl_first(rest);
        enum rl_standing standing = rl_node_standing(voters->node[i], now_ns);
        if (standing <= RL_STANDING_STALLED)
            drop(voters, rl_bit(i));
        else if (standing != RL_STANDING_READY)
            room = false;
    }
    return room;
}
