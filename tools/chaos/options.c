/* options.c - the command line of redlock-chaos. */
#include "config_auto.h"

#include "chaos/options.h"

#include "chaos/faults/kinds.h"
#include "base/duration.h"
#include "base/entropy.h"
#include "base/limits.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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
        "      --duration TIME    how long (30s, or what the faults need)\n"
        "      --ttl TIME         of each lock, and the max-ttl of masters of ours (1s)\n"
        "      --hold TIME        how long a lock is mostly held (20ms)\n"
        "      --faults LIST      which kinds, parted by commas; -KIND takes one out, none is\n"
        "                         none, all is all that can be done here (a choice of them)\n"
        "      --seed N           draw the faults from this seed (a new one)\n"
        "      --report DIR       write report.html and report.json there\n"
        "      --client CMD       let CMD take the locks: a line protocol, redlock-chaos(1)\n"
        "      --self-test[=HOW]  let a client take them that is broken; it must be caught:\n"
        "                         one-master (the default), no-release, no-rollback\n"
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

int chaos_usage(const char *format, ...)
{
    va_list arguments;
    fputs("redlock-chaos: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" (see redlock-chaos --help)\n", stderr);
    return EX_USAGE;
}

/* ---- values --------------------------------------------------------------------------- */

static int take_number(const char *option, const char *text, unsigned min, unsigned max,
                       unsigned *ret_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < min ||
        number > max)
        return chaos_usage("--%s '%.40s': give a whole number from %u to %u", option, text, min,
                           max);
    *ret_number = (unsigned)number;
    return -1;
}

static int take_time(const char *option, const char *text, int64_t min_ms, int64_t max_ms,
                     int64_t *ret_ms)
{
    int64_t ms = 0;
    char min[RL_DURATION_TEXT_MAX], max[RL_DURATION_TEXT_MAX];
    const char *wrong = rl_duration_parse(text, strlen(text), &ms);
    if (wrong != NULL)
        return chaos_usage("--%s '%.40s': %s", option, text, wrong);
    if (ms < min_ms || ms > max_ms) {
        rl_duration_format(min_ms, min);
        rl_duration_format(max_ms, max);
        return chaos_usage("--%s %.40s: give a time from %s to %s", option, text, min, max);
    }
    *ret_ms = ms;
    return -1;
}

static int take_percent(const char *option, const char *text, double *ret_part)
{
    char *end = NULL;
    errno = 0;
    double percent = strtod(text, &end);
    if (*text < '0' || *text > '9' || errno != 0 || !(percent >= 0 && percent <= 100) ||
        (*end != '\0' && strcmp(end, "%") != 0))
        return chaos_usage("--%s '%.40s': give a number from 0 to 100, of percent", option,
                           text);
    *ret_part = percent / 100;
    return -1;
}

static int take_seed(const char *text, uint64_t *ret_seed)
{
    char *end = NULL;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        return chaos_usage("--seed '%.40s': give a whole number, such as a report names", text);
    *ret_seed = seed;
    return -1;
}

static int take_kind(const char *word, enum chaos_lock *ret_lock)
{
    for (int lock = 0; lock < CHAOS_LOCKS; lock++) {
        if (strcmp(word, chaos_lock_word((enum chaos_lock)lock)) != 0)
            continue;
        *ret_lock = (enum chaos_lock)lock;
        return -1;
    }
    return chaos_usage("--kind '%.40s': give plain, reentrant, fair, read-write or several",
                       word);
}

static int take_breach(const char *word, enum chaos_breach *ret_breach)
{
    static const char *const words[CHAOS_BREACHES] = {"one-master", "no-release",
                                                      "no-rollback"};
    *ret_breach = CHAOS_ONE_MASTER;
    if (word == NULL)
        return -1;
    for (int breach = 0; breach < CHAOS_BREACHES; breach++) {
        if (strcmp(word, words[breach]) != 0)
            continue;
        *ret_breach = (enum chaos_breach)breach;
        return -1;
    }
    return chaos_usage("--self-test '%.40s': give one-master, no-release or no-rollback", word);
}

/* One word of --faults, of which `none` is not one: that stands alone. */
static int take_fault(const char *word, size_t len, uint64_t *faults, uint64_t *named)
{
    if (len == 3 && memcmp(word, "all", 3) == 0) {
        *faults |= CHAOS_ALL;
        return -1;
    }
    if (len == 4 && memcmp(word, "none", 4) == 0)
        return chaos_usage("--faults: none stands alone; leave it or the other kinds out");
    bool out = len > 0 && word[0] == '-';
    int kind = chaos_fault_find(word + out, len - out);
    if (kind < 0) {
        const char *meant = chaos_fault_nearest(word + out, len - out);
        return chaos_usage("--faults: '%.*s' is no kind of fault; %s%s%s",
                           (int)(len < 40 ? len : 40), word,
                           meant != NULL ? "did you mean " : "they are listed by --help",
                           meant != NULL ? meant : "", meant != NULL ? "?" : "");
    }
    if (out) {
        *faults &= ~CHAOS_BIT(kind);
        *named &= ~CHAOS_BIT(kind);
    } else {
        *faults |= CHAOS_BIT(kind);
        *named |= CHAOS_BIT(kind);
    }
    return -1;
}

