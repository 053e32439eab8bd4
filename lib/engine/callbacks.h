/* callbacks.h - what users' callbacks are to be told: that an asynchronous call is done, that a
 * lock is lost. Told one at a time, in order, by whoever drives the client. Mutex held. */
#ifndef RL_CALLBACKS_H
#define RL_CALLBACKS_H

#include <redlock.h>

#include <pthread.h>
#include <stdbool.h>

struct rl_notice {
    struct rl_notice *next;
    bool posted;
    /* Tell it, between rl_notice_call_begin() and rl_notice_call_end(). */
    void (*tell)(redlock *client, struct rl_notice *notice);
};

struct rl_notices {
    struct rl_notice *first, *last;
    bool calling; /* a callback runs, on this thread */
    pthread_t caller;
    const void *about;     /* the lock whose loss it is told of, or NULL */
    pthread_cond_t called; /* signalled when it is back */
};

void rl_notice_post(redlock *client, struct rl_notice *notice);
void rl_notice_drop(redlock *client, struct rl_notice *notice); /* not posted: nothing */

/* Tell them all, unless another thread is about it. */
void rl_notices_tell(redlock *client);

/* Around a callback: the mutex is dropped in between. */
void rl_notice_call_begin(redlock *client, const void *about);
void rl_notice_call_end(redlock *client);

/* Is this thread inside a callback of this client? */
bool rl_notice_inside(const redlock *client);

/* Wait until no callback runs that is about this lock (unless we are inside it). */
void rl_notice_wait(redlock *client, const void *about);

#endif
