/* tags: long unsanitized */
/* test_marked_masters.c - `guard marker` with real masters: what a master that lost its keys,
 * or another one in its place, does not vote for; what clients with a hold are told; and what
 * costs no vote. */
#include "config_auto.h"

#include "kinds/marker.h"
#include "marks.h"
#include "told.h"

#include <stdio.h>
#include <string.h>

#define SETTINGS "guard marker\nmax-ttl 3s\nttl 1s\n"

static struct masters *masters;
static const char *file;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static char text[192];

/* Masters that were just made, and marked so. */
static void start_marked(unsigned n)
{
    masters = masters_start(n, NULL);
    masters_mark(masters);
    file = masters_guarded_file(masters, SETTINGS);
}

static void flush(unsigned node)
{
    ck_assert_str_eq(master_do(masters, node, "FLUSHALL", NULL).text, "OK");
}

static bool is_quarantined(redlock *client, unsigned node)
{
    return client_state(client, node, text) == REDLOCK_NODE_GUARDED &&
           strncmp(text, "quarantined, ", 13) == 0;
}

/* No lock, as enough masters are quarantined; and the report says so. */
static void expect_quarantined(redlock *client, unsigned node, const char *reason)
{
    redlock_lock *lock = NULL;
    /* The try ends as soon as a majority can't vote, whatever is known of this one by then. A
     * client that has only looked so far begins the quarantine. */
    ck_assert_int_eq(client_state(client, node, text), REDLOCK_NODE_GUARDED);
    ck_assert_int_eq(client_try(client, "name", 1000, 0, NULL, &lock), REDLOCK_ENOQUORUM);
    ck_assert_msg(wait_until(is_quarantined(client, node), 5000), "%s", text);
    int code = client_try(client, "name", 1000, 0, &report, &lock);
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%d: %s", code, client_told(&report));
    const char *said = report.node[node].text;
    int seconds = -1;
    ck_assert_msg(sscanf(said, "quarantined, votes in %d s, because ", &seconds) == 1, "%s",
                  said);
    ck_assert_int_ge(seconds, 1);
    ck_assert_int_le(seconds, 4);
    ck_assert_msg(strstr(said, reason) != NULL, "%s", said);
}

static void expect_lock(redlock *client, int64_t wait_ms)
{
    redlock_lock *lock = NULL;
    int code = client_try(client, "name", 1000, wait_ms, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(joining, marked_masters_vote_at_once)
{
    start_marked(3);
    redlock *client = client_open(file);
    expect_lock(client, 0);
    ck_assert_uint_eq(client_ready(client), 3);
    redlock_close(client);
}

/* Its keys are there, whatever else it says of them. */
TEST(joining, marker_of_later_version_costs_no_vote, .rows = 6)
{
    static const char *const more[] = {"awordofmorethanfifteenletters", "durable 0123456789",
                                       "init; since=5, by \"ops\""};
    static const char *const guards[] = {"guard marker\n", "guard strict\n"};
    char settings[128], marker[192];
    start_marked(3);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(marker, sizeof(marker), "%.99s",
                 master_do(masters, i, "GET", RL_MARKER_KEY, NULL).text);
        char *word = strrchr(marker, ' ') + 1;
        snprintf(word, sizeof(marker) - (size_t)(word - marker), "%s", more[_i / 2]);
        master_do(masters, i, "SET", RL_MARKER_KEY, marker, NULL);
    }
    snprintf(settings, sizeof(settings), "%s%s", guards[_i % 2], "max-ttl 3s\nttl 1s\n");
    redlock *client = client_open(masters_guarded_file(masters, settings));
    ck_assert_uint_eq(client_ready(client), 3);
    expect_lock(client, 0);
    ck_assert_str_eq(master_do(masters, 2, "GET", RL_MARKER_KEY, NULL).text, marker);
    redlock_close(client);
}

/* Nobody can tell a new master from one that was emptied. */
TEST(joining, unmarked_masters_vote_after_longest_lease)
{
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_guarded_file(masters, SETTINGS));
    int64_t begun = now_ms();
    expect_quarantined(client, 0, "no marker");
    expect_lock(client, 20000);
    ck_assert_int_ge(now_ms() - begun, 3000);
    redlock_close(client);
}

/* Two of three are emptied. A client that comes then does not believe them, although they have
 * been up for longer than any lease. */
TEST(joining, flushed_masters_do_not_vote_within_ttl_for_newcomer)
{
    redlock_lock *lock = NULL;
    start_marked(3);
    redlock *one = client_open(file);
    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    flush(0);
    flush(1);
    redlock *two = client_open(file);
    expect_quarantined(two, 0, "no marker");
    ck_assert_int_eq(client_state(two, 1, text), REDLOCK_NODE_GUARDED);
    ck_assert_int_eq(client_state(two, 2, text), REDLOCK_NODE_READY);
    expect_lock(two, 20000);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    redlock_release(lock);
    redlock_close(one);
    redlock_close(two);
}

