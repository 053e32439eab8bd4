/* enter.c - what every call begins and ends with; cancelling. */
#include "config_auto.h"

#include "engine/enter.h"

#include "base/eventfd.h"
#include "engine/background.h"
#include "engine/client/client.h"
#include "engine/loop/loop.h"

#include <assert.h>
#include <errno.h>

const char *redlock_version(void)
{
    return REDLOCK_VERSION;
}

/* ---- every call ----------------------------------------------------------------------- */

/* R16: A forked child holds nothing: its calls fail at once. */
int rl_client_enter(redlock *client, int *ret_cancel_state)
{
    assert(ret_cancel_state);
    if (!client)
        return REDLOCK_EINVAL;
    if (rl_forked(&client->identity.fork_check))
        return REDLOCK_EFORK;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, ret_cancel_state);
    if (pthread_mutex_lock(&client->mutex) != 0) {
        pthread_setcancelstate(*ret_cancel_state, NULL);
        return REDLOCK_EDEADLK;
    }
    client->cork.on = false; /* whatever this call sends takes it along */
    return REDLOCK_OK;
}

static void leave(redlock *client, int cancel_state)
{
    pthread_mutex_unlock(&client->mutex);
    pthread_setcancelstate(cancel_state, NULL);
}

static void leave_call(redlock *client, int cancel_state, bool sends)
{
    assert(!client->cork.on || client->cork.ready); /* else nobody would pull the cork */
    /* Send the requests of several callbacks together, once the last one has returned. */
    if (sends && rl_loop_unflushed(client) && !rl_in_callback(&client->callbacks) &&
        !client->cork.on)
        rl_loop_flush_unless_led(client, rl_client_now_ns(client));
    rl_loop_interrupt_if_earlier(client);
    rl_background_after_call(client);
    struct rl_wakings wakings;
    while (rl_parking_wakings(&client->loop.parking, &wakings))
        rl_wakings_ring(&wakings);
    pthread_mutex_unlock(&client->mutex);
    rl_wakings_ring(&wakings); /* they ask for the mutex */
    pthread_setcancelstate(cancel_state, NULL);
}

void rl_client_leave(redlock *client, int cancel_state)
{
    leave_call(client, cancel_state, true);
}

void rl_client_leave_unsent(redlock *client, int cancel_state)
{
    leave_call(client, cancel_state, false);
}

static void begin_blocking(redlock *client)
{
    assert(!client->calls.closing); /* redlock_close() waits until there are no callers */
    client->calls.callers++;
    if (!rl_gather_alone(&client->loop.gather))
        rl_gather_came(&client->loop.gather, rl_client_now_ns(client));
}

int rl_client_enter_blocking(redlock *client, int *ret_cancel_state)
{
    int result = rl_client_enter(client, ret_cancel_state);
    if (result)
        return result;
    const struct rl_background *background = &client->background;
    if (rl_in_callback(&client->callbacks) ||
        (background->user_driven && pthread_equal(background->loop_thread, pthread_self())))
        result = REDLOCK_EDEADLK;
    else if (client->calls.closing)
        result = REDLOCK_ECANCELED;
    if (result)
        leave(client, *ret_cancel_state);
    else
        begin_blocking(client);
    return result;
}

void rl_client_leave_blocking(redlock *client, int cancel_state)
{
    assert(client->calls.callers > 0);
    client->loop.last_caller_ns = client->loop.driven.looked_ns;
    if (--client->calls.callers == 0 && client->calls.closing)
        pthread_cond_signal(&client->calls.idle);
    rl_client_leave(client, cancel_state);
}

int rl_client_stay(redlock *client)
{
    int cancel_state;
    int result = rl_client_enter_blocking(client, &cancel_state);
    if (result == REDLOCK_OK)
        leave(client, cancel_state); /* it still counts as a caller */
    return result;
}

void rl_client_go(redlock *client)
{
    int cancel_state;
    if (rl_client_enter(client, &cancel_state) == REDLOCK_OK)
        rl_client_leave_blocking(client, cancel_state);
}

/* ---- the rest of a client's life ------------------------------------------------------ */

void redlock_shutdown(redlock *client)
{
    int saved = errno;
    if (client) {
        atomic_store(&client->calls.canceled, true);
        rl_eventfd_signal(client->loop.wake_fd);
    }
    errno = saved;
}

int rl_client_wrong(redlock *client, const char *why)
{
    assert(why && why[0]);
    rl_client_log(client, REDLOCK_LOG_ERROR, "%s", why);
    return REDLOCK_EINVAL;
}

int rl_client_refuse(redlock *client, const char *why)
{
    int cancel_state;
    int result = rl_client_enter(client, &cancel_state);
    if (result)
        return result;
    result = rl_client_wrong(client, why);
    rl_client_leave(client, cancel_state);
    return result;
}
