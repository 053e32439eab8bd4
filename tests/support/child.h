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

int child_run(int (*body)(void *argument), void *argument, int limit_ms);

#endif
