/* tags: valgrind */
/* test_handle_text.c - detached locks as text: there and back, every cut, every changed byte,
 * and texts that are whole and yet no handle. */
#include "config_auto.h"

#include "kinds/handle_text.h"
#include "base/prng.h"
#include "suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOOT_ID "01234567-89ab-cdef-0123-456789abcdef"

static struct rl_handle sample(const char *token, const void *name, size_t name_len)
{
    struct rl_handle handle = {
        .kind = REDLOCK_PLAIN,
        .n = 5,
        .boot_id = BOOT_ID,
        .clock_offset = -20 * RL_NS_PER_S,
        .written_ns = INT64_C(0x0123456700000000),
        .deadline_ns = INT64_C(0x0123456789abcdef),
        .keep_until_ns = INT64_C(0x0123456712345678),
        .ttl_ms = 30000,
        .mark = {0x01020304, 0, 0xffffffff, 5, 0xfedcba98},
        .token_len = strlen(token),
        .name_len = name_len,
    };
    memcpy(handle.token, token, handle.token_len + 1);
    memcpy(handle.name, name, name_len);
    return handle;
}

/* The same, of any kind; those that have an owner get one. */
static struct rl_handle sample_of(int row, const char *token, const void *name, size_t name_len)
{
    struct rl_handle handle = sample(token, name, name_len);
    handle.kind = row;
    if (rl_kind_owned(rl_kind(row))) {
        handle.owner_len = strlen("client:7");
        memcpy(handle.owner, "client:7", handle.owner_len);
    }
    return handle;
}

/* With and without a kind, one. */
static struct rl_handle sample_form(int form, const char *token, const void *name,
                                    size_t name_len)
{
    return sample_of(form == 0 ? RL_ROW_PLAIN : RL_ROW_REENTRANT, token, name, name_len);
}

static void check_same(const struct rl_handle *a, const struct rl_handle *b)
{
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_uint_eq(a->n, b->n);
    ck_assert_str_eq(a->boot_id, b->boot_id);
    ck_assert_int_eq(a->clock_offset, b->clock_offset);
    ck_assert_int_eq(a->written_ns, b->written_ns);
    ck_assert_int_eq(a->deadline_ns, b->deadline_ns);
    ck_assert_int_eq(a->keep_until_ns, b->keep_until_ns);
    ck_assert_int_eq(a->ttl_ms, b->ttl_ms);
    ck_assert_uint_eq(a->fencing_token, b->fencing_token);
    ck_assert_mem_eq(a->mark, b->mark, a->n * sizeof(a->mark[0]));
    ck_assert_uint_eq(a->token_len, b->token_len);
    ck_assert_str_eq(a->token, b->token);
    ck_assert_uint_eq(a->name_len, b->name_len);
    ck_assert_mem_eq(a->name, b->name, a->name_len);
    ck_assert_int_eq(b->name[b->name_len], '\0');
    ck_assert_uint_eq(a->owner_len, b->owner_len);
    ck_assert_mem_eq(a->owner, b->owner, a->owner_len);
    ck_assert_int_eq(b->owner[b->owner_len], '\0');
}

static void round_trip(const struct rl_handle *handle)
{
    char text[REDLOCK_HANDLE_MAX];
    struct rl_handle again;
    memset(&again, 0x5a, sizeof(again));
    ck_assert_int_eq(rl_handle_encode(handle, text, sizeof(text)), 0);
    ck_assert_uint_eq(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789-_"),
                      strlen(text)); /* safe in a shell, a URL, a file name */
    ck_assert_int_eq(rl_handle_decode(text, &again), 0);
    check_same(handle, &again);
}

/* The form is for other processes, of other versions too: it must not change unnoticed. */
TEST(whole, text_is_documented_one)
{
    static const char expected[] =
        "rl5AAUBI0VniavN7wEjRWeJq83v____-1foOAABI0VnAAAAAAEjRWeJq83vASNFZxI0VngAAAAAAAB1M"
        "AAAAAAAAAAAAwAGAQIDBAAAAAD_____AAAABf7cuph0b2tvcmRlcnOKKsrH";
    struct rl_handle handle = sample("tok", "orders", 6);
    char text[REDLOCK_HANDLE_MAX];
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    ck_assert_str_eq(text, expected);
}

