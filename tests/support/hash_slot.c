/* hash_slot.c - see hash_slot.h: CRC16 as in XMODEM, of which 14 bits count. */
#include "config_auto.h"

#include "hash_slot.h"

#include <stdbool.h>
#include <string.h>

enum { POLYNOMIAL = 0x1021, SLOTS = 16384 };

const char *hash_slot_tag(const char *key, size_t len, size_t *ret_len)
{
    const char *open = memchr(key, '{', len);
    const char *from = open ? open + 1 : key;
    const char *close = open ? memchr(from, '}', (size_t)(key + len - from)) : NULL;
    bool tagged = close && close > from;
    *ret_len = tagged ? (size_t)(close - from) : len;
    return tagged ? from : key;
}

unsigned hash_slot(const char *key, size_t len)
{
    const char *tag = hash_slot_tag(key, len, &len);
    unsigned crc = 0;
    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)(unsigned char)tag[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ POLYNOMIAL : crc << 1) & 0xffff;
    }
    return crc % SLOTS;
}
