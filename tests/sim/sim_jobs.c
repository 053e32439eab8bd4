/* sim_jobs.c - see sim_jobs.h. A job tells how far it is in memory that it shares with its
 * parent, so that one that dies or hangs is known by the seed it was at. */
#include "config_auto.h"

#include "sim_jobs.h"

#include "sim_world.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TURN_NS 100000000L /* between looks at the jobs */
#define HANGS_S 60.0       /* of a processor's time; a seed takes milliseconds */
#define SLEEPS_S 600.0     /* a seed sleeps never, but may wait for a processor */

struct job {
    _Atomic uint64_t next; /* the seed that it is at */
    atomic_bool stop;      /* the parent's word */
    unsigned bad_count;
    struct sim_bad bad[SIM_BAD_MAX];
    struct sim_tally tally;
    /* the parent's own */
    pid_t pid;
    uint64_t seen;
    double seen_s, seen_core_s;
    bool hangs; /* and is ended for that */
};

static double clock_s(clockid_t clock)
{
    struct timespec now;
    if (clock_gettime(clock, &now))
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double now_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

/* Of a job that runs, so far. */
static double job_core_s(const struct job *job)
{
    clockid_t clock;
    return clock_getcpuclockid(job->pid, &clock) ? 0 : clock_s(clock);
}

static void see(struct job *job, uint64_t at)
{
    job->seen = at;
    job->seen_s = now_s();
    job->seen_core_s = job_core_s(job);
}

/* A machine that is busy with other things ends no seed. */
static bool hangs(const struct job *job)
{
    return job_core_s(job) - job->seen_core_s > HANGS_S || now_s() - job->seen_s > SLEEPS_S;
}

/* Of the jobs that have ended. */
static double core_s(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_CHILDREN, &usage))
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void keep(struct job *job, uint64_t seed, const char *text)
{
    if (job->bad_count < SIM_BAD_MAX) {
        struct sim_bad *bad = &job->bad[job->bad_count];
        bad->seed = seed;
        snprintf(bad->text, sizeof(bad->text), "%s", text);
    }
    job->bad_count++;
}

/* In the child: every jobs-th seed. */
_Noreturn static void work(const struct sim_run *run, struct job *job)
{
    uint64_t seed = atomic_load(&job->next);
    while (seed - run->first < run->seeds && !atomic_load(&job->stop)) {
        bool ended = sim_world_play(seed, &job->tally);
        if (sim_violated())
            keep(job, seed, sim_verdict()->text);
        bool bad = sim_violated();
        seed += run->jobs;
        atomic_store(&job->next, seed);
        if (!ended) /* the next ones need a fresh process */
            _exit(2);
        if (bad && !run->go_on)
            break;
    }
    _exit(0);
}

static int start(const struct sim_run *run, struct job *job)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        work(run, job);
    job->pid = pid; /* the child has this memory, too */
    job->hangs = false;
    see(job, atomic_load(&job->next));
    return pid < 0 ? -1 : 0;
}

static void died(const struct sim_run *run, struct job *job, int status)
{
    uint64_t seed = atomic_load(&job->next);
    char text[80];
    if (job->hangs)
        snprintf(text, sizeof(text), "watchdog (it took too long)");
    else if (WIFSIGNALED(status))
        snprintf(text, sizeof(text), "ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(text, sizeof(text), "ended with exit status %d", WEXITSTATUS(status));
    keep(job, seed, text);
    atomic_store(&job->next, seed + run->jobs);
}

/* Has it ended? And if so, must it go on in a new process? */
static bool tend(const struct sim_run *run, struct job *job)
{
    int status;
    pid_t got = waitpid(job->pid, &status, WNOHANG);
    uint64_t at = atomic_load(&job->next);
    if (got == 0) {
        if (at != job->seen)
            see(job, at);
        else if (!job->hangs && hangs(job)) {
            job->hangs = true;
            kill(job->pid, SIGABRT);
        }
        return true;
    }
    job->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return false;
    if (!(WIFEXITED(status) && WEXITSTATUS(status) == 2))
        died(run, job, status);
    if (!run->go_on)
        return false;
    return start(run, job) == 0;
}

static void show_progress(const struct sim_run *run, const struct job *jobs, double begun_s)
{
    uint64_t seeds = 0, acquired = 0;
    unsigned bad = 0;
    double passed_s = now_s() - begun_s;
    for (unsigned i = 0; i < run->jobs; i++) {
        seeds += jobs[i].tally.seeds;
        acquired += jobs[i].tally.acquired;
        bad += jobs[i].bad_count;
    }
    fprintf(stderr,
            "\r%" PRIu64 " of %" PRIu64 " seeds, %.0f a second, %" PRIu64
            " acquisitions, %u violations, %.0f s ",
            seeds, run->seeds, passed_s > 0 ? (double)seeds / passed_s : 0, acquired, bad,
            passed_s);
}

static void collect(const struct sim_run *run, const struct job *jobs,
                    struct sim_result *ret_result)
{
    for (unsigned i = 0; i < run->jobs; i++) {
        sim_tally_add(&ret_result->tally, &jobs[i].tally);
        for (unsigned k = 0; k < jobs[i].bad_count; k++) {
            if (k < SIM_BAD_MAX && ret_result->bad_count < SIM_BAD_MAX)
                ret_result->bad[ret_result->bad_count] = jobs[i].bad[k];
            ret_result->bad_count++;
        }
    }
}

static void tend_all(const struct sim_run *run, struct job *jobs, double begun_s)
{
    const struct timespec turn = {.tv_nsec = TURN_NS};
    unsigned running = run->jobs;
    while (running > 0) {
        bool late = run->limit_s > 0 && now_s() - begun_s > run->limit_s;
        bool stop = late;
        nanosleep(&turn, NULL);
        running = 0;
        for (unsigned i = 0; i < run->jobs; i++) {
            running += jobs[i].pid > 0 && tend(run, &jobs[i]);
            stop |= jobs[i].bad_count > 0 && !run->go_on;
        }
        for (unsigned i = 0; i < run->jobs && stop; i++)
            atomic_store(&jobs[i].stop, true);
        if (run->shows)
            show_progress(run, jobs, begun_s);
    }
    if (run->shows)
        fprintf(stderr, "\n");
}

int sim_jobs_run(const struct sim_run *run, struct sim_result *ret_result)
{
    size_t size = run->jobs * sizeof(struct job);
    double begun_s = now_s();
    struct job *jobs =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (jobs == MAP_FAILED)
        return -1;
    memset(ret_result, 0, sizeof(*ret_result));
    for (unsigned i = 0; i < run->jobs; i++) {
        atomic_store(&jobs[i].next, run->first + i);
        if (start(run, &jobs[i])) {
            while (i-- > 0)
                atomic_store(&jobs[i].stop, true);
            munmap(jobs, size);
            return -1;
        }
    }
    tend_all(run, jobs, begun_s);
    collect(run, jobs, ret_result);
    ret_result->pace = (struct sim_pace){now_s() - begun_s, core_s(), run->jobs};
    munmap(jobs, size);
    return 0;
}
