/* node_fitness.c - may this master vote? By INFO, the server's identity, the restart guard. */
#include "config_auto.h"

#include "node/node_met.h"

#include "base/text_escape.h"
#include "base/times.h"
#include "core/refusal.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define ASK_LOADING_NS (100 * RL_NS_PER_MS)
#define ASK_SELDOM_NS (RL_ASK_INFO_MS * RL_NS_PER_MS) /* a person must mend it */

/* Only what is shown is masked: a password may be part of a run id. A role is also compared. */
static void mask_info(struct rl_node *node, const struct rl_mask *mask)
{
    struct rl_info *info = &node->info;
    memcpy(node->run_id_shown, info->run_id, sizeof(node->run_id_shown));
    rl_mask_field(mask, node->run_id_shown);
    rl_mask_field(mask, info->version);
    rl_mask_field(mask, info->policy);
    if (strcmp(info->role, "master") != 0 && strcmp(info->role, "slave") != 0)
        rl_mask_field(mask, info->role);
}

/* INFO's text is longer than the bytes that a reply keeps: parse it as it comes. */
void rl_node_on_bulk(void *context, const char *bytes, size_t len)
{
    struct rl_slot *slot = context;
    const struct rl_inflight *oldest = rl_connection_oldest(&slot->connection);
    if (!oldest || oldest->type != RL_REQUEST_INFO || slot->index != slot->node->current)
        return;
    rl_info_parse(bytes, len, &slot->node->info);
    memcpy(slot->node->met, slot->node->info.run_id, sizeof(slot->node->met));
    mask_info(slot->node, &slot->connection.mask);
    slot->node->info_ns = slot->connection.heard_ns;
}

/* The only place that changes it: only a server that answers is judged. */
static void set_fitness(struct rl_node *node, enum rl_fitness fitness)
{
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    node->fitness = fitness;
}

static void unfit(struct rl_node *node, int64_t now_ns, const char *why)
{
    set_fitness(node, RL_UNFIT);
    snprintf(node->why, sizeof(node->why), "%s", why);
    int64_t again_ns = rl_refusal_lasts(why) ? ASK_SELDOM_NS : RL_ASK_AGAIN_NS;
    if (rl_node_lacks_address(node))
        again_ns = rl_node_address_pause_ns(node);
    else if (node->info.loading)
        again_ns = ASK_LOADING_NS;
    node->ask_info_ns = now_ns + again_ns;
}

const char rl_two_servers[] =
    "two servers answer at this address: a proxy, or a name that leads to both; no vote";

/* Many connections show who answers there before it votes again. */
void rl_node_doubt(struct rl_node *node, int64_t now_ns)
{
    int64_t again_ns = node->settings->guard_window_ns / 16;
    unfit(node, now_ns, rl_two_servers);
    node->ask_info_ns = now_ns + rl_earlier_ns(again_ns, RL_ASK_AGAIN_NS);
}

void rl_node_refuses(struct rl_node *node, const char *why, int64_t now_ns)
{
    assert(why && now_ns >= 0);
    snprintf(node->refusal, sizeof(node->refusal), "%s", why);
    node->refused_ns = now_ns;
}

const char rl_was_replica[] = "was a replica or loaded its keys anew";
static const char took_place[] = "may have taken the place of another server";

void rl_node_replaced(struct rl_node *node, const char *how, int64_t now_ns)
{
    assert(now_ns > 0); /* 0: never */
    node->replaced_ns = now_ns;
    node->replaced_how = how;
    /* A refusal on a draining link counts for the other link, too. */
    if (node->mode == RL_UP && node->settings->guard) {
        set_fitness(node, RL_GUARDED);
        node->ask_info_ns = now_ns;
        snprintf(node->why, sizeof(node->why), "is a replica or loads its keys anew");
    }
}

/* Learns which server answers at this address. */
static void learn_identity(struct rl_node *node, int64_t now_ns)
{
    enum rl_news news = rl_identity_learn(&node->identity, &node->info, now_ns);
    node->forgot |= news != RL_SAME;
    switch (news) {
    case RL_SAME:
        return;
    case RL_RESTARTED:
        rl_node_forget_duplicates(node);
        break;
    case RL_ANOTHER:
        rl_node_forget_duplicates(node);
        rl_node_replaced(node, took_place, now_ns);
        break;
    case RL_RESYNCED:
        rl_node_replaced(node, rl_was_replica, now_ns);
        break;
    }
    if (rl_guard_marks(node->settings->guard))
        node->settings->events->voided(node->settings->owner, node, now_ns);
}

static void vote(struct rl_node *node, int64_t now_ns)
{
    set_fitness(node, RL_FIT);
    node->ask_info_ns = now_ns + node->settings->check_ns;
}

