/* identity.h - is it the same server that answers at a node's address, and has it the keys that
 * it had? As far as this client can tell by what INFO says each time. Core: pure.
 *
 * A restarted master is another process (run_id), which began after the last word of the former
 * one: its uptime tells how long whatever was lost is lost. An uptime that does not prove this
 * proves nothing, for the former server may have granted locks meanwhile, and may still: the name
 * was given to another server, or a clock was set forward.
 *
 * A process that was a replica for a while has its master's keys instead of its own. Its
 * replication id tells: that has changed, and there is a second one, the master's. The id also
 * changes when the first replica comes, or when the backlog for replicas is freed; then there is
 * no second one, and nothing is lost.
 */
#ifndef RL_IDENTITY_H
#define RL_IDENTITY_H

#include "core/server_info.h"

enum rl_news {
    RL_SAME,
    RL_RESTARTED, /* another process, which began after the former one's last word */
    RL_ANOTHER,   /* another process, which may have been there before that */
    RL_RESYNCED   /* the same process with another server's keys */
};

struct rl_identity {
    char run_id[48]; /* empty: nobody has told one here yet */
    char replication[48];
    bool replica;     /* when it was last asked */
    int64_t seen_ns;  /* since when this client knows the process */
    int64_t heard_ns; /* its last word */
};

/* What its INFO says is news to this client. Without a run_id nothing is learnt. */
enum rl_news rl_identity_learn(struct rl_identity *identity, const struct rl_info *info,
                               int64_t now_ns);

/* It has answered something else. */
static inline void rl_identity_heard(struct rl_identity *identity, int64_t now_ns)
{
    identity->heard_ns = now_ns;
}

#endif
