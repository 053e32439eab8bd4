/* test_scripts_marker.c - marker_join.lua and marker_init.lua on a real server: what a missing
 * or another marker leads to, how long a quarantine lasts, and when a first marker is set. */
#include "config_auto.h"

#include "base/prng.h"
#include "core/marker.h"
#include "kinds/marker.h"
#include "masters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct masters *masters;

struct said {
    char run_id[64], why[32];
    long long left_ms;
};

static struct said join_as(const char *db, const char *window_ms)
{
    struct said said;
    struct reply reply = master_do(masters, 0, "EVAL", rl_marker_join, "2", RL_MARKER_KEY,
                                   RL_QUARANTINE_KEY, "nonce", db, window_ms, NULL);
    int got = sscanf(reply.text, "nonce %63s %31s %lld", said.run_id, said.why, &said.left_ms);
    ck_assert_msg(got == 3, "%s", reply.text);
    return said;
}

static struct said join(void)
{
    return join_as("0", "20000");
}

static const char *init(void)
{
    static struct reply reply;
    reply = master_do(masters, 0, "EVAL", rl_marker_init, "2", RL_MARKER_KEY, RL_QUARANTINE_KEY,
                      "nonce", "0", NULL);
    return reply.text;
}

static void expect(struct said said, const char *why, long long least_ms, long long most_ms)
{
    ck_assert_str_eq(said.why, why);
    ck_assert_int_ge(said.left_ms, least_ms);
    ck_assert_int_le(said.left_ms, most_ms);
}

static void start(void)
{
    masters = masters_start(1, NULL);
}

static void empty(void)
{
    master_do(masters, 0, "FLUSHALL", NULL);
}

static long long time_ms(void)
{
    struct reply reply = master_do(masters, 0, "TIME", NULL);
    long long seconds, micros;
    ck_assert_int_eq(sscanf(reply.text, "%lld %lld", &seconds, &micros), 2);
    return seconds * 1000 + micros / 1000;
}

/* ---- joining ---------------------------------------------------------------------------- */

TEST(marker, master_without_marker_is_quarantined_for_all)
{
    long long before_ms = time_ms();
    expect(join(), "missing", 20000, 20000);
    long long begun_ms =
        strtoll(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, NULL, 10);
    ck_assert_int_ge(begun_ms, before_ms);
    ck_assert_int_le(begun_ms, time_ms());
    expect(join(), "missing", 10000, 20000);
    ck_assert_int_eq(master_do(masters, 0, "PTTL", RL_MARKER_KEY, NULL).number, -1);
}

TEST(marker, marker_that_matches_is_left_alone)
{
    ck_assert_str_eq(init(), "nonce done 0");
    struct reply marker = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    struct said said = join();
    expect(said, "init", 0, 0);
    ck_assert_int_eq(strncmp(marker.text, said.run_id, 40), 0);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_MARKER_KEY, NULL).text, marker.text);
    ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
}

static const char *const markers[][2] = {
    {"0123456789012345678901234567890123456789 0123456789012345678901234567890123456789 0 init",
     "restarted"},
};
static const char *const no_markers[] = {"something else", ""};

/* What this version writes, and then something else. */
static void draw_marker(struct rl_prng *prng, const char *run_id, const char *replication,
                        char ret_text[400])
{
    static const char *const words[] = {
        "init", "restarted", "awordofmorethanfifteenletters", " more", ";x=1", "\xff", "\n",
        " ",
        "0123456789012345678901234567890123456789012345678901234567890123456789", "Init", "0",
    };
    int len = snprintf(ret_text, 400, "%s %s %s ", run_id,
                       rl_prng_below(prng, 4) ? replication : "",
                       rl_prng_below(prng, 8) ? "0" : "1");
    for (uint64_t left = rl_prng_below(prng, 4); left > 0; left--)
        len += snprintf(ret_text + len, 400 - (size_t)len, "%s",
                        words[rl_prng_below(prng, sizeof(words) / sizeof(words[0]))]);
}

