/* sim_holds.c - the oracle of holds: who believes in which lock, in true time.
 *
 * A program believes in its lock from when it was told of it until it gives it up, for as long
 * as the deadline in force (the one that redlock_validity_ms() counts down to) is ahead on its
 * own clock. Its process may stand meanwhile: its clock decides all the same. A process that
 * was killed believes nothing; but what it has detached is a text that others of its host take
 * up, and is believed in without it.
 *
 * Two that believe in one name at one time are an overlap. It is looked for at each grant and
 * at each change of a deadline, which is all there can begin one.
 */
#include "config_auto.h"

#include "sim_held.h"
#include "sim_names.h"
#include "sim_sentinel.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define LATER_NS (5 * SIM_MS) /* looks at one whose deadline has passed */

enum { HOLDS_MAX = 2048, MARK_TOOK = 0x311, MARK_GAVE = 0x312 };

/* Taken round and round, so that what was given up is not used again at once: a callback that
 * tells of its loss may still come. */
static struct sim_hold pool[HOLDS_MAX];
static size_t pool_next;
static struct sim_hold *open_holds;
static uint64_t acquired;
static int64_t held_ns;

/* Of a token: its random digits, 64 bits each. */
enum { HALF = 16 };
static char last_token[2 * HALF];

void sim_holds_begin(void)
{
    memset(last_token, 0, sizeof(last_token));
    memset(pool, 0, sizeof(pool[0]) * (pool_next < HOLDS_MAX ? pool_next : HOLDS_MAX));
    pool_next = 0;
    open_holds = NULL;
    acquired = 0;
    held_ns = 0;
    sim_kept_begin();
}

/* Is it over for every look, now and later? A clock that is behind what was seen of it is so
 * for a look now alone: when it has gone on, and no program looked, none can tell that it was
 * set back. */
static bool is_over_for_good(const struct sim_hold *hold)
{
    if (!hold->lock)
        return hold->deadline_ns == 0;
    return atomic_load(&hold->lock->shown.deadline_ns) == 0 ||
           atomic_load(&hold->lock->shown.clock_epoch) !=
               atomic_load(&hold->lock->client->clock.added_ns);
}

/* In own time: a client's clock goes on from what it had shown, and so it is behind that by as
 * much as it was set back, but for what was added since. Where it was, nothing is in force:
 * whenever it is asked next it says so. */
int64_t sim_hold_in_force_ns(const struct sim_hold *hold)
{
    if (!hold->lock)
        return hold->deadline_ns;
    const struct rl_clock *clock = &hold->lock->client->clock;
    int64_t added_ns = atomic_load(&clock->added_ns);
    int64_t now_ns = sim_shown_ns(hold->proc) + added_ns;
    if (is_over_for_good(hold) || atomic_load(&clock->seen_ns) - now_ns > RL_CLOCK_JITTER_NS)
        return 0;
    return atomic_load(&hold->lock->shown.deadline_ns) + hold->proc->back_ns - added_ns;
}

/* What it goes by, on its own clock: the deadline, and what it was told when it looked. */
static int64_t believes_until_ns(const struct sim_hold *hold)
{
    int64_t deadline_ns = sim_hold_in_force_ns(hold);
    return deadline_ns > hold->reported_ns ? deadline_ns : hold->reported_ns;
}

static bool believes(const struct sim_hold *hold)
{
    bool alive = !hold->proc->crashed || !hold->lock;
    return hold->open && alive && sim_own_ns(hold->proc) < believes_until_ns(hold);
}

int64_t sim_believes_for_ns(const struct sim_hold *hold)
{
    return believes_until_ns(hold) - sim_own_ns(hold->proc);
}

const char *sim_holder(const struct sim_hold *hold)
{
    return hold->proc->name;
}

const struct sim_hold *sim_believed(const char *token)
{
    for (const struct sim_hold *hold = open_holds; hold; hold = hold->next) {
        if (strcmp(hold->token, token) == 0 && believes(hold))
            return hold;
    }
    return NULL;
}

