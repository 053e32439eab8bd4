/* sim_sentinel_talk.c - what model Sentinels answer, in the words and the order of Redis 7.0. */
#include "config_auto.h"

#include "sim_sentinel_parts.h"

#include <stdio.h>

static const char *const steps[] = {
    [SIM_STEP_WAIT_START] = "wait_start",   [SIM_STEP_SELECT] = "select_slave",
    [SIM_STEP_TELL] = "send_slaveof_noone", [SIM_STEP_TOLD] = "wait_promotion",
    [SIM_STEP_SEEN] = "reconf_slaves",      [SIM_STEP_DONE] = "update_config",
};

enum { ADDRESS_MAX = 24 };

static void address_of(unsigned server, char ret_address[ADDRESS_MAX])
{
    snprintf(ret_address, ADDRESS_MAX, "10.0.0.%u", server % SIM_MASTERS_MAX + 1);
}

static void put_text(struct sim_call *call, const char *text)
{
    sim_put_bulk(call->out, text, strlen(text));
}

static void put_number(struct sim_call *call, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    put_text(call, text);
}

static void put_field(struct sim_call *call, const char *name, const char *value)
{
    put_text(call, name);
    put_text(call, value);
}

static void put_count(struct sim_call *call, const char *name, uint64_t value)
{
    put_text(call, name);
    put_number(call, value);
}

/* "s1" is the first service. The count of services: this one knows none of that name. */
static unsigned service_named(const struct sim_call *call)
{
    char name[8];
    unsigned count = sim_masters_options()->count;
    for (unsigned i = 0; i < count; i++) {
        const struct sim_word *word = &call->word[2];
        int len = snprintf(name, sizeof(name), "s%u", i % SIM_SERVICES_MAX + 1);
        if (word->len == (size_t)len && memcmp(word->bytes, name, word->len) == 0 &&
            sim_sentinel_watches(call->server->sentinel, i))
            return i;
    }
    return count;
}

static bool find(struct sim_call *call, unsigned *ret_service, struct sim_register **ret_register)
{
    *ret_service = service_named(call);
    if (*ret_service == sim_masters_options()->count) {
        sim_put_error(call->out, "ERR No such master with that name");
        return false;
    }
    *ret_register = &call->server->sentinel->of[*ret_service];
    return true;
}

static bool is_down(const struct sim_server *server)
{
    return !server->up || sim_now_ns() < server->paused_until_ns;
}

static void put_instance(struct sim_call *call, const char *name, unsigned server,
                         const char *run_id, const char *flags)
{
    char address[ADDRESS_MAX];
    address_of(server, address);
    put_field(call, "name", name);
    put_field(call, "ip", address);
    put_count(call, "port", SIM_PORT);
    put_field(call, "runid", run_id);
    put_field(call, "flags", flags);
    put_count(call, "link-pending-commands", 0);
    put_count(call, "link-refcount", 1);
}

static void put_pings(struct sim_call *call, const char *role)
{
    put_count(call, "last-ping-sent", 0);
    put_count(call, "last-ok-ping-reply", 353);
    put_count(call, "last-ping-reply", 353);
    put_count(call, "down-after-milliseconds", 2000);
    put_count(call, "info-refresh", 2862);
    put_field(call, "role-reported", role);
    put_count(call, "role-reported-time", 22928);
}

static void tell_statement(const struct sim_call *call, unsigned service)
{
    struct sim_stated stated = {
        .sentinel = call->server->index, .service = service, .to = call->session->by};
    stated.told = sim_sentinel_says(stated.sentinel, service, &stated.master, &stated.term);
    if (sim_tells() && stated.told)
        sim_tell("n%u says to %s: s%u's master is n%u, term %llu", stated.sentinel + 1,
                 stated.to ? stated.to->name : "?", service + 1, stated.master + 1,
                 (unsigned long long)stated.term);
    else
        sim_tell("n%u names no master of s%u", stated.sentinel + 1, service + 1);
    if (sim_masters_options()->stated)
        sim_masters_options()->stated(&stated);
}

static void run_master(struct sim_call *call)
{
    unsigned service;
    struct sim_register *reg;
    char name[16], flags[96];
    if (!find(call, &service, &reg))
        return;
    bool leads = reg->step != SIM_STEP_NONE;
    snprintf(name, sizeof(name), "s%u", service + 1);
    snprintf(flags, sizeof(flags), "%smaster%s%s%s",
             is_down(sim_server(reg->master)) ? "s_down,o_down," : "",
             is_down(sim_server(reg->master)) ? ",disconnected" : "",
             leads ? ",failover_in_progress" : "", leads && reg->forced ? ",force_failover" : "");
    sim_put_array(call->out, leads ? 42 : 40);
    put_instance(call, name, reg->master, reg->run_id, flags);
    if (leads)
        put_field(call, "failover-state", steps[reg->step]);
    put_pings(call, "master");
    put_count(call, "config-epoch", reg->term);
    put_count(call, "num-slaves", sim_masters_options()->replicas);
    put_count(call, "num-other-sentinels", sim_masters_options()->sentinels - 1);
    put_count(call, "quorum", sim_masters_options()->sentinels / 2 + 1);
    put_count(call, "failover-timeout", 180000);
    put_count(call, "parallel-syncs", 1);
    tell_statement(call, service);
}

