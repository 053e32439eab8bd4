/* child.h - run a function in a forked child, with a deadline, and learn how it ended. */
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <sys/types.h>

/* In a child's function: leave with the line where it went wrong (nothing of Check works
 * there). */
#define child_expect(condition)                                                                \
    do {                                                                                       \
        if (!(condition))                                                                      \
            return __LINE__;                                                                   \
    } while (0)

struct child {
    pid_t pid;
    int result_fd;
};

/* The child leaves with _exit(): no handler and no buffer of the parent's runs twice. It is
 * killed when the thread that started it ends. */
struct child child_start(int (*body)(void *argument), void *argument);

/* What `body` returned; -1: killed at the deadline; -2: a signal or _exit() ended it. */
int child_wait(struct child *child, int limit_ms);

/* Send a signal to a child, this file's or another's, and wait until the signal has had that
 * effect. WUNTRACED: the child stands. WCONTINUED: it goes on. 0: it is gone. The signal alone
 * leaves it the time until it is next given a core. */
void child_signal(pid_t pid, int number, int effect);

int child_run(int (*body)(void *argument), void *argument, int limit_ms);

#endif
