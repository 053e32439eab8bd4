/* status_setup.c - what the node list says that status goes by. */
#include "config_auto.h"

#include "redlock/status_ask.h"

#include "config/node_options.h"
#include "config/settings.h"
#include "redlock/cli.h"

#include <string.h>

/* A path of a unix socket, or an address of this machine alone. */
static bool is_local(const struct rl_node_config *node)
{
    return !node->host || strcmp(node->host, "localhost") == 0 ||
           strcmp(node->host, "::1") == 0 || strncmp(node->host, "127.", 4) == 0;
}

int status_by_list(struct cli *cli, const struct rl_config *config)
{
    const char *wrong = NULL;
    redlock_error error = REDLOCK_ERROR_INIT;
    if (!cli->prefix)
        cli->prefix = config->status_prefix;
    if (cli->uses || !config->status_kinds)
        return CLI_OK;
    cli->uses = rights_parse(config->status_kinds);
    if (!cli->uses)
        wrong = "status-kinds names " RIGHTS_WORDS;
    else if (!rights_possible(cli->uses, config->node_count))
        wrong = "fair locks are for a list of one master";
    if (!wrong)
        return CLI_OK;
    (void)rl_setting_error(config, RL_SETTING_STATUS_KINDS, &error, wrong);
    cli_say(cli, "%s", error.text);
    return CLI_CONFIG;
}

void status_setup_read(struct status_setup *setup, const struct cli *cli,
                       const struct rl_config *config)
{
    setup->named = cli->uses != 0;
    status_rights_use(cli, config, &setup->rights);
    setup->drift_factor = config->drift_factor;
    setup->max_ttl_ms = config->max_ttl_ms;
    setup->guard = config->guard;
    setup->certificates = config->fencing == REDLOCK_FENCING_STRICT;
    setup->answer_ms = config->node_timeout_ms > 0
                           ? config->node_timeout_ms
                           : config->ttl_ms / (int64_t)config->node_count;
    for (unsigned i = 0; i < config->node_count; i++) {
        setup->fails_over[i] = rl_node_fails_over(&config->nodes[i]);
        setup->shared[i] = status_sentinels_shared(config, i);
        setup->same_host[i] = -1;
        for (unsigned k = 0; k < i && setup->same_host[i] < 0; k++) {
            if (!is_local(&config->nodes[i]) && !is_local(&config->nodes[k]) &&
                strcmp(config->nodes[i].host, config->nodes[k].host) == 0)
                setup->same_host[i] = (int)k;
        }
    }
}
