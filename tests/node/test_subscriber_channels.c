/* test_subscriber_channels.c - a subscriber, a server played by hand, and channels that come
 * and go: what is asked in which order, what is believed, and what a user may lack the right
 * to. */
#include "config_auto.h"

#include "base/clock.h"
#include "sub_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "redisson_lock__channel:{name}"
#define ASKS(what, len) "*2\r\n$" what "\r\n$" len "\r\n"
#define BEGINS ASKS("9\r\nSUBSCRIBE", "29") NAME "\r\n"
#define ENDS ASKS("11\r\nUNSUBSCRIBE", "29") NAME "\r\n"
#define BEGUN "*3\r\n$9\r\nsubscribe\r\n$29\r\n" NAME "\r\n:2\r\n"
#define ENDED "*3\r\n$11\r\nunsubscribe\r\n$29\r\n" NAME "\r\n:1\r\n"
#define MESSAGE "*3\r\n$7\r\nmessage\r\n$29\r\n" NAME "\r\n$1\r\n0\r\n"
#define NOPERM "-NOPERM this user has no permissions to access one of the channels\r\n"
#define BIT rl_bit(SUB_RIG_INDEX)
#define DENIED_NS (RL_DENIED_AGAIN_MS * RL_NS_PER_MS)

static void forget_heard(void)
{
    peer.heard_len = 0;
    peer.heard[0] = '\0';
}

/* As a line does that is made, and as the last one that goes. */
static struct rl_channel *begin(const char *name)
{
    struct rl_channel *channel = rl_channel_ref(&rig.channels, name, strlen(name));
    ck_assert_ptr_nonnull(channel);
    rl_sub_sync(&rig.sub, channel, rl_clock_now_ns());
    rl_sub_flush(&rig.sub, rl_clock_now_ns());
    return channel;
}

static void end(struct rl_channel *channel)
{
    rl_channel_unref(&rig.channels, channel);
    rl_sub_sync(&rig.sub, channel, rl_clock_now_ns());
    rl_channel_free_if_idle(&rig.channels, channel);
    rl_sub_flush(&rig.sub, rl_clock_now_ns());
}

static struct rl_channel *begun(void)
{
    sub_peer_expect_listening(&peer, &rig);
    struct rl_channel *channel = begin(NAME);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(BEGUN);
    ck_assert_uint_eq(rig.hears, 1);
    forget_heard();
    return channel;
}

static const struct rl_channel *found(void)
{
    return rl_channel_find(&rig.channels, NAME, strlen(NAME));
}

/* How often it has said that by now. */
static unsigned times(const char *text)
{
    unsigned count = 0;
    for (const char *at = peer.heard; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static void a_few_turns(void)
{
    for (int i = 0; i < 5; i++)
        sub_rig_turn(&rig, 1);
}

/* ---- coming and going ------------------------------------------------------------------- */

TEST(ears, channel_is_asked_for_heard_and_ended)
{
    sub_peer_expect_listening(&peer, &rig);
    struct rl_channel *channel = begin(NAME);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    a_few_turns();
    ck_assert_uint_eq(rl_channel_listening(channel), 0);
    ck_assert_uint_eq(rig.hears, 0);
    say(BEGUN);
    ck_assert_uint_eq(rl_channel_listening(channel), BIT);
    ck_assert_uint_eq(rig.hears, 1);
    say(MESSAGE SUB_MESSAGE_7 MESSAGE);
    ck_assert_uint_eq(rig.heard, 2);
    ck_assert_ptr_eq(rig.heard_on, channel);
    ck_assert_uint_eq(rig.woken, 1);
    end(channel);
    ck_assert(sub_peer_hears(&peer, &rig, ENDS));
    ck_assert_uint_eq(rl_channel_listening(channel), 0);
    say(MESSAGE); /* it was on its way */
    ck_assert_uint_eq(rig.heard, 2);
    say(ENDED);
    ck_assert_ptr_null(found());
    ck_assert(rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.went + rig.warnings, 0);
}

/* They are asked for in the same breath as the client's own, */
TEST(ears, channels_wanted_before_connection_wait_for_it)
{
    struct rl_channel *channel = begin(NAME);
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, SUB_RIG_CHANNEL "\r\n" BEGINS));
    say(SUB_OK SUB_CONFIRMED);
    ck_assert(rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.hears, 0);
    say(BEGUN);
    ck_assert_uint_eq(rig.hears, 1);
    ck_assert_uint_eq(rl_channel_listening(channel), BIT);
}

