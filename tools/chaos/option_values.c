/* option_values.c - reads the value of one option. Errors say which value would be right. */
#include "config_auto.h"

#include "chaos/option_values.h"
#include "chaos/options.h"

#include "chaos/faults/kinds.h"
#include "base/duration.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

int chaos_usage(const char *format, ...)
{
    va_list arguments;
    fputs("redlock-chaos: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs(" (see redlock-chaos --help)\n", stderr);
    return EX_USAGE;
}

int chaos_take_number(const char *option, const char *text, unsigned min, unsigned max,
                      unsigned *ret_number)
{
    char *end = NULL;
    errno = 0;
    unsigned long number = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || number < min ||
        number > max)
        return chaos_usage("--%s '%.40s': give a whole number from %u to %u", option, text, min,
                           max);
    *ret_number = (unsigned)number;
    return -1;
}

int chaos_take_time(const char *option, const char *text, int64_t min_ms, int64_t max_ms,
                    int64_t *ret_ms)
{
    int64_t ms = 0;
    char min[RL_DURATION_TEXT_MAX], max[RL_DURATION_TEXT_MAX];
    const char *wrong = rl_duration_parse(text, strlen(text), &ms);
    if (wrong != NULL)
        return chaos_usage("--%s '%.40s': %s", option, text, wrong);
    if (ms < min_ms || ms > max_ms) {
        rl_duration_format(min_ms, min);
        rl_duration_format(max_ms, max);
        return chaos_usage("--%s %.40s: give a time from %s to %s", option, text, min, max);
    }
    *ret_ms = ms;
    return -1;
}

int chaos_take_percent(const char *option, const char *text, double *ret_part)
{
    char *end = NULL;
    errno = 0;
    double percent = strtod(text, &end);
    if (*text < '0' || *text > '9' || errno != 0 || !(percent >= 0 && percent <= 100) ||
        (*end != '\0' && strcmp(end, "%") != 0))
        return chaos_usage("--%s '%.40s': give a number from 0 to 100, of percent", option,
                           text);
    *ret_part = percent / 100;
    return -1;
}

int chaos_take_seed(const char *text, uint64_t *ret_seed)
{
    char *end = NULL;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0)
        return chaos_usage("--seed '%.40s': give a whole number, such as a report names", text);
    *ret_seed = seed;
    return -1;
}

int chaos_take_kind(const char *word, enum chaos_lock *ret_lock)
{
    for (int lock = 0; lock < CHAOS_LOCKS; lock++) {
        if (strcmp(word, chaos_lock_word((enum chaos_lock)lock)) != 0)
            continue;
        *ret_lock = (enum chaos_lock)lock;
        return -1;
    }
    return chaos_usage("--kind '%.40s': give plain, reentrant, fair, read-write or several",
                       word);
}

int chaos_take_fencing(const char *word, bool *ret_certified)
{
    *ret_certified = strcmp(word, "strict") == 0;
    if (*ret_certified || strcmp(word, "clock") == 0)
        return -1;
    return chaos_usage("--fencing '%.40s': give clock or strict", word);
}

int chaos_take_guard(const char *word, bool *ret_markers, bool *ret_strict)
{
    *ret_strict = strcmp(word, "strict") == 0;
    *ret_markers = *ret_strict || strcmp(word, "marker") == 0;
    if (*ret_markers || strcmp(word, "on") == 0)
        return -1;
    return chaos_usage("--guard '%.40s': give on, marker or strict", word);
}

int chaos_take_breach(const char *word, enum chaos_breach *ret_breach)
{
    static const char *const words[CHAOS_BREACHES] = {"one-master", "no-release",
                                                      "no-rollback", "no-fence"};
    *ret_breach = CHAOS_ONE_MASTER;
    if (word == NULL)
        return -1;
    for (int breach = 0; breach < CHAOS_BREACHES; breach++) {
        if (strcmp(word, words[breach]) != 0)
            continue;
        *ret_breach = (enum chaos_breach)breach;
        return -1;
    }
    return chaos_usage("--self-test '%.40s': give one-master, no-release, no-rollback or "
                       "no-fence",
                       word);
}

/* One word of --faults, of which `none` is not one: that stands alone. */
static int take_fault(const char *word, size_t len, uint64_t *faults, uint64_t *named)
{
    if (len == 3 && memcmp(word, "all", 3) == 0) {
        *faults |= CHAOS_ALL;
        return -1;
    }
    if (len == 4 && memcmp(word, "none", 4) == 0)
        return chaos_usage("--faults: none stands alone; leave it or the other kinds out");
    bool out = len > 0 && word[0] == '-';
    int kind = chaos_fault_find(word + out, len - out);
    if (kind < 0) {
        const char *meant = chaos_fault_nearest(word + out, len - out);
        return chaos_usage("--faults: '%.*s' is no kind of fault; %s%s%s",
                           (int)(len < 40 ? len : 40), word,
                           meant != NULL ? "did you mean " : "they are listed by --help",
                           meant != NULL ? meant : "", meant != NULL ? "?" : "");
    }
    if (out) {
        *faults &= ~CHAOS_BIT(kind);
        *named &= ~CHAOS_BIT(kind);
    } else {
        *faults |= CHAOS_BIT(kind);
        *named |= CHAOS_BIT(kind);
    }
    return -1;
}

int chaos_take_faults(const char *list, uint64_t *ret_faults, uint64_t *ret_named)
{
    const char *rest = list;
    *ret_faults = *ret_named = 0;
    if (*list == '\0')
        return chaos_usage("--faults: the list is empty; for no faults at all say none");
    if (strcmp(list, "none") == 0)
        return -1;
    if (*list == '-') /* exclusions alone exclude from all */
        *ret_faults = CHAOS_ALL;
    for (;;) {
        size_t len = strcspn(rest, ",");
        int status = take_fault(rest, len, ret_faults, ret_named);
        if (status >= 0)
            return status;
        if (rest[len] == '\0')
            break;
        rest += len + 1;
    }
    if (*ret_faults == 0)
        return chaos_usage("--faults %.60s: nothing is left of that; name a kind that stays, "
                           "or say none alone",
                           list);
    return -1;
}
