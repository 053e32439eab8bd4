/* tags: valgrind */
/* test_hold.c - acquiring: every rule by which a hold comes to be HELD, or does not. What R..
 * and CE.. are is told in hold_story.h. */
#include "config_auto.h"

#include "hold_story.h"
#include "suite.h"

#include <signal.h>

static const unsigned sizes[] = {1, 2, 3, 4, 5, 7, 31, 32, 33, 63, 64};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

/* ---- R1: validity = ttl - (t1 - t0) - drift ------------------------------------------- */

TEST(winning, r1_validity_counts_from_before_first_byte)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    int64_t t0_ns = story.now_ns;
    pass(&story, 30);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, 0);
    pass(&story, 40);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_HELD);
    ck_assert_int_eq(story.hold.deadline_ns, t0_ns + VALID_NS); /* CE12: not from t1 */
}

/* A majority that comes when less than a millisecond is left (which is told as 0), to the
 * nanosecond. */
TEST(winning, r1_won_too_late_is_lost)
{
    for (int64_t early = 1; early >= 0; early--) {
        struct story story;
        story_begin(&story, 3);
        rl_hold_ask(&story.hold, story.now_ns, story.now_ns + 2000 * MS, rl_all(3), -1);
        for (unsigned node = 0; node < 3; node++)
            rl_hold_sent(&story.hold, node, 0, RL_ACQUIRE, true);
        answer(&story, 0, RL_ACQUIRE, YES);
        pass_ns(&story, VALID_NS - RL_VALIDITY_GRAIN_NS + 1 - early);
        unsigned did = answer(&story, 1, RL_ACQUIRE, YES);
        ck_assert_int_eq(did, early ? RL_EV_ACQUIRED : RL_EV_REFUSED);
        ck_assert_int_eq(story.hold.phase, early ? RL_HOLD_HELD : RL_HOLD_ENDING);
        ck_assert_int_eq(story.hold.deadline_ns != 0, early);
        uint64_t all = send_releases(&story, NULL);
        ck_assert_uint_eq(all, early ? 0 : rl_all(3));
    }
}

/* How long ago it was asked for nobody can tell then. */
TEST(winning, r1_lock_asked_for_before_clock_went_back_is_not_won)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), 0);
    rl_hold_distrust(&story.hold);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_EV_REFUSED);
    ck_assert_int_eq(story.hold.deadline_ns, 0);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

/* CE11: all say yes, but the process slept and reads it after the TTL. */
TEST(winning, ce11_grants_read_after_ttl_are_no_lock)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    story.now_ns += 1500 * MS; /* and nobody ticked */
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), RL_EV_REFUSED);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

/* An answer from after its node's time is a late one, even where nobody ticked. */
TEST(winning, nodes_time_is_over_to_nanosecond)
{
    for (int64_t early = 1; early >= 0; early--) {
        struct story story;
        story_begin(&story, 3);
        ask(&story);
        answer(&story, 0, RL_ACQUIRE, YES);
        story.now_ns += NODE_MS * MS - early;
        ck_assert_int_eq(rl_hold_next_ns(&story.hold), story.now_ns + early);
        unsigned did = answer(&story, 1, RL_ACQUIRE, YES);
        ck_assert_int_eq(did, early ? RL_EV_ACQUIRED : RL_EV_REFUSED);
    }
}

/* ---- R2: a majority of the configured N ------------------------------------------------ */

