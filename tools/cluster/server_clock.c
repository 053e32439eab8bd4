/* server_clock.c - a clock that can be stepped, for redis-server, which loads it by LD_PRELOAD.
 * It adds an offset to the time of day: the int64_t, in ns, in the file named by
 * $SERVER_CLOCK. */
#include "config_auto.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *step;

__attribute__((constructor)) static void find_step(void)
{
    const char *path = getenv("SERVER_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *found =
        fd >= 0 ? mmap(NULL, sizeof(*step), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (found != MAP_FAILED)
        step = found;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret);
    if (result != 0 || !step || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return result;
    int64_t ns = (int64_t)ret->tv_sec * 1000000000 + ret->tv_nsec + *step;
    ret->tv_sec = (time_t)(ns / 1000000000);
    ret->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict ret,
                                                        void *restrict zone)
{
    struct timespec now;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return -1;
    ret->tv_sec = now.tv_sec;
    ret->tv_usec = now.tv_nsec / 1000;
    return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *ret)
{
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0)
        return (time_t)-1;
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}
