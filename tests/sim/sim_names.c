/* sim_names.c - see sim_names.h. */
#include "config_auto.h"

#include "sim_names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 8, BYTES_MAX = 128 };

bool sim_names_several(const char *names)
{
    return strchr(names, '+') != NULL;
}

/* The next one at `*at`; false: there is none. */
static bool next(const char **at, redlock_bytes *ret_name)
{
    if (**at == '\0')
        return false;
    *ret_name = (redlock_bytes){.bytes = *at, .len = strcspn(*at, "+")};
    *at += ret_name->len + ((*at)[ret_name->len] == '+');
    return true;
}

bool sim_names_meet(const char *names, const char *others)
{
    redlock_bytes name, other;
    for (const char *at = names; next(&at, &name);) {
        for (const char *beside = others; next(&beside, &other);) {
            if (name.len == other.len && memcmp(name.bytes, other.bytes, name.len) == 0)
                return true;
        }
    }
    return false;
}

static size_t split(const char *names, redlock_bytes ret_names[NAMES_MAX])
{
    size_t count = 0;
    redlock_bytes name;
    while (next(&names, &name)) {
        assert(count < NAMES_MAX);
        ret_names[count++] = name;
    }
    return count;
}

unsigned sim_names_count(const char *names)
{
    redlock_bytes name[NAMES_MAX];
    size_t count = split(names, name);
    unsigned different = 0;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (name[k].len != name[i].len || memcmp(name[k].bytes, name[i].bytes, name[i].len))
            k++;
        different += k == i;
    }
    return different;
}

int sim_names_try(redlock *client, const char *names, const redlock_options *options,
                  redlock_lock **ret_lock)
{
    redlock_bytes name[NAMES_MAX];
    const char *text[NAMES_MAX];
    char bytes[BYTES_MAX];
    if (!sim_names_several(names))
        return redlock_try(client, names, options, ret_lock);
    size_t count = split(names, name);
    int len = snprintf(bytes, sizeof(bytes), "%s", names);
    assert(len > 0 && (size_t)len < sizeof(bytes));
    for (size_t i = 0; i < count; i++) {
        size_t at = (size_t)((const char *)name[i].bytes - names);
        bytes[at + name[i].len] = '\0';
        text[i] = bytes + at;
    }
    return redlock_try_names(client, text, count, options, ret_lock);
}

int sim_names_try_async(redlock *client, const char *names, const redlock_options *options,
                        redlock_done_fn *done, void *context, uint64_t *ret_id)
{
    redlock_bytes name[NAMES_MAX];
    if (!sim_names_several(names))
        return redlock_try_async_n(client, names, strlen(names), options, done, context, ret_id);
    return redlock_try_names_async_n(client, name, split(names, name), options, done, context,
                                     ret_id);
}
