/* sim_named_keep.c - scenarios of holding on: extensions, renewal, loss, and holders that
 * stand still. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static void extension(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) >= 980);
    sim_pass_ms(700);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void answers_of_an_older_round(void)
{
    struct sim_client_options how = {.max_ttl_ms = 10000, .node_timeout_ms = 100};
    SIM_CAST(3, &how, ann, bob);
    sim_watches(ann, false); /* somebody looks at the connections meanwhile */
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_OK);
    for (unsigned i = 1; i < 3; i++)
        sim_delay_ms(ann, i, 1, 3000);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_extends(ann, 10000) == REDLOCK_ENOQUORUM);
    for (unsigned i = 1; i < 3; i++)
        sim_delay_ms(ann, i, 1, 1);
    sim_run_until(began_ns + 2960 * SIM_MS); /* connected anew beside those that are silent */
    for (unsigned i = 1; i < 3; i++)
        sim_delay_ms(ann, i, 400, 1);
    sim_expect(sim_extends(ann, 10000) == REDLOCK_ENOQUORUM);
    for (unsigned i = 1; i < 3; i++)
        sim_path_reset(ann->proc, i); /* what it has asked the second time never comes */
    sim_expect(sim_takes(bob, 1000, 9000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
}

static void slow_extension(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_pass_ms(300);
    for (unsigned i = 0; i < 3; i++)
        sim_delay_ms(ann, i, 1, 150);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) <= 1000 - 12 - 150);
    sim_expect(sim_takes(bob, 1000, 2000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* ann is stopped for 11 ms in the course of an extension, each time one system call later: what
 * was left when she began is not left any more when a majority has confirmed it. */
static void late_extension(void)
{
    SIM_CAST(3, NULL, ann);
    struct sim_player *thread = sim_beside(ann);
    for (unsigned call = 4; call < 10; call++) {
        int64_t began_ns = sim_now_ns();
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
        sim_run_until(began_ns + 975 * SIM_MS);
        sim_looks_on(thread, ann, began_ns + 987500 * SIM_US);
        sim_proc_stop_at(ann->proc, call, 11 * SIM_MS, false);
        sim_expect(sim_extends(ann, 1000) != REDLOCK_OK);
        sim_pass_ms(2);
        sim_expect(sim_asks_validity(ann) == 0);
        sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
        sim_pass_ms(150);
        sim_expect(sim_keys() == 0);
    }
}

/* 1000 ms less 12 of drift: from 987 on the validity is told as 0. The answers come at 987.5.
 */
static void extension_in_the_last_millisecond(void)
{
    SIM_CAST(3, NULL, ann);
    struct sim_player *thread = sim_beside(ann);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_looks_on(thread, ann, began_ns + 987250 * SIM_US);
    sim_run_until(began_ns + 985490 * SIM_US);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_EEXPIRED);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* 1000 ms less 12 of drift: until 988. At 986.9 one of ann's threads is told of a millisecond
 * more, and another is told 0 at 987.25. Her extension is confirmed at 987.5. */
static void the_last_millisecond(void)
{
    sim_stage(3);
    struct sim_player *ann = sim_is_there("ann", NULL), *early = sim_beside(ann);
    struct sim_player *late = sim_beside(ann), *bob = sim_is_there("bob", NULL);
    for (unsigned i = 0; i < 3; i++) {
        sim_delay_ms(ann, i, 0, 2);
        sim_delay_ms(bob, i, 0, 0);
    }
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_looks_on(early, ann, began_ns + 986900 * SIM_US);
    sim_looks_on(late, ann, began_ns + 987250 * SIM_US);
    sim_run_until(began_ns + 985490 * SIM_US);
    ann->extend_ms = 1000;
    sim_begins(ann, sim_act_extend);
    sim_run_until(began_ns + 987600 * SIM_US);
    sim_expect(early->validity_ms == 1 && late->validity_ms == 0);
    sim_expect(sim_finishes(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
}

/* n2 has lost the key and n3 is silent: one yes. The old deadline stands. */
static void extended_by_masters_that_come(void)
{
    SIM_CAST(5, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_master_shorten(0, "jobs", 1);
    for (unsigned i = 3; i < 5; i++) {
        sim_delay_ms(ann, i, 10, 10);
        sim_path_reset(ann->proc, i);
    }
    sim_pass_ms(5);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 900);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* No majority is up or being connected to: the extension ends, and does not go round. */
static void extension_while_a_minority_connects(void)
{
    SIM_CAST(5, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    for (unsigned i = 2; i < 5; i++)
        sim_master_kill(i);
    sim_pass_ms(5);
    for (unsigned i = 0; i < 2; i++) {
        sim_delay_ms(ann, i, 10, 10);
        sim_path_reset(ann->proc, i);
    }
    sim_pass_ms(2);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_ENOQUORUM);
}

static void extension_by_a_minority(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_flushall(1);
    sim_broke(SIM_KEYS_STAY);
    sim_path_hole(ann->proc, 2, SIM_THERE, true);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_ENOQUORUM);
    sim_pass_ms(5);
    sim_expect(!sim_has_key(ann, 1));
    int64_t left_ms = sim_asks_validity(ann);
    sim_expect(left_ms > 0 && left_ms < 888);
    sim_path_hole(ann->proc, 2, SIM_THERE, false);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* n3 loses the key of her lock. */
static struct sim_player *ann_loses_n3(int64_t ttl_ms)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, ttl_ms, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_flushall(2);
    sim_broke(SIM_KEYS_STAY);
    return ann;
}

static void healed(void)
{
    struct sim_player *ann = ann_loses_n3(1000);
    sim_delay_ms(ann, 0, 1, 2);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_pass_ms(5);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_taken_by("retake") == 1);
}

/* n3's no comes back when the lock has run out: it is not filled in any more. */
static void healed_only_while_valid(void)
{
    struct sim_player *ann = ann_loses_n3(300);
    sim_delay_ms(ann, 2, 1, 400);
    sim_expect(sim_extends(ann, 300) == REDLOCK_OK);
    sim_pass_ms(410);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_pass_ms(10);
    sim_expect(sim_taken_by("retake") == 0);
}

static void renewal(void)
{
    SIM_CAST(3, NULL, ann);
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 300, ONCE) == REDLOCK_OK);
    sim_pass_ms(1000);
    sim_expect(sim_asks_validity(ann) > 150);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(5);
    uint64_t commands = sim_master_commands(0);
    sim_pass_ms(1000);
    sim_expect(sim_master_commands(0) == commands);
    sim_expect(sim_keys() == 0);
    sim_expect(ann->told_lost == 0);
}

static void released_while_renewed(void)
{
    SIM_CAST(3, NULL, ann);
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 300, ONCE) == REDLOCK_OK);
    sim_pass_us(102500); /* its first renewal is under way */
    sim_path_hole(ann->proc, 0, SIM_THERE, true);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(1000);
    sim_path_hole(ann->proc, 0, SIM_THERE, false);
    sim_pass_ms(1000);
    sim_expect(sim_keys() == 0);
    sim_expect(ann->told_lost == 0);
}

