/* leader.c - blocking calls: one thread at a time leads, and runs the loop for everybody; the
 * others sleep until their own call is done, or until the leader has left and one of them takes
 * over. The mutex is dropped while waiting.
 *
 *   caller A   submit, lead: [epoll_wait | handle | epoll_wait | handle A done] leave
 *   caller B          submit, sleep . . . . . . . . . . . . . . . . . . . . . . lead: [...
 *
 * A lone caller pays no context switch. A caller that sleeps still sees to its own deadline,
 * so that no leader's delay becomes its own.
 */
#include "config_auto.h"

#include "engine/call.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

static void lead(redlock *client, struct rl_call *call)
{
    assert(!client->loop.leader);
    client->loop.leader = call;
    int64_t now_ns = rl_client_now_ns(client);
    while (!call->done)
        now_ns = rl_loop_turn(client, now_ns, rl_loop_next_due_ns(client));
    assert(client->loop.leader == call);
    client->loop.leader = NULL;
}

/* Wake a sleeping thread: it must lead from here on. */
static void promote(redlock *client)
{
    assert(!client->loop.leader);
    RL_EACH (struct rl_call, call, &client->calls.all, entry) {
        if (call->parked && !call->done) {
            pthread_cond_signal(&call->parked->cond);
            return;
        }
    }
}

static struct rl_parked *take_parked(redlock *client)
{
    assert(client->loop.leader); /* else its thread would lead, not sleep */
    struct rl_parked *parked =
        RL_ITEM(rl_list_pop(&client->loop.spare_parked), struct rl_parked, entry);
    pthread_condattr_t attr;
    if (parked)
        return parked;
    parked = calloc(1, sizeof(*parked));
    if (!parked)
        return NULL;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&parked->cond, &attr);
    pthread_condattr_destroy(&attr);
    rl_list_push(&client->loop.all_parked, &parked->all);
    return parked;
}

static void follow(redlock *client, struct rl_call *call)
{
    assert(call->parked && !call->done);
    assert(client->loop.leader && client->loop.leader != call);
    int64_t now_ns = rl_client_now_ns(client);
    int64_t due_ns = call->timer.due_ns;
    int64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    if (wait_ns > RL_NS_PER_S)
        wait_ns = RL_NS_PER_S;
    struct timespec until = rl_clock_limit(CLOCK_MONOTONIC, wait_ns + RL_NS_PER_MS);
    int result = pthread_cond_timedwait(&call->parked->cond, &client->mutex, &until);
    if (result == ETIMEDOUT && !call->done && client->loop.leader) {
        now_ns = rl_client_now_ns(client);
        rl_loop_end_absence(client, now_ns); /* the leader may not have run either */
        rl_loop_tick(client, now_ns);
        rl_loop_wake(client);
        rl_loop_flush_unless_led(client, now_ns);
    }
}

static void nap(redlock *client)
{
    assert(client->loop.leader);
    struct timespec a_moment = {.tv_nsec = RL_NS_PER_MS};
    pthread_mutex_unlock(&client->mutex);
    nanosleep(&a_moment, NULL);
    pthread_mutex_lock(&client->mutex);
}

void rl_loop_wait(redlock *client, struct rl_call *call)
{
    assert(call->client == client && !call->parked);
    rl_loop_wake(client); /* threads whose calls this one has ended */
    while (!call->done) {
        if (client->loop.leader && !call->parked)
            call->parked = take_parked(client);
        if (client->loop.leader && call->parked)
            follow(client, call);
        else if (client->loop.leader)
            nap(client); /* no memory for a proper sleep */
        else
            lead(client, call);
    }
    if (call->parked) {
        if (rl_list_has(&client->loop.to_wake, &call->parked->entry))
            rl_loop_wake(client); /* its time is over, before it was signalled */
        rl_list_push(&client->loop.spare_parked, &call->parked->entry);
        call->parked = NULL;
    }
    if (!client->loop.leader)
        promote(client);
}
