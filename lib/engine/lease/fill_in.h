/* fill_in.h - masters that come back get the keys of the locks that are held. */
#ifndef RL_FILL_IN_H
#define RL_FILL_IN_H

#include "engine/masters/voters.h"

#include <redlock.h>

struct rl_lease;
struct rl_leases;

/* Is there a node to fill in, or to wait for? */
static inline bool rl_fill_in_busy(const struct rl_fill_in *fill_in)
{
    return (fill_in->away | fill_in->back | fill_in->refused) != 0;
}

void rl_fill_in_init(struct rl_fill_in *fill_in);

/* When to go on, or to ask again where another's key stood; INT64_MAX: never. */
int64_t rl_fill_in_due_ns(const struct rl_fill_in *fill_in);

/* A round begins without these nodes. */
void rl_fill_in_left_out(struct rl_voters *voters, uint64_t nodes, int64_t now_ns);

/* A node is UP or lost, or what is known of its server has changed. */
void rl_fill_in_node_changed(struct rl_voters *voters, const struct rl_node *node);

/* A held lock's key was refused there, since another's stands in its place. */
void rl_fill_in_refused(struct rl_voters *voters, unsigned node, int64_t now_ns);

/* A lease has its turn, or is not open any more. */
void rl_fill_in_pass_over(const struct rl_lease *lease);

/* Those of `away` that vote now are back: begin with the first lease, also for those that are
 * being filled in already. */
void rl_fill_in_begin(struct rl_voters *voters, struct rl_leases *leases, int64_t now_ns);

/* Can all that are back take more requests? If not, one would be left out, and left behind. */
bool rl_fill_in_has_room(struct rl_voters *voters, struct rl_leases *leases, int64_t now_ns);

/* lease_fill.c: time passed, or a node has answered. Only if busy. */
void rl_fill_in_tick(redlock *client, int64_t now_ns);

#endif