TEST(winning, r2_majoritys_last_yes_wins_and_no_earlier_one, .rows = SIZES)
{
    unsigned n = sizes[_i], needed = n / 2 + 1;
    struct story story;
    story_begin(&story, n);
    ck_assert_int_eq(ask(&story), 0);
    for (unsigned i = 0; i + 1 < needed; i++)
        ck_assert_int_eq(answer(&story, n - 1 - i, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ASKING);
    ck_assert_int_eq(answer(&story, n - needed, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
}

/* Refusals and failures together: lost with the first that makes a majority impossible. */
TEST(winning, r2_lost_as_soon_as_majority_is_impossible, .rows = SIZES)
{
    unsigned n = sizes[_i], needed = n / 2 + 1;
    struct story story;
    story_begin(&story, n);
    ask(&story);
    unsigned did = 0;
    for (unsigned i = 0; i <= n - needed; i++) {
        ck_assert_int_eq(did, 0);
        did = answer(&story, i, RL_ACQUIRE, i % 2 ? NO : FAILED);
    }
    ck_assert_int_eq(did, RL_EV_REFUSED);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), 0);
}

/* Peer case 11, CE23: two of five can be reached; both would grant. */
TEST(winning, ce23_too_few_are_able)
{
    struct story story;
    story_begin(&story, 5);
    story.able = NODES(1, 3);
    ck_assert_int_eq(ask(&story), RL_EV_REFUSED);
    ck_assert(rl_round_no_quorum(&story.hold.ask));
    ck_assert_uint_eq(story.hold.maybe_set, 0); /* nothing was sent, nothing is owed */
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    ck_assert(settled(&story));
}

TEST(winning, r2_just_enough_are_able)
{
    struct story story;
    story_begin(&story, 5);
    story.able = NODES(0, 2, 4);
    ck_assert_int_eq(ask(&story), 0);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), NODES(0, 2, 4));
    answer(&story, 0, RL_ACQUIRE, YES);
    answer(&story, 2, RL_ACQUIRE, YES);
    ck_assert_int_eq(answer(&story, 4, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
}

/* CE13, peer case 5: an even split is a loss at once, never a hang. */
TEST(winning, ce13_even_split_is_lost)
{
    for (unsigned n = 2; n <= 64; n += 2) {
        struct story story;
        story_begin(&story, n);
        ask(&story);
        unsigned did = 0;
        for (unsigned i = 0; i < n / 2; i++)
            ck_assert_int_eq(answer(&story, i, RL_ACQUIRE, YES), 0);
        for (unsigned i = n / 2; i < n && !did; i++)
            did = answer(&story, i, RL_ACQUIRE, NO);
        ck_assert_int_eq(did, RL_EV_REFUSED);
    }
}

/* Peer case 21: the majority is enough; an error beside it is not worth a thought. */
TEST(winning, majority_and_error_are_success)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, FAILED), 0);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
}

TEST(winning, request_that_could_not_be_queued_has_failed)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_ask(&story.hold, story.now_ns, story.now_ns + 100 * MS, rl_all(3), -1);
    rl_hold_sent(&story.hold, 0, 0, RL_ACQUIRE, true);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 1, RL_ACQUIRE, story.now_ns), 0);
    ck_assert_int_eq(rl_hold_unsent(&story.hold, 2, RL_ACQUIRE, story.now_ns), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0)); /* R4: only where bytes went */
}

/* A node that was down from the start can't fail a second time. */
TEST(winning, node_fails_once)
{
    struct story story;
    story_begin(&story, 5);
    story.able = rl_all(4);
    ask(&story);
    for (int times = 0; times < 5; times++)
        ck_assert_int_eq(rl_hold_unsent(&story.hold, 4, RL_ACQUIRE, story.now_ns), 0);
    ck_assert_uint_eq(story.hold.ask.failed, NODES(4));
}

/* ---- R3: one attempt, one token, one acquire a node ------------------------------------ */

TEST(once, r3_token_is_asked_for_once_while_asking, .signal = SIGABRT)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    rl_hold_ask(&story.hold, story.now_ns, story.now_ns + MS, rl_all(3), -1);
}

/* CE16: a retry with the token of a lost attempt. */
TEST(once, ce16_lost_token_is_never_asked_for_again, .signal = SIGABRT)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, NO);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, NO), RL_EV_REFUSED);
    rl_hold_ask(&story.hold, story.now_ns, story.now_ns + MS, rl_all(3), -1);
}

TEST(once, r3_token_that_is_held_is_not_asked_for, .signal = SIGABRT)
{
    struct story story;
    story_hold(&story, 3);
    rl_hold_ask(&story.hold, story.now_ns, story.now_ns + MS, rl_all(3), -1);
}

TEST(once, r3_no_second_acquire_while_one_is_unanswered, .signal = SIGABRT)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    rl_hold_sent(&story.hold, 0, 0, RL_ACQUIRE, true);
}

/* Certainly not executed (NOSCRIPT): sent again, and its vote counts once. */
TEST(once, r3_only_unexecuted_request_is_resent)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    rl_hold_unexecuted(&story.hold, 0, 0, RL_ACQUIRE);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), rl_all(3)); /* still asked for */
    rl_hold_sent(&story.hold, 0, 0, RL_ACQUIRE, true);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), 0);
    ck_assert_uint_eq(rl_hold_to_ask(&story.hold), NODES(1, 2));
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), RL_EV_ACQUIRED);
}

/* ---- R4, R5: what is not a grant, and where it is rolled back -------------------------- */

