/* test_resp.c - replies: every one in every prefix and split; everything that no master has
 * any business sending, refused in good time and with a text. */
#include "config_auto.h"

#include "alloc.h"
#include "base/prng.h"
#include "net/resp.h"
#include "suite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what came, as text ---------------------------------------------------------------- */

struct heard {
    size_t len;
    char text[4096];
};

static void hear(struct heard *heard, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len && heard->len + 5 < sizeof(heard->text); i++) {
        if (isprint((unsigned char)bytes[i]) && bytes[i] != '\\')
            heard->text[heard->len++] = bytes[i];
        else
            heard->len += (size_t)snprintf(heard->text + heard->len, 5, "\\%02x",
                                           (unsigned char)bytes[i]);
    }
    heard->text[heard->len] = '\0';
}

static void hear_number(struct heard *heard, const char *mark, long long number)
{
    char text[48];
    hear(heard, text, (size_t)snprintf(text, sizeof(text), "%s%lld", mark, number));
}

static void hear_part(struct heard *heard, const struct rl_reply *reply, unsigned i)
{
    static const char marks[] = {
        [RL_REPLY_STATUS] = '+', [RL_REPLY_ERROR] = '-', [RL_REPLY_BULK] = '$'};
    const struct rl_element *part = &reply->part[i];
    ck_assert(part->start + part->kept <= reply->text_len);
    ck_assert_uint_le(part->kept, part->len);
    switch (part->type) {
    case RL_REPLY_INTEGER:
        hear_number(heard, ":", part->integer);
        break;
    case RL_REPLY_NIL:
        hear(heard, "nil", 3);
        break;
    case RL_REPLY_ARRAY:
        ck_abort_msg("an array within an array");
        break;
    default:
        hear(heard, &marks[part->type], 1);
        hear(heard, reply->text + part->start, part->kept);
        if (part->kept < part->len)
            hear_number(heard, "...", (long long)part->len);
        ck_assert(part->kept < part->len ||
                  rl_part_is(reply, i, reply->text + part->start, part->len));
    }
}

static void hear_reply(struct heard *heard, const struct rl_reply *reply)
{
    ck_assert_uint_le(reply->text_len, sizeof(reply->text));
    ck_assert_uint_le(reply->count, RL_REPLY_ELEMENTS_MAX);
    if (reply->type == RL_REPLY_ARRAY)
        hear(heard, "[", 1);
    else
        ck_assert(reply->count == 1 && reply->part[0].type == reply->type);
    for (unsigned i = 0; i < reply->count; i++) {
        if (i > 0)
            hear(heard, " ", 1);
        hear_part(heard, reply, i);
    }
    if (reply->type == RL_REPLY_ARRAY)
        hear(heard, "]", 1);
    hear(heard, ";", 1);
}

/* Take what is there. False: refused (and "!" is heard). */
static bool take(struct rl_reader *reader, struct heard *heard)
{
    const struct rl_reply *reply;
    int got;
    while ((got = rl_reader_next(reader, &reply)) == 1)
        hear_reply(heard, reply);
    if (got < 0)
        hear(heard, "!", 1);
    return got == 0;
}

/* Feed in pieces: up to the first cut, to the second, the rest. */
static void feed_in_pieces(const char *bytes, size_t len, size_t cut1, size_t cut2,
                           struct heard *ret_heard)
{
    struct rl_reader *reader = rl_reader_new(NULL, NULL);
    ck_assert_ptr_nonnull(reader);
    *ret_heard = (struct heard){.len = 0};
    const size_t ends[] = {cut1, cut2, len};
    size_t from = 0;
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(rl_reader_feed(reader, bytes + from, ends[i] - from), 0);
        from = ends[i];
        if (!take(reader, ret_heard))
            break;
    }
    rl_reader_free(reader);
}

/* ---- replies of a master --------------------------------------------------------------- */

