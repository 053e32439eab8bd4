/* look.c - see look.h. */
#include "config_auto.h"

#include "look.h"
#include "suite.h"

#include <string.h>

enum { HOLDERS = sizeof(((struct look *)0)->holder) / sizeof(redlock_holder) };

int look_at(struct look *look, redlock *client, const char *name, const char *owner)
{
    memset(look, 0x5a, sizeof(*look));
    look->all = (redlock_lock_info)REDLOCK_LOCK_INFO_INIT(look->node, REDLOCK_NODES_MAX,
                                                          look->holder, HOLDERS);
    int code = redlock_inspect_n(client, name, strlen(name), owner, &look->all);
    ck_assert_uint_eq(look->all.node_count, look->all.nodes);
    ck_assert_uint_eq(look->all.holder_left, 0);
    return code;
}

unsigned look_shown(const struct look *look, int node)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < look->all.holder_count; i++)
        shown += look->holder[i].node == node;
    return shown;
}

const redlock_holder *look_holder(const struct look *look, int node, unsigned i)
{
    const redlock_holder *holder = look->holder;
    ck_assert_uint_lt(i, look_shown(look, node));
    while (holder->node != node || i-- > 0)
        holder++;
    return holder;
}
