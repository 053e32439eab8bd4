/* test_usual_reply.c - replies that are compared and not parsed, against the parser: the same
 * answers to the same requests, for every split and every wrong byte. */
#include "config_auto.h"

#include "../fuzz/input_link.h"
#include "base/clock.h"
#include "core/fence.h"
#include "net/usual_reply.h"
#include "node/native_reply.h"
#include "node/script_reply.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROOF "123456789abcdef0123456789abcdef:host:1"
#define TOKEN "0" PROOF
#define NONCE "fedcba9876543210"

/* Four requests, and the usual replies to them. */
static const char usual[] = "+OK\r\n$39\r\n" TOKEN "\r\n"
                            "$38\r\n" PROOF "\r\n"
                            "$16\r\n" NONCE "\r\n"
                            "*3\r\n$17\r\n" NONCE "-\r\n:1\r\n:1700000000000000\r\n";
enum { LEN = sizeof(usual) - 1, REQUESTS = 4 };

static const struct rl_node_config config = {.transport = RL_UNIX, .label = "x", .path = "/"};

struct rig {
    struct rl_connection connection;
    struct rl_clock clock;
    struct rl_tag tag;
    unsigned compared; /* replies that were not parsed */
    char heard[256];
};

static void ready(struct rl_tag *tag, unsigned epoll_events, int64_t now_ns)
{
    (void)tag, (void)epoll_events, (void)now_ns;
}

static void hear(struct rig *rig, const char *what, uint64_t number)
{
    size_t len = strlen(rig->heard);
    snprintf(rig->heard + len, sizeof(rig->heard) - len, "%s%llu;", what,
             (unsigned long long)number);
}

static void ask(struct rig *rig, struct rl_inflight inflight)
{
    inflight.type = RL_REQUEST_VERB;
    inflight.deadline_ns = INT64_MAX;
    if (!inflight.by_token)
        memcpy(inflight.nonce, NONCE, RL_NONCE_LEN);
    ck_assert(rl_connection_room(&rig->connection, 1, false));
    rl_connection_put(&rig->connection, "x", 1, &inflight);
}

static void start_rig(struct rig *rig)
{
    *rig = (struct rig){.tag = {.ready = ready}};
    ck_assert_int_eq(
        rl_connection_init(&rig->connection, &config, NULL, 0, 0, &rig->tag, NULL, NULL), 0);
    rl_link_open(rig->connection.link, 1, 2);
}

/* The four are asked. */
static void open_rig(struct rig *rig)
{
    start_rig(rig);
    struct rl_inflight by_token = {
        .by_token = true, .native = true, .token = {.bytes = TOKEN, .len = strlen(TOKEN)}};
    ask(rig, by_token);
    by_token.native = false;
    by_token.verb = by_token.script = RL_RELEASE;
    ask(rig, by_token);
    ask(rig, (struct rl_inflight){.verb = RL_RELEASE, .script = RL_RELEASE});
    ask(rig, (struct rl_inflight){.number = RL_SCRIPTS_UNFENCED});
}

/* ---- what the two ways make of a reply --------------------------------------------------- */

static bool take_usual(void *context, uint64_t number, int64_t now_ns)
{
    struct rig *rig = context;
    ck_assert(now_ns > 0);
    rig->compared++;
    rl_connection_drop_oldest(&rig->connection);
    hear(rig, "grant ", number);
    return true;
}

/* The parser's: as node_replies.c does it. False at the first reply that is no grant. */
static bool take(void *context, const struct rl_reply *reply, int64_t now_ns)
{
    struct rig *rig = context;
    struct rl_inflight *oldest = rl_connection_oldest(&rig->connection);
    struct rl_vote_reply vote = {.vote = RL_VOTE_FAILED};
    const char *why;
    ck_assert(now_ns > 0);
    if (oldest && oldest->native && oldest->set_reply == RL_SET_AWAITED) {
        bool read = rl_native_read_set(reply, &oldest->set_reply);
        if (read)
            return true;
    } else if (oldest && oldest->native &&
               rl_native_vote(oldest->set_reply, reply, TOKEN, strlen(TOKEN), &vote, &why) &&
               vote.vote == RL_VOTE_YES) {
        rl_connection_drop_oldest(&rig->connection);
        hear(rig, "grant ", 0);
        return true;
    } else if (oldest && !oldest->native && rl_script_vote(oldest, reply, false, &vote) &&
               vote.vote == RL_VOTE_YES) {
        rl_connection_drop_oldest(&rig->connection);
        hear(rig, "grant ", vote.answer.number);
        return true;
    }
    hear(rig, "other ", reply->type);
    return false;
}

/* Give the bytes in two pieces, and say what was heard after each. */
static unsigned read_all(const char *bytes, size_t len, size_t cut, bool compare,
                         char ret_heard[256])
{
    struct rig rig;
    open_rig(&rig);
    const size_t ends[] = {cut, len};
    size_t from = 0;
    bool whole = true;
    for (unsigned i = 0; i < 2 && whole; i++) {
        struct rl_link *link = rig.connection.link;
        ck_assert(input_link_give(link, bytes + from, ends[i] - from));
        whole = rl_connection_read(&rig.connection, &rig.clock, take,
                                   compare ? take_usual : NULL, &rig);
        hear(&rig, whole ? "piece " : "broken ", rig.connection.fifo_count);
        whole = whole && !strstr(rig.heard, "other");
        input_link_forget(link);
        from = ends[i];
    }
    memcpy(ret_heard, rig.heard, sizeof(rig.heard));
    unsigned compared = rig.compared;
    rl_connection_done(&rig.connection, false);
    return compared;
}

