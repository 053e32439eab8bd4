/* prepare.c - see prepare.h. */
#include "config_auto.h"

#include "chaos/faults/fault.h"
#include "chaos/place/nodes.h"
#include "chaos/place/prepare.h"

#include "base/clock.h"
#include "core/trust.h"
#include "base/limits.h"

#include <string.h>

#define ANSWER_LIMIT_MS 10000
#define VOTES_LIMIT_MS 30000 /* beyond the guard's window */
#define TELL_AFTER_MS 3000
#define ORPHAN_SLACK_MS 1000
#define LEFT_PART                                                                              \
    4 /* of a ttl: all requests have arrived by then, and other keys still exist */

int64_t chaos_place_max_ttl_ms(const struct chaos_place *place)
{
    return place->config.max_ttl_ms;
}

/* Does this master vote for a client that has never seen it? True also if it can't be asked,
 * because the contenders will find out. */
static bool votes(struct chaos_run *run, unsigned node, bool *ret_heard)
{
    char text[8192];
    struct rl_info info;
    struct server_at at;
    const struct rl_config *config = &run->place.config;
    *ret_heard = false;
    if (!chaos_master_at(run, node, &at))
        return true;
    if (chaos_master_say(run, node, text, sizeof(text), "INFO server") != '$')
        return false;
    *ret_heard = true;
    rl_info_parse(text, strlen(text), &info);
    if (run->server_version[0] == '\0')
        snprintf(run->server_version, sizeof(run->server_version), "%s", info.version);
    int64_t window_ns =
        rl_guard_window_ns(config->max_ttl_ms * RL_NS_PER_MS, config->drift_factor);
    return !config->guard || info.uptime_s < 0 ||
           rl_guard_wait_ns(window_ns, info.uptime_s, 0) == 0;
}

/* A master that is absent gets less time than one that was started lately. */
static bool await_vote(struct chaos_run *run, unsigned node, int64_t begun_ns, char *why,
                       size_t why_size)
{
    bool heard = false, told = false;
    const char *label = run->place.config.nodes[node].label;
    while (!votes(run, node, &heard)) {
        int64_t waited_ms = (rl_clock_now_ns() - begun_ns) / RL_NS_PER_MS;
        int64_t fit_ms = chaos_place_max_ttl_ms(&run->place) + VOTES_LIMIT_MS;
        if (waited_ms > (heard ? fit_ms : ANSWER_LIMIT_MS)) {
            snprintf(why, why_size, "%s %s", label,
                     heard ? "does not become fit to vote"
                           : "does not answer; is it up, and are user and password right?");
            return false;
        }
        if (!told && waited_ms > TELL_AFTER_MS)
            fprintf(stderr, "redlock-chaos: %s %s; waiting\n", label,
                    heard ? "was started lately and does not vote yet" : "does not answer");
        told = told || waited_ms > TELL_AFTER_MS;
        if (!chaos_pause_ms(20)) {
            snprintf(why, why_size, "interrupted before the run began");
            return false;
        }
    }
    return true;
}

bool chaos_await_votes(struct chaos_run *run, char *why, size_t why_size)
{
    int64_t begun_ns = rl_clock_now_ns();
    for (unsigned i = 0; i < run->nodes; i++)
        if (!await_vote(run, i, begun_ns, why, why_size))
            return false;
    return true;
}

/* ---- keys that are left ---------------------------------------------------------------- */

/* Looks at the masters behind the proxies' back. */
struct look {
    struct chaos_run *run;
    struct chaos_history *history;
    redlock *client; /* NULL: there is none */
    unsigned keys;   /* all that were seen now, by master in orphans */
};

static void look_once(void *context)
{
    static redlock_node_info nodes[REDLOCK_NODES_MAX];
    struct look *look = context;
    struct chaos_history *history = look->history;
    char name[CHAOS_LOCK_NAME_MAX];
    int64_t asked_ns = chaos_now_ns();
    look->keys = 0;
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(nodes, REDLOCK_NODES_MAX, NULL, 0);
    memset(history->orphans, 0, sizeof(history->orphans));
    for (unsigned i = 0; look->client != NULL && i < look->run->options->names; i++) {
        chaos_record_lock_name(look->run->record, i, name);
        int code = redlock_inspect_n(look->client, name, strlen(name), NULL, &info);
        if (code != REDLOCK_OK && code != REDLOCK_ENOQUORUM)
            continue;
        for (unsigned node = 0; node < info.node_count; node++) {
            bool there = nodes[node].answered && nodes[node].state != REDLOCK_STATE_FREE;
            history->orphans[node] += there;
            look->keys += there;
        }
    }
    for (unsigned node = 0; node < look->run->nodes; node++) {
        if (history->orphans[node] == 0)
            continue;
        history->left[node] = history->orphans[node];
        history->left_ns[node] = asked_ns;
    }
}

static redlock *open_direct(struct chaos_run *run)
{
    char path[CHAOS_PATH_MAX], why[200];
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    if (!chaos_nodes_write_direct(&run->place.config, run->place.dir, path, why, sizeof(why)) ||
        redlock_open(path, &error, &client) != 0)
        chaos_run_fail(run, "it could not be looked at what is left: %s",
                       error.text[0] != '\0' ? error.text : why);
    return client;
}

void chaos_end_contenders(struct chaos_run *run, struct chaos_history *history)
{
    struct look look = {run, history, open_direct(run), 0};
    unsigned killed = chaos_workers_end(&run->workers, look_once, &look);
    if (killed > 0)
        chaos_run_fail(run, "%u contender%s did not end when told to", killed,
                       killed == 1 ? "" : "s");
    int64_t end_ns =
        chaos_now_ns() + (chaos_place_max_ttl_ms(&run->place) + ORPHAN_SLACK_MS) * RL_NS_PER_MS;
    look_once(&look);
    while (look.keys > 0 && chaos_now_ns() < end_ns) {
        if (!chaos_pause_ms(20)) { /* without waiting for leases there are no orphans to find */
            memset(history->orphans, 0, sizeof(history->orphans));
            break;
        }
        look_once(&look);
    }
    if (run->error[0] != '\0' || run->options->client_cmd != NULL)
        memset(history->left_ns, 0, sizeof(history->left_ns));
    redlock_close(look.client);
}
