/* node_fitness.c - INFO's reply, and the marker's: what they tell is gathered for core/trust.h,
 * which decides whether this master may vote. */
#include "config_auto.h"

#include "node/node_met.h"

#include "base/text_escape.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

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

/* R22: The only place that changes it: only a server that answers is judged. What the server of a
 * former term granted is safe to its end, so that its successor's quarantine voids nothing. */
static void judge(struct rl_node *node, const struct rl_trust_known *known, int64_t now_ns)
{
    struct rl_trust trust;
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    rl_trust_judge(known, now_ns, &trust);
    node->fitness = trust.fitness;
    node->guard_until_ns = trust.until_ns;
    node->ask_info_ns = trust.ask_ns;
    _Static_assert(sizeof(node->why) == sizeof(trust.why), "why");
    memcpy(node->why, trust.why, strlen(trust.why) + 1);
    node->term.voted |= trust.fitness == RL_FIT;
    if (trust.cause == RL_CAUSE_QUARANTINED && (!node->term.has || node->term.voted))
        node->settings->events->voided(node->settings->owner, node, now_ns);
}

void rl_node_found(struct rl_node *node, enum rl_cause cause, int64_t now_ns)
{
    const struct rl_trust_known known = {
        .found = cause,
        .window_ns = rl_node_window_ns(node),
    };
    judge(node, &known, now_ns);
}

void rl_node_unnamed(struct rl_node *node, const char *why, int64_t now_ns)
{
    assert(node->term.has && why[0]);
    const struct rl_trust_known known = {
        .found = RL_CAUSE_UNNAMED,
        .unnamed = why,
        .window_ns = rl_node_window_ns(node),
    };
    judge(node, &known, now_ns);
}

void rl_node_refuses(struct rl_node *node, const char *why, int64_t now_ns)
{
    assert(why && now_ns >= 0);
    snprintf(node->refusal, sizeof(node->refusal), "%s", why);
    node->refused_ns = now_ns;
}

void rl_node_replaced(struct rl_node *node, enum rl_cause how, int64_t now_ns)
{
    assert(now_ns > 0); /* 0: never */
    node->replaced_ns = now_ns;
    node->replaced = how;
    /* A refusal on a draining link counts for the other link, too. */
    if (node->mode == RL_UP && node->settings->guard)
        rl_node_found(node, RL_CAUSE_REPLACED, now_ns);
}

/* Learns which server answers at this address. */
static void learn_identity(struct rl_node *node, int64_t now_ns)
{
    struct rl_trust_news news =
        rl_trust_learn(&node->identity, &node->info, node->term.term, now_ns);
    node->forgot |= news.lost;
    if (news.process)
        rl_node_forget_duplicates(node);
    if (news.replaced)
        rl_node_replaced(node, news.replaced, now_ns);
    if (news.lost && !news.failed_over && rl_guard_marks(node->settings->guard))
        node->settings->events->voided(node->settings->owner, node, now_ns);
}

static struct rl_trust_known known_of(const struct rl_node *node, int64_t asked_ns)
{
    const struct rl_node_settings *settings = node->settings;
    return (struct rl_trust_known){
        .info = &node->info,
        .identity = &node->identity,
        .other_list = rl_node_lists_refusal(node),
        .replicas_told = node->config->failover || node->config->service,
        .guard = settings->guard != RL_GUARD_OFF,
        .window_ns = rl_node_window_ns(node),
        .marker = rl_guard_marks(settings->guard) ? &node->marker : NULL,
        .marker_says = node->marker_says,
        .replaced_ns = node->replaced_ns,
        .replaced = node->replaced,
        .check_ns = settings->check_ns,
        .asked_ns = asked_ns,
        .ask_ns = node->ask_info_ns,
        .wanted = settings->wanted,
        .lists_wanted = rl_lists_wanted(&settings->lists),
        .unsettled = node->unsettled,
    };
}

/* Each question who answers at another address costs a connection: the pauses grow. */
static int64_t address_pause_ns(struct rl_node *node)
{
    return rl_node_lacks_address(node) ? rl_node_address_pause_ns(node) : 0;
}

