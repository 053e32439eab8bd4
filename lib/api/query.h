/* query.h - a question about a name to every master that can be asked, as a blocking call. */
#ifndef RL_QUERY_H
#define RL_QUERY_H

#include "engine/loop/call.h"
#include "kinds/lock_view.h"

struct rl_question {
    enum rl_verb verb; /* RL_INSPECT or RL_FORCE */
    bool endless;      /* RL_FORCE deletes also what has no TTL */
    const void *name;
    size_t name_len;
    const char *owner; /* "": none */
};

/* `report` and `views` (one a node, for RL_INSPECT; those that answered are written) may be
 * NULL. 0: a majority answered, ENOQUORUM, EWRONGTYPE (RL_FORCE), EINVAL, EFORK, ... */
int rl_query(redlock *client, const struct rl_question *question, redlock_report *report,
             struct rl_view *views);

#endif
