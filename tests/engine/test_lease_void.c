/* test_lease_void.c - a master may have lost what it granted: which leases are recounted, and what
 * is told. The masters are fake, and the test says itself what they may have lost. */
#include "config_auto.h"

#include "client.h"
#include "engine/client/client.h"
#include "engine/lease/lease.h"
#include "fake.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 3 };

static struct fake *fakes[NODES];
static redlock *client;
static char said[512]; /* of what was lost */

static void note(void *context, int level, const char *text)
{
    (void)context;
    if (level == REDLOCK_LOG_WARNING && strstr(text, "locks that stood on it"))
        snprintf(said, sizeof(said), "%s", text);
}

static void begin(void)
{
    fakes_start(fakes, NODES);
    client = client_open(fakes_file(
        fakes, NODES, "background never\nconnect-timeout 10s\nnode-timeout 10s\n"));
    ck_assert(wait_until(client_ready(client) == NODES, 5000));
    client->log.write = note;
    said[0] = '\0';
}

static void end(void)
{
    redlock_close(client);
    fakes_stop(fakes, NODES);
}

/* It stands on all three. */
static redlock_lock *take(const char *name)
{
    redlock_lock *lock = client_take(client, name);
    ck_assert(wait_until(client_ready(client) == NODES, 5000)); /* each has answered */
    return lock;
}

static void may_have_lost(unsigned node)
{
    pthread_mutex_lock(&client->mutex);
    rl_leases_void(client, node, rl_client_now_ns(client));
    pthread_mutex_unlock(&client->mutex);
}

static int loss_of(redlock_lock *lock)
{
    redlock_hold_report hold = REDLOCK_HOLD_REPORT_INIT(NULL, 0);
    ck_assert_int_eq(redlock_get_hold(lock, &hold), 0);
    return hold.loss;
}

TEST(voided, lock_is_lost_with_its_majority_and_says_why)
{
    redlock_lock *lock = take("name");
    may_have_lost(1);
    may_have_lost(1); /* the same */
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_str_eq(said, "");
    may_have_lost(2);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(loss_of(lock), REDLOCK_LOSS_VOID);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

/* One line for all that are lost with one master: their number, and the one that was taken last.
 */
TEST(voided, they_are_counted_and_first_that_is_found_is_named)
{
    redlock_lock *locks[] = {take("one"), take("two"), take("three")};
    may_have_lost(0);
    may_have_lost(1);
    ck_assert_msg(strstr(said, ": may have lost its keys: 3 locks that stood on it are lost, for "
                               "example 'three'"),
                  "%s", said);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_release(locks[i]), REDLOCK_EEXPIRED);
}

/* It is another process's, which looks itself. Here only an answer is awaited. */
TEST(voided, detached_lock_is_no_loss)
{
    struct fake_rule late = {.match = "acquire name *", .delay_ms = 60000};
    char text[REDLOCK_HANDLE_MAX];
    fake_rule(fakes[2], &late);
    ck_assert_int_eq(redlock_detach(client_take(client, "name"), text, sizeof(text)), 0);
    ck_assert_ptr_nonnull(client->leases.open.first);
    may_have_lost(0);
    ck_assert_str_eq(said, "");
    redlock_lock *lock = NULL;
    ck_assert_int_eq(redlock_attach(client, text, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

static void *inspect(void *unused)
{
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    ck_assert_int_eq(redlock_inspect(client, "name", NULL, &info), 0);
    return unused;
}

/* It has no hold that could be lost. */
TEST(voided, query_goes_on)
{
    struct fake_rule late = {.match = "inspect *", .times = 1, .delay_ms = 500};
    pthread_t thread;
    for (unsigned i = 0; i < NODES; i++)
        fake_rule(fakes[i], &late);
    ck_assert_int_eq(pthread_create(&thread, NULL, inspect, NULL), 0);
    ck_assert(wait_until(fake_count(fakes[0], "inspect *") > 0, 5000));
    may_have_lost(0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(said, "");
}

static struct rl_lease *other;

static void end_other(struct rl_call *call, unsigned events, int64_t now_ns)
{
    (void)call;
    if (!(events & RL_EV_LOST) || !other)
        return;
    struct rl_lease *lease = other;
    other = NULL;
    rl_lease_release(lease, now_ns, 0);
}

/* What is behind it is found all the same. */
TEST(voided, lease_may_end_while_those_before_it_are_recounted)
{
    redlock_lock *last = take("last"), *gone = take("gone"), *first = take("first");
    struct rl_call call = {.on_hold_event = end_other};
    other = gone->lease;
    may_have_lost(0);
    first->lease->call = &call;
    may_have_lost(1);
    first->lease->call = NULL;
    ck_assert_ptr_null(other);
    ck_assert_int_eq(redlock_validity_ms(first), 0);
    ck_assert_int_eq(redlock_validity_ms(last), 0);
    ck_assert_ptr_nonnull(strstr(said, ": 2 locks that stood on it are lost"));
    redlock_release(first);
    redlock_release(gone);
    redlock_release(last);
}

CASE(voided, .set_up = begin, .tear_down = end)
