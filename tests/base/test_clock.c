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

/* A stand-in for the machine's clocks: what CLOCK_BOOTTIME says while `faked` is set. */
static bool faked;
static struct timespec fake;
static int fails;

int clock_gettime(clockid_t clock, struct timespec *ret_now)
{
    if (fails)
        return -1;
    if (!faked || clock != CLOCK_BOOTTIME)
        return (int)syscall(SYS_clock_gettime, clock, ret_now);
    *ret_now = fake;
    return 0;
}

START_TEST(it_reads_boottime_in_nanoseconds)
{
    faked = true;
    fake = (struct timespec){.tv_sec = 1234567890, .tv_nsec = 987654321};
    ck_assert_int_eq(rl_clock_now_ns(), INT64_C(1234567890987654321));
    fake = (struct timespec){.tv_sec = 5000000000, .tv_nsec = 1}; /* 158 years */
    ck_assert_int_eq(rl_clock_now_ns(), INT64_C(5000000000000000001));
}
END_TEST

START_TEST(it_never_goes_back)
{
    int64_t before = rl_clock_now_ns();
    for (int i = 0; i < 100000; i++) {
        int64_t now = rl_clock_now_ns();
        ck_assert_int_ge(now, before);
        before = now;
    }
}
END_TEST

static void set_ns(int64_t ns)
{
    faked = true;
    fake = (struct timespec){.tv_sec = ns / RL_NS_PER_S, .tv_nsec = ns % RL_NS_PER_S};
}

START_TEST(clients_time_goes_on_where_clock_goes_back)
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
END_TEST

START_TEST(difference_of_processors_clocks_is_no_step)
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
END_TEST

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
START_TEST(threads_that_read_it_together_see_no_step)
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
END_TEST

/* Without the clock nobody can know how long a lease has run. */
START_TEST(without_clock_nothing_goes_on)
{
    fails = 1;
    rl_clock_now_ns();
}
END_TEST

START_TEST(boot_id_is_kernels)
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
END_TEST

int main(void)
{
    Suite *suite = suite_create("clock");
    TCase *tcase = tcase_create("clock");
    tcase_add_test(tcase, it_reads_boottime_in_nanoseconds);
    tcase_add_test(tcase, it_never_goes_back);
    tcase_add_test(tcase, clients_time_goes_on_where_clock_goes_back);
    tcase_add_test(tcase, difference_of_processors_clocks_is_no_step);
    tcase_add_test(tcase, threads_that_read_it_together_see_no_step);
    tcase_add_test_raise_signal(tcase, without_clock_nothing_goes_on, 6);
    tcase_add_test(tcase, boot_id_is_kernels);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
