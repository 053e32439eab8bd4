/* alloc.h - counts the allocations of this process, the library's among them. */
#ifndef BENCH_ALLOC_H
#define BENCH_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

/* False: they can't be counted in this build (a sanitizer's or another C library's
 * allocator is in place). */
bool bench_alloc_counted(void);

/* Calls of malloc and its kin so far, of every thread. */
uint64_t bench_alloc_count(void);

#endif
