/* test_key_rules.c - two locks of different names have no key in common, whatever their kinds
 * and owners: all names and owners that a few parts make, those left out that the rules refuse,
 * and all their keys side by side. And the hash slots of these keys. */
#include "config_auto.h"

#include "base/prng.h"
#include "kinds/keys.h"
#include "kinds/key_rules.h"
#include "kinds/server_keys.h"
#include "hash_slot.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *clash(const char *name)
{
    return rl_key_name_clash(name, strlen(name));
}

static bool may_own(int kind, const char *name, const char *owner)
{
    struct rl_target target = {
        .kind = rl_kind(kind),
        .name = name,
        .name_len = strlen(name),
        .owner = owner,
        .owner_len = strlen(owner),
    };
    return !rl_key_owner_clash(&target);
}

/* ---- every key of every name ------------------------------------------------------------ */

struct key {
    char *text;
    const char *name;
};

enum { NAMES_MAX = 5000, KEYS_MAX = 4000000, TEXT_MAX = 256 };
static char *names[NAMES_MAX];
static struct key *keys;
static size_t key_count, name_count;

static void add(const char *text, size_t len, const char *name)
{
    ck_assert_uint_lt(key_count, KEYS_MAX);
    keys[key_count] = (struct key){.text = strndup(text, len), .name = name};
    ck_assert_ptr_nonnull(keys[key_count++].text);
}

static int compare(const void *one, const void *other)
{
    const struct key *a = one, *b = other;
    int order = strcmp(a->text, b->text);
    return order ? order : strcmp(a->name, b->name);
}

static void expect_no_key_in_common(void)
{
    qsort(keys, key_count, sizeof(*keys), compare);
    for (size_t i = 1; i < key_count; i++)
        ck_assert_msg(strcmp(keys[i - 1].text, keys[i].text) != 0 ||
                          strcmp(keys[i - 1].name, keys[i].name) == 0,
                      "'%s' and '%s' have the key %s", keys[i - 1].name, keys[i].name,
                      keys[i].text);
    while (key_count > 0)
        free(keys[--key_count].text);
    while (name_count > 0)
        free(names[--name_count]);
}

/* What `count` parts make at most `most` of, one after the other; -1: no more. */
static int text_of(const char *const parts[], unsigned count, unsigned most, unsigned number,
                   char ret_text[TEXT_MAX])
{
    unsigned len = 0, first = 0, size = 1;
    for (; len <= most && number >= first + size; len++) {
        first += size;
        size *= count;
    }
    if (len > most)
        return -1;
    number -= first;
    ret_text[0] = '\0';
    for (unsigned i = 0; i < len; i++, number /= count)
        strcat(ret_text, parts[number % count]);
    return (int)strlen(ret_text);
}

static void add_leases(const struct rl_target *target)
{
    static const char *const fields[] = {"", ":write"}; /* of a reader, of a writer */
    char stem[RL_KEY_MAX], key[2 * RL_KEY_MAX];
    size_t len = rl_key_text('b', target, stem);
    for (int i = 0; i < 2; i++) {
        for (int lease = 1; lease <= 2; lease++) {
            int made = snprintf(key, sizeof(key), "%.*s:%s%s" RL_LEASE_INFIX "%d", (int)len,
                                stem, target->owner, fields[i], lease);
            add(key, (size_t)made, target->name);
        }
    }
}

static bool owner_is_sane(const char *owner) /* as rl_owner_allowed() has it of all kinds */
{
    size_t len = strlen(owner);
    return len > 0 && strcmp(owner, "mode") != 0 &&
           !(len >= 6 && strcmp(owner + len - 6, ":write") == 0);
}

static void add_keys(const char *name, const char *const parts[], unsigned part_count)
{
    struct rl_target target = {
        .kind = rl_kind(REDLOCK_READ), .name = name, .name_len = strlen(name), .owner = ""};
    char key[RL_KEY_MAX], owner[TEXT_MAX];
    for (const char *letter = "nqhsmRFB"; *letter; letter++)
        add(key, rl_key_text(*letter, &target, key), name);
    if (rl_key_format_clash(target.kind, 1, name, strlen(name)))
        return;
    for (const char *letter = "QOk"; *letter; letter++)
        add(key, rl_key_text(*letter, &target, key), name);
    for (unsigned i = 0; text_of(parts, part_count, 3, i, owner) >= 0; i++) {
        target.owner = owner;
        target.owner_len = strlen(owner);
        if (owner_is_sane(owner) && !rl_key_owner_clash(&target))
            add_leases(&target);
    }
}

static const char *const owner_parts[] = {"o", ":", "}", "{", "write", "a"};

