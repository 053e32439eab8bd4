/* loop.c - the loop under all calls. One thread at a time leads: it waits for descriptors and
 * timers and moves everybody's operations; the others sleep until their own is done, or
 * until the leader has left and one of them takes over. The mutex is dropped while waiting.
 *
 *   caller A   submit, lead: [epoll_wait | handle | epoll_wait | handle A done] leave
 *   caller B          submit, sleep . . . . . . . . . . . . . . . . . . . . . . lead: [...
 *
 * A lone caller pays no context switch. A caller that sleeps still sees to its own deadline,
 * so that no leader's delay becomes its own.
 */
#include "config_auto.h"

#include "base/eventfd.h"
#include "engine/lease.h"
#include "engine/call.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_A_TURN 64
#define WAKE_MAX 64

/* ---- node events ---------------------------------------------------------------------- */

static void on_changed(void *owner, struct rl_node *node, int64_t now_ns)
{
    redlock *client = owner;
    rl_twins_look(client, now_ns);
    if (node->mode == RL_UP)
        rl_lines_node_up(client, node->index, now_ns);
    rl_watches_node_changed(client, now_ns);
    if (client->ending > 0)
        client->sweep_ns = now_ns; /* releases that were due may go now */
    for (struct rl_op *op = client->ops; op; op = op->next) {
        if (!op->done)
            rl_op_due(op, now_ns); /* who waits for nodes may look again */
    }
}

static void on_pinged(void *owner, struct rl_node *node, int64_t round_trip_ns)
{
    redlock *client = owner;
    for (struct rl_op *op = client->ops; op; op = op->next) {
        if (op->pinged && !op->done)
            op->pinged(op, node, round_trip_ns);
    }
}

const struct rl_node_events rl_client_events = {
    .answered = rl_claim_answered,
    .unexecuted = rl_claim_unexecuted,
    .drains = rl_claim_drains,
    .lost = rl_claim_lost,
    .pinged = on_pinged,
    .proved = rl_twins_proved,
    .changed = on_changed,
    .log = rl_client_log,
};

/* ---- turning -------------------------------------------------------------------------- */

bool rl_loop_unflushed(const redlock *client)
{
    if (client->subs_unflushed)
        return true;
    for (unsigned i = 0; i < client->n; i++) {
        if (client->nodes[i].unflushed)
            return true;
    }
    return false;
}

void rl_loop_flush(redlock *client, int64_t now_ns)
{
    /* A flush that breaks a link may queue more elsewhere, hence the second look. */
    bool again;
    do {
        again = false;
        if (client->subs_unflushed)
            rl_subs_flush(client, now_ns);
        for (unsigned i = 0; i < client->n; i++) {
            if (client->nodes[i].unflushed) {
                rl_node_flush(&client->nodes[i], now_ns);
                again = true;
            }
        }
    } while (again);
}

void rl_loop_submit(redlock *client, int64_t now_ns)
{
    if (client->leader && !client->polling)
        return;
    rl_loop_flush(client, now_ns);
}

/* ---- time ----------------------------------------------------------------------------- */

/* Once for each call of redlock_cancel() would do; that none begins after it is the try's. */
static void cancel_all(redlock *client, int64_t now_ns)
{
    client->cancel_seen = true;
    for (struct rl_op *op = client->ops; op; op = op->next) {
        if (!op->done && op->cancel)
            op->cancel(op, now_ns);
    }
}

/* The clock went back: time goes on for everything but what is held. */
void rl_loop_see_to_clock(redlock *client, int64_t now_ns)
{
    int64_t epoch = rl_clock_epoch(&client->clock);
    if (client->clock_epoch == epoch)
        return;
    rl_client_log(client, REDLOCK_LOG_WARNING,
                  "the clock went back by %lld ms: every lock that was held is lost, since "
                  "nobody can tell for how long it has been held",
                  (long long)((epoch - client->clock_epoch) / RL_NS_PER_MS));
    client->texts_since_ns = now_ns - client->clock_epoch;
    client->clock_epoch = epoch;
    rl_watch_untimed(client, now_ns);
}

void rl_loop_tick(redlock *client, int64_t now_ns)
{
    rl_loop_see_to_clock(client, now_ns);
    for (unsigned i = 0; i < client->n; i++)
        rl_node_tick(&client->nodes[i], now_ns);
    if (now_ns >= client->proof.again_ns)
        rl_twins_look(client, now_ns);
    rl_subs_tick(client, now_ns);
    if (now_ns >= client->sweep_ns)
        rl_claims_sweep(client, now_ns);
    if (atomic_load(&client->canceled) && !client->cancel_seen)
        cancel_all(client, now_ns);
    rl_timers_run(&client->timers, now_ns);
    if (client->crowd)
        rl_ops_go_on(client, now_ns);
}

