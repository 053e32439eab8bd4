/* kind.c - the table of kinds. Core. */
#include "config_auto.h"

#include "kind.h"

#include "scripts.h" /* generated from the .lua files in scripts/ */

static const struct rl_kind kinds[] = {
    [REDLOCK_PLAIN] =
        {
            .name = "plain",
            .script =
                {
                    [RL_ACQUIRE] = {"plain_acquire", rl_script_plain_acquire, true, true},
                    [RL_EXTEND] = {"plain_extend", rl_script_plain_extend, true, true},
                    [RL_RETAKE] = {"plain_retake", rl_script_plain_retake, true, true},
                    [RL_RELEASE] = {"plain_release", rl_script_plain_release, true, false},
                    [RL_INSPECT] = {"plain_inspect", rl_script_plain_inspect, false, false},
                    [RL_FORCE] = {"plain_force", rl_script_plain_force, false, false},
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
     * always do. */
    bool names_holder = (verb == RL_ACQUIRE || verb == RL_INSPECT) && !answer->granted;
    return answer->with_holder == names_holder;
}
