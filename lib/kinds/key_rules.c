/* key_rules.c - see key_rules.h. Core. */
#include "config_auto.h"

#include "kinds/key_rules.h"

#include "kinds/keys.h"
#include "kinds/server_keys.h"

#include <assert.h>
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

/* "...:rwlock_timeout:7": the lease of a reader or writer. */
static bool is_lease(const char *bytes, size_t len)
{
    size_t stem = len;
    while (stem > 0 && bytes[stem - 1] >= '0' && bytes[stem - 1] <= '9')
        stem--;
    return stem < len && ends_in(bytes, stem, RL_LEASE_INFIX);
}

/* "{x}:redlock:queue": what stands before the suffix ends in a brace, in all such keys. */
static bool is_derived(const char *bytes, size_t len)
{
    static const char *const suffixes[] = {"}" RL_QUEUE_SUFFIX,   "}" RL_HOLDS_SUFFIX,
                                           "}" RL_SEEN_SUFFIX,    "}" RL_WRITER_SUFFIX,
                                           "}" RL_READERS_SUFFIX, "}" RL_FENCE_SUFFIX,
                                           "}" RL_BROKEN_SUFFIX};
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (ends_in(bytes, len, suffixes[i]))
            return true;
    }
    return false;
}

const char *rl_key_name_clash(const void *name, size_t len)
{
    if (is_derived(name, len))
        return "a lock's name can't end in }:redlock:queue, }:redlock:holds, }:redlock:seen, "
               "}:redlock:writer, }:redlock:readers, }:redlock:fence or }:redlock:broken: such "
               "keys belong to the lock of the name before that";
    if (is_lease(name, len))
        return "a lock's name can't end in :rwlock_timeout: and a number: such keys belong to "
               "those who read and write another lock";
    if (begins_with(name, len, RL_FAIR_QUEUE_PREFIX) ||
        begins_with(name, len, RL_FAIR_TIMES_PREFIX) ||
        begins_with(name, len, RL_REDISSON_FENCE_PREFIX))
        return "a lock's name can't begin with redisson_lock_queue:, redisson_lock_timeout: or "
               "redisson_lock_token:: such keys belong to the lock of the name behind that";
    if (begins_with(name, len, RL_SERVER_KEYS_PREFIX))
        return "a lock's name can't begin with " RL_SERVER_KEYS_PREFIX
               ": such keys tell of the master itself, as whether it still has its keys";
    return NULL;
}

const char *rl_key_format_clash(const struct rl_kind *kind, unsigned n, const void *name,
                                size_t len)
{
    assert(n > 0);
    if (n > 1 || rl_kind_queues(kind) || !rl_name_in_braces(name, len))
        return NULL;
    return "on one master, only a plain lock's name can be in braces as a whole: to Redisson, "
           "the keys of others would be those of the name inside of them; have text before or "
           "behind the braces";
}

const char *rl_key_slot_clash(const void *name, size_t len)
{
    const char *bytes = name, *open = memchr(name, '{', len);
    const char *end = bytes + len, *from = open ? open + 1 : end;
    const char *close = from < end ? memchr(from, '}', (size_t)(end - from)) : NULL;
    if (!memchr(name, '}', len) || (close && close > from))
        return NULL;
    return "a } in a lock's name needs a { with text between the two, as in {orders}:42, of "
           "which the first such pair is what a Redis Cluster chooses the slot by";
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