int64_t rl_loop_next_due_ns(redlock *client)
{
    int64_t due = rl_timers_due_ns(&client->timers);
    int64_t subs_due = rl_subs_due_ns(client);
    if (client->sweep_ns < due)
        due = client->sweep_ns;
    if (client->proof.again_ns < due)
        due = client->proof.again_ns;
    if (subs_due < due)
        due = subs_due;
    for (unsigned i = 0; i < client->n; i++) {
        int64_t node_due = rl_node_due_ns(&client->nodes[i]);
        if (node_due < due)
            due = node_due;
    }
    return due;
}

int rl_loop_timeout_ms(int64_t due_ns, int64_t now_ns)
{
    if (due_ns <= now_ns)
        return 0;
    /* Rounded up, so as not to spin through the last millisecond; and never for very long,
     * since epoll's clock does not count the time of a suspend. */
    int64_t ms = (due_ns - now_ns) / RL_NS_PER_MS + 1;
    return ms > 1000 ? 1000 : (int)ms;
}

/* ---- turning -------------------------------------------------------------------------- */

/* epoll_wait() to the nanosecond where there is such a thing, for pauses of a round trip. */
static int wait_for(const redlock *client, struct epoll_event events[EVENTS_A_TURN],
                    int64_t now_ns, int64_t due_ns)
{
#ifdef HAVE_EPOLL_PWAIT2
    if (due_ns - now_ns < RL_NS_PER_MS && due_ns > now_ns) {
        struct timespec time = {.tv_nsec = (long)(due_ns - now_ns)};
        int count = epoll_pwait2(client->epoll_fd, events, EVENTS_A_TURN, &time, NULL);
        if (count >= 0 || errno != ENOSYS) /* before Linux 5.11 */
            return count;
    }
#endif
    return epoll_wait(client->epoll_fd, events, EVENTS_A_TURN,
                      rl_loop_timeout_ms(due_ns, now_ns));
}

/* Whoever looks begins with this: where nobody did for a while, no master is to blame. */
static void end_absence(redlock *client, int64_t now_ns)
{
    int64_t absent_ns = rl_driven_returns(&client->settings.driven, now_ns);
    if (absent_ns == 0)
        return;
    for (unsigned i = 0; i < client->n; i++)
        rl_node_absent(&client->nodes[i], absent_ns);
    rl_subs_absent(client, absent_ns);
    client->opened_ns += absent_ns; /* since when it connects at first */
    for (struct rl_op *op = client->ops; op; op = op->next)
        op->connect_until_ns += absent_ns;
}

/* Handle what has happened; wait for it until `due_ns` at the longest, the mutex dropped.
 * Returns the time after the wait. */
static int64_t look(redlock *client, int64_t now_ns, int64_t due_ns)
{
    struct epoll_event events[EVENTS_A_TURN];
    struct rl_driven *driven = &client->settings.driven;
    bool waits = due_ns > now_ns;
    if (waits) {
        client->polling = true;
        rl_driven_sleeps(driven, RL_LEADER_SLEEPS, due_ns);
        pthread_mutex_unlock(&client->mutex);
    }
    int count = wait_for(client, events, now_ns, due_ns);
    if (waits) {
        pthread_mutex_lock(&client->mutex);
        client->polling = false;
    }
    now_ns = rl_client_now_ns(client);
    end_absence(client, now_ns);
    rl_driven_sleeps(driven, RL_LEADER_SLEEPS, 0);
    rl_driven_looks(driven, now_ns);
    for (int i = 0; i < count; i++) {
        struct rl_tag *tag = events[i].data.ptr;
        tag->ready(tag, events[i].events, now_ns);
    }
    rl_loop_tick(client, now_ns);
    return now_ns;
}

/* The next one whose call is done, to be signalled; NULL: there is none. */
static struct rl_sleeper *next_to_wake(redlock *client)
{
    struct rl_sleeper *sleeper = client->to_wake;
    if (sleeper) {
        client->to_wake = sleeper->next;
        sleeper->due = false;
    }
    return sleeper;
}

void rl_loop_wake(redlock *client)
{
    struct rl_sleeper *sleeper;
    while ((sleeper = next_to_wake(client)))
        pthread_cond_signal(&sleeper->cond);
}

/* Threads whose calls are done are woken before anything is sent, and given the chance to add
 * what they want to send next: one write a node carries it all. They are signalled without
 * the mutex, which they would only wait for. */
static void wake_and_yield(redlock *client)
{
    struct rl_sleeper *sleepers[WAKE_MAX];
    unsigned count = 0;
    while (client->to_wake && count < WAKE_MAX)
        sleepers[count++] = next_to_wake(client);
    pthread_mutex_unlock(&client->mutex);
    for (unsigned i = 0; i < count; i++)
        pthread_cond_signal(&sleepers[i]->cond);
    sched_yield();
    pthread_mutex_lock(&client->mutex);
}

/* Wait until `due_ns` at the longest, then handle what there is, and send what came of it. */
static int64_t turn(redlock *client, int64_t now_ns, int64_t due_ns)
{
    client->polls_until_ns = due_ns;
    now_ns = look(client, now_ns, due_ns);
    if (client->to_wake)
        wake_and_yield(client);
    rl_loop_flush(client, now_ns);
    rl_loop_wake(client); /* whom the flush has ended, and the rest */
    return now_ns;
}

