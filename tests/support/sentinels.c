/* sentinels.c - see sentinels.h. */
#include "config_auto.h"

#include "sentinels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AWAIT_MS = 60000 };

/* The word behind `name` in what a Sentinel told, as a number; 0 where it is not there. */
static unsigned long long field(const char *told, const char *name)
{
    char words[64];
    snprintf(words, sizeof(words), " %s ", name);
    const char *at = strstr(told, words);
    return at ? strtoull(at + strlen(words), NULL, 10) : 0;
}

static int server_at(const struct sentinels *sentinels, const char *address)
{
    char each[64];
    for (unsigned i = 0; i < sentinels->servers->n; i++) {
        snprintf(each, sizeof(each), "127.0.0.1 %d", sentinels->servers->node[i].tcp_at.port);
        if (strcmp(address, each) == 0)
            return (int)i;
    }
    return -1;
}

struct sentinel_says sentinels_ask(struct sentinels *sentinels, unsigned watcher)
{
    struct sentinel_says says = {.server = -1};
    if (sentinels->watchers->node[watcher].pid == 0 || sentinels->watchers->node[watcher].paused)
        return says;
    struct reply told = master_do(sentinels->watchers, watcher, "SENTINEL", "MASTER",
                                  sentinels->service, NULL);
    struct reply address = master_do(sentinels->watchers, watcher, "SENTINEL",
                                     "GET-MASTER-ADDR-BY-NAME", sentinels->service, NULL);
    if (told.type != '*' || address.type != '*')
        return says;
    says.server = server_at(sentinels, address.text);
    says.term = field(told.text, "config-epoch");
    says.replicas = (unsigned)field(told.text, "num-slaves");
    says.others = (unsigned)field(told.text, "num-other-sentinels");
    return says;
}

int sentinels_named(struct sentinels *sentinels, unsigned long long *ret_term)
{
    unsigned n = sentinels->watchers->n;
    struct sentinel_says says[MASTERS_MAX];
    for (unsigned i = 0; i < n; i++)
        says[i] = sentinels_ask(sentinels, i);
    for (unsigned i = 0; i < n; i++) {
        unsigned same = 0;
        for (unsigned j = 0; j < n; j++)
            same += says[j].server == says[i].server && says[j].term == says[i].term;
        if (says[i].server >= 0 && same > n / 2) {
            *ret_term = says[i].term;
            return says[i].server;
        }
    }
    return -1;
}

static int named(struct sentinels *sentinels)
{
    unsigned long long term;
    return sentinels_named(sentinels, &term);
}

void sentinels_await(struct sentinels *sentinels, int server)
{
    if (!wait_until(named(sentinels) == server, AWAIT_MS))
        suite_die("the Sentinels do not name server %d", server);
}

int sentinels_await_other(struct sentinels *sentinels, int server)
{
    int other = -1;
    if (!wait_until((other = named(sentinels)) >= 0 && other != server, AWAIT_MS))
        suite_die("the Sentinels name none but server %d", server);
    return other;
}

static bool all_know(struct sentinels *sentinels)
{
    for (unsigned i = 0; i < sentinels->watchers->n; i++) {
        struct sentinel_says says = sentinels_ask(sentinels, i);
        if (says.server != 0 || says.replicas + 1 != sentinels->servers->n ||
            says.others + 1 != sentinels->watchers->n)
            return false;
    }
    return true;
}

static bool follows(struct sentinels *sentinels, unsigned server)
{
    struct reply role = master_do(sentinels->servers, server, "INFO", "replication", NULL);
    return strstr(role.text, "master_link_status:up") != NULL;
}

static void stop(void *what)
{
    sentinels_stop(what);
}

struct sentinels *sentinels_start(unsigned watchers, unsigned servers, const char *service)
{
    static const char *const extra[] = {"--repl-diskless-sync-delay", "0", NULL};
    struct sentinels *sentinels = calloc(1, sizeof(*sentinels));
    if (!sentinels)
        suite_die("no memory");
    sentinels->service = service;
    sentinels->servers = masters_start(servers, extra);
    char port[16];
    snprintf(port, sizeof(port), "%d", sentinels->servers->node[0].tcp_at.port);
    for (unsigned i = 1; i < servers; i++) {
        master_do(sentinels->servers, i, "REPLICAOF", "127.0.0.1", port, NULL);
        if (!wait_until(follows(sentinels, i), AWAIT_MS))
            suite_die("server %u is no replica", i);
    }
    snprintf(sentinels->watch, sizeof(sentinels->watch),
             "sentinel monitor %s 127.0.0.1 %s %u\nsentinel down-after-milliseconds %s %d\n"
             "sentinel failover-timeout %s 2000\n",
             service, port, watchers / 2 + 1, service, SENTINELS_DOWN_AFTER_MS, service);
    sentinels->watchers = masters_start_watching(watchers, sentinels->watch);
    if (!wait_until(all_know(sentinels), AWAIT_MS))
        suite_die("the Sentinels do not find each other and the replicas");
    suite_at_end(stop, sentinels);
    return sentinels;
}

void sentinels_stop(struct sentinels *sentinels)
{
    suite_forget(sentinels);
    masters_stop(sentinels->watchers);
    masters_stop(sentinels->servers);
    free(sentinels);
}

const char *sentinels_file(struct sentinels *sentinels, const char *settings)
{
    static struct node_list list;
    char hosts[MASTERS_MAX * 24];
    size_t len = 0;
    for (unsigned i = 0; i < sentinels->watchers->n; i++)
        len += (size_t)snprintf(hosts + len, sizeof(hosts) - len, "%s127.0.0.1:%d", i ? "," : "",
                                sentinels->watchers->node[i].tcp_at.port);
    list.len = 0;
    node_list_line(&list, "node redis+sentinel://%s/%s\n%s", hosts, sentinels->service,
                   settings ? settings : "");
    return node_list_write(&list);
}