static void run_address(struct sim_call *call)
{
    char address[ADDRESS_MAX];
    unsigned service = service_named(call);
    if (service == sim_masters_options()->count) {
        sim_put(call->out, "*-1\r\n");
        return;
    }
    address_of(sim_register_named(&call->server->sentinel->of[service]), address);
    sim_put_array(call->out, 2);
    put_text(call, address);
    put_number(call, SIM_PORT);
}

/* Whatever is not its master is one, whatever it says. */
static void put_replica(struct sim_call *call, const struct sim_register *reg, unsigned server)
{
    const struct sim_server *replica = sim_server(server);
    char name[ADDRESS_MAX + 8], address[ADDRESS_MAX];
    address_of(server, address);
    snprintf(name, sizeof(name), "%s:%d", address, SIM_PORT);
    sim_put_array(call->out, 42);
    put_instance(call, name, server, replica->run_id, is_down(replica) ? "s_down,slave" : "slave");
    put_pings(call, replica->follows ? "slave" : "master");
    put_count(call, "master-link-down-time", 0);
    put_field(call, "master-link-status", replica->linked ? "ok" : "err");
    address_of(replica->follows ? replica->follows->index : reg->master, address);
    put_field(call, "master-host", address);
    put_count(call, "master-port", SIM_PORT);
    put_count(call, "slave-priority", 100);
    put_count(call, "slave-repl-offset", 949);
    put_count(call, "replica-announced", 1);
}

static void run_replicas(struct sim_call *call)
{
    unsigned service;
    struct sim_register *reg;
    if (!find(call, &service, &reg))
        return;
    unsigned replicas = sim_masters_options()->replicas;
    sim_put_array(call->out, replicas);
    if (service != reg->master)
        put_replica(call, reg, service);
    for (unsigned i = 0; i < replicas; i++) {
        if (sim_replica_at(service, i) != reg->master)
            put_replica(call, reg, sim_replica_at(service, i));
    }
}

static void run_myid(struct sim_call *call)
{
    put_text(call, call->server->sentinel->id);
}

static void run_info(struct sim_call *call)
{
    const struct sim_server *server = call->server;
    long long uptime_s = sim_wall_ns(server) / SIM_S - server->started_s;
    char text[512];
    int len = snprintf(text, sizeof(text),
                       "# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\n"
                       "process_id:%u\r\nrun_id:%s\r\ntcp_port:%d\r\nserver_time_usec:%lld\r\n"
                       "uptime_in_seconds:%lld\r\nuptime_in_days:%lld\r\n",
                       1000 + server->index, server->run_id, SIM_PORT,
                       (long long)(sim_wall_ns(server) / SIM_US), uptime_s, uptime_s / 86400);
    if (call->words == 1)
        len += snprintf(text + len, sizeof(text) - (size_t)len,
                        "\r\n# Clients\r\nconnected_clients:%zu\r\nmaxclients:10000\r\n\r\n"
                        "# Sentinel\r\nsentinel_masters:%u\r\nsentinel_tilt:0\r\n",
                        server->sessions, sim_masters_options()->count);
    assert(len > 0 && (size_t)len < sizeof(text));
    sim_put_bulk(call->out, text, (size_t)len);
}

const struct sim_command sim_commands_sentinel[] = {
    {"sentinel", -2, 0, NULL}, /* without a subcommand only */
    {"sentinel|master", 3, 0, run_master},
    {"sentinel|get-master-addr-by-name", 3, 0, run_address},
    {"sentinel|replicas", 3, 0, run_replicas},
    {"sentinel|myid", 2, 0, run_myid},
    {"info", -1, 0, run_info},
    {"ping", -1, SIM_IS_PING | SIM_IN_SUBSCRIBER, sim_run_ping},
    {"auth", -2, SIM_NO_AUTH, sim_run_auth},
    {"client", -2, 0, NULL},
    {"client|setname", 3, 0, sim_run_setname},
    {"subscribe", -2, SIM_IN_SUBSCRIBER, sim_run_subscribe},
    {"unsubscribe", -1, SIM_IN_SUBSCRIBER, sim_run_unsubscribe},
    {"quit", -1, SIM_NO_AUTH | SIM_IN_SUBSCRIBER, sim_run_quit},
    {NULL, 0, 0, NULL},
};
