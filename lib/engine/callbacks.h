/* callbacks.h - what users' callbacks are to be told: that an asynchronous call is done, that a
 * lock is lost. Told one at a time, in order, by whoever drives the client. Mutex held. */
#ifndef RL_CALLBACKS_H
#define RL_CALLBACKS_H

#include <redlock.h>

#include <pthread.h>
#include <stdbool.h>

struct rl_callback {
    struct rl_callback *next;
    bool queued;
    /* Tell it, between rl_callback_enter() and rl_callback_exit(). */
    void (*run)(redlock *client, struct rl_callback *callback);
};

struct rl_callbacks {
    struct rl_callback *first, *last;
    bool calling; /* a callback runs, on this thread */
    pthread_t caller;
    const void *about;     /* the lock whose loss it is told of, or NULL */
    pthread_cond_t called; /* signalled when it is back */
};

void rl_callback_enqueue(redlock *client, struct rl_callback *callback);
void rl_callback_remove(redlock *client,
                        struct rl_callback *callback); /* not posted: nothing */

/* Tell them all, unless another thread is about it. */
void rl_callbacks_run(redlock *client);

/* Around a callback: the mutex is dropped in between. */
void rl_callback_enter(redlock *client, const void *about);
void rl_callback_exit(redlock *client);

/* Is this thread inside a callback of this client? */
bool rl_in_callback(const redlock *client);

/* Wait until no callback runs that is about this lock (unless we are inside it). */
void rl_callback_wait(redlock *client, const void *about);

#endif
