/* stall_meter.c - what this machine withheld from a test. Runs beside it; told to end, it
 * prints four numbers. The first is the longest time for which a program that wants little got no
 * processor, in milliseconds. The second is the longest time for which no processor had nothing to
 * do, nor time for a nice process. The third is what all processors worked together meanwhile, for
 * all processes but nice ones. The last is how many threads wanted a processor at one time, on
 * average, beside the meter itself. */
#include "config_auto.h"

#include "stall.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NAP_MS = 10, NS_PER_MS = 1000000, MS_PER_S = 1000 };

static volatile sig_atomic_t told_to_end;

static void end(int signal_number)
{
    (void)signal_number;
    told_to_end = 1;
}

/* Of all processors together, in ticks; nothing where the kernel does not say. One that works for
 * a nice process would have been there for a test. */
struct ticks {
    long long idle, busy;
};

static struct ticks read_ticks(void)
{
    long long user, nice, system, idle, waiting;
    int count = 0;
    FILE *file = fopen("/proc/stat", "re");
    if (file) {
        count = fscanf(file, "cpu %lld %lld %lld %lld %lld", &user, &nice, &system, &idle,
                       &waiting);
        fclose(file);
    }
    return count == 5 ? (struct ticks){idle + waiting + nice, user + system}
                      : (struct ticks){0, 0};
}

/* Threads of the whole machine that run or could run now, this one too; 0: the kernel does not say. */
static long read_runnable(void)
{
    long count = 0;
    FILE *file = fopen("/proc/loadavg", "re");
    if (file) {
        if (fscanf(file, "%*s %*s %*s %ld/", &count) != 1)
            count = 0;
        fclose(file);
    }
    return count;
}

int main(void)
{
    struct sigaction action = {.sa_handler = end};
    sigaction(SIGTERM, &action, NULL);
    int64_t longest_ns = 0, crowded_ns = 0, idle_at_ns = stall_now_ns();
    long looks = 0, runnable = 0;
    struct ticks first = read_ticks(), last = first;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    while (!told_to_end && getppid() != 1) {
        int64_t stall_ns = stall_nap_ns(NAP_MS);
        if (stall_ns > longest_ns)
            longest_ns = stall_ns;
        struct ticks ticks = read_ticks();
        int64_t now = stall_now_ns();
        if (ticks.idle != last.idle)
            idle_at_ns = now;
        last = ticks;
        if (now - idle_at_ns > crowded_ns)
            crowded_ns = now - idle_at_ns;
        looks++;
        runnable += read_runnable() - 1;
    }
    printf("%lld %lld %lld %ld\n", (long long)(longest_ns / NS_PER_MS),
           (long long)(crowded_ns / NS_PER_MS),
           (last.busy - first.busy) * MS_PER_S / sysconf(_SC_CLK_TCK),
           looks ? (runnable + looks / 2) / looks : 0);
    return 0;
}
