/* model_fencing_parts.h - the state of the model of fencing tokens, and the numbers in it. */
#ifndef TEST_MODEL_FENCING_PARTS_H
#define TEST_MODEL_FENCING_PARTS_H

#include "model_fencing.h"

#include <stdint.h>

#define MASTERS 4
#define HOLDS 3
/* Of numbers in a canonical state: there is room for others between them. */
#define SPACING 16u

enum phase { ASKING, WON, TOLD }; /* WON: another majority may decide yet */
enum part {
    ASKED,
    GRANTED, /* before the token was told to the caller */
    BEHIND,  /* one of the majority that decides, and does not have the token */
    HAS,     /* has the token, and counts */
    LATE     /* granted too late to count */
};

/* What a master is to a hold. */
struct grant {
    uint8_t part;
    uint8_t number; /* which it named, or took; LATE: 0 */
};

struct master {
    uint8_t owner; /* 1 + the last hold that got the key; it may be gone since */
    uint8_t counter;
    uint8_t named; /* the greatest number that it named itself; kept for SEED_ABOVE_NAMED */
    uint8_t floor; /* strict: no token that it named or took is above it */
    uint8_t lost;  /* strict: it is not certified */
    uint8_t read;  /* strict, lost: the set of masters that were read for it */
    uint8_t found; /* the greatest floor of these */
    uint8_t refuses; /* strict: the set of holds that had begun when it was read last */
    uint8_t twin;    /* strict: 1 + the master to whose server its name leads; 0: to its own */
    /* kept where ids decide: */
    uint8_t of;    /* 1 + the master for whose loss it got its id; 0: for none that counts */
    uint8_t ids;   /* lost: the set of masters whose present ids were counted */
    uint8_t count; /* lost: of ids that were counted */
    struct grant grant[HOLDS];
};

struct hold {
    uint8_t phase;
    uint8_t token;
    uint8_t written; /* the token of the first majority that decided: masters are told that */
    uint8_t after;   /* the set of holds whose tokens were told before this one began */
};

struct state {
    struct master master[MASTERS];
    struct hold hold[HOLDS];
    uint8_t losses; /* of counters, that may yet happen */
    uint8_t was_set; /* a number of one master's */
};

/* The next number, above this one, that means something else: those that the state has, one
 * between each two of them, and one above all. False: there is none. */
bool fencing_next_number(const struct state *state, uint8_t *number);

uint8_t fencing_greatest(const struct state *state);

/* Only the order of numbers counts: equal orders become equal numbers. */
void fencing_number_anew(struct state *state);

#endif
