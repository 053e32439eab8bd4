/* tags: valgrind source */
/* The node list in words, and the variables in a file's values. */
#include "config_auto.h"

#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rl_config config;
static redlock_error error;

/* ---- words ------------------------------------------------------------------------------ */

static int words(const char *text)
{
    return conf_parse_words(text, &config, &error);
}

TEST(words, one_url_is_a_list_of_one)
{
    ck_assert_msg(words("redis://a") == 0, "%s", error.text);
    ck_assert_uint_eq(config.node_count, 1);
    ck_assert_str_eq(config.nodes[0].label, "redis://a:6379");
    ck_assert_int_eq(config.max_ttl_ms, RL_DEFAULT_MAX_TTL_MS);
    rl_config_free(&config);
}

TEST(words, option_belongs_to_url_before_it_and_setting_to_list)
{
    ck_assert_msg(words("\n ttl=2s redis://a\tpassword-env=A max-ttl=10s password-file=\r\n"
                        "\"/b c\" rediss://u:p@b/3 ca-file=/d=e guard=off ") == REDLOCK_ECONFIG,
                  "password-file and password-env together");
    ck_assert_msg(words("\n ttl=2s redis://a\tpassword-env=A max-ttl=10s\r\n"
                        "rediss://u:p@b/3 ca-file=/d=e cert-file=\"/b c\" key-file=/k\n"
                        "guard=off ") == 0,
                  "%s", error.text);
    ck_assert_uint_eq(config.node_count, 2);
    ck_assert_str_eq(config.nodes[0].password_env, "A");
    ck_assert_ptr_null(config.nodes[0].ca_file);
    ck_assert_str_eq(config.nodes[1].label, "rediss://u@b:6379/3");
    ck_assert_str_eq(config.nodes[1].password, "p");
    ck_assert_str_eq(config.nodes[1].ca_file, "/d=e");
    ck_assert_str_eq(config.nodes[1].cert_file, "/b c");
    ck_assert_int_eq(config.max_ttl_ms, 10000);
    ck_assert_int_eq(config.ttl_ms, 2000);
    ck_assert_int_eq(config.guard, RL_GUARD_OFF);
    ck_assert(config.holds_password);
    rl_config_free(&config);
}

/* Whatever set the variable has replaced what it wanted replaced. */
TEST(words, variable_is_not_replaced)
{
    setenv("TEST_WORD", "b", 1);
    ck_assert_int_eq(words("redis://:${TEST_WORD}@a"), 0);
    ck_assert_str_eq(config.nodes[0].password, "${TEST_WORD}");
    rl_config_free(&config);
}

static const struct {
    const char *text;
    int column;
    const char *wrong;
} bad[] = {
    {"ttl=5s", 1, "no node"},
    {"redis://a redis://a", 11, "this node stands in the list already"},
    {"redis://a,redis://b", 1, "URLs stand apart by blanks"},
    {"node redis://a", 1, "neither a URL nor NAME=VALUE"},
    {"redis://a ttl 5s", 14, "no '=' here"},
    {"redis://a password-file /a", 24, "no '=' here"},
    {"redis://a #b", 11, "neither a URL"},
    {"redis://a # redis://b", 11, "neither a URL"},
    {"http://a", 1, "not a URL of a master"},
    {"ca-file=/a redis://b", 1, "stands behind the node's URL"},
    {"redis://a max_ttl=5s", 11, "did you mean max-ttl=?"},
    {"redis://a pasword-file=/b", 11, "did you mean password-file=?"},
    {"redis://a =b", 11, "unknown name; known are password-file=,"},
    {"redis://a ttl=", 15, "not a duration"},
    {"redis://a ttl=5s ttl=6s", 18, "ttl stands in line 1 already"},
    {"redis://a ttl=5s\n guard=perhaps", 25, "guard is"},
    {"redis://a ca-file=/b", 11, "rediss"},
    {"redis://a password-file=\"/b", 25, "the quote is not closed"},
    {"redis://a\x01", 10, "a byte that is no text (0x01)"},
};

TEST(words, bad_words_are_told_with_their_place, .rows = ROWS(bad))
{
    ck_assert_int_eq(words(bad[_i].text), REDLOCK_ECONFIG);
    conf_expect_error(&error, "node list", 1, bad[_i].column, bad[_i].wrong);
    rl_config_free(&config);
}

