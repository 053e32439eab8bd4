/* tags: long unsanitized */
/* test_strict_masters.c - `guard strict` with real masters. They lose their keys, or others come
 * into their place, on connections that stand, and between two looks at their markers. With
 * `guard marker` that leads to two holders, and with `guard strict` it must not. */
#include "config_auto.h"

#include "client.h"
#include "kinds/keys.h"
#include "kinds/marker.h"
#include "marks.h"
#include "proxy.h"
#include "told.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The next look is 20 s away. */
#define SETTINGS "max-ttl 40s\nttl 30s\n"

static struct masters *masters;
static char text[192];

static void start_marked(unsigned n)
{
    masters = masters_start(n, NULL);
    masters_mark(masters);
}

static redlock *open_all(const char *guard, unsigned n)
{
    char settings[96];
    snprintf(settings, sizeof(settings), "guard %s\n" SETTINGS, guard);
    redlock *client = client_open(masters_guarded_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == n, 10000));
    return client;
}

static void flush(unsigned node)
{
    ck_assert_str_eq(master_do(masters, node, "FLUSHALL", NULL).text, "OK");
}

/* ---- of every kind -------------------------------------------------------------------------
 */

static const struct how {
    const char *name, *second; /* `second`: another name that is taken with it */
    int kind, first_kind;
    unsigned masters;
    bool fenced, waits;
} hows[] = {
    {"plain", NULL, REDLOCK_PLAIN, REDLOCK_PLAIN, 3, false, false},
    {"plain, waits", NULL, REDLOCK_PLAIN, REDLOCK_PLAIN, 3, false, true},
    {"plain, fenced", NULL, REDLOCK_PLAIN, REDLOCK_PLAIN, 3, true, false},
    {"plain, fenced, waits", NULL, REDLOCK_PLAIN, REDLOCK_PLAIN, 3, true, true},
    {"several", "another", REDLOCK_PLAIN, REDLOCK_PLAIN, 3, false, false},
    {"several, fenced, waits", "another", REDLOCK_PLAIN, REDLOCK_PLAIN, 3, true, true},
    {"reentrant", NULL, REDLOCK_REENTRANT, REDLOCK_REENTRANT, 3, false, false},
    {"reentrant, fenced, waits", NULL, REDLOCK_REENTRANT, REDLOCK_REENTRANT, 3, true, true},
    {"writers", NULL, REDLOCK_WRITE, REDLOCK_WRITE, 3, false, false},
    {"writer, fenced, waits", NULL, REDLOCK_WRITE, REDLOCK_READ, 3, true, true},
    {"reader", NULL, REDLOCK_READ, REDLOCK_WRITE, 3, false, false},
    {"reader, waits", NULL, REDLOCK_READ, REDLOCK_WRITE, 3, false, true},
    {"fair", NULL, REDLOCK_FAIR, REDLOCK_FAIR, 1, false, false},
    {"fair, fenced, waits", NULL, REDLOCK_FAIR, REDLOCK_FAIR, 1, true, true},
    {"writer of one", NULL, REDLOCK_WRITE, REDLOCK_READ, 1, true, false},
    {"reader of one", NULL, REDLOCK_READ, REDLOCK_WRITE, 1, false, true},
    {"reentrant of one", NULL, REDLOCK_REENTRANT, REDLOCK_REENTRANT, 1, true, false},
};
enum { HOWS = sizeof(hows) / sizeof(hows[0]) };

static int take(redlock *client, const struct how *how, int kind, const char *owner,
                int64_t wait_ms, redlock_lock **ret_lock)
{
    const char *const names[] = {"name", how->second};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind;
    options.owner = kind == REDLOCK_PLAIN ? NULL : owner;
    options.fenced = how->fenced && kind != REDLOCK_READ;
    options.wait_ms = wait_ms;
    return how->second ? redlock_try_names(client, names, 2, &options, ret_lock)
                       : redlock_try(client, "name", &options, ret_lock);
}

static bool is_emptied(redlock *client, unsigned node)
{
    return client_state(client, node, text) == REDLOCK_NODE_GUARDED &&
           strstr(text, "no marker") != NULL;
}

static unsigned emptied(redlock *client, unsigned masters_used)
{
    unsigned count = 0;
    for (unsigned i = 0; i < masters_used; i++)
        count += is_emptied(client, i);
    return count;
}

/* All masters are emptied while one has the lock, and another asks for it at once. What that one
 * gets. */
