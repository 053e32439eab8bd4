/* config_file.c - the node list file: its text, lines and words. Core.
 *
 *   line   = [ directive { blank word } ] [ "#" comment ]
 *   word   = value | name "=" value         (the second form after a node's URL)
 *   value  = bytes without blanks | '"' bytes without '"' '"'
 *
 * There are no escapes: a quoted value ends at the next quote. Messages say where, and never
 * repeat what stands there, which might be a password in the wrong place.
 */
#include "config_auto.h"

#include "base/diagnostic.h"
#include "base/suggest.h"
#include "base/text.h"
#include "config/config.h"
#include "config/node_options.h"
#include "config/settings.h"
#include "config/url.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One line, being read: the next byte is line[at]. */
struct reader {
    struct rl_config *config;
    redlock_error *error;
    int number;
    const char *line;
    size_t len;
    size_t at;
};

/* A part of the line. */
struct slice {
    size_t at;
    size_t len;
};

static int fail(struct reader *reader, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail(struct reader *reader, size_t at, const char *format, ...)
{
    char text[RL_PROBLEM_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return rl_error_set(reader->error, REDLOCK_ECONFIG, reader->config->file, reader->number,
                        (int)at + 1, "%s", text);
}

/* Report the error of a value's parser, at its place in the line. Returns `code`. */
static int fail_at(struct reader *reader, int code, size_t at, const struct rl_problem *problem)
{
    return rl_error_set(reader->error, code, reader->config->file, reader->number,
                        (int)(at + problem->offset) + 1, "%s", problem->text);
}

/* ---- words ---------------------------------------------------------------------------- */

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t';
}

/* Go to the next word: false at the end of the line, or where a comment begins. */
static bool find_word(struct reader *reader)
{
    while (reader->at < reader->len && is_blank(reader->line[reader->at]))
        reader->at++;
    return reader->at < reader->len && reader->line[reader->at] != '#';
}

static struct slice read_until(struct reader *reader, char stop)
{
    struct slice word = {.at = reader->at};
    while (reader->at < reader->len && !is_blank(reader->line[reader->at]) &&
           reader->line[reader->at] != stop)
        reader->at++;
    word.len = reader->at - word.at;
    return word;
}

static int read_value(struct reader *reader, struct slice *ret_value)
{
    if (reader->at == reader->len || reader->line[reader->at] != '"') {
        *ret_value = read_until(reader, ' ');
        return 0;
    }
    size_t quote = reader->at++;
    const char *start = reader->line + reader->at;
    const char *end = memchr(start, '"', reader->len - reader->at);
    if (!end)
        return fail(reader, quote,
                    "the quote is not closed; put a '\"' behind the value, on the same line");
    *ret_value = (struct slice){.at = reader->at, .len = (size_t)(end - start)};
    reader->at += ret_value->len + 1;
    if (reader->at < reader->len && !is_blank(reader->line[reader->at]))
        return fail(reader, reader->at, "leave a blank after the closing quote");
    return 0;
}

/* ---- directives ----------------------------------------------------------------------- */

static const char no_equals[] = "no '=' here; write the value after a blank, as in ttl 10s";

static int parse_setting(struct reader *reader, struct slice name, enum rl_setting setting)
{
    struct rl_place *place = &reader->config->places[setting];
    if (place->line > 0) {
        return fail(reader, name.at, "%s stands in line %d already; keep one of the two",
                    rl_setting_name(setting), place->line);
    }
    if (!find_word(reader)) {
        return fail(reader, name.at + name.len, "%s needs a value; see redlock.conf(5)",
                    rl_setting_name(setting));
    }
    struct slice value;
    int code = read_value(reader, &value);
    if (code < 0)
        return code;
    if (value.len > 0 && reader->line[value.at] == '=')
        return fail(reader, value.at, "%s", no_equals);
    struct rl_problem problem = {.offset = 0};
    code =
        rl_setting_parse(reader->config, setting, reader->line + value.at, value.len, &problem);
    if (code < 0)
        return fail_at(reader, code, value.at, &problem);
    if (find_word(reader)) {
        return fail(reader, reader->at,
                    "%s takes one value; end the line before this, or begin a comment with '#'",
                    rl_setting_name(setting));
    }
    *place = (struct rl_place){.line = reader->number, .column = (int)value.at + 1};
    return 0;
}

/* An error that lists the valid names, or the one that was probably meant. */
static int fail_unknown(struct reader *reader, struct slice word, const char *what,
                        const char *const *names, size_t count, const char *suffix)
{
    char text[RL_PROBLEM_TEXT_MAX];
    int nearest = rl_nearest(names, count, reader->line + word.at, word.len);
    if (nearest >= 0) {
        return fail(reader, word.at, "unknown %s; did you mean %s%s?", what, names[nearest],
                    suffix);
    }
    int len = snprintf(text, sizeof(text), "unknown %s; known are", what);
    for (size_t i = 0; i < count; i++) {
        assert(len > 0 && (size_t)len < sizeof(text));
        len += snprintf(text + len, sizeof(text) - (size_t)len, "%s %s%s", i > 0 ? "," : "",
                        names[i], suffix);
    }
    return fail(reader, word.at, "%s", text);
}

static int unknown_directive(struct reader *reader, struct slice word)
{
    const char *text = reader->line + word.at;
    if (memmem(text, word.len, "://", 3))
        return fail(reader, word.at, "a URL without its directive; write node in front of it");
    if (word.len == strlen("durable") && memcmp(text, "durable", word.len) == 0)
        return fail(reader, word.at,
                    "durable has been taken back: a restarted master always waits for max-ttl; "
                    "remove this line");
    const char *sign = memchr(text, '=', word.len);
    size_t name_len = sign ? (size_t)(sign - text) : word.len;
    if (sign && rl_setting_find(text, name_len) >= 0)
        return fail(reader, word.at + name_len, "%s", no_equals);
    if (rl_node_option_find(text, name_len) >= 0)
        return fail(reader, word.at,
                    "this is an option of a node; it stands on the node's line, after the URL");
    const char *names[1 + RL_SETTING_COUNT] = {"node"};
    for (int i = 0; i < RL_SETTING_COUNT; i++)
        names[1 + i] = rl_setting_name((enum rl_setting)i);
    return fail_unknown(reader, word, "directive", names, 1 + RL_SETTING_COUNT, "");
}

/* ---- nodes ---------------------------------------------------------------------------- */

/* name=value. Where it stands goes to `ret_at`, by option. */
static int parse_option(struct reader *reader, struct rl_node_config *node,
                        size_t ret_at[RL_OPTION_COUNT])
{
    if (reader->line[reader->at] == '"')
        return fail(reader, reader->at, "quote the value alone, as in password-file=\"/a b\"");
    struct slice name = read_until(reader, '=');
    bool has_value = reader->at < reader->len && reader->line[reader->at] == '=';
    int found = rl_node_option_find(reader->line + name.at, name.len);
    if (found < 0) {
        const char *names[RL_OPTION_COUNT];
        for (int i = 0; i < RL_OPTION_COUNT; i++)
            names[i] = rl_node_option_name((enum rl_node_option)i);
        return fail_unknown(reader, name, "option of a node", names, RL_OPTION_COUNT, "=");
    }
    enum rl_node_option option = (enum rl_node_option)found;
    if (!has_value) {
        return fail(reader, name.at + name.len,
                    "%s needs a value; write %s=VALUE, without blanks",
                    rl_node_option_name(option), rl_node_option_name(option));
    }
    if (rl_node_option_get(node, option)) {
        return fail(reader, name.at, "%s stands on this line already; keep one of the two",
                    rl_node_option_name(option));
    }
    reader->at++;
    struct slice value;
    int code = read_value(reader, &value);
    if (code < 0)
        return code;
    ret_at[option] = name.at;
    struct rl_problem problem = {.offset = 0};
    code = rl_node_option_set(node, option, reader->line + value.at, value.len, &problem);
    return code < 0 ? fail_at(reader, code, value.at, &problem) : 0;
}

static int parse_node_words(struct reader *reader, struct slice name,
                            struct rl_node_config *node)
{
    if (!find_word(reader))
        return fail(reader, name.at + name.len,
                    "node needs a URL; write for example node redis://10.0.0.1:6379");
    struct slice url;
    int code = read_value(reader, &url);
    if (code < 0)
        return code;
    struct rl_problem problem = {.offset = 0};
    code = rl_url_parse(reader->line + url.at, url.len, node, &problem);
    if (code < 0)
        return fail_at(reader, code, url.at, &problem);
    node->line = reader->number;
    node->column = (int)url.at + 1;
    size_t option_at[RL_OPTION_COUNT] = {0};
    while (code == 0 && find_word(reader))
        code = parse_option(reader, node, option_at);
    if (code < 0)
        return code;
    enum rl_node_option option = RL_OPTION_COUNT;
    code = rl_node_check(node, &option, &problem);
    return code < 0 ? fail_at(reader, code, option_at[option], &problem) : 0;
}

static int parse_node(struct reader *reader, struct slice name)
{
    struct rl_config *config = reader->config;
    if (config->node_count == REDLOCK_NODES_MAX) {
        return fail(reader, name.at, "more than %d nodes; a quorum is small: 3, 5 or 7",
                    REDLOCK_NODES_MAX);
    }
    struct rl_node_config node = {.label = NULL};
    int code = parse_node_words(reader, name, &node);
    bool has_password = node.password != NULL;
    if (code == 0) {
        struct rl_problem problem = {.offset = 0};
        code = rl_config_take_node(config, &node, &problem);
        if (code < 0)
            fail_at(reader, code, name.at, &problem);
    }
    rl_node_config_free(&node);
    config->holds_password = config->holds_password || (code == 0 && has_password);
    return code;
}

/* ---- lines ---------------------------------------------------------------------------- */

static int parse_line(struct reader *reader)
{
    if (!find_word(reader))
        return 0;
    struct slice name = read_until(reader, ' ');
    const char *text = reader->line + name.at;
    if (name.len == 4 && memcmp(text, "node", 4) == 0)
        return parse_node(reader, name);
    int setting = rl_setting_find(text, name.len);
    if (setting >= 0)
        return parse_setting(reader, name, (enum rl_setting)setting);
    return unknown_directive(reader, name);
}

static int check_line(struct reader *reader)
{
    for (size_t i = 0; i < reader->len; i++) {
        unsigned char byte = (unsigned char)reader->line[i];
        if (i >= RL_LINE_MAX) {
            return fail(reader, i, "the line is too long; a line has at most %d bytes",
                        RL_LINE_MAX);
        }
        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return fail(reader, i,
                        "a byte that is no text (0x%02x); a node list is plain text, a "
                        "directive a line",
                        (unsigned)byte);
        }
    }
    return 0;
}

