/* name_set.c - see name_set.h. Core. */
#include "config_auto.h"

#include "kinds/name_set.h"

#include "kinds/key_rules.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define LEN_BYTES 2
#define AROUND (LEN_BYTES + 1)

static int compare(const redlock_bytes *one, const redlock_bytes *other)
{
    size_t len = one->len < other->len ? one->len : other->len;
    int order = memcmp(one->bytes, other->bytes, len);
    if (order != 0)
        return order;
    return (one->len > other->len) - (one->len < other->len);
}

/* Insert a name in order, once. */
static void insert(const redlock_bytes *sorted[REDLOCK_NAMES_MAX], size_t *used,
                   const redlock_bytes *name)
{
    size_t at = *used;
    while (at > 0 && compare(sorted[at - 1], name) > 0)
        at--;
    if (at > 0 && compare(sorted[at - 1], name) == 0)
        return;
    memmove(&sorted[at + 1], &sorted[at], (*used - at) * sizeof(sorted[0]));
    sorted[at] = name;
    (*used)++;
}

static char *put(char *at, const redlock_bytes *name)
{
    *at++ = (char)(unsigned char)(name->len >> 8);
    *at++ = (char)(unsigned char)(name->len & 255);
    memcpy(at, name->bytes, name->len);
    at += name->len;
    *at++ = '\0';
    return at;
}

bool rl_name_allowed(const void *name, size_t len, char *why, size_t why_size)
{
    if (!name || len == 0)
        snprintf(why, why_size, "a lock needs a name of at least one byte");
    else if (len > REDLOCK_NAME_MAX)
        snprintf(why, why_size, "the name has %zu bytes; at most %d are allowed", len,
                 REDLOCK_NAME_MAX);
    else if (rl_key_name_clash(name, len))
        snprintf(why, why_size, "%s", rl_key_name_clash(name, len));
    else
        return true;
    return false;
}

bool rl_names_allowed(const struct rl_target *target, char *why, size_t why_size)
{
    redlock_bytes name;
    size_t at = 0;
    while (rl_names_next(target, &at, &name)) {
        if (!rl_name_allowed(name.bytes, name.len, why, why_size))
            return false;
    }
    return true;
}

size_t rl_names_pack(const redlock_bytes *names, size_t count,
                     char ret_bytes[RL_NAMES_BYTES_MAX], char *why, size_t why_size)
{
    const redlock_bytes *sorted[REDLOCK_NAMES_MAX];
    size_t used = 0, sum = 0;
    if (!names || count == 0 || count > REDLOCK_NAMES_MAX) {
        snprintf(why, why_size, "%zu names can't be locked at once: from 1 to %d can", count,
                 REDLOCK_NAMES_MAX);
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (!names[i].bytes || names[i].len == 0) {
            snprintf(why, why_size,
                     "name %zu of %zu is empty: a lock needs a name of at least "
                     "one byte",
                     i + 1, count);
            return 0;
        }
        insert(sorted, &used, &names[i]);
    }
    for (size_t i = 0; i < used; i++) {
        if (sorted[i]->len > REDLOCK_NAME_MAX - sum) {
            snprintf(why, why_size, "the names have more than %d bytes together",
                     REDLOCK_NAME_MAX);
            return 0;
        }
        if (!rl_name_allowed(sorted[i]->bytes, sorted[i]->len, why, why_size))
            return 0;
        sum += sorted[i]->len;
    }
    char *at = ret_bytes;
    for (size_t i = 0; i < used; i++)
        at = put(at, sorted[i]);
    return (size_t)(at - ret_bytes);
}

/* The name that begins at `*at`; false: there is no whole one. */
static bool take(const char *bytes, size_t len, size_t *at, redlock_bytes *ret_name)
{
    if (len - *at < AROUND)
        return false;
    const unsigned char *head = (const unsigned char *)bytes + *at;
    size_t name_len = (size_t)head[0] << 8 | head[1];
    if (name_len == 0 || name_len > len - *at - AROUND)
        return false;
    *ret_name = (redlock_bytes){.bytes = head + LEN_BYTES, .len = name_len};
    *at += AROUND + name_len;
    return bytes[*at - 1] == '\0';
}

bool rl_names_fit(const void *bytes, size_t len)
{
    redlock_bytes before = {.bytes = "", .len = 0}, name;
    size_t at = 0, count = 0, sum = 0;
    while (at < len) {
        if (!take(bytes, len, &at, &name) || compare(&before, &name) >= 0)
            return false;
        before = name;
        count++;
        sum += name.len;
    }
    return count > 0 && count <= REDLOCK_NAMES_MAX && sum <= REDLOCK_NAME_MAX;
}

bool rl_names_next(const struct rl_target *target, size_t *at, redlock_bytes *ret_name)
{
    if (*at >= target->name_len)
        return false;
    if (!target->kind->several) {
        *ret_name = (redlock_bytes){.bytes = target->name, .len = target->name_len};
        *at = target->name_len;
        return true;
    }
    bool whole = take(target->name, target->name_len, at, ret_name);
    assert(whole);
    return whole;
}

size_t rl_names_count(const struct rl_target *target)
{
    redlock_bytes name;
    size_t at = 0, count = 0;
    while (rl_names_next(target, &at, &name))
        count++;
    return count;
}
