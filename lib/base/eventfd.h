/* eventfd.h - an eventfd that wakes a thread that waits for descriptors. */
#ifndef RL_EVENTFD_H
#define RL_EVENTFD_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

/* Async-signal-safe. A full counter does no harm: the descriptor is readable either way. False:
 * the system refused it. */
static inline bool rl_eventfd_signal(int fd)
{
    const uint64_t one = 1;
    return write(fd, &one, sizeof(one)) == (ssize_t)sizeof(one);
}

static inline void rl_eventfd_drain(int fd)
{
    uint64_t count;
    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

#endif
