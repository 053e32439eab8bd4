/* callbacks.h - the queue of users' callbacks: an asynchronous call is done, a lock is lost.
 * The thread that runs the loop calls them one at a time, in order. The mutex must be held. */
#ifndef RL_CALLBACKS_H
#define RL_CALLBACKS_H

#include "base/list.h"

#include <redlock.h>

#include <pthread.h>
#include <stdbool.h>

struct rl_callback {
    struct rl_entry entry; /* in callbacks->queue, or in none */
    /* Call the user, between rl_callback_enter() and rl_callback_exit(). */
    void (*run)(redlock *client, struct rl_callback *callback);
};

struct rl_callbacks {
    struct rl_list queue;
    bool calling; /* a callback runs, on this thread */
    pthread_t caller;
    const void *about;     /* the lock whose loss it reports, or NULL */
    pthread_cond_t called; /* signalled when it has returned */
};

void rl_callback_enqueue(redlock *client, struct rl_callback *callback);

/* Take it out of the queue, if it is there. */
void rl_callback_remove(struct rl_callbacks *callbacks, struct rl_callback *callback);

/* Run all that are queued, unless another thread does so now. */
void rl_callbacks_run(redlock *client);

/* Around a callback: the mutex is dropped in between. */
void rl_callback_enter(redlock *client, const void *about);
void rl_callback_exit(redlock *client);

/* Is this thread inside a callback of this client? */
bool rl_in_callback(const struct rl_callbacks *callbacks);

/* Wait until no callback about this lock runs, unless this thread is inside it. */
void rl_callback_wait(redlock *client, const void *about);

#endif
