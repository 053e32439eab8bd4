/* hash_slot.h - the slot of a key in a Redis Cluster. */
#ifndef TEST_HASH_SLOT_H
#define TEST_HASH_SLOT_H

#include <stddef.h>

/* What decides on the slot: the text between the first "{" and the first "}" behind it, or, where
 * there is none, the whole key. */
const char *hash_slot_tag(const char *key, size_t len, size_t *ret_len);

unsigned hash_slot(const char *key, size_t len);

#endif
