/* test_sim_master_faults.c - what the world does to model masters: each fault has its effect,
 * and no other. */
#include "config_auto.h"

#include "sim_master_one.h"

#include "suite.h"

#include <stdio.h>
#include <string.h>

/* ---- time it takes ------------------------------------------------------------------------
 */

TEST(masters, master_that_stands_answers_later)
{
    acquire("k", "one", "10000");
    sim_master_pause(0, 3 * SIM_S);
    send_words(conn, "GET", "k", NULL);
    send_words(conn, "PTTL", "k", NULL);
    struct sim_conn *other = dial(0); /* its kernel takes connections */
    send_words(other, "PING", NULL);
    pass(2999 * SIM_MS);
    ck_assert_str_eq(heard(conn), "");
    pass(2 * SIM_MS);
    ck_assert_str_eq(heard(other), "+PONG\r\n");
    const char *text = heard(conn);
    ck_assert_ptr_nonnull(strstr(text, "$3\r\none\r\n:69")); /* its clock went on */
    uint64_t stood = sim_master_felt(0)->stood;
    ck_assert_uint_gt(stood, 0);
    sim_master_pause(0, SIM_MS); /* and nobody asks for anything */
    pass(SIM_S);
    ck_assert_uint_eq(sim_master_felt(0)->stood, stood);
    hang_up(other);
}

TEST(masters, slow_master_takes_its_time_for_each_command)
{
    ck_assert_uint_eq(sim_master_felt(0)->slow, 0);
    sim_master_slow(0, 100 * SIM_MS, 100 * SIM_MS);
    struct sim_conn *other = dial(0);
    send_words(conn, "PING", NULL);
    send_words(conn, "PING", NULL);
    send_words(other, "PING", NULL);
    for (unsigned said = 1; said <= 3; said++) {
        pass(99 * SIM_MS);
        ck_assert_uint_eq(conn->len + other->len, 7 * (said - 1));
        pass(SIM_MS);
        ck_assert_uint_eq(conn->len + other->len, 7 * said);
    }
    ck_assert_uint_eq(sim_master_felt(0)->slow, 3);
    hang_up(other);
}

TEST(masters, order_is_kept_within_connection_and_drawn_between_two)
{
    unsigned first = 0;
    struct sim_conn *other = dial(0);
    for (int i = 0; i < 100; i++) {
        ask(conn, "DEL", "k", NULL);
        sim_master_pause(0, SIM_MS);
        send_words(conn, "SET", "k", "mine", "NX", NULL);
        send_words(conn, "GET", "k", NULL);
        send_words(other, "SET", "k", "others", "NX", NULL);
        pass(2 * SIM_MS);
        const char *text = heard(conn);
        if (strncmp(text, "+OK", 3) == 0)
            ck_assert_str_eq(text, "+OK\r\n$4\r\nmine\r\n");
        else
            ck_assert_str_eq(text, "$-1\r\n$6\r\nothers\r\n");
        first += text[0] == '+';
        heard(other);
    }
    ck_assert_uint_gt(first, 20);
    ck_assert_uint_lt(first, 80);
    hang_up(other);
}

TEST(masters, leaving_node_may_have_been_heard)
{
    unsigned done = 0;
    for (int i = 0; i < 100; i++) {
        struct sim_conn *other = dial(0);
        ask(conn, "DEL", "k", NULL);
        sim_master_pause(0, SIM_MS);
        send_words(other, "SET", "k", "late", NULL);
        hang_up(other);
        pass(2 * SIM_MS);
        done += sim_master_get(0, "k", NULL) != NULL;
    }
    ck_assert_uint_gt(done, 20);
    ck_assert_uint_lt(done, 80);
}

/* ---- what is done to it -------------------------------------------------------------------
 */

TEST(masters, flushed_evicted_and_without_scripts)
{
    acquire("k", "one", "10000");
    acquire("l", "two", "10000");
    n_changes = 0;
    ck_assert(sim_master_evict(0));
    ck_assert_uint_eq(n_changes, 1);
    ck_assert_int_eq(changes[0].change, SIM_EVICTED);
    ck_assert_uint_eq(sim_master_keys(0), 1);
    ask(conn, "ZADD", "q", "1", "m", NULL); /* no lock: it is told to nobody */
    sim_master_flushall(0);
    ck_assert_uint_eq(n_changes, 2);
    ck_assert_int_eq(changes[1].change, SIM_FLUSHED);
    ck_assert(!sim_master_evict(0));
    ck_assert_uint_eq(sim_master_keys(0), 0);
    ck_assert_str_eq(acquire("k", "one", "10000"), YES);
    ck_assert_uint_gt(sim_master_scripts(0), 0);
    sim_master_script_flush(0);
    ck_assert_uint_eq(sim_master_scripts(0), 0);
    ck_assert_uint_eq(sim_master_felt(0)->unknown, 0);
    for (int i = 0; i < 2; i++)
        ck_assert_str_eq(acquire("l", "one", "10000"),
                         "-NOSCRIPT No matching script. Please use EVAL.\r\n");
    ck_assert_uint_eq(sim_master_felt(0)->unknown, 1); /* the second one misses nothing more */
    ck_assert_str_eq(sim_master_get(0, "k", NULL), "one");
}

