/* test_keys.c - the keys and channels of a lock: exactly what Redisson calls them, and what is
 * ours beside them. */
#include "config_auto.h"

#include "kinds/keys.h"
#include "suite.h"

#include <string.h>

static struct rl_target target_of(const char *name, size_t len, const char *owner)
{
    return (struct rl_target){
        .kind = rl_kind(REDLOCK_PLAIN),
        .name = name,
        .name_len = len,
        .owner = owner,
        .owner_len = strlen(owner),
    };
}

static const struct {
    char letter;
    const char *plain;  /* of the name "a b" and the owner "u:7" */
    const char *braced; /* of "x{a}" */
} keys[] = {
    {'n', "a b", "x{a}"},
    {'q', "{a b}:redlock:queue", "x{a}{}:redlock:queue"},
    {'h', "{a b}:redlock:holds", "x{a}{}:redlock:holds"},
    {'s', "{a b}:redlock:seen", "x{a}{}:redlock:seen"},
    {'m', "{a b}:redlock:writer", "x{a}{}:redlock:writer"},
    {'R', "{a b}:redlock:readers", "x{a}{}:redlock:readers"},
    {'F', "{a b}:redlock:fence", "x{a}{}:redlock:fence"},
    {'B', "{a b}:redlock:broken", "x{a}{}:redlock:broken"},
    {'M', "{a b}:redlock:queue", "x{a}{}:redlock:queue"},
    {'k', "redisson_lock_token:{a b}", "redisson_lock_token:x{a}"},
    {'b', "{a b}", "x{a}"},
    {'c', "redisson_lock__channel:{a b}", "redisson_lock__channel:x{a}"},
    {'f', "redisson_lock__channel:{a b}:u:7", "redisson_lock__channel:x{a}:u:7"},
    {'C', "redisson_rwlock:{a b}", "redisson_rwlock:x{a}"},
    {'Q', "redisson_lock_queue:{a b}", "redisson_lock_queue:x{a}"},
    {'O', "redisson_lock_timeout:{a b}", "redisson_lock_timeout:x{a}"},
    {'r', "{a b}:u:7:rwlock_timeout", "x{a}:u:7:rwlock_timeout"},
};
#define KEYS ((int)(sizeof(keys) / sizeof(keys[0])))

static void expect_key(char letter, const struct rl_target *target, const char *wanted)
{
    char key[RL_KEY_MAX];
    size_t len = rl_key_text(letter, target, key);
    ck_assert_uint_eq(len, strlen(wanted));
    ck_assert_mem_eq(key, wanted, len);
}

TEST(key, letter_is_key, .rows = KEYS)
{
    struct rl_target plain = target_of("a b", 3, "u:7");
    struct rl_target braced = target_of("x{a}", 4, "u:7");
    expect_key(keys[_i].letter, &plain, keys[_i].plain);
    expect_key(keys[_i].letter, &braced, keys[_i].braced);
}

/* A brace counts wherever it stands, and alone. */
TEST(key, one_brace_is_enough)
{
    struct rl_target target = target_of("ab{", 3, "");
    expect_key('c', &target, "redisson_lock__channel:ab{");
    target = target_of("ab}", 3, "");
    expect_key('c', &target, "redisson_lock__channel:{ab}}");
}

/* It is another name than the one inside the braces. */
TEST(key, name_in_braces_keeps_redissons_as_well)
{
    struct rl_target target = target_of("{ab}", 4, "");
    expect_key('c', &target, "redisson_lock__channel:{{ab}}");
    expect_key('q', &target, "{ab}{}:redlock:queue");
    target = target_of("{}", 2, "");
    expect_key('C', &target, "redisson_rwlock:{{}}");
    target = target_of("{a}{b}", 6, "");
    expect_key('C', &target, "redisson_rwlock:{a}{b}");
    target = target_of("{", 1, "");
    expect_key('C', &target, "redisson_rwlock:{");
}

TEST(key, names_are_bytes)
{
    char key[RL_KEY_MAX];
    struct rl_target target = target_of("a\0{b", 4, "");
    static const char wanted[] = "redisson_rwlock:a\0{b";
    ck_assert_uint_eq(rl_key_text('C', &target, key), sizeof(wanted) - 1);
    ck_assert_mem_eq(key, wanted, sizeof(wanted) - 1);
}

/* The longest name and owner have room. */
TEST(key, longest_key_fits)
{
    static char name[REDLOCK_NAME_MAX], owner[RL_OWNER_MAX + 1];
    char key[RL_KEY_MAX];
    memset(name, 'n', sizeof(name));
    memset(owner, 'o', RL_OWNER_MAX);
    struct rl_target target = target_of(name, sizeof(name), owner);
    size_t longest = 0;
    for (int i = 0; i < KEYS; i++) {
        size_t len = rl_key_text(keys[i].letter, &target, key);
        ck_assert_uint_le(len, RL_KEY_MAX);
        longest = len > longest ? len : longest;
    }
    ck_assert_uint_gt(longest, REDLOCK_NAME_MAX + RL_OWNER_MAX);
}
