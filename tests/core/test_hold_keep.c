/* tags: valgrind */
/* test_hold_keep.c - a lock that keeps others out for a least time: what its first round asks
 * for, which keys are left alone when it ends sooner, and which are not. */
#include "config_auto.h"

#include "core/hold_parts.h"
#include "hold_story.h"
#include "suite.h"

#define LEAST_MS 3000 /* three times the usual TTL */

/* Won by as few as it takes; the others have not answered. */
static void hold_keeping(struct story *story, unsigned n, int64_t at_least_ms)
{
    story_begin(story, n);
    rl_hold_set_at_least(&story->hold, at_least_ms);
    ck_assert_int_eq(ask(story), 0);
    unsigned did = 0;
    for (unsigned node = 0; node < rl_quorum_needed(n); node++)
        did |= answer(story, node, RL_ACQUIRE, YES);
    ck_assert_int_eq(did, RL_EV_ACQUIRED);
}

static void hold_keeping_all(struct story *story, unsigned n)
{
    hold_keeping(story, n, LEAST_MS);
    for (unsigned node = rl_quorum_needed(n); node < n; node++)
        ck_assert_int_eq(answer(story, node, RL_ACQUIRE, YES), 0);
}

/* ---- the first round's TTL -------------------------------------------------------------- */

static const double factors[] = {0.0, 0.0005, 0.01, 0.3, 0.99};

/* A master whose clock is as fast as it may be ends the key no sooner; a millisecond less would
 * not do. */
TEST(ttl, key_reaches_the_end_by_any_clock_and_no_further, .rows = ROWS(factors))
{
    double factor = factors[_i];
    for (int64_t least_ms = 1; least_ms < 1000000; least_ms += 1 + least_ms / 3) {
        int64_t ttl_ms = rl_keep_ttl_ms(least_ms, factor);
        ck_assert_int_ge(rl_validity_end_ns(0, ttl_ms * MS, factor), least_ms * MS);
        ck_assert_int_lt(rl_validity_end_ns(0, (ttl_ms - 1) * MS, factor), least_ms * MS);
    }
}

TEST(ttl, greatest_time_is_what_the_greatest_ttl_allows, .rows = ROWS(factors))
{
    double factor = factors[_i];
    ck_assert_int_eq(rl_keep_max_ms(0, factor), 0);
    ck_assert_int_eq(rl_keep_max_ms(2, factor), 0); /* the fixed part of the drift */
    for (int64_t ttl_ms = 1000; ttl_ms <= RL_TTL_LIMIT_MS; ttl_ms *= 7) {
        int64_t most_ms = rl_keep_max_ms(ttl_ms, factor);
        ck_assert_int_gt(most_ms, 0);
        ck_assert_int_le(rl_keep_ttl_ms(most_ms, factor), ttl_ms);
        ck_assert_int_gt(rl_keep_ttl_ms(most_ms + 1, factor), ttl_ms);
    }
}

TEST(ttl, greater_one_of_both_is_asked_for_and_renewals_are_usual)
{
    struct story story;
    hold_keeping(&story, 3, LEAST_MS);
    ck_assert_int_ge(story.hold.deadline_ns, story.now_ns + LEAST_MS * MS);
    ck_assert_int_le(story.hold.deadline_ns, story.now_ns + (LEAST_MS + 1) * MS);
    ck_assert_int_eq(story.hold.keep_until_ns, story.now_ns + LEAST_MS * MS);
    ck_assert_int_eq(story.hold.ttl_ns, TTL_MS * MS);
    hold_keeping(&story, 3, 500);
    ck_assert_int_eq(story.hold.deadline_ns, story.now_ns + VALID_NS);
    ck_assert_int_eq(story.hold.keep_until_ns, story.now_ns + 500 * MS);
}

TEST(ttl, lock_delay_comes_on_top)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_set_lock_delay(&story.hold, 700 * MS);
    rl_hold_set_at_least(&story.hold, LEAST_MS);
    ck_assert_int_eq(story.hold.key_life_ns, story.hold.ask_ttl_ns + 700 * MS);
}

/* The key of the fencing token lives as long as the lock's. */
TEST(ttl, token_is_told_with_first_ttl)
{
    struct story story;
    uint64_t numbers[REDLOCK_NODES_MAX];
    story_begin(&story, 3);
    story.hold.fence.wanted = true;
    story.hold.fence.number = numbers;
    rl_hold_set_at_least(&story.hold, LEAST_MS);
    ck_assert_int_eq(ask(&story), 0);
    rl_hold_answer(&story.hold, 0, 0, RL_ACQUIRE, YES, 7, story.now_ns);
    ck_assert_int_eq(rl_hold_answer(&story.hold, 1, 0, RL_ACQUIRE, YES, 9, story.now_ns),
                     RL_DO_FENCE);
    ck_assert(!rl_hold_keeps(&story.hold, story.now_ns)); /* not won yet */
    (void)rl_hold_fence(&story.hold, NODES(0), story.now_ns + NODE_MS * MS);
    ck_assert_int_eq(story.hold.extend_ttl_ns, story.hold.ask_ttl_ns);
    ck_assert_int_gt(story.hold.extend_ttl_ns, LEAST_MS * MS);
}

/* ---- given up sooner -------------------------------------------------------------------- */