TEST(whole, text_of_other_kinds_is_documented_one)
{
    static const char expected[] =
        "rl5CQUBI0VniavN7wEjRWeJq83v____-1foOAABI0VnAAAAAAEjRWeJq83vASNFZxI0VngAAAAAAAB1M"
        "AAAAAAAAAAAAwAGAQIDBAAAAAD_____AAAABf7cupgIcmVlbnRyYW50dG9rb3JkZXJzY2xpZW50Ojd4GQ0Z";
    struct rl_handle handle = sample_of(RL_ROW_REENTRANT, "tok", "orders", 6);
    char text[REDLOCK_HANDLE_MAX];
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    ck_assert_str_eq(text, expected);
}

/* Every kind, with the longest of everything too. */
TEST(whole, every_kind_there_and_back, .rows = RL_ROWS)
{
    static char bytes[REDLOCK_NAMES_MAX][REDLOCK_NAME_MAX / REDLOCK_NAMES_MAX];
    redlock_bytes names[REDLOCK_NAMES_MAX];
    if (!rl_kind(_i) || !rl_kind(_i)->script[RL_ACQUIRE].name)
        return; /* nobody holds such a lock */
    struct rl_handle handle = sample_of(_i, "0123:me", "orders", 6);
    for (unsigned i = 0; i < REDLOCK_NAMES_MAX; i++) {
        memset(bytes[i], 'a' + (int)i % 26, sizeof(bytes[i]));
        bytes[i][1] = (char)i;
        names[i] = (redlock_bytes){.bytes = bytes[i], .len = sizeof(bytes[i])};
    }
    if (rl_kind(_i)->several)
        handle.name_len = rl_names_pack(names, 2, handle.name, NULL, 0);
    round_trip(&handle);
    if (rl_kind(_i)->several) {
        handle.name_len = rl_names_pack(names, REDLOCK_NAMES_MAX, handle.name, NULL, 0);
    } else {
        memset(handle.name, 'n', REDLOCK_NAME_MAX);
        handle.name_len = REDLOCK_NAME_MAX;
    }
    memset(handle.token, 't', RL_TOKEN_MAX);
    handle.token_len = RL_TOKEN_MAX;
    if (rl_kind_owned(rl_kind(_i))) {
        memset(handle.owner, 'o', RL_OWNER_MAX);
        handle.owner_len = RL_OWNER_MAX;
    }
    round_trip(&handle);
}

TEST(whole, there_and_back)
{
    static const char bytes[] = "a\0b\n \xff{}\"'\\$\0";
    struct rl_handle handle = sample("0123456789abcdef:host:42", "orders:42", 9);
    round_trip(&handle);
    handle = sample("t", bytes, sizeof(bytes) - 1); /* NULs, within and at the end */
    round_trip(&handle);
    handle = sample("t", "\0", 1);
    round_trip(&handle);
    handle.deadline_ns = handle.written_ns = handle.clock_offset = INT64_MAX;
    handle.ttl_ms = RL_TTL_LIMIT_MS;
    handle.n = REDLOCK_NODES_MAX;
    round_trip(&handle);
    handle.deadline_ns = handle.written_ns = 0;
    handle.clock_offset = INT64_MIN;
    handle.ttl_ms = 1;
    handle.n = 1;
    round_trip(&handle);
}

/* Every length of a name, and tokens of every length, so that every remainder of three and
 * both limits are met. */
TEST(whole, all_lengths)
{
    static struct rl_handle handle;
    struct rl_prng prng;
    rl_prng_seed(&prng, 5);
    handle = sample("t", "n", 1);
    for (size_t i = 0; i < REDLOCK_NAME_MAX; i++)
        handle.name[i] = (char)rl_prng_below(&prng, 256);
    memset(handle.token, 'x', RL_TOKEN_MAX);
    for (size_t len = 1; len <= REDLOCK_NAME_MAX; len += len < 300 ? 1 : 97) {
        char kept = handle.name[len];
        handle.name[len] = '\0';
        handle.name_len = len;
        handle.token_len = 1 + len % RL_TOKEN_MAX;
        handle.token[handle.token_len] = '\0';
        round_trip(&handle);
        handle.token[handle.token_len] = 'x';
        handle.name[len] = kept;
    }
    handle.name_len = REDLOCK_NAME_MAX;
    handle.name[REDLOCK_NAME_MAX] = '\0';
    handle.token_len = RL_TOKEN_MAX;
    handle.token[RL_TOKEN_MAX] = '\0';
    round_trip(&handle);
}

