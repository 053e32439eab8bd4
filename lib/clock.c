/* clock.c - CLOCK_BOOTTIME, a clock made of it that never goes back, and which boot it counts
 * from. */
#include "config_auto.h"

#include "clock.h"
#include "limits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LEN 36

int64_t rl_clock_now_ns(void)
{
    struct timespec now;

    /* Every Linux since 2.6.39 has this clock. Another one in its place would make leases
     * look longer than they are, so there is nothing better to do than to stop. */
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        abort();
    return (int64_t)now.tv_sec * RL_NS_PER_S + now.tv_nsec;
}

static void note(struct rl_clock *clock, int64_t now_ns)
{
    int64_t seen_ns = atomic_load(&clock->seen_ns);
    while (seen_ns < now_ns &&
           !atomic_compare_exchange_weak(&clock->seen_ns, &seen_ns, now_ns))
        continue;
}

int64_t rl_clock_steady_ns(struct rl_clock *clock)
{
    for (;;) {
        /* In this order: what another thread has told before this one reads the kernel's clock
         * is not later than that, unless the clock was set back in between. */
        int64_t added_ns = atomic_load(&clock->added_ns);
        int64_t seen_ns = atomic_load(&clock->seen_ns);
        int64_t now_ns = rl_clock_now_ns() + added_ns;
        if (atomic_load(&clock->added_ns) != added_ns)
            continue; /* another thread has found that it was */
        if (now_ns >= seen_ns) {
            note(clock, now_ns);
            return now_ns;
        }
        if (seen_ns - now_ns <= RL_CLOCK_JITTER_NS)
            return seen_ns;
        atomic_compare_exchange_strong(&clock->added_ns, &added_ns,
                                       added_ns + (seen_ns - now_ns));
    }
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool is_uuid(const char *text)
{
    for (size_t i = 0; i < BOOT_ID_LEN; i++) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            if (text[i] != '-')
                return false;
        } else if (text[i] == '\0' || !strchr("0123456789abcdef", text[i])) {
            return false;
        }
    }
    return true;
}

int rl_clock_boot_id(char ret_id[37])
{
    char text[BOOT_ID_LEN + 1];
    size_t got = 0;
    int fd = open(BOOT_ID_FILE, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    while (got < BOOT_ID_LEN) {
        ssize_t n = read(fd, text + got, BOOT_ID_LEN - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    if (got != BOOT_ID_LEN || !is_uuid(text))
        return -1;
    memcpy(ret_id, text, BOOT_ID_LEN);
    ret_id[BOOT_ID_LEN] = '\0';
    return 0;
}
