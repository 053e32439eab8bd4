/* kind.c - the table of kinds. Core. */
#include "config_auto.h"

#include "kind.h"

#include "limits.h"

#include "scripts.h" /* generated from the .lua files in scripts/ */

#include <string.h>

static const struct rl_kind kinds[] = {
    [REDLOCK_PLAIN] =
        {
            .name = "plain",
            .script =
                {
                    [RL_ACQUIRE] = {"plain_acquire", rl_script_plain_acquire, 1, "tT"},
                    [RL_EXTEND] = {"plain_extend", rl_script_plain_extend, 1, "tT"},
                    [RL_RETAKE] = {"plain_retake", rl_script_plain_retake, 1, "tT"},
                    [RL_RELEASE] = {"plain_release", rl_script_plain_release, 2, "tk"},
                    [RL_INSPECT] = {"plain_inspect", rl_script_plain_inspect, 1, ""},
                    [RL_FORCE] = {"plain_force", rl_script_plain_force, 2, "k"},
                    [RL_WAIT] = {"plain_wait", rl_script_plain_wait, 2, "tTwaq"},
                    [RL_LEAVE] = {"plain_leave", rl_script_plain_leave, 2, "wk"},
                },
        },
};

const struct rl_kind *rl_kind(int kind)
{
    if (kind < 0 || (size_t)kind >= sizeof(kinds) / sizeof(kinds[0]))
        return NULL;
    return &kinds[kind];
}

bool rl_kind_answer_fits(enum rl_verb verb, const struct rl_answer *answer)
{
    /* Only a refused acquire and an inspection of a held lock name a holder, and they
     * always do; who is queued is told the place. */
    bool acquires = rl_verb_of(verb) == RL_ACQUIRE;
    return answer->with_holder == ((acquires || verb == RL_INSPECT) && !answer->granted) &&
           answer->with_place == (verb == RL_WAIT && !answer->granted);
}

bool rl_kind_holder_is_kept(const char *holder, size_t len)
{
    return len > strlen(RL_KEPT_PREFIX) &&
           memcmp(holder, RL_KEPT_PREFIX, strlen(RL_KEPT_PREFIX)) == 0;
}

bool rl_kind_holder_wakes(const char *holder, size_t len)
{
    if (rl_kind_holder_is_kept(holder, len))
        return true;
    if (len <= 2 * RL_TOKEN_RANDOM_BYTES || holder[2 * RL_TOKEN_RANDOM_BYTES] != ':')
        return false;
    for (size_t i = 0; i < 2 * RL_TOKEN_RANDOM_BYTES; i++) {
        if (!((holder[i] >= '0' && holder[i] <= '9') || (holder[i] >= 'a' && holder[i] <= 'f')))
            return false;
    }
    return true;
}
