/* test_native_reply.c - the two replies of a native pair, all against all: only +OK with our
 * own token is a grant, and what can't be answers of one pair closes the connection. */
#include "config_auto.h"

#include "node/native_reply.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#define TOKEN "0123456789abcdef0123456789abcdef:host:1"

/* What a pair comes to. */
enum outcome {
    GRANT,
    HELD,      /* refused, and the holder is shown */
    GONE,      /* refused, and there is nothing to be shown */
    OTHER,     /* refused: somebody's data */
    NO_VOTE,   /* SET's error is the reason */
    GET_ERROR, /* GET's error is */
    EXPLAINED, /* ours is */
    BROKEN     /* out of step */
};

static const struct set {
    const char *bytes;
    bool reply; /* SET can answer so */
    enum rl_set_reply set;
} sets[] = {
    {"+OK\r\n", true, RL_SET_OK},
    {"$-1\r\n", true, RL_SET_REFUSED},
    {"*-1\r\n", true, RL_SET_REFUSED},
    {"-OOM command not allowed\r\n", true, RL_SET_NO_MEMORY},
    {"-OOMPH\r\n", true, RL_SET_FAILED},
    {"-NOPERM this user has no permissions to run the 'set' command\r\n", true, RL_SET_FAILED},
    {"+ok\r\n", false, 0},
    {"+OKAY\r\n", false, 0},
    {"+QUEUED\r\n", false, 0},
    {":1\r\n", false, 0},
    {"$2\r\nOK\r\n", false, 0},
    {"*1\r\n+OK\r\n", false, 0},
};
enum { SETS = sizeof(sets) / sizeof(sets[0]) };

/* By SET's reply: OK, REFUSED, NO_MEMORY, FAILED. */
static const struct get {
    const char *bytes;
    enum outcome outcome[4];
} gets[] = {
    {"$39\r\n" TOKEN "\r\n", {GRANT, BROKEN, BROKEN, BROKEN}},
    {"$5\r\nother\r\n", {EXPLAINED, HELD, HELD, NO_VOTE}},
    {"$0\r\n\r\n", {EXPLAINED, HELD, HELD, NO_VOTE}},
    {"$40\r\n" TOKEN "1\r\n", {EXPLAINED, HELD, HELD, NO_VOTE}},
    {"$38\r\n0123456789abcdef0123456789abcdef:host:\r\n", {EXPLAINED, HELD, HELD, NO_VOTE}},
    {"$-1\r\n", {EXPLAINED, GONE, NO_VOTE, NO_VOTE}},
    {"-WRONGTYPE Operation against a key\r\n", {GET_ERROR, OTHER, NO_VOTE, NO_VOTE}},
    {"-NOPERM this user\r\n", {GET_ERROR, GET_ERROR, NO_VOTE, NO_VOTE}},
    {"+" TOKEN "\r\n", {BROKEN, BROKEN, BROKEN, BROKEN}},
    {"+OK\r\n", {BROKEN, BROKEN, BROKEN, BROKEN}},
    {":0\r\n", {BROKEN, BROKEN, BROKEN, BROKEN}},
    {"*1\r\n$39\r\n" TOKEN "\r\n", {BROKEN, BROKEN, BROKEN, BROKEN}},
};
enum { GETS = sizeof(gets) / sizeof(gets[0]) };

static struct rl_reader *reader;

static const struct rl_reply *reply_of(const char *bytes)
{
    const struct rl_reply *reply;
    ck_assert_int_eq(rl_reader_feed(reader, bytes, strlen(bytes)), 0);
    ck_assert_int_eq(rl_reader_next(reader, &reply), 1);
    return reply;
}

static void setup(void)
{
    reader = rl_reader_new(NULL, NULL);
    ck_assert_ptr_nonnull(reader);
}

static void teardown(void)
{
    rl_reader_free(reader);
}

TEST(pairs, set_reply_is_ok_or_nil_or_error, .rows = SETS)
{
    enum rl_set_reply set;
    const struct set *row = &sets[_i];
    ck_assert_int_eq(rl_native_read_set(reply_of(row->bytes), &set), row->reply);
    if (row->reply)
        ck_assert_int_eq(set, row->set);
}

static void expect_refusal(const struct rl_vote_reply *vote, enum outcome outcome)
{
    ck_assert_int_eq(vote->vote, RL_VOTE_NO);
    ck_assert(!vote->answer.granted && vote->answer.ttl_ms == RL_TTL_UNKNOWN);
    ck_assert_int_eq(vote->answer.place, -1);
    ck_assert_int_eq(vote->answer.code, outcome == OTHER ? RL_REPLY_WRONGTYPE : RL_REFUSED);
    ck_assert_int_eq(vote->answer.with_holder, outcome == HELD);
}

TEST(pairs, pair_is_grant_by_ok_and_our_token_only, .rows = 4 * GETS)
{
    static const enum rl_set_reply by[] = {RL_SET_OK, RL_SET_REFUSED, RL_SET_NO_MEMORY,
                                           RL_SET_FAILED};
    const struct get *row = &gets[_i / 4];
    enum outcome outcome = row->outcome[_i % 4];
    struct rl_vote_reply vote;
    const char *why;
    const struct rl_reply *get = reply_of(row->bytes);
    bool fits = rl_native_vote(by[_i % 4], get, TOKEN, strlen(TOKEN), &vote, &why);
    ck_assert_int_eq(fits, outcome != BROKEN);
    if (outcome == BROKEN)
        return;
    ck_assert_int_eq(why != NULL, outcome == EXPLAINED);
    if (outcome == GRANT) {
        ck_assert_int_eq(vote.vote, RL_VOTE_YES);
        ck_assert(vote.answer.granted && vote.answer.code == RL_GRANTED);
    } else if (outcome <= OTHER) {
        expect_refusal(&vote, outcome);
    } else {
        ck_assert_int_eq(vote.vote, RL_VOTE_FAILED);
        ck_assert(!vote.answer.granted);
    }
    if (outcome == HELD)
        ck_assert(vote.holder_len == get->part[0].len &&
                  memcmp(vote.holder, get->text + get->part[0].start, vote.holder_len) == 0);
}

CASE(pairs, .set_up = setup, .tear_down = teardown)
