/* duration.c - see duration.h. Core. */
#include "config_auto.h"

#include "base/duration.h"

#include "base/limits.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t ms;
};

/* The largest first: rl_duration_format() takes the first one that fits. */
static const struct unit units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1},
};
#define UNIT_COUNT (sizeof(units) / sizeof(units[0]))

static const char not_a_duration[] =
    "not a duration; write a number with its unit (ms, s, m, h or d), for example 30s";

static const struct unit *find_unit(const char *text, size_t len)
{
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strlen(units[i].name) == len && memcmp(units[i].name, text, len) == 0)
            return &units[i];
    }
    return NULL;
}

const char *rl_duration_parse(const char *text, size_t len, int64_t *ret_ms)
{
    assert(text || len == 0);
    int64_t number = 0;
    size_t digits = 0;
    for (; digits < len && text[digits] >= '0' && text[digits] <= '9'; digits++) {
        if (number <= RL_DURATION_MAX_MS)
            number = number * 10 + (text[digits] - '0');
    }
    if (digits == 0 && len > 1 && text[0] == '-')
        return "a duration can't be negative; write for example 30s";
    if (digits == 0)
        return not_a_duration;
    if (digits == len && number == 0) {
        *ret_ms = 0;
        return NULL;
    }
    if (digits == len)
        return "the duration has no unit; write ms, s, m, h or d after the number, as in 30s";
    if (text[digits] == '.' || text[digits] == ',')
        return "a duration is a whole number; write 1500ms for one and a half seconds";
    const struct unit *unit = find_unit(text + digits, len - digits);
    if (!unit)
        return not_a_duration;
    if (number > RL_DURATION_MAX_MS / unit->ms)
        return "the duration is too long; no setting takes more than 36500d";
    *ret_ms = number * unit->ms;
    return NULL;
}

bool rl_parse_duration_ms(const char *text, size_t len, int64_t *ret_ms)
{
    return rl_duration_parse(text, len, ret_ms) == NULL;
}

void rl_duration_format(int64_t ms, char ret_text[RL_DURATION_TEXT_MAX])
{
    assert(ms >= 0);
    if (ms == 0) {
        snprintf(ret_text, RL_DURATION_TEXT_MAX, "0s");
        return;
    }
    const struct unit *unit = units;
    while (ms % unit->ms != 0)
        unit++;
    assert(unit < units + UNIT_COUNT);
    snprintf(ret_text, RL_DURATION_TEXT_MAX, "%" PRId64 "%s", ms / unit->ms, unit->name);
}

void rl_duration_about(int64_t ms, char ret_text[RL_DURATION_TEXT_MAX])
{
    long long s = (long long)(ms / 1000);
    assert(ms >= 0);
    if (ms < 1000)
        snprintf(ret_text, RL_DURATION_TEXT_MAX, "%lldms", (long long)ms);
    else if (s < 60)
        snprintf(ret_text, RL_DURATION_TEXT_MAX, "%lld.%llds", s, (long long)ms / 100 % 10);
    else if (s < 3600)
        snprintf(ret_text, RL_DURATION_TEXT_MAX, "%lldm%llds", s / 60, s % 60);
    else if (s < 86400)
        snprintf(ret_text, RL_DURATION_TEXT_MAX, "%lldh%lldm", s / 3600, s / 60 % 60);
    else
        snprintf(ret_text, RL_DURATION_TEXT_MAX, "%lldd%lldh", s / 86400, s / 3600 % 24);
}
