/* test_list_mark.c - what clients of one list have in common, as a word. */
#include "config_auto.h"

#include "base/limits.h"
#include "config/list_mark.h"
#include "suite.h"

#include <string.h>

static struct rl_node_config nodes[] = {
    {.transport = RL_TCP, .host = "a", .port = 1, .db = 2},
    {.transport = RL_TLS, .host = "a", .port = 1, .db = 3, .user = "one"},
    {.transport = RL_UNIX, .path = "/s", .db = 2},
};

static struct rl_list_mark mark_of(unsigned first, unsigned last)
{
    struct rl_node_config list[] = {nodes[first], nodes[1], nodes[last]};
    struct rl_config config = {.nodes = list,
                               .node_count = 3,
                               .max_ttl_ms = 30000,
                               .drift_factor = 0.01,
                               .guard = RL_GUARD_ON};
    struct rl_list_mark mark;
    rl_list_mark_of(&config, &mark);
    return mark;
}

TEST(word, order_and_user_do_not_count)
{
    struct rl_list_mark one = mark_of(0, 2), other = mark_of(2, 0);
    struct rl_node_config named = nodes[0];
    named.user = "another";
    ck_assert_uint_eq(one.addresses, other.addresses);
    ck_assert_uint_eq(rl_node_mark(&named), rl_node_mark(&nodes[0]));
}

TEST(word, address_database_and_socket_count)
{
    struct rl_node_config base = nodes[0], changed = base;
    changed.host = "b";
    ck_assert_uint_ne(rl_node_mark(&changed), rl_node_mark(&base));
    changed = base;
    changed.port = 2;
    ck_assert_uint_ne(rl_node_mark(&changed), rl_node_mark(&base));
    changed = base;
    changed.db = 3;
    ck_assert_uint_ne(rl_node_mark(&changed), rl_node_mark(&base));
    changed = nodes[2];
    changed.db = 3;
    ck_assert_uint_ne(rl_node_mark(&changed), rl_node_mark(&nodes[2]));
    ck_assert_uint_ne(mark_of(0, 2).addresses, mark_of(0, 0).addresses);
}

static const struct rl_list_mark marks[] = {
    {5, 30000, 10000, RL_GUARD_ON, 0x1f2e3d4c, false, false, ""},
    {5, 30000, 10000, RL_GUARD_ON, 0x1f2e3d4c, true, true, ""},
    {1, 1, 0, RL_GUARD_OFF, 0, false, false, ""},
    {REDLOCK_NODES_MAX, RL_TTL_LIMIT_MS, 999999, RL_GUARD_MARKER, 0xffffffff, false, false, ""},
    {3, 5000, 10000, RL_GUARD_ON, 5, true, false, ""},
    {REDLOCK_NODES_MAX, RL_TTL_LIMIT_MS, 999999, RL_GUARD_MARKER, 0xffffffff, true, false, ""},
    {REDLOCK_NODES_MAX, RL_TTL_LIMIT_MS, 999999, RL_GUARD_STRICT, 0xffffffff, true, false, ""},
};

TEST(word, what_is_written_is_read, .rows = ROWS(marks))
{
    char text[RL_LIST_MARK_MAX + 1];
    struct rl_list_mark read;
    rl_list_mark_write(&marks[_i], text);
    ck_assert(rl_list_mark_read(text, strlen(text), &read));
    ck_assert_uint_eq(read.nodes, marks[_i].nodes);
    ck_assert_int_eq(read.max_ttl_ms, marks[_i].max_ttl_ms);
    ck_assert_int_eq(read.drift_ppm, marks[_i].drift_ppm);
    ck_assert_int_eq(read.guard, marks[_i].guard);
    ck_assert_uint_eq(read.addresses, marks[_i].addresses);
    ck_assert_int_eq(read.strict, marks[_i].strict);
    ck_assert_int_eq(read.former, marks[_i].former);
    for (size_t len = 0; len < strlen(text); len++)
        ck_assert_msg(!rl_list_mark_read(text, len, &read) || read.other[0], "%.*s", (int)len,
                      text);
}

TEST(word, fencing_of_list_is_told)
{
    struct rl_config config = {
        .nodes = nodes, .node_count = 3, .max_ttl_ms = 30000, .guard = RL_GUARD_ON};
    struct rl_list_mark clock, strict;
    char text[RL_LIST_MARK_MAX + 1];
    config.fencing = REDLOCK_FENCING_CLOCK;
    rl_list_mark_of(&config, &clock);
    config.fencing = REDLOCK_FENCING_STRICT;
    rl_list_mark_of(&config, &strict);
    ck_assert(!clock.strict && strict.strict);
    rl_list_mark_write(&strict, text);
    ck_assert_msg(strstr(text, "-guardcertified-") != NULL, "%s", text);
}

TEST(word, word_is_readable)
{
    char text[RL_LIST_MARK_MAX + 1];
    rl_list_mark_write(&marks[0], text);
    ck_assert_str_eq(text, "n5-ttl30000-keys2-drift10000-guard-1f2e3d4c");
}

