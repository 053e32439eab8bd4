/* stall_meter.c - the longest time for which this machine gave no processor to a program that
 * wants little of it. Runs beside a test; told to end, it prints that time in milliseconds. */
#include "config_auto.h"

#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 10, WORK_NS = 50000 };

static volatile sig_atomic_t told_to_end;

static void end(int signal_number)
{
    (void)signal_number;
    told_to_end = 1;
}

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Short work, which takes longer than it needs where another has the processor. */
static void work(void)
{
    int64_t begun_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (read_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns < WORK_NS)
        continue;
}

int main(void)
{
    struct sigaction action = {.sa_handler = end};
    int64_t longest_ns = 0;
    sigaction(SIGTERM, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    while (!told_to_end && getppid() != 1) {
        int64_t begun_ns = read_ns(CLOCK_MONOTONIC);
        poll(NULL, 0, NAP_MS);
        work();
        int64_t stall_ns = read_ns(CLOCK_MONOTONIC) - begun_ns - NAP_MS * 1000000 - WORK_NS;
        if (stall_ns > longest_ns)
            longest_ns = stall_ns;
    }
    printf("%lld\n", (long long)(longest_ns / 1000000));
    return 0;
}
