/* tags: valgrind */
/* test_hold_back.c - nodes that come back while a lock is held get its key: which, when, and
 * what that never is. What R.. are is told in hold_story.h. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

static unsigned back(struct story *story, uint64_t nodes, uint64_t forgot)
{
    return rl_hold_came_back(&story->hold, nodes, forgot, story->now_ns);
}

/* HELD by all but the last node, which can't vote. */
static void hold_without_last(struct story *story, unsigned n)
{
    story_begin(story, n);
    story->able = rl_all(n - 1);
    ask(story);
    for (unsigned node = 0; node + 1 < n; node++)
        answer(story, node, RL_ACQUIRE, YES);
    ck_assert_int_eq(story->hold.phase, RL_HOLD_HELD);
}

TEST(back, r8_node_that_comes_back_is_filled_in_at_once)
{
    struct story story;
    hold_without_last(&story, 3);
    int64_t deadline_ns = story.hold.deadline_ns;
    pass(&story, 300);
    ck_assert_int_eq(back(&story, NODES(0, 2), 0), RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(2)); /* node 0 has it */
    retake(&story, 2);
    ck_assert_int_eq(answer(&story, 2, RL_RETAKE, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, deadline_ns);
    ck_assert_int_eq(back(&story, NODES(2), 0), 0); /* it has it now */
    /* Its key lives until the deadline: the lock stands on it as well. */
    ck_assert_int_eq(rl_hold_void(&story.hold, 0, story.now_ns), 0);
    ck_assert_int_eq(rl_hold_void(&story.hold, 1, story.now_ns), RL_EV_LOST);
}

TEST(back, r8_node_that_may_have_lost_it_is_filled_in_as_well)
{
    struct story story;
    story_hold_all(&story, 3);
    ck_assert_int_eq(back(&story, NODES(1), 0), 0);
    ck_assert_int_eq(back(&story, NODES(0, 1), NODES(1)), RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(1));
}

/* A majority has lost it together: it is not ours for sure any more. */
TEST(back, r8_nothing_is_filled_in_without_majority_that_has_it)
{
    struct story story;
    story_hold_all(&story, 3);
    ck_assert_int_eq(back(&story, NODES(0, 1), NODES(0, 1)), 0);
    ck_assert_uint_eq(story.hold.retake | story.hold.back, 0);
}

/* Another's key stands there, or nobody knows: it may be sent again when it comes back again. */
TEST(back, r8_what_it_says_is_no_loss, .rows = 2)
{
    struct story story;
    hold_without_last(&story, 3);
    back(&story, NODES(2), 0);
    retake(&story, 2);
    ck_assert_int_eq(answer(&story, 2, RL_RETAKE, _i ? NO : FAILED), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    ck_assert_uint_eq(story.hold.retake, 0);
    ck_assert_int_eq(back(&story, NODES(2), 0), RL_DO_RETAKE);
}

TEST(back, r8_nothing_comes_back_to_lock_that_is_over, .rows = 3)
{
    struct story story;
    hold_without_last(&story, 3);
    if (_i == 0)
        rl_hold_distrust(&story.hold);
    else
        story.now_ns = over_ns(&story) - (_i == 1);
    ck_assert_int_eq(back(&story, NODES(2), 0), _i == 1 ? RL_DO_RETAKE : 0);
    ck_assert_uint_eq(story.hold.retake, _i == 1 ? NODES(2) : 0);
}

TEST(back, r8_nothing_comes_back_after_release_was_called, .rows = 2)
{
    struct story story;
    hold_without_last(&story, 3);
    release(&story, _i);
    ck_assert_int_eq(back(&story, rl_all(3), rl_all(3)), 0);
    ck_assert_uint_eq(story.hold.retake | story.hold.back, 0);
}

/* It is followed by the release, on its own link. */
TEST(back, r8_release_follows_what_was_filled_in)
{
    struct story story;
    hold_without_last(&story, 3);
    back(&story, NODES(2), 0);
    retake(&story, 2);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
    answer(&story, 2, RL_RETAKE, YES);
    for (unsigned node = 0; node < 3; node++) {
        ck_assert(!settled(&story));
        answer(&story, node, RL_RELEASE, YES);
    }
    ck_assert(settled(&story));
}

/* Before a majority has confirmed the lock nothing is filled in; then those that are not asked
 * in the round are. */
TEST(back, r8_open_round_is_waited_for, .rows = 2)
{
    struct story story;
    story_begin(&story, 5);
    story.able = NODES(0, 1, 2);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    ck_assert_int_eq(back(&story, rl_all(5), 0), 0);
    ck_assert_uint_eq(story.hold.retake, 0);
    answer(&story, 1, RL_ACQUIRE, YES);
    if (_i == 0) {
        ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), RL_EV_ACQUIRED | RL_DO_RETAKE);
        ck_assert_uint_eq(story.hold.retake, NODES(3, 4));
    } else {
        ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, NO), RL_EV_REFUSED);
        ck_assert_uint_eq(story.hold.retake | story.hold.back, 0);
    }
}

