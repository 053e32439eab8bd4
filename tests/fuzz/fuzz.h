/* fuzz.h - what every fuzz target has: the fuzzer's way in, and a check that ends it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Its inputs are in corpus/NAME.tar. */
extern const char fuzz_corpus[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                     \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

#endif
