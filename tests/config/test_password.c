/* A node's password: from its file, its environment variable, its URL. */
#include "config_auto.h"

#include "config/config_load.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char password[RL_PASSWORD_MAX + 1];
static char why[512];

static void set_up(void)
{
    char dir[SUITE_PATH_MAX];
    suite_new_dir(dir);
    ck_assert_int_eq(chdir(dir), 0);
    memset(password, 'z', sizeof(password));
    why[0] = '\0';
}

static void write_file(const char *text, size_t len)
{
    int fd = open("secret", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, len), (ssize_t)len);
    close(fd);
}

static int from_file(const char *text, size_t len)
{
    write_file(text, len);
    struct rl_node_config node = {.password_file = (char *)(uintptr_t) "secret"};
    return rl_node_password(&node, password, why, sizeof(why));
}

static int from_environment(const char *value)
{
    ck_assert_int_eq(setenv("RL_TEST_SECRET", value, 1), 0);
    struct rl_node_config node = {.password_env = (char *)(uintptr_t) "RL_TEST_SECRET"};
    return rl_node_password(&node, password, why, sizeof(why));
}

TEST(secret, test_none)
{
    struct rl_node_config node = {.label = NULL};
    ck_assert_int_eq(rl_node_password(&node, password, why, sizeof(why)), 0);
}

static const struct {
    const char *text;
    const char *password;
} files[] = {
    {"hunter2", "hunter2"},
    {"hunter2\n", "hunter2"},
    {"hunter2\r\n", "hunter2"},
    {"x", "x"},
    {" a b ", " a b "},
    {" a\tb\n", " a\tb"},
    {"p\xff\x01#\"%41", "p\xff\x01#\"%41"}, /* bytes, taken as they are */
};

TEST(secret, test_file, .rows = ROWS(files))
{
    int len = from_file(files[_i].text, strlen(files[_i].text));
    ck_assert_msg(len == (int)strlen(files[_i].password), "%d: %s", len, why);
    ck_assert_str_eq(password, files[_i].password);
}

static const struct {
    const char *text;
    size_t len;
    const char *wrong;
} bad_files[] = {
    {"", 0, "password-file secret is empty"},
    {"\n", 1, "password-file secret is empty"},
    {"\r\n", 2, "password-file secret is empty"},
    {"hunter2\n\n", 9, "password-file secret has a newline in it"},
    {"\nhunter2", 8, "password-file secret has a newline in it"},
    {"hunter2\r", 8, "password-file secret has a newline in it"},
    {"hunter2\rx\n", 10, "password-file secret has a newline in it"},
    {"hunter2\0x", 9, "password-file secret has a NUL byte in it"},
    {"\0", 1, "password-file secret has a NUL byte in it"},
};

TEST(secret, test_bad_file, .rows = ROWS(bad_files))
{
    ck_assert_int_eq(from_file(bad_files[_i].text, bad_files[_i].len), -1);
    ck_assert_msg(strstr(why, bad_files[_i].wrong), "%s", why);
    ck_assert_ptr_null(strstr(why, "hunter2"));
    ck_assert_int_eq(password[0], 'z'); /* written on success only */
}

TEST(secret, test_lengths)
{
    static char text[RL_PASSWORD_MAX + 8192];
    memset(text, 'p', sizeof(text));
    ck_assert_int_eq(from_file(text, RL_PASSWORD_MAX), RL_PASSWORD_MAX);
    ck_assert_uint_eq(strlen(password), RL_PASSWORD_MAX);
    memcpy(text + RL_PASSWORD_MAX, "\r\n", 2);
    ck_assert_int_eq(from_file(text, RL_PASSWORD_MAX + 2), RL_PASSWORD_MAX);
    text[RL_PASSWORD_MAX] = 'p';
    ck_assert_int_eq(from_file(text, RL_PASSWORD_MAX + 2), -1);
    ck_assert_str_eq(why, "password-file secret is longer than a password can be (512 bytes)");
    text[RL_PASSWORD_MAX + 1] = 'p';
    ck_assert_int_eq(from_file(text, RL_PASSWORD_MAX + 1), -1);
    ck_assert_int_eq(from_file(text, sizeof(text)), -1);
    ck_assert_ptr_nonnull(strstr(why, "longer than a password can be"));
    text[RL_PASSWORD_MAX] = '\0';
    ck_assert_int_eq(from_environment(text), RL_PASSWORD_MAX);
    text[RL_PASSWORD_MAX] = 'p';
    text[RL_PASSWORD_MAX + 1] = '\0';
    ck_assert_int_eq(from_environment(text), -1);
    ck_assert_ptr_nonnull(strstr(why, "password-env RL_TEST_SECRET is longer"));
}

TEST(secret, test_file_missing)
{
    struct rl_node_config node = {.password_file = (char *)(uintptr_t) "no\nne"};
    ck_assert_int_eq(rl_node_password(&node, password, why, sizeof(why)), -1);
    ck_assert_str_eq(why, "password-file no\\x0ane: No such file or directory; check the path");
    ck_assert_int_eq(mkdir("d", 0700), 0);
    node.password_file = (char *)(uintptr_t) "d";
    ck_assert_int_eq(rl_node_password(&node, password, why, sizeof(why)), -1);
    ck_assert_str_eq(why, "password-file d: is a directory; give a regular file");
}

/* It is read anew each time: a password that was changed is found. */
TEST(secret, test_read_anew)
{
    ck_assert_int_eq(from_file("first", 5), 5);
    ck_assert_str_eq(password, "first");
    ck_assert_int_eq(from_file("2nd\n", 4), 3);
    ck_assert_str_eq(password, "2nd");
    ck_assert_int_eq(from_environment("third"), 5);
    ck_assert_int_eq(from_environment("4"), 1);
    ck_assert_str_eq(password, "4");
}

TEST(secret, test_environment)
{
    ck_assert_int_eq(from_environment(" hunter2 "), 9);
    ck_assert_str_eq(password, " hunter2 ");
    ck_assert_int_eq(from_environment(""), -1);
    ck_assert_ptr_nonnull(strstr(why, "password-env RL_TEST_SECRET is empty"));
    ck_assert_int_eq(from_environment("hunter2\n"), -1);
    ck_assert_ptr_nonnull(strstr(why, "has a newline in it"));
    ck_assert_ptr_null(strstr(why, "hunter2"));
    unsetenv("RL_TEST_SECRET");
    struct rl_node_config node = {.password_env = (char *)(uintptr_t) "RL_TEST_SECRET"};
    ck_assert_int_eq(rl_node_password(&node, password, why, sizeof(why)), -1);
    ck_assert_str_eq(why, "password-env RL_TEST_SECRET: this environment variable is not set");
}

TEST(secret, test_url)
{
    struct rl_node_config node = {.password = (char *)(uintptr_t) "hunter2"};
    ck_assert_int_eq(rl_node_password(&node, password, why, sizeof(why)), 7);
    ck_assert_str_eq(password, "hunter2");
}

/* A long reason is cut, not written past its buffer. */
TEST(secret, test_short_why)
{
    char small[8];
    memset(small, 'x', sizeof(small));
    struct rl_node_config node = {.password_file = (char *)(uintptr_t) "none"};
    ck_assert_int_eq(rl_node_password(&node, password, small, 7), -1);
    ck_assert_str_eq(small, "passwo");
    ck_assert_int_eq(small[7], 'x');
}

CASE(secret, .set_up = set_up)
