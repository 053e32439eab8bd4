/* kind.c - the table of kinds. Core. */
#include "config_auto.h"

#include "kind.h"

#include "limits.h"

#include "scripts.h" /* generated from the .lua files in scripts/ */

#include <string.h>

#define SCRIPT(script, keys, args)                                                             \
    {                                                                                          \
        #script, rl_script_##script, keys, args                                                \
    }

static const struct rl_kind kinds[RL_ROWS] = {
    [RL_ROW_PLAIN] =
        {
            .name = "plain",
            .shown = "plain lock",
            .channel = RL_CHANNEL_CLIENT,
            .script =
                {
                    [RL_ACQUIRE] = SCRIPT(plain_acquire, "n", "tT"),
                    [RL_EXTEND] = SCRIPT(plain_extend, "n", "tT"),
                    [RL_RETAKE] = SCRIPT(plain_retake, "n", "tT"),
                    [RL_RELEASE] = SCRIPT(plain_release, "nq", "tk"),
                    [RL_INSPECT] = SCRIPT(plain_inspect, "n", ""),
                    [RL_FORCE] = SCRIPT(plain_force, "nq", "k"),
                    [RL_WAIT] = SCRIPT(plain_wait, "nq", "tTwaq"),
                    [RL_LEAVE] = SCRIPT(plain_leave, "nq", "wk"),
                },
        },
};

const struct rl_kind *rl_kind(int row)
{
    return row >= 0 && row < RL_ROWS && kinds[row].name ? &kinds[row] : NULL;
}

const struct rl_kind *rl_kind_on(int kind, unsigned n)
{
    if (kind < REDLOCK_PLAIN || kind > REDLOCK_WRITE)
        return NULL;
    if (n > 1 && kind == REDLOCK_READ)
        return rl_kind(RL_ROW_QREAD);
    if (n > 1 && kind == REDLOCK_WRITE)
        return rl_kind(RL_ROW_QWRITE);
    return rl_kind(kind);
}

unsigned rl_kind_row(const struct rl_kind *kind)
{
    return (unsigned)(kind - kinds);
}

bool rl_kind_answer_fits(enum rl_verb verb, const struct rl_answer *answer)
{
    /* Only a refused acquire and an inspection of a held lock name a holder, and they
     * always do; who is queued is told the place. */
    bool acquires = rl_verb_of(verb) == RL_ACQUIRE;
    if (answer->code > RL_GRANTED && !acquires)
        return false;
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
