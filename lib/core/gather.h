/* gather.h - requests of several threads that leave together.
 *
 * Threads whose calls end together often call again at once. In such a case their requests wait
 * for each other, and the last thread sends them all, in one write a node. The requests wait for
 * RL_GATHER_NS after the latest of them, and only where such groups usually came back in time. */
#ifndef RL_GATHER_H
#define RL_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#define RL_GATHER_NS INT64_C(400000)      /* on one CPU, the masters run first */
#define RL_GATHER_MAX_NS INT64_C(2000000) /* the first one waits no longer than this */
#define RL_GATHER_HABIT 4                 /* from here on requests wait */
#define RL_GATHER_HABIT_MAX 16
#define RL_GATHER_LOSS 4 /* by a group that stayed away */

struct rl_gather {
    unsigned ended; /* blocking calls, in this turn */
    unsigned group; /* threads whose calls ended together */
    unsigned away;  /* those of them that have not called again */
    unsigned habit; /* grows with each group that came back in time */
    bool waits;     /* a request waits for others, until limit_ns at most */
    bool came;      /* a thread, in this stretch of time, which ends at until_ns */
    int64_t until_ns, limit_ns;
};

/* Do requests wait for others now? */
static inline bool rl_gathers(const struct rl_gather *gather)
{
    return gather->away > 0 && gather->habit >= RL_GATHER_HABIT;
}

/* A thread whose call ended alone is awaited by nobody: forget it. So its next call need not
 * ask what time it is. */
static inline bool rl_gather_alone(struct rl_gather *gather)
{
    if (gather->group > 1)
        return false;
    gather->group = gather->away = 0;
    return true;
}

/* A blocking call begins, and rl_gather_alone() is false. */
void rl_gather_came(struct rl_gather *gather, int64_t now_ns);

/* A turn of the loop, in which calls may have ended, is over. True: what waits must be sent. */
bool rl_gather_turned(struct rl_gather *gather, int64_t now_ns);

/* When to look again; INT64_MAX: nothing waits. */
int64_t rl_gather_due_ns(const struct rl_gather *gather);

#endif
