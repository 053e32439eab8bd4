/* test_native.c - plain locks by the native pair, SET NX PX and GET: what masters, proxies and
 * rights may answer to the two, and who must not use them. Fake masters. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"

#include <stdio.h>
#include <string.h>

enum { MASTERS = 3, SOON_MS = 5000 };

static struct fake *fakes[MASTERS];
static redlock *client;

static void setup(void)
{
    fakes_start(fakes, MASTERS);
    client = client_open(fakes_file(fakes, MASTERS, "linger 2s\nguard off\n"));
    ck_assert(wait_until(client_ready(client) == MASTERS, 10000));
}

static void teardown(void)
{
    redlock_close(client);
}

/* At a majority. */
static void rule(struct fake_rule made)
{
    for (int i = 0; i < 2; i++)
        fake_rule(fakes[i], &made);
}

static unsigned count_all(const char *match)
{
    unsigned count = 0;
    for (int i = 0; i < MASTERS; i++)
        count += fake_count(fakes[i], match);
    return count;
}

static bool any_has(const char *name)
{
    return fake_has(fakes[0], name) || fake_has(fakes[1], name) || fake_has(fakes[2], name);
}

static int try_now(const char *name)
{
    redlock_lock *lock = NULL;
    int result = client_try(client, name, 5000, 0, NULL, &lock);
    ck_assert_int_eq(result == 0, lock != NULL);
    return result;
}

/* What a pair may have left is released everywhere. */
static void expect_undone(const char *name)
{
    ck_assert(wait_until(client_ready(client) == MASTERS && !any_has(name), SOON_MS));
    ck_assert(wait_until(client_stats(client).pending_releases == 0, SOON_MS));
}

/* ---- answers -------------------------------------------------------------------------- */

