/* sim_commands_talk.c - Redis's commands about the connection, the server and messages. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include <stdio.h>

void sim_run_ping(struct sim_call *call)
{
    struct sim_text *out = call->out;
    const struct sim_word none = {"", 0};
    const struct sim_word *word = call->words == 2 ? &call->word[1] : &none;
    if (call->words > 2) {
        sim_put_error(out, "ERR wrong number of arguments for 'ping' command");
    } else if (call->session->channels > 0) {
        sim_put_array(out, 2);
        sim_put_bulk(out, "pong", 4);
        sim_put_bulk(out, word->bytes, word->len);
    } else if (call->words == 2) {
        sim_put_bulk(out, word->bytes, word->len);
    } else {
        sim_put(out, "+PONG\r\n");
    }
}

const char *sim_server_password(const struct sim_server *server)
{
    const struct sim_masters_options *options = sim_masters_options();
    return server->sentinel ? options->sentinel_password : options->password;
}

void sim_run_auth(struct sim_call *call)
{
    const char *password = sim_server_password(call->server);
    const struct sim_word *given = &call->word[call->words - 1];
    if (call->words > 3) {
        sim_put_error(call->out, sim_syntax);
        return;
    }
    if (call->words == 2 && !password) {
        sim_put_error(call->out,
                      "ERR AUTH <password> called without any password configured for the "
                      "default user. Are you sure your configuration is correct?");
        return;
    }
    bool is_user = call->words == 2 || strcmp(call->word[1].bytes, "default") == 0;
    bool is_right = !password || (given->len == strlen(password) &&
                                  memcmp(given->bytes, password, given->len) == 0);
    if (!is_user || !is_right) {
        sim_put_error(call->out,
                      "WRONGPASS invalid username-password pair or user is disabled.");
        return;
    }
    call->session->authenticated = true;
    sim_put_ok(call->out);
}

static void run_select(struct sim_call *call)
{
    int64_t db;
    if (!sim_word_integer(&call->word[1], &db) || db < INT32_MIN || db > INT32_MAX) {
        sim_put_error(call->out, sim_not_integer);
    } else if (db < 0 || db > 15) {
        sim_put_error(call->out, "ERR DB index is out of range");
    } else {
        call->session->db = (unsigned)db;
        sim_put_ok(call->out);
    }
}

void sim_run_setname(struct sim_call *call)
{
    for (size_t i = 0; i < call->word[2].len; i++) {
        char c = call->word[2].bytes[i];
        if (c < '!' || c > '~') {
            sim_put_error(call->out, "ERR Client names cannot contain spaces, newlines or "
                                     "special characters.");
            return;
        }
    }
    sim_put_ok(call->out);
}

void sim_run_quit(struct sim_call *call)
{
    call->session->ends = true;
    sim_put_ok(call->out);
}

static void run_time(struct sim_call *call)
{
    char text[24];
    int64_t now_us = sim_wall_ns(call->server) / SIM_US;
    sim_put_array(call->out, 2);
    int len = snprintf(text, sizeof(text), "%lld", (long long)(now_us / 1000000));
    sim_put_bulk(call->out, text, (size_t)len);
    len = snprintf(text, sizeof(text), "%lld", (long long)(now_us % 1000000));
    sim_put_bulk(call->out, text, (size_t)len);
}

/* What clients read of it, in Redis's order; the rest of it nobody misses. */
static void run_info(struct sim_call *call)
{
    char text[1024];
    const struct sim_server *server = call->server;
    bool replica = call->trouble == SIM_READONLY || call->trouble == SIM_MASTERDOWN;
    long long uptime_s = sim_wall_ns(server) / SIM_S - server->started_s;
    int len =
        snprintf(text, sizeof(text),
                 "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\n"
                 "process_id:%u\r\nrun_id:%s\r\ntcp_port:%d\r\n"
                 "server_time_usec:%lld\r\n"
                 "uptime_in_seconds:%lld\r\nuptime_in_days:%lld\r\n\r\n"
                 "# Clients\r\nconnected_clients:%zu\r\n\r\n"
                 "# Memory\r\nused_memory:1048576\r\nmaxmemory:%d\r\n"
                 "maxmemory_policy:noeviction\r\n\r\n"
                 "# Persistence\r\nloading:%d\r\nasync_loading:0\r\n"
                 "rdb_last_bgsave_status:%s\r\naof_last_write_status:ok\r\n\r\n"
                 "# Replication\r\nrole:%s\r\nconnected_slaves:%u\r\n"
                 "master_replid:%s\r\nsecond_repl_offset:%lld\r\n\r\n"
                 "# Cluster\r\ncluster_enabled:0\r\n\r\n# Keyspace\r\n",
                 1000 + server->index, server->run_id, SIM_PORT,
                 (long long)(sim_wall_ns(server) / SIM_US), uptime_s, uptime_s / 86400,
                 server->sessions, call->trouble == SIM_OOM, call->trouble == SIM_LOADING,
                 call->trouble == SIM_MISCONF ? "err" : "ok", replica ? "slave" : server->role,
                 sim_replicas_of(server),
                 server->replication, (long long)server->second_offset);
    assert(len > 0 && (size_t)len < sizeof(text));
    sim_put_bulk(call->out, text, (size_t)len);
}