TEST(words, no_more_than_a_file_may_have)
{
    static char text[RL_FILE_MAX + 2];
    memset(text, ' ', sizeof(text) - 1);
    memcpy(text, "redis://a", strlen("redis://a"));
    ck_assert_int_eq(words(text), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text, "node list: too long; it has at most 65536 bytes");
    text[RL_FILE_MAX] = '\0';
    ck_assert_int_eq(words(text), 0);
    rl_config_free(&config);
    size_t len = 0;
    for (int i = 0; i <= REDLOCK_NODES_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "redis://n%d ", i);
    ck_assert_int_eq(words(text), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "more than 64 nodes"));
}

/* ---- as a client opens it --------------------------------------------------------------- */

TEST(load, path_in_words_is_from_the_working_directory)
{
    conf_write_text("secret", "s\n", 0600);
    ck_assert_msg(conf_load("redis://a password-file=secret") == 0, "%s", conf_error.text);
    char wanted[SUITE_PATH_MAX + 16];
    snprintf(wanted, sizeof(wanted), "%s/secret", conf_dir);
    ck_assert_str_eq(conf_config.nodes[0].password_file, wanted);
    ck_assert_str_eq(conf_warnings, "");
    rl_config_free(&conf_config);
}

TEST(load, no_message_shows_a_password)
{
    static const char *const lists[] = {"redis://:hunter2@a:0", "redis://:hunter2@a ttl=x",
                                        "redis://:hunter2@a redis://:hunter2@a",
                                        "redis://:hunter2@a/b", "redis://:hunter2@a hunter2=b"};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        ck_assert_int_eq(conf_load(lists[i]), REDLOCK_ECONFIG);
        ck_assert_msg(!strstr(conf_error.text, "hunter2"), "%s", conf_error.text);
    }
}

/* ---- variables -------------------------------------------------------------------------- */

static const struct {
    const char *line;
    const char *label, *user, *password;
    bool stands_there; /* a password in the file */
} urls[] = {
    {"node ${TEST_URL}", "redis://b@h:7000/2", "b", "p/w", false},
    {"node \"${TEST_URL}\"", "redis://b@h:7000/2", "b", "p/w", false},
    {"node redis://${TEST_HOST}", "redis://h.example:6379", NULL, NULL, false},
    {"node redis://${TEST_HOST_PORT}/${TEST_DB}", "redis://h:7001/5", NULL, NULL, false},
    {"node redis://[${TEST_V6}]:1", "redis://[2001:db8::1]:1", NULL, NULL, false},
    {"node redis://${TEST_ODD}:${TEST_ODD}@h", NULL, "a:b@c/d?#%41 \"$", "a:b@c/d?#%41 \"$",
     false},
    {"node redis://x${TEST_DB}y:a${TEST_DB}${TEST_DB}b@h", "redis://x5y@h:6379", "x5y", "a55b",
     true},
    {"node redis://${TEST_DB}:pw@h", "redis://5@h:6379", "5", "pw", true},
    {"node redis://x:${TEST_DB}pw@h", "redis://x@h:6379", "x", "5pw", true},
    {"node redis://x:${TEST_DB}${TEST_DB}@h", "redis://x@h:6379", "x", "55", false},
    {"node unix://${TEST_DIR}/s", "unix:///a/b/s", NULL, NULL, false},
    {"node unix://:${TEST_ODD}@/x${TEST_DIR}", "unix:///x/a/b", NULL, "a:b@c/d?#%41 \"$", false},
    {"node redis://:pw@${TEST_HOST}", "redis://h.example:6379", NULL, "pw", true},
    {"node redis://:%24{TEST_DB}@h", "redis://h:6379", NULL, "${TEST_DB}", true},
    {"node redis://:$TEST_DB@h", "redis://h:6379", NULL, "$TEST_DB", true},
};

static void set_variables(void)
{
    conf_set_up();
    setenv("TEST_URL", "redis://b:p%2Fw@h:7000/2", 1);
    setenv("TEST_HOST", "h.example", 1);
    setenv("TEST_HOST_PORT", "h:7001", 1);
    setenv("TEST_V6", "2001:db8::1", 1);
    setenv("TEST_DB", "5", 1);
    setenv("TEST_ODD", "a:b@c/d?#%41 \"$", 1);
    setenv("TEST_PATH", "/x y/#z", 1);
    setenv("TEST_DIR", "/a/b", 1);
    setenv("TEST_EMPTY", "", 1);
    setenv("TEST_PASSWORD", "hunter2", 1);
    unsetenv("TEST_UNSET");
}

