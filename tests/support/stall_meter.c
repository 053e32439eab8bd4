/* stall_meter.c - what this machine withheld from a test. Runs beside it; told to end, it
 * prints two times in milliseconds. The first is the longest for which a program that wants
 * little got no processor. The second is the longest for which no processor had nothing to do,
 * so that others waited. */
#include "config_auto.h"

#include "stall.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 10, NS_PER_MS = 1000000 };

static volatile sig_atomic_t told_to_end;

static void end(int signal_number)
{
    (void)signal_number;
    told_to_end = 1;
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

/* How long all processors together had nothing to do, in ticks; -1: the kernel does not say. */
static long long read_idle(void)
{
    long long idle = -1, waiting = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (file && fscanf(file, "cpu %*d %*d %*d %lld %lld", &idle, &waiting) != 2)
        idle = -1;
    if (file)
        fclose(file);
    return idle < 0 ? -1 : idle + waiting;
}

int main(void)
{
    struct sigaction action = {.sa_handler = end};
    int64_t longest_ns = 0, crowded_ns = 0, idle_at_ns = now_ns();
    long long idle = read_idle();
    sigaction(SIGTERM, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    while (!told_to_end && getppid() != 1) {
        int64_t stall_ns = stall_nap_ns(NAP_MS);
        if (stall_ns > longest_ns)
            longest_ns = stall_ns;
        long long idle_now = read_idle();
        int64_t now = now_ns();
        if (idle_now != idle || idle_now < 0)
            idle_at_ns = now;
        idle = idle_now;
        if (now - idle_at_ns > crowded_ns)
            crowded_ns = now - idle_at_ns;
    }
    printf("%lld %lld\n", (long long)(longest_ns / NS_PER_MS),
           (long long)(crowded_ns / NS_PER_MS));
    return 0;
}
