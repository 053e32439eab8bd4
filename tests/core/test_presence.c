/* tags: quick */
/* test_presence.c - when a master's user is told that it went or came back. */
#include "config_auto.h"

#include "core/presence.h"

#include "base/limits.h"
#include "suite.h"

#define S RL_NS_PER_S

static struct rl_presence presence;

/* It votes, at 10 s, and nothing was told so far. */
static void votes(void)
{
    rl_presence_init(&presence, 9 * S);
    rl_presence_votes(&presence, 10 * S);
    ck_assert_int_eq(rl_presence_tell(&presence, 10 * S), RL_PRESENCE_NONE);
    ck_assert_int_eq(rl_presence_due_ns(&presence), INT64_MAX);
}

TEST(presence, absence_that_lasts_is_told_once)
{
    votes();
    rl_presence_away(&presence, 19 * S, 20 * S);
    ck_assert_int_eq(rl_presence_due_ns(&presence), 20 * S + RL_AWAY_TOLD_NS);
    ck_assert_int_eq(rl_presence_tell(&presence, 20 * S + RL_AWAY_TOLD_NS - 1),
                     RL_PRESENCE_NONE);
    ck_assert_int_eq(rl_presence_tell(&presence, 20 * S + RL_AWAY_TOLD_NS), RL_PRESENCE_GONE);
    rl_presence_away(&presence, 30 * S, 30 * S);
    ck_assert_int_eq(rl_presence_tell(&presence, 500 * S), RL_PRESENCE_NONE);
    ck_assert_int_eq(rl_presence_away_since_ns(&presence, 500 * S), 19 * S);
}

TEST(presence, short_absence_is_not_told)
{
    votes();
    rl_presence_away(&presence, 20 * S, 20 * S);
    rl_presence_votes(&presence, 20 * S + RL_AWAY_TOLD_NS - 1);
    ck_assert_int_eq(rl_presence_tell(&presence, 500 * S), RL_PRESENCE_NONE);
}

TEST(presence, return_is_told_at_once)
{
    votes();
    rl_presence_away(&presence, 20 * S, 20 * S);
    ck_assert_int_eq(rl_presence_tell(&presence, 30 * S), RL_PRESENCE_GONE);
    rl_presence_votes(&presence, 31 * S);
    ck_assert_int_eq(rl_presence_tell(&presence, 31 * S), RL_PRESENCE_BACK);
    ck_assert_int_eq(rl_presence_away_since_ns(&presence, 30 * S), 20 * S);
    ck_assert_int_eq(rl_presence_away_since_ns(&presence, 31 * S), -1);
    ck_assert_int_eq(rl_presence_away_since_ns(&presence, 19 * S), -1);
}

TEST(presence, each_is_told_once_a_minute_and_in_the_end_what_is_true)
{
    unsigned gone = 0, back = 0;
    votes();
    for (int64_t at = 20 * S; at < 200 * S; at += 2 * S) {
        rl_presence_away(&presence, at, at);
        gone += rl_presence_tell(&presence, at + 3 * S / 2) == RL_PRESENCE_GONE;
        rl_presence_votes(&presence, at + 7 * S / 4);
        back += rl_presence_tell(&presence, at + 7 * S / 4) == RL_PRESENCE_BACK;
    }
    ck_assert_uint_eq(gone, 3);
    ck_assert_uint_eq(back, 3);
    rl_presence_away(&presence, 200 * S, 200 * S);
    ck_assert_int_eq(rl_presence_tell(&presence, 201 * S), RL_PRESENCE_NONE);
    int64_t due_ns = rl_presence_due_ns(&presence);
    ck_assert_int_le(due_ns, 202 * S + RL_AWAY_AGAIN_NS);
    ck_assert_int_eq(rl_presence_tell(&presence, due_ns), RL_PRESENCE_GONE);
}
