/* tags: valgrind */
/* test_validity.c - until when a lock is ours: the edges of each rule, as tables. */
#include "config_auto.h"

#include "base/limits.h"
#include "base/prng.h"
#include "core/validity.h"
#include "suite.h"

#include <signal.h>

#define MS RL_NS_PER_MS
#define S RL_NS_PER_S

/* ---- drift ----------------------------------------------------------------------------- */

static const struct {
    int64_t ttl;
    double factor;
    int64_t drift; /* less the 2 ms that do not grow */
} drifts[] = {
    {0, 0.0, 1},
    {10 * S, 0.0, 1},
    {10 * S, 0.01, 100 * MS + 1},
    {10 * S, 0.5, 5 * S + 1},
    {99, 0.01, 1},  /* 0.99 ns */
    {101, 0.01, 2}, /* 1.01 ns */
    {RL_TTL_LIMIT_MS * MS, 0.0, 1},
    {INT64_MAX / 2, 0.0, 1},
};

TEST(drift, drift_in_numbers, .rows = ROWS(drifts))
{
    int64_t ttl = drifts[_i].ttl;
    ck_assert_int_eq(rl_clock_drift_ns(ttl, drifts[_i].factor), drifts[_i].drift);
    ck_assert_int_eq(rl_drift_ns(ttl, drifts[_i].factor), drifts[_i].drift + 2 * MS);
}

TEST(drift, drift_is_never_rounded_down)
{
    struct rl_prng prng;
    rl_prng_seed(&prng, 1);
    for (int i = 0; i < 100000; i++) {
        int64_t ttl = (int64_t)rl_prng_below(&prng, (uint64_t)(RL_TTL_LIMIT_MS * MS + 1));
        double factor = (double)rl_prng_below(&prng, 1000000) / 1000000.0;
        int64_t drift = rl_drift_ns(ttl, factor);
        long double exact = (long double)ttl * (long double)factor;
        ck_assert((long double)(drift - 2 * MS) >= exact);
        ck_assert((long double)(drift - 2 * MS - 2) <= exact);
    }
}

TEST(drift, drift_of_everything_is_refused, .signal = SIGABRT)
{
    rl_drift_ns(S, 1.0);
}

TEST(drift, negative_drift_is_refused, .signal = SIGABRT)
{
    rl_drift_ns(S, -0.01);
}

TEST(drift, negative_ttl_is_refused, .signal = SIGABRT)
{
    rl_drift_ns(-1, 0.01);
}

TEST(drift, drift_that_might_overflow_is_refused, .signal = SIGABRT)
{
    rl_drift_ns(INT64_MAX / 2 + 1, 0.01);
}

TEST(drift, ttl_must_outlast_its_drift)
{
    ck_assert(!rl_validity_possible(2 * MS, 0.0));
    ck_assert(!rl_validity_possible(2 * MS + 1, 0.0));
    ck_assert(rl_validity_possible(2 * MS + 2, 0.0));
    ck_assert(rl_validity_possible(10 * MS, 0.01));
    ck_assert(!rl_validity_possible(10 * MS, 0.8)); /* 8 + 2 ms, and the rounding */
    ck_assert(rl_validity_possible(10 * MS, 0.79));
}

/* ---- what a round gives ---------------------------------------------------------------- */

/* validity = ttl - elapsed - (ttl * factor + 2 ms), never a nanosecond more. */
static const struct {
    int64_t t0, ttl;
    double factor;
    int64_t end;
} ends[] = {
    {0, 10 * S, 0.01, 10 * S - 102 * MS - 1},
    {7 * S, 10 * S, 0.01, 17 * S - 102 * MS - 1},
    {7 * S, 10 * S, 0.0, 17 * S - 2 * MS - 1},
    {7 * S, 10 * MS, 0.01, 7 * S + 8 * MS - 100000 - 1},
    {7 * S, 2 * MS, 0.0, 7 * S - 1}, /* nothing is left of it */
    {INT64_MAX - 10 * S, 10 * S, 0.01, INT64_MAX - 102 * MS - 1},
};

TEST(end, validity_in_numbers, .rows = ROWS(ends))
{
    ck_assert_int_eq(rl_validity_end_ns(ends[_i].t0, ends[_i].ttl, ends[_i].factor),
                     ends[_i].end);
    /* What is left of it lasts, and a nanosecond less does not. */
    ck_assert(rl_validity_lasts(ends[_i].end, ends[_i].t0, ends[_i].ttl, ends[_i].factor));
    ck_assert(rl_validity_lasts(ends[_i].end + 1, ends[_i].t0, ends[_i].ttl, ends[_i].factor));
    ck_assert(!rl_validity_lasts(ends[_i].end - 1, ends[_i].t0, ends[_i].ttl, ends[_i].factor));
}

