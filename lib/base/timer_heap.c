/* timer_heap.c - a binary heap. Each timer knows its place, so that it is moved and taken out
 * without a search. Room is made before, so that setting a timer never fails. Core. */
#include "config_auto.h"

#include "base/timer_heap.h"

#include "redlock.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_SIZE 16

int rl_timers_reserve(struct rl_timers *timers)
{
    if (timers->reserved == timers->size) {
        size_t size = timers->size > 0 ? timers->size * 2 : FIRST_SIZE;
        if (size > SIZE_MAX / sizeof(*timers->heap))
            return REDLOCK_ENOMEM;
        struct rl_timer_place *heap = realloc(timers->heap, size * sizeof(*heap));
        if (!heap)
            return REDLOCK_ENOMEM;
        timers->heap = heap;
        timers->size = size;
    }
    timers->reserved++;
    return 0;
}

void rl_timers_unreserve(struct rl_timers *timers)
{
    assert(timers->reserved > 0);
    timers->reserved--;
    assert(timers->count <= timers->reserved);
}

/* Places are counted from 1: the parent of `at` is at / 2, its children 2 at and 2 at + 1. */
static struct rl_timer_place *place(const struct rl_timers *timers, size_t at)
{
    assert(at >= 1 && at <= timers->count);
    return &timers->heap[at - 1];
}

static void put(struct rl_timers *timers, size_t at, struct rl_timer_place what)
{
    timers->heap[at - 1] = what;
    what.timer->at = at;
}

/* Put it at `at`, or as far above as it belongs. */
static void rise(struct rl_timers *timers, size_t at, struct rl_timer_place what)
{
    while (at > 1) {
        const struct rl_timer_place *parent = place(timers, at / 2);
        if (parent->due_ns <= what.due_ns)
            break;
        put(timers, at, *parent);
        at /= 2;
    }
    put(timers, at, what);
}

/* Put it at `at`, or as far below as it belongs. */
static void sink(struct rl_timers *timers, size_t at, struct rl_timer_place what)
{
    while (at <= timers->count / 2) {
        size_t child = 2 * at;
        if (child < timers->count &&
            place(timers, child + 1)->due_ns < place(timers, child)->due_ns)
            child++;
        const struct rl_timer_place *earlier = place(timers, child);
        if (what.due_ns <= earlier->due_ns)
            break;
        put(timers, at, *earlier);
        at = child;
    }
    put(timers, at, what);
}

static void settle(struct rl_timers *timers, size_t at, struct rl_timer_place what)
{
    if (at > 1 && what.due_ns < place(timers, at / 2)->due_ns)
        rise(timers, at, what);
    else
        sink(timers, at, what);
}

/* The heap's last timer takes the place that becomes free. */
static void take_out(struct rl_timers *timers, struct rl_timer *timer)
{
    size_t at = timer->at;
    struct rl_timer_place last = *place(timers, timers->count);
    timers->count--;
    timer->at = 0;
    if (last.timer != timer)
        settle(timers, at, last);
}

void rl_timer_set(struct rl_timers *timers, struct rl_timer *timer, int64_t due_ns)
{
    const struct rl_timer_place what = {.due_ns = due_ns, .timer = timer};
    assert(timer->at == 0 || place(timers, timer->at)->timer == timer);
    timer->due_ns = due_ns;
    if (timer->at > 0 && due_ns == INT64_MAX) {
        take_out(timers, timer);
    } else if (timer->at > 0) {
        settle(timers, timer->at, what);
    } else if (due_ns != INT64_MAX) {
        assert(timers->count < timers->reserved);
        timers->count++;
        rise(timers, timers->count, what);
    }
}

struct rl_timer *rl_timers_first(const struct rl_timers *timers)
{
    return timers->count > 0 ? timers->heap[0].timer : NULL;
}

void rl_timers_run(struct rl_timers *timers, int64_t now_ns)
{
    for (size_t left = timers->count; left > 0; left--) {
        struct rl_timer *timer = rl_timers_first(timers);
        if (!timer || timer->due_ns > now_ns)
            break;
        rl_timer_set(timers, timer, INT64_MAX);
        timer->fire(timer, now_ns);
    }
}

void rl_timers_free(struct rl_timers *timers)
{
    free(timers->heap);
    *timers = (struct rl_timers){0};
}
