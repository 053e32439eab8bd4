/* sim_undo.c - what a crash takes back: how each key was before each change of the last
 * second. Expiry needs no entry, as ends are times of the wall clock: what had expired is not
 * brought back. */
#include "config_auto.h"

#include "sim_master_parts.h"

struct sim_undo_entry {
    int64_t at_ns;
    enum { WAS_ABSENT, WAS_STRING, WAS_LIST, WAS_ENDING, WAS_MEMBER, WAS_NO_MEMBER } what;
    unsigned db;
    int64_t end_ms;
    enum sim_type type;
    double score;
    size_t at, name_len, len; /* in the bytes: the name, and what belongs to it */
    size_t value_len;         /* at its end */
};

/* Forget what is too old for any crash to come. */
static void shrink(struct sim_undo *undo, int64_t since_ns)
{
    size_t old = 0;
    if (undo->count == 0)
        return;
    while (old < undo->count && undo->entry[old].at_ns <= since_ns)
        old++;
    size_t from = old < undo->count ? undo->entry[old].at : undo->bytes.len;
    undo->count -= old;
    memmove(undo->entry, undo->entry + old, undo->count * sizeof(struct sim_undo_entry));
    for (size_t i = 0; i < undo->count; i++)
        undo->entry[i].at -= from;
    undo->bytes.len -= from;
    memmove(undo->bytes.bytes, undo->bytes.bytes + from, undo->bytes.len);
}

static void enter(const struct sim_key *key, struct sim_undo_entry *entry, const char *bytes,
                  size_t len, const char *value)
{
    struct sim_undo *undo = &key->server->undo;
    if (undo->undoing)
        return;
    if (undo->count == undo->size) {
        shrink(undo, sim_now_ns() - SIM_S);
        if (undo->count >= undo->size / 2) {
            undo->size = 2 * undo->size + 64;
            undo->entry = sim_grown(undo->entry, undo->size * sizeof(struct sim_undo_entry));
        }
    }
    entry->at_ns = sim_now_ns();
    entry->db = key->db;
    entry->type = key->type;
    entry->at = undo->bytes.len;
    entry->name_len = key->name.len;
    entry->len = len + entry->value_len;
    sim_text_add(&undo->bytes, key->name.bytes, key->name.len);
    sim_text_add(&undo->bytes, bytes, len);
    sim_text_add(&undo->bytes, value, entry->value_len);
    undo->entry[undo->count++] = *entry;
}

void sim_undo_absent(const struct sim_key *key)
{
    enter(key, &(struct sim_undo_entry){.what = WAS_ABSENT}, "", 0, "");
}

void sim_undo_end(const struct sim_key *key)
{
    enter(key, &(struct sim_undo_entry){.what = WAS_ENDING, .end_ms = key->end_ms}, "", 0, "");
}

void sim_undo_member(const struct sim_key *key, const struct sim_member *member, bool was)
{
    struct sim_undo_entry entry = {
        .what = was ? WAS_MEMBER : WAS_NO_MEMBER,
        .end_ms = key->end_ms,
        .score = member->score,
        .value_len = member->value_len,
    };
    enter(key, &entry, member->text, member->len, member->value);
}

/* As it was, each with its length before it. */
static void enter_list(const struct sim_key *key)
{
    static struct sim_text text;
    text.len = 0;
    for (size_t i = 0; i < key->members; i++) {
        unsigned char len = (unsigned char)key->member[i].len;
        sim_text_add(&text, (const char *)&len, 1);
        sim_text_add(&text, key->member[i].text, len);
    }
    enter(key, &(struct sim_undo_entry){.what = WAS_LIST, .end_ms = key->end_ms},
          text.bytes ? text.bytes : "", text.len, "");
}

