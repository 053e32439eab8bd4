/* test_sim_proc.c - simulated processes: their clocks, pauses and ends, and their memory. */
#include "config_auto.h"

#include "sim_scene.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- clocks and pauses ---------------------------------------------------------------- */

static void *look_at_clocks(void *argument)
{
    static const clockid_t clocks[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME};
    (void)argument;
    for (unsigned i = 0; i < 3; i++)
        scene.at_ns[i] = scene_clock_ns(clocks[i]);
    scene_sleep_ns(10 * SIM_MS);
    scene.at_ns[7] = sim_now_ns();
    for (unsigned i = 0; i < 3; i++)
        scene.at_ns[i + 3] = scene_clock_ns(clocks[i]);
    return NULL;
}

/* What the three clocks count of a while in which the process sleeps for 10 ms. */
static void expect(void (*halt)(struct sim_proc *, int64_t), int64_t for_ns, int64_t true_ns,
                   int64_t boottime_ns, int64_t monotonic_ns)
{
    scene_begin(7);
    scene_start(scene.proc, look_at_clocks);
    scene_run_to(2 * SIM_MS);
    if (halt)
        halt(scene.proc, for_ns);
    scene_run_to(50 * SIM_MS);
    ck_assert_uint_eq(scene.proc->felt.late, true_ns > 10 * SIM_MS);
    scene_end();
    ck_assert_int_eq(scene.at_ns[7], true_ns);
    ck_assert_int_eq(scene.at_ns[3] - scene.at_ns[0], boottime_ns);
    ck_assert_int_eq(scene.at_ns[4] - scene.at_ns[1], monotonic_ns);
    ck_assert_int_eq(scene.at_ns[5] - scene.at_ns[2], boottime_ns);
}

TEST(fates, pauses_and_clocks)
{
    const int64_t ms = SIM_MS;
    expect(NULL, 0, 10 * ms, 10 * ms, 10 * ms);
    expect(sim_proc_pause, 3 * ms, 10 * ms, 10 * ms, 10 * ms);
    expect(sim_proc_pause, 30 * ms, 32 * ms, 32 * ms, 32 * ms);
    expect(sim_proc_suspend, 30 * ms, 40 * ms, 40 * ms, 10 * ms);
    expect(sim_proc_freeze, 30 * ms, 40 * ms, 10 * ms, 10 * ms);
}

TEST(fates, halts_may_overlap)
{
    scene_begin(7);
    scene_start(scene.proc, look_at_clocks);
    scene_run_to(SIM_MS);
    sim_proc_suspend(scene.proc, 10 * SIM_MS);
    scene_run_to(5 * SIM_MS);
    int64_t own_ns = sim_own_ns(scene.proc);
    sim_proc_freeze(scene.proc, 10 * SIM_MS);
    scene_run_to(9 * SIM_MS);
    ck_assert_int_eq(sim_own_ns(scene.proc), own_ns);
    ck_assert_int_eq(sim_true_ns(scene.proc, own_ns + 1), 15 * SIM_MS + 1);
    sim_proc_suspend(scene.proc, SIM_MS);
    scene_end();
    ck_assert_int_eq(scene.at_ns[7], 24 * SIM_MS);
    ck_assert_int_eq(scene.at_ns[3] - scene.at_ns[0], 14 * SIM_MS);
    ck_assert_int_eq(scene.at_ns[4] - scene.at_ns[1], 10 * SIM_MS);
}

