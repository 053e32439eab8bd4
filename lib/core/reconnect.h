/* reconnect.h - when to reconnect after a failed connect or a lost connection. Core.
 *
 * A refusal that passes by itself is tried again soon. A refusal that lasts until a person mends
 * it (refusal.h) is tried seldom, because such tries must not load the server or fill its logs.
 * */
#ifndef RL_RECONNECT_H
#define RL_RECONNECT_H

#include "core/backoff.h"

#include <stdbool.h>
#include <stdint.h>

struct rl_retry {
    struct rl_backoff backoff;
    struct rl_backoff seldom; /* after refusals that last */
    bool refused;             /* the last connect ended in one */
    unsigned failures; /* failed connects in a row since it was up */
    unsigned flaws;    /* failed connects, and connections that were up only briefly */
    int64_t at_ns;     /* when to try */
    int64_t begun_ns;  /* when it was tried last; 0: never */
};

void rl_retry_init(struct rl_retry *retry);

/* A connect begins. If it was due long ago, because nobody polled or needed the connection,
 * earlier failures are forgotten. */
void rl_retry_begin(struct rl_retry *retry, int64_t now_ns);

/* The connect failed: wait, and longer each time. */
void rl_retry_failed(struct rl_retry *retry, struct rl_prng *prng, int64_t now_ns);

/* The server, or what is known of it, refused what only a person can mend. */
void rl_retry_refused(struct rl_retry *retry, struct rl_prng *prng, int64_t now_ns);

/* The connection, up since `up_ns`, is lost: reconnect at once. But back off from a server that
 * answers and then hangs up again and again. */
void rl_retry_lost(struct rl_retry *retry, struct rl_prng *prng, int64_t up_ns, int64_t now_ns);

/* It has answered, and is to be connected to once more, at once. */
void rl_retry_anew(struct rl_retry *retry, int64_t now_ns);

/* Nobody polled since the connect began: whatever its result, try again at once (driven.h). */
void rl_retry_excuse(struct rl_retry *retry, int64_t now_ns);

/* Do not try before `at_ns`: an earlier try would fail again. */
void rl_retry_put_off(struct rl_retry *retry, int64_t at_ns);

/* Something needs it: try as soon as possible, but callers that come and go quickly must not
 * cause a storm of connects. A server that refused gets one in RL_REFUSED_NEEDED_MS. */
void rl_retry_hasten(struct rl_retry *retry, int64_t now_ns);

#endif
