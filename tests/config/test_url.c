/* tags: valgrind */
/* A master's URL: what is read from it, its label, and what is wrong with a bad one. */
#include "config_auto.h"

#include "suite.h"
#include "config/url.h"
#include "config/url_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NULL in a field: the node has none. */
static const struct {
    const char *url;
    enum rl_transport transport;
    const char *host; /* or the path */
    int port;
    int db;
    const char *user;
    const char *password;
    const char *label;
} good[] = {
    {"redis://a", RL_TCP, "a", 6379, 0, NULL, NULL, "redis://a:6379"},
    {"redis://a/", RL_TCP, "a", 6379, 0, NULL, NULL, "redis://a:6379"},
    {"redis://a:1", RL_TCP, "a", 1, 0, NULL, NULL, "redis://a:1"},
    {"redis://a:65535/0", RL_TCP, "a", 65535, 0, NULL, NULL, "redis://a:65535"},
    {"redis://a:06379/015", RL_TCP, "a", 6379, 15, NULL, NULL, "redis://a:6379/15"},
    {"redis://a/999999999", RL_TCP, "a", 6379, 999999999, NULL, NULL,
     "redis://a:6379/999999999"},
    {"REDIS://Redis-1.Example", RL_TCP, "redis-1.example", 6379, 0, NULL, NULL,
     "redis://redis-1.example:6379"},
    {"rediss://locks@redis-2.example:6380/1", RL_TLS, "redis-2.example", 6380, 1, "locks", NULL,
     "rediss://locks@redis-2.example:6380/1"},
    {"redis://:pw@10.0.0.1", RL_TCP, "10.0.0.1", 6379, 0, NULL, "pw", "redis://10.0.0.1:6379"},
    {"redis://u:pw@h", RL_TCP, "h", 6379, 0, "u", "pw", "redis://u@h:6379"},
    {"redis://u:@h", RL_TCP, "h", 6379, 0, "u", NULL, "redis://u@h:6379"},
    {"redis://:@h", RL_TCP, "h", 6379, 0, NULL, NULL, "redis://h:6379"},
    {"redis://@h", RL_TCP, "h", 6379, 0, NULL, NULL, "redis://h:6379"},
    {"redis://u:a:b:c@h", RL_TCP, "h", 6379, 0, "u", "a:b:c", "redis://u@h:6379"},
    {"redis://u%3a%40:%2F%3f%23%25%40@h", RL_TCP, "h", 6379, 0, "u:@", "/?#%@",
     "redis://u%3A%40@h:6379"},
    {"redis://caf\xc3\xa9:\xff@h", RL_TCP, "h", 6379, 0, "caf\xc3\xa9", "\xff",
     "redis://caf%C3%A9@h:6379"},
    {"redis://[::1]", RL_TCP, "::1", 6379, 0, NULL, NULL, "redis://[::1]:6379"},
    {"redis://u:p@[2001:DB8::A]:7000/2", RL_TCP, "2001:db8::a", 7000, 2, "u", "p",
     "redis://u@[2001:db8::a]:7000/2"},
    {"redis://[fe80::1%25Eth0]:1", RL_TCP, "fe80::1%Eth0", 1, 0, NULL, NULL,
     "redis://[fe80::1%25Eth0]:1"},
    {"unix:///run/redis.sock", RL_UNIX, "/run/redis.sock", 0, 0, NULL, NULL,
     "unix:///run/redis.sock"},
    {"UNIX:///a?db=3", RL_UNIX, "/a", 0, 3, NULL, NULL, "unix:///a?db=3"},
    {"unix:///a?db=0", RL_UNIX, "/a", 0, 0, NULL, NULL, "unix:///a"},
    {"unix://u:pw@/a", RL_UNIX, "/a", 0, 0, "u", "pw", "unix://u@/a"},
    {"unix:///run//x/./y///z", RL_UNIX, "/run/x/y/z", 0, 0, NULL, NULL, "unix:///run/x/y/z"},
    {"unix:////./a", RL_UNIX, "/a", 0, 0, NULL, NULL, "unix:///a"},
    {"unix:///run/a@b:c", RL_UNIX, "/run/a@b:c", 0, 0, NULL, NULL, "unix:///run/a@b:c"},
    {"unix:///run/..a/.b", RL_UNIX, "/run/..a/.b", 0, 0, NULL, NULL, "unix:///run/..a/.b"},
    {"unix:///my%20dir/100%25/q%3Fx", RL_UNIX, "/my dir/100%/q?x", 0, 0, NULL, NULL,
     "unix:///my%20dir/100%25/q%3Fx"},
};