static const struct {
    const char *bytes;
    const char *heard;
} replies[] = {
    {"+OK\r\n", "+OK;"},
    {"+\r\n", "+;"},
    {"-ERR no\r\n", "-ERR no;"},
    {"-NOSCRIPT No matching script. Please use EVAL.\r\n",
     "-NOSCRIPT No matching script. Please use EVAL.;"},
    {":0\r\n", ":0;"},
    {":-1\r\n", ":-1;"},
    {":9223372036854775807\r\n", ":9223372036854775807;"},
    {":-9223372036854775808\r\n", ":-9223372036854775808;"},
    {"$-1\r\n", "nil;"},
    {"*-1\r\n", "nil;"},
    {"$0\r\n\r\n", "$;"},
    {"$5\r\na\r\nbc\r\n", "$a\\0d\\0abc;"},
    {"*0\r\n", "[];"},
    {"*2\r\n$3\r\nabc\r\n:1\r\n", "[$abc :1];"},
    {"*4\r\n$2\r\nno\r\n:0\r\n:29999\r\n$4\r\nthem\r\n", "[$no :0 :29999 $them];"},
    {"*3\r\n$-1\r\n*-1\r\n-ERR\r\n", "[nil nil -ERR];"},
    {"*8\r\n:1\r\n:2\r\n:3\r\n:4\r\n:5\r\n:6\r\n:7\r\n:8\r\n", "[:1 :2 :3 :4 :5 :6 :7 :8];"},
    /* several that come together */
    {"+OK\r\n+OK\r\n:1\r\n", "+OK;+OK;:1;"},
    {"*1\r\n:1\r\n$1\r\nx\r\n*1\r\n:2\r\n", "[:1];$x;[:2];"},
};
#define REPLIES ((int)(sizeof(replies) / sizeof(replies[0])))

TEST(replies, replies_in_every_split, .rows = REPLIES)
{
    const char *bytes = replies[_i].bytes;
    size_t len = strlen(bytes);
    struct heard heard;
    for (size_t cut1 = 0; cut1 <= len; cut1++) {
        for (size_t cut2 = cut1; cut2 <= len; cut2++) {
            feed_in_pieces(bytes, len, cut1, cut2, &heard);
            ck_assert_str_eq(heard.text, replies[_i].heard);
        }
    }
}

TEST(replies, replies_byte_by_byte_and_never_too_early, .rows = REPLIES)
{
    struct rl_reader *reader = rl_reader_new(NULL, NULL);
    const char *bytes = replies[_i].bytes;
    struct heard heard = {.len = 0};
    for (size_t i = 0; i < strlen(bytes); i++) {
        size_t before = heard.len;
        ck_assert_int_eq(rl_reader_feed(reader, bytes + i, 1), 0);
        ck_assert(take(reader, &heard));
        ck_assert(heard.len == before || bytes[i] == '\n'); /* all end with one */
    }
    ck_assert_str_eq(heard.text, replies[_i].heard);
    rl_reader_free(reader);
}

/* A prefix is the beginning of what the whole would have said, and no error. */
TEST(replies, every_prefix_waits_for_rest, .rows = REPLIES)
{
    const char *bytes = replies[_i].bytes;
    struct heard heard;
    for (size_t len = 0; len < strlen(bytes); len++) {
        feed_in_pieces(bytes, len, len, len, &heard);
        ck_assert_ptr_null(strchr(heard.text, '!'));
        ck_assert_uint_lt(heard.len, strlen(replies[_i].heard));
        ck_assert(strncmp(heard.text, replies[_i].heard, heard.len) == 0);
    }
}

/* ---- long ones ------------------------------------------------------------------------- */

struct bulks {
    unsigned count;
    size_t len;
    char last;
};

static void count_bulk(void *context, const char *bytes, size_t len)
{
    struct bulks *bulks = context;
    bulks->count++;
    bulks->len = len;
    bulks->last = len > 0 ? bytes[len - 1] : '\0';
}

