/* tags: long */
/* test_endpoint.c - a real master that scripted Sentinels name: who must name it and when, and what
 * a Sentinel's answers may be. */
#include "config_auto.h"

#include "client.h"
#include "fake_sentinels.h"
#include "kinds/marker.h"
#include "masters.h"
#include "look.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SENTINELS = FAKE_SENTINELS, WAIT_MS = 20000 };
#define SETTINGS "max-ttl=100ms ttl=80ms"

static struct masters *masters;
static char list[512];

static void names(unsigned number, int port, unsigned term)
{
    fake_sentinel_names(number, port, term);
}

static void all_name(unsigned node, unsigned term)
{
    for (unsigned i = 0; i < SENTINELS; i++)
        names(i, masters->node[node].tcp_at.port, term);
}

static void start(unsigned servers)
{
    masters = masters_start(servers, NULL);
    fake_sentinels_start(list, sizeof(list));
    strncat(list, "/locks " SETTINGS, sizeof(list) - strlen(list) - 1);
    all_name(0, 0);
}

static void stop(void)
{
    fake_sentinels_stop();
    masters_stop(masters);
}

static bool takes(redlock *client, const char *name)
{
    redlock_lock *lock = NULL;
    int result = client_try(client, name, 80, 0, NULL, &lock);
    redlock_release(lock);
    return result == REDLOCK_OK;
}

/* What the node says; what Sentinels answer is told once they have. */
static bool says(redlock *client, const char *why)
{
    static char text[192];
    bool said = wait_until((takes(client, "s"), client_state(client, 0, text), strstr(text, why)),
                           WAIT_MS);
    if (!said)
        printf("it says: %s\n", text);
    return said;
}

static bool takes_in_time(redlock *client, const char *name)
{
    return wait_until(takes(client, name), WAIT_MS);
}

/* ---- who must name it --------------------------------------------------------------------- */

/* The first look begins a quarantine; the marker has the term. */
TEST(vote, counts_once_majority_names_the_server_and_its_quarantine_is_over)
{
    start(1);
    fake_door(fake_sentinels[2], FAKE_REFUSE);
    CLIENT client = client_open(list);
    int64_t began_ms = now_ms();
    ck_assert(takes_in_time(client, "a"));
    ck_assert_int_ge(now_ms() - began_ms, 1100); /* max-ttl and D */
    struct reply marker = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(strstr(marker.text, " @0") != NULL, "%s", marker.text);
    stop();
}

/* One of three. */
TEST(vote, is_not_wanted_of_a_server_that_a_minority_names)
{
    start(1);
    fake_door(fake_sentinels[1], FAKE_REFUSE);
    fake_door(fake_sentinels[2], FAKE_REFUSE);
    CLIENT client = client_open(list);
    ck_assert(!takes(client, "a"));
    ck_assert(says(client, "2 refuse connections"));
    ck_assert(!master_has(masters, 0, RL_MARKER_KEY));
    stop();
}

/* Nothing that writes is sent to who is not named. */
TEST(vote, is_not_wanted_where_they_name_different_servers)
{
    start(2);
    names(1, masters->node[1].tcp_at.port, 1);
    fake_door(fake_sentinels[2], FAKE_REFUSE);
    CLIENT client = client_open(list);
    ck_assert(!takes(client, "a"));
    for (unsigned i = 0; i < 2; i++) {
        ck_assert(!master_has(masters, i, RL_MARKER_KEY));
        ck_assert(!master_has(masters, i, "a"));
    }
    fake_door(fake_sentinels[2], FAKE_OPEN);
    ck_assert(takes_in_time(client, "a"));
    ck_assert(master_has(masters, 0, RL_MARKER_KEY));
    ck_assert(!master_has(masters, 1, RL_MARKER_KEY));
    stop();
}

static void *keeps_trying(void *client)
{
    redlock_lock *lock = NULL;
    client_try(client, "w", 80, 6000, NULL, &lock);
    redlock_release(lock);
    return NULL;
}

