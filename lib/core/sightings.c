/* sightings.c - see sightings.h. Core. */
#include "config_auto.h"

#include "core/sightings.h"

#include <assert.h>
#include <string.h>

static bool is_former(const struct rl_sightings *sightings, const char *run_id)
{
    for (unsigned i = 0; i < RL_SIGHTINGS_FORMER; i++) {
        if (strcmp(sightings->former[i], run_id) == 0)
            return true;
    }
    return false;
}

static void succeed(struct rl_sightings *sightings, const char *run_id, int64_t now_ns)
{
    if (sightings->last[0] && !is_former(sightings, sightings->last)) {
        memcpy(sightings->former[sightings->next], sightings->last, RL_RUN_ID_SIZE);
        sightings->next = (sightings->next + 1) % RL_SIGHTINGS_FORMER;
    }
    memcpy(sightings->last, run_id, strlen(run_id) + 1);
    sightings->last_ns = now_ns;
}

/* R7: True: a former process answers again, behind its successor. */
bool rl_sightings_learn(struct rl_sightings *sightings, const char *run_id, int64_t sent_ns,
                        int64_t now_ns)
{
    assert(now_ns > 0 && strlen(run_id) < RL_RUN_ID_SIZE);
    if (!run_id[0])
        return false;
    if (strcmp(sightings->last, run_id) == 0) {
        sightings->last_ns = now_ns;
        return false;
    }
    /* What was asked before the last one answered may have been answered before it, too. */
    if (sightings->last[0] && sent_ns < sightings->last_ns)
        return false;
    bool again = is_former(sightings, run_id);
    succeed(sightings, run_id, now_ns);
    if (again)
        sightings->two_ns = now_ns;
    return again;
}

bool rl_sightings_two(const struct rl_sightings *sightings, int64_t window_ns, int64_t now_ns)
{
    return sightings->two_ns > 0 && now_ns - sightings->two_ns < window_ns;
}
