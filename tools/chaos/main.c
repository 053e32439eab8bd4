/* main.c - redlock-chaos: contenders, faults, and a checker; the order of things. */
#include "config_auto.h"

#include "chaos/faults/confirm.h"
#include "chaos/check/keys.h"
#include "chaos/place/nodes.h"
#include "chaos/options.h"
#include "chaos/faults/run_schedule.h"
#include "chaos/place/prepare.h"
#include "chaos/report/report.h"
#include "chaos/faults/schedule.h"

#include "base/clock.h"
#include "base/duration.h"
#include "base/entropy.h"
#include "base/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_NOTHING 2
#define USUAL_MS 30000
#define HOLDS_PER_S 4 /* fewer, and the locks were hardly ever taken */
#define CONTAINERS_USUAL 9

static void fail(const char *text)
{
    fprintf(stderr, "redlock-chaos: %s\n", text);
}

/* ---- beginning ------------------------------------------------------------------------- */

static const struct chaos_place_type *const types[] = {
    [CHAOS_LOCAL] = &chaos_place_local,
    [CHAOS_FILE] = &chaos_place_file,
    [CHAOS_COMPOSE] = &chaos_place_compose,
};

/* A node list says by itself by what its clients' guard is. Somebody else's client does not
 * read it. */
static int start_place(struct chaos_run *run, struct chaos_options *options)
{
    char why[512] = "";
    run->place =
        (struct chaos_place){.type = types[run->options->where], .options = run->options};
    rl_config_init(&run->place.config);
    if (!run->place.type->start(&run->place, why, sizeof(why))) {
        fail(why);
        return run->options->where == CHAOS_FILE ? EX_CONFIG : EX_UNAVAILABLE;
    }
    run->nodes = run->place.config.node_count;
    options->markers =
        rl_guard_marks(run->place.config.guard) && options->client_cmd == NULL;
    options->certified = options->fenced && run->place.config.fencing == REDLOCK_FENCING_STRICT;
    options->strict = options->markers && run->place.config.guard == RL_GUARD_STRICT;
    return -1;
}

static int too_short(int64_t needs_ms)
{
    char needs[RL_DURATION_TEXT_MAX];
    rl_duration_format(needs_ms, needs);
    return option_usage("--duration is too short for each of these kinds of faults to occur; "
                       "give %s or more, or fewer --faults",
                       needs);
}

/* In whole seconds, with room for each of these faults. */
static int64_t needs_ms_of(const struct chaos_options *options, unsigned nodes)
{
    return (chaos_schedule_needs_ms(options, nodes) + 999) / 1000 * 1000;
}

/* Refuse options before anything is started. The number of masters in containers is not known
 * yet, so a duration too short for some number of them is refused. */
static int check_before(const struct chaos_options *options)
{
    const struct chaos_place_type *type = types[options->where];
    struct chaos_options possible = *options;
    bool local = options->where == CHAOS_LOCAL;
    int64_t most_ms = 0;
    if (options->where == CHAOS_FILE)
        return -1; /* nothing is started there: it is all asked later */
    for (int i = 0; i < CHAOS_FAULT_KINDS; i++) {
        enum chaos_fault_kind kind = (enum chaos_fault_kind)i;
        const uint64_t placed = CHAOS_OF_PLACES | CHAOS_OF_SPARES;
        bool asked = (options->faults & placed & CHAOS_BIT(i)) != 0;
        if (!asked || type->never(kind) == NULL)
            continue;
        if ((options->named & CHAOS_BIT(i)) != 0)
            return option_usage("--faults %s: %s", chaos_fault_word(kind), type->never(kind));
        possible.faults &= ~CHAOS_BIT(i);
    }
    for (unsigned nodes = local ? options->local : 1;
         nodes <= (local ? options->local : CONTAINERS_USUAL); nodes++) {
        int64_t needs_ms = needs_ms_of(&possible, nodes);
        if (needs_ms > most_ms)
            most_ms = needs_ms;
    }
    return options->duration_ms > 0 && most_ms > options->duration_ms ? too_short(most_ms) : -1;
}

