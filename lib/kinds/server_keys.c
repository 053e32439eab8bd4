/* server_keys.c - see server_keys.h. Core. */
#include "config_auto.h"

#include "kinds/server_keys.h"

const struct rl_server_keys rl_server_keys = {
    .marker = RL_MARKER_KEY,
    .quarantine = RL_QUARANTINE_KEY,
    .lists = RL_LISTS_KEY,
    .fencing = RL_FENCING_KEY,
};
