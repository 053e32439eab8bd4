/* Host names and addresses: checked, and compared. */
#include "config_auto.h"

#include "config/host.h"
#include "base/limits.h"
#include "suite.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    const char *host;
} good[] = {
    {"a", "a"},
    {"localhost", "localhost"},
    {"Redis-1.Example.COM", "redis-1.example.com"},
    {"redis_1", "redis_1"},
    {"aAzZ.09", "aazz.09"},
    {"example.com.", "example.com."},
    {"xn--caf-dma.example", "xn--caf-dma.example"},
    {"1.example", "1.example"},
    {"10.0.0.1a", "10.0.0.1a"},
    {"-", "-"},
    {"0.0.0.0", "0.0.0.0"},
    {"255.255.255.255", "255.255.255.255"},
    {"::", "::"},
    {"::1", "::1"},
    {"1::", "1::"},
    {"2001:DB8::A", "2001:db8::a"},
    {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
    {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7::"},
    {"::2:3:4:5:6:7:8", "::2:3:4:5:6:7:8"},
    {"0001:0000::ffff", "0001:0000::ffff"},
    {"::ffff:10.0.0.1", "::ffff:10.0.0.1"},
    {"::10.0.0.1", "::10.0.0.1"},
    {"1:2:3:4:5:6:10.0.0.1", "1:2:3:4:5:6:10.0.0.1"},
    {"FE80::1%Eth0", "fe80::1%Eth0"},
    {"fe80::1%vlan.7-b_c", "fe80::1%vlan.7-b_c"},
};

TEST(check, test_good, .rows = ROWS(good))
{
    char *host = NULL;
    struct rl_problem problem = {.text = ""};
    int code = rl_host_parse(good[_i].text, strlen(good[_i].text), &host, &problem);
    ck_assert_msg(code == 0, "%s: %s", good[_i].text, problem.text);
    ck_assert_str_eq(host, good[_i].host);
    ck_assert(rl_host_equal(host, host));
    free(host);
}

static const struct {
    const char *text;
    size_t offset;
    const char *wrong;
} bad[] = {
    {"", 0, "missing"},
    {".", 0, "before each dot"},
    {".a", 0, "before each dot"},
    {"a..b", 2, "before each dot"},
    {"a b", 1, "letters, digits"},
    {"a/b", 1, "letters, digits"},
    {"a[b", 1, "letters, digits"},
    {"a{b", 1, "letters, digits"},
    {"a%", 1, "letters, digits"},
    {"caf\xc3\xa9", 3, "ASCII form (xn--...)"},
    {"[::1]", 0, "not an IPv6 address"},
    {"1", 0, "not an IPv4 address"},
    {"1.2.3", 0, "not an IPv4 address"},
    {"1.2.3.4.", 0, "not an IPv4 address"},
    {"1.2.3.4.5", 0, "not an IPv4 address"},
    {"1.2.3.256", 0, "not an IPv4 address"},
    {"1.2.3.1000", 0, "not an IPv4 address"},
    {"010.0.0.1", 0, "without leading zeros"},
    {"0.0.0.00", 0, "without leading zeros"},
    {":", 0, "not an IPv6 address"},
    {":::", 0, "not an IPv6 address"},
    {"1:", 0, "not an IPv6 address"},
    {":1", 0, "not an IPv6 address"},
    {"1::2::3", 0, "not an IPv6 address"},
    {"1:2:3:4:5:6:7", 0, "not an IPv6 address"},
    {"1:2:3:4:5:6:7:8:9", 0, "not an IPv6 address"},
    {"1:2:3:4::5:6:7:8", 0, "not an IPv6 address"},
    {"1:2:3:4:5:6:7:8::", 0, "not an IPv6 address"},
    {"::1:2:3:4:5:6:7:8", 0, "not an IPv6 address"},
    {"12345::", 0, "not an IPv6 address"},
    {"g::", 0, "not an IPv6 address"},
    {"::1.2.3", 0, "not an IPv6 address"},
    {"::1.2.3.4:5", 0, "not an IPv6 address"},
    {"1:2:3:4:5:6:7:1.2.3.4", 0, "not an IPv6 address"},
    {"1:2:3:4:5:1.2.3.4", 0, "not an IPv6 address"},
    {"::1%", 3, "no zone"},
    {"::1%a/b", 5, "a zone has letters"},
    {"::1%a%b", 5, "a zone has letters"},
    {"%eth0:", 0, "not an IPv6 address"},
};

TEST(check, test_bad, .rows = ROWS(bad))
{
    char *host = NULL;
    struct rl_problem problem = {.offset = 999};
    int code = rl_host_parse(bad[_i].text, strlen(bad[_i].text), &host, &problem);
    ck_assert_msg(code == REDLOCK_ECONFIG, "%s: %d", bad[_i].text, code);
    ck_assert_msg(strstr(problem.text, bad[_i].wrong), "%s: %s", bad[_i].text, problem.text);
    ck_assert_msg(problem.offset == bad[_i].offset, "%s: at %zu", bad[_i].text, problem.offset);
    ck_assert_ptr_null(host);
}

TEST(check, test_lengths)
{
    char text[RL_HOST_MAX + 2];
    memset(text, 'a', sizeof(text));
    for (size_t i = 63; i < sizeof(text); i += 64)
        text[i] = '.';
    char *host = NULL;
    struct rl_problem problem = {.text = ""};
    ck_assert_msg(rl_host_parse(text, RL_HOST_MAX, &host, &problem) == 0, "%s", problem.text);
    ck_assert_uint_eq(strlen(host), RL_HOST_MAX);
    free(host);
    ck_assert_int_eq(rl_host_parse(text, RL_HOST_MAX + 1, &host, &problem), REDLOCK_ECONFIG);
    ck_assert_uint_eq(problem.offset, RL_HOST_MAX);
    ck_assert_ptr_nonnull(strstr(problem.text, "at most 255 bytes"));
    text[63] = 'a';
    ck_assert_int_eq(rl_host_parse(text, 100, &host, &problem), REDLOCK_ECONFIG);
    ck_assert_uint_eq(problem.offset, 63);
}

TEST(check, test_nul, .rows = 3)
{
    static const char *const texts[] = {"127.0.0.1\0x", "::1\0x", "a.b\0x"};
    static const size_t lengths[] = {11, 5, 5};
    char *host = NULL;
    struct rl_problem problem = {.text = ""};
    ck_assert_int_eq(rl_host_parse(texts[_i], lengths[_i], &host, &problem), REDLOCK_ECONFIG);
    ck_assert_ptr_null(host);
}

/* Whatever the C library takes for an IPv6 address, so do we, and the other way round; two
 * texts are equal here when they are the same address there. */
TEST(check, test_ipv6_model)
{
    static const char *const pieces[] = {":",   "::",       "0",     "1", "ffff",
                                         "db8", "10.0.0.1", "12345", "g", ".",
                                         "7f.", "1:2:3:4",  ""};
    srand(20);
    unsigned addresses = 0;
    for (int round = 0; round < 100000; round++) {
        char text[128] = "";
        size_t len = 0;
        for (int count = 1 + rand() % 12; count > 0; count--)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
                                    pieces[rand() % ROWS(pieces)]);
        if (!strchr(text, ':'))
            continue;
        struct in6_addr address;
        bool is_address = inet_pton(AF_INET6, text, &address) == 1;
        char *host = NULL;
        struct rl_problem problem;
        int code = rl_host_parse(text, len, &host, &problem);
        ck_assert_msg((code == 0) == is_address, "%s: %d", text, code);
        if (code == 0) {
            char usual[INET6_ADDRSTRLEN];
            inet_ntop(AF_INET6, &address, usual, sizeof(usual));
            ck_assert_msg(rl_host_equal(host, usual), "%s, %s", host, usual);
            address.s6_addr[rand() % 16] ^= 1;
            inet_ntop(AF_INET6, &address, usual, sizeof(usual));
            ck_assert_msg(!rl_host_equal(host, usual), "%s, %s", host, usual);
            addresses++;
        }
        free(host);
    }
    ck_assert_uint_gt(addresses, 1000);
}

static const struct {
    const char *a;
    const char *b;
    bool equal;
} pairs[] = {
    {"a", "a", true},
    {"a", "b", false},
    {"a", "ab", false},
    {"a.example", "a.example.", true},
    {"a.example.", "a.example.", true},
    {"a", "a.example", false},
    {"10.0.0.1", "10.0.0.1", true},
    {"10.0.0.1", "10.0.0.10", false},
    {"::1", "0:0:0:0:0:0:0:1", true},
    {"::1", "0000::0001", true},
    {"::1", "::2", false},
    {"::1", "1::", false},
    {"2001:db8::1:0:0:1", "2001:db8:0:0:1::1", true},
    {"::ffff:10.0.0.1", "::ffff:a00:1", true},
    {"::1", "localhost", false},
    {"::ffff:10.0.0.1", "10.0.0.1", false},
    {"fe80::1%eth0", "fe80:0::1%eth0", true},
    {"fe80::1%eth0", "fe80::1%eth1", false},
    {"fe80::1%eth0", "fe80::1", false},
    {"", "", true},
};

TEST(compare, test_equal, .rows = ROWS(pairs))
{
    ck_assert_msg(rl_host_equal(pairs[_i].a, pairs[_i].b) == pairs[_i].equal, "%s, %s",
                  pairs[_i].a, pairs[_i].b);
    ck_assert_int_eq(rl_host_equal(pairs[_i].b, pairs[_i].a), pairs[_i].equal);
}