/* A key that is set late reaches the deadline by any clocks, and is not to live for longer than
 * those that the lock rests on. */
TEST(end, rest_reaches_deadline_and_no_further, .rows = 5)
{
    static const double factors[] = {0.0, 0.001, 0.01, 0.1, 0.3};
    const double factor = factors[_i];
    for (int64_t ttl = 20 * MS; ttl <= 86400 * S; ttl = ttl * 3 + 7) {
        int64_t deadline = rl_validity_end_ns(5 * S, ttl, factor);
        int64_t valid = deadline - 5 * S;
        for (int64_t passed = 0; passed < valid; passed += valid / 7 + 1) {
            int64_t now = 5 * S + passed, rest = rl_rest_ns(deadline, now, factor);
            ck_assert_int_gt(rest, 2 * MS);
            ck_assert_int_le(now + rest, 5 * S + ttl + 1);
            ck_assert_int_ge(rl_validity_end_ns(now, rest, factor), deadline - 2);
        }
    }
}

TEST(end, nothing_is_left_of_lock_that_is_over, .signal = SIGABRT)
{
    rl_rest_ns(5 * S, 5 * S, 0.01);
}

TEST(end, deadline_after_end_of_time_is_refused, .signal = SIGABRT)
{
    rl_validity_end_ns(INT64_MAX - 10 * S + 1, 10 * S, 0.01);
}

TEST(end, round_before_clock_began_is_refused, .signal = SIGABRT)
{
    rl_validity_end_ns(-1, 10 * S, 0.01);
}

TEST(end, extension_never_shortens)
{
    ck_assert_int_eq(rl_validity_extended_ns(5 * S, 5 * S - 1), 5 * S);
    ck_assert_int_eq(rl_validity_extended_ns(5 * S, 5 * S), 5 * S);
    ck_assert_int_eq(rl_validity_extended_ns(5 * S, 5 * S + 1), 5 * S + 1);
    ck_assert_int_eq(rl_validity_extended_ns(1, INT64_MAX), INT64_MAX);
}

TEST(end, lock_not_held_is_not_extended, .signal = SIGABRT)
{
    rl_validity_extended_ns(0, 5 * S);
}

/* A key lives for its TTL by a clock that may be slower than ours: the drift is added. */
TEST(end, keys_outlast_their_lock)
{
    ck_assert_int_eq(rl_key_gone_ns(7 * S, 10 * S, 0.01), 17 * S + 102 * MS + 1);
    ck_assert_int_eq(rl_key_gone_after_ns(17 * S, 0, 10 * S, 0.01), 17 * S + 102 * MS + 1);
    ck_assert_int_eq(rl_key_gone_after_ns(0, 0, 10 * S, 0.01), 102 * MS + 1);
    ck_assert_int_eq(rl_key_gone_after_ns(INT64_MAX - 2 * MS - 1, 0, 10 * S, 0.0), INT64_MAX);
    ck_assert_int_eq(rl_key_life_ns(10 * S, 5 * S), 15 * S);
    ck_assert_int_eq(rl_key_gone_after_ns(17 * S, 5 * S, 15 * S, 0.01), 22 * S + 152 * MS + 1);
    for (int i = 0; i < ROWS(ends); i++) {
        if (ends[i].end <= INT64_MAX - 10 * S)
            ck_assert_int_gt(rl_key_gone_ns(ends[i].t0, ends[i].ttl, ends[i].factor),
                             ends[i].end);
    }
}

TEST(end, keys_that_outlast_time_are_refused, .signal = SIGABRT)
{
    rl_key_gone_after_ns(INT64_MAX - 2 * MS, 0, 10 * S, 0.0);
}

TEST(end, keys_made_too_late_are_refused, .signal = SIGABRT)
{
    rl_key_gone_ns(INT64_MAX - 10 * S + 1, 10 * S, 0.0);
}

/* ---- is it over? ----------------------------------------------------------------------- */

static const struct {
    int64_t left, ms;
} lefts[] = {
    {-RL_TTL_LIMIT_MS * MS, 0},
    {-1, 0},
    {0, 0},
    {1, 0},
    {MS - 1, 0},
    {MS, 1},
    {MS + 1, 1},
    {2 * MS - 1, 1},
    {2 * MS, 2},
    {S, 1000},
    {INT64_MAX / 2, INT64_MAX / 2 / MS},
};

