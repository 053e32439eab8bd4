/* quorum_value.c - see quorum_value.h. Core. */
#include "config_auto.h"

#include "core/quorum_value.h"

#include <assert.h>

void rl_quorum_value_add(struct rl_quorum_values *values, int64_t number)
{
    assert(values->count < REDLOCK_NODES_MAX);
    values->number[values->count++] = number;
}

int64_t rl_quorum_value_reached(struct rl_quorum_values *values, unsigned needed)
{
    assert(needed > 0 && needed <= REDLOCK_NODES_MAX);
    assert(values->count <= REDLOCK_NODES_MAX);
    if (values->count < needed)
        return 0;
    for (unsigned i = 1; i < values->count; i++) {
        for (unsigned k = i; k > 0; k--) {
            int64_t *low = &values->number[k - 1], *high = &values->number[k];
            if ((uint64_t)*low >= (uint64_t)*high) /* -1 is the largest then */
                break;
            int64_t swap = *low;
            *low = *high;
            *high = swap;
        }
    }
    return values->number[needed - 1];
}
