/* holder_ask.c - see holder_ask.h. INFO clients tells how long CLIENT LIST would be. */
#include "config_auto.h"

#include "redlock/holder_ask.h"

#include "core/server_info.h"
#include "redlock/node_ask.h"

enum step { COUNT, LIST, DONE };

struct asking {
    const struct cli *cli;
    const redlock_lock_info *all;
    struct holder_clients *clients;
    struct {
        enum step asked; /* the request that is next, or under way */
        struct rl_info info;
    } master[REDLOCK_NODES_MAX];
};

static const char *next(void *context, unsigned node)
{
    static const char *const requests[] = {
        [COUNT] = "*2\r\n$4\r\nINFO\r\n$7\r\nclients\r\n",
        [LIST] = CLIENT_LIST_REQUEST,
        [DONE] = NULL,
    };
    struct asking *asking = context;
    return requests[asking->master[node].asked];
}

static void on_bulk(void *context, unsigned node, const char *bytes, size_t len,
                    const struct rl_mask *mask)
{
    struct asking *asking = context;
    if (asking->master[node].asked == COUNT)
        rl_info_parse(bytes, len, &asking->master[node].info);
    else
        holder_clients_heard(asking->clients, bytes, len, mask);
}

static const char *on_reply(void *context, unsigned node, const struct rl_reply *reply)
{
    struct asking *asking = context;
    (void)reply; /* on_bulk had it */
    if (asking->master[node].asked++ == LIST)
        return NULL;
    return client_list_refused(asking->master[node].info.clients);
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
        rl_info_parse("", 0, &asking.master[i].info); /* nothing is known */
        if (all->node[i].answered)
            node_ask_add(nodes, i);
    }
    node_ask_run(nodes);
    node_ask_close(nodes);
}
