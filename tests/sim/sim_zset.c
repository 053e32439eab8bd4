/* sim_zset.c - sorted sets of model masters: members by score, and by their bytes where scores
 * are the same. Hashes and sets are that without scores. */
#include "config_auto.h"

#include "sim_master_parts.h"

size_t sim_member_find(const struct sim_key *key, const char *bytes, size_t len)
{
    size_t i = 0;
    while (i < key->members &&
           (key->member[i].len != len || memcmp(key->member[i].text, bytes, len) != 0))
        i++;
    return i;
}

static bool before(const struct sim_member *a, const struct sim_member *b)
{
    if (a->score < b->score || a->score > b->score)
        return a->score < b->score;
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order < 0 || (order == 0 && a->len < b->len);
}

static void insert(struct sim_key *key, const struct sim_member *member)
{
    if (key->members == key->members_size) {
        key->members_size = 2 * key->members_size + 8;
        key->member = sim_grown(key->member, key->members_size * sizeof(struct sim_member));
    }
    size_t i = key->members++;
    for (; i > 0 && before(member, &key->member[i - 1]); i--)
        key->member[i] = key->member[i - 1];
    key->member[i] = *member;
}

static void take_out(struct sim_key *key, size_t which)
{
    key->members--;
    memmove(&key->member[which], &key->member[which + 1],
            (key->members - which) * sizeof(struct sim_member));
}

static bool put(struct sim_server *server, unsigned db, const struct sim_word *name,
                struct sim_key **key, enum sim_type type, const struct sim_member *member)
{
    if (!*key)
        *key = sim_key_new(server, db, name->bytes, name->len, type);
    size_t which = sim_member_find(*key, member->text, member->len);
    bool is_new = which == (*key)->members;
    sim_undo_member(*key, is_new ? member : &(*key)->member[which], !is_new);
    if (!is_new)
        take_out(*key, which);
    insert(*key, member);
    sim_mark(SIM_MARK_KEY, server->index, (*key)->hash);
    return is_new;
}

bool sim_member_put(struct sim_server *server, unsigned db, const struct sim_word *name,
                    struct sim_key **key, double score, const char *bytes, size_t len)
{
    struct sim_member member = {.score = score, .len = len};
    assert(len <= SIM_MEMBER_MAX);
    memcpy(member.text, bytes, len);
    return put(server, db, name, key, SIM_ZSET, &member);
}

bool sim_member_set(struct sim_server *server, unsigned db, const struct sim_word *name,
                    struct sim_key **key, enum sim_type type, const struct sim_word *bytes,
                    const struct sim_word *value)
{
    struct sim_member member = {.len = bytes->len, .value_len = value->len};
    assert(bytes->len <= SIM_MEMBER_MAX && value->len <= SIM_VALUE_MAX);
    memcpy(member.text, bytes->bytes, bytes->len);
    memcpy(member.value, value->bytes, value->len);
    return put(server, db, name, key, type, &member);
}

void sim_member_remove(struct sim_key *key, size_t which)
{
    if (key->members == 1)
        sim_undo_end(key);
    sim_undo_member(key, &key->member[which], true);
    take_out(key, which);
    sim_mark(SIM_MARK_KEY, key->server->index, key->hash);
    if (key->members == 0)
        sim_key_drop(key);
}
