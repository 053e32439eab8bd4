/* json_schema.c - see json_schema.h. */
#include "config_auto.h"

#include "json_schema.h"

#include "json.h"

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    const char *text;
    size_t len;
};

static void check(struct part schema, struct part value, char *ret_why);

static bool find(struct part in, const char *path, struct part *ret_part)
{
    ret_part->text = json_find(in.text, in.len, path, &ret_part->len);
    return ret_part->text != NULL;
}

static bool word_of(struct part in, const char *path, char word[256])
{
    return json_get(in.text, in.len, path, word, 256) >= 0;
}

static void fail(char *ret_why, const char *what, struct part value)
{
    if (!*ret_why)
        snprintf(ret_why, JSON_WHY_MAX, "%s: %.*s", what,
                 (int)(value.len < 200 ? value.len : 200), value.text);
}

static const char *type_of(struct part value)
{
    switch (*value.text) {
    case '{':
        return "object";
    case '[':
        return "array";
    case '"':
        return "string";
    case 't':
    case 'f':
        return "boolean";
    case 'n':
        return "null";
    default:
        return memchr(value.text, '.', value.len) ? "number" : "integer";
    }
}

static bool is_type(struct part value, const char *type)
{
    const char *its = type_of(value);
    return strcmp(its, type) == 0 ||
           (strcmp(type, "number") == 0 && strcmp(its, "integer") == 0);
}

static bool is_in(struct part schema, struct part value)
{
    char path[32];
    struct part one;
    for (unsigned i = 0;; i++) {
        snprintf(path, sizeof(path), "enum.%u", i);
        if (!find(schema, path, &one))
            return false;
        if (one.len == value.len && memcmp(one.text, value.text, one.len) == 0)
            return true;
    }
}

static bool matches(const char *pattern, struct part value)
{
    char text[256];
    regex_t regex;
    if (!word_of(value, "", text) || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    int result = regexec(&regex, text, 0, NULL, 0);
    regfree(&regex);
    return result == 0;
}

static void check_members(struct part schema, struct part value, char *ret_why)
{
    char name[256], path[300], others[256] = "";
    struct part its, found;
    (void)word_of(schema, "additionalProperties", others);
    for (unsigned i = 0; json_name(value.text, value.len, i, name, sizeof(name)) >= 0; i++) {
        (void)find(value, name, &found);
        snprintf(path, sizeof(path), "properties.%s", name);
        if (find(schema, path, &its) ||
            (*others == '{' && find(schema, "additionalProperties", &its)))
            check(its, found, ret_why);
        else
            fail(ret_why, "a member that the schema does not have",
                 (struct part){name, strlen(name)});
    }
    for (unsigned i = 0;; i++) {
        snprintf(path, sizeof(path), "required.%u", i);
        if (!word_of(schema, path, name))
            return;
        if (!find(value, name, &found))
            fail(ret_why, "a member lacks", (struct part){name, strlen(name)});
    }
}

static void check_elements(struct part schema, struct part value, char *ret_why)
{
    char path[32];
    struct part items, one;
    for (unsigned i = 0; find(schema, "items", &items); i++) {
        snprintf(path, sizeof(path), "%u", i);
        if (!find(value, path, &one))
            return;
        check(items, one, ret_why);
    }
}

static bool is_known(const char *word)
{
    static const char *const words[] = {"$schema",
                                        "title",
                                        "description",
                                        "type",
                                        "enum",
                                        "pattern",
                                        "minimum",
                                        "items",
                                        "properties",
                                        "required",
                                        "additionalProperties"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], word) == 0)
            return true;
    }
    return false;
}

static void check(struct part schema, struct part value, char *ret_why)
{
    char word[256];
    struct part part;
    for (unsigned i = 0; json_name(schema.text, schema.len, i, word, sizeof(word)) >= 0; i++) {
        if (!is_known(word))
            fail(ret_why, "a word that this check does not know",
                 (struct part){word, strlen(word)});
    }
    if (word_of(schema, "type", word) && !is_type(value, word))
        fail(ret_why, word, value);
    else if (find(schema, "enum", &part) && !is_in(schema, value))
        fail(ret_why, "not in enum", value);
    else if (word_of(schema, "pattern", word) && !matches(word, value))
        fail(ret_why, word, value);
    else if (word_of(schema, "minimum", word) && strtod(value.text, NULL) < strtod(word, NULL))
        fail(ret_why, "below the minimum", value);
    else if (*value.text == '{')
        check_members(schema, value, ret_why);
    else if (*value.text == '[')
        check_elements(schema, value, ret_why);
}

void json_schema_check(const char *schema, const char *text, char ret_why[JSON_WHY_MAX])
{
    *ret_why = '\0';
    check((struct part){schema, strlen(schema)}, (struct part){text, strlen(text)}, ret_why);
}
