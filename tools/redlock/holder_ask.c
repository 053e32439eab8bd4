/* holder_ask.c - see holder_ask.h. */
#include "config_auto.h"

#include "redlock/holder_ask.h"

#include "redlock/client_list.h"
#include "redlock/node_ask.h"

struct asking {
    const struct cli *cli;
    const redlock_lock_info *all;
    struct holder_clients *clients;
    struct client_list_ask master[REDLOCK_NODES_MAX];
};

static const char *next(void *context, unsigned node)
{
    struct asking *asking = context;
    return client_list_next(&asking->master[node]);
}

static void on_bulk(void *context, unsigned node, const char *bytes, size_t len,
                    const struct rl_mask *mask)
{
    struct asking *asking = context;
    if (client_list_heard(&asking->master[node], bytes, len))
        holder_clients_heard(asking->clients, bytes, len, mask);
}

static const char *on_reply(void *context, unsigned node, const struct rl_reply *reply)
{
    struct asking *asking = context;
    (void)reply; /* on_bulk had it */
    return client_list_answered(&asking->master[node]);
}

static void on_failure(void *context, unsigned node, const char *why)
{
    struct asking *asking = context;
    if (asking->cli->verbose)
        cli_say(asking->cli, "%s: does not tell hosts and processes: %s",
                asking->all->node[node].node, why);
}

void holder_ask(const struct cli *cli, const redlock_lock_info *all,
                struct holder_clients *clients)
{
    static const struct node_questions questions = {
        .next = next, .on_bulk = on_bulk, .on_reply = on_reply, .on_failure = on_failure};
    struct asking asking = {.cli = cli, .all = all, .clients = clients};
    struct node_ask *nodes = node_ask_open(&questions, &asking);
    if (!nodes)
        return;
    /* The client has read this list; one that was written since is another. */
    bool same = node_ask_config(nodes)->node_count == all->nodes;
    for (unsigned i = 0; same && i < all->nodes; i++) {
        client_list_begin(&asking.master[i]);
        if (all->node[i].answered)
            node_ask_add(nodes, i);
    }
    node_ask_run(nodes);
    node_ask_close(nodes);
}
