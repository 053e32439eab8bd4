/* tags: long unsanitized */
/* test_old_clients.c - clients of the first version beside one with `guard marker`, on real
 * masters. They know no quarantine: their locks are outside of it, and both exclude each
 * other. */
#include "config_auto.h"

#include "kinds/marker.h"
#include "marks.h"
#include "old_client.h"
#include "told.h"

#include <string.h>

#define SETTINGS "guard marker\nmax-ttl 5s\nttl 1s\n"

enum { ALL = 7, LEASE_MS = 4500, LOOK_MS = 2500, WAIT_MS = 20000 };

static struct masters *masters;
static redlock *client;
static redlock_node_vote votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
static char text[192];

/* Masters that are marked, and the new client. */
static void start_marked(unsigned n, const char *settings)
{
    masters = masters_start(n, NULL);
    masters_mark(masters);
    client = client_open(masters_guarded_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == n, WAIT_MS));
}

static void stop(void)
{
    redlock_close(client);
}

static bool is_guarded(unsigned node, const char *reason)
{
    return client_state(client, node, text) == REDLOCK_NODE_GUARDED &&
           strncmp(text, "quarantined", strlen("quarantined")) == 0 && strstr(text, reason);
}

/* The new client's try, and what it says of the first master's vote. */
static int try_now(const char *name)
{
    redlock_lock *lock = NULL;
    int code = client_try(client, name, 1000, 0, &report, &lock);
    ck_assert_int_eq(code == 0, lock != NULL);
    if (lock)
        ck_assert_int_eq(redlock_release(lock), 0);
    return code;
}

static void expect_withheld(const char *name, int code)
{
    int got = try_now(name);
    ck_assert_msg(got == code, "%d: %s", got, client_told(&report));
    ck_assert_msg(strncmp(report.node[0].text, "quarantined", 11) == 0, "%s",
                  client_told(&report));
}

/* The old client renews its lock on these masters. */
static void renew(const char *name, unsigned at)
{
    ck_assert_uint_eq(old_extend(masters, name, "old", LEASE_MS) & at, at);
}

/* The new client votes with all of them again; meanwhile the old one renews. */
static void expect_ready_while_held(const char *name, unsigned at)
{
    ck_assert(wait_until((renew(name, at), client_ready(client) == 3), WAIT_MS));
    ck_assert_int_eq(try_now(name), REDLOCK_EHELD);
}

/* A quarantine that ends when this is told to. */
static void set_quarantine(unsigned node)
{
    master_do(masters, node, "SET", RL_QUARANTINE_KEY, "maintenance", NULL);
    ck_assert(wait_until(is_guarded(node, "somebody deletes"), 2 * LOOK_MS));
}

static void end_quarantine(unsigned node)
{
    ck_assert_int_eq(master_do(masters, node, "DEL", RL_QUARANTINE_KEY, NULL).number, 1);
}

/* ---- markers are switched on ---------------------------------------------------------------
 */

/* All masters are quarantined by the new client. The old ones go on, and no lock of theirs is
 * lost or given twice. */
TEST(beside, old_clients_lock_is_respected_where_markers_are_switched_on)
{
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    ck_assert(old_try(masters, "held", "old", LEASE_MS));
    client = client_open(masters_guarded_file(masters, SETTINGS));
    expect_withheld("other", REDLOCK_ENOQUORUM);
    ck_assert(wait_until(is_guarded(0, "no marker"), WAIT_MS));
    ck_assert(old_try(masters, "other", "old", LEASE_MS));
    ck_assert_uint_eq(old_release(masters, "other", "old"), ALL);
    expect_ready_while_held("held", ALL);
    ck_assert_uint_eq(old_release(masters, "held", "old"), ALL);
    ck_assert_int_eq(client_try(client, "held", 3000, 0, &report, &lock), 0);
    ck_assert(!old_try(masters, "held", "old", LEASE_MS));
    ck_assert_uint_eq(masters_with(masters, "held"), 3);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(old_try(masters, "held", "old", LEASE_MS));
    ck_assert_uint_eq(old_release(masters, "held", "old"), ALL);
    stop();
}

/* The old script looks into the queue of its own format. It keeps the lock for nobody, and the new
 * client takes it at its own next look. */
TEST(beside, old_script_wakes_no_new_waiter_which_looks_by_itself)
{
    struct told told = {0};
    start_marked(1, "guard marker\nmax-ttl 10s\n");
    ck_assert(old_try(masters, "name", "old", 9000));
    told_try(client, "name", 9000, &told);
    ck_assert(wait_until(
        master_do(masters, 0, "ZCARD", "{name}:redlock:queue", NULL).number == 1, 5000));
    client_is_quiet(client);
    ck_assert_int_eq(atomic_load(&told.calls), 0);
    int64_t released = now_ms();
    ck_assert_uint_eq(old_release(masters, "name", "old"), 1);
    ck_assert(wait_until(atomic_load(&told.calls) == 1, 9000));
    ck_assert_uint_eq(client_stats(client).wakes, 0);
    ck_assert_int_lt(now_ms() - released, 9000 - 1000); /* and not only when the lock would end */
    ck_assert_int_eq(told.result, 0);
    ck_assert_int_eq(redlock_release(told.lock), 0);
    stop();
}

