/* lists.h - the script by which clients tell each other, at a master, which node list they have
 * (config/list_mark.h). The script belongs to the master, and to no lock. Core.
 */
#ifndef RL_KINDS_LISTS_H
#define RL_KINDS_LISTS_H

#include "kinds/server_keys.h"

/* Show the own mark and read the others, at each connect and from time to time. Arguments:
 * nonce, mark, for how many ms a mark stays beyond its max-ttl. */
extern const char *const rl_lists_join;

#endif
