/* rw.c - readers in a tight loop, each with a client of its own, and a writer that wants the
 * same lock. How long must it wait, in holds of the readers? */
#include "config_auto.h"

#include "bench/bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define TTL_MS 10000
#define READERS 8
#define HOLD_US 5000
#define WRITE_US 500
#define REST_US 5000 /* of the writer, at least, in which the readers are alone */
#define REST_MORE_US 10000
#define REST_STEP_US 3701
#define SAMPLES_MAX 65536

static const char scenario[] =
    "rw: a writer among 8 readers in a tight loop, who hold for 5 ms";

struct rw_run;

struct reader {
    struct rw_run *run;
    struct bench_library library;
    pthread_t thread;
    uint64_t failures;
};

struct rw_run {
    struct bench *bench;
    struct reader reader[READERS];
    struct bench_library writer;
    unsigned started;
    atomic_bool over;
    atomic_uint inside;  /* readers that have the lock */
    atomic_ullong begun; /* holds of readers */
    struct bench_samples waits;
    struct bench_samples ahead; /* holds that were begun while the writer waited */
    double p50[BENCH_ROUNDS_MAX], p99[BENCH_ROUNDS_MAX], longest[BENCH_ROUNDS_MAX];
    double passed[BENCH_ROUNDS_MAX], reads[BENCH_ROUNDS_MAX], writes[BENCH_ROUNDS_MAX];
    double overlaps, failures;
    size_t fewest; /* waits in a round */
};

static void *read_on(void *context)
{
    struct reader *reader = context;
    struct rw_run *run = reader->run;
    struct bench_driver driver = bench_library_driver(&reader->library);
    while (!atomic_load(&run->over)) {
        if (!driver.acquire(driver.context)) {
            reader->failures++;
            continue;
        }
        atomic_fetch_add(&run->inside, 1);
        atomic_fetch_add(&run->begun, 1);
        usleep(HOLD_US);
        atomic_fetch_sub(&run->inside, 1);
        reader->failures += !driver.release(driver.context);
    }
    return NULL;
}

static void write_once(struct rw_run *run)
{
    struct bench_driver driver = bench_library_driver(&run->writer);
    uint64_t begun = atomic_load(&run->begun);
    int64_t start_ns = bench_now_ns();
    if (!driver.acquire(driver.context)) {
        run->failures++;
        return;
    }
    bench_samples_add(&run->waits, bench_now_ns() - start_ns);
    bench_samples_add(&run->ahead, (int64_t)(atomic_load(&run->begun) - begun) * 1000);
    run->overlaps += atomic_load(&run->inside) != 0;
    usleep(WRITE_US);
    run->overlaps += atomic_load(&run->inside) != 0;
    run->failures += !driver.release(driver.context);
}

static void measure_round(struct rw_run *run, unsigned round)
{
    int64_t start_ns = bench_now_ns();
    int64_t end_ns = start_ns + run->bench->options.slice_ms * INT64_C(1000000);
    uint64_t begun = atomic_load(&run->begun);
    bench_samples_clear(&run->waits);
    bench_samples_clear(&run->ahead);
    do {
        /* At any time of the readers' holds, which began together. */
        usleep(REST_US + (unsigned)(run->waits.count * REST_STEP_US % REST_MORE_US));
        write_once(run);
    } while (bench_now_ns() < end_ns);
    double seconds = (double)(bench_now_ns() - start_ns) / 1e9;
    if (round == 0 || run->waits.count < run->fewest)
        run->fewest = run->waits.count;
    run->p50[round] = bench_percentile_us(&run->waits, 500) / HOLD_US;
    run->p99[round] = bench_percentile_us(&run->waits, 990) / HOLD_US;
    run->longest[round] = bench_percentile_us(&run->waits, 1000) / HOLD_US;
    run->passed[round] = bench_percentile_us(&run->ahead, 990);
    run->reads[round] = (double)(atomic_load(&run->begun) - begun) / seconds;
    run->writes[round] = (double)run->waits.count / seconds;
}

