/* list_parts.c - see list_parts.h. Core. */
#include "config_auto.h"

#include "config/list_parts.h"
#include "config/settings.h"
#include "config/url.h"

#include <assert.h>
#include <string.h>

/* A password that is a variable does not stand in the file; one that has a part of its own does. */
static bool stands_there(const struct rl_reader *reader, const struct rl_value *url)
{
    const char *text = reader->line + url->place.at;
    const char *end = memrchr(text, '@', url->place.len);
    const char *scheme = end ? memmem(text, (size_t)(end - text), "://", 3) : NULL;
    const char *colon = scheme ? memchr(scheme + 3, ':', (size_t)(end - scheme - 3)) : NULL;
    if (!url->made || !colon)
        return !url->made;
    for (const char *at = colon + 1; at < end; at++) {
        if (end - at < 2 || memcmp(at, "${", 2) != 0)
            return true;
        at = memchr(at, '}', (size_t)(end - at));
        assert(at); /* it was replaced */
    }
    return false;
}

static int begin(struct rl_reader *reader, const struct rl_value *url,
                 struct rl_node_words *words)
{
    struct rl_problem problem = {.offset = 0};
    struct rl_node_config *node = &words->node;
    int code = rl_url_parse(url->text, url->len, node, &problem);
    if (code < 0)
        return rl_reader_fail_value(reader, code, url, &problem);
    node->line = reader->number;
    node->column = (int)url->place.at + 1;
    words->url_has_password = node->password && stands_there(reader, url);
    return 0;
}

int rl_node_words_url(struct rl_reader *reader, struct rl_node_words *words)
{
    *words = (struct rl_node_words){.url_has_password = false};
    if (reader->config->node_count == REDLOCK_NODES_MAX) {
        return rl_reader_fail(reader, reader->at,
                              "more than %d nodes; a quorum is small: 3, 5 or 7",
                              REDLOCK_NODES_MAX);
    }
    struct rl_value url;
    int code = rl_reader_value(reader, true, &url);
    if (code < 0)
        return code;
    code = begin(reader, &url, words);
    rl_value_free(&url);
    return code;
}

static int find_option(struct rl_reader *reader, struct rl_slice name,
                       enum rl_node_option *ret_option)
{
    int found = rl_node_option_find(reader->line + name.at, name.len);
    if (found >= 0) {
        *ret_option = (enum rl_node_option)found;
        return 0;
    }
    const char *names[RL_OPTION_COUNT];
    for (int i = 0; i < RL_OPTION_COUNT; i++)
        names[i] = rl_node_option_name((enum rl_node_option)i);
    return rl_reader_unknown(reader, name, "option of a node", names, RL_OPTION_COUNT, "=");
}

/* name=value. */
int rl_node_words_option(struct rl_reader *reader, struct rl_node_words *words)
{
    if (reader->line[reader->at] == '"')
        return rl_reader_fail(reader, reader->at,
                              "quote the value alone, as in password-file=\"/a b\"");
    struct rl_slice name = rl_reader_until(reader, '=');
    bool has_value = reader->at < reader->len && reader->line[reader->at] == '=';
    enum rl_node_option option = RL_OPTION_COUNT;
    int code = find_option(reader, name, &option);
    if (code < 0)
        return code;
    const char *shown = rl_node_option_name(option);
    if (!has_value)
        return rl_reader_fail(reader, name.at + name.len,
                              "%s needs a value; write %s=VALUE, without blanks", shown, shown);
    if (rl_node_option_get(&words->node, option))
        return rl_reader_fail(reader, name.at, "%s stands on this line already; keep one of the "
                                               "two", shown);
    reader->at++;
    struct rl_value value;
    code = rl_reader_value(reader, false, &value);
    if (code < 0)
        return code;
    words->option_at[option] = name.at;
    struct rl_problem problem = {.offset = 0};
    code = rl_node_option_set(&words->node, option, value.text, value.len, &problem);
    if (code < 0)
        rl_reader_fail_value(reader, code, &value, &problem);
    rl_value_free(&value);
    return code;
}

int rl_node_words_end(struct rl_reader *reader, struct rl_node_words *words)
{
    assert(words->node.label);
    enum rl_node_option option = RL_OPTION_COUNT;
    struct rl_problem problem = {.offset = 0};
    int code = rl_node_check(&words->node, &option, &problem);
    if (code < 0)
        return rl_reader_fail_at(reader, code, words->option_at[option], &problem);
    size_t at = (size_t)words->node.column - 1;
    code = rl_config_take_node(reader->config, &words->node, &problem);
    if (code < 0)
        return rl_reader_fail_at(reader, code, at, &problem);
    if (words->url_has_password)
        reader->config->holds_password = true;
    return 0;
}

static int check_new(struct rl_reader *reader, struct rl_slice name, enum rl_setting setting)
{
    const struct rl_place *place = &reader->config->places[setting];
    if (place->line == 0)
        return 0;
    return rl_reader_fail(reader, name.at, "%s stands in line %d already; keep one of the two",
                          rl_setting_name(setting), place->line);
}

int rl_setting_words(struct rl_reader *reader, struct rl_slice name, enum rl_setting setting)
{
    int code = check_new(reader, name, setting);
    if (code < 0)
        return code;
    struct rl_value value;
    code = rl_reader_value(reader, false, &value);
    if (code < 0)
        return code;
    struct rl_problem problem = {.offset = 0};
    code = rl_setting_parse(reader->config, setting, value.text, value.len, &problem);
    if (code < 0)
        rl_reader_fail_value(reader, code, &value, &problem);
    else
        reader->config->places[setting] =
            (struct rl_place){.line = reader->number, .column = (int)value.place.at + 1};
    rl_value_free(&value);
    return code;
}
