/* stall_meter.c - the longest time for which this machine gave no processor to a program that
 * wants little of it. Runs beside a test; told to end, it prints that time in milliseconds. */
#include "config_auto.h"

#include "stall.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { NAP_MS = 10 };

static volatile sig_atomic_t told_to_end;

static void end(int signal_number)
{
    (void)signal_number;
    told_to_end = 1;
}

int main(void)
{
    struct sigaction action = {.sa_handler = end};
    int64_t longest_ns = 0;
    sigaction(SIGTERM, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    prctl(PR_SET_TIMERSLACK, 1);
    while (!told_to_end && getppid() != 1) {
        int64_t stall_ns = stall_nap_ns(NAP_MS);
        if (stall_ns > longest_ns)
            longest_ns = stall_ns;
    }
    printf("%lld\n", (long long)(longest_ns / 1000000));
    return 0;
}
