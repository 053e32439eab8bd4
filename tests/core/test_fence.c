/* test_fence.c - the fencing token of a hold: the greatest number of the grants that won, once
 * a majority has it. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

#include <signal.h>

static uint64_t numbers[REDLOCK_NODES_MAX];

static void begin(struct story *story, unsigned n)
{
    story_begin(story, n);
    story->hold.fence.wanted = true;
    story->hold.fence.number = numbers;
    ck_assert_int_eq(ask(story), 0);
}

static unsigned grant(struct story *story, unsigned node, uint64_t number)
{
    return rl_hold_answer(&story->hold, node, story->current[node], RL_ACQUIRE, YES, number,
                          story->now_ns);
}

/* Two of three masters grant, and named two numbers; the third is silent. */
static void begin_behind(struct story *story)
{
    begin(story, 3);
    ck_assert_int_eq(grant(story, 0, 7), 0);
    ck_assert_int_eq(grant(story, 1, 9), RL_DO_FENCE);
}

/* The same, but the third has refused. */
static void begin_alone(struct story *story)
{
    begin(story, 3);
    ck_assert_int_eq(answer(story, 2, RL_ACQUIRE, NO), 0);
    ck_assert_int_eq(grant(story, 0, 7), 0);
    ck_assert_int_eq(grant(story, 1, 9), RL_DO_FENCE);
}

/* Tell the nodes that are behind, as the engine does: which they are. */
static uint64_t tell(struct story *story)
{
    uint64_t behind = rl_hold_fence(&story->hold, story->able, story->now_ns + NODE_MS * MS);
    for (uint64_t rest = behind; rest; rest &= rest - 1)
        rl_hold_sent(&story->hold, rl_first(rest), story->current[rl_first(rest)], RL_EXTEND,
                     true);
    return behind;
}

TEST(token, majority_names_one_token)
{
    struct story story;
    begin(&story, 5);
    ck_assert_int_eq(grant(&story, 0, 7), 0);
    ck_assert_int_eq(grant(&story, 1, 7), 0);
    ck_assert_int_eq(grant(&story, 2, 7), RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.fence.token, 7);
}

TEST(token, greatest_number_is_told_to_those_behind)
{
    struct story story;
    begin(&story, 5);
    int64_t t0_ns = story.now_ns;
    grant(&story, 0, 7);
    grant(&story, 1, 9);
    pass(&story, 10);
    ck_assert_int_eq(grant(&story, 2, 8), RL_DO_FENCE);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_FENCING);
    ck_assert_uint_eq(tell(&story), NODES(0, 2));
    pass(&story, 10);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, 0); /* not ours before a majority has the token */
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.fence.token, 9);
    ck_assert_int_eq(story.hold.deadline_ns, t0_ns + VALID_NS); /* from the first byte of all */
}

/* A grant that is void is none, whatever number it named. */
TEST(token, void_grant_counts_neither_as_vote_nor_as_number, .rows = 2)
{
    struct story story;
    begin(&story, 5);
    grant(&story, 0, 7);
    grant(&story, 1, 9);
    grant(&story, 2, 8);
    ck_assert_uint_eq(tell(&story), NODES(0, 2));
    ck_assert_int_eq(rl_hold_void(&story.hold, _i == 0 ? 1 : 0, story.now_ns), 0);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    if (_i == 0) {
        ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), 0);
        ck_assert_int_eq(grant(&story, 3, 9), RL_EV_ACQUIRED);
        ck_assert_uint_eq(story.hold.fence.token, 9);
        ck_assert_int_eq(rl_hold_void(&story.hold, 3, story.now_ns), RL_EV_LOST);
    } else {
        ck_assert_int_eq(answer(&story, 3, RL_ACQUIRE, NO), 0);
        ck_assert_int_eq(answer(&story, 4, RL_ACQUIRE, NO), RL_EV_REFUSED);
    }
}

TEST(token, later_number_replaces_nodes_that_had_former_one)
{
    struct story story;
    begin(&story, 5);
    grant(&story, 0, 7);
    grant(&story, 1, 7);
    ck_assert_int_eq(grant(&story, 2, 8), RL_DO_FENCE);
    ck_assert_uint_eq(tell(&story), NODES(0, 1));
}

