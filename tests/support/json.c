/* json.c - see json.h. A recursive descent over bytes; every rule of the grammar is one
 * function that returns false where the text does not follow it. */
#include "config_auto.h"

#include "json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32

struct reader {
    const unsigned char *at;
    const unsigned char *end;
    int depth;
};

static bool value(struct reader *reader);

static void white_space(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
        reader->at++;
}

static bool token(struct reader *reader, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(reader->end - reader->at) < len || memcmp(reader->at, text, len) != 0)
        return false;
    reader->at += len;
    return true;
}

static size_t digits(struct reader *reader)
{
    const unsigned char *begin = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return (size_t)(reader->at - begin);
}

static bool number(struct reader *reader)
{
    (void)token(reader, "-");
    const unsigned char *begin = reader->at;
    size_t count = digits(reader);
    if (count == 0 || (count > 1 && *begin == '0'))
        return false;
    if (token(reader, ".") && digits(reader) == 0)
        return false;
    if (token(reader, "e") || token(reader, "E")) {
        if (!token(reader, "+"))
            (void)token(reader, "-");
        return digits(reader) > 0;
    }
    return true;
}

static int hex4(const unsigned char *at)
{
    int code = 0;
    for (int i = 0; i < 4; i++) {
        const char *all = "0123456789abcdef0123456789ABCDEF";
        const char *found = at[i] ? strchr(all, at[i]) : NULL;
        if (!found)
            return -1;
        code = code * 16 + (int)((found - all) % 16);
    }
    return code;
}

/* Well-formed, by the table of RFC 3629. */
static size_t utf8(const unsigned char *at, size_t left)
{
    static const struct {
        unsigned char first_low, first_high, second_low, second_high;
        size_t len;
    } rows[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
                {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
                {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    if (at[0] < 0x80)
        return 1;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (at[0] < rows[i].first_low || at[0] > rows[i].first_high || left < rows[i].len ||
            at[1] < rows[i].second_low || at[1] > rows[i].second_high)
            continue;
        for (size_t k = 2; k < rows[i].len; k++) {
            if ((at[k] & 0xc0) != 0x80)
                return 0;
        }
        return rows[i].len;
    }
    return 0;
}

static bool string(struct reader *reader)
{
    if (!token(reader, "\""))
        return false;
    while (reader->at < reader->end && *reader->at != '"') {
        size_t left = (size_t)(reader->end - reader->at);
        if (*reader->at < 0x20)
            return false;
        if (*reader->at != '\\') {
            size_t used = utf8(reader->at, left);
            if (used == 0)
                return false;
            reader->at += used;
        } else if (left > 5 && reader->at[1] == 'u') {
            if (hex4(reader->at + 2) < 0)
                return false;
            reader->at += 6;
        } else if (left > 1 && strchr("\"\\/bfnrt", reader->at[1]) && reader->at[1]) {
            reader->at += 2;
        } else {
            return false;
        }
    }
    return token(reader, "\"");
}

static bool member(struct reader *reader)
{
    white_space(reader);
    if (!string(reader))
        return false;
    white_space(reader);
    return token(reader, ":") && value(reader);
}

static bool list(struct reader *reader, const char *close, bool (*element)(struct reader *))
{
    white_space(reader);
    if (token(reader, close))
        return true;
    do {
        if (!element(reader))
            return false;
        white_space(reader);
    } while (token(reader, ","));
    return token(reader, close);
}

static bool value(struct reader *reader)
{
    bool valid = false;
    if (++reader->depth > DEPTH_MAX)
        return false;
    white_space(reader);
    if (token(reader, "{"))
        valid = list(reader, "}", member);
    else if (token(reader, "["))
        valid = list(reader, "]", value);
    else if (token(reader, "true") || token(reader, "false") || token(reader, "null"))
        valid = true;
    else if (reader->at < reader->end && *reader->at == '"')
        valid = string(reader);
    else
        valid = number(reader);
    reader->depth--;
    return valid;
}

bool json_valid(const char *text, size_t len)
{
    struct reader reader = {(const unsigned char *)text, (const unsigned char *)text + len, 0};
    if (!value(&reader))
        return false;
    white_space(&reader);
    return reader.at == reader.end;
}

/* ---- looking things up in valid text ---- */

static size_t put_utf8(char *out, int code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* Between the quotes; our programs write no surrogate pairs. */
static long decode(const unsigned char *at, const unsigned char *end, char *ret, size_t size)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    size_t len = 0;
    while (at < end && len + 4 < size) {
        if (*at != '\\') {
            ret[len++] = (char)*at++;
        } else if (at[1] == 'u') {
            len += put_utf8(ret + len, hex4(at + 2));
            at += 6;
        } else {
            ret[len++] = meant[strchr(names, at[1]) - names];
            at += 2;
        }
    }
    ret[len] = '\0';
    return (long)len;
}

/* Step into the member or element `name`; false: there is none. */
static bool step(struct reader *reader, const char *name, size_t name_len)
{
    white_space(reader);
    bool object = token(reader, "{");
    if (!object && !token(reader, "["))
        return false;
    for (long index = 0;; index++) {
        char key[256];
        white_space(reader);
        if (object) {
            const unsigned char *begin = reader->at + 1;
            if (!string(reader))
                return false;
            (void)decode(begin, reader->at - 1, key, sizeof(key));
            white_space(reader);
            (void)token(reader, ":");
        } else {
            snprintf(key, sizeof(key), "%ld", index);
        }
        if (strlen(key) == name_len && memcmp(key, name, name_len) == 0)
            return true;
        if (!value(reader))
            return false;
        white_space(reader);
        if (!token(reader, ","))
            return false;
    }
}

const char *json_find(const char *text, size_t len, const char *path, size_t *ret_len)
{
    struct reader reader = {(const unsigned char *)text, (const unsigned char *)text + len, 0};
    for (const char *name = path; *name;) {
        size_t name_len = strcspn(name, ".");
        if (!step(&reader, name, name_len))
            return NULL;
        name += name_len + (name[name_len] == '.' ? 1 : 0);
    }
    white_space(&reader);
    const unsigned char *begin = reader.at;
    if (!value(&reader))
        return NULL;
    *ret_len = (size_t)(reader.at - begin);
    return (const char *)begin;
}

long json_get(const char *text, size_t len, const char *path, char *ret_text, size_t size)
{
    size_t found_len;
    const char *found = json_find(text, len, path, &found_len);
    const unsigned char *begin = (const unsigned char *)found;
    if (!found)
        return -1;
    if (*found == '"')
        return decode(begin + 1, begin + found_len - 1, ret_text, size);
    snprintf(ret_text, size, "%.*s", (int)found_len, found);
    return (long)strlen(ret_text);
}

long json_name(const char *object, size_t len, unsigned number, char *ret_name, size_t size)
{
    struct reader reader = {(const unsigned char *)object, (const unsigned char *)object + len,
                            0};
    if (!token(&reader, "{"))
        return -1;
    for (;; number--) {
        white_space(&reader);
        const unsigned char *begin = reader.at + 1;
        if (!string(&reader))
            return -1;
        if (number == 0)
            return decode(begin, reader.at - 1, ret_name, size);
        white_space(&reader);
        (void)token(&reader, ":");
        if (!value(&reader))
            return -1;
        white_space(&reader);
        if (!token(&reader, ","))
            return -1;
    }
}
