/* test_scripts_lists.c - lists_join.lua on a real server: which marks of node lists are alive,
 * how long they stay, and what is no mark. */
#include "config_auto.h"

#include "base/prng.h"
#include "config/list_mark.h"
#include "kinds/lists.h"
#include "masters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN "n3-ttl30000-keys2-drift10000-guard-00000001"
#define FIVE "n5-ttl30000-keys2-drift10000-guard-00000002"
#define SHORT "n3-ttl1000-keys2-drift10000-guard-00000003"
#define FORMER "n3-ttl1000-drift10000-guard-00000001"
#define MARGIN "5000"

static struct masters *masters;

static struct reply join_with(const char *mark, const char *margin_ms)
{
    return master_do(masters, 0, "EVAL", rl_lists_join, "1", RL_LISTS_KEY, "nonce", mark,
                     margin_ms, NULL);
}

static void expect(const char *mark, const char *others)
{
    struct reply reply = join_with(mark, MARGIN);
    char whole[512];
    snprintf(whole, sizeof(whole), "nonce %s", others);
    ck_assert_str_eq(reply.text, whole);
}

static long long time_ms(void)
{
    struct reply reply = master_do(masters, 0, "TIME", NULL);
    long long seconds, micros;
    ck_assert_int_eq(sscanf(reply.text, "%lld %lld", &seconds, &micros), 2);
    return seconds * 1000 + micros / 1000;
}

static long long seen_ms(const char *mark)
{
    struct reply reply = master_do(masters, 0, "HGET", RL_LISTS_KEY, mark, NULL);
    ck_assert_int_eq(reply.type, '$');
    return strtoll(reply.text, NULL, 10);
}

static bool stands(const char *mark)
{
    return master_do(masters, 0, "HEXISTS", RL_LISTS_KEY, mark, NULL).number == 1;
}

/* As if a client had shown it so long ago. */
static void show(const char *mark, long long ago_ms)
{
    char value[32];
    snprintf(value, sizeof(value), "%lld", time_ms() - ago_ms);
    master_do(masters, 0, "HSET", RL_LISTS_KEY, mark, value, NULL);
}

/* ---- clients of the former format of keys ------------------------------------------------- */

static void show_former(const char *mark, long long ago_ms)
{
    char value[32];
    snprintf(value, sizeof(value), "%lld", time_ms() - ago_ms);
    master_do(masters, 0, "HSET", "redlock:lists", mark, value, NULL);
}

/* A mark that says that it comes from tomorrow is alive, as among our own. */
TEST(lists, former_ones_are_told_while_they_live)
{
    expect(OWN, "0 ");
    show_former(FORMER, 5500);
    expect(OWN, "1 " FORMER);
    show_former("n7-ttl1000-drift1-open-00000000", -86400000);
    expect(OWN, "2 " FORMER " n7-ttl1000-drift1-open-00000000");
    show(FIVE, 0);
    expect(OWN, "3 " FORMER " " FIVE " n7-ttl1000-drift1-open-00000000");
    show_former(FORMER, 6001);
    expect(OWN, "2 " FIVE " n7-ttl1000-drift1-open-00000000");
    ck_assert_int_eq(master_do(masters, 0, "HLEN", "redlock:lists", NULL).number, 2);
    ck_assert_int_eq(master_do(masters, 0, "PTTL", "redlock:lists", NULL).number, -1);
}

/* Another program's keys begin so. */
TEST(lists, what_is_no_list_of_former_ones_is_let_be)
{
    master_do(masters, 0, "SET", "redlock:lists", "token", "PX", "60000", NULL);
    expect(OWN, "0 ");
    ck_assert_str_eq(master_do(masters, 0, "GET", "redlock:lists", NULL).text, "token");
    master_do(masters, 0, "DEL", "redlock:lists", NULL);
    master_do(masters, 0, "HSET", "redlock:lists", "by hand", "1", FORMER, "yesterday", NULL);
    expect(OWN, "0 ");
    show_former(FORMER, 0);
    expect(OWN, "1 " FORMER);
}

static long long left_ms(void)
{
    return master_do(masters, 0, "PTTL", RL_LISTS_KEY, NULL).number;
}

static void start(void)
{
    masters = masters_start(1, NULL);
}

