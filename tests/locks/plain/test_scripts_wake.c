/* test_scripts_wake.c - who is woken when a lock is given up, for whom it is kept, and that
 * neither may cost the release anything. */
#include "config_auto.h"

#include "scripts_scene.h"

#include <stdio.h>
#include <string.h>

TEST(wake, release_wakes_longest_waiting_and_reserves_lock)
{
    listen_as(2);
    listen_as(3);
    contend();
    ck_assert_int_eq(yes(1, RL_RELEASE), 1);
    ck_assert_uint_eq(called(), 2);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_int_eq(queue_len(), 2); /* 3 and 4 wait on */
    ck_assert_int_eq(yes(2, RL_ACQUIRE_OR_QUEUE), 1);
    ck_assert(lock_left_ms() > KEEP_MS);
    ck_assert_int_eq(yes(2, RL_RELEASE), 1);
    ck_assert_uint_eq(called(), 3);
    ck_assert_uint_eq(kept_for(), 3);
}

/* One that never subscribed, and one whose connection is gone. */
TEST(wake, dead_are_skipped_and_forgotten)
{
    char channel[80], waiter[RL_WAITER_MAX];
    listen_as(3);
    listen_as(4);
    contend();
    talk_close(&ears[3]);
    listening &= ~(1u << 3);
    snprintf(channel, sizeof(channel), RL_WAKE_PREFIX "%.36s", talk_waiter(3, 1, waiter));
    ck_assert(
        wait_until(talk_do(&talk, "PUBLISH", channel, "?", (char *)NULL).number == 0, 5000));
    ck_assert_int_eq(yes(1, RL_RELEASE), 1);
    ck_assert_uint_eq(called(), 4);
    ck_assert_uint_eq(kept_for(), 4);
    ck_assert_int_eq(queue_len(), 0);
}

/* A monitor hears all that is said, also to those that are gone. */
TEST(wake, who_listens_by_pattern_makes_no_dead_waiter_look_alive, .rows = 2)
{
    struct talk monitor;
    talk_open(&monitor, scripts_masters, 0);
    talk_do(&monitor, "PSUBSCRIBE", _i == 0 ? "*" : "redlock:wake:*", (char *)NULL);
    listen_as(4);
    contend();
    ck_assert_int_eq(yes(1, RL_RELEASE), 1);
    ck_assert_uint_eq(called(), 4);
    ck_assert_uint_eq(kept_for(), 4);
    ck_assert_int_eq(queue_len(), 0);
    talk_close(&monitor);
}

TEST(wake, where_all_are_dead_lock_is_free, .first = RL_RELEASE, .rows = RL_RELEASE + 1)
{
    contend();
    ck_assert_int_eq(yes(1, (enum rl_verb)_i), 1);
    ck_assert_int_eq(talk_do(&talk, "DEL", "{" LOCK "}:redlock:broken", (char *)NULL).number,
                     _i == RL_FORCE);
    ck_assert_int_eq(talk_do(&talk, "DBSIZE", (char *)NULL).number, 0);
}

/* So many dead are skipped at once; the rest is for the next one. */
TEST(wake, thousand_dead_are_skipped_at_once)
{
    static const char fill[] = "for i = 1, tonumber(ARGV[1]) do\n"
                               "  redis.call('ZADD', KEYS[1], i, string.format('%08d-0-0-0-%024d:1', i, 0))\n"
                               "end";
    char waiter[RL_WAITER_MAX];
    talk_waiter(2, 1, waiter);
    listen_as(2);
    for (unsigned dead = 999; dead <= 1000; dead++) {
        char text[16];
        snprintf(text, sizeof(text), "%u", dead);
        ck_assert_int_eq(yes(1, RL_ACQUIRE), 1);
        talk_do(&talk, "EVAL", fill, "1", QUEUE, text, (char *)NULL);
        talk_do(&talk, "ZADD", QUEUE, "5000", waiter, (char *)NULL);
        ck_assert_int_eq(yes(1, RL_RELEASE), 1);
        ck_assert_uint_eq(called(), dead == 999 ? 2 : 0);
        ck_assert_uint_eq(kept_for(), dead == 999 ? 2 : 0);
        ck_assert_int_eq(queue_len(), dead == 999 ? 0 : 1);
        talk_do(&talk, "DEL", LOCK, (char *)NULL);
    }
    ck_assert_int_eq(yes(1, RL_RELEASE), 0);
    ck_assert_uint_eq(called(), 2);
}

