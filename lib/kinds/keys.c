/* keys.c - see keys.h. Core. */
#include "config_auto.h"

#include "kinds/keys.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

/* The key of a letter: text before and after the name, in braces or not. */
struct shape {
    char letter;
    bool braces;
    const char *before, *after;
    bool owner; /* and then the owner */
    const char *after_owner;
};

static const struct shape shapes[] = {
    {'n', false, "", "", false, ""},
    {'q', false, "", RL_QUEUE_SUFFIX, false, ""},
    {'N', false, "", "", false, ""},
    {'M', false, "", RL_QUEUE_SUFFIX, false, ""},
    {'h', false, "", RL_HOLDS_SUFFIX, false, ""},
    {'s', false, "", RL_SEEN_SUFFIX, false, ""},
    {'m', false, "", RL_WRITER_SUFFIX, false, ""},
    {'R', false, "", RL_READERS_SUFFIX, false, ""},
    {'B', false, "", RL_BROKEN_SUFFIX, false, ""},
    {'F', false, "", RL_FENCE_SUFFIX, false, ""},
    {'k', true, RL_REDISSON_FENCE_PREFIX, "", false, ""},
    {'b', true, "", "", false, ""},
    {'c', true, "redisson_lock__channel:", "", false, ""},
    {'f', true, "redisson_lock__channel:", ":", true, ""},
    {'C', true, "redisson_rwlock:", "", false, ""},
    {'Q', true, RL_FAIR_QUEUE_PREFIX, "", false, ""},
    {'O', true, RL_FAIR_TIMES_PREFIX, "", false, ""},
    {'r', true, "", ":", true, ":rwlock_timeout"},
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

size_t rl_key_text(char letter, const struct rl_target *target, char ret_text[RL_KEY_MAX])
{
    const struct shape *shape = shape_of(letter);
    bool braces = shape->braces && !memchr(target->name, '{', target->name_len);
    assert(target->name_len <= REDLOCK_NAME_MAX && target->owner_len <= RL_OWNER_MAX);
    char *at = put_text(ret_text, shape->before);
    at = put_text(at, braces ? "{" : "");
    at = put(at, target->name, target->name_len);
    at = put_text(at, braces ? "}" : "");
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