TEST(lists, own_list_is_shown_and_no_other)
{
    long long before_ms = time_ms();
    expect(OWN, "0 ");
    ck_assert_int_ge(seen_ms(OWN), before_ms);
    ck_assert_int_le(seen_ms(OWN), time_ms());
    expect(OWN, "0 ");
}

TEST(lists, it_is_shown_anew_each_time)
{
    show(OWN, 20000);
    long long before_ms = time_ms();
    expect(OWN, "0 ");
    ck_assert_int_ge(seen_ms(OWN), before_ms);
}

TEST(lists, both_see_each_other)
{
    expect(OWN, "0 ");
    expect(FIVE, "1 " OWN);
    expect(OWN, "1 " FIVE);
}

TEST(lists, four_of_many_are_named)
{
    char mark[64];
    for (int i = 9; i >= 4; i--) {
        snprintf(mark, sizeof(mark), "n%d-ttl30000-drift10000-guard-00000000", i);
        show(mark, 0);
    }
    expect(OWN, "6 n4-ttl30000-drift10000-guard-00000000 "
                "n5-ttl30000-drift10000-guard-00000000 "
                "n6-ttl30000-drift10000-guard-00000000 "
                "n7-ttl30000-drift10000-guard-00000000");
}

/* Its clients may hold locks for its max-ttl, and not the asker's. */
TEST(lists, mark_lives_for_its_own_max_ttl_and_margin)
{
    show(SHORT, 1000 + 4000);
    show(FIVE, 30000 + 4000);
    expect(OWN, "2 " SHORT " " FIVE);
    show(SHORT, 1000 + 5000);
    expect(OWN, "1 " FIVE);
    ck_assert(!stands(SHORT));
    show(FIVE, 30000 + 15000);
    expect(SHORT, "1 " OWN);
    ck_assert(!stands(FIVE));
}

/* The clock went back: nobody knows when it was shown. */
TEST(lists, mark_from_ahead_is_of_now)
{
    show(FIVE, -3600000);
    expect(OWN, "1 " FIVE);
    ck_assert_int_le(seen_ms(FIVE), time_ms());
    show(OWN, -3600000);
    expect(OWN, "1 " FIVE);
    ck_assert_int_le(seen_ms(OWN), time_ms());
}

static const char *const no_marks[] = {"",
                                       "by hand",
                                       "n5-ttl-drift10000-guard-00000002",
                                       "n5-ttl30000",
                                       "n5-ttl30000-",
                                       "n5-ttl30000-drift10000 guard",
                                       "n5-ttl30000-drift10000_guard",
                                       /* of 64 bytes */
                                       "n5-ttl30000-0123456789012345678901234567890123456789012345678901",
                                       "xn5-ttl30000-drift10000-guard-00000002"};

/* Another program's hash is left as it is: no field of ours, and no end. */
static void expect_it_stays(const char *mark)
{
    struct reply reply = join_with(OWN, MARGIN);
    ck_assert_int_eq(reply.type, '-');
    ck_assert_msg(strstr(reply.text, "has what is no list of nodes") != NULL, "%s", reply.text);
    ck_assert(stands(mark));
    ck_assert_int_eq(master_do(masters, 0, "HLEN", RL_LISTS_KEY, NULL).number, 1);
    ck_assert_int_eq(left_ms(), -1);
}

TEST(lists, what_is_no_mark_stays, .rows = ROWS(no_marks))
{
    show(no_marks[_i], 0);
    expect_it_stays(no_marks[_i]);
}

static const char *const no_times[] = {"yesterday", "",     "nan", "inf",
                                       "-1",        "0x10", "1e3", "5 ",
                                       "99999999999999999"};

TEST(lists, mark_without_time_stays, .rows = ROWS(no_times))
{
    master_do(masters, 0, "HSET", RL_LISTS_KEY, FIVE, no_times[_i], NULL);
    expect_it_stays(FIVE);
}

/* Whatever max-ttl it tells: no list may have a longer one. */
TEST(lists, mark_lives_for_seven_days_at_most)
{
    static const long long day_ms = 86400000;
    show("n5-ttl9999999999999-drift10000-guard-1f2e3d4c", 7 * day_ms);
    expect(OWN, "1 n5-ttl9999999999999-drift10000-guard-1f2e3d4c");
    ck_assert_int_le(left_ms(), 30000 + 5000); /* of the own one */
    show("n5-ttl9999999999999-drift10000-guard-1f2e3d4c", 7 * day_ms + 5001);
    expect(OWN, "0 ");
}

