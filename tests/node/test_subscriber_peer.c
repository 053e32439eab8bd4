/* tags: valgrind */
/* test_subscriber_peer.c - a subscriber and a server played by hand: how they get to know each
 * other, and what time makes of silence. */
#include "config_auto.h"

#include "base/clock.h"
#include "node/subscriber_parts.h"
#include "sub_scene.h"

#include <string.h>

#define PING_AFTER_NS (RL_PING_AFTER_MS * RL_NS_PER_MS)
#define LOGIN "*3\r\n$4\r\nAUTH\r\n$5\r\nlocks\r\n$11\r\ns3cr3t-word\r\n"
#define PING "*1\r\n$4\r\nPING\r\n"

static void set_up_with_password(void)
{
    sub_peer_begin(&peer, &rig);
    rig.node.user = (char *)"locks";
    rig.node.password = (char *)"s3cr3t-word";
    sub_rig_begin(&rig);
}

/* ---- the greeting --------------------------------------------------------------------- */

TEST(open, only_servers_word_makes_it_listen)
{
    sub_rig_want(&rig);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_CONNECTING);
    sub_peer_admit(&peer, &rig);
    ck_assert(
        sub_peer_hears(&peer, &rig, "*2\r\n$9\r\nSUBSCRIBE\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n"));
    ck_assert(
        strstr(peer.heard, "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$11\r\nredlock-rig\r\n") ==
        peer.heard);
    say(SUB_OK);
    say("*3\r\n$9\r\nsubscribe\r\n$49\r\n" SUB_RIG_CHANNEL "\r\n:");
    ck_assert(!rl_sub_listens(&rig.sub) && rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.came, 0);
    say("1\r\n");
    ck_assert(rl_sub_listens(&rig.sub) && !rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.came, 1);
    say(SUB_MESSAGE_7);
    ck_assert_uint_eq(rig.seq, 7);
}

TEST(open, name_that_is_refused_is_done_without)
{
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    say("-NOPERM this user has no permissions to run the 'client|setname' command\r\n");
    say(SUB_CONFIRMED);
    ck_assert(rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.warnings, 0);
}

TEST(open, newcomer_that_is_turned_away_is_told_why)
{
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    say("-ERR max number of clients reached\r\n");
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.warnings > 0));
    ck_assert_msg(strstr(rig.warning, "ERR max number of clients reached"), "%s", rig.warning);
}

/* The login is the first that is said: it does not reach further, and nor does what is wiped.
 */
static bool has_secret(const struct rl_sub *sub)
{
    return memmem(sub->connection.out, sizeof(LOGIN) - 1, "s3cr3t", 6) != NULL;
}

TEST(password, password_goes_alone_and_first_and_does_not_stay)
{
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, "s3cr3t-word\r\n"));
    for (int i = 0; i < 10; i++)
        sub_rig_turn(&rig, 1);
    ck_assert(sub_peer_hears(&peer, &rig, "word\r\n"));
    ck_assert_str_eq(peer.heard, LOGIN);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_AUTH);
    ck_assert(!has_secret(&rig.sub));
    say(SUB_OK);
    ck_assert(sub_peer_hears(&peer, &rig, "SUBSCRIBE"));
    say(SUB_OK SUB_CONFIRMED);
    ck_assert(rl_sub_listens(&rig.sub));
}

TEST(password, password_that_is_not_taken_is_forgotten)
{
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, "AUTH"));
    memcpy(rig.sub.connection.out, "s3cr3t", 6); /* as if the kernel had not taken it all */
    rig.sub.connection.login_len = 6;
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.sub.retry.failures > 0));
    ck_assert(!has_secret(&rig.sub));
}

TEST(password, without_password_to_be_had_it_says_nothing)
{
    rig.node.password = NULL;
    rig.node.password_file = (char *)"/nonexistent/secret";
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_is_left(&peer, &rig));
    ck_assert_uint_eq(peer.heard_len, 0);
    ck_assert_msg(strstr(rig.warning, "/nonexistent/secret"), "%s", rig.warning);
}

