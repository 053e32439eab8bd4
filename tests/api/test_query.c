/* test_query.c - calls that ask every master: redlock_inspect(), redlock_get_status() and
 * redlock_probe(), where a connection breaks or a master is silent. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"
#include "look.h"
#include "stall.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 3, UUID_LEN = 36 };

static struct fake *fakes[NODES];
static redlock *client;
static struct look look;
static redlock_node_status entries[NODES];

/* A connection breaks instead of an answer, once; or the answer never comes. */
static const struct fake_rule breaks = {.times = 1, .cut = true, .then = FAKE_CLOSE};
static const struct fake_rule hangs = {.delay_ms = 60000};

static void open_fakes(const char *settings, unsigned ready)
{
    client = client_open(fakes_file(fakes, NODES, settings));
    ck_assert(wait_until(client_ready(client) == ready, 5000));
}

static void begin(void)
{
    fakes_start(fakes, NODES);
}

static void end(void)
{
    redlock_close(client);
}

static void set_rule(unsigned node, struct fake_rule rule, const char *match)
{
    rule.match = match;
    fake_rule(fakes[node], &rule);
}

/* Fills in the entries. */
static int ask_status(void)
{
    redlock_status_report status = REDLOCK_STATUS_INIT(entries, NODES);
    return redlock_get_status(client, &status);
}

/* ---- redlock_inspect() ------------------------------------------------------------------ */

TEST(query, inspect_asks_again_on_next_connection)
{
    open_fakes(NULL, NODES);
    set_rule(0, breaks, "inspect *");
    set_rule(1, breaks, "inspect *");
    ck_assert_int_eq(look_at(&look, client, "name", NULL), 0);
    ck_assert_uint_ge(fake_count(fakes[0], "inspect *") + fake_count(fakes[1], "inspect *"), 3);
    ck_assert_int_ge(look.all.answered, 2);
}

/* A majority has answered: the last one has no more than a moment. */
TEST(query, inspect_leaves_silent_master_behind)
{
    enum { CONNECT_MS = 10000 };
    open_fakes("connect-timeout 10s\n", NODES);
    set_rule(2, hangs, "inspect *");
    int64_t begun = now_ms();
    ck_assert_int_eq(look_at(&look, client, "name", NULL), 0);
    ck_assert_int_lt(now_ms() - begun, CONNECT_MS / 2);
    ck_assert_uint_eq(look.all.answered, 2);
}

enum { QUERY_CONNECT_MS = 2000 };

static void *open_door_late(void *argument)
{
    pause_ms(QUERY_CONNECT_MS + 200);
    fake_door(argument, FAKE_OPEN);
    return NULL;
}

/* The first one can be asked 600 ms before connect-timeout is over, the second 200 ms after. */
static bool nobody_is_asked_late(void)
{
    struct fake_rule late = {.delay_ms = QUERY_CONNECT_MS * 7 / 10};
    unsigned first = fake_count(fakes[0], "inspect *"), second = fake_count(fakes[1], "inspect *");
    pthread_t thread;
    set_rule(0, late, "INFO*");
    set_rule(0, hangs, "inspect *");
    fake_door(fakes[1], FAKE_REFUSE);
    fake_door(fakes[2], FAKE_DEAF);
    client = client_open(fakes_file(fakes, NODES, "connect-timeout 2s\n"));
    ck_assert_int_eq(pthread_create(&thread, NULL, open_door_late, fakes[1]), 0);
    int code = look_at(&look, client, "name", NULL);
    pthread_join(thread, NULL);
    first = fake_count(fakes[0], "inspect *") - first;
    second = fake_count(fakes[1], "inspect *") - second;
    bool both = wait_until(client_ready(client) == 2, 5000);
    printf("%s; asked: %u, %u; %s\n", redlock_err_name(code), first, second,
           both ? "both are ready" : "they are not ready");
    redlock_close(client);
    client = NULL;
    for (unsigned i = 0; i < NODES; i++) {
        fake_clear_rules(fakes[i]);
        fake_door(fakes[i], FAKE_OPEN);
    }
    return code == REDLOCK_ENOQUORUM && first == 1 && second == 0 && both;
}

/* A master that was asked late may still answer when connect-timeout is over. One that can be
 * asked only then is not: each further one would make the caller wait for as long again. */
TEST(query, inspect_asks_nobody_after_connect_timeout)
{
    enum { STALL_LEAST_MS = 50 };
    ck_assert(met_unless_stalled(nobody_is_asked_late(), STALL_LEAST_MS, 3));
}

/* ---- redlock_get_status() --------------------------------------------------------------- */

TEST(query, status_asks_again_on_next_connection)
{
    open_fakes(NULL, NODES);
    unsigned before = fake_count(fakes[0], "PING");
    set_rule(0, breaks, "PING");
    ck_assert_int_eq(ask_status(), 0);
    ck_assert_uint_eq(fake_count(fakes[0], "PING"), before + 2);
    ck_assert_int_eq(entries[0].state, REDLOCK_NODE_READY);
    ck_assert_int_ge(entries[0].round_trip_us, 0);
}

TEST(query, status_of_master_that_is_gone_has_no_uptime)
{
    open_fakes(NULL, NODES);
    ck_assert_int_eq(ask_status(), 0);
    ck_assert_int_gt(entries[0].uptime_s, 0);
    fake_door(fakes[0], FAKE_REFUSE);
    fake_hang_up(fakes[0], false);
    ck_assert(wait_until(client_state(client, 0, NULL) == REDLOCK_NODE_DOWN, 5000));
    ck_assert_int_eq(ask_status(), 0);
    ck_assert_int_eq(entries[0].uptime_s, -1);
}

