/* fake_keys.h - what a fake master keeps: keys with an expiry, known scripts, and the plain
 * scripts in C. Not thread-safe: fake.c has the lock. */
#ifndef TEST_FAKE_KEYS_H
#define TEST_FAKE_KEYS_H

#include "wire.h"

#include <stdbool.h>
#include <stdint.h>

enum { FAKE_KEYS_MAX = 64, FAKE_SCRIPTS = 9, FAKE_VALUE_MAX = 256 };

struct fake_key {
    char name[FAKE_VALUE_MAX];
    char value[FAKE_VALUE_MAX];
    size_t name_len;
    size_t value_len;
    int64_t end_ms; /* 0: free slot */
};

struct fake_keys {
    struct fake_key key[FAKE_KEYS_MAX];
    bool known[FAKE_SCRIPTS]; /* sent whole since it started */
};

/* Which of the plain scripts EVAL or EVALSHA names: its number, or -1. `ret_whole`: EVAL. */
int fake_script(const struct wire_item *items, unsigned count, bool *ret_whole);
const char *fake_script_verb(int script);
const char *fake_script_body(const char *verb); /* "acquire" */

/* Execute EVAL or EVALSHA; the reply's length. */
size_t fake_execute(struct fake_keys *keys, const struct wire_item *items, unsigned count,
                    char *ret_reply, size_t size);

/* Is it the SET of a native pair? And its reply; and GET's. */
bool fake_is_native(const struct wire_item *items, unsigned count);
size_t fake_set(struct fake_keys *keys, const struct wire_item *items, char *ret_reply,
                size_t size);
size_t fake_get(struct fake_keys *keys, const struct wire_item *items, char *ret_reply,
                size_t size);

bool fake_keys_have(struct fake_keys *keys, const char *name, size_t name_len);

#endif
