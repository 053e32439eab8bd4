/* rollback.c - after a round was lost, how long a trace of it is on any master. The library's
 * own connections are not used to look. A trace that comes back counts. */
#include "config_auto.h"

#include "bench/floor/floor.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MS 10000 /* far beyond the times measured: no key runs out by itself */
#define STALL_WAIT_MS 100
#define STOPPED_FOR_MS 1300 /* beyond stall-limit: the release has outlived its link */
#define LOOK_FOR_MS 80      /* after a loss */
#define LOOK_LONGER_MS 250  /* after masters resumed */
#define TRIES 8             /* a round, of the quick kind */
#define ROUNDS_MAX 3
#define AIM_MS 50
#define NAME "redlock-bench:rollback"

static const char scenario[] = "rollback: how long a lost round leaves a trace";

enum { LIBRARY, FLOOR, DRIVERS };

struct rollback_run {
    struct bench *bench;
    struct bench_library library;
    struct bench_floor *floor;
    struct bench_driver driver[DRIVERS];
    const char *name[DRIVERS];
    struct server_talk talk[REDLOCK_NODES_MAX];
    struct bench_samples lost[DRIVERS];
    struct bench_samples silent[DRIVERS];  /* a majority was silent: the others */
    struct bench_samples resumed[DRIVERS]; /* the silent ones, once they resumed */
    unsigned won;                          /* tries that should have been lost */
};

/* Look at masters `from` to `to` for `look_ms`: when, from now on, was each driver's key
 * last there? 0: never. */
static void look(struct rollback_run *run, unsigned from, unsigned to, int64_t look_ms,
                 int64_t ret_last_ns[DRIVERS])
{
    char words[DRIVERS][128];
    char text[32];
    int64_t start_ns = bench_now_ns();
    int64_t now_ns = start_ns;
    for (unsigned which = 0; which < DRIVERS; which++) {
        snprintf(words[which], sizeof(words[which]), "EXISTS %s", run->name[which]);
        ret_last_ns[which] = 0;
    }
    while (now_ns - start_ns < look_ms * 1000000) {
        for (unsigned i = from; i < to; i++) {
            for (unsigned which = 0; which < DRIVERS; which++) {
                char type = server_talk_say(&run->talk[i], words[which], text, sizeof(text));
                now_ns = bench_now_ns();
                if (type != ':' || strcmp(text, "0") != 0)
                    ret_last_ns[which] = now_ns - start_ns;
            }
        }
    }
}

static void lose(struct rollback_run *run, unsigned which)
{
    if (run->driver[which].acquire(run->driver[which].context)) {
        run->won++;
        run->driver[which].release(run->driver[which].context);
    }
}

/* Somebody else holds it on just so many masters that a majority is out of reach. */
static void lose_to_another(struct rollback_run *run, unsigned which)
{
    char words[128];
    char text[64];
    int64_t last_ns[DRIVERS];
    unsigned held = run->bench->nodes - run->bench->needed + 1;
    snprintf(words, sizeof(words), "SET %s another PX 60000", run->name[which]);
    for (unsigned i = 0; i < held; i++)
        server_talk_say(&run->talk[i], words, text, sizeof(text));
    lose(run, which);
    look(run, held, run->bench->nodes, LOOK_FOR_MS, last_ns);
    bench_samples_add(&run->lost[which], last_ns[which]);
    snprintf(words, sizeof(words), "DEL %s", run->name[which]);
    for (unsigned i = 0; i < held; i++)
        server_talk_say(&run->talk[i], words, text, sizeof(text));
}