static int asked_after_flush(const struct how *how, const char *guard)
{
    redlock_lock *lock = NULL, *other = NULL;
    start_marked(how->masters);
    redlock *one = open_all(guard, how->masters), *two = open_all(guard, how->masters);
    ck_assert_int_eq(take(one, how, how->first_kind, "one", 0, &lock), 0);
    if (how->waits) /* it hears of releases from now on, and so its scripts are those that queue */
        ck_assert_int_eq(take(two, how, how->kind, "two", 300, &other), REDLOCK_EHELD);
    for (unsigned i = 0; i < how->masters; i++)
        flush(i);
    int code = take(two, how, how->kind, "two", how->waits ? 300 : 0, &other);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    if (strcmp(guard, "strict") == 0) {
        for (unsigned i = 0; i < how->masters; i++) {
            ck_assert_msg(wait_until(is_emptied(two, i), 5000), "%s", text);
            ck_assert(!master_has(masters, i, "name"));
        }
        /* The one who has it finds out by its own script, as soon as a majority has said so. */
        ck_assert_int_ne(redlock_extend(lock, 30000, NULL), 0);
        ck_assert(wait_until(emptied(one, how->masters) > how->masters / 2, 5000));
        ck_assert_int_eq(redlock_validity_ms(lock), 0);
        ck_assert(!master_has(masters, 0, "name"));
    }
    redlock_close(two);
    redlock_close(one);
    masters_stop(masters);
    return code;
}

TEST(kinds, flush_on_live_connection_makes_no_second_holder, .rows = HOWS)
{
    const struct how *how = &hows[_i];
    ck_assert_msg(asked_after_flush(how, "marker") == 0, "%s: the hole is not there", how->name);
    int code = asked_after_flush(how, "strict");
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%s: %d", how->name, code);
}

/* A majority goes on. The one that was emptied is not filled in by an extension. */
TEST(kinds, emptied_minority_is_not_filled_in)
{
    redlock_lock *lock = NULL;
    start_marked(3);
    redlock *client = open_all("strict", 3);
    ck_assert_int_eq(client_try(client, "name", 30000, 0, NULL, &lock), 0);
    for (unsigned i = 0; i < 3; i++) /* none of them is asked still */
        ck_assert(wait_until(master_has(masters, i, "name"), 5000));
    flush(0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_extend(lock, 30000, NULL), 0);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    ck_assert_int_eq(redlock_extend(lock, 30000, NULL), 0);
    ck_assert(!master_has(masters, 0, "name"));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* ---- another server behind the connection ---------------------------------------------------
 */

static void foreign_server(struct masters *others)
{
    master_do(others, 0, "SET", "its own", "data", NULL);
}

static void marked_server(struct masters *others)
{
    master_mark(others, 0);
}

static bool has_same_marker(struct masters *others)
{
    struct reply its = master_do(others, 0, "GET", RL_MARKER_KEY, NULL);
    struct reply own = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    return its.len > 0 && strcmp(its.text, own.text) == 0;
}

/* It has the marker as it is since a replica came, and not what came later. */
static void former_replica(struct masters *others)
{
    char port[16];
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 0, "CONFIG", "SET", "repl-diskless-sync-delay", "0", NULL);
    master_do(others, 0, "REPLICAOF", "127.0.0.1", port, NULL);
    ck_assert(wait_until(has_same_marker(others), 20000));
    master_do(masters, 0, "EVAL", rl_marker_join, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY, "nonce",
              "0", "40000", NULL);
    ck_assert(wait_until(has_same_marker(others), 20000));
    master_do(others, 0, "REPLICAOF", "NO", "ONE", NULL);
}

static void (*const others_made[])(struct masters *others) = {foreign_server, marked_server,
                                                              former_replica};

static redlock *open_behind(struct proxy *proxy, const char *guard)
{
    struct node_list list = {.len = 0};
    node_list_line(&list, "guard %s", guard);
    node_list_line(&list, "max-ttl 40s");
    node_list_add(&list, proxy_endpoint(proxy));
    redlock *client = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(client) == 1, 10000));
    return client;
}

