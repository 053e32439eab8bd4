/* tags: valgrind */
/* test_hold_extend.c - holding on: extensions, filling in, and the end of the validity. What
 * R.. and CE.. are is told in hold_story.h. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

#include <signal.h>

/* ---- R6: from its own t0, by a majority, before it runs out ---------------------------- */

TEST(extension, r6_extension_counts_from_its_own_t0)
{
    struct story story;
    story_hold_all(&story, 3);
    int64_t old_ns = story.hold.deadline_ns;
    pass(&story, 400);
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    int64_t t0_ns = story.now_ns;
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), rl_all(3));
    pass(&story, 50);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, old_ns);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(story.hold.deadline_ns, t0_ns + VALID_NS);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), 0);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, t0_ns + VALID_NS);
}

/* CE17: the majority's last yes at the moment the old validity is told as 0 (the last
 * millisecond of it), or a nanosecond before. Somebody may have held it in between: dead,
 * released everywhere, never back. */
TEST(extension, ce17_late_extension_is_end)
{
    for (int64_t early = 1; early >= 0; early--) {
        struct story story;
        story_hold_all(&story, 3);
        story.now_ns = over_ns(&story) - 10 * MS;
        extend(&story, TTL_MS);
        answer(&story, 0, RL_EXTEND, YES);
        story.now_ns += 10 * MS - early; /* and nobody ticked */
        unsigned did = answer(&story, 1, RL_EXTEND, YES);
        ck_assert_int_eq(did, early ? RL_EV_EXTENDED : RL_EV_LOST);
        if (early)
            continue;
        ck_assert_int_eq(story.hold.deadline_ns, 0);
        ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
        ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
        ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
    }
}

/* The clock went back: before the extension is asked for, or before its answer. */
TEST(extension, r6_lock_held_before_clock_went_back_is_not_extended, .rows = 2)
{
    struct story story;
    story_hold_all(&story, 3);
    if (_i == 0)
        rl_hold_distrust(&story.hold);
    unsigned did =
        rl_hold_extend(&story.hold, story.now_ns, TTL_MS * MS, story.now_ns + 100 * MS, 7);
    ck_assert_int_eq(did, _i == 0 ? RL_EV_LOST : 0);
    if (_i == 1) {
        for (unsigned node = 0; node < 3; node++)
            rl_hold_sent(&story.hold, node, 0, RL_EXTEND, true);
        answer(&story, 0, RL_EXTEND, YES);
        rl_hold_distrust(&story.hold);
        ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_LOST);
    }
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_int_eq(story.hold.deadline_ns, 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

TEST(extension, r6_time_runs_out_while_extending)
{
    struct story story;
    story_hold_all(&story, 3);
    story.now_ns = story.hold.deadline_ns - 10 * MS;
    extend(&story, TTL_MS);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), over_ns(&story));
    ck_assert_int_eq(pass_ns(&story, 9 * MS), 0);
    ck_assert_int_eq(pass_ns(&story, 1), RL_EV_LOST);
    ck_assert_int_eq(pass(&story, 500), 0); /* once */
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), INT64_MAX);
}

TEST(extension, r6_no_extension_begins_too_late)
{
    struct story story;
    story_hold_all(&story, 3);
    story.now_ns = over_ns(&story);
    ck_assert_int_eq(extend(&story, TTL_MS), RL_EV_LOST);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

/* R7: ended is ended. */
TEST(extension, r7_dead_are_not_extended, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    story.now_ns = over_ns(&story);
    extend(&story, TTL_MS);
    extend(&story, TTL_MS);
}

TEST(extension, r6_shorter_one_never_shortens)
{
    struct story story;
    story_hold_all(&story, 3);
    int64_t old_ns = story.hold.deadline_ns;
    extend(&story, 100);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(story.hold.deadline_ns, old_ns);
}

/* Failures prove nothing: the old deadline stands, and it may be tried again. */
TEST(extension, r6_failed_round_leaves_old_deadline)
{
    struct story story;
    story_hold_all(&story, 3);
    int64_t old_ns = story.hold.deadline_ns;
    pass(&story, 300);
    extend(&story, TTL_MS);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, FAILED), 0);
    ck_assert_int_eq(lose(&story, 1), RL_EV_NOT_EXTENDED);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    ck_assert_int_eq(story.hold.deadline_ns, old_ns);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(story.hold.deadline_ns, story.now_ns + VALID_NS);
}

TEST(extension, r6_silent_round_leaves_old_deadline)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), story.now_ns + NODE_MS * MS);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(pass(&story, NODE_MS), RL_EV_NOT_EXTENDED);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), INT64_MAX);
}

