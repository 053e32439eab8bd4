/* options.c - the command line of redlock-chaos. */
#include "config_auto.h"

#include "chaos/options.h"
#include "chaos/option_values.h"

#include "chaos/faults/kinds.h"
#include "base/entropy.h"
#include "base/limits.h"

#include <assert.h>
#include <getopt.h>
#include <stdio.h>
#include <sysexits.h>

#define TTL_MIN_MS 200
#define DURATION_MIN_MS 5000
#define DURATION_MAX_MS (7 * INT64_C(86400000))

static void print_help(void)
{
    puts(
        "usage: redlock-chaos [--local N | --nodes FILE | --compose[=FILE]] [options]\n"
        "Lets processes contend for locks, puts their masters, their network and themselves\n"
        "through faults, and checks that no lock was ever held twice.\n"
        "\n"
        "      --local N          start so many private masters (the default: 5)\n"
        "      --nodes FILE       use the masters of this node list file, through proxies\n"
        "      --compose[=FILE]   use the masters of docker-compose.yml, started if need be\n"
        "      --clients N        contenders, each a process (8)\n"
        "      --names N          locks that they contend for (3)\n"
        "      --kind WORD        of locks: plain (the default), reentrant, fair, read-write,\n"
        "                         several (names at once)\n"
        "      --fenced           take them with fencing tokens, which must grow\n"
        "      --fencing WORD     what tokens rest on: clock (the default) or strict\n"
        "      --guard WORD       of masters of ours: on (the default), marker or strict\n"
        "      --duration TIME    how long (30s, or what the faults need)\n"
        "      --ttl TIME         of each lock, and the max-ttl of masters of ours (1s)\n"
        "      --hold TIME        how long a lock is mostly held (20ms)\n"
        "      --faults LIST      which kinds, parted by commas; -KIND takes one out, none is\n"
        "                         none, all is all that can be done here (a choice of them)\n"
        "      --seed N           draw the faults from this seed (a new one)\n"
        "      --report DIR       write report.html and report.json there\n"
        "      --client CMD       let CMD take the locks: a line protocol, redlock-chaos(1)\n"
        "      --self-test[=HOW]  let a client take them that is broken; it must be caught:\n"
        "                         one-master (the default), no-release, no-rollback,\n"
        "                         no-fence\n"
        "      --max-recovery TIME  a lock must be had that soon after a majority's return\n"
        "      --min-available P  locks must be to be had so much of the time, in %\n"
        "      --min-masters N    --client: fewer masters asked per hold have shown nothing\n"
        "                         (a majority of them; 0: any number will do)\n"
        "      --min-holds N      fewer holds than these have shown nothing (4 a second)\n"
        "      --yes              with --nodes: faults may be done to the masters themselves\n"
        "      --help, --version\n"
        "\n"
        "kinds of faults (* in the choice):");
    for (int i = 0; i < CHAOS_FAULT_KINDS; i++) {
        enum chaos_fault_kind kind = (enum chaos_fault_kind)i;
        printf("  %-16s %c %s%s\n", chaos_fault_word(kind),
               (CHAOS_DEFAULT & CHAOS_BIT(i)) != 0 ? '*' : ' ', chaos_fault_text(kind),
               chaos_fault_breaks(kind) == CHAOS_NONE_BROKEN ? "" : " (breaks an assumption)");
    }
    puts("\n"
         "exit status: 0 nothing wrong was found, 1 a lock was held twice or the like while\n"
         "all that is assumed did hold, 2 the run has shown nothing, 64 wrong usage");
}

