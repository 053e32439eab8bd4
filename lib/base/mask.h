/* mask.h - blanks the secrets of one connection out of its server's texts. Core.
 *
 * Each text of a server must pass here before it is shown, because a server that knows no AUTH
 * repeats the arguments in its error. */
#ifndef RL_MASK_H
#define RL_MASK_H

#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>

/* The user and the password, as they were sent. All zero: there are none. */
struct rl_mask {
    size_t user_len, password_len;
    char user[RL_USER_MAX];
    char password[RL_PASSWORD_MAX];
};

/* `user` may be NULL. Wipe the mask when the connection is gone. */
void rl_mask_set(struct rl_mask *mask, const char *user, const char *password,
                 size_t password_len);
void rl_mask_wipe(struct rl_mask *mask);

/* Replace the password in a text by "***", or its first four bytes and more, and the user as a
 * word. They are found raw, with backslashes before quotes and for control characters, or with
 * percent signs. `cut`: the text was cut, so any beginning of the password counts at its end.
 * In place: returns the new length, never more than `len`. */
size_t rl_mask_text(const struct rl_mask *mask, char *text, size_t len, bool cut);

/* As rl_mask_text(), for data (a holder, a version). The user stays: a word of data may well be
 * a user's name. */
size_t rl_mask_data(const struct rl_mask *mask, char *bytes, size_t len);

/* As rl_mask_data(), for a text that ends with a NUL. */
void rl_mask_field(const struct rl_mask *mask, char *field);

#endif
