/* sim_named_fit.c - scenarios of who may vote: masters that were restarted, that are one and
 * the same, that are no masters, that nobody can reach. */
#include "config_auto.h"

#include "sim_named.h"

#include <string.h>

#define ONCE 0

/* ann has n1 and n2, since n3 is far from her; then n2 is started again. */
static struct sim_player *ann_loses_n2(const struct sim_client_options *how,
                                       enum sim_restart restart)
{
    struct sim_player *ann = sim_is_there("ann", how);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    sim_expect(sim_takes(ann, how->max_ttl_ms, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_kill(1);
    sim_master_start(1, restart);
    return ann;
}

static void amnesia_after(enum sim_restart restart, int64_t ttl_ms)
{
    struct sim_client_options how = {.max_ttl_ms = 1000, .ttl_ms = ttl_ms};
    sim_stage(3);
    struct sim_player *ann = ann_loses_n2(&how, restart);
    struct sim_player *bob = sim_enters("bob", &how);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
    /* n1's key runs out: with n1 and n3 bob has a majority without n2. */
    sim_expect(sim_takes(bob, 1000, 3000) == REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) == 0);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void amnesia(void)
{
    amnesia_after(SIM_EMPTY, 0);
}

static void late_restart(void)
{
    amnesia_after(SIM_LATE, 0);
}

static void guard_for_max_ttl(void)
{
    amnesia_after(SIM_EMPTY, 100);
}

/* Whatever connection it is: the first, another one, one beside a silent one. */
static void database(void)
{
    struct sim_client_options how = {.max_ttl_ms = 5000, .db = 3};
    sim_stage_in_db(3, 3);
    struct sim_player *ann = sim_is_there("ann", &how);
    sim_curtain();
    sim_path_reset(ann->proc, 0);
    sim_path_forget(ann->proc, 1, SIM_NEVER);
    sim_takes(ann, 5000, 500);
    if (ann->lock)
        sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(1000);
    sim_expect(sim_takes(ann, 5000, 3000) == REDLOCK_OK);
    sim_pass_ms(1000);
    sim_expect(sim_extends(ann, 5000) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_expect(sim_keys() == 3 && sim_keys_of(ann) == 3);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* bob's client has known n2 for longer than a lease can last: but not this process. */
static void guard_knows_the_process(void)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    SIM_SET(3, &how, bob);
    sim_pass_ms(3000);
    struct sim_player *ann = ann_loses_n2(&how, SIM_EMPTY);
    sim_takes(bob, 1000, ONCE); /* finds its connection broken */
    sim_pass_ms(20);
    sim_expect(bob->result != REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, 500) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
}

/* n2's answers to bob are late: his second try finds a new connection to n2, and no answer to
 * its INFO yet. Each of his tries is granted by n3 alone: n2 is not asked. */
static void no_vote_before_info(void)
{
    struct sim_client_options how = {.max_ttl_ms = 1000};
    SIM_SET(3, &how, bob);
    sim_pass_ms(3000);
    struct sim_player *ann = ann_loses_n2(&how, SIM_EMPTY);
    sim_delay_ms(bob, 1, 1, 200);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(300); /* connected, and INFO is under way */
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(500);
    sim_expect(sim_taken_by("acquire") == 2 + 2);
    sim_expect(sim_asks_validity(ann) > 0);
}

/* n2's uptime is told in whole seconds, and up to one too long: what was started 2.6 s ago may
 * tell of three, for which ann's lease may last. Where in a second n2 is started makes the
 * difference: hence twice, half a second apart. */
static void ask_too_early(struct sim_player *ann, const char *bob_name)
{
    sim_expect(sim_takes(ann, 2960, ONCE) == REDLOCK_OK);
    sim_pass_ms(100);
    sim_master_kill(1);
    sim_master_start(1, SIM_EMPTY);
    sim_pass_ms(2600);
    struct sim_player *bob = sim_enters(bob_name, &ann->how);
    sim_expect(sim_takes(bob, 2960, ONCE) != REDLOCK_OK);
    sim_expect(sim_asks_validity(ann) > 0);
}

static void guard_to_the_second(void)
{
    struct sim_client_options how = {.max_ttl_ms = 2960};
    SIM_SET(3, &how, ann);
    sim_delay_ms(ann, 2, 20000, 1);
    sim_curtain();
    int64_t began_ns = sim_now_ns();
    ask_too_early(ann, "bob");
    sim_run_until(began_ns + 4500 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_run_until(began_ns + 8500 * SIM_MS); /* n2 votes again */
    ask_too_early(ann, "cat");
}

/* n2's name leads to n1's server when ann has the lock, and n3 is silent: one yes is left. */
static void renewed_by_a_twin(void)
{
    struct sim_player *bob, *ann = sim_ann_has_it(600, true, &bob);
    sim_pass_ms(50);
    sim_broke(SIM_ONE_SERVER);
    sim_path_lead(ann->proc, 1, 0);
    sim_path_reset(ann->proc, 1);
    sim_path_hole(ann->proc, 2, SIM_THERE, true);
    sim_pass_ms(10);
    sim_expect(sim_extends(ann, 600) == REDLOCK_ENOQUORUM);
    sim_pass_ms(600);
    sim_expect(ann->told_lost == 1 && !ann->lost_valid);
    sim_path_hole(ann->proc, 2, SIM_THERE, false);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
}

/* A name of each leads to n1, whatever the other one does. */
static void twins(void)
{
    sim_stage(3);
    sim_master_kill(1);
    struct sim_player *ann = sim_is_there("ann", NULL);
    sim_broke(SIM_ONE_SERVER);
    sim_path_lead(ann->proc, 2, 0);
    sim_path_reset(ann->proc, 2);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, 500) == REDLOCK_ENOQUORUM);
    sim_path_lead(ann->proc, 1, 0); /* and there is a third one */
    sim_expect(sim_takes(ann, 1000, 2000) == REDLOCK_ENOQUORUM);
    sim_expect(sim_keys() == 0);
}

/* n1 and n2 are two servers whose run_ids are the same, as of a machine that was cloned. */
static void clones(void)
{
    sim_stage(3);
    sim_master_run_id(0, "0123456789abcdef0123456789abcdef01234567");
    sim_master_run_id(1, "0123456789abcdef0123456789abcdef01234567");
    sim_master_kill(2);
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", NULL);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_keys() == 2);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    /* Connected to anew, n1 proves it again, and n2 votes meanwhile. */
    sim_path_reset(ann->proc, 0);
    sim_pass_ms(50);
    sim_expect(sim_takes(ann, 1000, 500) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* n1 and n2 as before; then n2's name leads to n1. */
static void clones_no_more(void)
{
    sim_stage(3);
    sim_master_run_id(0, "0123456789abcdef0123456789abcdef01234567");
    sim_master_run_id(1, "0123456789abcdef0123456789abcdef01234567");
    sim_master_kill(2);
    struct sim_player *ann = sim_is_there("ann", NULL);
    sim_curtain();
    sim_broke(SIM_ONE_SERVER);
    sim_path_lead(ann->proc, 1, 0);
    sim_path_reset(ann->proc, 1);
    sim_pass_ms(50);
    sim_expect(sim_takes(ann, 1000, 500) == REDLOCK_ENOQUORUM);
    sim_expect(sim_keys() == 0);
}

static void replica(void)
{
    sim_stage(3);
    sim_master_role(1, "slave");
    sim_master_role(2, "slave");
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", NULL);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect(sim_keys() == 0);
}

static void nobody_there(void)
{
    sim_stage(3);
    for (unsigned i = 0; i < 3; i++)
        sim_master_kill(i);
    sim_curtain();
    struct sim_player *ann = sim_enters("ann", NULL);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
    sim_expect(ann->done_ns - began_ns <= 10 * SIM_MS);
}

static void back_again(void)
{
    SIM_CAST(3, NULL, ann);
    for (unsigned i = 0; i < 2; i++)
        sim_master_kill(i);
    sim_begins_to_take(ann, 1000, 10000);
    sim_pass_ms(1000);
    for (unsigned i = 0; i < 2; i++)
        sim_master_start(i, SIM_WHOLE);
    int64_t back_ns = sim_now_ns();
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    /* The guard: max-ttl and its drift, by what the client has seen itself. */
    sim_expect(ann->done_ns - back_ns >= 1010 * SIM_MS);
    sim_expect(ann->done_ns - back_ns <= 2000 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static redlock_node_status stands[REDLOCK_NODES_MAX];

static void act_status(struct sim_player *player)
{
    redlock_status_report report =
        (redlock_status_report)REDLOCK_STATUS_INIT(stands, REDLOCK_NODES_MAX);
    player->result = redlock_get_status(player->client, &report);
}

/* n3 has answered the question, and n1 has not yet, when the kernel takes no more for n3. */
static void full_and_fit(void)
{
    static const struct sim_client_options patient = {.max_ttl_ms = 10000};
    SIM_SET(3, &patient, ann);
    struct sim_player *asks = sim_beside(ann);
    sim_delay_ms(ann, 0, 1, 300);
    sim_curtain();
    sim_begins(asks, act_status);
    sim_pass_ms(10);
    sim_path(ann->proc, 2)->send_buffer = 64;
    sim_delay_ms(ann, 2, 1000, 1);
    sim_begins_to_take(ann, 10000, ONCE);
    sim_expect(sim_finishes(asks) == REDLOCK_OK);
    sim_expect(stands[2].state == REDLOCK_NODE_READY && stands[2].round_trip_us > 0);
    sim_expect(strcmp(stands[2].text, "takes no more requests") == 0);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

const struct sim_scenario sim_named_fit[] = {
    {"amnesia",
     "CE2. n2 comes back without ann's key: it has no vote until every lease is over that may "
     "rest\non what it lost.",
     amnesia},
    {"late-restart", "CE3. n2 comes back without the last second: likewise.", late_restart},
    {"guard-for-max-ttl",
     "CE2. The same where nearly all leases are shorter: the guard waits for the longest.",
     guard_for_max_ttl},
    {"database",
     "A list that names a database: it is selected on each connection, whenever it is made.",
     database},
    {"guard-knows-the-process",
     "bob has known n2 for long, and then it is another process: no vote.",
     guard_knows_the_process},
    {"no-vote-before-info",
     "n2 comes back as another process, and is slow to say so: until then it is not asked.",
     no_vote_before_info},
    {"guard-to-the-second",
     "n2 was started less than three seconds ago and may tell of three, for which ann's lease "
     "may\nlast: no vote.",
     guard_to_the_second},
    {"renewed-by-a-twin",
     "CE14. n2's name leads to n1's server since ann has the lock: its yes is not counted "
     "twice\nwhen she extends it, or when it is renewed.",
     renewed_by_a_twin},
    {"twins", "CE14. n1, n2 and n3 are one server under three names: one vote.", twins},
    {"clones-no-more",
     "CE14. n1 and n2 are two servers with one run_id, and then one under two names: one vote.",
     clones_no_more},
    {"clones", "n1 and n2 are two servers with one run_id: two votes.", clones},
    {"replica", "CE4. n2 and n3 are replicas: no votes.", replica},
    {"nobody-there", "No master can be reached: the answer comes at once.", nobody_there},
    {"back-again", "Two masters are away and come back while ann waits.", back_again},
    {"full-and-fit",
     "A master that takes no more requests for the moment is shown as one that votes, and why "
     "it is not\nasked.",
     full_and_fit},
    {0},
};
