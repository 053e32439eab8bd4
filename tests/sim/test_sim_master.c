/* test_sim_master.c - model masters as clients have them: keys and their ends, requests,
 * messages. test_sim_master_faults.c has what the world does to them, test_sim_master_life.c
 * their starts and ends. */
#include "config_auto.h"

#include "sim_master_one.h"

#include "suite.h"

#include <string.h>

#define WAITER "00000001-aaaa-bbbb-cccc-123456789abc:1"
#define CHANNEL "redlock:wake:00000001-aaaa-bbbb-cccc-123456789abc"

/* ---- keys and their ends ----------------------------------------------------------------- */

TEST(masters, lock_is_taken_lengthened_and_given_up)
{
    ck_assert_str_eq(acquire("k", "one", "400"), YES);
    ck_assert_ptr_nonnull(strstr(acquire("k", "two", "400"), "$3\r\none\r\n"));
    ck_assert_str_eq(ask_script(conn, "extend", "k", NONCE, "two", "900", NULL), NO);
    ck_assert_str_eq(ask_script(conn, "extend", "k", NONCE, "one", "900", NULL), YES);
    ck_assert_str_eq(ask_script(conn, "release", "k", "q", "one", "20", NULL), ECHO_ONE);
    ck_assert_uint_eq(n_changes, 3);
    expect_change(0, SIM_TAKEN, "acquire", "-", "one");
    ck_assert_str_eq(changes[0].argument, "one");
    ck_assert_str_eq(changes[0].name, "k");
    expect_change(1, SIM_LONGER, "extend", "one", "one");
    ck_assert(changes[1].end_ns - changes[0].end_ns > 450 * SIM_MS);
    expect_change(2, SIM_DELETED, "release", "one", "-");
    ck_assert_uint_eq(sim_master_keys(0), 0);
}

/* A key lives for longer than its TTL by up to one ms, as Redis counts whole ones. */
TEST(masters, key_expires_by_rule_of_redis)
{
    for (int i = 0; i < 200; i++) {
        n_changes = 0;
        acquire("k", "one", "7");
        ck_assert_uint_eq(n_changes, 1);
        int64_t end_ns = changes[0].end_ns, left_ns = end_ns - changes[0].at_ns;
        ck_assert(left_ns > 7 * SIM_MS && left_ns <= 8 * SIM_MS);
        sim_run_until(end_ns - 1);
        ck_assert_str_eq(sim_master_get(0, "k", NULL), "one");
        sim_run_until(end_ns);
        ck_assert_ptr_null(sim_master_get(0, "k", NULL));
        ck_assert_uint_eq(n_changes, 2);
        expect_change(1, SIM_EXPIRED, "-", "one", "-");
        ck_assert_int_eq(changes[1].at_ns, end_ns);
        pass(sim_between(1, 3 * SIM_MS));
    }
}

TEST(masters, step_of_clock_moves_every_end)
{
    int64_t left_ns;
    acquire("k", "one", "10000");
    sim_master_step_clock(0, 9 * SIM_S);
    ck_assert_str_eq(sim_master_get(0, "k", &left_ns), "one");
    ck_assert(left_ns < SIM_S);
    sim_master_step_clock(0, -9 * SIM_S);
    sim_master_get(0, "k", &left_ns);
    ck_assert(left_ns > 9 * SIM_S && left_ns <= 10 * SIM_S + SIM_MS);
    sim_master_step_clock(0, 10 * SIM_S + 2 * SIM_MS);
    ck_assert_ptr_null(sim_master_get(0, "k", NULL));
    pass(1);
    expect_change(n_changes - 1, SIM_EXPIRED, "-", "one", "-");
}

TEST(masters, clock_goes_at_its_rate)
{
    static const int64_t rates[] = {SIM_S, SIM_S / 20, SIM_MS, -SIM_MS, -SIM_S / 2, 1, -1};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        sim_master_clock_rate(0, rates[i]);
        n_changes = 0;
        acquire("k", "one", "60000");
        double lived = (double)(changes[0].end_ns - changes[0].at_ns);
        double wanted = 60.0 * SIM_S * SIM_S / (double)(SIM_S + rates[i]);
        ck_assert_double_ge(lived, wanted);
        ck_assert_double_le(lived, wanted + 2.5 * SIM_MS);
        sim_run_until(changes[0].end_ns - 1);
        ck_assert_uint_eq(sim_master_keys(0), 1);
        sim_run_until(changes[0].end_ns);
        ck_assert_uint_eq(sim_master_keys(0), 0);
    }
}

