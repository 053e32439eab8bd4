/* test_name_set.c - several names as one: sorted, packed, and each of them again. */
#include "config_auto.h"

#include "kinds/name_set.h"
#include "suite.h"

#include <string.h>

static char why[160], packed[RL_NAMES_BYTES_MAX];

static size_t pack(const redlock_bytes *names, size_t count)
{
    memset(packed, '!', sizeof(packed));
    why[0] = '\0';
    return rl_names_pack(names, count, packed, why, sizeof(why));
}

static struct rl_target target_of(int row, const void *name, size_t len)
{
    return (struct rl_target){.kind = rl_kind(row), .name = name, .name_len = len};
}

TEST(names, same_names_in_any_order_are_same_bytes)
{
    static const char expected[] = "\0\1a\0\0\2a\0\0\0\2ab\0\0\1b\0\0\1\xff";
    static const redlock_bytes one[] = {{"a", 1}, {"a\0", 2}, {"ab", 2}, {"b", 1}, {"\xff", 1}};
    static const redlock_bytes other[] = {{"\xff", 1}, {"b", 1},  {"ab", 2}, {"b", 1},
                                          {"a\0", 2},  {"ab", 2}, {"a", 1}};
    ck_assert_uint_eq(pack(one, 5), sizeof(expected));
    ck_assert_mem_eq(packed, expected, sizeof(expected));
    ck_assert_uint_eq(pack(other, 7), sizeof(expected));
    ck_assert_mem_eq(packed, expected, sizeof(expected));
    ck_assert(rl_names_fit(packed, sizeof(expected)));
}

TEST(names, each_of_them_again)
{
    static const redlock_bytes names[] = {{"c", 1}, {"a", 1}, {"bb", 2}};
    struct rl_target target = target_of(RL_ROW_SEVERAL, packed, pack(names, 3));
    static const char *const expected[] = {"a", "bb", "c"};
    redlock_bytes name;
    size_t at = 0;
    ck_assert_uint_eq(rl_names_count(&target), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert(rl_names_next(&target, &at, &name));
        ck_assert_str_eq(name.bytes, expected[i]);
        ck_assert_uint_eq(name.len, strlen(expected[i]));
    }
    ck_assert(!rl_names_next(&target, &at, &name));
    /* One name is itself, whatever its bytes. */
    target = target_of(RL_ROW_PLAIN, "\0\1a\0\0\1b", 8);
    at = 0;
    ck_assert_uint_eq(rl_names_count(&target), 1);
    ck_assert(rl_names_next(&target, &at, &name));
    ck_assert(name.bytes == target.name && name.len == 8);
    ck_assert(!rl_names_next(&target, &at, &name));
}

static char bytes[REDLOCK_NAME_MAX + 1];

TEST(names, as_many_and_as_long_as_they_may_be)
{
    redlock_bytes names[REDLOCK_NAMES_MAX + 1];
    enum { EACH = REDLOCK_NAME_MAX / REDLOCK_NAMES_MAX };
    for (size_t i = 0; i <= REDLOCK_NAMES_MAX; i++) {
        bytes[i * EACH % REDLOCK_NAME_MAX] = (char)i;
        names[i] = (redlock_bytes){.bytes = bytes + i * EACH % REDLOCK_NAME_MAX, .len = EACH};
    }
    ck_assert_uint_eq(pack(names, REDLOCK_NAMES_MAX), RL_NAMES_BYTES_MAX);
    ck_assert(rl_names_fit(packed, RL_NAMES_BYTES_MAX));
    ck_assert_uint_eq(pack(names, REDLOCK_NAMES_MAX + 1), 0);
    ck_assert_str_eq(why, "65 names can't be locked at once: from 1 to 64 can");
    names[0].len++;
    ck_assert_uint_eq(pack(names, REDLOCK_NAMES_MAX), 0);
    ck_assert_str_eq(why, "the names have more than 4096 bytes together");
    names[0].len = SIZE_MAX;
    ck_assert_uint_eq(pack(names, 2), 0);
    names[0].len = REDLOCK_NAME_MAX;
    names[1] = names[0];
    ck_assert_uint_eq(pack(names, 2), REDLOCK_NAME_MAX + 3); /* they are one */
    ck_assert(rl_names_fit(packed, REDLOCK_NAME_MAX + 3));
}

TEST(names, names_that_are_none)
{
    static const redlock_bytes names[] = {{"a", 1}, {"", 0}, {NULL, 1}};
    ck_assert_uint_eq(pack(NULL, 1), 0);
    ck_assert_uint_eq(pack(names, 0), 0);
    ck_assert_str_eq(why, "0 names can't be locked at once: from 1 to 64 can");
    ck_assert_uint_eq(pack(names, 2), 0);
    ck_assert_str_eq(why, "name 2 of 2 is empty: a lock needs a name of at least one byte");
    ck_assert_uint_eq(pack(names + 2, 1), 0);
    ck_assert_str_eq(why, "name 1 of 1 is empty: a lock needs a name of at least one byte");
}

static const struct {
    const char *bytes;
    size_t len;
} unfit[] = {
    {"", 0},
    {"\0", 1},
    {"\0\1a", 3},          /* no NUL */
    {"\0\1ab", 4},         /* none there */
    {"\0\0\0", 3},         /* an empty name */
    {"\0\2a\0", 4},        /* cut short */
    {"\0\1a\0\0", 5},      /* a second one cut short */
    {"\0\1b\0\0\1a\0", 8}, /* not sorted */
    {"\0\1a\0\0\1a\0", 8}, /* twice */
    {"\xff\xff"
     "a\0",
     4},
};

TEST(names, bytes_that_are_no_names, .rows = ROWS(unfit))
{
    ck_assert(!rl_names_fit(unfit[_i].bytes, unfit[_i].len));
}

TEST(names, too_many_bytes_are_no_names)
{
    static char many[3 * RL_NAMES_BYTES_MAX];
    size_t len = 0;
    for (int i = 0; i <= REDLOCK_NAMES_MAX; i++) { /* one more than there may be */
        memcpy(many + len, (char[]){0, 1, (char)('!' + i), 0}, 4);
        len += 4;
    }
    ck_assert(!rl_names_fit(many, len));
    ck_assert(rl_names_fit(many, len - 4));
    memset(many, 'x', sizeof(many)); /* and one byte more */
    many[0] = (char)((REDLOCK_NAME_MAX + 1) >> 8);
    many[1] = (char)((REDLOCK_NAME_MAX + 1) & 255);
    many[REDLOCK_NAME_MAX + 3] = '\0';
    ck_assert(!rl_names_fit(many, REDLOCK_NAME_MAX + 4));
}
