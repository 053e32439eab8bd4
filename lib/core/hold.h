/* hold.h - the life of one lock, that is of one token on N nodes. Core: pure.
 *
 * The caller reports each event (sent, answered, link lost, time passed); the hold returns its
 * new state and what must be sent. A hold knows no sockets. A node has two link slots, the
 * current one and one that drains. The hold only remembers the slots on which it awaits
 * replies.
 *
 * A hold's states are drawn in docs/ARCHITECTURE.md. ENDING: a release goes to each node that
 * may have the key. The release goes behind the acquire, down every link that owes an answer,
 * and once more after a link breaks. A hold is settled when no node can have the key any more.
 * There is no way back from ENDING: a token is requested once, and an expired lock must never
 * be revived.
 *
 * Time alone does not end a hold. One that nobody extends or releases stays HELD after its end,
 * and rl_hold_tick() does nothing. A function that finds HELD must ask rl_hold_over(), too.
 */
#ifndef RL_HOLD_H
#define RL_HOLD_H

#include "base/limits.h"
#include "core/fence.h"
#include "core/quorum.h"
#include "core/validity.h"
#include "core/verb.h"

enum rl_phase {
    RL_HOLD_NEW,
    RL_HOLD_ASKING,
    RL_HOLD_FENCING, /* won; a majority does not have the fencing token yet */
    RL_HOLD_HELD,
    RL_HOLD_ENDING
};

#define RL_SLOTS 2

/* What every event looks at comes first, together: of many locks in flight, little is near. */
struct rl_hold {
    enum rl_phase phase;
    unsigned n;
    bool several;    /* several keys on a node: one that refuses to extend may have some */
    bool distrusted; /* the clock went back: the time since t0 is unknown */
    bool hearsay;    /* attached: no majority has confirmed it to this client yet */
    bool extending;
    bool releasing;
    int64_t ttl_ns;        /* the usual TTL: of renewals, and of the acquire but for ask_ttl_ns */
    int64_t lock_delay_ns; /* keys live so much longer than their TTL, unless released */
    int64_t key_life_ns;   /* the longest one that a node was sent */
    int64_t deadline_ns;   /* HELD: ours until 1 ms before that (validity.h). It only grows;
                            * 0 in other phases */

    /* Sets of nodes, per slot where the link counts. */
    uint64_t maybe_set; /* a request that sets the key was sent: it may exist */
    uint64_t uncertain; /* asked on both links: a refusal on one does not prove the key absent */
    uint64_t acquire_inflight[RL_SLOTS]; /* an acquire, extend or retake awaits its reply */
    uint64_t this_round[RL_SLOTS];       /* of these, sent in the round that is open */
    uint64_t release_inflight[RL_SLOTS]; /* a release awaits its reply */
    uint64_t release_due;                /* ENDING: a release must be sent, maybe again */
    uint64_t kept;          /* ENDING: the keys there are left alone (hold_keep.c) */
    uint64_t not_asked_yet; /* ordered acquisition: the rest, until the first one grants */
    uint64_t retake;        /* held by a majority, but missing there: a retake fills it in */
    uint64_t back;          /* nodes that came back in a round: retake when it is over */
    uint64_t release_asked; /* nodes that may have had a key when release was called */
    uint64_t release_lost;  /* nodes that may have released it, but the reply was lost */
    /* HELD: nodes that granted the last round, and have not lost it as far as is known.
     * Of a lock that was attached: all. */
    uint64_t granted;

    struct rl_round ask;
    struct rl_round release;
    struct rl_round extend; /* FENCING: of the nodes that are told the token */
    int64_t extend_ttl_ns;
    int64_t ask_ttl_ns;    /* of the acquire; above ttl_ns where it must keep others out */
    int64_t at_least_ns;   /* it keeps others out for so long; 0: only while it is held */
    int64_t keep_until_ns; /* of a lock that was won: until then; 0: not */
    struct rl_fence fence;
    double drift_factor;
    int64_t release_due_until_ns; /* when all our keys have expired */
};

/* Has it expired, by the hold's own deadline? A watched lock shows 0 sooner, by its margin
 * (rl_lease_deadline_ns in engine/lease/lease.h). */
static inline bool rl_hold_over(const struct rl_hold *hold, int64_t now_ns)
{
    return hold->distrusted || rl_validity_over(hold->deadline_ns, now_ns);
}