TEST(masters, masters_know_nothing_of_each_other)
{
    struct sim_conn *other = dial(1);
    acquire("k", "one", "10000");
    sim_master_kill(2);
    sim_master_step_clock(1, 100 * SIM_S);
    sim_master_flushall(1);
    ck_assert_str_eq(ask(other, "GET", "k", NULL), "$-1\r\n");
    ck_assert_str_eq(sim_master_get(0, "k", NULL), "one");
    ck_assert(sim_master_up(0) && !sim_master_up(2));
    hang_up(other);
}

/* ---- what is heard ------------------------------------------------------------------------
 */

TEST(masters, request_may_be_split_anywhere)
{
    static const char text[] = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\nPING\r\n"
                               "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
    static const char answer[] = "+OK\r\n+PONG\r\n$2\r\n\r\n\r\n";
    for (size_t at = 0; at <= sizeof(text) - 1; at++) {
        send_bytes(conn, text, at);
        pass(SIM_MS);
        send_bytes(conn, text + at, sizeof(text) - 1 - at);
        pass(SIM_MS);
        ck_assert_str_eq(heard(conn), answer);
    }
    for (size_t at = 0; at < sizeof(text) - 1; at++)
        send_bytes(conn, text + at, 1);
    pass(SIM_MS);
    ck_assert_str_eq(heard(conn), answer);
}

TEST(masters, listener_is_told)
{
    struct sim_conn *ear = dial(0), *other = dial(1);
    ck_assert_str_eq(ask(ear, "SUBSCRIBE", CHANNEL, "b", NULL),
                     "*3\r\n$9\r\nsubscribe\r\n$49\r\n" CHANNEL "\r\n:1\r\n"
                     "*3\r\n$9\r\nsubscribe\r\n$1\r\nb\r\n:2\r\n");
    ask(other, "SUBSCRIBE", CHANNEL, NULL);
    acquire("k", "one", "10000");
    ck_assert_ptr_nonnull(strstr(
        ask_script(conn, "wait", "k", "q", NONCE, "two", "10000", WAITER, "5", "30000", NULL),
        "$3\r\none\r\n:0\r\n"));
    ck_assert_str_eq(ask_script(conn, "release", "k", "q", "one", "20", NULL), ECHO_ONE);
    ck_assert_str_eq(heard(ear),
                     "*3\r\n$7\r\nmessage\r\n$49\r\n" CHANNEL "\r\n$38\r\n" WAITER "\r\n");
    ck_assert_str_eq(heard(other), "");
    ck_assert_str_eq(sim_master_get(0, "k", NULL), "redlock:next:" WAITER);
    expect_change(n_changes - 1, SIM_TAKEN, "release", "-", "redlock:next:" WAITER);
    ck_assert_str_eq(ask(ear, "UNSUBSCRIBE", NULL),
                     "*3\r\n$11\r\nunsubscribe\r\n$49\r\n" CHANNEL "\r\n:1\r\n"
                     "*3\r\n$11\r\nunsubscribe\r\n$1\r\nb\r\n:0\r\n");
    ck_assert_str_eq(ask(conn, "PUBLISH", CHANNEL, "x", NULL), ":0\r\n");
    ck_assert_str_eq(ask(ear, "GET", "k", NULL), "$51\r\nredlock:next:" WAITER "\r\n");
    hang_up(ear);
    hang_up(other);
}

TEST(masters, waiter_that_left_is_not_told)
{
    struct sim_conn *ear = dial(0);
    ask(ear, "SUBSCRIBE", CHANNEL, NULL);
    ck_assert_str_eq(ask(conn, "PUBLISH", CHANNEL, "x", NULL), ":1\r\n");
    hang_up(ear);
    ck_assert_str_eq(ask(conn, "PUBLISH", CHANNEL, "x", NULL), ":0\r\n");
}

CASE(masters, .set_up = one_begin, .tear_down = one_end)
