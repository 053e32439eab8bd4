/* lease_parts.h - what lease*.c and renewal*.c share. */
#ifndef RL_LEASE_PARTS_H
#define RL_LEASE_PARTS_H

#include "engine/lease/lease.h"

/* lease_pool.c: rl_lease_new() without the timer's handler. */
int rl_lease_take(redlock *client, const struct rl_target *target, const char *token,
                  struct rl_lease **ret_lease);

/* renewal_state.c: the extension of a renewed lease has ended, with success or without. The
 * only setter of renewal.lacks_quorum. */
void rl_renewal_extension_over(struct rl_lease *lease);
void rl_renewal_set_lacks_quorum(struct rl_lease *lease, bool lacks_quorum);

/* A renewal that is due waits for its turn; it waits no more; when the lease counts as lost. */
void rl_renewal_queue(struct rl_lease *lease);
void rl_renewal_unqueue(struct rl_lease *lease);
int64_t rl_renewal_lost_ns(const struct rl_lease *lease);

/* renewal.c: it is its turn; there is no hope for it. */
void rl_renewal_extend(struct rl_lease *lease, int64_t now_ns);
void rl_renewal_wait_for_loss(struct rl_lease *lease);

/* lease_pool.c: the hold has ended, and its keys must be deleted. */
void rl_lease_start_release(struct rl_lease *lease);

/* lease_own.c: an index by name of the open leases whose kind has owners. Reserve room for one
 * more (0 or ENOMEM), add it, remove it. Other kinds are ignored. */
int rl_leases_reserve_name(struct rl_leases *leases, const struct rl_kind *kind);
void rl_lease_add_name(struct rl_lease *lease);
void rl_lease_remove_name(struct rl_lease *lease);

/* Carry out what the hold asks for (RL_DO_*) and report its events (RL_EV_*). Only here. */
void rl_lease_on_hold_events(struct rl_lease *lease, unsigned events, int64_t now_ns);

/* Pass a node's vote to the call. */
void rl_lease_on_vote(struct rl_lease *lease, struct rl_node *node, enum rl_verb verb,
                      const struct rl_vote_reply *vote_reply);

/* Send a taking verb to `nodes`, as long as the hold wants it sent. Returns the hold's events
 * for nodes that could not be reached. */
unsigned rl_lease_send_taking(struct rl_lease *lease, enum rl_verb verb, uint64_t nodes,
                              int64_t now_ns);

#endif
