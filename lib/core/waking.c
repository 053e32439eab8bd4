/* waking.c - see waking.h. Core. */
#include "config_auto.h"

#include "core/waking.h"

#include "base/times.h"
#include "core/quorum.h"

#include <assert.h>

#define LISTEN_NS RL_NS_PER_MS      /* the wait for more subscriptions after a first one */
#define WAKE_GRACE_NS RL_NS_PER_MS  /* between a first wake-up and a majority's */
#define PLACE_NS (2 * RL_NS_PER_MS) /* between waiters that check for an expired TTL */

static void waking_assert(const struct rl_waking *waking)
{
    assert((waking->queued & ~waking->entered) == 0);
    assert(!waking->wakes || waking->woken_ns > 0);
    assert(waking->hint_ns >= 0);
}

static void view_assert(const struct rl_wait_view *view)
{
    assert(view->n >= 1 && view->n <= REDLOCK_NODES_MAX);
    assert((view->listening & ~rl_all(view->n)) == 0);
    assert(view->now_ns > 0 && view->round_trip_ns >= 0 && view->prng);
    if (view->waking)
        waking_assert(view->waking);
}

/* ---- what nodes tell ------------------------------------------------------------------ */

void rl_waking_init(struct rl_waking *waking, bool named)
{
    *waking = (struct rl_waking){.named = named};
    rl_backoff_init(&waking->hint_backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    RL_UNPROMPTED_MS * RL_NS_PER_MS);
}

void rl_waking_message(struct rl_waking *waking, unsigned node, int64_t now_ns)
{
    assert(node < REDLOCK_NODES_MAX && now_ns > 0);
    if (waking->named) /* it removed us from the node's queue; on a channel, nothing does */
        waking->queued &= ~rl_bit(node);
    if (!waking->wakes)
        waking->woken_ns = now_ns;
    waking->wakes |= rl_bit(node);
}

void rl_waking_won(struct rl_waking *waking)
{
    waking_assert(waking);
    waking->paid_ns = 0;
}

void rl_waking_unheard(struct rl_waking *waking, unsigned node)
{
    assert(node < REDLOCK_NODES_MAX);
    waking->queued &= ~rl_bit(node);
}

bool rl_waking_answer(struct rl_waking *waking, unsigned node, enum rl_queued queued)
{
    uint64_t bit = rl_bit(node);
    assert(node < REDLOCK_NODES_MAX);
    waking_assert(waking);
    /* If we were woken by name meanwhile, that removed us from the queue: the message was
     * faster than this reply. */
    if (queued == RL_QUEUED && !(waking->named && waking->wakes & bit))
        waking->queued |= bit;
    else if (queued != RL_WAS_QUEUED)
        waking->queued &= ~bit;
    waking->entered = queued == RL_NOT_QUEUED ? waking->entered & ~bit : waking->entered | bit;
    return queued == RL_NOT_QUEUED || queued == RL_MAYBE_QUEUED;
}

void rl_waking_round(struct rl_waking *waking, unsigned n, bool hinted, struct rl_prng *prng,
                     int64_t now_ns)
{
    assert((waking->wakes & ~rl_all(n)) == 0 && now_ns > 0);
    waking_assert(waking);
    waking->rounds++;
    if (rl_count(waking->wakes) >= rl_quorum_needed(n)) {
        rl_backoff_reset(&waking->hint_backoff);
        waking->hint_ns = 0;
        waking->paid_ns = rl_later_ns(waking->paid_ns, now_ns) + RL_WAKE_EACH_NS;
    } else if (hinted || waking->wakes) {
        waking->hint_ns = now_ns + rl_backoff_calm_ns(&waking->hint_backoff, prng);
    }
    waking->wakes = 0;
}

/* On a node that woke us by name, our queue entry is gone and the lock is reserved for us. If
 * we give up, pass the reservation on. If we won, let it expire: the next waiter could not get
 * a majority. A waiter for several names may still be queued for others of them. A message on a
 * channel changes nothing. */
uint64_t rl_waking_leaves(const struct rl_waking *waking, bool won, bool several)
{
    uint64_t woken = waking->named ? waking->wakes : 0;
    waking_assert(waking);
    uint64_t nodes = won ? waking->entered : waking->entered | woken;
    if (won && !several)
        nodes &= ~woken;
    return nodes;
}

/* ---- what the last round's refusals tell ---------------------------------------------- */

/* When a majority of keys will have expired by themselves; or 0. */
static int64_t free_at_ns(const struct rl_refusals *refusals, const struct rl_defeat *defeat,
                          const struct rl_wait_view *view)
{
    assert(refusals->held_count <= view->n);
    unsigned needed = rl_quorum_needed(view->n);
    unsigned not_held = view->n - refusals->held_count;
    int64_t free_at;
    /* The first node refused, and no other was asked: its TTL stands for all. */
    if (defeat->ordered && refusals->held_count == 1)
        free_at = refusals->held_ns[0];
    else if (not_held >= needed)
        return 0;
    else
        free_at = refusals->held_ns[needed - not_held - 1];
    /* It may have been about to run out, and have done so since. */
    return rl_later_ns(free_at, view->now_ns + 1);
}

