/* eventfd.h - an eventfd that wakes a thread that waits for descriptors. */
#ifndef RL_EVENTFD_H
#define RL_EVENTFD_H

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

/* Async-signal-safe. A full counter does no harm: the descriptor is readable either way. */
static inline void rl_eventfd_signal(int fd)
{
    const uint64_t one = 1;
    ssize_t ignored = write(fd, &one, sizeof(one));
    (void)ignored;
}

static inline void rl_eventfd_drain(int fd)
{
    uint64_t count;
    while (read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

#endif
