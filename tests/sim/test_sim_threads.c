/* test_sim_threads.c - threads of simulated processes, their mutexes and conditions. */
#include "config_auto.h"

#include "sim_scene.h"

#include <errno.h>
#include <sched.h>

/* ---- threads -------------------------------------------------------------------------- */

static void *sleep_twice(void *argument)
{
    (void)argument;
    scene.fiber = sim_fiber();
    scene.result = sim_sleep(50);
    scene.at_ns[0] = sim_now_ns();
    scene.ready = sim_sleep(1000);
    scene.at_ns[1] = sim_now_ns();
    return NULL;
}

TEST(threads, thread_sleeps_until_its_time_or_until_it_is_woken)
{
    scene_begin(1);
    scene_start(scene.proc, sleep_twice);
    scene_run_to(200);
    ck_assert_int_eq(scene.at_ns[0], 50);
    ck_assert(!scene.result);
    sim_wake(scene.fiber);
    sim_wake(scene.fiber);
    scene_run_to(300);
    ck_assert_int_eq(scene.at_ns[1], 200);
    ck_assert(scene.ready);
    ck_assert(sim_fiber_ended(scene.fiber));
    ck_assert_ptr_null(sim_proc());
    scene_end();
}

static void *nap(void *argument)
{
    (void)argument;
    scene.fiber = sim_fiber();
    scene_sleep_ns(SIM_MS);
    scene.at_ns[0] = sim_now_ns();
    return NULL;
}

TEST(threads, nobody_wakes_thread_that_naps)
{
    scene_begin(1);
    scene_start(scene.proc, nap);
    scene_run_to(10);
    sim_wake(scene.fiber);
    scene_end();
    ck_assert_int_eq(scene.at_ns[0], SIM_MS);
}

static void *return_later(void *argument)
{
    scene_sleep_ns(SIM_MS);
    errno = EDOM;
    scene.met += !pthread_equal(pthread_self(), *(pthread_t *)argument);
    return &scene.met;
}

static void *create_and_join(void *argument)
{
    pthread_t self = pthread_self(), thread[3];
    void *result;
    (void)argument;
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, return_later, &self), 0);
    errno = ERANGE;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(pthread_join(thread[i], &result), 0);
        ck_assert_ptr_eq(result, &scene.met);
    }
    ck_assert_int_eq(errno, ERANGE);
    scene.at_ns[0] = sim_now_ns();
    return NULL;
}

TEST(threads, threads_are_created_and_joined)
{
    scene_begin(1);
    scene_start(scene.proc, create_and_join);
    scene_end();
    ck_assert_uint_eq(scene.met, 3);
    ck_assert_int_eq(scene.at_ns[0], SIM_MS);
}

/* ---- mutexes -------------------------------------------------------------------------- */

static void *enter_and_leave(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 50; i++) {
        ck_assert_int_eq(pthread_mutex_lock(&scene.mutex), 0);
        ck_assert_uint_eq(++scene.inside, 1);
        sched_yield();
        scene_clock_ns(CLOCK_BOOTTIME);
        unsigned met = pthread_mutex_trylock(&scene.mutex) == EBUSY;
        scene.met += met;
        ck_assert_uint_eq(scene.inside--, 1);
        scene.count++;
        ck_assert_int_eq(pthread_mutex_unlock(&scene.mutex), 0);
    }
    return NULL;
}

static uint64_t contend(uint64_t seed)
{
    scene_begin(seed);
    scene.proc->rates.switch_ppm = 200000;
    scene.proc->rates.pause_ppm = 10000;
    scene.proc->rates.pause_max_ns = SIM_S;
    for (unsigned i = 0; i < 4; i++)
        scene_start(scene.proc, enter_and_leave);
    uint64_t hash = scene_end();
    ck_assert_uint_eq(scene.count, 200);
    ck_assert_uint_eq(scene.met, 200);
    return hash;
}

TEST(threads, mutex_is_one_threads)
{
    for (uint64_t seed = 0; seed < 50; seed++)
        contend(seed);
}

TEST(threads, one_seed_is_one_history_of_threads)
{
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint64_t hash = contend(seed);
        ck_assert_uint_ne(contend(seed + 1), hash);
        ck_assert_uint_eq(contend(seed), hash);
    }
}

