/* sim_small_stops.c - one short history of ann's, in which she is stopped once: at each of the
 * system calls that she makes, for each of a few times, the whole process or the one thread.
 *
 * Nothing goes wrong with masters or messages. bob waits for the lock meanwhile, and has it as
 * soon as it can be had, which is what makes a wrong clock reading cost something.
 */
#include "config_auto.h"

#include "sim_small_parts.h"

#include <inttypes.h>
#include <stdio.h>

enum { MASTERS = 3, TTL_MS = 100, LOOKS = 12 };

enum plan { RELEASES, EXTENDS, RENEWS, WAITS, PLANS };
static const char *const plans[] = {"releases", "extends", "renews", "waits for it"};

static const int64_t stops_ms[] = {1, 9, 14, 70, 97, 150};
enum { STOPS = sizeof(stops_ms) / sizeof(stops_ms[0]) };

static struct {
    enum plan plan;
    unsigned stop;
    bool thread;    /* it alone is stopped */
    uint64_t at;    /* which of her system calls; 0: none */
    uint64_t calls; /* how many there were */
} world;

static struct {
    uint64_t ann, bob;
} tally;

static void describe(char *ret_text, size_t size)
{
    snprintf(ret_text, size, "ann %s; %s stops for %lld ms at system call %" PRIu64,
             plans[world.plan], world.thread ? "a thread of hers" : "she",
             (long long)stops_ms[world.stop], world.at);
}

/* She looks at it for as long as it lasts, or so often, and three times more. */
static void hold(struct sim_player *ann)
{
    unsigned more = LOOKS;
    while (more > 0) {
        if (sim_believes(ann->hold) == 0 && more > 3)
            more = 3;
        sim_nap(more-- == LOOKS ? 1 * SIM_MS : 11 * SIM_MS);
    }
    sim_believes(ann->hold);
}

static void ann_acts(struct sim_player *ann)
{
    sim_act_take(ann);
    if (ann->result == REDLOCK_OK) {
        tally.ann++;
        sim_believes(ann->hold);
        sim_nap(world.plan == EXTENDS ? 84 * SIM_MS : 2 * SIM_MS);
        ann->extend_ms = TTL_MS;
        if (world.plan == EXTENDS)
            sim_act_extend(ann);
        if (world.plan != RELEASES)
            hold(ann);
        sim_act_release(ann);
    }
}

static void bob_acts(struct sim_player *bob)
{
    sim_act_take(bob);
    if (bob->result != REDLOCK_OK) {
        sim_found(SIM_STARVED, "bob does not get the lock: %s", redlock_err_name(bob->result));
        return;
    }
    tally.bob++;
    sim_nap(3 * SIM_MS);
    sim_believes(bob->hold);
    sim_act_release(bob);
}

static void play(void)
{
    struct sim_client_options how = {.max_ttl_ms = TTL_MS};
    SIM_SET(MASTERS, &how, ann, bob);
    sim_tell("here the world begins");
    ann->options.ttl_ms = bob->options.ttl_ms = TTL_MS;
    bob->options.wait_ms = 3000;
    if (world.plan == WAITS) {
        ann->options.wait_ms = 2000;
        sim_begins(bob, bob_acts);
        sim_pass_ms(1);
    }
    if (world.plan == RENEWS)
        sim_watches(ann, true);
    uint64_t before = sim_proc_calls(ann->proc);
    sim_proc_stop_at(ann->proc, world.at, stops_ms[world.stop] * SIM_MS, world.thread);
    sim_begins(ann, ann_acts);
    if (world.plan != WAITS) {
        sim_pass_ms(5);
        sim_begins(bob, bob_acts);
    }
    sim_finishes(ann);
    sim_finishes(bob);
    sim_pass_ms(5);
    world.calls = sim_proc_calls(ann->proc) - before;
    sim_proc_stop_at(ann->proc, 0, 0, false);
}

/* How many calls there are is known when it was played without a stop. */
static uint64_t calls[PLANS];
static enum plan counted;

static void pick_none(void)
{
    world.plan = counted;
    world.at = 0;
}

static void pick(void)
{
    world.plan = (enum plan)sim_pick(PLANS);
    world.stop = (unsigned)sim_pick(STOPS);
    world.thread = sim_pick(2) == 1;
    world.at = sim_pick(calls[world.plan]) + 1;
}

int sim_stops_run(const struct sim_small_options *options)
{
    static const struct sim_small_kind none = {"history", pick_none, play, describe};
    static const struct sim_small_kind stops = {"stop", pick, play, describe};
    uint64_t worlds;
    bool good = true;
    tally.ann = tally.bob = 0;
    for (unsigned i = 0; i < PLANS && good; i++) {
        counted = (enum plan)i;
        good = sim_small_play_all(&none, 0, &worlds);
        calls[i] = world.calls;
    }
    good = good && sim_small_play_all(&stops, options->only, &worlds);
    if (!options->only)
        printf("%" PRIu64 " stops, %s: ann has the lock in %" PRIu64 ", bob in %" PRIu64 "\n",
               worlds, good ? "all of them" : "up to a violation", tally.ann, tally.bob);
    return !good;
}
