/* cli_out.c - text for people and JSON for programs. Names, handles, tokens and masters' texts
 * are foreign bytes: none of them may reach a terminal or a JSON string unescaped. */
#include "config_auto.h"

#include "redlock/cli.h"

#include "kinds/kind.h"
#include "base/duration.h"
#include "base/text_escape.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048

static void write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t written = write(fd, bytes, len);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return; /* stderr is gone: nothing can be reported any more */
        bytes += written;
        len -= (size_t)written;
    }
}

/* The line begins with "redlock: ". */
__attribute__((format(printf, 3, 0))) static void
say(const struct cli *cli, char line[LINE_MAX_BYTES], const char *format, va_list arguments)
{
    static const char prefix[] = "redlock: ";
    size_t len = sizeof(prefix) - 1;
    memcpy(line, prefix, len);
    int made = vsnprintf(line + len, LINE_MAX_BYTES - len - 1, format, arguments);
    len += made > 0 ? (size_t)made : 0;
    if (len > LINE_MAX_BYTES - 2)
        len = LINE_MAX_BYTES - 2;
    line[len] = '\n';
    if (!cli->quiet)
        write_all(STDERR_FILENO, line, len + 1);
    line[len] = '\0';
}

void cli_say(const struct cli *cli, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    say(cli, line, format, arguments);
    va_end(arguments);
    cli_outcome_said(strchr(line, ' ') + 1);
}

void cli_note(const struct cli *cli, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list arguments;
    va_start(arguments, format);
    say(cli, line, format, arguments);
    va_end(arguments);
}

struct cli_text cli_clock_text(void)
{
    struct cli_text shown = {""};
    struct tm local;
    time_t now = time(NULL);
    if (localtime_r(&now, &local))
        strftime(shown.text, sizeof(shown.text), "%Y-%m-%dT%H:%M:%S%z", &local);
    return shown;
}

struct cli_text cli_text(const void *bytes, size_t len)
{
    struct cli_text shown;
    rl_text_escape(shown.text, sizeof(shown.text), bytes, len);
    return shown;
}

struct cli_text cli_time_text(int64_t ms)
{
    struct cli_text shown;
    _Static_assert(sizeof(shown.text) >= RL_DURATION_TEXT_MAX, "a duration fits");
    rl_duration_about(ms, shown.text);
    return shown;
}

struct cli_text cli_left_text(int64_t ttl_ms)
{
    struct cli_text shown = {"for ever"};
    if (ttl_ms >= 0)
        snprintf(shown.text, sizeof(shown.text), "%.200s left", cli_time_text(ttl_ms).text);
    return shown;
}

struct cli_text cli_names_text(const struct cli *cli)
{
    static const char more[] = ", ...";
    struct cli_text all = {""};
    size_t len = 0;
    for (unsigned i = 0; i < cli->name_count; i++) {
        char one[CLI_TEXT_MAX - 2 * sizeof(more)];
        rl_text_escape(one, sizeof(one), cli->names[i], strlen(cli->names[i]));
        if (len + strlen(one) + sizeof(", ''") + sizeof(more) > sizeof(all.text)) {
            memcpy(all.text + len, more, sizeof(more));
            break;
        }
        len += (size_t)snprintf(all.text + len, sizeof(all.text) - len, "%s'%s'",
                                i > 0 ? ", " : "", one);
    }
    return all;
}

void cli_names_of(const redlock_lock *lock, struct cli_names *ret_names)
{
    size_t used = 0, len = 0;
    ret_names->count = 0;
    for (size_t i = 0; i < redlock_name_count(lock) && i < REDLOCK_NAMES_MAX; i++) {
        const char *name = redlock_name_at(lock, i, &len);
        if (len > sizeof(ret_names->bytes) - used)
            break;
        memcpy(ret_names->bytes + used, name, len);
        ret_names->len[ret_names->count++] = len;
        used += len;
    }
}

struct cli_text cli_first_name(const struct cli_names *names)
{
    return cli_text(names->bytes, names->count > 0 ? names->len[0] : 0);
}

const char *cli_kind_word(int kind)
{
    static const char *const words[] = {"plain", "reentrant", "fair", "read", "write"};
    assert(kind >= 0 && (size_t)kind < sizeof(words) / sizeof(words[0]));
    return words[kind];
}

/* ---- JSON ---- */

/* The length of the well-formed UTF-8 character at `bytes`; 0: it is none. */
static size_t utf8_length(const unsigned char *bytes, size_t len)
{
    unsigned char first = bytes[0];
    if (first < 0x80)
        return 1;
    size_t need = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (need == 0 || need > len)
        return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    return need;
}

static void json_character(FILE *out, const unsigned char *bytes, size_t len)
{
    if (len == 0)
        fputs("\\ufffd", out);
    else if (len == 1 && (*bytes == '"' || *bytes == '\\'))
        fprintf(out, "\\%c", *bytes);
    else if (len == 1 && (*bytes < 0x20 || *bytes == 0x7f))
        fprintf(out, "\\u%04x", (unsigned)*bytes);
    else
        fwrite(bytes, 1, len, out);
}

