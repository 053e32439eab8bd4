/* tags: valgrind source */
/* The node list file: what is read from it, and what it is by default. */
#include "config_auto.h"

#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rl_config config;
static redlock_error error;

static void parse_good(const char *text)
{
    int code = conf_parse(text, strlen(text), &config, &error);
    ck_assert_msg(code == 0, "%s", error.text);
}

TEST(read, test_defaults)
{
    parse_good("node redis://a\n");
    ck_assert_int_eq(config.max_ttl_ms, RL_DEFAULT_MAX_TTL_MS);
    ck_assert_int_eq(config.ttl_ms, RL_DEFAULT_TTL_MS);
    ck_assert_int_eq(config.node_timeout_ms, 0);
    ck_assert_int_eq(config.connect_timeout_ms, RL_DEFAULT_CONNECT_TIMEOUT_MS);
    ck_assert_int_eq(config.stall_limit_ms, RL_DEFAULT_STALL_LIMIT_MS);
    ck_assert_int_eq(config.linger_ms, RL_DEFAULT_LINGER_MS);
    ck_assert_int_eq(config.lock_delay_ms, 0);
    ck_assert_double_eq(config.drift_factor, RL_DEFAULT_DRIFT_FACTOR);
    ck_assert_int_eq(config.guard, RL_GUARD_ON);
    ck_assert_ptr_null(config.client_name);
    ck_assert_int_eq(config.background, REDLOCK_BACKGROUND_AUTO);
    ck_assert_int_eq(config.config_agreement, REDLOCK_AGREEMENT_OFF);
    ck_assert_int_eq(config.watch_wall_clock, REDLOCK_OFF);
    ck_assert_int_eq(config.fencing, REDLOCK_FENCING_CLOCK);
    ck_assert_ptr_null(config.status_prefix);
    ck_assert_ptr_null(config.status_kinds);
    ck_assert(!config.holds_password);
    ck_assert_str_eq(config.file, "n.conf");
    rl_config_free(&config);
    ck_assert_uint_eq(config.node_count, 0);
    ck_assert_ptr_null(config.nodes);
    ck_assert_ptr_null(config.file);
    ck_assert_int_eq(config.max_ttl_ms, RL_DEFAULT_MAX_TTL_MS);
}

TEST(read, test_every_setting)
{
    parse_good(CONF_EVERY "node redis://a\n");
    conf_expect_every(&config);
    ck_assert_int_eq(config.places[RL_SETTING_MAX_TTL].line, 1);
    ck_assert_int_eq(config.places[RL_SETTING_MAX_TTL].column, 9);
    ck_assert_int_eq(config.places[RL_SETTING_CLIENT_NAME].line, 9);
    rl_config_free(&config);
    ck_assert_ptr_null(config.client_name);
    ck_assert_int_eq(config.guard, RL_GUARD_ON);
    ck_assert_int_eq(config.background, REDLOCK_BACKGROUND_AUTO);
}

TEST(read, test_guard, .rows = 3)
{
    static const char *const texts[] = {"off", "on", "marker"};
    char list[64];
    snprintf(list, sizeof(list), "guard %s\nnode redis://a\n", texts[_i]);
    parse_good(list);
    ck_assert_int_eq(config.guard, _i);
    rl_config_free(&config);
}

static const struct {
    const char *text;
    int guard, fencing;
} failovers[] = {
    {"node redis://a failover=yes\n", RL_GUARD_MARKER, REDLOCK_FENCING_CLOCK},
    {"node redis://a\nnode redis://b failover=yes\n", RL_GUARD_MARKER, REDLOCK_FENCING_CLOCK},
    {"node redis://a failover=yes\nguard strict\n", RL_GUARD_STRICT, REDLOCK_FENCING_CLOCK},
    {"node redis://a failover=yes\nguard marker\n", RL_GUARD_MARKER, REDLOCK_FENCING_CLOCK},
    {"node redis://a failover=no\n", RL_GUARD_ON, REDLOCK_FENCING_CLOCK},
    {"node redis://a failover=no\nguard off\nfencing strict\n", RL_GUARD_OFF,
     REDLOCK_FENCING_STRICT},
};

/* A list with a master that may be replaced has a guard that sees it. */
TEST(read, guard_is_marker_where_replica_may_take_masters_place, .rows = ROWS(failovers))
{
    parse_good(failovers[_i].text);
    ck_assert_int_eq(config.guard, failovers[_i].guard);
    ck_assert_int_eq(config.fencing, failovers[_i].fencing);
    rl_config_free(&config);
}