/* The results of an event: a set. */
enum {
    RL_EV_ACQUIRED = 1 << 0,     /* HELD now */
    RL_EV_REFUSED = 1 << 1,      /* the attempt is lost: ENDING now */
    RL_EV_EXTENDED = 1 << 2,     /* the deadline has grown */
    RL_EV_NOT_EXTENDED = 1 << 3, /* the extension failed; the old deadline stands */
    RL_EV_LOST = 1 << 4,         /* the lock is lost: ENDING now */
    RL_EV_RELEASED = 1 << 5,     /* the release is decided: rl_hold_release_result() */
    RL_DO_ASK_REST = 1 << 6,     /* send the acquire to `not_asked_yet` */
    RL_DO_RETAKE = 1 << 7,       /* send a retake to `retake` */
    RL_DO_FENCE = 1 << 8         /* call rl_hold_fence() */
};

void rl_hold_init(struct rl_hold *hold, unsigned n, int64_t ttl_ns, double drift_factor);

/* Before the first request: the keys outlive the validity by this time. */
void rl_hold_set_lock_delay(struct rl_hold *hold, int64_t lock_delay_ns);

/* After that, and before the first request: others are kept out for so long once it is won, also
 * if it ends sooner. 0: no longer than it is held. At most rl_keep_max_ms() of the greatest TTL:
 * the first round's TTL may be greater than the usual one. */
void rl_hold_set_at_least(struct rl_hold *hold, int64_t at_least_ms);
int64_t rl_keep_max_ms(int64_t max_ttl_ms, double drift_factor);

/* A hold that another process took and detached: any node may have its key. */
void rl_hold_init_attached(struct rl_hold *hold, unsigned n, int64_t ttl_ns,
                           double drift_factor, int64_t deadline_ns);

/* Of such a hold, before anything else: others are kept out until then. 0: not. */
void rl_hold_set_keep_until(struct rl_hold *hold, int64_t keep_until_ns);

/* HELD: would it leave its keys alone if it ended now? */
bool rl_hold_keeps(const struct rl_hold *hold, int64_t now_ns);

/* Its owner never used the lock: it keeps nobody out any longer than others do. In any phase. */
void rl_hold_unkeep(struct rl_hold *hold);

/* The clock went back since the acquire: a held lock is over, and an open round can't be won.
 * The next event returns that. */
void rl_hold_distrust(struct rl_hold *hold);

/* Begin to acquire. `voting`: the nodes that can vote now; the others have failed. `first`: ask
 * this one alone, and the rest only if it grants; -1: all at once. Lost at once if too few can
 * vote. The caller must then send to rl_hold_to_ask(). Only for a NEW hold. */
unsigned rl_hold_ask(struct rl_hold *hold, int64_t t0_ns, int64_t node_deadline_ns,
                     uint64_t voting, int first);
uint64_t rl_hold_to_ask(const struct rl_hold *hold); /* FENCING: those that are asked still */

/* After RL_DO_ASK_REST: returns the nodes to send to now (those that can still vote), with a
 * new deadline. rl_hold_tick() then loses the round if too few are left. */
uint64_t rl_hold_ask_rest(struct rl_hold *hold, uint64_t voting, int64_t node_deadline_ns);

/* After RL_DO_FENCE: returns the nodes to send an extend with the token to now. `voting`: those
 * that can be asked now. rl_hold_tick() then loses the round if too few are left. */
uint64_t rl_hold_fence(struct rl_hold *hold, uint64_t voting, int64_t node_deadline_ns);

/* Begin to extend, while HELD and not extending. As rl_hold_ask(); the caller must then send an
 * extend to rl_hold_to_extend(). A node with a request in flight on its current slot can't be
 * asked. RL_EV_LOST if the lock has expired. */
unsigned rl_hold_extend(struct rl_hold *hold, int64_t t0_ns, int64_t ttl_ns,
                        int64_t node_deadline_ns, uint64_t voting);
uint64_t rl_hold_to_extend(const struct rl_hold *hold);

/* Give up, from ASKING, FENCING or HELD. With `node_deadline_ns` above 0 the replies count
 * until then, and RL_EV_RELEASED follows, maybe at once. With 0 no caller waits for them. Of a
 * hold that keeps others out the result is 0, and none of its nodes is asked. */
unsigned rl_hold_release(struct rl_hold *hold, int64_t now_ns, int64_t node_deadline_ns);

