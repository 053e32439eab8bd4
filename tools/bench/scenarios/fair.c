/* fair.c - fifty waiters for one fair lock, each with a client of its own. Are they served in
 * the order they came, and how many round trips are between two releases?
 *
 * On this machine a round trip is shorter than a script with fifty in the queue. There the
 * floor is fifty waiters that send the same on raw sockets. A second run delays replies and
 * messages by a millisecond. */
#include "config_auto.h"

#include "bench/bench.h"
#include "bench/place/delay.h"
#include "bench/floor/floor_fair.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#define NAME "redlock-bench:fair"
#define QUEUE "redisson_lock_queue:{" NAME "}"
#define TTL_MS 10000
#define WAITERS 50
#define HOLD_US 1000
#define SETTLE_US 20000 /* until the last one listens */
#define ENTER_LIMIT_NS INT64_C(5000000000)
#define SAMPLES_MAX 65536
#define PINGS 200

#define FAR_MS 1

static const char scenario[] = "fair: 50 wait for a lock that each holds for 1 ms, on 1 master";

enum { LIBRARY, FLOOR, DRIVERS };

struct fair_run;

struct waiter {
    struct fair_run *run;
    struct bench_library library;
    struct bench_floor_fair *floor;
    pthread_t thread;
    sem_t go;
    unsigned place; /* in the queue of this lap */
};

struct fair_run {
    struct bench *bench;
    const char *way;
    bool far; /* there is no floor */
    struct waiter waiter[WAITERS];
    struct bench_library holder;
    struct bench_floor_fair *floor_holder;
    struct server_talk talk;
    unsigned which; /* of the drivers has this lap */
    sem_t done;
    atomic_bool over;
    atomic_uint acquired; /* in this lap */
    atomic_llong left_ns; /* when the last one gave it back */
    atomic_uint misplaced, failures;
    unsigned started;
    struct bench_samples handoffs[DRIVERS], pings;
    pthread_mutex_t mutex; /* of the samples */
    double p50[DRIVERS][BENCH_ROUNDS_MAX], p99[BENCH_ROUNDS_MAX], longest[BENCH_ROUNDS_MAX];
    double trip[BENCH_ROUNDS_MAX];
};

static struct bench_driver driver_of(const struct fair_run *run, struct bench_library *library,
                                     struct bench_floor_fair *floor)
{
    return run->which == FLOOR ? bench_floor_fair_driver(floor) : bench_library_driver(library);
}

static void take_turn(struct waiter *waiter)
{
    struct fair_run *run = waiter->run;
    struct bench_driver driver = driver_of(run, &waiter->library, waiter->floor);
    if (!driver.acquire(driver.context)) {
        atomic_fetch_add(&run->failures, 1);
        return;
    }
    int64_t now_ns = bench_now_ns();
    if (atomic_fetch_add(&run->acquired, 1) != waiter->place)
        atomic_fetch_add(&run->misplaced, 1);
    pthread_mutex_lock(&run->mutex);
    bench_samples_add(&run->handoffs[run->which], now_ns - atomic_load(&run->left_ns));
    pthread_mutex_unlock(&run->mutex);
    usleep(HOLD_US);
    atomic_store(&run->left_ns, bench_now_ns());
    if (!driver.release(driver.context))
        atomic_fetch_add(&run->failures, 1);
}

static void *take_turns(void *context)
{
    struct waiter *waiter = context;
    for (;;) {
        while (sem_wait(&waiter->go) != 0)
            ;
        if (atomic_load(&waiter->run->over))
            return NULL;
        take_turn(waiter);
        sem_post(&waiter->run->done);
    }
}

/* Is the waiter in the queue? */
static bool await_queued(struct fair_run *run, unsigned count)
{
    char text[32] = "";
    int64_t limit_ns = bench_now_ns() + ENTER_LIMIT_NS;
    while (bench_now_ns() < limit_ns) {
        if (server_talk_say(&run->talk, "LLEN " QUEUE, text, sizeof(text)) == 0)
            return false;
        if (strtoul(text, NULL, 10) == count)
            return true;
    }
    return false;
}

