/* tags: long */
/* test_refusals.c - masters that refuse what only a person can mend: they are left alone while a
 * majority stands without them, are tried now and then where they are needed, and a wait that
 * they make vain ends. What passes by itself is tried again soon, and waited for. */
#include "config_auto.h"

#include "base/limits.h"
#include "clients.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NODES = 3, HOPELESS_MS = RL_HOPELESS_MS };

static redlock *client;
static redlock_node_vote votes[NODES];
static redlock_report report;

static void set_up(void)
{
    masters = masters_start(NODES, NULL);
    client = client_open(masters_file(masters, "background always\n"));
    ck_assert(wait_until(client_ready(client) == NODES, 10000));
    report = (redlock_report)REDLOCK_REPORT_INIT(votes, NODES);
}

static void tear_down(void)
{
    redlock_close(client);
}

/* ---- ways to refuse, and to mend it ---- */

static void want_password(unsigned node)
{
    (void)master_do(masters, node, "ACL", "SETUSER", "default", "resetpass", ">secret", NULL);
    masters->password = "secret";
    (void)master_do(masters, node, "CLIENT", "KILL", "TYPE", "normal", NULL);
    (void)master_do(masters, node, "CLIENT", "KILL", "TYPE", "pubsub", NULL);
}

static void want_none(unsigned node)
{
    (void)master_do(masters, node, "ACL", "SETUSER", "default", "nopass", NULL);
}

static void deny_scripts(unsigned node)
{
    (void)master_do(masters, node, "ACL", "SETUSER", "default", "-set", "-eval", "-evalsha",
                    NULL);
}

static void allow_scripts(unsigned node)
{
    (void)master_do(masters, node, "ACL", "SETUSER", "default", "+@all", NULL);
}

