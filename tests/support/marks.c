/* marks.c - see marks.h. */
#include "config_auto.h"

#include "marks.h"

#include "kinds/marker.h"

void master_mark(struct masters *masters, unsigned node)
{
    struct reply reply = master_do(masters, node, "EVAL", rl_marker_init, "2", RL_MARKER_KEY,
                                   RL_QUARANTINE_KEY, "nonce", "0", NULL);
    ck_assert_str_eq(reply.text, "nonce done 0");
}

void masters_mark(struct masters *masters)
{
    for (unsigned i = 0; i < masters->n; i++)
        master_mark(masters, i);
}
