/* tags: valgrind */
/* test_clock_watch.c - by the times that a master told: was its clock set, does it keep time?
 */
#include "config_auto.h"

#include "core/clock_watch.h"
#include "base/limits.h"
#include "core/validity.h"
#include "suite.h"

#define US INT64_C(1000)
#define MS RL_NS_PER_MS
#define S RL_NS_PER_S
#define FACTOR 0.01
#define WINDOW (10 * S)
#define TRIP (2 * MS)         /* of a request and its reply */
#define NOW (500 * S)         /* by our clock, when it began */
#define WALL (1700000000 * S) /* the master's time less ours then */

static struct rl_clock_watch watch;
static struct rl_clock_reading reading;

/* The master's clock is `ahead_ns` ahead of what it was at first, when it reads it, half of a
 * trip before the reply. */
static enum rl_clock_says told(int64_t came_ns, int64_t ahead_ns)
{
    reading.sent_ns = came_ns - TRIP;
    reading.came_ns = came_ns;
    reading.told_us = (WALL + came_ns - TRIP / 2 + ahead_ns) / US;
    return rl_clock_watch_learn(&watch, &reading, FACTOR, WINDOW);
}

static void begin(void)
{
    watch = (struct rl_clock_watch){.epoch = 0};
    reading = (struct rl_clock_reading){.run_id = "one"};
    ck_assert_int_eq(told(NOW, 0), RL_CLOCK_FINE);
}

/* What is allowed after so long: the drift, and what the two trips leave open. */
static int64_t allowed_ns(int64_t passed_ns)
{
    return rl_drift_ns(passed_ns + TRIP, FACTOR) + TRIP;
}

TEST(clock_watch, step_is_seen_when_it_is_greater_than_drift)
{
    int64_t most_ns = allowed_ns(S);
    begin();
    ck_assert_int_eq(told(NOW + S, most_ns - 2 * US), RL_CLOCK_FINE);
    begin();
    ck_assert_int_eq(told(NOW + S, most_ns + 2 * US), RL_CLOCK_STEPPED_FORWARD);
    ck_assert_int_ge(watch.last_by_ns, 1);
    ck_assert_int_le(watch.last_by_ns, 3 * US);
    begin();
    ck_assert_int_eq(told(NOW + S, -most_ns + 2 * US), RL_CLOCK_FINE);
    begin();
    ck_assert_int_eq(told(NOW + S, -most_ns - 2 * US), RL_CLOCK_STEPPED_BACK);
}

/* After a step all goes on from there. */
TEST(clock_watch, step_is_told_once)
{
    begin();
    ck_assert_int_eq(told(NOW + S, 60 * S), RL_CLOCK_STEPPED_FORWARD);
    for (int i = 2; i < 8; i++)
        ck_assert_int_eq(told(NOW + i * S, 60 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 8 * S, 0), RL_CLOCK_STEPPED_BACK);
    ck_assert_int_eq(told(NOW + 9 * S, 0), RL_CLOCK_FINE);
}

/* Those within the drift are never blamed, however often they are asked. */
TEST(clock_watch, rate_within_drift_is_fine_for_ever, .rows = 4)
{
    static const int every_ms[] = {1, 20, 1000, 60000};
    for (int sign = -1; sign <= 1; sign += 2) {
        begin();
        for (int64_t i = 1; i <= 2000; i++) {
            int64_t passed_ns = i * every_ms[_i] * MS;
            ck_assert_int_eq(told(NOW + passed_ns, sign * (passed_ns / 100)), RL_CLOCK_FINE);
        }
    }
}

/* No two readings in a row show it: what is common to all of them does. */
TEST(clock_watch, rate_little_beyond_drift_is_found_out, .rows = 2)
{
    enum rl_clock_says says = RL_CLOCK_FINE;
    int sign = _i ? -1 : 1, found = 0;
    begin();
    for (int64_t i = 1; i <= 300; i++) {
        int64_t passed_ns = i * 100 * MS;
        says = told(NOW + passed_ns, sign * (passed_ns * 15 / 1000));
        ck_assert_int_eq(rl_clock_says_early(says), says != RL_CLOCK_FINE && sign > 0);
        found += says != RL_CLOCK_FINE;
    }
    ck_assert_int_ge(found, 10);
    ck_assert_int_eq(watch.last, sign > 0 ? RL_CLOCK_FAST : RL_CLOCK_SLOW);
}