TEST(password, nothing_but_ok_lets_it_in)
{
    static const char *const answers[] = {"+OKAY\r\n", ":1\r\n", "$2\r\nOK\r\n", "*0\r\n",
                                          "-WRONGPASS no\r\n"};
    sub_rig_want(&rig);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        sub_peer_admit(&peer, &rig);
        ck_assert(sub_peer_hears(&peer, &rig, "AUTH"));
        say(answers[i]);
        ck_assert(sub_peer_is_left(&peer, &rig));
        ck_assert_msg(strncmp(rig.sub.why, "authentication failed: ", 23) == 0, "%s",
                      rig.sub.why);
        ck_assert(!strstr(peer.heard, "SUBSCRIBE"));
    }
}

/* ---- silence -------------------------------------------------------------------------- */

TEST(open, silent_server_is_asked_for_pong_in_time)
{
    sub_peer_expect_listening(&peer, &rig);
    int64_t ping_ns = rig.sub.connection.heard_ns + PING_AFTER_NS;
    int64_t limit_ns = ping_ns + rig.settings.stall_limit_ns;
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), ping_ns);
    rl_sub_tick(&rig.sub, ping_ns - 1);
    ck_assert_int_eq(rig.sub.pinged_ns, 0);
    rl_sub_tick(&rig.sub, ping_ns);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), limit_ns);
    rl_sub_tick(&rig.sub, limit_ns - 1);
    ck_assert(sub_peer_hears(&peer, &rig, PING));
    ck_assert(rl_sub_listens(&rig.sub));
    rl_sub_tick(&rig.sub, limit_ns);
    ck_assert(!rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.went, 1);
    ck_assert_msg(strstr(rig.warning, "does not answer"), "%s", rig.warning);
    ck_assert(!strstr(strstr(peer.heard, PING) + 1, PING)); /* once */
    /* The next is asked anew. */
    sub_peer_expect_listening(&peer, &rig);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), rig.sub.connection.heard_ns + PING_AFTER_NS);
}

/* This process did not run, so the server had no time to answer. */
TEST(open, pong_that_was_missed_while_process_did_not_run_is_awaited_anew)
{
    sub_peer_expect_listening(&peer, &rig);
    int64_t ping_ns = rig.sub.connection.heard_ns + PING_AFTER_NS;
    int64_t limit_ns = ping_ns + rig.settings.stall_limit_ns;
    rl_sub_tick(&rig.sub, ping_ns);
    rl_sub_absent(&rig.sub, RL_NS_PER_S);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), limit_ns + RL_NS_PER_S);
    rl_sub_tick(&rig.sub, limit_ns + RL_NS_PER_S - 1);
    ck_assert(rl_sub_listens(&rig.sub));
    rl_sub_tick(&rig.sub, limit_ns + RL_NS_PER_S);
    ck_assert(!rl_sub_listens(&rig.sub));
}

/* It has been in the socket for long when somebody looks. */
TEST(open, answer_that_is_there_is_seen_before_silence_is_judged)
{
    sub_peer_expect_listening(&peer, &rig);
    int64_t ping_ns = rig.sub.connection.heard_ns + PING_AFTER_NS;
    rl_sub_tick(&rig.sub, ping_ns);
    ck_assert(net_send(peer.fd, SUB_PONG, sizeof(SUB_PONG) - 1));
    int64_t tick_ns = ping_ns + rig.settings.stall_limit_ns;
    rl_sub_tick(&rig.sub, tick_ns);
    ck_assert(rl_sub_listens(&rig.sub));
    /* By that time the next is due, unless the machine stalled before this one was sent. */
    bool due = tick_ns >= rig.sub.connection.heard_ns + PING_AFTER_NS;
    ck_assert_uint_eq(rig.sub.connection.fifo_count, due);
    ck_assert_int_eq(rig.sub.pinged_ns, due ? tick_ns : 0);
}

