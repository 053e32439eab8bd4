/* presence.c - see presence.h. Core. */
#include "config_auto.h"

#include "core/presence.h"

#include "base/limits.h"

#include <assert.h>

enum { GONE, BACK };

void rl_presence_init(struct rl_presence *presence, int64_t now_ns)
{
    assert(now_ns >= 0);
    *presence = (struct rl_presence){.away = true, .since_ns = now_ns, .seen_ns = now_ns};
}

void rl_presence_votes(struct rl_presence *presence, int64_t now_ns)
{
    if (!presence->away)
        return;
    presence->away = false;
    presence->back_ns = now_ns;
}

void rl_presence_away(struct rl_presence *presence, int64_t since_ns, int64_t now_ns)
{
    assert(since_ns <= now_ns);
    if (presence->away)
        return;
    presence->away = true;
    presence->since_ns = since_ns;
    presence->seen_ns = now_ns;
    presence->back_ns = 0;
}

int64_t rl_presence_away_since_ns(const struct rl_presence *presence, int64_t at_ns)
{
    bool was = at_ns >= presence->since_ns && (presence->away || at_ns < presence->back_ns);
    return was ? presence->since_ns : -1;
}

int64_t rl_presence_due_ns(const struct rl_presence *presence)
{
    if (presence->away == presence->told_away)
        return INT64_MAX;
    int64_t due_ns = presence->again_ns[presence->away ? GONE : BACK];
    int64_t lasts_ns = presence->away ? presence->seen_ns + RL_AWAY_TOLD_NS : 0;
    return due_ns > lasts_ns ? due_ns : lasts_ns;
}

enum rl_presence_news rl_presence_tell(struct rl_presence *presence, int64_t now_ns)
{
    if (now_ns < rl_presence_due_ns(presence))
        return RL_PRESENCE_NONE;
    presence->told_away = presence->away;
    presence->again_ns[presence->away ? GONE : BACK] = now_ns + RL_AWAY_AGAIN_NS;
    return presence->away ? RL_PRESENCE_GONE : RL_PRESENCE_BACK;
}
