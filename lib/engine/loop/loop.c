/* loop.c - the loop under all calls. It waits for descriptors and timers, handles events and
 * sends what follows from them. The leader (leader.c) or the background (background.c) runs it.
 * Hooks know the parts of the client that it serves.
 */
#include "config_auto.h"

#include "engine/loop/loop.h"

#include "base/eventfd.h"
#include "engine/client/client.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#define EVENTS_A_TURN 64
#define BLIND_MS 10

/* ---- what its hooks know ---------------------------------------------------------------- */

bool rl_loop_unflushed(const redlock *client)
{
    return client->loop.hooks->unflushed(client);
}

void rl_loop_flush(redlock *client, int64_t now_ns)
{
    assert(now_ns > 0); /* as rl_loop_tick() */
    client->loop.hooks->flush(client, now_ns);
}

void rl_loop_tick(redlock *client, int64_t now_ns)
{
    client->loop.hooks->tick(client, now_ns);
}

int64_t rl_loop_next_due_ns(redlock *client)
{
    return client->loop.hooks->due_ns(client);
}

void rl_loop_flush_unless_led(redlock *client, int64_t now_ns)
{
    const struct rl_loop *loop = &client->loop;
    bool awake = !loop->polling && !loop->named;
    if (loop->leader && (awake || rl_gathers(&loop->gather)))
        return;
    rl_loop_flush(client, now_ns);
}

int rl_loop_timeout_ms(int64_t due_ns, int64_t now_ns)
{
    if (due_ns <= now_ns)
        return 0;
    /* Rounded up, because otherwise the loop would spin in the last millisecond. Never very
     * long, because epoll's clock does not count the time of a suspend. */
    int64_t ms = (due_ns - now_ns) / RL_NS_PER_MS + 1;
    assert(now_ns >= 0 && ms > 0);
    return ms > 1000 ? 1000 : (int)ms;
}

/* ---- turning -------------------------------------------------------------------------- */

/* epoll_wait() with nanoseconds if the kernel has it, for pauses of a round trip. */
static int wait_for(const struct rl_loop *loop, struct epoll_event events[EVENTS_A_TURN],
                    int64_t now_ns, int64_t due_ns)
{
#ifdef HAVE_EPOLL_PWAIT2
    if (due_ns - now_ns < RL_NS_PER_MS && due_ns > now_ns) {
        struct timespec time = {.tv_nsec = (long)(due_ns - now_ns)};
        int count = epoll_pwait2(loop->epoll_fd, events, EVENTS_A_TURN, &time, NULL);
        if (count >= 0 || errno != ENOSYS) /* before Linux 5.11 */
            return count;
    }
#endif
    return epoll_wait(loop->epoll_fd, events, EVENTS_A_TURN,
                      rl_loop_timeout_ms(due_ns, now_ns));
}

/* To be called after each wait, before any event or timer is handled. If nobody polled for a
 * while, no master may be blamed for it. */
void rl_loop_end_absence(redlock *client, int64_t now_ns)
{
    int64_t absent_ns = rl_driven_returns(&client->loop.driven, now_ns);
    if (absent_ns > 0)
        client->loop.hooks->absent(client, absent_ns);
}

void rl_loop_rest_blind(void)
{
    (void)poll(NULL, 0, BLIND_MS);
}

void rl_loop_is_blind(redlock *client)
{
    if (!client->loop.blind)
        rl_client_log(client, REDLOCK_LOG_ERROR,
                      "a descriptor of this client was closed or replaced by the program: its "
                      "locks will be lost; close the client, and mend the program");
    client->loop.blind = true;
}

/* Wait for events until `due_ns` at the longest, with the mutex dropped, and handle them.
 * Returns the time after the wait. */
