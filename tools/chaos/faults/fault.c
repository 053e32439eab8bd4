/* fault.c - the code common to the kinds of faults, and the faults that places do. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLOCK_SLACK_MS 500
#define FROM_FILES (CHAOS_BIT_OF(KILL_AOF) | CHAOS_BIT_OF(KILL_RDB))
#define KILLS (FROM_FILES | CHAOS_BIT_OF(KILL))
#define CLOCKS (CHAOS_BIT_OF(CLOCK) | CHAOS_BIT_OF(CLOCK_BACK))

const struct chaos_fault_way *chaos_fault_way(enum chaos_fault_kind kind)
{
    static const struct chaos_fault_way *const ways[] = {
        &chaos_faults_of_holders, &chaos_faults_of_paths, &chaos_faults_of_commands,
        &chaos_faults_of_places, &chaos_faults_of_spares, &chaos_faults_of_lists};
    size_t i = 0;
    while ((ways[i]->kinds & CHAOS_BIT(kind)) == 0) {
        i++;
        assert(i < sizeof(ways) / sizeof(ways[0]));
    }
    return ways[i];
}

bool chaos_fault_tell(struct chaos_fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof(fault->text), format, arguments);
    va_end(arguments);
    return true;
}

const char *chaos_nodes_text(uint64_t nodes, char ret_text[CHAOS_NODES_TEXT])
{
    size_t len = 0;
    bool many = (nodes & (nodes - 1)) != 0;
    ret_text[0] = '\0';
    for (unsigned i = 0; i < REDLOCK_NODES_MAX && len + 12 < CHAOS_NODES_TEXT; i++) {
        if ((nodes >> i & 1) == 0)
            continue;
        const char *before = len == 0          ? (many ? "nodes " : "node ")
                             : nodes >> i == 1 ? " and "
                                               : ", ";
        len += (size_t)snprintf(ret_text + len, CHAOS_NODES_TEXT - len, "%s%u", before, i + 1);
    }
    return ret_text;
}

/* ---- probing masters ------------------------------------------------------------------ */

/* Ask the fault's masters; the number that did answer, and those that did. */
static unsigned ask_all(struct chaos_run *run, uint64_t nodes, int64_t limit_ms,
                        uint64_t *ret_answered)
{
    struct chaos_probe probe[REDLOCK_NODES_MAX];
    unsigned of[REDLOCK_NODES_MAX];
    size_t count = 0;
    unsigned answered = 0;
    *ret_answered = 0;
    for (unsigned i = 0; i < run->nodes; i++) {
        if ((nodes >> i & 1) == 0)
            continue;
        of[count] = i;
        probe[count++] = chaos_probe_of(run, i);
    }
    chaos_probe_all(probe, count, limit_ms, false);
    for (size_t i = 0; i < count; i++)
        if (probe[i].answer == CHAOS_ANSWERS) {
            *ret_answered |= UINT64_C(1) << of[i];
            answered++;
        }
    return answered;
}

bool chaos_masters_are_silent(struct chaos_run *run, struct chaos_fault *fault)
{
    char text[CHAOS_NODES_TEXT];
    uint64_t answered;
    if (ask_all(run, fault->nodes, CHAOS_SILENT_MS, &answered) == 0)
        return chaos_fault_tell(fault, "no answer to a PING from %s in %d ms",
                                chaos_nodes_text(fault->nodes, text), CHAOS_SILENT_MS);
    chaos_fault_tell(fault, "a PING is still answered by %s", chaos_nodes_text(answered, text));
    return false;
}

bool chaos_masters_answer(struct chaos_run *run, struct chaos_fault *fault)
{
    char text[CHAOS_NODES_TEXT];
    uint64_t answered;
    ask_all(run, fault->nodes, CHAOS_ANSWER_MS, &answered);
    if (answered == fault->nodes)
        return true;
    chaos_fault_tell(fault, "no answer afterwards from %s",
                     chaos_nodes_text(fault->nodes & ~answered, text));
    return false;
}

/* ---- markers: does a restarted master have its old data? ------------------------------ */

/* A marker is a key that shows which data a restarted master began with. "kept" is in its
 * files, if it has any; with RDB "after" is not. Markers outlive the lease of any lock. */
static bool put(struct chaos_run *run, unsigned node, const char *name)
{
    char text[128];
    return chaos_master_say(run, node, text, sizeof(text), "SET %s%s 1 PX 3600000",
                            run->record->prefix, name) == '+';
}

static bool has(struct chaos_run *run, unsigned node, const char *name, bool *ret_has)
{
    char text[128];
    char type = chaos_master_say(run, node, text, sizeof(text), "EXISTS %s%s",
                                 run->record->prefix, name);
    *ret_has = strcmp(text, "1") == 0;
    return type == ':';
}

static void forget(struct chaos_run *run, unsigned node)
{
    char text[128];
    chaos_master_say(run, node, text, sizeof(text), "DEL %skept %safter", run->record->prefix,
                     run->record->prefix);
}

static bool put_markers(struct chaos_run *run, struct chaos_fault *fault)
{
    char text[128];
    for (unsigned i = 0; i < run->nodes; i++) {
        if ((fault->nodes >> i & 1) == 0)
            continue;
        bool fine = put(run, i, "kept");
        if (fine && fault->kind == CHAOS_FAULT_KILL_RDB)
            fine = chaos_master_say(run, i, text, sizeof(text), "SAVE") == '+' &&
                   put(run, i, "after");
        if (!fine) {
            chaos_fault_tell(fault, "node %u could not be made to keep a marker: %.60s", i + 1,
                             text);
            return false;
        }
    }
    return true;
}

