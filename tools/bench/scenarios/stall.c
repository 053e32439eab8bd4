/* stall.c - a majority falls silent in the middle. Measures how long a failing try takes, and
 * each of its rounds, as a live master sees them (MONITOR). */
#include "config_auto.h"

#include "bench/floor/floor.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sysexits.h>

#define TTL_MS 2000
#define TTL_TEXT "\"2000\"" /* how an acquire ends in MONITOR's words; a release has no TTL */
#define WAIT_MS 500
#define SLACK_MS 10
#define ROUNDS_MAX 3
#define SEEN_MAX 512 /* rounds of one try */
#define NAME "redlock-bench:stall"

static const char scenario[] = "majority down: a try when most masters fall silent";

static const char *const fault_names[] = {"stopped", "black-holed"};

/* One try, as one master saw it. */
struct seen {
    unsigned rounds;
    double round_ms[SEEN_MAX]; /* from the acquire's coming to its release's */
    double taken_at_ms;        /* of the round that is open; 0: none is */
};

struct stall_series {
    double first_ms[ROUNDS_MAX];
    double later_ms[ROUNDS_MAX]; /* the longest of the others */
    double rounds[ROUNDS_MAX];
    double try_ms[ROUNDS_MAX];
    double next_ms[ROUNDS_MAX]; /* a second try, while they are still silent */
    double well_ms[ROUNDS_MAX]; /* a try once all are well again */
    double floor_ms[ROUNDS_MAX];
    double other_answers; /* than "no quorum" while they were silent, or than success after */
};

struct stall_run {
    struct bench *bench;
    struct bench_library library;
    struct bench_floor *floor;
    struct stall_series series;
    unsigned down; /* masters that fall silent: the last ones */
};

/* One line of MONITOR: `1700000000.123456 [0 127.0.0.1:5000] "EVALSHA" "..." ...`. */
static void see_line(struct seen *seen, const char *line)
{
    double at_ms = strtod(line + 1, NULL) * 1000;
    size_t len = strlen(line);
    size_t ttl_len = strlen(TTL_TEXT);
    bool asks = strstr(line, "\"EVAL") != NULL ||
                (strstr(line, "\"SET\"") != NULL && strstr(line, " lua] ") == NULL);
    if (!asks || strstr(line, "\"" NAME "\"") == NULL)
        return;
    if (len > ttl_len && strcmp(line + len - ttl_len, TTL_TEXT) == 0) {
        seen->taken_at_ms = at_ms;
    } else if (seen->taken_at_ms > 0 && seen->rounds < SEEN_MAX) {
        seen->round_ms[seen->rounds++] = at_ms - seen->taken_at_ms;
        seen->taken_at_ms = 0;
    }
}

/* Read MONITOR's lines until no more come for 20 ms. */
static void see_all(struct server_talk *monitor, struct seen *seen)
{
    struct pollfd readable = {.fd = monitor->fd, .events = POLLIN};
    while (poll(&readable, 1, 20) > 0) {
        ssize_t got = recv(monitor->fd, monitor->buffer + monitor->len,
                           sizeof(monitor->buffer) - 1 - monitor->len, 0);
        if (got <= 0)
            return;
        monitor->len += (size_t)got;
        monitor->buffer[monitor->len] = '\0';
        char *line = monitor->buffer;
        for (char *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
            *end = '\0';
            see_line(seen, line);
        }
        monitor->len -= (size_t)(line - monitor->buffer);
        memmove(monitor->buffer, line, monitor->len);
    }
}

static bool silence(struct stall_run *run, unsigned fault)
{
    struct bench *bench = run->bench;
    for (unsigned i = bench->nodes - run->down; i < bench->nodes; i++) {
        bool fine =
            fault == 0 ? server_stop(bench->masters, i) : server_blackhole(bench->masters, i);
        if (!fine) {
            fprintf(stderr, "redlock-bench: cannot have master %u %s\n", i + 1,
                    fault_names[fault]);
            return false;
        }
    }
    return true;
}

static bool wake(struct stall_run *run)
{
    struct bench *bench = run->bench;
    bool fine = true;
    for (unsigned i = bench->nodes - run->down; i < bench->nodes; i++)
        fine = server_resume(bench->masters, i) && fine;
    if (!fine)
        fprintf(stderr, "redlock-bench: stopped masters did not resume\n");
    return fine && bench_floor_reconnect(run->floor) && bench_library_await(&run->library);
}

static double timed_try(struct stall_run *run, int64_t wait_ms, int expected)
{
    struct bench_driver driver = bench_library_driver(&run->library);
    run->library.options.wait_ms = wait_ms;
    int64_t start_ns = bench_now_ns();
    bool acquired = driver.acquire(&run->library);
    double ms = (double)(bench_now_ns() - start_ns) / 1e6;
    if (acquired)
        driver.release(&run->library);
    if (run->library.code != expected)
        run->series.other_answers++;
    return ms;
}

