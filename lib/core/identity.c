/* identity.c - see identity.h. Core. */
#include "config_auto.h"

#include "core/identity.h"

#include "base/limits.h"

#include <assert.h>
#include <string.h>

/* Did a process of that uptime begin within the last `silent_ns`? INFO gives the uptime in
 * whole seconds, which errs by less than one, either way. Here it matters that it may be too
 * short; in trust.h, that it may be too long. */
static bool began_within(int64_t uptime_s, int64_t silent_ns)
{
    assert(silent_ns >= 0);
    return uptime_s >= 0 && uptime_s < silent_ns / RL_NS_PER_S;
}

static bool resynced(const struct rl_identity *identity, const struct rl_info *info)
{
    assert(identity->replication[sizeof(identity->replication) - 1] == '\0');
    assert(info->replication[sizeof(info->replication) - 1] == '\0');
    if (!identity->replication[0] || !info->replication[0] ||
        strcmp(identity->replication, info->replication) == 0)
        return false;
    return identity->replica || rl_info_is_replica(info) || info->second_offset >= 0;
}

/* R9, R22: An uptime shows a restart only if it began after the former last word. A process of
 * another term is no successor: its own look decides (marker.h). */
enum rl_news rl_identity_learn(struct rl_identity *identity, const struct rl_info *info,
                               uint64_t term, int64_t now_ns)
{
    enum rl_news news = RL_SAME;
    _Static_assert(sizeof(identity->run_id) == sizeof(info->run_id), "run_id");
    _Static_assert(sizeof(identity->replication) == sizeof(info->replication), "replication");
    assert(now_ns > 0);
    assert(info->run_id[sizeof(info->run_id) - 1] == '\0');
    if (!info->run_id[0])
        return RL_SAME;
    bool known = identity->run_id[0] != '\0';
    assert(identity->seen_ns <= identity->heard_ns && identity->heard_ns <= now_ns);
    assert(known || identity->seen_ns == 0);
    bool failed_over = known && identity->term != term;
    if (!known || failed_over || strcmp(identity->run_id, info->run_id) != 0) {
        if (failed_over)
            news = RL_FAILED_OVER;
        else if (known)
            news = began_within(info->uptime_s, now_ns - identity->heard_ns) ? RL_RESTARTED
                                                                            : RL_ANOTHER;
        identity->successor = known && !failed_over;
        identity->term = term;
        memcpy(identity->run_id, info->run_id, sizeof(identity->run_id));
        identity->seen_ns = now_ns;
    } else if (resynced(identity, info)) {
        news = RL_RESYNCED;
    }
    memcpy(identity->replication, info->replication, sizeof(identity->replication));
    identity->replica = rl_info_is_replica(info);
    identity->heard_ns = now_ns;
    return news;
}
