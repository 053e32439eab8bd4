/* host.h - host names and addresses as text: checked and compared, never looked up. Core. */
#ifndef RL_HOST_H
#define RL_HOST_H

#include "base/diagnostic.h"

#include <stdbool.h>
#include <stddef.h>

/* A name, an IPv4 address or (without brackets) an IPv6 address, perhaps with a zone, as in
 * "fe80::1%eth0". The copy that is returned is lower case but for the zone. No message may
 * quote the text: a URL with its parts in disorder may have a password here. 0, REDLOCK_ECONFIG
 * or REDLOCK_ENOMEM. */
int rl_host_parse(const char *text, size_t len, char **ret_host, struct rl_problem *problem);

/* Do two hosts that rl_host_parse() returned read the same? Spellings of one IPv6 address
 * do, and so does a name with and without its last dot. */
bool rl_host_equal(const char *a, const char *b);

/* And their ports as well? */
bool rl_place_equal(const char *host_a, int port_a, const char *host_b, int port_b);

#endif