TEST(marker, whatever_it_lets_through_is_read)
{
    static const struct rl_marker_reading reading;
    struct rl_prng prng;
    char run_id[64], replication[64], db[16], marker[400];
    unsigned kept = 0, lost = 0;
    rl_prng_seed(&prng, 20261128);
    ck_assert_str_eq(init(), "nonce done 0");
    ck_assert_int_eq(sscanf(master_do(masters, 0, "GET", RL_MARKER_KEY, NULL).text,
                            "%63s %63s %15s", run_id, replication, db),
                     3);
    for (unsigned i = 0; i < 1000; i++) {
        draw_marker(&prng, run_id, replication, marker);
        master_do(masters, 0, "SET", RL_MARKER_KEY, marker, NULL);
        master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
        struct said said = join();
        ck_assert_uint_lt(strlen(said.run_id), sizeof(reading.run_id));
        ck_assert_msg(strlen(said.why) < sizeof(reading.why), "%s: %s", marker, said.why);
        struct reply stands = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
        bool other = strcmp(said.why, "foreign") == 0;
        ck_assert_msg(other ? strcmp(stands.text, marker) == 0
                            : strlen(stands.text) < sizeof(reading.text),
                      "%s: %s", marker, stands.text);
        kept += said.left_ms == 0 && strcmp(stands.text, marker) == 0;
        lost += said.left_ms > 0;
    }
    ck_assert_uint_gt(kept, 50);
    ck_assert_uint_gt(lost, 50);
}

TEST(marker, another_marker_is_quarantined_and_replaced, .rows = ROWS(markers))
{
    init();
    master_do(masters, 0, "SET", RL_MARKER_KEY, markers[_i][0], NULL);
    expect(join(), markers[_i][1], 20000, 20000);
    expect(join(), markers[_i][1], 10000, 20000);
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    expect(join(), markers[_i][1], 0, 0);
}

/* What another program keeps there stays, and so does its end. */
TEST(marker, data_in_markers_place_stays, .rows = 2)
{
    master_do(masters, 0, "SET", RL_MARKER_KEY, no_markers[_i], "PX", "60000", NULL);
    expect(join(), "foreign", 20000, 20000);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_MARKER_KEY, NULL).text, no_markers[_i]);
    ck_assert_int_gt(master_do(masters, 0, "PTTL", RL_MARKER_KEY, NULL).number, 0);
    ck_assert(!master_has(masters, 0, RL_QUARANTINE_KEY));
    ck_assert_str_eq(init(), "nonce foreign 1");
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_MARKER_KEY, NULL).text, no_markers[_i]);
    master_do(masters, 0, "DEL", RL_MARKER_KEY, NULL);
    expect(join(), "missing", 20000, 20000);
    ck_assert(master_has(masters, 0, RL_QUARANTINE_KEY));
}

TEST(marker, list_in_markers_place_stays)
{
    master_do(masters, 0, "LPUSH", RL_MARKER_KEY, "x", NULL);
    expect(join(), "foreign", 20000, 20000);
    ck_assert_str_eq(init(), "nonce foreign 1");
    ck_assert_int_eq(master_do(masters, 0, "LLEN", RL_MARKER_KEY, NULL).number, 1);
}

/* A lock named so by another client, or a word by hand; or a number that is no time at which a
 * quarantine began which ends then. */
static const char *const others_data[] = {"0a1b-token", "12345", "9999999999999999"};

TEST(marker, data_in_quarantines_place_stays_and_is_no_vote, .rows = ROWS(others_data))
{
    const char *data = others_data[_i];
    init();
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, data, "PX", "5000", NULL);
    expect(join(), "strange", 3000, 5000); /* for as long as it stands, and no longer */
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, data);
    ck_assert_int_le(master_do(masters, 0, "PTTL", RL_QUARANTINE_KEY, NULL).number, 5000);
    ck_assert_str_eq(master_do(masters, 0, "EVAL", rl_marker_init, "4", RL_MARKER_KEY,
                               RL_QUARANTINE_KEY, "l", "f", "nonce", "0", "replace", NULL)
                         .text,
                     "nonce marker 1");
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    expect(join(), "init", 0, 0);
}

