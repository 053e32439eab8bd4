/* sim_named_nested.c - scenarios of reentrant locks on several masters: every nested try is a
 * hold of its own, and what masters count are tokens. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static struct sim_player *nests(struct sim_player *player, const char *owner)
{
    player->options.kind = REDLOCK_REENTRANT;
    player->options.owner = owner;
    return player;
}

/* ann; a thread of hers, and so the same owner; and bob. */
static struct sim_player *ann, *inner, *bob;

static void ann_has_it(void)
{
    sim_stage(3);
    ann = nests(sim_is_there("ann", NULL), "ann");
    inner = nests(sim_beside(ann), "ann");
    bob = nests(sim_is_there("bob", NULL), "bob");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
}

/* Masters on which an owner has it so often. */
static unsigned with(size_t holds)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++)
        count += sim_master_members(i, "{jobs}:redlock:holds") == holds;
    return count;
}

static void any_order(void)
{
    ann_has_it();
    sim_expect(sim_takes(inner, 1000, ONCE) == REDLOCK_OK);
    sim_expect(with(2) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_asks_validity(inner) > 0);
    sim_expect(sim_releases(inner) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(with(0) == 3);
}

static void shorter(void)
{
    ann_has_it();
    sim_expect(sim_takes(inner, 100, ONCE) == REDLOCK_OK);
    sim_pass_ms(200);
    sim_expect(sim_asks_validity(inner) == 0);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(inner) == REDLOCK_EEXPIRED);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* The second try reaches n1 alone: the connections to n2 and n3 break with it on them. It is
 * undone wherever it was sent, and there that must undo nothing; and made once more. */
static void lost_inner_try(void)
{
    ann_has_it();
    sim_delay_ms(ann, 1, 20, 1);
    sim_delay_ms(ann, 2, 20, 1);
    sim_begins_to_take(inner, 1000, ONCE);
    sim_pass_ms(5);
    sim_path_reset(ann->proc, 1);
    sim_path_reset(ann->proc, 2);
    sim_expect(sim_finishes(inner) == REDLOCK_OK);
    sim_expect(inner->report.rounds == 2);
    sim_delay_ms(ann, 1, 1, 1);
    sim_delay_ms(ann, 2, 1, 1);
    sim_pass_ms(50);
    sim_expect(with(2) == 3);
    sim_expect(sim_releases(inner) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(with(1) == 3);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(with(0) == 3);
}

static void handed_over(void)
{
    ann_has_it();
    sim_expect(sim_takes(inner, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(50);
    sim_expect(sim_releases(inner) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(bob->act != NULL);
    sim_hands_over(ann, bob, 5);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* bob is another thread of the same client, and first in its line. Who waits behind him would
 * wait for him who waits for her. */
static void past_who_waits(void)
{
    sim_stage(3);
    ann = nests(sim_is_there("ann", NULL), "ann");
    inner = nests(sim_beside(ann), "ann");
    bob = nests(sim_beside(ann), "bob");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(50);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(inner, 1000, 500) == REDLOCK_OK);
    sim_expect(sim_now_ns() - began_ns <= 5 * SIM_MS);
    sim_expect(bob->act != NULL);
    sim_expect(sim_releases(inner) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* A peer that calls itself by her name sets the lease of the whole lock to its own. */
static void shortened(void)
{
    sim_stage(3);
    ann = nests(sim_is_there("ann", NULL), "ann");
    bob = nests(sim_is_there("bob", NULL), "bob");
    sim_curtain();
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_master_shorten(0, "jobs", 400);
    sim_master_shorten(1, "jobs", 400);
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_asks_validity(ann) > 850);
    sim_pass_ms(350);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_pass_ms(50); /* until what was left of it is over */
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* On one master of three: the others vouch for it, and there it is made as long again. */
static void shortened_on_one(void)
{
    ann_has_it();
    sim_pass_ms(100);
    sim_master_shorten(1, "jobs", 200);
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(with(1) == 3);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(with(0) == 3);
}

const struct sim_scenario sim_named_nested[] = {
    {"nested", "ann has it twice, and gives the outer one up first.", any_order},
    {"nested-shorter", "The inner lease is the shorter one: the outer one lasts.", shorter},
    {"CE18-nested",
     "The inner try is lost and undone: what masters count are tokens, so the outer one stays.",
     lost_inner_try},
    {"nested-hand-off", "bob is woken when ann has given up all that she had.", handed_over},
    {"nested-past-a-waiter",
     "Another thread of her client waits for ann's lock: she takes it once more, past him.",
     past_who_waits},
    {"nested-shortened",
     "A peer of her own name shortens ann's lock: her next renewal finds out, and she is told.",
     shortened},
    {"nested-shortened-on-one", "The same on n2 alone: there it is made whole.",
     shortened_on_one},
    {0},
};
