/* scripts_scene.h - one lock on a master, clients that hold it, wait for it and listen, and
 * who is called. What the tests of waking share. */
#ifndef TEST_SCRIPTS_SCENE_H
#define TEST_SCRIPTS_SCENE_H

#include "script_talk.h"

#define LOCK "orders:42"
#define QUEUE "{" LOCK "}" RL_QUEUE_SUFFIX

/* Clients count from 1, in the order of how long they have waited. */
enum { TTL_MS = 60000, KEEP_MS = 20000, CLIENTS = 4 };

extern struct masters *scripts_masters; /* two; only the first is played on */
extern struct talk talk;        /* with the first */
extern struct talk ears[CLIENTS + 1];
extern unsigned listening; /* bits: which of the ears are open */

/* Fixtures: the masters, once; connections and an empty master, for each test. */
void scripts_start(void);
void scripts_stop(void);
void scripts_begin(void);
void scripts_end(void);

void listen_as(unsigned client);

/* Run a script as that client's waiter 1, whose token is its waiter's name too. */
struct script_told as(struct talk *via, unsigned client, enum rl_verb verb, int64_t reserve_ms);

/* The same over `talk`, with KEEP_MS: granted, done? No error. */
int yes(unsigned client, enum rl_verb verb);

/* Client 1 takes the lock, and all the others wait. */
void contend(void);

/* Which client was called since the last look; 0: none. Nobody else may have been. */
unsigned called(void);

int64_t lock_left_ms(void); /* -2: nobody has it */
int64_t queue_len(void);

/* For which client is the lock kept? 0: for none, as it is free. It must not be held. */
unsigned kept_for(void);

#endif
