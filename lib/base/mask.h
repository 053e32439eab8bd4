/* mask.h - the secrets of one connection, blanked out of what its server says. Core.
 *
 * Whatever a server chose the words of passes here before anybody is shown it: one that knows
 * no AUTH repeats its arguments in the error. */
#ifndef RL_MASK_H
#define RL_MASK_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>

/* As they were sent. All zero: there are none. */
struct rl_mask {
    size_t user_len, password_len;
    char user[RL_USER_MAX];
    char password[RL_PASSWORD_MAX];
};

/* `user` may be NULL. Wipe it when the connection is gone. */
void rl_mask_set(struct rl_mask *mask, const char *user, const char *password,
                 size_t password_len);
void rl_mask_wipe(struct rl_mask *mask);

/* Put "***" where the password stands in a text, wherever that is, or its first four bytes and
 * more; and where the user stands as a word. Raw, with backslashes before quotes and for
 * control characters, or with percent signs. `cut`: the text ended later once, so that any
 * beginning of the password counts at its end. In place: returns the length, never more. */
size_t rl_mask_text(const struct rl_mask *mask, char *text, size_t len, bool cut);

/* The same of data (a holder, a version), in which a word may well be a user's name. */
size_t rl_mask_data(const struct rl_mask *mask, char *bytes, size_t len);

/* Of a text that ends with a NUL. */
void rl_mask_field(const struct rl_mask *mask, char *field);

#endif
