/* tags: valgrind */
/* test_hold_end.c - giving up: what a release is told, which releases are sent where and how
 * often, and when nothing can be left anywhere. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

#include <signal.h>

/* What all had is given up, and they are told. */
static void give_up(struct story *story, unsigned n)
{
    story_hold_all(story, n);
    release(story, true);
    send_releases(story, NULL);
}

/* ---- what the caller of release is told ------------------------------------------------ */

TEST(told, released_at_quorum)
{
    struct story story;
    story_hold_all(&story, 5);
    ck_assert_int_eq(release(&story, true), 0);
    ck_assert_int_eq(story.hold.deadline_ns, 0); /* no validity from here on */
    send_releases(&story, NULL);
    ck_assert_int_eq(answer(&story, 4, RL_RELEASE, YES), 0);
    ck_assert_int_eq(answer(&story, 0, RL_RELEASE, YES), 0);
    ck_assert(!settled(&story));
    ck_assert_int_eq(answer(&story, 2, RL_RELEASE, YES), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), 0); /* behind the caller's back */
    ck_assert_int_eq(answer(&story, 3, RL_RELEASE, FAILED), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(3));
    answer(&story, 3, RL_RELEASE, YES);
    ck_assert(settled(&story));
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK); /* for good */
}

/* Peer case 48: too few of them still had it. */
TEST(told, expired_as_soon_as_that_is_certain)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 1, RL_RELEASE, NO);
    ck_assert_int_eq(answer(&story, 2, RL_RELEASE, NO), 0);
    ck_assert_int_eq(answer(&story, 3, RL_RELEASE, NO), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EEXPIRED);
}

TEST(told, unknown_as_soon_as_that_is_certain)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, FAILED);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 1, RL_RELEASE, story.now_ns), 0);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 2, RL_RELEASE, story.now_ns), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EUNCONFIRMED);
}

TEST(told, silence_makes_it_unknown)
{
    struct story story;
    give_up(&story, 3);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), story.now_ns + NODE_MS * MS);
    ck_assert_int_eq(pass_ns(&story, NODE_MS * MS - 1), 0);
    ck_assert_int_eq(pass_ns(&story, 1), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EUNCONFIRMED);
    ck_assert_int_eq(rl_hold_next_ns(&story.hold), INT64_MAX);
    ck_assert_int_eq(pass(&story, 1), 0); /* once */
}

/* What is done is done, however late it is read: only time that nobody answers ends the round.
 * An answer to an older request does not end it either. */
TEST(told, late_answer_to_release)
{
    struct story story;
    story_hold(&story, 3);
    release(&story, true);
    send_releases(&story, NULL);
    answer(&story, 0, RL_RELEASE, YES);
    story.now_ns += NODE_MS * MS; /* and nobody ticked */
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
}

/* A node that refused the lock is clear of it: two of three rid of it is enough. */
TEST(told, nodes_that_never_had_it_are_rid_of_it)
{
    struct story story;
    story_hold(&story, 3);
    answer(&story, 2, RL_ACQUIRE, NO);
    release(&story, true);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1));
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
}

/* ... unless somebody said that it was gone: then the others are heard too. */
TEST(told, doubt_waits_for_all_answers)
{
    struct story story;
    story_hold(&story, 5);
    answer(&story, 3, RL_ACQUIRE, YES);
    answer(&story, 4, RL_ACQUIRE, NO);
    release(&story, true);
    send_releases(&story, NULL);
    ck_assert_int_eq(answer(&story, 0, RL_RELEASE, NO), 0); /* 3 may still have had it */
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), 0);
    ck_assert_int_eq(answer(&story, 2, RL_RELEASE, NO), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EEXPIRED);
}

/* ... but not when a majority has said that it was ours. */
TEST(told, majority_ends_doubt)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, NO);
    answer(&story, 1, RL_RELEASE, YES);
    ck_assert_int_eq(answer(&story, 2, RL_RELEASE, YES), 0);
    ck_assert_int_eq(answer(&story, 3, RL_RELEASE, YES), RL_EV_RELEASED); /* 4 is silent */
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
}

TEST(told, doubt_and_failure)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, NO);
    answer(&story, 1, RL_RELEASE, YES);
    answer(&story, 2, RL_RELEASE, YES);
    ck_assert_int_eq(answer(&story, 3, RL_RELEASE, FAILED), 0);
    ck_assert_int_eq(answer(&story, 4, RL_RELEASE, FAILED), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK); /* three are rid of it */
}

