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

/* Where the value of `path` is written, with its quotes; NULL: there is none. */
const char *json_find(const char *text, size_t len, const char *path, size_t *ret_len);

/* The name of an object's member of this number, from 0 on; -1: it has no such member. */
long json_name(const char *object, size_t len, unsigned number, char *ret_name, size_t size);

#endif