static unsigned compare_ways(const char *bytes, size_t len, size_t cut)
{
    char parsed[256], compared[256];
    read_all(bytes, len, cut, false, parsed);
    unsigned count = read_all(bytes, len, cut, true, compared);
    ck_assert_str_eq(parsed, compared);
    return count;
}

TEST(against_the_parser, usual_replies_are_never_parsed_however_they_are_split)
{
    for (size_t cut = 0; cut <= LEN; cut++)
        ck_assert_uint_eq(compare_ways(usual, LEN, cut), REQUESTS);
}

TEST(against_the_parser, wrong_byte_is_judged_as_by_parser, .rows = LEN)
{
    char bytes[LEN];
    for (int byte = 0; byte < 256; byte++) {
        memcpy(bytes, usual, LEN);
        bytes[_i] = (char)byte;
        compare_ways(bytes, LEN, 0);
        compare_ways(bytes, LEN, (size_t)_i);
        compare_ways(bytes, LEN, (size_t)_i + 1);
        compare_ways(bytes, LEN, (LEN + (size_t)_i) / 2);
    }
}

TEST(against_the_parser, missing_or_doubled_byte_is_judged_as_by_parser, .rows = LEN)
{
    char bytes[LEN + 1];
    size_t at = (size_t)_i;
    memcpy(bytes, usual, at);
    memcpy(bytes + at, usual + at + 1, LEN - at - 1);
    for (size_t cut = 0; cut < LEN; cut++)
        compare_ways(bytes, LEN - 1, cut);
    memcpy(bytes + at, usual + at, LEN - at);
    memmove(bytes + at + 1, bytes + at, LEN - at);
    for (size_t cut = 0; cut <= LEN; cut++)
        compare_ways(bytes, LEN + 1, cut);
}

/* Numbers at every bound of a fencing token. */
TEST(against_the_parser, number_is_read_as_by_parser, .rows = 10)
{
    static const struct {
        const char *digits;
        unsigned compared;
    } rows[] = {{"1", 1},  {"9007199254740991", 1},      {"9007199254740992", 0}, {"0", 0},
                {"01", 0}, {"9999999999999999", 0},      {"-1", 0},               {"+1", 0},
                {"", 0},   {"10000000000000000000000", 0}};
    char bytes[96];
    int len = snprintf(bytes, sizeof(bytes), "*3\r\n$17\r\n" NONCE "-\r\n:1\r\n:%s\r\n",
                       rows[_i].digits);
    struct rl_inflight fenced = {.type = RL_REQUEST_VERB, .number = RL_SCRIPTS_UNFENCED};
    uint64_t number;
    memcpy(fenced.nonce, NONCE, RL_NONCE_LEN);
    size_t usual_len = rl_usual_reply(&fenced, bytes, (size_t)len, &number);
    ck_assert_uint_eq(usual_len, rows[_i].compared ? (size_t)len : 0);
    if (usual_len)
        ck_assert_uint_eq(number, strtoull(rows[_i].digits, NULL, 10));
}

TEST(against_the_parser, others_requests_have_no_usual_reply)
{
    uint64_t number;
    struct rl_inflight info = {.type = RL_REQUEST_INFO};
    struct rl_inflight inspect = {.type = RL_REQUEST_VERB, .script = RL_INSPECT};
    struct rl_inflight second = {.type = RL_REQUEST_VERB,
                                 .by_token = true,
                                 .native = true,
                                 .set_reply = RL_SET_OK,
                                 .token = {.bytes = TOKEN, .len = strlen(TOKEN)}};
    struct rl_inflight attached = {.type = RL_REQUEST_VERB, /* a handle may have any token */
                                   .script = RL_RELEASE,
                                   .by_token = true,
                                   .token = {.bytes = "t", .len = 1}};
    ck_assert_uint_eq(rl_usual_reply(&attached, "$1\r\nt\r\n", 7, &number), 0);
    memcpy(inspect.nonce, NONCE, RL_NONCE_LEN);
    ck_assert_uint_eq(rl_usual_reply(&info, "+OK\r\n", 5, &number), 0);
    const char *grant = strstr(usual, "$16\r\n" NONCE);
    ck_assert_uint_eq(rl_usual_reply(&inspect, grant, strlen(grant), &number), 0);
    ck_assert_uint_eq(rl_usual_reply(&second, usual, LEN, &number), 0);
}

/* A broken server may say bytes before a refusal that take its beginning with them. */
TEST(against_the_parser, no_part_of_refusal_is_grant)
{
    static const char refusal[] = "*5\r\n$17\r\n" NONCE "-\r\n:0\r\n:1000\r\n"
                                  "$5\r\nrival\r\n:0\r\n"
                                  "*2\r\n$17\r\n" NONCE "-\r\n:0\r\n"
                                  "*2\r\n$17\r\n" NONCE "-\r\n:4\r\n";
    const size_t len = sizeof(refusal) - 1;
    for (size_t from = 0; from < len; from++) {
        struct rig rig;
        start_rig(&rig);
        ask(&rig, (struct rl_inflight){.number = 0});
        ck_assert(input_link_give(rig.connection.link, refusal + from, len - from));
        rl_connection_read(&rig.connection, &rig.clock, take, take_usual, &rig);
        input_link_forget(rig.connection.link);
        ck_assert_msg(!strstr(rig.heard, "grant"), "from byte %zu: %s", from, rig.heard);
        rl_connection_done(&rig.connection, false);
    }
}
