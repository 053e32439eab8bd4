/* tags: threads */
/* test_mask.c - the secrets of a connection, blanked out of what its server says. */
#include "config_auto.h"

#include "base/mask.h"
#include "base/prng.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *user, *password, *text, *expected;
} texts[] = {
    /* a server without AUTH repeats its arguments */
    {"locks", "hunter2",
     "ERR unknown command 'AUTH', with args beginning with: 'locks' 'hunter2' ",
     "ERR unknown command 'AUTH', with args beginning with: '***' '***' "},
    {NULL, "hunter2", "ERR `AUTH`, `hunter2`, ", "ERR `AUTH`, `***`, "},
    {NULL, "hunter2", "hunter2", "***"},
    {NULL, "hunter2", "xhunter2hunter2y", "x******y"},
    {NULL, "hunter2", "", ""},
    {NULL, "hunter2", "WRONGPASS invalid username-password pair",
     "WRONGPASS invalid username-password pair"},
    /* cut by the server, in quotes that are closed */
    {NULL, "a-rather-long-password", "ERR 'AUTH' 'a-rather-lo' ", "ERR 'AUTH' '***' "},
    {NULL, "a-rather-long-password", "ERR 'a-ra'", "ERR '***'"},
    {NULL, "a-rather-long-password", "ERR 'a-r'", "ERR 'a-r'"},
    /* as they may be written */
    {NULL, "a\"b\\c\n\x01 d", "ERR \"a\\\"b\\\\c\\n\\x01 d\"", "ERR \"***\""},
    {NULL, "it's", "ERR 'it\\'s'", "ERR '***'"},
    {NULL, "p@ss/w:rd%", "GET p%40ss%2fw%3Ard%25 HTTP", "GET *** HTTP"},
    {NULL, "p@ss/w:rd%", "GET p%40ss%2fw%3Ard%25", "GET ***"},
    {NULL, "100%25", "x100%25y", "x***y"},
    {NULL, "100%", "x100%25y", "x***y"},
    {"lo cks", "hunter2", "no lo%20cks, lo\\x20cks", "no ***, ***"},
    {NULL, "\xff\xfe\xfd\xfc", "<\xff\xfe\xfd\xfc>", "<***>"},
    /* short ones: blanked wherever they stand, and no longer than they were */
    {NULL, "a", "banana", "b*n*n*"},
    {NULL, "ab", "cab", "c**"},
    /* a user is a word */
    {"lock", "hunter2", "NOPERM lock: locked, unlock lock.", "NOPERM ***: locked, unlock ***."},
    {"default", "hunter2", "User default has no permissions", "User *** has no permissions"},
    {"hunter", "hunter2", "hunter2 hunter hunter23", "*** *** ***3"},
    {"lock", "hunter2", "lock\xc3\xa9 \xc3\xa9lock lock", "lock\xc3\xa9 \xc3\xa9lock ***"},
    {"locks", "", "locks", "locks"}, /* nobody logged in */
};

TEST(mask, secrets_are_blanked_out_of_texts, .rows = ROWS(texts))
{
    struct rl_mask mask = {0};
    char text[200];
    rl_mask_set(&mask, texts[_i].user, texts[_i].password, strlen(texts[_i].password));
    size_t len = strlen(texts[_i].text);
    memcpy(text, texts[_i].text, len + 1);
    text[rl_mask_text(&mask, text, len, false)] = '\0';
    ck_assert_str_eq(text, texts[_i].expected);
}

/* What was cut where the password had just begun. */
TEST(mask, beginning_of_password_is_blanked_where_text_was_cut)
{
    struct rl_mask mask = {0};
    rl_mask_set(&mask, NULL, "hunter2", 7);
    for (size_t part = 1; part < 7; part++) {
        char text[32];
        snprintf(text, sizeof(text), "with '%.*s", (int)part, "hunter2");
        size_t len = rl_mask_text(&mask, text, strlen(text), true);
        ck_assert_int_eq(memcmp(text, "with '***", len), 0);
    }
}

TEST(mask, data_keeps_words_that_are_user_s_name)
{
    struct rl_mask mask = {0};
    char field[32] = "locks@host/hunter2";
    rl_mask_set(&mask, "locks", "hunter2", 7);
    rl_mask_field(&mask, field);
    ck_assert_str_eq(field, "locks@host/***");
    rl_mask_wipe(&mask);
    for (size_t i = 0; i < sizeof(mask); i++)
        ck_assert_int_eq(((const char *)&mask)[i], 0);
}

/* Whatever stands around it, and however it is written. */
TEST(mask, no_text_has_password_left_in_it)
{
    struct rl_prng prng;
    rl_prng_seed(&prng, 7);
    for (int turn = 0; turn < 200000; turn++) {
        static const char letters[] = "ab\\%x4'1";
        char password[9], text[64];
        size_t len = 5 + rl_prng_next(&prng) % 4, at = 0;
        for (size_t i = 0; i < len; i++)
            password[i] = letters[rl_prng_next(&prng) % 8];
        while (at < 20)
            text[at++] = letters[rl_prng_next(&prng) % 8];
        memcpy(text + at, password, len);
        at += len;
        for (int i = 0; i < 10; i++)
            text[at++] = letters[rl_prng_next(&prng) % 8];
        struct rl_mask mask = {0};
        rl_mask_set(&mask, NULL, password, len);
        size_t left = rl_mask_text(&mask, text, at, false);
        if (left > at || memmem(text, left, password, len))
            ck_abort_msg("turn %d: %.*s", turn, (int)left, text);
    }
}
