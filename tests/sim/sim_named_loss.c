/* sim_named_loss.c - scenarios of masters that lose their keys and go on as the same process,
 * and of clients that do not agree on who the masters are. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

/* REPLICAOF another server and a full sync, or DEBUG RELOAD: whatever it had is gone. The
 * process is the same, and so are its connections. */
static void lose_keys(unsigned master, enum sim_trouble trouble)
{
    if (trouble == SIM_READONLY)
        sim_master_role(master, "slave");
    sim_master_trouble(master, trouble, 1000000);
    sim_master_flushall(master);
}

static void lead_again(unsigned master)
{
    sim_master_role(master, "master");
    sim_master_trouble(master, SIM_NO_TROUBLE, 0);
}

/* ann has n1 and n2 of three, since n3 is far from her; then n2 becomes a replica, or loads. */
static struct sim_player *ann_loses_n2(const struct sim_client_options *how,
                                       enum sim_trouble trouble)
{
    struct sim_player *ann = sim_is_there("ann", how);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    sim_expect(sim_takes(ann, how->max_ttl_ms, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    lose_keys(1, trouble);
    return ann;
}

/* bob hears of it from n2 itself, which refuses. */
static void refused_once(enum sim_trouble trouble)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    SIM_SET(3, &how, bob);
    sim_pass_ms(3000);
    struct sim_player *ann = ann_loses_n2(&how, trouble);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, ONCE) != REDLOCK_OK);
    lead_again(1);
    sim_pass_ms(20);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(bob->done_ns - began_ns < 1500 * SIM_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

static void once_a_replica(void)
{
    refused_once(SIM_READONLY);
}

static void reload_seen(void)
{
    refused_once(SIM_LOADING);
}

/* bob's client is new: it meets a replica, asks again a second later, and finds a master that
 * has been up for a day. */
static void replica_at_first(void)
{
    struct sim_client_options how = {.max_ttl_ms = 3000};
    sim_stage(3);
    struct sim_player *ann = ann_loses_n2(&how, SIM_READONLY);
    struct sim_player *bob = sim_enters("bob", &how);
    sim_expect(sim_takes(bob, 1000, ONCE) != REDLOCK_OK);
    lead_again(1);
    sim_expect(sim_takes(bob, 1000, 2000) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(bob, 1000, 4000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* Nobody asks n2 anything meanwhile: no text of its says what it was, and bob gets the lock as
 * well. ann hears of it from her next extension. */
static void replica_unseen(void)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    SIM_SET(3, &how, bob);
    struct sim_player *ann = ann_loses_n2(&how, SIM_READONLY);
    sim_broke(SIM_KEYS_STAY);
    lead_again(1);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_expect(sim_extends(ann, 1000) != REDLOCK_OK);
    sim_releases(ann);
    sim_pass_ms(50);
    sim_expect(sim_keys_of(bob) == 2);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* The same, but bob's client has not asked n2 for long what it is. It does before it asks for its
 * vote, and n2's replication id tells. */
static void replica_found_out(void)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    SIM_SET(3, &how, bob);
    sim_pass_ms(11000);
    struct sim_player *ann = ann_loses_n2(&how, SIM_READONLY);
    lead_again(1);
    sim_expect(sim_takes(bob, 1000, ONCE) != REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* ann has n1 and n2 of three, since n3 is far from her; then n2's name leads to n4, which has
 * been there for as long, and n2 lives on. */
static struct sim_player *ann_has_n2_that_moves(const struct sim_client_options *how)
{
    struct sim_player *ann = sim_is_there("ann", how);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    sim_expect(sim_takes(ann, how->max_ttl_ms, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    return ann;
}

static void another_server(void)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    sim_also_drawn(60);
    sim_stage_with_spare(3);
    struct sim_player *bob = sim_is_there("bob", &how);
    sim_pass_ms(3000);
    struct sim_player *ann = ann_has_n2_that_moves(&how);
    sim_path_lead(bob->proc, 1, 3);
    sim_path_reset(bob->proc, 1);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, ONCE) != REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(bob->done_ns - began_ns < 1500 * SIM_MS);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    /* And back again: n2 has to wait as n4 had. */
    sim_path_lead(bob->proc, 1, 1);
    sim_path_reset(bob->proc, 3);
    sim_path_hole(bob->proc, 0, SIM_THERE, true);
    sim_expect(sim_takes(bob, 1000, 500) == REDLOCK_ENOQUORUM);
    sim_path_hole(bob->proc, 0, SIM_THERE, false);
}

/* cat's client has never met n2. */
static void another_server_for_a_stranger(void)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    sim_stage_with_spare(3);
    struct sim_player *ann = ann_has_n2_that_moves(&how);
    sim_broke(SIM_ONE_SERVER);
    struct sim_player *cat = sim_enters("cat", &how);
    sim_path_lead(cat->proc, 1, 3);
    sim_path_reset(cat->proc, 1);
    sim_expect(sim_takes(cat, 1000, 500) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect_costs(SIM_OVERLAP, true);
}

/* DEBUG RELOAD NOSAVE: n3 has what its file had, and that is nothing. No run_id, no uptime and
 * no connection tells of it. */
static void reloaded(void)
{
    SIM_SET(5, NULL, ann);
    for (unsigned i = 3; i < 5; i++)
        sim_delay_ms(ann, i, 5000, 1);
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_curtain();
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 600, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_master_flushall(2);
    sim_broke(SIM_KEYS_STAY);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    int64_t taken_ns = sim_now_ns();
    sim_pass_ms(600);
    sim_expect(ann->told_lost == 1);
    sim_expect(ann->lost_ns - taken_ns < 600 * SIM_MS);
    sim_expect(sim_asks_validity(ann) == 0 && sim_asks_validity(bob) > 0);
    sim_expect(sim_keys_of(bob) == 3 && sim_keys_of(ann) == 0);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* The same, and it is seen in time: the next renewal fills n3 in before anybody asks. */
static void reloaded_and_renewed(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(300, true, &bob);
    sim_pass_ms(50);
    sim_master_flushall(2);
    sim_broke(SIM_KEYS_STAY);
    sim_pass_ms(100);
    sim_expect(sim_keys_of(ann) == 3);
    sim_master_flushall(0);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(ann->told_lost == 0 && sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, false);
}

/* ann's list has three masters and bob's five: {n1, n2} is a majority, and so is {n3, n4, n5}.
 * What ann asks n3 arrives when bob has it. */
static void different_lists(void)
{
    struct sim_client_options three = {.masters = 3};
    SIM_SET(5, &three, ann);
    struct sim_player *bob = sim_is_there("bob", NULL);
    sim_delay_ms(ann, 2, 100, 1);
    sim_curtain();
    sim_broke(SIM_ONE_LIST);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect_costs(SIM_OVERLAP, true);
    sim_pass_ms(150);
    sim_expect(sim_keys_of(ann) == 2 && sim_keys_of(bob) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(150);
    sim_expect(sim_asks_validity(bob) > 0 && sim_keys_of(bob) == 3);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(sim_keys() == 0);
}

/* The same, where both show their lists: bob sees ann's at n1 to n3, until it is over. */
static void different_lists_refused(void)
{
    const struct sim_client_options five = {.max_ttl_ms = 1000,
                                            .config_agreement = REDLOCK_AGREEMENT_REFUSE};
    struct sim_client_options three = five;
    three.masters = 3;
    SIM_SET(5, &three, ann);
    sim_delay_ms(ann, 2, 100, 1);
    sim_curtain();
    sim_broke(SIM_ONE_LIST);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    struct sim_player *bob = sim_enters("bob", &five);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect_costs(SIM_OVERLAP, false);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_goes(ann);
    sim_expect(sim_takes(bob, 1000, 60000) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

const struct sim_scenario sim_named_loss[] = {
    {"once-a-replica",
     "CE7. n2 was a replica for a while, and has none of its keys any more: its run_id and its "
     "uptime\nare the old ones, but it has no vote until every lease is over that it may have "
     "forgotten.",
     once_a_replica},
    {"replica-at-first",
     "CE7. bob's client is opened while n2 is a replica: likewise, however long it has been "
     "up.",
     replica_at_first},
    {"replica-unseen",
     "CE7. Nobody asks n2 anything while it is a replica: bob has the lock as well. That is a "
     "cost;\nann's next extension tells that hers is lost.",
     replica_unseen},
    {"replica-found-out",
     "CE7. Nobody asks n2 anything while it is a replica, and bob's client has been quiet for "
     "long: it\nasks again before n2's vote counts, and the replication id tells.",
     replica_found_out},
    {"another-server",
     "CE4. n2's name leads bob to n4, which has been there for long and has not what n2 has: "
     "no "
     "vote\nuntil every lease is over that n2 may have granted.",
     another_server},
    {"another-server-for-a-stranger",
     "CE4. cat's client has never met n2, and can't tell n4 from it: she has the lock as well. "
     "That is\na cost.",
     another_server_for_a_stranger},
    {"reload-seen",
     "CE8. bob is refused by n2 while it loads a file, as the same process: it has no vote "
     "until "
     "every\nlease is over that it may have forgotten.",
     reload_seen},
    {"reloaded",
     "CE8. n3 has lost its keys, as the same process: bob has the lock as well. That is a "
     "cost;\nann's renewals find no majority, and she is told.",
     reloaded},
    {"reloaded-and-renewed",
     "CE8. n3 loses its keys, a renewal fills it in, and then n1 loses them: bob gets no "
     "majority.",
     reloaded_and_renewed},
    {"different-lists",
     "CE15. ann's list has three masters and bob's has two more: both have a majority. That is "
     "a\ncost; each gives back what is its own.",
     different_lists},
    {"different-lists-refused",
     "CE15. The same with config-agreement refuse: bob's masters show him ann's list, and he "
     "gets no lock\nuntil her mark is over.",
     different_lists_refused},
    {0},
};
