/* rw_scene.h - masters, two clients, and a lock to read and to write: what the tests of these
 * share. An owner of NULL is the calling thread. */
#ifndef TEST_RW_SCENE_H
#define TEST_RW_SCENE_H

#include "child.h"
#include "wait_scene.h"

#include <signal.h>

#define NAME "name"
#define MARK "{" NAME "}:redlock:writer"

/* "owner-0" and so on; good for as many as there may be. */
const char *owner(int number);

int try_read(redlock *client, const char *owner, int64_t wait_ms, redlock_lock **ret_lock);
int try_write(redlock *client, const char *owner, int64_t wait_ms, redlock_lock **ret_lock);

/* Must succeed at once. */
redlock_lock *read_as(redlock *client, const char *owner);
redlock_lock *write_as(redlock *client, const char *owner);
redlock_lock *rw_take_for(redlock *client, bool write, const char *owner, int64_t ttl_ms);

/* The rule itself, on so many masters: some read beside each other, through both clients, and
 * who writes is alone. */
void readers_share_and_writer_does_not(unsigned n);

/* On one master: how often it counts that owner, in Redisson's format. */
int held_by(const char *owner, bool write);

/* How long the lock itself lasts; a reader's lease (-2: it has run out). */
void expect_left(int64_t least_ms, int64_t most_ms);
int64_t lease_left(const char *owner, int index);

/* A majority's answers are enough for the caller: on several masters, wait for those of the
 * others. So many holds are then on each of those that run. */
bool held_everywhere(int count);
redlock_lock *everywhere(redlock_lock *lock, int count);

/* Wait until so many clients listen to the lock's channel; until a writer's mark is everywhere,
 * or nowhere. */
void await_listeners(int count);
void await_mark(bool there);

/* Has a majority that mark? */
bool marked(void);

/* What Redisson does: this field, and that mode, for 30 s. */
void rw_peer_takes(const char *field, const char *mode);

#endif
