/* ttl_check.c - can a lock last so long on this client, and keep others out for so long? */
#include "config_auto.h"

#include "api/try.h"

#include "core/hold.h"
#include "engine/client/client.h"

#include <assert.h>

/* R7: The TTL and the lock-delay together live for max-ttl at most. */
int64_t rl_client_max_ttl_ms(const struct rl_config *config, const struct rl_kind *kind)
{
    int64_t max_ms = config->max_ttl_ms;
    assert(kind && config->lock_delay_ms >= 0 && config->lock_delay_ms < max_ms);
    if (kind->max_ttl_ms && kind->max_ttl_ms < max_ms)
        max_ms = kind->max_ttl_ms;
    return max_ms > config->lock_delay_ms ? max_ms - config->lock_delay_ms : 0;
}

static const char *less_delay(const redlock *client)
{
    return client->config.lock_delay_ms > 0 ? " less lock-delay" : "";
}

int rl_ttl_check(redlock *client, const struct rl_kind *kind, int64_t ttl_ms)
{
    const struct rl_config *config = &client->config;
    int64_t max_ms = rl_client_max_ttl_ms(&client->config, kind);
    if (ttl_ms >= RL_TTL_MIN_MS && ttl_ms <= max_ms &&
        rl_validity_possible(ttl_ms * RL_NS_PER_MS, config->drift_factor))
        return 0;
    rl_client_log(client, REDLOCK_LOG_ERROR,
                  "a ttl of %lld ms is not possible: it must be at least %d ms, above the "
                  "drift and at most %lld ms (%s%s)",
                  (long long)ttl_ms, RL_TTL_MIN_MS, (long long)max_ms,
                  kind->max_ttl_ms && kind->max_ttl_ms < config->max_ttl_ms
                      ? "what this kind allows"
                      : "max-ttl",
                  less_delay(client));
    return REDLOCK_EINVAL;
}

static int64_t at_least_max_ms(const redlock *client, const struct rl_kind *kind)
{
    return rl_keep_max_ms(rl_client_max_ttl_ms(&client->config, kind),
                          client->config.drift_factor);
}

int64_t rl_at_least_max_ms(const redlock *client, int kind)
{
    return at_least_max_ms(client, rl_kind_on(kind, client->nodes.n));
}

int rl_at_least_check(redlock *client, const struct rl_kind *kind, int64_t at_least_ms)
{
    int64_t max_ms = at_least_max_ms(client, kind);
    if (at_least_ms >= 0 && at_least_ms <= max_ms)
        return 0;
    rl_client_log(
        client, REDLOCK_LOG_ERROR,
        "at_least of %lld ms is not possible: it must be 0 (no longer than it is held) "
        "or more, and at most %lld ms, for which one lease of %lld ms (the longest: "
        "%s%s) keeps others out by any clocks",
        (long long)at_least_ms, (long long)max_ms,
        (long long)rl_client_max_ttl_ms(&client->config, kind),
        kind->max_ttl_ms && kind->max_ttl_ms < client->config.max_ttl_ms ? "this kind's"
                                                                         : "max-ttl",
        less_delay(client));
    return REDLOCK_EINVAL;
}
