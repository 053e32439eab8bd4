/* test_resp_writer.c - requests, against hiredis's own encoder as the oracle; no byte is
 * written beyond the place that was given. */
#include "config_auto.h"

#include "base/prng.h"
#include "net/resp.h"
#include "suite.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 12
#define PLACE 65536

/* Encode the arguments both ways: the same bytes. */
static void compare(int argc, const char **argv, const size_t *lens)
{
    static char place[PLACE];
    struct rl_out out;
    char *expected = NULL;
    long long expected_len = redisFormatCommandArgv(&expected, argc, argv, lens);
    ck_assert_int_gt(expected_len, 0);
    rl_out_init(&out, place, sizeof(place));
    rl_put_array(&out, (unsigned)argc);
    for (int i = 0; i < argc; i++)
        rl_put_bulk(&out, argv[i], lens[i]);
    ck_assert(!out.overflow);
    ck_assert_uint_eq(out.len, (size_t)expected_len);
    ck_assert_mem_eq(place, expected, out.len);
    free(expected);
}

TEST(requests, as_hiredis_does_it)
{
    const char *argv[] = {"EVALSHA", "", "1", "a\0b\r\nc", "\xff\xfe", "-5"};
    const size_t lens[] = {7, 0, 1, 6, 2, 2};
    for (int argc = 1; argc <= 6; argc++)
        compare(argc, argv, lens);
}

TEST(requests, as_hiredis_does_it_with_anything)
{
    static char bytes[PLACE];
    struct rl_prng prng;
    rl_prng_seed(&prng, 77);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)rl_prng_below(&prng, 256);
    for (int round = 0; round < 3000; round++) {
        const char *argv[ARGS_MAX];
        size_t lens[ARGS_MAX];
        int argc = 1 + (int)rl_prng_below(&prng, ARGS_MAX);
        for (int i = 0; i < argc; i++) {
            /* Lengths around each change in the number of their digits, and some longer. */
            static const size_t around[] = {0, 9, 10, 11, 99, 100, 101, 999, 1000, 4096};
            lens[i] = around[rl_prng_below(&prng, 10)];
            argv[i] = bytes + rl_prng_below(&prng, sizeof(bytes) - 4096);
        }
        compare(argc, argv, lens);
    }
}

TEST(requests, texts_are_bulks)
{
    char one[64], two[64];
    struct rl_out out_one, out_two;
    rl_out_init(&out_one, one, sizeof(one));
    rl_out_init(&out_two, two, sizeof(two));
    rl_put_text(&out_one, "PING");
    rl_put_bulk(&out_two, "PING", 4);
    ck_assert_uint_eq(out_one.len, out_two.len);
    ck_assert_mem_eq(one, two, out_one.len);
    rl_put_text(&out_one, "");
    ck_assert_mem_eq(one + out_two.len, "$0\r\n\r\n", 6);
}

TEST(requests, numbers_are_bulks_in_decimal)
{
    static const int64_t numbers[] = {0,  1,  9,   10,        -1,        -9,
                                      -10, 99, 100, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    struct rl_prng prng;
    rl_prng_seed(&prng, 78);
    for (unsigned i = 0; i < 2000; i++) {
        const unsigned edges = sizeof(numbers) / sizeof(numbers[0]);
        int64_t number = i < edges ? numbers[i]
                                   : (int64_t)rl_prng_next(&prng) >> rl_prng_below(&prng, 64);
        char text[32], place[64], expected[64];
        struct rl_out out;
        snprintf(text, sizeof(text), "%lld", (long long)number);
        snprintf(expected, sizeof(expected), "$%zu\r\n%s\r\n", strlen(text), text);
        rl_out_init(&out, place, sizeof(place));
        rl_put_number(&out, number);
        ck_assert_uint_eq(out.len, strlen(expected));
        ck_assert_mem_eq(place, expected, out.len);
    }
}

TEST(requests, arrays_of_any_number)
{
    static const unsigned numbers[] = {0, 1, 7, 10, 4294967295u};
    for (unsigned i = 0; i < 5; i++) {
        char place[32], expected[32];
        struct rl_out out;
        snprintf(expected, sizeof(expected), "*%u\r\n", numbers[i]);
        rl_out_init(&out, place, sizeof(place));
        rl_put_array(&out, numbers[i]);
        ck_assert_uint_eq(out.len, strlen(expected));
        ck_assert_mem_eq(place, expected, out.len);
    }
}

static void put_everything(struct rl_out *out)
{
    rl_put_array(out, 4);
    rl_put_text(out, "EVAL");
    rl_put_bulk(out, "a\0b", 3);
    rl_put_number(out, -12345);
    rl_put_bulk(out, "", 0);
}

/* In every place that is too small: `overflow`, and not a byte beyond the end. */
TEST(requests, places_that_are_too_small)
{
    char whole[128];
    struct rl_out out;
    rl_out_init(&out, whole, sizeof(whole));
    put_everything(&out);
    ck_assert(!out.overflow);
    size_t len = out.len;
    for (size_t size = 0; size <= len; size++) {
        char *place = malloc(size + 8);
        ck_assert_ptr_nonnull(place);
        memset(place, '#', size + 8);
        rl_out_init(&out, place, size);
        put_everything(&out);
        ck_assert_int_eq(out.overflow, size < len);
        ck_assert_uint_le(out.len, size);
        ck_assert_mem_eq(place + size, "########", 8);
        ck_assert_mem_eq(place, whole, out.len);
        /* Once over, always over: a request with a hole in it is none. */
        size_t before = out.len;
        rl_put_bulk(&out, "", 0);
        ck_assert(out.overflow);
        ck_assert(size == len || out.len == before);
        free(place);
    }
}

TEST(requests, nonces_are_sixteen_digits)
{
    static const struct {
        uint64_t nonce;
        const char *text;
    } nonces[] = {
        {0, "0000000000000000"},
        {1, "0000000000000001"},
        {UINT64_C(0x0123456789abcdef), "0123456789abcdef"},
        {UINT64_C(0xfedcba9876543210), "fedcba9876543210"},
        {UINT64_MAX, "ffffffffffffffff"},
    };
    for (unsigned i = 0; i < sizeof(nonces) / sizeof(nonces[0]); i++) {
        char text[RL_NONCE_LEN + 1];
        memset(text, '#', sizeof(text));
        rl_nonce_text(nonces[i].nonce, text);
        ck_assert_mem_eq(text, nonces[i].text, RL_NONCE_LEN);
        ck_assert_int_eq(text[RL_NONCE_LEN], '#');
    }
}
