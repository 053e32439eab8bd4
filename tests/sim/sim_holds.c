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

#include "sim_judge.h"
#include "sim_names.h"

#include "claim.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define LATER_NS (5 * SIM_MS) /* looks at one whose deadline has passed */

enum { HOLDS_MAX = 2048, NAME_MAX_SHOWN = 32, MARK_TOOK = 0x311, MARK_GAVE = 0x312 };

struct sim_hold {
    struct sim_event over_event; /* first: the deadline passes */
    bool open;                   /* its program has not given it up */
    bool over;                   /* its program was told so, or could be: for good */
    bool told;                   /* on_lost was called */
    redlock_lock *lock;          /* NULL: as text */
    bool leaves;                 /* a call detaches it: its handle goes before that is back */
    bool attached;               /* by a client that knows no TTL but the text's */
    struct sim_proc *proc;
    int64_t deadline_ns;          /* in force when it was last looked at; own time */
    int64_t told_ns;              /* until then, its program was told, it is valid */
    int64_t took_ns;              /* true time */
    struct sim_hold *prev, *next; /* open ones */
    bool shared;                  /* with others who read */
    bool several;                 /* names */
    char owner[RL_OWNER_MAX + 1]; /* "": a plain lock has none */
    char name[NAME_MAX_SHOWN];
    char token[RL_TOKEN_MAX + 1];
};

/* Taken round and round, so that what was given up is not used again at once: a callback that
 * tells of its loss may still come. */
static struct sim_hold pool[HOLDS_MAX];
static size_t pool_next;
static struct sim_hold *open_holds;
static uint64_t acquired;
static int64_t held_ns;

void sim_holds_begin(void)
{
    memset(pool, 0, sizeof(pool[0]) * (pool_next < HOLDS_MAX ? pool_next : HOLDS_MAX));
    pool_next = 0;
    open_holds = NULL;
    acquired = 0;
    held_ns = 0;
}

static int64_t in_force_ns(const struct sim_hold *hold)
{
    return hold->lock ? atomic_load(&hold->lock->deadline_ns) : hold->deadline_ns;
}

/* What it goes by, on its own clock: the deadline, and what it was told when it looked. */
static int64_t believes_until_ns(const struct sim_hold *hold)
{
    int64_t deadline_ns = in_force_ns(hold);
    return deadline_ns > hold->told_ns ? deadline_ns : hold->told_ns;
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

/* ---- looking -------------------------------------------------------------------------- */

/* Readers may read together, and an owner may have its lock as often as it likes. */
static bool conflict(const struct sim_hold *one, const struct sim_hold *other)
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
        if (other == hold || !conflict(hold, other) || !believes(other))
            continue;
        int64_t left_ns = sim_believes_for_ns(other);
        sim_found(SIM_OVERLAP,
                  "%s has %s (%.8s) while %s believes in it (%.8s) for %.3f ms more",
                  hold->proc->name, hold->name, hold->token, other->proc->name, other->token,
                  (double)left_ns / (double)SIM_MS);
    }
}

/* Believed in on a majority's word, it is a majority's to keep. What breaks an assumption takes
 * keys away. */
static void look_for_backing(const struct sim_hold *hold)
{
    if (sim_assumptions_broken() || !hold->lock || !believes(hold))
        return;
    int64_t until_ns = sim_true_ns(hold->proc, believes_until_ns(hold));
    int64_t max_ttl_ns = hold->lock->client->config.max_ttl_ms * SIM_MS;
    unsigned n = sim_master_count();
    unsigned behind = sim_masters_behind(hold->name, hold->token, until_ns, max_ttl_ns);
    if (behind < n / 2 + 1)
        sim_found(
            SIM_TOO_LONG,
            "%s believes in %s (%.8s) for %.3f ms more, and %u of %u masters keep it so long",
            hold->proc->name, hold->name, hold->token,
            (double)(until_ns - sim_now_ns()) / (double)SIM_MS, behind, n);
}

/* When it is over as redlock_validity_ms() tells it. */
static bool runs_out(const struct sim_hold *hold, int64_t deadline_ns)
{
    return deadline_ns - sim_own_ns(hold->proc) < RL_VALIDITY_GRAIN_NS;
}

static void await_over(struct sim_hold *hold)
{
    sim_at(&hold->over_event,
           sim_true_ns(hold->proc, hold->deadline_ns - RL_VALIDITY_GRAIN_NS + 1));
}

/* The deadline may have changed since; it may have passed. */
static void look(struct sim_hold *hold)
{
    int64_t deadline_ns = in_force_ns(hold);
    if (!hold->open || hold->leaves)
        return;
    if (hold->over && !runs_out(hold, deadline_ns) && !hold->proc->crashed) {
        sim_found(SIM_RISEN, "%s's %s (%.8s) is valid again after it had run out",
                  hold->proc->name, hold->name, hold->token);
        hold->over = false;
    }
    bool longer = deadline_ns > hold->deadline_ns;
    hold->deadline_ns = deadline_ns;
    hold->over |= deadline_ns == 0;
    if (hold->over)
        sim_not(&hold->over_event);
    else if (longer)
        await_over(hold);
    if (longer) {
        look_for_overlap(hold);
        look_for_backing(hold);
    }
}

/* It may grow after all as long as nobody was told that it has passed: a thread may come late
 * to answers that came in time. */
