/* sim_scene.h - two simulated processes and what their threads share: the stage of the
 * simulator's own tests. */
#ifndef TEST_SIM_SCENE_H
#define TEST_SIM_SCENE_H

#include "sim_proc.h"
#include "suite.h"

#include <pthread.h>
#include <time.h>

struct scene {
    struct sim_proc *proc, *other;
    struct sim_fiber *fiber;
    void *block;
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    int64_t at_ns[8]; /* when something was seen */
    unsigned count, inside, met;
    bool ready, result;
};
extern struct scene scene;

/* A world of its own, with nothing in it but these two. */
void scene_begin(uint64_t seed);
void scene_run_to(int64_t at_ns);
/* Everything happens that is left; nobody has any memory then. The hash of it all. */
uint64_t scene_end(void);

void scene_start(struct sim_proc *proc, void *(*run)(void *));

/* In a thread of a process. */
int64_t scene_clock_ns(clockid_t clock);
void scene_sleep_ns(int64_t ns);

#endif