TEST(clock_watch, rate_is_told_from_one_step)
{
    begin();
    ck_assert_int_eq(told(NOW + 5 * S, S), RL_CLOCK_STEPPED_FORWARD);
    ck_assert_int_eq(told(NOW + 10 * S, 2 * S), RL_CLOCK_FAST);
    ck_assert_int_eq(told(NOW + 15 * S, 3 * S), RL_CLOCK_FAST);
    ck_assert_int_eq(told(NOW + 20 * S, 3 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 25 * S, 4 * S), RL_CLOCK_FAST);
    ck_assert_int_eq(told(NOW + 35 * S + 1, 5 * S), RL_CLOCK_STEPPED_FORWARD);
    ck_assert_int_eq(told(NOW + 40 * S, 0), RL_CLOCK_STEPPED_BACK);
    ck_assert_int_eq(told(NOW + 45 * S, -S), RL_CLOCK_SLOW);
}

TEST(clock_watch, clock_that_stands_still_is_named)
{
    begin();
    ck_assert_int_eq(told(NOW + S, -S), RL_CLOCK_STEPPED_BACK);
    for (int i = 2; i < 10; i++)
        ck_assert_int_eq(told(NOW + i * S, -i * S), RL_CLOCK_SLOW);
}

/* It is shown for as long as there may be leases from before. */
TEST(clock_watch, finding_is_shown_for_window)
{
    begin();
    ck_assert_int_eq(rl_clock_watch_shown(&watch, WINDOW, NOW), RL_CLOCK_FINE);
    told(NOW + S, 60 * S);
    told(NOW + 2 * S, 60 * S);
    ck_assert_int_eq(rl_clock_watch_shown(&watch, WINDOW, NOW + S + WINDOW),
                     RL_CLOCK_STEPPED_FORWARD);
    ck_assert_int_eq(rl_clock_watch_shown(&watch, WINDOW, NOW + S + WINDOW + 1), RL_CLOCK_FINE);
}

TEST(clock_watch, another_server_begins_anew)
{
    begin();
    told(NOW + S, 60 * S);
    ck_assert_int_gt(watch.ahead_ns, 0);
    reading.run_id = "two";
    ck_assert_int_eq(told(NOW + 2 * S, 3600 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(watch.ahead_ns, 0);
    ck_assert_int_eq(rl_clock_watch_shown(&watch, WINDOW, NOW + 2 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 3 * S, 3601 * S), RL_CLOCK_STEPPED_FORWARD);
    reading.run_id = "one";
    ck_assert_int_eq(told(NOW + 4 * S, 0), RL_CLOCK_FINE);
}

/* Across a step back of our own clock nobody knows how much time has passed. */
TEST(clock_watch, own_clock_that_went_back_blames_nobody)
{
    begin();
    reading.sent_epoch = reading.epoch = 5 * S;
    ck_assert_int_eq(told(NOW + S, 60 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 2 * S, 60 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 3 * S, 0), RL_CLOCK_STEPPED_BACK);
    reading.epoch = 6 * S; /* it went back between the request and the reply */
    ck_assert_int_eq(told(NOW + 4 * S, 0), RL_CLOCK_FINE);
    reading.sent_epoch = 6 * S;
    ck_assert_int_eq(told(NOW + 5 * S, 60 * S), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 6 * S, 60 * S), RL_CLOCK_FINE);
}

/* Our clock counts the time of a suspend, as the masters' do. */
TEST(clock_watch, suspend_blames_nobody)
{
    begin();
    ck_assert_int_eq(told(NOW + 30 * 86400 * S, 0), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 30 * 86400 * S + S, 0), RL_CLOCK_FINE);
}