/* Undone backwards: first the members, then the end. */
void sim_undo_whole(const struct sim_key *key)
{
    if (key->type == SIM_STRING) {
        struct sim_undo_entry entry = {.what = WAS_STRING, .end_ms = key->end_ms};
        enter(key, &entry, key->value.bytes, key->value.len, "");
        return;
    } else if (key->type == SIM_LIST) {
        enter_list(key);
        return;
    }
    sim_undo_end(key);
    for (size_t i = 0; i < key->members; i++)
        sim_undo_member(key, &key->member[i], true);
}

static void take_back_list(struct sim_server *server, const struct sim_undo_entry *entry,
                           const struct sim_word *name)
{
    const char *at = name->bytes + name->len, *end = at + entry->len;
    while (at < end) {
        size_t len = (unsigned char)*at++;
        sim_list_push(server, entry->db, name, at, len);
        at += len;
    }
    sim_key_move(sim_key_at(server, entry->db, name->bytes, name->len), entry->end_ms);
}

static void take_back(struct sim_server *server, const struct sim_undo_entry *entry)
{
    const char *bytes = server->undo.bytes.bytes + entry->at;
    const struct sim_word name = {bytes, entry->name_len};
    struct sim_key *key = sim_key_at(server, entry->db, name.bytes, name.len);
    bool of_set = entry->what == WAS_MEMBER || entry->what == WAS_NO_MEMBER;
    bytes += entry->name_len;
    if (key &&
        (entry->what == WAS_ABSENT || (of_set && key->type != entry->type) ||
         entry->what == WAS_LIST || (entry->what == WAS_STRING && key->type != SIM_STRING))) {
        sim_key_drop(key);
        key = NULL;
    }
    if (entry->what == WAS_STRING) {
        if (!key)
            key = sim_key_new(server, entry->db, name.bytes, name.len, SIM_STRING);
        sim_text_set(&key->value, bytes, entry->len);
        sim_key_move(key, entry->end_ms);
    } else if (entry->what == WAS_LIST) {
        take_back_list(server, entry, &name);
    } else if (entry->what == WAS_ENDING && key) {
        sim_key_move(key, entry->end_ms);
    } else if (entry->what == WAS_MEMBER) {
        bool had_key = key != NULL;
        if (entry->type == SIM_ZSET)
            sim_member_put(server, entry->db, &name, &key, entry->score, bytes, entry->len);
        else
            sim_member_set(
                server, entry->db, &name, &key, entry->type,
                &(struct sim_word){bytes, entry->len - entry->value_len},
                &(struct sim_word){bytes + entry->len - entry->value_len, entry->value_len});
        if (!had_key) /* it has expired since, and had more time then */
            sim_key_move(key, entry->end_ms);
    } else if (entry->what == WAS_NO_MEMBER && key) {
        size_t which = sim_member_find(key, bytes, entry->len - entry->value_len);
        if (which < key->members)
            sim_member_remove(key, which);
    }
}

void sim_undo_since(struct sim_server *server, int64_t since_ns)
{
    struct sim_undo *undo = &server->undo;
    undo->undoing = true;
    while (undo->count > 0 && undo->entry[undo->count - 1].at_ns > since_ns)
        take_back(server, &undo->entry[--undo->count]);
    undo->undoing = false;
}

void sim_undo_forget(struct sim_server *server)
{
    server->undo.count = 0;
    server->undo.bytes.len = 0;
}

void sim_undo_copy(struct sim_server *to, const struct sim_server *from)
{
    struct sim_undo *undo = &to->undo;
    if (undo->size < from->undo.count) {
        undo->size = from->undo.count;
        undo->entry = sim_grown(undo->entry, undo->size * sizeof(struct sim_undo_entry));
    }
    undo->count = from->undo.count;
    if (undo->count > 0)
        memcpy(undo->entry, from->undo.entry, undo->count * sizeof(struct sim_undo_entry));
    sim_text_set(&undo->bytes, from->undo.count ? from->undo.bytes.bytes : "",
                 from->undo.count ? from->undo.bytes.len : 0);
}
