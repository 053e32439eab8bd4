/* test_timer_heap.c - the heap of timers: whatever was set, moved and taken out, the first one
 * is the first one due, and nothing fails that room was made for. */
#include "config_auto.h"

#include "base/timer_heap.h"

#include "alloc.h"
#include "base/list.h"
#include "base/prng.h"
#include "redlock.h"
#include "suite.h"

#include <signal.h>
#include <stdlib.h>

enum { TIMERS = 300 };

static void reserve(struct rl_timers *timers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(rl_timers_reserve(timers), 0);
}

/* Every place is known to the timer that has it, and no child is due before its parent. */
static void check_heap(const struct rl_timers *timers)
{
    ck_assert_uint_le(timers->count, timers->reserved);
    ck_assert_uint_le(timers->reserved, timers->size);
    for (size_t at = 1; at <= timers->count; at++) {
        ck_assert_uint_eq(timers->heap[at - 1].timer->at, at);
        ck_assert_int_lt(timers->heap[at - 1].due_ns, INT64_MAX);
        ck_assert_int_eq(timers->heap[at - 1].due_ns, timers->heap[at - 1].timer->due_ns);
        if (at > 1)
            ck_assert_int_le(timers->heap[at / 2 - 1].due_ns, timers->heap[at - 1].due_ns);
    }
}

