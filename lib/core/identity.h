/* identity.h - does the same server still answer at a node's address, and has it kept its
 * keys? INFO's replies alone decide. Core: pure.
 *
 * A restarted master is another process (run_id) that began after the former one's last reply.
 * The new process's uptime then shows how long ago keys were lost. A longer uptime proves
 * nothing: the name may have been given to another server, or a clock was set forward. The
 * former server may have granted locks meanwhile.
 *
 * A process that was a replica for a while has its master's keys instead of its own. The
 * replication id of that process shows this: the id has changed, and there is a second one, the
 * master's. The id also changes when the first replica comes, or when the backlog for replicas
 * is freed. In these cases there is no second id, and nothing is lost.
 */
#ifndef RL_IDENTITY_H
#define RL_IDENTITY_H

#include "core/server_info.h"

enum rl_news {
    RL_SAME,
    RL_RESTARTED, /* another process, which began after the former one's last reply */
    RL_ANOTHER,   /* another process, which may have begun before that last reply */
    RL_RESYNCED,  /* the same process with another server's keys */
    RL_FAILED_OVER /* another term, whatever process: what was granted before is safe to its end */
};

struct rl_identity {
    char run_id[48]; /* empty: no reply had one yet */
    char replication[48];
    bool replica;     /* as of the last reply */
    bool successor;   /* another process was here before, in this term */
    uint64_t term;    /* of a master that can fail over (witness.h); else 0 */
    int64_t seen_ns;  /* when this client first saw the process */
    int64_t heard_ns; /* its last reply */
};

/* Learn from INFO's reply. Without a run_id nothing is learnt. */
enum rl_news rl_identity_learn(struct rl_identity *identity, const struct rl_info *info,
                               uint64_t term, int64_t now_ns);

/* The server has answered another request than INFO. */
static inline void rl_identity_heard(struct rl_identity *identity, int64_t now_ns)
{
    identity->heard_ns = now_ns;
}

#endif
