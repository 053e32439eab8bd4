/* settings.c - see settings.h. Core. CONTRIBUTING.md says how to add a setting. */
#include "config_auto.h"

#include "base/client_name.h"
#include "base/duration.h"
#include "base/text.h"
#include "config/settings.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row;

/* A type of value: how it is read from text, and how from redlock_config. */
typedef int parse_fn(const struct row *row, void *value, const char *text, size_t len,
                     struct rl_problem *problem);
typedef int override_fn(const struct row *row, void *value, const void *given,
                        struct rl_problem *problem);

struct row {
    const char *name;
    const char *code_name; /* the member of redlock_config */
    parse_fn *parse;
    override_fn *override;    /* NULL: it stands in files only */
    size_t offset;            /* in struct rl_config */
    size_t given;             /* in redlock_config */
    int64_t min, max;         /* durations: milliseconds; texts: at most so many bytes */
    bool code_off;            /* durations: -1 in code means 0, because 0 keeps the default */
    const char *const *words; /* words: up to a NULL; the value is an index; "": none */
    const char *one_of;       /* "on, off, marker or strict"; of what a text is */
    bool (*is_allowed)(char); /* texts: these bytes */
    const char *one_in_code;  /* likewise, in redlock_config */
    union {
        int64_t ms;
        double factor;
        int word;
    } standard;
};

static parse_fn parse_duration, parse_factor, parse_word, parse_text;
static override_fn override_duration, override_factor, override_guard, override_text,
    override_background, override_word;

/* Each is indexed by its enum. */
static const char *const guards[] = {"off", "on", "marker", "strict", NULL};
static const char *const switches[] = {"", "on", "off", NULL};
static const char *const backgrounds[] = {"", "auto", "always", "never", NULL};
static const char *const agreements[] = {"", "off", "warn", "refuse", NULL};
static const char *const fencings[] = {"", "clock", "strict", NULL};

#define NAMES(text, member)                                                                    \
    .name = text, .code_name = #member, .offset = offsetof(struct rl_config, member),          \
    .given = offsetof(redlock_config, member)

#define STATUS_TEXT(text, member)                                                              \
    {.name = text, .offset = offsetof(struct rl_config, member), .parse = parse_text,          \
     .max = RL_STATUS_TEXT_MAX}

#define DURATION(text, member, least, most, default_ms)                                        \
    {                                                                                          \
        NAMES(text, member), .parse = parse_duration, .override = override_duration,           \
                             .min = (least), .max = (most), .standard.ms = (default_ms)        \
    }

static const struct row table[RL_SETTING_COUNT] = {
    [RL_SETTING_MAX_TTL] =
        DURATION("max-ttl", max_ttl_ms, RL_TTL_MIN_MS, RL_TTL_LIMIT_MS, RL_DEFAULT_MAX_TTL_MS),
    [RL_SETTING_TTL] =
        DURATION("ttl", ttl_ms, RL_TTL_MIN_MS, RL_TTL_LIMIT_MS, RL_DEFAULT_TTL_MS),
    [RL_SETTING_NODE_TIMEOUT] =
        DURATION("node-timeout", node_timeout_ms, 0, RL_TIMEOUT_LIMIT_MS, 0),
    [RL_SETTING_CONNECT_TIMEOUT] = DURATION("connect-timeout", connect_timeout_ms, 1,
                                            RL_TIMEOUT_LIMIT_MS, RL_DEFAULT_CONNECT_TIMEOUT_MS),
    [RL_SETTING_STALL_LIMIT] = DURATION("stall-limit", stall_limit_ms, 1, RL_TIMEOUT_LIMIT_MS,
                                        RL_DEFAULT_STALL_LIMIT_MS),
    [RL_SETTING_LINGER] = {NAMES("linger", linger_ms), .parse = parse_duration,
                           .override = override_duration, .max = RL_TIMEOUT_LIMIT_MS,
                           .code_off = true, .standard.ms = RL_DEFAULT_LINGER_MS},
    [RL_SETTING_DRIFT_FACTOR] = {NAMES("drift-factor", drift_factor), .parse = parse_factor,
                                 .override = override_factor,
                                 .standard.factor = RL_DEFAULT_DRIFT_FACTOR},
    [RL_SETTING_GUARD] = {NAMES("guard", guard), .parse = parse_word, .words = guards,
                          .one_of = "on, off, marker or strict", .override = override_guard,
                          .standard.word = RL_GUARD_ON},
    [RL_SETTING_CLIENT_NAME] = {NAMES("client-name", client_name), .parse = parse_text,
                                .override = override_text, .max = RL_CLIENT_NAME_MAX,
                                .is_allowed = rl_client_name_byte,
                                .one_of = "letters, digits and . _ : @ -"},
    [RL_SETTING_BACKGROUND] = {NAMES("background", background), .parse = parse_word,
                               .words = backgrounds, .one_of = "auto, always or never",
                               .override = override_background,
                               .standard.word = REDLOCK_BACKGROUND_AUTO},
    [RL_SETTING_LOCK_DELAY] =
        DURATION("lock-delay", lock_delay_ms, 0, RL_TTL_LIMIT_MS - RL_TTL_MIN_MS, 0),
    [RL_SETTING_CONFIG_AGREEMENT] = {NAMES("config-agreement", config_agreement),
                                     .parse = parse_word, .words = agreements,
                                     .one_of = "off, warn or refuse",
                                     .override = override_word,
                                     .one_in_code = "REDLOCK_AGREEMENT_OFF, _WARN or _REFUSE",
                                     .standard.word = REDLOCK_AGREEMENT_OFF},
    [RL_SETTING_WATCH_WALL_CLOCK] = {NAMES("watch-wall-clock", watch_wall_clock),
                                     .parse = parse_word, .words = switches,
                                     .one_of = "on or off", .override = override_word,
                                     .one_in_code = "REDLOCK_ON or REDLOCK_OFF",
                                     .standard.word = REDLOCK_OFF},
    [RL_SETTING_FENCING] = {NAMES("fencing", fencing), .parse = parse_word, .words = fencings,
                            .one_of = "clock or strict", .override = override_word,
                            .one_in_code = "REDLOCK_FENCING_CLOCK or _STRICT",
                            .standard.word = REDLOCK_FENCING_CLOCK},
    [RL_SETTING_STATUS_PREFIX] = STATUS_TEXT("status-prefix", status_prefix),
    [RL_SETTING_STATUS_KINDS] = STATUS_TEXT("status-kinds", status_kinds),
};

