/* timer_heap.h - what is due when: a heap of timers that live inside what they are for. Core.
 */
#ifndef RL_TIMER_HEAP_H
#define RL_TIMER_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* One thing that is due some time. All zero: it is not set. */
struct rl_timer {
    int64_t due_ns;
    size_t at; /* its place in the heap, from 1; 0: not in it */
    /* Called when the time has come. The timer is unset by then; this may set any timer. */
    void (*fire)(struct rl_timer *timer, int64_t now_ns);
};

/* A place of the heap. It has the time, too: the timers are all over the memory. */
struct rl_timer_place {
    int64_t due_ns;
    struct rl_timer *timer;
};

/* All zero: there are none. */
struct rl_timers {
    struct rl_timer_place *heap; /* the earliest comes first */
    size_t count;                /* timers that are set */
    size_t size;                 /* the room there is */
    size_t reserved;             /* timers that there are, set or not */
};

/* Make room for one more timer, so that setting it can't fail later. REDLOCK_ENOMEM. */
int rl_timers_reserve(struct rl_timers *timers);

/* A timer that had room reserved goes away. It must not be set. The room stays for others. */
void rl_timers_unreserve(struct rl_timers *timers);

/* Make `timer` due at `due_ns`: put it in, move it, or take it out (INT64_MAX). */
void rl_timer_set(struct rl_timers *timers, struct rl_timer *timer, int64_t due_ns);

/* When the first one is due; INT64_MAX: none is set. */
static inline int64_t rl_timers_due_ns(const struct rl_timers *timers)
{
    return timers->count > 0 ? timers->heap[0].due_ns : INT64_MAX;
}

/* The one that is due first (any of several that are due together), or NULL. */
struct rl_timer *rl_timers_first(const struct rl_timers *timers);

/* Fire the timers that are due, at most as many as are set at the beginning. So timers that
 * set themselves anew can't keep the caller for ever. */
void rl_timers_run(struct rl_timers *timers, int64_t now_ns);

/* Free the room. The timers are not touched; the heap is empty, as from the beginning. */
void rl_timers_free(struct rl_timers *timers);

#endif