/* What does not fit is cut, and known to be; the bulk function gets it whole. */
TEST(replies, long_texts_are_cut_and_say_so)
{
    for (size_t len = RL_REPLY_TEXT_MAX - 6; len < RL_REPLY_TEXT_MAX + 6; len++) {
        struct bulks bulks = {0};
        struct rl_reader *reader = rl_reader_new(count_bulk, &bulks);
        const struct rl_reply *reply;
        char bytes[RL_REPLY_TEXT_MAX + 64];
        int head = snprintf(bytes, sizeof(bytes), "*3\r\n$3\r\nabc\r\n$%zu\r\n", len);
        memset(bytes + head, 'x', len);
        memcpy(bytes + head + len, "\r\n+OK\r\n", 7);
        bytes[head + (int)len - 1] = 'y';
        ck_assert_int_eq(rl_reader_feed(reader, bytes, (size_t)head + len + 7), 0);
        ck_assert_int_eq(rl_reader_next(reader, &reply), 1);
        const size_t room = RL_REPLY_TEXT_MAX - 3;
        ck_assert_uint_eq(reply->part[1].len, len);
        ck_assert_uint_eq(reply->part[1].kept, len < room ? len : room);
        ck_assert(rl_part_is(reply, 0, "abc", 3));
        ck_assert_int_eq(rl_part_is(reply, 1, bytes + head, len), len <= room);
        char text[sizeof(bytes)];
        ck_assert_int_eq(rl_part_copy(reply, 1, text, sizeof(text)), len <= room);
        ck_assert(rl_part_copy(reply, 0, text, 4));
        ck_assert_str_eq(text, "abc");
        ck_assert(!rl_part_copy(reply, 0, text, 3));
        ck_assert(!rl_part_copy(reply, 2, text, sizeof(text))); /* no bulk */
        /* With no room left, the last part is cut too, and no match for anything. */
        ck_assert_int_eq(rl_part_is(reply, 2, "OK", 2), len + 2 <= room);
        ck_assert(!rl_part_is(reply, 2, "", 0));
        ck_assert_uint_eq(bulks.count, 2);
        ck_assert_uint_eq(bulks.len, len);
        ck_assert_int_eq(bulks.last, 'y');
        rl_reader_free(reader);
    }
}

TEST(replies, parts_are_compared_to_byte)
{
    struct rl_reader *reader = rl_reader_new(NULL, NULL);
    const struct rl_reply *reply;
    rl_reader_feed(reader, "*2\r\n$3\r\na\0b\r\n$0\r\n\r\n", 19);
    ck_assert_int_eq(rl_reader_next(reader, &reply), 1);
    ck_assert(rl_part_is(reply, 0, "a\0b", 3));
    ck_assert(!rl_part_is(reply, 0, "a\0c", 3));
    ck_assert(!rl_part_is(reply, 0, "a\0b", 2));
    ck_assert(!rl_part_is(reply, 0, "a\0bc", 4));
    ck_assert(rl_part_is(reply, 1, "", 0));
    ck_assert(!rl_part_is(reply, 2, "", 0)); /* there is none */
    ck_assert(!rl_part_is(reply, 1000, "", 0));
    rl_reader_free(reader);
}

/* The code is the first word, all of it, of an error and of nothing else. */
TEST(replies, error_code_is_whole_first_word)
{
    static const struct {
        const char *bytes;
        bool is;
    } errors[] = {
        {"-NOAUTH\r\n", true},          {"-NOAUTH please\r\n", true},
        {"-NOAUTHS please\r\n", false}, {"-NOAUT please\r\n", false},
        {"-ERR NOAUTH\r\n", false},     {"+NOAUTH\r\n", false},
        {"$6\r\nNOAUTH\r\n", false},    {"-\r\n", false},
    };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        struct rl_reader *reader = rl_reader_new(NULL, NULL);
        const struct rl_reply *reply;
        rl_reader_feed(reader, errors[i].bytes, strlen(errors[i].bytes));
        ck_assert_int_eq(rl_reader_next(reader, &reply), 1);
        ck_assert_msg(rl_error_is(reply, "NOAUTH") == errors[i].is, "%s", errors[i].bytes);
        rl_reader_free(reader);
    }
}

/* As long as the limit allows, in small pieces; and many of those, one behind the other. */
TEST(replies, longest_reply)
{
    const size_t len = RL_REPLY_MAX - strlen("$65526\r\n\r\n");
    struct bulks bulks = {0};
    struct rl_reader *reader = rl_reader_new(count_bulk, &bulks);
    char *bytes = malloc(RL_REPLY_MAX + 1);
    struct heard heard = {.len = 0};
    int head = snprintf(bytes, RL_REPLY_MAX, "$%zu\r\n", len);
    memset(bytes + head, 'z', len);
    memcpy(bytes + (size_t)head + len, "\r\n", 2);
    for (unsigned round = 0; round < 20; round++) {
        for (size_t at = 0, piece = 100 + round; at < RL_REPLY_MAX; at += piece) {
            if (piece > RL_REPLY_MAX - at)
                piece = RL_REPLY_MAX - at;
            ck_assert_int_eq(rl_reader_feed(reader, bytes + at, piece), 0);
            ck_assert(take(reader, &heard));
        }
        ck_assert_uint_eq(bulks.count, round + 1);
        ck_assert_uint_eq(bulks.len, len);
    }
    free(bytes);
    rl_reader_free(reader);
}

