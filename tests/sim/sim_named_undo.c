/* sim_named_undo.c - scenarios of giving up: what was taken is given back, wherever it may
 * be, and on whatever connection it went. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

/* bob has n1 and n2, and n3 is free. */
static struct sim_player *bob_has_two(void)
{
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_delay_ms(bob, 2, 5000, 1);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_keys() == 2);
    return bob;
}

static void late_grant_joins(void)
{
    SIM_SET(3, NULL, ann);
    sim_delay_ms(ann, 2, 50, 50);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_keys_of(ann) == 2);
    sim_pass_ms(60);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_keys_of(ann) == 1);
    sim_pass_ms(60);
    sim_expect(sim_keys() == 0);
}

static void late_grant_undone(void)
{
    SIM_SET(3, NULL, ann);
    bob_has_two();
    sim_delay_ms(ann, 2, 50, 50);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(200);
    sim_expect(sim_taken_by("acquire") == 1);
    sim_expect(sim_keys() == 2);
}

static void reply_lost_with_its_link(void)
{
    SIM_SET(3, NULL, ann);
    bob_has_two();
    sim_curtain();
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_us(1500); /* executed, and the answer is under way */
    sim_path_reset(ann->proc, 2);
    sim_expect(sim_finishes(ann) == REDLOCK_EHELD);
    sim_pass_ms(50);
    sim_expect(sim_taken_by("acquire") == 1);
    sim_expect(sim_keys() == 2);
}

static void release_over_a_dead_link(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_begins(ann, sim_act_release);
    sim_pass_us(500);
    sim_path_reset(ann->proc, 0);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_keys() == 0);
}

static void release_refused(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_master_trouble(0, SIM_BUSY, 1000000);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_keys() == 1);
    sim_master_trouble(0, SIM_NO_TROUBLE, 0);
    sim_pass_ms(150);
    sim_expect(sim_keys() == 0);
}

/* ann's acquire takes three seconds to n3. Her client connects anew beside that connection, and
 * sends the release down both. */
static void stall_and_drain(void)
{
    struct sim_client_options how = {.max_ttl_ms = 10000, .node_timeout_ms = 100};
    SIM_CAST(3, &how, ann);
    int64_t began_ns = sim_now_ns();
    sim_delay_ms(ann, 2, 3000, 1);
    sim_watches(ann, false); /* somebody looks at the connections meanwhile */
    sim_expect(sim_takes(ann, 8000, ONCE) == REDLOCK_OK);
    sim_delay_ms(ann, 2, 1, 1);
    sim_pass_ms(1500);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_run_until(began_ns + 3000500 * SIM_US);
    sim_expect(sim_taken_by("acquire") == 3);
    sim_expect(sim_keys() == 0);
}

static void half_open(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_path_forget(ann->proc, 2, 5 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(sim_keys() == 0);
}

static void foreign_release(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(300, false, &bob);
    sim_proc_pause(ann->proc, 400 * SIM_MS);
    sim_pass_ms(350);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_pass_ms(10);
    sim_expect(sim_keys_of(bob) == 3);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void holder_crashes(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_pass_ms(100);
    sim_crashes(ann);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, 5000) == REDLOCK_OK);
    sim_expect(bob->done_ns - began_ns < 950 * SIM_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void closing(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_goes(ann);
    sim_expect(sim_keys() == 0);
}

/* A closed client that could not say its releases: linger is over, the TTL sees to it. */
static void closing_in_the_dark(void)
{
    struct sim_client_options how = {.linger_ms = 100};
    SIM_SET(3, &how, ann);
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(5);
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(ann->proc, i, SIM_THERE, true);
    int64_t began_ns = sim_now_ns();
    sim_goes(ann);
    sim_expect(sim_now_ns() - began_ns <= 105 * SIM_MS);
    sim_expect(sim_takes(bob, 1000, 5000) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static redlock_stats stats;

static void act_stats(struct sim_player *player)
{
    stats.size = sizeof(stats);
    player->result = redlock_get_stats(player->client, &stats);
}

static void nothing_left_behind(void)
{
    SIM_CAST(3, NULL, ann);
    for (unsigned i = 0; i < 5; i++) {
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
        sim_expect(sim_releases(ann) == REDLOCK_OK);
        sim_pass_ms(200);
        sim_expect(sim_does(ann, act_stats) == REDLOCK_OK);
        sim_expect(stats.pending_releases == 0 && stats.held == 0);
    }
}

const struct sim_scenario sim_named_undo[] = {
    {"late-grant-joins",
     "n3's yes comes when the lock is held already: it joins, and is released with the others.",
     late_grant_joins},
    {"late-grant-undone",
     "n3's yes comes when the round is lost already: its release is right behind it.",
     late_grant_undone},
    {"reply-lost-with-its-link",
     "n3 has executed the acquire, and the connection breaks before it could say so: the "
     "round is\nlost, and n3 is told to forget it on the next connection.",
     reply_lost_with_its_link},
    {"release-over-a-dead-link",
     "A release is lost with its connection: it is said again on the next one.",
     release_over_a_dead_link},
    {"release-refused", "n1 is busy and refuses the release: it is said again, later.",
     release_refused},
    {"stall-and-drain",
     "CE16. An acquire is long under way to n3: the release goes down the same connection, "
     "behind\nit, although another was begun beside it.",
     stall_and_drain},
    {"half-open",
     "n3 has forgotten the connection: the release is said again when that turns out.",
     half_open},
    {"foreign-release",
     "CE19. ann's time is over and bob has the lock: ann's release deletes nothing.",
     foreign_release},
    {"nothing-left-behind", "A lock that was released leaves nothing in the client, either.",
     nothing_left_behind},
    {"holder-crashes", "ann is killed: bob has the lock when her keys have run out.",
     holder_crashes},
    {"close", "A client is closed that holds a lock: it is free at once.", closing},
    {"close-in-the-dark",
     "A client is closed that reaches nobody: it does not wait for long, and the TTL sees to "
     "the\nrest.",
     closing_in_the_dark},
    {0},
};
