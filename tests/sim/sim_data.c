/* sim_data.c - the keys of a model master: strings, and what has members, in a hash table. A key
 * expires at the moment at which Redis would not find it any more, so that who looks on hears
 * of it in time; memory is used again, also by the next world. */
#include "config_auto.h"

#include "sim_master_parts.h"
#include "sim_parts.h"
#include "sim_real.h"

static struct sim_key *free_keys;

void *sim_grown(void *block, size_t bytes)
{
    block = sim_real_realloc(block, bytes);
    if (!block)
        sim_die("no memory for model masters");
    return block;
}

void sim_text_grow(struct sim_text *text, size_t len)
{
    text->size = 2 * (text->len + len) + 64;
    text->bytes = sim_grown(text->bytes, text->size);
}

void sim_text_set(struct sim_text *text, const char *bytes, size_t len)
{
    text->len = 0;
    sim_text_add(text, bytes, len);
}

/* What the story calls a key by. */
static uint64_t hash_of(unsigned db, const char *bytes, size_t len)
{
    uint64_t hash = len * 0x9e3779b97f4a7c15u + db, part;
    for (; len >= sizeof(part); bytes += sizeof(part), len -= sizeof(part)) {
        memcpy(&part, bytes, sizeof(part));
        hash = (hash ^ part) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    part = 0;
    memcpy(&part, bytes, len);
    hash = (hash ^ part) * 0xc4ceb9fe1a85ec53u;
    return hash ^ hash >> 29;
}

/* Where it is looked for: names differ in their ends, and a script looks for many. */
static struct sim_key **bucket_of(struct sim_server *server, const char *bytes, size_t len)
{
    uint64_t end = 0;
    size_t part = len < sizeof(end) ? len : sizeof(end);
    memcpy(&end, bytes + len - part, part);
    return &server->bucket[((end + len) * 0x9e3779b97f4a7c15u >> 32) % SIM_BUCKETS];
}

static void expire(struct sim_event *event)
{
    struct sim_key *key = (struct sim_key *)event;
    if (sim_wall_ms(key->server) > key->end_ms)
        sim_key_delete(key, NULL, SIM_EXPIRED);
    else /* the clock was stepped back */
        sim_key_move(key, key->end_ms);
}

struct sim_key *sim_key_at(struct sim_server *server, unsigned db, const char *bytes,
                           size_t len)
{
    struct sim_key *key = *bucket_of(server, bytes, len);
    while (key && (key->db != db || key->name.len != len ||
                   memcmp(key->name.bytes, bytes, len) != 0))
        key = key->next;
    return key;
}

struct sim_key *sim_key_find(struct sim_server *server, unsigned db, const char *bytes,
                             size_t len)
{
    struct sim_key *key = sim_key_at(server, db, bytes, len);
    if (!key || key->end_ms == SIM_NEVER || sim_wall_ms(server) <= key->end_ms)
        return key;
    sim_key_delete(key, NULL, SIM_EXPIRED);
    return NULL;
}

struct sim_key *sim_key_new(struct sim_server *server, unsigned db, const char *bytes,
                            size_t len, enum sim_type type)
{
    struct sim_key *key = free_keys;
    if (key)
        free_keys = key->next;
    else
        key = memset(sim_grown(NULL, sizeof(*key)), 0, sizeof(*key));
    if (server->keys == server->keys_size) {
        server->keys_size = 2 * server->keys_size + 64;
        server->key = sim_grown(server->key, server->keys_size * sizeof(struct sim_key *));
    }
    key->server = server;
    key->db = db;
    key->type = type;
    key->seen = false;
    key->end_ms = SIM_NEVER;
    key->expires.fire = expire;
    key->members = 0;
    sim_text_set(&key->name, bytes, len);
    sim_text_set(&key->value, "", 0);
    key->hash = hash_of(db, bytes, len);
    struct sim_key **bucket = bucket_of(server, bytes, len);
    key->next = *bucket;
    *bucket = key;
    key->place = server->keys;
    server->key[server->keys++] = key;
    return key;
}

void sim_key_drop(struct sim_key *key)
{
    struct sim_server *server = key->server;
    struct sim_key **link = bucket_of(server, key->name.bytes, key->name.len);
    while (*link != key)
        link = &(*link)->next;
    *link = key->next;
    struct sim_key *last = server->key[--server->keys];
    server->key[key->place] = last;
    last->place = key->place;
    sim_not(&key->expires);
    key->next = free_keys;
    free_keys = key;
}

void sim_key_move(struct sim_key *key, int64_t end_ms)
{
    key->end_ms = end_ms;
    int64_t at_ns = SIM_NEVER;
    if (end_ms < SIM_NEVER / SIM_MS - 1) /* later is never */
        at_ns = sim_wall_true_ns(key->server, (end_ms + 1) * SIM_MS);
    if (at_ns == SIM_NEVER)
        sim_not(&key->expires);
    else
        sim_at(&key->expires, at_ns);
}

void sim_key_tell(const struct sim_key *key, const struct sim_call *call,
                  enum sim_change change, const char *before, const char *after)
{
    sim_mark(SIM_MARK_KEY, (uint64_t)key->server->index << 8 | change, key->hash);
    void (*changed)(const struct sim_changed *) = sim_masters_options()->changed;
    if (key->type != SIM_STRING || !changed || sim_is_marker(key->name.bytes))
        return;
    struct sim_changed told = {
        .master = key->server->index,
        .change = change,
        .by = call && call->session ? call->session->by : NULL,
        .command = call ? call->name : NULL,
        .argument = call ? call->argument : NULL,
        .name = key->name.bytes,
        .before = before,
        .after = after,
        .end_ns = key->expires.place      ? key->expires.at_ns
                  : change == SIM_EXPIRED ? sim_now_ns()
                                          : SIM_NEVER,
    };
    changed(&told);
}

const char *sim_type_name(enum sim_type type)
{
    static const char *const names[] = {
        [SIM_STRING] = "string",
        [SIM_ZSET] = "zset",
        [SIM_HASH] = "hash",
        [SIM_SET] = "set",
        [SIM_LIST] = "list",
    };
    return names[type];
}

static const char *story_of(enum sim_change change)
{
    return change == SIM_EXPIRED   ? "expires"
           : change == SIM_FLUSHED ? "is flushed"
           : change == SIM_EVICTED ? "is evicted"
                                   : NULL;
}

void sim_key_delete(struct sim_key *key, const struct sim_call *call, enum sim_change change)
{
    if (change != SIM_EXPIRED)
        sim_undo_whole(key);
    if (sim_tells() && story_of(change))
        sim_tell("n%u: %s %s%s%s", key->server->index + 1, key->name.bytes, story_of(change),
                 key->type ? "" : ", was ", key->type ? "" : key->value.bytes);
    sim_key_tell(key, call, change, key->value.bytes, NULL);
    if (sim_is_marker(key->name.bytes))
        sim_marker_gone(key);
    sim_key_drop(key);
}

void sim_key_set(struct sim_server *server, const struct sim_call *call,
                 const struct sim_word *name, const struct sim_word *value, int64_t end_ms)
{
    unsigned db = call ? call->db : 0;
    struct sim_key *key = sim_key_find(server, db, name->bytes, name->len);
    if (key && key->type != SIM_STRING) {
        sim_undo_whole(key);
        sim_key_drop(key);
        key = NULL;
    }
    bool is_new = !key;
    if (is_new) {
        key = sim_key_new(server, db, name->bytes, name->len, SIM_STRING);
        sim_undo_absent(key);
    } else {
        sim_undo_whole(key);
        struct sim_text was = key->was;
        key->was = key->value;
        key->value = was;
    }
    sim_text_set(&key->value, value->bytes, value->len);
    sim_key_move(key, end_ms);
    sim_key_tell(key, call, SIM_TAKEN, is_new ? NULL : key->was.bytes, key->value.bytes);
}

void sim_key_end(struct sim_key *key, const struct sim_call *call, int64_t end_ms)
{
    sim_undo_end(key);
    sim_key_move(key, end_ms);
    sim_key_tell(key, call, SIM_LONGER, key->value.bytes, key->value.bytes);
}
