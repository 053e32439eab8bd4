/* nodes.c - masters of somebody else's: their addresses for the floors. */
#include "config_auto.h"

#include "bench/place/nodes.h"

#include "config/config_load.h"

#include <stdio.h>
#include <sysexits.h>

#define SECRETS_MAX (RL_PASSWORD_MAX + 1)

/* The memory behind the nodes' strings. */
static struct rl_config *kept(void)
{
    static struct rl_config config;
    return &config;
}

static bool take_node(struct bench *bench, unsigned i, char secret[SECRETS_MAX])
{
    const struct rl_node_config *node = &kept()->nodes[i];
    char why[256];
    int len = rl_node_password(node, secret, why, sizeof(why));
    if (len < 0) {
        fprintf(stderr, "redlock-bench: %s\n", why);
        return false;
    }
    bench->node[i] = (struct server_at){
        .path = node->path,
        .host = node->host,
        .port = node->port,
        .db = node->db,
        .user = node->user,
        .password = len > 0 ? secret : NULL,
    };
    if (node->transport == RL_TLS)
        bench->floors = false;
    return true;
}

int bench_nodes_read(struct bench *bench)
{
    static char secrets[REDLOCK_NODES_MAX][SECRETS_MAX];
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.file = bench->options.nodes_file;
    rl_config_init(kept());
    if (rl_config_load(kept(), &from, NULL, NULL, &error) != 0) {
        fprintf(stderr, "redlock-bench: %s\n", error.text);
        return EX_CONFIG;
    }
    bench->nodes_file = bench->options.nodes_file;
    bench->nodes = kept()->node_count;
    bench->needed = bench->nodes / 2 + 1;
    bench->floors = true;
    for (unsigned i = 0; i < bench->nodes; i++)
        if (!take_node(bench, i, secrets[i]))
            return EX_CONFIG;
    bench_note(&bench->report, "the masters were given: their CPU time is not measured");
    if (!bench->floors)
        bench_note(&bench->report,
                   "a master is reached by TLS: there is no floor to compare with");
    return 0;
}

void bench_nodes_forget(void)
{
    rl_config_free(kept());
}
