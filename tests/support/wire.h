/* wire.h - RESP for the tests, independent of the library's: values are parsed flat, an
 * array being one item with its elements after it. */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H

#include <stddef.h>

struct wire_item {
    char type;         /* + - : $ * */
    long long number;  /* ':' the integer, '*' the elements, '$' the length; -1: nil */
    const char *bytes; /* + - $: points into what was parsed */
    size_t len;
};

#define WIRE_ITEMS_MAX 192

/* One value from the front of `bytes`: the bytes it takes, 0 where more are needed, -1 where
 * it is not RESP. */
long wire_parse(const char *bytes, size_t len, struct wire_item items[WIRE_ITEMS_MAX],
                unsigned *ret_count);

/* A command as an array of bulks; 0 where it does not fit. */
size_t wire_encode(char *ret_bytes, size_t size, unsigned argc, const char *const argv[],
                   const size_t lens[]);

#endif
