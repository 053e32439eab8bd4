/* text.h - small helpers for text: letters, digits, lines, and hashes of bytes. Core. */
#ifndef RL_TEXT_H
#define RL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a hex digit of either case; -1: it is none. */
int rl_hex_value(char digit);

/* Of the letters A to Z, whatever the locale. */
char rl_lower(char letter);

/* A text that is being read. */
struct rl_cursor {
    const char *at, *end;
};

/* Pass this word. False: another text stands there. */
bool rl_skip(struct rl_cursor *cursor, const char *word);

/* Decimal digits only, 18 at most; -1 for anything else. */
int64_t rl_decimal(const char *digits, size_t len);

/* Decimal digits at the end of `digits`. Returns where they begin. */
#define RL_DIGITS_MAX 20
size_t rl_to_digits(uint64_t number, char digits[RL_DIGITS_MAX]);

/* A copy, with a NUL behind it, for free(); NULL: no memory. strdup() and strndup() are not
 * used: the C library's malloc() may be another one than the free() that we are bound to. */
char *rl_copy(const char *text, size_t len);

/* Cut the first line off *text, without its end ("\n" or "\r\n"). False: no line is left. */
bool rl_next_line(const char **text, size_t *len, const char **ret_line, size_t *ret_len);

/* 8-4-4-4-12 small hex digits, as the kernel and libuuid write them; RL_UUID_LEN bytes. */
bool rl_is_uuid(const char *text);

/* Two small digits for each byte, and no NUL. Returns their end. */
char *rl_put_hex(char *ret_text, const unsigned char *bytes, size_t len);

/* FNV-1a: the same for all clients. Tables of names have a hash with a key (hash.h). */
uint64_t rl_hash(const void *bytes, size_t len);

#endif
