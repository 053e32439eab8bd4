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

START_TEST(released_at_quorum)
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
END_TEST

/* Peer case 48: too few of them still had it. */
START_TEST(expired_as_soon_as_that_is_certain)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 1, RL_RELEASE, NO);
    ck_assert_int_eq(answer(&story, 2, RL_RELEASE, NO), 0);
    ck_assert_int_eq(answer(&story, 3, RL_RELEASE, NO), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EEXPIRED);
}
END_TEST

START_TEST(unknown_as_soon_as_that_is_certain)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, FAILED);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 1, RL_RELEASE, story.now_ns), 0);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 2, RL_RELEASE, story.now_ns), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_EUNCONFIRMED);
}
END_TEST

START_TEST(silence_makes_it_unknown)
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
END_TEST

/* What is done is done, however late it is read: only time that nobody answers ends the round.
 * An answer to an older request does not end it either. */
START_TEST(late_answer_to_release)
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
END_TEST

/* A node that refused the lock is clear of it: two of three rid of it is enough. */
START_TEST(nodes_that_never_had_it_are_rid_of_it)
{
    struct story story;
    story_hold(&story, 3);
    answer(&story, 2, RL_ACQUIRE, NO);
    release(&story, true);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1));
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
}
END_TEST

/* ... unless somebody said that it was gone: then the others are heard too. */
START_TEST(doubt_waits_for_all_answers)
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
END_TEST

/* ... but not when a majority has said that it was ours. */
START_TEST(majority_ends_doubt)
{
    struct story story;
    give_up(&story, 5);
    answer(&story, 0, RL_RELEASE, NO);
    answer(&story, 1, RL_RELEASE, YES);
    ck_assert_int_eq(answer(&story, 2, RL_RELEASE, YES), 0);
    ck_assert_int_eq(answer(&story, 3, RL_RELEASE, YES), RL_EV_RELEASED); /* 4 is silent */
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
}
END_TEST

START_TEST(doubt_and_failure)
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
END_TEST

/* The silent ones fail; the one that never had it does not. */
START_TEST(doubt_and_silence)
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
END_TEST

/* The majority was lost before release was called, and that is known. */
START_TEST(expired_before_anything_is_sent)
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
END_TEST

START_TEST(nobody_waits)
{
    struct story story;
    story_hold_all(&story, 3);
    ck_assert_int_eq(release(&story, false), 0);
    send_releases(&story, NULL);
    for (unsigned node = 0; node < 3; node++)
        ck_assert_int_eq(answer(&story, node, RL_RELEASE, YES), 0);
    ck_assert(settled(&story));
}
END_TEST

/* Of a node's two links one breaks: the other may yet tell. */
START_TEST(broken_link_beside_one_that_owes)
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
END_TEST

/* The acquire's link breaks before the release went down it: it still will be. */
START_TEST(broken_link_that_carried_no_release)
{
    struct story story;
    story_hold(&story, 3);
    release(&story, true);
    ck_assert_int_eq(lose(&story, 2), 0);
    ck_assert_uint_eq(story.hold.release.failed, 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}
END_TEST

/* It is said again, by the next link, and its round goes on: until that is answered, can't be
 * made, or takes too long. */
START_TEST(both_links_broken)
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
END_TEST

/* The first one may have done it before its answer got lost. */
START_TEST(gone_already_by_release_whose_answer_got_lost)
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
END_TEST

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

START_TEST(every_release_has_one_verdict)
{
    struct story story;
    unsigned yes = 0, no = 0;
    story_hold_all(&story, (unsigned)_i);
    ck_assert_int_eq(release(&story, true), 0);
    send_releases(&story, NULL);
    every_release(&story, rl_all((unsigned)_i), &yes, &no);
}
END_TEST

/* ---- R4: behind the acquire, down every link that owes an answer ----------------------- */

/* The acquire's link drains: one release follows it there, another goes down the new link. */
START_TEST(r4_down_draining_link_and_new_one)
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
END_TEST

/* An extension and a retake are followed likewise: either may make the key live on. */
START_TEST(r4_behind_extensions_and_retakes)
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
END_TEST

START_TEST(r4_no_taking_after_end)
{
    struct story story;
    story_hold(&story, 3);
    drain(&story, 0);
    release(&story, false);
    rl_hold_sent(&story.hold, 0, 1, RL_EXTEND_OR_SET, true);
}
END_TEST

START_TEST(no_release_before_end)
{
    struct story story;
    story_hold(&story, 3);
    ck_assert(!rl_hold_wants_release(&story.hold, 0, 0, true));
    rl_hold_sent(&story.hold, 0, 0, RL_RELEASE, true);
}
END_TEST

START_TEST(no_second_release_while_one_is_unanswered)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, false);
    send_releases(&story, NULL);
    rl_hold_sent(&story.hold, 0, 0, RL_RELEASE, true);
}
END_TEST

