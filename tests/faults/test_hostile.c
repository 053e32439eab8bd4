/* tags: long */
/* test_hostile.c - masters that answer nonsense, halves, too much or nothing: never a grant,
 * never a crash, never another node's business. */
#include "config_auto.h"

#include "client.h"
#include "fake.h"
#include "look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct fake *fakes[3];
static redlock *client;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static struct look look;

enum { HOSTILE = 2 }; /* the third of three; or the only one */

static void open_fakes(unsigned first, const char *settings)
{
    fakes_start(fakes + first, 3 - first);
    client = client_open(fakes_file(fakes + first, 3 - first, settings));
}

/* ---- replies that are not what a master says -------------------------------------------- */

#define GRANT "{nonce}"
#define REFUSAL "*4\r\n{nonce-}:0\r\n:1000\r\n$5\r\nrival\r\n"
#define TEN "aaaaaaaaaa"

/* None of these is an answer to an acquire. */
static const struct {
    const char *what;
    const char *bytes;
    size_t len;
} hostile[] = {
    {"garbage", "garbage\r\n", 0},
    {"zeros", "\0\0\0\0\r\n", 6},
    {"HTTP", "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", 0},
    {"SSH", "SSH-2.0-OpenSSH_9.2\r\n", 0},
    {"TLS alert", "\x15\x03\x01\x00\x02\x02\x46", 7},
    {"2^31-1 elements", "*2147483647\r\n", 0},
    {"2^63-1 elements", "*9223372036854775807\r\n", 0},
    {"2^31 elements", "*4294967296\r\n", 0},
    {"-2 elements", "*-2\r\n", 0},
    {"nil array", "*-1\r\n", 0},
    {"empty array", "*0\r\n", 0},
    {"bulk without end", "$9223372036854775806\r\n", 0},
    {"bulk of 2^31", "$2147483647\r\n", 0},
    {"bulk of -2", "$-2\r\n", 0},
    {"nil", "$-1\r\n", 0},
    {"length with a sign", "$+1\r\na\r\n", 0},
    {"length with a zero before", "*02\r\n{nonce-}:1\r\n", 0},
    {"length that is no number", "$x\r\n", 0},
    {"length that is empty", "$\r\n", 0},
    {"number too large", ":99999999999999999999\r\n", 0},
    {"number", ":1\r\n", 0},
    {"status", "+OK\r\n", 0},
    {"bulk", "$2\r\nOK\r\n", 0},
    {"granted in an array", "*2\r\n{nonce-}:1\r\n", 0},
    {"refused, without the minus", "*4\r\n{nonce}:0\r\n:1000\r\n$5\r\nrival\r\n", 0},
    {"another nonce alone", "$16\r\n0000000000000000\r\n", 0},
    {"nonce alone as a status", "+0000000000000000\r\n", 0},
    {"array of the nonce alone", "*1\r\n{nonce}", 0},
    {"no nonce", "*1\r\n:1\r\n", 0},
    {"wrong nonce", "*2\r\n$16\r\n0000000000000000\r\n:1\r\n", 0},
    {"empty nonce", "*2\r\n$0\r\n\r\n:1\r\n", 0},
    {"nonce as a status", "*2\r\n+0000000000000000\r\n:1\r\n", 0},
    {"nonce at the wrong place", "*2\r\n:1\r\n{nonce}", 0},
    {"granted 2", "*2\r\n{nonce-}:2\r\n", 0},
    {"granted -1", "*2\r\n{nonce-}:-1\r\n", 0},
    {"granted 2^32+1", "*2\r\n{nonce-}:4294967297\r\n", 0},
    {"granted as a bulk", "*2\r\n{nonce-}$1\r\n1\r\n", 0},
    {"granted nil", "*2\r\n{nonce-}$-1\r\n", 0},
    {"granted, three elements", "*3\r\n{nonce-}:1\r\n:5\r\n", 0},
    {"granted, and a holder", "*4\r\n{nonce-}:1\r\n:1000\r\n$5\r\nrival\r\n", 0},
    {"refused, and no holder", "*2\r\n{nonce-}:0\r\n", 0},
    {"refused, ttl as a bulk", "*4\r\n{nonce-}:0\r\n$1\r\n5\r\n$5\r\nrival\r\n", 0},
    {"refused, holder as a number", "*4\r\n{nonce-}:0\r\n:5\r\n:5\r\n", 0},
    {"nested", "*2\r\n{nonce-}*1\r\n:1\r\n", 0},
    {"nested deep", "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n",
     0},
    {"nine elements", "*9\r\n{nonce-}:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n", 0},
    {"RESP3 null", "_\r\n", 0},
    {"RESP3 push", ">2\r\n{nonce}:1\r\n", 0},
    {"RESP3 map", "%1\r\n{nonce}:1\r\n", 0},
    {"RESP3 boolean", "*2\r\n{nonce-}#t\r\n", 0},
    {"an error inside", "*2\r\n{nonce-}-ERR no\r\n", 0},
    {"newline alone", "+OK\n", 0},
    {"an error, and then a grant", "-ERR no\r\n" GRANT, 0},
};
enum { HOSTILE_REPLIES = sizeof(hostile) / sizeof(hostile[0]) };

