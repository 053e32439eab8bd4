/* test_text.c - bytes from elsewhere, made fit for a line of text. */
#include "config_auto.h"

#include "suite.h"
#include "text.h"

#include <signal.h>
#include <string.h>

START_TEST(control_characters_become_question_marks)
{
    for (int c = 1; c < 256; c++) {
        char text[4] = {'<', (char)c, '>', '\0'};
        rl_text_clean(text);
        char expected = c < 0x20 || c == 0x7f ? '?' : (char)c;
        ck_assert_int_eq(text[0], '<');
        ck_assert_int_eq(text[1], expected);
        ck_assert_int_eq(text[2], '>');
    }
    char nothing[1] = "";
    rl_text_clean(nothing);
    ck_assert_str_eq(nothing, "");
}
END_TEST

static const struct {
    const char *bytes;
    size_t len, size;
    const char *expected;
} copies[] = {
    {"", 0, 8, ""},
    {"abc", 3, 8, "abc"},
    {"abc", 2, 8, "ab"},
    {"abcdefgh", 8, 8, "abcdefg"}, /* cut for the NUL */
    {"abcdefg", 7, 8, "abcdefg"},
    {"abc", 3, 1, ""},
    {"a\0b\0", 4, 8, "a?b?"},
    {"\r\n\t\x1b[0m", 7, 8, "????[0m"},
    {"\xc3\xa9", 2, 8, "\xc3\xa9"},
};

START_TEST(copies_fit)
{
    char place[10];
    memset(place, '#', sizeof(place));
    rl_text_copy(place, copies[_i].size, copies[_i].bytes, copies[_i].len);
    ck_assert_str_eq(place, copies[_i].expected);
    for (size_t i = copies[_i].size; i < sizeof(place); i++)
        ck_assert_int_eq(place[i], '#');
}
END_TEST

START_TEST(no_place_at_all)
{
    char place[1];
    rl_text_copy(place, 0, "abc", 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tcase = tcase_create("text");
    tcase_add_test(tcase, control_characters_become_question_marks);
    tcase_add_loop_test(tcase, copies_fit, 0, (int)(sizeof(copies) / sizeof(copies[0])));
    tcase_add_test_raise_signal(tcase, no_place_at_all, SIGABRT);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