/* The silent ones fail; the one that never had it does not. */
TEST(told, doubt_and_silence)
{
    struct story story;
    story_hold(&story, 5);
    answer(&story, 3, RL_ACQUIRE, YES);
    answer(&story, 4, RL_ACQUIRE, NO);
    release(&story, true);
    send_releases(&story, NULL);
    answer(&story, 0, RL_RELEASE, NO);
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), 0);
    ck_assert_int_eq(pass(&story, NODE_MS), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK); /* 0, 1 and 4 */
}

/* The majority was lost before release was called, and that is known. */
TEST(told, expired_before_anything_is_sent)
{
    struct story story;
    story_hold(&story, 3);
    extend(&story, TTL_MS);
    pass(&story, NODE_MS); /* nobody answered in time */
    answer(&story, 0, RL_EXTEND, NO);
    answer(&story, 1, RL_EXTEND, NO);
    answer(&story, 2, RL_ACQUIRE, NO);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    ck_assert_int_eq(release(&story, true), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EEXPIRED);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    ck_assert(settled(&story));
}

TEST(told, nobody_waits)
{
    struct story story;
    story_hold_all(&story, 3);
    ck_assert_int_eq(release(&story, false), 0);
    send_releases(&story, NULL);
    for (unsigned node = 0; node < 3; node++)
        ck_assert_int_eq(answer(&story, node, RL_RELEASE, YES), 0);
    ck_assert(settled(&story));
}

/* Of a node's two links one breaks: the other may yet tell. */
TEST(told, broken_link_beside_one_that_owes)
{
    for (unsigned broken = 0; broken < RL_SLOTS; broken++) {
        struct story story;
        story_hold_all(&story, 3);
        extend(&story, TTL_MS);
        answer(&story, 0, RL_EXTEND, YES);
        drain(&story, 2);
        release(&story, true);
        uint64_t other;
        ck_assert_uint_eq(send_releases(&story, &other), rl_all(3));
        ck_assert_uint_eq(other, NODES(2));
        ck_assert_int_eq(rl_hold_link_lost(&story.hold, 2, broken, story.now_ns), 0);
        ck_assert_uint_eq(story.hold.release.failed, 0);
        ck_assert_int_eq(answer(&story, 0, RL_RELEASE, YES), 0);
        if (broken == 1)
            answer_on(&story, 2, 0, RL_EXTEND, YES);
        ck_assert_int_eq(answer_on(&story, 2, 1 - broken, RL_RELEASE, YES), RL_EV_RELEASED);
        ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
    }
}

