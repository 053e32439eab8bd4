/* fencing.h - the script by which a master proves that it has its fencing counters (`fencing
 * strict`). The script belongs to the master, and to no lock: see core/certify.h. Core.
 */
#ifndef RL_KINDS_FENCING_H
#define RL_KINDS_FENCING_H

#include "kinds/server_keys.h"

#define RL_CERTIFICATE_MAX 32 /* bytes of a fencing certificate's id */

/* Look at the fencing certificate, read it for another master's loss, or certify: nonce,
 * what, loss, number. */
extern const char *const rl_fence_join;

#endif
