/* server_keys.h - the keys that a server has of this library, beside those of locks: whether it
 * still has its keys (core/marker.h), which node lists its clients have (config/list_mark.h), and
 * whether it has its fencing counters (core/certify.h). Scripts are told their names. No lock's
 * name begins as these do (key_rules.c), and what another program keeps there is never written
 * over. Core.
 */
#ifndef RL_SERVER_KEYS_H
#define RL_SERVER_KEYS_H

#define RL_SERVER_KEYS_PREFIX "libredlock:"
#define RL_MARKER_KEY "libredlock:marker"
#define RL_QUARANTINE_KEY "libredlock:quarantine"
#define RL_LISTS_KEY "libredlock:lists"
#define RL_FENCING_KEY "libredlock:fencing"

struct rl_server_keys {
    const char *marker, *quarantine, *lists, *fencing;
};

/* Of a server that is a master by itself. */
extern const struct rl_server_keys rl_server_keys;

#endif
