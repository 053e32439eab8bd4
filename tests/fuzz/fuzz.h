/* fuzz.h - what every fuzz target has: the fuzzer's way in, and a check that ends it. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Its inputs are in corpus/NAME.tar. */
extern const char fuzz_corpus[];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input behind its first byte, which chooses the parser, as a C string. NULL: there is
 * none. To be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = size > 0 ? malloc(size) : NULL;
    if (text) {
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
    }
    return text;
}

#define REQUIRE(condition)                                                                     \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);          \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

#endif