/* and all anew on the next connection. */
TEST(ears, lost_connection_hears_nothing_and_next_one_asks)
{
    struct rl_channel *channel = begun();
    struct rl_channel *second = begin(NAME "-2");
    ck_assert(sub_peer_hears(&peer, &rig, NAME "-2"));
    sub_peer_hang_up(&peer);
    ck_assert(sub_rig_until(&rig, rig.went == 1));
    ck_assert_uint_eq(channel->pending | channel->confirmed | second->pending, 0);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    ck_assert(sub_peer_hears(&peer, &rig, NAME "-2"));
    end(second); /* not at once: it has been asked for */
    say(SUB_OK SUB_CONFIRMED BEGUN);
    ck_assert_uint_eq(rig.hears, 2);
    ck_assert_uint_eq(rl_channel_listening(channel), BIT);
    ck_assert_uint_eq(rig.channels.count, 2);
    say("*3\r\n$9\r\nsubscribe\r\n$31\r\n" NAME "-2\r\n:3\r\n");
    ck_assert(sub_peer_hears(&peer, &rig, "UNSUBSCRIBE"));
    say("*3\r\n$11\r\nunsubscribe\r\n$31\r\n" NAME "-2\r\n:2\r\n");
    ck_assert_uint_eq(rig.channels.count, 1);
    ck_assert_uint_eq(rig.hears, 2);
}

TEST(ears, user_gone_before_reply_is_left_after_it)
{
    sub_peer_expect_listening(&peer, &rig);
    end(begin(NAME));
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    a_few_turns();
    ck_assert(!strstr(peer.heard, "UNSUBSCRIBE"));
    say(BEGUN);
    ck_assert(sub_peer_hears(&peer, &rig, ENDS));
    say(MESSAGE ENDED);
    ck_assert_uint_eq(rig.hears + rig.heard, 0);
    ck_assert_ptr_null(found());
}

/* It was left, and the answer to that is under way: what comes until it is confirmed anew may
 * be nothing, and does not count as heard. */
TEST(ears, user_back_before_reply_is_asked_for_again)
{
    struct rl_channel *channel = begun();
    end(channel);
    ck_assert(sub_peer_hears(&peer, &rig, ENDS));
    ck_assert_ptr_eq(begin(NAME), channel);
    a_few_turns();
    ck_assert_uint_eq(times(BEGINS), 0);
    ck_assert_uint_eq(rl_channel_listening(channel), 0);
    say(MESSAGE ENDED);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    ck_assert_uint_eq(rig.heard, 0);
    ck_assert_uint_eq(rl_channel_listening(channel), 0);
    say(BEGUN MESSAGE);
    ck_assert_uint_eq(rig.hears, 2);
    ck_assert_uint_eq(rig.heard, 1);
}

/* However often they come and go: one question at a time. */
TEST(ears, coming_and_going_makes_no_storm)
{
    struct rl_channel *channel = begun();
    for (int i = 0; i < 1000; i++) {
        end(channel);
        channel = begin(NAME);
    }
    ck_assert(sub_peer_hears(&peer, &rig, ENDS));
    a_few_turns();
    ck_assert(sub_peer_hears(&peer, &rig, "\r\n"));
    ck_assert_str_eq(peer.heard, ENDS);
    say(ENDED);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(BEGUN);
    ck_assert_str_eq(peer.heard, ENDS BEGINS);
    ck_assert_uint_eq(rl_channel_listening(channel), BIT);
}

/* ---- many ------------------------------------------------------------------------------- */

