/* tags: long unsanitized */
/* test_failover.c - a replica takes its master's place: it has the master's marker, and lacks the
 * last lock. With failover=yes it casts no vote for as long as that lock may last. */
#include "config_auto.h"

#include "client.h"
#include "kinds/marker.h"
#include "marks.h"
#include "told.h"

#include <stdio.h>
#include <string.h>

#define MAX_TTL_MS 3000
#define SETTINGS "max-ttl 3s\nttl 1s\n"

static struct masters *masters, *replica;
static char text[192];

/* Does the replica have all that the master had until now? */
static bool is_in_step(void)
{
    return strstr(master_do(replica, 0, "INFO", "replication", NULL).text,
                  "master_link_status:up") != NULL &&
           master_has(replica, 0, RL_MARKER_KEY);
}

/* Marked masters; the first one has a replica. Returns their list. */
static const char *start(unsigned n, const char *option)
{
    static struct node_list list;
    char port[16];
    masters = masters_start(n, NULL);
    replica = masters_start(1, NULL);
    masters_mark(masters);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 0, "CONFIG", "SET", "repl-diskless-sync-delay", "0", NULL);
    master_do(replica, 0, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(is_in_step(), 20000));
    list.len = 0;
    node_list_line(&list, SETTINGS);
    for (unsigned i = 0; i < n; i++)
        node_list_line(&list, "node redis://127.0.0.1:%d %s", masters->node[i].tcp_at.port,
                       option);
    return node_list_write(&list);
}

/* What the master writes from now on, the replica does not get. */
static void lag(void)
{
    ck_assert_str_eq(master_do(replica, 0, "REPLICAOF", "127.0.0.1", "1", NULL).text, "OK");
}

/* The master dies, and its replica answers in its place. */
static void fail_over(void)
{
    char port[16];
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_kill(masters, 0);
    ck_assert_str_eq(master_do(replica, 0, "REPLICAOF", "NO", "ONE", NULL).text, "OK");
    ck_assert(wait_until(
        strcmp(master_do(replica, 0, "CONFIG", "SET", "port", port, NULL).text, "OK") == 0, 5000));
}

static const struct {
    const char *option;
    bool known; /* the other client has met the former master */
    int code;
} rows[] = {
    {"failover=yes", false, REDLOCK_ENOQUORUM},
    {"failover=yes", true, REDLOCK_ENOQUORUM},
    {"", false, REDLOCK_OK}, /* the cost: a second holder */
};

/* The replica has been up for longer than any lease, so only its marker tells. */
TEST(failover, promoted_replica_makes_no_second_holder_where_line_says_failover,
     .rows = ROWS(rows))
{
    redlock_lock *lock = NULL, *second = NULL;
    const char *file = start(1, rows[_i].option);
    pause_ms(2 * MAX_TTL_MS);
    CLIENT one = client_open(file);
    CLIENT two = rows[_i].known ? client_open(file) : NULL;
    ck_assert(!two || client_try(two, "another", 1000, 0, NULL, &second) == 0);
    redlock_release(second);
    lag();
    ck_assert_int_eq(client_try(one, "name", MAX_TTL_MS, 0, NULL, &lock), 0);
    int64_t until_ms = now_ms() + MAX_TTL_MS;
    fail_over();
    CLIENT newcomer = two ? NULL : client_open(file);
    redlock *other = two ? two : newcomer;
    int code = client_try(other, "name", 1000, 0, NULL, &second);
    int state = client_state(other, 0, text);
    while (code == REDLOCK_ENOQUORUM && redlock_validity_ms(lock) > 0)
        code = client_try(other, "name", 1000, 0, NULL, &second);
    ck_assert_msg(code == rows[_i].code, "%d: %s", code, text);
    redlock_release(lock);
    if (code != REDLOCK_OK) {
        ck_assert_int_eq(state, REDLOCK_NODE_GUARDED);
        ck_assert_msg(strstr(text, "quarantined") != NULL, "%s", text);
        ck_assert_int_eq(client_try(other, "name", 1000, 20000, NULL, &second), 0);
        ck_assert_int_ge(now_ms(), until_ms);
    }
    redlock_release(second);
}

/* The other two carry it. */
TEST(failover, of_one_of_three_costs_no_lock)
{
    struct told lost = {0};
    CLIENT client = client_open(start(3, "failover=yes"));
    ck_assert(wait_until(client_ready(client) == 3, 20000));
    redlock_lock *lock = told_take_renewed(client, "name", MAX_TTL_MS, &lost);
    fail_over();
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_GUARDED, 10000));
    ck_assert_msg(strstr(text, "quarantined") != NULL, "%s", text);
    ck_assert(wait_until(client_ready(client) == 3, 20000));
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

static void stop(void)
{
    masters_stop(masters);
    masters_stop(replica);
}

CASE(failover, .timeout_s = 120, .tear_down = stop)