/* Of those that have waited equally long, every server wakes the same. */
TEST(wake, ties_are_woken_in_same_order_on_every_server)
{
    char a[RL_WAITER_MAX], b[RL_WAITER_MAX];
    talk_waiter(1, 1, a);
    talk_waiter(2, 1, b);
    for (unsigned server = 0; server < 2; server++) {
        struct talk asks, hears[2];
        talk_open(&asks, scripts_masters, server);
        talk_open(&hears[0], scripts_masters, server);
        talk_open(&hears[1], scripts_masters, server);
        talk_do(&asks, "FLUSHALL", (char *)NULL);
        talk_listen(&hears[0], a);
        talk_listen(&hears[1], b);
        talk_do(&asks, "ZADD", QUEUE, "7", server ? a : b, "7", server ? b : a, (char *)NULL);
        as(&asks, 3, RL_RELEASE, KEEP_MS);
        ck_assert_str_eq(talk_called(&hears[0]), a);
        ck_assert_str_eq(talk_called(&hears[1]), "");
        talk_close(&asks);
        talk_close(&hears[0]);
        talk_close(&hears[1]);
    }
}

/* While it is kept, nobody else gets it: not by our acquire, not by the bare SET NX PX of a
 * peer's, not by waiting; and waiter :1 is not waiter :11. */
TEST(wake, reserved_lock_is_for_its_waiter_alone)
{
    char waiter[RL_WAITER_MAX];
    listen_as(2);
    contend();
    yes(1, RL_RELEASE);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_int_eq(yes(1, RL_ACQUIRE), 0);
    ck_assert_int_eq(yes(2, RL_ACQUIRE), 0);
    ck_assert_int_eq(yes(1, RL_RETAKE), 0);
    ck_assert_int_eq(yes(1, RL_EXTEND), 0);
    ck_assert_int_eq(yes(1, RL_RELEASE), 0);
    struct wire_item set =
        talk_do(&talk, "SET", LOCK, "bm9uY2U=", "NX", "PX", "8000", (char *)NULL);
    ck_assert(set.type == '$' && set.number == -1);
    struct script_told told = as(&talk, 3, RL_ACQUIRE_OR_QUEUE, KEEP_MS);
    ck_assert(told.parts == 5 && told.yes == 0 && told.place == 0);
    ck_assert_int_eq(as(&talk, 4, RL_ACQUIRE_OR_QUEUE, KEEP_MS).place, 1);
    struct script_call like = {.name = LOCK, .token = "t", .ttl_ms = TTL_MS, .queue_ms = 30000};
    like.waiter = talk_waiter(2, 11, waiter);
    ck_assert_int_eq(script_run(&talk, RL_ACQUIRE_OR_QUEUE, &like).yes, 0);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_uint_eq(called(), 2); /* and once */
    ck_assert_int_eq(yes(2, RL_ACQUIRE_OR_QUEUE), 1);
}

/* Where the one that was woken never comes. */
TEST(wake, reservation_expires_by_itself)
{
    listen_as(2);
    contend();
    ck_assert_int_eq(as(&talk, 1, RL_RELEASE, 30).yes, 1);
    ck_assert_int_le(lock_left_ms(), 30);
    ck_assert_uint_eq(called(), 2);
    ck_assert(wait_until(lock_left_ms() == -2, 5000));
    ck_assert_int_eq(yes(4, RL_ACQUIRE), 1);
}

