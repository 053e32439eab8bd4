/* status.c - redlock_get_status(): is every master fit to vote? And redlock_probe(): the same
 * report, and each master's proofs. */
#include "config_auto.h"

#include "base/entropy.h"
#include "base/struct_abi.h"
#include "engine/loop/call.h"
#include "api/probe.h"
#include "api/status_report.h"
#include "engine/loop/loop.h"
#include "engine/enter.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

struct check {
    struct rl_call call; /* first */
    struct rl_status *status;
    bool asked;
    uint64_t silent;
    int64_t asked_ns;
    int64_t until_ns;
    int64_t round_trip_us[REDLOCK_NODES_MAX];
};

/* A guard ends by itself: if a guarded node is silent, the user should see that instead. */
static int state_of(struct rl_node *node, int64_t now_ns)
{
    static const int states[] = {
        [RL_STANDING_DOWN] = REDLOCK_NODE_DOWN,
        [RL_STANDING_CONNECTING] = REDLOCK_NODE_CONNECTING,
        [RL_STANDING_DUPLICATE] = REDLOCK_NODE_REFUSED,
        [RL_STANDING_UNFIT] = REDLOCK_NODE_REFUSED,
        [RL_STANDING_GUARDED] = REDLOCK_NODE_GUARDED,
        [RL_STANDING_UNNAMED] = REDLOCK_NODE_REFUSED,
        [RL_STANDING_STALLED] = REDLOCK_NODE_STALLED,
        [RL_STANDING_SATURATED] = REDLOCK_NODE_READY,
        [RL_STANDING_SLOW] = REDLOCK_NODE_READY,
        [RL_STANDING_READY] = REDLOCK_NODE_READY,
    };
    enum rl_standing standing = rl_node_standing(node, now_ns);
    assert(standing < sizeof(states) / sizeof(states[0]));
    if (standing == RL_STANDING_GUARDED && rl_node_stalled(node, now_ns))
        return REDLOCK_NODE_STALLED;
    return states[standing];
}

static void describe_clock(const struct rl_node *node, redlock_node_status *entry)
{
    struct rl_clock_figures figures;
    rl_node_clock_figures(node, &figures);
    entry->clock_offset_us = figures.offset_us;
    entry->clock_offset_bound_us = figures.offset_bound_us;
    entry->clock_rate_ppm = figures.rate_ppm;
    entry->clock_rate_bound_ppm = figures.rate_bound_ppm;
}

static void describe(struct rl_node *node, redlock_node_status *entry, int64_t now_ns)
{
    entry->node = node->config->label;
    entry->state = state_of(node, now_ns);
    entry->guard_ms = 0;
    if (entry->state == REDLOCK_NODE_GUARDED && node->guard_until_ns > now_ns &&
        node->guard_until_ns != INT64_MAX)
        entry->guard_ms = (node->guard_until_ns - now_ns + RL_NS_PER_MS - 1) / RL_NS_PER_MS;
    entry->uptime_s = node->mode == RL_UP ? rl_node_uptime_s(node, now_ns) : -1;
    _Static_assert(sizeof(entry->run_id) == sizeof(node->run_id_shown), "run_id");
    _Static_assert(sizeof(entry->role) == sizeof(node->info.role), "role");
    _Static_assert(sizeof(entry->version) == sizeof(node->info.version), "version");
    memcpy(entry->run_id, node->run_id_shown, sizeof(entry->run_id));
    memcpy(entry->role, node->info.role, sizeof(entry->role));
    memcpy(entry->version, node->info.version, sizeof(entry->version));
    _Static_assert(sizeof(entry->refusal) == sizeof(node->refusal), "refusal");
    memcpy(entry->refusal, node->refusal, sizeof(entry->refusal));
    entry->refused_ago_ms = node->refusal[0] ? (now_ns - node->refused_ns) / RL_NS_PER_MS : -1;
    describe_clock(node, entry);
    if (node->duplicate_of >= 0 && node->duplicate_proven && node->mode == RL_UP)
        snprintf(entry->text, sizeof(entry->text), "is the same server as node %d of the list",
                 node->duplicate_of + 1);
    else /* guard_ms tells the time that is left */
        snprintf(entry->text, sizeof(entry->text), "%s",
                 entry->guard_ms > 0 ? node->why : rl_node_why(node, now_ns));
}

static void check_finish(struct check *check, int64_t now_ns)
{
    struct rl_status *status = check->status;
    redlock *client = check->call.client;
    assert(check->asked && !check->call.done);
    for (unsigned i = 0; i < client->nodes.n; i++) {
        redlock_node_status node = {.round_trip_us = check->round_trip_us[i]};
        describe(&client->nodes.all[i], &node, now_ns);
        if (check->silent & rl_bit(i))
            node.state = REDLOCK_NODE_STALLED;
        rl_status_show(status, i, &node);
    }
    rl_status_publish(status);
    rl_call_finish(&check->call, status->whole.ready >= status->whole.needed
                                     ? REDLOCK_OK
                                     : REDLOCK_ENOQUORUM);
}

