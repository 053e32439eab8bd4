/* reentrant_scene.h - reentrant locks on real masters, and what stands there for them: what their
 * tests share. */
#ifndef TEST_REENTRANT_SCENE_H
#define TEST_REENTRANT_SCENE_H

#include "wait_scene.h"

/* Tests run with one master and with three. */
extern const unsigned sizes[2];

/* Take "name" on all masters; `owner` NULL: the calling thread. */
redlock_lock *take(redlock *client, const char *owner);
redlock_lock *take_for(redlock *client, const char *owner, int64_t ttl_ms);

/* Is it to be had for that owner? What was taken for that is given back. */
int try_once(redlock *client, const char *owner);

/* The count of its owner at a master, as Redisson would see it; 0: nobody has it. */
long long count_at(unsigned node);

/* That, on all masters that run, within a moment; and as many tokens beside it. */
void count_becomes(long long count);

/* Its owner at the first master; the next call overwrites it. */
const char *owner_there(void);

/* The least time that its keys have left on any master that runs; the longest. */
long long least_left_ms(void);
long long most_left_ms(void);

#endif
