/* old_client.h - what a client of the first version sends. It takes each plain lock by a script,
 * and knows neither markers nor quarantines. The calls return the masters that say yes, a bit
 * each. */
#ifndef TEST_OLD_CLIENT_H
#define TEST_OLD_CLIENT_H

#include "masters.h"

#include <stdint.h>

unsigned old_acquire(struct masters *masters, const char *name, const char *token,
                     int64_t ttl_ms);
unsigned old_extend(struct masters *masters, const char *name, const char *token,
                    int64_t ttl_ms);
/* A waiter that it wakes has the lock kept for it. */
unsigned old_release(struct masters *masters, const char *name, const char *token);

/* A whole round: without a majority it is undone. */
bool old_try(struct masters *masters, const char *name, const char *token, int64_t ttl_ms);

#endif
