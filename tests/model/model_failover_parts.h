/* model_failover_parts.h - the state of the model of failovers, for its two files:
 * model_failover.c has servers, witnesses and time, model_failover_clients.c what clients do. */
#ifndef TEST_MODEL_FAILOVER_PARTS_H
#define TEST_MODEL_FAILOVER_PARTS_H

#include "model_failover.h"

#include <stdint.h>

#define SERVERS 3
#define WITNESSES 3
#define CLIENTS 2

enum failover_phase { FO_FREE, FO_ASKING, FO_HELD };

struct fo_server {
    uint8_t life; /* the replication id: another one when a replica is promoted */
    uint8_t replica, follows, synced;
    uint8_t owner, left; /* of the key: 1 + client; how long it lasts */
    uint8_t marker, marker_life, marker_term; /* 1 + the server that it names; 0: there is none */
    uint8_t quarantine;
};

struct fo_witness {
    uint8_t term, master;
    uint8_t leads, target, next_term; /* it has promoted this one, and does not name it yet */
    uint8_t young;                    /* for how long it does not count */
};

struct fo_client {
    uint8_t phase, left;
    uint8_t age;       /* of the open round, since t0 */
    uint8_t under_way; /* its request */
    uint8_t server, server_term; /* 1 + the server of the connection; its term, as looked at */
    uint8_t life;                /* with `strict`, that it showed then */
    uint8_t mute;                /* the quarantine that it found there */
    uint8_t asked;               /* 1 + how long ago the witnesses were asked; 0: never */
    uint8_t answers;             /* who has named the next two, a bit each */
    uint8_t named, named_term;
};

struct fo_state {
    struct fo_server server[SERVERS];
    struct fo_witness witness[WITNESSES];
    struct fo_client client[CLIENTS];
    uint8_t term;      /* the greatest that was given out */
    uint8_t failovers; /* that may yet happen */
    uint8_t restarts, forgets;
};

extern const char *const fo_server_name[SERVERS];
extern const char *const fo_client_name[CLIENTS];

unsigned fo_servers(const struct failover_rules *rules);
unsigned fo_needed(const struct failover_rules *rules);

/* A replica that keeps up has what its master has just set: its key, or its marker. */
void fo_replicate(const struct failover_rules *rules, struct fo_state *state, unsigned from);

void fo_end_round(struct fo_client *client);
void fo_end_hold(struct fo_state *state, unsigned c);
/* The connection has ended. */
void fo_disconnect(struct fo_state *state, unsigned c);

/* All that one client, and what it has sent, can do next. */
void fo_client_moves(const struct failover_rules *rules, const struct fo_state *state,
                     unsigned c, struct explorer *explorer);

#endif