static int64_t look(redlock *client, int64_t now_ns, int64_t due_ns)
{
    struct epoll_event events[EVENTS_A_TURN];
    struct rl_driven *driven = &client->loop.driven;
    bool waits = due_ns > now_ns;
    if (waits) {
        assert(!client->loop.polling); /* one leader waits, and nobody else */
        client->loop.polling = true;
        rl_driven_sleeps(driven, RL_LEADER_SLEEPS, due_ns);
        pthread_mutex_unlock(&client->mutex);
    }
    int count = wait_for(&client->loop, events, now_ns, due_ns);
    bool blind = count < 0 && errno != EINTR;
    if (blind && waits)
        rl_loop_rest_blind();
    if (waits) {
        pthread_mutex_lock(&client->mutex);
        client->loop.polling = false;
    }
    if (blind)
        rl_loop_is_blind(client);
    now_ns = rl_client_now_ns(client);
    rl_loop_end_absence(client, now_ns);
    if (waits) /* else another thread may sleep still, while this one runs redlock_process() */
        rl_driven_sleeps(driven, RL_LEADER_SLEEPS, 0);
    rl_driven_looks(driven, now_ns);
    for (int i = 0; i < count; i++) {
        struct rl_tag *tag = events[i].data.ptr;
        tag->ready(tag, events[i].events, now_ns);
    }
    rl_loop_tick(client, now_ns);
    return now_ns;
}

void rl_loop_wake(struct rl_parking *parking)
{
    struct rl_wakings wakings;
    for (bool more = true; more;) {
        more = rl_parking_wakings(parking, &wakings);
        rl_wakings_ring(&wakings);
    }
}

/* The same without the mutex, which those threads ask for. */
static void wake_unlocked(redlock *client)
{
    struct rl_wakings wakings;
    for (bool more = client->loop.parking.to_wake; more;) {
        more = rl_parking_wakings(&client->loop.parking, &wakings);
        pthread_mutex_unlock(&client->mutex);
        rl_wakings_ring(&wakings);
        pthread_mutex_lock(&client->mutex);
    }
}

int64_t rl_loop_look(redlock *client, int64_t now_ns, int64_t due_ns)
{
    struct rl_loop *loop = &client->loop;
    assert(loop->leader || client->calls.closing);
    loop->poll_deadline_ns = rl_earlier_ns(due_ns, rl_gather_due_ns(&loop->gather));
    return look(client, now_ns, loop->poll_deadline_ns);
}

void rl_loop_send(redlock *client, int64_t now_ns)
{
    struct rl_loop *loop = &client->loop;
    bool late = rl_gather_turned(&loop->gather, now_ns);
    if (!loop->leader && !rl_loop_unflushed(client))
        return;            /* rl_client_leave() wakes them, and without the mutex */
    wake_unlocked(client); /* they may add their next requests to what is sent now */
    if (late || !rl_gathers(&loop->gather))
        rl_loop_flush(client, now_ns);
    rl_loop_wake(&client->loop.parking); /* calls that the flush has ended, and the others */
}

/* ---- waking the leader ------------------------------------------------------------------ */

void rl_loop_interrupt(redlock *client)
{
    if (!client->loop.polling)
        return;
    assert(client->loop.leader || client->calls.closing);
    client->loop.poll_deadline_ns = INT64_MIN; /* once is enough */
    rl_eventfd_signal(client->loop.wake_fd);
}

void rl_loop_interrupt_if_earlier(redlock *client)
{
    if (client->loop.polling && rl_loop_next_due_ns(client) < client->loop.poll_deadline_ns)
        rl_loop_interrupt(client);
}

/* Every call begins with this. Without a leader nobody has polled since the last call. */
int64_t rl_loop_poll_now(redlock *client)
{
    int64_t now_ns = rl_client_now_ns(client);
    if (client->loop.leader)
        return now_ns;
    assert(!client->loop.polling);
    rl_driven_begins(&client->loop.driven, now_ns);
    now_ns = look(client, now_ns, now_ns);
    rl_loop_flush(client, now_ns);
    return now_ns;
}

void rl_loop_poll(redlock *client, bool late)
{
    assert(!late || !client->loop.leader);
    int64_t now_ns = rl_client_now_ns(client);
    if (late)
        rl_driven_begins(&client->loop.driven, now_ns);
    look(client, now_ns, now_ns);
}

int64_t rl_loop_poll_if_idle(redlock *client)
{
    /* An overdue reply may lie in the socket by now. */
    int64_t now_ns = rl_client_now_ns(client);
    if (rl_driven_long_ago(&client->loop.driven, now_ns) ||
        client->loop.hooks->overdue(client, now_ns))
        return rl_loop_poll_now(client);
    if (!client->loop.leader)
        rl_driven_begins(&client->loop.driven, now_ns);
    return now_ns;
}
