/* lease.h - one token on N nodes: the hold (core) and the requests that carry it. A lease
 * outlives the call and the user's lock, until no node can have its key. The mutex must be
 * held. */
#ifndef RL_LEASE_H
#define RL_LEASE_H

#include "engine/lease/account.h"
#include "engine/lease/fill_in.h"
#include "engine/loop/call.h"

/* What renewal.c does for a lease that is renewed, or whose loss is reported. */
struct rl_renewal_ops {
    void (*fire)(struct rl_lease *lease, int64_t now_ns); /* the timer has fired */
    /* The hold has changed: RL_EV_*. */
    void (*on_hold_event)(struct rl_lease *lease, unsigned events, int64_t now_ns);
};

struct rl_lease {
    struct rl_timer timer; /* first: renewing, or the end of a release's time */
    struct rl_entry entry; /* in client->leases.open, ->releasing or ->spare */
    redlock *client;
    struct rl_voters *voters;  /* on its name */
    struct rl_call *call;      /* the call that waits for it, or NULL */
    struct redlock_lock *lock; /* the user's lock, or NULL */
    int64_t clock_epoch;       /* the clock's epoch that its times belong to */
    unsigned owed;             /* requests in flight */
    unsigned refs;             /* calls into this lease that have not returned */
    bool detached;             /* another process is responsible for its keys */
    bool spare;                /* in the pool: nothing refers to it */
    bool query;                /* inspect, force, redlock_probe(): no hold, no vote */
    bool endless;              /* force: also where the key has no TTL */
    bool releasing;            /* is in client->leases.releasing */
    bool wakes_nobody;         /* its release wakes no waiter: the holder's release will */
    bool native;               /* may be taken by the native pair */
    bool contended;            /* an earlier round was refused */
    bool waits;                /* the caller will try again if it is refused */
    bool quiet;                /* its round's grants are not told to its call */
    int64_t retry_ns;          /* no release may be sent before then */
    size_t token_len;
    char token[RL_TOKEN_MAX + 1];
    struct rl_hold hold; /* a reply needs its beginning, and all before that */
    struct rl_target target; /* its bytes are in `bytes` */
    struct rl_target_bytes bytes;
    struct rl_hashed named;  /* open, of a kind with owners: in client->leases.named */
    int64_t budget_ns;       /* the time that one node has in a round */
    int64_t query_ttl_ns;    /* a probe that takes or extends: for so long */
    uint64_t waiter;         /* number of its wait queue; 0: none */
    uint64_t waiter_round;   /* the number of that queue's round */
    uint64_t queues;         /* nodes that were asked to queue it */
    int64_t waits_since_ns;  /* since when that queue's first waiter waits */
    uint64_t void_due;       /* nodes whose votes are to be taken off: lease_void.c */
    uint64_t certificates;   /* client->certifying.changes, when its round began */
    struct rl_renewal {
        bool on; /* it is watched: it is renewed, or has on_lost, or both */
        const struct rl_renewal_ops *ops;
        bool renews; /* it is extended by itself; else only its loss is reported */
        int64_t max_hold_end_ns; /* INT64_MAX: none */
        int64_t margin_ns;       /* it counts as lost so long before its deadline */
        int64_t renew_ns;        /* when to extend it next */
        bool waits;              /* that is due: its timer is in client->leases.waiting */
        bool extending;          /* an extension of ours is under way */
        bool lacks_quorum;       /* too few nodes for the last one: extend when they are back */
        uint64_t told_turn;      /* of the tally, in which its last failure counts */
        struct rl_backoff backoff;
    } renewal;
    struct rl_account account;
};

/* Make a lease for `target`, with a fresh token unless `token` is given (attach). 0, ENOMEM,
 * ERANDOM or EBUSY (RL_PENDING_RELEASES_MAX). */
int rl_lease_new(redlock *client, const struct rl_target *target, const char *token,
                 struct rl_lease **ret_lease);

/* Every function that may run a call's handlers must hold a reference: a handler may drop the
 * lease while the function still uses it. */
void rl_lease_ref(struct rl_lease *lease);
void rl_lease_unref(struct rl_lease *lease, int64_t now_ns);

/* Begin a round: acquire only on a NEW hold, extend never after a release. call->on_hold_event
 * reports its outcome. */
void rl_lease_acquire(struct rl_lease *lease, uint64_t voting, int first, int64_t t0_ns,
                      int64_t node_deadline_ns);
void rl_lease_extend(struct rl_lease *lease, uint64_t voting, int64_t ttl_ns, int64_t t0_ns,
                     int64_t node_deadline_ns);

/* Those of `nodes` without a request of this lease in flight on the current link. On the others
 * a second taking request would have to wait for the first. */
uint64_t rl_lease_idle_nodes(const struct rl_lease *lease, uint64_t nodes);

/* Give up, once, a lease that is neither detached nor a query. With a deadline,
 * call->on_hold_event receives RL_EV_RELEASED. */
void rl_lease_release(struct rl_lease *lease, int64_t now_ns, int64_t node_deadline_ns);

/* The validity ended without a release: the keys stay until then, and for the lock-delay. */
void rl_lease_keep_keys(struct rl_lease *lease, int64_t until_ns);

/* The user's lock is gone. Releases of a dead hold that were held back (rl_lease_keep_keys)
 * may be sent now. */
void rl_lease_orphan(struct rl_lease *lease, int64_t now_ns);

