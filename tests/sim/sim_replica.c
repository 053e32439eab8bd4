/* sim_replica.c - replicas of model masters. One that is linked has what its master has, less
 * what was written in the last moment, of which it hears late: its data is made when it is
 * needed, by a copy from which the last moment is taken back. Until it is linked, and when the
 * link is lost, it has what it had. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include <stdio.h>

#define LAG_MAX_NS (900 * SIM_MS) /* less than what can be taken back */

/* ---- who there is ----------------------------------------------------------------------- */

static unsigned sentinels(void)
{
    const struct sim_masters_options *options = sim_masters_options();
    bool same = options->same_sentinels && options->count > 0;
    return options->sentinels * (same ? 1 : options->count);
}

static unsigned first_replica(void)
{
    return sim_masters_options()->count + sim_masters_options()->spare;
}

static unsigned first_sentinel(void)
{
    return first_replica() + sim_masters_options()->count * sim_masters_options()->replicas;
}

unsigned sim_service_servers(void)
{
    return sim_masters_options()->count * sim_masters_options()->replicas + sentinels();
}

unsigned sim_replica_at(unsigned service, unsigned which)
{
    assert(which < sim_masters_options()->replicas);
    return first_replica() + service * sim_masters_options()->replicas + which;
}

unsigned sim_sentinel_at(unsigned service, unsigned which)
{
    const struct sim_masters_options *options = sim_masters_options();
    assert(which < options->sentinels);
    return first_sentinel() + (options->same_sentinels ? 0 : service * options->sentinels) + which;
}

unsigned sim_sentinels_of(unsigned service)
{
    return service < sim_masters_options()->count ? sim_masters_options()->sentinels : 0;
}

bool sim_is_sentinel(unsigned server)
{
    return sentinels() > 0 && server >= first_sentinel();
}

unsigned sim_service_of(unsigned server)
{
    bool replica = sim_masters_options()->replicas > 0 && server >= first_replica() &&
                   server < first_sentinel();
    return replica ? (server - first_replica()) / sim_masters_options()->replicas : server;
}

unsigned sim_replicas_of(const struct sim_server *server)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_servers(); i++)
        count += sim_server(i)->linked && sim_server(i)->follows == server;
    return count;
}

bool sim_is_replica(unsigned server)
{
    return sim_server(server)->follows != NULL;
}

/* ---- data ------------------------------------------------------------------------------- */

static void copy_key(struct sim_server *to, const struct sim_key *from)
{
    struct sim_key *key = sim_key_new(to, from->db, from->name.bytes, from->name.len, from->type);
    sim_text_set(&key->value, from->value.bytes, from->value.len);
    if (key->members_size < from->members) {
        key->members_size = from->members;
        key->member = sim_grown(key->member, key->members_size * sizeof(struct sim_member));
    }
    if (from->members > 0)
        memcpy(key->member, from->member, from->members * sizeof(struct sim_member));
    key->members = from->members;
    sim_key_move(key, from->end_ms);
}

/* Ends are times of day: they are as far away as this server's clock says. */
static void take_copy(struct sim_server *to, const struct sim_server *from, int64_t lag_ns)
{
    assert(lag_ns >= 0 && lag_ns <= SIM_S);
    while (to->keys > 0)
        sim_key_drop(to->key[to->keys - 1]);
    for (size_t i = 0; i < from->keys; i++)
        copy_key(to, from->key[i]);
    sim_undo_copy(to, from);
    sim_undo_since(to, sim_now_ns() - lag_ns);
    sim_undo_forget(to);
}

static void unlink_it(struct sim_server *server, int64_t lag_ns)
{
    if (!server->linked)
        return;
    server->linked = false;
    take_copy(server, server->follows, lag_ns);
}

void sim_replica_keeps(struct sim_server *server)
{
    unlink_it(server, server->linked ? sim_scale(SIM_US, LAG_MAX_NS) : 0);
    for (unsigned i = 0; i < sim_servers(); i++) {
        struct sim_server *other = sim_server(i);
        if (other->follows == server && other->linked)
            unlink_it(other, sim_scale(SIM_US, LAG_MAX_NS));
    }
}

/* ---- what becomes of them --------------------------------------------------------------- */

static bool stands(const struct sim_server *server)
{
    return !server->up || sim_now_ns() < server->paused_until_ns;
}

bool sim_replica_follows(unsigned server_index, unsigned master, bool cut)
{
    struct sim_server *server = sim_server(server_index);
    if (stands(server) || server->follows == sim_server(master) || server_index == master)
        return false;
    sim_mark(SIM_MARK_MASTER, server_index, master);
    sim_tell("n%u is a replica of n%u from now on%s", server_index + 1, master + 1,
             cut ? ", and its connections end" : "");
    sim_replica_keeps(server);
    if (!server->follows) /* what it granted is not there for long */
        server->killed_ns = sim_now_ns();
    server->follows = sim_server(master);
    if (cut) {
        server->felt.ended += server->sessions;
        sim_sessions_kill(server);
    }
    return true;
}

bool sim_replica_linked(unsigned server_index, bool whole)
{
    struct sim_server *server = sim_server(server_index), *master = server->follows;
    if (!master || server->linked || stands(server) || stands(master) || master->follows)
        return false;
    sim_mark(SIM_MARK_MASTER, server_index, master->index);
    server->linked = true;
    memcpy(server->replication, master->replication, sizeof(server->replication));
    server->second_offset = whole ? -1 : 1;
    return true;
}

void sim_replica_lost(unsigned server, int64_t lag_ns)
{
    unlink_it(sim_server(server), lag_ns);
}

/* No two of them have the same id. */
static void change_replication(struct sim_server *server)
{
    char id[sizeof(server->replication)];
    snprintf(id, sizeof(id), "%.32s%04x%04x", server->run_id, server->index & 0xffff,
             ++server->promotions & 0xffff);
    memcpy(server->replication, id, sizeof(id));
    server->second_offset = 1;
}

void sim_replica_promoted(unsigned server_index, int64_t lag_ns)
{
    struct sim_server *server = sim_server(server_index);
    if (stands(server))
        return;
    sim_mark(SIM_MARK_MASTER, server_index, (uint64_t)lag_ns);
    sim_tell("n%u is told to be master%s", server_index + 1,
             server->follows ? "" : ", which it is already");
    if (!server->follows)
        return;
    unlink_it(server, lag_ns);
    server->follows = NULL;
    server->killed_ns = sim_now_ns(); /* it never granted what it has */
    change_replication(server);
}
