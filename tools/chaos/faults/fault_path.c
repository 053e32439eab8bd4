/* fault_path.c - faults of the network: orders to the proxies. Whether a path is cut is
 * looked at from the contender's side of it, through its own port. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "base/clock.h"
#include "base/limits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define RESET_EVERY_MS 150
#define STANDING (CHAOS_BIT_OF(PARTITION) | CHAOS_BIT_OF(HALVES) | CHAOS_BIT_OF(RING))
#define CUTTING (STANDING | CHAOS_BIT_OF(PARTITION_THERE) | CHAOS_BIT_OF(PARTITION_BACK))
#define FROM_BEFORE (CHAOS_BIT_OF(HALF_OPEN) | CHAOS_BIT_OF(RESET))

/* Is the fault about the path from this contender to that master? */
static bool is_about(const struct chaos_run *run, const struct chaos_fault *fault,
                     unsigned client, unsigned node)
{
    if ((CUTTING & CHAOS_BIT(fault->kind)) != 0)
        return chaos_fault_cuts(fault, run->nodes, client, node);
    return (fault->clients >> client & 1) != 0 && (fault->nodes >> node & 1) != 0;
}

static const char *cannot(struct chaos_run *run, enum chaos_fault_kind kind)
{
    if (kind == CHAOS_FAULT_RING && run->nodes < 3)
        return "there is one majority only; use three masters or more";
    if (kind == CHAOS_FAULT_HALVES && run->nodes + run->options->clients < 3)
        return "one contender and one master are no halves";
    return NULL;
}

/* Apply the fault to every path that it is about, or lift it. */
static bool order(struct chaos_run *run, const struct chaos_fault *fault, bool on)
{
    for (unsigned c = 0; c < run->options->clients; c++) {
        for (unsigned n = 0; n < run->nodes; n++) {
            struct chaos_path *path = chaos_proxies_path(run->proxies, c, n);
            enum chaos_pass there = CHAOS_PASSES, back = CHAOS_PASSES;
            if (!is_about(run, fault, c, n))
                continue;
            if (on && (STANDING & CHAOS_BIT(fault->kind)) != 0)
                there = back = CHAOS_STANDS;
            else if (on && fault->kind == CHAOS_FAULT_PARTITION_THERE)
                there = CHAOS_VANISHES;
            else if (on && fault->kind == CHAOS_FAULT_PARTITION_BACK)
                back = CHAOS_VANISHES;
            else if (fault->kind == CHAOS_FAULT_DELAY)
                atomic_store(&path->delay_ms, on ? (int)fault->step_ms : 0);
            else if (fault->kind == CHAOS_FAULT_SPLIT)
                atomic_store(&path->split, on);
            else if (on && fault->kind == CHAOS_FAULT_HALF_OPEN)
                atomic_fetch_add(&path->half_opens, 1);
            else if (on && fault->kind == CHAOS_FAULT_RESET)
                atomic_fetch_add(&path->resets, 1);
            atomic_store(&path->pass[CHAOS_THERE], there);
            atomic_store(&path->pass[CHAOS_BACK], back);
        }
    }
    return chaos_proxies_obey(run->proxies);
}

/* ---- probes on every path of the fault ------------------------------------------------- */

/* Probes in new memory; none is connected yet. */
static struct chaos_probe *make_probes(struct chaos_run *run, const struct chaos_fault *fault,
                                       size_t *ret_count)
{
    size_t count = 0;
    struct chaos_probe *probe = calloc(run->options->clients * run->nodes, sizeof(*probe));
    for (unsigned c = 0; probe != NULL && c < run->options->clients; c++)
        for (unsigned n = 0; n < run->nodes; n++)
            if (is_about(run, fault, c, n)) {
                int port = chaos_proxies_port(run->proxies, c, n);
                probe[count++] =
                    (struct chaos_probe){.at = {.host = "127.0.0.1", .port = port},
                                         .tls = run->place.config.nodes[n].transport == RL_TLS,
                                         .fd = -1};
            }
    *ret_count = count;
    return probe;
}

