/* test_line.c - the lines of those who wait in one client: their order, their turns, and the
 * numbers that the masters know them by. */
#include "config_auto.h"

#include "suite.h"

#include "op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITERS = 8, NAMES = 5000 };

/* A waiter first, and what it was told. */
struct told {
    struct rl_waiter waiter;
    unsigned turns[8];
};

static redlock *client; /* of masters that are not there: nothing is sent */
static struct told told[WAITERS];

static void turn(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns)
{
    struct told *one = (struct told *)waiter;
    (void)now_ns;
    ck_assert(rl_line_is_first(waiter));
    one->turns[why]++;
}

static unsigned turns(const struct told *one)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 8; i++)
        sum += one->turns[i];
    return sum;
}

static void set_up(void)
{
    static const redlock_node nodes[3] = {
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/1"},
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/2"},
        {.size = sizeof(redlock_node), .url = "unix:///nowhere/3"},
    };
    redlock_config config = REDLOCK_CONFIG_INIT;
    config.nodes = nodes;
    config.node_count = 3;
    config.background = REDLOCK_BACKGROUND_NEVER;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    memset(told, 0, sizeof(told));
    for (int i = 0; i < WAITERS; i++)
        told[i].waiter.turn = turn;
}

static void tear_down(void)
{
    ck_assert_uint_eq(client->lines.waiting, 0);
    ck_assert_uint_eq(client->lines.count, 0);
    redlock_close(client);
}

static void join(int i, const char *name)
{
    ck_assert_int_eq(
        rl_line_join(client, &told[i].waiter, rl_kind(REDLOCK_PLAIN), name, strlen(name), 1),
        0);
}

static void leave(int i, bool won)
{
    rl_line_leave(client, &told[i].waiter, won, 2);
}

static uint64_t number(const char *name)
{
    struct rl_line *line = rl_line_find(client, name, strlen(name));
    ck_assert_ptr_nonnull(line);
    return line->number;
}

START_TEST(first_come_is_first)
{
    set_up();
    for (int i = 0; i < WAITERS; i++)
        join(i, "name");
    ck_assert_uint_eq(client->lines.waiting, WAITERS);
    for (int i = 0; i < WAITERS; i++) {
        ck_assert(rl_line_is_first(&told[i].waiter));
        for (int k = i + 1; k < WAITERS; k++) {
            ck_assert(!rl_line_is_first(&told[k].waiter));
            ck_assert_uint_eq(turns(&told[k]), 0);
        }
        leave(i, true);
        ck_assert(!rl_line_is_first(&told[i].waiter));
        if (i + 1 < WAITERS)
            ck_assert_uint_eq(told[i + 1].turns[RL_TURN_FIRST], 1);
    }
    ck_assert_ptr_null(rl_line_find(client, "name", 4));
    tear_down();
}
END_TEST

START_TEST(who_leaves_from_within_changes_nothing_for_the_first)
{
    set_up();
    for (int i = 0; i < 4; i++)
        join(i, "name");
    leave(1, false);
    leave(3, false);
    leave(3, false); /* in no line: nothing */
    ck_assert_uint_eq(turns(&told[0]) + turns(&told[2]), 0);
    ck_assert_uint_eq(client->lines.waiting, 2);
    join(3, "name");
    leave(0, false);
    ck_assert_uint_eq(told[2].turns[RL_TURN_FIRST], 1);
    leave(2, false);
    ck_assert_uint_eq(told[3].turns[RL_TURN_FIRST], 1);
    leave(3, false);
    tear_down();
}
END_TEST

/* A place in the masters' queues is the line's as long as nobody of it has had the lock: who
 * gives up leaves it to the next, who wins has used it up. */
START_TEST(a_number_is_good_for_one_lock)
{
    set_up();
    for (int i = 0; i < 3; i++)
        join(i, "name");
    uint64_t before = number("name");
    leave(0, false);
    ck_assert_uint_eq(number("name"), before);
    ck_assert(rl_line_stands(client, before));
    leave(1, true);
    ck_assert_uint_ne(number("name"), before);
    ck_assert(!rl_line_stands(client, before));
    rl_line_woken(client, 0, before, 3); /* for nobody */
    ck_assert_uint_eq(told[2].turns[RL_TURN_WOKEN], 0);
    ck_assert_uint_eq(client->stats.wakes, 1);
    before = number("name");
    leave(2, true);
    ck_assert(!rl_line_stands(client, before));
    join(0, "name");
    ck_assert_uint_ne(number("name"), before);
    leave(0, true);
    tear_down();
}
END_TEST

