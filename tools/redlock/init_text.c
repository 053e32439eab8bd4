/* init_text.c - see init_text.h. Pure. */
#include "config_auto.h"

#include "redlock/init_text.h"

#include "kinds/fencing.h"
#include "kinds/marker.h"
#include "kinds/script_error.h"

#include <stdio.h>
#include <string.h>

#define ERROR_MAX 224

static const char nonsense[] = "it answered something that was not asked for";

const char *init_not_marked(const char nonce[RL_NONCE_LEN], const struct rl_reply *reply,
                            bool *ret_stands)
{
    static const char *const stands[][2] = {
        {"marker", "it has a marker already"},
        {"quarantine",
         "it is quarantined: somebody found keys lost there; it votes by itself later"},
        {"strange", "what stands in " RL_QUARANTINE_KEY
                    " is another program's, or was set by hand: when it is gone, or deleted, "
                    "try again"},
        {"keys", "it has keys in this database: they may be locks, or what is left of them"},
        {"foreign",
         RL_MARKER_KEY " is another program's: when it is gone, or deleted, try again"},
        {"replica", "it is a replica"},
        {"nameless", "it names no run_id inside of a script"},
    };
    if (reply->type != RL_REPLY_ARRAY || reply->count != 3 ||
        !rl_part_is(reply, 0, nonce, RL_NONCE_LEN))
        return nonsense;
    if (rl_part_is(reply, 1, "done", 4))
        return NULL;
    *ret_stands = true;
    for (size_t i = 0; i < sizeof(stands) / sizeof(stands[0]); i++) {
        if (rl_part_is(reply, 1, stands[i][0], strlen(stands[i][0])))
            return stands[i][1];
    }
    return nonsense;
}

void init_why(bool script, bool fences, const char *error, char ret_why[INIT_WHY_MAX])
{
    const struct rl_script failed = {
        .name = fences ? "fence_join" : "marker_init",
        .body = (const char *const[]){fences ? rl_fence_join : rl_marker_init, NULL},
    };
    char readable[ERROR_MAX];
    if (script)
        rl_script_error(&failed, false, false, error, readable, sizeof(readable));
    else
        snprintf(readable, sizeof(readable), "%s", error);
    snprintf(ret_why, INIT_WHY_MAX, "%s%s", readable,
             rl_script_error_denies(error)
                 ? "; give the user what redlock status --acl --kinds init prints"
                 : "");
}
