/* told.h - callbacks that note down what they are told, and a little event loop that goes by
 * nothing but redlock_fd() and redlock_timeout_ms(). */
#ifndef TEST_TOLD_H
#define TEST_TOLD_H

#include "client.h"

#include <pthread.h>
#include <stdatomic.h>

/* What one callback was told. Start with zeros; written before `calls` is. */
struct told {
    int result; /* the last time */
    redlock_lock *lock;
    int64_t validity_ms; /* of the lock, inside */
    int64_t at_ms;
    unsigned place; /* the how manieth call of all of this program's, from 1 */
    pthread_t thread;
    atomic_int calls;
};

/* For redlock_*_async() and on_lost; the context is a struct told. */
void told_done(void *context, int result, redlock_lock *lock);
void told_lost(void *context, redlock_lock *lock);

/* Wait for events as long as the client says, at most `limit_ms`, and let it process them. */
void told_turn(redlock *client, int64_t limit_ms);

/* Turn until `condition` is true or `limit_ms` have passed: its last value. It has the
 * callbacks run in its turns only, also where the calls before it had begun a background
 * thread. */
#define turn_until(client, condition, limit_ms)                                                \
    ({                                                                                         \
        ck_assert_int_ge(redlock_fd(client), 0);                                               \
        int64_t turn_end_ = now_ms() + (limit_ms);                                             \
        bool turn_met_;                                                                        \
        while (!(turn_met_ = (condition)) && now_ms() < turn_end_)                             \
            told_turn(client, turn_end_ - now_ms());                                           \
        turn_met_;                                                                             \
    })

/* redlock_try_async() with a ttl of CLIENT_TTL_MS: must begin. Its id. */
uint64_t told_try(redlock *client, const char *name, int64_t wait_ms, struct told *told);

/* redlock_try() of a lock that is renewed, with told_lost as its on_lost: must succeed. */
redlock_lock *told_take_renewed(redlock *client, const char *name, int64_t ttl_ms,
                                struct told *lost);

#endif
