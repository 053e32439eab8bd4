/* command.h - runs another program to its end: arguments as they are, no shell. */
#ifndef CHAOS_COMMAND_H
#define CHAOS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chaos_command {
    const char *const *argv; /* up to a NULL; argv[0] is looked for in $PATH */
    int64_t limit_ms;        /* SIGTERM and then SIGKILL after so long */
    bool may_stop;           /* the same where the run is to end; else it is waited for */
    char *out;               /* its output, cut to fit, with a NUL; or NULL */
    size_t out_size;
};

/* True: it exited with 0. Else `why` is the last line of its stderr, or how it ended. It has
 * its own process group, because a Ctrl-C for us must not end a command that undoes a fault. */
bool chaos_command_run(const struct chaos_command *command, char *why, size_t why_size);

#endif