/* ---- what no master sends -------------------------------------------------------------- */

static const struct {
    const char *bytes;
    const char *text; /* in the reason */
} hostile[] = {
    {"*9\r\n", "too many elements"},
    {"*2147483647\r\n", "too many elements"},
    {"*2147483648\r\n", ""},
    {"*9223372036854775807\r\n", ""},
    {"*-2\r\n", ""},
    {"$-2\r\n", ""},
    {"*1\r\n*0\r\n", "nested"},
    {"*1\r\n*1\r\n:1\r\n", "nested"},
    {"*2\r\n:1\r\n*1\r\n:1\r\n", "nested"},
    {"*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", "nested"},
    {":1x\r\n", ""},
    {":\r\n", ""},
    {":9223372036854775808\r\n", ""},
    {":99999999999999999999999\r\n", ""},
    {"$x\r\n", ""},
    {"$99999999999999999999999\r\n", ""},
    {"*x\r\n", ""},
    {"\r\n", ""},
    {"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", "\"H\""},
    {"<html>", ""},
    {"SSH-2.0-OpenSSH_9.2p1\r\n", ""},
    {"\x15\x03\x01\x00\x02\x02\x46", ""}, /* a TLS alert */
    {"PONG\r\n", ""},
    /* RESP3, which nobody asked for */
    {"_\r\n", ""},
    {"#t\r\n", ""},
    {",1.5\r\n", ""},
    {"(12345678901234567890\r\n", ""},
    {"=7\r\ntxt:abc\r\n", ""},
    {"!5\r\nERR x\r\n", ""},
    {"%1\r\n+a\r\n:1\r\n", ""},
    {"~1\r\n:1\r\n", ""},
    {">2\r\n+message\r\n+a\r\n", ""},
    {"|1\r\n+a\r\n:1\r\n", ""},
};
#define HOSTILE ((int)(sizeof(hostile) / sizeof(hostile[0])))

static void check_refused(struct rl_reader *reader)
{
    const struct rl_reply *reply;
    const char *text = rl_reader_text(reader);
    ck_assert_uint_gt(strlen(text), 0);
    for (const char *at = text; *at; at++)
        ck_assert(isprint((unsigned char)*at));
    char before[256];
    snprintf(before, sizeof(before), "%s", text);
    /* For good: what follows is not looked at. */
    ck_assert_int_eq(rl_reader_feed(reader, "+OK\r\n", 5), -1);
    ck_assert_int_eq(rl_reader_next(reader, &reply), -1);
    ck_assert_str_eq(rl_reader_text(reader), before);
}

TEST(hostile, hostile_replies_in_every_split, .rows = HOSTILE)
{
    size_t len = strlen(hostile[_i].bytes);
    if (hostile[_i].bytes[0] == '\x15')
        len = 7;
    for (size_t cut = 0; cut <= len; cut++) {
        struct rl_reader *reader = rl_reader_new(NULL, NULL);
        struct heard heard = {.len = 0};
        rl_reader_feed(reader, "+OK\r\n", 5); /* a good one before it is delivered */
        rl_reader_feed(reader, hostile[_i].bytes, cut);
        if (take(reader, &heard)) {
            ck_assert_int_eq(rl_reader_feed(reader, hostile[_i].bytes + cut, len - cut), 0);
            take(reader, &heard);
        }
        ck_assert_str_eq(heard.text, "+OK;!");
        ck_assert_ptr_nonnull(strstr(rl_reader_text(reader), hostile[_i].text));
        check_refused(reader);
        rl_reader_free(reader);
    }
}