/* A proxy that reads from a replica: it shows what was there a moment ago. */
TEST(pairs, get_that_shows_nothing_is_no_grant)
{
    rule((struct fake_rule){.match = "GET *", .reply = "$-1\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM);
    expect_undone("name");
    ck_assert_uint_ge(count_all("release name*"), MASTERS);
}

TEST(pairs, get_that_shows_another_value_is_no_grant)
{
    rule((struct fake_rule){.match = "GET *", .reply = "$5\r\nother\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM);
    expect_undone("name");
    ck_assert_uint_ge(count_all("release name*"), MASTERS);
}

TEST(pairs, nil_of_resp3_closes_connection, .rows = 2)
{
    static const char *const commands[] = {"acquire *", "GET *"};
    unsigned before = fake_connections(fakes[0]);
    rule((struct fake_rule){.match = commands[_i], .times = 1, .reply = "_\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM);
    ck_assert(wait_until(fake_connections(fakes[0]) > before, SOON_MS));
    expect_undone("name");
}

/* What no SET and no GET answers. */
static const struct {
    const char *match, *reply;
} nonsense[] = {
    {"acquire *", ":1\r\n"},       {"acquire *", "+QUEUED\r\n"}, {"acquire *", "$2\r\nOK\r\n"},
    {"acquire *", "*1\r\n:1\r\n"}, {"GET *", "+OK\r\n"},         {"GET *", ":1\r\n"},
};
enum { NONSENSE = sizeof(nonsense) / sizeof(nonsense[0]) };

TEST(pairs, nonsense_closes_connection, .rows = NONSENSE)
{
    unsigned before = fake_connections(fakes[0]);
    rule((struct fake_rule){
        .match = nonsense[_i].match, .times = 1, .reply = nonsense[_i].reply});
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM);
    ck_assert(wait_until(fake_connections(fakes[0]) > before, SOON_MS));
    expect_undone("name");
}

/* The lock is not released, whatever a GET showed that nobody asked for now. */
TEST(pairs, what_get_shows_is_no_answer_to_release)
{
    char shown[160];
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "name", 5000, 0, NULL, &lock), 0);
    const char *token = redlock_token(lock);
    snprintf(shown, sizeof(shown), "$%zu\r\n%s\r\n", strlen(token), token);
    rule((struct fake_rule){.match = "release name*", .times = 1, .reply = shown});
    int result = redlock_release(lock);
    ck_assert(result != 0 || fake_has(fakes[0], "name") + fake_has(fakes[1], "name") <= 1);
    expect_undone("name");
}

/* The first reply comes, the second does not: nobody can tell what became of it. The next
 * connections release it before they take the lock with another token. */
TEST(pairs, break_between_two_leaves_vote_unknown)
{
    redlock_lock *lock = NULL;
    rule((struct fake_rule){
        .match = "GET *", .times = 1, .cut = true, .cut_at = 0, .then = FAKE_CLOSE});
    ck_assert_int_eq(client_try(client, "name", 5000, 0, NULL, &lock), 0);
    for (int i = 0; i < 2; i++)
        ck_assert(wait_until(fake_count(fakes[i], "release name*") == 1, SOON_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_undone("name");
}

TEST(pairs, right_to_set_or_get_that_is_missing_is_told, .rows = 2)
{
    static const struct {
        const char *match, *reply, *text;
    } rights[] = {
        {"acquire *", "-NOPERM this user has no permissions to run the 'set' command\r\n",
         "'set' command (SET)"},
        {"GET *", "-NOPERM this user has no permissions to run the 'get' command\r\n",
         "'get' command (GET)"},
    };
    redlock_node_status nodes[MASTERS];
    redlock_status_report status = REDLOCK_STATUS_INIT(nodes, MASTERS);
    rule((struct fake_rule){.match = rights[_i].match, .reply = rights[_i].reply});
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM);
    expect_undone("name");
    ck_assert_int_eq(redlock_get_status(client, &status), 0);
    ck_assert_msg(strstr(nodes[0].refusal, rights[_i].text) != NULL, "%s", nodes[0].refusal);
}

/* What no lock can be had through, the probe tells. */
TEST(pairs, probe_tells_of_get_that_shows_nothing)
{
    redlock_node_status nodes[MASTERS];
    redlock_status_report status = REDLOCK_STATUS_INIT(nodes, MASTERS);
    rule((struct fake_rule){.match = "GET *", .reply = "$-1\r\n"});
    (void)redlock_probe(client, NULL, &status);
    ck_assert_int_eq(nodes[0].acquire.result, REDLOCK_PROOF_FAILED);
    ck_assert_msg(strstr(nodes[0].acquire.text, "GET shows nothing") != NULL, "%s",
                  nodes[0].acquire.text);
    ck_assert_int_eq(nodes[2].acquire.result, REDLOCK_PROOF_OK);
}

/* A replica under the master's address: its refusal ends the connection at once. */
TEST(pairs, refusal_of_replica_closes_connection)
{
    unsigned before = fake_connections(fakes[0]);
    rule((struct fake_rule){
        .match = "acquire *", .times = 1, .reply = "-READONLY You can't write\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM);
    ck_assert(wait_until(fake_connections(fakes[0]) > before, SOON_MS));
    expect_undone("name");
}

/* A master without memory still tells who has it. */
TEST(pairs, refusal_for_want_of_memory_shows_holder)
{
    redlock_lock *held = client_take(client, "name");
    rule((struct fake_rule){.match = "acquire *", .reply = "-OOM command not allowed\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert_int_eq(try_now("name"), REDLOCK_ENOQUORUM); /* and that there is none */
}

/* The holder's key ends between SET and GET: refused, and nobody is shown. */
TEST(pairs, key_that_ends_between_two_is_refusal)
{
    redlock_lock *held = client_take(client, "name");
    rule((struct fake_rule){.match = "GET *", .reply = "$-1\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(held), 0);
}

TEST(pairs, other_data_under_name_is_told)
{
    rule((struct fake_rule){.match = "acquire *", .reply = "$-1\r\n"});
    rule((struct fake_rule){.match = "GET *", .reply = "-WRONGTYPE Operation against\r\n"});
    ck_assert_int_eq(try_now("name"), REDLOCK_EWRONGTYPE);
}

/* ---- who uses the pair ------------------------------------------------------------------ */

TEST(pairs, try_of_free_plain_lock_sends_no_script_to_take_it)
{
    redlock_stats before = client_stats(client);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "name", 5000, 0, NULL, &lock), 0);
    ck_assert(wait_until(count_all("GET name") == MASTERS, SOON_MS));
    ck_assert_uint_eq(client_stats(client).commands - before.commands, 2 * MASTERS);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(pairs, try_with_report_uses_script)
{
    redlock_node_vote votes[MASTERS];
    redlock_report report = REDLOCK_REPORT_INIT(votes, MASTERS);
    redlock_lock *held = client_take(client, "name"), *lock = NULL;
    unsigned pairs = count_all("GET *");
    ck_assert_int_eq(client_try(client, "name", 5000, 0, &report, &lock), REDLOCK_EHELD);
    ck_assert_uint_eq(count_all("GET *"), pairs);
    ck_assert(votes[0].ttl_ms > 0 || votes[1].ttl_ms > 0);
    ck_assert_int_eq(redlock_release(held), 0);
}

/* The first round may use the pair. Whoever is in a queue must not: what is reserved for it,
 * the pair would take for another's. */
TEST(pairs, waiter_in_queue_uses_scripts_only)
{
    redlock_lock *held = client_take(client, "name"), *lock = NULL;
    unsigned pairs = count_all("GET *");
    ck_assert_int_ne(client_try(client, "name", 5000, 2000, NULL, &lock), 0);
    ck_assert_uint_le(count_all("GET *"), pairs + MASTERS);
    ck_assert_uint_ge(count_all("wait name*") + count_all("acquire name*"), 3 * MASTERS);
    ck_assert_int_eq(redlock_release(held), 0);
}

CASE(pairs, .set_up = setup, .tear_down = teardown)
