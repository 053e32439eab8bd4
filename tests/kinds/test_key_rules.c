/* test_key_rules.c - two locks of different names have no key in common, whatever their kinds
 * and owners: all names and owners that a few parts make, those left out that the rules refuse,
 * and all their keys side by side. */
#include "config_auto.h"

#include "kinds/keys.h"
#include "kinds/key_rules.h"
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
    for (const char *letter = "nqhsmRQO"; *letter; letter++)
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
        "a",  "{",   "}", "{a}", ":redlock:writer", ":redlock:holds", ":redlock", ":queue",
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
    ck_assert_uint_gt(refused, 0);
    name_count = taken;
    expect_no_key_in_common();
    free(keys);
}

/* ---- what is refused, and no more ------------------------------------------------------- */

static const char *const refused[] = {
    "x:redlock:writer",
    "x:redlock:readers",
    "x:redlock:holds",
    "x:redlock:queue",
    "x:redlock:seen",
    "x:redlock:broken",
    ":redlock:seen",
    "{x}:o:rwlock_timeout:1",
    "a{x}:o:write:rwlock_timeout:123",
    "redisson_lock_queue:{x}",
    "redisson_lock_timeout:{x}",
    "redisson_lock_queue:a{x}b",
    "redisson_lock_timeout:a{x}b",
    "redisson_lock_token:{x}",
    "{x}",
    "{a}b}",
    "redlock:marker",
    "redlock:quarantine",
    "redlock:lists",
    "redlock:fencing",
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
    "x:redlock:writers",
    "x:redlock:writer ",
    "x:redlock",
    "redlock:writer",
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
    "redlock:marker:1",
    "redlock:list",
    "redlock:quarantin",
    "x:redlock:marker",
};

TEST(key_rules, other_names_are_not, .rows = ROWS(allowed))
{
    ck_assert_ptr_null(clash(allowed[_i]));
}

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
