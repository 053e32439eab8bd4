/* key_rules.c - see key_rules.h. Core. */
#include "config_auto.h"

#include "kinds/key_rules.h"

#include "kinds/fencing.h"
#include "kinds/lists.h"
#include "kinds/marker.h"

#include <string.h>

static bool ends_in(const char *bytes, size_t len, const char *suffix)
{
    size_t suffix_len = strlen(suffix);
    return len >= suffix_len && bytes[len - suffix_len] == *suffix && /* mostly it differs */
           memcmp(bytes + len - suffix_len, suffix, suffix_len) == 0;
}

static bool begins_with(const char *bytes, size_t len, const char *prefix)
{
    return len >= strlen(prefix) && *bytes == *prefix &&
           memcmp(bytes, prefix, strlen(prefix)) == 0;
}

static bool is(const char *bytes, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(bytes, name, len) == 0;
}

/* "...:rwlock_timeout:7": the lease of a reader or writer. */
static bool is_lease(const char *bytes, size_t len)
{
    size_t stem = len;
    while (stem > 0 && bytes[stem - 1] >= '0' && bytes[stem - 1] <= '9')
        stem--;
    return stem < len && ends_in(bytes, stem, RL_LEASE_INFIX);
}

/* "{orders}": Redisson puts such braces around "orders" itself. */
static bool is_braced(const char *bytes, size_t len)
{
    return len >= 2 && bytes[0] == '{' && bytes[len - 1] == '}' &&
           !memchr(bytes + 1, '{', len - 1);
}

const char *rl_key_name_clash(const void *name, size_t len)
{
    static const char *const suffixes[] = {RL_QUEUE_SUFFIX,   RL_HOLDS_SUFFIX,
                                           RL_SEEN_SUFFIX,    RL_WRITER_SUFFIX,
                                           RL_READERS_SUFFIX, RL_FENCE_SUFFIX,
                                           RL_BROKEN_SUFFIX};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (ends_in(name, len, suffixes[i]))
            return "a lock's name can't end in :redlock:queue, :redlock:holds, :redlock:seen, "
                   ":redlock:writer, :redlock:readers, :redlock:fence or :redlock:broken: such "
                   "keys belong to the lock of the name before that";
    }
    if (is_lease(name, len))
        return "a lock's name can't end in :rwlock_timeout: and a number: such keys belong to "
               "those who read and write another lock";
    if (begins_with(name, len, RL_FAIR_QUEUE_PREFIX) ||
        begins_with(name, len, RL_FAIR_TIMES_PREFIX) ||
        begins_with(name, len, RL_REDISSON_FENCE_PREFIX))
        return "a lock's name can't begin with redisson_lock_queue:, redisson_lock_timeout: or "
               "redisson_lock_token:: such keys belong to the lock of the name behind that";
    if (is(name, len, RL_MARKER_KEY) || is(name, len, RL_QUARANTINE_KEY))
        return "a lock's name can't be " RL_MARKER_KEY " or " RL_QUARANTINE_KEY
               ": they tell whether a master still has its keys";
    if (is(name, len, RL_LISTS_KEY))
        return "a lock's name can't be " RL_LISTS_KEY
               ": it tells which node lists the clients of a master have";
    if (is(name, len, RL_FENCING_KEY))
        return "a lock's name can't be " RL_FENCING_KEY
               ": it tells whether a master has its fencing counters";
    if (is_braced(name, len))
        return "a lock's name can't be in braces as a whole: its keys would be those of the "
               "name inside of them; have text before or behind the braces";
    return NULL;
}

const char *rl_key_owner_clash(const struct rl_target *target)
{
    unsigned colons = 0, braces = 0;
    if (!rl_kind_has_leases(target->kind))
        return NULL;
    for (size_t i = 0; i < target->owner_len; i++) {
        colons += target->owner[i] == ':';
        braces += target->owner[i] == '}';
    }
    bool brace_in_name = memchr(target->name, '{', target->name_len);
    if (braces == 0 && colons <= 1 && (colons == 1 || !brace_in_name))
        return NULL;
    return "on one master, the owner of a read or write lock is a text without a closing brace "
           "and with one colon at most; with exactly one, as in app:7, where the lock's name "
           "has an opening brace. Else its keys could be another lock's";
}
