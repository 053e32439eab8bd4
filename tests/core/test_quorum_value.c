/* test_quorum_value.c - what a majority of masters says of a number. */
#include "config_auto.h"

#include "core/quorum_value.h"
#include "suite.h"

static struct rl_quorum_values of(unsigned count, const int64_t number[])
{
    struct rl_quorum_values given = {0};
    for (unsigned i = 0; i < count; i++)
        rl_quorum_value_add(&given, number[i]);
    return given;
}

/* Against a count, in every order and of every size up to four. */
TEST(numbers, it_is_largest_that_so_many_reach)
{
    static const int64_t values[] = {0, 1, 7, INT64_MAX};
    for (unsigned count = 1; count <= 4; count++) {
        for (unsigned code = 0; code < 1u << (2 * count); code++) {
            int64_t number[4];
            for (unsigned i = 0; i < count; i++)
                number[i] = values[code >> 2 * i & 3];
            for (unsigned needed = 1; needed <= count; needed++) {
                struct rl_quorum_values given = of(count, number);
                int64_t got = rl_quorum_value_reached(&given, needed);
                unsigned reach = 0, exceed = 0;
                for (unsigned i = 0; i < count; i++) {
                    reach += number[i] >= got;
                    exceed += number[i] > got;
                }
                ck_assert_uint_ge(reach, needed);
                ck_assert_uint_lt(exceed, needed);
            }
        }
    }
}

TEST(numbers, for_ever_is_most)
{
    static const int64_t number[] = {5, -1, 3};
    struct rl_quorum_values given = of(3, number);
    ck_assert_int_eq(rl_quorum_value_reached(&given, 1), -1);
    ck_assert_int_eq(rl_quorum_value_reached(&given, 2), 5);
    ck_assert_int_eq(rl_quorum_value_reached(&given, 3), 3);
}

/* Who said nothing reaches nothing. */
TEST(numbers, too_few_reach_nothing)
{
    static const int64_t number[] = {5, -1};
    struct rl_quorum_values given = of(2, number), none = {0};
    ck_assert_int_eq(rl_quorum_value_reached(&given, 3), 0);
    ck_assert_int_eq(rl_quorum_value_reached(&none, 1), 0);
}

TEST(numbers, as_many_as_there_may_be)
{
    struct rl_quorum_values given = {0};
    for (unsigned i = 0; i < REDLOCK_NODES_MAX; i++)
        rl_quorum_value_add(&given, i);
    ck_assert_int_eq(rl_quorum_value_reached(&given, REDLOCK_NODES_MAX), 0);
    ck_assert_int_eq(rl_quorum_value_reached(&given, 1), REDLOCK_NODES_MAX - 1);
}
