/* times.h - times of a client's clock (clock.h), compared. Pure. */
#ifndef RL_TIMES_H
#define RL_TIMES_H

#include <stdint.h>

/* The earlier of two times; INT64_MAX is never. */
static inline int64_t rl_earlier_ns(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static inline int64_t rl_later_ns(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

#endif
