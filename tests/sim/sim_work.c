/* sim_work.c - programs: threads that take locks, look at them, make them last longer, hand
 * them on, give them up or let them run out. */
#include "config_auto.h"

#include "sim_names.h"
#include "sim_world.h"

#define LOSS_REPORTED_NS (5 * SIM_S) /* on_lost may take its time, and so may threads */

bool sim_leaves(const struct sim_actor *actor)
{
    return actor->leaving || actor->proc->crashed || sim_world.phase == SIM_OVER;
}

void sim_on_lost(void *context, redlock_lock *lock)
{
    (void)context;
    sim_world.tally->lost++;
    sim_lost(lock);
    if (sim_below(4) == 0) /* a callback may take its time */
        sim_nap(sim_scale(10 * SIM_US, 20 * SIM_MS));
    sim_lost_heard(lock);
}

void sim_draw_options(redlock_options *ret_options, char owner[SIM_OWNER_BYTES], bool renews)
{
    *ret_options = (redlock_options)REDLOCK_OPTIONS_INIT;
    sim_draw_kind(ret_options, owner);
    ret_options->ttl_ms = sim_scale(30, sim_world.plan.ttl_max_ms);
    ret_options->at_least_ms = sim_draw_at_least(ret_options->kind);
    switch (sim_below(8)) {
    case 0:
    case 1:
        break;
    case 2:
        ret_options->wait_ms = -1;
        ret_options->ttl_ms = sim_scale(sim_world.plan.ttl_sure_ms, sim_world.plan.ttl_max_ms);
        break;
    default:
        ret_options->wait_ms = sim_scale(1, 2 * sim_world.plan.ttl_max_ms);
        break;
    }
    if (renews && sim_below(4) == 0)
        ret_options->release = REDLOCK_RELEASE_LAZY;
    if (!renews || sim_below(sim_world.plan.limited ? 2 : 3))
        return;
    ret_options->auto_renew = (int)sim_below(2);
    if (sim_below(3)) /* others only look at the validity */
        ret_options->on_lost = sim_on_lost;
    if (ret_options->auto_renew && sim_below(3) == 0)
        ret_options->max_hold_ms = sim_scale(1, 2 * sim_world.plan.ttl_max_ms);
}

/* ---- a lock that is held -------------------------------------------------------------- */

/* Its time passes in steps, and the program looks at each. Over: true. */
static bool pass_time(const struct sim_actor *actor, struct sim_hold *hold, int64_t for_ns)
{
    while (for_ns > 0) {
        int64_t step_ns = for_ns < SIM_STEP_NS ? for_ns : SIM_STEP_NS;
        if (sim_below(2))
            step_ns = sim_scale(SIM_US, step_ns + SIM_US);
        sim_nap(step_ns);
        if (sim_leaves(actor) || sim_believes(hold) == 0)
            return true;
        if (sim_world.phase == SIM_CALM)
            return false;
        for_ns -= step_ns;
    }
    return false;
}

/* Who asked to be told of a loss may rely on that, and look at nothing else. */
static void await_loss(const struct sim_actor *actor, const struct sim_hold *hold)
{
    int64_t until_ns = sim_own_ns(actor->proc) + LOSS_REPORTED_NS;
    while (sim_awaits_loss(hold) && !sim_leaves(actor) && sim_world.phase == SIM_WORK) {
        if (sim_own_ns(actor->proc) > until_ns) {
            sim_lost_in_silence(hold);
            return;
        }
        sim_nap(SIM_STEP_NS);
    }
}

static void hand_on(struct sim_actor *actor, redlock_lock *lock, struct sim_hold *hold)
{
    for (unsigned i = 0; i < SIM_TEXTS_MAX; i++) {
        struct sim_text *text = &sim_world.text[actor->host][i];
        if (text->hold)
            continue;
        if (sim_detach(lock, hold, text->text, sizeof(text->text))) {
            sim_release(lock, hold);
            return;
        }
        sim_world.tally->detached++;
        text->hold = hold;
        return;
    }
    sim_release(lock, hold);
}

static void count_release(int result)
{
    if (result == REDLOCK_OK)
        sim_world.tally->released++;
}

static void release_later(struct sim_actor *actor, redlock_lock *lock, struct sim_hold *hold)
{
    sim_gives_up(hold);
    int result = redlock_release_async(lock, NULL, NULL);
    sim_tell("%s leaves the release to others: %s", actor->proc->name,
             redlock_err_name(result));
}

