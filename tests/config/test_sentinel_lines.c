/* tags: valgrind source */
/* Lines that name Sentinels: what is read from them, and what is wrong with bad ones. */
#include "config_auto.h"

#include "conf.h"

#include "config/list_mark.h"
#include "config/sentinels.h"
#include "config/url.h"

#include <stdio.h>
#include <string.h>

static struct rl_config config;
static redlock_error error;

static int words(const char *text)
{
    return conf_parse_words(text, &config, &error);
}

static const struct rl_node_config *only_line(const char *text)
{
    ck_assert_msg(words(text) == 0, "%s", error.text);
    ck_assert_uint_eq(config.node_count, 1);
    return &config.nodes[0];
}

static const struct {
    const char *url, *label, *service;
    unsigned count;
    int db;
} good[] = {
    {"redis+sentinel://a,b,c/locks",
     "redis+sentinel://a:26379,b:26379,c:26379/locks", "locks", 3, 0},
    {"REDIS+Sentinel://A:1,b:65535,[::1],[2001:db8::1]:7/My.locks_1-x/3",
     "redis+sentinel://a:1,b:65535,[::1]:26379,[2001:db8::1]:7/My.locks_1-x/3", "My.locks_1-x",
     4, 3},
    {"redis+sentinel://u:p@a,b,c,d,e,f/s/",
     "redis+sentinel://u@a:26379,b:26379,c:26379,d:26379,e:26379,f:26379/s", "s", 6, 0},
    {"redis+sentinel://a:1,a:2,a:3/%6cocks", "redis+sentinel://a:1,a:2,a:3/locks", "locks", 3, 0},
};

TEST(line, says_sentinels_service_and_database, .rows = ROWS(good))
{
    const struct rl_node_config *node = only_line(good[_i].url);
    ck_assert_str_eq(node->label, good[_i].label);
    ck_assert_str_eq(node->service, good[_i].service);
    ck_assert_uint_eq(node->sentinel_count, good[_i].count);
    ck_assert_int_eq(node->db, good[_i].db);
    ck_assert_ptr_null(node->host);
    ck_assert_int_eq(node->transport, RL_TCP);
    rl_config_free(&config);
}

static const struct {
    const char *words, *wrong;
} bad[] = {
    {"redis+sentinel://a,b/s", "name 3 to 6 Sentinels and their service"},
    {"redis+sentinel://a,b,c,d,e,f,g/s", "name 3 to 6 Sentinels"},
    {"redis+sentinel://a,b,c", "name 3 to 6 Sentinels"},
    {"redis+sentinel://a,b,c/", "name 3 to 6 Sentinels"},
    {"redis+sentinel://a,b,c//1", "name 3 to 6 Sentinels"},
    {"redis+sentinel://a,b,a:26379/s", "this Sentinel stands in front already"},
    {"redis+sentinel://[::1],b,[0::1]/s", "this Sentinel stands in front already"},
    {"redis+sentinel://a,,c/s", "the host is missing"},
    {"redis+sentinel://a,b,c:0/s", "the port is a number"},
    {"redis+sentinel://a,b,::1/s", "stands in brackets"},
    {"redis+sentinel://a,b,c/my%20locks", "letters, digits and . - _ only"},
    {"redis+sentinel://a,b,c/s/x", "the database is a number"},
    {"redis+sentinel://a,b,c/s?db=1", "no '?' here"},
    {"redis+sentinel://a,b,c/s failover=yes", "leave failover out"},
    {"redis+sentinel://a,b,c/s sentinel-user=u", "sentinel-user without a password"},
    {"redis+sentinel://a,b,c/s sentinel-password-file=/a sentinel-password-env=B",
     "both give a password"},
    {"redis+sentinel://a,b,c/s sentinel-tls=off", "sentinel-tls is for TLS"},
    {"rediss+sentinel://a,b,c/s sentinel-tls=on", "write off where the Sentinels have no TLS"},
    {"redis://a sentinel-password-file=/a", "is for Sentinels, and this line names none"},
    {"redis://a sentinel-user=a", "is for Sentinels, and this line names none"},
    {"redis+sentinel://a,b,c/s guard=on", "write guard marker or guard strict"},
    {"redis+sentinel://a,b,c/s redis://x guard=off", "write guard marker or guard strict"},
    {"redis+sentinel://a,b,c/s fencing=strict", "write fencing clock"},
    {"redis+sentinel://a,b,c/s config-agreement=warn", "write config-agreement refuse"},
    {"redis+sentinel://a,b,c/s config-agreement=off", "write config-agreement refuse"},
    {"redis+sentinel://a,b,c/s redis+sentinel://d,e,b:26379/s/1", "stands in the list already"},
};

TEST(line, bad_one_is_refused_with_what_would_be_right, .rows = ROWS(bad))
{
    ck_assert_int_eq(words(bad[_i].words), REDLOCK_ECONFIG);
    ck_assert_msg(strstr(error.text, bad[_i].wrong) != NULL, "%s: %s", bad[_i].words, error.text);
    rl_config_free(&config);
}

