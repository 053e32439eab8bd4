/* stall.c - see stall.h. The meter beside each test (stall_meter.c) is made of it too: nothing
 * of Check, or of the library, is used here. */
#include "config_auto.h"

#include "stall.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 2, WORK_NS = 50000, NS_PER_MS = 1000000 };

static pthread_t meter;
static _Thread_local int64_t withheld_ns; /* from this thread, when the watch began */
static pid_t metered; /* the process that the thread is of: none is in a forked child */
static _Atomic int64_t longest_ns;
static atomic_uint naps;
static atomic_bool over;

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

/* Short work, which takes longer than it needs where another has the processor. */
static void work(void)
{
    int64_t begun_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
    while (read_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns < WORK_NS)
        continue;
}

int64_t stall_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t stall_nap_ns(int nap_ms)
{
    int64_t begun_ns = stall_now_ns();
    poll(NULL, 0, nap_ms);
    work();
    return stall_now_ns() - begun_ns - (int64_t)nap_ms * NS_PER_MS - WORK_NS;
}

/* For how long the kernel has had this thread wait for a processor; 0: it does not say. */
static int64_t read_withheld_ns(void)
{
    long long run_ns, wait_ns = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "re");
    if (file && fscanf(file, "%lld %lld", &run_ns, &wait_ns) != 2)
        wait_ns = 0;
    if (file)
        fclose(file);
    return wait_ns;
}

static void *measure(void *argument)
{
    (void)argument;
    prctl(PR_SET_TIMERSLACK, 1);
    while (!atomic_load(&over)) {
        int64_t stall_ns = stall_nap_ns(NAP_MS);
        if (stall_ns > atomic_load(&longest_ns))
            atomic_store(&longest_ns, stall_ns);
        atomic_fetch_add(&naps, 1);
    }
    return NULL;
}

static void end(void)
{
    if (metered != getpid())
        return;
    atomic_store(&over, true);
    pthread_join(meter, NULL);
}

/* The longest one so far, and of the nap that is under way; from here on anew. */
static int64_t take_longest_ns(void)
{
    unsigned before = atomic_load(&naps);
    while (atomic_load(&naps) - before < 2)
        poll(NULL, 0, NAP_MS);
    return atomic_exchange(&longest_ns, 0);
}

void stall_watch(void)
{
    if (metered != getpid()) {
        metered = getpid();
        atomic_store(&over, false);
        if (pthread_create(&meter, NULL, measure, NULL) != 0 || atexit(end) != 0)
            abort();
    }
    (void)take_longest_ns();
    withheld_ns = read_withheld_ns();
}

bool stall_excuses(int64_t least_ms)
{
    const char *setting = getenv("STALL_MS");
    assert(least_ms > 0 && metered == getpid());
    int64_t own_ns = read_withheld_ns() - withheld_ns;
    int64_t stall_ns = take_longest_ns();
    withheld_ns = read_withheld_ns();
    if (own_ns > stall_ns)
        stall_ns = own_ns;
    if ((setting && strcmp(setting, "0") == 0) || stall_ns < least_ms * NS_PER_MS)
        return false;
    printf("excused: the machine stalled for %.1f ms\n", (double)stall_ns / NS_PER_MS);
    fflush(stdout);
    return true;
}