/* Connect and ask on all of them; how many have said `answer`. */
static size_t count_answers(struct chaos_run *run, const struct chaos_fault *fault,
                            enum chaos_answer answer, int64_t limit_ms, size_t *ret_count,
                            int64_t *ret_fastest_ns)
{
    struct chaos_probe *probe = make_probes(run, fault, ret_count);
    size_t found = 0;
    *ret_fastest_ns = INT64_MAX;
    if (probe == NULL)
        return 0;
    chaos_probe_all(probe, *ret_count, limit_ms, false);
    for (size_t i = 0; i < *ret_count; i++) {
        found += probe[i].answer == answer;
        if (probe[i].answer == CHAOS_ANSWERS && probe[i].took_ns < *ret_fastest_ns)
            *ret_fastest_ns = probe[i].took_ns;
    }
    free(probe);
    return found;
}

/* The sums of the counts of the fault's paths. */
struct counts {
    uint64_t came[CHAOS_WAYS], went[CHAOS_WAYS], lost[CHAOS_WAYS], parts[CHAOS_WAYS];
};

static struct counts count_bytes(struct chaos_run *run, const struct chaos_fault *fault)
{
    struct counts counts = {.came = {0}};
    for (unsigned c = 0; c < run->options->clients; c++)
        for (unsigned n = 0; n < run->nodes; n++) {
            struct chaos_path *path = chaos_proxies_path(run->proxies, c, n);
            if (!is_about(run, fault, c, n))
                continue;
            for (int way = 0; way < CHAOS_WAYS; way++) {
                counts.came[way] += atomic_load(&path->came[way]);
                counts.went[way] += atomic_load(&path->went[way]);
                counts.lost[way] += atomic_load(&path->lost[way]);
                counts.parts[way] += atomic_load(&path->parts[way]);
            }
        }
    return counts;
}

/* ---- observed effects ------------------------------------------------------------------ */

/* Nothing comes back, and the proxies' counts say where it was lost. */
static bool seen_cut(struct chaos_run *run, struct chaos_fault *fault)
{
    size_t count = 0;
    int64_t fastest_ns;
    struct counts before = count_bytes(run, fault);
    size_t silent =
        count_answers(run, fault, CHAOS_NO_ANSWER, CHAOS_SILENT_MS, &count, &fastest_ns);
    struct counts after = count_bytes(run, fault);
    uint64_t went = after.went[CHAOS_THERE] - before.went[CHAOS_THERE];
    uint64_t lost_there = after.lost[CHAOS_THERE] - before.lost[CHAOS_THERE];
    uint64_t lost_back = after.lost[CHAOS_BACK] - before.lost[CHAOS_BACK];
    bool as_told = fault->kind == CHAOS_FAULT_PARTITION_THERE  ? went == 0 && lost_there > 0
                   : fault->kind == CHAOS_FAULT_PARTITION_BACK ? went > 0 && lost_back > 0
                                                               : went == 0;
    chaos_fault_tell(
        fault, "%zu of %zu paths are silent; %llu bytes reached masters, %llu were lost",
        silent, count, (unsigned long long)went, (unsigned long long)(lost_there + lost_back));
    return silent == count && count > 0 && as_told;
}

static bool seen_delay(struct chaos_run *run, struct chaos_fault *fault)
{
    size_t count = 0;
    int64_t fastest_ns;
    size_t answered = count_answers(run, fault, CHAOS_ANSWERS,
                                    CHAOS_ANSWER_MS + 4 * fault->step_ms, &count, &fastest_ns);
    if (answered == 0) {
        chaos_fault_tell(fault, "no path answers at all");
        return false;
    }
    chaos_fault_tell(fault, "the fastest of %zu paths took %lld ms for a PING", count,
                     (long long)(fastest_ns / RL_NS_PER_MS));
    return fastest_ns >= 2 * fault->step_ms * RL_NS_PER_MS;
}