/* One Sentinel hangs as it is greeted, and two connect when all had failed: a single try waits for
 * what they were asked, and does not go by what was known before. */
TEST(vote, is_hoped_for_again_once_a_majority_is_asked)
{
    static const struct fake_rule silent = {.match = "SENTINEL MASTER *", .then = FAKE_SILENT,
                                            .reply = ""};
    pthread_t thread;
    start(1);
    strncat(list, " connect-timeout=3s", sizeof(list) - strlen(list) - 1);
    for (unsigned i = 0; i < SENTINELS; i++)
        fake_door(fake_sentinels[i], FAKE_REFUSE);
    CLIENT client = client_open(list);
    ck_assert(!takes(client, "a"));
    ck_assert_int_eq(pthread_create(&thread, NULL, keeps_trying, client), 0);
    fake_door(fake_sentinels[2], FAKE_DEAF);
    pause_ms(500);
    int64_t began_ms = now_ms();
    for (unsigned i = 0; i < 2; i++) {
        fake_rule(fake_sentinels[i], &silent);
        fake_door(fake_sentinels[i], FAKE_OPEN);
        ck_assert(wait_until(fake_count(fake_sentinels[i], "SENTINEL MASTER *") > 0, WAIT_MS));
    }
    ck_assert(!takes(client, "a"));
    ck_assert_int_ge(now_ms() - began_ms, 3000);
    pthread_join(thread, NULL);
    stop();
}

/* The word of a majority is D old at most: silent ones end the votes. */
TEST(vote, ends_when_majority_falls_silent)
{
    static const struct fake_rule silent = {.match = "SENTINEL *", .then = FAKE_SILENT,
                                            .reply = ""};
    start(1);
    CLIENT client = client_open(list);
    ck_assert(takes_in_time(client, "a"));
    fake_rule(fake_sentinels[0], &silent);
    ck_assert(takes_in_time(client, "a")); /* two are a majority */
    fake_rule(fake_sentinels[1], &silent);
    pause_ms(1100);
    ck_assert(!takes(client, "a"));
    for (unsigned i = 0; i < 2; i++) {
        fake_clear_rules(fake_sentinels[i]);
        names(i, masters->node[0].tcp_at.port, 0);
    }
    ck_assert(takes_in_time(client, "a"));
    stop();
}

/* A lock that two others carry is put on it once they name it again, and no sooner. */
TEST(vote, is_needed_where_a_held_lock_is_filled_in)
{
    static const struct fake_rule silent = {.match = "SENTINEL *", .then = FAKE_SILENT,
                                            .reply = ""};
    redlock_lock *lock = NULL;
    start(3);
    char *settings = strstr(list, " " SETTINGS);
    snprintf(settings, sizeof(list) - (size_t)(settings - list),
             " redis://127.0.0.1:%d redis://127.0.0.1:%d max-ttl=3s ttl=3s connect-timeout=10s "
             "background=always",
             masters->node[1].tcp_at.port, masters->node[2].tcp_at.port);
    CLIENT client = client_open(list);
    ck_assert(wait_until((takes(client, "a"), client_ready(client) == 3), WAIT_MS));
    for (unsigned i = 0; i < SENTINELS; i++)
        fake_rule(fake_sentinels[i], &silent);
    pause_ms(1100);
    ck_assert_int_eq(client_try(client, "held", 3000, WAIT_MS, NULL, &lock), REDLOCK_OK);
    pause_ms(300);
    ck_assert(!master_has(masters, 0, "held"));
    for (unsigned i = 0; i < SENTINELS; i++) {
        fake_clear_rules(fake_sentinels[i]);
        names(i, masters->node[0].tcp_at.port, 0);
    }
    ck_assert(wait_until(redlock_validity_ms(lock) == 0 || master_has(masters, 0, "held"),
                         WAIT_MS));
    redlock_release(lock);
    stop();
}

