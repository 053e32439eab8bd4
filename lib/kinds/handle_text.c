/* handle_text.c - see handle_text.h. Core. */
#include "config_auto.h"

#include "kinds/handle_text.h"

#include "base/text.h"
#include "core/fence.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define HEAD "rl5"
#define HEAD_LEN 3
#define KIND_MAX 16
#define FIXED_BYTES (1 + 1 + 16 + 8 + 8 + 8 + 8 + 8 + 8 + 1 + 2)
#define MARK_BYTES 4
#define SUM_BYTES 4
#define BYTES_MAX                                                                              \
    (FIXED_BYTES + MARK_BYTES * REDLOCK_NODES_MAX + 1 + KIND_MAX + RL_TOKEN_MAX +              \
     RL_NAMES_BYTES_MAX + RL_OWNER_MAX + SUM_BYTES)

/* For all lengths the text fits the size that the header promises. */
_Static_assert(HEAD_LEN + (BYTES_MAX + 2) / 3 * 4 + 1 <= REDLOCK_HANDLE_MAX,
               "REDLOCK_HANDLE_MAX is too small");

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static uint32_t sum_of(const unsigned char *bytes, size_t len)
{
    uint32_t sum = 2166136261u;
    for (size_t i = 0; i < len; i++)
        sum = (sum ^ bytes[i]) * 16777619u;
    return sum;
}

static unsigned char *put_number(unsigned char *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        *at++ = (unsigned char)(number >> (8 * i));
    return at;
}

static uint64_t take_number(const unsigned char **at, unsigned bytes)
{
    uint64_t number = 0;
    while (bytes-- > 0)
        number = number << 8 | *(*at)++;
    return number;
}

/* "01234567-89ab-..." -> 16 bytes; only lower-case digits, because a handle must have one
 * text. */
static bool pack_boot_id(const char *text, unsigned char bytes[16])
{
    unsigned nibbles = 0;
    for (; *text; text++) {
        int value = rl_hex_value(*text);
        if (*text == '-')
            continue;
        if (value < 0 || (*text >= 'A' && *text <= 'F') || nibbles >= 32)
            return false;
        if (nibbles % 2 == 0)
            bytes[nibbles / 2] = (unsigned char)(value << 4);
        else
            bytes[nibbles / 2] |= (unsigned char)value;
        nibbles++;
    }
    return nibbles == 32;
}

static void unpack_boot_id(const unsigned char bytes[16], char ret_text[37])
{
    char *at = ret_text;
    for (unsigned i = 0; i < 16; i += 2) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        at = rl_put_hex(at, bytes + i, 2);
    }
    *at = '\0';
}

static size_t to_text(const unsigned char *bytes, size_t len, char *text)
{
    char *at = text;
    for (size_t i = 0; i < len; i += 3) {
        unsigned left = len - i >= 3 ? 3 : (unsigned)(len - i);
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (left > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2)
            group |= bytes[i + 2];
        for (unsigned k = 0; k <= left; k++)
            *at++ = digits[group >> (18 - 6 * k) & 63];
    }
    *at = '\0';
    return (size_t)(at - text);
}

/* The number of bytes, or 0 if the text is no base64url or too long. */
static size_t from_text(const char *text, unsigned char bytes[BYTES_MAX + 3])
{
    size_t len = strlen(text);
    size_t count = 0;
    if (len % 4 == 1 || len / 4 * 3 + 2 > BYTES_MAX + 2)
        return 0;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t group = 0;
        unsigned left = len - i >= 4 ? 4 : (unsigned)(len - i);
        for (unsigned k = 0; k < 4; k++) {
            const char *digit = k < left ? memchr(digits, text[i + k], 64) : digits;
            if (!digit)
                return 0;
            group = group << 6 | (uint32_t)(digit - digits);
        }
        /* Unused bits must be 0, because a handle must have one text. */
        if (left < 4 && (group & ((UINT32_C(1) << 8 * (4 - left)) - 1)))
            return 0;
        for (unsigned k = 0; k + 1 < left; k++)
            bytes[count++] = (unsigned char)(group >> (16 - 8 * k));
    }
    return count;
}

