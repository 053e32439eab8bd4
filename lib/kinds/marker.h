/* marker.h - the keys and scripts by which a master proves that it still has its keys. The keys
 * and scripts belong to the master, and to no lock: see core/marker.h. Core.
 */
#ifndef RL_KINDS_MARKER_H
#define RL_KINDS_MARKER_H

#define RL_MARKER_KEY "redlock:marker"
#define RL_QUARANTINE_KEY "redlock:quarantine" /* marker_strict.lua has both names, too */

/* Read them, at each connect and from time to time: nonce, database, window in ms. */
extern const char *const rl_marker_join;

/* `guard strict`: put before the text of each script that takes or keeps a lock. One argument
 * more, the last one, is the marker as it was read: the whole text. */
extern const char *const rl_marker_strict;

/* Set the first marker: nonce, database. */
extern const char *const rl_marker_init;

#endif