TEST(joining, restarted_masters_do_not_vote_within_ttl)
{
    redlock_lock *lock = NULL;
    start_marked(3);
    redlock *one = client_open(file);
    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    master_restart(masters, 0, true);
    master_restart(masters, 1, true);
    redlock *two = client_open(file);
    expect_quarantined(two, 1, "no marker");
    expect_lock(two, 20000);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    redlock_release(lock);
    redlock_close(one);
    redlock_close(two);
}

/* A marker that came back from the disk proves that there was a restart, and not what was lost.
 */
TEST(joining, marker_that_survived_restart_is_quarantined)
{
    masters = masters_start(1, masters_keeping);
    master_mark(masters, 0);
    file = masters_guarded_file(masters, SETTINGS);
    master_restart(masters, 0, false);
    ck_assert(master_has(masters, 0, RL_MARKER_KEY));
    redlock *client = client_open(file);
    expect_quarantined(client, 0, "restarted");
    redlock_close(client);
}

/* One that has been up for long, with data of its own, where a client asks that never met the
 * former one. */
TEST(joining, warm_server_in_masters_place_is_quarantined)
{
    struct node_list list = {.len = 0};
    start_marked(3);
    struct masters *warm = masters_start(1, NULL);
    master_do(warm, 0, "SET", "its own", "data", NULL);
    node_list_line(&list, "guard marker");
    node_list_line(&list, "max-ttl 3s");
    node_list_add(&list, &warm->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    node_list_add(&list, &masters->node[2].unix_at);
    redlock *client = client_open(node_list_write(&list));
    expect_lock(client, 0);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    ck_assert_msg(strstr(text, "no marker") != NULL, "%s", text);
    redlock_close(client);
}

/* ---- those that are connected ---------------------------------------------------------------
 */

/* Their next look is half of max-ttl away at most. Then the lock is lost, and told, although
 * its keys would be missed by no renewal so far. */
TEST(connected, holder_is_told_within_half_of_max_ttl)
{
    struct told lost = {0};
    redlock_lock *lock = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    start_marked(3);
    redlock *client = client_open(file);
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    options.ttl_ms = 3000;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(client, "name", &options, &lock), 0);
    int64_t begun = now_ms();
    flush(0);
    flush(1);
    ck_assert(wait_until(atomic_load(&lost.calls) == 1, 10000));
    ck_assert_int_le(now_ms() - begun, 1500 + 500);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    redlock_close(client);
}

TEST(connected, lock_that_majority_still_has_is_kept)
{
    struct told lost = {0};
    start_marked(3);
    redlock *client = client_open(file);
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    redlock_lock *lock = told_take_renewed(client, "name", 2000, &lost);
    flush(0);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    ck_assert_int_eq(atomic_load(&lost.calls), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_READY, 10000));
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* An idle client asks again before it counts the next votes. */
TEST(connected, idle_client_looks_before_it_asks_for_votes)
{
    start_marked(3);
    redlock *client = client_open(file);
    expect_lock(client, 0);
    flush(0);
    flush(1);
    pause_ms(1600);
    expect_quarantined(client, 0, "no marker");
    redlock_close(client);
}

/* Whoever finds the loss sets it for all. */
TEST(connected, quarantine_of_another_client_counts)
{
    start_marked(1);
    redlock *one = client_open(file);
    expect_lock(one, 0);
    flush(0);
    redlock *two = client_open(file);
    expect_quarantined(two, 0, "no marker");
    pause_ms(1600);
    expect_quarantined(one, 0, "no marker");
    redlock_close(one);
    redlock_close(two);
}

TEST(connected, quarantine_by_hand_ends_by_hand)
{
    start_marked(1);
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, "maintenance", NULL);
    redlock *client = client_open(file);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_GUARDED);
    ck_assert_str_eq(text, "quarantined until somebody deletes libredlock:quarantine, because "
                           "what stands in libredlock:quarantine is another program's, or was "
                           "set by hand");
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    expect_lock(client, 20000);
    redlock_close(client);
}

/* ---- what costs no vote --------------------------------------------------------------------
 */

/* A replica comes and goes while locks are taken: no key was lost, and no vote is. */
TEST(connected, replica_that_comes_and_goes_costs_no_vote)
{
    char port[16];
    start_marked(1);
    struct masters *replica = masters_start(1, NULL);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 0, "CONFIG", "SET", "repl-backlog-ttl", "1", "repl-diskless-sync-delay",
              "0", NULL);
    struct reply before = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    redlock *client = client_open(file);
    master_do(replica, 0, "REPLICAOF", "127.0.0.1", port, NULL);
    for (int64_t end = now_ms() + 3000; now_ms() < end;)
        expect_lock(client, 0);
    master_do(replica, 0, "REPLICAOF", "NO", "ONE", NULL);
    for (int64_t end = now_ms() + 4000; now_ms() < end;)
        expect_lock(client, 0);
    struct reply after = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(strcmp(before.text, after.text) != 0, "its id did not change: %s",
                  after.text);
    redlock_close(client);
}

static const char *replication(unsigned node)
{
    static struct reply reply;
    reply = master_do(masters, node, "INFO", "replication", NULL);
    return reply.text;
}