static unsigned char *put_bytes(unsigned char *at, const void *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

int rl_handle_encode(const struct rl_handle *handle, char *ret_text, size_t size)
{
    unsigned char bytes[BYTES_MAX];
    unsigned char *at = bytes;
    bool plain = handle->kind == RL_ROW_PLAIN;
    const char *kind = rl_kind(handle->kind)->name;
    assert(handle->token_len <= RL_TOKEN_MAX && handle->name_len <= RL_NAMES_BYTES_MAX);
    assert(handle->n <= REDLOCK_NODES_MAX);
    assert(handle->owner_len <= RL_OWNER_MAX && strlen(kind) <= KIND_MAX);
    at = put_number(at, plain ? 0 : strlen(kind), 1);
    at = put_number(at, handle->n, 1);
    if (!pack_boot_id(handle->boot_id, at))
        return REDLOCK_EINVAL;
    at += 16;
    at = put_number(at, (uint64_t)handle->clock_offset, 8);
    at = put_number(at, (uint64_t)handle->written_ns, 8);
    at = put_number(at, (uint64_t)handle->deadline_ns, 8);
    at = put_number(at, (uint64_t)handle->keep_until_ns, 8);
    at = put_number(at, (uint64_t)handle->ttl_ms, 8);
    at = put_number(at, handle->fencing_token, 8);
    at = put_number(at, handle->token_len, 1);
    at = put_number(at, handle->name_len, 2);
    for (unsigned i = 0; i < handle->n; i++)
        at = put_number(at, handle->mark[i], MARK_BYTES);
    if (!plain) {
        at = put_number(at, handle->owner_len, 1);
        at = put_bytes(at, kind, strlen(kind));
    }
    at = put_bytes(at, handle->token, handle->token_len);
    at = put_bytes(at, handle->name, handle->name_len);
    at = put_bytes(at, handle->owner, plain ? 0 : handle->owner_len);
    at = put_number(at, sum_of(bytes, (size_t)(at - bytes)), SUM_BYTES);
    size_t len = (size_t)(at - bytes);
    if (size < HEAD_LEN + (len + 2) / 3 * 4 + 1)
        return REDLOCK_EINVAL;
    memcpy(ret_text, HEAD, HEAD_LEN);
    to_text(bytes, len, ret_text + HEAD_LEN);
    return 0;
}

/* Only kinds that can be held. */
static int kind_named(const unsigned char *name, size_t len)
{
    for (int row = RL_ROW_PLAIN + 1; row < RL_ROWS; row++) {
        const struct rl_kind *kind = rl_kind(row);
        if (kind->script[RL_ACQUIRE].name && strlen(kind->name) == len &&
            memcmp(kind->name, name, len) == 0)
            return row;
    }
    return -1;
}

/* May a lock of that kind have these names, and this owner? */
static bool fits(const struct rl_handle *handle)
{
    const struct rl_kind *kind = rl_kind(handle->kind);
    if ((handle->owner_len > 0) != rl_kind_owned(kind) ||
        memchr(handle->owner, '\0', handle->owner_len))
        return false;
    if (handle->fencing_token > 0 && !rl_kind_fences(kind, RL_ACQUIRE))
        return false;
    return kind->several ? rl_names_fit(handle->name, handle->name_len)
                         : handle->name_len <= REDLOCK_NAME_MAX;
}

static const unsigned char *take_text(const unsigned char *at, size_t len, char *ret_text)
{
    memcpy(ret_text, at, len);
    ret_text[len] = '\0';
    return at + len;
}

/* Exactly the bytes that the lengths and the kind announce must follow. */
static int take_rest(struct rl_handle *handle, size_t kind_len, const unsigned char *at,
                     const unsigned char *end)
{
    handle->owner_len = kind_len > 0 ? (size_t)take_number(&at, 1) : 0;
    if (handle->token_len == 0 || handle->token_len > RL_TOKEN_MAX || handle->name_len == 0 ||
        handle->name_len > RL_NAMES_BYTES_MAX || handle->owner_len > RL_OWNER_MAX ||
        (size_t)(end - at) !=
            kind_len + handle->token_len + handle->name_len + handle->owner_len ||
        handle->ttl_ms < 1 || handle->ttl_ms > RL_TTL_LIMIT_MS ||
        handle->fencing_token >= RL_FENCE_MAX)
        return REDLOCK_EHANDLE;
    handle->kind = kind_len > 0 ? kind_named(at, kind_len) : RL_ROW_PLAIN;
    if (handle->kind < 0)
        return REDLOCK_EHANDLE;
    at = take_text(at + kind_len, handle->token_len, handle->token);
    at = take_text(at, handle->name_len, handle->name);
    take_text(at, handle->owner_len, handle->owner);
    if (memchr(handle->token, '\0', handle->token_len) || !fits(handle))
        return REDLOCK_EHANDLE;
    return 0;
}

int rl_handle_decode(const char *text, struct rl_handle *ret_handle)
{
    unsigned char bytes[BYTES_MAX + 3];
    if (strncmp(text, HEAD, HEAD_LEN) != 0)
        return REDLOCK_EHANDLE;
    size_t len = from_text(text + HEAD_LEN, bytes);
    if (len <
        FIXED_BYTES + 1 + SUM_BYTES) /* token and owner_len: one byte at least */
        return REDLOCK_EHANDLE;
    const unsigned char *end = bytes + len - SUM_BYTES;
    const unsigned char *at = end;
    if (take_number(&at, SUM_BYTES) != sum_of(bytes, len - SUM_BYTES))
        return REDLOCK_EHANDLE;
    at = bytes;
    size_t kind_len = (size_t)take_number(&at, 1);
    ret_handle->n = (unsigned)take_number(&at, 1);
    unpack_boot_id(at, ret_handle->boot_id);
    at += 16;
    ret_handle->clock_offset = (int64_t)take_number(&at, 8);
    ret_handle->written_ns = (int64_t)take_number(&at, 8);
    ret_handle->deadline_ns = (int64_t)take_number(&at, 8);
    ret_handle->keep_until_ns = (int64_t)take_number(&at, 8);
    ret_handle->ttl_ms = (int64_t)take_number(&at, 8);
    ret_handle->fencing_token = take_number(&at, 8);
    ret_handle->token_len = (size_t)take_number(&at, 1);
    ret_handle->name_len = (size_t)take_number(&at, 2);
    if (ret_handle->n > REDLOCK_NODES_MAX ||
        (size_t)(end - at) < MARK_BYTES * ret_handle->n + 1)
        return REDLOCK_EHANDLE;
    for (unsigned i = 0; i < ret_handle->n; i++)
        ret_handle->mark[i] = (uint32_t)take_number(&at, MARK_BYTES);
    return take_rest(ret_handle, kind_len, at, end);
}

unsigned rl_handle_shared(const struct rl_handle *handle, const uint32_t marks[], unsigned n)
{
    unsigned shared = 0;
    for (unsigned i = 0; i < handle->n; i++) {
        unsigned k = 0;
        while (k < n && marks[k] != handle->mark[i])
            k++;
        shared += k < n;
    }
    return shared;
}
