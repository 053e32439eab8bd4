/* test_two_addresses.c - a name with several addresses, which lead to one server or to two. Of
 * two, clients behind a partition would reach different ones. */
#include "config_auto.h"

#include "client.h"
#include "fake_dns.h"
#include "masters.h"

#include <stdio.h>
#include <string.h>

enum { SOON_MS = 20000, TTL_MS = 900 };

static const char *const guards[] = {"off", "on", "marker", "strict"};

static struct masters *masters; /* two, on one port of two addresses */
static int port;
static char text[192];

static void expect_ok(struct reply reply)
{
    ck_assert_msg(reply.type == '+', "%s", reply.text);
}

static void lead(unsigned node, const char *addresses)
{
    char number[16];
    snprintf(number, sizeof(number), "%d", port);
    expect_ok(
        master_do(masters, node, "CONFIG", "SET", "bind", addresses, "port", number, NULL));
}

static void start(void)
{
    masters = masters_start(2, NULL);
    port = net_free_port();
    lead(0, "127.0.0.2");
    lead(1, "127.0.0.3");
}

static redlock *open_client(const char *guard)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    struct node_list list = {.len = 0};
    redlock *client = NULL;
    node_list_line(&list, "guard %s\nmax-ttl 1s\nttl 900ms\nconnect-timeout 500ms", guard);
    node_list_line(&list, "node redis://one.example:%d", port);
    config.file = node_list_write(&list);
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    return client;
}

static bool takes(redlock *client, redlock_lock **ret_lock)
{
    return client_try(client, "x", TTL_MS, 0, NULL, ret_lock) == 0;
}

/* A client that wants no lock begins no quarantine. */
static bool votes(redlock *client)
{
    redlock_lock *lock = NULL;
    return takes(client, &lock) && redlock_release(lock) == 0;
}

static bool has_no_vote(redlock *client, const char *why)
{
    return client_state(client, 0, text) != REDLOCK_NODE_READY && strstr(text, why) != NULL;
}

static void expect_no_vote(redlock *client, const char *why)
{
    bool votes_now = false;
    bool settled = wait_until(has_no_vote(client, why) || (votes_now = votes(client)), SOON_MS);
    ck_assert_msg(settled && !votes_now, "votes: %d, %s", votes_now, text);
}

static void expect_vote(redlock *client)
{
    ck_assert_msg(wait_until(votes(client), SOON_MS), "%s",
                  (client_state(client, 0, text), text));
}

static void connect_anew(void)
{
    ck_assert_int_eq(master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL).type, ':');
}

/* Each reaches the other one of both. Then both reach both. */
TEST(masters, clients_behind_partition_are_never_both_holders, .first = 1, .rows = 4)
{
    redlock_lock *lock[2] = {NULL, NULL};
    redlock *client[2];
    for (unsigned i = 0; i < 2; i++) {
        master_pause(masters, 1 - i);
        fake_dns_answer(i == 0 ? "127.0.0.2 127.0.0.3" : "127.0.0.3 127.0.0.2");
        client[i] = open_client(guards[_i]);
        (void)wait_until(has_no_vote(client[i], "another address") || votes(client[i]),
                         SOON_MS);
        master_resume(masters, 1 - i);
    }
    bool first = takes(client[0], &lock[0]), second = takes(client[1], &lock[1]);
    ck_assert_msg(!first || !second, "two holders");
    for (unsigned i = 0; i < 2; i++) {
        expect_no_vote(client[i], "two servers");
        redlock_close(client[i]);
    }
}

TEST(masters, addresses_that_lead_to_one_server_have_one_vote, .first = 2, .rows = 4)
{
    lead(1, "127.0.0.4");
    lead(0, "127.0.0.2 127.0.0.3");
    fake_dns_answer("127.0.0.2 127.0.0.3");
    CLIENT client = open_client(guards[_i]);
    expect_vote(client);
    connect_anew();
    expect_vote(client);
}

/* Nothing says who is at the other one, so it may be anybody. */
TEST(masters, address_that_refuses_is_unknown)
{
    fake_dns_answer("127.0.0.2 127.0.0.5");
    CLIENT client = open_client("off");
    expect_no_vote(client, "127.0.0.5");
    lead(0, "127.0.0.2 127.0.0.5");
    expect_vote(client);
}

TEST(masters, name_that_has_one_address_again_votes)
{
    fake_dns_answer("127.0.0.2 127.0.0.3");
    CLIENT client = open_client("off");
    expect_no_vote(client, "two servers");
    fake_dns_answer("127.0.0.2");
    expect_vote(client);
}

/* It is not asked again: it had shown this process. */
TEST(masters, address_that_was_left_out_for_a_while_is_still_known)
{
    lead(0, "127.0.0.2 127.0.0.5");
    fake_dns_answer("127.0.0.2 127.0.0.5");
    redlock *client = open_client("off");
    expect_vote(client);
    fake_dns_answer("127.0.0.2");
    connect_anew();
    expect_vote(client);
    lead(0, "127.0.0.2");
    fake_dns_answer("127.0.0.5 127.0.0.2");
    connect_anew();
    expect_vote(client);
    redlock_close(client);
}

TEST(masters, more_addresses_than_can_be_asked_have_no_vote)
{
    lead(0, "127.0.0.2 127.0.0.12 127.0.0.13 127.0.0.14 127.0.0.15 127.0.0.16 127.0.0.17 "
            "127.0.0.18 127.0.0.19");
    fake_dns_answer("127.0.0.2 127.0.0.12 127.0.0.13 127.0.0.14 127.0.0.15 127.0.0.16 "
                    "127.0.0.17 127.0.0.18 127.0.0.19");
    CLIENT client = open_client("off");
    expect_no_vote(client, "more than 8");
    fake_dns_answer("127.0.0.2 127.0.0.12 127.0.0.13 127.0.0.14 127.0.0.15 127.0.0.16 "
                    "127.0.0.17 127.0.0.18");
    expect_vote(client);
}

static unsigned connections(void)
{
    static const char field[] = "total_connections_received:";
    struct reply reply = master_do(masters, 0, "INFO", "stats", NULL);
    const char *at = strstr(reply.text, field);
    unsigned number = 0;
    ck_assert(at && sscanf(at + sizeof(field) - 1, "%u", &number) == 1);
    return number;
}

/* The usual address of IPv6 beside one of IPv4 may lead nowhere, and is not asked. */
TEST(masters, one_address_of_each_family_costs_nothing, .rows = 2)
{
    static const char *const answers[] = {"127.0.0.2", "::1 127.0.0.2"};
    fake_dns_answer(answers[_i]);
    unsigned before = connections();
    CLIENT client = open_client("off");
    expect_vote(client);
    ck_assert_uint_eq(connections() - before, 2); /* the client's, and the last question's */
}

CASE(masters, .timeout_s = 60, .set_up = start)
