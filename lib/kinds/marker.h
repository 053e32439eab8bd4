/* marker.h - the scripts by which a master proves that it still has its keys. These scripts
 * belong to the master, and to no lock: see core/marker.h. Core.
 */
#ifndef RL_KINDS_MARKER_H
#define RL_KINDS_MARKER_H

#include "kinds/server_keys.h"

/* Read them, at each connect and from time to time: nonce, database, window in ms. */
extern const char *const rl_marker_join;

/* The same of a master that can fail over: nonce, database, window in ms, vote, look or forgot, term. */
extern const char *const rl_marker_named;

/* `guard strict`: put before the text of each script that takes or keeps a lock. The last
 * arguments are the keys of the marker and of the quarantine, and the marker as it was read: the
 * whole text. */
extern const char *const rl_marker_strict;

/* Set the first marker: nonce, database, `new` or `replace`, and the term of a master that can fail
 * over. */
extern const char *const rl_marker_init;

#endif
