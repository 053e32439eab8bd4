/* openssl_gate.c - see openssl_gate.h. */
#include "config_auto.h"

#include "base/openssl_gate.h"

#include <openssl/crypto.h>
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

/* The handlers of OpenSSL's own parts must be there before ours, which then runs first. */
static void put_up(void)
{
    if (OPENSSL_init_ssl(0, NULL) != 1)
        return; /* no OpenSSL: the next call has the reason */
    if (OPENSSL_atexit(close_gate) != 1 || pthread_atfork(NULL, NULL, in_child) != 0)
        atomic_store(&is_gone, true);
}

bool rl_openssl_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, put_up);
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