/* Has it been next after the same holder for RL_UNPROMPTED_MS? Enough nodes must say so to deny
 * it a majority. Then that holder's release wakes it, or its key expires. */
static bool is_next(const struct rl_refusals *refusals, const struct rl_wait_view *view)
{
    assert(refusals->behind_count <= view->n);
    return refusals->behind_count > view->n - rl_quorum_needed(view->n) &&
           view->now_ns - refusals->behind_since_ns >= RL_UNPROMPTED_MS * RL_NS_PER_MS;
}

/* ---- by whose word it is woken -------------------------------------------------------- */

static bool is_majority(uint64_t nodes, const struct rl_wait_view *view)
{
    assert((nodes & ~rl_all(view->n)) == 0);
    return rl_count(nodes) >= rl_quorum_needed(view->n);
}

/* Is it queued at a majority, if the silent nodes have queued it too? */
static bool will_be_woken(uint64_t silent, const struct rl_wait_view *view)
{
    assert((silent & ~rl_all(view->n)) == 0);
    uint64_t known = view->waking ? view->waking->queued | view->waking->wakes | silent : 0;
    return is_majority(known & view->listening, view);
}

/* Before that, no word begins a round, so that rounds cost a bounded number. A minority's word
 * waits as well: others that follow in its grace make it a majority's. */
static int64_t paid_for_ns(const struct rl_wait_view *view)
{
    return view->waking->paid_ns - RL_WAKES_BURST * RL_WAKE_EACH_NS;
}

/* When a round for a minority's word may begin: not before hint_ns. */
static int64_t hinted_ns(const struct rl_wait_view *view, int64_t soon_ns)
{
    assert(view->waking && soon_ns > 0);
    return rl_later_ns(rl_later_ns(soon_ns, view->waking->hint_ns), paid_for_ns(view));
}

/* When a round for a majority's word may begin. */
static int64_t majority_wakes_ns(const struct rl_wait_view *view)
{
    assert(is_majority(view->waking->wakes, view));
    return rl_later_ns(view->now_ns, paid_for_ns(view));
}

/* Wake-ups of a majority prove the release on a majority. Fewer may be stray, or all that will
 * come: others get time to follow. */
static int64_t minority_wakes_ns(const struct rl_wait_view *view)
{
    int64_t grace_ns = WAKE_GRACE_NS + 2 * view->round_trip_ns;
    assert(view->waking->wakes);
    return hinted_ns(view, view->waking->woken_ns + grace_ns +
                               (int64_t)rl_prng_below(view->prng, (uint64_t)grace_ns));
}

/* A node has just begun to listen. Will a majority that has queued it wake it without that one?
 * If so, a round is optional. */
static bool others_will_wake(const struct rl_pause *pause, const struct rl_wait_view *view)
{
    assert(!pause->unprompted || view->waking);
    return pause->unprompted && will_be_woken(0, view);
}

/* ---- the pause ------------------------------------------------------------------------ */

void rl_pause_init(struct rl_pause *pause)
{
    *pause = (struct rl_pause){.look_ns = INT64_MAX};
    rl_backoff_init(&pause->backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS,
                    RL_RETRY_MAX_MS * RL_NS_PER_MS);
}

void rl_pause_join(struct rl_pause *pause, const struct rl_wait_view *view)
{
    view_assert(view);
    assert(view->waking);
    pause->can_hear |= !view->waking->named && is_majority(view->listening, view);
}

/* The time between unprompted tries while queued: it grows with the number of waiters ahead
 * of us. For fair locks it stays below a third of RL_FAIR_WAITER_MS, because a master drops
 * a waiter that it has not heard from for that long. */
static int64_t unprompted_ns(const struct rl_refusals *refusals,
                             const struct rl_wait_view *view)
{
    assert(refusals->place >= 0);
    int64_t most_ms = view->fair ? RL_FAIR_WAITER_MS / 4 : RL_UNPROMPTED_MAX_MS;
    bool near = refusals->place < 4 * RL_UNPROMPTED_MAX_MS / RL_UNPROMPTED_MS;
    int64_t ms = near ? RL_UNPROMPTED_MS * (4 + refusals->place) / 4 : RL_UNPROMPTED_MAX_MS;
    if (ms > most_ms)
        ms = most_ms;
    return (ms + (int64_t)rl_prng_below(view->prng, (uint64_t)ms / 4)) * RL_NS_PER_MS;
}

/* A round in vain refused others, and its release wakes them. If their rounds are in vain as
 * well, they wake this one. So none of them may be begun by a wake-up alone. */
static int64_t calm_down_ns(struct rl_pause *pause, const struct rl_wait_view *view)
{
    pause->unprompted = false;
    pause->look_ns = INT64_MAX;
    pause->calm_ns = view->now_ns + rl_backoff_calm_ns(&pause->backoff, view->prng);
    assert(pause->calm_ns > view->now_ns);
    return pause->calm_ns;
}

