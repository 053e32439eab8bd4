/* keys.c - see keys.h. Core. */
#include "config_auto.h"

#include "kinds/keys.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

enum braces { NONE, OWN, REDISSONS };

/* The key of a letter: text before and after the name, in braces or not. */
struct shape {
    char letter;
    enum braces braces;
    const char *before, *after;
    bool owner; /* and then the owner */
    const char *after_owner;
};

static const struct shape shapes[] = {
    {'n', NONE, "", "", false, ""},
    {'q', OWN, "", RL_QUEUE_SUFFIX, false, ""},
    {'N', NONE, "", "", false, ""},
    {'M', OWN, "", RL_QUEUE_SUFFIX, false, ""},
    {'h', OWN, "", RL_HOLDS_SUFFIX, false, ""},
    {'s', OWN, "", RL_SEEN_SUFFIX, false, ""},
    {'m', OWN, "", RL_WRITER_SUFFIX, false, ""},
    {'R', OWN, "", RL_READERS_SUFFIX, false, ""},
    {'B', OWN, "", RL_BROKEN_SUFFIX, false, ""},
    {'F', OWN, "", RL_FENCE_SUFFIX, false, ""},
    {'k', REDISSONS, RL_REDISSON_FENCE_PREFIX, "", false, ""},
    {'b', REDISSONS, "", "", false, ""},
    {'c', REDISSONS, "redisson_lock__channel:", "", false, ""},
    {'f', REDISSONS, "redisson_lock__channel:", ":", true, ""},
    {'C', REDISSONS, "redisson_rwlock:", "", false, ""},
    {'Q', REDISSONS, RL_FAIR_QUEUE_PREFIX, "", false, ""},
    {'O', REDISSONS, RL_FAIR_TIMES_PREFIX, "", false, ""},
    {'r', REDISSONS, "", ":", true, ":rwlock_timeout"},
};

static const struct shape *shape_of(char letter)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (shapes[i].letter == letter)
            return &shapes[i];
    }
    assert(false && "a key of the kinds' table");
    return shapes;
}

static char *put(char *at, const void *bytes, size_t len)
{
    if (len > 0)
        memcpy(at, bytes, len);
    return at + len;
}

static char *put_text(char *at, const char *text)
{
    return put(at, text, strlen(text));
}

bool rl_name_in_braces(const char *name, size_t len)
{
    return len >= 2 && name[0] == '{' && name[len - 1] == '}' &&
           !memchr(name + 1, '{', len - 1);
}

/* The name, with the braces of this shape: around it, behind it, or none. */
static char *put_name(char *at, enum braces braces, const char *name, size_t len)
{
    bool closes = memchr(name, '}', len), opens = memchr(name, '{', len);
    bool around = (braces == OWN && !closes) ||
                  (braces == REDISSONS && (!opens || rl_name_in_braces(name, len)));
    at = put_text(at, around ? "{" : "");
    at = put(at, name, len);
    at = put_text(at, around ? "}" : "");
    return put_text(at, braces == OWN && closes ? "{}" : "");
}

size_t rl_key_text(char letter, const struct rl_target *target, char ret_text[RL_KEY_MAX])
{
    const struct shape *shape = shape_of(letter);
    assert(target->name_len <= REDLOCK_NAME_MAX && target->owner_len <= RL_OWNER_MAX);
    char *at = put_text(ret_text, shape->before);
    at = put_name(at, shape->braces, target->name, target->name_len);
    at = put_text(at, shape->after);
    if (shape->owner)
        at = put(at, target->owner, target->owner_len);
    at = put_text(at, shape->after_owner);
    return (size_t)(at - ret_text);
}

size_t rl_key_channel(const struct rl_target *target, char ret_text[RL_KEY_MAX])
{
    static const char letters[] = {
        [RL_WAKEUP_LOCK] = 'c',
        [RL_WAKEUP_FAIR] = 'f',
        [RL_WAKEUP_RW] = 'C',
    };
    assert(!rl_kind_queues(target->kind));
    return rl_key_text(letters[target->kind->wakeup], target, ret_text);
}

size_t rl_waiter_text(const char *uuid, uint64_t number, char ret_text[RL_WAITER_MAX])
{
    char digits[RL_DIGITS_MAX];
    size_t at = rl_to_digits(number, digits), len = strlen(uuid);
    assert(len + 1 + sizeof(digits) <= RL_WAITER_MAX);
    memcpy(ret_text, uuid, len);
    ret_text[len++] = ':';
    memcpy(ret_text + len, digits + at, sizeof(digits) - at);
    return len + sizeof(digits) - at;
}