/* INFO was told, and the marker, if there are any. A master that votes is asked again check_ns
 * after `asked_ns`. */
static void judge_info(struct rl_node *node, int64_t asked_ns, int64_t now_ns)
{
    const char *refusal = rl_info_refusal(&node->info);
    learn_identity(node, now_ns);
    if (rl_info_is_replica(&node->info))
        rl_node_replaced(node, RL_CAUSE_WAS_REPLICA, now_ns);
    if (refusal)
        rl_node_refuses(node, refusal, now_ns);
    struct rl_trust_known known = known_of(node, asked_ns);
    known.two_servers = rl_node_doubtful(node, now_ns);
    known.unmet = rl_node_unmet_address(node);
    known.unmet_pause_ns = address_pause_ns(node);
    judge(node, &known, now_ns);
}

/* The user lacks the right, or the server lacks the command: asking again is useless. */
static bool is_denied(const struct rl_reply *error)
{
    return rl_error_is(error, "NOPERM") || rl_error_is(error, "ERR unknown command");
}

static void info_denied(struct rl_node *node, const char *text, int64_t now_ns)
{
    char shown[120];
    rl_text_escape(shown, sizeof(shown), text, strlen(text)); /* cuts no character */
    rl_info_parse("", 0, &node->info), node->run_id_shown[0] = '\0'; /* nothing is known */
    struct rl_trust_known known = known_of(node, now_ns);
    known.denied = RL_CAUSE_INFO_DENIED;
    known.error = shown;
    known.unmet = rl_node_unmet_address(node);
    known.unmet_pause_ns = address_pause_ns(node);
    judge(node, &known, now_ns);
}

static void marker_denied(struct rl_node *node, const char *error, int64_t now_ns)
{
    learn_identity(node, now_ns);
    struct rl_trust_known known = known_of(node, now_ns);
    known.denied = RL_CAUSE_MARKER_DENIED;
    known.error = error;
    known.unmet_pause_ns = address_pause_ns(node);
    judge(node, &known, now_ns);
}

/* The earlier state of the node. */
struct former {
    char why[sizeof(((struct rl_node *)0)->why)];
    bool voted;
    int64_t seen_ns;
};

static struct former former_of(const struct rl_node *node)
{
    struct former former = {
        .voted = node->mode == RL_UP && node->fitness == RL_FIT,
        .seen_ns = node->identity.seen_ns,
    };
    memcpy(former.why, node->why, sizeof(former.why));
    return former;
}

/* INFO has been judged: the node is UP. */
static void enter_up(struct rl_node *node, const struct former *former, int64_t now_ns)
{
    assert(node->mode == RL_GREETING || node->mode == RL_UP);
    const char *warning = rl_node_lists_warning(node);
    node->judged_ns = now_ns;
    if (node->mode != RL_UP)
        rl_node_set_mode(node, RL_UP, now_ns);
    bool same =
        former->voted && node->fitness == RL_FIT && former->seen_ns == node->identity.seen_ns;
    if (!same)
        node->settings->events->changed(node->settings->owner, node, now_ns);
    if (node->why[0] && strcmp(former->why, node->why) != 0)
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
    const struct former former = former_of(node);
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
    if (refused && !is_denied(reply) && former.voted) { /* what is known still holds */
        node->ask_info_ns = now_ns + RL_ASK_AGAIN_NS;
        return;
    }
    if (reply->type == RL_REPLY_BULK)
        judge_info(node, now_ns, now_ns);
    else
        info_denied(node, error, now_ns);
    enter_up(node, &former, now_ns);
}

/* R9: With a marker: as INFO. */
void rl_node_take_marker(struct rl_node *node, const struct rl_inflight *inflight,
                         const struct rl_reply *reply, const char *error, int64_t now_ns)
{
    const struct former former = former_of(node);
    struct rl_marker_reading reading;
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
        marker_denied(node, error, now_ns);
    } else {
        rl_node_learn_marker(node, &reading, inflight->sent_ns, now_ns);
        judge_info(node, inflight->sent_ns, now_ns);
    }
    enter_up(node, &former, now_ns);
}