TEST(list, reads_markers_and_refuses_other_lists_unless_it_says_more)
{
    only_line("redis+sentinel://a,b,c/s");
    ck_assert_int_eq(config.guard, RL_GUARD_MARKER);
    ck_assert_int_eq(config.config_agreement, REDLOCK_AGREEMENT_REFUSE);
    rl_config_free(&config);
    only_line("redis+sentinel://a,b,c/s guard=strict config-agreement=refuse");
    ck_assert_int_eq(config.guard, RL_GUARD_STRICT);
    rl_config_free(&config);
    ck_assert_int_eq(words("redis+sentinel://a,b,c/s redis+sentinel://a,b,c/t redis://x"), 0);
    ck_assert(rl_config_has_sentinels(&config));
    rl_config_free(&config);
    only_line("redis://a failover=yes");
    ck_assert(!rl_config_has_sentinels(&config));
    ck_assert_int_eq(config.config_agreement, REDLOCK_AGREEMENT_OFF);
    rl_config_free(&config);
}

/* A Sentinel is replaced by another address, and clients of both lists must agree. */
TEST(list, mark_is_of_service_and_database_and_of_no_address)
{
    uint32_t mark = rl_node_mark(only_line("redis+sentinel://a,b,c/s"));
    rl_config_free(&config);
    ck_assert_uint_eq(rl_node_mark(only_line("rediss+sentinel://u@d,e,f,g/s")), mark);
    rl_config_free(&config);
    ck_assert_uint_ne(rl_node_mark(only_line("redis+sentinel://a,b,c/S")), mark);
    rl_config_free(&config);
    ck_assert_uint_ne(rl_node_mark(only_line("redis+sentinel://a,b,c/s/1")), mark);
    rl_config_free(&config);
    ck_assert_uint_ne(rl_node_mark(only_line("redis://s")), mark);
    rl_config_free(&config);
}

TEST(sentinel, has_options_of_its_own_and_the_lines_certificates)
{
    char label[RL_SENTINEL_LABEL_MAX];
    const struct rl_node_config *node =
        only_line("rediss+sentinel://u@[::1]:7,b,c/s password-file=/m sentinel-user=v "
                  "sentinel-password-file=/p ca-file=/ca server-name=x cert-file=/ce key-file=/k");
    struct rl_node_config its = rl_sentinel_config(node, 0, label);
    ck_assert_str_eq(its.label, "Sentinel [::1]:7");
    ck_assert_str_eq(its.host, "::1");
    ck_assert_int_eq(its.port, 7);
    ck_assert_int_eq(its.transport, RL_TLS);
    ck_assert_str_eq(its.user, "v");
    ck_assert_str_eq(its.password_file, "/p");
    ck_assert_str_eq(its.ca_file, "/ca");
    ck_assert_str_eq(its.cert_file, "/ce");
    ck_assert_str_eq(its.key_file, "/k");
    ck_assert_ptr_null(its.server_name);
    ck_assert_ptr_null(its.password);
    ck_assert_str_eq(rl_sentinel_config(node, 1, label).label, "Sentinel b:26379");
    rl_config_free(&config);
    node = only_line("rediss+sentinel://a,b,c/s sentinel-tls=off sentinel-password-env=P");
    its = rl_sentinel_config(node, 2, label);
    ck_assert_int_eq(its.transport, RL_TCP);
    ck_assert_str_eq(its.password_env, "P");
    rl_config_free(&config);
}

TEST(sentinel, is_one_for_lines_that_reach_it_alike)
{
    ck_assert_msg(words("redis+sentinel://a,b,c/s redis+sentinel://b,a,d/t "
                        "redis+sentinel://a,b,c/v sentinel-password-env=A "
                        "rediss+sentinel://a,b,c/w") == 0,
                  "%s", error.text);
    const struct rl_node_config *n = config.nodes;
    ck_assert(rl_sentinels_alike(&n[0], 0, &n[1], 1));
    ck_assert(rl_sentinels_alike(&n[0], 1, &n[1], 0));
    ck_assert(!rl_sentinels_alike(&n[0], 0, &n[1], 0));
    ck_assert(!rl_sentinels_alike(&n[0], 0, &n[2], 0));
    ck_assert(!rl_sentinels_alike(&n[0], 0, &n[3], 0));
    rl_config_free(&config);
}

TEST(url, label_has_room_for_the_longest)
{
    static const char beginning[] = "redis+sentinel://";
    char url[RL_URL_MAX + 1] = "", text[2 * RL_URL_MAX];
    struct rl_node_config node = {.label = NULL};
    struct rl_problem problem = {.text = ""};
    size_t len = (size_t)snprintf(url, sizeof(url), "%s", beginning);
    for (int i = 0; i < 6; i++)
        len += (size_t)snprintf(url + len, sizeof(url) - len, "%s%c.%.*s", i ? "," : "", 'a' + i,
                                140, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
                                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa."
                                     "aaaaaaaaaaaaaaaaaa");
    memset(url + len, 's', RL_URL_MAX - len);
    url[len] = '/';
    len = len + 1 + RL_SERVICE_MAX < RL_URL_MAX ? len + 1 + RL_SERVICE_MAX : RL_URL_MAX;
    url[len] = '\0';
    ck_assert_msg(rl_url_parse(url, len, &node, &problem) == 0, "%s", problem.text);
    snprintf(text, sizeof(text), "%s", node.label);
    ck_assert_uint_eq(strlen(text), len + 6 * strlen(":26379"));
    rl_node_config_free(&node);
}
