/* auth.h - what is said first on every connection, whatever it is for: who we are. */
#ifndef RL_AUTH_H
#define RL_AUTH_H

#include "config/config.h"
#include "net/resp.h"

#define RL_LOGIN_MAX (RL_PASSWORD_MAX + RL_USER_MAX + 64) /* bytes of an AUTH */

/* Write AUTH, with the password as it is now; nothing where there is none. It must be wiped
 * soon. `mask` has its secrets from now on. 0, or -1 with `why` filled in (never a secret). */
int rl_login_put(struct rl_out *out, const struct rl_node_config *config, struct rl_mask *mask,
                 char *why, size_t why_size);

/* Write CLIENT SETNAME. The name is a courtesy: whether it is taken is of no interest. */
void rl_login_put_name(struct rl_out *out, const char *name);

/* Is that AUTH's answer a yes? */
bool rl_login_accepted(const struct rl_reply *reply);

#endif
