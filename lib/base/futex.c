/* futex.c - see futex.h. */
#include "config_auto.h"

#include "base/futex.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_time64 /* only machines of 32 bits have two */
#define SYS_futex_time64 SYS_futex
#endif

/* The kernel's numbers, which a C library need not bring (linux/futex.h). */
#define WAIT_BITSET_PRIVATE (9 | 128)
#define WAKE_BITSET_PRIVATE (10 | 128)

_Static_assert(sizeof(atomic_uint) == 4, "the kernel's word");

bool rl_futex_wait(atomic_uint *word, unsigned seen, uint32_t bits,
                   const struct timespec *until)
{
    const long call = sizeof(until->tv_sec) > sizeof(long) ? SYS_futex_time64 : SYS_futex;
    assert(bits != 0);
    return syscall(call, word, WAIT_BITSET_PRIVATE, seen, until, NULL, bits) == 0 ||
           errno != ETIMEDOUT;
}

void rl_futex_wake(atomic_uint *word, uint32_t bits)
{
    assert(bits != 0);
    syscall(SYS_futex, word, WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, bits);
}
