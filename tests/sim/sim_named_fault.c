/* sim_named_fault.c - scenarios of masters that lose what they should keep, and clocks that
 * run away: what the library can't prevent it tells, and it is counted as a cost. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

/* ann has n1, n2 and n3 of five, since n4 and n5 are far from her. */
static struct sim_player *ann_has_three(void)
{
    struct sim_player *ann = sim_is_there("ann", NULL);
    for (unsigned i = 3; i < 5; i++)
        sim_delay_ms(ann, i, 5000, 1);
    return ann;
}

static void clock_stepped(void)
{
    sim_stage(5);
    struct sim_player *ann = ann_has_three();
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_step_clock(2, 60 * SIM_S);
    sim_broke(SIM_NO_STEP);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_ENOQUORUM);
    sim_releases(ann);
    sim_pass_ms(20);
    sim_expect(sim_keys_of(bob) == 3);
}

static void flushed(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(1000, false, &bob);
    sim_pass_ms(100);
    for (unsigned i = 0; i < 3; i++)
        sim_master_flushall(i);
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_EEXPIRED);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_keys_of(bob) == 3);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void flushed_while_renewed(void)
{
    SIM_CAST(3, NULL, ann);
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 300, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    for (unsigned i = 0; i < 3; i++)
        sim_master_flushall(i);
    sim_broke(SIM_KEYS_STAY);
    int64_t flushed_ns = sim_now_ns();
    sim_pass_ms(100);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(ann->lost_ns - flushed_ns < 60 * SIM_MS);
    sim_expect(sim_asks_validity(ann) == 0);
}

static void evicted(void)
{
    SIM_CAST(3, NULL, ann);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_expect(sim_master_evict(1));
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_keys_of(ann) == 2);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* bob asks again and again from shortly before the keys run out. */
static void bob_asks_until_he_has_it(struct sim_player *bob)
{
    do
        sim_takes(bob, 1000, ONCE);
    while (bob->result != REDLOCK_OK);
}

static void run_masters(unsigned count, int64_t rate_ppb)
{
    for (unsigned i = 0; i < count; i++)
        sim_master_clock_rate(i, rate_ppb);
}

static void clocks_within_the_drift(void)
{
    sim_stage(3);
    run_masters(3, 9000000);
    struct sim_player *ann = sim_is_there("ann", NULL);
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_run_until(began_ns + 986 * SIM_MS);
    bob_asks_until_he_has_it(bob);
    sim_expect(bob->done_ns - began_ns < 1000 * SIM_MS);
    sim_expect(sim_asks_validity(ann) == 0);
}

static void clocks_beyond_the_drift(void)
{
    sim_stage(3);
    run_masters(3, 50000000);
    sim_broke(SIM_RATES);
    struct sim_player *ann = sim_is_there("ann", NULL);
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_run_until(began_ns + 945 * SIM_MS);
    bob_asks_until_he_has_it(bob);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_EEXPIRED);
}

/* From now on its clocks run so much too fast. */
static void runs_at(struct sim_player *player, int64_t rate_ppb)
{
    struct sim_proc *proc = player->proc;
    int64_t own_ns = sim_own_ns(proc);
    proc->rate_ppb = rate_ppb;
    int64_t back_ns = sim_own_ns(proc) - own_ns; /* it shows what it has shown */
    proc->boottime_extra_ns -= back_ns;
    proc->monotonic_extra_ns -= back_ns;
}

/* Neither clock is 1 % off the masters', and bob's is nearly 2 % faster than ann's. For 10 s by
 * hers, less the drift, ann has n1 and n2, and bob knows from the beginning that n2 has been
 * started anew. */
static void guard_within_the_drift(void)
{
    struct sim_client_options how = {.max_ttl_ms = 10000};
    SIM_SET(3, &how, ann);
    sim_delay_ms(ann, 2, 20000, 1);
    runs_at(ann, -9900000);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 10000, ONCE) == REDLOCK_OK);
    sim_master_kill(1);
    sim_master_start(1, SIM_EMPTY);
    struct sim_player *bob = sim_enters("bob", &how);
    runs_at(bob, 9900000);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_run_until(began_ns + 9985 * SIM_MS);
    bob_asks_until_he_has_it(bob);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(bob->done_ns - began_ns < 10050 * SIM_MS);
}

/* CE28: n3 goes, which bob needs; ann's late grants have made five of three. */
static void quorum_lost_after_success(void)
{
    SIM_SET(5, NULL, ann, bob);
    for (unsigned i = 3; i < 5; i++)
        sim_delay_ms(ann, i, 30, 1);
    sim_pass_ms(2000);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_keys_of(ann) == 3);
    sim_pass_ms(50);
    sim_expect(sim_keys_of(ann) == 5);
    sim_master_kill(2);
    sim_master_start(2, SIM_EMPTY);
    sim_expect(sim_takes(bob, 1000, 200) == REDLOCK_EHELD);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void script_flush(void)
{
    SIM_SET(3, NULL, ann);
    for (unsigned i = 0; i < 3; i++)
        sim_master_script_flush(i);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(ann->report.rounds == 1 && ann->report.granted >= 2);
    for (unsigned i = 0; i < 3; i++)
        sim_master_script_flush(i);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_keys() == 0);
}

