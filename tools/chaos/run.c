/* run.c - the work beside everything else: signals, dead processes, the terminal. */
#include "config_auto.h"

#include "chaos/run.h"

#include "chaos/check/check.h"

#include "base/clock.h"
#include "base/limits.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS 10
#define DRAW_EVERY_MS 100

static struct chaos_run *running;
static volatile sig_atomic_t signals_seen, first_signal;

static void note_signal(int number)
{
    if (signals_seen == 0)
        first_signal = number;
    signals_seen++;
}

void chaos_run_watch_signals(void)
{
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
        sigaction(ending[i], &action, NULL);
    action.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &action, NULL);
}

unsigned chaos_run_signals(int *ret_first)
{
    *ret_first = (int)first_signal;
    return (unsigned)signals_seen;
}

void chaos_run_set(struct chaos_run *run)
{
    running = run;
}

void chaos_run_fail(struct chaos_run *run, const char *format, ...)
{
    va_list arguments;
    if (run->error[0] != '\0')
        return;
    va_start(arguments, format);
    vsnprintf(run->error, sizeof(run->error), format, arguments);
    va_end(arguments);
}

int64_t chaos_now_ns(void)
{
    return running->record != NULL ? chaos_record_now_ns(running->record) : 0;
}

bool chaos_run_is_over(const struct chaos_run *run)
{
    return signals_seen > 0 || run->error[0] != '\0' ||
           chaos_now_ns() >= run->options->duration_ms * RL_NS_PER_MS;
}

/* ---- the display ----------------------------------------------------------------------- */

/* Two contenders that hold one lock at one moment, and do not both read. The first is checked
 * again after the second, so each counted overlap is certain. The checker finds the others in
 * the logs. */
static void look_for_two(struct chaos_run *run)
{
    static int64_t told[CHAOS_CLIENTS_MAX];
    struct chaos_record *record = run->record;
    for (unsigned a = 0; a < record->seats; a++) {
        struct chaos_seat *one = &record->seat[a];
        int64_t until_ns = atomic_load(&one->believes_until_ns);
        unsigned name = atomic_load(&one->holds_name);
        if (until_ns == 0 || until_ns == told[a])
            continue;
        for (unsigned b = 0; b < record->seats; b++) {
            struct chaos_seat *other = &record->seat[b];
            int64_t other_ns = atomic_load(&other->believes_until_ns);
            bool same =
                b != a && atomic_load(&other->holds_name) == name &&
                !(atomic_load(&one->holds_shared) && atomic_load(&other->holds_shared)) &&
                atomic_load(&other->believes_until_ns) == other_ns;
            int64_t now_ns = chaos_now_ns();
            if (same && other_ns > now_ns && until_ns > now_ns &&
                atomic_load(&one->believes_until_ns) == until_ns &&
                atomic_load(&one->holds_name) == name && told[b] != other_ns) {
                told[a] = until_ns;
                run->violations++;
                break;
            }
        }
    }
}

/* Does a fault break an assumption now, or did one a short while ago? Then nothing is counted
 * here; the checker looks closer. */
static bool is_excused(const struct chaos_run *run)
{
    int64_t now_ns = chaos_now_ns();
    int64_t after_ns = chaos_place_max_ttl_ms(&run->place) * RL_NS_PER_MS;
    for (size_t i = 0; i < run->fault_count; i++) {
        const struct chaos_fault *fault = &run->faults[i];
        if (fault->begun_ns > 0 && chaos_broken_by(run->options, fault) != CHAOS_NONE_BROKEN &&
            (fault->undone_ns == 0 || now_ns < fault->undone_ns + after_ns))
            return true;
    }
    return false;
}

static enum chaos_node_state state_of(const struct chaos_run *run, unsigned node)
{
    struct chaos_history so_far = {
        .options = run->options,
        .nodes = run->nodes,
        .needed = run->nodes / 2 + 1,
        .guard_ns = 0,
        .duration_ns = chaos_now_ns(),
        .fault_count = run->fault_count,
        .faults = run->faults,
    };
    return chaos_node_state(&so_far, node, chaos_now_ns());
}

static void look_at_load(struct chaos_run *run)
{
    double load = 0;
    if (getloadavg(&load, 1) != 1)
        return;
    if (run->load.processors == 0) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        run->load = (struct chaos_load){.processors = processors > 0 ? (unsigned)processors : 1,
                                        .begin = load};
    }
    if (load > run->load.highest)
        run->load.highest = load;
}

static void draw(struct chaos_run *run)
{
    static int64_t drawn_ns;
    struct chaos_progress progress = {.now_ns = chaos_now_ns(),
                                      .violations = run->violations,
                                      .nodes = run->nodes,
                                      .fault_count = run->fault_count,
                                      .faults = run->faults};
    if (drawn_ns != 0 && progress.now_ns < drawn_ns + DRAW_EVERY_MS * RL_NS_PER_MS)
        return;
    drawn_ns = progress.now_ns;
    look_at_load(run);
    for (unsigned i = 0; i < run->record->seats; i++)
        progress.holds += atomic_load(&run->record->seat[i].holds);
    for (unsigned i = 0; i < run->nodes; i++)
        progress.node[i] = state_of(run, i);
    chaos_progress_draw(&run->display, &progress);
}

static void look_around(struct chaos_run *run)
{
    char why[200];
    if (run->record == NULL || run->workers.record == NULL)
        return;
    if (!run->ending) {
        if (!is_excused(run))
            look_for_two(run);
        if (!chaos_workers_fine(&run->workers, why, sizeof(why)))
            chaos_run_fail(run, "%s", why);
        if (chaos_proxies_gone(run->proxies))
            chaos_run_fail(run, "the process of the proxies has ended");
        if (run->place.type->fine != NULL &&
            !run->place.type->fine(&run->place, why, sizeof(why)))
            chaos_run_fail(run, "%s", why);
    }
    draw(run);
}

bool chaos_pause_ms(int64_t ms)
{
    int first;
    int64_t end_ns = rl_clock_now_ns() + ms * RL_NS_PER_MS;
    for (;;) {
        look_around(running);
        unsigned signals = chaos_run_signals(&first);
        if (running->ending ? signals > 1 : signals > 0)
            return false;
        int64_t left_ns = end_ns - rl_clock_now_ns();
        if (left_ns <= 0)
            return true;
        if (left_ns > SLICE_MS * RL_NS_PER_MS)
            left_ns = SLICE_MS * RL_NS_PER_MS;
        struct timespec nap = {.tv_nsec = (long)left_ns};
        nanosleep(&nap, NULL);
    }
}
