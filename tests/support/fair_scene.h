/* fair_scene.h - one master, a fair lock on it, and its queue: what the tests of fair locks
 * share. The lock's name is FAIR_NAME throughout. */
#ifndef TEST_FAIR_SCENE_H
#define TEST_FAIR_SCENE_H

#include "channel_scene.h"
#include "child.h"
#include "fair_peer.h"

#define FAIR_NAME "name"
#define FAIR_QUEUE "redisson_lock_queue:{" FAIR_NAME "}"
#define FAIR_TIMES "redisson_lock_timeout:{" FAIR_NAME "}"
#define FAIR_SEEN "{" FAIR_NAME "}:redlock:seen"

enum {
    FAIR_LONG_MS = 60000,
    FAIR_LEASE_MS = 30000, /* of fair_hold() */
    FAIR_SOON_MS = 10000,
    FAIR_PROBE_MS = 1000,
    FAIR_PEERS = 3
};

/* One master, both clients ready; nothing may be left on it, and it ends. */
void fair_open(void);
void fair_close(void);
#define FAIR_OPEN()                                                                            \
    AT_BLOCK_END(fair_close);                                                                  \
    fair_open()

redlock_lock *fair_hold(redlock *client, const char *owner);

/* A thread that waits; when this returns it is in the queue, behind all that were. */
void fair_wait(struct waiter *who, redlock *client, const char *owner);

/* It listens for its turn: with its owner, NULL for one whose owner is its thread. */
void fair_hears(const char *owner);

long long fair_queued(void);
void fair_queue_becomes(long long count);

/* Who is at that place: good until the next call. */
const char *fair_queued_at(int place);

/* Until when is it waited for, in ms from now? Of one in the queue. */
int64_t fair_left_ms(const char *owner);

/* Everybody in the queue has been silent for so long more; has been in it for so long more. */
void fair_silence(const char *owner, int64_t ms);
void fair_age(int64_t ms);

/* The calling process's child waits as `owner`, notes its name down when it has the lock
 * (RPUSH "order"), and gives it back. */
struct child fair_child(const char *owner);

/* What a try of `owner` sends, for script_run(). */
struct script_call fair_call(const char *owner);

/* One of Redisson's, on a connection of its own that fair_close() closes. */
struct fair_peer fair_peer_open(const char *owner);

#endif