static void noscript_for_ever(void)
{
    SIM_SET(3, NULL, ann);
    sim_watches(ann, true);
    sim_curtain();
    sim_master_trouble(2, SIM_NOSCRIPT, 1000000);
    uint64_t before = sim_master_troubled(2);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_master_troubled(2) - before <= 20);
    sim_master_trouble(2, SIM_NO_TROUBLE, 0);
    sim_pass_ms(1000);
    sim_expect(sim_keys() == 0);
}

static void errors_are_no_votes(void)
{
    SIM_SET(3, NULL, ann);
    sim_master_trouble(0, SIM_OOM, 1000000);
    sim_master_trouble(1, SIM_MISCONF, 1000000);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect(ann->report.failed == 2);
    sim_master_trouble(0, SIM_NO_TROUBLE, 0);
    sim_master_trouble(1, SIM_NO_TROUBLE, 0);
    sim_pass_ms(200);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* bob has the lock at the only master there is, whose answers to ann are not to be believed.
 * It refuses each time, whatever it says. */
static void believe_nothing(enum sim_trouble trouble)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    sim_also_drawn(60);
    SIM_SET(1, &how, ann, bob);
    sim_expect(sim_takes(bob, 30000, ONCE) == REDLOCK_OK);
    sim_curtain();
    for (unsigned i = 0; i < 2; i++) {
        sim_master_trouble(0, trouble, 1000000);
        sim_expect(sim_takes(ann, 1000, ONCE) != REDLOCK_OK);
        sim_master_trouble(0, SIM_NO_TROUBLE, 0);
        sim_expect(sim_takes(ann, 1000, 600) == REDLOCK_EHELD); /* on the next connection */
    }
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void stray_reply(void)
{
    believe_nothing(SIM_STRAY);
}

static void wrong_reply(void)
{
    believe_nothing(SIM_WRONG);
}

/* n3 takes no connections and n2 answers late. What ann's thread asks for waits for n3; when n2
 * has answered there is a majority, and nothing to wait for. */
static void extension_waits_for_no_more(void)
{
    SIM_SET(3, NULL, ann);
    struct sim_player *thread = sim_beside(ann);
    sim_pass_ms(1500);
    sim_curtain();
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 600, ONCE) == REDLOCK_OK);
    sim_delay_ms(ann, 1, 1, 250);
    sim_expect(sim_takes(thread, 100, ONCE) == REDLOCK_EHELD);
    sim_delay_ms(ann, 1, 1, 1);
    sim_pass_ms(100);
    sim_path_hole(ann->proc, 2, SIM_THERE, true);
    sim_path_reset(ann->proc, 2);
    sim_pass_ms(5);
    ann->extend_ms = 1000;
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_does(ann, sim_act_extend) == REDLOCK_OK);
    sim_expect(sim_now_ns() - began_ns < 500 * SIM_MS);
    sim_expect(ann->told_lost == 0);
    sim_path_hole(ann->proc, 2, SIM_THERE, false);
}

const struct sim_scenario sim_named_fault[] = {
    {"clock-stepped",
     "CE1. n3's clock jumps a minute ahead, and ann's key is gone there: bob has the lock as "
     "well.\nThat is a cost; ann's next extension finds no majority.",
     clock_stepped},
    {"flushed",
     "CE5, CE24. FLUSHALL on all masters: ann's next extension tells that it is lost.",
     flushed},
    {"flushed-while-renewed",
     "CE5. FLUSHALL on all masters: the next renewal finds out, and the holder is told.",
     flushed_while_renewed},
    {"evicted", "CE6. n2 has evicted the key: the next extension fills it in.", evicted},
    {"clocks-within-the-drift",
     "The masters' clocks run 0.9 % too fast: the keys are gone early, and the validity is "
     "over\nearlier.",
     clocks_within_the_drift},
    {"clocks-beyond-the-drift",
     "CE22. The masters' clocks run 5 % too fast, more than the drift allows for: a cost.",
     clocks_beyond_the_drift},
    {"guard-within-the-drift",
     "CE2. bob's clock is faster than ann's by nearly twice the drift: n2, which has lost "
     "ann's key,\nhas no vote before her lock is over by her clock.",
     guard_within_the_drift},
    {"quorum-lost-after-success",
     "CE28. ann has three of five, and then all: one of the three that loses its keys changes "
     "nothing.",
     quorum_lost_after_success},
    {"noscript",
     "The masters have forgotten the scripts: they are told again, in the same "
     "round.",
     script_flush},
    {"noscript-for-ever",
     "n3 says NOSCRIPT to the scripts' own text: no vote, and no more than a connection now and "
     "then.",
     noscript_for_ever},
    {"errors-are-no-votes", "Errors are no votes, and say nothing of who has the lock.",
     errors_are_no_votes},
    {"stray-reply", "CE20. A connection is out of step by one reply: it is given up.",
     stray_reply},
    {"wrong-reply", "CE20. Answers of another shape or to another question: no votes.",
     wrong_reply},
    {"extension-waits-for-no-more",
     "n3 is out of reach and n2 is late: an extension that waits goes on when n2 has answered, "
     "and the\nlock is kept.",
     extension_waits_for_no_more},
    {0},
};
