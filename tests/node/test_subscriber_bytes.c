/* tags: valgrind */
/* test_subscriber_bytes.c - a subscriber and a server played by hand: each wrong word at each
 * step, each byte for itself, each end, too much, and garbage. */
#include "config_auto.h"

#include "base/prng.h"
#include "sub_scene.h"

#include <stdio.h>
#include <string.h>

/* The next connection, without a wait for the backoff, nor for one that was refused. */
static void want_again(void)
{
    rl_sub_unwant(&rig.sub);
    rl_retry_init(&rig.sub.retry);
    sub_rig_want(&rig);
}

/* Hang up, and see that it notices. */
static void end_this_one(void)
{
    uint64_t connects = rig.sub.connects;
    rl_sub_unwant(&rig.sub);
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.sub.mode == RL_SUB_DOWN));
    ck_assert_uint_eq(rig.went, rig.came);
    ck_assert_uint_eq(rig.sub.connects, connects);
}

/* ---- wrong words ---------------------------------------------------------------------- */

struct wrong {
    const char *said;
    const char *why; /* how the text begins */
};

/* Instead of the answers to CLIENT SETNAME and SUBSCRIBE. */
static const struct wrong at_subscribing[] = {
    {"*1\r\n:1\r\n", "CLIENT SETNAME: answered with "},
    {SUB_CONFIRMED, "CLIENT SETNAME: answered with "},
    {SUB_OK SUB_OK, "SUBSCRIBE: answered with "},
    {SUB_OK ":1\r\n", "SUBSCRIBE: answered with a number, neither a yes nor an error"},
    {SUB_OK "$-1\r\n", "SUBSCRIBE: answered with "},
    {SUB_OK "*-1\r\n", "SUBSCRIBE: answered with "},
    {SUB_OK "*0\r\n", "SUBSCRIBE: answered with "},
    {SUB_OK "-ERR unknown command\r\n", "SUBSCRIBE: ERR unknown command"},
    {SUB_OK "-NOAUTH Authentication required.\r\n", "SUBSCRIBE: NOAUTH"},
    {SUB_OK "-a\033b\r\n", "SUBSCRIBE: a\\x1bb"},
    {SUB_OK SUB_MESSAGE_7, "SUBSCRIBE: answered with "},
    {SUB_OK SUB_PONG, "SUBSCRIBE: answered with "},
    {SUB_OK "*3\r\n$9\r\nsubscribe\r\n$5\r\nother\r\n:1\r\n", "SUBSCRIBE: answered with "},
    {SUB_OK "*3\r\n$9\r\nsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n:0\r\n",
     "SUBSCRIBE: answered with "},
    {SUB_OK "*3\r\n$9\r\nsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n+1\r\n",
     "SUBSCRIBE: answered with "},
    {SUB_OK "*2\r\n$9\r\nsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n", "SUBSCRIBE: answered with "},
    {SUB_OK "*3\r\n+subscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n:1\r\n", "SUBSCRIBE: answered with "},
    {SUB_OK "*3\r\n$11\r\nunsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n:1\r\n",
     "SUBSCRIBE: answered with "},
};

/* To a subscriber that listens. */
static const struct wrong at_up[] = {
    {SUB_OK, "sent something unasked"},
    {":1\r\n", "sent something unasked"},
    {"$-1\r\n", "sent something unasked"},
    {"*0\r\n", "sent something unasked"},
    {"*-1\r\n", "sent something unasked"},
    {SUB_PONG, "sent something unasked"},
    {SUB_CONFIRMED, "sent something unasked"},
    {"-ERR something\r\n", "ERR something"},
    {"*3\r\n$7\r\nmessage\r\n$5\r\nother\r\n$1\r\nx\r\n", "sent something unasked"},
    {SUB_MESSAGE_HEAD ":1\r\n", "sent something unasked"},
    {SUB_MESSAGE_HEAD "$-1\r\n", "sent something unasked"},
    {"*2\r\n$7\r\nmessage\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n", "sent something unasked"},
    {"*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n$1\r\nx\r\n",
     "sent some"},
    {"*3\r\n$11\r\nunsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n:0\r\n", "sent something un"},
    {"*3\r\n$7\r\nmessage\r\n*1\r\n$1\r\nx\r\n$1\r\nx\r\n", "the reply is nested"},
    {"*9\r\n", "the reply has too many elements"},
    {"*2147483647\r\n", "the reply has too many elements"},
    {">3\r\n$7\r\nmessage\r\n", ""},
    {"#t\r\n", ""},
    {"HTTP/1.1 400 Bad Request\r\n\r\n", "Protocol error"},
    {"\r\n", "Protocol error"},
    {"\026\003\001\002", "Protocol error"},
    {"$99999999999999999999\r\n", ""},
    {"$-2\r\n", ""},
};

