/* sim_backing.c - the oracle of what stands behind a lock: whoever believes in it for so long
 * must have it on a majority of the masters for as long, in true time.
 *
 * An overlap needs somebody who comes at the very moment at which there could be one. That
 * there could be one is seen here each time a deadline grows, by the keys as they are. */
#include "config_auto.h"

#include "sim_judge.h"
#include "sim_master_parts.h"
#include "sim_names.h"

#include "base/limits.h"

enum { TOKEN_DIGITS = 2 * RL_TOKEN_RANDOM_BYTES };

static int64_t end_ns_of(const struct sim_key *key)
{
    return key->expires.place ? key->expires.at_ns : SIM_NEVER;
}

/* Does the text end so? Who it is may stand before a token. */
static bool ends_in(const char *text, size_t text_len, const char *end)
{
    size_t len = strlen(end);
    return text_len >= len && memcmp(text + text_len - len, end, len) == 0;
}

/* Until when a key has this token; 0: it does not have it. */
static int64_t has_until_ns(const struct sim_key *key, const char *token)
{
    if (key->type == SIM_STRING)
        return ends_in(key->value.bytes, key->value.len, token) ? end_ns_of(key) : 0;
    for (size_t i = 0; i < key->members; i++) {
        const struct sim_member *member = &key->member[i];
        if (!ends_in(member->text, member->len, token))
            continue;
        if (key->type != SIM_ZSET)
            return end_ns_of(key);
        /* A hold's lease is its score. */
        return sim_wall_true_ns(key->server, (int64_t)member->score * SIM_MS);
    }
    return 0;
}

/* Until when a master keeps all others out. What stands under the name itself has to last as
 * well where the token is beside it: whoever finds nothing there takes the lock. */
static int64_t keeps_until_ns(struct sim_server *server, const char *names, const char *token)
{
    int64_t until_ns = SIM_NEVER;
    unsigned found = 0;
    for (size_t i = 0; i < server->keys; i++) {
        int64_t ends_ns = has_until_ns(server->key[i], token);
        if (ends_ns == 0 || server->key[i]->db != sim_masters_options()->db)
            continue;
        found++;
        if (ends_ns < until_ns)
            until_ns = ends_ns;
    }
    if (found < sim_names_count(names))
        return 0;
    if (sim_names_several(names))
        return until_ns;
    const struct sim_key *own =
        sim_key_at(server, sim_masters_options()->db, names, strlen(names));
    if (!own)
        return 0;
    return end_ns_of(own) < until_ns ? end_ns_of(own) : until_ns;
}

/* One that was killed since a round was begun that may have given it a token, to last until
 * then: that was max-ttl before at the earliest. A tenth is more than clocks may differ by. */
static bool has_died(const struct sim_server *server, int64_t until_ns, int64_t max_ttl_ns)
{
    return server->killed_ns > 0 && server->killed_ns > until_ns - max_ttl_ns - max_ttl_ns / 10;
}

unsigned sim_masters_behind(const char *names, const char *token, int64_t until_ns,
                            int64_t max_ttl_ns)
{
    uint64_t behind = 0; /* of a service one of its servers */
    for (unsigned i = 0; i < sim_servers(); i++) {
        struct sim_server *server = sim_server(i);
        /* It does not vote until whatever it had is over. */
        if (has_died(server, until_ns, max_ttl_ns) ||
            keeps_until_ns(server, names, token) >= until_ns)
            behind |= UINT64_C(1) << sim_service_of(i);
    }
    return (unsigned)__builtin_popcountll(behind);
}

bool sim_server_backs(unsigned server_index, const char *token, int64_t since_ns)
{
    const struct sim_server *server = sim_server(server_index);
    for (size_t i = 0; i < server->keys; i++) {
        if (has_until_ns(server->key[i], token) != 0)
            return true;
    }
    return server->killed_ns > 0 && server->killed_ns >= since_ns;
}

/* A tenth less: clocks. */
bool sim_may_have_forgotten(unsigned master, int64_t max_ttl_ns)
{
    const struct sim_server *server = sim_server(master);
    int64_t over_ns = server->killed_ns + max_ttl_ns - max_ttl_ns / 10;
    return server->killed_ns > 0 && sim_now_ns() < over_ns;
}

unsigned sim_masters_with(const char *token, int64_t max_ttl_ns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++) {
        unsigned master;
        bool has = false;
        /* Another server may have it still, where there was a failover. Two by hand at once may
         * leave Sentinels with one term and different masters. */
        if (sim_service_changed_ns(i) > sim_now_ns() - 2 * max_ttl_ns && sim_service_changed_ns(i))
            continue;
        if (!sim_service_named(i, &master))
            continue;
        const struct sim_server *server = sim_server(master);
        for (size_t k = 0; k < server->keys; k++)
            has |= has_until_ns(server->key[k], token) > sim_now_ns();
        count += has && !has_died(server, sim_now_ns(), max_ttl_ns);
    }
    return count;
}

size_t sim_counters(unsigned master)
{
    const struct sim_server *server = sim_server(master);
    size_t count = 0;
    for (size_t i = 0; server->up && i < server->keys; i++)
        count += sim_wall_ms(server) <= server->key[i]->end_ms &&
                 sim_is_counter(server->key[i]->name.bytes);
    return count;
}

/* ---- what is left ---------------------------------------------------------------------- */

/* The token in such a text, if it is one of that holder's that was not detached; NULL: none. */
static const char *token_in(const char *text, size_t len, const char *holder)
{
    size_t holder_len = strlen(holder), token_len = TOKEN_DIGITS + 1 + holder_len;
    if (len < token_len || !ends_in(text, len, holder) || text[len - holder_len - 1] != ':')
        return NULL;
    const char *token = text + len - token_len;
    return sim_was_detached(token) || sim_is_kept(token) ? NULL : token;
}

static const char *token_of(const struct sim_key *key, const char *holder)
{
    if (key->type == SIM_STRING)
        return token_in(key->value.bytes, key->value.len, holder);
    const char *token = NULL;
    for (size_t i = 0; i < key->members && !token; i++)
        token = token_in(key->member[i].text, key->member[i].len, holder);
    return token;
}

const char *sim_token_left(const char *holder, unsigned *ret_master)
{
    for (unsigned i = 0; i < sim_master_count(); i++) {
        const struct sim_server *server = sim_server(i);
        for (size_t k = 0; k < server->keys; k++) {
            const char *token = token_of(server->key[k], holder);
            *ret_master = i;
            if (token)
                return token;
        }
    }
    return NULL;
}