bool sim_is_within(const struct sim_hold *hold, uint64_t fencing_token)
{
    for (const struct sim_hold *other = open_holds; other; other = other->next) {
        if (other != hold && other->fencing_token == fencing_token && hold->owner[0] != '\0' &&
            strcmp(other->owner, hold->owner) == 0 && strcmp(other->name, hold->name) == 0 &&
            believes(other))
            return true;
    }
    return false;
}

/* ---- looking -------------------------------------------------------------------------- */

/* Readers may read together, and an owner may have its lock as often as it likes. */
bool sim_conflict(const struct sim_hold *one, const struct sim_hold *other)
{
    bool several = one->several || other->several;
    if (several ? !sim_names_meet(one->name, other->name) : strcmp(one->name, other->name) != 0)
        return false;
    if (one->shared && other->shared)
        return false;
    return one->owner[0] == '\0' || strcmp(one->owner, other->owner) != 0;
}

static void look_for_overlap(const struct sim_hold *hold)
{
    if (!believes(hold))
        return;
    for (const struct sim_hold *other = open_holds; other; other = other->next) {
        if (other == hold || !sim_conflict(hold, other) || !believes(other))
            continue;
        int64_t left_ns = sim_believes_for_ns(other);
        sim_found(SIM_OVERLAP,
                  "%s has %s (%.8s) while %s believes in it (%.8s) for %.3f ms more",
                  hold->proc->name, hold->name, hold->token, other->proc->name, other->token,
                  (double)left_ns / (double)SIM_MS);
    }
}

/* Its keys outlive it by the lock-delay, as the slowest pair of clocks measures it. */
static void delay(struct sim_hold *hold)
{
    int64_t delay_ns = hold->lock_delay_ns;
    const struct redlock *client = hold->lock ? hold->lock->client : NULL;
    if (delay_ns == 0 || hold->deadline_ns == 0 || !client)
        return;
    delay_ns -= 2 * (int64_t)((double)delay_ns * client->config.drift_factor) + 5 * SIM_MS;
    int64_t until_ns = sim_true_ns(hold->proc, hold->deadline_ns) + delay_ns;
    if (until_ns > hold->delayed_ns)
        hold->delayed_ns = until_ns;
}

/* Another's that ended without a release. One that was over before its call was back may have been
 * granted before that began. */
static void look_for_delay(const struct sim_hold *hold)
{
    if (!believes(hold))
        return;
    for (const struct sim_hold *other = open_holds; other; other = other->next) {
        if (other == hold || !sim_conflict(hold, other) || believes(other) ||
            sim_now_ns() >= other->delayed_ns)
            continue;
        sim_found(SIM_OVERLAP,
                  "%s has %s (%.8s) %.3f ms before the lock-delay of %s (%.8s) ends",
                  hold->proc->name, hold->name, hold->token,
                  (double)(other->delayed_ns - sim_now_ns()) / (double)SIM_MS,
                  other->proc->name, other->token);
    }
}

/* Believed in on a majority's word, it is a majority's to keep. What breaks an assumption takes
 * keys away. */
static void look_for_backing(const struct sim_hold *hold)
{
    if (sim_assumptions_broken() || !hold->lock || !believes(hold))
        return;
    int64_t until_ns = sim_true_ns(hold->proc, believes_until_ns(hold) + hold->margin_ns);
    unsigned n = hold->nodes;
    unsigned behind = sim_masters_behind(hold->name, hold->token, until_ns, hold->max_ttl_ns);
    if (behind < n / 2 + 1)
        sim_found(
            SIM_TOO_LONG,
            "%s believes in %s (%.8s) for %.3f ms more, and %u of %u masters keep it so long",
            hold->proc->name, hold->name, hold->token,
            (double)(until_ns - sim_now_ns()) / (double)SIM_MS, behind, n);
}

/* When the round was begun by which it has its deadline; own time. -1: nobody knows, since it is
 * a text's, or another round was begun meanwhile. */
