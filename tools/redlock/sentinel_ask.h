/* sentinel_ask.h - what the Sentinels of a line say: who is its master, by the library's own rule
 * (core/witness.h), and how each of them fares. Pure. */
#ifndef REDLOCK_SENTINEL_ASK_H
#define REDLOCK_SENTINEL_ASK_H

#include "config/sentinels.h"
#include "core/server_info.h"
#include "core/witness.h"
#include "net/resp.h"

/* The talk with one of them. */
struct sentinel_ask {
    enum { SENTINEL_INFO, SENTINEL_MYID, SENTINEL_MASTER, SENTINEL_ADDRESS, SENTINEL_DONE } step;
    char request[RL_SERVICE_MAX + 96];
    bool ended, failed;
    int64_t clients, clients_max; /* its connections; -1: not told */
    int64_t uptime_s;             /* -1: not told */
    int64_t met_ns, asked_ns;
    char id[RL_RUN_ID_SIZE];
    struct rl_sentinel_told told;
    char field[32]; /* whose value comes next */
    unsigned texts; /* of this array, so far */
    char why[192];  /* what it gave no answer to, and why; empty: nothing; printable */
};

/* All of a line. */
struct service_look {
    const struct rl_node_config *line;
    struct rl_witnesses witnesses;
    int64_t window_ns;
    struct {
        char label[RL_SENTINEL_LABEL_MAX]; /* "Sentinel HOST:PORT" */
        struct rl_node_config config;
        struct sentinel_ask ask;
    } of[RL_SENTINELS_MAX];
    bool named;               /* a majority names one server: */
    struct rl_master_at at;
    struct rl_node_config config; /* the line's, with its host and port */
};

void service_look_begin(struct service_look *look, const struct rl_node_config *line,
                        int64_t window_ns);

/* Its next request; NULL: no more. */
const char *sentinel_ask_next(struct service_look *look, unsigned sentinel, int64_t now_ns);

/* A text of a reply; a whole reply (NULL, or why it is asked no more); an error in its place
 * (false: likewise). */
void sentinel_ask_heard(struct service_look *look, unsigned sentinel, const char *bytes,
                        size_t len);
const char *sentinel_ask_answered(struct service_look *look, unsigned sentinel,
                                  const struct rl_reply *reply, int64_t now_ns);
bool sentinel_ask_refused(struct service_look *look, unsigned sentinel, const char *why);

/* No more is to come: it has answered all, or failed for a reason. */
void sentinel_ask_ended(struct service_look *look, unsigned sentinel, const char *why,
                        int64_t now_ns);

/* Have all ended? */
bool service_look_ended(const struct service_look *look);

/* Does this one name the master that the majority does, as a witness that counts? */
bool service_look_agrees(const struct service_look *look, unsigned sentinel);

#endif
