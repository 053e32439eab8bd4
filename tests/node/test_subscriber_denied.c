/* tags: threads */
/* test_subscriber_denied.c - clients whose user may not listen for releases, as every user of
 * Redis 7 that was given no channels: they lock all the same, and wait by asking. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MASTERS = 3, WAIT_MS = 20000, LIMIT_MS = 10000 };

static struct masters *masters;
static redlock *client; /* the user's */
static redlock *other;  /* with all rights */

static void set_user(const char *channels)
{
    for (unsigned i = 0; i < MASTERS; i++) {
        struct reply reply = master_do(masters, i, "ACL", "SETUSER", "locks", "on", ">pw", "~*",
                                       "+@all", "resetchannels", channels, NULL);
        ck_assert_msg(reply.type == '+', "%s", reply.text);
    }
}

static void set_up(void)
{
    masters = masters_start(MASTERS, NULL);
    set_user("&unrelated");
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
    struct node_list list = {.len = 0};
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < MASTERS; i++)
        node_list_line(&list,
                       "node redis://locks@127.0.0.1:%d password-env=TEST_REDLOCK_SECRET",
                       masters->node[i].tcp_at.port);
    client = client_open(node_list_write(&list));
    other = client_open(masters_file(masters, NULL));
}

static void tear_down(void)
{
    redlock_close(client);
    redlock_close(other);
}

/* The waiter's wish to listen has been refused everywhere. */
static bool all_denied(void)
{
    for (unsigned i = 0; i < MASTERS; i++) {
        if (!strstr(master_do(masters, i, "ACL", "LOG", NULL).text, "redlock:wake:"))
            return false;
    }
    return true;
}

/* Besides the lock there is a queue everywhere, with the waiter in it. */
static bool all_queue(void)
{
    for (unsigned i = 0; i < MASTERS; i++) {
        if (master_do(masters, i, "DBSIZE", NULL).number != 2)
            return false;
    }
    return true;
}

static void *wait_for_it(void *waiter)
{
    static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    int code = client_try(waiter, "name", 0, WAIT_MS, &report, &lock);
    return code == 0 && redlock_release(lock) == 0 ? waiter : NULL;
}

/* One holds the name until the other waits for it; then that one gets it. */
static void expect_a_wait_that_ends(redlock *holder, redlock *waiter, bool (*settled)(void))
{
    pthread_t thread;
    void *got;
    redlock_lock *held = client_take(holder, "name");
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_it, waiter), 0);
    ck_assert(wait_until(client_stats(waiter).waiting == 1, LIMIT_MS));
    ck_assert(wait_until(settled(), LIMIT_MS));
    int64_t released = now_ms();
    ck_assert_int_eq(redlock_release(held), 0);
    pthread_join(thread, &got);
    ck_assert_ptr_nonnull(got);
    ck_assert_int_lt(now_ms() - released, WAIT_MS / 2);
}

TEST(denied, locks_are_taken_and_given_back)
{
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    ck_assert_int_eq(client_ready(client), MASTERS);
}

TEST(denied, waiter_without_right_to_listen_polls)
{
    expect_a_wait_that_ends(other, client, all_denied);
    ck_assert_uint_eq(client_stats(client).wakes, 0);
    ck_assert_uint_eq(client_ready(client), MASTERS); /* nothing is held against the nodes */
    ck_assert(client_can_take(client, "name"));
}

/* Its release can't wake them: it is a release all the same. */
TEST(denied, user_without_right_to_publish_releases)
{
    expect_a_wait_that_ends(client, other, all_queue);
    ck_assert_uint_eq(client_stats(client).unconfirmed, 0);
    ck_assert_uint_eq(client_stats(client).released, 1);
}

TEST(denied, waiter_with_right_to_listen_is_woken)
{
    set_user("&redlock:wake:*");
    expect_a_wait_that_ends(other, client, all_queue);
    ck_assert_uint_gt(client_stats(client).wakes, 0);
}

CASE(denied, .timeout_s = 60, .set_up = set_up, .tear_down = tear_down)
