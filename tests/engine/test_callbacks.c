/* test_callbacks.c - callbacks are told once each, in order, and whoever is taken out of their
 * list takes no other one along. */
#include "config_auto.h"

#include "engine/background.h"
#include "engine/client/client.h"
#include "engine/client/kick.h"
#include "suite.h"

enum { NOTICES = 4 };

static redlock client; /* as far as a list needs one: nobody drives it */
static struct rl_callback callbacks[NOTICES];
static int told[NOTICES], told_count;

static void tell(redlock *of, struct rl_callback *callback)
{
    (void)of;
    told[told_count++] = (int)(callback - callbacks);
}

static void post(int number)
{
    callbacks[number].run = tell;
    rl_callback_enqueue(&client, &callbacks[number]);
}

static void set_up(void)
{
    client.background.kick_fd = client.background.alarm_fd = client.background.outer_fd = -1;
}

TEST(list, they_are_told_once_each_and_in_order)
{
    for (int i = 0; i < NOTICES; i++)
        post(i);
    rl_callbacks_run(&client);
    rl_callbacks_run(&client);
    ck_assert_int_eq(told_count, NOTICES);
    for (int i = 0; i < NOTICES; i++)
        ck_assert_int_eq(told[i], i);
}

/* The first, one from the middle, the last: then another one is posted. */
TEST(list, one_that_is_dropped_takes_no_other_along, .rows = NOTICES - 1)
{
    for (int i = 0; i < NOTICES - 1; i++)
        post(i);
    rl_callback_remove(&client.callbacks, &callbacks[_i]);
    rl_callback_remove(&client.callbacks, &callbacks[_i]); /* no more than once */
    post(NOTICES - 1);
    rl_callbacks_run(&client);
    ck_assert_int_eq(told_count, NOTICES - 1);
    for (int i = 0; i < told_count; i++)
        ck_assert_int_eq(told[i], i < _i ? i : i + 1);
}

TEST(list, only_element_may_be_dropped)
{
    post(0);
    rl_callback_remove(&client.callbacks, &callbacks[0]);
    post(1);
    rl_callbacks_run(&client);
    ck_assert_int_eq(told_count, 1);
    ck_assert_int_eq(told[0], 1);
}

/* Another thread runs one just now: the next waits for that. */
TEST(list, one_runs_at_a_time)
{
    client.callbacks.calling = true;
    post(0);
    rl_callbacks_run(&client);
    ck_assert_int_eq(told_count, 0);
    client.callbacks.calling = false;
    rl_callbacks_run(&client);
    ck_assert_int_eq(told_count, 1);
}

TEST(list, thread_that_sleeps_is_woken)
{
    ck_assert_int_eq(rl_kick_make(&client.background), 0);
    client.background.sleeps_until_ns = INT64_MAX;
    post(0);
    ck_assert(client.background.kicked);
    rl_kick_drain(&client.background);
    rl_background_done(&client.background);
}

CASE(list, .set_up = set_up)
