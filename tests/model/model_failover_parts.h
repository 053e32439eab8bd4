/* model_failover_parts.h - the state of the model of failovers, for its files:
 * model_failover.c has servers, witnesses and time, model_failover_clients.c what clients do,
 * model_failover_plain.c further masters, and masters that are filled in,
 * model_failover_names.c which states are alike. */
#ifndef TEST_MODEL_FAILOVER_PARTS_H
#define TEST_MODEL_FAILOVER_PARTS_H

#include "model_failover.h"

#include <stdint.h>

#define SERVERS 3
#define WITNESSES 3
#define CLIENTS 2
#define PLAIN 2

#define FO_X 1u /* the master that fails over, in the masks of a client */
#define FO_PLAIN(p) (2u << (p))

enum failover_phase { FO_FREE, FO_ASKING, FO_HELD };

struct fo_server {
    uint8_t life; /* the replication id: another one when a replica is promoted */
    uint8_t replica, follows, synced;
    uint8_t owner, left; /* of the key: 1 + client; how long it lasts */
    uint8_t marker, marker_life, marker_term; /* 1 + the server that it names; 0: there is none */
    uint8_t quarantine;
};

struct fo_plain {
    uint8_t owner, left; /* as above */
};

struct fo_witness {
    uint8_t term, master;
    uint8_t leads, target, next_term; /* it has promoted this one, and does not name it yet */
    uint8_t young;                    /* for how long it does not count */
};

struct fo_client {
    uint8_t phase, left;
    uint8_t age;       /* of the open round, since t0 */
    uint8_t under_way; /* its requests, a bit a master */
    uint8_t granted;   /* who said yes to it */
    uint8_t have;      /* who has the key of the lease */
    uint8_t filling;   /* a fill-in is under way to the master that fails over */
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
    struct fo_plain plain[PLAIN];
    uint8_t term;      /* the greatest that was given out */
    uint8_t failovers; /* that may yet happen */
    uint8_t restarts, forgets, steps;
};

extern const char *const fo_server_name[SERVERS];
extern const char *const fo_client_name[CLIENTS];

unsigned fo_servers(const struct failover_rules *rules);
unsigned fo_needed(const struct failover_rules *rules); /* witnesses */
unsigned fo_quorum(const struct failover_rules *rules); /* masters */

/* A replica that keeps up has what its master has just set: its key, or its marker. */
void fo_replicate(const struct failover_rules *rules, struct fo_state *state, unsigned from);

void fo_end_round(struct fo_client *client);
void fo_end_hold(struct fo_state *state, unsigned c);
/* The master that fails over has refused. */
void fo_refused(struct fo_state *state, unsigned c);
/* The connection has ended. */
void fo_disconnect(struct fo_state *state, unsigned c);

/* R22: May a request of a lease that counts from so long ago go to the master that fails over? A
 * majority has named it, and was asked D before then at most. */
bool fo_is_stated(const struct failover_rules *rules, const struct fo_client *client,
                  unsigned age);
/* The master has granted or extended: does a majority? */
void fo_count_yes(const struct failover_rules *rules, struct fo_state *state, unsigned c,
                  unsigned master);

void fo_plain_tick(struct fo_state *state);
/* What comes of one client's requests to further masters, and whom it fills in. */
void fo_plain_moves(const struct failover_rules *rules, const struct fo_state *state,
                    unsigned c, struct explorer *explorer);

void fo_canonical(const void *rules, void *state);

/* All that one client, and what it has sent, can do next. */
void fo_client_moves(const struct failover_rules *rules, const struct fo_state *state,
                     unsigned c, struct explorer *explorer);

#endif
