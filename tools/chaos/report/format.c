/* format.c - see format.h. */
#include "config_auto.h"

#include "chaos/report/format.h"

#include "chaos/faults/kinds.h"
#include "base/text_escape.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* Longer text from outside is cut there. */
#define TEXT_MAX 8192

void chaos_html_put(FILE *to, const char *text)
{
    char clean[TEXT_MAX];
    rl_text_escape(clean, sizeof(clean), text, strlen(text));
    for (const char *at = clean; *at != '\0'; at++) {
        switch (*at) {
        case '&':
            fputs("&amp;", to);
            break;
        case '<':
            fputs("&lt;", to);
            break;
        case '>':
            fputs("&gt;", to);
            break;
        case '"':
            fputs("&quot;", to);
            break;
        case '\'':
            fputs("&#39;", to);
            break;
        default:
            fputc(*at, to);
        }
    }
}

void chaos_json_put(FILE *to, const char *text)
{
    char clean[TEXT_MAX];
    rl_text_escape(clean, sizeof(clean), text, strlen(text));
    fputc('"', to);
    for (const char *at = clean; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', to);
        fputc(*at, to);
    }
    fputc('"', to);
}

const char *chaos_span(int64_t ns, char ret_text[CHAOS_SPAN_MAX])
{
    double us = (double)ns / 1e3;
    if (us < 999.5)
        snprintf(ret_text, CHAOS_SPAN_MAX, "%.0f us", us);
    else if (us < 9995)
        snprintf(ret_text, CHAOS_SPAN_MAX, "%.2f ms", us / 1e3);
    else if (us < 99950)
        snprintf(ret_text, CHAOS_SPAN_MAX, "%.1f ms", us / 1e3);
    else if (us < 999500)
        snprintf(ret_text, CHAOS_SPAN_MAX, "%.0f ms", us / 1e3);
    else if (us < 9.995e6)
        snprintf(ret_text, CHAOS_SPAN_MAX, "%.2f s", us / 1e6);
    else if (us < 119.95e6)
        snprintf(ret_text, CHAOS_SPAN_MAX, "%.1f s", us / 1e6);
    else
        snprintf(ret_text, CHAOS_SPAN_MAX, "%" PRId64 " min %02d s", ns / 60000000000,
                 (int)(ns / 1000000000 % 60));
    return ret_text;
}

const char *chaos_count(uint64_t count, char ret_text[CHAOS_COUNT_MAX])
{
    char digits[CHAOS_COUNT_MAX];
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, count), to = 0;
    for (int from = 0; from < len; from++) {
        if (from > 0 && (len - from) % 3 == 0)
            ret_text[to++] = ',';
        ret_text[to++] = digits[from];
    }
    ret_text[to] = '\0';
    return ret_text;
}

const char *chaos_date(int64_t unix_s, char ret_text[CHAOS_DATE_MAX])
{
    time_t at = (time_t)unix_s;
    struct tm parts;
    if (gmtime_r(&at, &parts) == NULL ||
        strftime(ret_text, CHAOS_DATE_MAX, "%Y-%m-%d %H:%M UTC", &parts) == 0)
        ret_text[0] = '\0';
    return ret_text;
}

/* Appends, quoted where a shell would take it for more than a word. False: no room. */
static bool add_word(char *text, size_t *len, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_=+.,:/@%";
    size_t before = *len, at = before;
    bool quote = word[0] == '\0' || word[strspn(word, plain)] != '\0';
    if (at + 3 >= CHAOS_COMMAND_MAX)
        return false;
    if (at > 0)
        text[at++] = ' ';
    if (quote)
        text[at++] = '\'';
    for (; *word != '\0'; word++) {
        const char *piece = *word == '\'' ? "'\\''" : (char[]){*word, '\0'};
        if (at + strlen(piece) + 2 >= CHAOS_COMMAND_MAX) {
            text[before] = '\0';
            return false;
        }
        memcpy(text + at, piece, strlen(piece));
        at += strlen(piece);
    }
    if (quote)
        text[at++] = '\'';
    text[at] = '\0';
    *len = at;
    return true;
}

void chaos_command(const struct chaos_options *options, char ret_text[CHAOS_COMMAND_MAX])
{
    size_t len = 0;
    bool fits = add_word(ret_text, &len, "redlock-chaos"), has_seed = false;
    for (int i = 1; i < options->argc && fits; i++) {
        has_seed = has_seed || strncmp(options->argv[i], "--seed", 6) == 0;
        fits = add_word(ret_text, &len, options->argv[i]);
    }
    char seed[40];
    snprintf(seed, sizeof(seed), "%" PRIu64, options->seed);
    if (fits && !has_seed)
        fits = add_word(ret_text, &len, "--seed") && add_word(ret_text, &len, seed);
}

const char *chaos_members(const char *what, unsigned first, uint64_t members, unsigned all,
                          char ret_text[CHAOS_MEMBERS_MAX])
{
    size_t len = 0;
    unsigned count = 0;
    ret_text[0] = '\0';
    for (unsigned i = 0; i < all && i < 64; i++) {
        if ((members & CHAOS_BIT(i)) == 0)
            continue;
        count++;
        snprintf(ret_text + len, CHAOS_MEMBERS_MAX - len, "%s%s%u", len > 0 ? ", " : what,
                 len > 0 ? "" : " ", i + first);
        len += strlen(ret_text + len);
    }
    if (count == all && all > 1)
        snprintf(ret_text, CHAOS_MEMBERS_MAX, "all %ss", what);
    return ret_text;
}

enum chaos_judged chaos_judged(const struct chaos_history *history,
                               const struct chaos_verdict *verdict)
{
    if (verdict->exit_status != 0)
        return verdict->exit_status == 1 ? CHAOS_VIOLATION : CHAOS_NOTHING;
    if (history->options->self_test)
        return CHAOS_CAUGHT;
    return verdict->excused > 0 ? CHAOS_EXCUSED : CHAOS_PASSED;
}

const char *chaos_judged_word(enum chaos_judged judged)
{
    static const char *const words[] = {"passed", "excused", "violation", "nothing", "caught"};
    return words[judged];
}

const char *chaos_assumption_text(enum chaos_assumption assumption)
{
    switch (assumption) {
    case CHAOS_KEYS_STAY:
        return "Keys stay on a master until they expire or are released";
    case CHAOS_NO_STEP:
        return "The clock of a master does not step forward";
    case CHAOS_GUARD:
        return "A master that lost its keys does not vote for a max-ttl";
    case CHAOS_ONE_SERVER:
        return "What answers at a master's address is one server";
    case CHAOS_ONE_LIST:
        return "All clients have one list of masters, or two of which one has a master more";
    case CHAOS_NONE_BROKEN:
        break;
    }
    return "";
}

const char *chaos_finding_word(const struct chaos_finding *finding)
{
    switch (finding->what) {
    case CHAOS_OVERLAP:
        return "overlap";
    case CHAOS_LOST_UPDATE:
        return "lost update";
    case CHAOS_CHANGED_READ:
        return "changed read";
    case CHAOS_TOKEN_ORDER:
        return "token order";
    case CHAOS_LATE:
        return "late recovery";
    case CHAOS_SCARCE:
        return "too seldom";
    case CHAOS_ORPHAN:
        break;
    }
    return "orphan";
}
