/* host.c - see host.h. Core. */
#include "config_auto.h"

#include "config/host.h"
#include "base/limits.h"
#include "base/text.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_MAX 63 /* bytes between two dots of a name */

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

static bool is_name_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           is_digit(letter) || letter == '-' || letter == '_';
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* Four numbers of at most 255. Shorter and octal forms are no addresses here, because resolvers
 * and users read them differently. */
static bool parse_ipv4(const char *text, size_t len, uint8_t ret_bytes[4])
{
    size_t at = 0;
    for (int i = 0; i < 4; i++) {
        if (i > 0 && (at == len || text[at++] != '.'))
            return false;
        size_t start = at;
        unsigned number = 0;
        while (at < len && at - start < 3 && is_digit(text[at]))
            number = number * 10 + (unsigned)(text[at++] - '0');
        if (at == start || number > 255 || (at - start > 1 && text[start] == '0'))
            return false;
        ret_bytes[i] = (uint8_t)number;
    }
    return at == len;
}

/* Up to four hex digits: how many there were. */
static size_t parse_group(const char *text, size_t len, uint8_t ret_bytes[2])
{
    unsigned number = 0;
    size_t at = 0;
    while (at < len && at < 4 && rl_hex_value(text[at]) >= 0)
        number = number * 16 + (unsigned)rl_hex_value(text[at++]);
    ret_bytes[0] = (uint8_t)(number >> 8);
    ret_bytes[1] = (uint8_t)(number & 0xff);
    return at;
}

/* Move what stands after the "::" to the end of the 16 bytes, zeros in between. */
static bool spread(uint8_t bytes[16], size_t filled, size_t gap)
{
    if (gap == SIZE_MAX)
        return filled == 16;
    if (filled == 16)
        return false;
    size_t tail = filled - gap;
    memmove(bytes + 16 - tail, bytes + gap, tail);
    memset(bytes + gap, 0, 16 - filled);
    return true;
}

/* RFC 4291: eight groups, one "::" for a run of zeros, perhaps an IPv4 address at the end. */
static bool parse_ipv6(const char *text, size_t len, uint8_t ret_bytes[16])
{
    size_t at = 0;
    size_t filled = 0;
    size_t gap = SIZE_MAX; /* bytes before the "::" */
    if (len >= 2 && text[0] == ':' && text[1] == ':') {
        gap = 0;
        at = 2;
    }
    while (at < len) {
        if (filled <= 12 && parse_ipv4(text + at, len - at, ret_bytes + filled))
            return spread(ret_bytes, filled + 4, gap);
        size_t digits = filled <= 14 ? parse_group(text + at, len - at, ret_bytes + filled) : 0;
        if (digits == 0)
            return false;
        at += digits;
        filled += 2;
        if (at == len)
            break;
        if (text[at++] != ':' || at == len)
            return false;
        if (text[at] == ':') {
            if (gap != SIZE_MAX)
                return false;
            gap = filled;
            at++;
        }
    }
    return spread(ret_bytes, filled, gap);
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
    if (!parse_ipv6(text, zone, bytes))
        return rl_problem_set(problem, 0,
                              "not an IPv6 address; write for example [2001:db8::1]");
    if (zone + 1 == len)
        return rl_problem_set(problem, zone,
                              "no zone after '%%'; write for example fe80::1%%eth0");
    for (size_t i = zone + 1; i < len; i++) {
        if (!is_name_letter(text[i]) && text[i] != '.')
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
        } else if (!is_name_letter(text[i])) {
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
    if (numeric && !parse_ipv4(text, len, bytes))
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
    char *host = malloc(len + 1);
    if (!host)
        return rl_problem_no_memory(problem);
    size_t zone = ipv6 ? zone_start(text, len) : len;
    for (size_t i = 0; i < len; i++)
        host[i] = i < zone ? lower(text[i]) : text[i];
    host[len] = '\0';
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
    if (parse_ipv6(a, a_zone, a_bytes) && parse_ipv6(b, b_zone, b_bytes))
        return memcmp(a_bytes, b_bytes, 16) == 0 && strcmp(a + a_zone, b + b_zone) == 0;
    a_len -= a_len > 0 && a[a_len - 1] == '.';
    b_len -= b_len > 0 && b[b_len - 1] == '.';
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}