/* ---- messages --------------------------------------------------------------------------- */

static void confirm(struct sim_call *call, const char *what, const struct sim_word *channel)
{
    sim_put_array(call->out, 3);
    sim_put_bulk(call->out, what, strlen(what));
    if (channel)
        sim_put_bulk(call->out, channel->bytes, channel->len);
    else
        sim_put_nil(call->out);
    sim_put_integer(call->out, (int64_t)call->session->channels);
}

void sim_run_subscribe(struct sim_call *call)
{
    struct sim_session *session = call->session;
    for (unsigned i = 1; i < call->words; i++) {
        const struct sim_word *channel = &call->word[i];
        if (!sim_session_listens(session, channel)) {
            assert(session->channels < SIM_CHANNELS_MAX && channel->len <= SIM_CHANNEL_MAX);
            struct sim_channel *added = &session->channel[session->channels++];
            added->len = channel->len;
            memcpy(added->name, channel->bytes, channel->len);
            call->server->channels++;
        }
        confirm(call, "subscribe", channel);
    }
}

static void unsubscribe(struct sim_call *call, const struct sim_word *name)
{
    struct sim_session *session = call->session;
    struct sim_channel *channel = sim_session_listens(session, name);
    if (channel) {
        /* `name` may be the channel's own. */
        struct sim_channel last = *channel;
        struct sim_word was = {last.name, last.len};
        *channel = session->channel[--session->channels];
        call->server->channels--;
        confirm(call, "unsubscribe", &was);
    } else {
        confirm(call, "unsubscribe", name);
    }
}

void sim_run_unsubscribe(struct sim_call *call)
{
    struct sim_session *session = call->session;
    for (unsigned i = 1; i < call->words; i++)
        unsubscribe(call, &call->word[i]);
    if (call->words > 1)
        return;
    if (session->channels == 0)
        confirm(call, "unsubscribe", NULL);
    while (session->channels > 0) {
        struct sim_channel *first = &session->channel[0];
        unsubscribe(call, &(struct sim_word){first->name, first->len});
    }
}

static void run_publish(struct sim_call *call)
{
    sim_put_integer(call->out, sim_publish(call->server, &call->word[1], &call->word[2]));
}

/* ---- scripts ---------------------------------------------------------------------------- */

static void run_script_flush(struct sim_call *call)
{
    bool fits = call->words == 2 ||
                (call->words == 3 &&
                 (sim_word_is(&call->word[2], "SYNC") || sim_word_is(&call->word[2], "ASYNC")));
    if (!fits) {
        sim_put_error(call->out, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    memset(call->server->scripts_known, 0, sizeof(call->server->scripts_known));
    call->server->nonces.count = 0;
    sim_put_ok(call->out);
}

enum { ANY_TIME = SIM_STALE | SIM_WHILE_LOADING };

const struct sim_command sim_commands_talk[] = {
    {"eval", -3, SIM_STALE | SIM_SCRIPTING, sim_run_eval},
    {"evalsha", -3, SIM_STALE | SIM_SCRIPTING, sim_run_evalsha},
    {"script", -2, 0, NULL}, /* without a subcommand only */
    {"script|load", 3, SIM_SCRIPTING, sim_run_script_load},
    {"script|exists", -3, SIM_SCRIPTING, sim_run_script_exists},
    {"script|flush", -2, SIM_SCRIPTING, run_script_flush},
    {"ping", -1, SIM_IS_PING | SIM_IN_SUBSCRIBER, sim_run_ping},
    {"info", -1, ANY_TIME, run_info},
    {"auth", -2, ANY_TIME | SIM_NO_AUTH | SIM_ALLOW_BUSY, sim_run_auth},
    {"select", 2, ANY_TIME, run_select},
    {"client", -2, 0, NULL},
    {"client|setname", 3, ANY_TIME, sim_run_setname},
    {"subscribe", -2, ANY_TIME | SIM_IN_SUBSCRIBER, sim_run_subscribe},
    {"unsubscribe", -1, ANY_TIME | SIM_IN_SUBSCRIBER, sim_run_unsubscribe},
    {"publish", 3, ANY_TIME, run_publish},
    {"quit", -1, ANY_TIME | SIM_NO_AUTH | SIM_ALLOW_BUSY | SIM_IN_SUBSCRIBER, sim_run_quit},
    {"time", 1, ANY_TIME, run_time},
    {NULL, 0, 0, NULL},
};
