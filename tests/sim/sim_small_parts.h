/* sim_small_parts.h - between the two kinds of small worlds. */
#ifndef SIM_SMALL_PARTS_H
#define SIM_SMALL_PARTS_H

#include "sim_named_parts.h"
#include "sim_small.h"

struct sim_small_kind {
    const char *what;   /* "world", in front of a number */
    void (*pick)(void); /* what the next one is like */
    void (*play)(void);
    void (*describe)(char *ret_text, size_t size);
};

/* All of them, or `only` that one, with its story. False: something was violated. */
bool sim_small_play_all(const struct sim_small_kind *kind, uint64_t only, uint64_t *ret_worlds);

#endif
