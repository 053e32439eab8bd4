/* tags: long unsanitized */
/* test_fitness_real.c - which real masters may vote: the restart guard, twins, replicas,
 * passwords and permissions, and what status says of each. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"
#include "masters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct masters *masters;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
static char text[192];

/* ---- the restart guard ------------------------------------------------------------------ */

TEST(fitness_real, young_masters_vote_when_they_are_old_enough)
{
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_guarded_file(masters, "max-ttl 2s\n"));
    int64_t begun = now_ms();
    ck_assert_uint_eq(client_ready(client), 0);
    int code = client_try(client, "name", 1000, 0, &report, &lock);
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%d: %s", code, client_told(&report));
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(report.node[i].vote, REDLOCK_VOTE_FAILED);
        ck_assert_ptr_nonnull(strstr(report.node[i].text, "guard"));
    }
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_GUARDED);
    ck_assert_int_eq(redlock_get_status(client, &status), REDLOCK_ENOQUORUM);
    ck_assert_int_gt(status.node[0].guard_ms, 0);
    ck_assert_int_le(status.node[0].guard_ms, 2100);

    /* A caller who waits gets it as soon as they vote, and not before. */
    code = client_try(client, "name", 1000, 20000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_ge(now_ms() - begun, 1900);
    ck_assert_int_le(now_ms() - begun, 6000);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* Two of three held it and come back without it while it is still valid: a second contender
 * must not get it before it has run out. */
TEST(fitness_real, masters_restarted_empty_do_not_vote_within_ttl)
{
    redlock_lock *lock = NULL, *other = NULL;
    masters = masters_start(3, NULL);
    const char *file = masters_guarded_file(masters, "max-ttl 3s\n");
    CLIENT one = client_open(file);
    ck_assert(wait_until(client_ready(one) == 3, 20000));
    CLIENT two = client_open(file);
    ck_assert(wait_until(client_ready(two) == 3, 20000));

    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    master_restart(masters, 0, true);
    master_restart(masters, 1, true);
    ck_assert_int_eq(client_try(two, "name", 3000, 0, &report, &other), REDLOCK_ENOQUORUM);
    int code = client_try(two, "name", 3000, 20000, &report, &other);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(other), 0);
}

/* A lease may be as long as max-ttl, whatever the usual one is. */
TEST(fitness_real, guard_waits_for_max_ttl_and_not_for_ttl)
{
    redlock_lock *lock = NULL, *other = NULL;
    masters = masters_start(3, NULL);
    const char *file = masters_guarded_file(masters, "max-ttl 4s\nttl 200ms\n");
    redlock *one = client_open(file), *two = client_open(file);
    ck_assert(wait_until(client_ready(one) == 3 && client_ready(two) == 3, 20000));
    ck_assert_int_eq(client_try(one, "name", 4000, 0, NULL, &lock), 0);
    master_restart(masters, 0, true);
    master_restart(masters, 1, true);
    int64_t restarted = now_ms();
    int code = client_try(two, "name", 200, 1500, &report, &other);
    if (now_ms() - restarted < 3900)
        ck_assert_msg(code < 0, "%d: %s", code, client_told(&report));
    code = code < 0 ? client_try(two, "name", 200, 20000, &report, &other) : code;
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_ge(now_ms() - restarted, 3900);
    redlock_release(lock);
    redlock_release(other);
    redlock_close(one);
    redlock_close(two);
}

