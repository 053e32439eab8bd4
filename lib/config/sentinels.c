/* sentinels.c - see sentinels.h. Core. */
#include "config_auto.h"

#include "config/sentinels.h"

#include "config/host.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool rl_config_has_sentinels(const struct rl_config *config)
{
    for (unsigned i = 0; i < config->node_count; i++) {
        if (config->nodes[i].service)
            return true;
    }
    return false;
}

static bool same_place(const struct rl_sentinel_at *a, const struct rl_sentinel_at *b)
{
    return rl_place_equal(a->host, a->port, b->host, b->port);
}

bool rl_sentinels_name_one(const struct rl_node_config *a, const struct rl_node_config *b)
{
    if (!a->service || !b->service || strcmp(a->service, b->service) != 0)
        return false;
    for (unsigned i = 0; i < a->sentinel_count; i++) {
        for (unsigned k = 0; k < b->sentinel_count; k++) {
            if (same_place(&a->sentinel[i], &b->sentinel[k]))
                return true;
        }
    }
    return false;
}

struct rl_node_config rl_sentinel_config(const struct rl_node_config *node, unsigned sentinel,
                                         char label[RL_SENTINEL_LABEL_MAX])
{
    const struct rl_sentinel_at *at = &node->sentinel[sentinel];
    bool brackets = strchr(at->host, ':') != NULL;
    assert(node->service && sentinel < node->sentinel_count);
    snprintf(label, RL_SENTINEL_LABEL_MAX, "Sentinel %s%s%s:%d", brackets ? "[" : "", at->host,
             brackets ? "]" : "", at->port);
    return (struct rl_node_config){
        .transport = node->sentinel_tls ? RL_TCP : node->transport,
        .label = label,
        .host = at->host,
        .port = at->port,
        .user = node->sentinel_user,
        .password_file = node->sentinel_password_file,
        .password_env = node->sentinel_password_env,
        .ca_file = node->ca_file,
        .ca_dir = node->ca_dir,
        .cert_file = node->cert_file,
        .key_file = node->key_file,
        .line = node->line,
        .column = node->column,
    };
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool rl_sentinels_alike(const struct rl_node_config *a, unsigned of_a,
                        const struct rl_node_config *b, unsigned of_b)
{
    char labels[2][RL_SENTINEL_LABEL_MAX];
    const struct rl_node_config one = rl_sentinel_config(a, of_a, labels[0]);
    const struct rl_node_config other = rl_sentinel_config(b, of_b, labels[1]);
    return same_place(&a->sentinel[of_a], &b->sentinel[of_b]) &&
           one.transport == other.transport && same_text(one.user, other.user) &&
           same_text(one.password_file, other.password_file) &&
           same_text(one.password_env, other.password_env) &&
           same_text(one.ca_file, other.ca_file) && same_text(one.ca_dir, other.ca_dir) &&
           same_text(one.cert_file, other.cert_file) && same_text(one.key_file, other.key_file);
}