/* A majority is stopped before the try and resumes long after it. */
static int lose_to_silence(struct rollback_run *run)
{
    struct bench *bench = run->bench;
    unsigned live = bench->needed - 1;
    bool fine = true;
    int64_t last_ns[DRIVERS];
    int64_t stopped_ns = bench_now_ns();
    for (unsigned i = live; i < bench->nodes; i++)
        fine = server_stop(bench->masters, i) && fine;
    for (unsigned which = 0; which < DRIVERS && fine; which++) {
        lose(run, which);
        look(run, 0, live, LOOK_FOR_MS, last_ns);
        bench_samples_add(&run->silent[which], last_ns[which]);
    }
    int64_t stopped_ms = (bench_now_ns() - stopped_ns) / 1000000;
    if (stopped_ms < STOPPED_FOR_MS && !bench->options.quick)
        bench_sleep_ms(STOPPED_FOR_MS - stopped_ms);
    for (unsigned i = live; i < bench->nodes; i++)
        fine = server_resume(bench->masters, i) && fine;
    if (!fine) {
        fprintf(stderr, "redlock-bench: masters can't be stopped and resumed\n");
        return EX_OSERR;
    }
    look(run, live, bench->nodes, LOOK_LONGER_MS, last_ns);
    for (unsigned which = 0; which < DRIVERS; which++)
        bench_samples_add(&run->resumed[which], last_ns[which]);
    return bench_floor_reconnect(run->floor) && bench_library_await(&run->library)
               ? 0
               : EX_UNAVAILABLE;
}

static void report_one(struct rollback_run *run, const char *what, struct bench_samples *of)
{
    struct bench_report *report = &run->bench->report;
    for (unsigned i = 0; i < DRIVERS; i++) {
        struct bench_summary summary = {
            .median = bench_percentile_us(&of[i], 500) / 1000,
            .min = bench_percentile_us(&of[i], 0) / 1000,
            .max = bench_percentile_us(&of[i], 1000) / 1000,
            .count = of[i].count,
        };
        bench_add(report, scenario, what, run->driver[i].name, "ms", summary);
        if (i == LIBRARY)
            bench_aim(report, BENCH_AT_MOST, AIM_MS);
    }
}

static int measure_all(struct rollback_run *run)
{
    unsigned rounds = run->bench->options.rounds;
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < TRIES * DRIVERS; i++)
            lose_to_another(run, i % DRIVERS);
    run->library.options.wait_ms = STALL_WAIT_MS;
    bench_floor_limit(run->floor, STALL_WAIT_MS / run->bench->nodes);
    int status = 0;
    for (unsigned round = 0; round < rounds && round < ROUNDS_MAX && status == 0; round++)
        status = lose_to_silence(run);
    if (status != 0)
        return status;
    report_one(run, "another holds a majority", run->lost);
    report_one(run, "a majority is stopped: the others", run->silent);
    report_one(run, "... and these, once they resumed", run->resumed);
    bench_add(&run->bench->report, scenario, "tries that were not lost", "both", "tries",
              bench_summary_of(run->won));
    bench_aim(&run->bench->report, BENCH_AT_MOST, 0);
    return 0;
}

static int prepare(struct rollback_run *run)
{
    struct bench *bench = run->bench;
    size_t samples = (size_t)bench->options.rounds * TRIES;
    run->name[LIBRARY] = NAME;
    run->name[FLOOR] = NAME "-floor";
    run->driver[LIBRARY] = bench_library_driver(&run->library);
    for (unsigned i = 0; i < DRIVERS; i++)
        if (!bench_samples_init(&run->lost[i], samples) ||
            !bench_samples_init(&run->silent[i], samples) ||
            !bench_samples_init(&run->resumed[i], samples))
            return EX_OSERR;
    for (unsigned i = 0; i < bench->nodes; i++)
        if (!bench_talk_open(&run->talk[i], bench, i))
            return EX_UNAVAILABLE;
    int status = bench_floor_open(bench, BENCH_SAME_BYTES, run->name[FLOOR],
                                  "0123456789abcdef0123456789abcdef", TTL_MS, &run->floor);
    if (status == 0)
        run->driver[FLOOR] = bench_floor_driver(run->floor);
    return status;
}

int bench_run_rollback(struct bench *bench)
{
    static struct rollback_run run;
    run = (struct rollback_run){.bench = bench};
    if (bench->needed - 1 == 0) {
        bench_note(&bench->report, "rollback: needs three masters or more, left out");
        return 0;
    }
    redlock_config config = bench_config(bench);
    int status = bench_library_open(&config, NAME, TTL_MS, &run.library);
    if (status != 0)
        return status;
    status = prepare(&run);
    return status == 0 ? measure_all(&run) : status;
}
