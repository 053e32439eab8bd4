/* start.c - what a lock for one command costs: `redlock run NAME -- true` from its start to its
 * end, next to flock(1), which asks nobody, and to true alone. */
#include "config_auto.h"

#include "bench/bench.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#define RUNS 50 /* of each program, a round */
#define RUNS_QUICK 2
#define DRIVERS 3
#define ARGS 8
#define AIM_MS 5

enum { OURS, FLOCK, ALONE };

static const char scenario[] = "run: a program for each lock";
static const char *const of[DRIVERS] = {"redlock run", "flock", "no lock"};

struct start_run {
    struct bench *bench;
    char program[PATH_MAX]; /* redlock(1) */
    char file[PATH_MAX];    /* that flock locks */
    const char *argv[DRIVERS][ARGS];
    bool there[DRIVERS];
    struct bench_samples samples[DRIVERS];
    double ms[DRIVERS][BENCH_ROUNDS_MAX];
    double cpu_ms[DRIVERS][BENCH_ROUNDS_MAX];
};

static double ms_of(struct timeval time)
{
    return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

/* Its exit status; -1: it can't be started, or was ended by a signal. */
static int run_once(const char *const *argv, int64_t *ret_ns, double *ret_cpu_ms)
{
    extern char **environ;
    struct rusage used;
    pid_t pid;
    int status;
    int64_t start_ns = bench_now_ns();
    if (posix_spawnp(&pid, argv[0], NULL, NULL, (char **)(uintptr_t)argv, environ) != 0)
        return -1;
    while (wait4(pid, &status, 0, &used) < 0)
        if (errno != EINTR)
            return -1;
    *ret_ns = bench_now_ns() - start_ns;
    *ret_cpu_ms = ms_of(used.ru_utime) + ms_of(used.ru_stime);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The programs take turns, for the machine's speed changes by the second. */
static bool measure_round(struct start_run *run, unsigned round)
{
    unsigned runs = run->bench->options.quick ? RUNS_QUICK : RUNS;
    double cpu_ms[DRIVERS] = {0};
    for (unsigned i = 0; i < DRIVERS; i++)
        bench_samples_clear(&run->samples[i]);
    for (unsigned at = 0; at < runs * DRIVERS; at++) {
        unsigned which = (at + at / DRIVERS) % DRIVERS;
        int64_t ns;
        double used_ms;
        if (!run->there[which])
            continue;
        int status = run_once(run->argv[which], &ns, &used_ms);
        if (status != 0) {
            fprintf(stderr, "redlock-bench: %s ended with %d\n", run->argv[which][0], status);
            return false;
        }
        bench_samples_add(&run->samples[which], ns);
        cpu_ms[which] += used_ms;
    }
    for (unsigned i = 0; i < DRIVERS; i++) {
        run->ms[i][round] = bench_percentile_us(&run->samples[i], 500) / 1e3;
        run->cpu_ms[i][round] = cpu_ms[i] / runs;
    }
    return true;
}

static void report(struct start_run *run)
{
    struct bench_report *to = &run->bench->report;
    unsigned rounds = run->bench->options.rounds;
    if (run->there[FLOCK])
        bench_add_ratio(to, scenario, "p50, redlock run to", of[FLOCK], run->ms[OURS],
                        run->ms[FLOCK], rounds);
    for (unsigned i = 0; i < DRIVERS; i++) {
        if (!run->there[i])
            continue;
        bench_add(to, scenario, "p50", of[i], "ms", bench_summarise(run->ms[i], rounds));
        if (i == OURS)
            bench_aim(to, BENCH_AT_MOST, AIM_MS);
    }
    for (unsigned i = 0; i < DRIVERS; i++)
        if (run->there[i])
            bench_add(to, scenario, "CPU", of[i], "ms",
                      bench_summarise(run->cpu_ms[i], rounds));
}

/* redlock(1) is beside this program. */
static bool find_program(char *ret_program, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", ret_program, size - sizeof("redlock"));
    char *slash = len > 0 ? memrchr(ret_program, '/', (size_t)len) : NULL;
    if (slash != NULL)
        memcpy(slash, "/redlock", sizeof("/redlock"));
    return slash != NULL && access(ret_program, X_OK) == 0;
}

/* Private masters have no restart guard: their node list says so in a file of ours, which is
 * what flock locks, too. */
static bool make_file(struct start_run *run)
{
    const char *dir = getenv("TMPDIR");
    snprintf(run->file, sizeof(run->file), "%.4000s/redlock-bench-run-XXXXXX",
             dir != NULL && *dir != '\0' ? dir : "/tmp");
    int fd = mkstemp(run->file);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    FILE *from = fopen(run->bench->nodes_file, "re");
    for (int byte; from != NULL && to != NULL && (byte = fgetc(from)) != EOF;)
        fputc(byte, to);
    if (to != NULL)
        fputs("guard off\n", to);
    bool fine = to != NULL && from != NULL && ferror(to) == 0 && ferror(from) == 0;
    if (from != NULL)
        fclose(from);
    if (to != NULL)
        fine = fclose(to) == 0 && fine;
    if (!fine)
        fprintf(stderr, "redlock-bench: cannot write %s: %s\n", run->file, strerror(errno));
    return fine;
}

static void choose_programs(struct start_run *run)
{
    const char *nodes = run->bench->masters != NULL ? run->file : run->bench->nodes_file;
    const char *const argv[DRIVERS][ARGS] = {
        {run->program, "run", "-n", nodes, "redlock-bench:run", "--", "true"},
        {"flock", run->file, "true"},
        {"true"},
    };
    int64_t ns;
    double cpu_ms;
    memcpy(run->argv, argv, sizeof(argv));
    run->there[OURS] = run->there[ALONE] = true;
    run->there[FLOCK] = run_once(run->argv[FLOCK], &ns, &cpu_ms) == 0;
    if (!run->there[FLOCK])
        bench_note(&run->bench->report, "run: there is no flock(1) to compare with");
}

static int measure_all(struct start_run *run)
{
    bool fine = make_file(run);
    if (fine)
        choose_programs(run);
    for (unsigned round = 0; round < run->bench->options.rounds && fine; round++)
        fine = measure_round(run, round);
    if (fine)
        report(run);
    unlink(run->file);
    return fine ? 0 : EX_OSERR;
}

int bench_run_start(struct bench *bench)
{
    struct start_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init_all(run->samples, DRIVERS, RUNS))
        return EX_OSERR;
    run->bench = bench;
    if (!find_program(run->program, sizeof(run->program))) {
        bench_note(&bench->report,
                   "run: left out, because redlock(1) is not beside this program");
        return 0;
    }
    return measure_all(run);
}