enum {
    OPT_LOCAL = 256,
    OPT_NODES,
    OPT_COMPOSE,
    OPT_CLIENTS,
    OPT_NAMES,
    OPT_KIND,
    OPT_DURATION,
    OPT_TTL,
    OPT_HOLD,
    OPT_FAULTS,
    OPT_SEED,
    OPT_REPORT,
    OPT_CLIENT,
    OPT_SELF_TEST,
    OPT_MAX_RECOVERY,
    OPT_MIN_AVAILABLE,
    OPT_MIN_HOLDS,
    OPT_MIN_MASTERS,
    OPT_FENCED,
    OPT_FENCING,
    OPT_GUARD,
    OPT_YES,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {
    {"local", required_argument, NULL, OPT_LOCAL},
    {"nodes", required_argument, NULL, OPT_NODES},
    {"compose", optional_argument, NULL, OPT_COMPOSE},
    {"clients", required_argument, NULL, OPT_CLIENTS},
    {"names", required_argument, NULL, OPT_NAMES},
    {"kind", required_argument, NULL, OPT_KIND},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"ttl", required_argument, NULL, OPT_TTL},
    {"hold", required_argument, NULL, OPT_HOLD},
    {"faults", required_argument, NULL, OPT_FAULTS},
    {"seed", required_argument, NULL, OPT_SEED},
    {"report", required_argument, NULL, OPT_REPORT},
    {"client", required_argument, NULL, OPT_CLIENT},
    {"self-test", optional_argument, NULL, OPT_SELF_TEST},
    {"max-recovery", required_argument, NULL, OPT_MAX_RECOVERY},
    {"min-available", required_argument, NULL, OPT_MIN_AVAILABLE},
    {"min-holds", required_argument, NULL, OPT_MIN_HOLDS},
    {"min-masters", required_argument, NULL, OPT_MIN_MASTERS},
    {"fenced", no_argument, NULL, OPT_FENCED},
    {"fencing", required_argument, NULL, OPT_FENCING},
    {"guard", required_argument, NULL, OPT_GUARD},
    {"yes", no_argument, NULL, OPT_YES},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

/* Which options were given, beside their values. */
struct given {
    unsigned places; /* --local, --nodes, --compose: how many of them */
    bool faults;
    bool seed;
    bool fencing;
    bool guard;
    bool min_holds;
    bool min_masters;
    uint64_t named;
};

static void note_given(struct given *given, int option)
{
    given->places += option == OPT_LOCAL || option == OPT_NODES || option == OPT_COMPOSE;
    given->faults = given->faults || option == OPT_FAULTS;
    given->seed = given->seed || option == OPT_SEED;
    given->fencing = given->fencing || option == OPT_FENCING;
    given->guard = given->guard || option == OPT_GUARD;
    given->min_holds = given->min_holds || option == OPT_MIN_HOLDS;
    given->min_masters = given->min_masters || option == OPT_MIN_MASTERS;
}

static int take_text(const char *value, const char **ret_text, const char *complaint)
{
    *ret_text = value;
    return *value != '\0' ? -1 : chaos_usage("%s", complaint);
}

/* An option whose value is a number or a time. */
static int take_amount(struct chaos_options *options, int option, const char *value)
{
    switch (option) {
    case OPT_LOCAL:
        return chaos_take_number("local", value, 1, REDLOCK_NODES_MAX, &options->local);
    case OPT_CLIENTS:
        return chaos_take_number("clients", value, 1, CHAOS_CLIENTS_MAX, &options->clients);
    case OPT_NAMES:
        return chaos_take_number("names", value, 1, CHAOS_NAMES_MAX, &options->names);
    case OPT_DURATION:
        return chaos_take_time("duration", value, DURATION_MIN_MS, DURATION_MAX_MS,
                               &options->duration_ms);
    case OPT_TTL:
        return chaos_take_time("ttl", value, TTL_MIN_MS, RL_TTL_LIMIT_MS, &options->ttl_ms);
    case OPT_HOLD:
        return chaos_take_time("hold", value, 0, RL_TTL_LIMIT_MS, &options->hold_ms);
    case OPT_MAX_RECOVERY:
        return chaos_take_time("max-recovery", value, 1, DURATION_MAX_MS,
                               &options->max_recovery_ms);
    case OPT_MIN_HOLDS:
        return chaos_take_number("min-holds", value, 0, 1000000000, &options->min_holds);
    case OPT_MIN_AVAILABLE:
        return chaos_take_percent("min-available", value, &options->min_available);
    default:
        assert(option == OPT_MIN_MASTERS);
        return chaos_take_number("min-masters", value, 0, REDLOCK_NODES_MAX,
                                 &options->min_masters);
    }
}

static int take_option(struct chaos_options *options, struct given *given, int option,
                       const char *value)
{
    note_given(given, option);
    switch (option) {
    case OPT_NODES:
        options->where = CHAOS_FILE;
        return take_text(value, &options->nodes_file, "--nodes needs the name of a file");
    case OPT_COMPOSE:
        options->where = CHAOS_COMPOSE;
        options->nodes_file = value; /* NULL: the file that compose finds */
        return -1;
    case OPT_KIND:
        return chaos_take_kind(value, &options->lock);
    case OPT_FAULTS:
        return chaos_take_faults(value, &options->faults, &given->named);
    case OPT_SEED:
        return chaos_take_seed(value, &options->seed);
    case OPT_REPORT:
        return take_text(value, &options->report, "--report needs the name of a directory");
    case OPT_CLIENT:
        return take_text(value, &options->client_cmd, "--client needs a command");
    case OPT_SELF_TEST:
        options->self_test = true;
        return chaos_take_breach(value, &options->breach);
    case OPT_FENCED:
        options->fenced = true;
        return -1;
    case OPT_FENCING:
        return chaos_take_fencing(value, &options->certified);
    case OPT_GUARD:
        return chaos_take_guard(value, &options->markers, &options->strict);
    case OPT_YES:
        options->yes = true;
        return -1;
    default:
        return take_amount(options, option, value);
    }
}

/* Reject options that contradict each other, and fill in defaults. */
static int complete(struct chaos_options *options, const struct given *given)
{
    if (given->places > 1)
        return chaos_usage("--local, --nodes and --compose exclude each other; keep one");
    if (options->self_test && options->client_cmd != NULL)
        return chaos_usage("--self-test brings a client of its own; leave --client out");
    if (options->lock != CHAOS_PLAIN && options->breach != CHAOS_ONE_MASTER)
        return chaos_usage("--self-test=no-release, no-rollback and no-fence are of plain "
                           "locks; leave --kind out");
    if (options->breach == CHAOS_NO_FENCE && !options->fenced)
        return chaos_usage("--self-test=no-fence is about tokens; add --fenced");
    if (given->min_masters && options->client_cmd == NULL)
        return chaos_usage("--min-masters is about the client of --client; leave it out");
    if (options->lock != CHAOS_PLAIN && options->client_cmd != NULL)
        return chaos_usage("--kind is for our own contenders; leave --client out");
    if (options->fenced && (options->client_cmd != NULL || chaos_client_is_broken(options)))
        return chaos_usage("--fenced is for our own contenders, and those of a --client are "
                           "always checked; leave one of them out");
    if (given->fencing && (!options->fenced || options->where != CHAOS_LOCAL))
        return chaos_usage("--fencing is for --fenced on masters of --local; a node list has "
                           "the setting itself");
    if (given->guard && options->where != CHAOS_LOCAL)
        return chaos_usage("--guard is for masters of --local; a node list has a guard itself");
    if (options->markers && options->client_cmd != NULL)
        return chaos_usage("--guard is for our own contenders; leave --client out");
    if (options->lock == CHAOS_FAIR && options->where == CHAOS_LOCAL) {
        if (given->places > 0 && options->local != 1)
            return chaos_usage("--kind fair is for one master: say --local 1");
        options->local = 1;
    }
    if (options->lock == CHAOS_SEVERAL && options->names < 2)
        return chaos_usage("--kind several is of two names or more: say --names 2");
    if (options->hold_ms * 2 > options->ttl_ms)
        return chaos_usage(
            "--hold is over half of --ttl; hold for less, or make the ttl longer");
    if (!given->faults)
        options->faults = CHAOS_DEFAULT;
    if (!given->min_masters && options->client_cmd != NULL)
        options->min_masters = CHAOS_USUAL;
    if (!given->min_holds)
        options->min_holds = CHAOS_USUAL;
    if (!given->seed) {
        if (rl_entropy_bytes(&options->seed, sizeof(options->seed)) != 0) {
            fputs("redlock-chaos: no random bytes to be had; give a --seed\n", stderr);
            return EX_OSERR;
        }
        options->seed %= 1000000000; /* people will type it */
    }
    return -1;
}

int chaos_options_parse(struct chaos_options *options, int argc, char **argv,
                        uint64_t *ret_named)
{
    struct given given = {.places = 0};
    int option;
    *options = (struct chaos_options){
        .where = CHAOS_LOCAL,
        .local = 5,
        .clients = 8,
        .names = 3,
        .ttl_ms = 1000,
        .hold_ms = 20,
        .argc = argc,
        .argv = argv,
    };
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
        if (option == OPT_HELP) {
            print_help();
            return 0;
        }
        if (option == OPT_VERSION) {
            printf("redlock-chaos %s\n", redlock_version());
            return 0;
        }
        if (option == ':')
            return chaos_usage("%.40s needs a value", argv[optind - 1]);
        if (option == '?')
            return chaos_usage("%.40s is no option, or takes no value", argv[optind - 1]);
        int status = take_option(options, &given, option, optarg);
        if (status >= 0)
            return status;
    }
    if (optind < argc)
        return chaos_usage("'%.40s': options only, please", argv[optind]);
    *ret_named = given.named;
    return complete(options, &given);
}
