/* test_node_clock.c - what a master's clock that was set does to its uptime, and when nothing is
 * known of it. */
#include "config_auto.h"

#include "base/clock.h"
#include "node/node.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

enum { UPTIME_S = 100 };

static unsigned voids;

static void voided(void *owner, struct rl_node *node, int64_t now_ns)
{
    (void)owner, (void)node, (void)now_ns;
    voids++;
}

static void quiet(void *owner, int level, const char *format, ...)
{
    (void)owner, (void)level, (void)format;
}

static struct rl_clock own_clock;
static struct rl_node node;

/* A master whose INFO is of now. */
static void setup(void)
{
    static const struct rl_node_events events = {.voided = voided, .log = quiet};
    static const struct rl_driven always;
    static struct rl_node_config config;
    static struct rl_node_settings settings;
    memset(&own_clock, 0, sizeof(own_clock));
    settings = (struct rl_node_settings){.events = &events,
                                         .clock = &own_clock,
                                         .driven = &always,
                                         .drift_factor = 0.01,
                                         .guard_window_ns = 60 * RL_NS_PER_S};
    node = (struct rl_node){.config = &config, .settings = &settings, .duplicate_of = -1};
    snprintf(node.info.run_id, sizeof(node.info.run_id), "%040d", 1);
    node.info_epoch = rl_clock_epoch(&own_clock);
}

/* Its clock was looked at twice, a minute apart. */
TEST(figures, figures_are_of_live_connection_and_of_our_clock_as_it_was)
{
    struct rl_clock_figures figures;
    int64_t now_ns = rl_clock_steady_ns(&own_clock);
    node.info.time_us = (int64_t)rl_clock_wall_us();
    rl_node_watch_clock(&node, now_ns, now_ns);
    node.mode = RL_UP;
    rl_node_clock_figures(&node, &figures);
    ck_assert_int_gt(figures.offset_bound_us, 0);
    node.mode = RL_DOWN;
    rl_node_clock_figures(&node, &figures);
    ck_assert_int_eq(figures.offset_bound_us, 0);
    node.mode = RL_UP;
    atomic_fetch_add(&own_clock.added_ns, RL_NS_PER_S);
    rl_node_clock_figures(&node, &figures);
    ck_assert_int_eq(figures.offset_bound_us, 0);
}

/* Its INFO tells the uptime in whole seconds. What a step has added is taken off, and a part of
 * a second as a whole one: the guard may last too long, and never end too soon. */
TEST(uptime, uptime_is_less_by_each_second_that_step_has_begun, .first = 2300, .rows = 2301)
{
    int64_t now_ns = 1000 * RL_NS_PER_S;
    node.info.time_us = 1000000000;
    node.info.uptime_s = UPTIME_S;
    rl_node_watch_clock(&node, now_ns, now_ns);
    ck_assert_int_eq(node.info.uptime_s, UPTIME_S);
    now_ns += RL_NS_PER_S;
    node.info.time_us += 1000000 + 1000 * (int64_t)_i;
    node.info.uptime_s = UPTIME_S + 1 + _i / 1000;
    rl_node_watch_clock(&node, now_ns, now_ns);
    ck_assert_uint_ge(voids, 1);
    ck_assert_int_le(node.info.uptime_s, UPTIME_S);
    ck_assert_int_ge(node.info.uptime_s, UPTIME_S - 1);
}

ALSO(uptime, uptime_is_less_by_each_second_that_step_has_begun, .first = 2900, .rows = 2901)
CASE(figures, .set_up = setup)
CASE(uptime, .set_up = setup)