static int for_each_line(struct reader *reader, const char *text, size_t len,
                         int (*handle)(struct reader *))
{
    int code = 0;
    reader->number = 0;
    while (code == 0 && rl_next_line(&text, &len, &reader->line, &reader->len)) {
        reader->at = 0;
        reader->number++;
        code = handle(reader);
    }
    return code;
}

static int parse_text(struct rl_config *config, const char *file, const char *text, size_t len,
                      redlock_error *error)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    if (len > RL_FILE_MAX)
        return rl_error_set(error, REDLOCK_ECONFIG, file, 0, 0,
                            "too long for a node list; it has at most %d bytes", RL_FILE_MAX);
    config->file = rl_copy(file, strlen(file));
    if (!config->file)
        return rl_error_set(error, REDLOCK_ENOMEM, file, 0, 0, "out of memory");
    if (len >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        len -= 3;
    }
    struct reader reader = {.config = config, .error = error};
    /* Check all lines first: of a binary file the user must learn that it is one. */
    int code = for_each_line(&reader, text, len, check_line);
    return code < 0 ? code : for_each_line(&reader, text, len, parse_line);
}

int rl_config_parse(struct rl_config *config, const char *file, const char *text, size_t len,
                    redlock_error *error)
{
    assert(!config->file && (text || len == 0));
    int code = parse_text(config, file, text, len, error);
    if (code < 0)
        rl_config_free(config);
    assert(code == 0 || error->text[0]);
    return code;
}
