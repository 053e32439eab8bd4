/* sim_master.c - the processes of model masters: what the world does to them, and what it may
 * see of them. */
#include "config_auto.h"

#include "sim_master_parts.h"
#include "sim_parts.h"

#include <stdio.h>

static struct sim_server servers[SIM_MASTERS_MAX];
static struct sim_masters_options settings;

struct sim_server *sim_server(unsigned master)
{
    assert(master < sim_servers());
    return &servers[master];
}

unsigned sim_servers(void)
{
    return settings.count + settings.spare + sim_service_servers();
}

unsigned sim_server_count(void)
{
    return sim_servers();
}

unsigned sim_master_count(void)
{
    return settings.count;
}

const struct sim_masters_options *sim_masters_options(void)
{
    return &settings;
}

/* No choice: no two of them are ever the same. */
static void draw_run_id(struct sim_server *server)
{
    unsigned char bytes[sizeof(server->run_id) - 1];
    sim_random_bytes(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        server->run_id[i] = "0123456789abcdef"[bytes[i] % 16];
    /* Another one; that nobody can foresee it is of no interest. */
    for (size_t i = 0; i < sizeof(bytes); i++)
        server->replication[i] = server->run_id[sizeof(bytes) - 1 - i];
    server->second_offset = -1;
}

/* Whoever was a replica, or becomes one, has another replication id. */
static void change_replication(struct sim_server *server, bool leads)
{
    static const char next[] = "123456789abcdef0";
    char *last = &server->replication[sizeof(server->replication) - 2];
    unsigned digit = (unsigned)(*last <= '9' ? *last - '0' : *last - 'a' + 10);
    *last = next[digit % 16];
    server->second_offset = leads ? 1 : -1;
}

/* ---- a world ---------------------------------------------------------------------------- */

/* They have been up for a day, and their clocks show about the same. */
static void begin(struct sim_server *server, unsigned index, int64_t wall_ns)
{
    /* What grows is kept. */
    struct sim_session **session = server->session, **ready = server->ready;
    struct sim_key **key = server->key;
    struct sim_undo undo = server->undo;
    size_t sessions_size = server->sessions_size, keys_size = server->keys_size;
    memset(server, 0, sizeof(*server));
    server->session = session;
    server->ready = ready;
    server->sessions_size = sessions_size;
    server->key = key;
    server->keys_size = keys_size;
    server->undo = undo;
    sim_undo_forget(server);

    server->index = index;
    server->up = true;
    server->wall_ns = wall_ns + sim_between(-2 * SIM_MS, 2 * SIM_MS);
    server->started_s = server->wall_ns / SIM_S - 86400;
    server->low_ns = 1 * SIM_US;
    server->high_ns = SIM_QUICK_NS;
    memcpy(server->role, "master", sizeof("master"));
    draw_run_id(server);
    sim_session_ready(server);
    server->sentinel = sim_is_sentinel(index) ? sim_sentinel_begin(server) : NULL;
}

/* Replicas know their masters from the beginning. */
static void begin_replicas(void)
{
    for (unsigned i = 0; i < settings.count; i++) {
        for (unsigned k = 0; k < settings.replicas; k++) {
            struct sim_server *server = sim_server(sim_replica_at(i, k));
            server->follows = sim_server(i);
            sim_replica_linked(server->index, true);
        }
    }
}

void sim_masters_begin(const struct sim_masters_options *options)
{
    settings = *options;
    assert(sim_servers() <= SIM_MASTERS_MAX);
    int64_t wall_ns = 1700000000 * SIM_S + sim_between(0, SIM_S - 1);
    for (unsigned i = 0; i < sim_servers(); i++)
        begin(&servers[i], i, wall_ns);
    begin_replicas();
}

void sim_master_share_name(unsigned master, bool shares)
{
    assert(settings.spare > 0 && master < settings.count);
    settings.shared = shares ? master + 1 : 0;
    sim_tell(shares ? "n%u's name leads to n%u as well" : "n%u's name leads to n%u no more",
             master + 1, settings.count + 1);
}

unsigned sim_master_shares_name(unsigned master)
{
    return settings.shared == master + 1 ? settings.count : SIM_MASTERS_MAX;
}

void sim_masters_end(void)
{
    for (unsigned i = 0; i < sim_servers(); i++) {
        struct sim_server *server = &servers[i];
        sim_not(&server->work);
        sim_sessions_drop(server);
        if (server->sentinel)
            sim_sentinel_end(server);
        while (server->keys > 0)
            sim_key_drop(server->key[server->keys - 1]);
        server->up = false;
    }
    settings = (struct sim_masters_options){0};
}

/* ---- life and death --------------------------------------------------------------------- */

bool sim_master_up(unsigned master)
{
    return sim_server(master)->up;
}

void sim_server_kill(struct sim_server *server)
{
    if (!server->up)
        return;
    sim_mark(SIM_MARK_MASTER, server->index, 0);
    sim_tell("n%u is killed", server->index + 1);
    server->felt.ended += server->sessions;
    server->felt.hits += server->dying;
    if (server->dying)
        server->kill_at = NULL;
    sim_replica_keeps(server);
    server->up = false;
    server->dying = false;
    server->killed_ns = sim_now_ns();
    server->paused_until_ns = 0;
    memset(server->scripts_known, 0, sizeof(server->scripts_known));
    memset(server->scripts_forgotten, 0, sizeof(server->scripts_forgotten));
    server->nonces.count = 0;
    sim_not(&server->work);
    sim_sessions_kill(server);
}

void sim_master_kill(unsigned master)
{
    sim_server_kill(sim_server(master));
}

bool sim_server_dies_before(struct sim_server *server, const char *script)
{
    server->dying = server->kill_at && strcmp(server->kill_at, script) == 0;
    return server->dying && !server->kill_after;
}

void sim_master_kill_at(unsigned master, const char *script, bool executed)
{
    sim_server(master)->kill_at = script;
    sim_server(master)->kill_after = executed;
}

void sim_master_loses(unsigned master, const char *name)
{
    sim_server(master)->loses = name;
}

void sim_tell_lost(const struct sim_server *server, bool torn, bool evicted)
{
    if (settings.asked)
        settings.asked(
            &(struct sim_asked){.master = server->index, .torn = torn, .evicted = evicted});
}

void sim_master_start(unsigned master, enum sim_restart how)
{
    static const char *const modes[] = {"empty", "with all keys", "without the last second",
                                        "with some keys"};
    struct sim_server *server = sim_server(master);
    sim_server_kill(server);
    sim_mark(SIM_MARK_MASTER, master, 1 + (uint64_t)how);
    sim_tell("n%u restarts %s", master + 1, modes[how]);
    sim_restart_keys(server, how);
    if (how != SIM_WHOLE)
        sim_tell_lost(server, how != SIM_EMPTY, how == SIM_SOME);
    server->up = true;
    server->started_s = sim_wall_ns(server) / SIM_S;
    draw_run_id(server);
    if (server->sentinel)
        sim_sentinel_restart(server, how == SIM_EMPTY);
}

void sim_master_pause(unsigned master, int64_t for_ns)
{
    struct sim_server *server = sim_server(master);
    int64_t until_ns = sim_now_ns() + for_ns;
    sim_mark(SIM_MARK_MASTER, master, (uint64_t)for_ns);
    sim_tell("n%u stands for %lld ms", master + 1, (long long)(for_ns / SIM_MS));
    if (until_ns > server->paused_until_ns)
        server->paused_until_ns = until_ns;
    sim_not(&server->work);
    sim_session_work(server);
}

/* ---- what is done to what it has --------------------------------------------------------- */

void sim_master_flushall(unsigned master)
{
    struct sim_server *server = sim_server(master);
    const struct sim_call call = {.server = server, .name = "flushall"};
    if (!server->up)
        return;
    for (size_t i = server->keys; i-- > 0;)
        sim_key_delete(server->key[i], &call, SIM_FLUSHED);
    sim_tell_lost(server, false, false);
}

void sim_master_lose(unsigned master)
{
    sim_master_flushall(master);
    sim_server(master)->killed_ns = sim_now_ns();
}

void sim_master_empty(unsigned master)
{
    struct sim_server *server = sim_server(master);
    if (!server->up)
        return;
    sim_tell("n%u is emptied, and its connections are cut", master + 1);
    sim_master_lose(master);
    server->felt.ended += server->sessions;
    sim_sessions_kill(server);
}

/* The replica lags behind by a second. It has the marker, too. */
void sim_master_copy(unsigned master)
{
    struct sim_server *server = sim_server(master);
    if (!server->up)
        return;
    sim_tell("n%u is its replica from now on", master + 1);
    server->killed_ns = sim_now_ns();
    sim_restart_keys(server, SIM_LATE);
    sim_tell_lost(server, true, false);
    memset(server->scripts_known, 0, sizeof(server->scripts_known));
    draw_run_id(server);
    server->second_offset = 1;
}

void sim_master_script_flush(unsigned master)
{
    struct sim_server *server = sim_server(master);
    sim_mark(SIM_MARK_MASTER, master, 0);
    sim_tell("n%u forgets its scripts", master + 1);
    for (unsigned i = 0; i < SIM_SCRIPTS_MAX; i++)
        server->scripts_forgotten[i] |= server->scripts_known[i];
    memset(server->scripts_known, 0, sizeof(server->scripts_known));
    server->nonces.count = 0;
}

void sim_master_shorten(unsigned master, const char *name, int64_t ttl_ms)
{
    struct sim_server *server = sim_server(master);
    struct sim_key *key = sim_key_at(server, settings.db, name, strlen(name));
    assert(server->up && key);
    sim_tell("n%u's key %s ends in %lld ms", master + 1, name, (long long)ttl_ms);
    sim_undo_end(key);
    sim_key_move(key, sim_wall_ms(server) + ttl_ms);
}

bool sim_master_evict(unsigned master)
{
    struct sim_server *server = sim_server(master);
    if (!server->up || server->keys == 0)
        return false;
    sim_key_delete(server->key[sim_below(server->keys)], NULL, SIM_EVICTED);
    sim_tell_lost(server, true, true);
    return true;
}

void sim_master_uptime(unsigned master, int64_t seconds)
{
    struct sim_server *server = sim_server(master);
    server->started_s = (sim_wall_ns(server) - seconds * SIM_S) / SIM_S;
}

void sim_master_run_id(unsigned master, const char *run_id)
{
    struct sim_server *server = sim_server(master);
    snprintf(server->run_id, sizeof(server->run_id), "%s", run_id);
}

void sim_master_replication(unsigned master, const char *id)
{
    struct sim_server *server = sim_server(master);
    snprintf(server->replication, sizeof(server->replication), "%s", id);
}

void sim_master_role(unsigned master, const char *role)
{
    struct sim_server *server = sim_server(master);
    if (strcmp(server->role, role) != 0)
        change_replication(server, strcmp(role, "master") == 0);
    snprintf(server->role, sizeof(server->role), "%s", role);
}

void sim_master_slow(unsigned master, int64_t low_ns, int64_t high_ns)
{
    assert(low_ns >= 0 && high_ns >= low_ns);
    sim_server(master)->low_ns = low_ns;
    sim_server(master)->high_ns = high_ns;
}

/* ---- looking ---------------------------------------------------------------------------- */

const char *sim_master_get(unsigned master, const char *name, int64_t *ret_left_ns)
{
    struct sim_server *server = sim_server(master);
    const struct sim_key *key = sim_key_at(server, settings.db, name, strlen(name));
    if (!server->up || !key || key->type != SIM_STRING || sim_wall_ms(server) > key->end_ms)
        return NULL;
    if (ret_left_ns)
        *ret_left_ns = key->expires.place ? key->expires.at_ns - sim_now_ns() : SIM_NEVER;
    return key->value.bytes;
}

size_t sim_master_members(unsigned master, const char *name)
{
    struct sim_server *server = sim_server(master);
    const struct sim_key *key = sim_key_at(server, settings.db, name, strlen(name));
    if (!server->up || !key || key->type == SIM_STRING || sim_wall_ms(server) > key->end_ms)
        return 0;
    return key->members;
}

size_t sim_master_keys(unsigned master)
{
    struct sim_server *server = sim_server(master);
    size_t keys = 0;
    for (size_t i = 0; server->up && i < server->keys; i++)
        keys += sim_wall_ms(server) <= server->key[i]->end_ms &&
                !sim_is_marker(server->key[i]->name.bytes);
    return keys;
}

unsigned sim_master_scripts(unsigned master)
{
    unsigned count = 0;
    for (unsigned i = 0; i < SIM_SCRIPTS_MAX; i++)
        count += sim_server(master)->scripts_known[i];
    return count;
}

uint64_t sim_master_commands(unsigned master)
{
    return sim_server(master)->commands;
}

const struct sim_master_felt *sim_master_felt(unsigned master)
{
    return &sim_server(master)->felt;
}
