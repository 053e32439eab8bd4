/* lease_parts.h - what lease*.c share, and nobody else. */
#ifndef RL_LEASE_PARTS_H
#define RL_LEASE_PARTS_H

#include "engine/lease.h"

/* lease_pool.c: rl_lease_new(), but for what its timer does. */
int rl_lease_take(redlock *client, const struct rl_target *target, const char *token,
                  struct rl_lease **ret_lease);

/* renewal_state.c: the extension of a watched lease is over, whatever came of it; the one place
 * that says whether its renewal waits for masters. */
void rl_renewal_extension_over(struct rl_lease *lease);
void rl_renewal_set_lacks_quorum(struct rl_lease *lease, bool starved);

/* lease_pool.c: its hold has come to its end, what is left is to be rid of its keys. */
void rl_lease_start_release(struct rl_lease *lease);

/* lease_own.c: while it is asked for or held, a lease of a kind with owners is found by its
 * name. Room for one more: 0 or ENOMEM; then it finds its place. Of other kinds: nothing. */
int rl_leases_reserve_name(redlock *client, const struct rl_kind *kind);
void rl_lease_add_name(struct rl_lease *lease);
void rl_lease_remove_name(struct rl_lease *lease);
void rl_leases_free_names(redlock *client);

/* The one place where a hold's wishes (RL_EV_*, RL_DO_*) are carried out. */
void rl_lease_on_hold_events(struct rl_lease *lease, unsigned events, int64_t now_ns);

/* Tell the call what a node said. */
void rl_lease_on_vote(struct rl_lease *lease, struct rl_node *node, enum rl_verb verb,
                      const struct rl_vote_reply *vote_reply);

/* Send a taking verb to `nodes`, as long as the hold wants it sent. Returns what the hold
 * did about those that could not be reached. */
unsigned rl_lease_send_taking(struct rl_lease *lease, enum rl_verb verb, uint64_t nodes,
                              int64_t now_ns);

#endif
