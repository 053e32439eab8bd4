/* lease_parts.h - what claim*.c share, and nobody else. */
#ifndef RL_CLAIM_PARTS_H
#define RL_CLAIM_PARTS_H

#include "engine/lease.h"

/* lease_pool.c: rl_claim_new(), but for what its timer does. */
int rl_claim_take(redlock *client, const struct rl_target *target, const char *token,
                  struct rl_claim **ret_claim);

/* lease_watch.c: the extension of a watched lease is over, whatever came of it; the one place
 * that says whether its renewal waits for masters. */
void rl_watch_asked_no_more(struct rl_claim *claim);
void rl_watch_set_starved(struct rl_claim *claim, bool starved);

/* lease_pool.c: its hold has come to its end, what is left is to be rid of its keys. */
void rl_claim_ends(struct rl_claim *claim);

/* lease_own.c: while it is asked for or held, a claim of a kind with owners is found by its
 * name. Room for one more: 0 or ENOMEM; then it finds its place. Of other kinds: nothing. */
int rl_claims_reserve_name(redlock *client, const struct rl_kind *kind);
void rl_claim_name(struct rl_claim *claim);
void rl_claim_unname(struct rl_claim *claim);
void rl_claims_forget_names(redlock *client);

/* The one place where a hold's wishes (RL_DID_*, RL_WANTS_*) are carried out. */
void rl_claim_react(struct rl_claim *claim, unsigned did, int64_t now_ns);

/* Tell the op what a node said. */
void rl_claim_hear(struct rl_claim *claim, struct rl_node *node, enum rl_verb verb,
                   const struct rl_judged *judged);

/* Send a taking verb to `nodes`, as long as the hold wants it sent. Returns what the hold
 * did about those that could not be reached. */
unsigned rl_claim_send_taking(struct rl_claim *claim, enum rl_verb verb, uint64_t nodes,
                              int64_t now_ns);

#endif
