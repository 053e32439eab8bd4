/* sim_named_detach.c - scenarios of locks that are handed on to another process: who had one is
 * told of its masters' answers still, and has nothing to do with its keys any more. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static char text[REDLOCK_HANDLE_MAX];

static void act_detach(struct sim_player *player)
{
    player->result = sim_detach(player->lock, player->hold, text, sizeof(text));
    player->lock = NULL;
}

static void act_attach(struct sim_player *player)
{
    player->result = sim_attach(player->client, text, player->hold, &player->lock);
}

/* ann's lock is bob's, who gives it up. Then she takes another, and finds n3's late answer. */
static void hand_on(struct sim_player *ann, struct sim_player *bob)
{
    sim_expect(sim_does(ann, act_detach) == REDLOCK_OK);
    bob->hold = ann->hold;
    ann->hold = NULL;
    sim_expect(sim_does(bob, act_attach) == REDLOCK_OK);
    sim_expect(sim_asks_validity(bob) > 900);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_delay_ms(ann, 2, 1, 1);
    sim_pass_ms(60);
    ann->names = "other";
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys() == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void detached(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = sim_lives_with(ann, "bob");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    hand_on(ann, bob);
}

/* The acquire is lost with its connection to n3, which says so late, and when a majority has
 * confirmed the lock. */
static void detached_and_not_filled_in(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = sim_lives_with(ann, "bob");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_master_flushall(2);
    sim_broke(SIM_KEYS_STAY);
    sim_delay_ms(ann, 2, 1, 50);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    hand_on(ann, bob);
}

/* n3 has forgotten the script, and says so late. */
static void detached_and_not_asked_again(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = sim_lives_with(ann, "bob");
    sim_master_script_flush(2);
    sim_delay_ms(ann, 2, 1, 50);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    hand_on(ann, bob);
}

/* bob's clock shows two seconds less than ann's, on the same host. When ann's lock is over, and
 * is carl's, it does not show what it showed to ann when she handed her lock on. */
static void detached_to_another_clock(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = sim_lives_apart(ann, "bob", NULL, -2000);
    struct sim_player *carl = sim_is_there("carl", NULL);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_does(ann, act_detach) == REDLOCK_OK);
    bob->hold = ann->hold;
    ann->hold = NULL;
    sim_expect(sim_does(bob, act_attach) == REDLOCK_EHANDLE);
    sim_pass_ms(2100);
    sim_expect(sim_takes(carl, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_does(bob, act_attach) == REDLOCK_EHANDLE);
    sim_expect(sim_releases(carl) == REDLOCK_OK);
}

/* There is less left of ann's lease than bob's max-ttl. But masters of bob's that restart empty
 * vote when that has passed. */
static void detached_above_max_ttl(void)
{
    static const struct sim_client_options half = {.max_ttl_ms = 500};
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = sim_lives_apart(ann, "bob", &half, 0);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(600);
    sim_expect(sim_does(ann, act_detach) == REDLOCK_OK);
    bob->hold = ann->hold;
    ann->hold = NULL;
    sim_expect(sim_does(bob, act_attach) == REDLOCK_EHANDLE);
}

static redlock_stats stats;

static void act_count(struct sim_player *player)
{
    stats = (redlock_stats)REDLOCK_STATS_INIT;
    player->result = redlock_get_stats(player->client, &stats);
}

/* Her renewal is on its way to the masters when she hands her lock on, and comes there when bob
 * has given it up. */
static void detached_while_it_is_renewed(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *bob = sim_lives_with(ann, "bob");
    sim_watches(ann, true);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(ann, i, 20, 1);
    sim_pass_ms(340);
    sim_expect(sim_does(ann, act_detach) == REDLOCK_OK);
    bob->hold = ann->hold;
    ann->hold = NULL;
    sim_expect(sim_does(bob, act_attach) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(sim_does(ann, act_count) == REDLOCK_OK);
    sim_expect(stats.lost == 0 && stats.held == 0 && stats.pending_releases == 0);
    sim_expect(ann->told_lost == 0);
}

const struct sim_scenario sim_named_detach[] = {
    {"detached", "ann's lock is handed on to bob, who gives it up.", detached},
    {"detached-and-not-filled-in",
     "n3 tells ann that it has no key of a lock that she has handed on: she leaves it alone.",
     detached_and_not_filled_in},
    {"detached-and-not-asked-again",
     "n3 tells ann that it has not executed the acquire of a lock that she has handed on: "
     "it is not\nasked again.",
     detached_and_not_asked_again},
    {"detached-while-it-is-renewed",
     "Masters answer ann's renewal of a lock that she has handed on, and that is given up by "
     "then:\nit is not hers to lose.",
     detached_while_it_is_renewed},
    {"detached-to-another-clock",
     "bob lives on ann's host, in a time namespace with a clock of its own: he is refused a "
     "lock that is\ntimed by hers.",
     detached_to_another_clock},
    {"detached-above-max-ttl", "bob is refused a lock whose lease is above his max-ttl.",
     detached_above_max_ttl},
    {0},
};