static int compare(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* What is set, sorted: it must come out in this order, each timer once. */
static void check_order(struct rl_timers *timers, const int64_t *dues, size_t count)
{
    int64_t sorted[TIMERS];
    size_t set = 0;
    for (size_t i = 0; i < count; i++) {
        if (dues[i] != INT64_MAX)
            sorted[set++] = dues[i];
    }
    qsort(sorted, set, sizeof(*sorted), compare);
    for (size_t i = 0; i < set; i++) {
        ck_assert_int_eq(rl_timers_due_ns(timers), sorted[i]);
        struct rl_timer *first = rl_timers_first(timers);
        ck_assert_int_eq(first->due_ns, sorted[i]);
        rl_timer_set(timers, first, INT64_MAX);
        ck_assert_uint_eq(first->at, 0);
    }
    ck_assert_uint_eq(timers->count, 0);
    ck_assert_ptr_null(rl_timers_first(timers));
}

/* A few values, so that many are due together; now and then one from the whole range. */
static int64_t random_due(struct rl_prng *prng)
{
    switch (rl_prng_below(prng, 8)) {
    case 0:
        return INT64_MAX;
    case 1:
        return (int64_t)(rl_prng_next(prng) >> 1);
    case 2:
        return -(int64_t)rl_prng_below(prng, 1000);
    default:
        return (int64_t)rl_prng_below(prng, 500);
    }
}

static int64_t earliest_of(const int64_t *dues)
{
    int64_t earliest = INT64_MAX;
    for (size_t i = 0; i < TIMERS; i++)
        earliest = dues[i] < earliest ? dues[i] : earliest;
    return earliest;
}

TEST(timer, random_operations_against_sorted_model)
{
    enum { OPERATIONS = 100000 };
    static struct rl_timer timer[TIMERS];
    int64_t dues[TIMERS];
    struct rl_timers timers = {0};
    struct rl_prng prng;
    rl_prng_seed(&prng, 20);
    reserve(&timers, TIMERS);
    for (size_t i = 0; i < TIMERS; i++)
        dues[i] = INT64_MAX;
    for (int i = 0; i < OPERATIONS; i++) {
        size_t which = (size_t)rl_prng_below(&prng, TIMERS);
        if (rl_prng_below(&prng, 4) == 0 && timers.count > 0)
            which = (size_t)(rl_timers_first(&timers) - timer);
        int64_t due = random_due(&prng);
        rl_timer_set(&timers, &timer[which], due);
        dues[which] = due;
        int64_t earliest = earliest_of(dues);
        ck_assert_int_eq(timer[which].due_ns, due);
        ck_assert_int_eq(timer[which].at == 0, due == INT64_MAX);
        if (rl_timers_due_ns(&timers) != earliest)
            ck_abort_msg("operation %d: another is due first", i);
        if (i % 100 == 0)
            check_heap(&timers);
    }
    check_order(&timers, dues, TIMERS);
    rl_timers_free(&timers);
}

/* With every number of timers, each one is taken out once, from where it happens to be. */
TEST(timer, every_place_can_be_taken_out)
{
    for (size_t count = 1; count <= 40; count++) {
        for (size_t out = 0; out < count; out++) {
            struct rl_timer timer[40] = {{0}};
            int64_t dues[40];
            struct rl_timers timers = {0};
            reserve(&timers, count);
            for (size_t i = 0; i < count; i++) {
                dues[i] = (int64_t)((i * 17 + out * 5) % 41);
                rl_timer_set(&timers, &timer[i], dues[i]);
            }
            rl_timer_set(&timers, &timer[out], INT64_MAX);
            dues[out] = INT64_MAX;
            ck_assert_uint_eq(timers.count, count - 1);
            check_heap(&timers);
            check_order(&timers, dues, count);
            rl_timers_free(&timers);
        }
    }
}

TEST(timer, one_is_moved_both_ways)
{
    struct rl_timer timer[3] = {{0}};
    struct rl_timers timers = {0};
    reserve(&timers, 3);
    for (int i = 0; i < 3; i++)
        rl_timer_set(&timers, &timer[i], 10 * (i + 1));
    rl_timer_set(&timers, &timer[2], 5);
    ck_assert_ptr_eq(rl_timers_first(&timers), &timer[2]);
    rl_timer_set(&timers, &timer[2], 15);
    ck_assert_ptr_eq(rl_timers_first(&timers), &timer[0]);
    rl_timer_set(&timers, &timer[0], 40);
    ck_assert_ptr_eq(rl_timers_first(&timers), &timer[2]);
    ck_assert_uint_eq(timers.count, 3);
    check_heap(&timers);
    rl_timers_free(&timers);
}

/* Those that are due together stay where they are when they are set to the same again. */
TEST(timer, same_again_moves_nothing)
{
    struct rl_timer timer[20] = {{0}};
    size_t at[20];
    struct rl_timers timers = {0};
    reserve(&timers, 20);
    for (int i = 0; i < 20; i++)
        rl_timer_set(&timers, &timer[i], i % 3);
    for (int i = 0; i < 20; i++)
        at[i] = timer[i].at;
    for (int i = 0; i < 20; i++) {
        rl_timer_set(&timers, &timer[i], i % 3);
        ck_assert_uint_eq(timer[i].at, at[i]);
    }
    rl_timers_free(&timers);
}

static struct rl_timers again_in;
static unsigned fired;

static void set_again(struct rl_timer *timer, int64_t now_ns)
{
    fired++;
    if (fired < 100)
        rl_timer_set(&again_in, timer, now_ns);
}

/* A timer that sets itself again for now is run in the next turn: what else there is has its own. */
TEST(timer, one_that_is_due_again_waits_for_next_turn)
{
    struct rl_timer timer[2] = {{.fire = set_again}, {.fire = set_again}};
    reserve(&again_in, 2);
    rl_timer_set(&again_in, &timer[0], 5);
    rl_timer_set(&again_in, &timer[1], 6);
    rl_timers_run(&again_in, 4);
    ck_assert_uint_eq(fired, 0);
    rl_timers_run(&again_in, 6);
    ck_assert_uint_eq(fired, 2);
    rl_timers_run(&again_in, 6);
    ck_assert_uint_eq(fired, 4);
    rl_timers_free(&again_in);
}

TEST(timer, empty_one_has_nothing_due)
{
    struct rl_timer timer = {0};
    struct rl_timers timers = {0};
    ck_assert_int_eq(rl_timers_due_ns(&timers), INT64_MAX);
    ck_assert_ptr_null(rl_timers_first(&timers));
    rl_timer_set(&timers, &timer, INT64_MAX); /* needs no room */
    ck_assert_int_eq(timer.due_ns, INT64_MAX);
    ck_assert_uint_eq(timers.count, 0);
    rl_timers_free(&timers);
    reserve(&timers, 1);
    rl_timer_set(&timers, &timer, 7);
    ck_assert_int_eq(rl_timers_due_ns(&timers), 7);
    rl_timers_free(&timers);
    ck_assert_int_eq(rl_timers_due_ns(&timers), INT64_MAX);
    ck_assert_uint_eq(timers.reserved, 0);
}

/* Room that was given back is used again: as many as ever were at once, and no more. */
TEST(timer, room_comes_and_goes)
{
    struct rl_timers timers = {0};
    reserve(&timers, 100);
    size_t size = timers.size;
    for (int i = 0; i < 1000; i++) {
        rl_timers_unreserve(&timers);
        reserve(&timers, 1);
    }
    ck_assert_uint_eq(timers.reserved, 100);
    ck_assert_uint_eq(timers.size, size);
    ck_assert_uint_lt(size, 200);
    for (int i = 0; i < 100; i++)
        rl_timers_unreserve(&timers);
    ck_assert_uint_eq(timers.reserved, 0);
    rl_timers_free(&timers);
}

/* Room fails where memory does, and leaves what there was; to set one allocates nothing. */
TEST(timer, only_making_room_can_fail)
{
    struct rl_timer timer[TIMERS] = {{0}};
    int64_t dues[TIMERS];
    struct rl_timers timers = {0};
    size_t failures = 0;
    if (!alloc_works())
        return;
    for (size_t i = 0; i < TIMERS; i++) {
        size_t size = timers.size;
        alloc_fail_at(1);
        int code = rl_timers_reserve(&timers);
        alloc_fail_at(0);
        if (code != 0) {
            failures++;
            ck_assert_int_eq(code, REDLOCK_ENOMEM);
            ck_assert_uint_eq(timers.size, size);
            ck_assert_uint_eq(timers.reserved, i);
            reserve(&timers, 1);
        }
        dues[i] = (int64_t)(i * 7 % 300);
        alloc_fail_at(1);
        rl_timer_set(&timers, &timer[i], INT64_MAX - 1);
        rl_timer_set(&timers, &timer[i], dues[i]);
        long allocated = alloc_count();
        alloc_fail_at(0);
        ck_assert_int_eq(allocated, 0);
    }
    ck_assert_uint_ge(failures, 2);
    ck_assert_uint_le(failures, 10); /* by doubling */
    check_order(&timers, dues, TIMERS);
    rl_timers_free(&timers);
}

TEST(timer, setting_one_without_room, .signal = SIGABRT)
{
    struct rl_timer timer[2] = {{0}};
    struct rl_timers timers = {0};
    reserve(&timers, 1);
    rl_timer_set(&timers, &timer[0], 1);
    rl_timer_set(&timers, &timer[1], 2);
}

TEST(timer, giving_back_room_of_one_that_is_set, .signal = SIGABRT)
{
    struct rl_timer timer = {0};
    struct rl_timers timers = {0};
    reserve(&timers, 1);
    rl_timer_set(&timers, &timer, 1);
    rl_timers_unreserve(&timers);
}

struct two {
    struct rl_timers *timers;
    struct rl_timer first, second;
    int fired;
};

static void fire_and_stop_other(struct rl_timer *timer, int64_t now_ns)
{
    struct two *pair = RL_ITEM(timer, struct two, first);
    pair->fired++;
    rl_timer_set(pair->timers, &pair->second, INT64_MAX);
    ck_assert_int_eq(now_ns, 5);
}

static void never_fires(struct rl_timer *timer, int64_t now_ns)
{
    (void)timer, (void)now_ns;
    ck_abort_msg("it was stopped");
}

TEST(timer, timer_that_another_one_stops_does_not_fire)
{
    struct rl_timers timers = {0};
    struct two pair = {.timers = &timers,
                       .first = {.fire = fire_and_stop_other},
                       .second = {.fire = never_fires}};
    reserve(&timers, 2);
    rl_timer_set(&timers, &pair.first, 1);
    rl_timer_set(&timers, &pair.second, 2);
    rl_timers_run(&timers, 5);
    ck_assert_int_eq(pair.fired, 1);
    ck_assert_uint_eq(timers.count, 0);
    rl_timers_free(&timers);
}

CASE(timer, .timeout_s = 30)