void rl_loop_rouse(redlock *client)
{
    if (!client->polling)
        return;
    client->polls_until_ns = INT64_MIN; /* once is enough */
    rl_bell_ring(client->wake_fd);
}

void rl_loop_nudge(redlock *client)
{
    if (client->polling && rl_loop_next_due_ns(client) < client->polls_until_ns)
        rl_loop_rouse(client);
}

/* The beginning of every call. Where nobody leads, nobody has looked since the last one. */
int64_t rl_loop_look(redlock *client)
{
    int64_t now_ns = rl_client_now_ns(client);
    if (client->leader)
        return now_ns;
    rl_driven_begins(&client->settings.driven, now_ns);
    now_ns = look(client, now_ns, now_ns);
    rl_loop_flush(client, now_ns);
    return now_ns;
}

void rl_loop_poll(redlock *client, bool late)
{
    int64_t now_ns = rl_client_now_ns(client);
    if (late)
        rl_driven_begins(&client->settings.driven, now_ns);
    look(client, now_ns, now_ns);
}

int64_t rl_loop_catch_up(redlock *client)
{
    /* An answer that is overdue may lie in the socket by now. */
    int64_t now_ns = rl_client_now_ns(client);
    if (rl_driven_long_ago(&client->settings.driven, now_ns) ||
        rl_client_overdue(client, now_ns))
        return rl_loop_look(client);
    if (!client->leader)
        rl_driven_begins(&client->settings.driven, now_ns);
    return now_ns;
}

static void lead(redlock *client, struct rl_op *op)
{
    client->leader = op;
    int64_t now_ns = rl_client_now_ns(client);
    while (!op->done)
        now_ns = turn(client, now_ns, rl_loop_next_due_ns(client));
    client->leader = NULL;
}

/* Somebody who sleeps must lead from here on. */
static void offer_lead(redlock *client)
{
    struct rl_op *op = client->ops;
    while (op && !(op->sleeper && !op->done))
        op = op->next;
    if (op)
        pthread_cond_signal(&op->sleeper->cond);
}

static struct rl_sleeper *take_sleeper(redlock *client)
{
    struct rl_sleeper *sleeper = client->spare_sleepers;
    pthread_condattr_t attr;
    if (sleeper) {
        client->spare_sleepers = sleeper->next;
        return sleeper;
    }
    sleeper = calloc(1, sizeof(*sleeper));
    if (!sleeper)
        return NULL;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&sleeper->cond, &attr);
    pthread_condattr_destroy(&attr);
    sleeper->next_all = client->all_sleepers;
    client->all_sleepers = sleeper;
    return sleeper;
}

static void follow(redlock *client, struct rl_op *op)
{
    int64_t now_ns = rl_client_now_ns(client);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t due_ns = op->timer.due_ns;
    int64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : 0;
    if (wait_ns > RL_NS_PER_S)
        wait_ns = RL_NS_PER_S;
    int64_t at_ns = until.tv_nsec + wait_ns + RL_NS_PER_MS;
    until.tv_sec += (time_t)(at_ns / RL_NS_PER_S);
    until.tv_nsec = (long)(at_ns % RL_NS_PER_S);
    int result = pthread_cond_timedwait(&op->sleeper->cond, &client->mutex, &until);
    if (result == ETIMEDOUT && !op->done && client->leader) {
        now_ns = rl_client_now_ns(client);
        end_absence(client, now_ns); /* the leader may not have run either */
        rl_loop_tick(client, now_ns);
        rl_loop_wake(client);
        rl_loop_submit(client, now_ns);
    }
}

static void nap(redlock *client)
{
    struct timespec a_moment = {.tv_nsec = RL_NS_PER_MS};
    pthread_mutex_unlock(&client->mutex);
    nanosleep(&a_moment, NULL);
    pthread_mutex_lock(&client->mutex);
}

void rl_loop_wait(redlock *client, struct rl_op *op)
{
    rl_loop_wake(client); /* whose calls this one has ended */
    while (!op->done) {
        if (client->leader && !op->sleeper)
            op->sleeper = take_sleeper(client);
        if (client->leader && op->sleeper)
            follow(client, op);
        else if (client->leader)
            nap(client); /* no memory for sleeping as one should */
        else
            lead(client, op);
    }
    if (op->sleeper) {
        if (op->sleeper->due) /* woken by time, before it was signalled */
            rl_loop_wake(client);
        op->sleeper->next = client->spare_sleepers;
        client->spare_sleepers = op->sleeper;
        op->sleeper = NULL;
    }
    if (!client->leader)
        offer_lead(client);
}

void rl_loop_linger(redlock *client, int64_t until_ns)
{
    int64_t now_ns = rl_client_now_ns(client);
    assert(!client->leader && !client->ops);
    while (now_ns < until_ns && rl_claims_pending(client, now_ns)) {
        int64_t due = rl_loop_next_due_ns(client);
        now_ns = turn(client, now_ns, due < until_ns ? due : until_ns);
    }
}
