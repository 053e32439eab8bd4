/* bench.h - shared by the parts of redlock-bench: options, the masters to measure, drivers,
 * and the scenarios. A driver acquires and releases a lock: the library, or a floor.
 *
 *   main.c, options.c   the order of things, and the command line
 *   driver.c, slice.c   the library as a driver, the loop that times drivers, its results
 *   scenarios/          what is measured, a file each
 *   floor/              the least that a client could do, on raw sockets
 *   contenders/         processes that contend for one lock
 *   place/              the masters: their addresses, a delay before them, their CPU time
 *   report/             samples, figures, and how they are shown */
#ifndef BENCH_H
#define BENCH_H

#include "cluster/servers.h"
#include "bench/report/compare.h"
#include "bench/report/report.h"
#include "bench/report/stats.h"
#include "cluster/server_talk.h"

#include <redlock.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define BENCH_ROUNDS_MAX 100

struct bench_options {
    const char *nodes_file; /* NULL: private masters */
    unsigned masters;       /* how many of them */
    unsigned rounds;
    int64_t slice_ms; /* how long one driver is measured in one round */
    int64_t memory_pairs;
    int64_t down_tries;
    int64_t hold_ms;     /* how long the locks of `renew` are held */
    unsigned locks;      /* and how many */
    const char *svg;     /* NULL, or the file to draw into */
    const char *compare; /* NULL, or the output of an earlier run */
    unsigned scenarios;  /* bit i: row i of the table of scenarios */
    bool unix_sockets;
    bool pin;
    bool json;
    bool quick;
};

struct bench {
    struct bench_options options;
    struct servers *masters; /* NULL: somebody else's, named by a file */
    const char *nodes_file;  /* of either */
    struct server_at node[REDLOCK_NODES_MAX];
    unsigned nodes;
    unsigned needed;
    bool floors; /* false: a node is reached by TLS, where there is no floor to compare with */
    struct bench_machine machine;
    struct bench_olds olds;
    struct bench_report report;
};

/* -1: go on. Else leave with this status; help, or an error, has been written. */
int bench_options_parse(struct bench_options *options, int argc, char **argv);

/* One way to acquire and release a lock: the library's, or a floor's. */
struct bench_driver {
    const char *name;
    void *context;
    bool (*acquire)(void *context);
    bool (*release)(void *context);
};

/* One slice of one driver. */
struct bench_slice {
    uint64_t pairs;
    uint64_t failures;
    double seconds;
    double cpu_us;     /* of this process, kernel included, for the whole slice */
    double masters_us; /* the same of all private masters; or BENCH_NOT_KNOWN */
};

#define BENCH_NOT_KNOWN (-1.0)

/* What was used up before a slice. */
struct bench_meter {
    double masters_us;
    double cpu_us;
    int64_t start_ns;
};
struct bench_meter bench_meter_start(void);

/* Set what the slice took, which ends at `end_ns`. Its pairs are counted by the caller. */
void bench_meter_stop(const struct bench_meter *meter, int64_t end_ns,
                      struct bench_slice *slice);

/* Pairs on many names at once, as the library's loop and the floor's count them. */
struct bench_many {
    int64_t now_ns; /* read once a turn */
    int64_t end_ns; /* no pair begins or counts from here on */
    unsigned in_flight;
    struct bench_slice slice;
    struct bench_samples *samples; /* NULL: nobody wants them */
};
struct bench_many_way {
    void *context;
    void (*begin)(void *context, unsigned slot);
    bool (*turn)(void *context); /* false: nothing will come any more */
};

/* Keep pairs on `slots` names going for so long, then wait untimed until none is left. */
struct bench_slice bench_many_run(struct bench_many *many, const struct bench_many_way *way,
                                  unsigned slots, int64_t duration_ms,
                                  struct bench_samples *samples);

/* Acquire and release until `duration_ms` have passed and `pairs_min` were done. The time of
 * each successful acquire goes to `samples`, unless that is NULL. */
struct bench_slice bench_measure(const struct bench_driver *driver, int64_t duration_ms,
                                 uint64_t pairs_min, struct bench_samples *samples);

/* Add a slice to the sums of its driver's other slices. */
void bench_slice_add(struct bench_slice *total, struct bench_slice slice);

/* The figures of one driver, a value a round. */
struct bench_series {
    double pairs[BENCH_ROUNDS_MAX];      /* a second */
    double cpu_us[BENCH_ROUNDS_MAX];     /* a pair */
    double masters_us[BENCH_ROUNDS_MAX]; /* a pair; below 0: not known */
    double p50_us[BENCH_ROUNDS_MAX];     /* of the samples */
    double p99_us[BENCH_ROUNDS_MAX];
    double failures; /* of all rounds */
};

/* The values of a round: of all its slices together, and their samples. */
void bench_series_set(struct bench_series *series, unsigned round,
                      const struct bench_slice *total, struct bench_samples *samples);

/* The library as a driver. Its options may be changed between slices. */
struct bench_library {
    redlock *client;
    redlock_lock *lock;
    redlock_options options;
    const char *name;
    int code; /* the last acquire's result */
};

/* The configuration of every client of a run: the nodes. For private masters there is no
 * restart guard, because they have only just been started. */
redlock_config bench_config(const struct bench *bench);

/* The same with one private master alone, whose addresses are in `node` and `url`. */
#define BENCH_URL_MAX 512
redlock_config bench_config_of_one(const struct bench *bench, const struct server_at *at,
                                   redlock_node *node, char url[BENCH_URL_MAX]);

/* 0, or an exit status after a line on stderr. Waits until every master votes. It is closed by
 * bench_end_all(). */
int bench_library_open(const redlock_config *config, const char *name, int64_t ttl_ms,
                       struct bench_library *ret_library);
struct bench_driver bench_library_driver(struct bench_library *library);

/* Talk to a master until bench_end_all(). False: a line is on stderr. */
bool bench_talk_open(struct server_talk *talk, const struct bench *bench, unsigned node);

/* Acquire the lock and release it, to learn the form of a token. 0, or an exit status after a
 * line on stderr. */
int bench_library_token(struct bench_library *library, char *ret_token, size_t size);

/* False: a thread could not be had; a line is on stderr. */
bool bench_thread_start(pthread_t *ret_thread, void *(*run)(void *), void *context);

/* Wait until every master votes. False: that took more than 10 s; a line is on stderr. */
bool bench_library_await(struct bench_library *library);

#define BENCH_SCENARIOS 16

struct bench_scenario {
    const char *name;
    int (*run)(struct bench *bench);
    bool private_only; /* it kills and stops masters, or needs them near */
};

extern const struct bench_scenario bench_scenarios[BENCH_SCENARIOS];

/* The scenarios: each adds its figures to the report. 0, or an exit status after a line on
 * stderr. Only a scenario that could not be measured is an error, never a slow one. */
int bench_run_pair(struct bench *bench);
int bench_run_memory(struct bench *bench);
int bench_run_fanout(struct bench *bench);
int bench_run_down(struct bench *bench);
int bench_run_stall(struct bench *bench);
int bench_run_rollback(struct bench *bench);
int bench_run_inflight(struct bench *bench);
int bench_run_threads(struct bench *bench);
int bench_run_handoff(struct bench *bench);
int bench_run_contention(struct bench *bench);
int bench_run_renew(struct bench *bench);
int bench_run_async_release(struct bench *bench);
int bench_run_rw(struct bench *bench);
int bench_run_fair(struct bench *bench);
int bench_run_kinds(struct bench *bench);
int bench_run_start(struct bench *bench);

#endif
