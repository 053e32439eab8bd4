/* waking.h - how a waiter is woken, and until when it sleeps. Core: pure.
 *
 * The way of a wake-up:
 *
 * 1. On a master, the release script publishes. Whom the script wakes depends on the kind (the
 *    table at enum rl_wakeup in kinds/kind.h). Some kinds wake the first waiter, by the channel of
 *    that waiter's client. A fair lock wakes the first waiter by a channel of that waiter's own.
 *    Other kinds wake all who listen on the lock's channel.
 * 2. Here, rl_waking_message() notes the node. rl_pause_turn() then decides: after messages from
 *    a majority a round begins at once, unless too many began so lately (RL_WAKES_BURST). After
 *    messages from a minority the round begins after a grace, and not before hint_ns. Only the
 *    first waiter of this client's queue for the name begins a round, and the others wait for it.
 * 3. On a master, that round's script takes the lock, or the waiter is refused again. In the
 *    plain kinds the lock was reserved for it, and a refused one enters the queue again.
 *
 * Some releases wake nobody: those of rounds that were lost behind one holder, and those of keys
 * that stay (wakes_nobody of a lease, set by api/acquire_round.c:note_refusal). Any message may
 * get lost. So each pause has an end (rl_pause_end_ns()). The pause ends when the TTLs of a
 * majority's keys run out, a little later for each waiter ahead, when an unprompted try is due, or
 * after a growing backoff for events without a message. The shell (api/acquire.c, engine/wait/wait_signals.c) tells what
 * happens, and does what is decided here.
 */
#ifndef RL_WAKING_H
#define RL_WAKING_H

#include "base/limits.h"
#include "core/backoff.h"

#include <stdbool.h>

/* Why the first waiter of a queue is called. */
enum rl_turn {
    RL_TURN_FIRST,   /* it has just become the first */
    RL_TURN_WOKEN,   /* a node reported that the lock was released */
    RL_TURN_FREED,   /* this client has released it: the release is on its way to the nodes */
    RL_TURN_LISTENS, /* a node confirmed a subscription: its releases are heard from now on */
    RL_TURN_MISSED   /* a node was asked to queue it and has not */
};

/* The result of an RL_ACQUIRE_OR_QUEUE at a node. QUEUED: the node entered us. WAS_QUEUED: it
 * did so in an older round, and may have woken us since. NOT_QUEUED: it did not. MAYBE_QUEUED:
 * unknown, after an error or a broken link. */
enum rl_queued { RL_QUEUED, RL_WAS_QUEUED, RL_NOT_QUEUED, RL_MAYBE_QUEUED };

/* ---- what nodes tell: of a wait queue -------------------------------------------------- */

struct rl_waking {
    bool named;       /* a message is for one waiter, which leaves the node's queue by it */
    uint64_t rounds;  /* that the queue's first waiters have begun */
    uint64_t wakes;   /* nodes that woke us since the last round */
    int64_t woken_ns; /* when the first of them did */
    uint64_t queued;  /* nodes that will wake us: we are in their queue, or they wake all */
    uint64_t entered; /* nodes that may have us in their queue */
    int64_t hint_ns;  /* a minority's message must not begin a round before this time */
    struct rl_backoff hint_backoff;
    int64_t paid_ns; /* what a majority's messages began is paid for by then: RL_WAKES_BURST */
};

/* Masters, or users who may publish, can send wake-ups without end. A majority's word begins so
 * many rounds at once, and then one each RL_WAKE_EACH_NS, until the lock is had. */
#define RL_WAKES_BURST 32
#define RL_WAKE_EACH_NS (20 * RL_NS_PER_MS)

void rl_waking_init(struct rl_waking *waking, bool named);

/* A node wakes us. Its releases may have been missed. It has answered a request to queue us;
 * true: it can't be counted on. */
void rl_waking_message(struct rl_waking *waking, unsigned node, int64_t now_ns);
void rl_waking_won(struct rl_waking *waking); /* so the word was true */
void rl_waking_unheard(struct rl_waking *waking, unsigned node);
bool rl_waking_answer(struct rl_waking *waking, unsigned node, enum rl_queued queued);

