/* sim_kept.c - the oracle of least times (options.at_least_ms): a lock that was won keeps others
 * out from t0 on for so long, by its client's clock and in true time, whatever becomes of it and
 * of its process.
 *
 * An overlap needs a client that asks. Whether one could get the lock is seen by the keys: a
 * majority of the masters must keep them until then. The oracle looks at the keys when the lock is
 * told, when it is given up, and right before the end. Masters that lost their keys have no vote,
 * or an assumption is broken. Where markers are lost, or the list is changed, the oracle looks only
 * at clients that get the lock. */
#include "config_auto.h"

#include "sim_held.h"
#include "sim_names.h"

#include <stdio.h>
#include <string.h>

enum { KEPT_MAX = 1024 };

static struct kept {
    struct sim_event event;  /* first: its end is near */
    struct sim_hold of;      /* as it was when it was told */
    int64_t until_ns;        /* true time */
    int64_t gave_up_ns;      /* its program has; SIM_NEVER: it has not */
} kept[KEPT_MAX];            /* round and round */
static size_t count;
bool sim_kept_on_masters;

void sim_kept_begin(void)
{
    memset(kept, 0, sizeof(kept[0]) * (count < KEPT_MAX ? count : KEPT_MAX));
    count = 0;
    sim_kept_on_masters = true;
}

void sim_kept_end(void)
{
    for (size_t i = 0; i < count && i < KEPT_MAX; i++)
        sim_not(&kept[i].event);
    sim_kept_begin();
}

static struct kept *find(const char *token)
{
    for (size_t i = 0; i < count && i < KEPT_MAX; i++) {
        if (strcmp(kept[i].of.token, token) == 0)
            return &kept[i];
    }
    return NULL;
}

bool sim_is_kept(const char *token)
{
    return find(token) != NULL;
}

/* Was it given up before the end? A client whose clock was set back can't know. */
bool sim_left_to_end(const struct sim_hold *hold)
{
    const struct kept *one = find(hold->token);
    return one && (one->gave_up_ns <= one->until_ns || hold->proc->back_ns != 0);
}

/* As many masters as a majority is keep it until then? */
static void look(const struct kept *one, const char *when)
{
    unsigned n = one->of.nodes;
    if (sim_assumptions_broken() || !sim_kept_on_masters || sim_now_ns() >= one->until_ns)
        return;
    unsigned behind =
        sim_masters_behind(one->of.name, one->of.token, one->until_ns, one->of.max_ttl_ns);
    if (behind < n / 2 + 1)
        sim_found(SIM_TOO_SOON,
                  "%s's %s (%.8s) is to keep others out for %.3f ms more %s, and %u of %u "
                  "masters do",
                  one->of.proc->name, one->of.name, one->of.token,
                  (double)(one->until_ns - sim_now_ns()) / (double)SIM_MS, when, behind, n);
}

static void on_end(struct sim_event *event)
{
    look((const struct kept *)event, "at its end");
}

/* In own time: as sim_hold_in_force_ns() has the deadline. */
static int64_t began_own_ns(const struct sim_hold *hold)
{
    const struct rl_clock *clock = &hold->lock->client->clock;
    return hold->lock->lease->hold.ask.t0_ns + hold->proc->back_ns -
           atomic_load(&clock->added_ns);
}

/* A lock that ran out before its call was back may have a lease that is gone. */
void sim_keeps(const struct sim_hold *hold, int64_t at_least_ms)
{
    if (at_least_ms == 0 || !hold->lock->lease)
        return;
    struct kept *one = &kept[count++ % KEPT_MAX];
    sim_not(&one->event);
    memset(one, 0, sizeof(*one));
    one->of = *hold;
    one->event.fire = on_end;
    one->gave_up_ns = SIM_NEVER;
    one->until_ns = sim_true_ns(hold->proc, began_own_ns(hold) + at_least_ms * SIM_MS);
    if (one->until_ns - SIM_US > sim_now_ns())
        sim_at(&one->event, one->until_ns - SIM_US);
    look(one, "when it is told");
}

void sim_gave_up_kept(const struct sim_hold *hold)
{
    struct kept *one = find(hold->token);
    if (one && one->gave_up_ns == SIM_NEVER)
        one->gave_up_ns = sim_now_ns();
}

void sim_released_kept(const struct sim_hold *hold)
{
    const struct kept *one = find(hold->token);
    if (one)
        look(one, "after its release");
}

void sim_look_at_kept(const struct sim_hold *hold)
{
    for (size_t i = 0; i < count && i < KEPT_MAX; i++) {
        const struct kept *one = &kept[i];
        if (strcmp(one->of.token, hold->token) == 0 || !sim_conflict(hold, &one->of) ||
            sim_now_ns() >= one->until_ns)
            continue;
        sim_found(SIM_OVERLAP,
                  "%s has %s (%.8s) %.3f ms before the least time of %s (%.8s) is over",
                  hold->proc->name, hold->name, hold->token,
                  (double)(one->until_ns - sim_now_ns()) / (double)SIM_MS,
                  one->of.proc->name, one->of.token);
    }
}
