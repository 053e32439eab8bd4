/* tags: valgrind */
/* test_hold_settle.c - the end of the end: releases said again, for how long, and when
 * nothing of a token can be left on any node. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

/* ---- said again ------------------------------------------------------------------------ */

TEST(again, lost_release_is_said_again)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    ck_assert_int_eq(lose(&story, 1), 0);
    ck_assert(!settled(&story));
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(1));
    for (unsigned node = 0; node < 3; node++)
        answer(&story, node, RL_RELEASE, node == 1 ? NO : YES);
    ck_assert(settled(&story));
    ck_assert(!rl_hold_expired_unreleased(&story.hold, story.now_ns));
}

/* BUSY, MISCONF and the like: not executed. */
TEST(again, refused_release_is_said_again)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 1, RL_RELEASE, YES);
    for (int times = 0; times < 5; times++) {
        pass(&story, 100);
        answer(&story, 2, RL_RELEASE, FAILED);
        ck_assert(!settled(&story));
        ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
    }
    answer(&story, 2, RL_RELEASE, YES);
    ck_assert(settled(&story));
}

TEST(again, release_that_was_not_executed_is_said_again)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    rl_hold_unexecuted(&story.hold, 2, 0, RL_RELEASE);
    ck_assert(!settled(&story));
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
}

/* A link that broke before the end: its acquire is unknown, and a release is owed anew. */
TEST(again, link_lost_while_holding)
{
    struct story story;
    story_hold(&story, 3);
    ck_assert_int_eq(lose(&story, 2), 0);
    pass(&story, 100);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

TEST(again, lost_link_that_carried_nothing)
{
    struct story story;
    story_hold_all(&story, 3);
    ck_assert_int_eq(lose(&story, 1), 0);
    release(&story, false);
    send_releases(&story, NULL);
    for (unsigned node = 0; node < 3; node++)
        answer(&story, node, RL_RELEASE, YES);
    ck_assert_int_eq(lose(&story, 1), 0);
    ck_assert(settled(&story));
}

/* While a release is unanswered on the link in use, the one that is due again waits. */
TEST(again, releases_go_one_by_one)
{
    struct story story;
    uint64_t other;
    story_hold(&story, 3); /* 2 is silent */
    drain(&story, 2);
    release(&story, false);
    send_releases(&story, &other);
    ck_assert_uint_eq(other, NODES(2));
    ck_assert_int_eq(rl_hold_link_lost(&story.hold, 2, 0, story.now_ns), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    answer_on(&story, 2, 1, RL_RELEASE, NO);
    ck_assert(!settled(&story)); /* what broke may have come after it */
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
    answer_on(&story, 2, 1, RL_RELEASE, YES);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 1, RL_RELEASE, YES);
    ck_assert(settled(&story));
}

/* The link that the release went down does not answer: another takes its place, and the
 * release goes down that one as well; the answers may come in any order, or not at all. */
TEST(again, release_on_link_that_drains_is_said_again)
{
    for (int lost = 0; lost < 2; lost++) {
        struct story story;
        uint64_t other;
        story_hold(&story, 3);
        release(&story, false);
        send_releases(&story, NULL);
        answer(&story, 0, RL_RELEASE, YES);
        answer(&story, 1, RL_RELEASE, YES);
        drain(&story, 2);
        ck_assert_uint_eq(send_releases(&story, &other), NODES(2));
        ck_assert_uint_eq(other, 0);
        answer(&story, 2, RL_RELEASE, NO);
        ck_assert(!settled(&story));
        if (lost) {
            rl_hold_link_lost(&story.hold, 2, 0, story.now_ns);
            ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
            answer(&story, 2, RL_RELEASE, YES);
        } else {
            answer_on(&story, 2, 0, RL_ACQUIRE, YES);
            answer_on(&story, 2, 0, RL_RELEASE, YES);
        }
        ck_assert(settled(&story));
    }
}

TEST(again, link_that_drains_and_owes_nothing)
{
    struct story story;
    story_hold_all(&story, 3);
    drain(&story, 0); /* not ended: nothing to release */
    ck_assert_uint_eq(story.hold.release_due, 0);
    release(&story, false);
    send_releases(&story, NULL);
    for (unsigned node = 0; node < 3; node++)
        answer(&story, node, RL_RELEASE, YES);
    drain(&story, 1);
    ck_assert(settled(&story));
}

/* ---- late grants after the end --------------------------------------------------------- */

/* The draining link took no release (it was full); the new one's went before the late
 * grant: the key is there, and must be given up. */
TEST(again, late_grant_that_no_release_follows)
{
    static const enum rl_vote votes[] = {YES, FAILED, NO};
    for (unsigned i = 0; i < 3; i++) {
        struct story story;
        story_hold(&story, 3);
        drain(&story, 2);
        release(&story, false);
        for (unsigned node = 0; node < 3; node++)
            rl_hold_sent(&story.hold, node, story.current[node], RL_RELEASE, true);
        for (unsigned node = 0; node < 3; node++)
            answer(&story, node, RL_RELEASE, node == 2 ? NO : YES);
        ck_assert(!settled(&story));
        answer_on(&story, 2, 0, RL_ACQUIRE, votes[i]);
        /* A refusal proves that nothing is there; an error proves nothing. */
        ck_assert_int_eq(settled(&story), votes[i] == NO);
        ck_assert_uint_eq(send_releases(&story, NULL), votes[i] == NO ? 0 : NODES(2));
    }
}

/* A stopped server goes on after a long time: the key's life begins then, and a release that
 * is refused then must still be said again. */
TEST(again, late_grants_life_begins_late)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, NO);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, NO), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
    pass(&story, 5 * TTL_MS);
    ck_assert(!settled(&story));
    answer(&story, 2, RL_ACQUIRE, YES);
    answer(&story, 2, RL_RELEASE, FAILED);
    ck_assert(!settled(&story));
    pass_ns(&story, GONE_NS - 1);
    ck_assert(!settled(&story));
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
    answer(&story, 2, RL_RELEASE, YES);
    ck_assert(settled(&story));
}

