/* sim_named_links.c - scenarios of connections to one master. There are two of them, and what was
 * asked on the one may be executed before or after what the other is told. Or the master refuses
 * each. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static const struct sim_client_options patient = {.max_ttl_ms = 10000, .node_timeout_ms = 100};

/* ann, and a thread beside her that has another lock: somebody looks at the connections all the
 * time. */
static struct sim_player *ann_is_watched(void)
{
    SIM_SET(3, &patient, ann);
    struct sim_player *thread = sim_beside(ann);
    thread->names = "other";
    sim_watches(thread, false);
    sim_expect(sim_takes(thread, 10000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    return ann;
}

/* ann is there, and there is time until she gives up, after 1.5 s, a connection that is silent
 * from now on: half a second until it drains, and max-ttl. */
static struct sim_player *ann_is_there(void)
{
    struct sim_client_options how = {.node_timeout_ms = 100};
    sim_stage(3);
    return sim_is_there("ann", &how);
}

static void takes_and_extends(struct sim_player *ann)
{
    int64_t began_ns = sim_now_ns();
    sim_watches(ann, false);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_delay_ms(ann, 2, 1, 1);
    sim_run_until(began_ns + 600 * SIM_MS);
    sim_master_trouble(2, SIM_BUSY, 1000000); /* or n3 would be filled in */
    for (unsigned i = 1; i <= 2; i++) {
        sim_run_until(began_ns + i * 700 * SIM_MS);
        sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    }
    sim_run_until(began_ns + 1490 * SIM_MS);
    sim_master_trouble(2, SIM_NO_TROUBLE, 0);
}

/* Its end comes behind what it carries. */
static void gives_the_link_up(struct sim_player *ann)
{
    sim_delay_ms(ann, 2, 2000, 1);
    sim_pass_ms(20);
    sim_delay_ms(ann, 2, 1, 1);
}

/* The acquire is lost on its way, and would be sent again at three seconds. */
static void reset_before_the_release(void)
{
    struct sim_player *ann = ann_is_there();
    sim_curtain();
    sim_path_hole(ann->proc, 2, SIM_THERE, true);
    takes_and_extends(ann);
    gives_the_link_up(ann);
    sim_path_hole(ann->proc, 2, SIM_THERE, false);
    sim_pass_ms(500);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(1200);
    sim_expect(sim_keys() == 0);
}

/* n2 is silent and n1 says yes: not extended, and nothing is filled in. */
static void extends_in_vain(struct sim_player *ann, int64_t ttl_ms)
{
    sim_path_hole(ann->proc, 1, SIM_THERE, true);
    sim_expect(sim_extends(ann, ttl_ms) == REDLOCK_ENOQUORUM);
    sim_path_hole(ann->proc, 1, SIM_THERE, false);
    sim_expect(!sim_has_key(ann, 2));
}

/* The acquire has come when she releases. */
static void releases_everywhere(struct sim_player *ann)
{
    sim_expect(sim_has_key(ann, 2));
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_keys() == 0);
}

/* Her acquire takes 1.8 s to n3. */
static void refused_before_the_acquire(void)
{
    struct sim_player *ann = ann_is_there();
    sim_path(ann->proc, 2)->relay = true;
    sim_delay_ms(ann, 2, 1800, 1);
    sim_curtain();
    takes_and_extends(ann);
    /* A round is open meanwhile, or n3 would be filled in at once. */
    sim_path_hole(ann->proc, 1, SIM_THERE, true);
    ann->extend_ms = 1000;
    sim_begins(ann, sim_act_extend);
    sim_pass_ms(5);
    gives_the_link_up(ann);
    sim_expect(sim_finishes(ann) == REDLOCK_ENOQUORUM);
    extends_in_vain(ann, 1000);
    sim_pass_ms(260);
    releases_everywhere(ann);
}

/* Her acquire takes three seconds to n3: there is a new connection beside that one. */
static void refused_beside_the_acquire(void)
{
    struct sim_player *ann = ann_is_watched();
    sim_delay_ms(ann, 2, 3000, 1);
    sim_curtain();
    sim_expect(sim_takes(ann, 8000, ONCE) == REDLOCK_OK);
    sim_delay_ms(ann, 2, 1, 1);
    sim_pass_ms(1500);
    extends_in_vain(ann, 8000);
    sim_pass_ms(1500);
    releases_everywhere(ann);
}

/* The release takes three seconds on the connection that it went down. */
static void release_beside_a_slow_link(void)
{
    struct sim_player *ann = ann_is_watched();
    sim_curtain();
    sim_expect(sim_takes(ann, 8000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_delay_ms(ann, 2, 3000, 1);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_delay_ms(ann, 2, 1, 1);
    sim_expect(sim_keys() == 1);
    sim_pass_ms(1000);
    sim_expect(sim_keys() == 0);
}

/* n3 loses the key, and its no to the extension takes three seconds. By then it has told, on the
 * connection beside, that it is a replica. */
static void not_filled_in_where_unfit(void)
{
    struct sim_player *ann = ann_is_watched();
    sim_curtain();
    sim_expect(sim_takes(ann, 9000, ONCE) == REDLOCK_OK);
    sim_pass_ms(50);
    sim_master_flushall(2);
    sim_broke(SIM_KEYS_STAY);
    sim_delay_ms(ann, 2, 1, 3000);
    sim_expect(sim_extends(ann, 10000) == REDLOCK_OK);
    sim_delay_ms(ann, 2, 1, 1);
    sim_master_role(2, "slave");
    sim_pass_ms(3500);
    sim_expect(sim_taken_by("retake") == 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* ---- a master that refuses ---- */

/* Each connection is refused twice: its name, and INFO. */
#define REFUSED_A_CONNECT 2

static uint64_t connects_within(unsigned master, int64_t ms)
{
    uint64_t before = sim_master_troubled(master);
    sim_pass_ms(ms);
    return (sim_master_troubled(master) - before) / REFUSED_A_CONNECT;
}

static void refused_and_left_alone(void)
{
    struct sim_player *ann = ann_is_watched();
    sim_master_trouble(2, SIM_NOAUTH, 1000000);
    sim_watches(ann, true);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(40000);
    sim_expect(connects_within(2, 60000) <= 4);
    sim_master_trouble(2, SIM_NO_TROUBLE, 0);
    sim_pass_ms(31000);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_pass_ms(10);
    sim_expect(sim_has_key(ann, 2));
}

static void refused_and_needed(void)
{
    struct sim_player *ann = ann_is_watched();
    sim_master_trouble(1, SIM_NOAUTH, 1000000);
    sim_master_trouble(2, SIM_NOAUTH, 1000000);
    for (unsigned i = 0; i < 200; i++) {
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
        sim_pass_ms(100);
    }
    uint64_t before = sim_master_troubled(1);
    for (unsigned i = 0; i < 200; i++) {
        sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_ENOQUORUM);
        sim_pass_ms(100);
    }
    uint64_t connects = (sim_master_troubled(1) - before) / REFUSED_A_CONNECT;
    sim_expect(connects >= 8 && connects <= 11);
    sim_master_trouble(1, SIM_NO_TROUBLE, 0);
    int code = REDLOCK_ENOQUORUM;
    for (unsigned i = 0; i < 21 && code != REDLOCK_OK; i++) {
        sim_pass_ms(100);
        code = sim_takes(ann, 1000, ONCE);
    }
    sim_curtain();
    sim_expect(code == REDLOCK_OK);
}

static void waits_in_vain(void)
{
    SIM_SET(3, &patient, ann);
    for (unsigned i = 0; i < 3; i++)
        sim_master_trouble(i, SIM_NOPERM, 1000000);
    int64_t began_ns = sim_now_ns();
    sim_expect(sim_takes(ann, 1000, 60000) == REDLOCK_ENOQUORUM);
    sim_expect(sim_now_ns() - began_ns >= 5 * SIM_S);
    sim_expect(sim_now_ns() - began_ns <= 6 * SIM_S);
    for (unsigned i = 0; i < 3; i++)
        sim_master_trouble(i, SIM_NO_TROUBLE, 0);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
}

const struct sim_scenario sim_named_links[] = {
    {"reset-before-the-release",
     "R4. A connection is given up while an acquire is under way on it: it is reset, lest that "
     "comes\nbehind the release, which goes down the next one.",
     reset_before_the_release},
    {"refused-before-the-acquire",
     "R4. A connection is given up while an acquire is under way on it, which a relay brings "
     "all the\nsame. n3 says before that that it has no key: it is told of the release "
     "nevertheless.",
     refused_before_the_acquire},
    {"refused-beside-the-acquire",
     "R4. n3 says that it has no key on a connection beside the one that has the acquire, "
     "which comes\nlater: it is told of the release.",
     refused_beside_the_acquire},
    {"release-beside-a-slow-link",
     "R4. A release is long under way to n3: it goes down the connection that is made beside, "
     "too.",
     release_beside_a_slow_link},
    {"not-filled-in-where-unfit",
     "R8. n3 says that it has no key on a connection that is late, and on another that it is a "
     "replica:\nit is not filled in.",
     not_filled_in_where_unfit},
    {"refused-and-left-alone",
     "n3 wants a password that nobody gives: it gets two connects a minute, and votes again "
     "within half\na minute of wanting none.",
     refused_and_left_alone},
    {"refused-and-needed",
     "n2 and n3 want a password, and without one of them there is no majority: each gets a "
     "connect in\ntwo seconds, however often she asks, and votes within two seconds of wanting "
     "none.",
     refused_and_needed},
    {"waits-in-vain",
     "She may run no scripts at any master: her wait ends after five seconds.",
     waits_in_vain},
    {0},
};