TEST(read, test_agreement, .rows = 3)
{
    static const char *const texts[] = {"off", "warn", "refuse"};
    char list[64];
    snprintf(list, sizeof(list), "config-agreement %s\nnode redis://a\n", texts[_i]);
    parse_good(list);
    ck_assert_int_eq(config.config_agreement, REDLOCK_AGREEMENT_OFF + _i);
    rl_config_free(&config);
}

TEST(read, test_fencing, .rows = 2)
{
    static const char *const texts[] = {"clock", "strict"};
    char list[64];
    snprintf(list, sizeof(list), "fencing %s\nnode redis://a\n", texts[_i]);
    parse_good(list);
    ck_assert_int_eq(config.fencing, REDLOCK_FENCING_CLOCK + _i);
    rl_config_free(&config);
}

TEST(read, test_background)
{
    parse_good("node redis://a\nbackground auto\n");
    ck_assert_int_eq(config.background, REDLOCK_BACKGROUND_AUTO);
    rl_config_free(&config);
    parse_good("node redis://a\nbackground \"always\"\n");
    ck_assert_int_eq(config.background, REDLOCK_BACKGROUND_ALWAYS);
    rl_config_free(&config);
    parse_good("background never # nobody\nnode redis://a\n");
    ck_assert_int_eq(config.background, REDLOCK_BACKGROUND_NEVER);
    ck_assert_int_eq(config.places[RL_SETTING_BACKGROUND].column, 12);
    rl_config_free(&config);
}

