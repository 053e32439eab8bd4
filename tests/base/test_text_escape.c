/* Text for messages: other people's bytes made printable, places in front, the name that was
 * meant, and secrets that are gone. */
#include "config_auto.h"

#include "base/suggest.h"
#include "base/text_escape.h"
#include "base/diagnostic.h"
#include "suite.h"
#include "base/wipe.h"

#include <stdlib.h>
#include <string.h>

/* ---- printable ------------------------------------------------------------------------ */

static const struct {
    const char *bytes;
    size_t len;
    const char *text;
} shown[] = {
    {"", 0, ""},
    {"orders:42", 9, "orders:42"},
    {" ~", 2, " ~"},
    {"a\0b", 3, "a\\x00b"},
    {"\r\n\t", 3, "\\x0d\\x0a\\x09"},
    {"\x1b[31m", 5, "\\x1b[31m"},
    {"\x7f", 1, "\\x7f"},
    {"caf\xc3\xa9", 5, "caf\xc3\xa9"},           /* 2 bytes */
    {"\xe2\x82\xac", 3, "\xe2\x82\xac"},         /* 3 */
    {"\xf0\x9f\x94\x92", 4, "\xf0\x9f\x94\x92"}, /* 4 */
    {"\xc2\xa0", 2, "\xc2\xa0"},                 /* the first above the C1 controls */
    {"\xe0\xa0\x80", 3, "\xe0\xa0\x80"},         /* the first that need 3 and 4 */
    {"\xf0\x90\x80\x80", 4, "\xf0\x90\x80\x80"},
    {"\xed\x9f\xbf", 3, "\xed\x9f\xbf"},         /* the last before the surrogates */
    {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"}, /* the last of all */
    {"\xc2\x80", 2, "\\xc2\\x80"},               /* the first C1 control */
    {"\xc2\x9f", 2, "\\xc2\\x9f"},               /* and the last */
    {"\xc2\x9b", 2, "\\xc2\\x9b"},               /* CSI as a C1 control */
    {"\x9b", 1, "\\x9b"},                        /* and as a byte */
    {"caf\xe9", 4, "caf\\xe9"},                  /* Latin-1 */
    {"\xc0\xaf", 2, "\\xc0\\xaf"},               /* overlong '/' */
    {"\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf"},
    {"\xf0\x80\x80\xaf", 4, "\\xf0\\x80\\x80\\xaf"},
    {"\xed\xa0\x80", 3, "\\xed\\xa0\\x80"},          /* a surrogate */
    {"\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"}, /* beyond Unicode */
    {"\xf5\x80\x80\x80", 4, "\\xf5\\x80\\x80\\x80"},
    {"\xe2\x82", 2, "\\xe2\\x82"}, /* cut short */
    {"\xe2\x82z", 3, "\\xe2\\x82z"},
    {"\xe2\x80\xae", 3, "\\xe2\\x80\\xae"}, /* U+202E turns round what follows; its kin: */
    {"\xe2\x80\xaf", 3, "\xe2\x80\xaf"},    /* a space, which may stay */
    {"\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8"},
    {"\xe2\x80\xa7", 3, "\xe2\x80\xa7"},
    {"\xe2\x80\x8e", 3, "\\xe2\\x80\\x8e"},
    {"\xe2\x80\x8f", 3, "\\xe2\\x80\\x8f"},
    {"\xe2\x80\x8d", 3, "\xe2\x80\x8d"},
    {"\xe2\x80\x90", 3, "\xe2\x80\x90"},
    {"\xe2\x81\xa6", 3, "\\xe2\\x81\\xa6"},
    {"\xe2\x81\xa9", 3, "\\xe2\\x81\\xa9"},
    {"\xe2\x81\xa5", 3, "\xe2\x81\xa5"},
    {"\xe2\x81\xaa", 3, "\xe2\x81\xaa"},
    {"\xd8\x9c", 2, "\\xd8\\x9c"},
    {"\xd8\x9b", 2, "\xd8\x9b"},
    {"\xe3\x80\xae", 3, "\xe3\x80\xae"},
};

TEST(printable, test_shown, .rows = ROWS(shown))
{
    char text[64];
    memset(text, 'x', sizeof(text));
    size_t len = rl_text_escape(text, sizeof(text), shown[_i].bytes, shown[_i].len);
    ck_assert_str_eq(text, shown[_i].text);
    ck_assert_uint_eq(len, strlen(shown[_i].text));
}

/* For each size: never longer, never cut inside an escape or a character. */
TEST(printable, test_cut)
{
    static const char bytes[] = "ab\n\xe2\x82\xac\xf0\x9f\x94\x92z";
    static const char whole[] = "ab\\x0a\xe2\x82\xac\xf0\x9f\x94\x92z";
    static const size_t borders[] = {0, 1, 2, 6, 9, 13, 14};
    for (size_t size = 4; size <= sizeof(whole) + 1; size++) {
        char text[64];
        memset(text, 'x', sizeof(text));
        size_t len = rl_text_escape(text, size, bytes, sizeof(bytes) - 1);
        ck_assert_uint_eq(len, strlen(text));
        ck_assert_uint_lt(len, size);
        ck_assert_int_eq(text[size], 'x');
        if (size >= sizeof(whole)) {
            ck_assert_str_eq(text, whole);
            continue;
        }
        ck_assert_str_eq(text + len - 3, "...");
        ck_assert_int_eq(memcmp(text, whole, len - 3), 0);
        bool at_border = false;
        for (int i = 0; i < ROWS(borders); i++)
            at_border = at_border || borders[i] == len - 3;
        ck_assert_msg(at_border, "size %zu: cut at %zu", size, len - 3);
    }
}

TEST(printable, test_every_byte)
{
    unsigned char bytes[256];
    char text[1024];
    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    size_t len = rl_text_escape(text, sizeof(text), bytes, sizeof(bytes));
    for (size_t i = 0; i < len; i++)
        ck_assert(text[i] >= ' ' && text[i] <= '~');
    ck_assert_uint_eq(len, 95 + 4 * (256 - 95));
}

/* ---- problem -------------------------------------------------------------------------- */

TEST(problem, test_error_places)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    ck_assert_int_eq(rl_error_set(&error, REDLOCK_ECONFIG, "a.conf", 3, 14, "no %s", "host"),
                     REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text, "a.conf:3:14: no host");
    ck_assert_int_eq(error.code, REDLOCK_ECONFIG);
    ck_assert_int_eq(error.line, 3);
    ck_assert_int_eq(error.column, 14);
    ck_assert_uint_eq(error.size, sizeof(error));

    rl_error_set(&error, REDLOCK_ECONFIG, "a.conf", 0, 0, "too long");
    ck_assert_str_eq(error.text, "a.conf: too long");
    ck_assert_int_eq(error.line, 0);
    rl_error_set(&error, REDLOCK_EINVAL, NULL, 0, 0, "nodes[0].url: is NULL");
    ck_assert_str_eq(error.text, "nodes[0].url: is NULL");
    ck_assert_int_eq(error.code, REDLOCK_EINVAL);
}