/* Has the server been up, or known to us, for long enough (server_info.h)? */
static void judge_guard(struct rl_node *node, int64_t now_ns)
{
    int64_t window_ns = node->settings->guard_window_ns;
    int64_t uptime_s = node->info.uptime_s;
    assert(node->settings->guard && node->info.run_id[0]); /* else nothing to judge */
    assert(node->identity.seen_ns > 0);
    /* A marker that matches is proof enough, unless another process was here before. */
    bool proven = rl_guard_marks(node->settings->guard) && !node->identity.successor;
    int64_t seen_ns = now_ns - node->identity.seen_ns;
    int64_t wait = proven ? 0 : rl_guard_wait_ns(window_ns, uptime_s, seen_ns);
    int64_t anew =
        node->replaced_ns > 0 ? rl_guard_wait_ns(window_ns, -1, now_ns - node->replaced_ns) : 0;
    assert(window_ns > 0 && wait >= 0 && anew >= 0);
    /* Another server that has just started counts as restarted: nothing proves otherwise. */
    bool young = rl_guard_wait_ns(window_ns, uptime_s, 0) > 0;
    bool replaced = anew > 0 && !(young && node->replaced_how == took_place);
    if (wait < anew)
        wait = anew;
    if (wait == 0) {
        vote(node, now_ns);
        return;
    }
    set_fitness(node, RL_GUARDED);
    node->guard_until_ns = now_ns + wait;
    node->ask_info_ns = node->guard_until_ns;
    /* Without an uptime nothing says that it was restarted, if no other process was here. */
    bool restarted = uptime_s >= 0 || node->identity.successor;
    snprintf(node->why, sizeof(node->why), "%s%s: its vote is withheld by the restart guard",
             replaced    ? node->replaced_how
             : restarted ? "restarted"
                         : "tells no uptime (was its clock set back behind its start?), so "
                           "each new client waits for max-ttl",
             replaced || restarted ? " less than max-ttl ago" : "");
}

/* R9: Has it kept its keys, by its marker (core/marker.h)? */
static void judge_marker(struct rl_node *node, int64_t now_ns)
{
    const struct rl_marker *marker = &node->marker;
    assert(rl_guard_marks(node->settings->guard));
    switch (node->marker_says) {
    case RL_MARKER_FREE:
        judge_guard(node, now_ns);
        return;
    case RL_MARKER_UNFIT:
        unfit(node, now_ns, marker->why);
        return;
    case RL_MARKER_QUARANTINED:
        set_fitness(node, RL_GUARDED);
        node->guard_until_ns = marker->ends_ns;
        node->ask_info_ns = marker->until_ns;
        snprintf(node->why, sizeof(node->why), "%squarantined, because %s",
                 rl_node_only_looked_at(node) ? "to be " : "", marker->why);
        node->settings->events->voided(node->settings->owner, node, now_ns);
    }
}

/* Decide by what the server told whether it may vote. */
static void judge_info(struct rl_node *node, int64_t now_ns)
{
    const struct rl_info *info = &node->info;
    learn_identity(node, now_ns);
    if (rl_info_is_replica(info))
        rl_node_replaced(node, rl_was_replica, now_ns);
    node->why[0] = '\0';
    const char *unfit_why = rl_info_unfit(info);
    const char *refusal = rl_info_refusal(info);
    const char *unmet = rl_node_unmet_address(node);
    if (refusal)
        rl_node_refuses(node, refusal, now_ns);
    if (unfit_why)
        unfit(node, now_ns, unfit_why);
    else if (rl_node_doubtful(node, now_ns))
        rl_node_doubt(node, now_ns);
    else if (unmet)
        unfit(node, now_ns, unmet);
    else if (!info->run_id[0] && node->settings->guard)
        unfit(node, now_ns,
              "INFO names no run_id, so a restart could not be seen: no vote");
    else if (rl_guard_marks(node->settings->guard))
        judge_marker(node, now_ns);
    else if (node->settings->guard)
        judge_guard(node, now_ns);
    else
        vote(node, now_ns);
    if (node->fitness == RL_FIT && refusal)
        snprintf(node->why, sizeof(node->why), "warning: %s", refusal);
    assert(node->fitness == RL_FIT || node->why[0]); /* a node without a vote has a reason */
}

/* The user lacks the right, or the server lacks the command: asking again is useless. */
static bool is_denied(const struct rl_reply *error)
{
    return rl_error_is(error, "NOPERM") || rl_error_is(error, "ERR unknown command");
}

static void info_denied(struct rl_node *node, const char *text, int64_t now_ns)
{
    char shown[120], why[sizeof(node->why)];
    const char *unmet = rl_node_unmet_address(node);
    rl_text_escape(shown, sizeof(shown), text, strlen(text)); /* cuts no character */
    rl_info_parse("", 0, &node->info), node->run_id_shown[0] = '\0'; /* nothing is known */
    if (node->settings->guard) {
        snprintf(why, sizeof(why),
                 "INFO was refused, so a restart could not be seen: no vote (%s)", shown);
        unfit(node, now_ns, why);
    } else if (unmet) {
        unfit(node, now_ns, unmet);
    } else {
        set_fitness(node, RL_FIT);
        snprintf(node->why, sizeof(node->why), "warning: INFO was refused (%s)", shown);
    }
}

