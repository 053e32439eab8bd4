/* fault_warm.c - another server, up for long, answers at a master's address, and later the
 * former one again. Neither has the keys of the other: whoever takes the place is emptied
 * before. All contenders lose their connections by it, as where a machine is replaced. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "chaos/faults/schedule.h"
#include "core/server_info.h"
#include "base/limits.h"
#include "kinds/marker.h"

#include <string.h>

#define TALK_LIMIT_MS 1000

/* A marker as a third server would have set it. */
#define STRANGE_MARKER                                                                         \
    "1111111111111111111111111111111111111111 2222222222222222222222222222222222222222 0 init"

static struct server_at spare_at(const struct chaos_run *run, unsigned node)
{
    return (struct server_at){.host = "127.0.0.1", .port = run->place.spare_port[node]};
}

static const char *cannot(struct chaos_run *run, enum chaos_fault_kind kind)
{
    (void)kind;
    for (unsigned i = 0; i < run->nodes; i++)
        if (run->place.spare_port[i] == 0)
            return "each master needs a spare server; use --local with 32 masters or fewer";
    return NULL;
}

/* ---- doing it -------------------------------------------------------------------------- */

static bool put_marker(const struct server_at *at)
{
    const char *const set[] = {"SET", RL_MARKER_KEY, STRANGE_MARKER};
    struct server_talk talk;
    char text[64];
    if (!server_talk_open_within(&talk, at, TALK_LIMIT_MS))
        return false;
    bool done = server_talk_ask(&talk, 3, set, text, sizeof(text)) == '+';
    server_talk_close(&talk);
    return done;
}

/* Lead all contenders to that server, 0: to the master. The port comes first: a connection that
 * is made between the two is reset. */
static bool lead(struct chaos_run *run, unsigned node, int spare_port)
{
    for (unsigned c = 0; c < run->options->clients; c++) {
        struct chaos_path *path = chaos_proxies_path(run->proxies, c, node);
        atomic_store(&path->spare_port, spare_port);
        atomic_fetch_add(&path->resets, 1);
    }
    return chaos_proxies_obey(run->proxies);
}

static bool begin(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    for (unsigned i = 0; i < run->nodes; i++) {
        struct server_at spare = spare_at(run, i);
        if ((fault->nodes >> i & 1) == 0)
            continue;
        if (!chaos_server_empty(&spare, true) || (fault->step_ms != 0 && !put_marker(&spare))) {
            chaos_fault_tell(fault, "the spare server of node %u can't be made ready", i + 1);
            return false;
        }
        active->done = true;
        if (!lead(run, i, spare.port)) {
            chaos_fault_tell(fault, "the proxies do not obey");
            return false;
        }
    }
    return true;
}

static bool undo(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    struct server_at at;
    bool fine = true;
    for (unsigned i = 0; i < run->nodes; i++)
        if ((fault->nodes >> i & 1) != 0 &&
            (!chaos_master_at(run, i, &at) || !chaos_server_empty(&at, true) ||
             !lead(run, i, 0))) {
            chaos_fault_tell(fault, "node %u does not get its place back", i + 1);
            fine = false;
        }
    return fine;
}

/* ---- its effect ------------------------------------------------------------------------ */

static bool tells(const struct server_at *at, struct rl_info *ret_info)
{
    struct server_talk talk;
    char text[8192];
    if (!server_talk_open_within(&talk, at, TALK_LIMIT_MS))
        return false;
    bool told = server_talk_say(&talk, "INFO server", text, sizeof(text)) == '$';
    server_talk_close(&talk);
    if (told)
        rl_info_parse(text, strlen(text), ret_info);
    return told;
}

/* Who answers on the first contender's path: the master itself? */
static bool leads_to(struct chaos_run *run, unsigned node, bool *ret_master,
                     int64_t *ret_uptime_s)
{
    struct server_at master;
    struct server_at path = {.host = "127.0.0.1",
                             .port = chaos_proxies_port(run->proxies, 0, node)};
    struct rl_info here, there;
    if (!chaos_master_at(run, node, &master) || !tells(&master, &here) || !tells(&path, &there))
        return false;
    *ret_master = strcmp(here.run_id, there.run_id) == 0;
    *ret_uptime_s = there.uptime_s;
    return true;
}

static bool seen(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    int64_t uptime_s = 0, least_s = chaos_schedule_guard_ms(run->options) / 1000;
    char text[CHAOS_NODES_TEXT];
    bool master = false;
    for (unsigned i = 0; i < run->nodes; i++) {
        struct server_at spare = spare_at(run, i);
        if ((fault->nodes >> i & 1) == 0)
            continue;
        if (!leads_to(run, i, &master, &uptime_s) || master || uptime_s <= least_s) {
            chaos_fault_tell(fault, "no other server that is up for long answers as node %u",
                             i + 1);
            return false;
        }
        if (run->options->markers && !chaos_server_quarantined(&spare)) {
            chaos_fault_tell(fault, "nobody noticed that another server is node %u", i + 1);
            return false;
        }
    }
    return chaos_fault_tell(fault, "others answer as %s, up for %lld s, %s marker%s",
                            chaos_nodes_text(fault->nodes, text), (long long)uptime_s,
                            fault->step_ms != 0 ? "with another's" : "without a",
                            run->options->markers ? ": quarantined" : "");
}

static bool gone(struct chaos_run *run, struct chaos_active *active)
{
    struct chaos_fault *fault = active->fault;
    int64_t uptime_s;
    bool master = false;
    for (unsigned i = 0; i < run->nodes; i++)
        if ((fault->nodes >> i & 1) != 0 && !(leads_to(run, i, &master, &uptime_s) && master)) {
            chaos_fault_tell(fault, "node %u does not answer for itself", i + 1);
            return false;
        }
    return true;
}

const struct chaos_fault_way chaos_faults_of_spares = {
    CHAOS_OF_SPARES, cannot, begin, seen, NULL, undo, gone,
};