TEST(extension, too_few_are_able_to_extend)
{
    struct story story;
    story_hold_all(&story, 5);
    story.able = NODES(0, 1);
    ck_assert_int_eq(extend(&story, TTL_MS), RL_EV_NOT_EXTENDED);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), 0);
    story.able = rl_all(5);
    ck_assert_int_eq(extend(&story, TTL_MS), 0); /* they are back */
}

/* Peer case 27: a majority says that the key is gone: certain, so over at once. */
TEST(extension, majority_has_lost_it)
{
    struct story story;
    story_hold_all(&story, 5);
    extend(&story, TTL_MS);
    ck_assert_int_eq(answer(&story, 0, RL_EXTEND, NO), 0);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, NO), 0);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, NO), RL_EV_LOST);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(3, 4));
}

/* Some have lost it and the others say nothing: not extended, and not certain. */
TEST(extension, refusals_and_failures_are_not_end)
{
    struct story story;
    story_hold_all(&story, 5);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, NO);
    answer(&story, 1, RL_EXTEND, NO);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, FAILED), RL_EV_NOT_EXTENDED);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    answer(&story, 3, RL_EXTEND, YES);
    answer(&story, 4, RL_EXTEND, YES);
    /* The next round need not ask those two: they have no key of ours. */
    extend(&story, TTL_MS);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), NODES(2, 3, 4));
    ck_assert_int_eq(answer(&story, 3, RL_EXTEND, NO), RL_EV_LOST);
}

/* ---- one round's answers are not another's --------------------------------------------- */

/* The answer of a round that gave up says nothing of the next: its TTL began earlier. */
TEST(rounds, late_answers_count_in_no_later_round)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    ck_assert_int_eq(pass(&story, NODE_MS), RL_EV_NOT_EXTENDED);
    /* The three still owe answers; their links drain, and new ones are asked. */
    for (unsigned node = 0; node < 3; node++)
        drain(&story, node);
    pass(&story, 100);
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    for (unsigned node = 0; node < 3; node++)
        ck_assert_int_eq(answer_on(&story, node, 0, RL_EXTEND, YES), 0);
    ck_assert_uint_eq(story.hold.extend.yes, 0);
    ck_assert_int_eq(answer_on(&story, 0, 1, RL_EXTEND, YES), 0);
    ck_assert_int_eq(answer_on(&story, 1, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
}

TEST(rounds, acquires_late_answers_count_in_no_extension)
{
    struct story story;
    story_hold(&story, 5); /* 3 and 4 still owe their answer to the acquire */
    drain(&story, 3);
    drain(&story, 4);
    extend(&story, TTL_MS);
    ck_assert_int_eq(answer_on(&story, 3, 0, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(rl_hold_link_lost(&story.hold, 4, 0, story.now_ns), 0);
    ck_assert_uint_eq(rl_round_silent(&story.hold.extend), rl_all(5));
}

TEST(rounds, old_links_end_fails_no_later_round)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    pass(&story, NODE_MS);
    for (unsigned node = 0; node < 3; node++)
        drain(&story, node);
    extend(&story, TTL_MS);
    for (unsigned node = 0; node < 3; node++)
        ck_assert_int_eq(rl_hold_link_lost(&story.hold, node, 0, story.now_ns), 0);
    ck_assert_uint_eq(story.hold.extend.failed, 0);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED);
}

TEST(rounds, extensions_go_one_by_one, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    extend(&story, TTL_MS);
}

/* Two links to one node have no order between them: the extension went down the new one and
 * found nothing, then the acquire on the old one was executed. Its end is heard first, in
 * whatever way; the extension's "no" that comes after it proves nothing. */
TEST(rounds, refusal_on_one_link_proves_nothing_of_other)
{
    for (int broken = 0; broken < 2; broken++) {
        struct story story;
        story_hold(&story, 5);
        drain(&story, 3);
        drain(&story, 4);
        extend(&story, TTL_MS);
        for (unsigned node = 3; node < 5; node++) {
            if (broken)
                rl_hold_link_lost(&story.hold, node, 0, story.now_ns);
            else
                answer_on(&story, node, 0, RL_ACQUIRE, YES);
        }
        answer(&story, 3, RL_EXTEND, NO);
        answer(&story, 4, RL_EXTEND, NO);
        release(&story, false);
        ck_assert_uint_eq(send_releases(&story, NULL), rl_all(5));
    }
}

/* Nor while the old one is not heard of. */
TEST(rounds, refusal_on_one_link_while_other_is_silent)
{
    struct story story;
    uint64_t other;
    story_hold(&story, 3);
    drain(&story, 2);
    extend(&story, TTL_MS);
    answer(&story, 2, RL_EXTEND, NO);
    rl_hold_link_lost(&story.hold, 2, 0, story.now_ns);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, &other), rl_all(3));
    ck_assert_uint_eq(other, 0);
}