static void expect_no_grant(const char *what, int code)
{
    redlock_lock *lock = NULL;
    int got = client_try(client, "name", 0, 0, &report, &lock);
    ck_assert_msg(got == code, "%s: %d: %s", what, got, client_told(&report));
    ck_assert_int_ne(report.node[report.nodes - 1].vote, REDLOCK_VOTE_GRANTED);
    ck_assert_ptr_null(lock);
}

TEST(hostile, nothing_but_exact_answer_is_grant, .rows = HOSTILE_REPLIES)
{
    open_fakes(HOSTILE, "node-timeout 1s\nlinger 0ms\n");
    fake_rule(fakes[HOSTILE], &(struct fake_rule){.match = "acquire *",
                                                  .times = 1,
                                                  .reply = hostile[_i].bytes,
                                                  .reply_len = hostile[_i].len});
    expect_no_grant(hostile[_i].what, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(report.node[0].vote, REDLOCK_VOTE_FAILED);
    /* And it is over with that reply: whatever came of it, the next try is as good as new. */
    redlock_lock *lock = NULL;
    int code = client_try(client, "next", 0, 5000, &report, &lock);
    ck_assert_msg(code == 0, "%s: %d: %s", hostile[_i].what, code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* None of these is a grant of a lock with a fencing token. */
static const struct {
    const char *what;
    const char *bytes;
} unfenced[] = {
    {"no number", GRANT},
    {"0", "*3\r\n{nonce-}:1\r\n:0\r\n"},
    {"-1", "*3\r\n{nonce-}:1\r\n:-1\r\n"},
    {"2^53", "*3\r\n{nonce-}:1\r\n:9007199254740992\r\n"},
    {"2^63-1", "*3\r\n{nonce-}:1\r\n:9223372036854775807\r\n"},
    {"a bulk", "*3\r\n{nonce-}:1\r\n$1\r\n5\r\n"},
    {"refused, with a number", "*3\r\n{nonce-}:0\r\n:5\r\n"},
    {"a number and a holder", "*5\r\n{nonce-}:1\r\n:5\r\n$5\r\nrival\r\n:5\r\n"},
};
enum { UNFENCED = sizeof(unfenced) / sizeof(unfenced[0]) };

TEST(hostile, grant_without_right_number_is_none, .rows = UNFENCED)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.fenced = 1;
    options.report = &report;
    open_fakes(HOSTILE, "node-timeout 1s\nlinger 0ms\n");
    fake_rule(
        fakes[HOSTILE],
        &(struct fake_rule){.match = "fenced *", .times = 1, .reply = unfenced[_i].bytes});
    int code = redlock_try(client, "name", &options, &lock);
    ck_assert_msg(code == REDLOCK_ENOQUORUM, "%s: %d: %s", unfenced[_i].what, code,
                  client_told(&report));
    options.wait_ms = 5000;
    code = redlock_try(client, "next", &options, &lock);
    ck_assert_msg(code == 0, "%s: %d: %s", unfenced[_i].what, code, client_told(&report));
    ck_assert_uint_gt(redlock_fencing_token(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

TEST(hostile, hostile_master_is_no_other_nodes_business, .rows = HOSTILE_REPLIES)
{
    open_fakes(0, "linger 0ms\n");
    fake_rule(fakes[HOSTILE], &(struct fake_rule){.match = "acquire *",
                                                  .times = 1,
                                                  .reply = hostile[_i].bytes,
                                                  .reply_len = hostile[_i].len});
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    int64_t begun = now_ms();
    redlock_lock *lock = NULL;
    int code = client_try(client, "name", 0, 0, &report, &lock);
    ck_assert_msg(code == 0, "%s: %d: %s", hostile[_i].what, code, client_told(&report));
    ck_assert_uint_eq(report.granted, 2);
    ck_assert_int_lt(now_ms() - begun, 1500); /* not a node's share of the ttl */
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

TEST(hostile, hostile_greeting_keeps_it_from_voting, .rows = HOSTILE_REPLIES)
{
    open_fakes(0, "connect-timeout 700ms\nlinger 0ms\n");
    fake_rule(fakes[HOSTILE], &(struct fake_rule){.match = "INFO*",
                                                  .reply = hostile[_i].bytes,
                                                  .reply_len = hostile[_i].len});
    redlock_lock *lock = client_take(client, "name");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_ne(client_state(client, HOSTILE, NULL), REDLOCK_NODE_READY);
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    ck_assert_uint_eq(fake_count(fakes[HOSTILE], "acquire *"), 0);
    redlock_close(client);
}

/* ---- endless replies -------------------------------------------------------------------- */

TEST(hostile, replies_without_end_are_cut_off, .rows = 5)
{
    static const char *const heads[] = {"+", "-", "$1000000\r\n", "*2\r\n$900000\r\n", ":"};
    enum { LEN = 1000000 };
    char *bytes = malloc(LEN);
    memset(bytes, '1', LEN);
    memcpy(bytes, heads[_i], strlen(heads[_i]));
    open_fakes(HOSTILE, "linger 0ms\n");
    fake_rule(fakes[HOSTILE],
              &(struct fake_rule){
                  .match = "acquire *", .reply = bytes, .reply_len = LEN - 64, .times = 1});
    int64_t begun = now_ms();
    expect_no_grant(heads[_i], REDLOCK_ENOQUORUM);
    /* The link is closed once it is too much, and not when the ttl's share is over. */
    ck_assert_int_lt(now_ms() - begun, 3000);
    ck_assert(wait_until((client_ready(client), fake_connections(fakes[HOSTILE]) == 2), 5000));
    redlock_close(client);
    free(bytes);
}

TEST(hostile, byte_by_byte_does_not_stretch_deadline)
{
    open_fakes(HOSTILE, "node-timeout 150ms\nlinger 0ms\n");
    fake_rule(
        fakes[HOSTILE],
        &(struct fake_rule){.match = "acquire *", .delay_ms = 60, .reply = "$", .times = 1});
    int64_t begun = now_ms();
    expect_no_grant("slow", REDLOCK_ENOQUORUM);
    ck_assert_int_ge(now_ms() - begun, 140);
    ck_assert_int_lt(now_ms() - begun, 1000);
    redlock_close(client);
}

TEST(hostile, unasked_replies_end_connection_and_count_for_nothing)
{
    open_fakes(HOSTILE, "linger 0ms\n");
    /* A grant for the next one, sent with this one. */
    fake_rule(fakes[HOSTILE], &(struct fake_rule){.match = "inspect *",
                                                  .times = 1,
                                                  .reply = GRANT GRANT});
    look_at(&look, client, "name", NULL);
    ck_assert(wait_until((client_ready(client), fake_connections(fakes[HOSTILE]) == 2), 5000));
    ck_assert_uint_eq(fake_count(fakes[HOSTILE], "acquire *"), 0);
    redlock_close(client);
}

/* ---- halves ----------------------------------------------------------------------------- */

static const enum fake_then endings[] = {FAKE_CLOSE, FAKE_RESET, FAKE_SILENT};

/* A client for each cut: one that fails again and again waits longer and longer. It asks again
 * by the next connection, and is answered so again, for as long as connecting may take. */
static void cut_answer(size_t cut, size_t len, const char *reply, enum fake_then ending)
{
    static const char settings[] =
        "connect-timeout 50ms\nnode-timeout 60ms\nlinger 0ms\nstall-limit 50ms\n";
    client = client_open(fakes_file(fakes + HOSTILE, 1, settings));
    ck_assert(wait_until(client_ready(client) == 1, 5000));
    fake_rule(fakes[HOSTILE], &(struct fake_rule){.match = "acquire *",
                                                  .reply = reply,
                                                  .cut = cut < len,
                                                  .cut_at = cut,
                                                  .then = ending});
    expect_no_grant("cut", cut < len ? REDLOCK_ENOQUORUM : REDLOCK_EHELD);
    fake_clear_rules(fakes[HOSTILE]);
}

/* The acquire's real answer, cut after every byte. */
TEST(hostile, every_prefix_of_grant_is_no_grant, .rows = 3)
{
    enum { LEN = sizeof("$16\r\n0123456789abcdef\r\n") - 1 };
    fakes_start(fakes + HOSTILE, 1);
    for (size_t cut = 0; cut < LEN; cut++) {
        cut_answer(cut, LEN, NULL, endings[_i]);
        ck_assert(endings[_i] != FAKE_SILENT || fake_has(fakes[HOSTILE], "name"));
        /* It was executed: the release finds its way, by a new connection. */
        if (endings[_i] != FAKE_SILENT)
            ck_assert(
                wait_until((client_ready(client), !fake_has(fakes[HOSTILE], "name")), 5000));
        redlock_close(client);
        fake_forget_keys(fakes[HOSTILE]);
    }
}

TEST(hostile, every_prefix_of_refusal_is_no_refusal_either, .rows = 3)
{
    enum {
        LEN = sizeof("*4\r\n$16\r\n0123456789abcdef\r\n:0\r\n:1000\r\n$5\r\nrival\r\n") - 1
    };
    fakes_start(fakes + HOSTILE, 1);
    for (size_t cut = 0; cut <= LEN; cut++) {
        cut_answer(cut, LEN, REFUSAL, endings[_i]);
        redlock_close(client);
    }
    ck_assert_str_eq(report.node[0].holder, "rival");
}

TEST(hostile, every_prefix_of_greeting_is_no_vote, .rows = 3)
{
    /* Cut within the answer to INFO, which is longer than that. */
    for (size_t cut = 0; cut < 100; cut += 3) {
        open_fakes(0, "connect-timeout 700ms\nlinger 0ms\n");
        fake_rule(fakes[HOSTILE],
                  &(struct fake_rule){
                      .match = "INFO*", .cut = true, .cut_at = cut, .then = endings[_i]});
        redlock_lock *lock = client_take(client, "name");
        ck_assert_uint_eq(fake_count(fakes[HOSTILE], "acquire *"), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
        redlock_close(client);
    }
}

/* The acquire got there, its answer did not come, and the connection is silent from then on:
 * the release on it may never arrive, and must go by the new connection as well. */
TEST(hostile, release_does_not_stay_in_dead_connection)
{
    open_fakes(HOSTILE, "node-timeout 60ms\nlinger 0ms\nstall-limit 50ms\n");
    fake_rule(fakes[HOSTILE],
              &(struct fake_rule){
                  .match = "acquire *", .times = 1, .cut = true, .then = FAKE_SILENT});
    ck_assert(wait_until(client_ready(client) == 1, 5000));
    expect_no_grant("cut", REDLOCK_ENOQUORUM);
    ck_assert(fake_has(fakes[HOSTILE], "name"));
    ck_assert(wait_until((client_ready(client), !fake_has(fakes[HOSTILE], "name")), 5000));
    redlock_close(client);
}

/* ---- splits ----------------------------------------------------------------------------- */

/* Everything that a lock is asked, each answer split at `split_at` (0: into single bytes). */
static void live_through(size_t split_at)
{
    open_fakes(HOSTILE, NULL);
    fake_rule(
        fakes[HOSTILE],
        &(struct fake_rule){.match = "*", .split_at = split_at, .split_each = split_at == 0});
    redlock_lock *lock = client_take(client, "name"), *other = NULL;
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &other), REDLOCK_EHELD);
    ck_assert_str_eq(report.node[0].holder, redlock_token(lock));
    ck_assert_int_eq(redlock_extend(lock, CLIENT_TTL_MS + 2000, NULL), 0);
    ck_assert_int_eq(look_at(&look, client, "name", NULL), 0);
    ck_assert_str_eq(look_holder(&look, 0, 0)->owner, redlock_token(lock));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(look_at(&look, client, "name", NULL), 0);
    ck_assert_int_eq(look.node[0].state, REDLOCK_STATE_FREE);
    redlock_close(client);
}

TEST(hostile, replies_split_at_every_byte_are_same_replies, .rows = 3)
{
    for (size_t at = (size_t)_i * 20 + 1; at <= (size_t)_i * 20 + 20; at++)
        live_through(at);
}

TEST(hostile, replies_of_single_bytes_are_same_replies)
{
    live_through(0);
}

/* ---- error replies ---------------------------------------------------------------------- */

static const char *const errors[] = {
    "-LOADING Redis is loading the dataset in memory",
    "-READONLY You can't write against a read only replica.",
    "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "-OOM command not allowed when used memory > 'maxmemory'.",
    "-NOAUTH Authentication required.",
    "-WRONGPASS invalid username-password pair or user is disabled.",
    "-NOPERM this user has no permissions to run the 'evalsha' command",
    "-MISCONF Redis is configured to save RDB snapshots, but it is unable to persist",
    "-BUSY Redis is busy running a script. You can only call SCRIPT KILL",
    "-WRONGTYPE Operation against a key holding the wrong kind of value",
    "-MOVED 3999 127.0.0.1:6381",
    "-ASK 3999 127.0.0.1:6381",
    "-CLUSTERDOWN Hash slot not served",
    "-NOREPLICAS Not enough good replicas to write.",
    "-ERR max number of clients reached",
    "-ERR unknown command 'EVALSHA'",
    "-UNCERTIFIED its fencing counters may be lost",
    "-",
};
enum { ERRORS = sizeof(errors) / sizeof(errors[0]) };

/* On all three, also where the script is to be sent once more. */
static bool take_everywhere(redlock_lock **ret_lock)
{
    redlock_lock *lock = NULL;
    if (client_ready(client) < 3 || client_try(client, "name", 0, 0, &report, &lock) != 0)
        return false;
    client_ready(client); /* hears the late one */
    *ret_lock = lock;
    if (fake_has(fakes[0], "name") && fake_has(fakes[1], "name") &&
        fake_has(fakes[HOSTILE], "name"))
        return true;
    redlock_release(lock);
    return false;
}

/* It is that node's failure, with its words, whatever is asked; and a failure passes. */
TEST(hostile, error_is_that_nodes_failure_with_its_text, .rows = ERRORS)
{
    char reply[256];
    snprintf(reply, sizeof(reply), "%s\r\n", errors[_i]);
    open_fakes(0, "guard off\nlinger 0ms\n"); /* it would remember who was a replica */
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    struct fake_rule rule = {.match = "acquire *", .reply = reply};
    fake_rule(fakes[HOSTILE], &rule);
    redlock_lock *lock = client_take(client, "name");
    ck_assert_int_eq(redlock_release(lock), 0);

    fake_rule(fakes[1], &rule);
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    expect_no_grant(errors[_i], REDLOCK_ENOQUORUM);
    ck_assert_int_eq(report.node[1].vote, REDLOCK_VOTE_FAILED);
    ck_assert_msg(strncmp(report.node[1].text, errors[_i] + 1, 60) == 0, "%s",
                  report.node[1].text);
    ck_assert(wait_until((client_ready(client), !fake_has(fakes[0], "name")), 5000));

    fake_clear_rules(fakes[1]);
    fake_clear_rules(fakes[HOSTILE]);
    lock = NULL;
    ck_assert(wait_until(take_everywhere(&lock), 5000));
    rule.match = "extend *";
    fake_rule(fakes[1], &rule);
    fake_rule(fakes[HOSTILE], &rule);
    ck_assert_int_eq(redlock_extend(lock, CLIENT_TTL_MS + 5000, NULL), REDLOCK_ENOQUORUM);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    rule.match = "release *";
    fake_rule(fakes[1], &rule);
    fake_rule(fakes[HOSTILE], &rule);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EUNCONFIRMED);
    /* Refused is not done: it is tried again until it is. */
    fake_clear_rules(fakes[1]);
    fake_clear_rules(fakes[HOSTILE]);
    ck_assert(wait_until((client_ready(client), !fake_has(fakes[1], "name")), 8000));
    ck_assert(wait_until((client_ready(client), !fake_has(fakes[HOSTILE], "name")), 8000));
    redlock_close(client);
}

TEST(hostile, error_in_greeting_keeps_it_from_voting, .rows = ERRORS)
{
    char reply[256], text[192];
    snprintf(reply, sizeof(reply), "%s\r\n", errors[_i]);
    open_fakes(0, "linger 0ms\n");
    fake_rule(fakes[HOSTILE], &(struct fake_rule){.match = "INFO*", .reply = reply});
    redlock_lock *lock = client_take(client, "name");
    ck_assert_uint_eq(fake_count(fakes[HOSTILE], "acquire *"), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_ne(client_state(client, HOSTILE, text), REDLOCK_NODE_READY);
    ck_assert_msg(strstr(text, errors[_i] + 1) || strlen(errors[_i]) > 40, "%s", text);
    redlock_close(client);
}

TEST(hostile, loading_master_votes_when_it_is_loaded, .rows = 2)
{
    open_fakes(HOSTILE, "linger 0ms\n");
    redlock_lock *lock = NULL;
    if (_i == 0)
        fake_rule(fakes[HOSTILE],
                  &(struct fake_rule){.match = "INFO*",
                                      .reply = "-LOADING Redis is loading the dataset\r\n"});
    else
        fake_says_also(fakes[HOSTILE], "loading:1\r\n");
    ck_assert_int_eq(client_try(client, "name", 0, 0, &report, &lock), REDLOCK_ENOQUORUM);
    fake_says_also(fakes[HOSTILE], "");
    fake_clear_rules(fakes[HOSTILE]);
    int code = client_try(client, "name", 0, 10000, &report, &lock);
    ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* Sent by a real server at once, to nobody's question, before it closes. */
TEST(hostile, max_clients_is_told_as_such)
{
    char text[192];
    open_fakes(0, "linger 0ms\n");
    fake_rule(fakes[HOSTILE],
              &(struct fake_rule){.match = "*",
                                  .then = FAKE_CLOSE,
                                  .reply = "-ERR max number of clients reached\r\n"});
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    ck_assert(wait_until(
        (client_state(client, HOSTILE, text), strstr(text, "max number of clients") != NULL),
        5000));
    redlock_close(client);
}

/* Nothing of what a server says may write to a terminal, or forge a line of a log. (From 1.1 on
 * hiredis takes no newline in an error: then that connection is closed.) */
TEST(hostile, texts_of_servers_are_made_printable, .rows = 2)
{
    bool newline = _i;
    open_fakes(HOSTILE, "linger 0ms\n");
    fake_rule(fakes[HOSTILE],
              &(struct fake_rule){.match = "acquire *",
                                  .reply = newline ? "-ERR \x1b[2J \n end\r\n"
                                                   : "-ERR \x1b[2J\x07 \xff\xc3\xa9 end\r\n"});
    expect_no_grant("control characters", REDLOCK_ENOQUORUM);
    for (const char *at = report.node[0].text; *at; at++)
        ck_assert_msg((unsigned char)*at >= 0x20 && *at != 0x7f, "%s", report.node[0].text);
    ck_assert(strstr(report.node[0].text, "end") || (newline && report.node[0].text[0]));
    redlock_close(client);
}

TEST(hostile, password_goes_alone_and_first)
{
    fakes_start(fakes + HOSTILE, 1);
    char url[ENDPOINT_URL_MAX];
    endpoint_url(fake_endpoint(fakes[HOSTILE]), url);
    setenv("TEST_REDLOCK_SECRET", "pw", 1);
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = url;
    node.password_env = "TEST_REDLOCK_SECRET";
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.nodes = &node;
    config.node_count = 1;
    fake_rule(fakes[HOSTILE],
              &(struct fake_rule){.match = "AUTH *", .delay_ms = 200, .times = 1});
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    struct fake_record auth, next;
    ck_assert(fake_find(fakes[HOSTILE], "*", 0, &auth) && strcmp(auth.line, "AUTH pw") == 0);
    ck_assert(fake_find(fakes[HOSTILE], "*", 1, &next));
    ck_assert_int_ge(next.at_ms - auth.at_ms, 200);
    redlock_close(client);
}

CASE(hostile, .timeout_s = 120)
