/* sim_named_failover.c - scenarios of a master that fails over: Sentinels name its replica, at any
 * moment, while the former one lives on. No lock is had twice, and what one costs is seen. */
#include "config_auto.h"

#include "sim_named.h"
#include "sim_sentinel.h"

#define ONCE 0

enum { M, P, S1, S2, S3 }; /* of a service alone */

/* Max-ttl is 1 s and D another one: what is not known to be safe waits for 2020 ms. */
enum { WINDOW_MS = 2020 };

static struct sim_player *ann_is_there(void)
{
    sim_stage_with_sentinels(1);
    return sim_is_there("ann", NULL);
}

static void cut_off_from_sentinels(struct sim_player *player, bool on)
{
    for (unsigned i = S1; i <= S3; i++)
        sim_path_hole(player->proc, i, SIM_THERE, on);
}

/* She has their word of just now. */
static void asks_them(struct sim_player *player)
{
    sim_expect(sim_takes(player, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(player) == REDLOCK_OK);
}

/* All name the replica; the former master has not heard of it yet. */
static void fail_over(void)
{
    sim_sentinel_fails_over(S1, 0, P);
    sim_sentinels_hear(0);
    sim_sentinel_looks(S1, 0);
}

static void demote(unsigned server)
{
    sim_expect(sim_sentinel_corrects(S1, 0, server));
}

/* She has been at the replica since it was named, and the quarantine is over. */
static struct sim_player *ann_has_moved(void)
{
    struct sim_player *ann = ann_is_there();
    sim_pass_ms(2000);
    fail_over();
    demote(M);
    sim_expect(sim_takes(ann, 1000, 6000) == REDLOCK_OK);
    sim_expect(sim_has_key(ann, P));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(2000);
    return ann;
}

static bool within(int64_t took_ns, int64_t least_ms, int64_t most_ms)
{
    return took_ns >= least_ms * SIM_MS && took_ns <= most_ms * SIM_MS;
}

/* ---- whose votes count ------------------------------------------------------------------ */

/* ann hears the former master all the time, and her Sentinels not at all. */
static void partition_without_silence(void)
{
    struct sim_player *ann = ann_is_there();
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_pass_ms(2000);
    sim_curtain();
    asks_them(ann);
    cut_off_from_sentinels(ann, true);
    fail_over();
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(bob, 1000, 6000);
    sim_pass_ms(900);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK); /* their word is of less than D ago */
    sim_pass_ms(300);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_EEXPIRED); /* now it is of more: she waits */
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(within(bob->done_ns - began_ns, WINDOW_MS, WINDOW_MS + 500));
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 500, ONCE) == REDLOCK_EUNDECIDED); /* n1 would grant it */
    sim_expect(sim_keys() == 0);
    sim_expect_costs(SIM_OVERLAP, false);
    cut_off_from_sentinels(ann, false);
}

/* bob's lock stands at the replica, which dies; the former master goes on as if nothing was. */
static void there_and_back(void)
{
    struct sim_player *ann = ann_is_there();
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    sim_master_pause(M, 4000 * SIM_MS);
    fail_over();
    sim_expect(sim_takes(bob, 1000, 6000) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_pass_ms(4000);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_master_kill(P);
    sim_sentinel_fails_over(S2, 0, M);
    sim_sentinels_hear(0);
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(ann, 1000, 4000);
    sim_pass_ms(500);
    sim_expect(sim_asks_validity(bob) > 0);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(within(ann->done_ns - began_ns, WINDOW_MS, WINDOW_MS + 500));
    sim_expect(sim_asks_validity(bob) == 0);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* The replica says master, and its leader names it; nobody looks there. */
static void leaders_word_alone(void)
{
    struct sim_player *ann = ann_is_there();
    sim_curtain();
    sim_sentinel_begins(S1, 0, P, true);
    for (unsigned i = 0; i < 4; i++)
        sim_sentinel_steps(S1, 0, 0);
    sim_pass_ms(2000);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK); /* the other two name the former one */
    sim_expect(sim_keys_of(ann) == 1);
    sim_expect(sim_master_keys(P) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_sentinel_hears(S2, 0, S1));
    sim_pass_ms(2000);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM); /* two name the replica */
}

