/* model_failover_plain.c - see model_failover.h. Further masters, and masters that are filled
 * in. */
#include "config_auto.h"

#include "model_failover_parts.h"

static const char *const plain_name[PLAIN] = {"Y", "Z"};

void fo_plain_tick(struct fo_state *state)
{
    for (unsigned p = 0; p < PLAIN; p++) {
        struct fo_plain *plain = &state->plain[p];
        if (plain->owner && --plain->left == 0)
            plain->owner = 0;
    }
}

/* Whenever it is; where another has the key it is as good as lost. */
static void execute(const struct failover_rules *rules, const struct fo_state *state, unsigned c,
                    unsigned p, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    struct fo_plain *plain = &next.plain[p];
    bool held = client->phase == FO_HELD;
    if (!(client->under_way & FO_PLAIN(p)) || plain->owner != (held ? c + 1 : 0))
        return;
    plain->owner = (uint8_t)(c + 1);
    plain->left = (uint8_t)rules->ttl;
    fo_count_yes(rules, &next, c, FO_PLAIN(p));
    explore_move(explorer, &next, "%s %s %s%s", plain_name[p],
                 held ? "extends for" : "grants to", fo_client_name[c],
                 client->phase == FO_HELD && !client->under_way ? ", which holds" : "");
}

/* All its keys end, and what it granted is void: R9. */
static void step(const struct failover_rules *rules, const struct fo_state *state, unsigned p,
                 struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_plain *plain = &next.plain[p];
    if (state->steps == 0 || !plain->owner)
        return;
    unsigned c = plain->owner - 1u;
    struct fo_client *client = &next.client[c];
    next.steps--;
    plain->owner = plain->left = 0;
    client->granted &= (uint8_t)~FO_PLAIN(p);
    client->have &= (uint8_t)~FO_PLAIN(p);
    bool lost = client->phase == FO_HELD &&
                (unsigned)__builtin_popcount(client->have) < fo_quorum(rules);
    if (lost)
        fo_end_hold(&next, c);
    explore_move(explorer, &next, "the clock of %s is set forward%s%s", plain_name[p],
                 lost ? ", and ends the hold of " : "", lost ? fo_client_name[c] : "");
}

/* ---- filling in --------------------------------------------------------------------------- */

static bool may_fill_in(const struct failover_rules *rules, const struct fo_client *client,
                        unsigned master)
{
    return rules->fills && client->phase == FO_HELD && !client->under_way &&
           (unsigned)__builtin_popcount(client->have & ~master) >= fo_quorum(rules);
}

static void fill_in_plain(const struct failover_rules *rules, const struct fo_state *state,
                          unsigned c, unsigned p, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    struct fo_plain *plain = &next.plain[p];
    if (!may_fill_in(rules, client, FO_PLAIN(p)) || client->have & FO_PLAIN(p) ||
        (plain->owner && plain->owner != c + 1))
        return;
    plain->owner = (uint8_t)(c + 1);
    plain->left = plain->left > client->left ? plain->left : client->left;
    client->have |= (uint8_t)FO_PLAIN(p);
    explore_move(explorer, &next, "%s fills in %s", fo_client_name[c], plain_name[p]);
}

/* R22: As a request of the round by which it holds; the library wants a newer statement, which says
 * no less. Where its key stands it need not. */
static void fill_in(const struct failover_rules *rules, const struct fo_state *state, unsigned c,
                    struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (!may_fill_in(rules, client, FO_X) || !client->server || client->mute || client->filling)
        return;
    bool has = client->have & FO_X && state->server[client->server - 1].owner == c + 1;
    if (has ||
        !(rules->fills_unstated || fo_is_stated(rules, client, rules->ttl - client->left)))
        return;
    client->filling = 1;
    explore_move(explorer, &next, "%s sends to %s, to fill it in", fo_client_name[c],
                 fo_server_name[client->server - 1]);
}

static void execute_fill_in(const struct failover_rules *rules, const struct fo_state *state,
                            unsigned c, struct explorer *explorer)
{
    struct fo_state next = *state;
    struct fo_client *client = &next.client[c];
    if (!client->filling)
        return;
    unsigned s = client->server - 1u;
    struct fo_server *server = &next.server[s];
    client->filling = 0;
    if (server->replica) {
        fo_disconnect(&next, c);
        explore_move(explorer, &next, "%s, a replica, refuses %s", fo_server_name[s],
                     fo_client_name[c]);
    } else if ((!server->owner || server->owner == c + 1) &&
               !(rules->strict && client->life != server->life)) {
        server->owner = (uint8_t)(c + 1);
        server->left = server->left > client->left ? server->left : client->left;
        fo_replicate(rules, &next, s);
        client->have |= FO_X;
        explore_move(explorer, &next, "%s is filled in for %s", fo_server_name[s],
                     fo_client_name[c]);
    } else {
        explore_move(explorer, &next, "%s is not filled in for %s", fo_server_name[s],
                     fo_client_name[c]);
    }
}

void fo_plain_moves(const struct failover_rules *rules, const struct fo_state *state,
                    unsigned c, struct explorer *explorer)
{
    fill_in(rules, state, c, explorer);
    execute_fill_in(rules, state, c, explorer);
    for (unsigned p = 0; p < rules->plain; p++) {
        execute(rules, state, c, p, explorer);
        fill_in_plain(rules, state, c, p, explorer);
        if (c == 0)
            step(rules, state, p, explorer);
    }
}
