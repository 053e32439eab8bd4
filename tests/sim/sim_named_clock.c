/* sim_named_clock.c - scenarios of clients' clocks that are set: back, so that nobody can tell
 * for how long a lock has been held; back and unseen, which breaks an assumption; forward. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0
#define HOUR_NS (3600 * SIM_S)

static struct sim_client_options ten_seconds = {.max_ttl_ms = 10000};

/* She is asked by another thread, too, and by nothing that waits for her. */
static void check_over(struct sim_player *ann, struct sim_player *thread)
{
    sim_looks_on(thread, ann, sim_now_ns());
    sim_finishes(thread);
    sim_expect(thread->validity_ms == 0);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* What she takes afterwards is as good as any. */
static void check_goes_on(struct sim_player *ann)
{
    ann->names = "other";
    sim_expect(sim_takes(ann, 3000, ONCE) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 2700);
    sim_pass_ms(5000);
    sim_expect(sim_asks_validity(ann) > 1500); /* renewed */
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void clock_back(void)
{
    SIM_SET(3, &ten_seconds, ann);
    struct sim_player *thread = sim_beside(ann), *bob = sim_is_there("bob", &ten_seconds);
    sim_curtain();
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 9000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    int64_t set_ns = sim_now_ns();
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -HOUR_NS);
    check_over(ann, thread);
    sim_pass_ms(1100);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(ann->lost_ns - set_ns <= 1010 * SIM_MS);
    sim_expect(sim_extends(ann, 9000) == REDLOCK_EEXPIRED);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_pass_ms(10);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    check_goes_on(ann);
}

/* The round that is under way is lost, whatever masters say. */
static void clock_back_while_asking(void)
{
    SIM_CAST(3, NULL, ann);
    sim_begins_to_take(ann, 1000, ONCE);
    sim_pass_us(1500);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -HOUR_NS);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
    sim_pass_ms(10);
    sim_expect(sim_keys() == 0);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Likewise an extension. */
static void clock_back_while_extending(void)
{
    SIM_CAST(3, NULL, ann);
    struct sim_player *thread = sim_beside(ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    ann->extend_ms = 1000;
    sim_begins(ann, sim_act_extend);
    sim_pass_us(1500);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -HOUR_NS);
    sim_expect(sim_finishes(ann) == REDLOCK_EEXPIRED);
    check_over(ann, thread);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

static void clock_back_while_waiting(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, true, &bob);
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(bob, 1000, 1500);
    sim_pass_ms(300);
    sim_proc_set_clock(bob->proc, CLOCK_BOOTTIME, -HOUR_NS);
    sim_expect(sim_finishes(bob) == REDLOCK_EHELD);
    sim_expect(bob->done_ns - began_ns >= 1490 * SIM_MS);
    sim_expect(bob->done_ns - began_ns <= 2600 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Nobody has looked at it for so long that it has never shown a later time. */
static void clock_back_unseen(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_pass_ms(900);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -600 * SIM_MS);
    sim_broke(SIM_STEADY);
    sim_pass_ms(150);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_EEXPIRED);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void clock_forward(void)
{
    SIM_CAST(3, &ten_seconds, ann);
    struct sim_player *thread = sim_beside(ann);
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 9000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, HOUR_NS);
    check_over(ann, thread);
    sim_pass_ms(1100);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    check_goes_on(ann);
}

static const struct sim_client_options watching = {.max_ttl_ms = 10000,
                                                   .watch_wall_clock = REDLOCK_ON};

/* As clock_back_unseen(), but her wall clock has gone on, and she looks at it. */
static void lost_time_by_wall_clock(void)
{
    SIM_SET(3, &watching, ann);
    struct sim_player *bob = sim_is_there("bob", &ten_seconds);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(900);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -600 * SIM_MS);
    sim_broke(SIM_STEADY);
    sim_pass_ms(150);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* Back: nothing comes of it. Forward: it may be that time was lost. */
static void wall_clock_is_set(void)
{
    SIM_CAST(3, &watching, ann);
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 3000, ONCE) == REDLOCK_OK);
    sim_proc_set_clock(ann->proc, CLOCK_REALTIME, -HOUR_NS);
    sim_pass_ms(3500);
    sim_expect(ann->told_lost == 0 && sim_asks_validity(ann) > 1500);
    sim_proc_set_clock(ann->proc, CLOCK_REALTIME, HOUR_NS);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_pass_ms(1100);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    check_goes_on(ann);
}

/* The guard of a master that has forgotten goes by the other clock alone. */
static void wall_clock_opens_no_guard(void)
{
    SIM_CAST(1, &watching, ann);
    sim_master_kill(0);
    sim_master_start(0, SIM_EMPTY);
    sim_pass_ms(2000);
    sim_proc_set_clock(ann->proc, CLOCK_REALTIME, HOUR_NS);
    sim_expect(sim_takes(ann, 1000, 8500) == REDLOCK_ENOQUORUM);
    sim_expect(sim_takes(ann, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* She is stopped when she reads the answer, and not when she is told that there is one: what it
 * proves is as old as the clock says afterwards. */
static void late_reader(void)
{
    SIM_CAST(1, NULL, ann);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_run_until(began_ns + 975 * SIM_MS);
    sim_proc_stop_at_recv(ann->proc, 20 * SIM_MS);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_EEXPIRED);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

const struct sim_scenario sim_named_clock[] = {
    {"clock-back",
     "ann's clock is set back by an hour: her lock is lost and told, and all goes on.",
     clock_back},
    {"clock-back-while-asking",
     "ann's clock is set back while her round is under way: it is lost.",
     clock_back_while_asking},
    {"clock-back-while-extending",
     "ann's clock is set back while an extension is under way: her lock is lost.",
     clock_back_while_extending},
    {"clock-back-while-waiting",
     "bob's clock is set back while he waits: he waits for as long as he said.",
     clock_back_while_waiting},
    {"clock-back-unseen",
     "ann's clock is set back by less than the time since she last looked at it, which is "
     "assumed not\nto happen: she believes in her lock for too long.",
     clock_back_unseen},
    {"clock-forward", "ann's clock is set forward by an hour: her lock is over, and told so.",
     clock_forward},
    {"lost-time-by-wall-clock",
     "The same, with watch-wall-clock: her wall clock went on, so her lock is over when she "
     "looks.",
     lost_time_by_wall_clock},
    {"wall-clock-is-set",
     "With watch-wall-clock ann's wall clock is set back, which changes nothing, and then "
     "forward, which\nends her lock.",
     wall_clock_is_set},
    {"wall-clock-opens-no-guard",
     "With watch-wall-clock ann's wall clock is set forward while a master that forgot may not "
     "vote: it\nwaits for as long as before.",
     wall_clock_opens_no_guard},
    {"late-reader",
     "ann is stopped right before she reads the answer to an extension, until her time is "
     "over: it\ncomes too late.",
     late_reader},
    {0},
};
