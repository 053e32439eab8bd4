/* text_escape.h - other people's bytes, made fit for a message, a log or a terminal. Core. */
#ifndef RL_TEXT_ESCAPE_H
#define RL_TEXT_ESCAPE_H

#include <stddef.h>

/* Write `bytes` as text: ASCII and well-formed UTF-8 as they are. As \xHH stand control
 * characters, bytes that are no UTF-8, line separators and controls of the writing direction.
 * What does not fit is left out, with "..." in its place; neither an escape nor a character is
 * ever cut. `size` is at least 4. Returns the length of the text. */
size_t rl_text_escape(char *ret_text, size_t size, const void *bytes, size_t len);

#endif
