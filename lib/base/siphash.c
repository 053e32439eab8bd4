/* siphash.c - see siphash.h. */
#include "config_auto.h"

#include "base/siphash.h"

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned count)
{
    while (count-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void take_in(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    rounds(v, 2);
    v[0] ^= word;
}

/* Up to eight bytes, the first one lowest. */
static uint64_t word_of(const unsigned char *bytes, size_t len)
{
    uint64_t word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)bytes[i] << 8 * i;
    return word;
}

uint64_t rl_siphash(const struct rl_sip_key *key, const void *bytes, size_t len)
{
    const uint64_t *half = key->half;
    uint64_t v[4] = {
        half[0] ^ UINT64_C(0x736f6d6570736575), half[1] ^ UINT64_C(0x646f72616e646f6d),
        half[0] ^ UINT64_C(0x6c7967656e657261), half[1] ^ UINT64_C(0x7465646279746573)};
    const unsigned char *at = bytes;
    for (size_t left = len; left >= 8; left -= 8, at += 8)
        take_in(v, word_of(at, 8));
    take_in(v, word_of(at, len % 8) | (uint64_t)len << 56);
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
