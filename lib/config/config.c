/* config.c - see config.h. The config as a whole: built, checked, freed. Core.
 * What a node list file says is read by config_file.c. */
#include "config_auto.h"

#include "base/diagnostic.h"
#include "base/duration.h"
#include "config/host.h"
#include "config/config.h"
#include "config/node_options.h"
#include "config/sentinels.h"
#include "core/validity.h"
#include "config/settings.h"
#include "config/url.h"
#include "base/wipe.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void rl_config_init(struct rl_config *config)
{
    *config = (struct rl_config){.nodes = NULL};
    rl_settings_default(config);
}

void rl_node_config_free(struct rl_node_config *node)
{
    free(node->label);
    free(node->host);
    free(node->path);
    free(node->user);
    rl_wipe_free(node->password);
    free(node->password_file);
    free(node->password_env);
    free(node->ca_file);
    free(node->ca_dir);
    free(node->cert_file);
    free(node->key_file);
    free(node->server_name);
    free(node->failover);
    free(node->service);
    for (unsigned i = 0; i < node->sentinel_count; i++)
        free(node->sentinel[i].host);
    free(node->sentinel_user);
    free(node->sentinel_password_file);
    free(node->sentinel_password_env);
    free(node->sentinel_tls);
    *node = (struct rl_node_config){.label = NULL};
}

void rl_config_free(struct rl_config *config)
{
    for (unsigned i = 0; i < config->node_count; i++)
        rl_node_config_free(&config->nodes[i]);
    free(config->nodes);
    free(config->client_name);
    free(config->status_prefix);
    free(config->status_kinds);
    free(config->file);
    rl_config_init(config);
}

int rl_config_take_node(struct rl_config *config, struct rl_node_config *node,
                        struct rl_problem *problem)
{
    assert(node->label && config->node_count < REDLOCK_NODES_MAX);
    struct rl_node_config *nodes =
        realloc(config->nodes, (config->node_count + 1) * sizeof(*nodes));
    if (!nodes)
        return rl_problem_no_memory(problem);
    nodes[config->node_count++] = *node;
    config->nodes = nodes;
    *node = (struct rl_node_config){.label = NULL};
    return 0;
}

/* ---- built in code -------------------------------------------------------------------- */

/* Returns the member that is to blame in `ret_member`. */
static int build_node(struct rl_node_config *built, const redlock_node *node,
                      const char **ret_member, struct rl_problem *problem)
{
    *ret_member = "url";
    if (!node->url)
        return rl_problem_set(problem, 0, "is NULL; write for example redis://10.0.0.1:6379");
    int code = rl_url_parse(node->url, strlen(node->url), built, problem);
    for (int i = 0; i < RL_OPTION_COUNT && code == 0; i++) {
        const char *given = rl_node_option_given(node, (enum rl_node_option)i);
        *ret_member = rl_node_option_member((enum rl_node_option)i);
        if (given)
            code = rl_node_option_set(built, (enum rl_node_option)i, given, strlen(given),
                                      problem);
    }
    if (code < 0)
        return code;
    enum rl_node_option option = RL_OPTION_COUNT;
    code = rl_node_check(built, &option, problem);
    if (code < 0)
        *ret_member = rl_node_option_member(option);
    return code;
}

int rl_config_add_node(struct rl_config *config, const redlock_node *node, size_t index,
                       redlock_error *error)
{
    if (config->node_count == REDLOCK_NODES_MAX)
        return rl_error_set(error, REDLOCK_ECONFIG, NULL, 0, 0,
                            "nodes[%zu]: more than %d nodes; a quorum is small: 3, 5 or 7",
                            index, REDLOCK_NODES_MAX);
    struct rl_node_config built = {.label = NULL};
    struct rl_problem problem = {.offset = 0};
    const char *member = "url";
    int code = build_node(&built, node, &member, &problem);
    if (code == 0)
        code = rl_config_take_node(config, &built, &problem);
    rl_node_config_free(&built);
    if (code == REDLOCK_ECONFIG && problem.offset > 0)
        rl_error_set(error, code, NULL, 0, 0, "nodes[%zu].%s: %s (at its byte %zu)", index,
                     member, problem.text, problem.offset + 1);
    else if (code < 0)
        rl_error_set(error, code, NULL, 0, 0, "nodes[%zu].%s: %s", index, member, problem.text);
    return code;
}