TEST(variables, in_url, .rows = ROWS(urls))
{
    conf_write_text("n.conf", urls[_i].line, 0644);
    ck_assert_msg(conf_load("n.conf") == 0, "%s", conf_error.text);
    const struct rl_node_config *node = &conf_config.nodes[0];
    if (urls[_i].label)
        ck_assert_str_eq(node->label, urls[_i].label);
    ck_assert_pstr_eq(node->user, urls[_i].user);
    ck_assert_pstr_eq(node->password, urls[_i].password);
    ck_assert_int_eq(conf_config.holds_password, urls[_i].stands_there);
    ck_assert_int_eq(strstr(conf_warnings, "has a password in it") != NULL,
                     urls[_i].stands_there);
    rl_config_free(&conf_config);
}

TEST(variables, in_options_and_settings)
{
    conf_write_text("n.conf", "node redis://a password-file=${TEST_PATH} #${TEST_UNSET}\n"
                              "client-name x${TEST_DB}y\nmax-ttl ${TEST_DB}s\n",
                    0644);
    ck_assert_msg(conf_load("n.conf") == 0, "%s", conf_error.text);
    ck_assert_str_eq(conf_config.nodes[0].password_file, "/x y/#z");
    ck_assert_str_eq(conf_config.client_name, "x5y");
    ck_assert_int_eq(conf_config.max_ttl_ms, 5000);
    rl_config_free(&conf_config);
}

static const struct {
    const char *text;
    int line, column;
    const char *wrong;
} bad_variables[] = {
    {"node redis://a\n ttl ${TEST_UNSET}", 2, 6, "this variable is not set"},
    {"node redis://a:${TEST_UNSET}", 1, 16, "this variable is not set"},
    {"node redis://a:${TEST_DB}x", 1, 6, "with the values of its variables: the port"},
    {"node redis://${TEST_ODD}", 1, 6, "with the values of its variables: "},
    {"node ${TEST_ODD}", 1, 6, "with the values of its variables: "},
    {"node ${TEST_EMPTY}", 1, 6, "with the values of its variables: the URL is empty"},
    {"node redis://${TEST_DB", 1, 14, "no variable; write ${NAME}"},
    {"node redis://${}", 1, 14, "no variable"},
    {"node redis://${1A}", 1, 14, "no variable"},
    {"node redis://${TEST_DB:-x}", 1, 14, "no variable"},
    {"node redis://${TEST DB}", 1, 14, "no variable"},
    {"node redis://a\nguard ${TEST_PASSWORD}", 2, 7, "with the values of its variables: "},
    {"${TEST_URL}", 1, 1, "unknown directive"},
};

TEST(variables, bad_ones_are_told_with_their_place, .rows = ROWS(bad_variables))
{
    conf_write_text("n.conf", bad_variables[_i].text, 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    conf_expect_error(&conf_error, "n.conf", bad_variables[_i].line, bad_variables[_i].column,
                      bad_variables[_i].wrong);
    ck_assert_msg(!strstr(conf_error.text, "hunter2"), "%s", conf_error.text);
}

TEST(variables, value_is_no_longer_than_a_line)
{
    static char value[RL_LINE_MAX + 2];
    memset(value, 'a', RL_LINE_MAX + 1);
    setenv("TEST_LONG", value, 1);
    conf_write_text("n.conf", "node ${TEST_LONG}", 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(conf_error.text, "too long with the values"));
    value[RL_LINE_MAX] = '\0';
    setenv("TEST_LONG", value, 1);
    conf_write_text("n.conf", "node ${TEST_LONG}", 0600);
    ck_assert_int_eq(conf_load("n.conf"), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(conf_error.text, "a URL has at most 1024 bytes"));
}

/* 128 bytes of a name are read, and of a longer one nothing, though a variable has it. */
TEST(variables, name_is_no_longer_than_it_may_be)
{
    char name[130], text[200];
    for (size_t len = 128; len <= 129; len++) {
        memset(name, 'N', len);
        name[len] = '\0';
        setenv(name, "redis://a", 1);
        snprintf(text, sizeof(text), "node ${%s}", name);
        conf_write_text("n.conf", text, 0600);
        ck_assert_int_eq(conf_load("n.conf"), len <= 128 ? 0 : REDLOCK_ECONFIG);
        if (len > 128)
            conf_expect_error(&conf_error, "n.conf", 1, 6, "no variable; write ${NAME}, of at most");
        rl_config_free(&conf_config);
    }
}

CASE(words)
CASE(load, .set_up = conf_set_up)
CASE(variables, .set_up = set_variables)
