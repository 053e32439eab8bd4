/* fault_members.c - the list of masters is changed under way: contenders are ended, one after
 * the other, and started again with a list that leaves masters out; and so back. With one
 * master less any two majorities have a master in common, whichever list they are of. With two
 * less at once they may have none. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "chaos/faults/schedule.h"
#include "chaos/place/nodes.h"
#include "core/quorum.h"
#include "base/limits.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define BACK_EVERY_MS 20
#define LIST_BYTES (256 * 1024) /* of CLIENT LIST */

/* When the contenders had one list again; before that no other change may begin. */
static int64_t one_list_ns;

static const char *cannot(struct chaos_run *run, enum chaos_fault_kind kind)
{
    unsigned least = kind == CHAOS_FAULT_MEMBERS ? 3 : 5;
    struct server_at at;
    if (run->options->client_cmd != NULL || run->options->self_test)
        return "it is about our own contenders";
    if (run->nodes < least)
        return kind == CHAOS_FAULT_MEMBERS ? "it needs three masters" : "it needs five masters";
    if (kind == CHAOS_FAULT_MEMBERS_AT_ONCE && run->nodes % 2 == 0)
        return "two at once do no harm to an even number of masters";
    return chaos_master_at(run, 0, &at) ? NULL : "masters must be asked who is connected";
}

/* End a contender, and start it again with a list without these masters. */
static bool start_anew(struct chaos_run *run, struct chaos_active *active, unsigned client,
                       uint64_t without)
{
    struct chaos_fault *fault = active->fault;
    char why[100] = "the system refused it";
    if (run->workers.pid[client] != 0 && chaos_workers_kill(&run->workers, client) &&
        chaos_nodes_write_one(&run->place.config, run->proxies, &run->record->seat[client],
                              client, without, why, sizeof(why)) &&
        chaos_workers_replace(&run->workers, client))
        return true;
    chaos_fault_tell(fault, "contender %u could not be started anew: %s", client, why);
    return false;
}

/* The first one at once, so that there are two lists from now on. A lock may be held by the
 * list before for as long as a lease lasts. */
static bool begin(struct chaos_run *run, struct chaos_active *active)
{
    int64_t lease_ns = chaos_schedule_guard_ms(run->options) * RL_NS_PER_MS;
    while (one_list_ns > 0 && chaos_now_ns() < one_list_ns + lease_ns) {
        if (!chaos_pause_ms(5)) {
            chaos_fault_tell(active->fault, "the run ended before it was its turn");
            return false;
        }
    }
    active->fault->begun_ns = chaos_now_ns();
    active->done = true;
    active->client = 0;
    return start_anew(run, active, 0, active->fault->nodes);
}

/* The others in turn, until shortly before the end. */
static void again(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    unsigned next = (unsigned)active->client + 1;
    int64_t each_ns = fault->length_ns / (run->options->clients + 1);
    if (active->failed || next >= run->options->clients ||
        chaos_now_ns() < fault->begun_ns + each_ns * next)
        return;
    active->client = (int)next;
    if (!start_anew(run, active, next, fault->nodes))
        active->failed = true;
}

/* Which lists do the clients of this master have? One that does not answer has none. */
static void lists_there(struct chaos_run *run, const struct chaos_fault *fault, unsigned node,
                        bool *ret_former, bool *ret_changed)
{
    char *text = malloc(LIST_BYTES), former[16], changed[16];
    *ret_former = *ret_changed = false;
    snprintf(former, sizeof(former), ":n%u-ttl", run->nodes);
    snprintf(changed, sizeof(changed), ":n%u-ttl", run->nodes - rl_count(fault->nodes));
    if (text != NULL &&
        chaos_master_say(run, node, text, LIST_BYTES, "CLIENT LIST TYPE normal") == '$') {
        *ret_former = strstr(text, former) != NULL;
        *ret_changed = strstr(text, changed) != NULL;
    }
    free(text);
}

/* Has a master of both lists clients of the former one, and of the changed one or not? Another
 * fault may act on one of them, so that it does not tell. */
static bool any_has(struct chaos_run *run, const struct chaos_fault *fault, bool changed)
{
    for (uint64_t rest = rl_all(run->nodes) & ~fault->nodes; rest != 0; rest &= rest - 1) {
        bool has_former, has_changed;
        lists_there(run, fault, rl_first(rest), &has_former, &has_changed);
        if (has_former && has_changed == changed)
            return true;
    }
    return false;
}

static bool seen(struct chaos_run *run, struct chaos_active *active)
{
    char text[CHAOS_NODES_TEXT];
    if (!any_has(run, active->fault, true)) {
        chaos_fault_tell(active->fault, "no two lists were seen at one time");
        return false;
    }
    return chaos_fault_tell(active->fault, "two lists are in use, one without %s",
                            chaos_nodes_text(active->fault->nodes, text));
}

static bool undo(struct chaos_run *run, struct chaos_active *active)
{
    bool fine = true;
    for (unsigned c = 0; c <= (unsigned)active->client; c++) {
        if (run->workers.pid[c] == 0 && !run->workers.vacant[c])
            continue;
        fine = start_anew(run, active, c, 0) && fine;
        (void)chaos_pause_ms(BACK_EVERY_MS);
    }
    one_list_ns = chaos_now_ns();
    return fine;
}

static bool gone(struct chaos_run *run, struct chaos_active *active)
{
    if (run->ending || any_has(run, active->fault, false))
        return true;
    chaos_fault_tell(active->fault, "not all contenders have the whole list again");
    return false;
}

const struct chaos_fault_way chaos_faults_of_lists = {
    CHAOS_OF_LISTS, cannot, begin, seen, again, undo, gone,
};
