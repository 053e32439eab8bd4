/* chaos_prepare.c - see chaos_prepare.h. */
#include "config_auto.h"

#include "chaos_fault.h"
#include "chaos_nodes.h"
#include "chaos_prepare.h"

#include "clock.h"
#include "info.h"
#include "limits.h"

#include <string.h>

#define VOTES_LIMIT_MS 30000 /* beyond the guard's window */
#define ORPHAN_SLACK_MS 1000

int64_t chaos_place_max_ttl_ms(const struct chaos_place *place)
{
    return place->config.max_ttl_ms;
}

/* Does this master vote with a client that has never seen it? True also where it can't be
 * asked: the contenders will find out. */
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

bool chaos_await_votes(struct chaos_run *run, char *why, size_t why_size)
{
    int64_t limit_ns = rl_clock_now_ns() +
                       (chaos_place_max_ttl_ms(&run->place) + VOTES_LIMIT_MS) * RL_NS_PER_MS;
    for (unsigned i = 0; i < run->nodes; i++) {
        bool heard = false;
        while (!votes(run, i, &heard)) {
            if (rl_clock_now_ns() > limit_ns) {
                snprintf(why, why_size, "%s %s", run->place.config.nodes[i].label,
                         heard ? "does not become fit to vote" : "does not answer");
                return false;
            }
            if (!chaos_pause_ms(20)) {
                snprintf(why, why_size, "interrupted before the run began");
                return false;
            }
        }
    }
    return true;
}

/* ---- what is left ---------------------------------------------------------------------- */

static unsigned count_keys(struct chaos_run *run, redlock *client)
{
    static redlock_report report;
    char name[CHAOS_LOCK_NAME_MAX];
    unsigned keys = 0;
    report.size = sizeof(report);
    for (unsigned i = 0; i < run->options->names; i++) {
        chaos_record_lock_name(run->record, i, name);
        if (redlock_inspect(client, name, strlen(name), &report) == 0 || report.nodes > 0)
            keys += report.held;
    }
    return keys;
}

unsigned chaos_count_orphans(struct chaos_run *run)
{
    char path[CHAOS_PATH_MAX], why[200];
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    unsigned keys;
    int64_t end_ns = rl_clock_now_ns() +
                     (chaos_place_max_ttl_ms(&run->place) + ORPHAN_SLACK_MS) * RL_NS_PER_MS;
    if (!chaos_nodes_write_direct(&run->place.config, run->place.dir, path, why, sizeof(why)) ||
        redlock_open(path, &error, &client) != 0) {
        chaos_run_fail(run, "it could not be looked at what is left: %s",
                       error.text[0] != '\0' ? error.text : why);
        return 0;
    }
    do {
        keys = count_keys(run, client);
    } while (keys > 0 && rl_clock_now_ns() < end_ns && chaos_pause_ms(50));
    redlock_close(client);
    return keys;
}
