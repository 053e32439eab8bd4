/* client.c - see client.h. */
#include "config_auto.h"

#include "client.h"

#include <stdio.h>
#include <string.h>

redlock *client_open(const char *file)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    redlock *client = NULL;
    int code = redlock_open(file, &error, &client);
    ck_assert_msg(code == 0 && client, "%d: %s", code, error.text);
    return client;
}

void client_close(redlock *const *client)
{
    redlock_close(*client);
}

int client_try(redlock *client, const char *name, int64_t ttl_ms, int64_t wait_ms,
               redlock_report *report, redlock_lock **ret_lock)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = ttl_ms != 0 ? ttl_ms : CLIENT_TTL_MS;
    options.wait_ms = wait_ms;
    options.report = report;
    return redlock_try(client, name, &options, ret_lock);
}

int client_try_as(redlock *client, const char *name, int kind, const char *owner,
                  int64_t wait_ms, redlock_lock **ret_lock)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = CLIENT_TTL_MS;
    options.wait_ms = wait_ms;
    options.kind = kind;
    options.owner = owner;
    return redlock_try(client, name, &options, ret_lock);
}

redlock_lock *client_take_as(redlock *client, const char *name, int kind, const char *owner)
{
    redlock_lock *lock = NULL;
    int code = client_try_as(client, name, kind, owner, 0, &lock);
    ck_assert_msg(code == 0 && lock, "%s", redlock_err_name(code));
    return lock;
}

redlock_lock *client_take(redlock *client, const char *name)
{
    static _Thread_local redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    int code = client_try(client, name, 0, 0, &report, &lock);
    ck_assert_msg(code == 0 && lock, "%s: %s", redlock_err_name(code), client_told(&report));
    return lock;
}

int client_try_all(redlock *client, const char *const names[], size_t count, int64_t wait_ms,
                   redlock_report *report, redlock_lock **ret_lock)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = CLIENT_TTL_MS;
    options.wait_ms = wait_ms;
    options.report = report;
    return redlock_try_names(client, names, count, &options, ret_lock);
}

redlock_lock *client_take_all(redlock *client, const char *const names[], size_t count)
{
    static _Thread_local redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    int code = client_try_all(client, names, count, 0, &report, &lock);
    ck_assert_msg(code == 0 && lock, "%s: %s", redlock_err_name(code), client_told(&report));
    return lock;
}

bool client_can_take(redlock *client, const char *name)
{
    redlock_lock *lock = NULL;
    return client_try(client, name, 0, 0, NULL, &lock) == 0 && redlock_release(lock) == 0;
}

int client_state(redlock *client, unsigned node, char *ret_text)
{
    static _Thread_local redlock_node_status nodes[REDLOCK_NODES_MAX];
    redlock_status_report status = REDLOCK_STATUS_INIT(nodes, REDLOCK_NODES_MAX);
    redlock_get_status(client, &status);
    if (ret_text)
        memcpy(ret_text, status.node[node].text, sizeof(status.node[node].text));
    return status.node[node].state;
}

unsigned client_ready(redlock *client)
{
    redlock_status_report status = REDLOCK_STATUS_INIT(NULL, 0);
    redlock_get_status(client, &status);
    return status.ready;
}

redlock_stats client_stats(redlock *client)
{
    redlock_stats stats = REDLOCK_STATS_INIT;
    ck_assert_int_eq(redlock_get_stats(client, &stats), 0);
    return stats;
}

const char *client_told(const redlock_report *report)
{
    static const char *const votes[] = {"none", "granted", "held", "free", "failed"};
    static _Thread_local char line[4096];
    size_t size = sizeof(line);
    size_t len = (size_t)snprintf(line, size, "%u granted, %u held, %u failed of %u, round %u",
                                  report->granted, report->held, report->failed, report->nodes,
                                  report->rounds);
    for (unsigned i = 0; i < report->node_count && len < size; i++)
        len += (size_t)snprintf(line + len, size - len, "; %u %s %s", i,
                                votes[report->node[i].vote], report->node[i].text);
    return line;
}

void client_is_quiet(redlock *client)
{
    redlock_stats before;
    do {
        before = client_stats(client);
        pause_ms(30);
    } while (client_stats(client).commands != before.commands);
}
