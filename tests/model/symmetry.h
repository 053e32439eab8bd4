/* symmetry.h - states that differ by names only: what canonical forms are made with. */
#ifndef TEST_MODEL_SYMMETRY_H
#define TEST_MODEL_SYMMETRY_H

#include <stdbool.h>
#include <stddef.h>

#define SYMMETRY_MAX 3

/* The number-th order of the first `count` of three things: ret_place[i] is the place of thing
 * i. False: there is none. */
bool order_of(unsigned number, unsigned count, unsigned ret_place[SYMMETRY_MAX]);

void sort_records(void *records, size_t count, size_t size);

#endif
