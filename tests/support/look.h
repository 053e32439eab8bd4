/* look.h - redlock_inspect() with room for all that it tells. */
#ifndef TEST_LOOK_H
#define TEST_LOOK_H

#include <redlock.h>

struct look {
    redlock_lock_info all;
    redlock_node_info node[REDLOCK_NODES_MAX];
    redlock_holder holder[(REDLOCK_NODES_MAX + 1) * REDLOCK_HOLDERS_SHOWN];
};

/* What it returns; all that it should fill in was something else before. */
int look_at(struct look *look, redlock *client, const char *name, const char *owner);

/* How many holders a master names, or a majority (-1); and one of them, which must be there. */
unsigned look_shown(const struct look *look, int node);
const redlock_holder *look_holder(const struct look *look, int node, unsigned i);

#endif
