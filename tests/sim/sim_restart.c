/* sim_restart.c - what a model master has of its keys after a restart, and what is told of
 * it: which locks it has forgotten, and which it has again. */
#include "config_auto.h"

#include "sim_master_parts.h"

/* Keys as they were before, where that is not how they are now. */
struct before {
    struct sim_text bytes; /* db, name, NUL, value, NUL, ... */
    size_t count, size;
    struct was {
        unsigned db;
        size_t name, name_len, value;
    } * was;
};

static struct before before;

static void remember(struct sim_server *server)
{
    before.count = before.bytes.len = 0;
    if (server->keys > before.size) {
        before.size = server->keys;
        before.was = sim_grown(before.was, before.size * sizeof(struct was));
    }
    for (size_t i = 0; i < server->keys; i++) {
        const struct sim_key *key = server->key[i];
        if (key->type != SIM_STRING)
            continue;
        struct was *was = &before.was[before.count++];
        *was = (struct was){.db = key->db, .name = before.bytes.len, .name_len = key->name.len};
        sim_text_add(&before.bytes, key->name.bytes, key->name.len + 1);
        was->value = before.bytes.len;
        sim_text_add(&before.bytes, key->value.bytes, key->value.len + 1);
    }
}

/* There is no key to tell of any more: one is made for the telling. */
static void tell_forgotten(struct sim_server *server, const struct was *was)
{
    const char *bytes = before.bytes.bytes;
    struct sim_key *key = sim_key_new(server, was->db, bytes + was->name, was->name_len, SIM_STRING);
    sim_key_tell(key, NULL, SIM_FORGOTTEN, bytes + was->value, NULL);
    sim_key_drop(key);
}

static void tell(struct sim_server *server)
{
    for (size_t i = 0; i < server->keys; i++)
        server->key[i]->seen = false;
    for (size_t i = 0; i < before.count; i++) {
        const struct was *was = &before.was[i];
        const char *bytes = before.bytes.bytes;
        struct sim_key *key = sim_key_at(server, was->db, bytes + was->name, was->name_len);
        if (!key || key->type != SIM_STRING) {
            tell_forgotten(server, was);
            continue;
        }
        key->seen = true;
        sim_key_tell(key, NULL, SIM_RESTORED, bytes + was->value, key->value.bytes);
    }
    for (size_t i = 0; i < server->keys; i++) {
        struct sim_key *key = server->key[i];
        if (!key->seen && key->type == SIM_STRING)
            sim_key_tell(key, NULL, SIM_RESTORED, NULL, key->value.bytes);
    }
}

/* So many of four are lost: the marker or what it vouches for, a hold or what tells of it. */
static void lose_some(struct sim_server *server)
{
    uint64_t lost = server->loses ? 0 : 1 + sim_below(3);
    for (size_t i = server->keys; i-- > 0;) {
        struct sim_key *key = server->key[i];
        if (server->loses ? strcmp(key->name.bytes, server->loses) == 0 : sim_below(4) < lost) {
            sim_key_drop(key);
            continue;
        }
        for (size_t m = server->loses ? 0 : key->members; m-- > 0 && key->members > 1;) {
            if (sim_below(16) < lost)
                sim_member_remove(key, m);
        }
    }
}

void sim_restart_keys(struct sim_server *server, enum sim_restart how)
{
    remember(server);
    if (how == SIM_LATE)
        sim_undo_since(server, server->killed_ns - SIM_S);
    else if (how == SIM_SOME)
        lose_some(server);
    for (size_t i = server->keys; i-- > 0;) {
        if (how == SIM_EMPTY || sim_wall_ms(server) > server->key[i]->end_ms)
            sim_key_drop(server->key[i]);
    }
    sim_undo_forget(server);
    tell(server);
}