TEST(sooner, r21_release_before_the_time_sends_nothing_and_is_ok)
{
    struct story story;
    hold_keeping_all(&story, 5);
    pass(&story, 2000);
    ck_assert(rl_hold_keeps(&story.hold, story.now_ns));
    ck_assert_int_eq(release(&story, true), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    ck_assert_int_eq(story.hold.deadline_ns, 0); /* its user has no lock any more */
    ck_assert(settled(&story));
    ck_assert(!rl_hold_expired_unreleased(&story.hold, story.now_ns));
}

TEST(sooner, r21_release_after_the_time_is_as_ever)
{
    struct story story;
    hold_keeping_all(&story, 3);
    ck_assert_int_eq(pass_ns(&story, LEAST_MS * MS - 1), 0);
    ck_assert(rl_hold_keeps(&story.hold, story.now_ns));
    pass_ns(&story, 1);
    ck_assert(!rl_hold_keeps(&story.hold, story.now_ns));
    ck_assert_int_eq(release(&story, true), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2));
    answer(&story, 0, RL_RELEASE, YES);
    ck_assert_int_eq(answer(&story, 1, RL_RELEASE, YES), RL_EV_RELEASED);
}

/* Late, it would keep others out for longer than the majority does. */
TEST(sooner, nodes_that_have_not_answered_are_released)
{
    struct story story;
    hold_keeping(&story, 5, LEAST_MS);
    release(&story, true);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(3, 4));
    answer(&story, 3, RL_ACQUIRE, YES);
    answer(&story, 3, RL_RELEASE, YES);
    ck_assert(!settled(&story));
    lose(&story, 4);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(4));
    answer(&story, 4, RL_RELEASE, NO);
    ck_assert(settled(&story));
}

/* A renewal under way: its late answer, its broken link and its draining link change nothing. */
TEST(sooner, r21_renewal_under_way_is_left_alone)
{
    struct story story;
    hold_keeping_all(&story, 5);
    pass(&story, 2500);
    ck_assert_int_eq(extend(&story, 5000), 0);
    release(&story, true);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    ck_assert(!settled(&story)); /* answers are owed */
    answer(&story, 0, RL_EXTEND, YES);
    answer(&story, 1, RL_EXTEND, FAILED);
    answer(&story, 2, RL_EXTEND, NO);
    lose(&story, 3);
    drain(&story, 4);
    lose(&story, 4);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    answer_on(&story, 4, 1 - story.current[4], RL_EXTEND, YES);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    ck_assert(settled(&story));
}

/* ---- lost sooner ------------------------------------------------------------------------ */

/* The majority's keys may still be there, whatever is known of them. */
TEST(lost, r21_keys_of_lost_lock_stay)
{
    struct story story;
    hold_keeping(&story, 3, LEAST_MS);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, NO), 0);
    ck_assert_int_eq(rl_hold_void(&story.hold, 0, story.now_ns), RL_EV_LOST);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    ck_assert(settled(&story));
}

TEST(lost, r21_clock_that_went_back_ends_no_keeping)
{
    struct story story;
    hold_keeping_all(&story, 3);
    rl_hold_distrust(&story.hold);
    story.now_ns += 2 * LEAST_MS * MS; /* as it seems */
    release(&story, false);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
}

TEST(lost, lock_that_is_lost_later_is_released)
{
    struct story story;
    hold_keeping_all(&story, 3);
    pass(&story, LEAST_MS);
    ck_assert_int_eq(rl_hold_void(&story.hold, 0, story.now_ns), 0);
    ck_assert_int_eq(rl_hold_void(&story.hold, 1, story.now_ns), RL_EV_LOST);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2));
}

/* ---- not won, or not used --------------------------------------------------------------- */

TEST(unused, r21_lost_round_is_undone)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_set_at_least(&story.hold, LEAST_MS);
    ck_assert_int_eq(ask(&story), 0);
    answer(&story, 0, RL_ACQUIRE, YES);
    answer(&story, 1, RL_ACQUIRE, NO);
    ck_assert_int_eq(answer(&story, 2, RL_ACQUIRE, NO), RL_EV_REFUSED);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0));
}

TEST(unused, r21_round_that_is_given_up_is_undone)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_set_at_least(&story.hold, LEAST_MS);
    ck_assert_int_eq(ask(&story), 0);
    answer(&story, 0, RL_ACQUIRE, YES);
    ck_assert_int_eq(release(&story, false), 0);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2));
}

TEST(unused, r21_work_that_never_began_keeps_nobody_out)
{
    struct story story;
    hold_keeping_all(&story, 3);
    rl_hold_unkeep(&story.hold);
    release(&story, true);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2));
}

TEST(unused, r21_nor_if_the_lock_was_lost_before)
{
    struct story story;
    hold_keeping_all(&story, 3);
    rl_hold_void(&story.hold, 0, story.now_ns);
    ck_assert_int_eq(rl_hold_void(&story.hold, 1, story.now_ns), RL_EV_LOST);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
    rl_hold_unkeep(&story.hold);
    ck_assert_uint_eq(send_releases(&story, NULL), NODES(0, 1, 2));
}

/* ---- of another process ----------------------------------------------------------------- */

TEST(attached, r21_text_carries_the_time)
{
    struct story story;
    story_begin(&story, 3);
    rl_hold_init_attached(&story.hold, 3, TTL_MS * MS, DRIFT_FACTOR,
                          story.now_ns + LEAST_MS * MS);
    rl_hold_set_keep_until(&story.hold, story.now_ns + LEAST_MS * MS);
    ck_assert_int_eq(release(&story, true), RL_EV_RELEASED);
    ck_assert_int_eq(rl_hold_release_result(&story.hold), REDLOCK_OK);
    ck_assert_uint_eq(send_releases(&story, NULL), 0);
}