static void end_hold(struct sim_actor *actor, redlock_lock *lock, struct sim_hold *hold,
                     bool renewed)
{
    switch (sim_world.phase == SIM_CALM ? 9 : sim_below(20)) {
    case 0:
        hand_on(actor, lock, hold);
        break;
    case 1:
    case 2:
    case 3:
        release_later(actor, lock, hold);
        break;
    case 4: /* it is left to whoever closes the client */
        if (!renewed && sim_below(4) == 0)
            break;
        /* fall through */
    default:
        count_release(sim_release(lock, hold));
        break;
    }
}

static void hold_it(struct sim_actor *actor, redlock_lock *lock, struct sim_hold *hold,
                    int64_t ttl_ms, bool renewed)
{
    int64_t ttl_ns = ttl_ms * SIM_MS;
    unsigned rounds = sim_below(3) ? 1 : (unsigned)sim_below(5) + 1;
    while (rounds-- > 0) {
        /* Mostly a moment, now and then for longer than it lasts. */
        unsigned few = sim_world.plan.limited ? 2 : 8; /* a bound is met by many at once */
        int64_t for_ns = sim_scale(SIM_US, sim_below(few) ? ttl_ns / 4 : ttl_ns + ttl_ns / 4);
        bool over = pass_time(actor, hold, for_ns);
        if (over && sim_below(2))
            await_loss(actor, hold);
        if (over || rounds == 0)
            break;
        int64_t more_ms = sim_below(2) ? 0 : sim_scale(30, sim_world.plan.ttl_max_ms);
        if (more_ms > 0 && sim_below(8) == 0) /* which is refused */
            more_ms += sim_world.plan.options.max_ttl_ms;
        int result = sim_extend(lock, hold, more_ms);
        if (sim_leaves(actor))
            return;
        sim_world.tally->extended += result == REDLOCK_OK;
        if (result == REDLOCK_EEXPIRED)
            break;
    }
    if (!sim_leaves(actor))
        end_hold(actor, lock, hold, renewed);
}

/* A text of another host's is none here: its times are of another clock. */
static void take_up_foreign(struct sim_actor *actor)
{
    unsigned host = (actor->host + 1) % sim_world.plan.actors;
    const struct sim_text *text = &sim_world.text[host][0];
    redlock_lock *lock;
    int result = text->hold ? redlock_attach(actor->client, text->text, &lock) : 0;
    if (text->hold && (result == REDLOCK_OK || result == REDLOCK_EEXPIRED))
        sim_found(SIM_WRONG_RESULT, "%s attaches what another host has detached: %s",
                  actor->proc->name, redlock_err_name(result));
}

static bool take_up(struct sim_actor *actor)
{
    if (sim_below(4) == 0)
        take_up_foreign(actor);
    for (unsigned i = 0; i < SIM_TEXTS_MAX; i++) {
        struct sim_text *text = &sim_world.text[actor->host][i];
        struct sim_hold *hold = text->hold;
        redlock_lock *lock;
        if (!hold)
            continue;
        text->hold = NULL;
        if (sim_attach(actor->client, text->text, hold, &lock)) {
            sim_gives_up(hold);
            return false;
        }
        sim_world.tally->attached++;
        hold_it(actor, lock, hold, sim_world.plan.ttl_max_ms / 2 + 1, false);
        return true;
    }
    return false;
}

/* ---- a thread ------------------------------------------------------------------------- */

void sim_count_try(const char *name, int result)
{
    struct sim_tally *tally = sim_world.tally;
    if (sim_tells() && result)
        sim_tell("%s does not get %s: %s", sim_proc()->name, name, redlock_err_name(result));
    tally->tries++;
    tally->refused += result == REDLOCK_EHELD;
    tally->no_quorum += result == REDLOCK_ENOQUORUM;
    tally->other +=
        result != REDLOCK_OK && result != REDLOCK_EHELD && result != REDLOCK_ENOQUORUM;
}

/* Has any process been stopped so far, or did its clock not count all time? */
static bool any_stood(void)
{
    return sim_world_faults(SIM_FAULT_PROC_PAUSE, SIM_FAULT_PROC_STUTTER) > 0 ||
           sim_world_faults(SIM_FAULT_OWN_BACK, SIM_FAULT_OWN_BACK) > 0 ||
           sim_world_faults(SIM_FAULT_FREEZE, SIM_FAULT_OWN_FORWARD) > 0;
}