/* ---- a master in quarantine ----------------------------------------------------------------
 */

/* It makes the old client's majority, and none of the new one's. */
TEST(beside, quarantined_master_votes_for_old_client_alone)
{
    start_marked(3, SETTINGS);
    set_quarantine(0);
    master_do(masters, 2, "SET", "name", "peer", "PX", "60000", NULL);
    ck_assert(old_try(masters, "name", "old", 60000));
    expect_withheld("name", REDLOCK_EHELD);
    master_do(masters, 2, "DEL", "name", NULL);
    /* One yes, one no, one that is withheld. */
    ck_assert_int_ne(try_now("name"), 0);
    end_quarantine(0);
    expect_ready_while_held("name", 3);
    ck_assert_uint_eq(old_release(masters, "name", "old"), 3);
    ck_assert_int_eq(try_now("name"), 0);
    stop();
}

/* On a master that does not count for the new client's lock, an old one's key stays until that
 * one takes it away: also when the master counts again, and gets what is missing. */
TEST(beside, old_clients_key_on_quarantined_master_is_not_replaced)
{
    struct told lost = {0};
    start_marked(3, SETTINGS);
    set_quarantine(0);
    redlock_lock *lock = told_take_renewed(client, "name", 3000, &lost);
    redlock_lock *beside = told_take_renewed(client, "beside", 3000, &lost);
    ck_assert(!master_has(masters, 0, "name"));
    ck_assert_uint_eq(old_acquire(masters, "name", "old", 60000), 1);
    end_quarantine(0);
    ck_assert(wait_until(client_ready(client) == 3 && master_has(masters, 0, "beside"),
                         WAIT_MS));
    pause_ms(1500); /* an extension, which fills in as well */
    ck_assert_str_eq(master_do(masters, 0, "GET", "name", NULL).text, "old");
    ck_assert_uint_eq(old_release(masters, "name", "old"), 1);
    ck_assert(wait_until(master_has(masters, 0, "name"), WAIT_MS));
    ck_assert_int_eq(atomic_load(&lost.calls), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(beside), 0);
    stop();
}

/* A majority is emptied, and an old client takes the lock there at once. The holder learns of
 * its loss, and does not get it back. */
TEST(beside, lock_that_old_client_took_on_emptied_masters_is_told_as_lost)
{
    struct told lost = {0};
    start_marked(3, SETTINGS);
    redlock_lock *lock = told_take_renewed(client, "name", 5000, &lost);
    int64_t begun = now_ms();
    for (unsigned i = 0; i < 2; i++)
        ck_assert_str_eq(master_do(masters, i, "FLUSHALL", NULL).text, "OK");
    ck_assert_uint_eq(old_acquire(masters, "name", "old", LEASE_MS), 3);
    ck_assert(wait_until((renew("name", 3), atomic_load(&lost.calls) == 1), 10000));
    ck_assert_int_le(now_ms() - begun, LOOK_MS + 500);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    for (unsigned i = 0; i < 2; i++)
        ck_assert(wait_until((renew("name", 3), is_guarded(i, "no marker")), 2 * LOOK_MS));
    expect_withheld("name", REDLOCK_ENOQUORUM);
    expect_ready_while_held("name", 3);
    ck_assert_uint_eq(old_release(masters, "name", "old"), 3);
    ck_assert_int_eq(try_now("name"), 0);
    stop();
}

/* ---- markers are taken away ----------------------------------------------------------------
 */

static void expect_marked_anew(unsigned node)
{
    ck_assert(wait_until((renew("held", ALL), is_guarded(node, "no marker")), 2 * LOOK_MS));
    ck_assert(master_has(masters, node, RL_MARKER_KEY));
    ck_assert_int_gt(master_do(masters, node, "PTTL", RL_QUARANTINE_KEY, NULL).number, 0);
}

/* Somebody deletes them while a client is at work that has them. Each time each master is
 * quarantined, and the old client does not notice. */
TEST(beside, each_master_that_loses_its_marker_is_quarantined_again)
{
    start_marked(3, SETTINGS);
    ck_assert_int_eq(try_now("other"), 0); /* who has wanted no lock only looks */
    ck_assert(old_try(masters, "held", "old", LEASE_MS));
    for (int time = 0; time < 2; time++) {
        for (unsigned i = 0; i < 3; i++)
            ck_assert_int_eq(master_do(masters, i, "DEL", RL_MARKER_KEY, NULL).number, 1);
        for (unsigned i = 0; i < 3; i++)
            expect_marked_anew(i);
        expect_withheld("other", REDLOCK_ENOQUORUM);
        ck_assert(old_try(masters, "other", "old", LEASE_MS));
        ck_assert_uint_eq(old_release(masters, "other", "old"), ALL);
        expect_ready_while_held("held", ALL);
    }
    ck_assert_uint_eq(old_release(masters, "held", "old"), ALL);
    ck_assert_int_eq(try_now("held"), 0);
    stop();
}

CASE(beside, .timeout_s = 120)
