/* options.c - the command line of redlock-bench. */
#include "config_auto.h"

#include "bench/bench.h"

#include "base/duration.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define LOCKS_MAX 1000000
#define HOLD_MAX_MS 86400000

static void print_help(void)
{
    puts("usage: redlock-bench [-n FILE | -m N [--unix]] [options]\n"
         "Measures the library next to raw sockets that send the same bytes, in one run.\n"
         "\n"
         "  -n, --nodes FILE       measure these masters (without their faults)\n"
         "  -m, --masters N        start so many private ones (the default: 5)\n"
         "      --unix             reach them by unix sockets instead of loopback TCP\n"
         "  -s, --scenario LIST    of pair,memory,fanout,down,stall,rollback,nowait,\n"
         "                         inflight,threads,handoff,crowd,renew,rw,\n"
         "                         fair,kinds,run\n"
         "  -r, --rounds N         interleaved rounds (5)\n"
         "  -d, --duration TIME    how long one subject is measured a round (1s)\n"
         "      --memory           a million pairs in the scenario memory, not 50,000\n"
         "      --locks N          locks in the scenario renew (10000)\n"
         "      --hold TIME        how long renew holds them (12s)\n"
         "      --pin              everything on one CPU: quiet, and right for CPU cost\n"
         "      --quick            a smoke test of a few seconds: its figures mean nothing\n"
         "      --json             figures for machines\n"
         "      --svg FILE         draw how latencies are distributed into this file\n"
         "      --compare OLD.json     next to the figures of a run that --json printed\n"
         "      --help, --version");
}

static int usage(const char *text, const char *what)
{
    fprintf(stderr, "redlock-bench: %s%s (see redlock-bench --help)\n", text, what);
    return EX_USAGE;
}

/* A whole number within bounds. */
static bool parse_number(const char *text, unsigned min, unsigned max, unsigned *ret_number)
{
    char *end;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < min ||
        number > max)
        return false;
    *ret_number = (unsigned)number;
    return true;
}

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

enum {
    OPT_UNIX = 256,
    OPT_MEMORY,
    OPT_LOCKS,
    OPT_HOLD,
    OPT_PIN,
    OPT_QUICK,
    OPT_JSON,
    OPT_SVG,
    OPT_COMPARE,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"nodes", required_argument, NULL, 'n'},
    {"masters", required_argument, NULL, 'm'},
    {"scenario", required_argument, NULL, 's'},
    {"rounds", required_argument, NULL, 'r'},
    {"duration", required_argument, NULL, 'd'},
    {"unix", no_argument, NULL, OPT_UNIX},
    {"memory", no_argument, NULL, OPT_MEMORY},
    {"locks", required_argument, NULL, OPT_LOCKS},
    {"hold", required_argument, NULL, OPT_HOLD},
    {"pin", no_argument, NULL, OPT_PIN},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"json", no_argument, NULL, OPT_JSON},
    {"compare", required_argument, NULL, OPT_COMPARE},
    {"svg", required_argument, NULL, OPT_SVG},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

static bool parse_time(const char *text, int64_t min_ms, int64_t max_ms, int64_t *ret_ms)
{
    return rl_parse_duration_ms(text, strlen(text), ret_ms) && *ret_ms >= min_ms &&
           *ret_ms <= max_ms;
}

/* The smallest that still goes through everything. */
static void choose_quick(struct bench_options *options)
{
    options->quick = true;
    options->rounds = 1;
    options->slice_ms = 50;
    options->memory_pairs = 500;
    options->down_tries = 200;
    options->locks = 200;
    options->hold_ms = 800;
}

static int wrong_value(int option, const char *value)
{
    const struct option *row = long_options;
    while (row->name != NULL && row->val != option)
        row++;
    int64_t ms;
    bool is_time = option == 'd' || option == OPT_HOLD;
    const char *why = is_time ? rl_duration_parse(value, strlen(value), &ms) : NULL;
    fprintf(stderr, "redlock-bench: --%s %s: %s (see redlock-bench --help)\n", row->name,
            value, why ? why : "not a value that is possible here");
    return EX_USAGE;
}

/* 0, or an exit status after a line on stderr. */
static int parse_option(struct bench_options *options, int option, const char *value,
                        const char *word)
{
    bool fine = true;
    switch (option) {
    case 'n':
        options->nodes_file = value;
        break;
    case 'm':
        fine = parse_number(value, 1, REDLOCK_NODES_MAX, &options->masters);
        break;
    case 's':
        fine = parse_scenarios(value, &options->scenarios);
        break;
    case 'r':
        fine = parse_number(value, 1, BENCH_ROUNDS_MAX, &options->rounds);
        break;
    case 'd':
        fine = parse_time(value, 10, 60000, &options->slice_ms);
        break;
    case OPT_LOCKS:
        fine = parse_number(value, 1, LOCKS_MAX, &options->locks);
        break;
    case OPT_HOLD:
        fine = parse_time(value, 100, HOLD_MAX_MS, &options->hold_ms);
        break;
    case OPT_UNIX:
        options->unix_sockets = true;
        break;
    case OPT_MEMORY:
        options->memory_pairs = 1000000;
        break;
    case OPT_PIN:
        options->pin = true;
        break;
    case OPT_QUICK:
        choose_quick(options);
        break;
    case OPT_JSON:
        options->json = true;
        break;
    case OPT_SVG:
        options->svg = value;
        break;
    case OPT_COMPARE:
        options->compare = value;
        break;
    default:
        return usage("unknown, or its value is missing: ", word);
    }
    return fine ? 0 : wrong_value(option, value);
}

/* Reject missing options, and options that contradict each other. */
static int check_options(struct bench_options *options)
{
    if (options->nodes_file != NULL && (options->masters != 0 || options->unix_sockets))
        return usage("--nodes excludes --masters and --unix", "");
    for (size_t i = 0; i < BENCH_SCENARIOS; i++) {
        bool asked = (options->scenarios & 1U << i) != 0;
        bool possible = options->nodes_file == NULL || !bench_scenarios[i].private_only;
        if (asked && !possible)
            return usage("with --nodes there is no scenario ", bench_scenarios[i].name);
    }
    if (options->scenarios == 0)
        for (size_t i = 0; i < BENCH_SCENARIOS; i++)
            if (options->nodes_file == NULL || !bench_scenarios[i].private_only)
                options->scenarios |= 1U << i;
    if (options->masters == 0)
        options->masters = 5;
    return 0;
}

int bench_options_parse(struct bench_options *options, int argc, char **argv)
{
    int option;
    *options = (struct bench_options){
        .rounds = 5,
        .slice_ms = 1000,
        .memory_pairs = 50000,
        .down_tries = 10000,
        .locks = 10000,
        .hold_ms = 12000,
    };
    opterr = 0;
    for (;;) {
        const char *word = argv[optind]; /* where the option stands */
        option = getopt_long(argc, argv, "+n:m:s:r:d:", long_options, NULL);
        if (option == -1)
            break;
        if (option == OPT_HELP) {
            print_help();
            return 0;
        }
        if (option == OPT_VERSION) {
            printf("redlock-bench %s\n", redlock_version());
            return 0;
        }
        int status = parse_option(options, option, optarg, word);
        if (status != 0)
            return status;
    }
    if (optind < argc)
        return usage("what is this: ", argv[optind]);
    int status = check_options(options);
    return status != 0 ? status : -1;
}