/* What a client has seen for long enough itself needs no uptime: a reconnect is no restart. */
TEST(fitness_real, reconnect_to_known_master_is_no_restart)
{
    masters = masters_start(1, NULL);
    redlock *client = client_open(masters_guarded_file(masters, "max-ttl 2s\n"));
    ck_assert(wait_until(client_ready(client) == 1, 20000));
    master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL);
    redlock_lock *lock = NULL;
    int code = client_try(client, "name", 1000, 1000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* Nobody may ask it, or it has no such command. */
TEST(fitness_real, without_info_there_is_no_vote_but_with_guard_off, .rows = 2)
{
    static const char *const renamed[] = {"--rename-command", "INFO", "", NULL};
    redlock_lock *lock = NULL;
    masters = masters_start(1, _i == 0 ? NULL : renamed);
    if (_i == 0)
        master_do(masters, 0, "ACL", "SETUSER", "default", "-info", NULL);
    redlock *client = client_open(masters_guarded_file(masters, "max-ttl 1s\n"));
    ck_assert_int_eq(client_try(client, "name", 500, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_REFUSED);
    ck_assert_ptr_nonnull(strstr(text, "INFO"));
    redlock_close(client);
    client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    redlock_close(client);
}

/* ---- twins and replicas ----------------------------------------------------------------- */

static void expect_refused(struct node_list *list, unsigned node, const char *word, int code)
{
    redlock_lock *lock = NULL;
    redlock *client = client_open(node_list_write(list));
    int got = client_try(client, "name", 0, 0, &report, &lock);
    ck_assert_msg(got == code, "%d: %s", got, client_told(&report));
    if (code == 0)
        ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(client_state(client, node, text), REDLOCK_NODE_REFUSED);
    ck_assert_msg(strstr(text, word) != NULL, "%s", text);
    ck_assert_uint_eq(report.nodes, masters->n + 1);
    redlock_close(client);
}

TEST(fitness_real, one_server_under_two_names_votes_once)
{
    struct node_list list = {.len = 0};
    masters = masters_start(1, NULL);
    node_list_line(&list, "guard off");
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[0].tcp_at);
    /* One vote of two that are configured. */
    expect_refused(&list, 1, "same server", REDLOCK_ENOQUORUM);
}

/* The second of them stands last, or behind one that is another. */
TEST(fitness_real, twins_need_not_be_neighbours)
{
    struct node_list list = {.len = 0};
    masters = masters_start(2, NULL);
    node_list_line(&list, "guard off");
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    node_list_add(&list, &masters->node[0].tcp_at);
    expect_refused(&list, 2, "same server", 0);
    masters_stop(masters);
    list.len = 0;
    masters = masters_start(4, NULL);
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < 4; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    node_list_add(&list, &masters->node[0].tcp_at);
    expect_refused(&list, 4, "is the same server as node 1", 0);
}

static void run_id_of(unsigned node, char ret_id[64])
{
    struct reply reply = master_do(masters, node, "INFO", "server", NULL);
    const char *id = strstr(reply.text, "run_id:");
    ck_assert_ptr_nonnull(id);
    snprintf(ret_id, 64, "%.40s", id + strlen("run_id:"));
}

/* A server that says it is another, before it on the list: all that it can spoil is its own
 * vote. It knows what scripts are, or does not. */
TEST(fitness_real, honest_master_votes_beside_one_with_its_run_id, .rows = 3)
{
    char id[64];
    struct node_list list = {.len = 0};
    redlock_lock *lock = NULL;
    masters = masters_start(2, NULL);
    run_id_of(0, id);
    struct fake *liar = fake_start(true);
    fake_says(liar, id, -1, NULL);
    if (_i == 0)
        fake_rule(liar, &(struct fake_rule){.match = "EVAL*", .reply = "+OK\r\n"});
    else if (_i == 1)
        fake_rule(liar, &(struct fake_rule){.match = "EVAL*", .then = FAKE_SILENT});
    node_list_line(&list, "guard off");
    node_list_add(&list, fake_endpoint(liar));
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    CLIENT client = client_open(node_list_write(&list));
    int code = client_try(client, "name", 0, 10000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert(master_has(masters, 0, "name") && master_has(masters, 1, "name"));
    ck_assert_int_eq(redlock_release(lock), 0);
    fake_stop(liar);
}

/* A name that led to another master for a moment, and leads to nobody now. */
TEST(fitness_real, vanished_server_with_copied_run_id_costs_no_vote)
{
    struct node_list list = {.len = 0};
    redlock_lock *lock = NULL;
    char dir[SUITE_PATH_MAX], path[SUITE_PATH_MAX + 8];
    masters = masters_start(2, NULL);
    suite_new_dir(dir);
    snprintf(path, sizeof(path), "%s/0", dir);
    ck_assert_int_eq(symlink(masters->node[0].unix_at.path, path), 0);
    node_list_line(&list, "guard off");
    node_list_line(&list, "node unix://%s", path);
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    redlock *client = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(client) == 2, 10000));
    unlink(path);
    master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL);
    int code = client_try(client, "name", 0, 5000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(client_state(client, 1, text), REDLOCK_NODE_READY);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
    suite_remove_dir(dir);
}

TEST(fitness_real, two_databases_of_one_server_vote_once)
{
    struct node_list list = {.len = 0};
    masters = masters_start(2, NULL);
    node_list_line(&list, "guard off");
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_line(&list, "node redis://127.0.0.1:%d/3", masters->node[0].tcp_at.port);
    node_list_add(&list, &masters->node[1].unix_at);
    expect_refused(&list, 1, "same server", 0);
}

