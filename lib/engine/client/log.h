/* log.h - the user's log, and the last errors of a few threads. A thread's error text is kept,
 * because often nobody has set a log. */
#ifndef RL_LOG_H
#define RL_LOG_H

#include <redlock.h>

#include <pthread.h>

#define RL_ERRORS_KEPT 8 /* of so many threads */

struct rl_log {
    redlock_log_fn *write; /* NULL: no log */
    void *context;
    int level;
    struct rl_log_error {
        pthread_t thread;
        char text[sizeof(((redlock_error *)0)->text)]; /* empty: none so far */
    } error[RL_ERRORS_KEPT];
    unsigned next_error; /* the oldest one */
};

/* The last error of this thread; empty: there was none, or others have had many since. */
const char *rl_log_last_error(const struct rl_log *log);

/* One line of it. */
void rl_client_log(void *client, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
