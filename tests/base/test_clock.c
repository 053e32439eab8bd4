/* test_clock.c - the clock counts suspended time, and the boot has an id. */
#include "config_auto.h"

#include "base/clock.h"
#include "base/limits.h"
#include "suite.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A stand-in for the machine's clocks: what they say while `faked` is set. */
static bool faked;
static struct timespec fake, wall;
static int fails;
static int64_t wall_ns;

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    if (fails)
        return -1;
    if (!faked || (clock != CLOCK_BOOTTIME && clock != CLOCK_REALTIME))
        return (int)syscall(SYS_clock_gettime, clock, ret_now);
    *ret_now = clock == CLOCK_BOOTTIME ? fake : wall;
    return 0;
}

TEST(clock, it_reads_boottime_in_nanoseconds)
{
    faked = true;
    fake = (struct timespec){.tv_sec = 1234567890, .tv_nsec = 987654321};
    ck_assert_int_eq(rl_clock_now_ns(), INT64_C(1234567890987654321));
    fake = (struct timespec){.tv_sec = 5000000000, .tv_nsec = 1}; /* 158 years */
    ck_assert_int_eq(rl_clock_now_ns(), INT64_C(5000000000000000001));
}

TEST(clock, it_never_goes_back)
{
    int64_t before = rl_clock_now_ns();
    for (int i = 0; i < 100000; i++) {
        int64_t now = rl_clock_now_ns();
        ck_assert_int_ge(now, before);
        before = now;
    }
}

static void set_ns(int64_t ns)
{
    faked = true;
    fake = (struct timespec){.tv_sec = ns / RL_NS_PER_S, .tv_nsec = ns % RL_NS_PER_S};
}

TEST(clock, clients_time_goes_on_where_clock_goes_back)
{
    struct rl_clock clock = {0};
    set_ns(1000 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1000 * RL_NS_PER_S);
    int64_t epoch = rl_clock_epoch(&clock);
    set_ns(1001 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1001 * RL_NS_PER_S);
    set_ns(RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1001 * RL_NS_PER_S);
    ck_assert_int_gt(rl_clock_epoch(&clock), epoch);
    epoch = rl_clock_epoch(&clock);
    set_ns(3 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1003 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_epoch(&clock), epoch);
    set_ns(2 * RL_NS_PER_S); /* and once more */
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1003 * RL_NS_PER_S);
    ck_assert_int_gt(rl_clock_epoch(&clock), epoch);
    set_ns(5000 * RL_NS_PER_S); /* forward: as a suspend */
    epoch = rl_clock_epoch(&clock);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 6001 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_epoch(&clock), epoch);
}

TEST(clock, difference_of_processors_clocks_is_no_step)
{
    struct rl_clock clock = {0};
    set_ns(1000 * RL_NS_PER_S);
    rl_clock_steady_ns(&clock);
    set_ns(1000 * RL_NS_PER_S - RL_CLOCK_JITTER_NS);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1000 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_epoch(&clock), 0);
    set_ns(1000 * RL_NS_PER_S - RL_CLOCK_JITTER_NS - 1);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1000 * RL_NS_PER_S);
    ck_assert_int_ne(rl_clock_epoch(&clock), 0);
}

static void *read_often(void *context)
{
    struct rl_clock *clock = context;
    int64_t before = 0;
    for (int i = 0; i < 200000; i++) {
        int64_t now = rl_clock_steady_ns(clock);
        if (now < before)
            return clock;
        before = now;
    }
    return NULL;
}

/* Nor that threads read it at the same time, each as soon as it may run. */
TEST(clock, threads_that_read_it_together_see_no_step)
{
    struct rl_clock clock = {0};
    pthread_t thread[8];
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_often, &clock), 0);
    for (int i = 0; i < 8; i++) {
        void *went_back = NULL;
        pthread_join(thread[i], &went_back);
        ck_assert_ptr_null(went_back);
    }
    ck_assert_int_eq(rl_clock_epoch(&clock), 0);
}

/* ---- the wall clock beside it ------------------------------------------------------------ */

static void pass_ns(int64_t ns, int64_t more_ns)
{
    wall_ns += ns + more_ns;
    wall = (struct timespec){.tv_sec = wall_ns / RL_NS_PER_S, .tv_nsec = wall_ns % RL_NS_PER_S};
    set_ns((int64_t)fake.tv_sec * RL_NS_PER_S + fake.tv_nsec + ns);
}

