/* sim_fiber.h - a thread of a simulated process, as the simulator's own files see it. */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include "sim_context.h"
#include "sim_parts.h"
#include "sim_proc.h"

/* Of REALTIME, which processes have alike but for wall_extra_ns, and masters nearly so. */
#define SIM_EPOCH_NS (1700000000 * SIM_S)

enum sim_fiber_state {
    SIM_READY,  /* goes on as soon as its event comes */
    SIM_ASLEEP, /* its event, if it is scheduled, is a time-out */
    SIM_RUNS,
    SIM_ENDED
};

struct sim_fiber {
    struct sim_event event; /* first: it goes on */
    struct sim_context context;
    struct sim_proc *proc;
    unsigned number;        /* in its process */
    struct sim_fiber *next; /* of its process, or in the list of spare ones */
    enum sim_fiber_state state;
    bool woken;
    unsigned calls;  /* of the system, since it last slept */
    bool deaf;       /* naps: sim_wake() is for others */
    bool wall_timer; /* its time-out is by a clock that counts suspends */
    void *(*run)(void *argument);
    void *argument, *result;
    int error;        /* errno while it does not run */
    int cancel_state; /* kept for pthread_setcancelstate() */
    bool detached;
    struct sim_fiber *joiner;
    struct sim_fiber *queue_next; /* of those who wait for a mutex, a condition or a futex */
    const void *futex;            /* it sleeps on this word, and these bits wake it */
    uint32_t futex_bits;
};

/* Those who wait, in order. */
struct sim_queue {
    struct sim_fiber *first;
};

/* What a process has that nobody else looks at. */
struct sim_proc_parts {
    struct sim_event awakes; /* the end of its pause */
    struct sim_proc *proc;
    struct sim_queue dozers;  /* on words of its memory */
    struct sim_fiber *fibers; /* all that there were, the latest first */
    unsigned fiber_count, live_fibers;
    /* A clock counts nothing from `from_ns` until `until_ns`; what it did not count before
     * is in the extra. */
    struct sim_stop {
        int64_t from_ns, until_ns;
    } boottime_stop, monotonic_stop;
    uint64_t fail_alloc_at; /* counts down; 0: no */
    uint64_t calls;         /* of the system, so far */
    uint64_t stop_at;       /* counts down; 0: no */
    int64_t stop_ns;
    bool stop_thread;
    int64_t stop_recv_ns; /* when it reads next; 0: no */
    char boot_id[37];
    bool set;             /* its clock was, and it has not read it since */
    int64_t clock_offset; /* of its time namespace, within that boot */
};

/* sim_proc.c's: in its process's list, numbered; and at its end. */
void sim_proc_add_fiber(struct sim_fiber *fiber);
void sim_proc_fiber_ended(struct sim_fiber *fiber);

/* sim_clock.c's: MONOTONIC, and the true time at which it shows that. */
int64_t sim_monotonic_ns(const struct sim_proc *proc);
int64_t sim_realtime_ns(const struct sim_proc *proc);
int64_t sim_true_of_realtime_ns(const struct sim_proc *proc, int64_t realtime_ns);
int64_t sim_true_of_monotonic_ns(const struct sim_proc *proc, int64_t monotonic_ns);
/* These clocks of it stand until then: for how much longer than they did anyway. */
int64_t sim_clocks_stop(struct sim_proc *proc, int64_t until_ns, bool boottime_too);

/* Give way: go on at that time, whatever is woken meanwhile. */
void sim_fiber_stand(int64_t until_ns);
/* sim_sleep(), its time-out by a clock that counts suspends. */
bool sim_sleep_by_wall(int64_t until_ns);
/* The process's clocks stood for so long: so did the time-outs of its threads. */
void sim_fiber_postpone(struct sim_fiber *fiber, int64_t by_ns, bool wall_too);
/* Its process was paused until then, and is so no more: what it waited for only because of
 * that comes now. Naps end. */
void sim_fiber_hurry(struct sim_fiber *fiber, int64_t paused_until_ns);
void sim_fiber_free(struct sim_fiber *fiber); /* one that has ended */

void sim_queue_add(struct sim_queue *queue, struct sim_fiber *fiber);
void sim_queue_remove(struct sim_queue *queue, struct sim_fiber *fiber);
struct sim_fiber *sim_queue_draw(struct sim_queue *queue); /* NULL: nobody waits */

#endif
