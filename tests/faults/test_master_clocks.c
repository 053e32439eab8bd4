/* test_master_clocks.c - real masters whose time of day is set, or runs too fast, while a
 * client watches it by INFO: what holders are told, and what the node's text says. */
#include "config_auto.h"

#include "client.h"
#include "marks.h"
#include "stepped.h"
#include "told.h"

#include <string.h>

#define NS_PER_MS INT64_C(1000000)
#define HOUR_NS (3600 * INT64_C(1000000000))
#define MARKED "guard marker\nmax-ttl 2s\nttl 1s\n"

static struct masters *masters;
static volatile int64_t *step_ns;
static struct told lost;
static char text[192];

static redlock *open_on_stepped(unsigned n, const char *settings)
{
    masters = masters_start_stepped(n, &step_ns);
    masters_mark(masters);
    redlock *client = client_open(masters_guarded_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == n, 20000));
    return client;
}

static redlock_lock *take_watched(redlock *client, int64_t ttl_ms)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    lost = (struct told){.calls = 0};
    options.ttl_ms = ttl_ms;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(client, "name", &options, &lock), 0);
    return lock;
}

/* By no renewal, and by no call: half of max-ttl is the longest time between two looks. */
TEST(master_clocks, step_forward_is_told_within_half_of_max_ttl)
{
    redlock *client = open_on_stepped(3, MARKED);
    redlock_lock *lock = take_watched(client, 2000);
    int64_t begun = now_ms();
    *step_ns = HOUR_NS;
    ck_assert(wait_until(atomic_load(&lost.calls) == 1, 10000));
    ck_assert_int_le(now_ms() - begun, 1000 + 500);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(client_state(client, 0, text), REDLOCK_NODE_READY);
    ck_assert_msg(strstr(text, "warning: its clock is 3599.") == text, "%s", text);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    /* What is granted from now on counts. */
    ck_assert_int_eq(client_try(client, "name", 1000, 5000, NULL, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

TEST(master_clocks, step_back_costs_no_lock)
{
    redlock *client = open_on_stepped(3, MARKED);
    redlock_lock *lock = told_take_renewed(client, "name", 1500, &lost);
    *step_ns = -HOUR_NS;
    ck_assert(wait_until(client_state(client, 1, text) == REDLOCK_NODE_READY && text[0], 5000));
    ck_assert_msg(strstr(text, "behind what it was") != NULL, "%s", text);
    ck_assert_int_eq(atomic_load(&lost.calls), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* With `guard on` a client looks when it connects anew, and it is the same server. It is one
 * master: of several, each would be filled in before the next connection ends, if that takes
 * some 20 ms. */
TEST(master_clocks, step_forward_is_told_at_next_connect)
{
    redlock *client = open_on_stepped(1, "max-ttl 10s\n");
    redlock_lock *lock = take_watched(client, 8000);
    *step_ns = HOUR_NS;
    master_do(masters, 0, "CLIENT", "KILL", "TYPE", "normal", NULL);
    ck_assert(wait_until(atomic_load(&lost.calls) == 1, 4000));
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    redlock_release(lock);
    redlock_close(client);
}

static redlock_node_status measured(redlock *client)
{
    redlock_node_status nodes[3];
    redlock_status_report report = REDLOCK_STATUS_INIT(nodes, 3);
    ck_assert_int_eq(redlock_get_status(client, &report), 0);
    return nodes[0];
}

/* An hour: what is told is certain, whatever the machine is at. */
TEST(master_clocks, offset_and_rate_are_told_with_their_bounds)
{
    redlock *client = open_on_stepped(3, MARKED);
    redlock_node_status found = measured(client);
    ck_assert_int_gt(found.clock_offset_bound_us, 0);
    ck_assert_int_le(found.clock_offset_us - found.clock_offset_bound_us, 0);
    ck_assert_int_ge(found.clock_offset_us + found.clock_offset_bound_us, 0);
    *step_ns = HOUR_NS;
    redlock_lock *lock = take_watched(client, 2000);
    ck_assert(wait_until(measured(client).clock_offset_us > HOUR_NS / 2000, 10000));
    redlock_release(lock); /* it was lost by that */
    lock = take_watched(client, 2000);
    ck_assert(wait_until((found = measured(client)).clock_rate_bound_ppm > 0, 10000));
    ck_assert_int_le(found.clock_offset_us - found.clock_offset_bound_us, HOUR_NS / 1000);
    ck_assert_int_ge(found.clock_offset_us + found.clock_offset_bound_us, HOUR_NS / 1000);
    ck_assert_int_le(found.clock_rate_ppm - found.clock_rate_bound_ppm, 0);
    ck_assert_int_ge(found.clock_rate_ppm + found.clock_rate_bound_ppm, 0);
    redlock_release(lock);
    redlock_close(client);
}

/* Too fast by a fifth: named as such once it has been found twice. */
TEST(master_clocks, clock_that_runs_ahead_is_named)
{
    redlock *client = open_on_stepped(3, MARKED);
    redlock_lock *lock = take_watched(client, 2000);
    bool named = false;
    for (int64_t begun = now_ms(); !named && now_ms() < begun + 10000;) {
        *step_ns = (now_ms() - begun) * NS_PER_MS / 5;
        client_state(client, 0, text);
        named = strstr(text, "its clock runs ahead of ours") != NULL;
        if (atomic_load(&lost.calls) > 0) {
            redlock_release(lock);
            lock = take_watched(client, 2000);
        }
        pause_ms(5);
    }
    ck_assert_msg(named, "%s", text);
    redlock_release(lock);
    redlock_close(client);
}

/* Many looks, and some connects between them. */
TEST(master_clocks, clocks_that_keep_time_are_not_blamed)
{
    redlock *client = open_on_stepped(3, "guard marker\nmax-ttl 200ms\nttl 100ms\n");
    for (int64_t end = now_ms() + 3000, i = 0; now_ms() < end; i++) {
        redlock_lock *lock = NULL;
        if (i % 10 == 9)
            master_do(masters, (unsigned)i / 10 % 3, "CLIENT", "KILL", "TYPE", "normal", NULL);
        if (client_try(client, "name", 100, 1000, NULL, &lock) == 0)
            redlock_release(lock);
        for (unsigned node = 0; node < 3; node++) {
            client_state(client, node, text);
            ck_assert_msg(strstr(text, "clock") == NULL, "%s", text);
        }
        pause_ms(10);
    }
    redlock_close(client);
}

CASE(master_clocks, .timeout_s = 60)
