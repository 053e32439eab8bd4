/* clock.c - CLOCK_BOOTTIME, a clock made of it that never goes back, and its identity: the boot
 * that it counts from, and the time namespace. */
#include "config_auto.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define TIME_LINK "/proc/self/ns/time"
#define CHILDRENS_TIME_LINK "/proc/self/ns/time_for_children"
#define LINK_MAX_LEN 64
#define OFFSETS_FILE "/proc/self/timens_offsets"
#define OFFSETS_MAX 255
#define OFFSET_MAX_S (INT64_MAX / RL_NS_PER_S / 2)

/* The wall clock is read beside the kernel's, and not at one instant. Twice this is half of what
 * the drift allows for besides its factor. */
#define WALL_GRAIN_NS (RL_NS_PER_MS / 4)

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;

    /* Every Linux since 2.6.39 has CLOCK_BOOTTIME. Another clock would make leases look longer
     * than they are, so the process must stop. */
    if (clock_gettime(clock, &now) != 0) {
        fprintf(stderr, "libredlock: clock_gettime(%s) was refused: %s\n",
                clock == CLOCK_BOOTTIME ? "CLOCK_BOOTTIME" : "a clock of this system",
                strerror(errno));
        abort();
    }
    return (int64_t)now.tv_sec * RL_NS_PER_S + now.tv_nsec;
}

bool rl_clock_is_there(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_BOOTTIME, &now) == 0;
}

/* R10, R15: BOOTTIME counts a suspend, and nobody can set it. */
int64_t rl_clock_now_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

int64_t rl_clock_suspended_ns(void)
{
    int64_t ran_ns = read_ns(CLOCK_MONOTONIC);
    return rl_clock_now_ns() - ran_ns;
}

/* What is read first is the less: so the wall clock is ahead by that at most. */
static int64_t lead_most_ns(void)
{
    int64_t now_ns = rl_clock_now_ns();
    return read_ns(CLOCK_REALTIME) - now_ns;
}

void rl_clock_watch_wall(struct rl_clock *clock)
{
    clock->watches_wall = true;
    atomic_store(&clock->lead_ns, lead_most_ns());
}

/* R15: The wall clock is ahead by `least_ns` or more. Has it gone on further than the kernel's
 * clock in this epoch? Where it was set back, a later step forward counts from there. */
static bool lost_time(struct rl_clock *clock, int64_t least_ns, int64_t added_ns)
{
    int64_t lead_ns = atomic_load(&clock->lead_ns);
    if (least_ns > lead_ns + WALL_GRAIN_NS) {
        /* The epoch is raised first: else a thread might see the new lead in the old epoch. */
        atomic_compare_exchange_strong(&clock->added_ns, &added_ns, added_ns + 1);
        atomic_store(&clock->lead_ns, lead_most_ns());
        return true;
    }
    if (least_ns < lead_ns - WALL_GRAIN_NS)
        atomic_compare_exchange_strong(&clock->lead_ns, &lead_ns, lead_most_ns());
    return false;
}

static void note(struct rl_clock *clock, int64_t now_ns)
{
    int64_t seen_ns = atomic_load(&clock->seen_ns);
    while (seen_ns < now_ns && !atomic_compare_exchange_weak(&clock->seen_ns, &seen_ns, now_ns))
        continue;
}

/* R1: The time in this epoch only: across a step back there is none. */
int64_t rl_clock_steady_ns(struct rl_clock *clock)
{
    for (;;) {
        /* In this order: if another thread has returned a later time than this read of the
         * kernel's clock, the clock was set back in between. */
        int64_t added_ns = atomic_load(&clock->added_ns);
        int64_t seen_ns = atomic_load(&clock->seen_ns);
        int64_t wall_ns = clock->watches_wall ? read_ns(CLOCK_REALTIME) : 0;
        int64_t kernel_ns = rl_clock_now_ns(), now_ns = kernel_ns + added_ns;
        if (clock->watches_wall && lost_time(clock, wall_ns - kernel_ns, added_ns))
            continue;
        if (atomic_load(&clock->added_ns) != added_ns)
            continue; /* another thread noticed the step first */
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

/* At most `size` bytes of a small file of the kernel's. -1, and errno says why. */
static ssize_t read_some(const char *path, char *ret_bytes, size_t size)
{
    size_t got = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -1;
    while (got < size) {
        ssize_t n = read(fd, ret_bytes + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    return (ssize_t)got;
}

int rl_clock_boot_id(char ret_id[37])
{
    char text[RL_UUID_LEN + 1];

    if (read_some(BOOT_ID_FILE, text, RL_UUID_LEN) != RL_UUID_LEN || !rl_is_uuid(text))
        return -1;
    memcpy(ret_id, text, RL_UUID_LEN);
    ret_id[RL_UUID_LEN] = '\0';
    return 0;
}

/* "boottime   SECONDS   NANOSECONDS", in a line of its own. */
static int read_offset(int64_t *ret_offset)
{
    char text[OFFSETS_MAX + 1];
    long long s, ns;
    ssize_t len = read_some(OFFSETS_FILE, text, OFFSETS_MAX);

    if (len < 0)
        return -1;
    text[len] = '\0';
    const char *line = strstr(text, "boottime");
    if (!line || sscanf(line, "boottime %lld %lld", &s, &ns) != 2 || s < -OFFSET_MAX_S ||
        s > OFFSET_MAX_S)
        return -1;
    *ret_offset = s * RL_NS_PER_S + ns;
    return 0;
}

int rl_clock_offset(int64_t *ret_offset)
{
    char own[LINK_MAX_LEN], childrens[LINK_MAX_LEN];
    ssize_t len = readlink(TIME_LINK, own, sizeof(own));

    *ret_offset = 0;
    if (len < 0)
        return errno == ENOENT ? 0 : -1; /* a kernel without time namespaces has one clock */
    if (readlink(CHILDRENS_TIME_LINK, childrens, sizeof(childrens)) == len &&
        memcmp(own, childrens, (size_t)len) == 0)
        return read_offset(ret_offset);
    /* The process has made another namespace for its children, and the file shows theirs. A
     * hash of the name of its own namespace stands for the offset: a value that no real offset
     * has. */
    *ret_offset = INT64_MIN + (int64_t)(rl_hash(own, (size_t)len) >> 2);
    return 0;
}

uint64_t rl_clock_wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > 0 ? (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000 : 0;
}

struct timespec rl_clock_limit(clockid_t clock, int64_t ns)
{
    struct timespec limit;
    assert(ns >= 0);
    clock_gettime(clock, &limit);
    int64_t at_ns = limit.tv_nsec + ns;
    limit.tv_sec += (time_t)(at_ns / RL_NS_PER_S);
    limit.tv_nsec = (long)(at_ns % RL_NS_PER_S);
    return limit;
}