/* The last extension that won counts for 300 ms less 5; the loss is told 15 ms before. */
static void loss_told(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(300, true, &bob);
    sim_pass_ms(150);
    int64_t left_ms = sim_asks_validity(ann), now_ns = sim_now_ns();
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(ann->proc, i, SIM_THERE, true);
    sim_expect(sim_takes(bob, 1000, 2000) == REDLOCK_OK);
    sim_expect(ann->told_lost == 1);
    sim_expect(!ann->lost_valid);
    sim_expect(ann->lost_ns <= now_ns + (left_ms + 2) * SIM_MS);
    sim_expect(ann->lost_ns < bob->done_ns);
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(ann->proc, i, SIM_THERE, false);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

static void held_for_long_enough(void)
{
    SIM_CAST(3, NULL, ann);
    sim_watches(ann, true);
    ann->options.max_hold_ms = 400;
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 300, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(ann->told_lost == 1);
    sim_expect(ann->lost_ns - began_ns >= 400 * SIM_MS);
    sim_expect(ann->lost_ns - began_ns <= 405 * SIM_MS);
    sim_expect(sim_keys() == 0);
}

static void paused_holder(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_proc_pause(ann->proc, 2000 * SIM_MS);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

static void suspended(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_proc_suspend(ann->proc, 1300 * SIM_MS);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

static void paused_while_it_renews(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(300, true, &bob);
    sim_pass_us(102500); /* its first renewal is under way */
    sim_proc_pause(ann->proc, 1000 * SIM_MS);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_pass_ms(800);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_keys_of(bob) == 3);
}

const struct sim_scenario sim_named_keep[] = {
    {"extension", "A majority makes the lock last longer.", extension},
    {"answers-of-an-older-round",
     "R6. Answers to an extension that was given up come while the next one is open: they tell "
     "of a TTL that began before it, and are not counted.",
     answers_of_an_older_round},
    {"slow-extension", "CE12. Its answers take 150 ms: it counts from before its first byte.",
     slow_extension},
    {"late-extension",
     "CE17. A majority confirms an extension when the old deadline has passed: the lock is "
     "lost.",
     late_extension},
    {"extension-in-the-last-millisecond",
     "CE17. The validity has been told as 0 when the extension is confirmed: the lock is lost.",
     extension_in_the_last_millisecond},
    {"the-last-millisecond",
     "One of ann's threads is told of a last millisecond, another of none: bob waits for its "
     "end.",
     the_last_millisecond},
    {"extension-by-a-minority",
     "One master of three confirms an extension: the old deadline stands, and nothing is "
     "filled in.",
     extension_by_a_minority},
    {"extended-by-masters-that-come",
     "n1 has lost its key, and n4 and n5 are being connected to: an extension waits for them.",
     extended_by_masters_that_come},
    {"extension-while-a-minority-connects",
     "Three of five masters are gone and two are being connected to: an extension ends at "
     "once.",
     extension_while_a_minority_connects},
    {"healed", "n3 has lost the key of a lock that the others confirm: it is filled in.",
     healed},
    {"healed-only-while-valid",
     "n3 says that it has lost the key when the lock has run out: it is left alone.",
     healed_only_while_valid},
    {"renewal", "A lock is extended by itself, until it is released, and not once more.",
     renewal},
    {"released-while-renewed",
     "A lock is released while it is being renewed, and one master hears of it late.",
     released_while_renewed},
    {"loss-told",
     "A lock can't be renewed: its holder is told before its time is over, and another has it "
     "later.",
     loss_told},
    {"held-for-long-enough", "A lock is given up when it was held for as long as is allowed.",
     held_for_long_enough},
    {"paused-holder",
     "CE9. ann looks at her lock and is stopped for two seconds; bob takes it. When she looks "
     "again\nit is over.",
     paused_holder},
    {"suspended",
     "CE21. ann's machine is suspended: her clock counts that time, and the lock is over.",
     suspended},
    {"paused-while-it-renews",
     "ann is stopped while the answers to a renewal wait in her sockets, until bob has the "
     "lock.",
     paused_while_it_renews},
    {0},
};
