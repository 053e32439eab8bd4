/* signal_before_exec.c - a TERM that comes between fork() and exec of COMMAND, for `redlock run`.
 * LD_PRELOAD loads it into the program. */
#include "config_auto.h"

#include <signal.h>
#include <unistd.h>

__attribute__((visibility("default"))) int execvp(const char *file, char *const argv[])
{
    (void)file;
    (void)argv;
    return raise(SIGTERM);
}