int rl_config_override(struct rl_config *config, const redlock_config *from,
                       redlock_error *error)
{
    for (int i = 0; i < RL_SETTING_COUNT; i++) {
        enum rl_setting setting = (enum rl_setting)i;
        struct rl_problem problem = {.offset = 0};
        int set = rl_setting_override(config, setting, from, &problem);
        if (set == 0)
            continue;
        config->places[i] = (struct rl_place){.in_code = true};
        if (set == REDLOCK_ENOMEM)
            return rl_error_set(error, set, NULL, 0, 0, "%s", problem.text);
        if (set < 0)
            return rl_setting_error(config, setting, error, problem.text);
    }
    return 0;
}

/* ---- checks of the whole -------------------------------------------------------------- */

/* One process behind two URLs would have two votes. (Two names of one server can't be told
 * here: that is seen when both are connected.) */
static bool same_node(const struct rl_node_config *a, const struct rl_node_config *b)
{
    if (a->service || b->service)
        return rl_sentinels_name_one(a, b);
    if (a->transport == RL_UNIX || b->transport == RL_UNIX)
        return a->transport == b->transport && strcmp(a->path, b->path) == 0;
    return rl_place_equal(a->host, a->port, b->host, b->port);
}

static int check_not_twice(const struct rl_config *config, unsigned first, unsigned second,
                           redlock_error *error)
{
    static const char remedy[] =
        "it would have two votes; list each master once, whatever user or database";

    const struct rl_node_config *node = &config->nodes[second];
    if (!same_node(&config->nodes[first], node))
        return 0;
    char before[32];
    if (config->nodes[first].line > 0 && config->nodes[first].line == node->line)
        snprintf(before, sizeof(before), "in the list"); /* it is in words */
    else if (config->nodes[first].line > 0)
        snprintf(before, sizeof(before), "in line %d", config->nodes[first].line);
    else
        snprintf(before, sizeof(before), "as node %u", first + 1);
    if (node->line > 0)
        return rl_error_set(error, REDLOCK_ECONFIG, config->file, node->line, node->column,
                            "this node stands %s already; %s", before, remedy);
    return rl_error_set(error, REDLOCK_ECONFIG, NULL, 0, 0,
                        "%s: this node, number %u, stands %s already; %s", node->label,
                        second + 1, before, remedy);
}

static int check_nodes(const struct rl_config *config, redlock_error *error)
{
    if (config->node_count == 0)
        return rl_error_set(
            error, REDLOCK_ECONFIG, config->file, config->file ? 1 : 0, config->file ? 1 : 0,
            "no node; add a line for each master, as in node redis://host:6379");
    for (unsigned second = 1; second < config->node_count; second++) {
        for (unsigned first = 0; first < second; first++) {
            int code = check_not_twice(config, first, second, error);
            if (code < 0)
                return code;
        }
    }
    return 0;
}

static bool was_given(const struct rl_config *config, enum rl_setting setting)
{
    return config->places[setting].in_code || config->places[setting].line > 0;
}

/* A lock of this TTL must have some validity left of it when drift is taken off. */
static int check_drift(const struct rl_config *config, enum rl_setting setting, int64_t ttl_ms,
                       redlock_error *error)
{
    int64_t ttl_ns = ttl_ms * RL_NS_PER_MS;
    if (rl_validity_possible(ttl_ns, config->drift_factor))
        return 0;
    char shown[RL_DURATION_TEXT_MAX];
    rl_duration_format(ttl_ms, shown);
    char text[RL_PROBLEM_TEXT_MAX];
    snprintf(text, sizeof(text),
             "%s %s leaves nothing when drift (%s x drift-factor %g + 2ms) is taken off; make "
             "%s longer or drift-factor smaller",
             rl_setting_name(setting), shown, shown, config->drift_factor,
             rl_setting_name(setting));
    if (!was_given(config, setting))
        setting = RL_SETTING_DRIFT_FACTOR;
    return rl_setting_error(config, setting, error, text);
}