TEST(back, r8_node_that_is_asked_after_all_is_not_filled_in)
{
    struct story story;
    story_begin(&story, 3);
    ck_assert_int_eq(back(&story, NODES(1, 2), 0), 0);
    story.able = NODES(0, 1);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_EV_ACQUIRED | RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(2));
}

/* What is filled in under the old deadline ends then: so it waits for the new one. */
TEST(back, r8_open_extension_is_waited_for, .rows = 2)
{
    struct story story;
    hold_without_last(&story, 3);
    pass(&story, 300);
    story.able = rl_all(2);
    extend(&story, TTL_MS);
    ck_assert_int_eq(back(&story, rl_all(3), 0), 0);
    ck_assert_uint_eq(story.hold.retake, 0);
    answer(&story, 0, RL_EXTEND, YES);
    unsigned did = answer(&story, 1, RL_EXTEND, _i ? FAILED : YES);
    ck_assert_int_eq(did, (_i ? RL_EV_NOT_EXTENDED : RL_EV_EXTENDED) | RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(2));
}

/* Its yes counts in no round, and tells nothing of a deadline that has grown since. */
TEST(back, r8_what_is_filled_in_is_no_vote, .rows = 2)
{
    struct story story;
    hold_without_last(&story, 3);
    back(&story, NODES(2), 0);
    retake(&story, 2);
    story.able = rl_all(2); /* node 2 can't be asked meanwhile */
    extend(&story, TTL_MS);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), 0);
    ck_assert_int_eq(answer(&story, 2, RL_RETAKE, YES), 0);
    if (_i == 0) {
        ck_assert_int_eq(answer(&story, 1, RL_EXTEND, FAILED), RL_EV_NOT_EXTENDED);
    } else {
        ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
        ck_assert_int_eq(rl_hold_void(&story.hold, 0, story.now_ns), RL_EV_LOST);
    }
}

/* Sent again beside an extension, since its script was unknown: of the old deadline, too. */
TEST(back, r8_what_is_filled_in_beside_extension_is_of_old_deadline)
{
    struct story story;
    hold_without_last(&story, 3);
    back(&story, NODES(2), 0);
    retake(&story, 2);
    pass(&story, 300);
    story.able = rl_all(2);
    extend(&story, TTL_MS);
    rl_hold_unexecuted(&story.hold, 2, 0, RL_RETAKE);
    rl_hold_sent(&story.hold, 2, 0, RL_RETAKE, true);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(answer(&story, 2, RL_RETAKE, YES), 0);
    ck_assert_int_eq(rl_hold_void(&story.hold, 0, story.now_ns), RL_EV_LOST);
}

/* In the next round it has a vote like any other. */
TEST(back, r8_what_was_filled_in_votes_in_next_round)
{
    struct story story;
    hold_without_last(&story, 3);
    back(&story, NODES(2), 0);
    retake(&story, 2);
    answer(&story, 2, RL_RETAKE, YES);
    story.able = NODES(0, 2);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), RL_EV_EXTENDED);
}

/* Who has it by a text does not know whether it was released meanwhile, before it extends it. */
TEST(back, r8_attached_lock_is_filled_in_once_it_was_extended)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_init_attached(&story.hold, 3, TTL_MS * MS, DRIFT_FACTOR, story.now_ns + VALID_NS);
    ck_assert_int_eq(back(&story, NODES(2), NODES(2)), 0);
    ck_assert_uint_eq(story.hold.retake | story.hold.back, 0);
    pass(&story, 100);
    story.able = rl_all(2);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(back(&story, NODES(2), 0), RL_DO_RETAKE);
}

/* Its votes are void again before the round is over. */
TEST(back, r8_node_that_is_gone_again_is_not_filled_in)
{
    struct story story;
    hold_without_last(&story, 3);
    story.able = rl_all(2);
    extend(&story, TTL_MS);
    back(&story, NODES(2), 0);
    rl_hold_void(&story.hold, 2, story.now_ns);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
}
