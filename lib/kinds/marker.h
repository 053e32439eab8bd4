/* marker.h - the keys and scripts by which a master proves that it still has its keys. They
 * belong to the master, and to no lock: see core/marker.h. Core.
 */
#ifndef RL_KINDS_MARKER_H
#define RL_KINDS_MARKER_H

#define RL_MARKER_KEY "redlock:marker"
#define RL_QUARANTINE_KEY "redlock:quarantine"

/* Read them, at each connect and from time to time: nonce, database, window in ms. */
extern const char *const rl_marker_join;

/* Set the first marker: nonce, database. */
extern const char *const rl_marker_init;

#endif
