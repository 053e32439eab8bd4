/* sim_proc.h - simulated processes. A process has a clock of its own, threads (fibers that
 * are switched at system calls, and only there), descriptors, and a fate: it is paused,
 * suspended, or killed at any of these calls.
 *
 * What the library calls of its system is bound to the simulator by the linker (--wrap);
 * sim_real.h has all the names. The simulator's own code calls the real ones by the names
 * that sim_real.h has where it needs them. Called outside of any simulated process a bound
 * function does the real thing.
 */
#ifndef SIM_PROC_H
#define SIM_PROC_H

#include "sim.h"

#include <time.h>

struct sim_fiber;

#define SIM_LOOKUP_NS SIM_MS /* of a name, at the most, when all is well */

struct sim_proc_rates {
    unsigned pause_ppm;   /* at a system call: the whole process stands for a while */
    int64_t pause_max_ns; /* sim_scale(10 us, this) */
    unsigned switch_ppm;  /* at a system call: another thread of it gets its turn */
    unsigned stall_ppm;   /* at a system call: this thread stands, and the others go on */
    int64_t stall_max_ns; /* sim_scale(10 us, this) */
    unsigned alloc_fail_ppm;
    unsigned lookup_fail_ppm; /* of a name */
    int64_t lookup_max_ns;
};

/* What came of faults so far. */
struct sim_proc_felt {
    uint64_t late;      /* threads that would have gone on, and stood */
    uint64_t stutters;  /* pauses that its rates have drawn */
    uint64_t no_memory; /* allocations that failed */
    uint64_t no_fds;    /* descriptors refused */
    uint64_t lookups;   /* that failed, or took more time than usual */
    uint64_t steps;     /* of its clock, which was read since */
};

struct sim_proc {
    unsigned index;
    char name[16]; /* "p1", as the story calls it */
    struct sim_proc_rates rates;
    int64_t rate_ppb;           /* its clocks run so much too fast; negative: too slow */
    int64_t boottime_extra_ns;  /* its own time = true time at this rate + this */
    int64_t back_ns;            /* BOOTTIME = its own time - this: it was set back */
    int64_t monotonic_extra_ns; /* MONOTONIC does not count suspends */
    int64_t wall_extra_ns;      /* REALTIME is so much ahead of the right time */
    int64_t awake_ns;           /* paused until then; 0: it runs */
    bool crashed;               /* see sim_proc_crash() */
    size_t live_bytes, live_blocks, peak_bytes; /* of its memory */
    struct sim_proc_felt felt;
    void *context;                /* the world's */
    struct sim_fds *fds;          /* sim_net.h's */
    struct sim_proc_parts *parts; /* sim_proc.c's */
};

/* Numbered in the order in which they are made. Freed by sim_procs_end(), which asserts that
 * all their threads have ended. */
struct sim_proc *sim_proc_new(const char *name);
/* It runs on the other's host: one boot, and the same clocks. */
void sim_proc_share_host(struct sim_proc *proc, const struct sim_proc *other);
/* Its time namespace sets BOOTTIME off by so much. Before it runs. */
void sim_proc_set_off(struct sim_proc *proc, int64_t by_ns);
unsigned sim_proc_count(void);
struct sim_proc *sim_proc_at(unsigned index);
void sim_procs_end(void);

/* The process and the thread that run; NULL: none, the world itself does. */
extern struct sim_fiber *sim_fiber_present; /* these are sim_fiber.c's own */
extern struct sim_proc *sim_proc_present;

static inline struct sim_proc *sim_proc(void)
{
    return sim_proc_present;
}

static inline struct sim_fiber *sim_fiber(void)
{
    return sim_fiber_present;
}

/* A thread of it. It begins at the present time. */
struct sim_fiber *sim_fiber_new(struct sim_proc *proc, void *(*run)(void *), void *argument);
bool sim_fiber_ended(const struct sim_fiber *fiber);

/* Only in a fiber: sleep until somebody wakes it, or until that (true) time. True: woken.
 * It never runs while its process is paused. */
bool sim_sleep(int64_t until_ns);
void sim_wake(struct sim_fiber *fiber); /* from anywhere; one that does not sleep: no effect */
/* Sleep for so long as the process's own clock has it. */
void sim_nap(int64_t own_ns);

/* In every bound call, first: here the process may be paused and threads switched, as its
 * rates say. Does nothing outside of a process. */
void sim_system_call(void);

/* Clocks. `own` times are what BOOTTIME of the process would show, had it never been set. */
int64_t sim_own_ns(const struct sim_proc *proc);
/* What BOOTTIME shows. */
int64_t sim_shown_ns(const struct sim_proc *proc);
/* Its CLOCK_BOOTTIME or CLOCK_REALTIME is set forward by so much (less than 0: back). */
void sim_proc_set_clock(struct sim_proc *proc, clockid_t clock, int64_t by_ns);
/* The true time at which it is `own_ns`, as far as is known now. */
int64_t sim_true_ns(const struct sim_proc *proc, int64_t own_ns);

/* It stands for so long: SIGSTOP, the scheduler, a debugger. */
void sim_proc_pause(struct sim_proc *proc, int64_t for_ns);
/* The same, and MONOTONIC does not count it: the machine was suspended. */
void sim_proc_suspend(struct sim_proc *proc, int64_t for_ns);
/* The same, and no clock of it counts it: a snapshot of its machine. Breaks an assumption. */
void sim_proc_freeze(struct sim_proc *proc, int64_t for_ns);

/* At the k-th of these calls from now (0: none) it stands for so long: all of it, or only the
 * thread that makes the call. And how many calls there were so far. */
void sim_proc_stop_at(struct sim_proc *proc, uint64_t kth, int64_t for_ns, bool thread);
/* When it reads from a socket next. */
void sim_proc_stop_at_recv(struct sim_proc *proc, int64_t for_ns);
uint64_t sim_proc_calls(const struct sim_proc *proc);

/* Killed: from here on nothing it does is seen by anybody: its connections end as the kernel
 * ends them, and new ones fail. Its threads run on as ghosts, so that its memory can be
 * given back the usual way; their programs ask for `crashed` and close their clients. */
void sim_proc_crash(struct sim_proc *proc);

/* Allocations fail at rates.alloc_fail_ppm, and surely at the k-th from now (0: none). */
void sim_proc_fail_alloc(struct sim_proc *proc, uint64_t kth);

/* Host names: names that the simulated resolver knows. "n1.sim" is master 0, and so on; at a
 * rate of the process, look-ups fail or take long. */

#endif
