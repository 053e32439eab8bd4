/* holder_clients.h - which client a holder is, and so its host and process.
 *
 * A plain lock's token ends in what its client calls itself: its client-name, or "HOST:PID".
 * The owners of other kinds begin with their client's uuid, and have no room for more; but the
 * connections of a client have names with it (base/client_name.h), as CLIENT LIST tells.
 * All of it is what clients say of themselves: anybody with a connection may say so.
 */
#ifndef REDLOCK_HOLDER_CLIENTS_H
#define REDLOCK_HOLDER_CLIENTS_H

#include "redlock/client_list.h"

#include <redlock.h>

struct holder_client {
    char uuid[RL_UUID_LEN];
    bool disputed; /* connections with this uuid have different names: nothing is known */
    struct client_name name;
};

/* The wanted clients: of all holders that masters show, and of those that a majority shows. */
struct holder_clients {
    unsigned count;
    struct holder_client client[(REDLOCK_NODES_MAX + 1) * REDLOCK_HOLDERS_SHOWN];
};

/* The holders to look for. Tokens name theirs themselves. */
void holder_clients_want(struct holder_clients *clients, const redlock_lock_info *all);

/* An answer to CLIENT LIST, of a server whose connection has these secrets. */
void holder_clients_heard(struct holder_clients *clients, const char *list, size_t len,
                          const struct rl_mask *mask);

/* Of a lock in that state. `clients` may be NULL: none is known. */
struct client_name holder_name_of(const struct holder_clients *clients, int state,
                                  const redlock_holder *holder);

/* The length of the host that a name of the form "HOST:PID" begins with; 0: it is another. */
size_t holder_host_len(const struct client_name *name, int64_t *ret_pid);

#endif