TEST(over, less_than_millisecond_is_over, .rows = ROWS(lefts))
{
    int64_t now = RL_TTL_LIMIT_MS * MS, deadline = now + lefts[_i].left;
    ck_assert_int_eq(rl_validity_left_ns(deadline, now), lefts[_i].left);
    ck_assert_int_eq(rl_validity_left_ms(deadline, now), lefts[_i].ms);
    ck_assert_int_eq(rl_validity_over(deadline, now), lefts[_i].ms == 0);
    ck_assert_int_eq(now >= rl_validity_over_ns(deadline), lefts[_i].ms == 0);
}

TEST(over, lock_not_held_is_over)
{
    ck_assert(rl_validity_over(0, 0));
    ck_assert(rl_validity_over(0, INT64_MAX));
    ck_assert(!rl_validity_over(INT64_MAX, 0));
    ck_assert(rl_validity_over(INT64_MAX, INT64_MAX));
    /* Watched, and with no time for its margin. */
    ck_assert(rl_validity_over(rl_watched_end_ns(0, RL_LOST_MARGIN_MAX_NS, INT64_MAX), 0));
}

TEST(over, difference_that_might_overflow_is_refused, .signal = SIGABRT)
{
    rl_validity_over(INT64_MIN / 2, 0);
}

TEST(over, time_before_clock_began_is_refused, .signal = SIGABRT)
{
    rl_validity_over(INT64_MAX, -1);
}

TEST(over, times_of_two_epochs_are_not_compared)
{
    ck_assert(rl_validity_timed(0, 0));
    ck_assert(rl_validity_timed(5, 5));
    ck_assert(!rl_validity_timed(0, 5));
    ck_assert(!rl_validity_timed(5, 0));
}

TEST(over, epoch_that_is_none_is_refused, .signal = SIGABRT)
{
    rl_validity_timed(-1, 0);
}

/* ---- given up before its end ----------------------------------------------------------- */

/* A twentieth of the lease, within bounds. */
TEST(watched, loss_is_told_in_time)
{
    ck_assert_int_eq(rl_lost_margin_ns(MS), RL_LOST_MARGIN_MIN_NS);
    ck_assert_int_eq(rl_lost_margin_ns(20 * RL_LOST_MARGIN_MIN_NS - 1), RL_LOST_MARGIN_MIN_NS);
    ck_assert_int_eq(rl_lost_margin_ns(20 * RL_LOST_MARGIN_MIN_NS + 20),
                     RL_LOST_MARGIN_MIN_NS + 1);
    ck_assert_int_eq(rl_lost_margin_ns(S), S / 20);
    ck_assert_int_eq(rl_lost_margin_ns(20 * RL_LOST_MARGIN_MAX_NS + 20), RL_LOST_MARGIN_MAX_NS);
    ck_assert_int_eq(rl_lost_margin_ns(60 * S), RL_LOST_MARGIN_MAX_NS);
}

/* Over when max_hold_ms have passed: not a nanosecond before, not one after. */
TEST(watched, max_hold_is_held_to_nanosecond)
{
    int64_t end = rl_max_hold_end_ns(7 * S, 1500);
    ck_assert(!rl_validity_over(end, 8 * S + 500 * MS - 1));
    ck_assert(rl_validity_over(end, 8 * S + 500 * MS));
    ck_assert_int_eq(rl_max_hold_end_ns(7 * S, 0), INT64_MAX);
    ck_assert_int_eq(rl_max_hold_end_ns(7 * S, RL_DURATION_MAX_MS), INT64_MAX);
    ck_assert_int_eq(rl_max_hold_end_ns(7 * S, INT64_MAX), INT64_MAX);
    ck_assert_int_lt(rl_max_hold_end_ns(7 * S, RL_DURATION_MAX_MS - 1), INT64_MAX);
    ck_assert_int_gt(rl_max_hold_end_ns(7 * S, RL_DURATION_MAX_MS - 1), 0);
}

TEST(watched, whichever_end_comes_first_is_shown)
{
    ck_assert_int_eq(rl_watched_end_ns(10 * S, 100 * MS, INT64_MAX), 10 * S - 100 * MS);
    ck_assert_int_eq(rl_watched_end_ns(10 * S, 100 * MS, 9 * S), 9 * S);
    ck_assert_int_eq(rl_watched_end_ns(10 * S, 100 * MS, 10 * S), 10 * S - 100 * MS);
    ck_assert_int_eq(rl_watched_end_ns(0, 3 * MS, INT64_MAX), -3 * MS);
}

/* t0 is 7 s. */
static const struct {
    int64_t ttl, margin, after;
} renewals[] = {
    {30 * S, 100 * MS, 10 * S},
    {10 * S, 100 * MS, 10 * S / 3},
    {10 * S, 10 * S / 3, 3281833333}, /* the half: 10 s less drift, margin and a millisecond */
    {10 * MS, 3 * MS, (int64_t)(3.9 * 1000000 / 2) - 1},
    {10 * MS, 0, 10 * MS / 3},
};