/* ---- what it lets through, the client reads ---------------------------------------------- */

/* A piece of a mark, right or wrong. */
static const char *piece(struct rl_prng *prng)
{
    static const char *const pieces[] = {
        "n",           "5",     "0",         "65",        "-ttl",     "30000",
        "-drift",      "10000", "-",         "guard",     "open",     "strict",
        "certified",   "X",     "-1f2e3d4c", "-00000000", "paranoid", "9999999999999999999999",
        "n3-ttl1000-", "-g",    "_",         " ",         "\xff",     "n5-ttl30000-drift10000-",
        "\n",          "\t",    ".",         "",
    };
    return pieces[rl_prng_below(prng, sizeof(pieces) / sizeof(pieces[0]))];
}

static void draw_mark(struct rl_prng *prng, char ret_text[96])
{
    size_t len = 0;
    ret_text[0] = '\0';
    if (rl_prng_below(prng, 2))
        len = (size_t)snprintf(ret_text, 96, "n%u-ttl%u-", (unsigned)rl_prng_below(prng, 100),
                               1000 * (unsigned)rl_prng_below(prng, 100));
    for (uint64_t left = rl_prng_below(prng, 8); left > 0 && len < 95; left--)
        len += (size_t)snprintf(ret_text + len, 96 - len, "%s", piece(prng));
}

TEST(lists, whatever_it_lets_through_is_read)
{
    struct rl_prng prng;
    struct rl_list_mark read;
    char mark[96], expected[160];
    unsigned let_through = 0, of_others = 0;
    rl_prng_seed(&prng, 20261128);
    for (unsigned i = 0; i < 1500; i++) {
        draw_mark(&prng, mark);
        master_do(masters, 0, "DEL", RL_LISTS_KEY, NULL);
        show(mark, 0);
        struct reply reply = join_with(OWN, MARGIN);
        bool shown = strncmp(reply.text, "nonce 1 ", 8) == 0;
        ck_assert_msg(shown || strcmp(reply.text, "nonce 0 ") == 0 || reply.type == '-', "%s: %s",
                      mark, reply.text);
        snprintf(expected, sizeof(expected), "nonce 1 %s", mark);
        ck_assert(!shown || strcmp(reply.text, expected) == 0);
        ck_assert_msg(rl_list_mark_read(mark, strlen(mark), &read) == shown ||
                          strcmp(mark, OWN) == 0,
                      "%s: shown %d", mark, shown);
        let_through += shown;
        of_others += shown && read.other[0];
    }
    ck_assert_uint_gt(let_through, 100);
    ck_assert_uint_gt(of_others, 50);
}

/* The key ends with the mark that lives longest. */
TEST(lists, key_ends_with_its_last_mark)
{
    expect(SHORT, "0 ");
    ck_assert_int_gt(left_ms(), 0);
    ck_assert_int_le(left_ms(), 1000 + 5000);
    expect(OWN, "1 " SHORT);
    ck_assert_int_gt(left_ms(), 30000);
    ck_assert_int_le(left_ms(), 30000 + 5000);
    show(OWN, 20000);
    expect(SHORT, "1 " OWN);
    ck_assert_int_gt(left_ms(), 1000 + 5000);
    ck_assert_int_le(left_ms(), 10000 + 5000);
}

TEST(lists, key_is_gone_after_that)
{
    ck_assert_int_eq(join_with("n1-ttl10-drift10000-open-00000000", "1").type, '*');
    ck_assert(wait_until(!master_has(masters, 0, RL_LISTS_KEY), 5000));
}

TEST(lists, other_data_gives_error_and_stays)
{
    master_do(masters, 0, "SET", RL_LISTS_KEY, "x", NULL);
    struct reply reply = join_with(OWN, MARGIN);
    ck_assert_int_eq(reply.type, '-');
    ck_assert_msg(strstr(reply.text, "WRONGTYPE") != NULL, "%s", reply.text);
    ck_assert_str_eq(master_do(masters, 0, "GET", RL_LISTS_KEY, NULL).text, "x");
}

CASE(lists, .timeout_s = 60, .set_up = start)
