/* A configuration built in code: nodes, and settings that override the file's. */
#include "config_auto.h"

#include "conf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rl_config config;
static redlock_error error;

static void begin(void)
{
    rl_config_init(&config);
    error = (redlock_error)REDLOCK_ERROR_INIT;
}

/* ---- nodes ---------------------------------------------------------------------------- */

TEST(nodes, test_node)
{
    begin();
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "rediss://u@Redis.Example:1/2";
    node.password_file = "secrets/redis";
    node.ca_file = "/ca.pem";
    node.ca_dir = "/ca";
    node.cert_file = "/cert";
    node.key_file = "/key";
    node.server_name = "redis-2.example";
    node.failover = "no";
    ck_assert_int_eq(rl_config_add_node(&config, &node, 0, &error), 0);
    redlock_node second = REDLOCK_NODE_INIT;
    second.url = "unix:///run/r.sock";
    second.password_env = "REDIS_PASSWORD";
    ck_assert_int_eq(rl_config_add_node(&config, &second, 1, &error), 0);
    ck_assert_int_eq(rl_config_check(&config, &error), 0);
    const struct rl_node_config *built = &config.nodes[0];
    ck_assert_uint_eq(config.node_count, 2);
    ck_assert_str_eq(built->label, "rediss://u@redis.example:1/2");
    ck_assert_int_eq(built->line, 0);
    ck_assert_str_eq(built->password_file, "secrets/redis");
    ck_assert_str_eq(built->ca_file, "/ca.pem");
    ck_assert_str_eq(built->ca_dir, "/ca");
    ck_assert_str_eq(built->cert_file, "/cert");
    ck_assert_str_eq(built->key_file, "/key");
    ck_assert_str_eq(built->server_name, "redis-2.example");
    ck_assert_str_eq(built->failover, "no");
    ck_assert_str_eq(config.nodes[1].password_env, "REDIS_PASSWORD");
    rl_config_free(&config);
}

/* A password in code is nothing that others could read in a file. */
TEST(nodes, test_password_in_code)
{
    begin();
    redlock_node node = REDLOCK_NODE_INIT;
    node.url = "redis://:pw@a";
    ck_assert_int_eq(rl_config_add_node(&config, &node, 0, &error), 0);
    ck_assert_str_eq(config.nodes[0].password, "pw");
    ck_assert(!config.holds_password);
    rl_config_free(&config);
}

static const struct {
    redlock_node node;
    const char *text;
} bad_nodes[] = {
    {{.url = NULL}, "nodes[7].url: is NULL; write for example redis://10.0.0.1:6379"},
    {{.url = ""},
     "nodes[7].url: the URL is empty; write redis://host:port, rediss://host:port or "
     "unix:///path of a socket"},
    {{.url = "redis://a:x"},
     "nodes[7].url: the port is a number from 1 to 65535, as in localhost:6379 (at its byte "
     "11)"},
    {{.url = "redis://a", .ca_file = "/x"},
     "nodes[7].ca_file: ca-file is for TLS, and this node has none; write rediss://, or leave "
     "ca-file out"},
    {{.url = "redis://a", .password_file = ""},
     "nodes[7].password_file: password-file is empty; give it a value or leave it out"},
    {{.url = "rediss://a", .cert_file = "/x"},
     "nodes[7].cert_file: cert-file without key-file; give the private key of the certificate "
     "as well"},
    {{.url = "redis://:p@a", .password_env = "P"},
     "nodes[7].password_env: the URL has a password already; keep password-env and take the "
     "one in the URL out"},
    {{.url = "rediss://a", .server_name = "a b"},
     "nodes[7].server_name: a host name has letters, digits, '-', '_' and '.' only; write "
     "others in their ASCII form (xn--...) (at its byte 2)"},
};

TEST(nodes, test_bad_node, .rows = ROWS(bad_nodes))
{
    begin();
    ck_assert_int_eq(rl_config_add_node(&config, &bad_nodes[_i].node, 7, &error),
                     REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text, bad_nodes[_i].text);
    ck_assert_int_eq(error.code, REDLOCK_ECONFIG);
    ck_assert_int_eq(error.line, 0);
    ck_assert_int_eq(error.column, 0);
    ck_assert_uint_eq(config.node_count, 0);
    rl_config_free(&config);
}

TEST(nodes, test_too_many)
{
    begin();
    for (int i = 0; i <= REDLOCK_NODES_MAX; i++) {
        char url[32];
        snprintf(url, sizeof(url), "redis://n%d", i);
        redlock_node node = REDLOCK_NODE_INIT;
        node.url = url;
        ck_assert_int_eq(rl_config_add_node(&config, &node, (size_t)i, &error),
                         i < REDLOCK_NODES_MAX ? 0 : REDLOCK_ECONFIG);
    }
    ck_assert_str_eq(error.text, "nodes[64]: more than 64 nodes; a quorum is small: 3, 5 or 7");
    rl_config_free(&config);
}

