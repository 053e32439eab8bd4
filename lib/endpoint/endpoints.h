/* endpoints.h - the lines whose servers Sentinels name, and all of a client's Sentinels. The
 * Sentinels are asked each D/2 while a call is in progress or a lock is held, so that no round
 * waits for their word. At other times nobody asks them. The mutex must be held.
 */
#ifndef RL_ENDPOINTS_H
#define RL_ENDPOINTS_H

#include "endpoint/sentinel.h"

struct rl_endpoints {
    const struct rl_node_settings *settings;
    unsigned count; /* 0: no line names Sentinels */
    struct rl_sentinel *all;
};

/* Of these nodes. 0, ENOMEM or ECONFIG with `why` filled in. rl_endpoints_done() frees in any
 * case. */
int rl_endpoints_init(struct rl_endpoints *endpoints, struct rl_node *nodes, unsigned n,
                      int epoll_fd, int wake_fd, char *why, size_t why_size);
void rl_endpoints_done(struct rl_endpoints *endpoints, bool in_child);

void rl_endpoints_absent(struct rl_endpoints *endpoints, int64_t absent_ns);
void rl_endpoints_tick(struct rl_endpoints *endpoints, bool used, int64_t now_ns);
int64_t rl_endpoints_due_ns(struct rl_endpoints *endpoints, bool used);

/* Something is known anew of this line, whose server was vouched for before, or was not. */
void rl_endpoints_heard(struct rl_endpoints *endpoints, struct rl_node *node, bool vouched,
                        int64_t now_ns);

#endif