/* ---- types of values ------------------------------------------------------------------ */

static int check_range(const struct row *row, int64_t ms, struct rl_problem *problem)
{
    if (ms >= row->min && ms <= row->max)
        return 0;
    char least[RL_DURATION_TEXT_MAX];
    char most[RL_DURATION_TEXT_MAX];
    rl_duration_format(row->min, least);
    rl_duration_format(row->max, most);
    return rl_problem_set(problem, 0, "%s is out of range; it goes from %s to %s", row->name,
                          least, most);
}

static int parse_duration(const struct row *row, void *value, const char *text, size_t len,
                          struct rl_problem *problem)
{
    int64_t ms = 0;
    const char *wrong = rl_duration_parse(text, len, &ms);
    if (wrong)
        return rl_problem_set(problem, 0, "%s", wrong);
    int code = check_range(row, ms, problem);
    if (code == 0)
        *(int64_t *)value = ms;
    return code;
}

static int override_duration(const struct row *row, void *value, const void *given,
                             struct rl_problem *problem)
{
    int64_t ms = *(const int64_t *)given;
    if (ms == 0)
        return 0;
    if (ms == -1 && row->code_off)
        ms = 0;
    else if (ms < 0)
        return rl_problem_set(problem, 0, "can't be negative; %s",
                              row->code_off ? "give milliseconds, or -1 for none"
                                            : "give milliseconds, or 0 for the default");
    int code = check_range(row, ms, problem);
    if (code < 0)
        return code;
    *(int64_t *)value = ms;
    return 1;
}

static const char bad_factor[] = "drift-factor is a number from 0 to below 1, for example 0.01";

/* Not strtod(): that one reads a comma or a point as the user's locale likes it. */
static int parse_factor(const struct row *row, void *value, const char *text, size_t len,
                        struct rl_problem *problem)
{
    (void)row;
    int64_t number = 0;
    int64_t scale = 1; /* both stay below 2^53: the division rounds once */
    size_t at = 0;
    while (at < len && text[at] == '0')
        at++;
    if (at < len && text[at] == '.')
        at++;
    else if (at < len)
        return rl_problem_set(problem, 0, "%s", bad_factor);
    for (; at < len; at++) {
        if (text[at] < '0' || text[at] > '9' || scale >= INT64_C(1000000000000000))
            return rl_problem_set(problem, 0, "%s", bad_factor);
        number = number * 10 + (text[at] - '0');
        scale *= 10;
    }
    if (len == 0 || (len == 1 && text[0] == '.'))
        return rl_problem_set(problem, 0, "%s", bad_factor);
    *(double *)value = (double)number / (double)scale;
    return 0;
}

static int override_factor(const struct row *row, void *value, const void *given,
                           struct rl_problem *problem)
{
    (void)row;
    double factor = *(const double *)given;
    /* Written so that a NaN is refused. */
    if (!(factor >= 0.0 && factor < 1.0))
        return rl_problem_set(problem, 0, "%s", bad_factor);
    *(double *)value = factor > 0.0 ? factor : *(double *)value;
    return factor > 0.0;
}

static int parse_word(const struct row *row, void *value, const char *text, size_t len,
                      struct rl_problem *problem)
{
    for (int i = 0; row->words[i]; i++) {
        if (len > 0 && strlen(row->words[i]) == len && memcmp(row->words[i], text, len) == 0) {
            *(int *)value = i;
            return 0;
        }
    }
    return rl_problem_set(problem, 0, "%s is %s", row->name, row->one_of);
}

