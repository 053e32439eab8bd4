/* test_sim_master_life.c - model masters are killed, and start again: what is left of their
 * connections, keys and scripts, and what they say of themselves. */
#include "config_auto.h"

#include "sim_master_one.h"

#include "core/server_info.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static int64_t uptime_s(void)
{
    struct rl_info info;
    const char *text = ask(conn, "INFO", NULL);
    rl_info_parse(text, strlen(text), &info);
    return info.uptime_s;
}

static const char *run_id(void)
{
    static struct rl_info info;
    const char *text = ask(conn, "INFO", NULL);
    rl_info_parse(text, strlen(text), &info);
    return info.run_id;
}

static void dial_again(void)
{
    hang_up(conn);
    conn = dial(0);
}

/* ---- life and death ---------------------------------------------------------------------- */

TEST(masters, killed_master_is_silent)
{
    acquire("k", "one", "10000");
    send_words(conn, "GET", "k", NULL);
    sim_master_kill(0);
    pass(SIM_S);
    ck_assert(conn->ended && !sim_master_up(0) && !sim_master_listens(0));
    ck_assert_uint_eq(sim_master_felt(0)->ended, 1);
    ck_assert_str_eq(heard(conn), "");
    ck_assert_ptr_null(sim_master_get(0, "k", NULL));
    ck_assert_uint_eq(sim_master_keys(0), 0);
}

TEST(masters, connections_are_reset_or_closed)
{
    unsigned resets = 0;
    for (int i = 0; i < 100; i++) {
        sim_master_kill(0);
        ck_assert(conn->ended);
        resets += conn->reset;
        sim_master_start(0, SIM_WHOLE);
        dial_again();
    }
    ck_assert_uint_gt(resets, 20);
    ck_assert_uint_lt(resets, 80);
}

static void restart(enum sim_restart how)
{
    sim_master_kill(0);
    pass(10 * SIM_MS);
    n_changes = 0;
    sim_master_start(0, how);
    dial_again();
}

TEST(masters, restart_begins_anew)
{
    char before[48];
    snprintf(before, sizeof(before), "%s", run_id());
    ck_assert_int_eq(uptime_s(), 86400);
    restart(SIM_WHOLE);
    ck_assert_str_ne(before, run_id());
    ck_assert_int_le(uptime_s(), 1);
    ck_assert_str_eq(acquire("k", "one", "400"),
                     "-NOSCRIPT No matching script. Please use EVAL.\r\n");
}

TEST(masters, restart_empty_forgets)
{
    acquire("k", "one", "10000");
    restart(SIM_EMPTY);
    ck_assert_uint_eq(n_changes, 1);
    expect_change(0, SIM_FORGOTTEN, "-", "one", "-");
    ck_assert_str_eq(changes[0].name, "k");
    ck_assert_uint_eq(sim_master_keys(0), 0);
    pass(20 * SIM_S);
    ck_assert_uint_eq(n_changes, 1);
}

/* Ends are times of the wall clock: what runs out while it is down is not there again. */
TEST(masters, restart_whole_forgets_only_expired_keys)
{
    int64_t left_ns;
    acquire("k", "one", "10000");
    acquire("soon", "two", "30");
    ask(conn, "ZADD", "q", "1", "m", NULL);
    sim_master_kill(0);
    pass(SIM_S);
    n_changes = 0;
    sim_master_start(0, SIM_WHOLE);
    dial_again();
    ck_assert_uint_eq(n_changes, 1);
    expect_change(0, SIM_RESTORED, "-", "one", "one");
    ck_assert_str_eq(sim_master_get(0, "k", &left_ns), "one");
    ck_assert(left_ns < 9 * SIM_S && left_ns > 8 * SIM_S);
    ck_assert_str_eq(ask(conn, "ZRANGE", "q", "0", "-1", NULL), "*1\r\n$1\r\nm\r\n");
    ck_assert_uint_eq(sim_master_keys(0), 2);
}

