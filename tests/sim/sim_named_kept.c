/* sim_named_kept.c - scenarios of least times: a lock is over, and others are kept out still. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

enum { LEAST_MS = 800, TTL_MS = 300, WAIT_MS = 5000 };

static const struct sim_client_options usual = {.max_ttl_ms = 2000};
static int64_t began_ns;

/* Her lock keeps others out for so long from now on. */
static void takes_for(struct sim_player *player, int64_t at_least_ms)
{
    player->options.at_least_ms = at_least_ms;
    began_ns = sim_now_ns();
    sim_expect(sim_takes(player, TTL_MS, ONCE) == REDLOCK_OK);
    sim_pass_ms(3); /* all have answered */
}

/* He gets it when that is over, and before the keys of a usual lease would be. */
static void waits_for_the_end(struct sim_player *player, int64_t at_least_ms)
{
    player->options.at_least_ms = 0;
    sim_expect(sim_takes(player, TTL_MS, WAIT_MS) == REDLOCK_OK);
    sim_expect(player->done_ns >= began_ns + at_least_ms * SIM_MS);
    sim_expect(player->done_ns <= began_ns + (at_least_ms + TTL_MS) * SIM_MS);
    sim_expect(sim_releases(player) == REDLOCK_OK);
}

static void kept_after_its_release(void)
{
    SIM_CAST(3, &usual, ann, bob);
    takes_for(ann, LEAST_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_keys_of(ann) == 3);
    waits_for_the_end(bob, LEAST_MS);
}

static void kept_by_the_dead(void)
{
    SIM_CAST(3, &usual, ann, bob);
    takes_for(ann, LEAST_MS);
    sim_crashes(ann);
    waits_for_the_end(bob, LEAST_MS);
}

static void kept_after_closing(void)
{
    SIM_CAST(3, &usual, ann, bob);
    takes_for(ann, LEAST_MS);
    sim_goes(ann);
    waits_for_the_end(bob, LEAST_MS);
}

static void kept_although_lost(void)
{
    SIM_CAST(3, &usual, ann, bob);
    sim_watches(ann, true);
    ann->options.max_hold_ms = 100;
    takes_for(ann, LEAST_MS);
    sim_pass_ms(150);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    waits_for_the_end(bob, LEAST_MS);
}

/* Answers take 50 ms: the extension that begins then is under way when the lock is given up. */
static void releases_beside_an_extension(struct sim_player *player, int64_t after_ms)
{
    struct sim_player *thread = sim_beside(player);
    takes_for(player, LEAST_MS);
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(player, i, 1, 50);
    sim_run_until(began_ns + after_ms * SIM_MS);
    thread->lock = player->lock;
    thread->hold = player->hold;
    thread->extend_ms = TTL_MS;
    sim_begins(thread, sim_act_extend);
    sim_pass_ms(10);
    sim_expect(sim_releases(player) == REDLOCK_OK);
    sim_expect(sim_finishes(thread) != REDLOCK_OK);
    thread->lock = NULL;
}

static void kept_beside_an_extension(void)
{
    SIM_CAST(3, &usual, ann, bob);
    releases_beside_an_extension(ann, 700);
    sim_expect(sim_keys_of(ann) == 3);
    waits_for_the_end(bob, LEAST_MS);
}

/* And its connections break, so that nobody knows what came of it. */
static void kept_beside_a_broken_extension(void)
{
    SIM_CAST(3, &usual, ann, bob);
    releases_beside_an_extension(ann, 600);
    for (unsigned i = 0; i < 3; i++)
        sim_path_reset(ann->proc, i);
    ann->names = "other"; /* she goes on, with new connections */
    ann->options.at_least_ms = 0;
    sim_expect(sim_takes(ann, 1000, WAIT_MS) == REDLOCK_OK);
    waits_for_the_end(bob, LEAST_MS);
}