static struct rl_clock watched(void)
{
    struct rl_clock clock = {0};
    set_ns(1000 * RL_NS_PER_S);
    wall_ns = 1700000000 * RL_NS_PER_S;
    pass_ns(0, 0);
    rl_clock_watch_wall(&clock);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1000 * RL_NS_PER_S);
    return clock;
}

/* It stood still for so long: nothing before can be timed, and its time goes on as it was. */
TEST(clock, time_that_wall_clock_shows_to_be_lost_begins_epoch)
{
    static const int64_t lost_ns[] = {RL_NS_PER_MS, RL_NS_PER_S, 86400 * RL_NS_PER_S};
    struct rl_clock clock = watched();
    for (size_t i = 0; i < sizeof(lost_ns) / sizeof(lost_ns[0]); i++) {
        int64_t epoch = rl_clock_epoch(&clock), before_ns = rl_clock_steady_ns(&clock);
        pass_ns(5 * RL_NS_PER_MS, lost_ns[i]);
        int64_t passed_ns = rl_clock_steady_ns(&clock) - before_ns;
        ck_assert_int_ge(passed_ns, 5 * RL_NS_PER_MS);
        ck_assert_int_le(passed_ns, 5 * RL_NS_PER_MS + 1);
        ck_assert_int_gt(rl_clock_epoch(&clock), epoch);
        epoch = rl_clock_epoch(&clock);
        pass_ns(RL_NS_PER_S, 0);
        rl_clock_steady_ns(&clock);
        ck_assert_int_eq(rl_clock_epoch(&clock), epoch);
    }
}

/* By less each time than is noticed at once. */
TEST(clock, small_losses_add_up)
{
    struct rl_clock clock = watched();
    for (int i = 0; i < 10; i++) {
        pass_ns(RL_NS_PER_MS, RL_NS_PER_MS / 10);
        rl_clock_steady_ns(&clock);
    }
    ck_assert_int_gt(rl_clock_epoch(&clock), 0);
}

TEST(clock, wall_clock_that_goes_back_changes_nothing)
{
    struct rl_clock clock = watched();
    pass_ns(RL_NS_PER_S, -3600 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1001 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_epoch(&clock), 0);
    pass_ns(0, RL_NS_PER_S); /* and hides no loss that comes later */
    rl_clock_steady_ns(&clock);
    ck_assert_int_gt(rl_clock_epoch(&clock), 0);
}

/* Threads that are kept from running between two reads lose no time by that. */
TEST(clock, watched_clock_sees_no_step_where_there_is_none)
{
    struct rl_clock clock = {0};
    pthread_t thread[8];
    rl_clock_watch_wall(&clock);
    for (int i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, read_often, &clock), 0);
    for (int i = 0; i < 8; i++) {
        void *went_back = NULL;
        pthread_join(thread[i], &went_back);
        ck_assert_ptr_null(went_back);
    }
    ck_assert_int_eq(rl_clock_epoch(&clock), 0);
}

TEST(clock, clock_that_is_not_watched_does_not_look_at_wall_clock)
{
    struct rl_clock clock = {0};
    set_ns(1000 * RL_NS_PER_S);
    pass_ns(0, 0);
    rl_clock_steady_ns(&clock);
    pass_ns(RL_NS_PER_S, 3600 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_steady_ns(&clock), 1001 * RL_NS_PER_S);
    ck_assert_int_eq(rl_clock_epoch(&clock), 0);
}

/* Without the clock nobody can know how long a lease has run. */
TEST(clock, without_clock_nothing_goes_on, .signal = 6)
{
    fails = 1;
    rl_clock_now_ns();
}

TEST(clock, boot_id_is_kernels)
{
    char id[37], expected[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_ptr_nonnull(fgets(expected, sizeof(expected), file));
    fclose(file);
    expected[strcspn(expected, "\n")] = '\0';
    memset(id, 'x', sizeof(id));
    ck_assert_int_eq(rl_clock_boot_id(id), 0);
    ck_assert_str_eq(id, expected);
    ck_assert_uint_eq(strlen(id), 36);
}
