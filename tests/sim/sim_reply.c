/* sim_reply.c - replies of model masters as bytes (RESP2), integers as Redis reads them. */
#include "config_auto.h"

#include "sim_master_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

void sim_put(struct sim_text *out, const char *text)
{
    sim_text_add(out, text, strlen(text));
}

void sim_put_number(struct sim_text *out, int64_t number)
{
    char digits[24];
    size_t at = sizeof(digits);
    uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        digits[--at] = '-';
    sim_text_add(out, digits + at, sizeof(digits) - at);
}

static void put_line(struct sim_text *out, char type, int64_t number)
{
    sim_text_add(out, &type, 1);
    sim_put_number(out, number);
    sim_text_add(out, "\r\n", 2);
}

void sim_put_error(struct sim_text *out, const char *text)
{
    sim_text_add(out, "-", 1);
    sim_put(out, text);
    sim_text_add(out, "\r\n", 2);
}

void sim_put_ok(struct sim_text *out)
{
    sim_text_add(out, "+OK\r\n", 5);
}

void sim_put_integer(struct sim_text *out, int64_t number)
{
    put_line(out, ':', number);
}

void sim_put_array(struct sim_text *out, size_t elements)
{
    put_line(out, '*', (int64_t)elements);
}

void sim_put_bulk(struct sim_text *out, const char *bytes, size_t len)
{
    put_line(out, '$', (int64_t)len);
    sim_text_add(out, bytes, len);
    sim_text_add(out, "\r\n", 2);
}

void sim_put_nil(struct sim_text *out)
{
    sim_text_add(out, "$-1\r\n", 5);
}

bool sim_word_is(const struct sim_word *word, const char *text)
{
    return strncasecmp(word->bytes, text, word->len) == 0 && text[word->len] == '\0';
}

bool sim_word_integer(const struct sim_word *word, int64_t *ret)
{
    const char *digits = word->bytes;
    size_t len = word->len;
    bool minus = len > 0 && digits[0] == '-';
    uint64_t number = 0, limit = (uint64_t)INT64_MAX + minus;
    digits += minus;
    len -= minus;
    if (len == 0 || len > 19 || (digits[0] == '0' && (len > 1 || minus)))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        unsigned digit = (unsigned)(digits[i] - '0');
        if (i == 18 && number > (limit - digit) / 10) /* none can be too large before */
            return false;
        number = number * 10 + digit;
    }
    *ret = minus ? (int64_t)(0 - number) : (int64_t)number;
    return true;
}

bool sim_word_float(const struct sim_word *word, double *ret)
{
    char *end;
    if (word->len == 0 || isspace((unsigned char)word->bytes[0]))
        return false;
    *ret = strtod(word->bytes, &end);
    return end == word->bytes + word->len && !isnan(*ret);
}
