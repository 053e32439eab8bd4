/* url.h - a master's URL. Core.
 *
 *   redis://[user[:password]@]host[:port][/db]      rediss:// for TLS
 *   unix://[user[:password]@]/path[?db=N]
 *   redis+sentinel://[user[:password]@]host[:port],host[:port],.../SERVICE[/db]
 *
 * In user, password and path a byte with a meaning in URLs is written %XX.
 */
#ifndef RL_URL_H
#define RL_URL_H

#include "config/config.h"
#include "base/diagnostic.h"

#define RL_DEFAULT_PORT 6379
#define RL_SENTINEL_PORT 26379

/* Fill in transport, host, port, path, db, user, password and label, which must be 0 and NULL
 * before. No message may quote the URL: if its parts are in disorder, any of them may be the
 * password. After an error the caller must free what was filled in. 0, REDLOCK_ECONFIG or
 * REDLOCK_ENOMEM. */
int rl_url_parse(const char *text, size_t len, struct rl_node_config *node,
                 struct rl_problem *problem);

#endif