TEST(hostile, every_first_byte)
{
    for (int c = 0; c < 256; c++) {
        if (c == '$' || c == '*' || c == ':')
            continue; /* and then no number: see above */
        struct rl_reader *reader = rl_reader_new(NULL, NULL);
        struct heard heard = {.len = 0};
        char bytes[] = {(char)c, '\r', '\n'};
        ck_assert_int_eq(rl_reader_feed(reader, bytes, sizeof(bytes)), 0);
        bool known = c == '+' || c == '-';
        ck_assert_int_eq(take(reader, &heard), known);
        if (!known)
            check_refused(reader);
        rl_reader_free(reader);
    }
}

static const char *const endless[] = {
    "+",
    "-",
    ":",
    "$",
    "*",
    "+aaa",
    "$65600\r\n",
    "$9223372036854775806\r\n",
    "$2147483647\r\n",
    "*2\r\n:1\r\n$1000000\r\n",
    "*8\r\n:1\r\n+",
    "",
};

/* A million bytes and no end: given up at the limit, so memory stays below it and a chunk. */
TEST(hostile, replies_without_end, .rows = ROWS(endless))
{
    static char chunk[RL_READ_CHUNK];
    memset(chunk, _i == 4 || _i == 3 || _i == 2 ? '1' : 'a', sizeof(chunk));
    if (!endless[_i][0])
        memset(chunk, '+', sizeof(chunk));
    struct rl_reader *reader = rl_reader_new(NULL, NULL);
    struct heard heard = {.len = 0};
    size_t fed = strlen(endless[_i]);
    ck_assert_int_eq(rl_reader_feed(reader, endless[_i], fed), 0);
    while (fed < 1000000 && take(reader, &heard)) {
        ck_assert_int_eq(rl_reader_feed(reader, chunk, sizeof(chunk)), 0);
        fed += sizeof(chunk);
    }
    ck_assert_uint_le(fed, RL_REPLY_MAX + 2 * sizeof(chunk));
    ck_assert_str_eq(heard.text, "!");
    check_refused(reader);
    rl_reader_free(reader);
}

/* Whatever the bytes, how they are cut must not matter. */
TEST(hostile, mangled_replies)
{
    struct rl_prng prng;
    rl_prng_seed(&prng, 4711);
    for (int round = 0; round < 20000; round++) {
        char bytes[256];
        size_t len = 0;
        for (int i = 0; i < 3; i++) {
            const char *more = rl_prng_below(&prng, 4) == 0
                                   ? hostile[rl_prng_below(&prng, HOSTILE)].bytes
                                   : replies[rl_prng_below(&prng, REPLIES)].bytes;
            size_t more_len = strlen(more);
            memcpy(bytes + len, more, more_len);
            len += more_len;
        }
        for (uint64_t i = rl_prng_below(&prng, 3); i > 0; i--)
            bytes[rl_prng_below(&prng, len)] = "*$:+-\r\n019a"[rl_prng_below(&prng, 11)];
        size_t cut1 = rl_prng_below(&prng, len + 1);
        size_t cut2 = cut1 + rl_prng_below(&prng, len - cut1 + 1);
        struct heard whole, cut;
        feed_in_pieces(bytes, len, len, len, &whole);
        feed_in_pieces(bytes, len, cut1, cut2, &cut);
        ck_assert_str_eq(whole.text, cut.text);
    }
}

/* ---- no memory ------------------------------------------------------------------------- */

TEST(hostile, every_allocation_fails_once)
{
    if (!alloc_works())
        return;
    char bytes[3000];
    memset(bytes, 'x', sizeof(bytes));
    for (long number = 1;; number++) {
        long before = alloc_live();
        alloc_fail_at(number);
        struct rl_reader *reader = rl_reader_new(NULL, NULL);
        bool refused = !reader;
        if (reader)
            refused = rl_reader_feed(reader, "$3000\r\n", 7) != 0 ||
                      rl_reader_feed(reader, bytes, sizeof(bytes)) != 0;
        bool all = alloc_count() < number;
        alloc_fail_at(0);
        ck_assert_int_eq(refused, !all);
        if (reader && refused)
            check_refused(reader);
        rl_reader_free(reader);
        ck_assert_int_eq(alloc_live(), before);
        if (all)
            break;
        ck_assert_int_lt(number, 100);
    }
    rl_reader_free(NULL);
}