TEST(masters, trouble_comes_at_its_rate_and_goes)
{
    unsigned refused = 0;
    sim_master_trouble(0, SIM_LOADING, 300000);
    for (int i = 0; i < 1000; i++)
        refused += ask(conn, "PING", NULL)[0] == '-';
    ck_assert_uint_gt(refused, 230);
    ck_assert_uint_lt(refused, 370);
    ck_assert_uint_eq(sim_master_troubled(0), refused);
    ck_assert_uint_eq(sim_master_troubled(1), 0);
    sim_master_trouble(0, SIM_NO_TROUBLE, 0);
    for (int i = 0; i < 100; i++)
        ck_assert_str_eq(ask(conn, "PING", NULL), "+PONG\r\n");
}

/* Whatever it says, it has done what it was asked. */
TEST(masters, broken_answers_are_never_right_ones)
{
    for (int trouble = SIM_GARBAGE; trouble <= SIM_WRONG; trouble++) {
        unsigned kinds = 0;
        char last[64] = "";
        for (int i = 0; i < 300; i++) {
            sim_master_trouble(0, (enum sim_trouble)trouble, 1000000);
            const char *text = acquire("k", "one", "1000000");
            ck_assert_str_ne(text, YES);
            ck_assert_uint_gt(heard_len, 0);
            kinds += strncmp(last, text, sizeof(last) - 1) != 0;
            snprintf(last, sizeof(last), "%s", text);
            sim_master_trouble(0, SIM_NO_TROUBLE, 0);
            ck_assert_str_eq(sim_master_get(0, "k", NULL), "one");
            ask(conn, "DEL", "k", NULL);
        }
        ck_assert_uint_gt(kinds, 100);
    }
}

TEST(masters, one_seed_is_one_history)
{
    uint64_t hash[3];
    one_end();
    for (int i = 0; i < 3; i++) {
        rig_begin(i == 2 ? 8 : 7, 3, NULL);
        conn = dial(0);
        sim_master_trouble(0, SIM_WRONG, 100000);
        for (int k = 0; k < 50; k++) {
            ask(conn, "EVAL", script_body("acquire"), "1", "k", NONCE, "t", "5", NULL);
            pass(sim_between(1, 5 * SIM_MS));
        }
        hash[i] = sim_hash();
        hang_up(conn);
        rig_end();
    }
    ck_assert_uint_eq(hash[0], hash[1]);
    ck_assert_uint_ne(hash[0], hash[2]);
    one_begin();
}

static char story[4096];

static void keep_line(void *context, const char *line)
{
    size_t len = strlen(story);
    (void)context;
    snprintf(story + len, sizeof(story) - len, "%s\n", line);
}

TEST(masters, its_story_can_be_followed)
{
    sim_tell_to(keep_line, NULL);
    acquire("orders", "one", "400");
    acquire("orders", "two", "400");
    ask_script(conn, "release", "orders", "q", "two", "20", NULL);
    pass(SIM_S);
    sim_master_kill(0);
    sim_master_start(0, SIM_EMPTY);
    sim_tell_to(NULL, NULL);
    ck_assert_ptr_nonnull(strstr(story, "n1 acquire orders for ?: granted, 400 ms\n"));
    ck_assert_ptr_nonnull(
        strstr(story, "n1 acquire orders for ?: one has it, for 399 ms more\n"));
    ck_assert_ptr_nonnull(strstr(story, "n1 release orders for ?: not its own\n"));
    ck_assert_ptr_nonnull(strstr(story, "n1: orders expires, was one\n"));
    ck_assert_ptr_nonnull(strstr(story, "n1 is killed\n"));
    ck_assert_ptr_nonnull(strstr(story, "n1 restarts empty\n"));
}

CASE(masters, .set_up = one_begin, .tear_down = one_end)
