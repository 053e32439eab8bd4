/* script_text.c - see script_text.h. Nothing is allocated: simulated processes call it, too. */
#include "config_auto.h"

#include "script_text.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { TEXTS_MAX = 256 };

static struct {
    const char *const *parts;
    const char *text;
} texts[TEXTS_MAX];
static unsigned count;
static char bytes[1 << 20];
static size_t used;

static const char *join(const char *const *parts)
{
    char *text = bytes + used;
    for (; *parts; parts++) {
        size_t len = strlen(*parts);
        assert(used + len + 1 < sizeof(bytes));
        memcpy(bytes + used, *parts, len);
        used += len;
    }
    bytes[used++] = '\0';
    return text;
}

static const char *find(const char *const *parts)
{
    unsigned i = 0;
    while (i < count && texts[i].parts != parts)
        i++;
    if (i == count) {
        assert(count < TEXTS_MAX);
        texts[i].parts = parts;
        texts[i].text = join(parts);
        count++;
    }
    return texts[i].text;
}

/* Threads of a fake call it at once. Few do, and not for long. */
const char *script_text(const char *const *parts)
{
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    if (!parts)
        return NULL;
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        ;
    const char *text = find(parts);
    atomic_flag_clear_explicit(&busy, memory_order_release);
    return text;
}