TEST(token, late_grant_with_same_number_counts)
{
    struct story story;
    begin_behind(&story);
    ck_assert_uint_eq(tell(&story), NODES(0));
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), NODES(2));
    ck_assert_int_eq(grant(&story, 2, 9), RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.fence.token, 9);
}

/* Whichever of the two rounds has a node that is silent. */
TEST(token, end_of_next_round_is_waited_for)
{
    struct story story;
    begin_behind(&story);
    int64_t ask_ns = story.hold.ask.node_deadline_ns;
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), ask_ns);
    rl_hold_fence(&story.hold, story.able, ask_ns - 1);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), ask_ns - 1);
    begin_alone(&story);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), INT64_MAX);
    tell(&story);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), story.hold.extend.node_deadline_ns);
    begin(&story, 5);
    grant(&story, 0, 7);
    grant(&story, 1, 9);
    grant(&story, 2, 8);
    ck_assert_uint_eq(tell(&story), NODES(0, 2));
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), story.hold.ask.node_deadline_ns);
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 2, RL_EXTEND, FAILED);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), story.hold.ask.node_deadline_ns);
}

/* It is not told the token then. */
TEST(token, void_grant_is_taken_off_before_token_is_told)
{
    struct story story;
    begin_behind(&story);
    ck_assert_int_eq(rl_hold_void(&story.hold, 0, story.now_ns), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_FENCING);
    ck_assert_uint_eq(story.hold.ask.yes, NODES(1));
}

/* One master is ahead of the others, which may refuse to follow it. */
TEST(token, late_grant_makes_lower_majority_decide, .rows = 2)
{
    struct story story;
    begin_behind(&story);
    ck_assert_uint_eq(tell(&story), NODES(0));
    if (_i == 1)
        ck_assert_int_eq(answer(&story, 0, RL_EXTEND, FAILED), 0);
    ck_assert_int_eq(grant(&story, 2, 7), RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.fence.token, 7);
}

/* What it took is above the number of the majority that decides now. */
TEST(token, node_that_took_higher_token_is_ahead)
{
    struct story story;
    begin(&story, 5);
    grant(&story, 0, 7);
    grant(&story, 1, 7);
    grant(&story, 2, 9);
    ck_assert_uint_eq(tell(&story), NODES(0, 1));
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), 0);
    ck_assert_int_eq(grant(&story, 3, 7), 0);
    ck_assert_int_eq(grant(&story, 4, 7), RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.fence.token, 7);
}

/* Two masters have the key, and were at 9 and 8; a third one had it, and was at 8. */
TEST(token, node_that_lost_key_does_not_decide)
{
    struct story story;
    begin(&story, 3);
    grant(&story, 0, 8);
    grant(&story, 1, 9);
    ck_assert_uint_eq(tell(&story), NODES(0));
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, NO), 0);
    ck_assert_int_eq(grant(&story, 2, 8), RL_EV_REFUSED);
}

TEST(token, late_grant_with_greater_number_changes_nothing)
{
    struct story story;
    begin_behind(&story);
    tell(&story);
    grant(&story, 2, 12);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.fence.token, 9);
}

TEST(token, node_that_lost_key_does_not_take_token)
{
    struct story story;
    begin(&story, 5);
    answer(&story, 3, RL_ACQUIRE, FAILED);
    answer(&story, 4, RL_ACQUIRE, FAILED);
    grant(&story, 0, 7);
    grant(&story, 1, 9);
    grant(&story, 2, 8);
    tell(&story);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, NO), RL_EV_REFUSED);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    /* The key is absent where it was refused, and must be deleted everywhere else. */
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(1, 2, 3, 4));
}

/* While its token was told, one said that it has lost the key. The hold is won by the others. */
TEST(token, hold_does_not_stand_on_node_that_lost_key)
{
    struct story story;
    begin(&story, 5);
    grant(&story, 0, 7);
    grant(&story, 1, 9);
    grant(&story, 2, 8);
    tell(&story);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, NO), 0);
    grant(&story, 3, 9);
    ck_assert(answer(&story, 2, RL_EXTEND, YES) & RL_EV_ACQUIRED);
    ck_assert_uint_eq(story.hold.granted, NODES(1, 2, 3));
}