TEST(open, speaker_is_alive)
{
    sub_peer_expect_listening(&peer, &rig);
    rig.sub.connection.heard_ns -= PING_AFTER_NS;
    sub_rig_turn(&rig, 0);
    int64_t first_ns = rl_sub_due_ns(&rig.sub);
    pause_ms(2);
    say(SUB_MESSAGE_7);
    ck_assert_int_gt(rl_sub_due_ns(&rig.sub), first_ns);
    ck_assert_int_ne(rig.sub.pinged_ns, 0); /* it is awaited all the same */
    say(SUB_PONG);
    ck_assert_int_eq(rig.sub.pinged_ns, 0);
    ck_assert_uint_eq(rig.woken, 1);
    ck_assert(rl_sub_listens(&rig.sub));
}

/* The first: of a server that has forgotten our subscription. */
static const char *const wrong_pongs[] = {
    "+PONG\r\n",
    "$4\r\npong\r\n",
    "*0\r\n",
    "*1\r\n$4\r\npong\r\n",
    "*2\r\n$4\r\npong\r\n$1\r\nx\r\n",
    "*2\r\n$4\r\nping\r\n$0\r\n\r\n",
    "*2\r\n$4\r\npong\r\n$-1\r\n",
    "*3\r\n$4\r\npong\r\n$0\r\n\r\n$0\r\n\r\n",
};

TEST(open, only_subscribers_pong_is_one, .rows = ROWS(wrong_pongs))
{
    sub_peer_expect_listening(&peer, &rig);
    rig.sub.connection.heard_ns -= PING_AFTER_NS;
    ck_assert(sub_peer_hears(&peer, &rig, PING));
    say(wrong_pongs[_i]);
    ck_assert(sub_peer_is_left(&peer, &rig));
    ck_assert_int_eq(strncmp(rig.sub.why, "PING: ", 6), 0);
}

TEST(open, pong_missed_while_nobody_waited_is_not_held_against_it)
{
    sub_peer_expect_listening(&peer, &rig);
    int64_t ping_ns = rig.sub.connection.heard_ns + PING_AFTER_NS;
    rl_sub_tick(&rig.sub, ping_ns);
    rl_sub_unwant(&rig.sub);
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), INT64_MAX);
    int64_t much_later_ns = ping_ns + 3600 * RL_NS_PER_S;
    rl_sub_tick(&rig.sub, much_later_ns);
    rl_sub_want(&rig.sub, much_later_ns);
    rl_sub_tick(&rig.sub, much_later_ns);
    ck_assert(rl_sub_listens(&rig.sub));
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), much_later_ns + rig.settings.stall_limit_ns);
}

TEST(password, server_that_never_answers_is_given_up_at_each_step)
{
    for (enum rl_sub_mode mode = RL_SUB_AUTH; mode <= RL_SUB_SUBSCRIBING; mode++) {
        sub_rig_want(&rig);
        sub_peer_admit(&peer, &rig);
        ck_assert(sub_peer_hears(&peer, &rig, "AUTH"));
        if (mode == RL_SUB_SUBSCRIBING)
            say(SUB_OK);
        ck_assert_int_eq(rig.sub.mode, mode);
        int64_t limit_ns = rig.sub.retry.begun_ns + rig.settings.connect_timeout_ns;
        ck_assert_int_eq(rl_sub_due_ns(&rig.sub), limit_ns);
        rl_sub_tick(&rig.sub, limit_ns - 1);
        ck_assert_int_eq(rig.sub.mode, mode);
        rl_sub_unwant(&rig.sub); /* also where nobody waits any more */
        rl_sub_tick(&rig.sub, limit_ns);
        ck_assert_int_eq(rig.sub.mode, RL_SUB_DOWN);
        ck_assert_str_eq(rig.sub.why, "connected, but no answer within connect-timeout");
    }
    ck_assert_uint_eq(rig.came + rig.went, 0);
}

CASE(open, .timeout_s = 30, .set_up = sub_set_up, .tear_down = sub_tear_down)
CASE(password, .timeout_s = 30, .set_up = set_up_with_password, .tear_down = sub_tear_down)
