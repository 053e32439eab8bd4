/* sim_loop.c - programs whose calls are asynchronous: a thread that begins them, and either
 * drives the client with its own event loop or leaves that to the background thread.
 *
 * Each of a few slots is a small program of its own: it asks, holds, extends and releases, and
 * goes on from callbacks or when its time has come. */
#include "config_auto.h"

#include "sim_names.h"
#include "sim_world.h"

#include <poll.h>

enum { SLOTS = 3 };

struct slot {
    struct sim_actor *actor;
    enum { FREE, TRYING, HELD, BUSY } state;
    bool begun; /* a call that will call back */
    uint64_t call, id;
    int64_t due_ns; /* own time of the next step */
    int64_t extend_ms, began_ns;
    int64_t asked_ns; /* true time */
    const char *name;
    redlock_options options; /* with which it was asked for */
    char owner[SIM_OWNER_BYTES];
    unsigned served; /* names, after the faults' end */
    redlock_lock *lock;
    struct sim_hold *hold;
};

static struct slot slots[SIM_ACTORS_MAX][SLOTS];

static void rest(struct slot *slot, int64_t most_ns)
{
    slot->due_ns = sim_own_ns(slot->actor->proc) + sim_scale(SIM_US, most_ns);
}

static void begin(struct slot *slot, const char *what)
{
    slot->begun = true;
    slot->call = sim_call_begins(what);
}

static void end(struct slot *slot)
{
    sim_call_ends(slot->call);
    slot->begun = false;
}

/* ---- giving up ------------------------------------------------------------------------ */

static void on_released(void *context, int result, redlock_lock *lock)
{
    struct slot *slot = context;
    (void)lock;
    end(slot);
    sim_tell("%s: released: %s", slot->actor->proc->name, redlock_err_name(result));
    sim_released(slot->hold, result);
    sim_world.tally->released += result == REDLOCK_OK;
    slot->state = FREE;
    rest(slot, SIM_STEP_NS);
}

static void let_go_lazily(struct slot *slot)
{
    sim_gives_up(slot->hold);
    slot->state = BUSY; /* in a callback, the loop's thread goes on meanwhile */
    sim_released(slot->hold, redlock_release(slot->lock));
    slot->state = FREE;
    rest(slot, SIM_STEP_NS);
}

static void let_go(struct slot *slot)
{
    bool told = sim_below(4) != 0;
    if (slot->options.release == REDLOCK_RELEASE_LAZY && sim_below(4) != 0) {
        let_go_lazily(slot);
        return;
    }
    sim_gives_up(slot->hold);
    slot->state = told ? BUSY : FREE;
    if (told)
        begin(slot, "redlock_release_async");
    int result = redlock_release_async(slot->lock, told ? on_released : NULL, slot);
    if (result) {
        sim_tell("%s: release: %s", slot->actor->proc->name, redlock_err_name(result));
        if (told)
            end(slot);
        slot->state = FREE;
    }
    rest(slot, SIM_STEP_NS);
}

/* ---- holding -------------------------------------------------------------------------- */

static void on_extended(void *context, int result, redlock_lock *lock)
{
    struct slot *slot = context;
    (void)lock;
    end(slot);
    sim_world.tally->extended += result == REDLOCK_OK;
    if (slot->actor->leaving)
        return;
    sim_extended(slot->hold, slot->extend_ms, slot->began_ns, result);
    sim_tell("%s: extended: %s, %lld ms are left", slot->actor->proc->name,
             redlock_err_name(result), (long long)sim_believes(slot->hold));
    slot->state = HELD;
    rest(slot, SIM_STEP_NS);
}

static void extend(struct slot *slot)
{
    slot->state = BUSY;
    begin(slot, "redlock_extend_async");
    slot->extend_ms = sim_scale(30, sim_world.plan.ttl_max_ms);
    slot->began_ns = sim_own_ns(slot->actor->proc);
    int result = redlock_extend_async(slot->lock, slot->extend_ms, NULL, on_extended, slot);
    if (result == REDLOCK_OK)
        return;
    end(slot);
    slot->state = HELD;
    rest(slot, SIM_MS);
}

static void hold(struct slot *slot)
{
    int64_t left_ms = sim_believes(slot->hold);
    switch (sim_world.phase == SIM_CALM || left_ms == 0 ? 9 : sim_below(10)) {
    case 0:
    case 1:
        extend(slot);
        break;
    case 2:
    case 3:
        rest(slot, SIM_STEP_NS);
        break;
    default:
        let_go(slot);
        break;
    }
}

/* ---- asking --------------------------------------------------------------------------- */

