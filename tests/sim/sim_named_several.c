/* sim_named_several.c - scenarios of plain locks on several names at once, all or none. */
#include "config_auto.h"

#include "sim_named.h"

#include <string.h>

#define ONCE 0
#define WHILE_MS 8000 /* a wait that is not to be over */

static struct sim_player *wants(struct sim_player *player, const char *names)
{
    player->names = names;
    return player;
}

static struct sim_player *who(const char *name, const char *names)
{
    return wants(sim_is_there(name, NULL), names);
}

/* With locks that last for longer than a second. */
static struct sim_player *patient(const char *name, const char *names)
{
    return wants(sim_is_there(name, &(struct sim_client_options){.max_ttl_ms = 10000}), names);
}

/* Masters on which a name is taken; by that one. */
static unsigned taken(const char *name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++)
        count += sim_master_get(i, name, NULL) != NULL;
    return count;
}

static unsigned taken_by(const struct sim_player *player, const char *name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++) {
        const char *value = sim_master_get(i, name, NULL);
        count += value && strcmp(value, player->token) == 0;
    }
    return count;
}

static bool has_both(const struct sim_player *player)
{
    return taken_by(player, "left") == sim_master_count() &&
           taken_by(player, "right") == sim_master_count();
}

/* For who waits there. */
static bool is_kept(unsigned master, const char *name)
{
    static const char prefix[] = "redlock:next:";
    const char *value = sim_master_get(master, name, NULL);
    return value && strncmp(value, prefix, strlen(prefix)) == 0;
}

/* ann wants both. */
static struct sim_player *ann, *bob, *cat, *dan;

static void two_enter(const char *bobs)
{
    sim_stage(3);
    ann = who("ann", "left+right");
    bob = who("bob", bobs);
}

static void bob_and_cat_want_one(void)
{
    two_enter("left");
    cat = who("cat", "right");
}

static void all_are_patient(void)
{
    sim_stage(3);
    ann = patient("ann", "left+right");
    bob = patient("bob", "left");
    cat = patient("cat", "right");
    dan = patient("dan", "left");
}