TEST(watched, renewed_at_third, .rows = ROWS(renewals))
{
    int64_t ttl = renewals[_i].ttl, end = rl_validity_end_ns(7 * S, ttl, 0.01);
    ck_assert_int_eq(rl_renewal_due_ns(end, ttl, 0.01, renewals[_i].margin),
                     7 * S + renewals[_i].after);
    ck_assert_int_lt(7 * S + renewals[_i].after, end - renewals[_i].margin - MS);
}

/* ---- the deadline that is shown -------------------------------------------------------- */

TEST(shown, r7_zero_that_was_shown_is_final)
{
    struct rl_shown shown;
    int64_t seen;
    rl_shown_begin(&shown, 10 * S, 5);
    seen = rl_shown_deadline_ns(&shown);
    ck_assert_int_eq(seen, 10 * S);
    ck_assert(rl_shown_extend(&shown, 20 * S));
    /* Read before it grew: it was not 0. */
    ck_assert(!rl_shown_expire(&shown, &seen));
    ck_assert_int_eq(seen, 20 * S);
    ck_assert_int_eq(rl_shown_deadline_ns(&shown), 20 * S);
    ck_assert(rl_shown_expire(&shown, &seen));
    ck_assert_int_eq(rl_shown_deadline_ns(&shown), 0);
    ck_assert(!rl_shown_extend(&shown, 30 * S));
    ck_assert_int_eq(rl_shown_deadline_ns(&shown), 0);
}

TEST(shown, expired_lock_is_not_extended)
{
    struct rl_shown shown;
    rl_shown_begin(&shown, 10 * S, 0);
    ck_assert_int_eq(rl_shown_end(&shown), 10 * S);
    ck_assert_int_eq(rl_shown_end(&shown), 0);
    ck_assert(!rl_shown_extend(&shown, 30 * S));
    /* Another hold, in the same handle. */
    rl_shown_begin(&shown, 40 * S, 0);
    ck_assert_int_eq(rl_shown_deadline_ns(&shown), 40 * S);
}

TEST(shown, shown_time_is_of_its_epoch)
{
    struct rl_shown shown;
    rl_shown_begin(&shown, 10 * S, 5);
    ck_assert(rl_shown_timed(&shown, 5));
    ck_assert(!rl_shown_timed(&shown, 6));
    rl_shown_begin(&shown, 10 * S, 6);
    ck_assert(rl_shown_timed(&shown, 6));
}

/* What was shown holds; and where 0 is shown, another thread may have been told 1. */
TEST(shown, keys_stay_until_shown_deadline)
{
    ck_assert_int_eq(rl_shown_keys_until_ns(10 * S, 8 * S), 10 * S);
    ck_assert_int_eq(rl_shown_keys_until_ns(10 * S, 12 * S), 10 * S);
    ck_assert_int_eq(rl_shown_keys_until_ns(0, 8 * S), 8 * S + MS);
}

/* ---- of a handle's text ---------------------------------------------------------------- */

/* max-ttl is 30 s, the kernel's clock shows 100 s, and went back at 50 s. */
static const struct {
    int64_t written, deadline;
    bool credible;
} texts[] = {
    {90 * S, 110 * S, true},
    {90 * S, 120 * S, true},
    {90 * S, 120 * S + 1, false}, /* no lock lasts for so long */
    {50 * S, 60 * S, true},
    {50 * S - 1, 60 * S, false},        /* of a time that nobody can tell */
    {100 * S + MS, 110 * S, true},      /* clocks of processors differ by as much */
    {100 * S + MS + 1, 110 * S, false}, /* written later than now: it has gone back */
    {90 * S, 80 * S, true},             /* and is over, as others will see */
    {-1, 10 * S, false},
    {INT64_MIN, 10 * S, false},
    {90 * S, -1, false},
    {90 * S, INT64_MIN, false},
    {90 * S, INT64_MAX, false},
    {INT64_MAX, INT64_MAX, false},
};

TEST(text, texts_with_impossible_times_are_refused, .rows = ROWS(texts))
{
    ck_assert_int_eq(
        rl_validity_credible(texts[_i].written, texts[_i].deadline, 30 * S, 100 * S, 50 * S),
        texts[_i].credible);
}

TEST(text, negative_times_are_refused_in_every_epoch)
{
    ck_assert(rl_validity_credible(0, 0, 30 * S, 0, INT64_MIN));
    ck_assert(!rl_validity_credible(-1, 0, 30 * S, 0, INT64_MIN));
    ck_assert(!rl_validity_credible(0, -1, 30 * S, 0, INT64_MIN));
}