/* The same node in the file and in code, and twice in code. */
TEST(nodes, test_twice)
{
    static const char text[] = "\nnode redis://a\n";
    redlock_node node = REDLOCK_NODE_INIT;
    begin();
    ck_assert_int_eq(rl_config_parse(&config, "n.conf", text, strlen(text), NULL, &error), 0);
    node.url = "redis://:secret@a";
    ck_assert_int_eq(rl_config_add_node(&config, &node, 0, &error), 0);
    ck_assert_int_eq(rl_config_check(&config, &error), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text,
                     "redis://a:6379: this node, number 2, stands in line 2 already; it would "
                     "have two votes; list each master once, whatever user or database");
    rl_config_free(&config);
    begin();
    node.url = "unix:///x";
    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(rl_config_add_node(&config, &node, i, &error), 0);
    ck_assert_int_eq(rl_config_check(&config, &error), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "number 2, stands as node 1 already"));
    rl_config_free(&config);
}

TEST(nodes, test_no_nodes)
{
    begin();
    ck_assert_int_eq(rl_config_check(&config, &error), REDLOCK_ECONFIG);
    ck_assert_ptr_eq(strstr(error.text, "no node; add a line"), error.text);
    ck_assert_int_eq(error.line, 0);
    ck_assert_int_eq(error.column, 0);
}

/* ---- settings ------------------------------------------------------------------------- */

/* On top of a file that sets them all. */
static void override(const redlock_config *from, int expected)
{
    static const char text[] = "node redis://a\n" CONF_EVERY;
    begin();
    ck_assert_int_eq(rl_config_parse(&config, "n.conf", text, strlen(text), NULL, &error), 0);
    ck_assert_int_eq(rl_config_override(&config, from, &error), expected);
}

TEST(settings, test_override_nothing)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    override(&from, 0);
    conf_expect_every(&config);
    for (int i = 0; i < RL_SETTING_COUNT; i++)
        ck_assert(!config.places[i].in_code && config.places[i].line > 0);
    rl_config_free(&config);
}

TEST(settings, test_override_all)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.max_ttl_ms = 60000;
    from.ttl_ms = 5000;
    from.node_timeout_ms = 100;
    from.connect_timeout_ms = 200;
    from.stall_limit_ms = 300;
    from.linger_ms = 400;
    from.lock_delay_ms = 50;
    from.drift_factor = 0.5;
    from.guard = REDLOCK_ON;
    from.client_name = "code";
    from.background = REDLOCK_BACKGROUND_ALWAYS;
    from.config_agreement = REDLOCK_AGREEMENT_REFUSE;
    from.watch_wall_clock = REDLOCK_ON;
    from.fencing = REDLOCK_FENCING_STRICT;
    override(&from, 0);
    ck_assert_int_eq(config.max_ttl_ms, 60000);
    ck_assert_int_eq(config.ttl_ms, 5000);
    ck_assert_int_eq(config.node_timeout_ms, 100);
    ck_assert_int_eq(config.connect_timeout_ms, 200);
    ck_assert_int_eq(config.stall_limit_ms, 300);
    ck_assert_int_eq(config.linger_ms, 400);
    ck_assert_int_eq(config.lock_delay_ms, 50);
    ck_assert_double_eq(config.drift_factor, 0.5);
    ck_assert_int_eq(config.guard, RL_GUARD_ON);
    ck_assert_str_eq(config.client_name, "code");
    ck_assert_int_eq(config.background, REDLOCK_BACKGROUND_ALWAYS);
    ck_assert_int_eq(config.config_agreement, REDLOCK_AGREEMENT_REFUSE);
    ck_assert_int_eq(config.watch_wall_clock, REDLOCK_ON);
    ck_assert_int_eq(config.fencing, REDLOCK_FENCING_STRICT);
    ck_assert(config.places[RL_SETTING_TTL].in_code);
    rl_config_free(&config);
    from = (redlock_config)REDLOCK_CONFIG_INIT;
    from.linger_ms = -1;
    from.guard = REDLOCK_OFF;
    from.drift_factor = 0.001;
    override(&from, 0);
    ck_assert_int_eq(config.linger_ms, 0);
    ck_assert_double_eq(config.drift_factor, 0.001);
    ck_assert_int_eq(config.guard, RL_GUARD_OFF);
    rl_config_free(&config);
    from = (redlock_config)REDLOCK_CONFIG_INIT;
    from.guard = REDLOCK_GUARD_MARKER;
    override(&from, 0);
    ck_assert_int_eq(config.guard, RL_GUARD_MARKER);
    rl_config_free(&config);
    from = (redlock_config)REDLOCK_CONFIG_INIT;
    from.guard = REDLOCK_GUARD_STRICT;
    override(&from, 0);
    ck_assert_int_eq(config.guard, RL_GUARD_STRICT);
    rl_config_free(&config);
}

