/* fake_keys.c - see fake_keys.h. */
#include "config_auto.h"

#include "fake_keys.h"

#include "kinds/scripts.h" /* generated: the parts of what the library sends */
#include "script_text.h"
#include "suite.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ACQUIRE, EXTEND, RETAKE, RELEASE, INSPECT, FORCE, WAIT, LEAVE, FENCED };

static const struct {
    const char *verb;
    const char *const *body;
    unsigned keys;
    unsigned arguments; /* the nonce too */
} scripts[FAKE_SCRIPTS] = {
    [ACQUIRE] = {"acquire", rl_script_plain_acquire, 1, 3},
    [EXTEND] = {"extend", rl_script_plain_extend, 1, 3},
    [RETAKE] = {"retake", rl_script_plain_retake, 1, 3},
    [RELEASE] = {"release", rl_script_plain_release, 2, 2},
    [INSPECT] = {"inspect", rl_script_inspect, 1, 2},
    [FORCE] = {"force", rl_script_force, 2, 5},
    [WAIT] = {"wait", rl_script_plain_wait, 2, 6},
    [LEAVE] = {"leave", rl_script_plain_leave, 2, 3},
    [FENCED] = {"fenced", rl_script_plain_acquire_fenced, 2, 7},
};

static bool same(const struct wire_item *item, const char *text)
{
    return item->len == strlen(text) && strncasecmp(item->bytes, text, item->len) == 0;
}

int fake_script(const struct wire_item *items, unsigned count, bool *ret_whole)
{
    /* array, EVAL, body or digest, number of keys, name, maybe the queue's, nonce, ... */
    *ret_whole = count > 5 && same(&items[1], "EVAL");
    if (count < 6 || !(*ret_whole || same(&items[1], "EVALSHA")))
        return -1;
    for (int i = 0; i < FAKE_SCRIPTS; i++) {
        unsigned char digest[SHA_DIGEST_LENGTH];
        char hex[2 * SHA_DIGEST_LENGTH + 1];
        const char *body = script_text(scripts[i].body);
        SHA1((const unsigned char *)body, strlen(body), digest);
        for (size_t k = 0; k < sizeof(digest); k++)
            snprintf(hex + 2 * k, 3, "%02x", digest[k]);
        if (same(&items[2], *ret_whole ? body : hex))
            return i;
    }
    return -1;
}

const char *fake_script_verb(int script)
{
    return scripts[script].verb;
}

const char *fake_script_body(const char *verb)
{
    for (int i = 0; i < FAKE_SCRIPTS; i++) {
        if (strcmp(scripts[i].verb, verb) == 0)
            return script_text(scripts[i].body);
    }
    suite_die("no script %s", verb);
}

/* The live key of that name; else with `make` a free slot, else NULL. */
static struct fake_key *find(struct fake_keys *keys, const char *name, size_t len, bool make)
{
    struct fake_key *free_slot = NULL;
    for (int i = 0; i < FAKE_KEYS_MAX; i++) {
        struct fake_key *key = &keys->key[i];
        if (key->end_ms <= now_ms())
            key->end_ms = 0;
        if (key->end_ms == 0)
            free_slot = key;
        else if (key->name_len == len && memcmp(key->name, name, len) == 0)
            return key;
    }
    if (make && (!free_slot || len > FAKE_VALUE_MAX))
        suite_die("a fake master is full");
    return make ? free_slot : NULL;
}

bool fake_keys_have(struct fake_keys *keys, const char *name, size_t name_len)
{
    return find(keys, name, name_len, false) != NULL;
}

static void put(struct fake_keys *keys, const struct wire_item *name,
                const struct wire_item *value, int64_t ttl_ms)
{
    struct fake_key *key = find(keys, name->bytes, name->len, true);
    if (value->len > FAKE_VALUE_MAX)
        suite_die("a value is too long for a fake master");
    memcpy(key->name, name->bytes, name->len);
    memcpy(key->value, value->bytes, value->len);
    key->name_len = name->len;
    key->value_len = value->len;
    key->end_ms = now_ms() + ttl_ms;
}

/* The script's second element. `key` is the live key, or NULL; `argument` points to the
 * nonce, the token and the ttl; of a release, to the token. */
static int decide(struct fake_keys *keys, int script, struct fake_key *key,
                  const struct wire_item *name, const struct wire_item *argument)
{
    if (script == INSPECT)
        return !key;
    if (script == LEAVE) /* there are no queues here */
        return 1;
    if (script == FORCE || script == RELEASE) {
        bool ours = key && (script == FORCE ||
                            (key->value_len == argument[0].len &&
                             memcmp(key->value, argument[0].bytes, key->value_len) == 0));
        if (ours)
            key->end_ms = 0;
        return ours;
    }
    int64_t ttl_ms = strtoll(argument[2].bytes, NULL, 10); /* a bulk: CR ends the digits */
    if (!key && script != EXTEND) {
        put(keys, name, &argument[1], ttl_ms);
        return 1;
    }
    if (!key || script == ACQUIRE || script == FENCED || script == WAIT ||
        key->value_len != argument[1].len ||
        memcmp(key->value, argument[1].bytes, key->value_len) != 0)
        return 0;
    if (key->end_ms < now_ms() + ttl_ms)
        key->end_ms = now_ms() + ttl_ms;
    return 1;
}

