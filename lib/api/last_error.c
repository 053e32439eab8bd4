/* last_error.c - redlock_last_error(): what was a call refused for? */
#include "config_auto.h"

#include "engine/client/client.h"
#include "engine/enter.h"

#include "base/struct_abi.h"

#include <stddef.h>
#include <stdio.h>

static const struct rl_struct shape =
    RL_STRUCT(redlock_error, "redlock_error", "REDLOCK_ERROR_INIT", text);

int redlock_last_error(redlock *client, redlock_error *ret_error)
{
    redlock_error whole = REDLOCK_ERROR_INIT;
    char why[RL_STRUCT_WHY_MAX];
    int cancel_state;
    if (!client)
        return REDLOCK_EINVAL;
    if (!rl_struct_there(&shape, ret_error, why, sizeof(why)))
        return rl_client_refuse(client, why);
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    snprintf(whole.text, sizeof(whole.text), "%s", rl_log_last_error(&client->log));
    rl_client_leave(client, cancel_state);
    whole.code = whole.text[0] ? REDLOCK_EINVAL : REDLOCK_OK;
    rl_struct_give(&shape, &whole, ret_error);
    return REDLOCK_OK;
}
