/* model_fencing_numbers.c - see model_fencing_parts.h. */
#include "config_auto.h"

#include "model_fencing_parts.h"

#include <assert.h>

/* Calls for each place where a state has a number. */
typedef void number_fn(uint8_t *number, uint8_t *context);

static void for_numbers(struct state *state, number_fn *call, uint8_t *context)
{
    for (unsigned m = 0; m < MASTERS; m++) {
        call(&state->master[m].counter, context);
        call(&state->master[m].named, context);
        call(&state->master[m].floor, context);
        call(&state->master[m].found, context);
        for (unsigned h = 0; h < HOLDS; h++)
            call(&state->master[m].grant[h].number, context);
    }
    for (unsigned h = 0; h < HOLDS; h++) {
        call(&state->hold[h].token, context);
        call(&state->hold[h].written, context);
    }
}

static void mark(uint8_t *number, uint8_t *seen)
{
    seen[*number] = 1;
}

static void renumber(uint8_t *number, uint8_t *renamed)
{
    *number = renamed[*number];
}

void fencing_number_anew(struct state *state)
{
    uint8_t table[256] = {0};
    unsigned next = 0;
    for_numbers(state, mark, table);
    for (unsigned number = 1; number < 256; number++) {
        if (table[number])
            table[number] = (uint8_t)(next += SPACING);
    }
    table[0] = 0;
    assert(next < 256);
    for_numbers(state, renumber, table);
}

bool fencing_next_number(const struct state *from, uint8_t *number)
{
    uint8_t seen[256] = {0};
    struct state state = *from;
    unsigned above = *number + 1u;
    for_numbers(&state, mark, seen);
    while (above < 256 && !seen[above])
        above++;
    bool is_there = *number == 0 || seen[*number];
    if (above == 256 && !is_there)
        return false;
    unsigned between = above == 256 ? *number + SPACING : (*number + above) / 2;
    assert(between < 256 && (!is_there || between > *number));
    *number = (uint8_t)(is_there ? between : above);
    return true;
}

static void greatest(uint8_t *number, uint8_t *most)
{
    if (*number > *most)
        *most = *number;
}

uint8_t fencing_greatest(const struct state *from)
{
    struct state state = *from;
    uint8_t most = 0;
    for_numbers(&state, greatest, &most);
    return most;
}