TEST(fates, clocks_have_rates_of_their_own)
{
    static const int64_t rates[] = {0, 1, -1, 500000, -500000, 99999999, -99999999};
    for (unsigned i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        scene_begin(i);
        scene.proc->rate_ppb = rates[i];
        int64_t before_ns = sim_own_ns(scene.proc);
        scene_run_to(1000 * SIM_S);
        ck_assert_int_eq(sim_own_ns(scene.proc) - before_ns, 1000 * (SIM_S + rates[i]));
        for (unsigned k = 0; k < 1000; k++) {
            int64_t own_ns = sim_own_ns(scene.proc) + sim_scale(1, 3600 * SIM_S);
            int64_t true_ns = sim_true_ns(scene.proc, own_ns);
            ck_assert_int_lt(sim_now_ns(), true_ns);
            scene_run_to(true_ns - 1);
            ck_assert_int_lt(sim_own_ns(scene.proc), own_ns);
            scene_run_to(true_ns);
            ck_assert_int_ge(sim_own_ns(scene.proc), own_ns);
        }
        scene_end();
    }
}

static void *look_often(void *argument)
{
    (void)argument;
    while (sim_now_ns() < SIM_S) {
        scene_clock_ns(CLOCK_BOOTTIME);
        scene.count++;
        scene_sleep_ns(SIM_MS);
    }
    return NULL;
}

/* No call comes between its sleep and its look: Check's own would wait for the pause's end. */
static void *sleep_and_look(void *argument)
{
    (void)argument;
    sim_sleep(200 * SIM_MS);
    scene.at_ns[0] = sim_now_ns();
    return NULL;
}

TEST(fates, paused_process_stands_and_others_go_on)
{
    scene_begin(1);
    scene_start(scene.proc, look_often);
    scene_start(scene.proc, look_often);
    scene_start(scene.proc, sleep_and_look);
    scene_run_to(100 * SIM_MS);
    ck_assert_uint_eq(scene.proc->felt.late, 0);
    sim_proc_pause(scene.proc, 500 * SIM_MS);
    ck_assert_int_eq(scene.proc->awake_ns, 600 * SIM_MS);
    sim_proc_pause(scene.proc, 100 * SIM_MS);
    unsigned before = scene.count;
    scene_run_to(600 * SIM_MS - 1);
    ck_assert_uint_eq(scene.count, before);
    scene_start(scene.other, look_often);
    scene_run_to(600 * SIM_MS - 1);
    ck_assert_uint_eq(scene.count, before + 1);
    scene_run_to(700 * SIM_MS);
    ck_assert_int_eq(scene.proc->awake_ns, 0);
    ck_assert_uint_eq(scene.proc->felt.late, 3);
    ck_assert_uint_eq(scene.other->felt.late, 0);
    ck_assert_uint_gt(scene.count, before + 250);
    ck_assert_int_eq(scene.at_ns[0], 600 * SIM_MS);
    scene_end();
}

static void *spin(void *argument)
{
    (void)argument;
    int64_t end_ns = scene_clock_ns(CLOCK_BOOTTIME) + SIM_MS;
    while (scene_clock_ns(CLOCK_BOOTTIME) < end_ns)
        continue;
    return NULL;
}

TEST(fates, time_passes_for_busy_waiters)
{
    scene_begin(1);
    scene_start(scene.proc, spin);
    scene_end();
}

static void *spin_for_ever(void *argument)
{
    (void)argument;
    for (;;)
        scene_clock_ns(CLOCK_BOOTTIME);
    return NULL;
}

TEST(fates, busy_thread_is_found, .signal = SIGABRT)
{
    scene_begin(1);
    scene_start(scene.proc, spin_for_ever);
    scene_end();
}

TEST(fates, pauses_are_drawn_at_system_calls)
{
    scene_begin(1);
    scene.proc->rates.pause_ppm = 100000;
    scene.proc->rates.pause_max_ns = 100 * SIM_MS;
    scene_start(scene.proc, look_often);
    scene_run_to(SIM_S);
    ck_assert_uint_gt(scene.proc->felt.stutters, 3);
    scene_end();
    ck_assert_uint_lt(scene.count, 900);
    ck_assert_uint_gt(scene.count, 10);
}

/* ---- the end -------------------------------------------------------------------------- */

static void *live_on(void *argument)
{
    void *volatile block = malloc(100);
    (void)argument;
    while (!sim_proc()->crashed) {
        scene.count++;
        scene_sleep_ns(3600 * SIM_S);
    }
    scene.at_ns[0] = sim_now_ns();
    free(block);
    return NULL;
}