static void word_of_over_a_second_ago(void)
{
    struct sim_player *ann = ann_is_there();
    sim_pass_ms(2000);
    sim_curtain();
    int64_t asked_ns = sim_now_ns();
    asks_them(ann);
    cut_off_from_sentinels(ann, true);
    sim_run_until(asked_ns + 990 * SIM_MS);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_run_until(asked_ns + 1010 * SIM_MS);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_EUNDECIDED);
    cut_off_from_sentinels(ann, false);
    sim_expect(sim_takes(ann, 1000, 2000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* The quarantine is as long as two seconds: ann's round may begin D after bob looked. */
static void begun_when_another_has_looked(void)
{
    struct sim_player *ann = ann_is_there();
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_pass_ms(2000);
    sim_curtain();
    asks_them(ann);
    cut_off_from_sentinels(ann, true);
    fail_over();
    int64_t looked_ns = sim_now_ns();
    sim_begins_to_take(bob, 1000, 6000);
    sim_pass_ms(950);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(500);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(within(bob->done_ns - looked_ns, WINDOW_MS, WINDOW_MS + 500));
    sim_expect_costs(SIM_OVERLAP, false);
    cut_off_from_sentinels(ann, false);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* ---- terms ------------------------------------------------------------------------------ */

/* Another one's failover has named the same server anew. ann hears of it a moment later than bob,
 * and her connection is made anew in between. */
static void higher_term_is_asked_again(void)
{
    struct sim_player *ann = ann_has_moved(), *bob = sim_enters("bob", NULL);
    sim_curtain();
    asks_them(ann);
    cut_off_from_sentinels(ann, true);
    sim_sentinel_begins(S2, 0, M, true); /* and back: M is named in term 2, P in term 3 */
    for (unsigned i = 0; i < 6; i++)
        sim_sentinel_steps(S2, 0, 0);
    sim_sentinel_fails_over(S2, 0, P);
    sim_sentinels_hear(0);
    sim_begins_to_take(bob, 1000, 6000);
    sim_pass_ms(100);
    sim_path_reset(ann->proc, P);
    sim_begins_to_take(ann, 1000, 500);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM); /* the marker is of a later term */
    cut_off_from_sentinels(ann, false);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, 200) == REDLOCK_EHELD); /* she knows it now */
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, 200) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* ---- Sentinels that forget -------------------------------------------------------------- */

static void restart(unsigned sentinel)
{
    sim_sentinel_forgets(sentinel);
    sim_master_start(sentinel, SIM_WHOLE);
}