static int above_max_ttl(const struct rl_config *config, enum rl_setting setting,
                         const char *what, redlock_error *error)
{
    char most[RL_DURATION_TEXT_MAX];
    rl_duration_format(config->max_ttl_ms, most);
    char text[RL_PROBLEM_TEXT_MAX];
    snprintf(text, sizeof(text),
             "%s max-ttl, which is %s%s; make %s shorter, or max-ttl longer in every client",
             what, most, was_given(config, RL_SETTING_MAX_TTL) ? "" : " by default",
             rl_setting_name(setting));
    return rl_setting_error(config, setting, error, text);
}

static int check_ttls(struct rl_config *config, redlock_error *error)
{
    int64_t most_ms = config->max_ttl_ms - config->lock_delay_ms; /* keys outlive the ttl */
    if (most_ms < RL_TTL_MIN_MS)
        return above_max_ttl(config, RL_SETTING_LOCK_DELAY, "lock-delay leaves no ttl below",
                             error);
    if (!was_given(config, RL_SETTING_TTL) && config->ttl_ms > most_ms)
        config->ttl_ms = most_ms;
    if (config->ttl_ms > most_ms)
        return above_max_ttl(config, RL_SETTING_TTL,
                             config->ttl_ms > config->max_ttl_ms
                                 ? "ttl is above"
                                 : "ttl and lock-delay together are above",
                             error);
    int code = check_drift(config, RL_SETTING_MAX_TTL, config->max_ttl_ms, error);
    return code < 0 ? code : check_drift(config, RL_SETTING_TTL, config->ttl_ms, error);
}

static bool fails_over(const struct rl_config *config)
{
    for (unsigned i = 0; i < config->node_count; i++) {
        if (rl_node_fails_over(&config->nodes[i]))
            return true;
    }
    return false;
}

/* A promoted replica lacks the last locks, and may be up for long: only its marker shows
 * that. A certificate of fencing tokens is copied to it as a key is. */
static int check_failover(struct rl_config *config, redlock_error *error)
{
    if (!fails_over(config))
        return 0;
    if (!was_given(config, RL_SETTING_GUARD))
        config->guard = RL_GUARD_MARKER;
    if (!rl_guard_marks(config->guard))
        return rl_setting_error(config, RL_SETTING_GUARD, error,
                                "with failover=yes or Sentinels a replica may take a master's "
                                "place, and this guard does not see it; write guard marker or "
                                "guard strict");
    if (config->fencing == REDLOCK_FENCING_STRICT)
        return rl_setting_error(config, RL_SETTING_FENCING, error,
                                "with failover=yes or Sentinels a replica that takes a "
                                "master's place vouches for tokens that it lacks; write "
                                "fencing clock");
    if (!rl_config_has_sentinels(config))
        return 0;
    /* The window of a failover is as long as the list says. */
    if (!was_given(config, RL_SETTING_CONFIG_AGREEMENT))
        config->config_agreement = REDLOCK_AGREEMENT_REFUSE;
    if (config->config_agreement != REDLOCK_AGREEMENT_REFUSE)
        return rl_setting_error(config, RL_SETTING_CONFIG_AGREEMENT, error,
                                "with Sentinels a client whose max-ttl is another takes locks "
                                "that are held; write config-agreement refuse");
    return 0;
}

int rl_config_check(struct rl_config *config, redlock_error *error)
{
    int code = check_nodes(config, error);
    if (code == 0)
        code = check_failover(config, error);
    return code < 0 ? code : check_ttls(config, error);
}