/* Its guard would end by itself: that it is silent is what people have to see. The second call
 * does not ask it, since it owes an answer. */
TEST(query, status_of_guarded_and_silent_master_is_stalled)
{
    fake_says(fakes[0], NULL, 0, NULL);
    open_fakes("connect-timeout 500ms\nstall-limit 60s\nmax-ttl 1h\n", NODES - 1);
    ck_assert_int_eq(ask_status(), 0);
    ck_assert_int_eq(entries[0].state, REDLOCK_NODE_GUARDED);
    ck_assert_int_gt(entries[0].guard_ms, 0);
    set_rule(0, hangs, "PING");
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ask_status(), 0);
        ck_assert_int_eq(entries[0].state, REDLOCK_NODE_STALLED);
        ck_assert_int_eq(entries[0].guard_ms, 0);
    }
}

/* ---- redlock_probe() -------------------------------------------------------------------- */

TEST(query, probe_names_its_lock_as_told)
{
    redlock_status_report status = REDLOCK_STATUS_INIT(entries, NODES);
    open_fakes(NULL, NODES);
    (void)redlock_probe(client, NULL, &status);
    ck_assert_uint_gt(fake_count(fakes[0], "* redlock:probe:*"), 0);
    ck_assert_uint_eq(fake_count(fakes[0], "* mine:*"), 0);
    (void)redlock_probe(client, "mine:", &status);
    ck_assert_uint_gt(fake_count(fakes[0], "* mine:*"), 0);
}

/* Two masters take, extend and release a lock; one does all but one of these. What its GET shows
 * takes back that it could take a lock by a script. */
TEST(probe, probe_counts_masters_that_have_done_all_three, .rows = 3)
{
    static const struct fake_rule fails[] = {
        {.match = "GET *", .reply = "$-1\r\n"},
        {.match = "extend *", .reply = "-NOPERM no\r\n"},
        {.match = "release *", .reply = "-NOPERM no\r\n"},
    };
    redlock_status_report status = REDLOCK_STATUS_INIT(entries, NODES);
    open_fakes(NULL, NODES);
    ck_assert_int_eq(redlock_probe(client, NULL, &status), 0);
    ck_assert_uint_eq(status.proven, NODES);
    fake_rule(fakes[0], &fails[_i]);
    ck_assert_int_eq(redlock_probe(client, NULL, &status), 0);
    ck_assert_uint_eq(status.proven, NODES - 1);
    const int results[] = {entries[0].acquire.result, entries[0].extend.result,
                           entries[0].release.result};
    ck_assert_int_eq(results[_i], REDLOCK_PROOF_FAILED);
}

/* The longest name of a lock has room for a shorter prefix and a UUID. */
TEST(query, probe_whose_lock_has_too_long_name_is_refused)
{
    static char prefix[REDLOCK_NAME_MAX + 1];
    redlock_status_report status = REDLOCK_STATUS_INIT(entries, NODES);
    open_fakes(NULL, NODES);
    memset(prefix, 'p', sizeof(prefix) - 1);
    ck_assert_int_eq(redlock_probe(client, prefix, &status), REDLOCK_EINVAL);
    prefix[REDLOCK_NAME_MAX - UUID_LEN + 1] = '\0';
    ck_assert_int_eq(redlock_probe(client, prefix, &status), REDLOCK_EINVAL);
}

/* These masters have no queue of waiters. */
TEST(probe, each_proof_stands_in_its_place)
{
    redlock_status_report status = REDLOCK_STATUS_INIT(entries, NODES);
    open_fakes(NULL, NODES);
    (void)redlock_probe(client, NULL, &status);
    for (unsigned i = 0; i < NODES; i++) {
        ck_assert_int_eq(entries[i].acquire.result, REDLOCK_PROOF_OK);
        ck_assert_int_eq(entries[i].extend.result, REDLOCK_PROOF_OK);
        ck_assert_int_eq(entries[i].release.result, REDLOCK_PROOF_OK);
        ck_assert_int_eq(entries[i].wake.result, REDLOCK_PROOF_FAILED);
    }
}

/* A program that was built when entries ended before `wake` has no room for it. */
TEST(query, probe_writes_no_further_than_older_entries)
{
    enum {
        ALIGN = _Alignof(redlock_node_status),
        SIZE = (offsetof(redlock_node_status, wake) + ALIGN - 1) / ALIGN * ALIGN,
        GUARD = sizeof(redlock_proof)
    };
    static _Alignas(redlock_node_status) unsigned char room[NODES * SIZE + GUARD];
    redlock_status_report status = REDLOCK_STATUS_INIT((redlock_node_status *)room, NODES);
    open_fakes(NULL, NODES);
    memset(room, 0xa5, sizeof(room));
    status.node_size = SIZE;
    (void)redlock_probe(client, NULL, &status);
    ck_assert_uint_eq(status.node_count, NODES);
    for (unsigned i = 0; i < NODES; i++) {
        const redlock_node_status *entry = (const redlock_node_status *)(room + i * SIZE);
        ck_assert_ptr_nonnull(strstr(entry->node, "unix://"));
    }
    for (unsigned i = 0; i < GUARD; i++)
        ck_assert_uint_eq(room[NODES * SIZE + i], 0xa5);
}

CASE(probe, .set_up = begin, .tear_down = end, .timeout_s = 60)
CASE(query, .set_up = begin, .tear_down = end, .timeout_s = 60)