/* Send `nodes` a request whose answers are no votes (inspect, force, a probe's), but are told
 * to the lease's call. The lease has no hold, and never gets one. */
void rl_lease_query(struct rl_lease *lease, enum rl_verb verb, uint64_t nodes, int64_t now_ns,
                    int64_t deadline_ns);

/* End a call's round early, while it is ASKING: its remaining time is not worth waiting for. */
void rl_lease_cut(struct rl_lease *lease, int64_t now_ns);

/* The lease's call drops it, and is done. _abort: a call that may have a lease, because the
 * client is being closed. */
void rl_call_finish_without_lease(struct rl_call *call, int result);
void rl_call_abort(struct rl_call *call, int64_t now_ns);

/* Time passed. */
void rl_lease_tick(struct rl_lease *lease, int64_t now_ns);

/* Queue the releases that are due, on each node that has room. */
void rl_lease_send_releases(struct rl_lease *lease, int64_t now_ns);

/* Return the lease to the pool if nothing needs it: call after `call` or `lock` became NULL.
 * The lease may be gone afterwards, and after every function above. */
void rl_lease_free_if_settled(struct rl_lease *lease, int64_t now_ns);

/* Send the releases that are due. Return leases that are settled to the pool. */
void rl_leases_retry_releases(redlock *client, int64_t now_ns);

/* What this node granted before may be lost: recount every hold. */
void rl_leases_void(redlock *client, unsigned node, int64_t now_ns);

/* The number of ended leases of which a node may still have a key. A lost lock does not count
 * while its handle is not released yet. */
uint64_t rl_leases_unsettled(const struct rl_leases *leases, int64_t now_ns);

/* Is a release unsent or unanswered on a node that may still answer? */
bool rl_leases_pending(redlock *client, int64_t now_ns);

/* Does the target's owner already hold that name through this client: as a reader; in any mode?
 * False for kinds without owners. */
bool rl_leases_owner_reads(const struct rl_leases *leases, const struct rl_target *target,
                           int64_t now_ns);
bool rl_leases_owner_holds(const struct rl_leases *leases, const struct rl_target *target,
                           int64_t now_ns);

/* Does this client hold that name for another use, which the target's would have to wait for? It
 * looks at all held locks. False also where that can't be told: with several names, or between
 * readers and writers. */
bool rl_leases_exclude(const struct rl_leases *leases, const struct rl_target *target,
                       int64_t now_ns);

/* The fencing token that its user gets: that of the owner's first hold through this client. A
 * re-entry must not make the writes of the holds around it old. 0: it is not fenced. */
uint64_t rl_lease_fencing_token(const struct rl_lease *lease, int64_t now_ns);

void rl_leases_free(struct rl_leases *leases);

/* Start renewing, or reporting the loss, as the options say. The lease must be HELD and have a
 * handle. */
void rl_renewal_begin(struct rl_lease *lease, const redlock_options *options, int64_t now_ns);

/* Stop. */
void rl_renewal_end(struct rl_lease *lease);

/* The timer has fired: extend the lease, or report its loss. */
void rl_renewal_fire(struct rl_lease *lease, int64_t now_ns);

/* Extend those that wait for their turn, as many as may be under way at once. _due_ns: when to
 * do so; INT64_MAX: none waits. */
void rl_renewals_go_on(struct rl_leases *leases, struct rl_voters *voters, int64_t now_ns);
int64_t rl_renewals_due_ns(const struct rl_leases *leases);

/* A node is up, or its connection is lost. Renewals that lack a quorum extend, or reconnect. */
void rl_renewals_node_changed(redlock *client, int64_t now_ns);

/* Did the clock go back since the lease was asked for? */
static inline bool rl_lease_clock_went_back(const struct rl_lease *lease)
{
    return !rl_validity_timed(lease->clock_epoch, rl_clock_epoch(&lease->client->clock));
}

/* The deadline that the user is shown: the hold's, or an earlier one if the lease is renewed or
 * its loss is reported. */
static inline int64_t rl_lease_deadline_ns(const struct rl_lease *lease)
{
    const struct rl_renewal *renewal = &lease->renewal;
    int64_t deadline_ns = lease->hold.deadline_ns;
    return renewal->on
               ? rl_watched_end_ns(deadline_ns, renewal->margin_ns, renewal->max_hold_end_ns)
               : deadline_ns;
}

static inline bool rl_lease_over(const struct rl_lease *lease, int64_t now_ns)
{
    return rl_lease_clock_went_back(lease) ||
           rl_validity_over(rl_lease_deadline_ns(lease), now_ns);
}

/* The clock went back: report the loss of every lease that is renewed or has on_lost. */
void rl_renewals_clock_went_back(struct rl_leases *leases, struct rl_timers *timers,
                                 int64_t now_ns);

/* Node events. */
void rl_lease_on_reply(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight,
                       const struct rl_vote_reply *vote_reply, int64_t now_ns);
void rl_lease_name(const struct rl_inflight *inflight, char *ret_text, size_t size);
void rl_lease_is_next(const struct rl_inflight *inflight);
void rl_lease_on_unexecuted(void *owner, struct rl_node *node, unsigned slot,
                            const struct rl_inflight *inflight, int64_t now_ns);
void rl_lease_on_drain(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight, int64_t now_ns);
void rl_lease_on_link_lost(void *owner, struct rl_node *node, unsigned slot,
                           const struct rl_inflight *inflight, int64_t now_ns);

#endif
