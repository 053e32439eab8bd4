/* sim_named_line.c - scenarios of waiting to the millisecond: how soon a lock is handed on, and
 * that a wait ends in its own time, behind others of its client too. */
#include "config_auto.h"

#include "sim_named.h"

#include <string.h>

#define ONCE 0

enum { SOON_MS = 5 };

/* ---- handed on -------------------------------------------------------------------------- */

/* bob waits until only a message, or its absence for a second, can bring his next try. */
static void hands_on_without_n2(struct sim_player *ann, struct sim_player *bob)
{
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(200);
    sim_hands_over(ann, bob, SOON_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void hand_off_without_a_dead_one(void)
{
    SIM_CAST(3, NULL, ann, bob);
    sim_master_kill(1);
    sim_pass_ms(10);
    hands_on_without_n2(ann, bob);
}

static void hand_off_without_a_stopped_one(void)
{
    SIM_CAST(3, NULL, ann, bob);
    sim_master_pause(1, 20 * SIM_S);
    hands_on_without_n2(ann, bob);
}

/* The masters' messages would take one round trip more. */
static void hand_off_within_a_client(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *beside = sim_beside(ann);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(beside, 1000, 5000);
    sim_pass_ms(200);
    int64_t began_ns = sim_now_ns();
    sim_begins(ann, sim_act_release);
    sim_expect(sim_finishes(beside) == REDLOCK_OK);
    sim_expect(beside->done_ns - began_ns <= 3 * SIM_MS);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(sim_releases(beside) == REDLOCK_OK);
}

/* ---- waits of one client ---------------------------------------------------------------- */

static void ends_in_time(struct sim_player *player, int64_t began_ns, int64_t wait_ms)
{
    sim_expect(sim_finishes(player) == REDLOCK_EHELD);
    sim_expect(player->done_ns - began_ns >= (wait_ms - 10) * SIM_MS);
    sim_expect(player->done_ns - began_ns <= (wait_ms + SOON_MS) * SIM_MS);
}

/* cat's wait ends as the first of the line, which she was not when it began. */
static void wait_in_line(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    struct sim_player *cat = sim_beside(bob);
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(bob, 1000, 300);
    sim_pass_ms(20);
    sim_begins_to_take(cat, 1000, 400);
    ends_in_time(bob, began_ns, 300);
    ends_in_time(cat, began_ns + 20 * SIM_MS, 400);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Who leads the loop leaves before others, and they go on. */
static void waits_of_one_client(void)
{
    static const int64_t waits[] = {100, 600, 200, 500, 300, 400};
    enum { WAITS = sizeof(waits) / sizeof(waits[0]) };
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob), *thread[WAITS];
    int64_t began_ns = sim_now_ns();
    for (unsigned i = 0; i < WAITS; i++) {
        thread[i] = i == 0 ? bob : sim_beside(bob);
        sim_begins_to_take(thread[i], 1000, waits[i]);
    }
    for (unsigned i = 0; i < WAITS; i++)
        ends_in_time(thread[i], began_ns, waits[i]);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* ---- a call that a callback begins ------------------------------------------------------ */

static struct {
    redlock *client;
    uint64_t call[2];
    redlock_lock *lock;
    unsigned told;
    int64_t told_ns;
} chain;

static void try_next(unsigned which, const char *name, redlock_done_fn *done)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 1000;
    chain.call[which] = sim_call_begins("redlock_try_async");
    sim_expect(redlock_try_async_n(chain.client, name, strlen(name), &options, done, NULL,
                                   NULL) == REDLOCK_OK);
}

static void on_second(void *context, int result, redlock_lock *lock)
{
    (void)context;
    sim_call_ends(chain.call[1]);
    chain.told += result == REDLOCK_OK;
    chain.told_ns = sim_now_ns();
    chain.lock = lock;
}

static void on_first(void *context, int result, redlock_lock *lock)
{
    (void)context;
    sim_call_ends(chain.call[0]);
    chain.told += result == REDLOCK_OK;
    redlock_release_async(lock, NULL, NULL);
    try_next(1, "second", on_second);
}

static void act_chain(struct sim_player *player)
{
    chain.client = player->client;
    try_next(0, "first", on_first);
    player->result = REDLOCK_OK;
}

static void act_end_chain(struct sim_player *player)
{
    player->result = redlock_release_async(chain.lock, NULL, NULL);
}

/* A thread of bob's waits for ann's lock, leads and sleeps. */
static void callback_beside_a_waiter(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    struct sim_player *thread = sim_beside(bob);
    chain.told = 0;
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(200);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_does(thread, act_chain) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(chain.told == 2 && chain.lock);
    sim_expect(chain.told_ns - began_ns <= 2 * SOON_MS * SIM_MS);
    sim_expect(sim_does(thread, act_end_chain) == REDLOCK_OK);
    sim_hands_over(ann, bob, SOON_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

const struct sim_scenario sim_named_line[] = {
    {"hand-off-without-a-dead-one",
     "n2 is dead: the word of the two others is a majority's, and bob has ann's lock at once.",
     hand_off_without_a_dead_one},
    {"hand-off-without-a-stopped-one",
     "n2 stands still: the word of the two others is a majority's, and bob has ann's lock at\n"
     "once.",
     hand_off_without_a_stopped_one},
    {"hand-off-within-a-client",
     "A thread waits for what another thread of its client gives up: it asks behind the release,\n"
     "and needs no message.",
     hand_off_within_a_client},
    {"wait-in-line",
     "cat waits behind bob, a thread of her client, and is the first when his wait is over: hers\n"
     "ends in its own time.",
     wait_in_line},
    {"waits-of-one-client", "Six threads of one client wait in vain, each in its own time.",
     waits_of_one_client},
    {"callback-beside-a-waiter",
     "A thread of bob's waits, leads and sleeps: what a callback of another call begins is not\n"
     "late.",
     callback_beside_a_waiter},
    {NULL, NULL, NULL},
};
