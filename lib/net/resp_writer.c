/* resp_writer.c - requests (resp.h), written straight into the caller's memory. */
#include "config_auto.h"

#include "net/resp.h"

#include "base/text.h"

#include <string.h>

void rl_out_init(struct rl_out *out, char *bytes, size_t size)
{
    *out = (struct rl_out){.bytes = bytes, .size = size};
}

/* Room for `len` bytes more; NULL: there is none. */
static char *extend(struct rl_out *out, size_t len)
{
    if (out->overflow || len > out->size - out->len) {
        out->overflow = true;
        return NULL;
    }
    char *at = out->bytes + out->len;
    out->len += len;
    return at;
}

static unsigned count_digits(uint64_t number)
{
    unsigned digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* A mark, a number of so many digits, and the end of the line. Returns the end. */
static inline char *put_line(char *at, char mark, uint64_t number, unsigned digits)
{
    *at = mark;
    for (unsigned i = digits; i > 1; i--, number /= 10)
        at[i] = (char)('0' + number % 10);
    at[1] = (char)('0' + number);
    memcpy(at + 1 + digits, "\r\n", 2);
    return at + 1 + digits + 2;
}

void rl_put_raw(struct rl_out *out, const char *bytes, size_t len)
{
    char *at = extend(out, len);
    if (at)
        memcpy(at, bytes, len);
}

void rl_put_array(struct rl_out *out, unsigned elements)
{
    unsigned digits = count_digits(elements);
    char *at = extend(out, 1 + digits + 2);
    if (at)
        put_line(at, '*', elements, digits);
}

void rl_put_bulk(struct rl_out *out, const void *bytes, size_t len)
{
    unsigned digits = count_digits(len);
    char *at = len <= out->size ? extend(out, 1 + digits + 2 + len + 2) : extend(out, len);
    if (!at)
        return;
    at = put_line(at, '$', len, digits);
    if (len > 0)
        memcpy(at, bytes, len);
    memcpy(at + len, "\r\n", 2);
}

void rl_put_text(struct rl_out *out, const char *text)
{
    rl_put_bulk(out, text, strlen(text));
}

void rl_put_texts(struct rl_out *out, const char *text, const char *const *more)
{
    size_t len = strlen(text);
    for (const char *const *at = more; *at; at++)
        len += strlen(*at);
    unsigned digits = count_digits(len);
    char *line = extend(out, 1 + digits + 2);
    if (line)
        put_line(line, '$', len, digits);
    rl_put_raw(out, text, strlen(text));
    for (; *more; more++)
        rl_put_raw(out, *more, strlen(*more));
    rl_put_raw(out, "\r\n", 2);
}

void rl_put_number(struct rl_out *out, int64_t number)
{
    char text[1 + RL_DIGITS_MAX];
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    size_t at = rl_to_digits(size, text + 1) + 1;
    if (number < 0)
        text[--at] = '-';
    rl_put_bulk(out, text + at, sizeof(text) - at);
}

void rl_nonce_text(uint64_t nonce, char ret_text[RL_NONCE_LEN])
{
    static const char hex[] = "0123456789abcdef";
    for (unsigned i = RL_NONCE_LEN; i-- > 0; nonce >>= 4)
        ret_text[i] = hex[nonce & 15];
}
