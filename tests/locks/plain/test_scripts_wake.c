/* test_scripts_wake.c - who is woken when a lock is given up, for whom it is kept, and that
 * neither may cost the release anything. */
#include "config_auto.h"

#include "scripts_scene.h"

#include <stdio.h>
#include <string.h>

START_TEST(release_wakes_longest_waiting_and_reserves_lock)
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
END_TEST

/* One that never subscribed, and one whose connection is gone. */
START_TEST(dead_are_skipped_and_forgotten)
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
END_TEST

/* A monitor hears all that is said, also to those that are gone. */
START_TEST(who_listens_by_pattern_makes_no_dead_waiter_look_alive)
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
END_TEST

START_TEST(where_all_are_dead_lock_is_free)
{
    contend();
    ck_assert_int_eq(yes(1, (enum rl_verb)_i), 1);
    ck_assert_int_eq(talk_do(&talk, "DBSIZE", (char *)NULL).number, 0);
}
END_TEST

/* So many dead are skipped at once; the rest is for the next one. */
START_TEST(thousand_dead_are_skipped_at_once)
{
    static const char fill[] = "for i = 1, tonumber(ARGV[1]) do\n"
                               "  redis.call('ZADD', KEYS[1], i, string.format('%036d:1', i))\n"
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
END_TEST

/* Of those that have waited equally long, every server wakes the same. */
START_TEST(ties_are_woken_in_same_order_on_every_server)
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
END_TEST

/* While it is kept, nobody else gets it: not by our acquire, not by the bare SET NX PX of a
 * peer's, not by waiting; and waiter :1 is not waiter :11. */
START_TEST(reserved_lock_is_for_its_waiter_alone)
{
    char waiter[RL_WAITER_MAX];
    listen_as(2);
    contend();
    yes(1, RL_RELEASE);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_int_eq(yes(1, RL_ACQUIRE), 0);
    ck_assert_int_eq(yes(2, RL_ACQUIRE), 0);
    ck_assert_int_eq(yes(1, RL_EXTEND_OR_SET), 0);
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
END_TEST

/* Where the one that was woken never comes. */
START_TEST(reservation_expires_by_itself)
{
    listen_as(2);
    contend();
    ck_assert_int_eq(as(&talk, 1, RL_RELEASE, 30).yes, 1);
    ck_assert_int_le(lock_left_ms(), 30);
    ck_assert_uint_eq(called(), 2);
    ck_assert(wait_until(lock_left_ms() == -2, 5000));
    ck_assert_int_eq(yes(4, RL_ACQUIRE), 1);
}
END_TEST

START_TEST(release_without_reservation_wakes_nobody)
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
END_TEST

START_TEST(strangers_release_does_nothing)
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
END_TEST

/* It ran out, or was another's and is gone by now: the next is woken, by whoever notices. */
START_TEST(release_that_finds_it_gone_wakes_next)
{
    listen_as(2);
    contend();
    talk_do(&talk, "PEXPIRE", LOCK, "1", (char *)NULL);
    ck_assert(wait_until(lock_left_ms() == -2, 5000));
    ck_assert_int_eq(yes(1, RL_RELEASE), 0);
    ck_assert_uint_eq(called(), 2);
    ck_assert_uint_eq(kept_for(), 2);
}
END_TEST

START_TEST(leaving_waiter_passes_on_its_reservation)
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
END_TEST

/* It may have been woken, and what was kept for it has run out. */
START_TEST(waiter_that_leaves_free_lock_wakes_next)
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
END_TEST

START_TEST(force_wakes_waiters_in_any_state)
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
END_TEST

int main(void)
{
    Suite *suite = suite_create("scripts_wake");
    TCase *tcase = tcase_create("wake");
    tcase_set_timeout(tcase, 30);
    tcase_add_unchecked_fixture(tcase, scripts_start, scripts_stop);
    tcase_add_checked_fixture(tcase, scripts_begin, scripts_end);
    tcase_add_test(tcase, release_wakes_longest_waiting_and_reserves_lock);
    tcase_add_test(tcase, dead_are_skipped_and_forgotten);
    tcase_add_loop_test(tcase, who_listens_by_pattern_makes_no_dead_waiter_look_alive, 0, 2);
    tcase_add_loop_test(tcase, where_all_are_dead_lock_is_free, RL_RELEASE, RL_RELEASE + 1);
    tcase_add_loop_test(tcase, where_all_are_dead_lock_is_free, RL_FORCE, RL_FORCE + 1);
    tcase_add_test(tcase, thousand_dead_are_skipped_at_once);
    tcase_add_test(tcase, ties_are_woken_in_same_order_on_every_server);
    tcase_add_test(tcase, reserved_lock_is_for_its_waiter_alone);
    tcase_add_test(tcase, reservation_expires_by_itself);
    tcase_add_test(tcase, release_without_reservation_wakes_nobody);
    tcase_add_test(tcase, strangers_release_does_nothing);
    tcase_add_test(tcase, release_that_finds_it_gone_wakes_next);
    tcase_add_test(tcase, leaving_waiter_passes_on_its_reservation);
    tcase_add_test(tcase, waiter_that_leaves_free_lock_wakes_next);
    tcase_add_test(tcase, force_wakes_waiters_in_any_state);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