void cli_json_bytes(FILE *out, const char *key, const void *bytes, size_t len)
{
    const unsigned char *all = bytes;
    bool exact = true;
    fprintf(out, "\"%s\":\"", key);
    for (size_t at = 0; at < len;) {
        size_t used = utf8_length(all + at, len - at);
        json_character(out, all + at, used);
        exact = exact && used > 0;
        at += used > 0 ? used : 1;
    }
    fputc('"', out);
    if (exact)
        return;
    fprintf(out, ",\"%s_hex\":\"", key);
    for (size_t at = 0; at < len; at++)
        fprintf(out, "%02x", (unsigned)all[at]);
    fputc('"', out);
}

void cli_json_text(FILE *out, const char *key, const char *text)
{
    cli_json_bytes(out, key, text, strlen(text));
}

void cli_json_names(FILE *out, const struct cli_names *names)
{
    const char *at = names->bytes;
    if (names->count > 1)
        fputs("\"names\":[", out);
    for (size_t i = 0; i < names->count; at += names->len[i++]) {
        fputs(names->count == 1 ? "" : i > 0 ? ",{" : "{", out);
        cli_json_bytes(out, "name", at, names->len[i]);
        fputs(names->count == 1 ? "" : "}", out);
    }
    if (names->count > 1)
        fputc(']', out);
}

void cli_json_fencing_token(FILE *out, uint64_t token)
{
    if (token > 0)
        fprintf(out, ",\"fencing_token\":%llu", (unsigned long long)token);
}

static const char *vote_name(int vote)
{
    switch (vote) {
    case REDLOCK_VOTE_GRANTED:
        return "granted";
    case REDLOCK_VOTE_HELD:
        return "held";
    case REDLOCK_VOTE_FREE:
        return "free";
    case REDLOCK_VOTE_FAILED:
        return "failed";
    default:
        return "none";
    }
}

bool cli_is_reserved(const redlock_node_vote *vote)
{
    return vote->ttl_ms >= 0 && rl_kind_holder_is_reserved(vote->holder, vote->holder_len);
}

void cli_json_votes(FILE *out, const redlock_report *report)
{
    fputs("\"nodes\":[", out);
    for (unsigned i = 0; i < report->node_count; i++) {
        const redlock_node_vote *vote = &report->node[i];
        fputs(i > 0 ? ",{" : "{", out);
        cli_json_text(out, "node", vote->node);
        fputc(',', out);
        cli_json_text(out, "vote", vote_name(vote->vote));
        if (vote->vote == REDLOCK_VOTE_HELD) {
            fputc(',', out);
            cli_json_bytes(out, "holder", vote->holder, vote->holder_len);
            if (vote->ttl_ms >= 0)
                fprintf(out, ",\"ttl_ms\":%lld", (long long)vote->ttl_ms);
            else
                fputs(",\"ttl_ms\":null", out); /* for ever */
        } else if (vote->vote == REDLOCK_VOTE_FREE && cli_is_reserved(vote)) {
            fprintf(out, ",\"kept\":true,\"ttl_ms\":%lld", (long long)vote->ttl_ms);
        }
        if (vote->vote == REDLOCK_VOTE_FAILED || vote->text[0] != '\0') {
            fputc(',', out);
            cli_json_text(out, "text", vote->text);
        }
        fputc('}', out);
    }
    fputc(']', out);
}

/* ---- votes for people ---- */

void cli_say_votes(const struct cli *cli, const redlock_report *report)
{
    if (!cli->verbose)
        return;
    for (unsigned i = 0; i < report->node_count; i++) {
        const redlock_node_vote *vote = &report->node[i];
        const char *node = vote->node;
        if (vote->vote == REDLOCK_VOTE_HELD)
            cli_say(cli, "  %s: held by %s, %s", node,
                    cli_text(vote->holder, vote->holder_len).text,
                    cli_left_text(vote->ttl_ms).text);
        else if (vote->vote == REDLOCK_VOTE_FAILED)
            cli_say(cli, "  %s: failed: %s", node, vote->text);
        else
            cli_say(cli, "  %s: %s", node,
                    vote->vote != REDLOCK_VOTE_NONE ? vote_name(vote->vote)
                    : vote->text[0]                 ? vote->text
                                                    : "no answer was needed");
    }
}

int cli_flush(const struct cli *cli)
{
    if (fflush(stdout) == 0 && !ferror(stdout) && !cli->no_stdout)
        return CLI_OK;
    cli_say(cli, "could not write to stdout: %s",
            cli->no_stdout ? "it is closed" : strerror(errno));
    return CLI_SYSTEM;
}

bool cli_says_yes(void)
{
    char answer[16] = "";
    if (!fgets(answer, sizeof(answer), stdin))
        return false;
    answer[strcspn(answer, "\n")] = '\0';
    return strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
}