/* What inspect.lua says: there are plain locks here, and no queues. */
static size_t tell(const struct fake_key *key, const struct wire_item *nonce, char *ret_reply,
                   size_t size)
{
    char details[FAKE_VALUE_MAX + 64];
    long long left_ms = key ? key->end_ms - now_ms() : -2;
    int holder_len = key ? (int)key->value_len : 0, nonce_len = (int)nonce->len;
    const char *holder = key ? key->value : "";
    int len = key ? snprintf(details, sizeof(details), "plain 0 0 1\nx 1 %lld %d %.*s\n",
                             left_ms, holder_len, holder_len, holder)
                  : snprintf(details, sizeof(details), "free 0 0 0\n");
    return (size_t)snprintf(
        ret_reply, size, "*5\r\n$%d\r\n%.*s-\r\n:%d\r\n:%lld\r\n$%d\r\n%.*s\r\n$%d\r\n%s\r\n",
        nonce_len + 1, nonce_len, nonce->bytes, !key, left_ms, holder_len, holder_len, holder,
        len, details);
}

size_t fake_execute(struct fake_keys *keys, const struct wire_item *items, unsigned count,
                    char *ret_reply, size_t size)
{
    bool whole;
    int script = fake_script(items, count, &whole);
    if (script >= 0 && whole)
        keys->known[script] = true;
    if (script < 0 || !keys->known[script])
        return (size_t)snprintf(ret_reply, size, "-NOSCRIPT No matching script.\r\n");
    const struct wire_item *name = &items[4], *argument = name + scripts[script].keys;
    if (count != 4 + scripts[script].keys + scripts[script].arguments)
        return (size_t)snprintf(ret_reply, size, "-ERR %s: %u words\r\n", scripts[script].verb,
                                count);
    struct fake_key *key = find(keys, name->bytes, name->len, false);
    int yes = decide(keys, script, key, name, argument);
    bool echoes = script == RELEASE; /* without the token's first character */
    int nonce_len = (int)argument[0].len - echoes;
    bool waits = script == WAIT;
    if (script == INSPECT)
        return tell(key, argument, ret_reply, size);
    if (yes && script == FENCED) /* the number that the client proposes */
        return (size_t)snprintf(ret_reply, size, "*3\r\n$%d\r\n%.*s-\r\n:1\r\n:%lld\r\n",
                                nonce_len + 1, nonce_len, argument[0].bytes,
                                strtoll(argument[4].bytes, NULL, 10));
    if (!yes && (script == ACQUIRE || script == FENCED || waits))
        return (size_t)snprintf(ret_reply, size,
                                "*%d\r\n$%d\r\n%.*s-\r\n:0\r\n:%lld\r\n$%zu\r\n%.*s\r\n%s",
                                waits ? 5 : 4, nonce_len + 1, nonce_len, argument[0].bytes,
                                (long long)(key->end_ms - now_ms()), key->value_len,
                                (int)key->value_len, key->value, waits ? ":0\r\n" : "");
    return (size_t)snprintf(ret_reply, size,
                            yes ? "$%d\r\n%.*s\r\n" : "*2\r\n$%d\r\n%.*s-\r\n:0\r\n",
                            nonce_len + !yes, nonce_len, argument[0].bytes + echoes);
}

bool fake_is_native(const struct wire_item *items, unsigned count)
{
    return count == 7 && same(&items[1], "SET") && same(&items[4], "NX") &&
           same(&items[5], "PX");
}

size_t fake_set(struct fake_keys *keys, const struct wire_item *items, char *ret_reply,
                size_t size)
{
    if (find(keys, items[2].bytes, items[2].len, false))
        return (size_t)snprintf(ret_reply, size, "$-1\r\n");
    put(keys, &items[2], &items[3], strtoll(items[6].bytes, NULL, 10));
    return (size_t)snprintf(ret_reply, size, "+OK\r\n");
}

size_t fake_get(struct fake_keys *keys, const struct wire_item *items, char *ret_reply,
                size_t size)
{
    const struct fake_key *key = find(keys, items[2].bytes, items[2].len, false);
    if (!key)
        return (size_t)snprintf(ret_reply, size, "$-1\r\n");
    return (size_t)snprintf(ret_reply, size, "$%zu\r\n%.*s\r\n", key->value_len,
                            (int)key->value_len, key->value);
}
