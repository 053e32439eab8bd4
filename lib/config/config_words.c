/* config_words.c - the node list in words: URLs with their options, and the list's settings, in
 * one text, as an environment variable has it. Core.
 *
 *   words  = { URL | name "=" value }
 *
 * An option of a node belongs to the URL before it. Nothing is replaced in it: the shell or
 * whatever set the variable has done that.
 */
#include "config_auto.h"

#include "config/list_parts.h"
#include "config/settings.h"

#include <string.h>

bool rl_config_is_words(const char *text)
{
    return strstr(text, "://") != NULL;
}

/* The name before a '='; a URL has "://" before any. */
static bool is_named(const struct rl_reader *reader, struct rl_slice *ret_name)
{
    struct rl_reader ahead = *reader;
    *ret_name = rl_reader_until(&ahead, '=');
    return ahead.at < ahead.len && ahead.line[ahead.at] == '=' &&
           !memmem(reader->line + ret_name->at, ret_name->len, "://", 3);
}

static int unknown_name(struct rl_reader *reader, struct rl_slice name)
{
    const char *names[RL_OPTION_COUNT + RL_SETTING_COUNT];
    for (int i = 0; i < RL_OPTION_COUNT; i++)
        names[i] = rl_node_option_name((enum rl_node_option)i);
    for (int i = 0; i < RL_SETTING_COUNT; i++)
        names[RL_OPTION_COUNT + i] = rl_setting_name((enum rl_setting)i);
    return rl_reader_unknown(reader, name, "name", names, RL_OPTION_COUNT + RL_SETTING_COUNT,
                             "=");
}

static int end_node(struct rl_reader *reader, struct rl_node_words *words)
{
    return words->node.label ? rl_node_words_end(reader, words) : 0;
}

static int parse_named(struct rl_reader *reader, struct rl_slice name,
                       struct rl_node_words *words)
{
    const char *text = reader->line + name.at;
    int setting = rl_setting_find(text, name.len);
    if (setting >= 0) {
        reader->at = name.at + name.len + 1;
        return rl_setting_words(reader, name, (enum rl_setting)setting);
    }
    if (rl_node_option_find(text, name.len) < 0)
        return unknown_name(reader, name);
    if (!words->node.label)
        return rl_reader_fail(reader, name.at,
                              "this is an option of a node; it stands behind the node's URL");
    return rl_node_words_option(reader, words);
}

/* Does a URL stand here, and only one? What people write instead is told. */
static int check_url(struct rl_reader *reader)
{
    struct rl_reader ahead = *reader;
    struct rl_slice word = rl_reader_until(&ahead, ' ');
    const char *text = reader->line + word.at;
    const char *first = memmem(text, word.len, "://", 3);
    size_t left = first ? word.len - (size_t)(first + 3 - text) : 0;
    if (first && !memmem(first + 3, left, "://", 3))
        return 0;
    if (first)
        return rl_reader_fail(reader, word.at, "URLs stand apart by blanks, as in redis://a "
                                               "redis://b");
    if (rl_setting_find(text, word.len) >= 0 || rl_node_option_find(text, word.len) >= 0)
        return rl_reader_fail(reader, word.at + word.len,
                              "no '=' here; write the value behind it, as in ttl=10s");
    return rl_reader_fail(reader, word.at,
                          "neither a URL nor NAME=VALUE, as in redis://a redis://b max-ttl=10s");
}

static int parse_word(struct rl_reader *reader, struct rl_node_words *words)
{
    struct rl_slice name;
    if (is_named(reader, &name))
        return parse_named(reader, name, words);
    int code = check_url(reader);
    if (code == 0)
        code = end_node(reader, words);
    return code < 0 ? code : rl_node_words_url(reader, words);
}

static int read_words(struct rl_reader *reader, const char *text, size_t len)
{
    struct rl_node_words words = {.url_has_password = false};
    reader->number = 1;
    reader->line = text;
    reader->len = len;
    int code = rl_reader_check(reader);
    while (code == 0 && rl_reader_find_word(reader))
        code = parse_word(reader, &words);
    if (code == 0)
        code = end_node(reader, &words);
    rl_node_config_free(&words.node);
    return code;
}

int rl_config_parse_words(struct rl_config *config, const char *text, size_t len,
                          redlock_error *error)
{
    struct rl_reader reader = {.config = config, .error = error, .in_words = true};
    return rl_reader_read(&reader, RL_WORDS_LABEL, text, len, read_words);
}
