/* test_peer_cases_clock.c - what went wrong for the users of other quorum locks when a clock
 * was stepped, or ran otherwise than ours; each test is named after its case. */
#include "config_auto.h"

#include "clients.h"
#include "stepped.h"
#include "told.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static redlock_lock *lock;
static struct told lost;

/* The time of day of this process, to be stepped by the test. */
static atomic_long wall_step_s;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        ret->tv_sec += atomic_load(&wall_step_s);
    return result;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return result;
}

static void *step_wall_clock(void *argument)
{
    struct told *waited = argument;
    for (int i = 0; waited->calls == 0; i++) {
        atomic_store(&wall_step_s, i % 3 == 0 ? 3600 : i % 3 == 1 ? -3600 : 0);
        pause_ms(20);
    }
    return NULL;
}

TEST(peer_cases_clock, b44_steps_of_wall_clock_change_nothing)
{
    pthread_t thread;
    struct told waited = {.calls = 0};
    redlock_lock *taken = NULL;
    time_t before = 0, after = 0;
    OPEN_CLIENTS(3, NULL);
    lock = told_take_renewed(one, "name", 600, &lost);
    ck_assert_int_eq(pthread_create(&thread, NULL, step_wall_clock, &waited), 0);
    for (int64_t end = now_ms() + 1000; now_ms() < end; pause_ms(1)) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        before = before == 0 || now.tv_sec < before ? now.tv_sec : before;
        after = now.tv_sec > after ? now.tv_sec : after;
        ck_assert_int_gt(redlock_validity_ms(lock), 0);
        ck_assert_int_le(redlock_validity_ms(lock), 600 - 8);
    }
    ck_assert_int_ge(after - before, 7200); /* the steps do come through */
    int64_t begun = now_ms();
    ck_assert_int_eq(client_try(two, "name", 0, 500, NULL, &taken), REDLOCK_EHELD);
    ck_assert_int_ge(now_ms() - begun, 400);
    ck_assert_int_lt(now_ms() - begun, 1000);
    told_done(&waited, 0, NULL);
    pthread_join(thread, NULL);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* 0: a minority's keys run out early; 1: a majority's; 2: a majority's live too long. */
TEST(peer_cases_clock, b45_step_of_servers_clock_is_found_at_next_extension, .rows = 3)
{
    volatile int64_t *step_ns;
    struct node_list list = {.len = 0};
    unsigned count = _i == 0 ? 1 : 2;
    struct masters *stepped = masters_start_stepped(count, &step_ns);
    masters = masters_start(3 - count, NULL);
    node_list_line(&list, "guard off");
    for (unsigned i = 0; i < count; i++)
        node_list_add(&list, &stepped->node[i].unix_at);
    for (unsigned i = 0; i < 3 - count; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    one = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(one) == 3, 5000));
    lock = client_take(one, "name");
    redlock_lock *renewed = told_take_renewed(one, "renewed", 2500, &lost);
    ck_assert(wait_until(masters_with(stepped, "name") == count &&
                             masters_with(masters, "name") == 3 - count,
                         2000));
    client_ready(one);
    *step_ns = _i < 2 ? 3600 * INT64_C(1000000000) : -3600 * INT64_C(1000000000);
    ck_assert_uint_eq(masters_with(stepped, "name"), _i < 2 ? 0 : count);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_le(redlock_validity_ms(lock), CLIENT_TTL_MS);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), _i == 1 ? REDLOCK_EEXPIRED : 0);
    pause_ms(2600); /* more than a ttl of the other */
    ck_assert_int_eq(lost.calls, _i == 1 ? 1 : 0);
    ck_assert_int_eq(redlock_validity_ms(renewed) == 0, _i == 1);
    ck_assert_int_eq(redlock_release(renewed), _i == 1 ? REDLOCK_EEXPIRED : 0);
    ck_assert_int_eq(redlock_release(lock), _i == 1 ? REDLOCK_EEXPIRED : 0);
    ck_assert(
        wait_until(masters_with(stepped, "name") + masters_with(masters, "name") == 0, 2000));
    redlock_close(one);
}

TEST(peer_cases_clock, b46_drift_factor_is_validated_and_counts)
{
    static const char *const wrong[] = {"-0.1", "1", "1.5", "nan", "inf", "x", "", "0.1x"};
    static const struct {
        const char *text;
        int64_t drift_ms;
    } right[] = {{"0", 2}, {"0.25", 252}, {"0.9", 902}};
    masters = masters_start(3, NULL);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char line[40];
        redlock_error error = REDLOCK_ERROR_INIT;
        snprintf(line, sizeof(line), "drift-factor %s\n", wrong[i]);
        ck_assert_int_eq(redlock_open(masters_file(masters, line), &error, &one),
                         REDLOCK_ECONFIG);
        ck_assert_msg(strstr(error.text, "drift-factor") != NULL, "%s", error.text);
    }
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        char line[40];
        snprintf(line, sizeof(line), "drift-factor %s\n", right[i].text);
        one = client_open(masters_file(masters, line));
        ck_assert(wait_until(client_ready(one) == 3, 5000));
        int64_t begun = now_ms();
        ck_assert_int_eq(client_try(one, "name", 1000, 0, NULL, &lock), 0);
        int64_t left = redlock_validity_ms(lock), took = now_ms() - begun;
        ck_assert_int_le(left, 1000 - right[i].drift_ms);
        ck_assert_int_ge(left, 1000 - right[i].drift_ms - took - 2);
        ck_assert_int_eq(redlock_release(lock), 0);
        redlock_close(one);
    }
}

CASE(peer_cases_clock, .timeout_s = 60)
