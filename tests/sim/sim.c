/* sim.c - the simulator's program: many seeds, or one with its story. */
#include "config_auto.h"

#include "sim_jobs.h"
#include "sim_modes.h"
#include "sim_world.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_VIOLATION = 1, EXIT_USAGE = 2 };

struct options {
    struct sim_run run;
    bool one, trace, json;
};

static const char usage[] =
    "usage: sim [--seeds N] [--first S] [--jobs J] [--time-limit SECONDS] [--keep-going]\n"
    "           [--kinds FAMILY] [--json]\n"
    "       sim --seed S [--kinds FAMILY] [--trace]\n" SIM_MODES_USAGE "\n"
    "Plays simulated worlds of processes that lock, and masters and networks that fail, and\n"
    "checks them in true time. A seed is a world: the same one is always the same history.\n"
    "\n"
    "  --seeds N        how many (1000)\n"
    "  --first S        the first one (1)\n"
    "  --seed S         this one alone: what is found, and the hash of its history\n"
    "  --trace          and its story\n"
    "  --jobs J         processes that play (one)\n"
    "  --time-limit T   begin no more seeds after so many seconds\n"
    "  --keep-going     after a violation, too\n"
    "  --kinds FAMILY   of locks: plain, reentrant, shared, several, fair, rw, fenced;\n"
    "                   marked: masters with markers; partial: restarts keep some\n"
    "                   keys and lose others; delayed: with a lock-delay;\n"
    "                   members: the list of masters is changed, one at a time;\n"
    "                   kept: some locks keep others out for a least time;\n"
    "                   watching: with watch-wall-clock, and wall clocks that are set;\n"
    "                   limited: the library's bounds are small; crowded: 8 to 31 masters;\n"
    "                   failover: masters with replicas and Sentinels;\n"
    "                   any (each seed has its own)\n"
    "  --json           figures for programs\n" SIM_MODES_HELP "\n"
    "Exit status: 0, 1 where something was violated, 2 where the command line is wrong.\n";

static bool take_number(const char *text, uint64_t most, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || number > most)
        return false;
    if (*end == 's' && end[1] == '\0') /* a duration may say so */
        end++;
    *ret_number = number;
    return *end == '\0';
}

static bool take_family(const char *name)
{
    sim_fenced_wanted = strcmp(name, "fenced") == 0;
    sim_marked_wanted = strcmp(name, "marked") == 0;
    sim_partial_wanted = strcmp(name, "partial") == 0;
    sim_delayed_wanted = strcmp(name, "delayed") == 0;
    sim_members_wanted = strcmp(name, "members") == 0;
    sim_watching_wanted = strcmp(name, "watching") == 0;
    sim_kept_wanted = strcmp(name, "kept") == 0;
    sim_limited_wanted = strcmp(name, "limited") == 0;
    sim_crowded_wanted = strcmp(name, "crowded") == 0;
    sim_failover_wanted = strcmp(name, "failover") == 0;
    if (sim_fenced_wanted || sim_marked_wanted || sim_partial_wanted || sim_delayed_wanted ||
        sim_members_wanted || sim_watching_wanted || sim_kept_wanted || sim_limited_wanted || sim_crowded_wanted ||
        sim_failover_wanted)
        name = "any";
    for (int family = 0; family <= SIM_FAMILIES; family++) {
        if (strcmp(sim_family_name((enum sim_family)family), name) == 0) {
            sim_family_wanted = family;
            return true;
        }
    }
    return false;
}

static bool take_option(struct options *options, int option, const char *value)
{
    uint64_t number = 0;
    if (option == 'K')
        return take_family(value);
    if (value && !take_number(value, INT64_MAX, &number))
        return false;
    switch (option) {
    case 'n':
        options->run.seeds = number;
        return number > 0;
    case 'f':
        options->run.first = number;
        return true;
    case 's':
        options->run.first = number;
        options->run.seeds = 1;
        options->one = true;
        return true;
    case 't':
        options->trace = true;
        return true;
    case 'j':
        options->run.jobs = (unsigned)number;
        return number > 0 && number <= SIM_JOBS_MAX;
    case 'l':
        options->run.limit_s = (double)number;
        return number > 0;
    case 'k':
        options->run.go_on = true;
        return true;
    case 'J':
        options->json = true;
        return true;
    default:
        return false;
    }
}

static bool take_options(int argc, char **argv, struct options *options)
{
    static const struct option names[] = {
        {"seeds", required_argument, NULL, 'n'},
        {"first", required_argument, NULL, 'f'},
        {"seed", required_argument, NULL, 's'},
        {"trace", no_argument, NULL, 't'},
        {"jobs", required_argument, NULL, 'j'},
        {"json", no_argument, NULL, 'J'},
        {"time-limit", required_argument, NULL, 'l'},
        {"keep-going", no_argument, NULL, 'k'},
        {"kinds", required_argument, NULL, 'K'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option;
    while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        }
        if (!take_option(options, option, optarg))
            return false;
    }
    return optind == argc && (options->one || !options->trace);
}

static void print_line(void *context, const char *line)
{
    (void)context;
    puts(line);
}

static int play_one(const struct options *options)
{
    static struct sim_tally tally;
    if (options->trace) {
        setvbuf(stdout, NULL, _IOLBF, 0); /* the last lines before a crash, too */
        sim_tell_to(print_line, NULL);
    }
    sim_world_play(options->run.first, &tally);
    printf("seed %" PRIu64 ": hash %016" PRIx64 ", %" PRIu64 " acquisitions, %.3f s",
           options->run.first, tally.hash, tally.acquired, (double)tally.simulated_ns / 1e9);
    if (sim_verdict()->text[0])
        printf(", %s: %s", sim_violated() ? "VIOLATION" : "cost", sim_verdict()->text);
    puts("");
    return sim_violated() ? EXIT_VIOLATION : EXIT_SUCCESS;
}

static int play_many(const char *program, const struct options *options)
{
    static struct sim_result result;
    if (sim_jobs_run(&options->run, &result)) {
        perror("sim: the jobs can't be started");
        return EXIT_USAGE;
    }
    const char *verdict = result.bad_count ? "violation" : "passed";
    if (options->json)
        sim_tally_json(&result.tally, &result.pace, options->run.first, verdict, stdout);
    else
        sim_tally_show(&result.tally, &result.pace, stdout);
    fflush(stdout);
    for (unsigned i = 0; i < result.bad_count && i < SIM_BAD_MAX; i++)
        fprintf(stderr,
                "seed %" PRIu64 ": %s\n  replay: %s --seed %" PRIu64 " --kinds %s --trace\n",
                result.bad[i].seed, result.bad[i].text, program, result.bad[i].seed,
                sim_kinds_wanted());
    if (result.bad_count)
        fprintf(stderr, "%u seeds are not as they should be\n", result.bad_count);
    return result.bad_count ? EXIT_VIOLATION : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct options options = {.run = {.first = 1, .seeds = 1000, .jobs = 1}};
    int status;
    if (sim_modes_run(argc, argv, &status))
        return status;
    if (!take_options(argc, argv, &options)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    options.run.shows = isatty(STDERR_FILENO) && !options.json;
    return options.one ? play_one(&options) : play_many(argv[0], &options);
}
