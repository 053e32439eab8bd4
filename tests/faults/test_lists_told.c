/* test_lists_told.c - what a master tells of other lists of nodes, and answers that are none. Fake
 * masters: real ones tell what lists_join.lua does. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"

#include <stdio.h>
#include <string.h>

enum { MASTERS = 3, TELLS = 2, SOON_MS = 10000 };

#define FIVE "n5-ttl30000-keys2-drift10000-guard-1f2e3d4c"
#define SEVEN "n7-ttl30000-keys2-drift10000-guard-2f2e3d4c"
#define ANOTHERS_NONCE "$16\r\n0000000000000000\r\n"

static struct fake *fakes[MASTERS];
static redlock *client;

/* One master answers so whenever it is shown a list; the others know of none. */
static void open_told(const char *reply)
{
    fakes_start(fakes, MASTERS);
    for (int i = 0; i < MASTERS; i++)
        fake_rule(fakes[i], &(struct fake_rule){
                                .match = "EVAL *",
                                .reply = i == TELLS ? reply : "*3\r\n{nonce}:0\r\n$0\r\n\r\n"});
    client = client_open(fakes_file(fakes, MASTERS, "guard off\nconfig-agreement warn\n"));
}

static void teardown(void)
{
    redlock_close(client);
}

TEST(told, each_list_is_counted_and_first_one_shown, .rows = 2)
{
    static const char *const replies[] = {
        "*3\r\n{nonce}:1\r\n$43\r\n" FIVE "\r\n",
        "*3\r\n{nonce}:2\r\n$87\r\n" FIVE " " SEVEN "\r\n",
    };
    char text[192];
    open_told(replies[_i]);
    ck_assert(wait_until(client_ready(client) == MASTERS, SOON_MS));
    ck_assert_uint_eq(client_stats(client).other_lists, 1 + (unsigned)_i);
    ck_assert_int_eq(client_state(client, TELLS, text), REDLOCK_NODE_READY);
    ck_assert_ptr_nonnull(strstr(text, FIVE " (its list has 5 masters, this one 3)"));
    ck_assert_int_eq(strstr(text, ", and 1 more") != NULL, _i == 1);
}

/* Far longer than what is kept of a reply. */
static const char *much(void)
{
    static char reply[8192];
    enum { MARKS = 150 };
    int len = snprintf(reply, sizeof(reply), "*3\r\n{nonce}:%d\r\n$%d\r\n", MARKS,
                       44 * MARKS - 1);
    for (int i = 0; i < MARKS; i++)
        len += snprintf(reply + len, sizeof(reply) - (size_t)len, "%s" FIVE, i ? " " : "");
    snprintf(reply + len, sizeof(reply) - (size_t)len, "\r\n");
    return reply;
}

/* No part of it counts. */
TEST(lies, answer_of_another_shape_ends_connection, .rows = 6)
{
    const char *const replies[] = {
        "*3\r\n" ANOTHERS_NONCE ":1\r\n$43\r\n" FIVE "\r\n",
        "*3\r\n{nonce}:1\r\n$0\r\n\r\n",
        "*3\r\n{nonce}:0\r\n$43\r\n" FIVE "\r\n",
        "*3\r\n{nonce}:1\r\n$5\r\nhello\r\n",
        "*3\r\n{nonce}:-1\r\n$43\r\n" FIVE "\r\n",
        much(),
    };
    open_told(replies[_i]);
    ck_assert(wait_until(client_ready(client) < MASTERS && fake_connections(fakes[TELLS]) > 1,
                         SOON_MS));
    ck_assert(wait_until(client_ready(client) == MASTERS - 1, SOON_MS));
    ck_assert_uint_eq(client_stats(client).other_lists, 0);
}

CASE(told, .timeout_s = 30, .tear_down = teardown)
CASE(lies, .timeout_s = 30, .tear_down = teardown)