/* What the former version writes is read, and known by its keys alone. */
TEST(word, former_format_of_keys_is_told_first)
{
    static const char former[] = "n5-ttl30000-drift10000-guard-1f2e3d4c";
    struct rl_list_mark read;
    char text[RL_LIST_MARK_MAX + 1], difference[RL_LIST_DIFFERENCE_MAX];
    ck_assert(rl_list_mark_read(former, strlen(former), &read));
    ck_assert(read.former && !read.other[0]);
    rl_list_mark_write(&read, text);
    ck_assert_str_eq(text, former);
    rl_list_mark_compare(&read, &marks[0], difference);
    ck_assert_str_eq(difference, "it is of a former version, whose keys have other names");
    read.nodes = 3;
    rl_list_mark_compare(&read, &marks[0], difference);
    ck_assert_str_eq(difference, "it is of a former version, whose keys have other names");
}

static const struct {
    struct rl_list_mark its;
    const char *text;
} differences[] = {
    {{3, 20000, 0, RL_GUARD_OFF, 1, false, false, ""}, "its list has 3 masters, this one 5"},
    {{5, 20000, 0, RL_GUARD_OFF, 1, false, false, ""}, "its max-ttl is 20s, here 30s"},
    {{5, 30000, 0, RL_GUARD_OFF, 1, false, false, ""}, "its guard is off, here on"},
    {{5, 30000, 0, RL_GUARD_STRICT, 1, false, false, ""}, "its guard is strict, here on"},
    {{5, 30000, 50000, RL_GUARD_ON, 1, true, false, ""}, "its fencing is strict, here clock"},
    {{5, 30000, 50000, RL_GUARD_ON, 1, false, false, ""},
     "its drift-factor is 0.050000, here 0.010000"},
    {{5, 30000, 10000, RL_GUARD_ON, 1, false, false, ""},
     "it names other masters, or other databases of them"},
};

TEST(word, fencing_of_both_is_told)
{
    struct rl_list_mark own = marks[0], its = marks[0];
    char text[RL_LIST_DIFFERENCE_MAX];
    own.strict = true;
    rl_list_mark_compare(&its, &own, text);
    ck_assert_str_eq(text, "its fencing is clock, here strict");
}

TEST(word, first_difference_is_told, .rows = ROWS(differences))
{
    char text[RL_LIST_DIFFERENCE_MAX];
    rl_list_mark_compare(&differences[_i].its, &marks[0], text);
    ck_assert_str_eq(text, differences[_i].text);
}

/* What a later version may write: it begins as all do. */
static const char *const later[] = {
    "n3-ttl3000-keys2-drift10000-paranoid-1f2e3d4c",
    "n3-ttl3000-keys2-drift10000-guard-1f2e3d4c-more",
    "n0-ttl1-keys2-drift1-guard-00000000",
    "n65-ttl1-keys2-drift1-guard-00000000",
    "n99999999999999999999-ttl1-keys2-drift1-guard-00000000",
    "n1-ttl12345678901234-keys2-drift1-guard-00000000",
    "n1-ttl604800001-keys2-drift1-guard-00000000",
    "n1-ttl1-keys2-drift1000000-guard-00000000",
    "n1-ttl1-keys2-drift1-Guard-00000000",
    "n1-ttl1-keys2-drift1-guard-0000000g",
    "n1-ttl1-keys2-drift1-guard-000000000",
    "n1-ttl1-keys2-drift1-guard00000000",
    "n1-ttl1-keys2-drift1--00000000",
    "n1-ttl1-x",
    "n3-ttl3000-keys1-drift10000-guard-1f2e3d4c",
    "n3-ttl3000-keys3-drift10000-guard-1f2e3d4c",
    "n3-ttl3000-keys-drift10000-guard-1f2e3d4c",
    "n3-ttl3000-keys2drift10000-guard-1f2e3d4c",
    "n3-ttl3000-drift10000-keys2-guard-1f2e3d4c",
};

TEST(word, later_version_is_known_as_such, .rows = ROWS(later))
{
    struct rl_list_mark read, own = marks[0];
    char text[RL_LIST_MARK_MAX + 1], difference[RL_LIST_DIFFERENCE_MAX];
    ck_assert_msg(rl_list_mark_read(later[_i], strlen(later[_i]), &read), "%s", later[_i]);
    ck_assert_str_eq(read.other, later[_i]);
    rl_list_mark_write(&read, text);
    ck_assert_str_eq(text, later[_i]);
    rl_list_mark_compare(&read, &own, difference);
    ck_assert_str_eq(difference, "it is of another version of this library");
}

static const char *const others[] = {
    "n-ttl1-drift1-guard-00000000",
    "n1-ttl-1-drift1-guard-00000000",
    "n1_ttl1-drift1-guard-00000000",
    "m1-ttl1-drift1-guard-00000000",
    "n1-ttl1-",
    "n1-ttl1-drift1_guard",
    "n1-ttl1-drift1 guard",
    "n1-ttl1-guard\xff",
    "n1-ttl1-012345678901234567890123456789012345678901234567890123456789",
    "",
};

TEST(word, other_words_are_refused, .rows = ROWS(others))
{
    struct rl_list_mark read;
    ck_assert_msg(!rl_list_mark_read(others[_i], strlen(others[_i]), &read), "%s", others[_i]);
}
