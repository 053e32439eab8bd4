/* wait_scene.h - masters, one who holds and another who waits: what the tests of waiting share. */
#ifndef TEST_WAIT_SCENE_H
#define TEST_WAIT_SCENE_H

#include "waiter.h"

extern struct masters *masters;
extern redlock *one, *two;
extern struct waiter waiter;

/* So many masters, and both clients ready on all of them. */
void open_masters(unsigned n);

/* Nothing is left on the masters; they and the clients end. */
void close_all(void);

#endif