TEST(fates, killed_process_runs_on_as_ghost)
{
    for (unsigned paused = 0; paused < 2; paused++) {
        scene_begin(1);
        scene_start(scene.proc, live_on);
        scene_run_to(SIM_S);
        if (paused)
            sim_proc_pause(scene.proc, 7200 * SIM_S);
        ck_assert_uint_eq(scene.proc->live_bytes, 100);
        sim_proc_crash(scene.proc);
        sim_proc_crash(scene.proc);
        scene_end();
        ck_assert_uint_eq(scene.count, 1);
        ck_assert_int_eq(scene.at_ns[0], SIM_S);
    }
}

/* ---- memory --------------------------------------------------------------------------- */

/* Check's own assertions allocate, and would be counted. */
static void see(bool as_expected)
{
    scene.met += !as_expected;
}

static void *use_memory(void *argument)
{
    struct sim_proc *proc = sim_proc();
    char *volatile block[4]; /* not to be reasoned away, and no more is errno */
    volatile int *error = &errno;

    sim_proc_fail_alloc(proc, 3);
    block[0] = malloc(10);
    block[1] = calloc(5, 20);
    *error = 0;
    block[2] = malloc(1000);
    see(block[0] && block[1] && !block[2] && *error == ENOMEM);
    see(proc->live_bytes == 110);
    memset(block[0], 7, 10);
    block[0] = realloc(block[0], 1000);
    see(block[0][0] == 7 && block[0][9] == 7);
    block[3] = strdup("text");
    see(strcmp(block[3], "text") == 0);
    see(proc->live_bytes == 1105 && proc->live_blocks == 3);
    free(block[0]);
    free(NULL);
    free(argument); /* made outside of the process */
    sim_proc_fail_alloc(proc, 1);
    block[2] = realloc(block[1], 50);
    see(!block[2]);
    see(proc->live_bytes == 105 && proc->peak_bytes == 1105);
    free(block[3]);
    scene.block = block[1];
    return NULL;
}

TEST(fates, memory_is_counted_and_refused)
{
    scene_begin(1);
    char *volatile outside = malloc(10);
    sim_fiber_new(scene.proc, use_memory, outside);
    scene_run_to(1);
    ck_assert_uint_eq(scene.met, 0);
    ck_assert_uint_eq(scene.proc->live_bytes, 100);
    ck_assert_uint_eq(scene.proc->live_blocks, 1);
    free(scene.block);
    scene_end();
}

enum { BLOCKS = 3000 };

static void *keep_much(void *argument)
{
    static void *block[BLOCKS];
    (void)argument;
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            if (!block[i]) {
                block[i] = malloc(16 + i % 7);
            } else if (sim_below(2)) {
                free(block[i]);
                block[i] = NULL;
            }
        }
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        free(block[i]);
    return NULL;
}

TEST(fates, no_block_is_lost_among_many)
{
    scene_begin(1);
    scene_start(scene.proc, keep_much);
    scene_run_to(1);
    ck_assert_uint_eq(scene.proc->live_bytes, 0);
    ck_assert_uint_gt(scene.proc->peak_bytes, 16 * BLOCKS / 2);
    scene_end();
}

static void *allocate_much(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 1000; i++) {
        void *volatile block = malloc(1);
        scene.count += block == NULL;
        free(block);
    }
    return NULL;
}

TEST(fates, allocations_fail_at_rate)
{
    scene_begin(1);
    scene.proc->rates.alloc_fail_ppm = 100000;
    scene_start(scene.proc, allocate_much);
    scene_run_to(1);
    ck_assert(scene.count > 50 && scene.count < 150);
    ck_assert_uint_eq(scene.proc->felt.no_memory, scene.count);
    scene.count = 0;
    scene_start(scene.other, allocate_much);
    scene_end();
    ck_assert_uint_eq(scene.count, 0);
}

CASE(fates, .timeout_s = 60)