/* ann waits for it and for what cat has, and bob behind her for it alone. */
static void dan_gives_up_left(int64_t waited_ms)
{
    sim_curtain();
    sim_expect(sim_takes(cat, 5000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(dan, 5000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(ann, 1000, WHILE_MS);
    sim_pass_ms(waited_ms);
    sim_begins_to_take(bob, 1000, WHILE_MS);
    sim_pass_ms(waited_ms);
    sim_expect(sim_releases(dan) == REDLOCK_OK);
}

static void all_or_none(void)
{
    sim_stage(3);
    ann = who("ann", "left+right");
    bob = who("bob", "right+other");
    cat = who("cat", "left");
    dan = who("dan", "right+left+right");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(has_both(ann));
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_takes(dan, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(taken("other") == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(taken("left") == 0 && taken("right") == 0);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(dan, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(dan, 1000, ONCE) == REDLOCK_OK);
    sim_expect(has_both(dan));
    sim_expect(sim_releases(dan) == REDLOCK_OK);
}

static void opposite_orders(void)
{
    two_enter("right+left");
    sim_delay_ms(ann, 2, 5, 1);
    sim_delay_ms(bob, 0, 5, 1);
    sim_delay_ms(bob, 1, 2, 1);
    sim_curtain();
    sim_begins_to_take(ann, 1000, WHILE_MS);
    sim_begins_to_take(bob, 1000, WHILE_MS);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(bob->act != NULL);
    sim_hands_over(ann, bob, 20);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* cat has "right", but n1 has yet to hear of it: there ann gets both, and must give back both.
 */
static void given_back(void)
{
    bob_and_cat_want_one();
    sim_delay_ms(cat, 0, 40, 1);
    sim_curtain();
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_delay_ms(ann, 1, 1, 10);
    sim_delay_ms(ann, 2, 1, 10);
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_ms(5);
    sim_expect(taken("left") == 1);
    sim_expect(sim_finishes(ann) == REDLOCK_EHELD);
    sim_pass_ms(5);
    sim_expect(taken("left") == 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(taken_by(bob, "left") == 3);
    sim_pass_ms(50);
    sim_expect(taken_by(cat, "right") == 3);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* All masters grant it, and two of the answers are lost with their connections. */
static void lost_replies(void)
{
    two_enter("right");
    sim_delay_ms(ann, 1, 1, 20);
    sim_delay_ms(ann, 2, 1, 20);
    sim_curtain();
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_ms(5);
    sim_expect(taken("left") == 3 && taken("right") == 3);
    sim_path_reset(ann->proc, 1);
    sim_path_reset(ann->proc, 2);
    sim_expect(sim_finishes(ann) == REDLOCK_OK); /* another token has both by then */
    sim_expect(ann->report.rounds == 2);
    sim_expect(has_both(ann));
    sim_delay_ms(ann, 1, 1, 1);
    sim_delay_ms(ann, 2, 1, 1);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(taken("left") == 0 && taken("right") == 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(has_both(ann));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void restarted(void)
{
    two_enter("right");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_kill(2);
    sim_master_start(2, SIM_EMPTY);
    sim_pass_ms(100);
    sim_expect(taken("left") == 2 && taken("right") == 2);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    for (int i = 0; i < 12; i++) { /* as renewing would; n3 is believed again meanwhile */
        sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
        sim_pass_ms(200);
    }
    sim_expect(has_both(ann));
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(taken("left") == 0 && taken("right") == 0);
}

/* n1 loses one of the two names: it is told anew, of both. Then two masters do, and what is
 * left of the lock is given up where it is. */
static void one_name_lost(void)
{
    bob_and_cat_want_one();
    sim_curtain();
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_master_evict(0));
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(has_both(ann));
    sim_expect(sim_master_evict(0));
    sim_expect(sim_master_evict(1));
    sim_expect(sim_extends(ann, 1000) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_pass_ms(10);
    sim_expect(taken("left") == 0 && taken("right") == 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(taken_by(bob, "left") == 3 && taken_by(cat, "right") == 3);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* ann needs both, and is first in the queue of "left". She keeps it for a while; then bob, who
 * wants nothing else, gets it. */
static void goes_on(void)
{
    all_are_patient();
    dan_gives_up_left(200);
    int64_t free_ns = sim_now_ns();
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(bob->done_ns - free_ns > 90 * SIM_MS);
    sim_expect(bob->done_ns - free_ns < 150 * SIM_MS);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_hands_over(bob, ann, 10);
    sim_expect(has_both(ann));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* n1 does not know of cat's lock, and grants ann both names, in vain: bob, who waits for one of
 * them, is told when she gives it back. The other masters keep it for her. */
static void in_vain(void)
{
    all_are_patient();
    sim_delay_ms(cat, 0, 20000, 1);
    dan_gives_up_left(50);
    sim_pass_ms(5);
    sim_expect(is_kept(0, "left"));
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* bob has come no earlier. But he asks when dan has "right", since he is woken for "third", and
 * so he stands in that queue alone; and ann does in that of "left". He asks again when fay, who
 * is returned, gives up "fourth". */
static struct sim_player *each_is_first_somewhere(int64_t bob_is_later_ms)
{
    sim_stage(3);
    ann = patient("ann", "left+right");
    bob = patient("bob", "right+left+third+fourth");
    cat = patient("cat", "left");
    dan = patient("dan", "right");
    struct sim_player *eve = patient("eve", "third"), *fay = patient("fay", "fourth");
    sim_curtain();
    sim_expect(sim_takes(cat, 10000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(eve, 10000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(fay, 10000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(ann, 1000, WHILE_MS);
    if (bob_is_later_ms > 0)
        sim_pass_ms(bob_is_later_ms);
    sim_begins_to_take(bob, 1000, WHILE_MS);
    sim_pass_ms(2210);
    sim_expect(sim_takes(dan, 10000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(eve) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_releases(dan) == REDLOCK_OK);
    return fay;
}

/* "right" is kept for bob, and then "left" for ann: each would come back in time to keep its
 * own, for ever. */
static void gives_way(void)
{
    struct sim_player *fay = each_is_first_somewhere(50);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    int64_t free_ns = sim_now_ns();
    sim_pass_ms(250);
    sim_expect(sim_releases(fay) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(ann->done_ns - free_ns < 300 * SIM_MS);
    sim_expect(bob->act != NULL);
    sim_hands_over(ann, bob, 10);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* bob comes when ann does, and then the masters' clocks go slower than theirs. A master
 * subtracts the wait that a waiter names from its own time. So the last one that asked seems to
 * have come first. */
static void in_turns(void)
{
    struct sim_player *fay = each_is_first_somewhere(0);
    sim_pass_ms(10);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_pass_ms(50);
    for (unsigned i = 0; i < 3; i++)
        sim_master_clock_rate(i, -9000000);
    sim_expect(sim_releases(fay) == REDLOCK_OK);
    sim_pass_ms(600); /* each has come back once, and has kept its own */
    sim_expect(is_kept(0, "left") && is_kept(0, "right"));
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_hands_over(ann, bob, 10);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

const struct sim_scenario sim_named_several[] = {
    {"several", "ann has two names at once; who wants one of them gets none of its own.",
     all_or_none},
    {"several-crossed",
     "Two want the same names in opposite orders, and each is first somewhere.",
     opposite_orders},
    {"several-given-back",
     "n1 grants ann both names, the others refuse one: she gives back both.", given_back},
    {"several-lost-replies",
     "Granted, and not heard of: undone under both names, and asked for once more.",
     lost_replies},
    {"several-restarted", "n3 comes back empty: both names are filled in when it votes.", restarted},
    {"several-one-lost",
     "n1 loses one of ann's names, and gets it again. Then two masters do, and all is given "
     "up.",
     one_name_lost},
    {"several-goes-on", "What ann can't use yet is kept for her for a while, and then bob's.",
     goes_on},
    {"several-in-vain", "What ann took on n1 alone goes to bob when she gives it back.",
     in_vain},
    {"several-gives-way", "Each keeps what the other needs: whoever came later gives way.",
     gives_way},
    {"several-in-turns",
     "Each keeps what the other needs, and seems to itself to have come first: the first whose "
     "fourth second begins gives way.",
     in_turns},
    {0},
};
