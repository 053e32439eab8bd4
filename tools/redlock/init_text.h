/* init_text.h - what a master's answers to init mean, in words that follow "it was left: ". */
#ifndef REDLOCK_INIT_TEXT_H
#define REDLOCK_INIT_TEXT_H

#include "net/resp.h"

#include <stdbool.h>

/* The reply of marker_init.lua. NULL: the marker is set. `*ret_stands`: something there speaks
 * against it. */
const char *init_not_marked(const char nonce[RL_NONCE_LEN], const struct rl_reply *reply,
                            bool *ret_stands);

/* An error, or why it could not be asked. Where a script has failed (`fences`: that of the
 * certificates), with the command; and where the user lacks a right, with what to do. */
#define INIT_WHY_MAX 320
void init_why(bool script, bool fences, const char *error, char ret_why[INIT_WHY_MAX]);

#endif
