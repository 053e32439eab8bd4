/* cork.h - lazy releases, which wait for company (cork.c). The mutex must be held, but for
 * _done. */
#ifndef RL_CORK_H
#define RL_CORK_H

#include <redlock.h>
#include <stdint.h>

struct rl_cork;

/* Releases will be lazy: have what that needs. 0, REDLOCK_ESYSTEM or REDLOCK_ENOMEM. There must
 * be an event loop, or a background thread must be allowed. */
int rl_cork_require(redlock *client);
/* All that is queued at the nodes is releases: hold them back for a moment. */
void rl_cork(redlock *client, int64_t now_ns);
/* They are held back no longer: the next flush sends them. */
void rl_cork_pull(redlock *client);
void rl_cork_done(struct rl_cork *cork); /* the client is going to be freed */

#endif
