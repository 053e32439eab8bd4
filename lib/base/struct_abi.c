/* struct_abi.c - see struct_abi.h. Core. */
#include "config_auto.h"

#include "base/struct_abi.h"

#include <redlock.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* No version of any struct is as large as this, so a caller with a greater size never set it. */
#define SIZE_MAX_KNOWN 4096

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof(size));
    return size;
}

bool rl_struct_sized(const struct rl_struct *shape, size_t size, char *why, size_t why_size)
{
    assert(shape->least >= sizeof(size_t) && shape->least <= shape->size);
    if (size >= shape->least && size <= SIZE_MAX_KNOWN && size % _Alignof(size_t) == 0)
        return true;
    snprintf(why, why_size, "%s: its size (%zu) was not set; start from %s", shape->name, size,
             shape->init);
    return false;
}

bool rl_struct_there(const struct rl_struct *shape, const void *to, char *why, size_t why_size)
{
    if (to)
        return rl_struct_sized(shape, size_of(to), why, why_size);
    snprintf(why, why_size, "%s: is NULL; start from %s", shape->name, shape->init);
    return false;
}

bool rl_struct_take(const struct rl_struct *shape, const void *from, void *whole, char *why,
                    size_t why_size)
{
    size_t size = size_of(from);
    if (!rl_struct_sized(shape, size, why, why_size))
        return false;
    const unsigned char *bytes = from;
    for (size_t i = shape->size; i < size; i++) {
        if (bytes[i] == 0)
            continue;
        snprintf(why, why_size,
                 "%s: settings are used that this libredlock (" REDLOCK_VERSION
                 ") does not know; it is older than the redlock.h that the program was built "
                 "with: install a newer one",
                 shape->name);
        return false;
    }
    memcpy(whole, from, size < shape->size ? size : shape->size);
    memcpy(whole, &shape->size, sizeof(shape->size));
    return true;
}

void rl_struct_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
    size_t both = to_size < from_size ? to_size : from_size;
    memcpy(to, from, both);
    memset((char *)to + both, 0, to_size - both);
}

unsigned rl_struct_room(const void *entries, unsigned max, unsigned n)
{
    if (!entries)
        return 0;
    return max < n ? max : n;
}

void *rl_struct_entry(void *entries, size_t entry_size, unsigned count, unsigned index)
{
    return index < count ? (char *)entries + index * entry_size : NULL;
}

void rl_struct_give(const struct rl_struct *shape, const void *whole, void *to)
{
    size_t size = size_of(to);
    assert(size >= shape->least);
    rl_struct_copy(to, size, whole, shape->size);
    memcpy(to, &size, sizeof(size));
}
