/* futex.h - a word in memory that threads sleep on. */
#ifndef RL_FUTEX_H
#define RL_FUTEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Sleep until rl_futex_wake() names one of `bits`, or until that time by CLOCK_MONOTONIC.
 * Returns at once if the word is not `seen` any more; it may wake for nothing. False: the time
 * is over. */
bool rl_futex_wait(atomic_uint *word, unsigned seen, uint32_t bits,
                   const struct timespec *until);

/* Wake all that sleep there with one of these bits. Change the word before. The memory is not
 * looked at, so that it may be gone by then. */
void rl_futex_wake(atomic_uint *word, uint32_t bits);

#endif