TEST(whole, place_that_is_too_small)
{
    for (size_t name_len = 1; name_len <= 3; name_len++) {
        struct rl_handle handle = sample("token", "abc", name_len);
        char text[REDLOCK_HANDLE_MAX];
        ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
        size_t needed = strlen(text) + 1;
        /* It may ask for the padding that other writers of base64 would use. */
        size_t padded = (needed - 1 - 3 + 3) / 4 * 4 + 3 + 1;
        for (size_t size = 0; size < padded + 4; size++) {
            memset(text, '#', sizeof(text));
            int result = rl_handle_encode(&handle, text, size);
            if (size < needed)
                ck_assert_int_eq(result, REDLOCK_EINVAL);
            else if (size >= padded)
                ck_assert_int_eq(result, 0);
            ck_assert(result == 0 || text[0] == '#');
            for (size_t at = size; at < padded + 8; at++)
                ck_assert_int_eq(text[at], '#');
        }
    }
}

static const char *const bad_boot_ids[] = {
    "",
    "0",
    "01234567-89ab-cdef-0123-456789abcde", /* a digit short */
    "0123456789abcdef0123456789abcdef0",   /* one too many */
    "01234567-89ab-cdef-0123-456789abcdeg",
    "01234567-89AB-CDEF-0123-456789ABCDEF",
    "01234567 89ab cdef 0123 456789abcdef",
    "------------------------------------",
};

TEST(whole, boot_id_that_is_none, .rows = ROWS(bad_boot_ids))
{
    char text[REDLOCK_HANDLE_MAX];
    struct rl_handle handle = sample("token", "name", 4);
    snprintf(handle.boot_id, sizeof(handle.boot_id), "%s", bad_boot_ids[_i]);
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), REDLOCK_EINVAL);
}

/* ---- damage ---------------------------------------------------------------------------- */

/* This runs hundreds of thousands of times. Check writes for each assertion, so it gets only
 * the failures. */
static void refused(const char *text)
{
    static struct rl_handle again;
    int code = rl_handle_decode(text, &again);
    if (code != REDLOCK_EHANDLE)
        ck_abort_msg("%d: %s", code, text);
}

TEST(damaged, every_cut, .rows = 2)
{
    for (size_t name_len = 1; name_len <= 3; name_len++) {
        struct rl_handle handle = sample_form(_i, "0123:me", "abc", name_len);
        char text[REDLOCK_HANDLE_MAX];
        ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
        for (size_t len = strlen(text); len-- > 0;) {
            text[len] = '\0';
            refused(text);
        }
    }
}

TEST(damaged, every_cut_at_front, .rows = 2)
{
    struct rl_handle handle = sample_form(_i, "0123:me", "abc", 3);
    char text[REDLOCK_HANDLE_MAX];
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    for (size_t at = 1; at <= strlen(text); at++)
        refused(text + at);
}

TEST(damaged, every_changed_byte, .rows = 2)
{
    for (size_t name_len = 1; name_len <= 3; name_len++) {
        struct rl_handle handle = sample_form(_i, "0123:me", "abc", name_len);
        char text[REDLOCK_HANDLE_MAX];
        ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
        size_t len = strlen(text);
        for (size_t at = 0; at < len; at++) {
            char kept = text[at];
            for (int c = 1; c < 256; c++) {
                if ((char)c == kept)
                    continue;
                text[at] = (char)c;
                refused(text);
            }
            text[at] = kept;
        }
    }
}