static void same_or_none(const char *got, const char *wanted)
{
    if (!wanted)
        ck_assert_ptr_null(got);
    else
        ck_assert_pstr_eq(got, wanted);
}

TEST(good, test_good, .rows = ROWS(good))
{
    struct rl_node_config node = {.label = NULL};
    struct rl_problem problem = {.text = ""};
    int code = rl_url_parse(good[_i].url, strlen(good[_i].url), &node, &problem);
    ck_assert_msg(code == 0, "%s: %s", good[_i].url, problem.text);
    bool is_unix = good[_i].transport == RL_UNIX;
    ck_assert_int_eq(node.transport, good[_i].transport);
    same_or_none(node.host, is_unix ? NULL : good[_i].host);
    same_or_none(node.path, is_unix ? good[_i].host : NULL);
    ck_assert_int_eq(node.port, good[_i].port);
    ck_assert_int_eq(node.db, good[_i].db);
    same_or_none(node.user, good[_i].user);
    same_or_none(node.password, good[_i].password);
    ck_assert_str_eq(node.label, good[_i].label);
    rl_node_config_free(&node);
    ck_assert_ptr_null(node.label);
}

/* The label is a URL of the same node. */
TEST(good, test_label_again, .rows = ROWS(good))
{
    struct rl_node_config node = {.label = NULL};
    struct rl_problem problem;
    ck_assert_int_eq(rl_url_parse(good[_i].label, strlen(good[_i].label), &node, &problem), 0);
    ck_assert_str_eq(node.label, good[_i].label);
    ck_assert_ptr_null(node.password);
    same_or_none(node.user, good[_i].user);
    ck_assert_int_eq(node.db, good[_i].db);
    rl_node_config_free(&node);
}