static int64_t round_began_ns(const struct sim_hold *hold)
{
    const struct rl_lease *lease = hold->lock->lease;
    const struct rl_hold *keys = lease ? &lease->hold : NULL;
    if (!keys || (hold->attached && keys->hearsay))
        return -1;
    const int64_t t0s_ns[] = {keys->ask.t0_ns, keys->extend.t0_ns};
    const int64_t ttls_ns[] = {keys->ask_ttl_ns, keys->extend_ttl_ns};
    int64_t t0_ns = 0;
    for (unsigned i = 0; i < 2; i++) {
        if (t0s_ns[i] > 0 && ttls_ns[i] > 0 &&
            rl_validity_end_ns(t0s_ns[i], ttls_ns[i], keys->drift_factor) == keys->deadline_ns)
            t0_ns = t0s_ns[i];
    }
    if (t0_ns == 0)
        return -1;
    return t0_ns + hold->proc->back_ns - atomic_load(&hold->lock->client->clock.added_ns);
}

/* Where masters can fail over: each vote that it rests on needs the word of Sentinels. */
static void look_for_witnesses(const struct sim_hold *hold)
{
    int64_t began_ns;
    if (sim_assumptions_broken() || !hold->lock || !believes(hold) ||
        sim_sentinels_of(0) == 0 || (began_ns = round_began_ns(hold)) < 0)
        return;
    unsigned n = hold->nodes;
    unsigned witnessed =
        sim_masters_witnessed(hold->proc, hold->token, sim_true_ns(hold->proc, began_ns));
    if (witnessed < n / 2 + 1)
        sim_found(SIM_UNWITNESSED,
                  "%s believes in %s (%.8s) by a round of %.3f ms ago, and %u of %u masters "
                  "could vote then",
                  hold->proc->name, hold->name, hold->token,
                  (double)(sim_own_ns(hold->proc) - began_ns) / (double)SIM_MS, witnessed, n);
}

/* When it is over as redlock_validity_ms() tells it. */
bool sim_hold_runs_out(const struct sim_hold *hold, int64_t deadline_ns)
{
    return deadline_ns - sim_own_ns(hold->proc) < RL_VALIDITY_GRAIN_NS;
}

static void await_over(struct sim_hold *hold)
{
    sim_at(&hold->over_event,
           sim_true_ns(hold->proc, hold->deadline_ns - RL_VALIDITY_GRAIN_NS + 1));
}

/* The deadline may have changed since; it may have passed. */
void sim_hold_look(struct sim_hold *hold)
{
    int64_t deadline_ns = sim_hold_in_force_ns(hold);
    if (!hold->open || hold->leaves)
        return;
    if (hold->over && !sim_hold_runs_out(hold, deadline_ns) && !hold->proc->crashed) {
        sim_found(SIM_REVIVED, "%s's %s (%.8s) is valid again after it had run out",
                  hold->proc->name, hold->name, hold->token);
        hold->over = false;
    }
    bool longer = deadline_ns > hold->deadline_ns;
    if (longer && deadline_ns > hold->until_ns)
        sim_found(SIM_TOO_LONG, "%s has %s (%.8s) for longer than it wants to",
                  hold->proc->name, hold->name, hold->token);
    hold->deadline_ns = deadline_ns;
    delay(hold);
    hold->over |= deadline_ns == 0 && is_over_for_good(hold);
    if (hold->over)
        sim_not(&hold->over_event);
    else if (longer)
        await_over(hold);
    if (longer) {
        look_for_overlap(hold);
        look_for_backing(hold);
        look_for_witnesses(hold);
    }
}

/* It may grow after all as long as nobody was told that it has passed: a thread may come late
 * to answers that came in time. */
static void on_over(struct sim_event *event)
{
    struct sim_hold *hold = (struct sim_hold *)event;
    sim_hold_look(hold);
    if (hold->over || !hold->open)
        return;
    if (sim_hold_runs_out(hold, hold->deadline_ns))
        sim_at(&hold->over_event, sim_now_ns() + LATER_NS);
    else
        await_over(hold);
}

/* ---- what programs tell --------------------------------------------------------------- */