START_TEST(only_the_first_of_the_right_line_is_called)
{
    set_up();
    join(0, "name");
    join(1, "name");
    join(2, "other");
    rl_line_woken(client, 0, number("name"), 3);
    rl_line_freed(client, "name", 4, 3);
    rl_line_freed(client, "nam", 3, 3);
    ck_assert_uint_eq(told[0].turns[RL_TURN_WOKEN], 1);
    ck_assert_uint_eq(told[0].turns[RL_TURN_FREED], 1);
    ck_assert_uint_eq(turns(&told[1]) + turns(&told[2]), 0);
    rl_lines_changed(client, 1, true, 3);
    ck_assert_uint_eq(told[0].turns[RL_TURN_LISTENS], 1);
    ck_assert_uint_eq(told[1].turns[RL_TURN_LISTENS], 0);
    ck_assert_uint_eq(told[2].turns[RL_TURN_LISTENS], 1);
    rl_lines_changed(client, 1, false, 3);
    ck_assert_uint_eq(told[0].turns[RL_TURN_LISTENS], 1);
    leave(0, true);
    leave(1, true);
    leave(2, true);
    tear_down();
}
END_TEST

/* Which masters woke it is counted once each, and they have it in the queue no more; nor can
 * one be relied on that was not listened to. */
START_TEST(wakes_and_places_are_kept_by_node)
{
    set_up();
    join(0, "name");
    struct rl_line *line = rl_line_find(client, "name", 4);
    for (unsigned i = 0; i < 3; i++)
        rl_line_answered(client, line->number, i, RL_QUEUED, 1);
    ck_assert_uint_eq(line->queued, 7);
    rl_line_woken(client, 1, line->number, 30);
    rl_line_woken(client, 1, line->number, 40);
    ck_assert_uint_eq(line->wakes, 2);
    ck_assert_int_eq(line->woken_ns, 30);
    ck_assert_uint_eq(line->queued, 5);
    rl_line_answered(client, line->number, 0, RL_NOT_QUEUED, 1);
    ck_assert_uint_eq(line->queued, 4);
    rl_lines_changed(client, 2, false, 50);
    ck_assert_uint_eq(line->queued, 0);
    ck_assert_uint_ne(line->entered & 4, 0); /* it is to be told when we leave */
    rl_line_answered(client, line->number, 2, RL_QUEUED, 1);
    rl_line_answered(client, line->number, 2, RL_NOT_QUEUED, 1);
    ck_assert_uint_eq(line->queued, 0);
    rl_line_answered(client, line->number + 1, 1, RL_QUEUED, 1); /* of a line that is not */
    ck_assert_uint_eq(line->queued, 0);
    leave(0, true);
    tear_down();
}
END_TEST

/* Names come and go; each finds its own line, by name and by number. */
START_TEST(many_lines_are_told_apart)
{
    static struct told many[NAMES];
    static uint64_t numbers[NAMES];
    char name[32];
    set_up();
    memset(many, 0, sizeof(many));
    for (int round = 0; round < 2; round++) {
        for (int i = round; i < NAMES; i += 1 + round) {
            int len = snprintf(name, sizeof(name), "name-%d", i);
            many[i].waiter.turn = turn;
            ck_assert_int_eq(rl_line_join(client, &many[i].waiter, rl_kind(REDLOCK_PLAIN), name,
                                          (size_t)len, 1),
                             0);
            numbers[i] = number(name);
        }
        for (int i = 0; i < NAMES; i += 2)
            rl_line_leave(client, &many[i].waiter, i % 4 == 0, 2);
        for (int i = 0; i < NAMES; i++) {
            snprintf(name, sizeof(name), "name-%d", i);
            ck_assert_int_eq(rl_line_stands(client, numbers[i]), i % 2);
            struct rl_line *line = rl_line_find(client, name, strlen(name));
            ck_assert_int_eq(line != NULL, i % 2);
            ck_assert(!line || (line->number == numbers[i] && line->first == &many[i].waiter));
        }
        for (int i = 1; i < NAMES; i += 2)
            rl_line_leave(client, &many[i].waiter, true, 2);
    }
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("line");
    TCase *tests = tcase_create("line");
    tcase_add_test(tests, first_come_is_first);
    tcase_add_test(tests, who_leaves_from_within_changes_nothing_for_the_first);
    tcase_add_test(tests, a_number_is_good_for_one_lock);
    tcase_add_test(tests, only_the_first_of_the_right_line_is_called);
    tcase_add_test(tests, wakes_and_places_are_kept_by_node);
    tcase_add_test(tests, many_lines_are_told_apart);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
