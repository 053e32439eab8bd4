/* kinds.c - one pair at a time of each kind of lock, next to a floor that sends the same
 * scripts with the same bytes. The difference is the library's own cost. */
#include "config_auto.h"

#include "bench/floor/floor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000
#define STRICT_TTL_MS 1000
#define WARM_UP_PAIRS 200
#define TRIES 1000 /* whose round trips are counted */
#define SLICES 10  /* a round and driver, in turns */

/* As long as the library's: a client's identity and a thread's number. */
#define OWNER "01234567-0123-0123-0123-0123456789ab:1"

enum { LIBRARY, FLOOR, DRIVERS };

static const char scenario[] = "kinds: one try and release at a time";

static const struct {
    const char *name;
    int kind;
    bool one_master; /* else on all there are */
    bool fenced;
} measured[] = {
    {"plain", REDLOCK_PLAIN, false, false},
    {"plain, fenced", REDLOCK_PLAIN, false, true},
    {"reentrant", REDLOCK_REENTRANT, false, false},
    {"read", REDLOCK_READ, false, false},
    {"write", REDLOCK_WRITE, false, false},
    {"reentrant, one master", REDLOCK_REENTRANT, true, false},
    {"fair, one master", REDLOCK_FAIR, true, false},
    {"read, one master", REDLOCK_READ, true, false},
    {"write, one master", REDLOCK_WRITE, true, false},
};

/* What the rounds of one kind were: pairs a second, and the client's CPU time for each. */
struct rounds {
    double ours[BENCH_ROUNDS_MAX], least[BENCH_ROUNDS_MAX];
    double ours_us[BENCH_ROUNDS_MAX], least_us[BENCH_ROUNDS_MAX];
    double failures;
};

/* The drivers take turns, as in pair.c, and each kind's ratio is of one round. */
static void measure_round(const struct bench *bench, struct bench_driver driver[DRIVERS],
                          unsigned round, struct rounds *ret)
{
    struct bench_slice total[DRIVERS] = {{0}};
    for (unsigned turn = 0; turn < SLICES; turn++) {
        for (unsigned i = 0; i < DRIVERS; i++) {
            unsigned which = (turn + i) % DRIVERS;
            int64_t slice_ms = bench->options.slice_ms / (SLICES * 4);
            bench_slice_add(&total[which], bench_measure(&driver[which], slice_ms, 1, NULL));
        }
    }
    ret->failures += (double)(total[LIBRARY].failures + total[FLOOR].failures);
    ret->ours[round] = (double)total[LIBRARY].pairs / total[LIBRARY].seconds;
    ret->least[round] = (double)total[FLOOR].pairs / total[FLOOR].seconds;
    ret->ours_us[round] = total[LIBRARY].cpu_us / (double)total[LIBRARY].pairs;
    ret->least_us[round] = total[FLOOR].cpu_us / (double)total[FLOOR].pairs;
}

static void measure_rounds(const struct bench *bench, struct bench_driver driver[DRIVERS],
                           struct rounds *ret)
{
    *ret = (struct rounds){.failures = 0};
    for (unsigned i = 0; i < DRIVERS; i++)
        bench_measure(&driver[i], 0, WARM_UP_PAIRS, NULL);
    for (unsigned round = 0; round < bench->options.rounds; round++)
        measure_round(bench, driver, round, ret);
}

static void measure(struct bench *bench, const struct bench *on, size_t which,
                    struct bench_library *library, struct bench_floor *floor)
{
    struct rounds rounds;
    struct bench_report *to = &bench->report;
    const char *of = measured[which].name;
    unsigned count = bench->options.rounds;
    struct bench_driver driver[DRIVERS] = {bench_library_driver(library),
                                           bench_floor_driver(floor)};
    measure_rounds(on, driver, &rounds);
    bench_add_ratio(to, scenario, "pairs a second, library to same bytes", of, rounds.ours,
                    rounds.least, count);
    bench_aim(to, BENCH_AT_LEAST, 0.85);
    bench_add(to, scenario, "pairs a second", of, "1/s", bench_summarise(rounds.ours, count));
    bench_add_ratio(to, scenario, "client CPU a pair, library to same bytes", of,
                    rounds.ours_us, rounds.least_us, count);
    bench_add(to, scenario, "client CPU a pair", of, "us",
              bench_summarise(rounds.ours_us, count));
    bench_add_failed_pairs(to, scenario, "", of, rounds.failures);
}

/* Is an acquire with a fencing token one request to each master? Where no majority names the
 * same token, another one follows. -1: it failed. */