static bool seen_split(struct chaos_run *run, struct chaos_fault *fault)
{
    size_t count = 0;
    int64_t fastest_ns;
    struct counts before = count_bytes(run, fault);
    size_t answered =
        count_answers(run, fault, CHAOS_ANSWERS, CHAOS_ANSWER_MS, &count, &fastest_ns);
    struct counts after = count_bytes(run, fault);
    uint64_t bytes = after.went[CHAOS_BACK] - before.went[CHAOS_BACK];
    uint64_t parts = after.parts[CHAOS_BACK] - before.parts[CHAOS_BACK];
    chaos_fault_tell(fault, "%llu bytes came back in %llu parts", (unsigned long long)bytes,
                     (unsigned long long)parts);
    /* The two counts are read one after the other, while bytes go on. */
    return answered > 0 && bytes > 1 && parts + count >= bytes;
}

/* Connections from before the fault: still open and silent, or reset. */
static bool seen_from_before(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    enum chaos_answer wanted =
        fault->kind == CHAOS_FAULT_RESET ? CHAOS_RESETS : CHAOS_NO_ANSWER;
    size_t found = 0;
    (void)run;
    if (active->probe == NULL)
        return false;
    chaos_probe_all(active->probe, active->probes, CHAOS_SILENT_MS, true);
    for (size_t i = 0; i < active->probes; i++)
        found += active->probe[i].answer == wanted;
    chaos_fault_tell(fault, "%zu of %zu connections from before it are %s", found,
                     active->probes, wanted == CHAOS_RESETS ? "reset" : "open and silent");
    chaos_probe_close(active->probe, active->probes);
    return found == active->probes && found > 0;
}

/* ---- the way of all of them ----------------------------------------------------------- */

static bool begin(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    if ((FROM_BEFORE & CHAOS_BIT(fault->kind)) != 0) {
        active->probe = make_probes(run, fault, &active->probes);
        if (active->probe != NULL)
            chaos_probe_all(active->probe, active->probes, CHAOS_ANSWER_MS, true);
        /* Connections without an answer (TLS) have been let in too when this returns. */
        (void)chaos_proxies_obey(run->proxies);
    }
    active->done = true;
    active->again_ns = chaos_now_ns() + RESET_EVERY_MS * RL_NS_PER_MS;
    if (order(run, fault, true))
        return true;
    chaos_fault_tell(fault, "the proxies do not obey");
    return false;
}

static bool seen(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    if ((FROM_BEFORE & CHAOS_BIT(fault->kind)) != 0)
        return seen_from_before(run, active);
    if (fault->kind == CHAOS_FAULT_DELAY)
        return seen_delay(run, fault);
    return fault->kind == CHAOS_FAULT_SPLIT ? seen_split(run, fault) : seen_cut(run, fault);
}

/* Connections are reset again and again while it lasts. */
static void again(struct chaos_run *run, struct chaos_active *active)
{
    if (active->fault->kind != CHAOS_FAULT_RESET || chaos_now_ns() < active->again_ns)
        return;
    active->again_ns = chaos_now_ns() + RESET_EVERY_MS * RL_NS_PER_MS;
    order(run, active->fault, true);
}

static bool undo(struct chaos_run *run, struct chaos_active *active)
{
    if (active->probe != NULL)
        chaos_probe_close(active->probe, active->probes);
    free(active->probe);
    active->probe = NULL;
    if (order(run, active->fault, false))
        return true;
    chaos_fault_tell(active->fault, "the proxies do not obey");
    return false;
}

static bool gone(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    size_t count = 0;
    int64_t fastest_ns;
    size_t answered =
        count_answers(run, fault, CHAOS_ANSWERS, CHAOS_ANSWER_MS, &count, &fastest_ns);
    if (answered == count &&
        (fault->kind != CHAOS_FAULT_DELAY || fastest_ns < 2 * fault->step_ms * RL_NS_PER_MS))
        return true;
    chaos_fault_tell(fault, "%zu of %zu paths answer afterwards", answered, count);
    return false;
}

const struct chaos_fault_way chaos_faults_of_paths = {
    CHAOS_OF_PATHS, cannot, begin, seen, again, undo, gone,
};
