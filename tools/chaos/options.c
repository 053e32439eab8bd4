/* options.c - the command line of redlock-chaos. */
#include "config_auto.h"

#include "chaos/options.h"

#include "chaos/faults/kinds.h"
#include "base/entropy.h"
#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#define TTL_MIN_MS 200
#define DURATION_MIN_MS 5000
#define DURATION_MAX_MS (7 * INT64_C(86400000))

/* ---- values that are read in ways of their own ------------------------------------------- */

static int read_percent(const struct option_row *row, void *into, const char *text)
{
    struct chaos_options *options = into;
    char *end = NULL;
    errno = 0;
    double percent = strtod(text, &end);
    if (*text < '0' || *text > '9' || errno != 0 || !(percent >= 0 && percent <= 100) ||
        (*end != '\0' && strcmp(end, "%") != 0))
        return option_wrong(row, text, "give a number from 0 to 100, of percent");
    options->min_available = percent / 100;
    return -1;
}

static int read_seed(const struct option_row *row, void *into, const char *text)
{
    struct chaos_options *options = into;
    char *end = NULL;
    errno = 0;
    options->seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        return option_wrong(row, text, "give a whole number, such as a report names");
    return -1;
}

static int read_fencing(const struct option_row *row, void *into, const char *word)
{
    struct chaos_options *options = into;
    unsigned which = 0;
    int status = option_word(row, word, &which);
    options->certified = which == 1;
    return status;
}

static int read_guard(const struct option_row *row, void *into, const char *word)
{
    struct chaos_options *options = into;
    unsigned which = 0;
    int status = option_word(row, word, &which);
    options->markers = which >= 1;
    options->strict = which == 2;
    return status;
}