TEST(key_rules, no_two_names_have_key_in_common, .rows = 2)
{
    static const char *const structure[] = {"a", "o", ":", "{", "}"};
    static const char *const words[] = {
        "a",  "{",   "}", "{}", ":redlock:writer", "}:redlock:holds", ":redlock", ":queue",
        ":o", ":", "redisson_lock_queue", "redisson_lock_timeout:", "rwlock_timeout",
        ":rwlock_timeout:1"};
    const char *const *const parts = _i == 0 ? structure : words;
    const unsigned count = _i == 0 ? 5 : 14, most = _i == 0 ? 5 : 3;
    char name[TEXT_MAX];
    unsigned refused = 0, taken = 0;
    keys = calloc(KEYS_MAX, sizeof(*keys));
    ck_assert_ptr_nonnull(keys);
    for (unsigned i = 1; text_of(parts, count, most, i, name) >= 0; i++) {
        bool may = !clash(name);
        refused += !may;
        if (!may)
            continue;
        ck_assert_uint_lt(taken, NAMES_MAX);
        names[taken] = strdup(name);
        ck_assert_ptr_nonnull(names[taken]);
        add_keys(names[taken++], owner_parts, 6);
    }
    ck_assert_uint_gt(taken, refused); /* it is not for refusing much that none is shared */
    ck_assert_int_eq(refused > 0, _i == 1);
    name_count = taken;
    expect_no_key_in_common();
    free(keys);
}

/* ---- what is refused, and no more ------------------------------------------------------- */

static const char *const refused[] = {
    "{x}:redlock:writer",
    "{x}:redlock:readers",
    "{x}:redlock:holds",
    "{x}:redlock:queue",
    "{x}:redlock:seen",
    "{x}:redlock:fence",
    "{x}:redlock:broken",
    "x}{}:redlock:queue",
    "}:redlock:seen",
    "{x}:o:rwlock_timeout:1",
    "a{x}:o:write:rwlock_timeout:123",
    "redisson_lock_queue:{x}",
    "redisson_lock_timeout:{x}",
    "redisson_lock_queue:a{x}b",
    "redisson_lock_timeout:a{x}b",
    "redisson_lock_token:{x}",
    RL_MARKER_KEY,
    RL_QUARANTINE_KEY,
    RL_LISTS_KEY,
    RL_FENCING_KEY,
    "libredlock:",
    "libredlock:orders",
};

TEST(key_rules, name_that_is_another_locks_key_is_refused, .rows = ROWS(refused))
{
    const char *why = clash(refused[_i]);
    ck_assert_ptr_nonnull(why);
    ck_assert_uint_lt(strlen(why), 224);
}

static const char *const allowed[] = {
    "orders:42",
    "42",
    "{x}:redlock:writers",
    "{x}:redlock:writer ",
    "{x}:redlock",
    "x:redlock:writer",
    ":redlock:queue",
    "redlock:writer",
    "{x}",
    "{a}b}",
    "{}",
    "{\"order\":42}",
    "{3F2504E0-4F89-41D3-9A0C-0305E82C3301}",
    "{user1}:x",
    "x{user1}",
    "{a}{b}",
    "{",
    "}",
    "{x",
    "x}",
    "x:rwlock_timeout",
    "x:rwlock_timeout:",
    "x:rwlock_timeout:1a",
    "rwlock_timeout:1",
    "redisson_lock_queue",
    "my:redisson_lock_queue:{x}",
    "redisson_rwlock:{x}",
    "redisson_lock__channel:{x}",
    "redlock:wake:1",
    "redlock:marker",
    "redlock:lists",
    "libredlock",
    "x:libredlock:marker",
    "{libredlock:marker}",
};

TEST(key_rules, other_names_are_not, .rows = ROWS(allowed))
{
    ck_assert_ptr_null(clash(allowed[_i]));
}

/* Redisson's formats, on one master. */
TEST(key_rules, name_in_braces_is_refused_where_the_format_is_redissons)
{
    static const char *const braced[] = {"{x}", "{}", "{a}b}"};
    for (size_t i = 0; i < sizeof(braced) / sizeof(braced[0]); i++) {
        for (int kind = 0; kind < RL_ROWS; kind++) {
            bool redissons = kind >= REDLOCK_REENTRANT && kind <= REDLOCK_WRITE;
            size_t len = strlen(braced[i]);
            ck_assert_ptr_null(rl_key_format_clash(rl_kind(kind), 3, braced[i], len));
            if (kind <= REDLOCK_WRITE || kind >= RL_ROW_SEVERAL)
                ck_assert_int_eq(
                    rl_key_format_clash(rl_kind(kind), 1, braced[i], len) != NULL, redissons);
        }
    }
    ck_assert_ptr_null(rl_key_format_clash(rl_kind(REDLOCK_READ), 1, "{a}{b}", 6));
    ck_assert_ptr_null(rl_key_format_clash(rl_kind(REDLOCK_READ), 1, "x{a}", 4));
    ck_assert_ptr_null(rl_key_format_clash(rl_kind(REDLOCK_READ), 1, "{", 1));
}

/* ---- hash slots ------------------------------------------------------------------------- */