TEST(token, silence_ends_it)
{
    struct story story;
    begin_behind(&story);
    int64_t asked_ns = story.now_ns;
    pass(&story, 20);
    tell(&story);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), asked_ns + NODE_MS * MS);
    ck_assert_int_eq(pass(&story, NODE_MS - 20), 0);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), asked_ns + (NODE_MS + 20) * MS);
    ck_assert_int_eq(pass(&story, 19), 0);
    ck_assert_int_eq(pass(&story, 1), RL_EV_REFUSED);
}

TEST(token, no_node_can_be_told)
{
    struct story story;
    begin_alone(&story);
    story.able = NODES(1);
    ck_assert_uint_eq(tell(&story), 0);
    ck_assert_int_eq(pass_ns(&story, 0), RL_EV_REFUSED);
}

TEST(token, link_breaks_or_request_is_not_sent, .rows = 2)
{
    struct story story;
    begin_alone(&story);
    if (_i == 0) {
        tell(&story);
        ck_assert_int_eq(lose(&story, 0), RL_EV_REFUSED);
    } else {
        ck_assert_uint_eq(rl_hold_fence(&story.hold, story.able, story.now_ns + NODE_MS * MS),
                          NODES(0));
        ck_assert_int_eq(rl_hold_unsent(&story.hold, 0, RL_EXTEND, story.now_ns),
                         RL_EV_REFUSED);
    }
}

TEST(token, validity_is_checked_again)
{
    struct story story;
    begin_behind(&story);
    story.now_ns += 940 * MS; /* the thread was stopped: 48 ms are left */
    tell(&story);
    story.now_ns += 48 * MS;
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), RL_EV_REFUSED);
}

TEST(token, clock_that_went_back_is_not_trusted)
{
    struct story story;
    begin_behind(&story);
    tell(&story);
    rl_hold_distrust(&story.hold);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), RL_EV_REFUSED);
}

TEST(token, caller_gives_up_meanwhile)
{
    struct story story;
    begin_behind(&story);
    tell(&story);
    ck_assert_int_eq(release(&story, false), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2));
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), 0);
}

TEST(token, unexecuted_request_is_sent_again)
{
    struct story story;
    begin_behind(&story);
    tell(&story);
    rl_hold_unexecuted(&story.hold, 0, 0, RL_EXTEND);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), NODES(0));
    rl_hold_sent(&story.hold, 0, 0, RL_EXTEND, true);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), RL_EV_ACQUIRED);
}

TEST(token, refusals_lose_as_without)
{
    struct story story;
    begin(&story, 3);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, NO), 0);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, NO), RL_EV_REFUSED);
    ck_assert_uint_eq(story.hold.fence.token, 0);
}

TEST(token, extension_keeps_token)
{
    struct story story;
    begin(&story, 3);
    grant(&story, 0, 7);
    grant(&story, 1, 7);
    grant(&story, 2, 12);
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_uint_eq(story.hold.fence.token, 7);
}

TEST(token, one_node_decides_alone)
{
    struct story story;
    begin(&story, 1);
    ck_assert_int_eq(grant(&story, 0, 1), RL_EV_ACQUIRED);
}

/* Window, lead, what is granted, what is taken: in us. */
static const int64_t ahead[][4] = {
    {30300000, 3787500, 7575000, 15150000},
    {79999992, 9999999, 19999998, 39999996},
    {80000000, 10000000, 20000000, 40000000},
    {3600000000, 10000000, 900000000, 1800000000},
    {7, 0, 1, 3},
};

TEST(ahead, parts_of_window, .rows = 5)
{
    const int64_t *row = ahead[_i];
    ck_assert_int_eq(rl_fence_lead_us(row[0]), row[1]);
    ck_assert_int_eq(rl_fence_granted_ahead_us(row[0]), row[2]);
    ck_assert_int_eq(rl_fence_taken_ahead_us(row[0]), row[3]);
}

/* A master takes what another one granted whose clock is a quarter of the window ahead. */
TEST(ahead, taken_is_twice_granted, .rows = 5)
{
    int64_t granted_us = rl_fence_granted_ahead_us(ahead[_i][0]);
    ck_assert_int_ge(rl_fence_taken_ahead_us(ahead[_i][0]), 2 * granted_us);
    ck_assert_int_le(rl_fence_lead_us(ahead[_i][0]), granted_us);
}

TEST(token, number_outside_its_bounds_aborts, .signal = SIGABRT, .rows = 2)
{
    struct story story;
    begin(&story, 3);
    grant(&story, 0, _i == 0 ? 0 : RL_FENCE_MAX);
}
