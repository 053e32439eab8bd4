/* host.c - see host.h. Core. */
#include "config_auto.h"

#include "config/host.h"
#include "base/client_name.h"
#include "base/limits.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX 63 /* bytes between two dots of a name */

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* The C library's readers take no shorter and no octal forms of an IPv4 address, which
 * resolvers and users read differently. */
static bool parse_address(int family, const char *text, size_t len, void *ret_bytes)
{
    char address[INET6_ADDRSTRLEN];
    if (len >= sizeof(address) || memchr(text, '\0', len))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    return inet_pton(family, address, ret_bytes) == 1;
}

static size_t zone_start(const char *text, size_t len)
{
    const char *percent = memchr(text, '%', len);
    return percent ? (size_t)(percent - text) : len;
}

static int check_ipv6(const char *text, size_t len, struct rl_problem *problem)
{
    uint8_t bytes[16];
    size_t zone = zone_start(text, len);
    if (!parse_address(AF_INET6, text, zone, bytes))
        return rl_problem_set(problem, 0,
                              "not an IPv6 address; write for example [2001:db8::1]");
    if (zone + 1 == len)
        return rl_problem_set(problem, zone,
                              "no zone after '%%'; write for example fe80::1%%eth0");
    for (size_t i = zone + 1; i < len; i++) {
        if (!rl_host_byte(text[i]))
            return rl_problem_set(problem, i,
                                  "a zone has letters, digits, '-', '_' and '.' only");
    }
    return 0;
}

static int check_name(const char *text, size_t len, struct rl_problem *problem)
{
    size_t label = 0; /* where the one we are in begins */
    bool numeric = true;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '.') {
            if (i == label)
                return rl_problem_set(problem, i, "a host name has something before each dot");
            label = i + 1;
        } else if (!rl_host_byte(text[i])) {
            return rl_problem_set(problem, i,
                                  "a host name has letters, digits, '-', '_' and '.' only; "
                                  "write others in their ASCII form (xn--...)");
        } else if (i - label >= LABEL_MAX) {
            return rl_problem_set(problem, i, "a part of a host name has at most %d bytes",
                                  LABEL_MAX);
        }
        numeric = numeric && (is_digit(text[i]) || text[i] == '.');
    }
    uint8_t bytes[4];
    if (numeric && !parse_address(AF_INET, text, len, bytes))
        return rl_problem_set(problem, 0,
                              "not an IPv4 address; write four numbers from 0 to 255, without "
                              "leading zeros, for example 10.0.0.1");
    return 0;
}

int rl_host_parse(const char *text, size_t len, char **ret_host, struct rl_problem *problem)
{
    assert(text || len == 0);
    if (len == 0)
        return rl_problem_set(problem, 0, "the host is missing; write for example localhost");
    if (len > RL_HOST_MAX)
        return rl_problem_set(problem, RL_HOST_MAX, "a host name has at most %d bytes",
                              RL_HOST_MAX);
    bool ipv6 = memchr(text, ':', len) != NULL;
    int code = ipv6 ? check_ipv6(text, len, problem) : check_name(text, len, problem);
    if (code < 0)
        return code;
    char *host = rl_copy(text, len);
    if (!host)
        return rl_problem_no_memory(problem);
    size_t zone = zone_start(text, len);
    for (size_t i = 0; i < zone; i++)
        host[i] = rl_lower(host[i]);
    *ret_host = host;
    return 0;
}

bool rl_host_equal(const char *a, const char *b)
{
    size_t a_len = strlen(a);
    size_t b_len = strlen(b);
    size_t a_zone = zone_start(a, a_len);
    size_t b_zone = zone_start(b, b_len);
    uint8_t a_bytes[16];
    uint8_t b_bytes[16];
    if (parse_address(AF_INET6, a, a_zone, a_bytes) &&
        parse_address(AF_INET6, b, b_zone, b_bytes))
        return memcmp(a_bytes, b_bytes, 16) == 0 && strcmp(a + a_zone, b + b_zone) == 0;
    a_len -= a_len > 0 && a[a_len - 1] == '.';
    b_len -= b_len > 0 && b[b_len - 1] == '.';
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

bool rl_place_equal(const char *host_a, int port_a, const char *host_b, int port_b)
{
    return port_a == port_b && rl_host_equal(host_a, host_b);
}