static void on_over(struct sim_event *event)
{
    struct sim_hold *hold = (struct sim_hold *)event;
    look(hold);
    if (hold->over || !hold->open)
        return;
    if (runs_out(hold, hold->deadline_ns))
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
    const struct rl_target *target = &hold->lock->claim->target;
    if (!asked || asked->kind == REDLOCK_PLAIN)
        return;
    if (asked->owner)
        snprintf(hold->owner, sizeof(hold->owner), "%s", asked->owner);
    else
        snprintf(hold->owner, sizeof(hold->owner), "%.*s", (int)target->owner_len,
                 target->owner);
}

struct sim_hold *sim_took(redlock_lock *lock, const char *name, const redlock_options *asked)
{
    struct sim_hold *hold = new_hold(name);
    /* Whoever else has it: what they have been told meanwhile is seen first. */
    for (struct sim_hold *other = hold->next; other; other = other->next)
        look(other);
    hold->lock = lock;
    hold->shared = asked && asked->kind == REDLOCK_READ;
    set_owner(hold, asked);
    snprintf(hold->token, sizeof(hold->token), "%s", redlock_token(lock));
    acquired++;
    sim_mark(MARK_TOOK, hold->proc->index, (uint64_t)in_force_ns(hold));
    if (sim_tells())
        sim_tell("%s has %s (%.8s) for %.3f ms", hold->proc->name, name, hold->token,
                 (double)(in_force_ns(hold) - sim_own_ns(hold->proc)) / (double)SIM_MS);
    look(hold);
    return hold;
}

/* The longest that any lock of its TTL can be valid for, counted from before the first byte. */
static int64_t whole_ms(const struct sim_hold *hold)
{
    const struct rl_claim *claim = hold->lock->claim;
    if (!claim || claim->hold.reached == 0)
        return INT64_MAX;
    return rl_validity_end_ns(0, claim->hold.key_ttl_ns, claim->hold.drift_factor) / SIM_MS;
}

/* What is told was so at some time of the call: it may be old when it is heard, since a thread
 * can be stopped right before. */
int64_t sim_believes(struct sim_hold *hold)
{
    int64_t before_ns = in_force_ns(hold), own_ns = sim_own_ns(hold->proc);
    int64_t left_ms = redlock_validity_ms(hold->lock);
    int64_t after_ns = in_force_ns(hold);
    /* It may have been lost in between, or made to last longer. */
    int64_t most_ns = before_ns > after_ns ? before_ns : after_ns;
    int64_t most_ms = (most_ns - own_ns) / SIM_MS;
    if (!hold->attached && most_ms > whole_ms(hold))
        most_ms = whole_ms(hold);
    if (left_ms > 0 && left_ms > most_ms)
        sim_found(
            SIM_TOO_LONG, "%s is told that it has %s (%.8s) for %lld ms more: %lld are left",
            hold->proc->name, hold->name, hold->token, (long long)left_ms, (long long)most_ms);
    look(hold);
    if (left_ms == 0) /* it has been told to stop */
        hold->told_ns = 0;
    else if (own_ns + left_ms * SIM_MS > hold->told_ns)
        hold->told_ns = own_ns + left_ms * SIM_MS;
    hold->over |= left_ms == 0;
    return left_ms;
}

void sim_gives_up(struct sim_hold *hold)
{
    if (!hold->open)
        return;
    look(hold);
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
                 runs_out(hold, hold->deadline_ns) ? ", which has run out" : "");
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

void sim_lost(const redlock_lock *lock)
{
    struct sim_hold *hold = open_holds;
    while (hold && hold->lock != lock)
        hold = hold->next;
    if (!hold) /* it was lost before its program was told that it had it */
        return;
    sim_mark(MARK_GAVE, hold->proc->index, 2);
    if (sim_tells())
        sim_tell("%s is told that %s (%.8s) is lost", hold->proc->name, hold->name,
                 hold->token);
    look(hold);
    if (!runs_out(hold, hold->deadline_ns) && !hold->proc->crashed)
        sim_found(SIM_TOO_LONG, "%s is told that %s (%.8s) is lost, and it is still valid",
                  hold->proc->name, hold->name, hold->token);
    if (hold->told)
        sim_found(SIM_TWICE, "%s is told twice that %s (%.8s) is lost", hold->proc->name,
                  hold->name, hold->token);
    hold->over = hold->told = true;
    hold->told_ns = 0;
}

void sim_detaches(struct sim_hold *hold)
{
    look(hold);
    hold->leaves = true;
}

void sim_detached(struct sim_hold *hold, bool gone)
{
    hold->leaves = false;
    if (hold->open && gone)
        hold->lock = NULL; /* deadline_ns is what was in force; nothing moves it any more */
    else
        look(hold);
}

void sim_attached(struct sim_hold *hold, redlock_lock *lock)
{
    if (!hold->open)
        return;
    hold->attached = true;
    hold->lock = lock;
    hold->proc = sim_proc();
    look(hold);
    look_for_overlap(hold);
}

/* ---- the end -------------------------------------------------------------------------- */

void sim_look_for_open_holds(void)
{
    for (const struct sim_hold *hold = open_holds; hold; hold = hold->next)
        sim_found(SIM_LEFTOVER, "%s has not given %s up: the world is at fault",
                  hold->proc->name, hold->name);
}

void sim_holds_end(void)
{
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
