/* reconnect.h - when a connection that failed, or was lost, is made anew. Core. */
#ifndef RL_RECONNECT_H
#define RL_RECONNECT_H

#include "core/backoff.h"

#include <stdint.h>

struct rl_retry {
    struct rl_backoff backoff;
    unsigned failures; /* to get up, in a row, since it was up */
    unsigned flaws;    /* these, and the times that it was up for a moment only */
    int64_t at_ns;     /* when to try */
    int64_t begun_ns;  /* when it was tried last; 0: never */
};

void rl_retry_init(struct rl_retry *retry);

/* It is tried now. Long past its time, because nobody was there to do it or wanted it, what
 * made it fail is history. */
void rl_retry_begin(struct rl_retry *retry, int64_t now_ns);

/* It did not get up: later, and later each time. */
void rl_retry_failed(struct rl_retry *retry, struct rl_prng *prng, int64_t now_ns);

/* It is lost, having been up since `up_ns`: anew at once. But a server that answers and then
 * hangs up again and again is not worth a race. */
void rl_retry_lost(struct rl_retry *retry, struct rl_prng *prng, int64_t up_ns, int64_t now_ns);

/* Nobody looked since it was begun: whatever has become of it, anew at once (driven.h). */
void rl_retry_excuse(struct rl_retry *retry, int64_t now_ns);

/* Not before `at_ns`: sooner it would fail again. */
void rl_retry_put_off(struct rl_retry *retry, int64_t at_ns);

/* As soon as may be; only those who come and go in a hurry must not make it a storm. */
void rl_retry_hasten(struct rl_retry *retry, int64_t now_ns);

#endif
