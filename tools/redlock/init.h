/* init.h - between cmd_init.c and init_check.c: init, and which masters it may mark. */
#ifndef REDLOCK_INIT_H
#define REDLOCK_INIT_H

#include "redlock/fence_look.h"
#include "redlock/init_text.h"
#include "redlock/node_ask.h"

#define REQUEST_MAX FENCE_LOOK_MAX

enum init_step { SELECTING, LOOKING, LOOKED, MARKING, FINDING, FOUND, CERTIFYING, DONE };

struct init {
    const struct cli *cli;
    struct node_ask *nodes;
    struct {
        char nonce[RL_NONCE_LEN + 1];
        enum init_step step; /* the request that is next, or under way */
        bool failed;
        bool marked; /* a marker stands there */
        struct rl_certificate certificate;
        bool stands; /* what is there speaks against a marker */
        char why[INIT_WHY_MAX];
        char request[REQUEST_MAX];
    } master[REDLOCK_NODES_MAX];
};

/* As messages call it. */
const char *init_label(const struct init *init, unsigned node);

/* Is it to be marked? */
bool init_is_chosen(const struct init *init, unsigned node);

/* A reason to refuse before anything is written: an exit status; it was said. -1: go on. */
int init_refuse(const struct init *init);

/* Ask the user of a master whose place had another one before. -1: go on. */
int init_ask(const struct init *init);

#endif
