/* config_file.c - the node list file: its text, lines and words. Core.
 *
 *   line   = [ directive { blank word } ] [ "#" comment ]
 *   word   = value | name "=" value         (the second form after a node's URL)
 *   value  = bytes without blanks | '"' bytes without '"' '"'
 *
 * In a value, ${NAME} is replaced (variables.h).
 * There are no escapes: a quoted value ends at the next quote. Messages say where, and never
 * repeat what stands there, which might be a password in the wrong place.
 */
#include "config_auto.h"

#include "base/text.h"
#include "config/list_parts.h"
#include "config/settings.h"

#include <string.h>

/* ---- directives ----------------------------------------------------------------------- */

static const char no_equals[] = "no '=' here; write the value after a blank, as in ttl 10s";

static int parse_setting(struct rl_reader *reader, struct rl_slice name,
                         enum rl_setting setting)
{
    if (!rl_reader_find_word(reader))
        return rl_reader_fail(reader, name.at + name.len,
                              "%s needs a value; see redlock.conf(5)", rl_setting_name(setting));
    if (reader->line[reader->at] == '=')
        return rl_reader_fail(reader, reader->at, "%s", no_equals);
    int code = rl_setting_words(reader, name, setting);
    if (code < 0 || !rl_reader_find_word(reader))
        return code;
    return rl_reader_fail(reader, reader->at,
                          "%s takes one value; end the line before this, or begin a comment "
                          "with '#'",
                          rl_setting_name(setting));
}

static int unknown_directive(struct rl_reader *reader, struct rl_slice word)
{
    const char *text = reader->line + word.at;
    if (memmem(text, word.len, "://", 3))
        return rl_reader_fail(reader, word.at, "a URL without its directive; write node in front of it");
    if (word.len == strlen("durable") && memcmp(text, "durable", word.len) == 0)
        return rl_reader_fail(reader, word.at,
                    "durable has been taken back: a restarted master always waits for max-ttl; "
                    "remove this line");
    const char *sign = memchr(text, '=', word.len);
    size_t name_len = sign ? (size_t)(sign - text) : word.len;
    if (sign && rl_setting_find(text, name_len) >= 0)
        return rl_reader_fail(reader, word.at + name_len, "%s", no_equals);
    if (rl_node_option_find(text, name_len) >= 0)
        return rl_reader_fail(reader, word.at,
                    "this is an option of a node; it stands on the node's line, after the URL");
    const char *names[1 + RL_SETTING_COUNT] = {"node"};
    for (int i = 0; i < RL_SETTING_COUNT; i++)
        names[1 + i] = rl_setting_name((enum rl_setting)i);
    return rl_reader_unknown(reader, word, "directive", names, 1 + RL_SETTING_COUNT, "");
}

/* ---- nodes ---------------------------------------------------------------------------- */

static int read_node(struct rl_reader *reader, struct rl_slice name,
                     struct rl_node_words *words)
{
    if (!rl_reader_find_word(reader))
        return rl_reader_fail(reader, name.at + name.len,
                              "node needs a URL; write for example node redis://10.0.0.1:6379");
    int code = rl_node_words_url(reader, words);
    while (code == 0 && rl_reader_find_word(reader))
        code = rl_node_words_option(reader, words);
    return code < 0 ? code : rl_node_words_end(reader, words);
}

static int parse_node(struct rl_reader *reader, struct rl_slice name)
{
    struct rl_node_words words = {.url_has_password = false};
    int code = read_node(reader, name, &words);
    rl_node_config_free(&words.node);
    return code;
}

/* ---- lines ---------------------------------------------------------------------------- */

static int parse_line(struct rl_reader *reader)
{
    if (!rl_reader_find_word(reader))
        return 0;
    struct rl_slice name = rl_reader_until(reader, ' ');
    const char *text = reader->line + name.at;
    if (name.len == 4 && memcmp(text, "node", 4) == 0)
        return parse_node(reader, name);
    int setting = rl_setting_find(text, name.len);
    if (setting >= 0)
        return parse_setting(reader, name, (enum rl_setting)setting);
    return unknown_directive(reader, name);
}

static int for_each_line(struct rl_reader *reader, const char *text, size_t len,
                         int (*handle)(struct rl_reader *))
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

static int read_lines(struct rl_reader *reader, const char *text, size_t len)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";

    if (len >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        len -= 3;
    }
    /* Check all lines first: of a binary file the user must learn that it is one. */
    int code = for_each_line(reader, text, len, rl_reader_check);
    return code < 0 ? code : for_each_line(reader, text, len, parse_line);
}

int rl_config_parse(struct rl_config *config, const char *file, const char *text, size_t len,
                    rl_env_fn *env, redlock_error *error)
{
    struct rl_reader reader = {.config = config, .env = env, .error = error};
    return rl_reader_read(&reader, file, text, len, read_lines);
}
