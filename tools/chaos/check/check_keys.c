/* check_keys.c - keys that nobody took back. A contender that releases a lock sends its release
 * to every master. So does a refused contender, if some masters had granted the lock. A key
 * that stays until it expires was forgotten. Such a key breaks no promise of exclusion, but it
 * costs all others a ttl.
 *
 * A key counts if:
 *
 *   - it stayed on a master until it expired, for at least half a ttl after its contender's
 *     release. If no contender ever had the key, the whole time it was seen counts;
 *   - it is there half a ttl after the last contender has released, or given up its last try.
 *
 * A fault can keep a release from a master. Such a fault hit the master, the path to it, or a
 * contender, while the key was not wanted any more or within a ttl before. The key is then not
 * counted. Nor is it if a contender that may have set it was killed meanwhile, or within a ttl
 * before. A change of the list of masters explains no more than that: masters that leave a list
 * go on, and so do the contenders that have the former list.
 *
 * A stalled machine can do so too. Time in which the contender, the proxies or the master did
 * not run is subtracted. Stalls as long as a node's time limit end its connection, and the
 * release waits for the next one: that time is subtracted as well. A key that would count
 * without this is excused. */
#include "config_auto.h"

#include "chaos/check/check.h"

#include "chaos/check/stall.h"

#include "base/limits.h"

#include <stdlib.h>
#include <string.h>

/* A key that vanished earlier than this before its expiry was deleted: ttl / 5. */
#define EARLY_PART 5

/* The interval between looks at a master. A key may be older by this much, or a little more. */
#define SEEN_LATE_NS (100 * CHAOS_MS)

static bool is_of_all(enum chaos_fault_kind kind)
{
    return kind == CHAOS_FAULT_HALVES || kind == CHAOS_FAULT_RING;
}

/* May a fault have kept a release from this master, at some time in [from_ns, to_ns]? */
static bool is_explained(const struct chaos_history *history, unsigned node,
                         const struct chaos_hold *hold, int64_t from_ns, int64_t to_ns)
{
    for (size_t i = 0; i < history->fault_count; i++) {
        const struct chaos_fault *fault = &history->faults[i];
        if (fault->begun_ns == 0 || fault->begun_ns > to_ns ||
            (fault->undone_ns != 0 && fault->undone_ns < from_ns) ||
            (CHAOS_OF_LISTS & CHAOS_BIT(fault->kind)) != 0)
            continue;
        if ((CHAOS_OF_HOLDERS & CHAOS_BIT(fault->kind)) == 0) {
            if (is_of_all(fault->kind) || (fault->nodes & CHAOS_BIT(node)) != 0)
                return true;
        } else if (hold == NULL || (fault->clients & CHAOS_BIT(hold->client)) != 0) {
            return true;
        }
    }
    return false;
}

/* The contenders that may have set a key that belongs to no hold. They had a try under way when
 * the key was first seen, or a moment before. */
static uint64_t who_tried(const struct chaos_hold_history *hold_history,
                          const struct chaos_stay *stay)
{
    uint64_t clients = 0;
    for (size_t i = hold_history->first_try[stay->name];
         i < hold_history->first_try[stay->name + 1]; i++)
        if (hold_history->try[i].from_ns <= stay->from_ns &&
            hold_history->try[i].to_ns >= stay->from_ns - SEEN_LATE_NS)
            clients |= CHAOS_BIT(hold_history->try[i].client);
    return clients;
}

/* Was one of these contenders killed in [from_ns, to_ns]? */
static bool is_of_killed(const struct chaos_history *history, uint64_t clients, int64_t from_ns,
                         int64_t to_ns)
{
    for (size_t i = 0; i < history->kill_count; i++) {
        const struct chaos_kill *kill = &history->kills[i];
        if ((clients & CHAOS_BIT(kill->client)) != 0 && kill->at_ns >= from_ns &&
            kill->at_ns <= to_ns)
            return true;
    }
    return false;
}

/* The longest time for which one of these contenders may have been kept from its release. */
static int64_t stalled_ns(const struct chaos_history *history, uint64_t clients, unsigned node,
                          int64_t from_ns, int64_t to_ns)
{
    int64_t longest_ns = chaos_stalled_ns(history, 0, CHAOS_BIT(node), from_ns, to_ns);
    for (unsigned i = 0; i < history->options->clients; i++) {
        if ((clients & CHAOS_BIT(i)) == 0)
            continue;
        int64_t ns = chaos_stalled_ns(history, CHAOS_BIT(i), CHAOS_BIT(node), from_ns, to_ns);
        if (ns > longest_ns)
            longest_ns = ns;
    }
    return longest_ns;
}

/* The part of [from_ns, to_ns] that stalls explain. A node's time limit is a share of the ttl.
 */
static int64_t lost_ns(const struct chaos_history *history, uint64_t clients, unsigned node,
                       int64_t from_ns, int64_t to_ns)
{
    int64_t ns = stalled_ns(history, clients, node, from_ns, to_ns);
    if (ns >= history->options->ttl_ms * CHAOS_MS / history->nodes)
        ns += RL_RECONNECT_MAX_MS * CHAOS_MS;
    return ns;
}