/* R4: The nodes for which a release may have to be queued, on one slot or the other. Inline,
 * because each vote asks. */
static inline uint64_t rl_hold_to_release(const struct rl_hold *hold)
{
    uint64_t owed = (hold->acquire_inflight[0] & ~hold->release_inflight[0]) |
                    (hold->acquire_inflight[1] & ~hold->release_inflight[1]);
    return hold->phase == RL_HOLD_ENDING ? hold->release_due | owed : 0;
}

/* Should a release be queued for this node on this slot now? `current`: it is the node's
 * current slot, and its link is ready. */
bool rl_hold_wants_release(const struct rl_hold *hold, unsigned node, unsigned slot,
                           bool current);

/* A request was queued: its first byte may leave from now on. A taking verb only on the current
 * slot and never while ENDING; a release only while ENDING. */
void rl_hold_sent(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb,
                  bool current);

/* A request was not queued and will not be: that node has failed. */
unsigned rl_hold_unsent(struct rl_hold *hold, unsigned node, enum rl_verb verb, int64_t now_ns);

/* A request was answered. `number`: what a grant of an acquire with a fencing token names; else
 * 0. `now_ns` must be read after the reply's last byte.
 *
 * First the tick ends what time ends: it may close a round, and it moves a lock that is over
 * while its extension is open from HELD to ENDING. Then the reply changes, by its verb and the
 * phase:
 *
 *             ASKING, FENCING      HELD                            ENDING
 *   acquire   learn, vote          learn; a yes: granted           learn; unless it is a no, a
 *                                                                  release of that key is due
 *   extend    learn, vote          learn, vote while its round     as an acquire's
 *             (the token's round)  is open; a yes: granted; a no:
 *                                  not granted, and retaken if
 *                                  the extension was won
 *   retake    -                    learn; a yes: granted           as an acquire's
 *   release   -                    -                               vote, until the tick ends its
 *                                                                  round; an error: sent again
 *
 * A reply of an earlier round (not in this_round) is only learnt from. A yes after its round was
 * decided lengthens no deadline. If the lock is over by then and still HELD, that key lives for
 * a fresh TTL, or until the user releases. */
unsigned rl_hold_answer(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb,
                        enum rl_vote vote, uint64_t number, int64_t now_ns);

/* A request was certainly not executed (NOSCRIPT): forget that it was sent. */
void rl_hold_unexecuted(struct rl_hold *hold, unsigned node, unsigned slot, enum rl_verb verb);

/* The link on a slot does not answer, and another one takes its place. Its replies may never
 * come, so a release that was sent on it must be sent on the other one as well. */
void rl_hold_link_drains(struct rl_hold *hold, unsigned node, unsigned slot);

/* The link on a slot broke or was closed: its missing replies stay unknown. */
unsigned rl_hold_link_lost(struct rl_hold *hold, unsigned node, unsigned slot, int64_t now_ns);

/* Nodes that could not vote can now: those that lack the key get it if it is HELD, and after
 * the round that is open. `forgot`: those that may have lost it. RL_DO_RETAKE, or 0. */
unsigned rl_hold_came_back(struct rl_hold *hold, uint64_t nodes, uint64_t forgot,
                           int64_t now_ns);

/* The node may have lost what it granted, though it still answers: its earlier votes are void,
 * and what is left is counted. */
unsigned rl_hold_void(struct rl_hold *hold, unsigned node, int64_t now_ns);

/* While ASKING: end the time of the nodes that were asked now. */
unsigned rl_hold_cut(struct rl_hold *hold, int64_t now_ns);

/* Time passed. */
unsigned rl_hold_tick(struct rl_hold *hold, int64_t now_ns);

/* When rl_hold_tick() has something to do at the latest; INT64_MAX: never. */
int64_t rl_hold_next_ns(const struct rl_hold *hold);

/* After RL_EV_RELEASED: 0, REDLOCK_EEXPIRED or REDLOCK_EUNCONFIRMED. */
int rl_hold_release_result(const struct rl_hold *hold);

/* ENDING, no reply is awaited, and no node can have a key. */
bool rl_hold_settled(const struct rl_hold *hold, int64_t now_ns);

/* ENDING, and only the expiry of keys is left to wait for. */
bool rl_hold_expired_unreleased(const struct rl_hold *hold, int64_t now_ns);

#endif
