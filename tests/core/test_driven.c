/* test_driven.c - for how long did nobody look? Told once, to whoever looks again. */
#include "config_auto.h"

#include "core/driven.h"
#include "base/limits.h"
#include "suite.h"

#define MS RL_NS_PER_MS
#define BEGIN_NS (1000 * RL_NS_PER_S)

static struct rl_driven driven;

static void set_up(void)
{
    driven = (struct rl_driven){0};
    rl_driven_looks(&driven, BEGIN_NS);
}

/* Milliseconds from the beginning on; what is told in milliseconds. */
static int64_t returns_after(int64_t ms)
{
    return rl_driven_returns(&driven, BEGIN_NS + ms * MS) / MS;
}

TEST(driven, pause_is_told_once_and_whole)
{
    ck_assert_int_eq(returns_after(3000), 3000);
    ck_assert_int_eq(returns_after(3000), 0);
    ck_assert_int_eq(returns_after(3100), 0);
    ck_assert_int_eq(returns_after(3101), 101);
}

TEST(driven, short_one_is_none)
{
    ck_assert_int_eq(returns_after(100), 0);
    ck_assert_int_eq(returns_after(101), 101);
}

/* It would have woken, had there been news. */
TEST(driven, sleeper_on_descriptors_looks)
{
    for (enum rl_sleeps who = RL_LEADER_SLEEPS; who <= RL_DRIVER_SLEEPS; who++) {
        set_up();
        rl_driven_sleeps(&driven, who, BEGIN_NS + 5000 * MS);
        ck_assert_int_eq(returns_after(5000), 0);
        ck_assert_int_eq(returns_after(5100), 0);
    }
}

/* Then it did not run, and nobody knows since when there have been news. */
TEST(driven, late_caller_has_not_looked)
{
    rl_driven_sleeps(&driven, RL_LEADER_SLEEPS, BEGIN_NS + 500 * MS);
    ck_assert_int_eq(returns_after(601), 601);
}

/* One sleeps no more, and the other does still. */
TEST(driven, one_sleeper_is_enough)
{
    rl_driven_sleeps(&driven, RL_DRIVER_SLEEPS, INT64_MAX);
    rl_driven_sleeps(&driven, RL_LEADER_SLEEPS, BEGIN_NS + 10 * MS);
    rl_driven_sleeps(&driven, RL_LEADER_SLEEPS, 0);
    ck_assert_int_eq(returns_after(60000), 0);
    rl_driven_sleeps(&driven, RL_DRIVER_SLEEPS, 0);
    ck_assert_int_eq(returns_after(60000), 60000);
}

TEST(driven, events_before_and_after_absence)
{
    ck_assert(!rl_driven_before(&driven, BEGIN_NS));
    ck_assert_int_eq(returns_after(200), 200);
    ck_assert(rl_driven_before(&driven, BEGIN_NS + 199 * MS));
    ck_assert(!rl_driven_before(&driven, BEGIN_NS + 200 * MS));
}

TEST(driven, it_was_long_ago_from_then_on)
{
    ck_assert(!rl_driven_long_ago(&driven, BEGIN_NS + 100 * MS));
    ck_assert(rl_driven_long_ago(&driven, BEGIN_NS + 101 * MS));
    rl_driven_looks(&driven, BEGIN_NS + 101 * MS);
    ck_assert(!rl_driven_long_ago(&driven, BEGIN_NS + 101 * MS));
}

/* However short it was, while nobody slept there either. */
TEST(driven, first_failure_between_two_calls_is_made_good_once)
{
    struct rl_retry retry = {.begun_ns = BEGIN_NS};
    rl_driven_begins(&driven, BEGIN_NS + MS);
    ck_assert(rl_driven_unseen(&driven, &retry));
    retry.flaws = 1;
    ck_assert(!rl_driven_unseen(&driven, &retry));
    retry = (struct rl_retry){.begun_ns = BEGIN_NS + MS};
    ck_assert(!rl_driven_unseen(&driven, &retry));
    set_up();
    retry.begun_ns = BEGIN_NS;
    rl_driven_sleeps(&driven, RL_DRIVER_SLEEPS, INT64_MAX);
    rl_driven_begins(&driven, BEGIN_NS + MS);
    ck_assert(!rl_driven_unseen(&driven, &retry));
}

CASE(driven, .set_up = set_up)