/* The master has begun with the data that it should have. */
static bool began_as_told(struct chaos_run *run, struct chaos_fault *fault, unsigned node)
{
    bool kept = false, after = false;
    if (!has(run, node, "kept", &kept) || !has(run, node, "after", &after)) {
        chaos_fault_tell(fault, "node %u can't be asked afterwards", node + 1);
        return false;
    }
    bool want = (FROM_FILES & CHAOS_BIT(fault->kind)) != 0;
    if (kept == want && !(after && fault->kind == CHAOS_FAULT_KILL_RDB))
        return true;
    chaos_fault_tell(fault, "node %u began with%s what it had", node + 1, want ? "out" : "");
    return false;
}

/* ---- clocks --------------------------------------------------------------------------- */

/* How far the master's clock is ahead of ours. */
static bool clock_ahead_ms(struct chaos_run *run, unsigned node, int64_t *ret_ms)
{
    char text[128];
    struct timespec now;
    if (chaos_master_say(run, node, text, sizeof(text), "TIME") != '*')
        return false;
    clock_gettime(CLOCK_REALTIME, &now);
    const char *line = strchr(text, '\n'); /* count, length, seconds */
    line = line != NULL ? strchr(line + 1, '\n') : NULL;
    if (line == NULL)
        return false;
    int64_t seconds = strtoll(line + 1, NULL, 10);
    line = strchr(line + 1, '\n'); /* length, microseconds */
    line = line != NULL ? strchr(line + 1, '\n') : NULL;
    int64_t us = line != NULL ? strtoll(line + 1, NULL, 10) : 0;
    *ret_ms = (seconds - now.tv_sec) * 1000 + us / 1000 - now.tv_nsec / 1000000;
    return true;
}

static bool clocks_are_ahead(struct chaos_run *run, struct chaos_fault *fault, int64_t by_ms)
{
    char text[CHAOS_NODES_TEXT];
    int64_t ahead_ms = 0;
    for (unsigned i = 0; i < run->nodes; i++) {
        if ((fault->nodes >> i & 1) == 0)
            continue;
        if (!clock_ahead_ms(run, i, &ahead_ms) || ahead_ms < by_ms - CLOCK_SLACK_MS ||
            ahead_ms > by_ms + CLOCK_SLACK_MS) {
            chaos_fault_tell(fault, "TIME of node %u is %+lld ms from ours, not %+lld", i + 1,
                             (long long)ahead_ms, (long long)by_ms);
            return false;
        }
    }
    if (by_ms != 0)
        chaos_fault_tell(fault, "TIME of %s is %+lld ms from ours",
                         chaos_nodes_text(fault->nodes, text), (long long)ahead_ms);
    return true;
}

/* ---- the faults of places ------------------------------------------------------------- */

static const char *cannot(struct chaos_run *run, enum chaos_fault_kind kind)
{
    return run->place.type->cannot(&run->place, kind);
}

static bool begin(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    char why[96] = "";
    if ((KILLS & CHAOS_BIT(fault->kind)) != 0 && !put_markers(run, fault))
        return false;
    for (unsigned i = 0; i < run->nodes; i++) {
        if ((fault->nodes >> i & 1) == 0)
            continue;
        active->done = true;
        if (!run->place.type->inflict(&run->place, fault, i, why, sizeof(why))) {
            chaos_fault_tell(fault, "node %u: %.90s", i + 1, why);
            return false;
        }
    }
    return true;
}

static bool seen(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    if (fault->kind == CHAOS_FAULT_CLOCK)
        return clocks_are_ahead(run, fault, fault->step_ms);
    if (fault->kind == CHAOS_FAULT_CLOCK_BACK)
        return clocks_are_ahead(run, fault, -fault->step_ms);
    return chaos_masters_are_silent(run, fault);
}

static bool undo(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    char why[96] = "";
    bool fine = true;
    for (unsigned i = 0; i < run->nodes; i++)
        if ((fault->nodes >> i & 1) != 0 &&
            !run->place.type->undo(&run->place, fault, i, why, sizeof(why))) {
            chaos_fault_tell(fault, "node %u: %.90s", i + 1, why);
            fine = false;
        }
    return fine;
}

static bool gone(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    if (!chaos_masters_answer(run, fault))
        return false;
    if ((CLOCKS & CHAOS_BIT(fault->kind)) != 0)
        return clocks_are_ahead(run, fault, 0);
    for (unsigned i = 0; i < run->nodes; i++)
        if ((fault->nodes >> i & 1) != 0 && (KILLS & CHAOS_BIT(fault->kind)) != 0 &&
            !began_as_told(run, fault, i))
            return false;
    for (unsigned i = 0; i < run->nodes; i++)
        if ((fault->nodes >> i & 1) != 0 && (KILLS & CHAOS_BIT(fault->kind)) != 0)
            forget(run, i);
    return true;
}

const struct chaos_fault_way chaos_faults_of_places = {
    CHAOS_OF_PLACES, cannot, begin, seen, NULL, undo, gone,
};
