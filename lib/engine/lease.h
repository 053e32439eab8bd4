/* lease.h - one token on N nodes: the hold (core) beside the requests that carry it.
 * It outlives the call and the handle, until no node can have its key. Mutex held. */
#ifndef RL_LEASE_H
#define RL_LEASE_H

#include "engine/call.h"

/* What is done for a lease that is watched (renewal.c). */
struct rl_renewal_ops {
    void (*fire)(struct rl_lease *lease, int64_t now_ns); /* its time has come */
    void (*on_hold_event)(struct rl_lease *lease, unsigned events,
                          int64_t now_ns); /* its hold: RL_EV_* */
};

struct rl_lease {
    struct rl_timer timer;        /* first: renewing, or the end of a release's time */
    struct rl_lease *prev, *next; /* in client->leases.open or ->releasing; spare: next only */
    struct rl_lease *named_next;  /* in its bucket of client->leases.named */
    bool named;                   /* is in one */
    redlock *client;
    struct rl_target target; /* its bytes are in `bytes` */
    struct rl_hold hold;
    int64_t clock_epoch;       /* that its times are of */
    struct rl_call *call;      /* the call that waits for it, or NULL */
    struct redlock_lock *lock; /* the handle, or NULL */
    bool detached;             /* its keys are another process's business */
    bool spare;                /* put away: nobody has it any more */
    bool query;                /* inspect, force, probe: no hold, no vote */
    int64_t query_ttl_ns;      /* a probe that takes or extends: for so long */
    bool endless;              /* force: also where the key has no TTL */
    unsigned owed;             /* requests that have not been answered, lost, ... */
    unsigned refs;             /* calls into this lease that are not back yet */
    bool releasing;            /* is in client->leases.releasing */
    bool silent;               /* its release wakes nobody: another's will */
    bool contended;            /* it was not to be had at once */
    bool waits;                /* who asks will ask again where it is refused */
    uint64_t waiter;           /* the queue (wait_queue.h) that it is asked for; 0: none */
    uint64_t waiter_round;     /* which one of that queue's rounds */
    uint64_t queues;           /* nodes that were asked to enter it into their queues */
    int64_t waits_since_ns;    /* that queue's first one */
    struct rl_renewal {
        bool on; /* its loss is to be told, or prevented */
        const struct rl_renewal_ops *ops;
        bool renews;
        int64_t until_ns;  /* the caller's max_hold_ms; INT64_MAX: none */
        int64_t margin_ns; /* lost so long before it runs out */
        int64_t renew_ns;  /* when to extend it next */
        bool extending;    /* an extension of ours is under way */
        bool lacks_quorum; /* the last one found too few masters: when they are back, at once */
        struct rl_backoff backoff;
    } renewal;
    int64_t budget_ns; /* what one node may take of a round */
    int64_t retry_ns;  /* releases were refused, or are held back: none before then */
    size_t token_len;
    char token[RL_TOKEN_MAX + 1];
    size_t bytes_size;
    char *bytes; /* the name and the owner, each with a NUL */
};

/* A lease for `target`, with a fresh token unless `token` is given (attach). ENOMEM, ERANDOM,
 * EBUSY (RL_PENDING_RELEASES_MAX). */
int rl_lease_new(redlock *client, const struct rl_target *target, const char *token,
                 struct rl_lease **ret_lease);

/* Every way into a lease that can call a call back stands between these two: the call may let
 * go of the lease, which must not vanish under the feet of those who are still in it. */
void rl_lease_ref(struct rl_lease *lease);
void rl_lease_unref(struct rl_lease *lease, int64_t now_ns);

/* Begin rounds. The caller sees what came of it through call->on_hold_event. */
void rl_lease_acquire(struct rl_lease *lease, uint64_t voting, int first, int64_t t0_ns,
                      int64_t node_deadline_ns);
void rl_lease_extend(struct rl_lease *lease, uint64_t voting, int64_t ttl_ns, int64_t t0_ns,
                     int64_t node_deadline_ns);

/* Of `nodes`, those that owe it no answer on the link in use: a second taking request there
 * would have to wait for the first. */
