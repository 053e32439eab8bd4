/* heart.c - heartbeats, and the logs of the stalls that they find: see stall.h. */
#include "config_auto.h"

#include "chaos/check/stall.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#define BEAT_MS 10
#define LATE_MS 20 /* later than that is a stall */

void chaos_stall_put(struct chaos_stall_log *log, enum chaos_stalled what, unsigned number,
                     int64_t from_ns, int64_t to_ns)
{
    size_t count = atomic_load_explicit(&log->count, memory_order_relaxed);
    if (to_ns - from_ns < LATE_MS * RL_NS_PER_MS || count == CHAOS_STALLS_MAX)
        return;
    log->stall[count] = (struct chaos_stall){
        .from_ns = from_ns, .to_ns = to_ns, .what = (uint8_t)what, .number = (uint16_t)number};
    atomic_store_explicit(&log->count, count + 1, memory_order_release);
}

struct heart {
    struct chaos_stall_log *log;
    enum chaos_stalled what;
    unsigned number;
};

static void *beat(void *context)
{
    const struct heart *heart = context;
    struct timespec nap = {.tv_nsec = BEAT_MS * RL_NS_PER_MS};
    int64_t last_ns = rl_clock_now_ns();
    for (;;) {
        nanosleep(&nap, NULL);
        int64_t now_ns = rl_clock_now_ns();
        chaos_stall_put(heart->log, heart->what, heart->number,
                        last_ns + BEAT_MS * RL_NS_PER_MS, now_ns);
        last_ns = now_ns;
    }
    return NULL;
}

bool chaos_heartbeat(struct chaos_stall_log *log, enum chaos_stalled what, unsigned number)
{
    static struct heart heart; /* one a process */
    pthread_t thread;
    sigset_t all, before;
    heart = (struct heart){log, what, number};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the main thread's */
    errno = pthread_create(&thread, NULL, beat, &heart);
    int code = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code == 0)
        pthread_detach(thread);
    errno = code;
    return code == 0;
}

size_t chaos_stalls_of(const struct chaos_stall_log *log, int64_t begun_ns,
                       struct chaos_stall *ret_stalls)
{
    size_t count = atomic_load(&log->count);
    for (size_t i = 0; i < count; i++) {
        ret_stalls[i] = log->stall[i];
        ret_stalls[i].from_ns -= begun_ns;
        ret_stalls[i].to_ns -= begun_ns;
    }
    return count;
}