/* The kinds of faults possible here, and their schedule. */
static int make_schedule(struct chaos_run *run, struct chaos_options *options)
{
    char why[256] = "";
    uint64_t asked = options->faults;
    if (options->lock == CHAOS_FAIR && run->nodes > 1)
        return option_usage("--kind fair is for one master, and these are %u", run->nodes);
    chaos_confirm_faults(run, options, options->named);
    if (!chaos_run_schedule_possible(run, options->named, &options->faults, why, sizeof(why)))
        return option_usage("%s", why);
    if (asked != 0 && options->faults == 0)
        return option_usage("none of these faults is possible here");
    int64_t needs_ms = needs_ms_of(options, run->nodes);
    if (options->duration_ms == 0)
        options->duration_ms = needs_ms > USUAL_MS ? needs_ms : USUAL_MS;
    if (needs_ms > options->duration_ms)
        return too_short(needs_ms);
    if (options->min_holds == CHAOS_USUAL)
        options->min_holds = (unsigned)(options->duration_ms / 1000 * HOLDS_PER_S);
    run->fault_count = chaos_schedule(options, run->nodes, run->faults);
    return -1;
}

static const char *plural(unsigned count)
{
    return count == 1 ? "" : "s";
}

static void announce(const struct chaos_run *run)
{
    const struct chaos_options *options = run->options;
    char duration[RL_DURATION_TEXT_MAX], ttl[RL_DURATION_TEXT_MAX];
    rl_duration_format(options->duration_ms, duration);
    rl_duration_format(options->ttl_ms, ttl);
    bool several = options->lock == CHAOS_SEVERAL;
    char kind[24] = "";
    if (!several)
        snprintf(kind, sizeof(kind), "%s ", chaos_lock_word(options->lock));
    printf("%u contender%s, %u %slock%s of %s%s, %u master%s (%s), %s, seed %llu\n",
           options->clients, plural(options->clients), options->names, kind,
           plural(options->names), ttl, several ? ", several at once" : "", run->nodes,
           plural(run->nodes), run->place.type->name, duration,
           (unsigned long long)options->seed);
    for (unsigned i = 0; !run->place.ours && i < run->nodes; i++)
        printf("  %s\n", run->place.config.nodes[i].label);
    printf("%zu faults:", run->fault_count);
    for (int i = 0; i < CHAOS_FAULT_KINDS; i++)
        if ((options->faults >> i & 1) != 0)
            printf(" %s", chaos_fault_word((enum chaos_fault_kind)i));
    printf("%s\n", options->faults == 0 ? " none" : "");
    fflush(stdout);
}

static bool start_run(struct chaos_run *run, char *why, size_t why_size)
{
    char uuid[37];
    if (!chaos_await_votes(run, why, why_size))
        return false;
    struct chaos_record *record = chaos_record_new(run->options);
    if (record == NULL) {
        snprintf(why, why_size, "no memory for the logs: %s", strerror(errno));
        return false;
    }
    rl_entropy_uuid(uuid);
    snprintf(record->prefix, sizeof(record->prefix), "redlock-chaos:%.8s:", uuid);
    record->parent = getpid();
    run->record = record;
    run->proxies = chaos_proxies_start(&run->place.config, run->options->clients,
                                       &record->proxies_stalls, why, why_size);
    if (run->proxies == NULL || !chaos_nodes_write(&run->place.config, run->place.dir,
                                                   run->proxies, record, why, why_size))
        return false;
    run->begun_unix_s = time(NULL);
    record->begun_ns = rl_clock_now_ns();
    run->keys = chaos_keys_start(run, why, why_size);
    return run->keys != NULL &&
           chaos_workers_start(&run->workers, run->options, record, run->proxies, why, why_size);
}

/* ---- end ------------------------------------------------------------------------------- */

static void clean_up(struct chaos_run *run)
{
    chaos_keys_free(run->keys);
    run->keys = NULL;
    chaos_proxies_end(run->proxies);
    run->proxies = NULL;
    run->place.type->end(&run->place);
}

/* The stalls logged by heartbeats and looks at masters, without those that faults explain.
 * NULL: no memory. */
static struct chaos_stall *collect_stalls(const struct chaos_run *run,
                                          const struct chaos_history *history,
                                          size_t *ret_count)
{
    const struct chaos_stall_log *logs[CHAOS_CLIENTS_MAX + 1 + REDLOCK_NODES_MAX];
    unsigned log_count = 0;
    size_t total = 0;
    for (unsigned i = 0; i < run->options->clients; i++)
        logs[log_count++] = &run->record->stalls[i];
    logs[log_count++] = &run->record->proxies_stalls;
    for (unsigned i = 0; i < run->nodes; i++)
        if (chaos_keys_silences(run->keys, i) != NULL)
            logs[log_count++] = chaos_keys_silences(run->keys, i);
    struct chaos_stall *stalls = malloc(log_count * CHAOS_STALLS_MAX * sizeof(*stalls));
    for (unsigned i = 0; stalls != NULL && i < log_count; i++)
        total += chaos_stalls_of(logs[i], run->record->begun_ns, stalls + total);
    *ret_count = stalls != NULL ? chaos_stalls_sift(history, stalls, total) : 0;
    return stalls;
}

