/* run_lists.c - see run_lists.h. */
#include "config_auto.h"

#include "redlock/run_lists.h"

#include "base/limits.h"
#include "redlock/client_list.h"
#include "redlock/node_ask.h"
#include "redlock/status_peers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A user that lacks the right and asks all the same is in the log of refusals, for each run. */
#define MAY_SCRIPT                                                                             \
    "return not redis.acl_check_cmd or (redis.acl_check_cmd('CLIENT','LIST') and "             \
    "redis.acl_check_cmd('INFO'))"
#define MAY_REQUEST "*3\r\n$4\r\nEVAL\r\n$104\r\n" MAY_SCRIPT "\r\n$1\r\n0\r\n"
_Static_assert(sizeof(MAY_SCRIPT) - 1 == 104, "the length in MAY_REQUEST");

struct run_lists {
    const struct cli *cli;
    pthread_t thread;
    struct node_ask *nodes;
    struct status_peers peers;
    struct {
        bool may; /* the user may ask */
        struct client_list_ask list;
    } master[REDLOCK_NODES_MAX];
};

/* ---- what is asked ---------------------------------------------------------------------- */

static const char *next(void *context, unsigned node)
{
    struct run_lists *lists = context;
    return lists->master[node].may ? client_list_next(&lists->master[node].list) : MAY_REQUEST;
}

static void on_bulk(void *context, unsigned node, const char *bytes, size_t len,
                    const struct rl_mask *mask)
{
    struct run_lists *lists = context;
    if (lists->master[node].may && client_list_heard(&lists->master[node].list, bytes, len))
        status_peers_heard(&lists->peers, node, bytes, len, mask);
}

static const char *on_reply(void *context, unsigned node, const struct rl_reply *reply)
{
    struct run_lists *lists = context;
    struct client_list_ask *list = &lists->master[node].list;
    if (!lists->master[node].may) {
        lists->master[node].may = reply->type == RL_REPLY_INTEGER;
        return lists->master[node].may ? NULL : "the user may not ask";
    }
    const char *refused = client_list_answered(list);
    return list->info.clients > RUN_LISTS_CLIENTS_MAX ? "it has many clients" : refused;
}

/* Of a master that does not tell nothing is known, as without this look. */
static void on_failure(void *context, unsigned node, const char *why)
{
    (void)context, (void)node;
    (void)why;
}

/* ---- what is told ----------------------------------------------------------------------- */

static void tell(struct run_lists *lists)
{
    const struct rl_config *config = node_ask_config(lists->nodes);
    struct status_lists found = status_peers_lists(&lists->peers);
    for (unsigned i = 0; found.clients > 0 && i < config->node_count; i++) {
        struct status_facts facts = {.odd_clients = 0};
        status_peers_judge(&lists->peers, i, &facts);
        if (facts.odd_clients == 0)
            continue;
        cli_note(lists->cli, "%s %u client%s of these masters ha%s another node list: on %s, "
                             "%s; %s", cli_clock_text().text, found.clients,
                 found.clients == 1 ? "" : "s", found.clients == 1 ? "s" : "ve",
                 config->nodes[i].label, facts.odd,
                 status_lists_remedy(found.by_step, found.former));
        return;
    }
}

static void *look(void *context)
{
    struct run_lists *lists = context;
    const struct rl_config *config = node_ask_config(lists->nodes);
    for (unsigned i = 0; i < config->node_count; i++) {
        client_list_begin(&lists->master[i].list);
        lists->peers.db[i] = config->nodes[i].db;
        node_ask_add(lists->nodes, i);
    }
    node_ask_run(lists->nodes);
    tell(lists);
    return NULL;
}

/* ---- the thread ------------------------------------------------------------------------- */

/* The file may have another list since the lock was wanted: then who is odd is this program. */
static bool is_as_it_was(const struct rl_config *config)
{
    struct rl_list_mark now;
    char then_text[RL_LIST_MARK_MAX + 1], now_text[RL_LIST_MARK_MAX + 1];
    rl_list_mark_of(config, &now);
    rl_list_mark_write(&now, now_text);
    rl_list_mark_write(cli_nodes_mark(), then_text);
    return strcmp(now_text, then_text) == 0;
}

static bool start(struct run_lists *lists)
{
    static const struct node_questions questions = {
        .next = next, .on_bulk = on_bulk, .on_reply = on_reply, .on_failure = on_failure};
    lists->nodes = node_ask_open(&questions, lists);
    if (!lists->nodes || !is_as_it_was(node_ask_config(lists->nodes)))
        return false;
    sigset_t all, before; /* signals are for who supervises */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&lists->thread, NULL, look, lists) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

struct run_lists *run_lists_begin(const struct cli *cli)
{
    struct run_lists *lists = calloc(1, sizeof(*lists));
    if (!lists)
        return NULL;
    lists->cli = cli;
    lists->peers.own = *cli_nodes_mark();
    if (start(lists))
        return lists;
    node_ask_close(lists->nodes);
    free(lists);
    return NULL;
}

void run_lists_end(struct run_lists *lists)
{
    if (!lists)
        return;
    node_ask_stop(lists->nodes);
    pthread_join(lists->thread, NULL);
    node_ask_close(lists->nodes);
    free(lists);
}
