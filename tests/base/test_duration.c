/* Durations: what is read, what is refused and why, and how they are written. */
#include "config_auto.h"

#include "base/duration.h"
#include "base/limits.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#define DAY INT64_C(86400000)

static const struct {
    const char *text;
    int64_t ms;
} good[] = {
    {"0", 0},
    {"00", 0},
    {"0ms", 0},
    {"0s", 0},
    {"0d", 0},
    {"1ms", 1},
    {"250ms", 250},
    {"30s", 30000},
    {"030s", 30000},
    {"5m", 300000},
    {"2h", 7200000},
    {"1d", DAY},
    {"36500d", 36500 * DAY},
    {"876000h", 36500 * DAY},
    {"3153600000000ms", 36500 * DAY},
};

TEST(read, test_good, .rows = ROWS(good))
{
    int64_t ms = -7;
    ck_assert_ptr_null(rl_duration_parse(good[_i].text, strlen(good[_i].text), &ms));
    ck_assert_int_eq(ms, good[_i].ms);
    ms = -7;
    ck_assert(rl_parse_duration_ms(good[_i].text, strlen(good[_i].text), &ms));
    ck_assert_int_eq(ms, good[_i].ms);
}

static const struct {
    const char *text;
    const char *wrong; /* in the reason */
} bad[] = {
    {"", "not a duration"},
    {"s", "not a duration"},
    {"ten", "not a duration"},
    {"-", "not a duration"},
    {"+5s", "not a duration"},
    {" 5s", "not a duration"},
    {"5 s", "not a duration"},
    {"5s ", "not a duration"},
    {"5S", "not a duration"},
    {"5sec", "not a duration"},
    {"5us", "not a duration"},
    {"5w", "not a duration"},
    {"1m30s", "not a duration"},
    {"0x10s", "not a duration"},
    {"5mss", "not a duration"},
    {"30", "has no unit"},
    {"1", "has no unit"},
    {"99999999999999999999999999", "has no unit"},
    {"-5s", "negative"},
    {"-0s", "negative"},
    {"1.5s", "whole number"},
    {"1,5s", "whole number"},
    {"1.s", "whole number"},
    {"36501d", "too long"},
    {"3153600000001ms", "too long"},
    {"9223372036854775807ms", "too long"},
    {"9223372036854775808ms", "too long"},
    {"106751991168d", "too long"},          /* overflows int64_t as milliseconds */
    {"18446744073709551617ms", "too long"}, /* 2^64 + 1 */
    {"100000000000000000000000000000000000000d", "too long"},
};

TEST(read, test_bad, .rows = ROWS(bad))
{
    int64_t ms = -7;
    size_t len = strlen(bad[_i].text);
    const char *wrong = rl_duration_parse(bad[_i].text, len, &ms);
    ck_assert_msg(wrong && strstr(wrong, bad[_i].wrong), "'%s': %s", bad[_i].text,
                  wrong ? wrong : "was taken");
    ck_assert(!rl_parse_duration_ms(bad[_i].text, len, &ms));
    ck_assert_int_eq(ms, -7);
}

/* The text is bytes with a length: nothing behind the end is looked at. */
TEST(read, test_length)
{
    int64_t ms = 0;
    ck_assert(rl_parse_duration_ms("250ms", 4, &ms));
    ck_assert_int_eq(ms, 250 * 60000);
    ck_assert(!rl_parse_duration_ms("250ms", 3, &ms));
    ck_assert(!rl_parse_duration_ms("30s\0", 4, &ms));
    ck_assert(!rl_parse_duration_ms(NULL, 0, &ms));
}

static const struct {
    int64_t ms;
    const char *text;
} written[] = {
    {0, "0s"},
    {1, "1ms"},
    {999, "999ms"},
    {1000, "1s"},
    {1500, "1500ms"},
    {59000, "59s"},
    {60000, "1m"},
    {90000, "90s"},
    {3600000, "1h"},
    {5400000, "90m"},
    {DAY, "1d"},
    {7 * DAY, "7d"},
    {DAY + 1, "86400001ms"},
    {36 * 3600000, "36h"},
    {36500 * DAY, "36500d"},
};

TEST(write, test_written, .rows = ROWS(written))
{
    char text[RL_DURATION_TEXT_MAX];
    rl_duration_format(written[_i].ms, text);
    ck_assert_str_eq(text, written[_i].text);
    int64_t ms = -1;
    ck_assert(rl_parse_duration_ms(text, strlen(text), &ms));
    ck_assert_int_eq(ms, written[_i].ms);
}

/* Whatever can be written reads back the same. */
TEST(write, test_round_trip)
{
    for (int64_t ms = 1; ms < 36500 * DAY; ms += 1 + ms / 97) {
        char text[RL_DURATION_TEXT_MAX];
        int64_t again = -1;
        rl_duration_format(ms, text);
        ck_assert(rl_parse_duration_ms(text, strlen(text), &again));
        ck_assert_int_eq(again, ms);
    }
}

