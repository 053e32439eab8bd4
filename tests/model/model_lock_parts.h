/* model_lock_parts.h - the state of the model of the lock, for its two files: model_lock.c has
 * masters and time, model_lock_holds.c what clients and their requests do. */
#ifndef TEST_MODEL_LOCK_PARTS_H
#define TEST_MODEL_LOCK_PARTS_H

#include "model_lock.h"

#include <stdint.h>

#define MASTERS 4
#define HOLDS 3

enum phase { FREE, ASKING, HELD, OVER };
enum request { NONE, UNDER_WAY, ANSWERED, COUNTED };

/* What is between the client of a hold and a master. */
struct link {
    uint8_t round;   /* the request of this round; an answer is always a yes */
    uint8_t late;    /* a request that takes the key, and can't count any more, is under way */
    uint8_t release; /* so is a release */
    uint8_t mute;    /* for how long the master casts no vote for this client */
    uint8_t apart;   /* with a marker: this client has not read it since the connection ended */
    uint8_t heard;   /* this client has heard from it since its successor started */
};

struct master {
    uint8_t owner; /* of the key: 1 + hold; 0: there is none */
    uint8_t left;  /* how long the key lasts at most */
    uint8_t spare; /* how long another server has been up, which is to get its name; 0: none */
    uint8_t unmarked, quarantine; /* with a marker: it is gone; how long all wait at most */
    struct link link[HOLDS];
};

struct hold {
    uint8_t phase, ttl;
    uint8_t age;  /* of the open round, since t0 */
    uint8_t left; /* HELD: its validity */
    bool extending;
    bool passed; /* its validity was over, and another one was valid since */
};

struct state {
    struct master master[MASTERS];
    struct hold hold[HOLDS];
    uint8_t losses; /* of keys, that may yet happen */
};

extern const char *const lock_client[HOLDS];
#define NAME(master) ((int)('A' + (int)(master)))

bool lock_may_be_free(const struct lock_rules *rules, const struct master *master);
bool lock_votes(const struct lock_rules *rules, const struct state *state, unsigned m,
                unsigned h);
void lock_set_key(const struct lock_rules *rules, struct state *state, unsigned m, unsigned h);
void lock_lose_key(struct state *state, unsigned m);

/* Some validity has changed: what is over is remembered, where another hold is valid now. */
void lock_note_validity(struct state *state);
void lock_end_round(struct state *state, unsigned h, bool comes_late);
void lock_end_hold(const struct lock_rules *rules, struct state *state, unsigned h);

/* All that one client, and what it has sent, can do next. */
void lock_hold_moves(const struct lock_rules *rules, const struct state *state, unsigned h,
                     struct explorer *explorer);

#endif
