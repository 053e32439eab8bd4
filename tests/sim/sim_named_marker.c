/* sim_named_marker.c - scenarios of clients that read a marker at each master: who was emptied,
 * or has taken another one's place, does not vote, as soon as somebody looks. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options marked = {.max_ttl_ms = 2000,
                                                 .guard = REDLOCK_GUARD_MARKER};

/* ann will have n1 and n2 alone, since n3 is far from her. */
static struct sim_player *ann_far_from_n3(void)
{
    for (unsigned i = 0; i < 3; i++)
        sim_master_mark(i);
    struct sim_player *ann = sim_is_there("ann", &marked);
    sim_delay_ms(ann, 2, 20000, 1);
    return ann;
}

static void ann_takes_it(struct sim_player *ann)
{
    sim_curtain();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
}

/* cat comes when n2 has been emptied, or when its name leads to another server. */
static void stranger_comes(unsigned server, bool empty)
{
    sim_stage_with_spare(3);
    struct sim_player *ann = ann_far_from_n3();
    ann_takes_it(ann);
    if (empty)
        sim_master_flushall(1);
    struct sim_player *cat = sim_enters("cat", &marked);
    sim_path_lead(cat->proc, 1, server);
    sim_path_reset(cat->proc, 1);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(cat, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(cat, 1000, 4000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(cat->done_ns - began_ns < 2100 * SIM_MS); /* n1's key and n3 */
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void emptied_before_a_stranger_comes(void)
{
    stranger_comes(1, true);
}

static void warm_server_for_a_stranger(void)
{
    stranger_comes(3, false);
}

/* A vote is void whether or not the key came back: nobody knows which ones did. */
static void restarted_with_all_keys(void)
{
    sim_stage(3);
    struct sim_player *ann = ann_far_from_n3();
    ann_takes_it(ann);
    sim_master_kill(1);
    sim_master_start(1, SIM_WHOLE);
    struct sim_player *cat = sim_enters("cat", &marked);
    sim_path_hole(cat->proc, 0, SIM_THERE, true);
    sim_expect(sim_takes(cat, 1000, 500) == REDLOCK_ENOQUORUM);
    sim_expect(sim_keys_of(ann) == 2);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* The lock is lost, and the marker stays: it is that of the process before. */
static void restarted_with_some_keys(void)
{
    sim_stage(3);
    struct sim_player *ann = ann_far_from_n3();
    ann_takes_it(ann);
    sim_path_hole(ann->proc, 1, SIM_THERE, true); /* she does not hear of it */
    sim_master_kill(1);
    sim_master_loses(1, "jobs");
    sim_master_start(1, SIM_SOME);
    struct sim_player *cat = sim_enters("cat", &marked);
    sim_path_hole(cat->proc, 0, SIM_THERE, true);
    sim_expect(sim_takes(cat, 1000, 100) == REDLOCK_ENOQUORUM);
    sim_expect(sim_keys_of(ann) == 1);
    sim_expect(sim_asks_validity(ann) > 0);
}

/* bob's connections stand, and he asks for nothing: at his next try he looks first. */
static void found_at_the_next_look(void)
{
    sim_stage(3);
    struct sim_player *ann = ann_far_from_n3(), *bob = sim_is_there("bob", &marked);
    ann_takes_it(ann);
    sim_master_flushall(1);
    int64_t emptied_ns = sim_now_ns();
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_expect(ann->lost_ns - emptied_ns <= 1010 * SIM_MS);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD); /* n2's yes does not count */
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_takes(bob, 1000, 500) == REDLOCK_OK);
    sim_expect(!sim_has_key(bob, 1));
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* She has no callback and is not renewed. Her thread slept for a second when she took it. */
static void found_where_the_thread_always_runs(void)
{
    const struct sim_client_options always = {.max_ttl_ms = 1000,
                                              .guard = REDLOCK_GUARD_MARKER,
                                              .background = REDLOCK_BACKGROUND_ALWAYS};
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++)
        sim_master_mark(i);
    struct sim_player *ann = sim_is_there("ann", &always);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_pass_ms(1500);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_master_flushall(1);
    sim_pass_ms(510);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* Until then n2 votes for bob as ever. */
static void emptied_between_two_looks(void)
{
    sim_stage(3);
    struct sim_player *ann = ann_far_from_n3(), *bob = sim_is_there("bob", &marked);
    ann_takes_it(ann);
    sim_master_flushall(1);
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
}

/* ---- each script looks, too -------------------------------------------------------------- */

static const struct sim_client_options strict = {.max_ttl_ms = 2000,
                                                 .guard = REDLOCK_GUARD_STRICT};

/* ann has n1 and n2, and whatever happens to n2 now costs nothing. */
static void bob_asks_before_the_next_look(void (*happens)(unsigned master))
{
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++)
        sim_master_mark(i);
    struct sim_player *ann = sim_is_there("ann", &strict);
    sim_delay_ms(ann, 2, 20000, 1);
    struct sim_player *bob = sim_is_there("bob", &strict);
    ann_takes_it(ann);
    happens(1);
    sim_expect(sim_takes(bob, 1000, ONCE) != REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_extends(ann, 2000) != REDLOCK_OK); /* n1 alone says yes */
    sim_pass_ms(20);
    sim_expect(ann->told_lost == 1);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void emptied_under_a_strict_guard(void)
{
    bob_asks_before_the_next_look(sim_master_flushall);
}

static void copy_under_a_strict_guard(void)
{
    bob_asks_before_the_next_look(sim_master_copy);
}

static void strict_locks_are_taken_by_scripts(void)
{
    sim_stage(1);
    sim_master_mark(0);
    struct sim_player *ann = sim_is_there("ann", &strict);
    ann->native = true;
    sim_curtain();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 2000, ONCE) == REDLOCK_OK);
    sim_expect(sim_taken_by("set") == 0); /* no bare SET, which looks at no marker */
    sim_expect(sim_taken_by("acquire") == 1);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* n1's first replica changes its marker and costs no vote. The look that finds that is under way
 * when ann extends with the marker as it was: n1 votes still, and that answer is no vote. */
static void marker_changes_on_the_way(void)
{
    sim_stage(1);
    sim_master_mark(0);
    struct sim_player *ann = sim_is_there("ann", &strict);
    ann_takes_it(ann);
    sim_delay_ms(ann, 0, 300, 1);
    sim_master_replication(0, "of-a-master-that-has-a-replica");
    sim_pass_ms(1000);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_ENOQUORUM);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* What a majority has still is kept, also when it is extended. */
static void minority_is_emptied(void)
{
    sim_stage(5);
    for (unsigned i = 0; i < 5; i++)
        sim_master_mark(i);
    struct sim_player *ann = sim_is_there("ann", &marked);
    ann_takes_it(ann);
    sim_master_flushall(1);
    sim_pass_ms(1050);
    sim_expect(ann->told_lost == 0);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_expect(sim_keys_of(ann) == 4); /* n2 is filled in when it votes again */
    sim_pass_ms(1000);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_pass_ms(200);
    sim_expect(sim_extends(ann, 2000) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* n2's clock is set forward while it is quarantined, and its key is gone. bob has seen it, and
 * waits by his own; cat has not, and votes with it. */
static void clock_steps_in_quarantine(void)
{
    sim_stage(3);
    struct sim_player *ann = ann_far_from_n3();
    ann_takes_it(ann);
    sim_master_flushall(1);
    struct sim_player *bob = sim_enters("bob", &marked);
    sim_expect(sim_takes(bob, 1000, 200) != REDLOCK_OK);
    sim_master_step_clock(1, 60 * SIM_S);
    sim_broke(SIM_NO_STEP);
    sim_path_reset(bob->proc, 1);
    sim_expect(sim_takes(bob, 1000, 200) != REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
    struct sim_player *cat = sim_enters("cat", &marked);
    sim_expect(sim_takes(cat, 1000, 200) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
}

const struct sim_scenario sim_named_marker[] = {
    {"emptied-before-a-stranger-comes",
     "CE5. n2 has been emptied when cat comes, who never met it: its marker is missing, and it "
     "has no\nvote until every lease is over.",
     emptied_before_a_stranger_comes},
    {"warm-server-for-a-stranger",
     "CE4. n2's name leads to n4, which has been up for as long, when cat comes: it has no "
     "marker, and\nno vote.",
     warm_server_for_a_stranger},
    {"restarted-with-some-keys",
     "CE3. n2 is restarted, and has its marker, but not ann's lock. The marker is of the process "
     "before,\nso n2 has no vote for cat.",
     restarted_with_some_keys},
    {"restarted-with-all-keys",
     "CE2. n2's marker has come back with its keys, but it is another process: it has no vote, "
     "and ann's\nlock, which stood on it, is lost.",
     restarted_with_all_keys},
    {"found-at-the-next-look",
     "CE5. n2 is emptied while ann has the lock by n1 and n2: she looks within half of "
     "max-ttl, "
     "and is\ntold that it is lost.",
     found_at_the_next_look},
    {"found-where-the-thread-always-runs",
     "The same with `background always`, and ann has no callback: her thread looks in time.",
     found_where_the_thread_always_runs},
    {"emptied-between-two-looks",
     "CE5. The same, and bob asks before that: he has the lock as well. That is a cost.",
     emptied_between_two_looks},
    {"emptied-under-a-strict-guard",
     "CE5. The same with guard strict: bob's script finds no marker, and n2 is quarantined. "
     "ann's\nextension finds that, and her lock is lost. It costs nothing.",
     emptied_under_a_strict_guard},
    {"copy-under-a-strict-guard",
     "CE4. The same when n2's connections lead to its former replica, which has the marker, "
     "too, but\nanother replication id.",
     copy_under_a_strict_guard},
    {"strict-locks-are-taken-by-scripts",
     "With guard strict no lock is taken by a bare SET, which looks at no marker.",
     strict_locks_are_taken_by_scripts},
    {"marker-changes-on-the-way",
     "n1's first replica changes its marker. A look is under way when ann extends with the "
     "marker as it\nwas: n1 is not blamed, and that answer is no vote.",
     marker_changes_on_the_way},
    {"minority-is-emptied",
     "One of five masters is emptied: the lock is kept, and that one is filled in when it "
     "votes "
     "again.",
     minority_is_emptied},
    {"clock-steps-in-quarantine",
     "n2's clock is set forward while it is quarantined: bob waits by his own clock, cat has "
     "not seen it,\nand has the lock as well. That is a cost.",
     clock_steps_in_quarantine},
    {0},
};
