/* tags: long */
/* test_clock_back.c - a client whose machine's clock is set back: whatever it held is lost and
 * told, no lock is valid for longer than it was, what waits ends, and all goes on then. */
#include "config_auto.h"

#include "clients.h"
#include "base/limits.h"
#include "told.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DAY_MS = 86400000 };

static struct told lost;

/* CLOCK_BOOTTIME of this process, as the test has set it. */
static atomic_llong boottime_step_ms;

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = (int)syscall(SYS_clock_gettime, clock, ret);
    if (clock != CLOCK_BOOTTIME)
        return result;
    int64_t ns = (int64_t)ret->tv_sec * RL_NS_PER_S + ret->tv_nsec + DAY_MS * RL_NS_PER_MS +
                 atomic_load(&boottime_step_ms) * RL_NS_PER_MS;
    *ret = (struct timespec){.tv_sec = ns / RL_NS_PER_S, .tv_nsec = ns % RL_NS_PER_S};
    return result;
}

static void step_ms(int64_t ms)
{
    atomic_fetch_add(&boottime_step_ms, ms);
}

/* By less than what is left of a lease; by more; by far more. */
static const int64_t steps_ms[] = {-2000, -15000, -3600000};
enum { STEPS = sizeof(steps_ms) / sizeof(steps_ms[0]) };

/* The client is used as before: locks are taken, renewed and given up. */
static void check_goes_on(redlock *client)
{
    struct told other = {.calls = 0};
    redlock_lock *lock = told_take_renewed(client, "next", 600, &other);
    for (int64_t end = now_ms() + 1500; now_ms() < end; pause_ms(5)) {
        int64_t left_ms = redlock_validity_ms(lock);
        ck_assert_int_gt(left_ms, 0);
        ck_assert_int_le(left_ms, 600);
    }
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(other.calls, 0);
}

TEST(clock_back, renewed_lock_is_lost_and_told_once, .rows = STEPS)
{
    OPEN_CLIENTS(3, "max-ttl 10s\n");
    redlock_lock *lock = told_take_renewed(one, "name", 10000, &lost);
    pause_ms(300);
    ck_assert_int_gt(redlock_validity_ms(lock), 5000);
    step_ms(steps_ms[_i]);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert(wait_until(lost.calls == 1, 5000));
    ck_assert_int_eq(lost.validity_ms, 0);
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), REDLOCK_EEXPIRED);
    pause_ms(1200);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert_int_eq(lost.calls, 1);
    ck_assert_uint_eq(client_stats(one).lost, 1);
    check_goes_on(one);
}