TEST(wake, release_without_reservation_wakes_nobody)
{
    listen_as(2);
    contend();
    for (int had = 1; had >= 0; had--) { /* and one that finds it gone */
        ck_assert_int_eq(as(&talk, 1, RL_RELEASE, 0).yes, had);
        ck_assert_uint_eq(called(), 0);
        ck_assert_int_eq(lock_left_ms(), -2);
        ck_assert_int_eq(queue_len(), 3);
    }
}

TEST(wake, strangers_release_does_nothing)
{
    listen_as(2);
    contend();
    for (unsigned client = 2; client <= CLIENTS; client++)
        ck_assert_int_eq(yes(client, RL_RELEASE), 0);
    ck_assert_uint_eq(called(), 0);
    ck_assert_int_eq(queue_len(), 3);
    struct script_told told = as(&talk, 1, RL_ACQUIRE, 0);
    ck_assert(told.yes == 0 && told.left_ms > TTL_MS - 10000 && told.left_ms <= TTL_MS);
}

/* It ran out, or was another's and is gone by now: the next is woken, by whoever notices. */
TEST(wake, release_that_finds_it_gone_wakes_next)
{
    listen_as(2);
    contend();
    talk_do(&talk, "PEXPIRE", LOCK, "1", (char *)NULL);
    ck_assert(wait_until(lock_left_ms() == -2, 5000));
    ck_assert_int_eq(yes(1, RL_RELEASE), 0);
    ck_assert_uint_eq(called(), 2);
    ck_assert_uint_eq(kept_for(), 2);
}

TEST(wake, leaving_waiter_passes_on_its_reservation)
{
    listen_as(2);
    listen_as(4);
    contend();
    yes(1, RL_RELEASE);
    ck_assert_uint_eq(called(), 2);
    ck_assert_int_eq(yes(3, RL_DEQUEUE), 1); /* not for it: it leaves, and that is all */
    ck_assert_uint_eq(called(), 0);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_int_eq(yes(2, RL_DEQUEUE), 1);
    ck_assert_uint_eq(called(), 4);
    ck_assert_uint_eq(kept_for(), 4);
    ck_assert_int_eq(yes(4, RL_DEQUEUE), 1);
    ck_assert_int_eq(talk_do(&talk, "DBSIZE", (char *)NULL).number, 0);
}

/* It may have been woken, and what was kept for it has run out. */
TEST(wake, waiter_that_leaves_free_lock_wakes_next)
{
    listen_as(2);
    listen_as(3);
    contend();
    talk_do(&talk, "DEL", LOCK, (char *)NULL);
    ck_assert_int_eq(yes(2, RL_DEQUEUE), 1);
    ck_assert_uint_eq(called(), 3);
    ck_assert_uint_eq(kept_for(), 3);
    ck_assert_int_eq(yes(3, RL_ACQUIRE_OR_QUEUE), 1);
    ck_assert_int_eq(yes(4, RL_DEQUEUE), 1); /* held: nothing to pass on */
    ck_assert_uint_eq(called(), 0);
    ck_assert_int_eq(yes(3, RL_RELEASE), 1);
    ck_assert_int_eq(talk_do(&talk, "DBSIZE", (char *)NULL).number, 0);
}

TEST(wake, force_wakes_waiters_in_any_state)
{
    listen_as(2);
    listen_as(3);
    listen_as(4);
    contend();
    ck_assert_int_eq(yes(1, RL_FORCE), 1); /* held */
    ck_assert_uint_eq(called(), 2);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_int_eq(yes(1, RL_FORCE), 1); /* kept */
    ck_assert_uint_eq(called(), 3);
    talk_do(&talk, "DEL", LOCK, (char *)NULL);
    ck_assert_int_eq(yes(1, RL_FORCE), 0); /* free */
    ck_assert_uint_eq(called(), 4);
    ck_assert_uint_eq(kept_for(), 4);
    ck_assert_int_eq(queue_len(), 0);
}

CASE(wake,
     .timeout_s = 30, .set_up_once = scripts_start, .tear_down_once = scripts_stop,
     .set_up = scripts_begin, .tear_down = scripts_end)
ALSO(wake, where_all_are_dead_lock_is_free, .first = RL_FORCE, .rows = RL_FORCE + 1)
