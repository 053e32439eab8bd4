/* model_failover_clients.c - what clients do in the model of failovers: questions, looks and
 * rounds. */
#include "config_auto.h"

#include "model_failover_parts.h"

#include <string.h>

/* ---- what is asked of witnesses ----------------------------------------------------------- */

bool fo_is_stated(const struct failover_rules *rules, const struct fo_client *client,
                  unsigned age)
{
    unsigned needed = rules->one_witness ? 1 : fo_needed(rules);
    if (rules->no_statement)
        return true;
    return client->named == client->server &&
           (rules->by_server_only || client->named_term == client->server_term) &&
           (unsigned)__builtin_popcount(client->answers) >= needed &&
           (rules->old_statement || client->asked <= 1 + rules->older + age);
}

static void ask(const struct fo_state *state, unsigned c, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (client->asked == 1 && client->answers == 0)
        return;
    client->asked = 1;
    client->answers = client->named = client->named_term = 0;
    explore_move(explorer, &next, "%s asks the witnesses", fo_client_name[c]);
}

/* A later term, or the same server, as one by one they answer. What else they say is read later or
 * never. */
static void answer(const struct fo_state *state, unsigned c, unsigned w,
                   struct explorer *explorer)
{
    const struct fo_witness *witness = &state->witness[w];
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (client->asked == 0 || (client->answers >> w & 1) || witness->young)
        return;
    bool same = client->named == witness->master + 1 && client->named_term == witness->term;
    if (client->answers && !same && witness->term <= client->named_term)
        return;
    if (!same)
        client->answers = 0;
    client->named = (uint8_t)(witness->master + 1);
    client->named_term = witness->term;
    client->answers |= (uint8_t)(1u << w);
    explore_move(explorer, &next, "witness %u tells %s: %s, term %u", w + 1, fo_client_name[c],
                 fo_server_name[witness->master], witness->term);
}

/* ---- the look ----------------------------------------------------------------------------- */

/* R22: marker_named.lua. */
static void look(const struct failover_rules *rules, const struct fo_state *state, unsigned c,
                 unsigned s, unsigned term, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    struct fo_server *server = &next.server[s];
    bool own = server->marker == s + 1 &&
               (rules->marker_lifeless || server->marker_life == server->life);
    bool later = server->marker && server->marker_term > term;
    bool lower = server->marker_term < term;
    if (server->replica || client->under_way & FO_X || client->filling)
        return;
    if (rules->marker_termless)
        later = lower = false;
    if (later && rules->window > 0)
        return; /* no vote, and nothing is changed */
    bool lost = (!own || lower) && rules->window > 0;
    if (lost) {
        server->marker = (uint8_t)(s + 1);
        server->marker_life = server->life;
        server->marker_term = (uint8_t)term;
        server->quarantine = (uint8_t)rules->window;
        fo_replicate(rules, &next, s);
    }
    client->server = (uint8_t)(s + 1);
    client->server_term = (uint8_t)term;
    client->life = rules->strict ? server->life : 0;
    client->mute = server->quarantine;
    if (memcmp(&next, state, sizeof(next)) != 0)
        explore_move(explorer, &next, "%s looks at %s in term %u%s", fo_client_name[c],
                     fo_server_name[s], term,
                     lost           ? ", and begins a quarantine"
                     : client->mute ? ", which is in quarantine"
                                    : ", whose marker stands");
}

static void looks(const struct failover_rules *rules, const struct fo_state *state, unsigned c,
                  struct explorer *explorer)
{
    const struct fo_client *client = &state->client[c];
    unsigned needed = rules->look_by_one ? 1 : fo_needed(rules);
    if (client->named && (unsigned)__builtin_popcount(client->answers) >= needed)
        look(rules, state, c, client->named - 1u, client->named_term, explorer);
    if (!rules->look_unread || client->asked == 0)
        return;
    for (unsigned w = 0; w < rules->witnesses; w++) {
        const struct fo_witness *witness = &state->witness[w];
        if (witness->leads)
            look(rules, state, c, witness->target, witness->next_term, explorer);
    }
}

/* ---- rounds ------------------------------------------------------------------------------- */

/* May it ask the master that fails over in a round of that age? */
static bool may_ask(const struct failover_rules *rules, const struct fo_client *client,
                    unsigned age)
{
    bool held = client->phase == FO_HELD;
    return client->server && fo_is_stated(rules, client, age) &&
           (client->mute == 0 || (held && rules->extends_quarantined));
}

