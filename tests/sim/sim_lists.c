/* sim_lists.c - lists of model masters, and Redis's commands on them, as far as tests use them:
 * what looks at a range or a count of members serves sorted sets as well. */
#include "config_auto.h"

#include "sim_master_parts.h"

void sim_list_push(struct sim_server *server, unsigned db, const struct sim_word *name,
                   const char *bytes, size_t len)
{
    struct sim_key *key = sim_key_find(server, db, name->bytes, name->len);
    assert(len <= SIM_MEMBER_MAX && (!key || key->type == SIM_LIST));
    if (key) {
        sim_undo_whole(key);
    } else {
        key = sim_key_new(server, db, name->bytes, name->len, SIM_LIST);
        sim_undo_absent(key);
    }
    if (key->members == key->members_size) {
        key->members_size = 2 * key->members_size + 8;
        key->member = sim_grown(key->member, key->members_size * sizeof(struct sim_member));
    }
    struct sim_member *member = &key->member[key->members++];
    *member = (struct sim_member){.len = len};
    memcpy(member->text, bytes, len);
    sim_mark(SIM_MARK_KEY, server->index, key->hash);
}

void sim_list_remove(struct sim_key *key, size_t which)
{
    assert(key->type == SIM_LIST && which < key->members);
    sim_undo_whole(key);
    key->members--;
    memmove(&key->member[which], &key->member[which + 1],
            (key->members - which) * sizeof(struct sim_member));
    sim_mark(SIM_MARK_KEY, key->server->index, key->hash);
    if (key->members == 0)
        sim_key_drop(key);
}

bool sim_find_of_type(struct sim_call *call, enum sim_type type, struct sim_key **ret_key)
{
    const struct sim_word *name = &call->word[1];
    *ret_key = sim_key_find(call->server, call->db, name->bytes, name->len);
    if (!*ret_key || (*ret_key)->type == type)
        return true;
    sim_put_error(call->out, sim_wrong_type);
    return false;
}

static void run_rpush(struct sim_call *call)
{
    struct sim_key *key;
    if (!sim_find_of_type(call, SIM_LIST, &key))
        return;
    for (unsigned i = 2; i < call->words; i++)
        sim_list_push(call->server, call->db, &call->word[1], call->word[i].bytes,
                      call->word[i].len);
    sim_find_of_type(call, SIM_LIST, &key);
    sim_put_integer(call->out, (int64_t)key->members);
}

void sim_run_range(struct sim_call *call, enum sim_type type)
{
    int64_t from, to;
    struct sim_key *key;
    if (!sim_word_integer(&call->word[2], &from) || !sim_word_integer(&call->word[3], &to)) {
        sim_put_error(call->out, sim_not_integer);
        return;
    }
    if (!sim_find_of_type(call, type, &key))
        return;
    int64_t members = key ? (int64_t)key->members : 0;
    from = from < 0 ? from + members : from;
    to = to < 0 ? to + members : to;
    from = from < 0 ? 0 : from;
    to = to >= members ? members - 1 : to;
    sim_put_array(call->out, from <= to ? (size_t)(to - from + 1) : 0);
    for (int64_t i = from; i <= to; i++)
        sim_put_bulk(call->out, key->member[i].text, key->member[i].len);
}

void sim_run_count(struct sim_call *call, enum sim_type type)
{
    struct sim_key *key;
    if (sim_find_of_type(call, type, &key))
        sim_put_integer(call->out, key ? (int64_t)key->members : 0);
}

static void run_lrange(struct sim_call *call)
{
    sim_run_range(call, SIM_LIST);
}

static void run_llen(struct sim_call *call)
{
    sim_run_count(call, SIM_LIST);
}

const struct sim_command sim_commands_lists[] = {
    {"rpush", -3, SIM_WRITES | SIM_DENYOOM, run_rpush},
    {"lrange", 4, 0, run_lrange},
    {"llen", 2, 0, run_llen},
    {NULL, 0, 0, NULL},
};
