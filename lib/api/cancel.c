/* cancel.c - redlock_cancel(): an asynchronous try ends before its time. */
#include "config_auto.h"

#include "engine/loop/call.h"
#include "engine/enter.h"

int redlock_cancel(redlock *client, uint64_t id)
{
    int cancel_state;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    struct rl_call *call = RL_FIRST(&client->calls.all, struct rl_call, entry);
    while (call && !(call->async && call->id == id && call->cancel))
        call = RL_NEXT(call, struct rl_call, entry);
    result = call && !call->done ? REDLOCK_OK : REDLOCK_ENOTHELD;
    if (result == REDLOCK_OK)
        call->cancel(call, rl_client_now_ns(client));
    rl_client_leave(client, cancel_state);
    return result;
}