uint64_t rl_lease_idle_nodes(const struct rl_lease *lease, uint64_t nodes);

/* Give up; with a deadline, call->on_hold_event hears RL_EV_RELEASED. */
void rl_lease_release(struct rl_lease *lease, int64_t now_ns, int64_t node_deadline_ns);

/* Its user is done with it: releases of a hold that died are held back no longer. */
void rl_lease_orphan(struct rl_lease *lease, int64_t now_ns);

/* Ask `nodes` a question that takes nothing (inspect, force). */
void rl_lease_query(struct rl_lease *lease, enum rl_verb verb, uint64_t nodes, int64_t now_ns,
                    int64_t deadline_ns);

/* The round is not worth its remaining time. */
void rl_lease_cut(struct rl_lease *lease, int64_t now_ns);

/* Time passed. */
void rl_lease_tick(struct rl_lease *lease, int64_t now_ns);

/* Queue whatever releases are due where they can be queued now. */
void rl_lease_send_releases(struct rl_lease *lease, int64_t now_ns);

/* After call or lock was set to NULL: put the lease away if nothing needs it any more. After
 * this, or any call above that may have led to it, the lease may be gone. */
void rl_lease_free_if_settled(struct rl_lease *lease, int64_t now_ns);

/* Put away every lease that is settled by now; send what is due. */
void rl_leases_retry_releases(redlock *client, int64_t now_ns);

/* How many have ended, of which some master may have a key yet; not those that are but a lost
 * lock whose handle nobody has released. */
uint64_t rl_leases_unsettled(const redlock *client, int64_t now_ns);

/* Is a release still unsent or unanswered on a node from which an answer can be hoped for? */
bool rl_leases_pending(redlock *client, int64_t now_ns);

/* Has the target's owner, through this client, its name already: to read; in any way? Of kinds
 * that have owners. */
bool rl_leases_owner_reads(const redlock *client, const struct rl_target *target,
                           int64_t now_ns);
bool rl_leases_owner_holds(const redlock *client, const struct rl_target *target,
                           int64_t now_ns);

void rl_leases_free(redlock *client);

/* renewal.c: see to it that it is renewed, that its loss is told; renewal_state.c: not any
 * more.
 */
void rl_renewal_begin(struct rl_lease *lease, const redlock_options *options, int64_t now_ns);
void rl_renewal_end(struct rl_lease *lease);
/* Its time has come. */
void rl_renewal_fire(struct rl_lease *lease, int64_t now_ns);
/* A master is up, or its connection is lost: renewals that wait for masters go on, or urge. */
void rl_renewals_node_changed(redlock *client, int64_t now_ns);
/* Did the clock go back since it was asked for? */
static inline bool rl_lease_clock_went_back(const struct rl_lease *lease)
{
    return lease->clock_epoch != rl_clock_epoch(&lease->client->clock);
}

/* Until when its user may rely on it: where it is watched, until it is given up. Is that
 * over? What is left of it by then is told as 0. */
int64_t rl_lease_deadline_ns(const struct rl_lease *lease);
static inline bool rl_lease_over(const struct rl_lease *lease, int64_t now_ns)
{
    return rl_lease_clock_went_back(lease) ||
           rl_lease_deadline_ns(lease) - now_ns < RL_VALIDITY_GRAIN_NS;
}
/* The clock went back: those that are watched are lost, and told so. */
void rl_renewals_clock_went_back(redlock *client, int64_t now_ns);

/* Node events. */
void rl_lease_on_reply(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight,
                       const struct rl_vote_reply *vote_reply, int64_t now_ns);
void rl_lease_on_unexecuted(void *owner, struct rl_node *node, unsigned slot,
                            const struct rl_inflight *inflight, int64_t now_ns);
void rl_lease_on_drain(void *owner, struct rl_node *node, unsigned slot,
                       const struct rl_inflight *inflight, int64_t now_ns);
void rl_lease_on_link_lost(void *owner, struct rl_node *node, unsigned slot,
                           const struct rl_inflight *inflight, int64_t now_ns);

#endif