/* The acquire's link breaks before the release went down it: it still will be. */
TEST(told, broken_link_that_carried_no_release)
{
    struct story story;
    story_hold(&story, 3);
    release(&story, true);
    ck_assert_int_eq(lose(&story, 2), 0);
    ck_assert_uint_eq(story.hold.release.failed, 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

/* It is said again, by the next link, and its round goes on: until that is answered, can't be
 * made, or takes too long. */
TEST(told, both_links_broken)
{
    struct story story;
    give_up(&story, 3);
    drain(&story, 2);
    send_releases(&story, NULL);
    rl_hold_link_lost(&story.hold, 2, 0, story.now_ns);
    rl_hold_link_lost(&story.hold, 2, 1, story.now_ns);
    ck_assert_uint_eq(story.hold.release.failed, 0);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(2));
    pass_ns(&story, NODE_MS * MS);
    ck_assert_uint_eq(story.hold.release.failed, rl_all(3));
}

/* The first one may have done it before its answer got lost. */
TEST(told, gone_already_by_release_whose_answer_got_lost)
{
    struct story story;
    give_up(&story, 3);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(lose(&story, i), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
    ck_assert_int_eq(answer(&story, 0, RL_RELEASE, NO), 0);
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, NO), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
}

/* Every order of every answer, for small N: one verdict, and one that is true. */
static void every_release(struct story *story, uint64_t left, unsigned *yes, unsigned *no)
{
    const enum rl_vote votes[] = {YES, NO, FAILED};
    unsigned n = story->hold.n, needed = n / 2 + 1;
    for (uint64_t rest = left; rest; rest &= rest - 1) {
        unsigned node = rl_first(rest);
        for (unsigned i = 0; i < 3; i++) {
            struct story next = *story;
            unsigned yes_then = *yes + (i == 0), no_then = *no + (i == 1);
            unsigned did = answer(&next, node, RL_RELEASE, votes[i]);
            if (did == 0) {
                ck_assert_uint_ne(left & ~rl_bit(node), 0); /* all have spoken: decided */
                every_release(&next, left & ~rl_bit(node), &yes_then, &no_then);
                continue;
            }
            ck_assert_int_eq(did, RL_EV_RELEASED);
            switch (rl_hold_release_result(&next.hold)) {
            case REDLOCK_OK: /* a majority is rid of it */
                ck_assert_uint_ge(yes_then + no_then, needed);
                ck_assert_uint_ge(n - no_then, needed);
                break;
            case REDLOCK_EEXPIRED: /* no majority can have had it */
                ck_assert_uint_lt(n - no_then, needed);
                break;
            default: /* a majority can't be heard any more */
                ck_assert_uint_gt(n - rl_count(left) + 1 - yes_then - no_then, n - needed);
            }
        }
    }
}

TEST(told, every_release_has_one_verdict, .first = 1, .rows = 6)
{
    struct story story;
    unsigned yes = 0, no = 0;
    story_hold_all(&story, (unsigned)_i);
    ck_assert_int_eq(release(&story, true), 0);
    send_releases(&story, NULL);
    every_release(&story, rl_all((unsigned)_i), &yes, &no);
}

/* ---- R4: behind the acquire, down every link that owes an answer ----------------------- */

/* The acquire's link drains: one release follows it there, another goes down the new link. */
TEST(sent, r4_down_draining_link_and_new_one)
{
    struct story story;
    uint64_t other;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    drain(&story, 1);
    ck_assert_int_eq(pass(&story, NODE_MS), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases_but(&story, NODES(1), &other), NODES(0, 2));
    ck_assert_uint_eq(other, NODES(1));
    ck_assert_uint_eq(send_releases(&story, &other), NODES(1)); /* the new link is up */
    ck_assert_uint_eq(other, 0);
    answer_on(&story, 1, 1, RL_RELEASE, NO);
    ck_assert_uint_eq(send_releases(&story, &other), 0);
    answer_on(&story, 1, 0, RL_ACQUIRE, YES);
    answer_on(&story, 1, 0, RL_RELEASE, YES);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 2, RL_ACQUIRE, YES);
    ck_assert(!settled(&story));
    answer(&story, 2, RL_RELEASE, YES);
    ck_assert(settled(&story));
}

/* An extension and a retake are followed likewise: either may make the key live on. */
TEST(sent, r4_behind_extensions_and_retakes)
{
    struct story story;
    story_hold_all(&story, 3);
    extend(&story, TTL_MS);
    answer(&story, 2, RL_EXTEND, NO);
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, YES);
    retake(&story, 2);
    drain(&story, 2);
    release(&story, false);
    uint64_t other;
    ck_assert_uint_eq(send_releases(&story, &other), rl_all(3));
    ck_assert_uint_eq(other, NODES(2));
}

TEST(sent, r4_no_taking_after_end, .signal = SIGABRT)
{
    struct story story;
    story_hold(&story, 3);
    drain(&story, 0);
    release(&story, false);
    rl_hold_sent(&story.hold, 0, 1, RL_RETAKE, true);
}

TEST(sent, no_release_before_end, .signal = SIGABRT)
{
    struct story story;
    story_hold(&story, 3);
    ck_assert(!rl_hold_wants_release(&story.hold, 0, 0, true));
    rl_hold_sent(&story.hold, 0, 0, RL_RELEASE, true);
}

TEST(sent, no_second_release_while_one_is_unanswered, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    rl_hold_sent(&story.hold, 0, 0, RL_RELEASE, true);
}

TEST(sent, released_twice, .signal = SIGABRT)
{
    struct story story;
    story_hold(&story, 3);
    release(&story, false);
    release(&story, false);
}

TEST(sent, released_before_it_was_asked_for, .signal = SIGABRT)
{
    struct story story;
    story_begin(&story, 3);
    release(&story, false);
}

TEST(sent, answer_that_nobody_owes, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    answer(&story, 0, RL_EXTEND, YES);
}

TEST(sent, releases_answer_that_nobody_owes, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    answer(&story, 0, RL_RELEASE, YES);
}

TEST(told, result_before_its_time, .signal = SIGABRT)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, true);
    rl_hold_release_result(&story.hold);
}