static void begin_round(const struct failover_rules *rules, const struct fo_state *state,
                        unsigned c, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    bool held = client->phase == FO_HELD;
    if (client->under_way || (held && !rules->extends))
        return;
    client->under_way = (uint8_t)(may_ask(rules, client, 0) ? FO_X : 0);
    for (unsigned p = 0; p < rules->plain; p++)
        client->under_way |= (uint8_t)FO_PLAIN(p);
    if ((unsigned)__builtin_popcount(client->under_way) < fo_quorum(rules))
        return;
    if (!held)
        client->phase = FO_ASKING;
    client->age = 0;
    explore_move(explorer, &next, "%s asks %s%s to %s", fo_client_name[c],
                 client->under_way & FO_X ? fo_server_name[client->server - 1] : "",
                 !rules->plain              ? ""
                 : client->under_way & FO_X ? " and the others"
                                            : "the others",
                 held ? "extend" : "grant");
}

static void join_round(const struct failover_rules *rules, const struct fo_state *state,
                       unsigned c, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (!client->under_way || (client->under_way | client->granted) & FO_X ||
        !may_ask(rules, client, client->age))
        return;
    client->under_way |= FO_X;
    explore_move(explorer, &next, "%s asks %s too", fo_client_name[c],
                 fo_server_name[client->server - 1]);
}

static void give_up(const struct fo_state *state, unsigned c, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (client->phase == FO_FREE)
        return;
    if (client->phase == FO_HELD && client->under_way) {
        fo_end_round(client);
        explore_move(explorer, &next, "%s gives up to extend", fo_client_name[c]);
        return;
    }
    fo_end_hold(&next, c);
    explore_move(explorer, &next, "%s %s", fo_client_name[c],
                 client->phase == FO_HELD ? "releases" : "gives up");
}

void fo_count_yes(const struct failover_rules *rules, struct fo_state *state, unsigned c,
                  unsigned master)
{
    struct fo_client *client = &state->client[c];
    client->granted |= (uint8_t)master;
    client->under_way &= (uint8_t)~master;
    if ((unsigned)__builtin_popcount(client->granted) >= fo_quorum(rules)) {
        uint8_t left = (uint8_t)(rules->ttl - client->age);
        client->left = left > client->left ? left : client->left;
        client->phase = FO_HELD;
        client->have = client->granted;
        client->filling = 0; /* it is lost */
        fo_end_round(client);
    } else if (!client->under_way) {
        fo_refused(state, c);
    }
}

/* The server executes it, whenever that is; a yes is counted from t0. */
static void execute(const struct failover_rules *rules, const struct fo_state *state, unsigned c,
                    struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (!(client->under_way & FO_X) || client->filling)
        return;
    struct fo_server *server = &next.server[client->server - 1];
    const char *name = fo_server_name[client->server - 1];
    bool held = client->phase == FO_HELD;
    bool may = held ? server->owner == c + 1 : server->owner == 0;
    if (server->replica) {
        fo_disconnect(&next, c);
        explore_move(explorer, &next, "%s, a replica, refuses %s", name, fo_client_name[c]);
        return;
    }
    if (!may || (rules->strict && client->life != server->life)) {
        fo_refused(&next, c);
        explore_move(explorer, &next, "%s refuses %s", name, fo_client_name[c]);
        return;
    }
    server->owner = (uint8_t)(c + 1);
    server->left = (uint8_t)rules->ttl;
    fo_replicate(rules, &next, client->server - 1u);
    fo_count_yes(rules, &next, c, FO_X);
    explore_move(explorer, &next, "%s %s %s%s", name, held ? "extends for" : "grants to",
                 fo_client_name[c],
                 client->phase == FO_HELD && !client->under_way ? ", which holds" : "");
}

void fo_client_moves(const struct failover_rules *rules, const struct fo_state *state,
                     unsigned c, struct explorer *explorer)
{
    begin_round(rules, state, c, explorer);
    join_round(rules, state, c, explorer);
    execute(rules, state, c, explorer);
    give_up(state, c, explorer);
    ask(state, c, explorer);
    for (unsigned w = 0; w < rules->witnesses; w++)
        answer(state, c, w, explorer);
    looks(rules, state, c, explorer);
}
