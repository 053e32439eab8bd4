/* tags: valgrind */
/* test_hold_void.c - a node may have lost what it granted: its votes are taken off, in every
 * phase, and what is left is counted. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

static unsigned void_of(struct story *story, unsigned node)
{
    return rl_hold_void(&story->hold, node, story->now_ns);
}

TEST(void, hold_on_bare_majority_is_lost)
{
    struct story story;
    story_hold(&story, 5); /* by 0, 1 and 2 */
    ck_assert_int_eq(void_of(&story, 4), 0);
    ck_assert_int_eq(void_of(&story, 2), RL_EV_LOST);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_int_eq(story.hold.deadline_ns, 0);
    ck_assert_int_eq(void_of(&story, 1), 0);
    ck_assert_uint_ne(send_releases(&story, NULL) & rl_bit(2), 0);
}

TEST(void, hold_on_all_is_lost_with_its_majority)
{
    struct story story;
    story_hold_all(&story, 5);
    int64_t deadline_ns = story.hold.deadline_ns;
    ck_assert_int_eq(void_of(&story, 0), 0);
    ck_assert_int_eq(void_of(&story, 0), 0);
    ck_assert_int_eq(void_of(&story, 1), 0);
    ck_assert_int_eq(story.hold.deadline_ns, deadline_ns);
    ck_assert_int_eq(void_of(&story, 2), RL_EV_LOST);
}

TEST(void, late_grant_counts, .rows = 2)
{
    struct story story;
    story_hold(&story, 3); /* by 0 and 1 */
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, _i ? YES : NO), 0);
    ck_assert_int_eq(void_of(&story, 0), _i ? 0 : RL_EV_LOST);
}

/* Those that did not extend it keep their keys for a shorter time. */
TEST(void, extended_hold_stands_on_those_that_extended_it, .rows = 2)
{
    struct story story;
    story_hold_all(&story, 3);
    pass(&story, 100);
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), 0);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
    if (_i == 1)
        ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    ck_assert_int_eq(void_of(&story, 0), _i == 1 ? 0 : RL_EV_LOST);
}

TEST(void, vote_for_extension_is_taken_off)
{
    struct story story;
    story_hold_all(&story, 5);
    pass(&story, 100);
    int64_t deadline_ns = story.hold.deadline_ns;
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, YES);
    ck_assert_int_eq(void_of(&story, 0), 0);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, deadline_ns);
    ck_assert_int_eq(answer(&story, 3, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(void_of(&story, 4), 0);
    ck_assert_int_eq(void_of(&story, 3), RL_EV_LOST);
}

/* Where the extension shows that a node lost the key, the next loss may be one too many. */
TEST(void, node_that_refused_to_extend_does_not_count)
{
    struct story story;
    story_hold_all(&story, 3);
    pass(&story, 100);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, NO);
    ck_assert_int_eq(void_of(&story, 1), RL_EV_LOST);
}

TEST(void, vote_of_open_round_is_taken_off, .rows = 2)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    ck_assert_int_eq(void_of(&story, 0), 0);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), 0);
    if (_i == 0) {
        ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
        ck_assert_int_eq(void_of(&story, 1), RL_EV_LOST);
    } else {
        ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, NO), RL_EV_REFUSED);
        ck_assert_uint_ne(send_releases(&story, NULL) & rl_bit(0), 0);
    }
}

TEST(void, round_that_can_not_be_won_any_more_is_lost)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    answer(&story, 1, RL_ACQUIRE, NO);
    ck_assert_int_eq(void_of(&story, 0), RL_EV_REFUSED);
}

/* The first of an ordered round granted, and then lost it: nobody else is asked. */
TEST(void, first_ones_vote_is_taken_off)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 1);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_DO_ASK_REST);
    ck_assert_int_eq(void_of(&story, 1), RL_EV_REFUSED);
}

/* A handle does not tell on which nodes it stands. */
TEST(void, attached_hold_is_lost_when_it_surely_is)
{
    struct rl_hold hold;
    rl_hold_init_attached(&hold, 3, TTL_MS * MS, DRIFT_FACTOR, 5000 * MS);
    ck_assert_int_eq(rl_hold_void(&hold, 0, 4500 * MS), 0);
    ck_assert_int_eq(rl_hold_void(&hold, 1, 4500 * MS), RL_EV_LOST);
}

TEST(void, nothing_is_voided_twice_or_too_early)
{
    struct story story;
    story_begin(&story, 3);
    ck_assert_int_eq(void_of(&story, 0), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_NEW);
    story_hold_all(&story, 3);
    ck_assert_int_eq(rl_hold_release(&story.hold, story.now_ns, 0), 0);
    ck_assert_int_eq(void_of(&story, 0), 0);
    ck_assert_int_eq(void_of(&story, 1), 0);
}