TEST(masters, late_restart_is_as_it_was_a_second_ago)
{
    acquire("old", "one", "60000");
    acquire("released", "two", "60000");
    acquire("longer", "three", "20000");
    ask(conn, "SET", "other", "four", "PX", "60000", NULL);
    ask(conn, "ZADD", "q", "1", "a", "2", "b", NULL);
    ask(conn, "ZADD", "gone", "1", "a", NULL);
    ask(conn, "PEXPIRE", "gone", "60000", NULL);
    pass(1200 * SIM_MS);
    acquire("young", "five", "60000");
    ask_script(conn, "release", "released", "none", "two", "0", NULL);
    ask_script(conn, "extend", "longer", NONCE, "three", "60000", NULL);
    ask(conn, "SET", "other", "six", "PX", "60000", NULL);
    ask(conn, "ZADD", "q", "3", "a", "4", "c", NULL);
    ask(conn, "ZREM", "gone", "a", NULL);
    ask(conn, "ZADD", "new", "3", "a", NULL);
    restart(SIM_LATE);
    int64_t left_ns;
    ck_assert_str_eq(sim_master_get(0, "old", NULL), "one");
    ck_assert_str_eq(sim_master_get(0, "released", NULL), "two");
    ck_assert_str_eq(sim_master_get(0, "other", NULL), "four");
    ck_assert_str_eq(sim_master_get(0, "longer", &left_ns), "three");
    ck_assert(left_ns < 20 * SIM_S);
    ck_assert_ptr_null(sim_master_get(0, "young", NULL));
    ck_assert_str_eq(ask(conn, "ZRANGE", "q", "0", "-1", NULL), "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
    ck_assert_str_eq(ask(conn, "ZCARD", "gone", NULL), ":1\r\n");
    ck_assert_str_ne(ask(conn, "PTTL", "gone", NULL), ":-1\r\n");
    ck_assert_str_eq(ask(conn, "EXISTS", "new", NULL), ":0\r\n");
    unsigned told[2] = {0, 0};
    for (unsigned i = 0; i < n_changes; i++) {
        const struct rig_change *change = &changes[i];
        told[change->change == SIM_RESTORED]++;
        if (strcmp(change->name, "released") == 0)
            expect_change(i, SIM_RESTORED, "-", "-", "two");
        if (strcmp(change->name, "other") == 0)
            expect_change(i, SIM_RESTORED, "-", "six", "four");
        if (strcmp(change->name, "young") == 0)
            expect_change(i, SIM_FORGOTTEN, "-", "five", "-");
    }
    ck_assert_uint_eq(told[0], 1);
    ck_assert_uint_eq(told[1], 4);
}

/* Random changes, and each moment's keys remembered: a late restart has those of a second ago.
 */
TEST(masters, late_restart_takes_back_all_changes)
{
    enum { KEYS = 4, STEPS = 400 };
    static char shots[STEPS][512];
    static int64_t at_ns[STEPS];
    static const char *const keys[KEYS] = {"a", "b", "c", "d"};
    int steps = 0;
    for (; steps < STEPS; steps++) {
        const char *key = keys[sim_below(KEYS)], *member = keys[sim_below(KEYS)];
        switch (sim_below(6)) {
        case 0:
            ask(conn, "SET", key, member, "PX", "90000", NULL);
            break;
        case 1:
            ask(conn, "DEL", key, NULL);
            break;
        case 2:
            ask(conn, "ZADD", key, member[0] == 'a' ? "1" : "2", member, NULL);
            break;
        case 3:
            ask(conn, "ZREM", key, member, NULL);
            break;
        case 4:
            ask(conn, "PEXPIRE", key, "80000", NULL);
            break;
        default:
            if (sim_below(20) == 0)
                ask(conn, "FLUSHALL", NULL);
        }
        size_t used = 0;
        for (int i = 0; i < KEYS; i++) {
            used += (size_t)snprintf(shots[steps] + used, sizeof(shots[0]) - used, "%s",
                                     ask(conn, "GET", keys[i], NULL));
            used += (size_t)snprintf(shots[steps] + used, sizeof(shots[0]) - used, "%s",
                                     ask(conn, "ZRANGE", keys[i], "0", "-1", NULL));
        }
        at_ns[steps] = sim_now_ns();
        pass(sim_between(0, 20 * SIM_MS));
    }
    int64_t since_ns = sim_now_ns() - SIM_S;
    char now[sizeof(shots[0])];
    sim_master_kill(0);
    sim_master_start(0, SIM_LATE);
    dial_again();
    size_t used = 0;
    for (int i = 0; i < KEYS; i++) {
        used += (size_t)snprintf(now + used, sizeof(now) - used, "%s",
                                 ask(conn, "GET", keys[i], NULL));
        used += (size_t)snprintf(now + used, sizeof(now) - used, "%s",
                                 ask(conn, "ZRANGE", keys[i], "0", "-1", NULL));
    }
    /* The one that was asked for last by then; the next, where its command was done already. */
    int then = steps - 1;
    while (then > 0 && at_ns[then] > since_ns)
        then--;
    ck_assert(strcmp(now, shots[then]) == 0 || strcmp(now, shots[then + 1]) == 0);
    ck_assert_int_lt(then, STEPS - 10);
}

TEST(masters, it_is_killed_right_before_or_behind_script)
{
    sim_master_kill_at(0, "release", false);
    ck_assert_str_eq(acquire("k", "one", "10000"), YES);
    ck_assert_str_eq(ask_script(conn, "release", "k", "q", "one", "0", NULL), "");
    ck_assert(!sim_master_up(0) && conn->ended);
    ck_assert_uint_eq(sim_master_felt(0)->hits, 1);
    restart(SIM_WHOLE);
    ck_assert_str_eq(sim_master_get(0, "k", NULL), "one");

    sim_master_kill_at(0, "release", true);
    restart(SIM_WHOLE); /* no other death ends that */
    ck_assert_uint_eq(sim_master_felt(0)->hits, 1);
    ck_assert_str_eq(
        ask(conn, "EVAL", script_body("release"), "2", "k", "q", "one", "0", NULL), "");
    ck_assert(!sim_master_up(0));
    restart(SIM_WHOLE);
    ck_assert_ptr_null(sim_master_get(0, "k", NULL));
    ck_assert_str_eq(
        ask(conn, "EVAL", script_body("release"), "2", "k", "q", "one", "0", NULL),
        "*2\r\n$3\r\nne-\r\n:0\r\n");
}

TEST(masters, uptime_is_counted_in_whole_seconds_of_its_clock)
{
    unsigned above = 0;
    for (int i = 0; i < 50; i++) {
        sim_master_kill(0);
        pass(sim_between(0, SIM_S));
        sim_master_start(0, SIM_WHOLE);
        dial_again();
        int64_t from_ns = sim_now_ns();
        pass(sim_between(0, 5 * SIM_S));
        int64_t says_s = uptime_s();
        double is_s = (double)(sim_now_ns() - from_ns) / SIM_S;
        ck_assert_double_lt((double)says_s, is_s + 1);
        ck_assert_double_gt((double)says_s, is_s - 1.01);
        above += (double)says_s > is_s;
    }
    ck_assert_uint_gt(above, 10);
    sim_master_uptime(0, 77);
    ck_assert(uptime_s() == 77 || uptime_s() == 78);
    sim_master_step_clock(0, -100 * SIM_S);
    ck_assert_int_lt(uptime_s(), 0);
}

TEST(masters, info_tells_role_and_run_id_as_set)
{
    sim_master_role(0, "slave");
    sim_master_run_id(0, "ffffffffffffffffffffffffffffffffffffffff");
    ck_assert_ptr_nonnull(strstr(ask(conn, "INFO", NULL), "\r\nrole:slave\r\n"));
    ck_assert_str_eq(run_id(), "ffffffffffffffffffffffffffffffffffffffff");
}

CASE(masters, .set_up = one_begin, .tear_down = one_end)