/* One lap. One waiter has the lock, and the others queue one by one, each time another one
 * first. Then the lock is given back, and goes from hand to hand. */
static bool run_lap(struct fair_run *run, unsigned which, unsigned first)
{
    run->which = which;
    struct bench_driver holder = driver_of(run, &run->holder, run->floor_holder);
    bool fine = holder.acquire(holder.context);
    unsigned came = 0;
    atomic_store(&run->acquired, 0);
    for (; fine && came < WAITERS; came++) {
        struct waiter *waiter = &run->waiter[(first + came) % WAITERS];
        waiter->place = came;
        sem_post(&waiter->go);
        fine = await_queued(run, came + 1);
    }
    usleep(SETTLE_US);
    atomic_store(&run->left_ns, bench_now_ns());
    fine = holder.release(holder.context) && fine;
    for (unsigned i = 0; i < came; i++) {
        while (sem_wait(&run->done) != 0)
            ;
    }
    return fine;
}

static double round_trip_us(struct fair_run *run)
{
    char text[32];
    bench_samples_clear(&run->pings);
    for (unsigned i = 0; i < PINGS; i++) {
        int64_t sent_ns = bench_now_ns();
        server_talk_say(&run->talk, "PING", text, sizeof(text));
        bench_samples_add(&run->pings, bench_now_ns() - sent_ns);
    }
    return bench_percentile_us(&run->pings, 500);
}

static bool measure_round(struct fair_run *run, unsigned round)
{
    int64_t end_ns = bench_now_ns() + run->bench->options.slice_ms * INT64_C(1000000);
    bool fine = true;
    unsigned lap = 0;
    for (unsigned i = 0; i < DRIVERS; i++)
        bench_samples_clear(&run->handoffs[i]);
    do {
        unsigned first = lap++ * 7 % WAITERS;
        fine = run_lap(run, LIBRARY, first) && (run->far || run_lap(run, FLOOR, first));
    } while (fine && bench_now_ns() < end_ns);
    for (unsigned i = 0; i < DRIVERS; i++)
        run->p50[i][round] = bench_percentile_us(&run->handoffs[i], 500);
    run->p99[round] = bench_percentile_us(&run->handoffs[LIBRARY], 990);
    run->longest[round] = bench_percentile_us(&run->handoffs[LIBRARY], 1000);
    run->trip[round] = round_trip_us(run);
    return fine;
}

static void add(struct fair_run *run, const char *what, const char *of, double *values)
{
    char text[56];
    snprintf(text, sizeof(text), "%s: %s", run->way, what);
    bench_add(&run->bench->report, scenario, text, of, "us",
              bench_summarise(values, run->bench->options.rounds));
}

static void add_count(struct fair_run *run, const char *what, const char *unit, unsigned count)
{
    char text[56];
    snprintf(text, sizeof(text), "%s: %s", run->way, what);
    bench_add(&run->bench->report, scenario, text, "library", unit, bench_summary_of(count));
    bench_aim(&run->bench->report, BENCH_AT_MOST, 0);
}

static void report(struct fair_run *run)
{
    struct bench_report *to = &run->bench->report;
    char text[56];
    snprintf(text, sizeof(text), "%s: hand-off, p50, to a round trip", run->way);
    bench_add_ratio(to, scenario, text, "PING", run->p50[LIBRARY], run->trip,
                    run->bench->options.rounds);
    if (run->far)
        bench_aim(to, BENCH_AT_MOST, 3);
    add(run, "hand-off, p50", "library", run->p50[LIBRARY]);
    if (!run->far) {
        snprintf(text, sizeof(text), "%s: hand-off, p50, library to floor", run->way);
        bench_add_ratio(to, scenario, text, "same scripts", run->p50[LIBRARY], run->p50[FLOOR],
                        run->bench->options.rounds);
        add(run, "hand-off, p50", "floor, same scripts", run->p50[FLOOR]);
    }
    add(run, "hand-off, p99", "library", run->p99);
    add(run, "hand-off, the longest", "library", run->longest);
    add(run, "round trip, p50", "PING", run->trip);
    add_count(run, "served out of turn", "times", atomic_load(&run->misplaced));
    add_count(run, "failed calls", "calls", atomic_load(&run->failures));
}