static struct sim_hold *new_hold(const char *name)
{
    struct sim_hold *hold;
    size_t tried = 0;
    do {
        assert(tried++ < HOLDS_MAX);
        hold = &pool[pool_next++ % HOLDS_MAX];
    } while (hold->open);
    memset(hold, 0, sizeof(*hold));
    hold->over_event.fire = on_over;
    hold->open = true;
    hold->proc = sim_proc();
    hold->took_ns = sim_now_ns();
    hold->next = open_holds;
    if (open_holds)
        open_holds->prev = hold;
    open_holds = hold;
    snprintf(hold->name, sizeof(hold->name), "%s", name);
    hold->several = sim_names_several(hold->name);
    return hold;
}

/* An owner that nobody has named is the library's to make up. */
static void set_owner(struct sim_hold *hold, const redlock_options *asked)
{
    const struct rl_target *target = &hold->lock->lease->target;
    if (!asked || asked->kind == REDLOCK_PLAIN)
        return;
    if (asked->owner)
        snprintf(hold->owner, sizeof(hold->owner), "%s", asked->owner);
    else
        snprintf(hold->owner, sizeof(hold->owner), "%.*s", (int)target->owner_len,
                 target->owner);
}

/* As it is documented. */
static int64_t margin_ns(int64_t ttl_ns)
{
    int64_t part_ns = ttl_ns / 20;
    return part_ns < 3 * SIM_MS ? 3 * SIM_MS : part_ns > 100 * SIM_MS ? 100 * SIM_MS : part_ns;
}

/* That half of one comes again is as good as impossible. */
static void look_for_weak_token(const struct sim_hold *hold)
{
    const char *first = hold->token, *second = hold->token + HALF;
    if (strlen(hold->token) <= 2 * HALF || hold->token[2 * HALF] != ':' ||
        memcmp(first, second, HALF) == 0 || memcmp(first, last_token, HALF) == 0 ||
        memcmp(second, last_token + HALF, HALF) == 0)
        sim_found(SIM_TWICE, "%s has a token that is not random enough", hold->proc->name);
    memcpy(last_token, hold->token, sizeof(last_token));
}

struct sim_hold *sim_took(redlock_lock *lock, const char *name, const redlock_options *asked,
                          int64_t began_ns)
{
    struct sim_hold *hold = new_hold(name);
    /* Whoever else has it: what they have been told meanwhile is seen first. */
    for (struct sim_hold *other = hold->next; other; other = other->next)
        sim_hold_look(other);
    hold->lock = lock;
    hold->nodes = lock->client->config.node_count;
    hold->max_ttl_ns = lock->client->config.max_ttl_ms * SIM_MS;
    hold->lock_delay_ns = lock->client->config.lock_delay_ms * SIM_MS;
    hold->shared = asked && asked->kind == REDLOCK_READ;
    hold->hears = asked && asked->on_lost;
    hold->watched = asked && (asked->on_lost || asked->auto_renew);
    hold->lazy = asked && asked->release == REDLOCK_RELEASE_LAZY;
    hold->margin_ns = hold->watched ? margin_ns(asked->ttl_ms * SIM_MS) : 0;
    hold->until_ns = INT64_MAX;
    if (hold->watched && asked->max_hold_ms > 0)
        hold->until_ns =
            sim_own_ns(hold->proc) + asked->max_hold_ms * SIM_MS + RL_VALIDITY_GRAIN_NS;
    set_owner(hold, asked);
    snprintf(hold->token, sizeof(hold->token), "%s", redlock_token(lock));
    look_for_weak_token(hold);
    if (asked && asked->fenced) {
        hold->fencing_token = redlock_fencing_token(lock);
        sim_look_at_fence(hold, hold->fencing_token, began_ns);
    }
    acquired++;
    sim_mark(MARK_TOOK, hold->proc->index, (uint64_t)sim_hold_in_force_ns(hold));
    if (sim_tells())
        sim_tell("%s has %s (%.8s) for %.3f ms", hold->proc->name, name, hold->token,
                 (double)(sim_hold_in_force_ns(hold) - sim_own_ns(hold->proc)) /
                     (double)SIM_MS);
    sim_hold_look(hold);
    look_for_delay(hold);
    if (believes(hold)) /* else it may have been granted before that other one */
        sim_look_at_kept(hold);
    sim_keeps(hold, asked ? asked->at_least_ms : 0);
    return hold;
}

