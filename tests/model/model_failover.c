/* model_failover.c - see model_failover.h. Servers, witnesses and time. */
#include "config_auto.h"

#include "model_failover_parts.h"

#include <assert.h>
#include <string.h>

const char *const fo_server_name[SERVERS] = {"M", "P", "Q"};
const char *const fo_client_name[CLIENTS] = {"A", "B"};

unsigned fo_servers(const struct failover_rules *rules)
{
    return 2 + rules->more_replicas;
}

unsigned fo_needed(const struct failover_rules *rules)
{
    return rules->witnesses / 2 + 1;
}

unsigned fo_quorum(const struct failover_rules *rules)
{
    return (1 + rules->plain) / 2 + 1;
}

/* ---- data --------------------------------------------------------------------------------- */

static uint8_t less(uint8_t left, unsigned by)
{
    return (uint8_t)(left > by ? left - by : 0);
}

static void copy_data(const struct failover_rules *rules, struct fo_server *to,
                      const struct fo_server *from)
{
    to->left = less(from->left, rules->ahead);
    to->owner = to->left ? from->owner : 0;
    to->marker = from->marker;
    to->marker_life = from->marker_life;
    to->marker_term = from->marker_term;
    to->quarantine = less(from->quarantine, rules->ahead);
}

void fo_replicate(const struct failover_rules *rules, struct fo_state *state, unsigned from)
{
    for (unsigned s = 0; s < fo_servers(rules); s++) {
        struct fo_server *server = &state->server[s];
        if (server->replica && server->follows == from && server->synced)
            copy_data(rules, server, &state->server[from]);
    }
}

/* ---- clients, as others end what they do -------------------------------------------------- */

void fo_end_round(struct fo_client *client)
{
    client->under_way = client->granted = client->age = 0;
}

void fo_end_hold(struct fo_state *state, unsigned c)
{
    for (unsigned s = 0; s < SERVERS; s++) {
        if (state->server[s].owner == c + 1)
            state->server[s].owner = state->server[s].left = 0;
    }
    for (unsigned p = 0; p < PLAIN; p++) {
        if (state->plain[p].owner == c + 1)
            state->plain[p].owner = state->plain[p].left = 0;
    }
    struct fo_client *client = &state->client[c];
    fo_end_round(client);
    client->phase = FO_FREE;
    client->left = client->have = client->filling = 0;
}

void fo_refused(struct fo_state *state, unsigned c)
{
    struct fo_client *client = &state->client[c];
    client->under_way &= (uint8_t)~FO_X;
    if (client->under_way)
        return;
    fo_end_round(client);
    if (client->phase == FO_ASKING)
        fo_end_hold(state, c);
}

void fo_disconnect(struct fo_state *state, unsigned c)
{
    struct fo_client *client = &state->client[c];
    fo_refused(state, c);
    client->filling = 0;
    client->server = client->server_term = client->life = client->mute = 0;
}

/* ---- time --------------------------------------------------------------------------------- */

static void tick_client(const struct failover_rules *rules, struct fo_state *state, unsigned c)
{
    struct fo_client *client = &state->client[c];
    client->mute = less(client->mute, 1);
    unsigned too_old = 2 + rules->older + (rules->plain ? rules->ttl : 0);
    if (client->asked && client->asked < too_old)
        client->asked++;
    if (client->under_way && ++client->age >= rules->ttl)
        fo_end_round(client); /* whatever it does, it gives nothing any more */
    if (client->phase == FO_ASKING && !client->under_way)
        fo_end_hold(state, c);
    else if (client->phase == FO_HELD && --client->left == 0)
        fo_end_hold(state, c);
}

static void tick(const struct failover_rules *rules, const struct fo_state *state,
                 struct explorer *explorer)
{
    struct fo_state next = *state;
    for (unsigned s = 0; s < fo_servers(rules); s++) {
        struct fo_server *server = &next.server[s];
        server->left = less(server->left, 1);
        server->owner = server->left ? server->owner : 0;
        server->quarantine = less(server->quarantine, 1);
    }
    fo_plain_tick(&next);
    for (unsigned w = 0; w < rules->witnesses; w++)
        next.witness[w].young = less(next.witness[w].young, 1);
    for (unsigned c = 0; c < CLIENTS; c++)
        tick_client(rules, &next, c);
    explore_move(explorer, &next, "a tick passes");
}

/* ---- witnesses ---------------------------------------------------------------------------- */

static unsigned agree(const struct failover_rules *rules, const struct fo_state *state,
                      unsigned master)
{
    unsigned count = 0;
    for (unsigned w = 0; w < rules->witnesses; w++)
        count += state->witness[w].master == master;
    return count;
}

/* At any time; by hand, without an election. Whoever says that it is a master may be named again,
 * with the data that it has. */
static void lead(const struct failover_rules *rules, const struct fo_state *state, unsigned w,
                 struct explorer *explorer)
{
    const struct fo_witness *witness = &state->witness[w];
    if (witness->leads || state->failovers == 0 ||
        (!rules->equal_terms && agree(rules, state, witness->master) < fo_needed(rules)))
        return;
    for (unsigned s = 0; s < fo_servers(rules); s++) {
        struct fo_state next = *state;
        struct fo_witness *leader = &next.witness[w];
        struct fo_server *server = &next.server[s];
        if (s == witness->master)
            continue;
        next.failovers--;
        next.term = (uint8_t)(rules->equal_terms ? next.term : next.term + 1);
        leader->leads = 1;
        leader->target = (uint8_t)s;
        leader->next_term = (uint8_t)(rules->equal_terms ? leader->term + 1 : next.term);
        server->life = (uint8_t)(server->life + server->replica);
        server->replica = server->follows = server->synced = 0;
        explore_move(explorer, &next, "witness %u leads a failover of %s, and promotes %s", w + 1,
                     fo_server_name[witness->master], fo_server_name[s]);
    }
}

