/* reconnect.c - see reconnect.h. Core. */
#include "config_auto.h"

#include "core/reconnect.h"

#include "base/limits.h"

#include <assert.h>
#include <stdbool.h>

#define MIN_NS (RL_RECONNECT_MIN_MS * RL_NS_PER_MS)
#define LATE_NS (100 * RL_NS_PER_MS)
#define LASTED_NS RL_NS_PER_S /* a connection that was UP for so long was stable */

/* Each failure to get up is a flaw as well, and only flaws raise the backoff. */
static void retry_assert(const struct rl_retry *retry)
{
    assert(retry->failures <= retry->flaws);
    assert(retry->backoff.failures <= retry->flaws);
    assert(retry->begun_ns >= 0 && retry->at_ns >= 0);
}

/* No refusal that lasts was the last word. */
static void accepted(struct rl_retry *retry)
{
    retry->refused = false;
    rl_backoff_reset(&retry->seldom);
}

void rl_retry_init(struct rl_retry *retry)
{
    *retry = (struct rl_retry){0};
    rl_backoff_init(&retry->backoff, MIN_NS, RL_RECONNECT_MAX_MS * RL_NS_PER_MS);
    rl_backoff_init(&retry->seldom, RL_REFUSED_MIN_MS * RL_NS_PER_MS,
                    RL_REFUSED_MAX_MS * RL_NS_PER_MS);
}

static void forgive(struct rl_retry *retry)
{
    retry->failures = retry->flaws = 0;
    rl_backoff_reset(&retry->backoff);
}

void rl_retry_begin(struct rl_retry *retry, int64_t now_ns)
{
    retry_assert(retry);
    if (now_ns - retry->at_ns > LATE_NS)
        forgive(retry);
    retry->begun_ns = now_ns;
}

void rl_retry_failed(struct rl_retry *retry, struct rl_prng *prng, int64_t now_ns)
{
    retry_assert(retry);
    int64_t at_ns = now_ns + rl_backoff_calm_ns(&retry->backoff, prng);
    assert(at_ns > now_ns); /* there must be a pause between two tries */
    accepted(retry);
    rl_retry_put_off(retry, at_ns);
}

void rl_retry_refused(struct rl_retry *retry, struct rl_prng *prng, int64_t now_ns)
{
    retry_assert(retry);
    retry->refused = true;
    rl_retry_put_off(retry, now_ns + rl_backoff_calm_ns(&retry->seldom, prng));
}

void rl_retry_lost(struct rl_retry *retry, struct rl_prng *prng, int64_t up_ns, int64_t now_ns)
{
    bool lasted = now_ns - up_ns >= LASTED_NS;
    retry_assert(retry);
    assert(up_ns >= 0);
    accepted(retry);
    retry->failures = 0;
    retry->at_ns = now_ns;
    if (lasted)
        forgive(retry);
    else if (retry->flaws++ > 0)
        retry->at_ns += rl_backoff_calm_ns(&retry->backoff, prng);
}

void rl_retry_anew(struct rl_retry *retry, int64_t now_ns)
{
    retry_assert(retry);
    accepted(retry);
    retry->failures = 0;
    retry->at_ns = now_ns;
}

void rl_retry_excuse(struct rl_retry *retry, int64_t now_ns)
{
    retry_assert(retry);
    forgive(retry);
    retry->at_ns = now_ns;
}

void rl_retry_put_off(struct rl_retry *retry, int64_t at_ns)
{
    assert(at_ns >= 0);
    retry->failures++;
    retry->flaws++;
    retry->at_ns = at_ns;
    retry_assert(retry);
}

void rl_retry_hasten(struct rl_retry *retry, int64_t now_ns)
{
    int64_t least_ns = retry->refused ? RL_REFUSED_NEEDED_MS * RL_NS_PER_MS : MIN_NS;
    int64_t soonest_ns = retry->begun_ns + least_ns;
    retry_assert(retry);
    if (soonest_ns < now_ns)
        soonest_ns = now_ns;
    if (soonest_ns < retry->at_ns)
        retry->at_ns = soonest_ns;
}
