/* sim_scene.c - see sim_scene.h. */
#include "config_auto.h"

#include "sim_scene.h"

#include <string.h>

struct scene scene;

void scene_begin(uint64_t seed)
{
    memset(&scene, 0, sizeof(scene));
    sim_begin(seed);
    scene.proc = sim_proc_new("p1");
    scene.other = sim_proc_new("p2");
}

void scene_run_to(int64_t at_ns)
{
    ck_assert(sim_run_until(at_ns));
}

uint64_t scene_end(void)
{
    ck_assert(sim_run_while(NULL, NULL, SIM_NEVER - 1));
    for (unsigned i = 0; i < sim_proc_count(); i++)
        ck_assert_uint_eq(sim_proc_at(i)->live_blocks, 0);
    sim_procs_end();
    sim_end();
    return sim_hash();
}

void scene_start(struct sim_proc *proc, void *(*run)(void *))
{
    sim_fiber_new(proc, run, NULL);
}

int64_t scene_clock_ns(clockid_t clock)
{
    struct timespec now;
    ck_assert_int_eq(clock_gettime(clock, &now), 0);
    return (int64_t)now.tv_sec * SIM_S + now.tv_nsec;
}

void scene_sleep_ns(int64_t ns)
{
    struct timespec time = {.tv_sec = ns / SIM_S, .tv_nsec = ns % SIM_S};
    ck_assert_int_eq(nanosleep(&time, NULL), 0);
}
