/* node_clock.c - a master's clock, watched by the time that its INFO tells (clock_watch.h). */
#include "config_auto.h"

#include "node/node.h"

#include "base/clock.h"
#include "core/validity.h"

#include <assert.h>
#include <stdio.h>

/* What was found, in words. A rate is told without a figure, so that it is logged once. */
static void describe(const struct rl_clock_watch *watch, char *ret_text, size_t size)
{
    double seconds = (double)watch->last_by_ns / RL_NS_PER_S;
    switch (watch->last) {
    case RL_CLOCK_FINE:
        assert(false);
        break;
    case RL_CLOCK_STEPPED_FORWARD:
        snprintf(ret_text, size,
                 "warning: its clock is %.3f s or more ahead of what it was, or ours lost "
                 "time: keys may have ended early",
                 seconds);
        break;
    case RL_CLOCK_STEPPED_BACK:
        snprintf(ret_text, size,
                 "warning: its clock is %.3f s or more behind what it was, or ours was set "
                 "forward: keys outlive their leases",
                 seconds);
        break;
    case RL_CLOCK_FAST:
        snprintf(ret_text, size,
                 "warning: its clock runs ahead of ours by more than drift-factor: keys end "
                 "before their leases");
        break;
    case RL_CLOCK_SLOW:
        snprintf(ret_text, size,
                 "warning: its clock stands still, or lags by more than drift-factor: keys "
                 "outlive their leases");
        break;
    }
}

void rl_node_watch_clock(struct rl_node *node, int64_t sent_ns, int64_t now_ns)
{
    const struct rl_node_settings *settings = node->settings;
    struct rl_clock_watch *watch = &node->clock_watch;
    const struct rl_clock_reading reading = {
        .run_id = node->info.run_id,
        .told_us = node->info.time_us,
        .sent_ns = sent_ns,
        .came_ns = now_ns,
        .sent_epoch = node->info_epoch,
        .epoch = rl_clock_epoch(settings->clock),
    };
    enum rl_clock_says before = watch->last;
    enum rl_clock_says says = rl_clock_watch_learn(watch, &reading, settings->drift_factor,
                                                   rl_node_window_ns(node));
    node->info.uptime_s = rl_trust_uptime_s(node->info.uptime_s, watch->ahead_ns);
    if (says == RL_CLOCK_FINE)
        return;
    describe(watch, node->clock_why, sizeof(node->clock_why));
    bool goes_on = says == before && (says == RL_CLOCK_FAST || says == RL_CLOCK_SLOW);
    if (!goes_on)
        settings->events->log(settings->owner, REDLOCK_LOG_WARNING, "%s: %s",
                              node->config->label, node->clock_why);
    if (rl_clock_says_early(says)) {
        node->clock_void_ns = now_ns;
        settings->events->voided(settings->owner, node, now_ns);
    }
}

/* Nothing where it is not connected, or our own clock went back since. */
void rl_node_clock_figures(const struct rl_node *node, struct rl_clock_figures *ret_figures)
{
    struct rl_clock *clock = node->settings->clock;
    struct rl_clock_wall now;
    *ret_figures = (struct rl_clock_figures){.offset_bound_us = 0};
    now.before_ns = rl_clock_steady_ns(clock);
    now.wall_us = (int64_t)rl_clock_wall_us();
    now.after_ns = rl_clock_steady_ns(clock);
    if (node->mode == RL_UP &&
        rl_validity_timed(node->clock_watch.epoch, rl_clock_epoch(clock)))
        rl_clock_watch_figures(&node->clock_watch, node->settings->drift_factor, &now,
                               ret_figures);
}

const char *rl_node_clock_why(const struct rl_node *node, int64_t now_ns)
{
    enum rl_clock_says says =
        rl_clock_watch_shown(&node->clock_watch, rl_node_window_ns(node), now_ns);
    return says == RL_CLOCK_FINE ? "" : node->clock_why;
}