/* A byte too many, wherever it stands (a line's end, a quote, a digit twice). */
TEST(damaged, every_byte_too_many, .rows = 2)
{
    struct rl_handle handle = sample_form(_i, "0123:me", "abc", 3);
    char text[REDLOCK_HANDLE_MAX], more[REDLOCK_HANDLE_MAX + 1];
    ck_assert_int_eq(rl_handle_encode(&handle, text, sizeof(text)), 0);
    size_t len = strlen(text);
    static const char extra[] = "\n \"A=_";
    for (size_t at = 0; at <= len; at++) {
        for (size_t i = 0; i < sizeof(extra) - 1; i++) {
            memcpy(more, text, at);
            more[at] = extra[i];
            memcpy(more + at + 1, text + at, len - at + 1);
            refused(more);
        }
    }
}

/* From below the longest that a handle can have to far beyond. */
TEST(damaged, text_without_end, .rows = 2)
{
    for (size_t len = 5600; len < (1 << 20); len += len < 5700 ? 1 : len / 3) {
        char *text = malloc(len + 1);
        ck_assert_ptr_nonnull(text);
        memset(text, 'A', len);
        memcpy(text, "rl5", 3);
        text[len] = '\0';
        refused(text);
        free(text);
    }
}

/* ---- whole texts that are no handles --------------------------------------------------- */

/* An encoder of the test's own, which encodes anything. */
static void put_digits(const unsigned char *bytes, size_t len, char *ret_text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789-_";
    unsigned bits = 0, held = 0;
    for (size_t i = 0; i < len; i++) {
        held = (held << 8 | bytes[i]) & 0xffff;
        for (bits += 8; bits >= 6; bits -= 6)
            *ret_text++ = digits[held >> (bits - 6) & 63];
    }
    if (bits > 0)
        *ret_text++ = digits[held << (6 - bits) & 63];
    *ret_text = '\0';
}

/* The bytes with their right sum, decoded. There is room behind them. */
static int decode_form(const char *head, unsigned char *bytes, size_t len,
                       struct rl_handle *ret_handle)
{
    static char text[12000];
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    for (unsigned i = 4; i-- > 0;)
        bytes[len++] = (unsigned char)(sum >> (8 * i));
    memcpy(text, head, 4);
    put_digits(bytes, len, text + 3);
    return rl_handle_decode(text, ret_handle);
}

static int decode_bytes(unsigned char *bytes, size_t len)
{
    static struct rl_handle handle;
    return decode_form("rl5", bytes, len, &handle);
}

static int decode_fields(uint64_t ttl_ms, unsigned token_len, unsigned name_len,
                         const char *rest, size_t rest_len)
{
    static unsigned char bytes[8192];
    size_t len = 0;
    bytes[len++] = 0;
    bytes[len++] = 5;
    for (unsigned i = 0; i < 16 + 8 + 8 + 8 + 8; i++)
        bytes[len++] = 0x11;
    for (unsigned i = 8; i-- > 0;)
        bytes[len++] = (unsigned char)(ttl_ms >> (8 * i));
    for (unsigned i = 0; i < 8; i++)
        bytes[len++] = 0; /* the fencing token */
    bytes[len++] = (unsigned char)token_len;
    bytes[len++] = (unsigned char)(name_len >> 8);
    bytes[len++] = (unsigned char)name_len;
    for (unsigned i = 0; i < 5 * 4; i++)
        bytes[len++] = 0x22;
    memcpy(bytes + len, rest, rest_len);
    return decode_bytes(bytes, len + rest_len);
}

/* Those of version 0.1.0 do not tell which clock they are timed by. */
TEST(damaged, text_of_before_is_refused)
{
    refused("rl1AAUBI0VniavN7wEjRWeJq83vASNFZ4mrze8AAAAAAAB1MAMABnRva29yZGVyc4nq0q0");
    refused("rl2CQUBI0VniavN7wEjRWeJq83vASNFZ4mrze8AAAAAAAB1MAMABghyZWVudHJhbnR0b2tv"
            "cmRlcnNjbGllbnQ6N82iZGM");
    /* Nor do these tell until when others are kept out. */
    refused("rl4AAUBI0VniavN7wEjRWeJq83v____-1foOAABI0VnAAAAAAEjRWeJq83vAAAAAAAAdTAAAAAAAAAAA"
            "AMABgECAwQAAAAA_____wAAAAX-3LqYdG9rb3JkZXJzy9vwHw");
}