static void evict(unsigned node)
{
    (void)master_do(masters, node, "CONFIG", "SET", "maxmemory", "1000000000", NULL);
    (void)master_do(masters, node, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", NULL);
    (void)master_do(masters, node, "CLIENT", "KILL", "TYPE", "normal", NULL);
}

static void keep(unsigned node)
{
    (void)master_do(masters, node, "CONFIG", "SET", "maxmemory-policy", "noeviction", NULL);
}

static void be_replica(unsigned node)
{
    (void)master_do(masters, node, "REPLICAOF", "127.0.0.1", "1", NULL);
}

static void fill_up(unsigned node)
{
    (void)master_do(masters, node, "CONFIG", "SET", "maxmemory", "1", NULL);
}

/* ---- connects ---- */

/* Connections that a master has had, those of these questions too. */
static long long connections(unsigned node)
{
    struct reply reply = master_do(masters, node, "INFO", "stats", NULL);
    const char *at = strstr(reply.text, "total_connections_received:");
    if (!at)
        suite_die("INFO has no connections: %s", reply.text);
    return atoll(strchr(at, ':') + 1);
}

/* How many others come within that time. */
static long long come_within(unsigned node, int64_t ms)
{
    long long before = connections(node);
    pause_ms(ms);
    return connections(node) - before - 1;
}

TEST(connects, master_that_needs_a_person_is_left_alone_while_a_majority_stands)
{
    redlock_lock *lock = client_take(client, "held");
    want_password(2);
    ck_assert(wait_until(client_ready(client) == NODES - 1, 10000));
    pause_ms(3000); /* 0.5 and 1 s between tries are over */
    ck_assert_int_le(come_within(2, 3000), 2);
    ck_assert_int_eq(redlock_release(lock), 0);
}

static void say(int fd, const char *lines)
{
    ck_assert(net_send(fd, lines, strlen(lines)));
}

/* Clients come and go, so there will be a place. */
TEST(connects, master_that_has_no_place_is_tried_again_soon)
{
    char why[192];
    int hog = master_connect_as(masters, 2, "hog", 3);
    say(hog, "CONFIG SET maxclients 1\r\nCLIENT KILL TYPE normal SKIPME yes\r\n");
    ck_assert(wait_until(client_ready(client) == NODES - 1, 10000));
    pause_ms(2000);
    ck_assert_int_eq(client_state(client, 2, why), REDLOCK_NODE_DOWN);
    ck_assert_msg(strstr(why, "max number of clients"), "%s", why);
    say(hog, "CONFIG SET maxclients 100\r\n");
    ck_assert(wait_until(client_ready(client) == NODES, 1000));
    close(hog);
}

static atomic_bool over;
static atomic_int calls;

static void *ask_on(void *context)
{
    redlock_lock *lock = NULL;
    (void)context;
    while (!atomic_load(&over)) {
        if (client_try(client, "asked", 0, 0, NULL, &lock) == REDLOCK_OK)
            redlock_release(lock);
        atomic_fetch_add(&calls, 1);
        pause_ms(1);
    }
    return NULL;
}

TEST(connects, master_that_is_needed_gets_one_try_in_two_seconds_however_many_ask)
{
    pthread_t threads[8];
    long long came[NODES];
    want_password(1);
    want_password(2);
    ck_assert(wait_until(client_ready(client) == 1, 10000));
    pause_ms(2000);
    atomic_store(&over, false);
    for (unsigned i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_on, NULL), 0);
    for (unsigned i = 1; i < NODES; i++)
        came[i] = connections(i);
    pause_ms(4500);
    for (unsigned i = 1; i < NODES; i++) {
        came[i] = connections(i) - came[i] - 1;
        ck_assert_msg(came[i] >= 2 && came[i] <= 3, "%lld connects", came[i]);
    }
    ck_assert_int_ge(atomic_load(&calls), 100);

    /* Mended: back within two seconds. */
    want_none(1);
    ck_assert(wait_until(client_can_take(client, "back"), 2500));
    atomic_store(&over, true);
    for (unsigned i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

/* ---- waits ---- */

static const struct refusal {
    void (*refuse)(unsigned node), (*mend)(unsigned node);
    const char *text;
} lasting[] = {
    {want_password, want_none, "NOAUTH"},
    {deny_scripts, allow_scripts, "no permissions"},
    {evict, keep, "evicts"},
};

static void on_all(void (*what)(unsigned node))
{
    for (unsigned i = 0; i < NODES; i++)
        what(i);
}

TEST(waits, wait_that_only_a_person_can_end_ends_with_the_reason, .rows = 3)
{
    redlock_lock *lock = NULL;
    on_all(lasting[_i].refuse);
    int64_t began_ms = now_ms();
    int code = client_try(client, "name", 0, -1, &report, &lock);
    int64_t took_ms = now_ms() - began_ms;
    ck_assert_int_eq(code, REDLOCK_ENOQUORUM);
    ck_assert_int_ge(took_ms, HOPELESS_MS);
    ck_assert_int_le(took_ms, HOPELESS_MS + 3000);
    /* A round is over with the second refusal: the third one may come too late to be told. */
    unsigned told = 0;
    for (unsigned i = 0; i < NODES; i++)
        told += strstr(votes[i].text, lasting[_i].text) != NULL;
    ck_assert_msg(told >= 2, "%s; %s; %s", votes[0].text, votes[1].text, votes[2].text);
}

static void (*mending)(unsigned node);

static void *mend_soon(void *context)
{
    (void)context;
    pause_ms(1500);
    on_all(mending);
    return NULL;
}

TEST(waits, wait_goes_on_where_somebody_mends_it_in_time, .rows = 3)
{
    redlock_lock *lock = NULL;
    pthread_t thread;
    on_all(lasting[_i].refuse);
    mending = lasting[_i].mend;
    ck_assert_int_eq(pthread_create(&thread, NULL, mend_soon, NULL), 0);
    int code = client_try(client, "name", 0, -1, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* One is down, one is a replica, as after a failover, and the third has no memory. They may come
 * back, and then are a majority without the one that wants a password. */
TEST(waits, wait_lasts_where_enough_masters_may_come_back)
{
    redlock_lock *lock = NULL;
    enum { WAIT_MS = HOPELESS_MS + 1500 };
    master_kill(masters, 0);
    be_replica(1);
    fill_up(2);
    for (int with_password = 0; with_password < 2; with_password++) {
        int64_t began_ms = now_ms();
        ck_assert_int_eq(client_try(client, "name", 0, WAIT_MS, &report, &lock),
                         REDLOCK_ENOQUORUM);
        ck_assert_int_ge(now_ms() - began_ms, WAIT_MS - 100);
        want_password(2);
    }
}

CASE(connects, .timeout_s = 60, .set_up = set_up, .tear_down = tear_down)
CASE(waits, .timeout_s = 60, .set_up = set_up, .tear_down = tear_down)
