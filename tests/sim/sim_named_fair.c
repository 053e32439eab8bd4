/* sim_named_fair.c - scenarios of fair locks: those who wait are served in their order. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0
#define QUEUE "redisson_lock_queue:{jobs}"

/* Everybody for a name of his own; the leases may be long ones. */
static struct sim_player *one(const char *name)
{
    struct sim_client_options how = {.max_ttl_ms = 60000};
    struct sim_player *player = sim_is_there(name, &how);
    player->options.kind = REDLOCK_FAIR;
    player->options.owner = name;
    return player;
}

static void begins_to_wait(struct sim_player *player, int64_t wait_ms)
{
    sim_begins_to_take(player, 1000, wait_ms);
    sim_pass_ms(50);
}

/* Served within a few trips. */
static void is_next(struct sim_player *player, int64_t free_ns)
{
    sim_expect(sim_finishes(player) == REDLOCK_OK);
    sim_expect(player->done_ns - free_ns <= 6 * SIM_MS);
}

/* The lock is free and bob is told so: whoever is nearer comes too late. */
static void order(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob"), *cat = one("cat"),
                      *dan = one("dan");
    sim_delay_ms(bob, 0, 4, 4);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 5000);
    begins_to_wait(cat, 5000);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(dan, 1000, ONCE) == REDLOCK_EHELD);
    begins_to_wait(ann, 5000);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(cat->act != NULL);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    is_next(cat, sim_now_ns());
    sim_expect(ann->act != NULL);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    is_next(ann, sim_now_ns());
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_master_members(0, QUEUE) == 0);
}

/* A waiter that says nothing is waited for 15 s, and so are two of them. */
static void waiters_crash(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob"), *cat = one("cat"),
                      *dan = one("dan");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 30000);
    begins_to_wait(cat, 30000);
    begins_to_wait(dan, -1);
    sim_crashes(bob);
    sim_crashes(cat);
    int64_t dead_ns = sim_now_ns();
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(dan) == REDLOCK_OK);
    sim_expect(dan->done_ns - dead_ns > 14 * SIM_S);
    sim_expect(dan->done_ns - dead_ns <= 16 * SIM_S);
    sim_expect(sim_releases(dan) == REDLOCK_OK);
    sim_expect(sim_master_members(0, QUEUE) == 0);
}

static void leaver(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob"), *cat = one("cat");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 300);
    begins_to_wait(cat, 5000);
    sim_expect(sim_finishes(bob) == REDLOCK_EHELD);
    sim_pass_ms(10);
    sim_expect(sim_master_members(0, QUEUE) == 1);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    is_next(cat, sim_now_ns());
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

/* She would wait for herself. */
static void nested(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob"), *inner = sim_beside(ann);
    inner->options.kind = REDLOCK_FAIR;
    inner->options.owner = "ann";
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 5000);
    sim_expect(sim_takes(inner, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(bob->act != NULL);
    sim_expect(sim_releases(inner) == REDLOCK_OK);
    is_next(bob, sim_now_ns());
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* For longer than a silent one is believed in: it says in time that it is there. */
static void patience(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob"), *cat = one("cat");
    sim_curtain();
    sim_expect(sim_takes(ann, 60000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, -1);
    sim_pass_ms(10000);
    begins_to_wait(cat, -1);
    sim_pass_ms(12000);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    is_next(bob, sim_now_ns());
    sim_pass_ms(100);
    sim_expect(cat->act != NULL);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    is_next(cat, sim_now_ns());
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

/* bob's process stands for longer than he is waited for: he is at the end when he comes again.
 */
static void stopped_waiter(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob"), *cat = one("cat");
    sim_curtain();
    sim_expect(sim_takes(ann, 60000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, -1);
    begins_to_wait(cat, -1);
    sim_proc_pause(bob->proc, 20 * SIM_S);
    sim_pass_ms(25000);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    is_next(cat, sim_now_ns());
    sim_pass_ms(100);
    sim_expect(bob->act != NULL);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    is_next(bob, sim_now_ns());
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* A queue ends six minutes after the last one in it would not be waited for any more. */
static void nobody_left(void)
{
    sim_stage(1);
    struct sim_player *ann = one("ann"), *bob = one("bob");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 30000);
    sim_crashes(bob);
    sim_crashes(ann);
    sim_pass_ms(650000);
    sim_expect(sim_master_members(0, QUEUE) == 1);
    sim_pass_ms(20000);
    sim_expect(sim_master_keys(0) == 0);
}

const struct sim_scenario sim_named_fair[] = {
    {"fair-order",
     "bob and cat wait, ann once more: they are served in that order, and who is nearer to the "
     "master comes too late.",
     order},
    {"fair-waiters-crash",
     "bob and cat are killed while they wait: both together cost dan the 15 s that a silent "
     "one "
     "is waited for.",
     waiters_crash},
    {"fair-leaver", "bob has waited for long enough, and leaves: cat is the next.", leaver},
    {"fair-nested", "bob waits, and ann takes once more what she has.", nested},
    {"fair-patience",
     "bob waits for 22 s, which is longer than a silent one is waited "
     "for: he is still the first.",
     patience},
    {"fair-stopped-waiter", "bob waits and stands still for 20 s: cat is before him then.",
     stopped_waiter},
    {"fair-nobody-left",
     "Everybody dies who has the lock or waits for it: the keys go as well.", nobody_left},
    {0},
};
