/* close.c - the end of a client: end its calls, give up its locks, free everything. */
#include "config_auto.h"

#include "api/close.h"

#include "engine/lease/lease.h"
#include "api/lock.h"
#include "base/wipe.h"
#include "engine/background.h"
#include "engine/cork.h"
#include "engine/loop/loop.h"
#include "engine/wait/subscribers.h"
#include "engine/enter.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

/* In a forked child the parent's calls look as if in progress, but their callers do not exist
 * here. */
static void forget_calls(redlock *client)
{
    RL_EACH_FREED (struct rl_call, call, &client->calls.all, entry) {
        if (call->async)
            rl_call_free(&client->calls, call);
    }
    rl_calls_free(&client->calls);
}

void rl_client_destroy(redlock *client, bool in_child)
{
    assert(in_child || (!client->loop.leader && !client->background.running));
    assert(in_child || !client->calls.all.first);
    rl_cork_done(&client->cork);
    rl_endpoints_done(&client->endpoints, in_child);
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_node_done(&client->nodes.all[i], in_child);
    rl_subs_done(&client->subs, in_child);
    free(client->nodes.all);
    free(client->requests.bytes);
    forget_calls(client);
    rl_leases_free(&client->leases);
    rl_wait_queues_free(&client->wait_queues);
    rl_channels_free(&client->subs.channels);
    rl_timers_free(&client->loop.timers);
    RL_EACH_FREED (struct redlock_lock, lock, &client->locks.all, all)
        free(lock);
    if (client->loop.epoll_fd >= 0)
        close(client->loop.epoll_fd);
    if (client->loop.wake_fd >= 0)
        close(client->loop.wake_fd);
    rl_config_free(&client->config);
    rl_wipe(client->leases.random, sizeof(client->leases.random));
    rl_background_done(&client->background);
    rl_fork_check_done(&client->identity.fork_check);
    rl_parking_done(&client->loop.parking);
    if (!in_child) {
        pthread_cond_destroy(&client->calls.idle);
        pthread_cond_destroy(&client->callbacks.called);
        pthread_mutex_destroy(&client->mutex);
    }
    free(client);
}

/* Give up everything that a user's lock still holds. */
static void release_all(redlock *client, int64_t now_ns)
{
    assert(client->calls.closing && !client->calls.all.first); /* nobody takes another one */
    RL_EACH (struct redlock_lock, lock, &client->locks.all, all) {
        struct rl_lease *lease = lock->lease;
        if (!lease)
            continue;
        assert(lease->lock == lock && !lease->call); /* calls have ended */
        rl_shown_end(&lock->shown);
        lock->lease = NULL;
        lease->lock = NULL;
        rl_lock_give_up(lease, now_ns);
    }
}

/* End the calls in progress: callers return, callbacks run, and calls that these begin end
 * likewise. */
static void end_calls(redlock *client)
{
    assert(!rl_in_callback(&client->callbacks));
    client->calls.closing = true;
    atomic_store(&client->calls.canceled, true);
    rl_background_stop(client);
    while (client->calls.all.first || client->callbacks.queue.first ||
           client->calls.callers > 0) {
        int64_t now_ns = rl_client_now_ns(client);
        RL_EACH (struct rl_call, call, &client->calls.all, entry) {
            if (!call->done)
                rl_call_abort(call, now_ns);
        }
        rl_loop_wake(&client->loop.parking);
        while (client->callbacks.calling) /* by another thread's redlock_process() */
            pthread_cond_wait(&client->callbacks.called, &client->mutex);
        rl_callbacks_run(client);
        rl_loop_wake(&client->loop.parking);
        if (client->calls.callers > 0)
            pthread_cond_wait(&client->calls.idle, &client->mutex);
    }
}

/* Wait until then for the replies to releases, from masters that may still answer. */
static void linger(redlock *client, int64_t until_ns)
{
    int64_t now_ns = rl_client_now_ns(client);
    assert(!client->loop.leader && !client->calls.all.first);
    assert(client->calls.closing && !client->background.running);
    while (now_ns < until_ns && rl_leases_pending(client, now_ns)) {
        int64_t due = rl_loop_next_due_ns(client);
        now_ns = rl_loop_look(client, now_ns, due < until_ns ? due : until_ns);
        rl_loop_send(client, now_ns);
    }
}

void redlock_close(redlock *client)
{
    int cancel_state;
    if (!client)
        return;
    if (rl_forked(&client->identity.fork_check)) {
        rl_client_destroy(client, true);
        return;
    }
    if (rl_client_enter(client, &cancel_state) != REDLOCK_OK)
        return; /* called from the log callback */
    if (rl_in_callback(&client->callbacks)) {
        rl_client_log(client, REDLOCK_LOG_ERROR,
                      "redlock_close() inside a callback is not possible: nothing is closed");
        rl_client_leave(client, cancel_state);
        return;
    }
    rl_loop_poll_if_idle(client); /* losses that are found now can still be reported */
    end_calls(client);
    int64_t now_ns = rl_loop_poll_if_idle(client);
    release_all(client, now_ns);
    rl_loop_flush(client, now_ns);
    linger(client, now_ns + client->config.linger_ms * RL_NS_PER_MS);
    pthread_mutex_unlock(&client->mutex);
    rl_client_destroy(client, false);
    pthread_setcancelstate(cancel_state, NULL);
}