/* The least and the most that each setting takes. */
TEST(read, test_limits)
{
    parse_good("node redis://a\nmax-ttl 10ms\nconnect-timeout 1ms\nstall-limit 1ms\n"
               "node-timeout 0\nlinger 0s\ndrift-factor 0\nguard on\nclient-name x\n");
    ck_assert_int_eq(config.max_ttl_ms, RL_TTL_MIN_MS);
    ck_assert_int_eq(config.ttl_ms, RL_TTL_MIN_MS);
    ck_assert_int_eq(config.linger_ms, 0);
    ck_assert_double_eq(config.drift_factor, 0.0);
    rl_config_free(&config);
    parse_good("node redis://a\nmax-ttl 7d\nttl 7d\nconnect-timeout 1h\nstall-limit 60m\n"
               "node-timeout 3600s\nlinger 3600000ms\ndrift-factor 0.999\nclient-name "
               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
    ck_assert_int_eq(config.ttl_ms, RL_TTL_LIMIT_MS);
    ck_assert_int_eq(config.node_timeout_ms, RL_TIMEOUT_LIMIT_MS);
    ck_assert_int_eq(config.linger_ms, RL_TIMEOUT_LIMIT_MS);
    ck_assert_uint_eq(strlen(config.client_name), RL_CLIENT_NAME_MAX);
    rl_config_free(&config);
}

static const struct {
    const char *text;
    double factor;
} factors[] = {
    {"0", 0.0},
    {"0.0", 0.0},
    {".5", 0.5},
    {"0.", 0.0},
    {"00.25", 0.25},
    {"0.01", 0.01},
    {"0.1", 0.1},
    {"0.3", 0.3},
    {"0.123456789012345", 0.123456789012345},
    {"0.999999999999999", 0.999999999999999},
};

TEST(read, test_factors, .rows = ROWS(factors))
{
    char text[128];
    snprintf(text, sizeof(text), "node redis://a\nmax-ttl 7d\nttl 7d\ndrift-factor %s\n",
             factors[_i].text);
    rl_config_init(&config);
    error = (redlock_error)REDLOCK_ERROR_INIT;
    ck_assert_int_eq(rl_config_parse(&config, "n.conf", text, strlen(text), NULL, &error), 0);
    ck_assert_double_eq(config.drift_factor, factors[_i].factor); /* to the last bit */
    rl_config_free(&config);
}

/* A ttl that nobody set follows a smaller max-ttl; it does not follow a larger one. */
TEST(read, test_ttl_follows)
{
    parse_good("node redis://a\nmax-ttl 3s\n");
    ck_assert_int_eq(config.ttl_ms, 3000);
    rl_config_free(&config);
    parse_good("node redis://a\nmax-ttl 1h\n");
    ck_assert_int_eq(config.ttl_ms, RL_DEFAULT_TTL_MS);
    rl_config_free(&config);
}

TEST(read, test_nodes)
{
    parse_good(
        "node redis://10.0.0.1:6379\n"
        "  node   rediss://locks@redis-2.example:6380/0\tpassword-file=/run/s ca-dir=/ca "
        "ca-file=/ca.pem cert-file=/c key-file=/k server-name=Redis.Example\n"
        "node unix:///run/r.sock password-env=_aAzZ09 # the last\n");
    ck_assert_uint_eq(config.node_count, 3);
    const struct rl_node_config *second = &config.nodes[1];
    ck_assert_str_eq(config.nodes[0].label, "redis://10.0.0.1:6379");
    ck_assert_int_eq(config.nodes[0].line, 1);
    ck_assert_int_eq(config.nodes[0].column, 6);
    ck_assert_int_eq(second->line, 2);
    ck_assert_int_eq(second->column, 10);
    ck_assert_int_eq(second->transport, RL_TLS);
    ck_assert_str_eq(second->password_file, "/run/s");
    ck_assert_str_eq(second->ca_dir, "/ca");
    ck_assert_str_eq(second->ca_file, "/ca.pem");
    ck_assert_str_eq(second->cert_file, "/c");
    ck_assert_str_eq(second->key_file, "/k");
    ck_assert_str_eq(second->server_name, "redis.example");
    ck_assert_str_eq(config.nodes[2].password_env, "_aAzZ09");
    ck_assert_ptr_null(config.nodes[2].password_file);
    ck_assert(!config.holds_password);
    rl_config_free(&config);
}

TEST(read, test_holds_password)
{
    parse_good("node redis://a\nnode redis://u:pw@b\nnode redis://c\n");
    ck_assert(config.holds_password);
    ck_assert_str_eq(config.nodes[1].password, "pw");
    ck_assert_str_eq(config.nodes[1].label, "redis://u@b:6379");
    rl_config_free(&config);
}

static const char *const forms[] = {
    "node redis://a\nttl 5s",       /* no newline at the end */
    "node redis://a\r\nttl 5s\r\n", /* from Windows */
    "node redis://a\r\nttl 5s\r",
    "\xef\xbb\xbfnode redis://a\nttl 5s\n", /* with its mark */
    "\n\n \t\n# x\nnode redis://a\n   ttl\t\t5s   \n\n",
    "node redis://a # caf\xc3\xa9 \"\nttl 5s #\n# ttl 6s\n",
    "node \"redis://a\" #\nttl \"5s\"\n",
    "\tnode\tredis://a\t\n\tttl\t5s\t# five\n",
};

TEST(read, test_forms, .rows = ROWS(forms))
{
    parse_good(forms[_i]);
    ck_assert_uint_eq(config.node_count, 1);
    ck_assert_int_eq(config.ttl_ms, 5000);
    rl_config_free(&config);
}

TEST(read, test_quotes)
{
    parse_good("node redis://a password-file=\"/a b/#c\\d\" # \"e\"\n"
               "node redis://b password-file=/x\"y\n");
    ck_assert_str_eq(config.nodes[0].password_file, "/a b/#c\\d");
    ck_assert_str_eq(config.nodes[1].password_file, "/x\"y");
    rl_config_free(&config);
}

TEST(read, test_most_nodes)
{
    char text[4096] = "";
    size_t len = 0;
    for (int i = 0; i < REDLOCK_NODES_MAX; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "node redis://n%d\n", i);
    parse_good(text);
    ck_assert_uint_eq(config.node_count, REDLOCK_NODES_MAX);
    ck_assert_str_eq(config.nodes[63].label, "redis://n63:6379");
    rl_config_free(&config);
    snprintf(text + len, sizeof(text) - len, "ttl 1s\n node redis://n64\n");
    ck_assert_int_eq(conf_parse(text, strlen(text), &config, &error), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text,
                     "n.conf:66:7: more than 64 nodes; a quorum is small: 3, 5 or 7");
}

/* The node list in the manual page is one. */
TEST(read, test_manual)
{
    static char page[65536];
    static const char begin[] = ".Sh EXAMPLES";
    const char *root = getenv("srcdir");
    char path[4096];
    snprintf(path, sizeof(path), "%s/man/redlock.conf.5", root ? root : ".");
    FILE *file = fopen(path, "r");
    ck_assert_msg(file != NULL, "%s: can't be opened; set srcdir", path);
    size_t len = fread(page, 1, sizeof(page) - 1, file);
    fclose(file);
    page[len] = '\0';
    char *text = strstr(page, begin);
    ck_assert_ptr_nonnull(text);
    text = strchr(strstr(text, ".Bd"), '\n') + 1;
    strstr(text, ".Ed")[0] = '\0';
    parse_good(text);
    ck_assert_uint_eq(config.node_count, 5);
    ck_assert_int_eq(config.max_ttl_ms, 30000);
    rl_config_free(&config);
}

/* What looks the same and is not. */
TEST(read, test_not_twice)
{
    parse_good("node redis://a:1\nnode redis://a:2\nnode redis://b:1\nnode unix:///a\n"
               "node unix:///A\nnode redis://[::1]:1\nnode redis://[::2]:1\n"
               "node redis://[fe80::1%25a]\nnode redis://[fe80::1%25b]\n");
    ck_assert_uint_eq(config.node_count, 9);
    rl_config_free(&config);
}