/* As Redis's documents have it. */
TEST(slots, slot_is_redis)
{
    static const char *const keys_and_tags[][2] = {
        {"{user1000}.following", "user1000"}, {"foo{}{bar}", "foo{}{bar}"},
        {"foo{{bar}}zap", "{bar"},            {"foo{bar}{zap}", "bar"},
        {"{}x", "{}x"},                       {"a}b{c}", "c"},
        {"a{b", "a{b"},
    };
    ck_assert_uint_eq(hash_slot("123456789", 9), 0x31c3);
    ck_assert_uint_eq(hash_slot("{foo}x", 6), 12182);
    for (size_t i = 0; i < sizeof(keys_and_tags) / sizeof(keys_and_tags[0]); i++) {
        size_t len;
        const char *key = keys_and_tags[i][0];
        const char *tag = hash_slot_tag(key, strlen(key), &len);
        ck_assert_uint_eq(len, strlen(keys_and_tags[i][1]));
        ck_assert_mem_eq(tag, keys_and_tags[i][1], len);
    }
}

/* Of every name: its keys are in its own slot, or the rule says that they are not. */
static unsigned expect_one_slot(const char *name, size_t len)
{
    static const char letters[] = "qhsmRFBM";
    const struct rl_target target = {
        .kind = rl_kind(REDLOCK_PLAIN), .name = name, .name_len = len, .owner = ""};
    char key[RL_KEY_MAX];
    unsigned slot = hash_slot(name, len), apart = 0;
    for (const char *letter = letters; *letter; letter++)
        apart += hash_slot(key, rl_key_text(*letter, &target, key)) != slot;
    if (!rl_key_slot_clash(name, len))
        ck_assert_msg(apart == 0, "'%.*s' has keys in another slot", (int)len, name);
    return apart;
}

/* Does any text around the name leave what decides on its slot as it is? */
static bool has_form(const char *name, size_t len)
{
    static const char *const around[][2] = {{"{", "}"}, {"", "{}"}, {"", ":"}, {":", ""},
                                            {"{", ""},  {"", "}"},  {"", "{"}, {"}", ""},
                                            {"{}", ""}, {"x{", "}y"}};
    size_t tag_len, other_len;
    const char *tag = hash_slot_tag(name, len, &tag_len);
    char key[2 * TEXT_MAX];
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
        size_t before = strlen(around[i][0]);
        memcpy(key, around[i][0], before);
        memcpy(key + before, name, len);
        strcpy(key + before + len, around[i][1]);
        const char *other =
            hash_slot_tag(key, before + len + strlen(around[i][1]), &other_len);
        if (other_len == tag_len && memcmp(other, tag, tag_len) == 0)
            return true;
    }
    return false;
}

TEST(slots, keys_of_name_are_in_its_slot_where_any_form_can_do_that)
{
    static const char *const parts[] = {"a", "b", ":", "{", "}"};
    char name[TEXT_MAX];
    unsigned away = 0, names_seen = 0;
    for (unsigned i = 1; text_of(parts, 5, 7, i, name) >= 0; i++, names_seen++) {
        unsigned apart = expect_one_slot(name, strlen(name));
        bool clashes = rl_key_slot_clash(name, strlen(name)) != NULL;
        ck_assert_msg(clashes == !has_form(name, strlen(name)), "'%s'", name);
        away += clashes && apart > 0;
    }
    ck_assert_uint_gt(away, names_seen / 10); /* the rule is not for nothing */
}

TEST(slots, keys_of_names_of_bytes_are_in_their_slots)
{
    struct rl_prng prng;
    char name[24];
    rl_prng_seed(&prng, 7);
    for (unsigned i = 0; i < 200000; i++) {
        size_t len = 1 + rl_prng_below(&prng, sizeof(name));
        for (size_t k = 0; k < len; k++)
            name[k] = rl_prng_below(&prng, 3) ? (char)rl_prng_below(&prng, 256)
                                              : "{}"[rl_prng_below(&prng, 2)];
        expect_one_slot(name, len);
        ck_assert_int_eq(rl_key_slot_clash(name, len) != NULL, !has_form(name, len));
    }
}

/* ---- owners ----------------------------------------------------------------------------- */

TEST(key_rules, owners_of_leases_have_one_colon_at_most)
{
    static const int kinds[] = {REDLOCK_PLAIN,  REDLOCK_REENTRANT, REDLOCK_FAIR, REDLOCK_READ,
                                REDLOCK_WRITE, RL_ROW_QREAD,      RL_ROW_QWRITE};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        bool has_leases = kinds[i] == REDLOCK_READ || kinds[i] == REDLOCK_WRITE;
        ck_assert(may_own(kinds[i], "x", "alice"));
        ck_assert(may_own(kinds[i], "x", "0b7a2c5e-0000-4000-8000-000000000001:7"));
        ck_assert(may_own(kinds[i], "{x}:a", "app:7"));
        ck_assert_int_eq(may_own(kinds[i], "x", "a:o:7"), !has_leases);
        ck_assert_int_eq(may_own(kinds[i], "{x}:a", "o"), !has_leases);
        ck_assert_int_eq(may_own(kinds[i], "x", "a}:b"), !has_leases);
        ck_assert(may_own(kinds[i], "x", "{b"));
    }
}

CASE(key_rules, .timeout_s = 120)
CASE(slots, .timeout_s = 120)