/* A reply that took long proves less, and nothing is forgotten by it. */
TEST(clock_watch, late_reply_is_wide)
{
    begin();
    reading.sent_ns = NOW + S;
    reading.came_ns = NOW + 61 * S;
    reading.told_us = (WALL + NOW + S) / US;
    ck_assert_int_eq(rl_clock_watch_learn(&watch, &reading, FACTOR, WINDOW), RL_CLOCK_FINE);
    reading.told_us = (WALL + NOW + 61 * S) / US;
    ck_assert_int_eq(rl_clock_watch_learn(&watch, &reading, FACTOR, WINDOW), RL_CLOCK_FINE);
    ck_assert_int_eq(told(NOW + 62 * S, 5 * S), RL_CLOCK_STEPPED_FORWARD);
}

TEST(clock_watch, steps_forward_add_up)
{
    begin();
    told(NOW + S, 60 * S);
    ck_assert_int_ge(watch.ahead_ns, 60 * S);
    ck_assert_int_le(watch.ahead_ns, 60 * S + 2 * allowed_ns(S));
    told(NOW + 2 * S, 0);
    ck_assert_int_ge(watch.ahead_ns, 60 * S); /* what was told meanwhile may be in use */
    told(NOW + 3 * S, 30 * S);
    ck_assert_int_ge(watch.ahead_ns, 90 * S);
}

static const int64_t hostile[] = {
    INT64_MIN, -1, 0, INT64_MAX, INT64_MAX / 1000, INT64_C(4000000000000001)};

TEST(clock_watch, nonsense_is_not_used, .rows = ROWS(hostile))
{
    begin();
    struct rl_clock_watch before = watch;
    reading.sent_ns = NOW + S;
    reading.came_ns = NOW + S;
    reading.told_us = hostile[_i];
    ck_assert_int_eq(rl_clock_watch_learn(&watch, &reading, FACTOR, WINDOW), RL_CLOCK_FINE);
    reading.run_id = "";
    told(NOW + 2 * S, 60 * S);
    ck_assert_mem_eq(&watch, &before, sizeof(watch));
}

/* ---- figures ----------------------------------------------------------------------------- */

#define OFFSET (7 * S) /* the master's time of day less ours, when it began */

/* Read in an instant, or in so long. */
static struct rl_clock_figures figures(int64_t now_ns, int64_t takes_ns)
{
    struct rl_clock_figures found;
    struct rl_clock_wall now = {now_ns - takes_ns / 2, now_ns + takes_ns / 2,
                                (WALL - OFFSET + now_ns) / US};
    rl_clock_watch_figures(&watch, FACTOR, &now, &found);
    return found;
}

static void expect_within(int64_t true_value, int64_t middle, int64_t bound, int64_t most_bound)
{
    ck_assert_int_le(middle - bound, true_value);
    ck_assert_int_ge(middle + bound, true_value);
    ck_assert_int_gt(bound, 0);
    ck_assert_int_le(bound, most_bound);
}

TEST(clock_watch, figures_bound_what_is_true, .rows = 2)
{
    static const int ppms[] = {0, 1000, -1000, 9900, -9900};
    for (size_t i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
        begin();
        for (int64_t s = 1; s <= 700; s += 7) {
            ck_assert_int_eq(told(NOW + s * S, s * S / 1000000 * ppms[i]), RL_CLOCK_FINE);
            struct rl_clock_figures found = figures(NOW + (s + 1) * S, _i * MS);
            int64_t ahead_us = (OFFSET + (s + 1) * S / 1000000 * ppms[i]) / US;
            expect_within(ahead_us, found.offset_us, found.offset_bound_us,
                          (allowed_ns(2 * S) + _i * MS) / US);
            expect_within(ppms[i], found.rate_ppm, found.rate_bound_ppm,
                          4 + 2100 / (s < 300 ? s : 7));
        }
    }
}

