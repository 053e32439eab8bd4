/* openssl_gate.c - see openssl_gate.h. */
#include "config_auto.h"

#include "base/openssl_gate.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Calls take milliseconds. One that reads a certificate from a dead file system is not waited
 * for any longer. */
#define PATIENCE_MS 2000

static atomic_uint inside;
static atomic_bool is_gone;

/* OpenSSL calls this before it frees anything: at exit(), or when the program ends it. */
static void close_gate(void)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    atomic_store(&is_gone, true);
    for (int ms = 0; ms < PATIENCE_MS && atomic_load(&inside) > 0; ms++)
        nanosleep(&moment, NULL);
}

/* The threads that were inside are not in the child. */
static void in_child(void)
{
    atomic_store(&inside, 0);
}

/* The handlers of OpenSSL's own parts must be there before ours, which then runs first. False: no
 * memory, or no OpenSSL. Whoever comes next tries again. */
static bool put_up(void)
{
    ERR_set_mark();
    bool done = OPENSSL_init_ssl(0, NULL) == 1 && OPENSSL_atexit(close_gate) == 1;
    ERR_pop_to_mark();
    return done && pthread_atfork(NULL, NULL, in_child) == 0;
}

/* Where it can't be put up, the caller goes on: what it calls has the reason. */
static void need_gate(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static atomic_bool is_up;
    if (atomic_load_explicit(&is_up, memory_order_acquire))
        return;
    pthread_mutex_lock(&mutex);
    if (!atomic_load(&is_up) && put_up())
        atomic_store_explicit(&is_up, true, memory_order_release);
    pthread_mutex_unlock(&mutex);
}

bool rl_openssl_enter(void)
{
    need_gate();
    atomic_fetch_add(&inside, 1);
    if (!atomic_load(&is_gone))
        return true;
    rl_openssl_leave();
    return false;
}

void rl_openssl_leave(void)
{
    atomic_fetch_sub(&inside, 1);
}
