/* reader.c - see reader.h. Core. */
#include "config_auto.h"

#include "base/suggest.h"
#include "base/text.h"
#include "base/wipe.h"
#include "config/reader.h"
#include "config/variables.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int rl_reader_fail(struct rl_reader *reader, size_t at, const char *format, ...)
{
    char text[RL_PROBLEM_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return rl_error_set(reader->error, REDLOCK_ECONFIG, reader->config->file, reader->number,
                        (int)at + 1, "%s", text);
}

int rl_reader_fail_at(struct rl_reader *reader, int code, size_t at,
                      const struct rl_problem *problem)
{
    return rl_error_set(reader->error, code, reader->config->file, reader->number,
                        (int)(at + problem->offset) + 1, "%s", problem->text);
}

int rl_reader_fail_value(struct rl_reader *reader, int code, const struct rl_value *value,
                         const struct rl_problem *problem)
{
    /* What a variable has is no place in the list. */
    return rl_error_set(reader->error, code, reader->config->file, reader->number,
                        (int)(value->place.at + (value->made ? 0 : problem->offset)) + 1, "%s%s",
                        value->made ? "with the values of its variables: " : "", problem->text);
}

int rl_reader_unknown(struct rl_reader *reader, struct rl_slice word, const char *what,
                      const char *const *names, size_t count, const char *suffix)
{
    char text[RL_PROBLEM_TEXT_MAX];
    int nearest = rl_nearest(names, count, reader->line + word.at, word.len);
    if (nearest >= 0) {
        return rl_reader_fail(reader, word.at, "unknown %s; did you mean %s%s?", what,
                              names[nearest], suffix);
    }
    int len = snprintf(text, sizeof(text), "unknown %s; known are", what);
    for (size_t i = 0; i < count; i++) {
        assert(len > 0 && (size_t)len < sizeof(text));
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s %s%s", i > 0 ? "," : "",
                        names[i], suffix);
    }
    return rl_reader_fail(reader, word.at, "%s", text);
}

/* ---- words ---------------------------------------------------------------------------- */

static bool is_blank(const struct rl_reader *reader, char letter)
{
    return letter == ' ' || letter == '\t' ||
           (reader->in_words && (letter == '\n' || letter == '\r'));
}

bool rl_reader_find_word(struct rl_reader *reader)
{
    while (reader->at < reader->len && is_blank(reader, reader->line[reader->at]))
        reader->at++;
    return reader->at < reader->len && (reader->in_words || reader->line[reader->at] != '#');
}

struct rl_slice rl_reader_until(struct rl_reader *reader, char stop)
{
    struct rl_slice word = {.at = reader->at};
    while (reader->at < reader->len && !is_blank(reader, reader->line[reader->at]) &&
           reader->line[reader->at] != stop)
        reader->at++;
    word.len = reader->at - word.at;
    return word;
}

static int read_quoted(struct rl_reader *reader, struct rl_slice *ret_value)
{
    size_t quote = reader->at++;
    const char *start = reader->line + reader->at;
    const char *end = memchr(start, '"', reader->len - reader->at);
    if (!end)
        return rl_reader_fail(reader, quote, "the quote is not closed; put a '\"' behind the "
                                             "value, on the same line");
    *ret_value = (struct rl_slice){.at = reader->at, .len = (size_t)(end - start)};
    reader->at += ret_value->len + 1;
    if (reader->at < reader->len && !is_blank(reader, reader->line[reader->at]))
        return rl_reader_fail(reader, reader->at, "leave a blank after the closing quote");
    return 0;
}

int rl_reader_value(struct rl_reader *reader, bool is_url, struct rl_value *ret_value)
{
    *ret_value = (struct rl_value){.made = NULL};
    struct rl_slice *place = &ret_value->place;
    int code = 0;
    if (reader->at < reader->len && reader->line[reader->at] == '"')
        code = read_quoted(reader, place);
    else
        *place = rl_reader_until(reader, ' ');
    if (code < 0)
        return code;
    ret_value->text = reader->line + place->at;
    ret_value->len = place->len;
    struct rl_problem problem = {.offset = 0};
    if (reader->env)
        code = rl_variables_replace(ret_value->text, place->len, is_url, reader->env,
                                    &ret_value->made, &problem);
    if (code < 0)
        return rl_reader_fail_at(reader, code, place->at, &problem);
    if (ret_value->made) {
        ret_value->text = ret_value->made;
        ret_value->len = strlen(ret_value->made);
    }
    return 0;
}

void rl_value_free(struct rl_value *value)
{
    rl_wipe_free(value->made);
}

/* ---- bytes ---------------------------------------------------------------------------- */

int rl_reader_check(struct rl_reader *reader)
{
    size_t most = reader->in_words ? RL_FILE_MAX : RL_LINE_MAX;
    for (size_t i = 0; i < reader->len; i++) {
        unsigned char byte = (unsigned char)reader->line[i];
        if (i >= most) {
            return rl_reader_fail(reader, i, "the line is too long; a line has at most %d bytes",
                                  RL_LINE_MAX);
        }
        if ((byte < ' ' || byte == 0x7f) && !is_blank(reader, (char)byte)) {
            return rl_reader_fail(reader, i,
                                  "a byte that is no text (0x%02x); a node list is plain text, "
                                  "a directive a line",
                                  (unsigned)byte);
        }
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------ */

static int begin(struct rl_reader *reader, const char *file, size_t len)
{
    if (len > RL_FILE_MAX)
        return rl_error_set(reader->error, REDLOCK_ECONFIG, file, 0, 0,
                            "too long%s; it has at most %d bytes",
                            reader->in_words ? "" : " for a node list", RL_FILE_MAX);
    reader->config->file = rl_copy(file, strlen(file));
    if (!reader->config->file)
        return rl_error_set(reader->error, REDLOCK_ENOMEM, file, 0, 0, "out of memory");
    return 0;
}

int rl_reader_read(struct rl_reader *reader, const char *file, const char *text, size_t len,
                   int (*read)(struct rl_reader *reader, const char *text, size_t len))
{
    assert(!reader->config->file && (text || len == 0));
    int code = begin(reader, file, len);
    if (code == 0)
        code = read(reader, text, len);
    if (code < 0)
        rl_config_free(reader->config);
    assert(code == 0 || reader->error->text[0]);
    return code;
}