static void on_tried(void *context, int result, redlock_lock *lock)
{
    struct slot *slot = context;
    end(slot);
    sim_count_try(slot->name, result);
    slot->state = FREE;
    rest(slot, SIM_STEP_NS);
    if (result == REDLOCK_OK && slot->actor->leaving) /* what is closed now gives it up */
        sim_won_unseen(slot->actor, &slot->options);
    if (result != REDLOCK_OK || slot->actor->leaving)
        return;
    slot->lock = lock;
    slot->hold = sim_took(lock, slot->name, &slot->options, slot->asked_ns);
    slot->state = HELD;
    slot->served += sim_world.phase == SIM_CALM;
    if (sim_below(6) == 0)
        let_go(slot);
}

static void ask(struct slot *slot)
{
    bool calm = sim_world.phase == SIM_CALM;
    redlock_options *options = &slot->options;
    sim_draw_options(options, slot->owner, true);
    slot->name = sim_draw_name();
    if (calm) {
        options->wait_ms = -1;
        options->ttl_ms = sim_world.plan.ttl_max_ms;
        slot->name = sim_served_name(slot->served % sim_world.plan.names);
    }
    slot->state = TRYING;
    begin(slot, "redlock_try_async");
    slot->asked_ns = sim_now_ns();
    sim_tell_try(slot->name, options);
    int result = sim_names_try_async(slot->actor->client, slot->name, options, on_tried, slot,
                                     &slot->id);
    if (result) {
        end(slot);
        slot->state = FREE;
        rest(slot, 5 * SIM_MS);
    }
}

/* ---- the loop ------------------------------------------------------------------------- */

static void step(struct slot *slot)
{
    bool due = sim_own_ns(slot->actor->proc) >= slot->due_ns;
    switch (slot->state) {
    case FREE:
        if (due)
            ask(slot);
        break;
    case TRYING:
        if (sim_world.phase == SIM_WORK && sim_below(500) == 0)
            redlock_cancel(slot->actor->client, slot->id);
        break;
    case HELD:
        if (due)
            hold(slot);
        break;
    case BUSY:
        break;
    }
}

static bool has_been_served(const struct slot *mine)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (mine[i].state != FREE)
            return false;
    }
    return sim_world.phase == SIM_CALM && mine[0].served >= sim_world.plan.names;
}

/* After the faults' end one slot asks for each name, and no other. */
static bool takes_part(const struct slot *mine, unsigned i)
{
    return i == 0 || sim_world.phase == SIM_WORK || mine[i].state != FREE;
}

static int64_t next_due_ns(const struct slot *mine, int64_t now_ns)
{
    int64_t due_ns = now_ns + SIM_STEP_NS;
    for (unsigned i = 0; i < SLOTS; i++) {
        bool timed = mine[i].state == FREE || mine[i].state == HELD;
        if (timed && takes_part(mine, i) && mine[i].due_ns < due_ns)
            due_ns = mine[i].due_ns;
    }
    return due_ns > now_ns ? due_ns : now_ns;
}

/* Sleep until there is something to do, and do it. */
static void turn(struct sim_actor *actor, const struct slot *mine, int fd)
{
    int64_t now_ns = sim_own_ns(actor->proc);
    int64_t left_ns = next_due_ns(mine, now_ns) - now_ns;
    if (fd < 0) {
        sim_nap(left_ns < SIM_MS ? left_ns + 20 * SIM_US : SIM_MS);
        return;
    }
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    int wait_ms = redlock_timeout_ms(actor->client);
    int most_ms = (int)((left_ns + SIM_MS - 1) / SIM_MS);
    poll(&polled, 1, wait_ms < 0 || wait_ms > most_ms ? most_ms : wait_ms);
    redlock_process(actor->client);
    /* A turn takes its time. What makes the descriptor readable may be for a thread that leads
     * and has yet to run; who came back at once would not let it. */
    sim_nap(SIM_US);
}

void *sim_loop(void *argument)
{
    struct sim_actor *actor = argument;
    struct slot *mine = slots[actor - sim_world.actor];
    int fd = -1;
    for (unsigned i = 0; i < SLOTS; i++)
        mine[i] = (struct slot){.actor = actor};
    while (!sim_leaves(actor) && !has_been_served(mine)) {
        if (actor->style == SIM_LOOPING && fd < 0)
            fd = redlock_fd(actor->client);
        for (unsigned i = 0; i < SLOTS; i++) {
            if (takes_part(mine, i))
                step(&mine[i]);
        }
        turn(actor, mine, fd);
    }
    if (has_been_served(mine))
        actor->calm++;
    sim_thread_ends(actor);
    return NULL;
}
