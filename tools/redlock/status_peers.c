/* status_peers.c - see status_peers.h. */
#include "config_auto.h"

#include "redlock/status_peers.h"

#include "base/text.h"
#include "core/quorum.h"
#include "redlock/cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct listing {
    struct status_peers *peers;
    unsigned node;
};

static bool is_alike(const struct rl_list_mark *one, const struct rl_list_mark *other)
{
    return one->nodes == other->nodes && one->max_ttl_ms == other->max_ttl_ms &&
           one->drift_ppm == other->drift_ppm && one->guard == other->guard &&
           one->former == other->former;
}

/* That client, added where it is new. NULL: there is no room. */
static struct status_peer *keep(struct status_peers *peers, const struct client_said *said)
{
    for (unsigned i = 0; i < peers->count; i++) {
        if (memcmp(peers->peer[i].uuid, said->uuid, RL_UUID_LEN) == 0)
            return &peers->peer[i];
    }
    if (peers->count == STATUS_PEERS_MAX)
        return NULL;
    struct status_peer *peer = &peers->peer[peers->count++];
    *peer = (struct status_peer){.name = said->name, .mark = said->mark};
    memcpy(peer->uuid, said->uuid, RL_UUID_LEN);
    return peer;
}

/* Most clients have the very list, and are not kept. */
static void take(void *context, const struct client_line *line, const struct rl_mask *mask)
{
    struct listing *listing = context;
    struct status_peers *peers = listing->peers;
    struct client_said said;
    if (client_is_sentinel(line))
        peers->watched |= rl_bit(listing->node);
    if (!client_said(line, mask, &said) || !said.marked || !rl_is_uuid(said.uuid) ||
        (is_alike(&said.mark, &peers->own) && said.mark.addresses == peers->own.addresses))
        return;
    struct status_peer *peer = keep(peers, &said);
    if (!peer)
        return;
    peer->masters |= rl_bit(listing->node);
    if (line->db >= 0 && line->db != peers->db[listing->node]) {
        peer->other_db |= rl_bit(listing->node);
        peer->db = line->db;
    }
}

void status_peers_heard(struct status_peers *peers, unsigned node, const char *list, size_t len,
                        const struct rl_mask *mask)
{
    struct listing listing = {.peers = peers, .node = node};
    if (len == 0) /* whoever asks is in the list */
        return;
    peers->listed |= rl_bit(node);
    client_list_each(list, len, mask, take, &listing);
}

/* ---- what it means ---------------------------------------------------------------------- */

/* Other addresses are no matter where they lead to the same masters. */
static bool is_odd(const struct status_peers *peers, const struct status_peer *peer)
{
    return !is_alike(&peer->mark, &peers->own) || peer->other_db ||
           peer->masters != peers->listed;
}

/* Its list is this one before or after a step of a change, as far as its connections show what
 * both have in common: whoever has a lock by the one keeps others out by the other. */
static bool is_by_step(const struct status_peers *peers, const struct status_peer *peer)
{
    const struct rl_list_mark *its = &peer->mark, *own = &peers->own;
    unsigned common = rl_count(peer->masters & ~peer->other_db);
    return its->max_ttl_ms == own->max_ttl_ms && its->drift_ppm == own->drift_ppm &&
           its->guard == own->guard && !its->other[0] && common <= its->nodes &&
           rl_majorities_meet(its->nodes, own->nodes, common);
}

const char *status_lists_word(const struct status_lists *lists)
{
    return lists->clients > 0 ? "other" : lists->told ? "alike" : "unknown";
}

const char *status_lists_remedy(bool by_step, bool former)
{
    if (former)
        return "move all clients to one version: those of a former one wait in other queues, and "
               "have other fencing tokens";
    return by_step ? "give all clients one list before the next change: majorities of these meet"
                   : "give all clients one list: with two of them, two may have a lock";
}

struct status_lists status_peers_lists(const struct status_peers *peers)
{
    struct status_lists lists = {.by_step = true};
    for (unsigned i = 0; i < peers->count; i++) {
        const struct status_peer *peer = &peers->peer[i];
        if (!is_odd(peers, peer))
            continue;
        lists.clients++;
        lists.by_step &= is_by_step(peers, peer);
        lists.former |= peer->mark.former;
    }
    return lists;
}

static struct cli_text difference(const struct status_peers *peers,
                                  const struct status_peer *peer, unsigned node)
{
    const struct rl_list_mark *its = &peer->mark, *own = &peers->own;
    struct cli_text text;
    char *to = text.text;
    size_t size = sizeof(text.text);
    if (its->other[0])
        snprintf(to, size, "it is of another version");
    else if (its->former && !own->former)
        snprintf(to, size, "it is of a former version, whose keys have other names");
    else if (its->nodes != own->nodes)
        snprintf(to, size, "its list has %u masters, this one %u", its->nodes, own->nodes);
    else if (its->max_ttl_ms != own->max_ttl_ms)
        snprintf(to, size, "its max-ttl is %.40s, here %.40s",
                 cli_time_text(its->max_ttl_ms).text, cli_time_text(own->max_ttl_ms).text);
    else if (peer->other_db & rl_bit(node))
        snprintf(to, size, "it uses database %" PRId64 " there, this list %d", peer->db,
                 peers->db[node]);
    else if (its->guard != own->guard)
        snprintf(to, size, "its restart guard is %s, here %s", rl_guard_word(its->guard),
                 rl_guard_word(own->guard));
    else if (its->drift_ppm != own->drift_ppm)
        snprintf(to, size, "its drift-factor is %g, here %g", (double)its->drift_ppm / 1e6,
                 (double)own->drift_ppm / 1e6);
    else
        snprintf(to, size, "its list has other masters");
    return text;
}

void status_peers_judge(const struct status_peers *peers, unsigned node,
                        struct status_facts *facts)
{
    facts->listed = peers->listed & rl_bit(node);
    facts->watched = peers->watched & rl_bit(node);
    facts->odd_by_step = true;
    for (unsigned i = 0; i < peers->count; i++) {
        const struct status_peer *peer = &peers->peer[i];
        if (!(peer->masters & rl_bit(node)) || !is_odd(peers, peer))
            continue;
        facts->odd_by_step &= is_by_step(peers, peer);
        facts->odd_former |= peer->mark.former;
        if (facts->odd_clients++ > 0)
            continue;
        snprintf(facts->odd, sizeof(facts->odd), "%.80s: %.100s",
                 cli_text(peer->name.text, peer->name.len).text,
                 difference(peers, peer, node).text);
    }
}
