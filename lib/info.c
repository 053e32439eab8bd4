/* info.c - see info.h. Core. */
#include "config_auto.h"

#include "info.h"

#include "limits.h"

#include <assert.h>
#include <string.h>

/* Copy a value that fits; one that does not is as good as none. */
static void take_text(char *ret, size_t size, const char *value, size_t len)
{
    ret[0] = '\0';
    if (len >= size)
        return;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < 0x21 || value[i] > 0x7e)
            return;
    }
    memcpy(ret, value, len);
    ret[len] = '\0';
}

/* Decimal digits only, saturating; -1 where it is anything else. */
static int64_t take_number(const char *value, size_t len)
{
    if (len == 0 || len > 18)
        return -1;
    int64_t number = 0;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return -1;
        number = number * 10 + (value[i] - '0');
    }
    return number;
}

static bool is(const char *key, size_t len, const char *name)
{
    return len == strlen(name) && memcmp(key, name, len) == 0;
}

static void take_line(const char *line, size_t len, struct rl_info *info)
{
    const char *colon = memchr(line, ':', len);
    if (!colon)
        return;
    size_t key_len = (size_t)(colon - line);
    const char *value = colon + 1;
    size_t value_len = len - key_len - 1;

    if (is(line, key_len, "run_id"))
        take_text(info->run_id, sizeof(info->run_id), value, value_len);
    else if (is(line, key_len, "role"))
        take_text(info->role, sizeof(info->role), value, value_len);
    else if (is(line, key_len, "redis_version"))
        take_text(info->version, sizeof(info->version), value, value_len);
    else if (is(line, key_len, "maxmemory_policy"))
        take_text(info->policy, sizeof(info->policy), value, value_len);
    else if (is(line, key_len, "uptime_in_seconds"))
        info->uptime_s = take_number(value, value_len);
    else if (is(line, key_len, "maxmemory"))
        info->maxmemory = take_number(value, value_len);
    else if (is(line, key_len, "cluster_enabled"))
        info->cluster = take_number(value, value_len) == 1;
    else if (is(line, key_len, "loading"))
        info->loading = take_number(value, value_len) == 1;
}

void rl_info_parse(const char *text, size_t len, struct rl_info *ret_info)
{
    *ret_info = (struct rl_info){.uptime_s = -1};
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t line_len = end ? (size_t)(end - text) : len;
        size_t used = end ? line_len + 1 : line_len;
        if (line_len > 0 && text[line_len - 1] == '\r')
            take_line(text, line_len - 1, ret_info);
        else
            take_line(text, line_len, ret_info);
        text += used;
        len -= used;
    }
    if (ret_info->maxmemory < 0)
        ret_info->maxmemory = 0;
}

int64_t rl_guard_window_ns(int64_t max_ttl_ns, double drift_factor)
{
    assert(max_ttl_ns > 0 && drift_factor >= 0.0 && drift_factor < 1.0);
    return max_ttl_ns + (int64_t)((double)max_ttl_ns * drift_factor) + 1;
}

int64_t rl_guard_wait_ns(int64_t window_ns, int64_t uptime_s, int64_t seen_ns)
{
    assert(window_ns > 0 && seen_ns >= 0);
    if (seen_ns >= window_ns)
        return 0;
    int64_t wait_ns = window_ns - seen_ns;
    if (uptime_s < 0)
        return wait_ns;
    /* Whole seconds, rounded up: ceil(window). */
    int64_t window_s = (window_ns + RL_NS_PER_S - 1) / RL_NS_PER_S;
    if (uptime_s - 1 >= window_s)
        return 0;
    int64_t by_uptime_ns = (window_s - (uptime_s - 1)) * RL_NS_PER_S;
    return by_uptime_ns < wait_ns ? by_uptime_ns : wait_ns;
}