/* One word of --faults, of which `none` is not one: that stands alone. */
static int take_fault(const char *word, size_t len, uint64_t *faults, uint64_t *named)
{
    if (len == 3 && memcmp(word, "all", 3) == 0) {
        *faults |= CHAOS_ALL;
        return -1;
    }
    if (len == 4 && memcmp(word, "none", 4) == 0)
        return option_usage("--faults: none stands alone; leave it or the other kinds out");
    bool out = len > 0 && word[0] == '-';
    int kind = chaos_fault_find(word + out, len - out);
    if (kind < 0) {
        const char *meant = chaos_fault_nearest(word + out, len - out);
        return option_usage("--faults: '%.*s' is no kind of fault; %s%s%s",
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

static int read_faults(const struct option_row *row, void *into, const char *list)
{
    struct chaos_options *options = into;
    uint64_t *ret_faults = &options->faults, *ret_named = &options->named;
    const char *rest = list;
    (void)row;
    *ret_faults = *ret_named = 0;
    if (*list == '\0')
        return option_usage("--faults: the list is empty; for no faults at all say none");
    if (strcmp(list, "none") == 0)
        return -1;
    if (*list == '-') /* exclusions alone exclude from all */
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
        return option_usage("--faults %.60s: nothing is left of that; name a kind that stays, "
                           "or say none alone",
                           list);
    return -1;
}

/* ---- the options ------------------------------------------------------------------------- */

static const char *const breaches[] = {"one-master", "no-release", "no-rollback", "no-fence", NULL};
static const char *const fencings[] = {"clock", "strict", NULL};
static const char *const guards[] = {"on", "marker", "strict", NULL};

#define AT(member) .offset = offsetof(struct chaos_options, member)

static const struct option_row rows[] = {
    {"local", "N", "start so many private masters (the default: 5)", OPTION_NUMBER, AT(local), 1,
     REDLOCK_NODES_MAX},
    {"nodes", "FILE", "use the masters of this node list file, through proxies", OPTION_TEXT,
     AT(nodes_file), .needs = "the name of a file"},
    {"compose", "[=FILE]", "use the masters of docker-compose.yml, started if need be",
     OPTION_TEXT, AT(nodes_file)}, /* NULL: the file that compose finds */
    {"clients", "N", "contenders, each a process (8)", OPTION_NUMBER, AT(clients), 1,
     CHAOS_CLIENTS_MAX},
    {"names", "N", "locks that they contend for (3)", OPTION_NUMBER, AT(names), 1,
     CHAOS_NAMES_MAX},
    {"kind", "WORD",
     "of locks: plain (the default), reentrant, fair, read-write,\n"
     "several (names at once)",
     OPTION_WORD, AT(lock), .words = chaos_lock_words},
    {"fenced", NULL, "take them with fencing tokens, which must grow", OPTION_FLAG, AT(fenced)},
    {"fencing", "WORD", "what tokens rest on: clock (the default) or strict", OPTION_OWN,
     .words = fencings, .read = read_fencing},
    {"guard", "WORD", "of masters of ours: on (the default), marker or strict", OPTION_OWN,
     .words = guards, .read = read_guard},
    {"duration", "TIME", "how long (30s, or what the faults need)", OPTION_TIME,
     AT(duration_ms), DURATION_MIN_MS, DURATION_MAX_MS},
    {"ttl", "TIME", "of each lock, and the max-ttl of masters of ours (1s)", OPTION_TIME,
     AT(ttl_ms), TTL_MIN_MS, RL_TTL_LIMIT_MS},
    {"hold", "TIME", "how long a lock is mostly held (20ms)", OPTION_TIME, AT(hold_ms), 0,
     RL_TTL_LIMIT_MS},
    {"faults", "LIST",
     "which kinds, parted by commas; -KIND takes one out, none is\n"
     "none, all is all that can be done here (a choice of them)",
     OPTION_OWN, .read = read_faults},
    {"seed", "N", "draw the faults from this seed (a new one)", OPTION_OWN, .read = read_seed},
    {"report", "DIR", "write report.html and report.json there", OPTION_TEXT, AT(report),
     .needs = "the name of a directory"},
    {"client", "CMD", "let CMD take the locks: a line protocol, redlock-chaos(1)", OPTION_TEXT,
     AT(client_cmd), .needs = "a command"},
    {"self-test", "[=HOW]",
     "let a client take them that is broken; it must be caught:\n"
     "one-master (the default), no-release, no-rollback,\n"
     "no-fence",
     OPTION_WORD, AT(breach), .words = breaches},
    {"max-recovery", "TIME", "a lock must be had that soon after a majority's return",
     OPTION_TIME, AT(max_recovery_ms), 1, DURATION_MAX_MS},
    {"min-available", "P", "locks must be to be had so much of the time, in %", OPTION_OWN,
     .read = read_percent},
    {"min-masters", "N",
     "--client: fewer masters asked per hold have shown nothing\n"
     "(a majority of them; 0: any number will do)",
     OPTION_NUMBER, AT(min_masters), 0, REDLOCK_NODES_MAX},
    {"min-holds", "N", "fewer holds than these have shown nothing (4 a second)", OPTION_NUMBER,
     AT(min_holds), 0, 1000000000},
    {"yes", NULL, "with --nodes: faults may be done to the masters themselves", OPTION_FLAG,
     AT(yes)},
};

static void print_faults(void)
{
    puts("\nkinds of faults (* in the choice):");
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

static const struct option_table table = {
    .program = "redlock-chaos",
    .usage =
        "usage: redlock-chaos [--local N | --nodes FILE | --compose[=FILE]] [options]\n"
        "Lets processes contend for locks, puts their masters, their network and themselves\n"
        "through faults, and checks that no lock was ever held twice.\n",
    .print_more = print_faults,
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

#define IS_GIVEN(name) option_given(&table, given, name)

/* Reject options that contradict each other, and fill in defaults. */
static int complete(struct chaos_options *options, uint64_t given)
{
    bool local = IS_GIVEN("local"), file = IS_GIVEN("nodes"), compose = IS_GIVEN("compose");
    if (local + file + compose > 1)
        return option_usage("--local, --nodes and --compose exclude each other; keep one");
    options->where = file ? CHAOS_FILE : compose ? CHAOS_COMPOSE : CHAOS_LOCAL;
    options->self_test = IS_GIVEN("self-test");
    if (options->self_test && options->client_cmd != NULL)
        return option_usage("--self-test brings a client of its own; leave --client out");
    if (options->lock != CHAOS_PLAIN && options->breach != CHAOS_ONE_MASTER)
        return option_usage("--self-test=no-release, no-rollback and no-fence are of plain "
                           "locks; leave --kind out");
    if (options->breach == CHAOS_NO_FENCE && !options->fenced)
        return option_usage("--self-test=no-fence is about tokens; add --fenced");
    if (IS_GIVEN("min-masters") && options->client_cmd == NULL)
        return option_usage("--min-masters is about the client of --client; leave it out");
    if (options->lock != CHAOS_PLAIN && options->client_cmd != NULL)
        return option_usage("--kind is for our own contenders; leave --client out");
    if (options->fenced && (options->client_cmd != NULL || chaos_client_is_broken(options)))
        return option_usage("--fenced is for our own contenders, and those of a --client are "
                           "always checked; leave one of them out");
    if (IS_GIVEN("fencing") && (!options->fenced || options->where != CHAOS_LOCAL))
        return option_usage("--fencing is for --fenced on masters of --local; a node list has "
                           "the setting itself");
    if (IS_GIVEN("guard") && options->where != CHAOS_LOCAL)
        return option_usage("--guard is for masters of --local; a node list has a guard itself");
    if (options->markers && options->client_cmd != NULL)
        return option_usage("--guard is for our own contenders; leave --client out");
    if (options->lock == CHAOS_FAIR && options->where == CHAOS_LOCAL) {
        if (local && options->local != 1)
            return option_usage("--kind fair is for one master: say --local 1");
        options->local = 1;
    }
    if (options->lock == CHAOS_SEVERAL && options->names < 2)
        return option_usage("--kind several is of two names or more: say --names 2");
    if (options->hold_ms * 2 > options->ttl_ms)
        return option_usage(
            "--hold is over half of --ttl; hold for less, or make the ttl longer");
    if (!IS_GIVEN("faults"))
        options->faults = CHAOS_DEFAULT;
    if (!IS_GIVEN("min-masters") && options->client_cmd != NULL)
        options->min_masters = CHAOS_USUAL;
    if (!IS_GIVEN("min-holds"))
        options->min_holds = CHAOS_USUAL;
    if (!IS_GIVEN("seed")) {
        if (rl_entropy_bytes(&options->seed, sizeof(options->seed)) != 0) {
            fputs("redlock-chaos: no random bytes to be had; give a --seed\n", stderr);
            return EX_OSERR;
        }
        options->seed %= 1000000000; /* people will type it */
    }
    return -1;
}

int chaos_options_parse(struct chaos_options *options, int argc, char **argv)
{
    uint64_t given;
    *options = (struct chaos_options){
        .local = 5,
        .clients = 8,
        .names = 3,
        .ttl_ms = 1000,
        .hold_ms = 20,
        .argc = argc,
        .argv = argv,
    };
    int status = option_table_read(&table, options, argc, argv, &given);
    return status >= 0 ? status : complete(options, given);
}
