/* main.c - redlock-bench: the library's speed next to the least that a client could do,
 * measured in the same run. Also the cost of faults. */
#include "config_auto.h"

#include "bench/bench.h"
#include "bench/report/draw.h"
#include "bench/place/masters_cpu.h"
#include "bench/place/nodes.h"
#include "bench/contenders/shared.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

const struct bench_scenario bench_scenarios[BENCH_SCENARIOS] = {
    {"pair", bench_run_pair, false},
    {"memory", bench_run_memory, false},
    {"fanout", bench_run_fanout, true},
    {"down", bench_run_down, true},
    {"stall", bench_run_stall, true},
    {"rollback", bench_run_rollback, true},
    {"nowait", bench_run_async_release, false},
    {"inflight", bench_run_inflight, false},
    {"threads", bench_run_threads, false},
    {"handoff", bench_run_handoff, false},
    {"crowd", bench_run_contention, false},
    {"renew", bench_run_renew, false},
    {"rw", bench_run_rw, false},
    {"fair", bench_run_fair, true},
    {"kinds", bench_run_kinds, true},
    {"run", bench_run_start, false},
};

/* The first CPU that we may run on is the only one from here on, for the masters too. */
static bool pin(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return false;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        CPU_ZERO(&set);
        CPU_SET(cpu, &set);
        return sched_setaffinity(0, sizeof(set), &set) == 0;
    }
    return false;
}

static int start_masters(struct bench *bench)
{
    char why[256];
    struct servers_want want = {
        .count = bench->options.masters,
        .prefix = "redlock-bench",
        .unix_sockets = bench->options.unix_sockets,
        .end_on_signals = true,
    };
    bench->masters = servers_start(&want, why, sizeof(why));
    if (bench->masters == NULL) {
        fprintf(stderr, "redlock-bench: %s\n", why);
        return EX_UNAVAILABLE;
    }
    bench_masters_cpu_watch(bench->masters);
    bench->nodes = bench->options.masters;
    bench->nodes_file = bench->masters->node_file;
    bench->floors = true;
    for (unsigned i = 0; i < bench->nodes; i++)
        bench->node[i] = servers_at(bench->masters, i);
    return 0;
}

static const char *transport(const struct bench *bench)
{
    unsigned sockets = 0;
    for (unsigned i = 0; i < bench->nodes; i++)
        sockets += bench->node[i].path != NULL;
    if (!bench->floors)
        return "TLS";
    return sockets == 0              ? "TCP"
           : sockets == bench->nodes ? "unix sockets"
                                     : "TCP and unix sockets";
}

/* A line a scenario on a terminal, elsewhere a line a minute at most. */
static void tell_progress(const char *name, int done, int all, int64_t began_ns, int64_t *told_ns)
{
    enum { TELL_EVERY_S = 60, NS_PER_S = 1000000000 };
    int64_t now_ns = bench_now_ns();
    if (!isatty(STDERR_FILENO) && now_ns - *told_ns < (int64_t)TELL_EVERY_S * NS_PER_S)
        return;
    *told_ns = now_ns;
    fprintf(stderr, "redlock-bench: %s (%d of %d)", name, done + 1, all);
    if (done > 0)
        fprintf(stderr, ", about %lld s still",
                (long long)((now_ns - began_ns) / done * (all - done) / NS_PER_S));
    fputs(" ...\n", stderr);
}

static int run_scenarios(struct bench *bench)
{
    const struct bench_options *options = &bench->options;
    int status = 0, done = 0;
    int64_t began_ns = bench_now_ns(), told_ns = began_ns;
    bench->needed = bench->nodes / 2 + 1;
    for (size_t i = 0; i < BENCH_SCENARIOS && status == 0; i++) {
        if ((options->scenarios & 1U << i) == 0)
            continue;
        tell_progress(bench_scenarios[i].name, done++, __builtin_popcount(options->scenarios),
                      began_ns, &told_ns);
        status = bench_scenarios[i].run(bench);
        bench_end_all();
    }
    if (options->quick)
        bench_note(&bench->report, "a quick run: its figures mean nothing");
    struct bench_setting setting = {
        .masters = options->nodes_file != NULL ? options->nodes_file : "private",
        .transport = transport(bench),
        .nodes = bench->nodes,
        .rounds = options->rounds,
        .slice_ms = options->slice_ms,
        .pinned = options->pin,
        .machine = bench->machine,
        .olds = &bench->olds,
    };
    if (status == 0 && options->svg != NULL && !bench_draw_svg(&bench->report, options->svg)) {
        fprintf(stderr, "redlock-bench: cannot write %s: %s\n", options->svg, strerror(errno));
        status = EX_IOERR;
    }
    if (status == 0)
        (options->json ? bench_print_json : bench_print_table)(&bench->report, &setting,
                                                               stdout);
    return status;
}

/* Checked before minutes are spent on results for this file. */
static bool can_write(const char *path)
{
    FILE *file = fopen(path, "ae");
    if (file == NULL)
        fprintf(stderr, "redlock-bench: cannot write --svg %s: %s\n", path, strerror(errno));
    else
        fclose(file);
    return file != NULL;
}

int main(int argc, char **argv)
{
    static struct bench bench; /* too big for a stack */
    if (argc == 3 && strcmp(argv[1], BENCH_WORKER_OPTION) == 0)
        return bench_worker_main(argv[2]);
    bench.report.started_ns = bench_now_ns();
    int status = bench_options_parse(&bench.options, argc, argv);
    if (status >= 0)
        return status;
    if (bench.options.pin && !pin()) {
        fprintf(stderr, "redlock-bench: cannot pin to one CPU: %s\n", strerror(errno));
        return EX_OSERR;
    }
    bench.report.quick = bench.options.quick;
    bench_machine_look(&bench.machine);
    if (bench.options.svg != NULL && !can_write(bench.options.svg))
        return EX_IOERR;
    if (bench.options.compare != NULL &&
        !bench_compare_read(bench.options.compare, &bench.olds))
        return EX_NOINPUT;
    status =
        bench.options.nodes_file != NULL ? bench_nodes_read(&bench) : start_masters(&bench);
    if (status == 0)
        status = run_scenarios(&bench);
    servers_end(bench.masters);
    bench_nodes_forget();
    if (status == 0 && (fflush(stdout) != 0 || ferror(stdout) != 0))
        status = EX_IOERR;
    return status;
}
