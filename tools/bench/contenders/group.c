/* group.c - starts, runs and ends processes that contend for a lock. */
#include "config_auto.h"

#include "bench/contenders/group.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#define TTL_MS 10000
#define READY_LIMIT_MS 20000
#define STARTING_MAX 4 /* workers that connect at once */

extern char **environ;

struct bench_group {
    struct bench_shared *shared;
    int fd;
    unsigned workers;
    pid_t pid[BENCH_WORKERS_MAX]; /* 0: not running */
};

/* False: one has ended, which none does by itself. */
static bool all_alive(struct bench_group *group)
{
    for (unsigned i = 0; i < group->workers; i++)
        if (group->pid[i] > 0 && waitpid(group->pid[i], NULL, WNOHANG) == group->pid[i]) {
            group->pid[i] = 0;
            return false;
        }
    return true;
}

/* Wait until so many workers have nothing under way. */
static bool await_parked(struct bench_group *group, unsigned count)
{
    int64_t limit_ns = bench_now_ns() + READY_LIMIT_MS * INT64_C(1000000);
    while (atomic_load(&group->shared->parked) < count) {
        if (!all_alive(group) || bench_now_ns() > limit_ns) {
            fprintf(stderr, "redlock-bench: a contending process is gone or stuck\n");
            return false;
        }
        bench_sleep_ms(1);
    }
    return true;
}

static void set_phase(struct bench_shared *shared, enum bench_phase phase)
{
    atomic_store(&shared->phase, (uint32_t)phase);
    bench_shared_wake(&shared->phase);
    bench_shared_wake(&shared->acquired);
}

static bool map(struct bench_group *group)
{
    int fd = memfd_create("redlock-bench", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    /* Above the number that workers know it by: dup2() to itself would leave it closed. */
    group->fd = fcntl(fd, F_DUPFD_CLOEXEC, BENCH_WORKER_FD + 1);
    close(fd);
    if (group->fd < 0 || ftruncate(group->fd, sizeof(struct bench_shared)) != 0)
        return false;
    void *memory = mmap(NULL, sizeof(struct bench_shared), PROT_READ | PROT_WRITE, MAP_SHARED,
                        group->fd, 0);
    group->shared = memory != MAP_FAILED ? memory : NULL;
    return memory != MAP_FAILED;
}

static int spawn(struct bench_group *group, unsigned index)
{
    char number[16];
    posix_spawn_file_actions_t actions;
    snprintf(number, sizeof(number), "%u", index);
    char program[] = "redlock-bench";
    char option[] = BENCH_WORKER_OPTION;
    char *argv[] = {program, option, number, NULL};
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawn_file_actions_adddup2(&actions, group->fd, BENCH_WORKER_FD);
    if (code == 0)
        code = posix_spawn(&group->pid[index], "/proc/self/exe", &actions, NULL, argv, environ);
    if (code != 0)
        group->pid[index] = 0;
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

int bench_group_start(const struct bench_group_plan *plan, struct bench_group **ret_group)
{
    struct bench_group *group = calloc(1, sizeof(*group));
    assert(plan->workers > 0 && plan->workers <= BENCH_WORKERS_MAX);
    if (group == NULL || !map(group)) {
        fprintf(stderr, "redlock-bench: no memory to share: %s\n", strerror(errno));
        bench_group_end(group);
        return EX_OSERR;
    }
    struct bench_shared *shared = group->shared;
    snprintf(shared->nodes_file, sizeof(shared->nodes_file), "%s", plan->bench->nodes_file);
    snprintf(shared->name, sizeof(shared->name), "%s", plan->name);
    shared->ttl_ms = TTL_MS;
    shared->hold_us = plan->hold_us;
    shared->parent = getpid();
    shared->workers = plan->workers;
    shared->guard_off = plan->bench->masters != NULL;
    shared->contender = plan->contender;
    shared->turns = plan->turns;
    for (unsigned i = 0; i < plan->workers; i++) {
        int code = spawn(group, i);
        group->workers = i + 1;
        if (code != 0)
            fprintf(stderr, "redlock-bench: cannot start a process: %s\n", strerror(code));
        unsigned ready = i + 1 == plan->workers     ? plan->workers
                         : i + 1 > STARTING_MAX - 1 ? i + 1 - (STARTING_MAX - 1)
                                                    : 0;
        if (code != 0 || !await_parked(group, ready)) {
            bench_group_end(group);
            return EX_OSERR;
        }
    }
    *ret_group = group;
    return 0;
}

static void clear(struct bench_shared *shared)
{
    atomic_store(&shared->releaser, 0);
    atomic_store(&shared->first_ns, 0);
    atomic_store(&shared->overlaps, 0);
    atomic_store(&shared->retaken, 0);
    atomic_store(&shared->handoffs, 0);
    memset(shared->work, 0, sizeof(shared->work));
}

bool bench_group_run(struct bench_group *group, int64_t duration_ms,
                     struct bench_samples *samples, struct bench_group_run *ret_run)
{
    struct bench_shared *shared = group->shared;
    clear(shared);
    int64_t start_ns = bench_now_ns();
    set_phase(shared, BENCH_RUN);
    bench_sleep_ms(duration_ms);
    set_phase(shared, BENCH_PARK);
    int64_t end_ns = bench_now_ns();
    if (!await_parked(group, group->workers))
        return false;
    *ret_run = (struct bench_group_run){.seconds = (double)(end_ns - start_ns) / 1e9};
    int64_t first_ns = atomic_load(&shared->first_ns);
    ret_run->first_ms = (double)((first_ns != 0 ? first_ns : end_ns) - start_ns) / 1e6;
    for (unsigned i = 0; i < group->workers; i++) {
        const struct bench_work *work = &shared->work[i];
        ret_run->acquired += work->acquired;
        ret_run->failures += work->failures;
        ret_run->commands += work->commands;
        ret_run->cpu_us += work->cpu_us;
        ret_run->of_worker[i] = work->acquired;
    }
    ret_run->retaken = atomic_load(&shared->retaken);
    ret_run->overlaps = atomic_load(&shared->overlaps);
    uint32_t handoffs = atomic_load(&shared->handoffs);
    for (uint32_t i = 0; samples != NULL && i < handoffs && i < BENCH_HANDOFFS_MAX; i++)
        bench_samples_add(samples, shared->handoff_ns[i]);
    return true;
}

void bench_group_end(struct bench_group *group)
{
    if (group == NULL)
        return;
    int64_t limit_ns = bench_now_ns() + READY_LIMIT_MS * INT64_C(1000000);
    if (group->shared != NULL)
        set_phase(group->shared, BENCH_END);
    for (unsigned i = 0; i < group->workers; i++)
        while (group->pid[i] > 0) {
            pid_t ended = waitpid(group->pid[i], NULL, WNOHANG);
            if (ended == group->pid[i] || (ended < 0 && errno != EINTR))
                group->pid[i] = 0;
            else if (bench_now_ns() > limit_ns)
                kill(group->pid[i], SIGKILL);
            if (group->pid[i] > 0)
                bench_sleep_ms(1);
        }
    if (group->shared != NULL)
        munmap(group->shared, sizeof(*group->shared));
    if (group->fd >= 0)
        close(group->fd);
    free(group);
}