static const struct {
    redlock_config from;
    const char *text;
} bad_settings[] = {
    {{.ttl_ms = -1},
     "redlock_config.ttl_ms: can't be negative; give milliseconds, or 0 for the default"},
    {{.ttl_ms = 9}, "redlock_config.ttl_ms: ttl is out of range; it goes from 10ms to 7d"},
    {{.max_ttl_ms = INT64_MIN},
     "redlock_config.max_ttl_ms: can't be negative; give milliseconds, or 0 for the default"},
    {{.max_ttl_ms = INT64_MAX},
     "redlock_config.max_ttl_ms: max-ttl is out of range; it goes from 10ms to 7d"},
    {{.node_timeout_ms = 3600001},
     "redlock_config.node_timeout_ms: node-timeout is out of range; it goes from 0s to 1h"},
    {{.connect_timeout_ms = -1},
     "redlock_config.connect_timeout_ms: can't be negative; give milliseconds, or 0 for the "
     "default"},
    {{.stall_limit_ms = 3600001},
     "redlock_config.stall_limit_ms: stall-limit is out of range; it goes from 1ms to 1h"},
    {{.linger_ms = -2},
     "redlock_config.linger_ms: can't be negative; give milliseconds, or -1 for none"},
    {{.lock_delay_ms = -1},
     "redlock_config.lock_delay_ms: can't be negative; give milliseconds, or 0 for the "
     "default"},
    {{.linger_ms = 3600001},
     "redlock_config.linger_ms: linger is out of range; it goes from 0s to 1h"},
    {{.drift_factor = 1.0},
     "redlock_config.drift_factor: drift-factor is a number from 0 to below 1, for example "
     "0.01"},
    {{.drift_factor = -0.1},
     "redlock_config.drift_factor: drift-factor is a number from 0 to below 1, for example "
     "0.01"},
    {{.drift_factor = NAN},
     "redlock_config.drift_factor: drift-factor is a number from 0 to below 1, for example "
     "0.01"},
    {{.drift_factor = INFINITY},
     "redlock_config.drift_factor: drift-factor is a number from 0 to below 1, for example "
     "0.01"},
    {{.guard = 5},
     "redlock_config.guard: is REDLOCK_ON, REDLOCK_OFF, REDLOCK_GUARD_MARKER, _STRICT or "
     "REDLOCK_DEFAULT (as the file says)"},
    {{.guard = -1},
     "redlock_config.guard: is REDLOCK_ON, REDLOCK_OFF, REDLOCK_GUARD_MARKER, _STRICT or "
     "REDLOCK_DEFAULT (as the file says)"},
    {{.config_agreement = REDLOCK_AGREEMENT_REFUSE + 1},
     "redlock_config.config_agreement: is REDLOCK_AGREEMENT_OFF, _WARN or _REFUSE, or 0 (as "
     "the file says)"},
    {{.config_agreement = -1},
     "redlock_config.config_agreement: is REDLOCK_AGREEMENT_OFF, _WARN or _REFUSE, or 0 (as "
     "the file says)"},
    {{.watch_wall_clock = REDLOCK_OFF + 1},
     "redlock_config.watch_wall_clock: is REDLOCK_ON or REDLOCK_OFF, or 0 (as the file says)"},
    {{.watch_wall_clock = -1},
     "redlock_config.watch_wall_clock: is REDLOCK_ON or REDLOCK_OFF, or 0 (as the file says)"},
    {{.fencing = REDLOCK_FENCING_STRICT + 1},
     "redlock_config.fencing: is REDLOCK_FENCING_CLOCK or _STRICT, or 0 (as the file says)"},
    {{.fencing = -1},
     "redlock_config.fencing: is REDLOCK_FENCING_CLOCK or _STRICT, or 0 (as the file says)"},
    {{.client_name = ""},
     "redlock_config.client_name: client-name is empty; give it 1 to 63 bytes, or leave it "
     "out"},
    {{.client_name = "a b"},
     "redlock_config.client_name: client-name has letters, digits and . _ : @ - only"},
};

TEST(settings, test_bad_setting, .rows = ROWS(bad_settings))
{
    override(&bad_settings[_i].from, REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text, bad_settings[_i].text);
    ck_assert_int_eq(error.line, 0);
    ck_assert_int_eq(error.code, REDLOCK_ECONFIG);
    rl_config_free(&config);
}

/* One of the two TTLs from the file and one from code: the ttl is to blame, where it is. */
TEST(settings, test_ttls_of_both)
{
    redlock_config from = REDLOCK_CONFIG_INIT;
    from.max_ttl_ms = 1000;
    override(&from, 0);
    ck_assert_int_eq(rl_config_check(&config, &error), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text, "n.conf:3:5: ttl is above max-ttl, which is 1s; make ttl "
                                 "shorter, or max-ttl longer in every client");
    rl_config_free(&config);
    from = (redlock_config)REDLOCK_CONFIG_INIT;
    from.ttl_ms = 20001;
    override(&from, 0);
    ck_assert_int_eq(rl_config_check(&config, &error), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "redlock_config.ttl_ms: ttl is above max-ttl"));
    rl_config_free(&config);
    from = (redlock_config)REDLOCK_CONFIG_INIT;
    from.drift_factor = 0.9999;
    from.ttl_ms = 10;
    override(&from, 0);
    ck_assert_int_eq(rl_config_check(&config, &error), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "n.conf:2:9: max-ttl 20s leaves nothing"));
    rl_config_free(&config);
}