static void add(struct rw_run *run, const char *masters, const char *what, const char *unit,
                double *values)
{
    char text[56];
    snprintf(text, sizeof(text), "%s: %s", masters, what);
    bench_add(&run->bench->report, scenario, text, "library", unit,
              bench_summarise(values, run->bench->options.rounds));
}

static void report(struct rw_run *run, const char *masters)
{
    struct bench_report *to = &run->bench->report;
    char text[56];
    add(run, masters, "the writer waits, p50", "holds", run->p50);
    add(run, masters, "the writer waits, p99", "holds", run->p99);
    bench_of_samples(to, run->fewest);
    bench_aim(to, BENCH_AT_MOST, 2);
    add(run, masters, "the writer waits, longest", "holds", run->longest);
    add(run, masters, "reads begun meanwhile, p99", "count", run->passed);
    add(run, masters, "reads", "1/s", run->reads);
    add(run, masters, "writes", "1/s", run->writes);
    snprintf(text, sizeof(text), "%s: read while it was written", masters);
    bench_add(to, scenario, text, "library", "times", bench_summary_of(run->overlaps));
    bench_aim(to, BENCH_AT_MOST, 0);
    snprintf(text, sizeof(text), "%s: failed calls", masters);
    bench_add(to, scenario, text, "library", "calls", bench_summary_of(run->failures));
    bench_aim(to, BENCH_AT_MOST, 0);
}

static int open_one(const redlock_config *config, int kind, struct bench_library *library)
{
    int status = bench_library_open(config, "redlock-bench:rw", TTL_MS, library);
    library->options.kind = kind;
    library->options.wait_ms = REDLOCK_FOREVER;
    return status;
}

static int open_all(struct rw_run *run, const redlock_config *config)
{
    int status = open_one(config, REDLOCK_WRITE, &run->writer);
    for (unsigned i = 0; i < READERS && status == 0; i++) {
        run->reader[i].run = run;
        status = open_one(config, REDLOCK_READ, &run->reader[i].library);
    }
    for (unsigned i = 0; i < READERS && status == 0; i++) {
        if (bench_thread_start(&run->reader[i].thread, read_on, &run->reader[i]))
            run->started++;
        else
            status = EX_OSERR;
    }
    return status;
}

static void end_readers(struct rw_run *run)
{
    atomic_store(&run->over, true);
    for (unsigned i = 0; i < run->started; i++) {
        pthread_join(run->reader[i].thread, NULL);
        run->failures += (double)run->reader[i].failures;
    }
}

static int measure(struct bench *bench, const redlock_config *config, const char *masters)
{
    struct rw_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init(&run->waits, SAMPLES_MAX) ||
        !bench_samples_init(&run->ahead, SAMPLES_MAX))
        return EX_OSERR;
    run->bench = bench;
    int status = open_all(run, config);
    if (status == 0) {
        write_once(run); /* subscriptions are made by now */
        run->overlaps = run->failures = 0;
        for (unsigned round = 0; round < run->bench->options.rounds; round++)
            measure_round(run, round);
    }
    end_readers(run);
    if (status == 0)
        report(run, masters);
    bench_end_all();
    return status;
}

int bench_run_rw(struct bench *bench)
{
    redlock_node node = REDLOCK_NODE_INIT;
    char url[BENCH_URL_MAX], masters[24];
    redlock_config all = bench_config(bench);
    redlock_config first = bench_config_of_one(bench, &bench->node[0], &node, url);
    int status = 0;
    /* Somebody else's masters are known by their file: how to log in is in there, too. */
    if (bench->masters != NULL)
        status = measure(bench, &first, "1 master");
    snprintf(masters, sizeof(masters), "%u master%s", bench->nodes,
             bench->nodes == 1 ? "" : "s");
    if (status == 0 && (bench->masters == NULL || bench->nodes > 1))
        status = measure(bench, &all, masters);
    return status;
}
