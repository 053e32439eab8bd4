/* auth.h - the first requests on every connection: AUTH and CLIENT SETNAME. */
#ifndef RL_AUTH_H
#define RL_AUTH_H

#include "config/config.h"
#include "net/resp.h"

#define RL_LOGIN_MAX (RL_PASSWORD_MAX + RL_USER_MAX + 64) /* bytes of an AUTH */

/* Write AUTH with the present password; nothing if there is none. The caller must wipe the
 * bytes soon. `mask` knows the password from now on. 0, or -1 with `why` filled in (never a
 * secret). */
int rl_login_put(struct rl_out *out, const struct rl_node_config *config, struct rl_mask *mask,
                 char *why, size_t why_size);

/* Write CLIENT SETNAME. The name is a courtesy: a refusal does not matter. */
void rl_login_put_name(struct rl_out *out, const char *name);

/* True if this reply accepts AUTH. */
bool rl_login_accepted(const struct rl_reply *reply);

#endif