TEST(fitness_real, databases_are_selected)
{
    struct node_list list = {.len = 0};
    masters = masters_start(1, NULL);
    node_list_line(&list, "guard off");
    node_list_line(&list, "node redis://127.0.0.1:%d/3", masters->node[0].tcp_at.port);
    CLIENT client = client_open(node_list_write(&list));
    redlock_lock *lock = client_take(client, "name");
    ck_assert_ptr_nonnull(strstr(master_do(masters, 0, "INFO", "keyspace", NULL).text, "db3:"));
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(fitness_real, databases_are_selected_after_reconnect)
{
    struct node_list list = {.len = 0};
    redlock_lock *lock = NULL;
    masters = masters_start(1, NULL);
    node_list_line(&list, "guard off");
    node_list_line(&list, "node redis://127.0.0.1:%d/3", masters->node[0].tcp_at.port);
    CLIENT client = client_open(node_list_write(&list));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL);
    int code = client_try(client, "another", 0, 10000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_uint_gt(client_stats(client).reconnects, 0);
    struct reply keyspace = master_do(masters, 0, "INFO", "keyspace", NULL);
    ck_assert_msg(strstr(keyspace.text, "db3:") && !strstr(keyspace.text, "db0:"), "%s",
                  keyspace.text);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(fitness_real, replica_has_no_vote)
{
    char port[16];
    masters = masters_start(2, NULL);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 1, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(strstr(master_do(masters, 1, "INFO", "replication", NULL).text,
                                "master_link_status:up") != NULL,
                         20000));
    redlock_lock *lock = NULL;
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_int_eq(client_state(client, 1, text), REDLOCK_NODE_REFUSED);
    ck_assert_ptr_nonnull(strstr(text, "replica"));

    /* It becomes a master again: found without a restart of ours. */
    master_do(masters, 1, "REPLICAOF", "NO", "ONE", NULL);
    ck_assert(wait_until(client_ready(client) == 2, 10000));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    redlock_close(client);
}

/* It was a master when we connected. */
TEST(fitness_real, master_that_becomes_replica_loses_its_vote)
{
    char port[16];
    redlock_lock *lock = NULL;
    masters = masters_start(2, NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 1, "REPLICAOF", "127.0.0.1", port, NULL);
    int code = client_try(client, "name", 0, 0, &report, &lock);
    ck_assert_msg(code < 0, "%s", client_told(&report));
    ck_assert_ptr_null(lock);
    ck_assert(wait_until(client_state(client, 1, text) == REDLOCK_NODE_REFUSED, 10000));
    redlock_close(client);
}

/* It has its master's keys, whatever its own uptime: what it had granted before is forgotten,
 * and can't be granted again before that is over. */
TEST(fitness_real, former_replica_does_not_vote_within_ttl)
{
    char port[16];
    redlock_lock *lock = NULL;
    masters = masters_start(2, NULL);
    redlock *client = client_open(masters_guarded_file(masters, "max-ttl 2s\n"));
    ck_assert(wait_until(client_ready(client) == 2, 20000));
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 1, "REPLICAOF", "127.0.0.1", port, NULL);
    int code = client_try(client, "name", 1000, 0, &report, &lock);
    int64_t refused = now_ms();
    ck_assert_msg(code < 0, "%s", client_told(&report));
    master_do(masters, 1, "REPLICAOF", "NO", "ONE", NULL);

    ck_assert(wait_until(client_state(client, 1, text) == REDLOCK_NODE_GUARDED, 20000));
    ck_assert_ptr_nonnull(strstr(text, "was a replica"));
    code = client_try(client, "name", 1000, 20000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_ge(now_ms() - refused, 1900);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* ---- another server under a name -------------------------------------------------------- */

enum { PLACES = 3 };

/* Names that lead to the first three of the masters, by links in a directory of their own. */
static struct {
    char dir[SUITE_PATH_MAX];
    char path[PLACES][SUITE_PATH_MAX + 8];
} places;

static void lead(unsigned place, unsigned node)
{
    unlink(places.path[place]);
    ck_assert_int_eq(symlink(masters->node[node].unix_at.path, places.path[place]), 0);
}

static const char *places_file(const char *settings)
{
    static struct node_list list;
    list.len = 0;
    suite_new_dir(places.dir);
    for (unsigned i = 0; i < PLACES; i++) {
        snprintf(places.path[i], sizeof(places.path[i]), "%s/%u", places.dir, i);
        lead(i, i);
        node_list_line(&list, "node unix://%s", places.path[i]);
    }
    node_list_line(&list, "%s", settings);
    return node_list_write(&list);
}

/* Two of three names lead to other servers, which have been up for long, while those that had
 * them live on with a lock. Who knew those does not believe these until it is over. */
TEST(fitness_real, another_server_in_masters_place_does_not_vote_within_ttl)
{
    redlock_lock *lock = NULL, *other = NULL;
    masters = masters_start(5, NULL);
    const char *file = places_file("max-ttl 3s\nttl 500ms\n");
    redlock *one = client_open(file), *two = client_open(file);
    ck_assert(wait_until(client_ready(one) == 3 && client_ready(two) == 3, 20000));
    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    int64_t taken = now_ms();
    for (unsigned i = 0; i < 2; i++) {
        lead(i, 3 + i);
        master_do(masters, i, "CLIENT", "KILL", "TYPE", "normal", NULL);
    }
    int code = client_try(two, "name", 1000, 1000, &report, &other);
    ck_assert_msg(code < 0, "%d: %s", code, client_told(&report));
    ck_assert(wait_until(client_state(two, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    ck_assert_msg(strstr(text, "place of another server") != NULL, "%s", text);
    code = client_try(two, "name", 1000, 20000, &report, &other);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_ge(now_ms() - taken, 2900);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(other), 0);
    redlock_close(one);
    redlock_close(two);
    suite_remove_dir(places.dir);
}

/* Nobody asked it anything meanwhile. */
static void be_replica_for_a_moment(unsigned node, unsigned of)
{
    char port[16];
    snprintf(port, sizeof(port), "%d", masters->node[of].tcp_at.port);
    master_do(masters, node, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(strstr(master_do(masters, node, "INFO", "replication", NULL).text,
                                "master_link_status:up") != NULL,
                         20000));
    master_do(masters, node, "REPLICAOF", "NO", "ONE", NULL);
}

TEST(fitness_real, unseen_former_replica_does_not_vote_within_ttl)
{
    redlock_lock *lock = NULL, *other = NULL;
    masters = masters_start(4, NULL);
    masters->n = 3;
    const char *file = masters_guarded_file(masters, "max-ttl 3s\nttl 500ms\n");
    redlock *one = client_open(file), *two = client_open(file);
    ck_assert(wait_until(client_ready(one) == 3 && client_ready(two) == 3, 20000));
    ck_assert_int_eq(client_try(one, "name", 3000, 0, NULL, &lock), 0);
    int64_t taken = now_ms();
    be_replica_for_a_moment(0, 3);
    be_replica_for_a_moment(1, 3);
    for (unsigned i = 0; i < 2; i++)
        master_do(masters, i, "CLIENT", "KILL", "TYPE", "normal", NULL);
    int code = client_try(two, "name", 1000, 500, &report, &other);
    if (now_ms() - taken < 2900)
        ck_assert_msg(code < 0, "%d: %s", code, client_told(&report));
    ck_assert(wait_until(client_state(two, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    ck_assert_ptr_nonnull(strstr(text, "was a replica"));
    masters->n = 4;
    redlock_close(one);
    redlock_close(two);
}

static void replication_id(unsigned node, char ret_id[64])
{
    struct reply reply = master_do(masters, node, "INFO", "replication", NULL);
    const char *id = strstr(reply.text, "master_replid:");
    ck_assert_ptr_nonnull(id);
    snprintf(ret_id, 64, "%.54s", id);
}

/* Its replication id has changed, and nothing is lost. */
TEST(fitness_real, first_replica_costs_its_master_no_vote)
{
    char port[16], before[64], after[64];
    masters = masters_start(2, NULL);
    masters->n = 1;
    redlock *client = client_open(masters_guarded_file(masters, "max-ttl 2s\n"));
    ck_assert(wait_until(client_ready(client) == 1, 20000));
    replication_id(0, before);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 1, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(strstr(master_do(masters, 1, "INFO", "replication", NULL).text,
                                "master_link_status:up") != NULL,
                         20000));
    replication_id(0, after);
    ck_assert_str_ne(before, after);
    master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL);
    redlock_lock *lock = NULL;
    int code = client_try(client, "name", 1000, 1000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
    masters->n = 2;
    redlock_close(client);
}

static void expect_unfit(const char *word)
{
    redlock_lock *lock = NULL;
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_null(lock);
    ck_assert_msg(strstr(report.node[0].text, word) != NULL, "%s", report.node[0].text);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_REFUSED);
    ck_assert_msg(strstr(text, word) != NULL, "%s", text);
    redlock_close(client);
}

TEST(fitness_real, master_that_may_evict_has_no_vote)
{
    masters = masters_start(1, NULL);
    master_do(masters, 0, "CONFIG", "SET", "maxmemory", "100mb", NULL);
    master_do(masters, 0, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", NULL);
    expect_unfit("noeviction");
}

/* Its slots can move away and it has replicas; and what two keys need is refused. */
TEST(fitness_real, member_of_cluster_has_no_vote)
{
    static const char *const cluster[] = {"--cluster-enabled", "yes", NULL};
    masters = masters_start(1, cluster);
    master_do(masters, 0, "CLUSTER", "ADDSLOTSRANGE", "0", "16383", NULL);
    ck_assert(wait_until(
        strstr(master_do(masters, 0, "CLUSTER", "INFO", NULL).text, "cluster_state:ok"),
        20000));
    expect_unfit("Redis Cluster");
    ck_assert(!master_has(masters, 0, "name"));
}

/* ---- passwords and permissions ---------------------------------------------------------- */

static void write_file(const char *path, const char *bytes)
{
    FILE *file = fopen(path, "w");
    ck_assert(file && fputs(bytes, file) >= 0 && fclose(file) == 0);
}

/* Redis 6.2 to 7 never forgets an error's first word, and INFO tells them all. */
TEST(fitness_real, master_that_has_seen_many_errors_votes)
{
    masters = masters_start(1, NULL);
    for (int i = 0; i < 2000; i++) {
        char code[64];
        snprintf(code, sizeof(code), "CODE%026d went wrong", i);
        ck_assert_int_eq(
            master_do(masters, 0, "EVAL", "return {err = ARGV[1]}", "0", code, NULL).type, '-');
    }
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 1, 10000));
    redlock_close(client);
}

TEST(fitness_real, passwords_are_given_and_read_again)
{
    char secret[SUITE_PATH_MAX + 16], node[512];
    redlock_lock *lock = NULL;
    masters = masters_start(1, NULL);
    snprintf(secret, sizeof(secret), "%s/secret", masters->node[0].dir);
    write_file(secret, "first\n");
    snprintf(node, sizeof(node), "unix://%s", masters->node[0].unix_at.path);
    master_do(masters, 0, "CONFIG", "SET", "requirepass", "first", NULL);
    masters->password = "first";
    struct node_list list = {.len = 0};
    node_list_line(&list, "guard off");
    node_list_line(&list, "node %s password-file=%s", node, secret);
    CLIENT client = client_open(node_list_write(&list));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);

    /* The password changes: refused with the server's own word, and then let in again. */
    master_do(masters, 0, "CONFIG", "SET", "requirepass", "second", NULL);
    masters->password = "second";
    master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL);
    ck_assert_int_eq(client_try(client, "name", 0, 200, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_nonnull(strstr(report.node[0].text, "WRONGPASS"));
    ck_assert_ptr_null(strstr(report.node[0].text, "first"));
    write_file(secret, "second");
    int code = client_try(client, "name", 0, 5000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(fitness_real, no_password_where_one_is_wanted)
{
    redlock_lock *lock = NULL;
    masters = masters_start(1, NULL);
    master_do(masters, 0, "CONFIG", "SET", "requirepass", "secret", NULL);
    masters->password = "secret";
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_nonnull(strstr(report.node[0].text, "NOAUTH"));
    redlock_close(client);
}

TEST(fitness_real, users_and_their_permissions)
{
    redlock_lock *lock = NULL;
    masters = masters_start(1, NULL);
    master_do(masters, 0, "ACL", "SETUSER", "locks", "on", ">pw", "~*", "+@all", NULL);
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
    struct node_list list = {.len = 0};
    node_list_line(&list, "guard off");
    node_list_line(&list, "node redis://locks@127.0.0.1:%d password-env=TEST_REDLOCK_SECRET",
                   masters->node[0].tcp_at.port);
    CLIENT client = client_open(node_list_write(&list));
    lock = client_take(client, "name");
    ck_assert_ptr_nonnull(
        strstr(master_do(masters, 0, "CLIENT", "LIST", NULL).text, "user=locks"));
    ck_assert_int_eq(redlock_release(lock), 0);

    master_do(masters, 0, "ACL", "SETUSER", "locks", "-@scripting", NULL);
    lock = NULL;
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_nonnull(strstr(report.node[0].text, "NOPERM"));
    master_do(masters, 0, "ACL", "SETUSER", "locks", "+@all", "resetkeys", "~other*",
              "~{other*", NULL);
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    ck_assert_ptr_nonnull(strstr(report.node[0].text, "NOPERM"));
    ck_assert_int_eq(client_try(client, "other", 0, 0, &report, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* ---- status ----------------------------------------------------------------------------- */

TEST(fitness_real, status_tells_state_of_each_node)
{
    masters = masters_start(5, NULL);
    master_kill(masters, 1);
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(redlock_get_status(client, &status), 0);
    ck_assert_uint_eq(status.nodes, 5);
    ck_assert_uint_eq(status.needed, 3);
    ck_assert_uint_eq(status.ready, 4);
    ck_assert_int_eq(status.node[0].state, REDLOCK_NODE_READY);
    ck_assert_int_gt(status.node[0].round_trip_us, 0);
    ck_assert_int_ge(status.node[0].uptime_s, 0);
    ck_assert_uint_eq(strlen(status.node[0].run_id), 40);
    ck_assert_str_eq(status.node[0].role, "master");
    ck_assert(status.node[0].version[0] >= '0' && status.node[0].version[0] <= '9');
    ck_assert_str_eq(status.node[0].text, "");
    ck_assert(status.node[1].state == REDLOCK_NODE_DOWN && status.node[1].text[0] != '\0');

    master_pause(masters, 2);
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_get_status(client, &status), 0);
    ck_assert_int_lt(now_ms() - begun, 2500);
    ck_assert_int_eq(status.node[2].round_trip_us, -1);
    ck_assert_int_eq(status.node[3].state, REDLOCK_NODE_READY);
    master_resume(masters, 2);
    ck_assert(wait_until(client_state(client, 2, NULL) == REDLOCK_NODE_READY, 10000));
    master_kill(masters, 0);
    master_kill(masters, 2);
    ck_assert_int_eq(redlock_get_status(client, &status), REDLOCK_ENOQUORUM);
    redlock_close(client);
}

static const redlock_node_status *status_of(redlock *client, unsigned node)
{
    redlock_get_status(client, &status);
    return &status.node[node];
}

/* What INFO tells of it before anybody has asked for a lock. */
TEST(fitness_real, status_tells_of_refusals_to_come)
{
    masters = masters_start(3, NULL);
    master_do(masters, 0, "CONFIG", "SET", "maxmemory", "1", NULL);
    master_do(masters, 1, "CONFIG", "SET", "min-replicas-to-write", "1", NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    const redlock_node_status *node = status_of(client, 0);
    ck_assert_int_eq(strncmp(node->refusal, "OOM", 3), 0);
    ck_assert_ptr_nonnull(strstr(node->text, "maxmemory"));
    ck_assert_int_ge(node->refused_ago_ms, 0);
    ck_assert_int_eq(strncmp(status_of(client, 1)->refusal, "NOREPLICAS", 10), 0);
    ck_assert_str_eq(status_of(client, 2)->refusal, "");
    ck_assert_int_eq(status_of(client, 2)->refused_ago_ms, -1);
    redlock_close(client);
}

/* The other two have decided without it, and are faster. */
TEST(fitness_real, status_tells_of_refusal_that_changed_nothing)
{
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    ck_assert_str_eq(status_of(client, 2)->refusal, "");
    master_do(masters, 2, "CONFIG", "SET", "min-replicas-to-write", "1", NULL);
    master_pause(masters, 2);
    redlock_lock *lock = client_take(client, "name");
    master_resume(masters, 2);
    ck_assert(wait_until(status_of(client, 2)->refusal[0] != '\0', 10000));
    ck_assert_int_eq(strncmp(status.node[2].refusal, "NOREPLICAS", 10), 0);
    ck_assert_int_lt(status.node[2].refused_ago_ms, 10000);
    ck_assert_int_eq(status.node[2].state, REDLOCK_NODE_READY);
    ck_assert_str_eq(status.node[0].refusal, "");
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

CASE(fitness_real, .timeout_s = 60)
