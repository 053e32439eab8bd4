/* sim_scripts_durable.c - `durable on`, said in C: marker_stamp.lua, and what marker_join.lua
 * makes of a stamp. */
#include "config_auto.h"

#include "sim_disk.h"
#include "sim_script_parts.h"

#include <stdio.h>

enum { INFO_MAX = 256, STAMP_MAX = 160 };

static bool told(const char *info, const char *line)
{
    return strstr(info, line) != NULL;
}

static void stamp_of(const struct sim_marker *marker, char ret_stamp[STAMP_MAX])
{
    snprintf(ret_stamp, STAMP_MAX, "%s %s %s", marker->run, marker->replication, marker->db);
}

static bool stands(const struct sim_run *run, const struct sim_word *name, const char *stamp)
{
    const struct sim_key *key = sim_script_key(run, name);
    return key && key->type == SIM_STRING && key->value.len == strlen(stamp) &&
           memcmp(key->value.bytes, stamp, key->value.len) == 0;
}

bool sim_kept_all(struct sim_run *run, const struct sim_marker *marker)
{
    const struct sim_server *server = run->call->server;
    char info[INFO_MAX], stamp[STAMP_MAX];
    if (!sim_keys_at(run, 3))
        return false;
    sim_disk_info(server, info, sizeof(info));
    stamp_of(marker, stamp);
    return told(info, "aof_enabled:1\r") && told(info, "aof_rewrite_in_progress:0\r") &&
           told(info, "aof_rewrite_scheduled:0\r") &&
           told(info, "aof_last_rewrite_time_sec:-1\r") && server->second_offset == -1 &&
           stands(run, sim_keys_at(run, 3), stamp);
}

/* ---- the stamp -------------------------------------------------------------------------- */

static const char *wrong_in(const struct sim_server *server)
{
    char info[INFO_MAX];
    sim_disk_info(server, info, sizeof(info));
    if (!told(info, "aof_enabled:1\r"))
        return "off";
    if (!told(info, "aof_last_bgrewrite_status:ok\r"))
        return "failed";
    if (!told(info, "aof_rewrite_in_progress:0\r") || !told(info, "aof_rewrite_scheduled:0\r"))
        return "rewriting";
    return "";
}

/* What such a look has to come to, whatever its client says. */
static void judge(const struct sim_call *call, const struct sim_marker *marker)
{
    struct sim_server *server = call->server;
    bool own = marker->named && strcmp(marker->run, server->run_id) == 0;
    if (own && call->session->heard_durable && wrong_in(server)[0] == '\0')
        sim_disk_vouch(server);
    else
        sim_disk_doubt(server);
}

static void tell(const struct sim_run *run, const char *why, bool changed)
{
    const struct sim_call *call = run->call;
    if (changed)
        sim_tell("n%u %s for %s%s%s", call->server->index + 1,
                 why[0] ? "has no stamp any more" : "is stamped",
                 call->session->by ? call->session->by->name : "?", why[0] ? ": " : "", why);
}

void sim_run_stamp(struct sim_run *run)
{
    struct sim_call *call = run->call;
    const struct sim_word *own = sim_argv_at(run, 2), *name = sim_keys_at(run, 2);
    const char *why = sim_argv_at(run, 3)->bytes, *error = sim_script_enter(run, 0);
    const char *where = "redis.call('DEL'";
    struct sim_marker marker;
    char stamp[STAMP_MAX];
    bool changed = false;
    assert(run->n_keys == 2 && run->n_args == 3);
    sim_marker_read(sim_script_key(run, sim_keys_at(run, 1)), &marker);
    stamp_of(&marker, stamp);
    call->server->felt.looks++;
    if (!marker.named || strcmp(marker.run, own->bytes) != 0 ||
        strcmp(call->server->run_id, own->bytes) != 0)
        why = "another";
    else if (why[0] == '\0')
        why = wrong_in(call->server);
    if (!error && why[0]) {
        error = sim_script_del(run, name, &changed);
    } else if (!error && !stands(run, name, stamp)) {
        where = "redis.call('SET'";
        error = sim_script_set_for_ever(run, name, &(struct sim_word){stamp, strlen(stamp)});
        changed = true;
    }
    if (error) {
        sim_script_fail(run, where, error);
        return;
    }
    judge(call, &marker);
    run->answered = run->yes = true;
    sim_put_array(call->out, 2);
    sim_put_bulk(call->out, sim_argv_at(run, 1)->bytes, sim_argv_at(run, 1)->len);
    sim_put_bulk(call->out, why, strlen(why));
    tell(run, why, changed);
}