static void end_run(struct chaos_run *run, struct chaos_history *ret_history)
{
    int number;
    run->ending = true;
    if (chaos_run_signals(&number) > 0)
        chaos_run_fail(run, "ended by signal %d (%s)", number, strsignal(number));
    *ret_history = (struct chaos_history){
        .options = run->options,
        .nodes = run->nodes,
        .needed = run->nodes / 2 + 1,
        .begun_unix_s = run->begun_unix_s,
        .duration_ns = chaos_now_ns(),
        .guard_ns =
            run->place.config.guard ? chaos_schedule_guard_ms(run->options) * RL_NS_PER_MS : 0,
        .faults = run->faults,
        .load = run->load,
    };
    chaos_end_contenders(run, ret_history);
    ret_history->kill_count = run->workers.kill_count;
    ret_history->kills = run->workers.kills;
    chaos_keys_stop(run->keys);
    ret_history->stays = chaos_keys_stays(run->keys, &ret_history->stay_count);
    while (ret_history->fault_count < run->fault_count &&
           run->faults[ret_history->fault_count].begun_ns > 0)
        ret_history->fault_count++;
    ret_history->stalls = collect_stalls(run, ret_history, &ret_history->stall_count);
    for (unsigned i = 0; i < run->nodes; i++)
        ret_history->node_name[i] = run->place.config.nodes[i].label;
    memcpy(ret_history->server_version, run->server_version,
           sizeof(ret_history->server_version));
    for (unsigned name = 0; name < CHAOS_NAMES_MAX; name++)
        ret_history->record[name] = chaos_store_value(&run->record->store, name);
    ret_history->events =
        chaos_record_events(run->record, &ret_history->event_count, &ret_history->lost_events);
    if (ret_history->events == NULL || ret_history->stays == NULL ||
        ret_history->stalls == NULL)
        chaos_run_fail(run, "no memory for the logs of all contenders");
    memcpy(ret_history->error, run->error, sizeof(ret_history->error));
}

static int conclude(struct chaos_run *run)
{
    static struct chaos_history history;
    static struct chaos_verdict verdict;
    end_run(run, &history);
    chaos_progress_end(&run->display);
    chaos_check(&history, &verdict);
    chaos_report_text(&history, &verdict, stdout);
    int status = verdict.exit_status;
    if (run->options->report != NULL && !chaos_report_write(&history, &verdict))
        status = EX_IOERR;
    free((void *)history.events);
    free((void *)history.stays);
    free((void *)history.stalls);
    free(run->workers.kills);
    return status;
}

static int run_schedule(struct chaos_run *run)
{
    int number;
    char why[512] = "";
    if (!start_run(run, why, sizeof(why))) {
        fail(why);
        return chaos_run_signals(&number) > 0 ? SHOWN_NOTHING : EX_UNAVAILABLE;
    }
    chaos_progress_begin(&run->display, stderr, run->options->duration_ms * RL_NS_PER_MS);
    chaos_run_schedule(run);
    return conclude(run);
}

int main(int argc, char **argv)
{
    static struct chaos_run run; /* too big for a stack */
    static struct chaos_options options;
    static struct chaos_fault faults[CHAOS_FAULTS_MAX];
    int status = chaos_options_parse(&options, argc, argv);
    if (status >= 0)
        return status;
    run.options = &options;
    run.faults = faults;
    status = check_before(&options);
    if (status >= 0)
        return status;
    if (options.report != NULL && !chaos_report_prepare(options.report))
        return EX_IOERR;
    chaos_run_set(&run);
    chaos_run_watch_signals();
    status = start_place(&run, &options);
    if (status >= 0)
        return status;
    status = make_schedule(&run, &options);
    if (status < 0) {
        announce(&run);
        status = run_schedule(&run);
    }
    clean_up(&run);
    chaos_record_free(run.record);
    if (fflush(stdout) != 0 && status == 0)
        status = EX_IOERR;
    return status;
}
