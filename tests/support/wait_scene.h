/* wait_scene.h - masters, one who holds and another who waits: what the tests of waiting share.
 */
#ifndef TEST_WAIT_SCENE_H
#define TEST_WAIT_SCENE_H

#include "clients.h"
#include "proxy.h"
#include "waiter.h"

extern struct waiter waiter;

/* So many masters, and both clients ready on all of them. */
void open_masters(unsigned n);

/* One master, and the second client reaches it by way of this proxy, which the caller stops. */
struct proxy *open_with_proxy(void);

/* One more client that is ready on all of them: the caller closes it. */
redlock *open_third(void);

/* The first has "name", and `waiter` of the second is in its queue for at most 30 s. */
redlock_lock *hold_and_wait(void);

/* From then on it looks once a second, and asks nothing else. */
void expect_quiet(redlock *client);

/* Nothing is left on the masters; they and the clients end. */
void close_all(void);
#define OPEN_MASTERS(n)                                                                        \
    AT_BLOCK_END(close_all);                                                                   \
    open_masters(n)

#endif