static int open_one(const redlock_config *config, struct bench_library *library)
{
    int status = bench_library_open(config, NAME, TTL_MS, library);
    if (status == 0) {
        library->options.kind = REDLOCK_FAIR;
        library->options.wait_ms = REDLOCK_FOREVER;
    }
    return status;
}

static bool open_floor(const struct fair_run *run, const struct server_at *at, unsigned number,
                       struct bench_floor_fair **ret_floor)
{
    *ret_floor = run->far ? NULL : bench_floor_fair_open(at, NAME, number, TTL_MS);
    return run->far || *ret_floor != NULL;
}

static int open_all(struct fair_run *run, const redlock_config *config,
                    const struct server_at *at)
{
    int status = open_one(config, &run->holder);
    if (status == 0 && (!server_talk_open(&run->talk, at) ||
                        !open_floor(run, at, WAITERS, &run->floor_holder)))
        status = EX_OSERR;
    for (unsigned i = 0; i < WAITERS && status == 0; i++) {
        struct waiter *waiter = &run->waiter[i];
        waiter->run = run;
        sem_init(&waiter->go, 0, 0);
        status = open_one(config, &waiter->library);
        if (status == 0 && open_floor(run, at, i, &waiter->floor) &&
            bench_thread_start(&waiter->thread, take_turns, waiter))
            run->started++;
        else if (status == 0)
            status = EX_OSERR;
    }
    return status;
}

static void end_waiters(struct fair_run *run)
{
    atomic_store(&run->over, true);
    for (unsigned i = 0; i < run->started; i++) {
        sem_post(&run->waiter[i].go);
        pthread_join(run->waiter[i].thread, NULL);
    }
    server_talk_close(&run->talk);
}

static int measure(struct fair_run *run, const struct server_at *at)
{
    redlock_node node = REDLOCK_NODE_INIT;
    char url[BENCH_URL_MAX];
    redlock_config config = bench_config_of_one(run->bench, at, &node, url);
    int status = open_all(run, &config, at);
    /* All connect, and listen for the first time. */
    bool fine = status == 0 && run_lap(run, LIBRARY, 0) && (run->far || run_lap(run, FLOOR, 0));
    for (unsigned round = 0; round < run->bench->options.rounds && fine; round++)
        fine = measure_round(run, round);
    end_waiters(run);
    if (fine)
        report(run);
    bench_end_all();
    return status == 0 && !fine ? EX_OSERR : status;
}

static struct fair_run *new_run(struct bench *bench, const char *way)
{
    struct fair_run *run = bench_room(sizeof(*run));
    if (run == NULL || !bench_samples_init_all(run->handoffs, DRIVERS, SAMPLES_MAX) ||
        !bench_samples_init(&run->pings, PINGS))
        return NULL;
    run->bench = bench;
    run->way = way;
    run->talk.fd = -1;
    sem_init(&run->done, 0, 0);
    pthread_mutex_init(&run->mutex, NULL);
    return run;
}

static int run_one(struct bench *bench, const char *way, const struct server_at *at, bool far)
{
    struct fair_run *run = new_run(bench, way);
    if (run == NULL)
        return EX_OSERR;
    run->far = far;
    return measure(run, at);
}

int bench_run_fair(struct bench *bench)
{
    int status = run_one(bench, "near", &bench->node[0], false);
    if (status != 0)
        return status;
    struct bench_delay *delay = bench_delay_start(&bench->node[0], 1, FAR_MS);
    if (delay == NULL) {
        perror("redlock-bench: a proxy");
        return EX_OSERR;
    }
    struct server_at at = {.host = "127.0.0.1", .port = bench_delay_port(delay, 0)};
    status = run_one(bench, "1 ms away", &at, true);
    bench_delay_end(delay);
    return status;
}
