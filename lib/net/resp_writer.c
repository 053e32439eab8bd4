/* resp_writer.c - requests (resp.h), written straight into the caller's memory. */
#include "config_auto.h"

#include "net/resp.h"

#include "base/text.h"

#include <string.h>

void rl_out_init(struct rl_out *out, char *bytes, size_t size)
{
    *out = (struct rl_out){.bytes = bytes, .size = size};
}

static void put(struct rl_out *out, const void *bytes, size_t len)
{
    if (out->overflow || len > out->size - out->len) {
        out->overflow = true;
        return;
    }
    if (len > 0)
        memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
}

static void put_head(struct rl_out *out, char mark, uint64_t number)
{
    char head[1 + RL_DIGITS_MAX + 2];
    size_t at = rl_to_digits(number, head + 1);
    head[at] = mark;
    memcpy(head + sizeof(head) - 2, "\r\n", 2);
    put(out, head + at, sizeof(head) - at);
}

void rl_put_array(struct rl_out *out, unsigned elements)
{
    put_head(out, '*', elements);
}

void rl_put_bulk(struct rl_out *out, const void *bytes, size_t len)
{
    put_head(out, '$', len);
    put(out, bytes, len);
    put(out, "\r\n", 2);
}

void rl_put_text(struct rl_out *out, const char *text)
{
    rl_put_bulk(out, text, strlen(text));
}

void rl_put_texts(struct rl_out *out, const char *text, const char *more)
{
    put_head(out, '$', strlen(text) + strlen(more));
    put(out, text, strlen(text));
    put(out, more, strlen(more));
    put(out, "\r\n", 2);
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
