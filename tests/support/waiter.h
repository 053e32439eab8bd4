/* waiter.h - threads that wait for a lock, and what their waiting leaves on the masters. */
#ifndef TEST_WAITER_H
#define TEST_WAITER_H

#include "client.h"
#include "masters.h"

#include <pthread.h>
#include <stdatomic.h>

struct waiter {
    redlock *client;
    const char *name;
    int kind;
    const char *owner;
    const char *const *names; /* several at once: name_count of them; or NULL */
    size_t name_count;
    int64_t wait_ms;
    pthread_t thread;
    atomic_bool back; /* its call has returned; all below is good from then on */
    int code;
    redlock_lock *lock;
    int64_t begun_ms, back_ms;
    /* Its client's, and the time, when waiter_mark() was called. */
    uint64_t marked_wakes, marked_probes;
    int64_t marked_ms;
};

/* It stands in its client's line when this returns: behind those that were started before. */
void waiter_start(struct waiter *waiter, redlock *client, const char *name, int64_t wait_ms);

/* The same for a lock of another kind; `owner` NULL: the thread. */
void waiter_start_as(struct waiter *waiter, redlock *client, const char *name, int kind,
                     const char *owner, int64_t wait_ms);

/* The same for several names at once, which stay the caller's. */
void waiter_start_all(struct waiter *waiter, redlock *client, const char *const names[],
                      size_t count, int64_t wait_ms);

/* Is it back before the limit? Its thread is not waited for otherwise. */
bool waiter_is_back(struct waiter *waiter, int64_t limit_ms);

/* Expect it to have the lock before the limit: its thread ends, and the lock is given up. */
void waiter_expect_lock(struct waiter *waiter, int64_t limit_ms);

/* The same of all of these, one after the other. None is back before those that came first. */
void waiters_expect_in_turn(struct waiter waiters[], int count, int64_t limit_ms);

/* Call it right before that which wakes the waiter. */
void waiter_mark(struct waiter *waiter);

/* The same as waiter_expect_lock(), and that `wakes` messages at least have woken its client
 * since waiter_mark(). It may not have found out by itself: it first looks a second after it
 * began to wait. */
void waiter_expect_woken(struct waiter *waiter, uint64_t wakes);

/* Expect it to end with `code` before the limit. */
void waiter_expect_code(struct waiter *waiter, int code, int64_t limit_ms);

/* Take it on every running master, where client_take() is content with a majority: whoever
 * waits is queued where it is refused, and nowhere else. */
redlock_lock *take_everywhere(struct masters *masters, redlock *client, const char *name);

/* Are so many in the name's queue? At a majority of all masters, and nowhere more: one that is
 * listened to later than others may be entered later, too. 0: no running master has it. */
bool queue_is(struct masters *masters, const char *name, long long count);

/* Wait for that. */
void queue_becomes(struct masters *masters, const char *name, long long count);

/* All running masters are without a key within a moment, far below any queue's TTL. */
void nothing_is_left(struct masters *masters);

#endif