static void one_forgets(void)
{
    struct sim_player *ann = ann_has_moved();
    sim_curtain();
    restart(S3);
    sim_pass_ms(100);
    sim_expect(sim_takes(ann, 1000, 500) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    restart(S2); /* with it no majority says what two have said */
    sim_pass_ms(2000);
    sim_expect(sim_takes(ann, 1000, 100) == REDLOCK_ENOQUORUM);
    sim_sentinels_hear(0);
    sim_expect(sim_takes(ann, 1000, 4000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Whose keys are there, and whether somebody votes elsewhere, nobody knows: the former master's
 * marker is of the term that they name, and there is a quarantine all the same. */
static void all_forget(void)
{
    struct sim_player *ann = ann_has_moved();
    sim_curtain();
    sim_replica_promoted(M, 0); /* by hand, so that it says master as the template has it */
    for (unsigned i = S1; i <= S3; i++)
        restart(i);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, 10000) == REDLOCK_OK);
    sim_expect(within(ann->done_ns - began_ns, 2 * WINDOW_MS, 2 * WINDOW_MS + 2500));
    sim_expect(sim_has_key(ann, M));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* ---- what becomes of a lock ------------------------------------------------------------- */

static void lives_to_its_end(void)
{
    struct sim_player *ann = ann_is_there();
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    fail_over();
    demote(M);
    int64_t began_ns = sim_now_ns();
    sim_begins_to_take(bob, 1000, 6000);
    sim_pass_ms(600);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_ENOQUORUM); /* the replica is in quarantine */
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(ann->told_lost == 1);
    sim_expect(within(ann->lost_ns - began_ns, 850, 1000)); /* the usual margin before its end */
    sim_expect(within(bob->done_ns - began_ns, WINDOW_MS, WINDOW_MS + 500));
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* The others carry it. */
static void three_lose_no_lock(void)
{
    sim_stage_with_sentinels(3);
    struct sim_player *ann = sim_is_there("ann", NULL), *bob = sim_is_there("bob", NULL);
    unsigned sentinel = sim_sentinel_at(0, 0), replica = sim_replica_at(0, 0);
    sim_curtain();
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_kill(0);
    sim_sentinel_fails_over(sentinel, 0, replica);
    sim_sentinels_hear(0);
    sim_sentinel_looks(sentinel, 0);
    sim_pass_ms(100);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(4000);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_has_key(ann, replica)); /* it votes again, and was filled in */
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, 500) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* Its word is old for ann, whose lock rests on the two others, and whom a step of a clock costs one
 * of them. What was put on n1 would keep it hers, beside bob. */
static void former_is_not_filled_in(void)
{
    sim_stage_with_sentinels(3);
    struct sim_player *ann = sim_is_there("ann", NULL), *bob = sim_is_there("bob", NULL);
    unsigned sentinel = sim_sentinel_at(0, 0), replica = sim_replica_at(0, 0);
    asks_them(ann);
    for (unsigned i = 0; i < 3; i++)
        sim_path_hole(ann->proc, sim_sentinel_at(0, i), SIM_THERE, true);
    sim_sentinel_fails_over(sentinel, 0, replica);
    sim_sentinels_hear(0);
    sim_sentinel_looks(sentinel, 0);
    sim_pass_ms(1500);
    asks_them(bob); /* he asks anew, and goes there */
    sim_pass_ms(WINDOW_MS + 500);
    asks_them(bob);
    sim_curtain();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_keys_of(ann) == 2);
    sim_broke(SIM_NO_STEP);
    sim_master_step_clock(1, 60 * SIM_S);
    int64_t stepped_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_has_key(bob, replica));
    sim_pass_ms(600);
    sim_expect(ann->told_lost == 1); /* her next look at the clocks has found the step */
    sim_expect(ann->lost_ns - stepped_ns < 600 * SIM_MS);
    sim_expect(sim_asks_validity(bob) > 0);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* One machine of three has the master and a Sentinel. The leader waits for other replicas. */
static void machine_dies(void)
{
    struct sim_player *ann = ann_is_there();
    sim_curtain();
    sim_master_kill(M);
    sim_master_kill(S1);
    sim_begins_to_take(ann, 1000, 10000);
    sim_pass_ms(500);
    sim_expect(sim_sentinel_begins(S2, 0, P, true));
    for (unsigned i = 0; i < 4; i++)
        sim_sentinel_steps(S2, 0, 0);
    sim_expect(sim_sentinel_hears(S3, 0, S2));
    int64_t named_ns = sim_now_ns();
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(within(ann->done_ns - named_ns, WINDOW_MS, WINDOW_MS + 1500));
    sim_expect(sim_has_key(ann, P));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

const struct sim_scenario sim_named_failover[] = {
    {"partition-without-silence",
     "R22. n2 is named in n1's place, and ann, who reaches no Sentinel any more, hears n1 all the "
     "time.\nIts votes count for her until their last word is a second old.",
     partition_without_silence},
    {"there-and-back",
     "R22. n1 stands, n2 is named and dies, and n1 is named again, with its own keys and marker: "
     "only\nthe term tells. It is quarantined.",
     there_and_back},
    {"leaders-word-alone",
     "R22. Only the Sentinel that leads a failover names n2: n1 votes still, and nobody looks at "
     "n2.",
     leaders_word_alone},
    {"word-of-over-a-second-ago",
     "R22. ann reaches no Sentinel: n1 votes until their word is a second old.",
     word_of_over_a_second_ago},
    {"begun-when-another-has-looked",
     "R22. bob has looked at n2, and ann takes the lock at n1 a moment before her Sentinels' word "
     "is a\nsecond old. So n2's quarantine lasts for a second more than max-ttl.",
     begun_when_another_has_looked},
    {"higher-term-is-asked-again",
     "R22. n2's marker is of a later term than what ann has heard: there is no vote, nothing is "
     "changed,\nand she asks anew.",
     higher_term_is_asked_again},
    {"one-sentinel-forgets",
     "R22. A Sentinel that is restarted from its template is no witness. With a second one there "
     "is no\nmajority, until they have heard of the newest term.",
     one_forgets},
    {"all-sentinels-forget",
     "R22. All are restarted from the template, which names n1, term 0: that is n1's marker's. ann "
     "knows\na later term: n1 is quarantined.",
     all_forget},
    {"lives-to-its-end",
     "R22. A lock of one service, at a failover: it is valid to its end, and can't be extended. "
     "ann is\ntold of its loss the usual margin before.",
     lives_to_its_end},
    {"three-services-lose-no-lock",
     "R22. One of three services fails over: the others carry ann's lock, and its new master is "
     "filled in.",
     three_lose_no_lock},
    {"former-master-is-not-filled-in",
     "R22. n4 is named in n1's place, and ann has not heard of it. n1 is not given the key of her "
     "lock:\nwhen n2's clock steps, bob has the lock by n4 and n2, and hers is lost.",
     former_is_not_filled_in},
    {"machine-with-a-sentinel-dies",
     "R22. n1 and n3 die, and the Sentinel that leads does not come to an end: two name n2, which "
     "is enough.",
     machine_dies},
    {0},
};