/* An idle client asks nobody, though a thread drives it, and asks before its next vote. */
TEST(vote, is_asked_for_anew_by_idle_client)
{
    start(1);
    strncat(list, " background=always", sizeof(list) - strlen(list) - 1);
    CLIENT client = client_open(list);
    ck_assert(takes_in_time(client, "a"));
    pause_ms(1500);
    unsigned asked = fake_count(fake_sentinels[0], "SENTINEL MASTER *");
    pause_ms(1500);
    ck_assert_uint_eq(fake_count(fake_sentinels[0], "SENTINEL MASTER *"), asked);
    ck_assert(takes(client, "a"));
    ck_assert(wait_until(fake_count(fake_sentinels[0], "SENTINEL MASTER *") > asked, WAIT_MS));
    stop();
}

/* Another majority: another connection, and a quarantine there; the former server gets no more. */
TEST(failover, goes_to_whom_they_name_next)
{
    start(2);
    CLIENT client = client_open(list);
    ck_assert(takes_in_time(client, "a"));
    all_name(1, 7);
    int64_t began_ms = now_ms();
    pause_ms(1100); /* what they said before counts no more */
    ck_assert(!takes(client, "b"));
    ck_assert(!master_has(masters, 0, "b"));
    ck_assert(takes_in_time(client, "b"));
    ck_assert_int_ge(now_ms() - began_ms, 1100);
    struct reply marker = master_do(masters, 1, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(strstr(marker.text, " @7") != NULL, "%s", marker.text);
    stop();
}

/* The same server in another term: it may have been replaced meanwhile. */
TEST(failover, of_the_same_server_in_another_term_begins_a_quarantine)
{
    start(1);
    CLIENT client = client_open(list);
    ck_assert(takes_in_time(client, "a"));
    all_name(0, 2);
    pause_ms(1100);
    ck_assert(!takes(client, "a"));
    ck_assert(takes_in_time(client, "a"));
    struct reply marker = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(strstr(marker.text, " @2") != NULL, "%s", marker.text);
    stop();
}

/* ---- what they may answer ----------------------------------------------------------------- */

#define BULK10 "$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n"                        \
    "$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n"
#define OF_MASTER "SENTINEL MASTER *"
#define OF_ADDRESS "SENTINEL GET-MASTER-ADDR-BY-NAME *"

static const struct {
    const char *match, *reply, *why; /* NULL: its connection ends */
} hostile[] = {
    {OF_MASTER, "-ERR No such master with that name\r\n", "know no service of this name"},
    {OF_MASTER, "-NOPERM no\r\n", "refuse a right"},
    {OF_MASTER, "-ERR unknown command 'SENTINEL'\r\n", "are another kind of server"},
    {OF_MASTER, "-ERR other\r\n", "answer with an error"},
    {OF_MASTER, "*0\r\n", "no flags of a master"},
    {OF_MASTER, "*2\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n", ""},
    {OF_MASTER, "$-1\r\n", NULL},
    {OF_MASTER, "*-1\r\n", NULL},
    {OF_MASTER, "+OK\r\n", NULL},
    {OF_MASTER, ":1\r\n", NULL},
    {OF_MASTER, "$2\r\nOK\r\n", NULL},
    {OF_MASTER, "*1\r\n$2\r\nip\r\n", NULL},
    {OF_MASTER, "*2\r\n$2\r\nip\r\n:1\r\n", NULL},
    {OF_MASTER, "*2\r\n$2\r\nip\r\n$-1\r\n", NULL},
    {OF_MASTER, "*2\r\n:1\r\n:2\r\n", NULL},
    {OF_MASTER, "*2\r\n*0\r\n*0\r\n", NULL},
    {OF_MASTER, "*12\r\n" BULK10 "$1\r\na\r\n:1\r\n", NULL},
    {OF_MASTER, "*12\r\n" BULK10 "$1\r\na\r\n$-1\r\n", NULL},
    {OF_MASTER, "*257\r\n", NULL},
    {OF_MASTER, "*1000000000\r\n", NULL},
    {OF_MASTER, "%1\r\n$2\r\nip\r\n$1\r\na\r\n", NULL},
    {OF_MASTER, "rubbish\r\n", NULL},
    {OF_ADDRESS, "*-1\r\n", "know no service of this name"},
    {OF_ADDRESS, "-ERR no\r\n", "answer with an error"},
    {OF_ADDRESS, "*0\r\n", NULL},
    {OF_ADDRESS, "*1\r\n$1\r\na\r\n", NULL},
    {OF_ADDRESS, "*2\r\n$1\r\na\r\n:1\r\n", NULL},
    {OF_ADDRESS, "*3\r\n$1\r\na\r\n$1\r\n1\r\n$1\r\n1\r\n", NULL},
    {OF_ADDRESS, "+OK\r\n", NULL},
    {"SENTINEL MYID", "-ERR unknown subcommand\r\n", "SENTINEL MYID"},
    {"SENTINEL MYID", "$-1\r\n", NULL},
    {"SENTINEL MYID", "*0\r\n", NULL},
    {"SENTINEL MYID", "$60\r\n0123456789012345678901234567890123456789"
                      "01234567890123456789\r\n", NULL},
    {"INFO server", "$0\r\n\r\n", "are another kind of server"},
    {"INFO server", "*0\r\n", NULL},
    {"INFO server", "$25\r\nredis_mode:standalone\r\na:\r\n\r\n", "are another kind of server"},
};

/* One of three tells nothing, and costs nothing; two of them cost the vote. */
TEST(answer, that_is_not_expected_tells_nothing, .rows = ROWS(hostile))
{
    struct fake_rule rule = {.match = hostile[_i].match, .reply = hostile[_i].reply};
    start(1);
    fake_rule(fake_sentinels[0], &rule);
    CLIENT client = client_open(list);
    ck_assert_msg(takes_in_time(client, "a"), "%s", hostile[_i].reply);
    CLIENT other = NULL;
    fake_rule(fake_sentinels[1], &rule);
    other = client_open(list);
    ck_assert_msg(!takes(other, "a"), "%s", hostile[_i].reply);
    ck_assert(says(other, hostile[_i].why ? hostile[_i].why : "2 of 3 Sentinels answer unlike"));
    stop();
}

/* It hangs up, whatever was asked. */
TEST(answer, that_it_has_too_many_clients_is_told)
{
    static const struct fake_rule full = {
        .match = "*", .reply = "-ERR max number of clients reached\r\n", .then = FAKE_CLOSE};
    start(1);
    for (unsigned i = 0; i < SENTINELS; i++)
        fake_rule(fake_sentinels[i], &full);
    CLIENT client = client_open(list);
    ck_assert(!takes(client, "a"));
    ck_assert(says(client, "3 of 3 Sentinels have too many clients"));
    stop();
}

/* It would be read as its second half, which is out of step, and cost one connection more. */
TEST(answer, that_a_former_connection_began_is_forgotten)
{
    struct fake_rule rule = {
        .match = OF_MASTER, .reply = "*4\r\n$2\r\nip\r\n", .then = FAKE_CLOSE, .times = 1};
    start(1);
    strncat(list, " connect-timeout=15s", sizeof(list) - strlen(list) - 1);
    fake_rule(fake_sentinels[0], &rule);
    fake_door(fake_sentinels[1], FAKE_REFUSE);
    CLIENT client = client_open(list);
    ck_assert(takes_in_time(client, "a"));
    ck_assert_uint_eq(fake_count(fake_sentinels[0], "SENTINEL MYID"), 2);
    stop();
}

CASE(vote, .timeout_s = 60)
CASE(failover, .timeout_s = 60)
CASE(answer, .timeout_s = 60)
