/* sim_named_fair.c - scenarios of fair locks: those who wait are served in their order. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0
#define SOON_MS 6 /* a few trips */
#define QUEUE "redisson_lock_queue:{jobs}"

/* Everybody for a name of his own; the leases may be long ones. */
static struct sim_player *one(const char *name)
{
    struct sim_client_options how = {.max_ttl_ms = 60000};
    return sim_of_kind(sim_is_there(name, &how), REDLOCK_FAIR);
}

static struct sim_player *ann, *bob, *cat;

static void three_enter(void)
{
    sim_stage(1);
    ann = one("ann");
    bob = one("bob");
    cat = one("cat");
}

static void begins_to_wait(struct sim_player *player, int64_t wait_ms)
{
    sim_begins_to_take(player, 1000, wait_ms);
    sim_pass_ms(50);
}

static void are_next(struct sim_player *first, struct sim_player *second)
{
    sim_hands_over(ann, first, SOON_MS);
    sim_pass_ms(100);
    sim_expect(second->act != NULL);
    sim_hands_over(first, second, SOON_MS);
    sim_expect(sim_releases(second) == REDLOCK_OK);
}

/* The lock is free and bob is told so: whoever is nearer comes too late. */
static void order(void)
{
    three_enter();
    struct sim_player *dan = one("dan");
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
    sim_hands_over(bob, cat, SOON_MS);
    sim_expect(ann->act != NULL);
    sim_hands_over(cat, ann, SOON_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_master_members(0, QUEUE) == 0);
}

/* A waiter that says nothing is waited for 15 s, and so are two of them. */
static void waiters_crash(void)
{
    three_enter();
    struct sim_player *dan = one("dan");
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
    three_enter();
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 300);
    begins_to_wait(cat, 5000);
    sim_expect(sim_finishes(bob) == REDLOCK_EHELD);
    sim_pass_ms(10);
    sim_expect(sim_master_members(0, QUEUE) == 1);
    sim_hands_over(ann, cat, SOON_MS);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

/* She would wait for herself. */
static void nested(void)
{
    sim_stage(1);
    ann = one("ann");
    bob = one("bob");
    struct sim_player *inner = sim_of_kind(sim_beside(ann), REDLOCK_FAIR);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, 5000);
    sim_expect(sim_takes(inner, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(bob->act != NULL);
    sim_hands_over(inner, bob, SOON_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* For longer than a silent one is believed in: it says in time that it is there. */
static void patience(void)
{
    three_enter();
    sim_curtain();
    sim_expect(sim_takes(ann, 60000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, -1);
    sim_pass_ms(10000);
    begins_to_wait(cat, -1);
    sim_pass_ms(12000);
    are_next(bob, cat);
}

/* bob's process stands for longer than he is waited for: he is at the end when he comes again.
 */
static void stopped_waiter(void)
{
    three_enter();
    sim_curtain();
    sim_expect(sim_takes(ann, 60000, ONCE) == REDLOCK_OK);
    begins_to_wait(bob, -1);
    begins_to_wait(cat, -1);
    sim_proc_pause(bob->proc, 20 * SIM_S);
    sim_pass_ms(25000);
    are_next(cat, bob);
}

/* A queue ends six minutes after the last one in it would not be waited for any more. */
static void nobody_left(void)
{
    sim_stage(1);
    ann = one("ann");
    bob = one("bob");
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