static bool measure_once(struct stall_run *run, unsigned fault, int64_t wait_ms, unsigned round)
{
    static struct server_talk monitor;
    char text[64];
    struct seen seen = {0};
    struct stall_series *series = &run->series;
    struct bench_driver floor = bench_floor_driver(run->floor);
    int64_t share_ms = (wait_ms > 0 ? wait_ms : TTL_MS) / run->bench->nodes;
    if (!server_talk_open(&monitor, &run->bench->node[0]) ||
        server_talk_say(&monitor, "MONITOR", text, sizeof(text)) != '+' ||
        !silence(run, fault)) {
        server_talk_close(&monitor);
        return false;
    }
    series->try_ms[round] = timed_try(run, wait_ms, REDLOCK_ENOQUORUM);
    see_all(&monitor, &seen);
    server_talk_close(&monitor);
    series->next_ms[round] = timed_try(run, 0, REDLOCK_ENOQUORUM);

    bench_floor_limit(run->floor, share_ms);
    int64_t start_ns = bench_now_ns();
    floor.acquire(run->floor);
    series->floor_ms[round] = (double)(bench_now_ns() - start_ns) / 1e6;
    bench_floor_limit(run->floor, 0);

    series->rounds[round] = seen.rounds;
    series->first_ms[round] = seen.rounds > 0 ? seen.round_ms[0] : 0;
    series->later_ms[round] = 0;
    for (unsigned i = 1; i < seen.rounds; i++)
        if (seen.round_ms[i] > series->later_ms[round])
            series->later_ms[round] = seen.round_ms[i];
    if (!wake(run))
        return false;
    series->well_ms[round] = timed_try(run, wait_ms, 0);
    return true;
}

static void report_one(struct stall_run *run, unsigned fault, int64_t wait_ms, const char *what,
                       const char *of, const char *unit, double *values, unsigned rounds)
{
    char text[56];
    snprintf(text, sizeof(text), "%s, wait %d: %s", fault_names[fault], (int)wait_ms, what);
    bench_add(&run->bench->report, scenario, text, of, unit, bench_summarise(values, rounds));
}

static void report_all(struct stall_run *run, unsigned fault, int64_t wait_ms, unsigned rounds)
{
    struct bench_report *report = &run->bench->report;
    struct stall_series *series = &run->series;
    double share_ms = (double)((wait_ms > 0 ? wait_ms : TTL_MS) / run->bench->nodes);
    double whole_ms = wait_ms > 0 ? (double)wait_ms : share_ms;
    const char *ours = "library";
    report_one(run, fault, wait_ms, "first round", ours, "ms", series->first_ms, rounds);
    bench_aim(report, BENCH_AT_MOST, share_ms + SLACK_MS);
    if (wait_ms > 0) {
        report_one(run, fault, wait_ms, "longest later round", ours, "ms", series->later_ms,
                   rounds);
        bench_aim(report, BENCH_AT_MOST, share_ms + SLACK_MS);
    }
    report_one(run, fault, wait_ms, "rounds", ours, "rounds", series->rounds, rounds);
    bench_aim(report, BENCH_AT_LEAST, 1);
    report_one(run, fault, wait_ms, "the whole try", ours, "ms", series->try_ms, rounds);
    bench_aim(report, BENCH_AT_MOST, whole_ms + SLACK_MS);
    report_one(run, fault, wait_ms, "the try after it", ours, "ms", series->next_ms, rounds);
    report_one(run, fault, wait_ms, "a try when all is well", ours, "ms", series->well_ms,
               rounds);
    report_one(run, fault, wait_ms, "a round", "floor, same bytes", "ms", series->floor_ms,
               rounds);
    report_one(run, fault, wait_ms, "answers that are wrong", ours, "tries",
               &series->other_answers, 1);
    bench_aim(report, BENCH_AT_MOST, 0);
}

static int measure_all(struct stall_run *run)
{
    static const int64_t waits_ms[] = {WAIT_MS, 0};
    const struct bench_options *options = &run->bench->options;
    unsigned faults = options->unix_sockets || options->quick ? 1 : 2;
    unsigned rounds = options->rounds < ROUNDS_MAX ? options->rounds : ROUNDS_MAX;
    for (unsigned fault = 0; fault < faults; fault++)
        for (size_t w = 0; w < 2; w++) {
            run->series = (struct stall_series){.other_answers = 0};
            for (unsigned round = 0; round < rounds; round++)
                if (!measure_once(run, fault, waits_ms[w], round))
                    return EX_OSERR;
            report_all(run, fault, waits_ms[w], rounds);
        }
    return 0;
}

int bench_run_stall(struct bench *bench)
{
    static struct stall_run run;
    run = (struct stall_run){.bench = bench, .down = bench->nodes - bench->needed + 1};
    if (run.down == bench->nodes) {
        bench_note(&bench->report, "majority down: needs three masters or more, left out");
        return 0;
    }
    redlock_config config = bench_config(bench);
    int status = bench_library_open(&config, NAME, TTL_MS, &run.library);
    if (status != 0)
        return status;
    status = bench_floor_open(bench, BENCH_SAME_BYTES, NAME "-floor",
                              "0123456789abcdef0123456789abcdef", TTL_MS, &run.floor);
    return status == 0 ? measure_all(&run) : status;
}