/* The loss can't be written down, so it must not be written off. */
TEST(marker, keys_lost_beside_data_in_quarantines_place_are_found_again,
     .rows = 2 * ROWS(others_data))
{
    const char *data = others_data[_i / 2];
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, data, NULL);
    if (_i % 2 == 0)
        master_do(masters, 0, "PEXPIRE", RL_QUARANTINE_KEY, "5000", NULL);
    if (_i % 2)
        expect(join(), "strange", -1, -1);
    else
        expect(join(), "missing", 20000, 20000);
    ck_assert(!master_has(masters, 0, RL_MARKER_KEY));
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, data);
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    expect(join(), "missing", 20000, 20000);
    ck_assert(master_has(masters, 0, RL_MARKER_KEY));
}

/* SWAPDB brings the keys of another database, and its marker. */
TEST(marker, marker_of_another_database_is_quarantined)
{
    init();
    expect(join_as("0", "20000"), "init", 0, 0);
    expect(join_as("1", "20000"), "moved", 20000, 20000);
}

/* It was there in the meantime, and had another server's keys. */
TEST(marker, former_replica_is_quarantined)
{
    init();
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    expect(join(), "replica", 0, 0);
    master_do(masters, 0, "REPLICAOF", "NO", "ONE", NULL);
    expect(join(), "resynced", 20000, 20000);
}

/* The replication id changes when a first replica comes, and when the backlog is freed, and no
 * key is lost by it. */
TEST(marker, first_replica_and_freed_backlog_cost_no_vote)
{
    char port[16];
    struct masters *both = masters_start(2, NULL);
    struct masters *own = masters;
    masters = both;
    init();
    struct reply before = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    snprintf(port, sizeof(port), "%d", both->node[0].tcp_at.port);
    master_do(masters, 0, "CONFIG", "SET", "repl-backlog-ttl", "1", "repl-diskless-sync-delay",
              "0", NULL);
    for (int round = 0; round < 2; round++) {
        master_do(masters, 1, "REPLICAOF", "127.0.0.1", port, NULL);
        ck_assert(wait_until(
            strstr(master_do(masters, 1, "INFO", "replication", NULL).text, "link_status:up"),
            20000));
        expect(join(), "init", 0, 0);
        master_do(masters, 1, "REPLICAOF", "NO", "ONE", NULL);
        ck_assert(wait_until(strstr(master_do(masters, 0, "INFO", "replication", NULL).text,
                                    "repl_backlog_active:0"),
                             20000));
        expect(join(), "init", 0, 0);
    }
    struct reply after = master_do(masters, 0, "GET", RL_MARKER_KEY, NULL);
    ck_assert_msg(strcmp(before.text, after.text) != 0, "its id did not change: %s",
                  after.text);
    masters_stop(both);
    masters = own;
}

/* ---- the quarantine --------------------------------------------------------------------- */

TEST(marker, quarantine_is_raised_and_never_lowered)
{
    expect(join_as("0", "5000"), "missing", 5000, 5000);
    expect(join_as("0", "30000"), "missing", 25000, 30000);
    ck_assert_int_gt(master_do(masters, 0, "PTTL", RL_QUARANTINE_KEY, NULL).number, 24000);
    expect(join_as("0", "1000"), "missing", 20000, 30000);
}

/* It counts from its beginning, and not from when it is read. */
TEST(marker, quarantine_counts_from_its_beginning)
{
    char begun[32];
    init();
    snprintf(begun, sizeof(begun), "%lld", time_ms() - 15000);
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, begun, "PX", "1000", NULL);
    expect(join(), "init", 1000, 5000);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, begun);
}

static const char *const values[] = {"", "by hand", "-5", "12345", "12345678901234567"};

