/* quorum_value.c - see quorum_value.h. Core. */
#include "config_auto.h"

#include "core/quorum_value.h"

#include <assert.h>

void rl_numbers_add(struct rl_numbers *numbers, int64_t number)
{
    assert(numbers->count < REDLOCK_NODES_MAX);
    numbers->number[numbers->count++] = number;
}

int64_t rl_numbers_reached(struct rl_numbers *numbers, unsigned needed)
{
    assert(needed > 0);
    if (numbers->count < needed)
        return 0;
    for (unsigned i = 1; i < numbers->count; i++) {
        for (unsigned k = i; k > 0; k--) {
            int64_t *low = &numbers->number[k - 1], *high = &numbers->number[k];
            if ((uint64_t)*low >= (uint64_t)*high) /* -1 is the largest then */
                break;
            int64_t swap = *low;
            *low = *high;
            *high = swap;
        }
    }
    return numbers->number[needed - 1];
}