/* A server that answers whatever it is asked, a question at a time, in order. */
static unsigned answer_all(unsigned limit)
{
    unsigned answered = 0;
    for (; answered < limit; answered++) {
        char bytes[256], said[512], verb[16], name[128];
        int len = 0;
        ck_assert(sub_peer_hears(&peer, &rig, "\r\n"));
        if (sscanf(peer.heard, "*2\r\n$%*d\r\n%15[A-Z]\r\n$%d\r\n%127[^\r]", verb, &len,
                   name) != 3)
            break;
        size_t used = (size_t)snprintf(bytes, sizeof(bytes), ASKS("%zu\r\n%s", "%d") "%s\r\n",
                                       strlen(verb), verb, len, name);
        ck_assert_msg(strncmp(peer.heard, bytes, used) == 0, "%.200s", peer.heard);
        memmove(peer.heard, peer.heard + used, peer.heard_len - used + 1);
        peer.heard_len -= used;
        for (char *c = verb; *c; c++)
            *c = (char)(*c - 'A' + 'a');
        snprintf(said, sizeof(said), "*3\r\n$%zu\r\n%s\r\n$%d\r\n%s\r\n:1\r\n", strlen(verb),
                 verb, len, name);
        say(said);
        if (peer.heard_len == 0 && rig.sub.connection.fifo_count == 0)
            return answered + 1;
    }
    return answered;
}

/* More than may be asked at once, and more than a buffer holds. */
TEST(ears, thousands_are_asked_for_in_parts)
{
    enum { MANY = 3000 };
    static struct rl_channel *channel[MANY];
    char name[128];
    sub_peer_expect_listening(&peer, &rig);
    forget_heard();
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "redisson_lock__channel:{%0*d}", 1 + i % 60, i);
        channel[i] = begin(name);
        ck_assert_uint_le(rig.sub.connection.fifo_count, RL_CHANNEL_ASKS_MAX);
    }
    ck_assert_uint_eq(answer_all(2 * MANY), MANY);
    ck_assert_uint_eq(rig.hears, MANY);
    for (int i = 0; i < MANY; i++)
        ck_assert_uint_eq(rl_channel_listening(channel[i]), BIT);
    for (int i = 0; i < MANY; i++)
        end(channel[i]);
    ck_assert_uint_eq(answer_all(2 * MANY), MANY);
    ck_assert_uint_eq(rig.channels.count, 0);
    ck_assert_uint_le(rig.sub.connection.out_size, RL_OUT_MAX);
    ck_assert_uint_eq(rig.went, 0);
}

/* Nobody reads there: what is asked is bounded, and a PING finds out. */
TEST(ears, server_that_does_not_read_is_given_up)
{
    sub_peer_expect_listening(&peer, &rig);
    static char name[REDLOCK_NAME_MAX];
    memset(name, 'x', sizeof(name) - 1);
    for (int i = 0; i < 2 * RL_CHANNEL_ASKS_MAX; i++) {
        snprintf(name, 8, "%07d", i);
        name[7] = 'x';
        begin(name);
    }
    ck_assert_uint_le(rig.sub.connection.fifo_count, RL_CHANNEL_ASKS_MAX);
    ck_assert_uint_le(rig.sub.connection.out_size, RL_OUT_MAX);
    int64_t ping_ns = rig.sub.connection.heard_ns + RL_PING_AFTER_MS * RL_NS_PER_MS;
    rl_sub_tick(&rig.sub, ping_ns);
    ck_assert_int_eq(rig.sub.pinged_ns, ping_ns);
    rl_sub_tick(&rig.sub, ping_ns + rig.settings.stall_limit_ns);
    ck_assert_uint_eq(rig.went, 1);
}

/* ---- rights ----------------------------------------------------------------------------- */

TEST(ears, channel_that_is_denied_costs_no_connection)
{
    sub_peer_expect_listening(&peer, &rig);
    struct rl_channel *channel = begin(NAME);
    struct rl_channel *second = begin(NAME "-2");
    ck_assert(sub_peer_hears(&peer, &rig, NAME "-2"));
    say(NOPERM NOPERM);
    ck_assert_uint_eq(rl_channel_listening(channel) | rl_channel_listening(second), 0);
    ck_assert_uint_eq(rig.warnings, 1); /* and not one for each */
    ck_assert_msg(strstr(rig.warning, NAME) && strstr(rig.warning, "NOPERM"), "%s",
                  rig.warning);
    ck_assert(rl_sub_listens(&rig.sub));
    say(SUB_MESSAGE_7);
    ck_assert_uint_eq(rig.woken, 1);
    /* It is asked again in its time. */
    forget_heard();
    int64_t again_ns = rig.sub.again_ns;
    rig.sub.connection.heard_ns = again_ns; /* no PING */
    ck_assert_int_eq(rl_sub_due_ns(&rig.sub), again_ns);
    rl_sub_tick(&rig.sub, again_ns - 1);
    ck_assert_uint_eq(channel->pending, 0);
    rl_sub_tick(&rig.sub, again_ns);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(BEGUN NOPERM MESSAGE);
    ck_assert_uint_eq(rig.heard, 1);
    ck_assert_uint_eq(rig.warnings, 1);
    ck_assert_uint_eq(rig.went, 0);
    end(second); /* it was never begun */
    ck_assert_uint_eq(rig.channels.count, 1);
}

