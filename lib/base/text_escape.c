/* text_escape.c - see text_escape.h. Core. */
#include "config_auto.h"

#include "base/text_escape.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ELLIPSIS "..."
#define ELLIPSIS_LEN 3
#define PIECE_MAX 8 /* bytes of text that one character can need, with a NUL */

/* The length of the well-formed UTF-8 character (RFC 3629) at `bytes`; 0: it is none. */
static size_t utf8_length(const unsigned char *bytes, size_t len)
{
    unsigned char first = bytes[0];
    size_t need = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (need == 0 || need > len)
        return 0;
    for (size_t i = 1; i < need; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    /* Overlong forms, surrogates, beyond U+10FFFF; and C1 controls, which terminals obey. */
    unsigned char second = bytes[1];
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f) ||
        (first == 0xc2 && second < 0xa0))
        return 0;
    return need;
}

/* Is it a character that moves or turns round what stands beside it: a line or paragraph
 * separator, or a control of writing direction? */
static bool moves_text(const unsigned char *bytes, size_t used)
{
    if (used == 2)
        return bytes[0] == 0xd8 && bytes[1] == 0x9c; /* U+061C */
    if (used != 3 || bytes[0] != 0xe2)
        return false;
    unsigned char last = bytes[2];
    return (bytes[1] == 0x80 && (last == 0x8e || last == 0x8f)) || /* U+200E, U+200F */
           (bytes[1] == 0x80 && last >= 0xa8 && last <= 0xae) ||   /* U+2028 to U+202E */
           (bytes[1] == 0x81 && last >= 0xa6 && last <= 0xa9);     /* U+2066 to U+2069 */
}

/* The text of the character at `bytes`; the number of bytes it stands for. */
static size_t next_piece(const unsigned char *bytes, size_t len, char ret_piece[PIECE_MAX])
{
    size_t used = bytes[0] >= 0x20 && bytes[0] < 0x7f ? 1 : utf8_length(bytes, len);
    if (used > 0 && !moves_text(bytes, used)) {
        memcpy(ret_piece, bytes, used);
        ret_piece[used] = '\0';
        return used;
    }
    snprintf(ret_piece, PIECE_MAX, "\\x%02x", (unsigned)bytes[0]);
    return 1;
}

size_t rl_text_escape(char *ret_text, size_t size, const void *bytes, size_t len)
{
    assert(size > ELLIPSIS_LEN);
    assert(bytes || len == 0);
    const unsigned char *next = bytes;
    size_t text_len = 0;
    size_t cut = 0; /* as far as the text may go where "..." must follow */
    while (len > 0) {
        char piece[PIECE_MAX];
        size_t used = next_piece(next, len, piece);
        size_t piece_len = strlen(piece);
        if (text_len + piece_len >= size) {
            memcpy(ret_text + cut, ELLIPSIS, ELLIPSIS_LEN);
            text_len = cut + ELLIPSIS_LEN;
            break;
        }
        memcpy(ret_text + text_len, piece, piece_len);
        text_len += piece_len;
        if (text_len + ELLIPSIS_LEN < size)
            cut = text_len;
        next += used;
        len -= used;
    }
    assert(text_len < size);
    ret_text[text_len] = '\0';
    return text_len;
}