/* Its time would run out soon: nobody asks, and it is told all the same. */
TEST(clock_back, loss_is_told_where_nobody_looks, .rows = STEPS)
{
    OPEN_CLIENTS(3, "max-ttl 10s\n");
    redlock_lock *lock = told_take_renewed(one, "name", 10000, &lost);
    step_ms(steps_ms[_i]);
    ck_assert(wait_until(lost.calls == 1, 5000));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

TEST(clock_back, loss_is_told_by_event_loop, .rows = STEPS)
{
    OPEN_CLIENTS(3, "max-ttl 10s\nbackground never\n");
    ck_assert_int_ge(redlock_fd(one), 0);
    redlock_lock *lock = NULL;
    struct told done = {.calls = 0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 10000;
    options.auto_renew = 1;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try_async_n(one, "name", 4, &options, told_done, &done, NULL), 0);
    ck_assert(turn_until(one, done.calls == 1, 5000));
    lock = done.lock;
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    step_ms(steps_ms[_i]);
    ck_assert(turn_until(one, lost.calls == 1, 5000));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    done.calls = 0;
    ck_assert_int_eq(redlock_release_async(lock, told_done, &done), 0);
    ck_assert(turn_until(one, done.calls == 1, 5000));
    ck_assert_int_eq(done.result, REDLOCK_EEXPIRED);
}

/* Nothing is sent for a lock that may be another's by now. */
TEST(clock_back, lock_not_renewed_is_over_as_well, .rows = STEPS)
{
    char text[REDLOCK_HANDLE_MAX];
    OPEN_CLIENTS(3, "max-ttl 10s\n");
    redlock_lock *extended = client_take(one, "extended");
    redlock_lock *shown = client_take(one, "shown");
    redlock_lock *released = client_take(one, "released");
    uint64_t sent = client_stats(one).extended;
    step_ms(steps_ms[_i]);
    ck_assert_int_eq(redlock_extend(extended, 10000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(extended), 0);
    ck_assert_int_eq(redlock_handle(shown, text, sizeof(text)), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_detach(shown, text, sizeof(text)), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(released), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(extended), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(shown), REDLOCK_EEXPIRED);
    ck_assert_uint_eq(client_stats(one).extended, sent);
    /* They are given up: nobody waits for them to run out. */
    ck_assert(wait_until(client_can_take(two, "released"), 5000));
    check_goes_on(one);
}

static void *step_back_soon(void *context)
{
    (void)context;
    pause_ms(300);
    step_ms(-3600000);
    return NULL;
}

TEST(clock_back, waiter_has_waited_as_long_as_it_asked)
{
    pthread_t thread;
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, "max-ttl 30s\n");
    /* Whoever has it is of a process whose clock is right: here, nobody looks at it. */
    redlock_lock *held = client_take(two, "name");
    int64_t begun = now_ms();
    ck_assert_int_eq(pthread_create(&thread, NULL, step_back_soon, NULL), 0);
    ck_assert_int_eq(client_try(one, "name", 1000, 1500, NULL, &lock), REDLOCK_EHELD);
    int64_t took = now_ms() - begun;
    pthread_join(thread, NULL);
    ck_assert_int_ge(took, 1400);
    ck_assert_int_le(took, 6000);
    ck_assert_int_eq(redlock_release(held), REDLOCK_EEXPIRED);
}

/* What is known of a master's process is measured with that clock. */
TEST(clock_back, guard_outlives_it, .rows = STEPS)
{
    struct node_list list = {.len = 0};
    redlock_lock *lock = NULL;
    masters = masters_start(3, NULL);
    for (unsigned i = 0; i < 3; i++)
        node_list_add(&list, &masters->node[i].unix_at);
    node_list_line(&list, "max-ttl 1s\n");
    one = client_open(node_list_write(&list));
    ck_assert(wait_until(client_ready(one) == 3, 20000));
    step_ms(steps_ms[_i]);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "CLIENT", "KILL", "TYPE", "normal", NULL);
    ck_assert(wait_until(client_ready(one) == 3, 20000));
    ck_assert_int_eq(client_try(one, "name", 1000, 0, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(one);
}

/* Nobody can tell how old a text is that was written before, or may have been. */
TEST(clock_back, text_of_before_is_not_attached)
{
    char before[REDLOCK_HANDLE_MAX], after[REDLOCK_HANDLE_MAX];
    redlock_lock *taken = NULL;
    OPEN_CLIENTS(3, "max-ttl 10s\n");
    ck_assert_int_eq(redlock_detach(client_take(one, "before"), before, sizeof(before)), 0);
    pause_ms(1100);
    ck_assert_uint_eq(client_ready(one), 3); /* it has read the clock */
    step_ms(-1000);                          /* it was written earlier than the clock shows */
    ck_assert_int_eq(redlock_attach(one, before, &taken), REDLOCK_EHANDLE);
    /* Later than it ever showed before, the clock tells how old a text is. */
    pause_ms(1500);
    ck_assert_int_eq(redlock_attach(one, before, &taken), REDLOCK_EHANDLE);
    ck_assert_int_eq(redlock_detach(client_take(one, "after"), after, sizeof(after)), 0);
    ck_assert_int_eq(redlock_attach(one, after, &taken), 0);
    ck_assert_int_gt(redlock_validity_ms(taken), 0);
    ck_assert_int_le(redlock_validity_ms(taken), 10000);
    ck_assert_int_eq(redlock_extend(taken, 0, NULL), 0);
    ck_assert_int_eq(redlock_release(taken), 0);
}

/* It is no fault of ours that they seem to have had more time than they had. */
TEST(clock_back, step_forward_ends_lock_and_no_more)
{
    OPEN_CLIENTS(3, "max-ttl 10s\n");
    redlock_lock *lock = told_take_renewed(one, "name", 10000, &lost);
    step_ms(3600000);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert(wait_until(lost.calls == 1, 5000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    check_goes_on(one);
}

CASE(clock_back, .timeout_s = 60)
