/* test_text.c - digits and hashes of bytes. */
#include "config_auto.h"

#include "suite.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

TEST(text, digits_of_both_cases_are_read_and_nothing_else)
{
    for (int c = 0; c < 256; c++) {
        static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
        const char *at = c ? strchr(lower, c) : NULL;
        const char *other = c ? strchr(upper, c) : NULL;
        int value = at ? (int)(at - lower) : other ? (int)(other - upper) : -1;
        ck_assert_int_eq(rl_hex_value((char)c), value);
    }
}

TEST(text, bytes_are_written_as_two_digits_each)
{
    for (unsigned c = 0; c < 256; c++) {
        unsigned char bytes[2] = {(unsigned char)c, (unsigned char)(255 - c)};
        char text[8] = "#######", expected[5];
        snprintf(expected, sizeof(expected), "%02x%02x", c, 255 - c);
        ck_assert_ptr_eq(rl_put_hex(text, bytes, 2), text + 4);
        ck_assert_int_eq(memcmp(text, expected, 4), 0);
        ck_assert_str_eq(text + 4, "###");
    }
}

/* The published vectors of FNV-1a: other clients must come to the same. */
TEST(text, hashes_are_those_of_fnv_1a)
{
    ck_assert_uint_eq(rl_hash("", 0), UINT64_C(0xcbf29ce484222325));
    ck_assert_uint_eq(rl_hash("a", 1), UINT64_C(0xaf63dc4c8601ec8c));
    ck_assert_uint_eq(rl_hash("foobar", 6), UINT64_C(0x85944171f73967e8));
}

TEST(text, decimal_is_digits_that_fit_and_nothing_else)
{
    static const struct {
        const char *text;
        int64_t number;
    } rows[] = {
        {"0", 0},    {"007", 7}, {"999999999999999999", INT64_C(999999999999999999)},
        {"", -1},    {"-1", -1}, {"1000000000000000000", -1},
        {"12x", -1}, {" 1", -1}, {"1.5", -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_int_eq(rl_decimal(rows[i].text, strlen(rows[i].text)), rows[i].number);
    ck_assert_int_eq(rl_decimal("123", 2), 12);
}

TEST(text, lines_are_cut_off_without_their_ends)
{
    static const char text[] = "one\r\n\ntwo\n\r\nthree\rfour";
    static const char *const lines[] = {"one", "", "two", "", "three\rfour"};
    const char *at = text, *line;
    size_t left = sizeof(text) - 1, len;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        ck_assert(rl_next_line(&at, &left, &line, &len));
        ck_assert_uint_eq(len, strlen(lines[i]));
        ck_assert_int_eq(memcmp(line, lines[i], len), 0);
    }
    ck_assert(!rl_next_line(&at, &left, &line, &len));
    ck_assert_ptr_eq(at, text + sizeof(text) - 1);
}

TEST(text, uuid_is_small_hex_digits_with_dashes_in_their_places)
{
    static const char good[] = "0b7a2c5e-0000-4000-8fff-000000000001";
    char text[sizeof(good)];
    ck_assert(rl_is_uuid(good));
    for (size_t i = 0; i < sizeof(good) - 1; i++) {
        static const char others[] = {'\0', 'A', 'g', '-', '0', ' '};
        for (size_t k = 0; k < sizeof(others); k++) {
            memcpy(text, good, sizeof(good));
            text[i] = others[k];
            bool fits = good[i] == '-' ? others[k] == '-' : others[k] == '0';
            ck_assert_msg(rl_is_uuid(text) == fits, "%c at %zu", others[k], i);
        }
    }
}