static void *misuse(void *argument)
{
    pthread_mutexattr_t attr;
    (void)argument;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&scene.mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    ck_assert_int_eq(pthread_mutex_unlock(&scene.mutex), EPERM);
    ck_assert_int_eq(pthread_mutex_lock(&scene.mutex), 0);
    ck_assert_int_eq(pthread_mutex_lock(&scene.mutex), EDEADLK);
    ck_assert_int_eq(pthread_mutex_destroy(&scene.mutex), EBUSY);
    ck_assert_int_eq(pthread_mutex_unlock(&scene.mutex), 0);
    ck_assert_int_eq(pthread_mutex_destroy(&scene.mutex), 0);
    scene.result = true;
    return NULL;
}

TEST(threads, checking_mutex_checks)
{
    scene_begin(1);
    scene_start(scene.proc, misuse);
    scene_end();
    ck_assert(scene.result);
}

/* ---- conditions ----------------------------------------------------------------------- */

enum { ITEMS = 300 };

/* One place for an item: those who put and those who take wait for each other. */
static void *put_items(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&scene.mutex);
        while (scene.inside > 0)
            pthread_cond_wait(&scene.cond, &scene.mutex);
        scene.inside++;
        pthread_cond_broadcast(&scene.cond);
        pthread_mutex_unlock(&scene.mutex);
    }
    return NULL;
}

static void *take_items(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ITEMS / 3; i++) {
        pthread_mutex_lock(&scene.mutex);
        while (scene.inside == 0)
            pthread_cond_wait(&scene.cond, &scene.mutex);
        scene.inside--;
        scene.count++;
        pthread_cond_broadcast(&scene.cond);
        pthread_mutex_unlock(&scene.mutex);
    }
    return NULL;
}

TEST(threads, waiter_for_condition_is_woken)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        scene_begin(seed);
        scene.proc->rates.switch_ppm = seed % 2 ? 300000 : 0;
        scene_start(scene.proc, put_items);
        for (unsigned i = 0; i < 3; i++)
            scene_start(scene.proc, take_items);
        scene_end();
        ck_assert_uint_eq(scene.count, ITEMS);
    }
}

static void *await_signal(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&scene.mutex);
    pthread_cond_wait(&scene.cond, &scene.mutex);
    scene.count++;
    pthread_mutex_unlock(&scene.mutex);
    return NULL;
}

static void *signal_one_by_one(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 3; i++) {
        scene_sleep_ns(SIM_MS);
        ck_assert_uint_eq(scene.count, i);
        pthread_cond_signal(&scene.cond);
    }
    return NULL;
}

TEST(threads, signal_wakes_one)
{
    scene_begin(1);
    for (unsigned i = 0; i < 3; i++)
        scene_start(scene.proc, await_signal);
    scene_start(scene.proc, signal_one_by_one);
    scene_end();
    ck_assert_uint_eq(scene.count, 3);
}

/* The clock of the condition, five milliseconds from now. */
static void *await_in_vain(void *argument)
{
    clockid_t clock = *(clockid_t *)argument;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    if (clock == CLOCK_MONOTONIC)
        pthread_condattr_setclock(&attr, clock);
    pthread_cond_init(&scene.cond, &attr);
    pthread_condattr_destroy(&attr);
    struct timespec until;
    clock_gettime(clock, &until);
    int64_t ns = until.tv_nsec + 5 * SIM_MS;
    until.tv_sec += ns / SIM_S;
    until.tv_nsec = ns % SIM_S;
    pthread_mutex_lock(&scene.mutex);
    int result = pthread_cond_timedwait(&scene.cond, &scene.mutex, &until);
    ck_assert_int_eq(result, ETIMEDOUT);
    ck_assert_int_eq(pthread_mutex_unlock(&scene.mutex), 0);
    ck_assert_int_eq(pthread_cond_destroy(&scene.cond), 0);
    scene.at_ns[0] = sim_now_ns();
    return NULL;
}

TEST(threads, wait_times_out_by_its_own_clock)
{
    clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    for (unsigned i = 0; i < 2; i++) {
        scene_begin(1);
        scene.proc->rate_ppb = 100000000; /* a tenth too fast */
        sim_fiber_new(scene.proc, await_in_vain, &clocks[i]);
        scene_run_to(SIM_MS);
        sim_proc_suspend(scene.proc, 3 * SIM_MS);
        scene_run_to(50 * SIM_MS);
        int64_t expected = 5 * SIM_MS * 10 / 11 + (i == 0 ? 3 * SIM_MS : 0);
        ck_assert_int_ge(scene.at_ns[0], expected);
        ck_assert_int_lt(scene.at_ns[0], expected + 10);
        scene_end();
    }
}