static void name_it(const struct fo_state *state, unsigned w, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_witness *witness = &next.witness[w];
    if (!witness->leads)
        return;
    witness->master = witness->target;
    witness->term = witness->next_term;
    witness->leads = witness->target = witness->next_term = 0;
    explore_move(explorer, &next, "witness %u names %s, term %u", w + 1,
                 fo_server_name[witness->master], witness->term);
}

static void hear(const struct failover_rules *rules, const struct fo_state *state, unsigned w,
                 struct explorer *explorer)
{
    for (unsigned v = 0; v < rules->witnesses; v++) {
        struct fo_state next = *state;
        struct fo_witness *other = &next.witness[v];
        if (other->term >= state->witness[w].term)
            continue;
        other->term = state->witness[w].term;
        other->master = state->witness[w].master;
        other->leads = other->target = other->next_term = 0;
        explore_move(explorer, &next, "witness %u hears of %u that %s is master, term %u", v + 1,
                     w + 1, fo_server_name[other->master], other->term);
    }
}

static void demote(const struct failover_rules *rules, const struct fo_state *state, unsigned w,
                   struct explorer *explorer)
{
    unsigned master = state->witness[w].master;
    for (unsigned s = 0; s < fo_servers(rules); s++) {
        struct fo_state next = *state;
        struct fo_server *server = &next.server[s];
        if (s == master || (server->replica && server->follows == master))
            continue;
        for (unsigned c = 0; c < CLIENTS; c++) {
            if (!server->replica && !rules->connections_stay && next.client[c].server == s + 1)
                fo_disconnect(&next, c);
        }
        server->replica = 1;
        server->follows = (uint8_t)master;
        server->synced = 0;
        explore_move(explorer, &next, "witness %u makes %s a replica of %s", w + 1,
                     fo_server_name[s], fo_server_name[master]);
    }
}

static void forget(const struct failover_rules *rules, const struct fo_state *state, unsigned w,
                   struct explorer *explorer)
{
    struct fo_state next = *state;
    if (state->forgets == 0 || state->witness[w].term == 0)
        return;
    next.forgets--;
    next.witness[w] = (struct fo_witness){
        .young = (uint8_t)(rules->forgets_up ? rules->window : 0)};
    explore_move(explorer, &next, "witness %u has lost its file, and names M, term 0", w + 1);
}

/* ---- servers ------------------------------------------------------------------------------ */

static void serve(const struct failover_rules *rules, const struct fo_state *state, unsigned s,
                  struct explorer *explorer)
{
    const struct fo_server *server = &state->server[s];
    struct fo_state next = *state;
    if (!server->replica)
        return;
    const struct fo_server *master = &state->server[server->follows];
    if (server->synced) {
        next.server[s].synced = 0;
        explore_move(explorer, &next, "%s lags", fo_server_name[s]);
    } else if (!master->replica) {
        copy_data(rules, &next.server[s], master);
        next.server[s].synced = 1;
        explore_move(explorer, &next, "%s is in sync with %s", fo_server_name[s],
                     fo_server_name[server->follows]);
    }
    if (state->restarts == 0)
        return;
    next = *state;
    next.restarts--;
    next.server[s] = (struct fo_server){
        .life = server->life, .replica = 1, .follows = server->follows};
    explore_move(explorer, &next, "%s restarts empty", fo_server_name[s]);
}

/* ---- the model ---------------------------------------------------------------------------- */

/* A is at work at M, and B is new. */
static void begin(const void *context, void *ret_state)
{
    const struct failover_rules *rules = context;
    struct fo_state *state = ret_state;
    memset(state, 0, sizeof(*state));
    state->failovers = (uint8_t)rules->failovers;
    state->restarts = rules->restarts;
    state->steps = (uint8_t)rules->steps;
    state->forgets = rules->forgets || rules->forgets_up;
    for (unsigned s = 0; s < fo_servers(rules); s++) {
        state->server[s].marker = 1;
        state->server[s].replica = state->server[s].synced = s > 0;
    }
    state->client[0].server = 1;
}

static void moves(const void *context, const void *from, struct explorer *explorer)
{
    const struct failover_rules *rules = context;
    const struct fo_state *state = from;
    assert(fo_servers(rules) <= SERVERS && rules->witnesses <= WITNESSES);
    assert(rules->plain <= PLAIN);
    for (unsigned c = 0; c < CLIENTS; c++) {
        fo_client_moves(rules, state, c, explorer);
        fo_plain_moves(rules, state, c, explorer);
    }
    for (unsigned w = 0; w < rules->witnesses; w++) {
        lead(rules, state, w, explorer);
        name_it(state, w, explorer);
        hear(rules, state, w, explorer);
        demote(rules, state, w, explorer);
        forget(rules, state, w, explorer);
    }
    for (unsigned s = 0; s < fo_servers(rules); s++)
        serve(rules, state, s, explorer);
    tick(rules, state, explorer);
}

static const char *wrong(const void *context, const void *state_)
{
    const struct fo_state *state = state_;
    (void)context;
    return state->client[0].left && state->client[1].left ? "two clients are valid at once" : NULL;
}

const struct model failover_model = {sizeof(struct fo_state), begin, moves, fo_canonical, wrong};
