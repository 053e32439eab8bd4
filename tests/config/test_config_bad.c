/* The node list file: all that can be wrong with it, each with its place and reason. */
#include "config_auto.h"

#include "conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rl_config config;
static redlock_error error;

static int parse_n(const char *text, size_t len)
{
    return conf_parse(text, len, &config, &error);
}

static const struct {
    const char *text;
    int line;
    int column;
    const char *wrong; /* in the text */
} bad[] = {
    /* no nodes */
    {"", 1, 1, "no node; add a line"},
    {"\n", 1, 1, "no node"},
    {"# node redis://a\n", 1, 1, "no node"},
    {"\r\n\r\n", 1, 1, "no node"},
    {"x", 1, 1, "unknown directive"},
    {"ttl 5s\n", 1, 1, "no node"},
    /* directives */
    {"nod redis://a\n", 1, 1, "unknown directive; did you mean node?"},
    {"\n  max_ttl 5s\n", 2, 3, "did you mean max-ttl?"},
    {"Guard off\n", 1, 1, "did you mean guard?"},
    {"status 5s\n", 1, 1, "did you mean status-prefix?"},
    {"stat 5s\n", 1, 1, "unknown directive; known are"}, /* half a word means nothing */
    {"connection-timeout 5s\n", 1, 1, "did you mean connect-timeout?"},
    {"port 6379\n", 1, 1,
     "unknown directive; known are node, max-ttl, ttl, node-timeout, connect-timeout, "
     "stall-limit, linger, drift-factor, guard, client-name, background, lock-delay, "
     "config-agreement, watch-wall-clock, fencing, status-prefix, status-kinds"},
    {"\"node\" redis://a\n", 1, 1, "unknown directive"},
    {"{\n", 1, 1, "unknown directive; known are"},
    {"redis://a\n", 1, 1, "write node in front of it"},
    {"node redis://a\ndurable on\n", 2, 1,
     "durable has been taken back: a restarted master always waits for max-ttl; remove this"},
    {"durabl on\n", 1, 1, "unknown directive; known are"},
    {"max-ttl=5s\n", 1, 8, "no '=' here"},
    {"max-ttl = 5s\n", 1, 9, "no '=' here"},
    {"password-file=/x\n", 1, 1, "option of a node; it stands on the node's line"},
    {"ca-file /x\n", 1, 1, "option of a node"},
    {"port=6379\n", 1, 1, "unknown directive; known are"},
    /* values */
    {"ttl\n", 1, 4, "ttl needs a value"},
    {"  ttl  \n", 1, 6, "ttl needs a value"},
    {"ttl # 5s\n", 1, 4, "ttl needs a value"},
    {"ttl 5s 6s\n", 1, 8, "ttl takes one value"},
    {"ttl 5 s\n", 1, 5, "has no unit"},
    {"ttl \"5s\n", 1, 5, "quote is not closed"},
    {"ttl \"\n", 1, 5, "quote is not closed"},
    {"ttl \"5s\"6\n", 1, 9, "blank after the closing quote"},
    {"ttl \"5s\"#6\n", 1, 9, "blank after the closing quote"},
    {"ttl \"\"\n", 1, 6, "not a duration"},
    {"ttl 5s\nttl 5s\n", 2, 1, "ttl stands in line 1 already"},
    {"node redis://a\nguard on\n\n guard on\n", 4, 2, "guard stands in line 2 already"},
    {"ttl 30\n", 1, 5, "has no unit; write ms, s, m, h or d"},
    {"ttl x\n", 1, 5, "not a duration"},
    {"ttl 5s#\n", 1, 5, "not a duration"}, /* a comment begins where a word could */
    {"ttl -5s\n", 1, 5, "can't be negative"},
    {"ttl 0\n", 1, 5, "ttl is out of range; it goes from 10ms to 7d"},
    {"ttl 0s\n", 1, 5, "ttl is out of range"},
    {"ttl 9ms\n", 1, 5, "ttl is out of range"},
    {"max-ttl 9ms\n", 1, 9, "max-ttl is out of range; it goes from 10ms to 7d"},
    {"max-ttl 604800001ms\n", 1, 9, "max-ttl is out of range"},
    {"max-ttl 8d\n", 1, 9, "max-ttl is out of range"},
    {"connect-timeout 0s\n", 1, 17, "connect-timeout is out of range; it goes from 1ms to 1h"},
    {"stall-limit 61m\n", 1, 13, "stall-limit is out of range; it goes from 1ms to 1h"},
    {"node-timeout 2h\n", 1, 14, "node-timeout is out of range; it goes from 0s to 1h"},
    {"lock-delay 8d\n", 1, 12, "lock-delay is out of range; it goes from 0s to 604799990ms"},
    {"lock-delay -1\n", 1, 12, "negative"},
    {"linger 1d\n", 1, 8, "linger is out of range; it goes from 0s to 1h"},
    {"linger -1\n", 1, 8, "negative"},
    {"drift-factor 1\n", 1, 14, "from 0 to below 1"},
    {"drift-factor 1.0\n", 1, 14, "from 0 to below 1"},
    {"drift-factor -0.1\n", 1, 14, "from 0 to below 1"},
    {"drift-factor .\n", 1, 14, "from 0 to below 1"},
    {"drift-factor \"\"\n", 1, 15, "from 0 to below 1"},
    {"drift-factor 0,01\n", 1, 14, "from 0 to below 1"},
    {"drift-factor 1e-2\n", 1, 14, "from 0 to below 1"},
    {"drift-factor 0.0.1\n", 1, 14, "from 0 to below 1"},
    {"drift-factor 0.1234567890123456\n", 1, 14, "from 0 to below 1"},
    {"drift-factor nan\n", 1, 14, "from 0 to below 1"},
    {"drift-factor 1%\n", 1, 14, "from 0 to below 1"},
    {"guard yes\n", 1, 7, "guard is on, off, marker or strict"},
    {"guard ON\n", 1, 7, "guard is on, off, marker or strict"},
    {"guard offf\n", 1, 7, "guard is on, off, marker or strict"},
    {"guard marke\n", 1, 7, "guard is on, off, marker or strict"},
    {"config-agreement yes\n", 1, 18, "config-agreement is off, warn or refuse"},
    {"config-agreement Warn\n", 1, 18, "config-agreement is off, warn or refuse"},
    {"config-agreement refus\n", 1, 18, "config-agreement is off, warn or refuse"},
    {"watch-wall-clock yes\n", 1, 18, "watch-wall-clock is on or off"},
    {"watch-wall-clock \"\"\n", 1, 19, "watch-wall-clock is on or off"},
    {"config-agreement \"\"\n", 1, 19, "config-agreement is off, warn or refuse"},
    {"fencing on\n", 1, 9, "fencing is clock or strict"},
    {"fencing Strict\n", 1, 9, "fencing is clock or strict"},
    {"fencing \"\"\n", 1, 10, "fencing is clock or strict"},
    {"backgroud never\n", 1, 1, "did you mean background?"},
    {"background\n", 1, 11, "background needs a value"},
    {"background on\n", 1, 12, "background is auto, always or never"},
    {"background Never\n", 1, 12, "background is auto, always or never"},
    {"  background  neve\n", 1, 15, "background is auto, always or never"},
    {"background autoo\n", 1, 12, "background is auto, always or never"},
    {"background \"\"\n", 1, 13, "background is auto, always or never"},
    {"background 1\n", 1, 12, "background is auto, always or never"},
    {"background auto never\n", 1, 17, "background takes one value"},
    {"background auto\nbackground auto\n", 2, 1, "background stands in line 1 already"},
    {"client-name a/b\n", 1, 14, "letters, digits and . _ : @ - only"},
    {"client-name a[b\n", 1, 14, "letters, digits and . _ : @ - only"},
    {"client-name a{b\n", 1, 14, "letters, digits and . _ : @ - only"},
    {"client-name \"a b\"\n", 1, 15, "letters, digits and"},
    {"client-name caf\xc3\xa9\n", 1, 16, "letters, digits and"},
    {"status-prefix \"\"\n", 1, 16, "status-prefix is empty; give it 1 to 256 bytes"},
    {"status-kinds a b\n", 1, 16, "status-kinds takes one value"},
    {"client-name \"\"\n", 1, 14, "client-name is empty"},
    {"client-name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 1, 76,
     "client-name has at most 63 bytes"},
    /* nodes */
    {"node\n", 1, 5, "node needs a URL"},
    {" node # redis://a\n", 1, 6, "node needs a URL"},
    {"node \"redis://a\n", 1, 6, "quote is not closed"},
    {"node \"redis://a\"ttl\n", 1, 17, "blank after the closing quote"},
    {"node localhost\n", 1, 6, "not a URL of a master"},
    {"node redis://a:x\n", 1, 16, "port is a number"},
    {"\tnode \"redis://a b\"\n", 1, 17, "%20"},
    {"node redis://a#1\n", 1, 15, "%23"},
    {"node redis://a redis://b\n", 1, 16,
     "unknown option of a node; known are password-file=, "
     "password-env=, ca-file=, ca-dir=, cert-file=, key-file=, server-name=, "
     "failover=, sentinel-user=, sentinel-password-file=, sentinel-password-env=, "
     "sentinel-tls="},
    {"node redis://a passwordfile=/x\n", 1, 16, "did you mean password-file=?"},
    {"node redis://a password=x\n", 1, 16, "did you mean password-file=?"},
    {"node redis://a password-file\n", 1, 29,
     "password-file needs a value; write "
     "password-file=VALUE"},
    {"node redis://a password-file =/x\n", 1, 29, "needs a value"},
    {"node redis://a password-file= /x\n", 1, 30, "password-file is empty"},
    {"node redis://a password-file=\"\"\n", 1, 31, "password-file is empty"},
    {"node redis://a password-file=\"/x\n", 1, 30, "quote is not closed"},
    {"node redis://a password-file=\"/x\"y\n", 1, 34, "blank after the closing quote"},
    {"node redis://a \"password-file=/x\"\n", 1, 16, "quote the value alone"},
    {"node redis://a =x\n", 1, 16, "unknown option of a node"},
    {"node redis://a password-env=A password-env=B\n", 1, 31,
     "password-env stands on this line"},
    {"node redis://a password-env=1A\n", 1, 29, "give the name, not the password"},
    {"node redis://a password-env=$A\n", 1, 29, "name of an environment variable"},
    {"node redis://a password-env=A-B\n", 1, 30, "name of an environment variable"},
    {"node redis://a password-env=A[B\n", 1, 30, "name of an environment variable"},
    {"node redis://a password-env=A{B\n", 1, 30, "name of an environment variable"},
    {"node rediss://a server-name=a_b!\n", 1, 32, "host name has letters"},
    {"node redis://a failover=maybe\n", 1, 25, "write yes where a replica may take"},
    {"node redis://a failover=yes-no\n", 1, 25, "no where none ever does"},
    {"guard on\nnode redis://a failover=yes\n", 1, 7, "write guard marker or guard strict"},
    {"node redis://a\nnode redis://b failover=yes\nguard off\n", 3, 7, "write guard marker or"},
    {"node redis://a failover=yes\nfencing strict\n", 2, 9, "write fencing clock"},
    {"node redis://:p@a password-file=/x\n", 1, 19, "the URL has a password already"},
    {"node redis://:p@a password-env=X\n", 1, 19, "the URL has a password already"},
    {"node redis://a password-env=X password-file=/x\n", 1, 16, "both give a password"},
    {"node redis://a ca-file=/x\n", 1, 16, "ca-file is for TLS"},
    {"node redis://a ca-dir=/x\n", 1, 16, "ca-dir is for TLS"},
    {"node unix:///a cert-file=/x key-file=/x\n", 1, 16, "cert-file is for TLS"},
    {"node unix:///a key-file=/x\n", 1, 16, "key-file is for TLS"},
    {"node redis://a server-name=x\n", 1, 16, "write rediss://, or leave server-name out"},
    {"node rediss://a ca-dir=/c cert-file=/x\n", 1, 27, "cert-file without key-file"},
    {"node rediss://a ca-file=/c cert-file=/x\n", 1, 28, "cert-file without key-file"},
    {"node rediss://a key-file=/x\n", 1, 17, "key-file without cert-file"},
    /* the same node twice */
    {"node redis://a\nnode redis://a\n", 2, 6, "stands in line 1 already"},
    {"node redis://a\nnode redis://b\n node redis://A:6379\n", 3, 7, "in line 1 already"},
    {"node redis://a/1\nnode redis://u:p@a/2\n", 2, 6, "whatever user or database"},
    {"node redis://a\nnode rediss://a\n", 2, 6, "in line 1 already"},
    {"node redis://a\nnode redis://a.\n", 2, 6, "in line 1 already"},
    {"node redis://[::1]:1\nnode redis://[0::1]:1\n", 2, 6, "in line 1 already"},
    {"node unix:///a\nnode unix:////a?db=1\n", 2, 6, "in line 1 already"},
    /* TTLs together */
    {"node redis://a\nttl 31s\n", 2, 5, "ttl is above max-ttl, which is 30s by default"},
    {"node redis://a\nmax-ttl 5s\nttl 6s\n", 3, 5, "ttl is above max-ttl, which is 5s;"},
    {"ttl 6s\nnode redis://a\nmax-ttl 5s\n", 1, 5, "ttl is above max-ttl"},
    {"node redis://a\nttl 6s\nmax-ttl 9s\nlock-delay 3001ms\n", 2, 5,
     "ttl and lock-delay together are above max-ttl, which is 9s; make ttl shorter"},
    {"node redis://a\nlock-delay 29991ms\n", 2, 12,
     "lock-delay leaves no ttl below max-ttl, which is 30s by default; make lock-delay "
     "shorter"},
    {"node redis://a\nttl 10ms\ndrift-factor 0.8\n", 2, 5, "ttl 10ms leaves nothing"},
    {"node redis://a\nttl 10ms\ndrift-factor 0.79999995\n", 2, 5, "ttl 10ms leaves nothing"},
    {"node redis://a\nmax-ttl 10ms\ndrift-factor 0.8\n", 2, 9, "max-ttl 10ms leaves nothing"},
    {"node redis://a\ndrift-factor 0.9999\n", 2, 14, "ttl 10s leaves nothing"},
    {"node redis://a\ndrift-factor 0.99999\n", 2, 14, "max-ttl 30s leaves nothing"},
    /* bytes */
    {"node redis://a\x01\n", 1, 15, "a byte that is no text (0x01)"},
    {"nod\n\n ttl\v5s\n", 3, 5, "a byte that is no text (0x0b)"},
    {"node redis://a\n# \x7f\n", 2, 3, "a byte that is no text (0x7f)"},
    {"node redis://a\rnode redis://b\n", 1, 15, "a byte that is no text (0x0d)"},
    {"\xef\xbb\xbfnod\n", 1, 1, "did you mean node?"},
    {"\xff\xfen\n", 1, 1, "unknown directive"},
};