static void check_pinged(struct rl_call *call, struct rl_node *node, int64_t round_trip_ns)
{
    struct check *check = (struct check *)call;
    uint64_t bit = rl_bit(node->index);
    assert(round_trip_ns >= 0);
    if (!(check->silent & bit))
        return;
    check->silent &= ~bit;
    check->round_trip_us[node->index] = round_trip_ns / 1000;
    if (!check->silent)
        rl_call_due(call, 0);
}

/* After a broken connection the reply will not come: ask again on the next one. */
static void check_again(struct check *check, int64_t now_ns)
{
    redlock *client = check->call.client;
    bool again = false;
    assert(check->asked && (check->silent & ~rl_all(client->nodes.n)) == 0);
    for (uint64_t rest = check->silent; rest; rest &= rest - 1) {
        struct rl_node *node = &client->nodes.all[rl_first(rest)];
        bool anew = node->mode == RL_UP && node->since_ns > check->asked_ns;
        bool gone = rl_node_standing(node, now_ns) == RL_STANDING_DOWN;
        if (gone || (anew && !rl_node_ping(node, now_ns, check->until_ns)))
            check->silent &= ~rl_bit(node->index);
        again |= anew;
    }
    if (again)
        check->asked_ns = now_ns;
}

static void check_step(struct rl_call *call, int64_t now_ns)
{
    struct check *check = (struct check *)call;
    redlock *client = call->client;
    assert(!call->done && check->status->to);
    if (!check->asked) {
        if (rl_voters_pending(&client->voters) > 0 && now_ns < check->until_ns) {
            rl_call_due(call, check->until_ns);
            return;
        }
        check->asked = true;
        check->asked_ns = now_ns;
        check->until_ns = now_ns + client->node_settings.connect_timeout_ns;
        for (unsigned i = 0; i < client->nodes.n; i++) {
            check->round_trip_us[i] = -1;
            if (rl_node_ping(&client->nodes.all[i], now_ns, check->until_ns))
                check->silent |= rl_bit(i);
        }
    }
    check_again(check, now_ns);
    if (check->silent && now_ns < check->until_ns)
        rl_call_due(call, check->until_ns);
    else
        check_finish(check, now_ns);
}

/* Wait until the masters are known, send each a PING, and write the state of each. The caller
 * has entered the client for a call that blocks. */
static int status_check(redlock *client, redlock_status_report *to,
                        struct rl_status *ret_status)
{
    struct check check = {.status = ret_status};
    char why[RL_STRUCT_WHY_MAX];
    if (!rl_status_open(ret_status, client, to, why, sizeof(why))) {
        return rl_client_wrong(client, why);
    }
    assert(client->calls.callers > 0); /* the client is entered for a call that blocks */
    int64_t now_ns = rl_loop_poll_if_idle(client);
    check.call.step = check_step;
    check.call.pinged = check_pinged;
    int result = rl_call_begin(&check.call, client);
    if (result)
        return result;
    /* A little longer than connecting may take, so that the reason of a failure is known. */
    check.until_ns = now_ns + client->node_settings.connect_timeout_ns + 50 * RL_NS_PER_MS;
    check_step(&check.call, now_ns);
    return rl_call_wait(&check.call, now_ns, NULL);
}

int redlock_get_status(redlock *client, redlock_status_report *ret_status)
{
    struct rl_status status;
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    result = status_check(client, ret_status, &status);
    rl_client_leave_blocking(client, cancel_state);
    return result;
}

int redlock_probe(redlock *client, const char *prefix, redlock_status_report *ret_status)
{
    char name[REDLOCK_NAME_MAX + 1], uuid[RL_UUID_LEN + 1], why[160];
    struct rl_status status;
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    rl_entropy_uuid(uuid);
    int len = snprintf(name, sizeof(name), "%s%s", prefix ? prefix : RL_PROBE_PREFIX, uuid);
    if (!rl_name_allowed(name, (size_t)len, why, sizeof(why)))
        return rl_client_refuse(client, why);
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result)
        return result;
    struct rl_target target = {
        .kind = rl_kind_on(REDLOCK_PLAIN, client->nodes.n),
        .name = name,
        .name_len = (size_t)len,
        .owner = "",
    };
    result = status_check(client, ret_status, &status);
    if (result == REDLOCK_OK || result == REDLOCK_ENOQUORUM)
        result = rl_probe_run(client, &target, &status);
    rl_client_leave_blocking(client, cancel_state);
    return result;
}
