/* text.h - digits and hashes of bytes. Core. */
#ifndef RL_TEXT_H
#define RL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The value of a hex digit of either case; -1: it is none. */
int rl_hex_value(char digit);

/* Two small digits for each byte, and no NUL. Returns their end. */
char *rl_put_hex(char *ret_text, const unsigned char *bytes, size_t len);

/* FNV-1a: the same for all clients. */
uint64_t rl_hash(const void *bytes, size_t len);

#endif