static const struct {
    const char *url;
    size_t offset;
    const char *wrong; /* in the text */
} bad[] = {
    {"", 0, "empty"},
    {"a", 0, "not a URL of a master; write redis://"},
    {"10.0.0.1:6379", 0, "not a URL of a master"},
    {"redis:/a", 0, "not a URL of a master"},
    {"redis:a", 0, "not a URL of a master"},
    {"tcp://a", 0, "not a URL of a master"},
    {"redis//a", 0, "not a URL of a master"},
    {"xedis://a", 0, "not a URL of a master"},
    {"redisx//a", 0, "not a URL of a master"},
    {"redis://", 8, "host is missing"},
    {"rediss://", 9, "host is missing"},
    {"redis:///1", 8, "host is missing"},
    {"redis://:6379", 8, "host is missing"},
    {"redis://u:p@", 12, "host is missing"},
    {"redis://u:p@:1", 12, "host is missing"},
    {"redis://a b", 9, "write this one as %20"},
    {"redis://a\tb", 9, "write this one as %09"},
    {"redis://a\x7f", 9, "write this one as %7F"},
    {"redis://a#b", 9, "write %23"},
    {"redis://a:", 10, "port is a number from 1 to 65535"},
    {"redis://a:0", 10, "port is a number"},
    {"redis://a:65536", 10, "port is a number"},
    {"redis://a:99999999999999999999", 10, "port is a number"},
    {"redis://a:-1", 10, "port is a number"},
    {"redis://a:6379x", 10, "port is a number"},
    {"redis://a:http", 10, "port is a number"},
    {"redis://a:/1", 10, "port is a number"},
    {"redis://u:p@a:x", 14, "port is a number"},
    {"redis://a/x", 10, "database is a number"},
    {"redis://a/-1", 10, "database is a number"},
    {"redis://a/1x", 10, "database is a number"},
    {"redis://a/1/2", 10, "database is a number"},
    {"redis://a/1000000000", 10, "database is a number"},
    {"redis://a?db=1", 9, "database follows the port"},
    {"redis://a/?db=1", 10, "database follows the port"},
    {"redis://a/1?x", 11, "database follows the port"},
    {"redis://::1", 8, "stands in brackets"},
    {"redis://2001:db8::1:6379", 8, "stands in brackets"},
    {"redis://[::1", 8, "no ']'"},
    {"redis://[::1]6379", 13, "only a port"},
    {"redis://[::1]x:1", 13, "only a port"},
    {"redis://[::1]x", 13, "only a port"},
    {"redis://[::1]:x", 14, "port is a number"},
    {"redis://[]", 9, "only IPv6"},
    {"redis://[10.0.0.1]", 9, "only IPv6"},
    {"redis://[a]", 9, "only IPv6"},
    {"redis://[::g]", 9, "not an IPv6 address"},
    {"redis://[1:2:3]", 9, "not an IPv6 address"},
    {"redis://[fe80::1%eth0]", 16, "write %25"},
    {"redis://[fe80::1%25]", 9, "no zone"},
    {"redis://10.0.0", 8, "not an IPv4 address"},
    {"redis://10.0.0.256:1", 8, "not an IPv4 address"},
    {"redis://a_b!c", 11, "host name has letters"},
    {"redis://a%20b", 9, "host name has letters"},
    {"redis://caf\xc3\xa9", 11, "xn--"},
    {"redis://a..b", 10, "before each dot"},
    {"redis://u:p@ss@h", 11, "two '@'"},
    {"redis://a@b@c@h", 9, "two '@'"},
    {"redis://a@@h", 9, "two '@'"},
    {"redis://u:p/ss@h", 11, "write %2F"},
    {"redis://u:p?ss@h", 11, "%3F"},
    {"redis://u:12/3@h", 12, "write %2F"},
    {"redis://h/1@", 9, "write %2F"},
    {"redis://%zz@h", 8, "'%' begins two hex digits"},
    {"redis://u:p%2@h", 11, "'%' begins two hex digits"},
    {"redis://u:p%@h", 11, "'%' begins two hex digits"},
    {"redis://u:%00@h", 10, "password can't have NUL"},
    {"redis://u:a%0Ab@h", 11, "password can't have NUL or newline"},
    {"redis://u:a%0db@h", 11, "password can't have NUL or newline"},
    {"redis://%00@h", 8, "user name can't have NUL"},
    {"unix://", 7, "begins with '/'"},
    {"unix://run/a", 7, "begins with '/'"},
    {"unix://?db=1", 7, "begins with '/'"},
    {"unix://u:p@", 11, "begins with '/'"},
    {"unix://u:p@run/a", 11, "begins with '/'"},
    {"unix://u:p/ss@/a", 7, "%2F"},
    {"unix:///", 8, "can't end with '/'"},
    {"unix:///run/", 12, "can't end with '/'"},
    {"unix:///run/.", 13, "can't end with '/'"},
    {"unix:///a?", 9, "only ?db=N"},
    {"unix:///a?d", 9, "only ?db=N"},
    {"unix:///a?name=b", 9, "only ?db=N"},
    {"unix:///a?dbx1", 9, "only ?db=N"},
    {"unix:///a?db=", 13, "database is a number"},
    {"unix:///a?db=1?db=2", 13, "database is a number"},
    {"unix:///a?db=x", 13, "database is a number"},
    {"unix:///a%00b", 9, "socket's path can't have NUL"},
    {"unix:///a%4", 9, "'%' begins two hex digits"},
};

TEST(bad, test_bad, .rows = ROWS(bad))
{
    struct rl_node_config node = {.label = NULL};
    struct rl_problem problem = {.offset = 999};
    int code = rl_url_parse(bad[_i].url, strlen(bad[_i].url), &node, &problem);
    ck_assert_msg(code == REDLOCK_ECONFIG, "%s: %d", bad[_i].url, code);
    ck_assert_msg(strstr(problem.text, bad[_i].wrong), "%s: %s", bad[_i].url, problem.text);
    ck_assert_msg(problem.offset == bad[_i].offset, "%s: at %zu: %s", bad[_i].url,
                  problem.offset, problem.text);
    ck_assert_ptr_null(node.label);
    rl_node_config_free(&node);
}

TEST(bad, test_nul_inside)
{
    struct rl_node_config node = {.label = NULL};
    struct rl_problem problem = {.offset = 999};
    ck_assert_int_eq(rl_url_parse("redis://a\0b", 11, &node, &problem), REDLOCK_ECONFIG);
    ck_assert_uint_eq(problem.offset, 9);
    ck_assert_ptr_nonnull(strstr(problem.text, "%00"));
    rl_node_config_free(&node);
}

