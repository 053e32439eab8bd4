/* sim_backing.c - the oracle of what stands behind a lock: whoever believes in it for so long
 * must have it on a majority of the masters for as long, in true time.
 *
 * An overlap needs somebody who comes at the very moment at which there could be one. That
 * there could be one is seen here each time a deadline grows, by the keys as they are. */
#include "config_auto.h"

#include "sim_judge.h"
#include "sim_master_parts.h"
#include "sim_names.h"

static int64_t end_ns_of(const struct sim_key *key)
{
    return key->expires.place ? key->expires.at_ns : SIM_NEVER;
}

/* Does the text end so, behind who it is? A set of tokens has them alone. */
static bool ends_in(const struct sim_member *member, const char *token)
{
    size_t len = strlen(token);
    return member->len >= len && memcmp(member->text + member->len - len, token, len) == 0;
}

/* Until when a key has this token; 0: it does not have it. */
static int64_t has_until_ns(const struct sim_key *key, const char *token)
{
    if (key->type == SIM_STRING)
        return strcmp(key->value.bytes, token) == 0 ? end_ns_of(key) : 0;
    for (size_t i = 0; i < key->members; i++) {
        const struct sim_member *member = &key->member[i];
        if (!ends_in(member, token))
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
        if (ends_ns == 0)
            continue;
        found++;
        if (ends_ns < until_ns)
            until_ns = ends_ns;
    }
    if (found < sim_names_count(names))
        return 0;
    if (sim_names_several(names))
        return until_ns;
    const struct sim_key *own = sim_key_at(server, 0, names, strlen(names));
    if (!own)
        return 0;
    return end_ns_of(own) < until_ns ? end_ns_of(own) : until_ns;
}

unsigned sim_masters_behind(const char *names, const char *token, int64_t until_ns,
                            int64_t max_ttl_ns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++) {
        struct sim_server *server = sim_server(i);
        /* One that was killed may have had it, and does not vote until whatever it had is over;
         * the round that made it last so long was begun max-ttl before that at the earliest. A
         * tenth is more than clocks may differ by. */
        bool died = server->killed_ns > 0 &&
                    server->killed_ns > until_ns - max_ttl_ns - max_ttl_ns / 10;
        count += died || keeps_until_ns(server, names, token) >= until_ns;
    }
    return count;
}