static void say_stalled(struct chaos_finding *finding, int64_t lost_ns)
{
    size_t len = strlen(finding->text);
    finding->excused = finding->stalled = true;
    snprintf(finding->text + len, sizeof(finding->text) - len,
             "; the machine stalled, which explains %.0f ms of that", (double)lost_ns / 1e6);
}

static void judge(struct chaos_found *found, const struct chaos_stay *stay,
                  const struct chaos_hold *hold)
{
    const struct chaos_history *history = found->history;
    int64_t ttl_ns = history->options->ttl_ms * CHAOS_MS;
    int64_t since_ns = hold != NULL ? hold->end_ns : stay->from_ns;
    int64_t over_ns = hold != NULL ? hold->until_ns : stay->from_ns + ttl_ns;
    uint64_t clients =
        hold != NULL ? CHAOS_BIT(hold->client) : who_tried(found->hold_history, stay);
    int64_t killed_ns = hold != NULL ? hold->asked_ns : stay->from_ns - ttl_ns;
    if (stay->to_ns < since_ns + ttl_ns / 2 || stay->to_ns < over_ns - ttl_ns / EARLY_PART ||
        is_explained(history, stay->node, hold, since_ns - ttl_ns, stay->to_ns) ||
        is_of_killed(history, clients, killed_ns, stay->to_ns))
        return;
    struct chaos_finding finding = {
        .what = CHAOS_ORPHAN,
        .at_ns = stay->to_ns,
        .name = stay->name,
        .client = hold != NULL ? hold->client : 0,
        .other = hold != NULL ? hold->client : 0,
    };
    double ms = (double)(stay->to_ns - since_ns) / 1e6;
    unsigned node = stay->node + 1U;
    if (hold != NULL)
        snprintf(finding.text, sizeof(finding.text),
                 "node %u had the key of lock %u for %.0f ms after contender %u had let go of "
                 "it, until it ran out",
                 node, (unsigned)stay->name, ms, (unsigned)hold->client);
    else
        snprintf(finding.text, sizeof(finding.text),
                 "node %u had a key of lock %u for %.0f ms, until it ran out, by which nobody "
                 "ever had the lock",
                 node, (unsigned)stay->name, ms);
    int64_t late_ns = lost_ns(history, clients, stay->node, since_ns, stay->to_ns);
    if (stay->to_ns < since_ns + ttl_ns / 2 + late_ns)
        say_stalled(&finding, late_ns);
    chaos_find(found, &finding, 1);
}

static int by_key(const void *left, const void *right)
{
    const struct chaos_hold *a = *(const struct chaos_hold *const *)left;
    const struct chaos_hold *b = *(const struct chaos_hold *const *)right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void check_stays(struct chaos_found *found)
{
    const struct chaos_hold_history *hold_history = found->hold_history;
    const struct chaos_hold **holds = chaos_room(hold_history->hold_count, sizeof(*holds));
    for (size_t i = 0; i < hold_history->hold_count; i++)
        holds[i] = &hold_history->hold[i];
    if (hold_history->hold_count > 0)
        qsort(holds, hold_history->hold_count, sizeof(*holds), by_key);
    for (size_t i = 0; i < found->history->stay_count; i++) {
        const struct chaos_stay *stay = &found->history->stays[i];
        const struct chaos_hold wanted = {.key = stay->key, .name = stay->name};
        const struct chaos_hold *key = &wanted;
        const struct chaos_hold **hold =
            hold_history->hold_count > 0
                ? bsearch(&key, holds, hold_history->hold_count, sizeof(*holds), by_key)
                : NULL;
        judge(found, stay, hold != NULL ? *hold : NULL);
    }
    free(holds);
}

/* The last time at which a contender held a lock or tried to. */
static int64_t last_wish_ns(const struct chaos_history *history)
{
    for (size_t i = history->event_count; i > 0; i--)
        if (history->events[i - 1].what != CHAOS_RELEASED)
            return history->events[i - 1].at_ns;
    return 0;
}

static void check_left(struct chaos_found *found)
{
    const struct chaos_history *history = found->history;
    int64_t ttl_ns = history->options->ttl_ms * CHAOS_MS;
    int64_t last_ns = last_wish_ns(history);
    for (unsigned node = 0; node < history->nodes; node++) {
        unsigned keys = history->left[node];
        int64_t seen_ns = history->left_ns[node];
        if (seen_ns == 0 || seen_ns < last_ns + ttl_ns / 2 ||
            is_explained(history, node, NULL, last_ns - ttl_ns, seen_ns) ||
            is_of_killed(history, UINT64_MAX, last_ns - ttl_ns, seen_ns))
            continue;
        struct chaos_finding finding = {.what = CHAOS_ORPHAN, .at_ns = seen_ns};
        snprintf(finding.text, sizeof(finding.text),
                 "node %u had %u key%s left %.0f ms after the last contender had let go",
                 node + 1, keys, keys == 1 ? "" : "s", (double)(seen_ns - last_ns) / 1e6);
        int64_t late_ns = lost_ns(history, UINT64_MAX, node, last_ns, seen_ns);
        if (seen_ns < last_ns + ttl_ns / 2 + late_ns)
            say_stalled(&finding, late_ns);
        chaos_find(found, &finding, keys);
    }
}

/* If logs are not complete, holders and their times are unknown. */
void chaos_check_keys(struct chaos_found *found)
{
    if (found->history->lost_events > 0)
        return;
    check_stays(found);
    check_left(found);
}