TEST(refused, test_bad, .rows = ROWS(bad))
{
    ck_assert_int_eq(parse_n(bad[_i].text, strlen(bad[_i].text)), REDLOCK_ECONFIG);
    conf_expect_error(&error, "n.conf", bad[_i].line, bad[_i].column, bad[_i].wrong);
    rl_config_free(&config);
}

/* After an error nothing is left of what was read before it. */
TEST(refused, test_bad_leaves_nothing)
{
    rl_config_init(&config);
    error = (redlock_error)REDLOCK_ERROR_INIT;
    static const char text[] = "node redis://:p@a\nguard off\nclient-name x\nttl 5s\nwhat\n";
    ck_assert_int_eq(rl_config_parse(&config, "n", text, strlen(text), NULL, &error),
                     REDLOCK_ECONFIG);
    ck_assert_uint_eq(config.node_count, 0);
    ck_assert_ptr_null(config.nodes);
    ck_assert_ptr_null(config.file);
    ck_assert_ptr_null(config.client_name);
    ck_assert(config.guard && !config.holds_password);
    ck_assert_int_eq(config.ttl_ms, RL_DEFAULT_TTL_MS);
    ck_assert_int_eq(config.places[RL_SETTING_TTL].line, 0);
}

TEST(refused, test_nul)
{
    static const char text[] = "node redis://a\nttl 5\0s\n";
    ck_assert_int_eq(parse_n(text, sizeof(text) - 1), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "n.conf:2:6: a byte that is no text (0x00)"));
}