TEST(connected, former_replica_is_found)
{
    start_marked(1);
    redlock *one = client_open(file);
    expect_lock(one, 0);
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    master_do(masters, 0, "REPLICAOF", "NO", "ONE", NULL);
    redlock *two = client_open(file);
    expect_quarantined(two, 0, "replica");
    redlock_close(one);
    redlock_close(two);
}

/* Who makes three masters of one with two replicas has three servers. */
TEST(connected, promoted_replicas_vote_beside_their_former_master)
{
    char port[16], id[64], second[80];
    start_marked(3);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 0, "CONFIG", "SET", "repl-diskless-sync-delay", "0", NULL);
    for (unsigned i = 1; i < 3; i++) {
        master_do(masters, i, "REPLICAOF", "127.0.0.1", port, NULL);
        ck_assert(wait_until(strstr(replication(i), "master_link_status:up") != NULL, 20000));
    }
    ck_assert_int_eq(sscanf(strstr(replication(0), "master_replid:"), "master_replid:%40s", id),
                     1);
    snprintf(second, sizeof(second), "master_replid2:%s", id);
    for (unsigned i = 1; i < 3; i++) {
        master_do(masters, i, "REPLICAOF", "NO", "ONE", NULL);
        ck_assert_ptr_nonnull(strstr(replication(i), second));
    }
    redlock *client = client_open(file);
    expect_quarantined(client, 1, "another server");
    expect_lock(client, 20000);
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    ck_assert_ptr_nonnull(strstr(replication(0), id));
    ck_assert_ptr_nonnull(strstr(replication(2), second));
    master_kill(masters, 0);
    expect_lock(client, 1000);
    redlock_close(client);
}

/* ---- beside others -------------------------------------------------------------------------
 */

/* Clients with `guard on`, of this version or an older one, know nothing of it: they go by the
 * uptime, and so vote with a master that was emptied. */
TEST(beside, client_without_marker_sees_no_quarantine)
{
    redlock_lock *lock = NULL;
    masters = masters_start(1, NULL);
    pause_ms(1500);
    redlock *plain = client_open(masters_guarded_file(masters, "max-ttl 100ms\nttl 50ms\n"));
    ck_assert(wait_until(client_ready(plain) == 1, 20000));
    redlock *marked = client_open(masters_guarded_file(masters, SETTINGS));
    expect_quarantined(marked, 0, "no marker");
    ck_assert_int_eq(client_try(plain, "name", 50, 0, NULL, &lock), 0);
    redlock_release(lock);
    redlock_close(plain);
    redlock_close(marked);
}

/* Clients of the published format know neither key: their locks are outside of a quarantine,
 * and are seen as ever when it is over. */
TEST(beside, plain_peer_takes_lock_in_quarantine)
{
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_guarded_file(masters, SETTINGS));
    expect_quarantined(client, 0, "no marker");
    for (unsigned i = 0; i < 3; i++)
        ck_assert_str_eq(
            master_do(masters, i, "SET", "name", "peer", "NX", "PX", "60000", NULL).text, "OK");
    ck_assert(wait_until(client_ready(client) == 3, 20000));
    ck_assert_int_eq(client_try(client, "name", 1000, 0, &report, &lock), REDLOCK_EHELD);
    redlock_close(client);
}

/* Switched on in a fleet at work: those that have it vote with nobody for max-ttl, the others
 * go on, and then all are together. */
TEST(beside, switched_on_in_running_fleet_it_costs_longest_lease)
{
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    redlock *old = client_open(masters_file(masters, "max-ttl 3s\nttl 1s\n"));
    struct told lost = {0};
    redlock_lock *held = told_take_renewed(old, "held", 1000, &lost);
    redlock *marked = client_open(masters_guarded_file(masters, SETTINGS));
    expect_quarantined(marked, 2, "no marker");
    ck_assert_int_eq(client_try(old, "other", 1000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_lock(marked, 20000);
    ck_assert_int_eq(client_try(marked, "held", 1000, 0, &report, &lock), REDLOCK_EHELD);
    redlock_release(held);
    redlock_close(old);
    redlock_close(marked);
}

TEST(beside, marker_that_was_taken_away_costs_longest_lease)
{
    start_marked(1);
    redlock *client = client_open(file);
    expect_lock(client, 0);
    master_do(masters, 0, "DEL", RL_MARKER_KEY, NULL);
    pause_ms(1600);
    expect_quarantined(client, 0, "no marker");
    redlock_close(client);
}

/* It sees neither marker nor loss: no vote, and it says why. */
TEST(beside, user_without_right_to_marker_has_no_vote)
{
    redlock_lock *lock = NULL;
    start_marked(1);
    master_do(masters, 0, "ACL", "SETUSER", "default", "resetkeys", "~name*",
              "~{name*", NULL);
    redlock *client = client_open(file);
    ck_assert_int_eq(client_try(client, "name", 1000, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_REFUSED);
    ck_assert_msg(strstr(text, "its marker can't be read") != NULL, "%s", text);
    redlock_close(client);
}

CASE(joining, .timeout_s = 120)
CASE(connected, .timeout_s = 120)
CASE(beside, .timeout_s = 120)
