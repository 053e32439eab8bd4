/* busy_loops.c - COUNT threads that compute and never wait, until they are told to end, or their
 * parent has ended: a test that failed beside other work is played again beside these. */
#include "config_auto.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { COUNT_MAX = 256, SECONDS_MAX = 1800 };

static void *loop(void *unused)
{
    for (volatile unsigned long turns = 0;; turns++)
        continue;
    return unused;
}

int main(int argc, char **argv)
{
    long count = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (count < 1 || count > COUNT_MAX) {
        fprintf(stderr, "usage: busy_loops COUNT (1 to %d)\n", COUNT_MAX);
        return 64;
    }
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    alarm(SECONDS_MAX);
    for (pthread_t thread; count > 1; count--)
        if (pthread_create(&thread, NULL, loop, NULL) != 0)
            return 71;
    loop(NULL);
}