/* The first waiter begins a round. `hinted`: because a minority of the nodes reported a
 * release.
 *
 * A single node, or any user with the right to publish, can forge such a message. So it must
 * cost a bounded number of rounds only. The first of them begins at once. Later ones are
 * spaced, in the end by half of RL_UNPROMPTED_MS or more, until a majority wakes the queue
 * or the lock is won. Only this function counts them, and only hint_ns delays them. */
void rl_waking_round(struct rl_waking *waking, unsigned n, bool hinted, struct rl_prng *prng,
                     int64_t now_ns);

/* The nodes whose queues a waiter leaves, when it has the lock (`won`) or gives up. `several`:
 * it waits for several names. */
uint64_t rl_waking_leaves(const struct rl_waking *waking, bool won, bool several);

/* ---- what the last round's refusals tell ----------------------------------------------- */

struct rl_refusals {
    int64_t place;         /* waiters before us, on the node where these are fewest */
    uint64_t behind;       /* the holder that we were next after in the round before; 0: none */
    uint64_t next_to;      /* the same in this round, as most nodes say */
    unsigned next_votes;   /* the nodes that say so, less those that name another */
    unsigned behind_count; /* nodes that still name the holder `behind` */
    int64_t behind_since_ns; /* since when */
    unsigned held_count;
    int64_t held_ns[REDLOCK_NODES_MAX]; /* held_count: when each blocking key runs out,
                                           ascending */
};

/* A round begins. On a node the queue's first waiter is next after that holder, whose release
 * will wake it. A node's key runs out then. */
void rl_refusals_begin(struct rl_refusals *refusals, int64_t now_ns);
void rl_refusals_next(struct rl_refusals *refusals, uint64_t holder);
void rl_refusals_held(struct rl_refusals *refusals, int64_t until_ns);

/* The result of a refused round. */
struct rl_defeat {
    bool split;      /* it had grants, but no majority */
    bool in_vain;    /* it had a majority, too late or without a fencing token */
    bool ordered;    /* it asked one node first */
    bool will_tell;  /* the lock has a holder whose release wakes waiters */
    uint64_t silent; /* nodes that may still reply that they have queued it */
};

/* ---- the pause between two rounds ------------------------------------------------------ */

/* The time in which a subscriber that is alive receives something. */
#define RL_ALIVE_NS ((RL_PING_AFTER_MS + RL_UNPROMPTED_MS / 2) * RL_NS_PER_MS)

/* Of a try. */
struct rl_pause {
    struct rl_backoff backoff;
    int64_t until_ns;
    int64_t look_ns; /* when to check that subscribers are alive */
    int64_t calm_ns; /* no wake-up begins a round before that */
    bool can_hear;   /* a subscription was confirmed since the last round began */
    bool unprompted; /* it waits for a wake-up, and its end is a fallback */
    bool hinted;     /* a minority's word has set its end */
};

/* What the shell sees when it asks. */
struct rl_wait_view {
    unsigned n;                     /* nodes */
    const struct rl_waking *waking; /* of the try's wait queue; NULL: it is in none */
    uint64_t listening;             /* nodes from which it would hear of a release */
    bool more;                      /* more of them may follow soon */
    bool fair;             /* nodes drop a waiter that is silent for RL_FAIR_WAITER_MS */
    int64_t round_trip_ns; /* within which a majority answers */
    int64_t now_ns;
    struct rl_prng *prng;
};

void rl_pause_init(struct rl_pause *pause);

/* The try has joined a wait queue. If another queue is subscribed there already, no event will
 * say that this one is. */
void rl_pause_join(struct rl_pause *pause, const struct rl_wait_view *view);

/* After a refused round: until when to sleep. */
int64_t rl_pause_end_ns(struct rl_pause *pause, const struct rl_refusals *refusals,
                        const struct rl_defeat *defeat, const struct rl_wait_view *view);

/* In a pause. _turn: is that event worth a round, now or before the planned one? SOONER: it has
 * moved until_ns. _look: can the waiter still rely on a wake-up? `alive`: nodes from which
 * something was received in the last RL_ALIVE_NS. */
enum rl_turn_round { RL_ROUND_AS_PLANNED, RL_ROUND_SOONER, RL_ROUND_NOW };
enum rl_turn_round rl_pause_turn(struct rl_pause *pause, enum rl_turn why,
                                 const struct rl_wait_view *view);
bool rl_pause_look(struct rl_pause *pause, const struct rl_refusals *refusals, uint64_t alive,
                   const struct rl_wait_view *view);

#endif