START_TEST(released_twice)
{
    struct story story;
    story_hold(&story, 3);
    release(&story, false);
    release(&story, false);
}
END_TEST

START_TEST(released_before_it_was_asked_for)
{
    struct story story;
    story_begin(&story, 3);
    release(&story, false);
}
END_TEST

START_TEST(answer_that_nobody_owes)
{
    struct story story;
    story_hold_all(&story, 3);
    answer(&story, 0, RL_EXTEND, YES);
}
END_TEST

START_TEST(releases_answer_that_nobody_owes)
{
    struct story story;
    story_hold_all(&story, 3);
    answer(&story, 0, RL_RELEASE, YES);
}
END_TEST

START_TEST(result_before_its_time)
{
    struct story story;
    story_hold_all(&story, 3);
    release(&story, true);
    rl_hold_release_result(&story.hold);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hold_end");
    TCase *told = tcase_create("told");
    tcase_add_test(told, released_at_quorum);
    tcase_add_test(told, expired_as_soon_as_that_is_certain);
    tcase_add_test(told, unknown_as_soon_as_that_is_certain);
    tcase_add_test(told, silence_makes_it_unknown);
    tcase_add_test(told, late_answer_to_release);
    tcase_add_test(told, nodes_that_never_had_it_are_rid_of_it);
    tcase_add_test(told, doubt_waits_for_all_answers);
    tcase_add_test(told, majority_ends_doubt);
    tcase_add_test(told, doubt_and_failure);
    tcase_add_test(told, doubt_and_silence);
    tcase_add_test(told, expired_before_anything_is_sent);
    tcase_add_test(told, nobody_waits);
    tcase_add_test(told, broken_link_beside_one_that_owes);
    tcase_add_test(told, broken_link_that_carried_no_release);
    tcase_add_test(told, both_links_broken);
    tcase_add_test(told, gone_already_by_release_whose_answer_got_lost);
    tcase_add_loop_test(told, every_release_has_one_verdict, 1, 6);
    tcase_add_test_raise_signal(told, result_before_its_time, SIGABRT);
    suite_add_tcase(suite, told);
    TCase *sent = tcase_create("sent");
    tcase_add_test(sent, r4_down_draining_link_and_new_one);
    tcase_add_test(sent, r4_behind_extensions_and_retakes);
    tcase_add_test_raise_signal(sent, r4_no_taking_after_end, SIGABRT);
    tcase_add_test_raise_signal(sent, no_release_before_end, SIGABRT);
    tcase_add_test_raise_signal(sent, no_second_release_while_one_is_unanswered, SIGABRT);
    tcase_add_test_raise_signal(sent, released_twice, SIGABRT);
    tcase_add_test_raise_signal(sent, released_before_it_was_asked_for, SIGABRT);
    tcase_add_test_raise_signal(sent, answer_that_nobody_owes, SIGABRT);
    tcase_add_test_raise_signal(sent, releases_answer_that_nobody_owes, SIGABRT);
    suite_add_tcase(suite, sent);
    return suite_run(suite);
}