/* ---- until every key has run out by itself --------------------------------------------- */

TEST(settled, unreachable_node_is_waited_for_to_nanosecond)
{
    struct story story;
    story_hold_all(&story, 3);
    lose(&story, 1);
    pass(&story, 300);
    release(&story, false);
    ck_assert_uint_eq(send_releases_but(&story, NODES(1), NULL), NODES(0, 2));
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 2, RL_RELEASE, YES);
    pass_ns(&story, GONE_NS - 1);
    ck_assert(!settled(&story));
    ck_assert(!rl_hold_expired_unreleased(&story.hold, story.now_ns));
    pass_ns(&story, 1);
    ck_assert(settled(&story));
    ck_assert(rl_hold_expired_unreleased(&story.hold, story.now_ns));
}

/* From the moment that the carrying link broke, since until then it may have been executed. */
TEST(settled, wait_begins_when_link_breaks)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    pass(&story, 700);
    lose(&story, 1);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 2, RL_RELEASE, YES);
    pass_ns(&story, GONE_NS - 1);
    ck_assert(!settled(&story));
    pass_ns(&story, 1);
    ck_assert(settled(&story));
}

/* What is owed on a link that stands is waited for however long it takes. */
TEST(settled, answer_that_is_owed_is_waited_for)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 2, RL_RELEASE, YES);
    pass(&story, 100 * TTL_MS);
    ck_assert(!settled(&story));
    answer(&story, 1, RL_RELEASE, NO);
    ck_assert(settled(&story));
    ck_assert(!rl_hold_expired_unreleased(&story.hold, story.now_ns));
}

TEST(settled, longer_extension_is_waited_for_longer)
{
    struct story story;
    story_hold_all(&story, 1);
    extend(&story, 4 * TTL_MS);
    ck_assert_int_eq(lose(&story, 0), RL_EV_NOT_EXTENDED); /* it may have been executed */
    release(&story, false);
    pass(&story, 4 * TTL_MS + 41);
    ck_assert(!settled(&story));
    pass(&story, 2);
    ck_assert(settled(&story));
}

TEST(settled, nothing_is_settled_before_end)
{
    struct story story;
    story_begin(&story, 3);
    ck_assert(!settled(&story));
    ask(&story);
    ck_assert(!settled(&story));
    for (unsigned node = 0; node < 3; node++)
        answer(&story, node, RL_ACQUIRE, YES);
    ck_assert(!settled(&story));
    pass(&story, 10 * TTL_MS);
    ck_assert(!settled(&story));
    ck_assert(!rl_hold_expired_unreleased(&story.hold, story.now_ns));
}

TEST(settled, release_that_is_waited_for_is_not_settled)
{
    struct story story;
    story_hold(&story, 3);
    answer(&story, 2, RL_ACQUIRE, NO);
    release(&story, true);
    send_releases_but(&story, NODES(0, 1), NULL);
    story.now_ns += 10 * TTL_MS * MS; /* and nobody ticked */
    ck_assert(!settled(&story));
    ck_assert_int_eq(pass(&story, 0), RL_EV_RELEASED);
    ck_assert(settled(&story));
}

/* ---- taken up from another process ----------------------------------------------------- */

TEST(attached, attached_lock_may_be_anywhere)
{
    struct story story;
    story_begin(&story, 5);
    rl_hold_init_attached(&story.hold, 5, TTL_MS * MS, DRIFT_FACTOR, story.now_ns + 400 * MS);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    ck_assert_int_eq(extend(&story, TTL_MS), 0);
    ck_assert_uint_eq(rl_hold_to_extend(&story.hold), rl_all(5));
    for (unsigned node = 0; node < 2; node++)
        answer(&story, node, RL_EXTEND, YES);
    ck_assert_int_eq(answer(&story, 2, RL_EXTEND, YES), RL_EV_EXTENDED);
    ck_assert_int_eq(story.hold.deadline_ns, story.now_ns + VALID_NS);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(5));
}

TEST(attached, attached_lock_of_word_full_of_nodes)
{
    struct story story;
    story_begin(&story, 64);
    rl_hold_init_attached(&story.hold, 64, TTL_MS * MS, DRIFT_FACTOR, story.now_ns + 400 * MS);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), UINT64_MAX);
}

TEST(attached, attached_lock_runs_out)
{
    struct story story;
    story_begin(&story, 3);
    for (int64_t early = 1; early >= 0; early--) {
        rl_hold_init_attached(&story.hold, 3, TTL_MS * MS, DRIFT_FACTOR,
                              story.now_ns + RL_VALIDITY_GRAIN_NS - 1 + early);
        ck_assert_int_eq(extend(&story, TTL_MS), early ? 0 : RL_EV_LOST);
    }
}

/* It was extended before it was handed over: its keys live for as long as its deadline. */
TEST(attached, attached_locks_keys_live_to_its_deadline)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_init_attached(&story.hold, 3, TTL_MS * MS, DRIFT_FACTOR, story.now_ns + 9000 * MS);
    release(&story, false);
    pass(&story, 9000);
    ck_assert(!settled(&story));
    pass_ns(&story, 12 * MS + 1);
    ck_assert(settled(&story));
}
