/* test_fitness.c - whom the restart guard lets vote, with scripted masters: what was once seen
 * is not forgotten over what is heard next, and counts by whichever link it is said. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"
#include "masters.h"

#include <stdio.h>
#include <string.h>

static struct fake *fake;
static redlock *client;
static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
static char text[192];

static void open_one(const char *settings)
{
    fakes_start(&fake, 1);
    client = client_open(fakes_file(&fake, 1, settings));
    ck_assert(wait_until(client_ready(client) == 1, 5000));
}

static void close_all(void)
{
    redlock_close(client);
}

static const char *run_id(void)
{
    redlock_get_status(client, &status);
    return status.node[0].run_id;
}

/* It says that it is one, on its next connection. */
static void is_seen_as_a_replica(void)
{
    fake_says(fake, NULL, -1, "slave");
    fake_hang_up(fake, false);
    ck_assert(wait_until(client_state(client, 0, text) == REDLOCK_NODE_REFUSED, 5000));
    ck_assert_ptr_nonnull(strstr(text, "is a replica"));
}

static void expect_guarded_as(const char *word)
{
    ck_assert_msg(wait_until(client_state(client, 0, text) == REDLOCK_NODE_GUARDED, 5000), "%s",
                  text);
    ck_assert(wait_until((client_state(client, 0, text), strstr(text, word) != NULL), 5000));
    ck_assert(!client_can_take(client, "another"));
}

static void expect_guarded(void)
{
    expect_guarded_as("was a replica");
}

TEST(guard, refused_info_makes_nobody_forget_replica)
{
    open_one("max-ttl 20s\n");
    is_seen_as_a_replica();
    fake_rule(fake, &(struct fake_rule){.match = "INFO*",
                                        .times = 1,
                                        .reply = "-BUSY Redis is busy running a script.\r\n"});
    ck_assert(wait_until(
        (client_state(client, 0, text), strstr(text, "INFO was refused") != NULL), 5000));
    fake_says(fake, NULL, -1, "master");
    expect_guarded();
    close_all();
}

TEST(guard, nor_does_another_server_under_its_name)
{
    static const char another[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    char first[sizeof(status.node[0].run_id)];
    open_one("max-ttl 20s\n");
    snprintf(first, sizeof(first), "%s", run_id());
    is_seen_as_a_replica();
    fake_says(fake, another, -1, "slave");
    fake_hang_up(fake, false);
    ck_assert(wait_until(strcmp(run_id(), another) == 0, 5000));
    fake_says(fake, first, -1, "master");
    fake_hang_up(fake, false);
    ck_assert(wait_until(strcmp(run_id(), first) == 0, 5000));
    ck_assert(wait_until((client_state(client, 0, text), strstr(text, "two servers") != NULL),
                         5000));
    ck_assert(!client_can_take(client, "another"));
    close_all();
}

/* The link that drains brings it when the other one, by which it votes, is up. */
TEST(guard, draining_link_tells_of_its_server)
{
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    open_one("max-ttl 20s\nstall-limit 5s\nlinger 0ms\n");
    fake_rule(fake, &(struct fake_rule){
                        .match = "acquire *",
                        .times = 1,
                        .delay_ms = 2000,
                        .reply = "-READONLY You can't write against a read only replica.\r\n"});
    int code = client_try(client, "name", 0, 5000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_uint_eq(fake_connections(fake), 2);
    expect_guarded();
    ck_assert_uint_eq(fake_connections(fake), 2);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* Both slots of a node, each time one is used anew. */
TEST(guard, connection_beside_silent_one_selects_its_database)
{
    struct node_list list = {.len = 0};
    struct fake_record record;
    redlock_lock *lock = NULL;
    fake = fake_start(false);
    node_list_line(&list, "stall-limit 5s");
    node_list_line(&list, "node redis://127.0.0.1:%d/3", fake_endpoint(fake)->port);
    client = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(client) == 1, 5000));
    fake_rule(fake, &(struct fake_rule){.match = "acquire *",
                                        .times = 1,
                                        .delay_ms = 2000,
                                        .reply = "-ERR not now\r\n"});
    int code = client_try(client, "name", 0, 5000, NULL, &lock);
    ck_assert_int_eq(code, 0);
    ck_assert_uint_eq(fake_connections(fake), 2);
    ck_assert_uint_eq(fake_count(fake, "SELECT 3"), 2);
    ck_assert(fake_find(fake, "SELECT 3", 1, &record));
    ck_assert_int_eq(record.connection, 1);
    redlock_release(lock);
    close_all();
}

/* It answers INFO as any server does, and would be asked for keys that it does not know. */
TEST(guard, sentinel_has_no_vote)
{
    fakes_start(&fake, 1);
    fake_says_also(fake, "redis_mode:sentinel\r\n");
    client = client_open(fakes_file(&fake, 1, NULL));
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_REFUSED);
    ck_assert_msg(strstr(text, "is a Sentinel") != NULL, "%s", text);
    ck_assert(!client_can_take(client, "name"));
    ck_assert_uint_eq(fake_count(fake, "acquire *"), 0);
    close_all();
}

CASE(guard, .timeout_s = 30)
