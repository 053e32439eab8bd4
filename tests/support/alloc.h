/* alloc.h - count this program's allocations, and make one of them fail. Programs that link
 * alloc.o get its malloc() and friends. The sanitizers and valgrind bring their own, and then
 * nothing here has an effect (alloc_works() says so). */
#ifndef TEST_ALLOC_H
#define TEST_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

bool alloc_works(void);

/* Allocations (of every thread) since the last alloc_fail_at(). */
long alloc_count(void);

/* Start counting from 0; the `number`-th allocation from now, from 1, fails, once.
 * 0: none does. */
void alloc_fail_at(long number);

/* From now on, count the blocks that are freed with these bytes in them. */
void alloc_watch_for(const void *bytes, size_t len);
long alloc_left_behind(void);

/* Blocks that are allocated and not freed. */
long alloc_live(void);

#endif