/* To the granting, the silent, the failing and the lost one; not to the one that refused,
 * nor to the one that was never written to. */
TEST(losing, r4_lost_round_is_released_wherever_byte_went)
{
    struct story story;
    uint64_t other;
    story_begin(&story, 7);
    story.able = rl_all(7) & ~NODES(6);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    answer(&story, 1, RL_ACQUIRE, FAILED);
    answer(&story, 2, RL_ACQUIRE, NO);
    ck_assert_int_eq(lose(&story, 3), RL_EV_REFUSED); /* 4 and 5 are silent, 6 was down */
    ck_assert_uint_eq(send_releases(&story, &other), NODES(0, 1, 3, 4, 5));
    ck_assert_uint_eq(other, 0);
    ck_assert_uint_eq(send_releases(&story, NULL), 0); /* once */
    /* Behind the acquire, on its link: first the one is answered, then the other. */
    answer(&story, 4, RL_ACQUIRE, YES);
    answer(&story, 4, RL_RELEASE, YES);
    answer(&story, 5, RL_ACQUIRE, NO);
    answer(&story, 5, RL_RELEASE, NO);
    ck_assert(!settled(&story));
    answer(&story, 0, RL_RELEASE, YES);
    answer(&story, 1, RL_RELEASE, NO);
    answer(&story, 3, RL_RELEASE, NO);
    ck_assert(settled(&story));
}

/* R5: an error, silence or a broken link is no vote for us, and may yet have taken the key. */
TEST(losing, r5_unknown_answer_is_no_grant)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    ck_assert_int_eq(answer(&story, 0, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(lose(&story, 1), 0);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, FAILED), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

TEST(losing, r5_silence_is_no_grant)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    ck_assert_int_eq(pass_ns(&story, NODE_MS * MS - 1), 0);
    ck_assert_int_eq(pass_ns(&story, 1), RL_EV_REFUSED);
    ck_assert_int_eq(pass(&story, 1), 0); /* once */
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}

/* A link that was lost once does not take a second vote away. */
TEST(losing, lost_link_fails_once)
{
    struct story story;
    story_begin(&story, 5);
    ask(&story);
    ck_assert_int_eq(lose(&story, 0), 0);
    ck_assert_int_eq(lose(&story, 0), 0);
    ck_assert_int_eq(lose(&story, 1), 0);
    ck_assert_uint_eq(rl_count(story.hold.ask.failed), 2);
    ck_assert_int_eq(lose(&story, 2), RL_EV_REFUSED);
}

/* ---- late answers ---------------------------------------------------------------------- */

TEST(losing, late_grants_join_and_never_lengthen)
{
    struct story story;
    story_hold(&story, 5);
    int64_t deadline_ns = story.hold.deadline_ns;
    pass(&story, 50);
    ck_assert_int_eq(answer(&story, 3, RL_ACQUIRE, YES), 0);
    pass(&story, 500);
    ck_assert_int_eq(answer(&story, 4, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(story.hold.deadline_ns, deadline_ns);
    ck_assert_uint_eq(rl_count(story.hold.ask.yes), 3);
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(5)); /* they are released too */
}

/* R7: after a loss a grant changes nothing; its release is behind it. */
TEST(losing, r7_grants_after_loss_revive_nothing)
{
    struct story story;
    story_begin(&story, 5);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, NO);
    answer(&story, 1, RL_ACQUIRE, NO);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, NO), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(3, 4));
    ck_assert_int_eq(answer(&story, 3, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(answer(&story, 4, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_int_eq(story.hold.deadline_ns, 0);
    ck_assert_int_eq(pass(&story, 200), 0);
    ck_assert(!settled(&story));
    answer(&story, 3, RL_RELEASE, YES);
    answer(&story, 4, RL_RELEASE, YES);
    ck_assert(settled(&story));
}

/* Peer case 18: cancelled, and the quorum arrives: released, not leaked. */
TEST(losing, given_up_while_asking)
{
    struct story story;
    story_begin(&story, 3);
    ask(&story);
    answer(&story, 0, RL_ACQUIRE, YES);
    ck_assert_int_eq(release(&story, false), 0);
    ck_assert_int_eq(answer(&story, 1, RL_ACQUIRE, YES), 0);
    ck_assert_int_eq(story.hold.phase, RL_HOLD_ENDING);
    ck_assert_uint_eq(send_releases(&story, NULL), rl_all(3));
}