/* ---- R8: filling in -------------------------------------------------------------------- */

/* CE28: a node that lost the key, or never had it, gets it once a majority has said yes. */
TEST(filling_in, r8_missing_nodes_are_filled_in_after_majoritys_yes)
{
    struct story story;
    story_begin(&story, 5);
    story.able = rl_all(4);
    ask(&story);
    for (unsigned node = 0; node < 4; node++)
        answer(&story, node, RL_ACQUIRE, YES);
    story.able = rl_all(5); /* node 4 is back, and never had it */
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), rl_all(4));
    ck_assert_int_eq(answer(&story, 3, RL_EXTEND, NO), 0); /* and node 3 lost it */
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, YES);
    int64_t t0_ns = story.now_ns;
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), RL_EV_EXTENDED | RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(3, 4));
    retake(&story, 3);
    retake(&story, 4);
    ck_assert_int_eq(answer(&story, 3, RL_RETAKE, YES), 0); /* no vote in any round */
    ck_assert_int_eq(answer(&story, 4, RL_RETAKE, NO), 0);
    ck_assert_int_eq(story.hold.deadline_ns, t0_ns + VALID_NS);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(4)); /* 4 is another's */
}

TEST(filling_in, r8_two_late_nos)
{
    struct story story;
    story_hold_all(&story, 5);
    extend(&story, TTL_MS);
    for (unsigned node = 0; node < 3; node++)
        answer(&story, node, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 3, RL_EXTEND, NO), RL_DO_RETAKE);
    ck_assert_int_eq(answer(&story, 4, RL_EXTEND, NO), RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(3, 4)); /* nothing was sent in between */
}

TEST(filling_in, r8_late_no_is_filled_in_too)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, YES);
    pass(&story, 300);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, NO), RL_DO_RETAKE);
    ck_assert_uint_eq(story.hold.retake, NODES(2));
    /* The node went away before it could be sent: forgotten until the next extension. */
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 2, RL_RETAKE, story.now_ns), 0);
    ck_assert_uint_eq(story.hold.retake, 0);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED | RL_DO_RETAKE);
}

/* No majority has said that it is ours: nothing is taken. */
TEST(filling_in, r8_nothing_is_filled_in_after_failed_round)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(pass(&story, NODE_MS), RL_EV_NOT_EXTENDED);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, NO), 0);
    ck_assert_uint_eq(story.hold.retake, 0);
}

/* Nor for what an older round is told while a later one was won. */
TEST(filling_in, r8_nothing_is_filled_in_for_older_rounds_no)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    pass(&story, NODE_MS);
    drain(&story, 2);
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, YES);
    extend(&story, TTL_MS);
    for (unsigned node = 0; node < 3; node++)
        answer(&story, node, RL_EXTEND, YES);
    ck_assert_int_eq(answer_on(&story, 2, 0, RL_EXTEND, NO), 0);
    ck_assert_uint_eq(story.hold.retake, 0);
}

TEST(filling_in, r8_nothing_is_filled_in_when_it_has_run_out)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, YES);
    story.now_ns = over_ns(&story);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, NO), 0);
    ck_assert_uint_eq(story.hold.retake, 0);
}

TEST(filling_in, r8_nothing_is_filled_in_after_release_was_called, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    answer(&story, 2, RL_EXTEND, NO);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), RL_EV_EXTENDED | RL_DO_RETAKE);
    release(&story, false);
    ck_assert_uint_eq(story.hold.retake, 0);
    /* One that went before is followed by the release: see test_hold_end.c. */
    rl_hold_sent(&story.hold, 2, 0, RL_RETAKE, true); /* this one aborts */
}

/* ---- release against extension --------------------------------------------------------- */

TEST(rounds, release_wins_against_extension)
{
    struct story story;
    story_hold_all(&story, 3);
    pass(&story, 300);
    extend(&story, TTL_MS);
    answer(&story, 0, RL_EXTEND, YES);
    ck_assert_int_eq(release(&story, false), 0);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3)); /* behind the extensions */
    ck_assert_int_eq(answer(&story, 1, RL_EXTEND, YES), 0);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_int_eq(story.hold.deadline_ns, 0);
    for (unsigned node = 0; node < 3; node++) {
        ck_assert(!settled(&story));
        answer(&story, node, RL_RELEASE, YES);
    }
    ck_assert(settled(&story));
}
