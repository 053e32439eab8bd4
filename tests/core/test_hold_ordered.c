/* test_hold_ordered.c - after a split, one node is asked first and the others only if it
 * grants. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

#include <signal.h>

TEST(ordered, first_grants_and_rest_follow)
{
    struct story story;
    story_begin(&story, 3);
    ck_assert_int_eq(ask_first(&story, 1), 0);
    ck_assert_uint_eq(story.hold.maybe_set, NODES(1));
    int64_t t0_ns = story.now_ns;
    pass(&story, 10);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_DO_ASK_REST);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ASKING);
    pass(&story, 10);
    ck_assert_int_eq(ask_rest(&story), 0);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), NODES(0, 2));
    /* The rest has its own time, and the validity still counts from the first byte of all. */
    pass(&story, NODE_MS - 1);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
    ck_assert_int_eq(story.hold.deadline_ns, t0_ns + VALID_NS);
}

TEST(ordered, first_refuses_and_no_other_is_written_to)
{
    static const enum rl_vote votes[] = {NO, FAILED};
    for (unsigned i = 0; i < 2; i++) {
        struct story story;
        story_begin(&story, 5);
        ask_first(&story, 3);
        ck_assert_int_eq(answer(&story, 3, RL_ACQUIRE, votes[i]), RL_EV_REFUSED);
        ck_assert_uint_eq(send_releases(&story, NULL), votes[i] == NO ? 0 : NODES(3));
    }
}

TEST(ordered, first_is_silent)
{
    struct story story;
    story_begin(&story, 5);
    ask_first(&story, 0);
    ck_assert_int_eq(pass_ns(&story, NODE_MS * MS - 1), 0);
    ck_assert_int_eq(pass_ns(&story, 1), RL_EV_REFUSED);
    ck_assert_uint_eq(story.hold.ask.failed, NODES(0)); /* the others have not */
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(ordered, round_is_cut)
{
    struct story story;
    story_begin(&story, 5);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    answer(&story, 1, RL_ACQUIRE, YES);
    ck_assert_int_eq(rl_hold_cut(&story.hold, story.now_ns), RL_EV_REFUSED);
    ck_assert_uint_eq(story.hold.ask.failed, NODES(2, 3, 4));
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2, 3, 4));
    /* A grant that comes now is one too late. */
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), 0);
}

TEST(ordered, round_is_cut_while_first_one_is_asked)
{
    struct story story;
    story_begin(&story, 5);
    ask_first(&story, 0);
    ck_assert_int_eq(rl_hold_cut(&story.hold, story.now_ns), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(ordered, first_ones_link_breaks)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 0);
    ck_assert_int_eq(lose(&story, 0), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(ordered, first_cannot_be_written_to)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_ask(&story.hold, story.now_ns, story.now_ns + 100 * MS, rl_all(3), 2);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 2, RL_ACQUIRE, story.now_ns), RL_EV_REFUSED);
    ck_assert(settled(&story));
}

TEST(ordered, first_was_not_executed)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 2);
    rl_hold_unexecuted(&story.hold, 2, 0, RL_ACQUIRE);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), NODES(2));
    rl_hold_sent(&story.hold, 2, 0, RL_ACQUIRE, true);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), RL_DO_ASK_REST);
}

TEST(ordered, one_node_is_first_and_all)
{
    struct story story;
    story_begin(&story, 1);
    ask_first(&story, 0);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
}

TEST(ordered, nodes_that_are_down_are_no_rest)
{
    struct story story;
    story_begin(&story, 5);
    story.able = NODES(1, 2, 4);
    ck_assert_int_eq(ask_first(&story, 2), 0);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), RL_DO_ASK_REST);
    ck_assert_int_eq(ask_rest(&story), 0);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), NODES(1, 4));
    answer(&story, 1, RL_ACQUIRE, YES);
    ck_assert_int_eq(answer(&story, 4, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
}

TEST(ordered, too_few_are_able_from_start)
{
    struct story story;
    story_begin(&story, 5);
    story.able = NODES(1, 2);
    ck_assert_int_eq(ask_first(&story, 2), RL_EV_REFUSED);
    ck_assert_uint_eq(story.hold.maybe_set, 0);
}

/* The rest went away while the first was asked: lost now, and not when its time is over. */
TEST(ordered, rest_has_gone)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 0);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), RL_DO_ASK_REST);
    story.able = NODES(0);
    ck_assert_int_eq(ask_rest(&story), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(ordered, rest_refuses)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 0);
    answer(&story, 0, RL_ACQUIRE, YES);
    ask_rest(&story);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, NO), 0);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, NO), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(ordered, rest_is_silent)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 0);
    pass(&story, 90);
    answer(&story, 0, RL_ACQUIRE, YES);
    ask_rest(&story);
    ck_assert_int_eq(pass(&story, 20), 0); /* the first one's time is over, theirs is not */
    ck_assert_int_eq(pass(&story, 80), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

TEST(ordered, given_up_before_rest)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 0);
    release(&story, false);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), 0); /* wants no rest any more */
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(ordered, first_node_without_vote, .signal = SIGABRT)
{
    struct story story;
    story_begin(&story, 3);
    story.able = NODES(0, 1);
    ask_first(&story, 2);
}

TEST(ordered, rest_before_first_has_granted, .signal = SIGABRT)
{
    struct story story;
    story_begin(&story, 3);
    ask_first(&story, 2);
    ask_rest(&story);
}
