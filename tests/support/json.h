/* json.h - a strict reader of JSON (RFC 8259), to check what the programs print. */
#ifndef TEST_JSON_H
#define TEST_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Is the whole of `text` one JSON value, in well-formed UTF-8, with nothing after it but
 * white space? */
bool json_valid(const char *text, size_t len);

/* The value of `path` ("nodes.0.vote"), strings decoded, other scalars as they are written:
 * its length, or -1 where there is none. `ret_text` gets a NUL. Only for valid text. */
long json_get(const char *text, size_t len, const char *path, char *ret_text, size_t size);

#endif
