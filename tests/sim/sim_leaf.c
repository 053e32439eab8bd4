/* sim_leaf.c - what the library asks its system for: the time, a nap, random bytes, names. */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_real.h"

#include "base/siphash.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_PID = 1000 };

/* ---- time ----------------------------------------------------------------------------- */

int sim_bound_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    struct sim_proc *proc = sim_proc();
    int64_t now_ns;

    if (!proc)
        return sim_real_clock_gettime(clock, ret_time);
    sim_system_call();
    switch (clock) {
    case CLOCK_BOOTTIME:
        now_ns = sim_shown_ns(proc);
        proc->felt.steps += proc->parts->set;
        proc->parts->set = false;
        break;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
        now_ns = sim_monotonic_ns(proc);
        break;
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        now_ns = sim_realtime_ns(proc);
        break;
    default: /* CPU time, which nothing takes here */
        now_ns = 0;
    }
    ret_time->tv_sec = (time_t)(now_ns / SIM_S);
    ret_time->tv_nsec = (long)(now_ns % SIM_S);
    sim_system_call(); /* what was read may be old when it is used */
    return 0;
}

int sim_bound_nanosleep(const struct timespec *time, struct timespec *ret_left)
{
    if (!sim_proc())
        return sim_real_nanosleep(time, ret_left);
    sim_system_call();
    sim_nap((int64_t)time->tv_sec * SIM_S + time->tv_nsec);
    return 0;
}

int sim_bound_sched_yield(void)
{
    if (!sim_proc())
        return sim_real_sched_yield();
    sim_system_call();
    sim_fiber_stand(sim_now_ns());
    return 0;
}

/* ---- random bytes --------------------------------------------------------------------- */

ssize_t sim_bound_getrandom(void *ret_bytes, size_t size, unsigned flags)
{
    if (!sim_proc())
        return sim_real_getrandom(ret_bytes, size, flags);
    if (size == sizeof(struct rl_sip_key)) { /* nothing of a history hangs on it */
        memset(ret_bytes, 0x5a, size);
        return (ssize_t)size;
    }
    sim_system_call();
    sim_random_bytes(ret_bytes, size);
    return (ssize_t)size;
}

void sim_bound_uuid_generate_random(uuid_t ret_uuid)
{
    if (!sim_proc()) {
        sim_real_uuid_generate_random(ret_uuid);
        return;
    }
    sim_system_call();
    sim_random_bytes(ret_uuid, sizeof(uuid_t));
    ret_uuid[6] = (unsigned char)(0x40 | (ret_uuid[6] & 0x0f));
    ret_uuid[8] = (unsigned char)(0x80 | (ret_uuid[8] & 0x3f));
}

/* ---- names ---------------------------------------------------------------------------- */

int sim_bound_gethostname(char *ret_name, size_t size)
{
    const struct sim_proc *proc = sim_proc();

    if (!proc)
        return sim_real_gethostname(ret_name, size);
    int len = snprintf(ret_name, size, "%s.sim", proc->name);
    if ((size_t)len < size)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* A simulated process ends by a kill, or after it has closed its clients. */
int sim_bound_atexit(void (*run)(void))
{
    return sim_proc() ? -1 : sim_real_atexit(run);
}

pid_t sim_bound_getpid(void)
{
    const struct sim_proc *proc = sim_proc();
    return proc ? (pid_t)(FIRST_PID + proc->index) : sim_real_getpid();
}

/* The library names its threads by it. */
int sim_bound_prctl(int what, unsigned long a, unsigned long b, unsigned long c,
                    unsigned long d)
{
    return sim_proc() ? 0 : sim_real_prctl(what, a, b, c, d);
}

/* A boot of its own for each process: they are on machines of their own. */
int sim_bound_rl_clock_boot_id(char ret_id[37])
{
    const struct sim_proc *proc = sim_proc();

    if (!proc)
        return sim_real_rl_clock_boot_id(ret_id);
    memcpy(ret_id, proc->parts->boot_id, sizeof(proc->parts->boot_id));
    return 0;
}

int sim_bound_rl_clock_offset(int64_t *ret_offset)
{
    const struct sim_proc *proc = sim_proc();

    if (!proc)
        return sim_real_rl_clock_offset(ret_offset);
    *ret_offset = proc->parts->clock_offset;
    return 0;
}