/* A URL ends where its length says, whatever stands behind it. */
TEST(bad, escape_ends_with_url)
{
    static const char text[] = "unix:///a%41";
    for (size_t cut = 1; cut <= 2; cut++) {
        struct rl_node_config node = {.label = NULL};
        struct rl_problem problem = {.offset = 999};
        ck_assert_int_eq(rl_url_parse(text, strlen(text) - cut, &node, &problem),
                         REDLOCK_ECONFIG);
        ck_assert_uint_eq(problem.offset, 9);
        rl_node_config_free(&node);
    }
}

/* before + `count` times 'x' + after */
static int parse_long(const char *before, size_t count, const char *after,
                      struct rl_problem *problem)
{
    char url[8192];
    size_t start = strlen(before);
    memcpy(url, before, start);
    memset(url + start, 'x', count);
    snprintf(url + start + count, sizeof(url) - start - count, "%s", after);
    struct rl_node_config node = {.label = NULL};
    int code = rl_url_parse(url, strlen(url), &node, problem);
    rl_node_config_free(&node);
    return code;
}

/* Each part at its limit, and one byte above. */
TEST(bad, test_lengths)
{
    static const struct {
        const char *before;
        const char *after;
        size_t max;
        const char *wrong;
    } parts[] = {
        {"redis://", "@h", RL_USER_MAX, "user name has at most 128 bytes"},
        {"redis://:", "@h", RL_PASSWORD_MAX, "password has at most 512 bytes"},
        {"unix:///", "", RL_UNIX_PATH_MAX - 1, "path has at most 107 bytes"},
        {"redis://", ".h", 63, "part of a host name"},
    };
    for (int i = 0; i < ROWS(parts); i++) {
        struct rl_problem problem = {.text = ""};
        ck_assert_msg(parse_long(parts[i].before, parts[i].max, parts[i].after, &problem) == 0,
                      "%d: %s", i, problem.text);
        ck_assert_int_eq(
            parse_long(parts[i].before, parts[i].max + 1, parts[i].after, &problem),
            REDLOCK_ECONFIG);
        ck_assert_msg(strstr(problem.text, parts[i].wrong), "%d: %s", i, problem.text);
        ck_assert_uint_eq(problem.offset, strlen(parts[i].before) + parts[i].max);
    }
    struct rl_problem problem;
    ck_assert_int_eq(parse_long("redis://", RL_URL_MAX, "", &problem), REDLOCK_ECONFIG);
    ck_assert_uint_eq(problem.offset, RL_URL_MAX);
    ck_assert_ptr_nonnull(strstr(problem.text, "URL has at most 1024 bytes"));
}

/* The longest label there can be: every byte of user and path escaped. */
TEST(good, test_longest_label)
{
    char url[RL_URL_MAX + 1] = "unix://";
    size_t len = strlen(url);
    for (int i = 0; i < RL_USER_MAX; i++)
        len += (size_t)snprintf(url + len, sizeof(url) - len, "%%01");
    len += (size_t)snprintf(url + len, sizeof(url) - len, "@/");
    for (int i = 1; i < RL_UNIX_PATH_MAX; i++)
        len += (size_t)snprintf(url + len, sizeof(url) - len, "%%FE");
    len += (size_t)snprintf(url + len, sizeof(url) - len, "?db=999999999");
    struct rl_node_config node = {.label = NULL};
    struct rl_problem problem;
    ck_assert_int_eq(rl_url_parse(url, len, &node, &problem), 0);
    ck_assert_str_eq(node.label, url);
    rl_node_config_free(&node);
}

TEST(good, test_tidy)
{
    static const struct {
        const char *path;
        const char *tidy;
    } paths[] = {
        {"/", "/"},
        {"//", "/"},
        {"/a", "/a"},
        {"/a/", "/a/"},
        {"//a//b//", "/a/b/"},
        {"/./a", "/a"},
        {"./a", "./a"},
        {"/a/./b", "/a/b"},
        {"/a/.", "/a/"},
        {"/a/././b", "/a/b"},
        {"/.a/b.", "/.a/b."},
        {"/a/../b", "/a/../b"},
        {"", ""},
        {"/a./b", "/a./b"},
        {"/..", "/.."},
        {"/.//.//a", "/a"},
    };
    for (int i = 0; i < ROWS(paths); i++) {
        char path[32];
        snprintf(path, sizeof(path), "%s", paths[i].path);
        rl_path_tidy(path);
        ck_assert_str_eq(path, paths[i].tidy);
    }
}
