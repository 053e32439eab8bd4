/* holder_ask.h - ask the masters for their clients' names (CLIENT LIST). */
#ifndef REDLOCK_HOLDER_ASK_H
#define REDLOCK_HOLDER_ASK_H

#include "redlock/cli.h"
#include "redlock/holder_clients.h"

/* Each master that has answered already, over a connection of its own, for connect-timeout at
 * the most. A master that refuses, or has too many clients for one reply, adds no names. That
 * is no error; -v says why. */
void holder_ask(const struct cli *cli, const redlock_lock_info *all,
                struct holder_clients *clients);

#endif