static int one_round_trip(struct bench_library *library, unsigned nodes)
{
    struct bench_driver driver = bench_library_driver(library);
    redlock_stats before = REDLOCK_STATS_INIT, after = REDLOCK_STATS_INIT;
    redlock_get_stats(library->client, &before);
    if (!driver.acquire(driver.context))
        return -1;
    redlock_get_stats(library->client, &after);
    bool one = after.commands - before.commands == nodes;
    return driver.release(driver.context) ? one : -1;
}

static int count_round_trips(struct bench *bench, struct bench_library *library)
{
    static const char *const of[] = {"names that were used", "new names"};
    const char *used = library->name;
    char name[64];
    for (int new_names = 0; new_names <= 1; new_names++) {
        double ones = 0;
        for (int i = 0; i < TRIES; i++) {
            snprintf(name, sizeof(name), "%s:%d", used, i);
            library->name = new_names ? name : used;
            int one = one_round_trip(library, bench->nodes);
            if (one < 0) {
                fprintf(stderr, "redlock-bench: a fenced try failed\n");
                return EX_UNAVAILABLE;
            }
            ones += one;
        }
        bench_add(&bench->report, scenario, "fenced tries of one round trip", of[new_names],
                  "%", bench_summary_of(100 * ones / TRIES));
        bench_aim(&bench->report, BENCH_AT_LEAST, 99);
    }
    library->name = used;
    return 0;
}

static int run_kind(struct bench *bench, const struct bench *on, size_t which,
                    const redlock_config *config)
{
    static struct bench_library library;
    struct bench_floor *floor = NULL;
    char token[256];
    char name[64];
    char floor_name[64];
    const struct bench_floor_lock lock = {
        .kind = rl_kind_on(measured[which].kind, on->nodes),
        .owner = OWNER,
        .fenced = measured[which].fenced,
    };
    /* Each has its own name. If a release was late, its key would refuse the next driver. */
    snprintf(name, sizeof(name), "redlock-bench:kinds:%zu", which);
    snprintf(floor_name, sizeof(floor_name), "redlock-bench:kinds-floor:%zu", which);
    int status = bench_library_open(config, name, TTL_MS, &library);
    library.options.kind = measured[which].kind;
    library.options.fenced = measured[which].fenced;
    if (status == 0)
        status = bench_library_token(&library, token, sizeof(token));
    if (status == 0)
        status = bench_floor_open_kind(on, &lock, floor_name, token, TTL_MS, &floor);
    if (status == 0)
        measure(bench, on, which, &library, floor);
    if (status == 0 && measured[which].fenced)
        status = count_round_trips(bench, &library);
    bench_end_all();
    return status;
}

/* What a look at the marker in each script costs: a client with `guard strict` next to one
 * without a guard. It marks the masters and waits for their quarantine, so `max-ttl` is short;
 * and so they must be private. */
static int run_strict(struct bench *bench)
{
    struct rounds rounds; /* "ours" are strict */
    static struct bench_library library[2];
    redlock_config config = bench_config(bench);
    config.max_ttl_ms = STRICT_TTL_MS;
    int status = bench_library_open(&config, "redlock-bench:loose", STRICT_TTL_MS, &library[0]);
    if (status != 0)
        return status;
    config.guard = REDLOCK_GUARD_STRICT;
    status = bench_library_open(&config, "redlock-bench:strict", STRICT_TTL_MS, &library[1]);
    if (status != 0)
        return status;
    struct bench_driver driver[DRIVERS] = {bench_library_driver(&library[1]),
                                           bench_library_driver(&library[0])};
    measure_rounds(bench, driver, &rounds);
    bench_add_ratio(&bench->report, scenario, "pairs a second, guard strict to none", "plain",
                    rounds.ours, rounds.least, bench->options.rounds);
    bench_add_failed_pairs(&bench->report, scenario, "", "guard strict", rounds.failures);
    return 0;
}

int bench_run_kinds(struct bench *bench)
{
    static struct bench one; /* too big for a stack */
    redlock_node node = REDLOCK_NODE_INIT;
    char url[BENCH_URL_MAX];
    int status = 0;
    if (!bench->floors) {
        bench_note(&bench->report, "kinds: no floor over TLS, nothing was compared");
        return 0;
    }
    one = *bench;
    one.nodes = one.needed = 1;
    for (size_t i = 0; i < sizeof(measured) / sizeof(measured[0]) && status == 0; i++) {
        redlock_config config = measured[i].one_master
                                    ? bench_config_of_one(bench, &bench->node[0], &node, url)
                                    : bench_config(bench);
        status = run_kind(bench, measured[i].one_master ? &one : bench, i, &config);
    }
    return status == 0 && bench->masters != NULL ? run_strict(bench) : status;
}