static int asked_after_switch(void (*make)(struct masters *others), const char *guard)
{
    redlock_lock *lock = NULL, *other = NULL;
    start_marked(1);
    struct masters *others = masters_start(1, NULL);
    make(others);
    struct proxy *proxy = proxy_start(&masters->node[0].tcp_at, false);
    redlock *one = open_behind(proxy, guard), *two = open_behind(proxy, guard);
    /* What it knows of the marker is as it was before the replica came. */
    ck_assert_int_eq(client_try(one, "name", 30000, 5000, NULL, &lock), 0);
    ck_assert_int_eq(client_try(two, "other", 1000, 5000, NULL, &other), 0);
    ck_assert_int_eq(redlock_release(other), 0);
    unsigned connections = proxy_connections(proxy);
    ck_assert_int_eq(has_same_marker(others), make == former_replica);
    proxy_lead(proxy, &others->node[0].tcp_at);
    int code = client_try(two, "name", 30000, 0, NULL, &other);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    if (strcmp(guard, "strict") == 0)
        ck_assert(wait_until(client_state(two, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    ck_assert_uint_eq(proxy_connections(proxy), connections);
    redlock_close(two);
    redlock_close(one);
    proxy_stop(proxy);
    masters_stop(others);
    masters_stop(masters);
    return code;
}

TEST(places, switched_backend_makes_no_second_holder, .rows = 3)
{
    ck_assert_int_eq(asked_after_switch(others_made[_i], "marker"), 0);
    ck_assert_int_eq(asked_after_switch(others_made[_i], "strict"), REDLOCK_ENOQUORUM);
}

/* The keys of another database; the second time with a marker of its own. */
TEST(places, swapped_database_makes_no_second_holder, .rows = 2)
{
    redlock_lock *lock = NULL, *other = NULL;
    masters = masters_start(1, NULL);
    if (_i == 1) {
        master_do(masters, 0, "EVAL", rl_marker_init, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY,
                  "nonce", "1", NULL);
        master_do(masters, 0, "SWAPDB", "0", "1", NULL);
    }
    master_mark(masters, 0);
    redlock *one = open_all("strict", 1), *two = open_all("strict", 1);
    ck_assert_int_eq(client_try(one, "name", 30000, 0, NULL, &lock), 0);
    ck_assert_str_eq(master_do(masters, 0, "SWAPDB", "0", "1", NULL).text, "OK");
    ck_assert_int_eq(client_try(two, "name", 30000, 0, NULL, &other), REDLOCK_ENOQUORUM);
    redlock_close(two);
    redlock_close(one);
}

/* ---- what else it means -------------------------------------------------------------------- */

/* The replication id changes when a first replica comes. No key was lost by that, so the marker
 * is read anew, and there is no quarantine. */
TEST(places, first_replica_costs_no_quarantine)
{
    char port[16];
    redlock_lock *lock = NULL;
    start_marked(1);
    struct masters *replica = masters_start(1, NULL);
    snprintf(port, sizeof(port), "%d", masters->node[0].tcp_at.port);
    master_do(masters, 0, "CONFIG", "SET", "repl-diskless-sync-delay", "0", NULL);
    struct reply before = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    redlock *client = open_all("strict", 1);
    master_do(replica, 0, "REPLICAOF", "127.0.0.1", port, NULL);
    for (int64_t end = now_ms() + 3000; now_ms() < end;) {
        ck_assert_int_eq(client_try(client, "name", 1000, 5000, NULL, &lock), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    struct reply after = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(strcmp(before.text, after.text) != 0, "its id did not change: %s", after.text);
    ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
    redlock_close(client);
}

/* A quarantine that somebody sets by hand counts at once, and ends by hand. */
TEST(places, quarantine_by_hand_counts_at_once)
{
    redlock_lock *lock = NULL;
    start_marked(1);
    redlock *client = open_all("strict", 1);
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, "maintenance", NULL);
    ck_assert_int_eq(client_try(client, "name", 1000, 0, NULL, &lock), REDLOCK_ENOQUORUM);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_GUARDED, 5000));
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    redlock_close(client);
}

/* A bare SET looks at no marker. MONITOR tells what clients send and what scripts call. */
static unsigned bare_sets(const char *guard, unsigned *ret_by_scripts)
{
    static char told[262144];
    size_t len = 0;
    redlock_lock *lock = NULL;
    unsigned bare = 0;
    start_marked(1);
    redlock *client = open_all(guard, 1);
    int fd = net_connect(&masters->node[0].unix_at);
    ck_assert(net_send(fd, "MONITOR\r\n", 9));
    ck_assert_int_eq(read(fd, told, 5), 5);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(client_try(client, "name", 1000, 0, NULL, &lock), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    master_do(masters, 0, "ECHO", "that is all", NULL);
    while (!strstr(told, "\"that is all\"")) {
        ssize_t got = read(fd, told + len, sizeof(told) - 1 - len);
        ck_assert_int_gt(got, 0);
        len += (size_t)got;
        told[len] = '\0';
    }
    *ret_by_scripts = 0;
    for (char *line = strtok(told, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strstr(line, "\"SET\" \"name\""))
            continue;
        bare += !strstr(line, " lua] ");
        *ret_by_scripts += strstr(line, " lua] ") != NULL;
    }
    net_close(fd, false);
    redlock_close(client);
    masters_stop(masters);
    return bare;
}

TEST(places, no_bare_set_leaves)
{
    unsigned by_scripts;
    ck_assert_uint_eq(bare_sets("marker", &by_scripts), 10);
    ck_assert_uint_eq(by_scripts, 0);
    ck_assert_uint_eq(bare_sets("strict", &by_scripts), 0);
    ck_assert_uint_eq(by_scripts, 10);
}

CASE(kinds, .timeout_s = 90)
CASE(places, .timeout_s = 90)