static int blocking_try(struct sim_actor *actor, const char *name,
                        const redlock_options *options, redlock_lock **ret_lock,
                        struct sim_hold **ret_hold)
{
    int64_t began_ns = sim_own_ns(sim_proc()), asked_ns = sim_now_ns();
    uint64_t call = sim_call_begins("redlock_try");
    sim_tell_try(name, options);
    actor->calling++;
    int result = sim_names_try(actor->client, name, options, ret_lock);
    actor->calling--;
    sim_call_ends(call);
    sim_count_try(name, result);
    if (!any_stood())
        sim_waited(name, options, began_ns);
    /* The client may be closed by now, and the lock gone with it. */
    if (result == REDLOCK_OK && actor->leaving)
        sim_won_unseen(actor, options);
    else if (result == REDLOCK_OK)
        *ret_hold = sim_took(*ret_lock, name, options, asked_ns);
    return result;
}

/* It is taken once more meanwhile, and either of the two is given up first. */
static void hold_both(struct sim_actor *actor, const char *name, redlock_lock *lock,
                      struct sim_hold *hold, const redlock_options *options,
                      const redlock_options *inner_options)
{
    redlock_lock *inner;
    struct sim_hold *inner_hold;
    if (pass_time(actor, hold, sim_scale(SIM_US, SIM_STEP_NS)) && sim_leaves(actor))
        return;
    int result = blocking_try(actor, name, inner_options, &inner, &inner_hold);
    if (sim_leaves(actor))
        return;
    if (result == REDLOCK_OK && sim_below(2)) {
        count_release(sim_release(lock, hold));
        if (!sim_leaves(actor))
            hold_it(actor, inner, inner_hold, inner_options->ttl_ms, inner_options->auto_renew);
        return;
    }
    if (result == REDLOCK_OK)
        hold_it(actor, inner, inner_hold, inner_options->ttl_ms, inner_options->auto_renew);
    if (!sim_leaves(actor))
        hold_it(actor, lock, hold, options->ttl_ms, options->auto_renew);
}

static void work(struct sim_actor *actor)
{
    redlock_options options, inner;
    char owner[SIM_OWNER_BYTES];
    redlock_lock *lock;
    struct sim_hold *hold;
    const char *name = sim_draw_name();
    if (sim_below(4) == 0 && take_up(actor))
        return;
    sim_draw_options(&options, owner,
                     actor->options.background != REDLOCK_BACKGROUND_NEVER &&
                         actor->style != SIM_LOOPING);
    int result = blocking_try(actor, name, &options, &lock, &hold);
    if (sim_leaves(actor))
        return;
    if (result != REDLOCK_OK)
        return;
    if (sim_draw_nested(&options, &inner))
        hold_both(actor, name, lock, hold, &options, &inner);
    else
        hold_it(actor, lock, hold, options.ttl_ms, options.auto_renew);
}

/* After the faults' end: each name once, whatever it takes. False: it has to leave. */
static bool be_served(struct sim_actor *actor)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    char owner[SIM_OWNER_BYTES];
    redlock_lock *lock;
    struct sim_hold *hold;
    options.wait_ms = -1;
    options.ttl_ms = sim_world.plan.ttl_max_ms;
    sim_draw_kind(&options, owner);
    for (unsigned i = 0; i < sim_world.plan.names && !sim_leaves(actor);) {
        int result = blocking_try(actor, sim_served_name(i), &options, &lock, &hold);
        sim_nap(SIM_MS);
        if (sim_leaves(actor))
            return false;
        if (result)
            continue;
        count_release(sim_release(lock, hold));
        i++;
    }
    return !sim_leaves(actor);
}

void *sim_work(void *argument)
{
    struct sim_actor *actor = argument;
    while (!sim_leaves(actor) && sim_world.phase == SIM_WORK) {
        work(actor);
        if (sim_leaves(actor))
            break;
        sim_nap(sim_scale(SIM_US, sim_below(4) ? SIM_MS : SIM_STEP_NS));
    }
    if (!sim_leaves(actor) && sim_world.phase == SIM_CALM && be_served(actor))
        actor->calm++;
    sim_thread_ends(actor);
    return NULL;
}

void sim_thread_ends(struct sim_actor *actor)
{
    actor->running--;
    sim_actor_call(actor);
}
