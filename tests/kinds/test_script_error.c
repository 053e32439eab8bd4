/* test_script_error.c - what people are told of an error that a script ended in. */
#include "config_auto.h"

#include "base/text_escape.h"
#include "kinds/marker.h"
#include "kinds/script_error.h"
#include "suite.h"

#include <stdio.h>
#include <string.h>

static const char *const parts[] = {
    "local a = redis.pcall('GET', KEYS[1])\n"
    "if redis.call('TYPE', KEYS[1]) == redis.call('EXISTS', KEYS[1]) then\n",
    "  redis.call('DEL', KEYS[1])\n",
    "  redis.call(command, KEYS[1])\n"
    "end\n",
    NULL,
};
static const struct rl_script script = {.name = "some_script", .body = parts};

#define SHA "87849c95a158c52101876d9cba749694778939e2"
#define MAY_NOT "The user executing the script can't run this command or subcommand"

static const struct {
    const char *error, *told;
} texts[] = {
    /* 7.0 */
    {"ERR " MAY_NOT " script: " SHA ", on @user_script:3.",
     "ERR " MAY_NOT " (DEL in some_script)"},
    /* 7.2 */
    {"NOPERM User locks has no permissions to run the 'del' command script: " SHA
     ", on @user_script:3.",
     "NOPERM User locks has no permissions to run the 'del' command (DEL in some_script)"},
    /* 8.0 */
    {"ERR ACL failure in script: User locks has no permissions to run the 'del' command "
     "script: " SHA ", on @user_script:3.",
     "ERR ACL failure in script: User locks has no permissions to run the 'del' command "
     "(DEL in some_script)"},
    /* 6.2 */
    {"ERR Error running script (call to f_" SHA "): @user_script:3: @user_script: 3: " MAY_NOT,
     MAY_NOT " (DEL in some_script)"},
    {"ERR Error running script (call to f_" SHA
     "): @user_script:3: @user_script: 3: -OOM command not allowed.",
     "OOM command not allowed. (DEL in some_script)"},
    {"ERR Error running script (call to f_" SHA "): @user_script:3: attempt to do it",
     "ERR Error running script (call to f_" SHA
     "): @user_script:3: attempt to do it (DEL in some_script)"},
    /* the line calls none that can make the script fail, several, or one that is not named */
    {"ERR no script: " SHA ", on @user_script:1.", "ERR no (in some_script)"},
    {"ERR no script: " SHA ", on @user_script:2.", "ERR no (TYPE or EXISTS in some_script)"},
    {"ERR no script: " SHA ", on @user_script:4.", "ERR no (in some_script)"},
    {"ERR no script: " SHA ", on @user_script:5.", "ERR no (in some_script)"},
    {"ERR no script: " SHA ", on @user_script:6.", "ERR no (in some_script)"},
    {"ERR no script: " SHA ", on @user_script:0.", "ERR no (in some_script)"},
    {"ERR no script: " SHA ", on @user_script:99999999999999999999.",
     "ERR no (in some_script)"},
    /* no error of a script's */
    {"ERR no script: " SHA ", on @user_script:x.",
     "ERR no script: " SHA ", on @user_script:x."},
    {"NOPERM no script: here", "NOPERM no script: here"},
    {"ERR at @user_script:3 script: no",
     "ERR at @user_script:3 script: no (DEL in some_script)"},
    {"", ""},
};

TEST(script_error, command_that_failed_is_told, .rows = ROWS(texts))
{
    char told[512];
    rl_script_error(&script, false, false, texts[_i].error, told, sizeof(told));
    ck_assert_str_eq(told, texts[_i].told);
    ck_assert_int_eq(rl_script_error_denies(told), strstr(told, MAY_NOT) || _i == 1 ||
                                                       _i == 2 ||
                                                       strstr(told, "NOPERM no") != NULL);
}

/* The lines of marker_strict.lua are before those of the script. */
TEST(script_error, line_behind_guard_is_told)
{
    char error[96], told[512];
    int lines = 0, pttl = 0;
    for (const char *at = rl_marker_strict; *at; at++) {
        lines += *at == '\n';
        if (strncmp(at, "redis.call('PTTL'", 17) == 0)
            pttl = lines + 1;
    }
    ck_assert_int_gt(pttl, 0);
    snprintf(error, sizeof(error), "ERR no script: " SHA ", on @user_script:%d.", lines + 3);
    rl_script_error(&script, false, true, error, told, sizeof(told));
    ck_assert_str_eq(told, "ERR no (DEL in some_script)");
    snprintf(error, sizeof(error), "ERR no script: " SHA ", on @user_script:%d.", pttl);
    rl_script_error(&script, false, true, error, told, sizeof(told));
    ck_assert_str_eq(told, "ERR no (PTTL in some_script)");
}

/* What it begins with, and the command, are worth more than the rest. */
TEST(script_error, long_error_loses_its_middle)
{
    char error[512], told[RL_SCRIPT_ERROR_MIN];
    int len =
        snprintf(error, sizeof(error), "MISCONF %0250d script: " SHA ", on @user_script:3.", 0);
    ck_assert(len > 250 && len < (int)sizeof(error));
    rl_script_error(&script, false, false, error, told, sizeof(told));
    ck_assert_uint_eq(strlen(told), sizeof(told) - 1);
    ck_assert_int_eq(strncmp(told, "MISCONF 000", 11), 0);
    ck_assert_ptr_nonnull(strstr(told, "0... (DEL in some_script)"));
    error[200] = '\0';
    rl_script_error(&script, false, false, error, told, sizeof(told));
    ck_assert_uint_eq(strlen(told), sizeof(told) - 1);
}

/* Wherever it is cut. */
TEST(script_error, long_error_is_cut_between_characters, .rows = 3)
{
    static const char *const tails[] = {"", " script: " SHA ", on @user_script:3."};
    char error[512] = "ERR ", told[RL_SCRIPT_ERROR_MIN], again[RL_SCRIPT_ERROR_MIN];
    memset(error + 4, '-', (size_t)_i);
    for (size_t len = strlen(error); len < 200; len += 3)
        memcpy(error + len, "\xe2\x82\xac", 4);
    for (unsigned i = 0; i < 2; i++) {
        strcat(error, tails[i]);
        rl_script_error(&script, false, false, error, told, sizeof(told));
        rl_text_escape(again, sizeof(again), told, strlen(told)); /* which marks broken ones */
        ck_assert_str_eq(told, again);
    }
}