/* Its keys were found lost once, and have been whole since. */
TEST(marker, earlier_loss_is_no_reason_for_what_somebody_else_has_set, .rows = 2)
{
    expect(join_as("0", "100"), "missing", 100, 100);
    ck_assert(wait_until(!master_has(masters, 0, RL_QUARANTINE_KEY), 20000));
    expect(join(), "missing", 0, 0);
    master_do(masters, 0, _i == 0 ? "SET" : "RPUSH", RL_QUARANTINE_KEY, "by hand", NULL);
    expect(join(), "strange", -1, -1);
    master_do(masters, 0, "DEL", RL_QUARANTINE_KEY, NULL);
    expect(join(), "missing", 0, 0);
}

/* Who set it says how long it lasts. */
TEST(marker, quarantine_without_beginning_stays, .rows = ROWS(values))
{
    init();
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, values[_i], "PX", "5000", NULL);
    expect(join(), "strange", 1000, 5000);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, values[_i]);
    ck_assert_int_le(master_do(masters, 0, "PTTL", RL_QUARANTINE_KEY, NULL).number, 5000);
}

TEST(marker, quarantine_that_has_not_begun_begins_now)
{
    char ahead[32];
    init();
    snprintf(ahead, sizeof(ahead), "%lld", time_ms() + 10000);
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, ahead, "PX", "15000", NULL);
    expect(join(), "init", 20000, 20000);
    long long begun_ms =
        strtoll(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, NULL, 10);
    ck_assert_int_le(begun_ms, time_ms());
    pause_ms(20);
    expect(join(), "init", 10000, 19990);
}

TEST(marker, quarantine_without_end_stays, .rows = 2 * ROWS(values))
{
    if (_i % 2)
        init();
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, values[_i / 2], NULL);
    expect(join(), "strange", -1, -1);
    expect(join(), "strange", -1, -1);
    ck_assert_int_eq(master_do(masters, 0, "PTTL", RL_QUARANTINE_KEY, NULL).number, -1);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, values[_i / 2]);
}

/* It could be one of ours, but for its end. */
TEST(marker, quarantine_without_end_stays_whenever_it_began)
{
    char begun[32];
    snprintf(begun, sizeof(begun), "%lld", time_ms() - 1000);
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, begun, NULL);
    expect(join(), "strange", -1, -1);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, begun);
    ck_assert_int_eq(master_do(masters, 0, "PTTL", RL_QUARANTINE_KEY, NULL).number, -1);
    ck_assert(!master_has(masters, 0, RL_MARKER_KEY));
    ck_assert_str_eq(master_do(masters, 0, "EVAL", rl_marker_init, "4", RL_MARKER_KEY,
                               RL_QUARANTINE_KEY, "l", "f", "nonce", "0", "replace", NULL)
                         .text,
                     "nonce strange 1");
}

/* What is lost again is quarantined from now on. */
TEST(marker, second_loss_begins_anew)
{
    expect(join_as("0", "5000"), "missing", 5000, 5000);
    struct reply first = master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL);
    pause_ms(20);
    master_do(masters, 0, "DEL", RL_MARKER_KEY, NULL);
    expect(join_as("0", "5000"), "missing", 5000, 5000);
    ck_assert_str_ne(master_do(masters, 0, "GET", RL_QUARANTINE_KEY, NULL).text, first.text);
}

/* ---- the first marker ------------------------------------------------------------------- */

TEST(marker, first_marker_is_set_where_nothing_stands)
{
    char begun[32];
    ck_assert_str_eq(init(), "nonce done 0");
    ck_assert_str_eq(init(), "nonce marker 1");
    empty();
    snprintf(begun, sizeof(begun), "%lld", time_ms());
    master_do(masters, 0, "SET", RL_QUARANTINE_KEY, begun, "PX", "9000", NULL);
    ck_assert_str_eq(init(), "nonce quarantine 1");
    empty();
    master_do(masters, 0, "SET", "orders:42", "1", NULL);
    master_do(masters, 0, "SET", "orders:43", "1", NULL);
    ck_assert_str_eq(init(), "nonce keys 2");
    ck_assert(!master_has(masters, 0, RL_MARKER_KEY));
    empty();
    master_do(masters, 0, "REPLICAOF", "127.0.0.1", "1", NULL);
    ck_assert_str_eq(init(), "nonce replica 0");
}

CASE(marker, .timeout_s = 120, .set_up = start)
