/* text.c - see text.h. Core. */
#include "config_auto.h"

#include "base/text.h"

#include "base/limits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_MAX 18 /* digits of a number that fits */

int rl_hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

char rl_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

char *rl_copy(const char *text, size_t len)
{
    assert(text);
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

bool rl_skip(struct rl_cursor *cursor, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < len || memcmp(cursor->at, word, len) != 0)
        return false;
    cursor->at += len;
    return true;
}

char *rl_put_hex(char *ret_text, const unsigned char *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        *ret_text++ = digits[bytes[i] >> 4];
        *ret_text++ = digits[bytes[i] & 15];
    }
    return ret_text;
}

size_t rl_to_digits(uint64_t number, char digits[RL_DIGITS_MAX])
{
    size_t at = RL_DIGITS_MAX;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return at;
}

uint64_t rl_hash(const void *bytes, size_t len)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    const unsigned char *at = bytes;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ at[i]) * UINT64_C(1099511628211);
    return hash;
}

int64_t rl_decimal(const char *digits, size_t len)
{
    int64_t number = 0;
    if (len == 0 || len > DECIMAL_MAX)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return -1;
        number = 10 * number + (digits[i] - '0');
    }
    assert(number >= 0);
    return number;
}

bool rl_next_line(const char **text, size_t *len, const char **ret_line, size_t *ret_len)
{
    if (*len == 0)
        return false;
    const char *end = memchr(*text, '\n', *len);
    size_t line_len = end ? (size_t)(end - *text) : *len;
    size_t used = end ? line_len + 1 : line_len;
    assert(used > 0 && used <= *len);
    *ret_line = *text;
    *ret_len = line_len > 0 && (*text)[line_len - 1] == '\r' ? line_len - 1 : line_len;
    *text += used;
    *len -= used;
    return true;
}

bool rl_is_uuid(const char *text)
{
    for (int i = 0; i < RL_UUID_LEN; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f');
        if (dash ? text[i] != '-' : !hex)
            return false;
    }
    return true;
}