/* Too short for what every handle has, and the sum is right. */
TEST(damaged, short_and_whole)
{
    for (size_t len = 0; len <= 37 + 8 + 8 + 8 + 8 + 4; len++) {
        unsigned char bytes[80];
        memset(bytes, 1, sizeof(bytes));
        ck_assert_int_eq(decode_bytes(bytes, len), REDLOCK_EHANDLE);
    }
}

/* More masters than there can be, and the sum is right. */
TEST(damaged, too_many_masters)
{
    static struct rl_handle handle;
    static unsigned char bytes[8192];
    for (unsigned n = REDLOCK_NODES_MAX; n <= 255; n++) {
        size_t len = 69 + 4 * n;
        memset(bytes, 0, sizeof(bytes));
        bytes[1] = (unsigned char)n;
        bytes[57] = 100;           /* the ttl */
        bytes[66] = bytes[68] = 1; /* of the token, of the name */
        memcpy(bytes + len, "tn", 2);
        ck_assert_int_eq(decode_form("rl5", bytes, len + 2, &handle),
                         n <= REDLOCK_NODES_MAX ? 0 : REDLOCK_EHANDLE);
    }
}

TEST(damaged, masters_in_common_are_counted)
{
    static const uint32_t marks[] = {5, 7, 0, 0xfedcba98, 0x01020304};
    struct rl_handle handle = sample("t", "n", 1);
    for (unsigned n = 0; n <= 5; n++)
        ck_assert_uint_eq(rl_handle_shared(&handle, marks, n), n - (n > 1));
    handle.n = 1;
    ck_assert_uint_eq(rl_handle_shared(&handle, marks, 5), 1);
    ck_assert_uint_eq(rl_handle_shared(&handle, marks, 4), 0);
}