/* A path of 4 KiB leaves room for the message; the end of it is what is shown. */
TEST(problem, test_error_long_file)
{
    char file[4096];
    memset(file, 'd', sizeof(file));
    memcpy(file + sizeof(file) - 12, "/nodes.conf", 12);
    redlock_error error = REDLOCK_ERROR_INIT;
    rl_error_set(&error, REDLOCK_ECONFIG, file, 1, 2, "%s", "the message");
    ck_assert_ptr_nonnull(strstr(error.text, "ddd/nodes.conf:1:2: the message"));
    ck_assert_int_eq(memcmp(error.text, "...ddd", 6), 0);
    ck_assert_uint_lt(strlen(error.text), 250);
}

TEST(problem, test_error_hostile_file)
{
    redlock_error error = REDLOCK_ERROR_INIT;
    rl_error_set(&error, REDLOCK_ECONFIG, "a\n\x1b[2J.conf", 1, 1, "wrong");
    ck_assert_str_eq(error.text, "a\\x0a\\x1b[2J.conf:1:1: wrong");
}

TEST(problem, test_error_cut)
{
    char long_text[2048];
    memset(long_text, 'm', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    redlock_error error = REDLOCK_ERROR_INIT;
    rl_error_set(&error, REDLOCK_ECONFIG, "a.conf", 1, 1, "%s", long_text);
    ck_assert_uint_eq(strlen(error.text), sizeof(error.text) - 1);
    struct rl_problem problem;
    ck_assert_int_eq(rl_problem_set(&problem, 7, "%s", long_text), REDLOCK_ECONFIG);
    ck_assert_uint_eq(strlen(problem.text), sizeof(problem.text) - 1);
    ck_assert_uint_eq(problem.offset, 7);
    ck_assert_int_eq(rl_problem_no_memory(&problem), REDLOCK_ENOMEM);
    ck_assert_str_eq(problem.text, redlock_strerror(REDLOCK_ENOMEM));
}

/* ---- nearest -------------------------------------------------------------------------- */

static const char *const names[] = {"node", "max-ttl", "ttl", "connect-timeout", "guard"};

static const struct {
    const char *word;
    int index;
} words[] = {
    {"node", 0},
    {"nod", 0},
    {"nodes", 0},
    {"Node", 0},
    {"nde", 0},
    {"noed", -1},
    {"server", -1},
    {"", -1},
    {"max_ttl", 1},
    {"maxttl", 1},
    {"max-tll", 1},
    {"MAX-TTL", 1},
    {"max-t", 1},
    {"max", 1},
    {"ma", -1},
    {"ttl", 2},
    {"tt", 2},
    {"t", -1},
    {"ttls", 2},
    {"connect-timeouts", 3},
    {"conect-timout", 3},
    {"connection-timeout", 3},
    {"timeout", -1},
    {"gard", 4},
    {"guards", 4},
    {"s3cret", -1},
    {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", -1},
};

TEST(nearest, test_nearest, .rows = ROWS(words))
{
    int index = rl_nearest(names, 5, words[_i].word, strlen(words[_i].word));
    ck_assert_msg(index == words[_i].index, "%s: %d", words[_i].word, index);
}

TEST(nearest, test_nearest_of_long_names)
{
    static const char *const long_names[] = {"a-name-that-is-longer-than-32-letters-is",
                                             "node"};
    ck_assert_int_eq(rl_nearest(long_names, 2, "nod", 3), 1);
    ck_assert_int_eq(rl_nearest(long_names, 0, "nod", 3), -1);
}

/* ---- wipe ----------------------------------------------------------------------------- */

TEST(wipe, test_wipe)
{
    char secret[] = "hunter2";
    rl_wipe(secret, sizeof(secret));
    for (size_t i = 0; i < sizeof(secret); i++)
        ck_assert_int_eq(secret[i], 0);
    rl_wipe(NULL, 0);
    rl_wipe_free(NULL);
    rl_wipe_free(strdup("hunter2"));
    rl_wipe_free(strdup(""));
}
