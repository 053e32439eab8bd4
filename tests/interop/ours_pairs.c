/* ours_pairs.c - locks that are taken and released as fast as they go, for rates.py. */
#include "config_auto.h"

#include "ours.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { USERS_MAX = 1024, NAME_LEN = 160 };

struct run {
    redlock *client;
    int64_t until_us;
    atomic_ullong pairs;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    unsigned active; /* under the mutex */
};

/* Each has a name of its own, and one lock at a time. */
struct user {
    struct run *run;
    char name[NAME_LEN];
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void end_one(struct run *run)
{
    pthread_mutex_lock(&run->mutex);
    if (--run->active == 0)
        pthread_cond_signal(&run->ended);
    pthread_mutex_unlock(&run->mutex);
}

/* ---- a thread each ---------------------------------------------------------------------- */

static void *blocking(void *context)
{
    struct user *user = context;
    struct run *run = user->run;
    redlock_lock *lock;
    while (now_us() < run->until_us) {
        if (redlock_try(run->client, user->name, NULL, &lock) == 0 &&
            redlock_release(lock) == 0)
            atomic_fetch_add(&run->pairs, 1);
    }
    end_one(run);
    return NULL;
}

static bool start_blocking(struct user *user)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, blocking, user) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

/* ---- callbacks, on one thread ------------------------------------------------------------ */

static bool take(struct user *user);

static void released(void *context, int result, redlock_lock *lock)
{
    struct user *user = context;
    (void)lock;
    if (result == 0)
        atomic_fetch_add(&user->run->pairs, 1);
    if (now_us() >= user->run->until_us || !take(user))
        end_one(user->run);
}

static void taken(void *context, int result, redlock_lock *lock)
{
    if (result == 0 && redlock_release_async(lock, released, context) == 0)
        return;
    released(context, result == 0 ? REDLOCK_ENOMEM : result, NULL);
}

static bool take(struct user *user)
{
    return redlock_try_async_n(user->run->client, user->name, strlen(user->name), NULL, taken,
                               user, NULL) == 0;
}

/* ----------------------------------------------------------------------------------------- */

void ours_pairs(redlock *client, bool threads, char **words, char *ret_answer)
{
    struct run run = {.client = client, .active = 0};
    unsigned long count = strtoul(words[2], NULL, 10);
    int64_t begun_us = now_us();
    struct user *users = calloc(USERS_MAX, sizeof(*users));
    if (!users || count == 0 || count > USERS_MAX)
        exit(1);
    run.until_us = begun_us + strtoll(words[3], NULL, 10) * 1000;
    run.active = (unsigned)count;
    pthread_mutex_init(&run.mutex, NULL);
    pthread_cond_init(&run.ended, NULL);
    for (unsigned long i = 0; i < count; i++) {
        users[i].run = &run;
        (void)snprintf(users[i].name, NAME_LEN, "%.100s:%lu", words[1], i);
        if (!(threads ? start_blocking(&users[i]) : take(&users[i])))
            exit(1);
    }
    pthread_mutex_lock(&run.mutex);
    while (run.active > 0)
        pthread_cond_wait(&run.ended, &run.mutex);
    pthread_mutex_unlock(&run.mutex);
    (void)snprintf(ret_answer, OURS_ANSWER, "ok %llu %lld", atomic_load(&run.pairs),
                   (long long)(now_us() - begun_us));
    free(users);
}