/* It is said; the connection ends, and another is made. */
static void expect_wrong(const struct wrong *wrong, bool listened)
{
    char said[512];
    snprintf(said, sizeof(said), "%s%s", wrong->said, SUB_MESSAGE_7);
    say(said); /* nothing that comes after it counts */
    ck_assert_msg(sub_peer_is_left(&peer, &rig), "%s", wrong->said);
    ck_assert_uint_eq(rig.went, listened);
    ck_assert_uint_eq(rig.sub.retry.failures, listened ? 0 : 1); /* a loss is not a failure */
    ck_assert_uint_eq(rig.woken, 0);
    ck_assert_msg(strncmp(rig.sub.why, wrong->why, strlen(wrong->why)) == 0, "%s: %s",
                  wrong->said, rig.sub.why);
    for (const char *c = rig.sub.why; *c; c++)
        ck_assert(*c >= ' ' && *c != '\177');
    if (listened) /* the first loss: the next comes by itself */
        ck_assert(sub_rig_until(&rig, rig.sub.connects == 2));
    else
        want_again();
    sub_peer_expect_listening(&peer, &rig);
}

TEST(bytes, no_other_answer_is_confirmation, .rows = ROWS(at_subscribing))
{
    const struct wrong *wrong = &at_subscribing[_i];
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, "SUBSCRIBE"));
    expect_wrong(wrong, false);
}

TEST(bytes, nothing_but_messages_comes_unasked, .rows = ROWS(at_up))
{
    sub_peer_expect_listening(&peer, &rig);
    expect_wrong(&at_up[_i], true);
}

/* The stream of a short life, cut in two at each byte; and each byte for itself. */
static const char life[] = SUB_OK SUB_CONFIRMED SUB_MESSAGE_7 SUB_MESSAGE_7;

TEST(bytes, it_does_not_matter_where_bytes_are_split)
{
    sub_rig_want(&rig);
    for (size_t at = 1; at < sizeof(life) - 1; at++) {
        rig.woken = rig.came = rig.went = 0;
        sub_peer_admit(&peer, &rig);
        ck_assert(sub_peer_hears(&peer, &rig, "SUBSCRIBE"));
        sub_peer_say_n(&peer, &rig, life, at);
        sub_peer_say_n(&peer, &rig, life + at, sizeof(life) - 1 - at);
        ck_assert_uint_eq(rig.came, 1);
        ck_assert_uint_eq(rig.woken, 2);
        end_this_one();
        ck_assert_str_eq(strrchr(rig.sub.why, ':') + 2, "closed by the server");
        want_again();
    }
    rig.woken = rig.came = rig.went = 0;
    sub_peer_admit(&peer, &rig);
    for (size_t at = 0; at < sizeof(life) - 1; at++)
        sub_peer_say_n(&peer, &rig, life + at, 1);
    ck_assert_uint_eq(rig.woken, 2);
}

TEST(bytes, end_in_middle_of_stream_is_end)
{
    sub_rig_want(&rig);
    for (size_t at = 0; at < sizeof(life) - 1; at++) {
        rig.woken = rig.came = rig.went = 0;
        sub_peer_admit(&peer, &rig);
        ck_assert(sub_peer_hears(&peer, &rig, "SUBSCRIBE"));
        sub_peer_say_n(&peer, &rig, life, at);
        end_this_one();
        want_again();
    }
}

static char many[1 << 21];

TEST(bytes, endless_lock_is_not_waited_for)
{
    static const char *const heads[] = {"+", "-", "$1000000\r\n",
                                        SUB_MESSAGE_HEAD "$1000000\r\n", ":"};
    memset(many, '1', sizeof(many));
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        sub_peer_expect_listening(&peer, &rig);
        say(heads[i]);
        ck_assert(rl_sub_listens(&rig.sub));
        sub_peer_say_n(&peer, &rig, many, sizeof(many));
        ck_assert(sub_peer_is_left(&peer, &rig));
        ck_assert_uint_eq(rig.woken, 0);
        want_again();
    }
}

TEST(bytes, thousands_of_messages_in_one_piece)
{
    size_t len = sizeof(SUB_MESSAGE_7) - 1;
    unsigned count = (unsigned)(sizeof(many) / len);
    for (unsigned i = 0; i < count; i++)
        memcpy(many + i * len, SUB_MESSAGE_7, len);
    sub_peer_expect_listening(&peer, &rig);
    sub_peer_say_n(&peer, &rig, many, count * len);
    ck_assert_uint_ge(count, 10000);
    ck_assert(sub_rig_until(&rig, rig.woken >= count));
    ck_assert_uint_eq(rig.woken, count);
    ck_assert_uint_eq(rig.went, 0);
}

/* Good streams with a few bytes changed, and what comes of it. */
TEST(bytes, garbage_of_every_sort_is_survived)
{
    struct rl_prng prng;
    rl_prng_seed(&prng, 20);
    sub_rig_want(&rig);
    for (int round = 0; round < 1000; round++) {
        char bytes[sizeof(life)];
        memcpy(bytes, life, sizeof(life));
        for (uint64_t i = 1 + rl_prng_below(&prng, 3); i > 0; i--)
            bytes[rl_prng_below(&prng, sizeof(life) - 1)] = (char)rl_prng_below(&prng, 256);
        sub_peer_admit(&peer, &rig);
        rl_sub_unwant(&rig.sub); /* not twice in one round */
        sub_peer_say_n(&peer, &rig, bytes, 1 + rl_prng_below(&prng, sizeof(life) - 1));
        end_this_one();
        want_again();
    }
}

CASE(bytes, .timeout_s = 30, .set_up = sub_set_up, .tear_down = sub_tear_down)
