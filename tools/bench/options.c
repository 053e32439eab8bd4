/* options.c - the command line of redlock-bench. */
#include "config_auto.h"

#include "config/config.h"

#include "bench/bench.h"
#include "options/table.h"

#include <string.h>

static bool parse_scenarios(const char *list, unsigned *ret_scenarios)
{
    *ret_scenarios = 0;
    while (*list != '\0') {
        size_t len = strcspn(list, ",");
        size_t i = 0;
        while (i < BENCH_SCENARIOS && (strlen(bench_scenarios[i].name) != len ||
                                       memcmp(bench_scenarios[i].name, list, len) != 0))
            i++;
        if (i == BENCH_SCENARIOS)
            return false;
        *ret_scenarios |= 1U << i;
        list += len;
        if (*list == ',' && *++list == '\0')
            return false;
    }
    return *ret_scenarios != 0;
}

static int read_scenarios(const struct option_row *row, void *into, const char *value)
{
    struct bench_options *options = into;
    return parse_scenarios(value, &options->scenarios)
               ? -1
               : option_wrong(row, value, "give scenarios that there are, parted by commas");
}

static int read_memory(const struct option_row *row, void *into, const char *value)
{
    struct bench_options *options = into;
    (void)row;
    (void)value;
    options->memory_pairs = 1000000;
    return -1;
}

/* The smallest that still goes through everything. */
static int read_quick(const struct option_row *row, void *into, const char *value)
{
    struct bench_options *options = into;
    (void)row;
    (void)value;
    options->quick = true;
    options->rounds = 1;
    options->slice_ms = 50;
    options->memory_pairs = 500;
    options->down_tries = 200;
    options->locks = 200;
    options->hold_ms = 800;
    return -1;
}

#define AT(member) .offset = offsetof(struct bench_options, member)

static const struct option_row rows[] = {
    {"nodes", "FILE", "measure these masters (without their faults)", OPTION_TEXT, 'n',
     AT(nodes_file)},
    {"masters", "N", "start so many private ones (the default: 5)", OPTION_NUMBER, 'm',
     AT(masters), 1, REDLOCK_NODES_MAX},
    {"unix", NULL, "reach them by unix sockets instead of loopback TCP", OPTION_FLAG,
     AT(unix_sockets)},
    {"scenario", "WORDS",
     "some of these: pair,memory,fanout,down,stall,rollback,nowait,\n"
     "inflight,threads,handoff,crowd,renew,rw,\n"
     "fair,kinds,run",
     OPTION_OWN, 's', .read = read_scenarios},
    {"rounds", "N", "interleaved rounds (5)", OPTION_NUMBER, 'r', AT(rounds), 1,
     BENCH_ROUNDS_MAX},
    {"duration", "TIME", "how long one subject is measured a round (1s)", OPTION_TIME, 'd',
     AT(slice_ms), 10, 60000},
    {"memory", NULL, "a million pairs in the scenario memory, not 50,000", OPTION_OWN,
     .read = read_memory},
    {"locks", "N", "locks in the scenario renew (10000)", OPTION_NUMBER, AT(locks), 1,
     1000000},
    {"hold", "TIME", "how long renew holds them (12s)", OPTION_TIME, AT(hold_ms), 100,
     86400000},
    {"pin", NULL, "everything on one CPU: quiet, and right for CPU cost", OPTION_FLAG,
     AT(pin)},
    {"quick", NULL, "a smoke test of a few seconds: its figures mean nothing", OPTION_OWN,
     .read = read_quick},
    {"json", NULL, "figures for machines", OPTION_FLAG, AT(json)},
    {"svg", "FILE", "draw how latencies are distributed into this file", OPTION_TEXT, AT(svg)},
    {"compare", "OLD.json", "next to the figures of a run that --json printed", OPTION_TEXT,
     AT(compare)},
};

static const struct option_table table = {
    .program = "redlock-bench",
    .usage = "usage: redlock-bench [-n FILE | -m N [--unix]] [options]\n"
             "Measures the library next to raw sockets that send the same bytes, in one run.\n",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

/* Reject missing options, and options that contradict each other. */
static int check_options(struct bench_options *options)
{
    if (options->nodes_file != NULL && (options->masters != 0 || options->unix_sockets))
        return option_usage("--nodes excludes --masters and --unix");
    /* Its scenarios read the file, and its results would show a password. */
    if (options->nodes_file != NULL && rl_config_is_words(options->nodes_file))
        return option_usage("--nodes takes the path of a node list file here, no URLs");
    for (size_t i = 0; i < BENCH_SCENARIOS; i++) {
        bool asked = (options->scenarios & 1U << i) != 0;
        bool possible = options->nodes_file == NULL || !bench_scenarios[i].private_only;
        if (asked && !possible)
            return option_usage("with --nodes there is no scenario %s", bench_scenarios[i].name);
    }
    if (options->scenarios == 0)
        for (size_t i = 0; i < BENCH_SCENARIOS; i++)
            if (options->nodes_file == NULL || !bench_scenarios[i].private_only)
                options->scenarios |= 1U << i;
    if (options->masters == 0)
        options->masters = 5;
    return -1;
}

int bench_options_parse(struct bench_options *options, int argc, char **argv)
{
    uint64_t given;
    *options = (struct bench_options){
        .rounds = 5,
        .slice_ms = 1000,
        .memory_pairs = 50000,
        .down_tries = 10000,
        .locks = 10000,
        .hold_ms = 12000,
    };
    int status = option_table_read(&table, options, argc, argv, &given);
    return status >= 0 ? status : check_options(options);
}
