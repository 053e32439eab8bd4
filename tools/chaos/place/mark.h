/* mark.h - the first marker of a master that was just made, and its first certificate for
 * fencing tokens, as `redlock init` sets them. */
#ifndef CHAOS_MARK_H
#define CHAOS_MARK_H

#include "cluster/server_talk.h"

/* False: `why`; it has a marker, a quarantine or keys, or it can't be asked. */
bool chaos_mark(const struct server_at *at, char *why, size_t why_size);

/* False: `why`; it can't be asked, or has a certificate. */
bool chaos_certify(const struct server_at *at, char *why, size_t why_size);

#endif
