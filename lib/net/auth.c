/* auth.c - see auth.h. */
#include "config_auto.h"

#include "net/auth.h"

#include "config/config_load.h"

_Static_assert(RL_LOGIN_MAX <= RL_OUT_MIN, "every connection has room for a login");

int rl_login_put(struct rl_out *out, const struct rl_node_config *config, struct rl_mask *mask,
                 char *why, size_t why_size)
{
    char password[RL_PASSWORD_MAX + 1];
    int len = rl_node_password(config, password, why, why_size);
    if (len <= 0)
        return len;
    rl_put_array(out, config->user ? 3 : 2);
    rl_put_text(out, "AUTH");
    if (config->user)
        rl_put_text(out, config->user);
    rl_put_bulk(out, password, (size_t)len);
    rl_mask_set(mask, config->user, password, (size_t)len);
    rl_wipe(password, sizeof(password));
    return 0;
}

void rl_login_put_name(struct rl_out *out, const char *name)
{
    rl_put_array(out, 3);
    rl_put_text(out, "CLIENT");
    rl_put_text(out, "SETNAME");
    rl_put_text(out, name);
}

bool rl_login_accepted(const struct rl_reply *reply)
{
    return reply->type == RL_REPLY_STATUS && rl_part_is(reply, 0, "OK", 2);
}
