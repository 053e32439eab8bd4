/* status_peers.h - what the names of a master's connections tell: clients whose node list is
 * not this one, and Sentinels. Two clients with other lists may both have a lock. */
#ifndef REDLOCK_STATUS_PEERS_H
#define REDLOCK_STATUS_PEERS_H

#include "redlock/client_list.h"
#include "redlock/status_facts.h"

#define STATUS_PEERS_MAX 64 /* more are not looked at */

struct status_peer {
    char uuid[RL_UUID_LEN];
    struct client_name name;
    struct rl_list_mark mark;
    uint64_t masters;  /* those that it is connected to */
    uint64_t other_db; /* those where it uses another database than this list */
    int64_t db;        /* the last of these */
};

struct status_peers {
    struct rl_list_mark own;
    int db[REDLOCK_NODES_MAX]; /* of each master, by this list */
    uint64_t listed;           /* masters that have told their clients */
    uint64_t watched;          /* masters that a Sentinel watches */
    unsigned count;
    struct status_peer peer[STATUS_PEERS_MAX];
};

/* An answer to CLIENT LIST. */
void status_peers_heard(struct status_peers *peers, unsigned node, const char *list, size_t len,
                        const struct rl_mask *mask);

/* Of the whole fleet. */
struct status_lists {
    bool told;             /* each master that was asked has told its clients; else: */
    bool unknown_for_good; /* until a person acts */
    char why[192];
    unsigned clients; /* that have another list, of those that are known */
    bool by_step;     /* each majority of theirs meets those of this list */
    bool former;      /* some are of the former format of keys */
};

/* "alike", "other", "unknown": have all clients this list? */
const char *status_lists_word(const struct status_lists *lists);

/* What is to be done where there are such clients. */
const char *status_lists_remedy(bool by_step, bool former);

/* `told` and what goes with it is the caller's. */
struct status_lists status_peers_lists(const struct status_peers *peers);

/* What all answers tell of the clients of one master. */
void status_peers_judge(const struct status_peers *peers, unsigned node,
                        struct status_facts *facts);

#endif
