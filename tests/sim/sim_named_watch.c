/* sim_named_watch.c - scenarios of masters' clocks that are set, or run too fast, while clients
 * watch them: what is found, by whom, and when. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options marked = {.max_ttl_ms = 2000,
                                                 .guard = REDLOCK_GUARD_MARKER};
static const struct sim_client_options guarded = {.max_ttl_ms = 2000};

/* ann has it by n1 and n2 alone, since n3 is far from her. */
static struct sim_player *ann_has_two(const struct sim_client_options *how)
{
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++)
        sim_master_mark(i);
    struct sim_player *ann = sim_is_there("ann", how);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    return ann;
}

static void set_forward(void)
{
    sim_master_step_clock(1, 60 * SIM_S);
    sim_broke(SIM_NO_STEP);
}

static void step_is_found(void)
{
    struct sim_player *ann = ann_has_two(&marked);
    int64_t set_ns = sim_now_ns();
    set_forward();
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(ann->lost_ns - set_ns <= 1010 * SIM_MS);
    sim_expect(sim_asks_validity(ann) == 0);
    struct sim_player *bob = sim_enters("bob", &marked);
    sim_expect(sim_takes(bob, 1000, 500) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void step_between_two_looks(void)
{
    struct sim_player *ann = ann_has_two(&marked), *bob = sim_enters("bob", &marked);
    set_forward();
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* With `guard on` a client looks when it connects anew. */
static void step_while_away(void)
{
    struct sim_player *ann = ann_has_two(&guarded);
    set_forward();
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 0);
    sim_path_reset(ann->proc, 1);
    sim_pass_ms(10);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* A majority has kept time, and what n2 grants after the step counts. */
static void step_of_a_minority(void)
{
    sim_stage(5);
    for (unsigned i = 0; i < 5; i++)
        sim_master_mark(i);
    struct sim_player *ann = sim_is_there("ann", &marked);
    sim_curtain();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    set_forward();
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_keys_of(ann) == 5);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Its keys last longer, so nobody's lock is in danger. */
static void step_back(void)
{
    struct sim_player *ann = ann_has_two(&marked);
    sim_master_step_clock(1, -60 * SIM_S);
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Her lock would be over at n2 after 1334 ms. */
static void clock_runs_ahead(void)
{
    struct sim_player *ann = ann_has_two(&marked);
    sim_master_clock_rate(1, SIM_S / 2);
    sim_broke(SIM_RATES);
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(sim_has_key(ann, 1));
    sim_pass_ms(900); /* her keys are there for as long as she was told */
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 2);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* She has not read it since, so it shows no earlier time: masters seem to have run ahead. */
static void own_clock_lost_time(void)
{
    struct sim_player *ann = ann_has_two(&marked);
    sim_run_until(sim_now_ns() + 800 * SIM_MS);
    sim_proc_set_clock(ann->proc, CLOCK_BOOTTIME, -100 * SIM_MS);
    sim_broke(SIM_STEADY);
    sim_pass_ms(300);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* n2 was started just now, and tells that it has been up for a minute. */
static void step_after_a_restart(void)
{
    struct sim_player *ann = ann_has_two(&guarded);
    sim_master_kill(1);
    sim_master_start(1, SIM_EMPTY);
    struct sim_player *bob = sim_enters("bob", &guarded);
    sim_expect(sim_takes(bob, 1000, 100) != REDLOCK_OK);
    set_forward();
    sim_path_reset(bob->proc, 1);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_pass_ms(1500);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* n2's yes is late, so she connects anew beside it, and learns there that its clock was set
 * after that. */
static void yes_from_before_a_step(void)
{
    SIM_SET(3, &guarded, ann);
    sim_delay_ms(ann, 1, 1, 600);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    sim_begins_to_take(ann, 2000, ONCE);
    sim_pass_ms(100);
    sim_delay_ms(ann, 1, 1, 1);
    set_forward();
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
}

const struct sim_scenario sim_named_watch[] = {
    {"clock-step-is-found",
     "CE1. n2's clock is set forward while ann has the lock by n1 and n2: she looks within "
     "half "
     "of\nmax-ttl, and is told that it is lost.",
     step_is_found},
    {"clock-steps-between-two-looks",
     "CE1. The same, and bob asks before that: he has the lock as well. That is a cost.",
     step_between_two_looks},
    {"clock-steps-while-away",
     "CE1. The same with guard on, where ann looks when she connects to n2 anew.",
     step_while_away},
    {"clock-step-of-a-minority",
     "The clock of one of five masters is set forward: the lock is kept, and extended there, "
     "too.",
     step_of_a_minority},
    {"clock-steps-back", "n2's clock is set back: it is said, and the lock is kept.",
     step_back},
    {"clock-runs-ahead",
     "CE22. n2's clock runs too fast by half: ann's lock is lost before n2's key has ended.",
     clock_runs_ahead},
    {"own-clock-lost-time",
     "ann's clock is set back by less than the time since she last read it: at her next look "
     "the "
     "masters\nseem to have run ahead, and her lock is lost.",
     own_clock_lost_time},
    {"clock-steps-after-a-restart",
     "n2 has restarted empty, and then its clock is set forward, and its uptime with it: bob "
     "has "
     "seen\nthat, and waits as long as before.",
     step_after_a_restart},
    {"yes-from-before-a-clock-step",
     "CE1. n2 grants ann the lock, its clock is set forward, and its answer is late: she hears "
     "of "
     "the\nstep by another connection, and the answer does not count.",
     yes_from_before_a_step},
    {0},
};
