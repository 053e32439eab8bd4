/* ours.h - the library as a client of tests/interop/suite.py: what its parts share. */
#ifndef OURS_H
#define OURS_H

#include <redlock.h>

#include <stdbool.h>

#define OURS_LINE 4096  /* bytes of a line, at most */
#define OURS_WORDS 80   /* words in one */
#define OURS_HOLDS 64   /* at a time, of one thread */
#define OURS_ANSWER 256 /* bytes of an answer */

struct ours_hold {
    redlock_lock *lock;
    int kind;
    char name[128];
};

/* Who acts: a thread, and an owner of locks. */
struct ours_actor {
    redlock *client;
    char owner[128]; /* empty: the thread */
    unsigned held;
    struct ours_hold hold[OURS_HOLDS]; /* the newest last */
};

/* Do what the line says; the answer has no newline. */
void ours_answer(struct ours_actor *actor, int count, char **words, char *ret_answer);

/* `pairs` or `callbacks` PREFIX COUNT MS: COUNT users, each in a thread of its own or all by
 * callbacks, take and release locks of their own for that long. Answers "ok PAIRS US". */
void ours_pairs(redlock *client, bool threads, char **words, char *ret_answer);

#endif /* OURS_H */
