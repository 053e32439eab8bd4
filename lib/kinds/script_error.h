/* script_error.h - a script's error, made readable: without the digest and the line that a
 * server adds, with the failed command and its script. */
#ifndef RL_SCRIPT_ERROR_H
#define RL_SCRIPT_ERROR_H

#include "kinds/kind.h"

#include <stdbool.h>

/* `error` is printable and has no secrets. A text that is too long loses its middle: its
 * beginning and the command stay. `fenced`: it was the script's text with fencing tokens;
 * `strict`: that stood behind marker_strict.lua. `size` is RL_SCRIPT_ERROR_MIN at least. */
#define RL_SCRIPT_ERROR_MIN 128
void rl_script_error(const struct rl_script *script, bool fenced, bool strict,
                     const char *error, char *ret_text, size_t size);

/* Does the user lack a right? That will not change by itself. */
bool rl_script_error_denies(const char *error);

#endif