TEST(refused, test_long_line)
{
    static char text[RL_LINE_MAX + 64];
    static const char node[] = "node redis://a #";
    memset(text, 'x', sizeof(text));
    memcpy(text, node, strlen(node));
    ck_assert_int_eq(parse_n(text, RL_LINE_MAX), 0);
    rl_config_free(&config);
    ck_assert_int_eq(parse_n(text, RL_LINE_MAX + 1), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text,
                     "n.conf:1:8193: the line is too long; a line has at most 8192 bytes");
}

TEST(refused, test_long_file)
{
    static char text[RL_FILE_MAX + 1];
    memset(text, '\n', sizeof(text));
    memcpy(text, "node redis://a", 14);
    ck_assert_int_eq(parse_n(text, RL_FILE_MAX), 0);
    rl_config_free(&config);
    ck_assert_int_eq(parse_n(text, RL_FILE_MAX + 1), REDLOCK_ECONFIG);
    ck_assert_str_eq(error.text,
                     "n.conf: too long for a node list; it has at most 65536 bytes");
    ck_assert_int_eq(error.line, 0);
}

/* Paths and names of variables, at the limit and above. */
TEST(refused, test_long_fields)
{
    static const struct {
        const char *before;
        size_t max;
        const char *wrong;
    } fields[] = {
        {"node redis://a password-file=", RL_PATH_LIMIT, "path has at most 4095 bytes"},
        {"node redis://a password-env=", RL_USER_MAX, "variable has at most 128 bytes"},
    };
    static char text[8192];
    for (int i = 0; i < ROWS(fields); i++) {
        size_t len = strlen(fields[i].before);
        memset(text, 'x', sizeof(text));
        memcpy(text, fields[i].before, len);
        ck_assert_msg(parse_n(text, len + fields[i].max) == 0, "%s", error.text);
        rl_config_free(&config);
        ck_assert_int_eq(parse_n(text, len + fields[i].max + 1), REDLOCK_ECONFIG);
        ck_assert_msg(strstr(error.text, fields[i].wrong), "%s", error.text);
        ck_assert_int_eq(error.column, (int)(len + fields[i].max) + 1);
    }
}

/* Ten megabytes of a node list: refused before anything is read. */
TEST(refused, test_huge)
{
    size_t size = 10 << 20;
    char *text = malloc(size);
    ck_assert_ptr_nonnull(text);
    memset(text, 'n', size);
    ck_assert_int_eq(parse_n(text, size), REDLOCK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(error.text, "too long"));
    free(text);
}