/* The earlier state of the node. */
struct known {
    char why[sizeof(((struct rl_node *)0)->why)];
    bool voted;
    int64_t seen_ns;
};

static struct known known_of(const struct rl_node *node)
{
    struct known known = {
        .voted = node->mode == RL_UP && node->fitness == RL_FIT,
        .seen_ns = node->identity.seen_ns,
    };
    memcpy(known.why, node->why, sizeof(known.why));
    return known;
}

/* R17: The lists of nodes that its clients have: they were told before INFO was. */
static void judge_lists(struct rl_node *node, int64_t now_ns)
{
    const char *why_not = rl_node_lists_refusal(node);
    if (node->fitness == RL_FIT && why_not)
        unfit(node, now_ns, why_not);
    if (rl_lists_wanted(&node->settings->lists)) /* even where INFO is denied for good */
        node->ask_info_ns = rl_earlier_ns(node->ask_info_ns, now_ns + node->settings->check_ns);
}

/* INFO has been judged: the node is UP. */
static void enter_up(struct rl_node *node, const struct known *known, int64_t now_ns)
{
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    const char *warning = rl_node_lists_warning(node);
    node->judged_ns = now_ns;
    judge_lists(node, now_ns);
    if (node->mode != RL_UP)
        rl_node_set_mode(node, RL_UP, now_ns);
    if (node->unsettled)
        node->ask_info_ns = now_ns;
    bool same =
        known->voted && node->fitness == RL_FIT && known->seen_ns == node->identity.seen_ns;
    if (!same)
        node->settings->events->changed(node->settings->owner, node, now_ns);
    if (node->why[0] && strcmp(known->why, node->why) != 0)
        node->settings->events->log(
            node->settings->owner,
            node->fitness == RL_FIT ? REDLOCK_LOG_WARNING : REDLOCK_LOG_INFO, "%s: %s",
            node->config->label, node->why); /* without a vote: node_presence.c warns */
    if (node->fitness == RL_FIT && warning && !node->why[0]) /* that was told on its own */
        snprintf(node->why, sizeof(node->why), "warning: %s", warning);
}

/* R9: A node is judged before it is UP, and so before its first vote. */
void rl_node_take_info(struct rl_node *node, const struct rl_reply *reply, const char *error,
                       int64_t now_ns)
{
    const struct known known = known_of(node);
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    bool refused = reply->type == RL_REPLY_ERROR;
    node->info_told = reply->type == RL_REPLY_BULK;
    if (node->info_told && rl_guard_marks(node->settings->guard))
        return;
    node->asked_late = false;
    if (refused && !is_denied(reply) && node->mode != RL_UP) {
        rl_node_disconnect(node, node->current, now_ns, "%s", error);
        return;
    }
    if (refused && !is_denied(reply) && known.voted) { /* what is known still holds */
        node->ask_info_ns = now_ns + RL_ASK_AGAIN_NS;
        return;
    }
    if (reply->type == RL_REPLY_BULK)
        judge_info(node, now_ns);
    else
        info_denied(node, error, now_ns);
    enter_up(node, &known, now_ns);
}

/* R9: With a marker: as INFO. */
void rl_node_take_marker(struct rl_node *node, const struct rl_inflight *inflight,
                         const struct rl_reply *reply, const char *error, int64_t now_ns)
{
    const struct known known = known_of(node);
    struct rl_marker_reading reading;
    char why[sizeof(node->why)];
    bool refused = reply->type == RL_REPLY_ERROR;
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    if (!node->info_told)
        return; /* INFO was refused, and that has decided */
    node->info_told = false;
    if (!refused && !rl_node_read_marker(inflight, reply, &reading)) {
        rl_node_disconnect(node, node->current, now_ns,
                           "answered something that was not asked for");
        return;
    }
    node->asked_late = false;
    if (refused) {
        learn_identity(node, now_ns);
        snprintf(why, sizeof(why),
                 "its marker can't be read, so lost keys could not be seen: no vote (%.100s)",
                 error);
        unfit(node, now_ns, why);
    } else {
        node->marker_says = rl_marker_learn(&node->marker, &reading, node->info.run_id,
                                            node->settings->guard_window_ns, now_ns);
        judge_info(node, now_ns);
    }
    if (node->fitness == RL_FIT)
        node->ask_info_ns = inflight->sent_ns + node->settings->check_ns;
    if (node->settings->wanted && rl_node_only_looked_at(node)) /* that was asked for before */
        node->ask_info_ns = now_ns;
    enter_up(node, &known, now_ns);
}