void sim_gives_up(struct sim_hold *hold)
{
    if (!hold->open)
        return;
    sim_hold_look(hold);
    sim_gave_up_kept(hold);
    int64_t until_ns = sim_now_ns();
    int64_t over_ns = sim_true_ns(hold->proc, hold->deadline_ns);
    if (over_ns < until_ns && over_ns > hold->took_ns)
        until_ns = over_ns;
    held_ns += until_ns - hold->took_ns;
    hold->open = false;
    sim_not(&hold->over_event);
    if (hold->prev)
        hold->prev->next = hold->next;
    else
        open_holds = hold->next;
    if (hold->next)
        hold->next->prev = hold->prev;
    sim_mark(MARK_GAVE, hold->proc->index, hold->over);
    if (sim_tells())
        sim_tell("%s gives up %s (%.8s)%s", hold->proc->name, hold->name, hold->token,
                 sim_hold_runs_out(hold, hold->deadline_ns) ? ", which has run out" : "");
}

void sim_gives_up_all(const redlock *client)
{
    struct sim_hold *next;
    for (struct sim_hold *hold = open_holds; hold; hold = next) {
        next = hold->next;
        if (hold->lock && hold->lock->client == client)
            sim_gives_up(hold);
    }
}

void sim_miscounts(const struct sim_proc *proc, int64_t back_ns)
{
    for (struct sim_hold *hold = open_holds; hold; hold = hold->next) {
        if (hold->proc != proc || !hold->lock)
            continue;
        if (hold->reported_ns != 0)
            hold->reported_ns += back_ns;
        if (hold->until_ns != INT64_MAX)
            hold->until_ns += back_ns;
    }
}

struct sim_hold *sim_hold_of(const redlock_lock *lock)
{
    struct sim_hold *hold = open_holds;
    while (hold && hold->lock != lock)
        hold = hold->next;
    return hold;
}

void sim_detaches(struct sim_hold *hold)
{
    sim_hold_look(hold);
    hold->leaves = true;
    const uint64_t *inflight =
        hold->lock->lease ? hold->lock->lease->hold.acquire_inflight : NULL;
    if (inflight)
        hold->owed |= inflight[0] | inflight[1];
}

void sim_detached(struct sim_hold *hold, bool gone)
{
    hold->leaves = false;
    hold->detached |= gone;
    if (hold->open && gone)
        hold->lock = NULL; /* deadline_ns is what was in force; nothing moves it any more */
    else
        sim_hold_look(hold);
}

bool sim_was_detached(const char *token)
{
    for (size_t i = 0; i < pool_next && i < HOLDS_MAX; i++) {
        if (pool[i].detached && strcmp(pool[i].token, token) == 0)
            return true;
    }
    return false;
}

void sim_attached(struct sim_hold *hold, redlock_lock *lock)
{
    if (!hold->open)
        return;
    hold->attached = true;
    hold->hears = hold->watched = false; /* the text says nothing of that */
    hold->margin_ns = 0;
    hold->until_ns = INT64_MAX;
    hold->lock = lock;
    hold->proc = sim_proc();
    sim_hold_look(hold);
    look_for_overlap(hold);
}

/* ---- the end -------------------------------------------------------------------------- */

void sim_look_for_open_holds(void)
{
    for (const struct sim_hold *hold = open_holds; hold; hold = hold->next)
        sim_found(SIM_ORPHAN, "%s has not given %s up: the world is at fault",
                  hold->proc->name, hold->name);
}

void sim_holds_end(void)
{
    sim_kept_end();
    while (open_holds) {
        sim_not(&open_holds->over_event);
        open_holds->open = false;
        open_holds = open_holds->next;
    }
}

uint64_t sim_acquired(void)
{
    return acquired;
}

int64_t sim_held_ns(void)
{
    return held_ns;
}