/* The client's own is denied, another is not. */
TEST(ears, subscriber_without_right_to_own_channel_hears_others)
{
    sub_rig_want(&rig);
    struct rl_channel *channel = begin(NAME);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(SUB_OK NOPERM);
    ck_assert(!rl_sub_listens(&rig.sub) && !rl_sub_pending(&rig.sub));
    ck_assert_uint_eq(rig.warnings, 1);
    say(BEGUN MESSAGE);
    ck_assert_uint_eq(rig.heard, 1);
    ck_assert_uint_eq(rig.came, 0);
    /* Without any subscription a PONG is another's. */
    end(channel);
    ck_assert(sub_peer_hears(&peer, &rig, ENDS));
    say(ENDED);
    rl_sub_tick(&rig.sub, rig.sub.connection.heard_ns + RL_PING_AFTER_MS * RL_NS_PER_MS);
    ck_assert(sub_peer_hears(&peer, &rig, "PING"));
    say("+PONG\r\n");
    ck_assert_int_eq(rig.sub.mode, RL_SUB_UP);
    ck_assert_int_eq(rig.sub.pinged_ns, 0);
    /* It asks for its own again, */
    channel = begin(NAME);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(BEGUN);
    forget_heard();
    rig.sub.connection.heard_ns = rig.sub.again_ns;
    rl_sub_tick(&rig.sub, rig.sub.again_ns);
    ck_assert(sub_peer_hears(&peer, &rig, SUB_RIG_CHANNEL));
    say(NOPERM);
    ck_assert(!rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.warnings, 1);
    rig.sub.connection.heard_ns = rig.sub.again_ns;
    rl_sub_tick(&rig.sub, rig.sub.again_ns);
    ck_assert(sub_rig_until(&rig, rig.sub.connection.fifo_count == 1));
    say(SUB_CONFIRMED SUB_MESSAGE_7);
    ck_assert(rl_sub_listens(&rig.sub));
    ck_assert_uint_eq(rig.came, 1);
    ck_assert_uint_eq(rig.woken, 1);
    ck_assert_uint_eq(rl_channel_listening(channel), BIT);
}

/* A connection on which nothing may be heard is kept for as long as somebody may come to be. */
TEST(ears, subscriber_without_rights_or_channels_hangs_up)
{
    sub_rig_want(&rig);
    struct rl_channel *channel = begin(NAME);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(SUB_OK NOPERM NOPERM);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_UP);
    end(channel);
    ck_assert_uint_eq(rig.channels.count, 0);
    rig.sub.connection.heard_ns = rig.sub.again_ns;
    rl_sub_tick(&rig.sub, rig.sub.again_ns);
    say(NOPERM);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DENIED);
    ck_assert(sub_peer_is_left(&peer, &rig));
    ck_assert_uint_eq(rig.came + rig.went, 0);
}

TEST(ears, denied_everything_it_tries_for_users_of_channels)
{
    sub_rig_want(&rig);
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, "SUBSCRIBE"));
    say(SUB_OK NOPERM);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_DENIED);
    rig.sub.retry.begun_ns -= RL_NS_PER_S;
    begin(NAME);
    ck_assert(sub_rig_until(&rig, rig.sub.connects == 2));
    sub_peer_admit(&peer, &rig);
    ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    say(SUB_OK NOPERM NOPERM);
    ck_assert_int_eq(rig.sub.mode, RL_SUB_UP);
    ck_assert_uint_eq(rig.warnings, 2); /* of the client's own, and of another */
    ck_assert_int_gt(rl_sub_due_ns(&rig.sub), rl_clock_now_ns());
}

/* Who may SUBSCRIBE but not UNSUBSCRIBE keeps what it has, and starts anew when it is too much.
 */