/* n3 is asked and slow. It is released: it sets the key when nobody wants it any more. */
static void not_kept_where_it_came_late(void)
{
    SIM_CAST(3, &usual, ann, bob);
    sim_delay_ms(ann, 2, 100, 1);
    takes_for(ann, LEAST_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(250);
    sim_expect(sim_keys_of(ann) == 2 && !sim_has_key(ann, 2));
    waits_for_the_end(bob, LEAST_MS);
}

static void released_after_it(void)
{
    SIM_CAST(3, &usual, ann, bob);
    ann->options.at_least_ms = 200;
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(200);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(3);
    sim_expect(sim_keys() == 0);
    sim_expect(sim_takes(bob, TTL_MS, ONCE) == REDLOCK_OK);
}

static void lost_round_keeps_nobody_out(void)
{
    SIM_CAST(3, &usual, ann, bob, cem);
    sim_path_hole(bob->proc, 2, SIM_THERE, true);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    ann->options.at_least_ms = LEAST_MS;
    sim_expect(sim_takes(ann, TTL_MS, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(5);
    sim_expect(sim_keys_of(bob) == 2 && sim_keys() == 2);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(cem, TTL_MS, ONCE) == REDLOCK_OK);
}

static void kept_by_clocks_within_the_drift(void)
{
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++)
        sim_master_clock_rate(i, 9900000);
    struct sim_player *ann = sim_is_there("ann", &usual), *bob = sim_is_there("bob", &usual);
    sim_curtain();
    takes_for(ann, 1900);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    waits_for_the_end(bob, 1900);
}

/* The guard of the one and the key of another keep a majority from everybody. */
static void kept_through_a_restart(void)
{
    SIM_CAST(3, &usual, ann, bob);
    sim_path_hole(ann->proc, 2, SIM_THERE, true);
    takes_for(ann, LEAST_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_master_kill(0);
    sim_master_start(0, SIM_EMPTY);
    waits_for_the_end(bob, LEAST_MS);
}

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

static void kept_by_a_text(void)
{
    SIM_SET(3, &usual, ann, bob);
    struct sim_player *cem = sim_lives_with(ann, "cem");
    sim_curtain();
    takes_for(ann, LEAST_MS);
    sim_expect(sim_does(ann, act_detach) == REDLOCK_OK);
    cem->hold = ann->hold;
    ann->hold = NULL;
    sim_expect(sim_does(cem, act_attach) == REDLOCK_OK);
    sim_expect(sim_releases(cem) == REDLOCK_OK);
    sim_expect(sim_keys() == 3);
    waits_for_the_end(bob, LEAST_MS);
}

/* An owner is not kept out by itself, and ends nothing by its next release. */
static void owner_is_not_kept_out(void)
{
    SIM_SET(3, &usual, ann, bob);
    sim_of_kind(ann, REDLOCK_REENTRANT);
    sim_of_kind(bob, REDLOCK_REENTRANT);
    sim_curtain();
    takes_for(ann, LEAST_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    ann->options.at_least_ms = 0;
    sim_expect(sim_takes(ann, TTL_MS, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    waits_for_the_end(bob, LEAST_MS);
}

const struct sim_scenario sim_named_kept[] = {
    {"kept-after-its-release",
     "R21. ann's lock is to keep others out for 800 ms. She gives it up at once: no release is "
     "sent,\nand bob learns from the refusal how long he has to wait.",
     kept_after_its_release},
    {"kept-by-the-dead", "R21. ann is killed: bob gets the lock after the least time.",
     kept_by_the_dead},
    {"kept-after-closing", "R21. ann closes her client: no release is sent.",
     kept_after_closing},
    {"kept-although-lost",
     "R21. ann's lock is lost after 100 ms, when she may have it no longer: its keys stay.",
     kept_although_lost},
    {"kept-beside-an-extension",
     "R21. An extension is under way when ann gives her lock up: no release follows it.",
     kept_beside_an_extension},
    {"kept-beside-a-broken-extension",
     "R21. The same, and its answers are lost with their connections: no release follows them on\n"
     "the new ones.",
     kept_beside_a_broken_extension},
    {"not-kept-where-it-came-late",
     "R21. n3 is slow, and the lock does not rest on it: it is released behind its acquire.",
     not_kept_where_it_came_late},
    {"released-after-the-least-time",
     "R21. ann gives her lock up after its least time: it is released as ever.",
     released_after_it},
    {"lost-round-keeps-nobody-out",
     "R21. ann gets one vote of three: that round is undone, whatever it was to keep.",
     lost_round_keeps_nobody_out},
    {"kept-by-clocks-within-the-drift",
     "R21. The masters' clocks run ahead by just less than the drift: the keys last long enough.",
     kept_by_clocks_within_the_drift},
    {"kept-through-a-restart",
     "R21. ann's lock is on two of three masters, and one of them is restarted empty: its guard,\n"
     "and the key on the other one, leave nobody a majority before the least time is over.",
     kept_through_a_restart},
    {"kept-by-a-text",
     "R21. ann hands her lock on as text, and cem gives it up: the text carries the time.",
     kept_by_a_text},
    {"owner-is-not-kept-out",
     "R21. ann takes a lock again that she keeps for a least time. Her next release ends "
     "nothing.",
     owner_is_not_kept_out},
    {0},
};
