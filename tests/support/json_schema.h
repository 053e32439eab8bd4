/* json_schema.h - does a text follow a JSON schema? What our schemas use: type, enum, pattern,
 * minimum, items, properties, required, additionalProperties; any other word is an error. */
#ifndef TEST_JSON_SCHEMA_H
#define TEST_JSON_SCHEMA_H

#include <stddef.h>

enum { JSON_WHY_MAX = 512 };

/* "" in `ret_why`, or what is not as it says. Both texts are valid JSON. */
void json_schema_check(const char *schema, const char *text, char ret_why[JSON_WHY_MAX]);

#endif
