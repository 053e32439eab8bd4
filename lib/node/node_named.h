/* node_named.h - a node whose line names no server, but Sentinels who do. The node connects only to
 * the server that a majority of them names, and to another when they name another. The node's votes
 * count in a round only if a majority has named that server lately. Lately means that the majority
 * was asked no earlier than D before the round's t0 (core/witness.h). What Sentinels say comes from
 * endpoint/.
 */
#ifndef RL_NODE_NAMED_H
#define RL_NODE_NAMED_H

#include "config/config.h"
#include "core/witness.h"

struct rl_node;

struct rl_named {
    struct rl_witnesses witnesses; /* what they say */
    struct rl_node_config config;  /* the line's, with the host and port of `at` */
    struct rl_master_at at;        /* the server that it connects to; port 0: none was named yet */
    uint64_t moves;                /* how often that has been another one */
    bool lacks;     /* a connect, or a look at the marker, waits for their word */
    bool hopeful;   /* answers are awaited that may name it */
    int64_t told_ns; /* when the last was found out; 0: never */
    char why[160];  /* what they say, where they name none */
};

/* Does a majority name the server that it is connected to, asked no earlier than D before that
 * time? Always where no Sentinels name it. */
bool rl_node_vouched(const struct rl_node *node, int64_t t0_ns);

/* Whom a majority names, asked no earlier than D before now. False: nobody. */
bool rl_node_named(const struct rl_node *node, int64_t now_ns, struct rl_master_at *ret_at);

/* Whom to connect to, or to look at, is not known lately: that is done when it is. */
bool rl_node_lacks_word(struct rl_node *node, int64_t now_ns);

/* What they say, where they don't name it: its own text, until the next call. */
const char *rl_node_word(struct rl_node *node);

/* Are their answers awaited, which may give it a vote? */
bool rl_node_awaits_word(const struct rl_node *node, int64_t now_ns);

/* node_hear.c: they have said something, or fallen silent. `vouched`: its server was vouched for
 * before. */
void rl_node_hear(struct rl_node *node, bool vouched, bool hopeful, int64_t now_ns);

#endif