static int take_faults(const char *list, uint64_t *ret_faults, uint64_t *ret_named)
{
    const char *rest = list;
    *ret_faults = *ret_named = 0;
    if (*list == '\0')
        return chaos_usage("--faults: the list is empty; for no faults at all say none");
    if (strcmp(list, "none") == 0)
        return -1;
    if (*list == '-') /* out of what, if not of all */
        *ret_faults = CHAOS_ALL;
    for (;;) {
        size_t len = strcspn(rest, ",");
        int status = take_fault(rest, len, ret_faults, ret_named);
        if (status >= 0)
            return status;
        if (rest[len] == '\0')
            break;
        rest += len + 1;
    }
    if (*ret_faults == 0)
        return chaos_usage("--faults %.60s: nothing is left of that; name a kind that stays, "
                           "or say none alone",
                           list);
    return -1;
}

/* ---- the line ------------------------------------------------------------------------- */

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
    {"yes", no_argument, NULL, OPT_YES},
    {"help", no_argument, NULL, OPT_HELP},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

/* What was given, beside the options themselves. */
struct given {
    unsigned places; /* --local, --nodes, --compose: how many of them */
    bool faults;
    bool seed;
    bool min_holds;
    bool min_masters;
    uint64_t named;
};

static int take_option(struct chaos_options *options, struct given *given, int option,
                       const char *value)
{
    switch (option) {
    case OPT_LOCAL:
        given->places++;
        return take_number("local", value, 1, REDLOCK_NODES_MAX, &options->local);
    case OPT_NODES:
        given->places++;
        options->where = CHAOS_FILE;
        options->nodes_file = value;
        return *value != '\0' ? -1 : chaos_usage("--nodes needs the name of a file");
    case OPT_COMPOSE:
        given->places++;
        options->where = CHAOS_COMPOSE;
        options->nodes_file = value; /* NULL: whichever file compose finds */
        return -1;
    case OPT_CLIENTS:
        return take_number("clients", value, 1, CHAOS_CLIENTS_MAX, &options->clients);
    case OPT_NAMES:
        return take_number("names", value, 1, CHAOS_NAMES_MAX, &options->names);
    case OPT_KIND:
        return take_kind(value, &options->lock);
    case OPT_DURATION:
        return take_time("duration", value, DURATION_MIN_MS, DURATION_MAX_MS,
                         &options->duration_ms);
    case OPT_TTL:
        return take_time("ttl", value, TTL_MIN_MS, RL_TTL_LIMIT_MS, &options->ttl_ms);
    case OPT_HOLD:
        return take_time("hold", value, 0, RL_TTL_LIMIT_MS, &options->hold_ms);
    case OPT_FAULTS:
        given->faults = true;
        return take_faults(value, &options->faults, &given->named);
    case OPT_SEED:
        given->seed = true;
        return take_seed(value, &options->seed);
    case OPT_REPORT:
        options->report = value;
        return *value != '\0' ? -1 : chaos_usage("--report needs the name of a directory");
    case OPT_CLIENT:
        options->client_cmd = value;
        return *value != '\0' ? -1 : chaos_usage("--client needs a command");
    case OPT_SELF_TEST:
        options->self_test = true;
        return take_breach(value, &options->breach);
    case OPT_MAX_RECOVERY:
        return take_time("max-recovery", value, 1, DURATION_MAX_MS, &options->max_recovery_ms);
    case OPT_MIN_HOLDS:
        given->min_holds = true;
        return take_number("min-holds", value, 0, 1000000000, &options->min_holds);
    case OPT_MIN_AVAILABLE:
        return take_percent("min-available", value, &options->min_available);
    case OPT_MIN_MASTERS:
        given->min_masters = true;
        return take_number("min-masters", value, 0, REDLOCK_NODES_MAX, &options->min_masters);
    case OPT_FENCED: /* people look for it */
        return chaos_usage("--fenced: the library has no fencing tokens that grow, so there is "
                           "nothing to check; those of a --client are always checked");
    default:
        options->yes = true;
        return -1;
    }
}

/* What does not go together, and what was left open. */
static int complete(struct chaos_options *options, const struct given *given)
{
    if (given->places > 1)
        return chaos_usage("--local, --nodes and --compose exclude each other; keep one");
    if (options->self_test && options->client_cmd != NULL)
        return chaos_usage("--self-test brings a client of its own; leave --client out");
    if (options->lock != CHAOS_PLAIN && options->breach != CHAOS_ONE_MASTER)
        return chaos_usage("--self-test=no-release and no-rollback are of plain locks; leave "
                           "--kind out");
    if (given->min_masters && options->client_cmd == NULL)
        return chaos_usage("--min-masters is about the client of --client; leave it out");
    if (options->lock != CHAOS_PLAIN && options->client_cmd != NULL)
        return chaos_usage("--kind is for our own contenders; leave --client out");
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