/* It is told for the last minutes: from the second look on, at the latest. */
TEST(clock_watch, rate_is_of_last_minutes)
{
    begin();
    for (int64_t s = 10; s <= 1000; s += 10)
        told(NOW + s * S, 0);
    for (int64_t s = 1010; s <= 1700; s += 10)
        told(NOW + s * S, (s - 1000) * S / 200);
    struct rl_clock_figures found = figures(NOW + 1700 * S, 0);
    expect_within(5000, found.rate_ppm, found.rate_bound_ppm, 250);
}

/* Two looks a nanosecond apart: the figure is bounded, whatever the clock did within the drift. */
TEST(clock_watch, rate_of_no_time_is_bounded, .rows = 2)
{
    int64_t ahead_ns = _i == 0 ? 2900 * US : -2900 * US;
    begin();
    ck_assert_int_eq(told(NOW + TRIP + 1, ahead_ns), RL_CLOCK_FINE);
    struct rl_clock_figures found = figures(NOW + 2 * TRIP, 0);
    ck_assert_int_gt(found.rate_bound_ppm, 0);
    ck_assert_int_le(found.rate_ppm + found.rate_bound_ppm, INT64_C(1000000000002));
    ck_assert_int_ge(found.rate_ppm - found.rate_bound_ppm, INT64_C(-1000000000002));
}

TEST(clock_watch, what_was_not_measured_is_not_told)
{
    watch = (struct rl_clock_watch){.epoch = 0};
    ck_assert_int_eq(figures(NOW, 0).offset_bound_us, 0);
    begin();
    ck_assert_int_gt(figures(NOW, 0).offset_bound_us, 0);
    ck_assert_int_eq(figures(NOW, 0).rate_bound_ppm, 0);
    told(NOW + S, 0);
    ck_assert_int_gt(figures(NOW + S, 0).rate_bound_ppm, 0);
}

/* Neither a step of the master's clock, nor one of our own, is a rate. */
TEST(clock_watch, rate_begins_anew_with_step, .rows = 3)
{
    begin();
    told(NOW + S, 0);
    if (_i == 0)
        ck_assert_int_eq(told(NOW + 10 * S, 60 * S), RL_CLOCK_STEPPED_FORWARD);
    else if (_i == 1)
        reading.sent_epoch = reading.epoch = 5 * S;
    else
        reading.run_id = "two";
    if (_i > 0)
        ck_assert_int_eq(told(NOW + 10 * S, 60 * S), RL_CLOCK_FINE);
    struct rl_clock_figures found = figures(NOW + 10 * S, 0);
    expect_within((OFFSET + 60 * S) / US, found.offset_us, found.offset_bound_us, 3000);
    ck_assert_int_eq(found.rate_bound_ppm, 0);
    told(NOW + 20 * S, 60 * S);
    found = figures(NOW + 20 * S, 0);
    expect_within(0, found.rate_ppm, found.rate_bound_ppm, 250);
}

/* From one end of what is believed to the other, and again. */
TEST(clock_watch, nothing_overflows)
{
    static const int64_t ends_us[] = {1, INT64_C(4000000000000000)};
    begin();
    for (int i = 0; i < 8; i++) {
        reading.sent_ns = i % 4 < 2 ? 0 : INT64_MAX / 8;
        reading.came_ns = INT64_MAX / 8;
        reading.told_us = ends_us[i % 2];
        enum rl_clock_says says = rl_clock_watch_learn(&watch, &reading, 0.999, WINDOW);
        ck_assert_int_eq(rl_clock_says_early(says), i % 2 == 1);
        struct rl_clock_figures found = figures(INT64_MAX / 8, 0);
        ck_assert_int_gt(found.offset_bound_us, 0);
    }
    ck_assert_int_le(watch.ahead_ns, RL_TTL_LIMIT_MS * MS);
    reading.came_ns = INT64_MAX;
    ck_assert_int_eq(rl_clock_watch_learn(&watch, &reading, 0.999, WINDOW), RL_CLOCK_FINE);
}

CASE(clock_watch, .timeout_s = 60)
