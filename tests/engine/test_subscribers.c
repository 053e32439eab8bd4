/* test_subscribers.c - the connections on which a client hears of releases, all together: for
 * how long they are watched, and which of them are alive. The time is made up. */
#include "config_auto.h"

#include "engine/loop/call.h"
#include "engine/wait/subscribers.h"
#include "suite.h"

#include <string.h>

#define S RL_NS_PER_S
#define UNWANTED (5 * S)

enum { NODES = 3 };

static redlock *client; /* of masters that are not there */
static int64_t now_ns;

static void set_up(void)
{
    static const redlock_node nodes[NODES] = {
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/1"},
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/2"},
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/3"},
    };
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.nodes = nodes;
    config.node_count = NODES;
    config.background = REDLOCK_BACKGROUND_NEVER;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    now_ns = rl_client_now_ns(client);
    rl_subs_start(&client->subs, now_ns);
    client->wait_queues.left_ns = now_ns;
}

static void tear_down(void)
{
    redlock_close(client);
}

static unsigned wanted(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < NODES; i++)
        count += client->nodes.all[i].sub->wanted;
    return count;
}

static void tick(int64_t at_ns)
{
    client->loop.hooks->tick(client, at_ns);
}

TEST(subscribers, connections_are_watched_for_moment_after_last_wait)
{
    tick(now_ns + UNWANTED);
    ck_assert_uint_eq(wanted(), NODES);
    tick(now_ns + UNWANTED + 1);
    ck_assert_uint_eq(wanted(), 0);
    ck_assert_int_eq(rl_subs_due_ns(&client->subs), INT64_MAX);
    rl_subs_start(&client->subs, now_ns + UNWANTED + 2);
    ck_assert_uint_eq(wanted(), NODES);
}

TEST(subscribers, connections_are_watched_while_somebody_waits)
{
    struct rl_waiter waiter = {.queue = NULL};
    struct rl_target target = {
        .kind = rl_kind(REDLOCK_PLAIN), .name = "name", .name_len = strlen("name")};
    ck_assert_int_eq(rl_wait_queue_join(&client->wait_queues, &waiter, &target, now_ns), 0);
    tick(now_ns + 10 * UNWANTED);
    ck_assert_uint_eq(wanted(), NODES);
    rl_wait_queue_leave(&client->wait_queues, &waiter, false, now_ns + 10 * UNWANTED);
    tick(now_ns + 11 * UNWANTED);
    ck_assert_uint_eq(wanted(), NODES);
    tick(now_ns + 11 * UNWANTED + 1);
    ck_assert_uint_eq(wanted(), 0);
}

TEST(subscribers, those_heard_lately_are_alive)
{
    for (unsigned i = 0; i < NODES; i++)
        client->nodes.all[i].sub->connection.heard_ns = now_ns + i;
    ck_assert_uint_eq(rl_subs_alive(&client->subs, now_ns), rl_all(NODES));
    ck_assert_uint_eq(rl_subs_alive(&client->subs, now_ns + 2), rl_bit(2));
    ck_assert_uint_eq(rl_subs_alive(&client->subs, now_ns + 3), 0);
}

CASE(subscribers, .set_up = set_up, .tear_down = tear_down)