TEST(damaged, fields_that_cannot_be)
{
    static char filler[6000];
    memset(filler, 'f', sizeof(filler));
    const unsigned token_max = RL_TOKEN_MAX, name_max = REDLOCK_NAME_MAX;
    ck_assert_int_eq(decode_fields(1000, 3, 4, "tokname", 7), 0); /* the encoder is right */
    ck_assert_int_eq(decode_fields(1, 1, 1, "tn", 2), 0);
    ck_assert_int_eq(
        decode_fields(RL_TTL_LIMIT_MS, token_max, name_max, filler, token_max + name_max), 0);
    ck_assert_int_eq(decode_fields(0, 3, 4, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(RL_TTL_LIMIT_MS + 1, 3, 4, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(UINT64_MAX, 3, 4, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(UINT64_C(1) << 63, 3, 4, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 0, 7, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 7, 0, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 0, 0, "", 0), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 3, 5, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 3, 3, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 255, 65535, "tokname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, token_max + 1, 1, filler, token_max + 2),
                     REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 1, name_max + 1, filler, name_max + 2),
                     REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 3, 4, "t\0kname", 7), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_fields(1000, 3, 4, "tokn\0me", 7), 0); /* in a name it may be */
}

static uint64_t fencing_token; /* of what decode_kind() makes */

static void put_token(unsigned char bytes[8])
{
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(fencing_token >> (8 * (7 - i)));
}

static const char nul_within[3] = "o\0o";

/* Of a kind that is not the plain one, of these parts and lengths. */
static int decode_kind(const char *kind, unsigned kind_len, const char *owner,
                       unsigned owner_len, const char *name, unsigned name_len)
{
    static struct rl_handle handle;
    static unsigned char bytes[8192];
    size_t len = 0;
    bytes[len++] = (unsigned char)kind_len;
    memset(bytes + len, 0, 1 + 16 + 8 + 8 + 8 + 8 + 8 + 8);
    bytes[len + 1 + 16 + 8 + 8 + 8 + 8 + 7] = 100; /* the ttl */
    len += 1 + 16 + 8 + 8 + 8 + 8 + 8;
    put_token(bytes + len);
    len += 8;
    bytes[len++] = 1;
    bytes[len++] = (unsigned char)(name_len >> 8);
    bytes[len++] = (unsigned char)name_len;
    bytes[len++] = (unsigned char)owner_len;
    size_t owner_bytes = owner == nul_within ? sizeof(nul_within) : strlen(owner);
    const struct {
        const char *text;
        size_t len;
    } parts[] = {{kind, strlen(kind)}, {"t", 1}, {name, name_len}, {owner, owner_bytes}};
    for (unsigned i = 0; i < 4; i++) {
        memcpy(bytes + len, parts[i].text, parts[i].len);
        len += parts[i].len;
    }
    return decode_form("rl5", bytes, len, &handle);
}

/* Below 2^53, and none for a kind that has none. */
TEST(damaged, fencing_tokens_that_cannot_be)
{
    static const struct {
        const char *kind;
        uint64_t token;
        int result;
    } cases[] = {
        {"reentrant", 1, 0},
        {"reentrant", (UINT64_C(1) << 53) - 1, 0},
        {"reentrant", UINT64_C(1) << 53, REDLOCK_EHANDLE},
        {"reentrant", UINT64_MAX, REDLOCK_EHANDLE},
        {"qwrite", 7, 0},
        {"qread", 0, 0},
        {"qread", 7, REDLOCK_EHANDLE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fencing_token = cases[i].token;
        int result =
            decode_kind(cases[i].kind, (unsigned)strlen(cases[i].kind), "o", 1, "n", 1);
        ck_assert_msg(result == cases[i].result, "%zu: %d", i, result);
    }
}

TEST(damaged, fencing_token_there_and_back)
{
    struct rl_handle handle = sample("tok", "orders", 6);
    handle.fencing_token = UINT64_C(1) << 52 | 0x1234567;
    round_trip(&handle);
}

TEST(damaged, kinds_that_cannot_be)
{
    static char filler[RL_NAMES_BYTES_MAX + 1];
    char long_owner[RL_OWNER_MAX + 2];
    memset(filler, 'f', sizeof(filler));
    memset(long_owner, 'o', sizeof(long_owner));
    long_owner[RL_OWNER_MAX + 1] = '\0';
    ck_assert_int_eq(decode_kind("reentrant", 9, "o", 1, "n", 1), 0); /* the encoder is right */
    ck_assert_int_eq(decode_kind("reentrant", 9, "o", 1, filler, REDLOCK_NAME_MAX), 0);
    ck_assert_int_eq(decode_kind("several", 7, "", 0, "\0\1n\0\0\1o\0", 8), 0);
    ck_assert_int_eq(decode_kind("any", 3, "", 0, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("any", 3, "o", 1, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, "", 0, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, "o", 2, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, "owner", 4, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 8, "o", 1, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 255, "o", 1, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("", 0, "o", 1, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("plain", 5, "", 0, "n", 1), REDLOCK_EHANDLE); /* by none */
    ck_assert_int_eq(decode_kind("Reentrant", 9, "o", 1, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentran", 8, "o", 1, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, "o", 1, filler, REDLOCK_NAME_MAX + 1),
                     REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, long_owner, RL_OWNER_MAX + 1, "n", 1),
                     REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, "o", 1, filler, RL_NAMES_BYTES_MAX),
                     REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("several", 7, "", 0, filler, RL_NAMES_BYTES_MAX + 1),
                     REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("reentrant", 9, nul_within, 3, "n", 1), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("several", 7, "o", 1, "\0\1n\0\0\1o\0", 8), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("several", 7, "", 0, "\0\1o\0\0\1n\0", 8), REDLOCK_EHANDLE);
    ck_assert_int_eq(decode_kind("several", 7, "", 0, "n", 1), REDLOCK_EHANDLE);
}

TEST(whole, token_that_is_too_long, .signal = SIGABRT)
{
    static struct rl_handle handle;
    char text[REDLOCK_HANDLE_MAX];
    handle = sample("t", "n", 1);
    handle.token_len = RL_TOKEN_MAX + 1;
    rl_handle_encode(&handle, text, sizeof(text));
}

TEST(whole, name_that_is_too_long, .signal = SIGABRT)
{
    static struct rl_handle handle;
    char text[REDLOCK_HANDLE_MAX];
    handle = sample("t", "n", 1);
    handle.name_len = RL_NAMES_BYTES_MAX + 1;
    rl_handle_encode(&handle, text, sizeof(text));
}