static int override_guard(const struct row *row, void *value, const void *given,
                          struct rl_problem *problem)
{
    (void)row;
    int wanted = *(const int *)given;
    if (wanted == REDLOCK_DEFAULT)
        return 0;
    if (wanted < REDLOCK_ON || wanted > REDLOCK_GUARD_STRICT)
        return rl_problem_set(problem, 0,
                              "is REDLOCK_ON, REDLOCK_OFF, REDLOCK_GUARD_MARKER, _STRICT or "
                              "REDLOCK_DEFAULT (as the file says)");
    *(int *)value = wanted == REDLOCK_GUARD_STRICT   ? RL_GUARD_STRICT
                    : wanted == REDLOCK_GUARD_MARKER ? RL_GUARD_MARKER
                    : wanted == REDLOCK_ON           ? RL_GUARD_ON
                                                     : RL_GUARD_OFF;
    return 1;
}

/* The client's name goes into every token, and other tools show it unescaped: only plain bytes
 * are allowed there. */
static int parse_text(const struct row *row, void *value, const char *text, size_t len,
                      struct rl_problem *problem)
{
    int most = (int)row->max;
    for (size_t i = 0; i < len; i++) {
        if (row->is_allowed && !row->is_allowed(text[i]))
            return rl_problem_set(problem, i, "%s has %s only", row->name, row->one_of);
        if (i >= (size_t)most)
            return rl_problem_set(problem, i, "%s has at most %d bytes", row->name, most);
    }
    if (len == 0)
        return rl_problem_set(problem, 0, "%s is empty; give it 1 to %d bytes, or leave it out",
                              row->name, most);
    char *copy = rl_copy(text, len);
    if (!copy)
        return rl_problem_no_memory(problem);
    free(*(char **)value);
    *(char **)value = copy;
    return 0;
}

static int override_text(const struct row *row, void *value, const void *given,
                         struct rl_problem *problem)
{
    const char *text = *(const char *const *)given;
    int code = text ? parse_text(row, value, text, strlen(text), problem) : 0;
    return text && code == 0 ? 1 : code;
}

static int override_background(const struct row *row, void *value, const void *given,
                               struct rl_problem *problem)
{
    (void)row, (void)problem;
    int wanted = *(const int *)given;
    assert(wanted >= REDLOCK_BACKGROUND_DEFAULT && wanted <= REDLOCK_BACKGROUND_NEVER);
    *(int *)value = wanted > 0 ? wanted : *(int *)value;
    return wanted > 0;
}

static int override_word(const struct row *row, void *value, const void *given,
                         struct rl_problem *problem)
{
    int64_t wanted = *(const int64_t *)given, count = 0;
    while (row->words[count])
        count++;
    if (wanted < 0 || wanted >= count)
        return rl_problem_set(problem, 0, "is %s, or 0 (as the file says)", row->one_in_code);
    *(int *)value = wanted > 0 ? (int)wanted : *(int *)value;
    return wanted > 0;
}

/* ---- the table, from outside ---------------------------------------------------------- */

static void *field(struct rl_config *config, const struct row *row)
{
    return (char *)config + row->offset;
}

const char *rl_setting_name(enum rl_setting setting)
{
    assert(setting < RL_SETTING_COUNT);
    return table[setting].name;
}

int rl_setting_find(const char *name, size_t len)
{
    for (int i = 0; i < RL_SETTING_COUNT; i++) {
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
            return i;
    }
    return -1;
}

void rl_settings_default(struct rl_config *config)
{
    for (int i = 0; i < RL_SETTING_COUNT; i++) {
        const struct row *row = &table[i];
        if (row->parse == parse_duration)
            *(int64_t *)field(config, row) = row->standard.ms;
        else if (row->parse == parse_factor)
            *(double *)field(config, row) = row->standard.factor;
        else if (row->parse == parse_word)
            *(int *)field(config, row) = row->standard.word;
        else
            *(char **)field(config, row) = NULL;
    }
}

int rl_setting_parse(struct rl_config *config, enum rl_setting setting, const char *text,
                     size_t len, struct rl_problem *problem)
{
    assert(setting < RL_SETTING_COUNT);
    const struct row *row = &table[setting];
    return row->parse(row, field(config, row), text, len, problem);
}

int rl_setting_override(struct rl_config *config, enum rl_setting setting,
                        const redlock_config *from, struct rl_problem *problem)
{
    assert(setting < RL_SETTING_COUNT);
    const struct row *row = &table[setting];
    const void *given = (const char *)from + row->given;
    return row->override ? row->override(row, field(config, row), given, problem) : 0;
}

int rl_setting_error(const struct rl_config *config, enum rl_setting setting,
                     redlock_error *error, const char *text)
{
    assert(setting < RL_SETTING_COUNT);
    const struct rl_place *place = &config->places[setting];
    if (place->in_code)
        return rl_error_set(error, REDLOCK_ECONFIG, NULL, 0, 0, "redlock_config.%s: %s",
                            table[setting].code_name, text);
    return rl_error_set(error, REDLOCK_ECONFIG, config->file, place->line, place->column, "%s",
                        text);
}