/* No majority has woken it yet. `queued`: one will. */
static int64_t unwoken_ns(struct rl_pause *pause, const struct rl_refusals *refusals,
                          const struct rl_defeat *defeat, bool queued,
                          const struct rl_wait_view *view)
{
    assert(!queued || view->waking);
    int64_t now_ns = view->now_ns;
    int64_t free_at = free_at_ns(refusals, defeat, view);
    int64_t until = now_ns + (queued ? unprompted_ns(refusals, view)
                                     : rl_backoff_next_ns(&pause->backoff, view->prng));
    pause->look_ns = INT64_MAX;
    if (queued && is_next(refusals, view)) {
        pause->look_ns = until;
        until = now_ns +
                (RL_UNPROMPTED_MAX_MS +
                 (int64_t)rl_prng_below(view->prng, RL_UNPROMPTED_MAX_MS / 4)) *
                    RL_NS_PER_MS;
    }
    if (queued && view->waking->wakes)
        until = rl_earlier_ns(until, minority_wakes_ns(view));
    if (queued && free_at > now_ns && refusals->place < INT64_MAX)
        free_at += refusals->place * PLACE_NS;
    pause->unprompted = queued;
    if (free_at > now_ns && free_at < until)
        until = free_at + (int64_t)rl_prng_below(view->prng, RL_RETRY_MIN_MS * RL_NS_PER_MS);
    return until;
}

int64_t rl_pause_end_ns(struct rl_pause *pause, const struct rl_refusals *refusals,
                        const struct rl_defeat *defeat, const struct rl_wait_view *view)
{
    view_assert(view);
    assert((defeat->silent & ~rl_all(view->n)) == 0);
    assert(refusals->held_count <= view->n && refusals->behind_count <= view->n);
    if (defeat->in_vain)
        return calm_down_ns(pause, view);
    bool queued = !defeat->split && defeat->will_tell && will_be_woken(defeat->silent, view);
    if (queued && is_majority(view->waking->wakes, view))
        return majority_wakes_ns(view);
    int64_t until_ns = unwoken_ns(pause, refusals, defeat, queued, view);
    if (!pause->can_hear)
        return until_ns;
    /* What was released before a node listened was said to nobody. */
    bool hint = others_will_wake(pause, view);
    int64_t soon_ns = view->now_ns + (view->waking->named || view->more ? LISTEN_NS : 0);
    if (hint)
        soon_ns = hinted_ns(view, soon_ns);
    pause->hinted = hint && soon_ns < until_ns;
    return rl_earlier_ns(until_ns, soon_ns);
}

/* When this event makes a round worth it; INT64_MAX: never. `hint`: the round is optional. */
static int64_t turn_ns(struct rl_pause *pause, enum rl_turn why, bool hint,
                       const struct rl_wait_view *view)
{
    int64_t soon_ns = view->now_ns;
    assert(why != RL_TURN_WOKEN || view->waking->wakes);
    assert(!hint || (why == RL_TURN_LISTENS && pause->unprompted));
    switch (why) {
    case RL_TURN_FIRST:
    case RL_TURN_FREED:
        return soon_ns;
    case RL_TURN_WOKEN:
        return is_majority(view->waking->wakes, view) ? majority_wakes_ns(view)
                                                      : minority_wakes_ns(view);
    case RL_TURN_LISTENS:
        if (!is_majority(view->listening, view))
            return INT64_MAX;
        soon_ns += view->more ? LISTEN_NS : 0;
        return hint ? hinted_ns(view, soon_ns) : soon_ns;
    case RL_TURN_MISSED: /* a node that was counted on has not queued it */
        if (!pause->unprompted || will_be_woken(0, view))
            return INT64_MAX;
        return soon_ns + rl_backoff_next_ns(&pause->backoff, view->prng);
    }
    return INT64_MAX;
}

enum rl_turn_round rl_pause_turn(struct rl_pause *pause, enum rl_turn why,
                                 const struct rl_wait_view *view)
{
    view_assert(view);
    assert(view->waking || why == RL_TURN_FREED);
    assert(pause->until_ns >= 0 && pause->calm_ns >= 0);
    bool hint = why == RL_TURN_LISTENS && others_will_wake(pause, view);
    int64_t soon_ns = rl_later_ns(turn_ns(pause, why, hint, view), pause->calm_ns);
    if (soon_ns <= view->now_ns && (why == RL_TURN_WOKEN || why == RL_TURN_FREED))
        return RL_ROUND_NOW;
    if (soon_ns >= pause->until_ns)
        return RL_ROUND_AS_PLANNED;
    pause->hinted = hint;
    pause->until_ns = soon_ns;
    return RL_ROUND_SOONER;
}

bool rl_pause_look(struct rl_pause *pause, const struct rl_refusals *refusals, uint64_t alive,
                   const struct rl_wait_view *view)
{
    view_assert(view);
    assert((alive & ~rl_all(view->n)) == 0 && pause->look_ns > 0);
    if (view->now_ns < pause->look_ns)
        return true;
    pause->look_ns = view->now_ns + unprompted_ns(refusals, view);
    return view->waking && is_majority(alive & view->listening & view->waking->queued, view);
}
