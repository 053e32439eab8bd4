/* test_gather.c - requests of threads that come back together leave together. */
#include "config_auto.h"

#include "core/gather.h"
#include "suite.h"

#define BEGIN_NS INT64_C(1000000000)
#define STEP_NS (RL_GATHER_NS / 20) /* between two threads that come back at once */

static struct rl_gather gather;
static int64_t now_ns;
static unsigned writes; /* one a node, of all that has come since the one before */

static void set_up(void)
{
    gather = (struct rl_gather){0};
    now_ns = BEGIN_NS;
    writes = 0;
}

/* What the leader and the callers do (loop.c, leader.c). */
static void turn(unsigned ended)
{
    gather.ended += ended;
    writes += rl_gather_turned(&gather, now_ns);
}

static void come(unsigned threads)
{
    for (unsigned i = 0; i < threads; i++) {
        now_ns += STEP_NS;
        if (!rl_gather_alone(&gather))
            rl_gather_came(&gather, now_ns);
        writes += !rl_gathers(&gather);
    }
}

static void end_and_come(unsigned groups, unsigned threads)
{
    for (unsigned i = 0; i < groups; i++) {
        turn(threads);
        come(threads);
    }
}

static void sleep_until_due(void)
{
    ck_assert_int_ne(rl_gather_due_ns(&gather), INT64_MAX);
    now_ns = rl_gather_due_ns(&gather);
}

TEST(gather, one_write_carries_group)
{
    end_and_come(RL_GATHER_HABIT, 8);
    ck_assert_uint_eq(writes, RL_GATHER_HABIT * 8);
    writes = 0;
    end_and_come(100, 8);
    ck_assert_uint_eq(writes, 100);
    writes = 0;
    end_and_come(100, 2);
    ck_assert_uint_eq(writes, 100);
}

TEST(gather, lone_caller_waits_for_nobody)
{
    end_and_come(1000, 1);
    ck_assert_uint_eq(writes, 1000);
    ck_assert_int_eq(rl_gather_due_ns(&gather), INT64_MAX);
}

TEST(gather, calls_that_end_meanwhile_join)
{
    end_and_come(RL_GATHER_HABIT, 8);
    writes = 0;
    turn(3);
    come(2);
    turn(2);
    come(2);
    ck_assert_uint_eq(writes, 0);
    come(1);
    ck_assert_uint_eq(writes, 1);
}

TEST(gather, those_who_came_are_sent_in_time)
{
    end_and_come(RL_GATHER_HABIT, 8);
    writes = 0;
    turn(8);
    come(3);
    int64_t came_ns = now_ns;
    now_ns = came_ns + RL_GATHER_NS - 1;
    turn(0);
    ck_assert_uint_eq(writes, 0);
    sleep_until_due();
    ck_assert_int_eq(now_ns, came_ns + RL_GATHER_NS);
    turn(0);
    ck_assert_uint_eq(writes, 1);
}

/* One by one, each within the time. */
TEST(gather, slow_group_is_sent_in_parts)
{
    end_and_come(RL_GATHER_HABIT, 64);
    turn(64);
    writes = 0;
    int64_t first_ns = now_ns + RL_GATHER_NS - 1;
    while (writes == 0) {
        ck_assert_int_le(now_ns, first_ns + RL_GATHER_MAX_NS);
        now_ns += RL_GATHER_NS - 1 - STEP_NS;
        turn(0);
        if (writes == 0)
            come(1);
        if (rl_gather_due_ns(&gather) < now_ns + RL_GATHER_NS - 1 - STEP_NS) {
            sleep_until_due();
            turn(0);
        }
    }
    ck_assert_int_le(now_ns, first_ns + RL_GATHER_MAX_NS);
    ck_assert_int_gt(now_ns, first_ns + RL_GATHER_MAX_NS / 2);
}

TEST(gather, who_stays_away_is_not_awaited_for_long)
{
    end_and_come(RL_GATHER_HABIT_MAX, 2);
    unsigned in_vain = 0;
    for (int i = 0; i < 1000; i++) {
        turn(2);
        come(1); /* the other one works */
        in_vain += rl_gathers(&gather);
        for (int64_t end_ns = now_ns + 3 * RL_GATHER_NS; now_ns < end_ns; now_ns += STEP_NS)
            turn(0);
        ck_assert(!rl_gathers(&gather));
    }
    ck_assert_uint_eq(in_vain, RL_GATHER_HABIT_MAX / RL_GATHER_LOSS);
    end_and_come(RL_GATHER_HABIT, 2);
    writes = 0;
    end_and_come(10, 2);
    ck_assert_uint_eq(writes, 10);
}

/* No turn has seen it: nobody led. */
TEST(gather, old_group_is_forgotten)
{
    end_and_come(RL_GATHER_HABIT_MAX, 8);
    turn(8);
    now_ns += 10 * RL_GATHER_NS;
    writes = 0;
    come(1);
    ck_assert_uint_eq(writes, 1);
    ck_assert_uint_eq(gather.away, 0);
}

CASE(gather, .set_up = set_up)