TEST(ears, channels_that_cannot_be_left_are_bounded)
{
    char name[64], said[256];
    sub_peer_expect_listening(&peer, &rig);
    for (unsigned i = 0; rig.went == 0; i++) {
        ck_assert_uint_le(i, RL_UNLEFT_MAX);
        ck_assert_uint_le(rig.channels.count, RL_UNLEFT_MAX + 1);
        int len = snprintf(name, sizeof(name), "channel-%u", i);
        struct rl_channel *channel = begin(name);
        snprintf(said, sizeof(said), "*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:2\r\n", len, name);
        say(said);
        end(channel);
        say(NOPERM);
        peer.heard_len = 0;
        (void)sub_peer_hears(&peer, &rig, ""); /* lest it should not be read */
    }
    ck_assert_uint_eq(rig.channels.count, 0);
    ck_assert_msg(strstr(rig.sub.why, "does not let go"), "%s", rig.sub.why);
}

/* ---- wrong words ------------------------------------------------------------------------ */

/* In answer to the wish to begin; to the wish to end; unasked. */
static const char *const wrong[][2] = {
    {"b", "+OK\r\n"},
    {"b", ":1\r\n"},
    {"b", "$-1\r\n"},
    {"b", "*0\r\n"},
    {"b", "-ERR no\r\n"},
    {"b", MESSAGE}, /* not before it is confirmed */
    {"b", ENDED},
    {"b", SUB_CONFIRMED},
    {"b", SUB_PONG},
    {"b", "*3\r\n$9\r\nsubscribe\r\n$29\r\nredisson_lock__channel:{eman}\r\n:2\r\n"},
    {"b", "*3\r\n$9\r\nsubscribe\r\n$29\r\n" NAME "\r\n:0\r\n"},
    {"b", "*3\r\n$9\r\nsubscribe\r\n$29\r\n" NAME "\r\n:-1\r\n"},
    {"b", "*3\r\n$9\r\nsubscribe\r\n$29\r\n" NAME "\r\n$1\r\n2\r\n"},
    {"b", "*2\r\n$9\r\nsubscribe\r\n$29\r\n" NAME "\r\n"},
    {"b", "*3\r\n+subscribe\r\n$29\r\n" NAME "\r\n:2\r\n"},
    {"e", BEGUN},
    {"e", "+OK\r\n"},
    {"e", "-ERR no\r\n"},
    {"e", "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n"},
    {"u", BEGUN},
    {"u", ENDED},
    {"u", NOPERM},
    {"u", "*3\r\n$7\r\nmessage\r\n$29\r\nredisson_lock__channel:{eman}\r\n$1\r\n0\r\n"},
    {"u", "*3\r\n$7\r\nmessage\r\n$29\r\n" NAME "\r\n:0\r\n"},
    {"u", "*3\r\n$7\r\nmessage\r\n+" NAME "\r\n$1\r\n0\r\n"},
    {"u", "*4\r\n$8\r\npmessage\r\n$1\r\n*\r\n$29\r\n" NAME "\r\n$1\r\n0\r\n"},
    {"u", "*3\r\n$8\r\nsmessage\r\n$29\r\n" NAME "\r\n$1\r\n0\r\n"},
};

TEST(ears, any_other_word_ends_connection, .rows = ROWS(wrong))
{
    struct rl_channel *channel = NULL;
    char when = wrong[_i][0][0];
    char said[512];
    if (when == 'b') {
        sub_peer_expect_listening(&peer, &rig);
        channel = begin(NAME);
        ck_assert(sub_peer_hears(&peer, &rig, BEGINS));
    } else {
        channel = begun();
    }
    if (when == 'e') {
        end(channel);
        ck_assert(sub_peer_hears(&peer, &rig, ENDS));
    }
    unsigned before = rig.hears;
    snprintf(said, sizeof(said), "%s" MESSAGE SUB_MESSAGE_7, wrong[_i][1]);
    say(said); /* nothing that comes after it counts */
    ck_assert_msg(sub_peer_is_left(&peer, &rig), "%s", wrong[_i][1]);
    ck_assert_uint_eq(rig.went, 1);
    ck_assert_uint_eq(rig.woken + rig.heard, 0);
    ck_assert_uint_eq(rig.hears, before);
    ck_assert_uint_eq(rig.channels.count, when == 'e' ? 0 : 1);
    ck_assert_uint_eq(rig.channels.count > 0 ? rl_channel_listening(channel) : 0, 0);
    sub_peer_expect_listening(&peer, &rig);
}

CASE(ears, .timeout_s = 60, .set_up = sub_set_up, .tear_down = sub_tear_down)
