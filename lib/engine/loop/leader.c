/* leader.c - blocking calls. One thread at a time leads, and runs the loop for everybody. The
 * others sleep until their own call is done, or until the leader has left. One of them then
 * takes over. The mutex is dropped while waiting.
 *
 *   caller A   submit, lead: [epoll_wait | handle | epoll_wait | handle A done] leave
 *   caller B          submit, sleep . . . . . . . . . . . . . . . . . . . . . . lead: [...
 *
 * A lone caller pays no context switch. A caller that sleeps still sees to its own deadline,
 * so that no leader's delay becomes its own. Callers that come back together send together
 * (gather.h): the leader yields to them before it polls.
 */
#include "config_auto.h"

#include "engine/loop/leader.h"

#include "engine/loop/call.h"
#include "engine/loop/loop.h"

#include <assert.h>
#include <sched.h>
#include <time.h>

#define YIELDS 3 /* before the leader polls, where others are expected */
#define FEW 8    /* a leader of more threads stays until they are woken: less is sent apart */

/* A thread that sleeps, and could lead. NULL: none. */
static struct rl_call *next_leader(struct rl_calls *calls)
{
    RL_EACH (struct rl_call, call, &calls->all, entry) {
        if (call->parked && !call->done)
            return call;
    }
    return NULL;
}

/* Name the next leader, and wake its thread. A thread that calls meanwhile does not lead
 * instead: the other one would have been woken for nothing. */
static void promote(redlock *client)
{
    struct rl_call *call = next_leader(&client->calls);
    assert(!client->loop.leader);
    if (!call)
        return;
    client->loop.leader = call;
    client->loop.named = true;
    rl_parked_to_wake(&client->loop.parking, call->parked);
}

/* Threads that are expected back run first, if they can. Then one flush sends what they ask,
 * and none of them wakes this thread for it. */
static int64_t give_way(redlock *client, int64_t now_ns)
{
    assert(client->loop.leader && !client->loop.polling);
    if (!rl_gathers(&client->loop.gather))
        return now_ns;
    for (unsigned i = 0; i < YIELDS && rl_gathers(&client->loop.gather); i++) {
        pthread_mutex_unlock(&client->mutex);
        sched_yield();
        pthread_mutex_lock(&client->mutex);
    }
    now_ns = rl_client_now_ns(client);
    if (!rl_gathers(&client->loop.gather) && rl_loop_unflushed(client))
        rl_loop_flush(client, now_ns);
    return now_ns;
}

/* A leader of few whose call is done leaves before it wakes them, if none of them must lead.
 * Else a thread that comes back at once would sleep behind it, only to be woken when it leaves.
 */
static void lead(redlock *client, struct rl_call *call)
{
    assert(!client->loop.leader || client->loop.leader == call);
    client->loop.leader = call;
    client->loop.named = false;
    int64_t now_ns = rl_client_now_ns(client);
    if (rl_loop_unflushed(client) && !rl_gathers(&client->loop.gather))
        rl_loop_flush(client, now_ns); /* what was queued before it woke */
    while (!call->done) {
        assert(client->loop.leader == call);
        now_ns = give_way(client, now_ns);
        if (call->done)
            break;
        now_ns = rl_loop_look(client, now_ns, rl_loop_next_due_ns(client));
        if (call->done && client->calls.callers <= FEW && !next_leader(&client->calls))
            client->loop.leader = NULL;
        rl_loop_send(client, now_ns);
    }
    if (client->loop.leader == call)
        client->loop.leader = NULL;
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
    rl_parked_prepare(call->parked);
    pthread_mutex_unlock(&client->mutex);
    bool woken = rl_parked_sleep(call->parked, &until);
    pthread_mutex_lock(&client->mutex);
    if (!woken && !call->done && client->loop.leader && client->loop.leader != call) {
        now_ns = rl_client_now_ns(client);
        rl_loop_end_absence(client, now_ns); /* the leader may not have run either */
        rl_loop_tick(client, now_ns);
        rl_loop_wake(&client->loop.parking);
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

void rl_loop_wait(redlock *client, struct rl_call *call, int64_t now_ns)
{
    assert(call->client == client && !call->parked);
    rl_loop_wake(&client->loop.parking); /* threads whose calls this one has ended */
    if (client->loop.leader || !rl_gathers(&client->loop.gather))
        rl_loop_flush_unless_led(client, now_ns);
    while (!call->done || client->loop.leader == call) {
        bool led = client->loop.leader && client->loop.leader != call;
        if (led && !call->parked)
            call->parked = rl_parking_take(&client->loop.parking);
        if (led && call->parked)
            follow(client, call);
        else if (led)
            nap(client); /* no memory for a proper sleep */
        else
            lead(client, call);
    }
    if (call->parked) {
        rl_parking_give(&client->loop.parking, call->parked);
        call->parked = NULL;
    }
    if (!client->loop.leader)
        promote(client);
}
