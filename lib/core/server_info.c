/* server_info.c - see server_info.h. Core. */
#include "config_auto.h"

#include "core/server_info.h"

#include "base/limits.h"
#include "base/text.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Copy a value that fits; ignore one that does not. */
static void take_text(char *ret, size_t size, const char *value, size_t len)
{
    assert(size > 0);
    ret[0] = '\0';
    if (len >= size)
        return;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < 0x21 || value[i] > 0x7e)
            return;
    }
    memcpy(ret, value, len);
    ret[len] = '\0';
}

static bool is(const char *key, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(key, name, len) == 0;
}

/* The form of a field: a text, a number, or a flag that is set by this one value. */
enum form { TEXT, NUMBER, FLAG };

#define FIELD(name) offsetof(struct rl_info, name), sizeof(((struct rl_info *)0)->name)

static const struct row {
    const char *key;
    enum form form;
    size_t at, size;
    const char *value;
} rows[] = {
    {"run_id", TEXT, FIELD(run_id), NULL},
    {"master_replid", TEXT, FIELD(replication), NULL},
    {"role", TEXT, FIELD(role), NULL},
    {"redis_version", TEXT, FIELD(version), NULL},
    {"valkey_version", TEXT, FIELD(valkey), NULL},
    {"redict_version", TEXT, FIELD(redict), NULL},
    {"maxmemory_policy", TEXT, FIELD(policy), NULL},
    {"uptime_in_seconds", NUMBER, FIELD(uptime_s), NULL},
    {"server_time_usec", NUMBER, FIELD(time_us), NULL},
    {"maxmemory", NUMBER, FIELD(maxmemory), NULL},
    {"used_memory", NUMBER, FIELD(used_memory), NULL},
    {"mem_not_counted_for_evict", NUMBER, FIELD(uncounted_memory), NULL},
    {"min_slaves_good_slaves", NUMBER, FIELD(good_replicas), NULL},
    {"connected_slaves", NUMBER, FIELD(replicas), NULL},
    {"connected_clients", NUMBER, FIELD(clients), NULL},
    {"second_repl_offset", NUMBER, FIELD(second_offset), NULL},
    {"redis_mode", FLAG, FIELD(sentinel), "sentinel"},
    {"server_mode", FLAG, FIELD(sentinel), "sentinel"}, /* valkey's */
    {"cluster_enabled", FLAG, FIELD(cluster), "1"},
    {"loading", FLAG, FIELD(loading), "1"},
    {"rdb_last_bgsave_status", FLAG, FIELD(rdb_failed), "err"},
    {"aof_last_write_status", FLAG, FIELD(aof_failed), "err"},
};

static void take_value(const struct row *row, const char *value, size_t len,
                       struct rl_info *info)
{
    void *field = (char *)info + row->at;
    assert(row->at + row->size <= sizeof(*info));
    assert((row->form == FLAG) == (row->value != NULL));
    switch (row->form) {
    case TEXT:
        take_text(field, row->size, value, len);
        break;
    case NUMBER:
        assert(row->size == sizeof(int64_t));
        *(int64_t *)field = rl_decimal(value, len);
        break;
    case FLAG:
        assert(row->size == sizeof(bool));
        *(bool *)field = is(value, len, row->value);
        break;
    }
}

static void take_line(const char *line, size_t len, struct rl_info *info)
{
    const char *colon = memchr(line, ':', len);
    if (!colon)
        return;
    size_t key_len = (size_t)(colon - line);
    assert(key_len < len);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is(line, key_len, rows[i].key))
            take_value(&rows[i], colon + 1, len - key_len - 1, info);
    }
}

void rl_info_parse(const char *text, size_t len, struct rl_info *ret_info)
{
    *ret_info = (struct rl_info){
        .uptime_s = -1, .time_us = -1, .good_replicas = -1, .replicas = -1, .clients = -1,
        .second_offset = -1};
    const char *line;
    size_t line_len;
    while (rl_next_line(&text, &len, &line, &line_len))
        take_line(line, line_len, ret_info);
    if (ret_info->maxmemory < 0)
        ret_info->maxmemory = 0;
    assert(ret_info->uptime_s >= -1 && ret_info->run_id[sizeof(ret_info->run_id) - 1] == '\0');
    if (ret_info->valkey[0])
        snprintf(ret_info->version, sizeof(ret_info->version), "valkey %s", ret_info->valkey);
    else if (ret_info->redict[0])
        snprintf(ret_info->version, sizeof(ret_info->version), "redict %s", ret_info->redict);
}

bool rl_info_is_replica(const struct rl_info *info)
{
    assert(info->role[sizeof(info->role) - 1] == '\0');
    return info->role[0] && strcmp(info->role, "master") != 0;
}

static bool evicts(const struct rl_info *info)
{
    assert(info->policy[sizeof(info->policy) - 1] == '\0');
    return info->maxmemory > 0 && info->policy[0] && strcmp(info->policy, "noeviction") != 0;
}

/* R18: A replica, a part of a cluster or a master that evicts has no vote. */
const char *rl_info_unfit(const struct rl_info *info)
{
    if (info->loading)
        return "loading its data set";
    if (info->sentinel)
        return "is a Sentinel, which keeps no keys: name independent masters instead";
    if (info->cluster)
        return "is a member of a Redis Cluster, whose keys move to other members and to "
               "replicas: name an independent server, new and empty, instead";
    if (rl_info_is_replica(info))
        /* Not "name its master": a replica that took its place lacks the last locks. */
        return "is a replica, so it has no vote";
    if (evicts(info))
        return "evicts keys, and locks with them: set maxmemory-policy noeviction, and restart "
               "it";
    return NULL;
}

const char *rl_info_refusal(const struct rl_info *info)
{
    int64_t counted = info->used_memory;
    assert(info->maxmemory >= 0);
    if (info->uncounted_memory > 0)
        counted -= info->uncounted_memory;
    if (info->maxmemory > 0 && counted > info->maxmemory)
        return "OOM: it uses more than maxmemory, so it takes no locks: set maxmemory higher, "
               "or "
               "delete there what is no lock";
    if (info->aof_failed)
        return "MISCONF: its last write to the append only file failed, so it takes no locks: "
               "free room on the disk";
    if (info->rdb_failed)
        return "MISCONF: its last RDB save failed, so it may take no locks: free room on the "
               "disk, or "
               "set stop-writes-on-bgsave-error no";
    if (info->good_replicas == 0)
        return "NOREPLICAS: it has none of the replicas that min-replicas-to-write asks for, "
               "so "
               "it takes no locks: set that to 0";
    return NULL;
}
