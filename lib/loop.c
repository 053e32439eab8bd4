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

#include "claim.h"
#include "clock.h"
#include "op.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_A_TURN 64
#define IDLE_LIMIT_NS (100 * RL_NS_PER_MS)
#define GRACE_MIN_NS (10 * RL_NS_PER_MS)
#define GRACE_MAX_NS (100 * RL_NS_PER_MS)

/* ---- what the nodes are good for now -------------------------------------------------- */

uint64_t rl_client_able(redlock *client, int64_t now_ns)
{
    uint64_t able = 0, prompt = 0;
    for (unsigned i = 0; i < client->n; i++) {
        if (!rl_node_able(&client->nodes[i], now_ns))
            continue;
        able |= rl_bit(i);
        if (!rl_node_lags(&client->nodes[i], now_ns))
            prompt |= rl_bit(i);
    }
    /* Slow is not dead: only who is not needed, even if one more fails, is left out. */
    return rl_count(prompt) > rl_quorum_needed(client->n) ? prompt : able;
}

unsigned rl_client_pending(redlock *client)
{
    unsigned pending = 0;
    for (unsigned i = 0; i < client->n; i++)
        pending += rl_node_pending(&client->nodes[i]);
    return pending;
}

int64_t rl_client_round_trip_ns(redlock *client, uint64_t nodes)
{
    int64_t sorted[REDLOCK_NODES_MAX];
    unsigned count = 0;
    for (; nodes; nodes &= nodes - 1) {
        int64_t trip = client->nodes[rl_first(nodes)].round_trip_ns;
        unsigned at = count++;
        for (; at > 0 && sorted[at - 1] > trip; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = trip;
    }
    unsigned needed = rl_quorum_needed(client->n);
    return count >= needed ? sorted[needed - 1] : 0;
}

/* A client that has never begun a round waits for all nodes, or for a majority and about as
 * long again, so that its first locks do not stand on a bare majority. Later, a majority
 * will do: a node that comes and goes must not cost every call a grace. Without a majority,
 * waiting is worth it as long as nodes that have not failed yet could make one. */
bool rl_client_ready(redlock *client, uint64_t able, int64_t now_ns, int64_t *ret_until_ns)
{
    unsigned needed = rl_quorum_needed(client->n);
    unsigned pending = rl_client_pending(client);
    *ret_until_ns = INT64_MAX;
    if (pending == 0)
        return true;
    if (rl_count(able) < needed)
        return rl_count(able) + pending < needed;
    if (client->warm)
        return true;
    if (client->majority_ns == 0)
        client->majority_ns = now_ns;
    int64_t grace = client->majority_ns - client->opened_ns;
    if (grace < GRACE_MIN_NS)
        grace = GRACE_MIN_NS;
    if (grace > GRACE_MAX_NS)
        grace = GRACE_MAX_NS;
    *ret_until_ns = client->majority_ns + grace;
    return now_ns >= *ret_until_ns;
}

/* ---- node events ---------------------------------------------------------------------- */

/* A later node that is the same server as an earlier one has no vote. */
static void find_twins(redlock *client)
{
    for (unsigned i = 0; i < client->n; i++) {
        struct rl_node *node = &client->nodes[i];
        int before = node->twin;
        node->twin = -1;
        for (unsigned k = 0; k < i && node->info.run_id[0]; k++) {
            const char *other = client->nodes[k].info.run_id;
            if (client->nodes[k].twin < 0 && strcmp(other, node->info.run_id) == 0) {
                node->twin = (int)k;
                break;
            }
        }
        if (node->twin >= 0 && node->twin != before)
            rl_client_log(client, REDLOCK_LOG_ERROR,
                          "%s is the same server as %s: it has no vote; name %u different "
                          "servers",
                          node->config->label, client->nodes[node->twin].config->label,
                          client->n);
    }
}

static void on_changed(void *owner, struct rl_node *node, int64_t now_ns)
{
    redlock *client = owner;
    (void)node;
    find_twins(client);
    if (client->ending > 0)
        client->sweep_ns = now_ns; /* releases that were due may go now */
    for (struct rl_op *op = client->ops; op; op = op->next)
        op->due_ns = now_ns; /* who waits for nodes may look again */
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
    .changed = on_changed,
    .log = rl_client_log,
};

/* ---- turning -------------------------------------------------------------------------- */

bool rl_loop_unflushed(const redlock *client)
{
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
        for (unsigned i = 0; i < client->n; i++) {
            if (client->nodes[i].unflushed) {
                rl_node_flush(&client->nodes[i], now_ns);
                again = true;
            }
        }
    } while (again);
}

void rl_loop_tick(redlock *client, int64_t now_ns)
{
    bool canceled = atomic_load(&client->canceled);
    for (unsigned i = 0; i < client->n; i++)
        rl_node_tick(&client->nodes[i], now_ns);
    if (now_ns >= client->sweep_ns)
        rl_claims_sweep(client, now_ns);
    for (struct rl_op *op = client->ops; op; op = op->next) {
        if (canceled && !op->done && op->cancel)
            op->cancel(op, now_ns);
        if (!op->done && now_ns >= op->due_ns)
            op->step(op, now_ns);
    }
}

static int64_t next_due_ns(redlock *client)
{
    int64_t due = client->sweep_ns;
    for (unsigned i = 0; i < client->n; i++) {
        int64_t node_due = rl_node_due_ns(&client->nodes[i]);
        if (node_due < due)
            due = node_due;
    }
    for (struct rl_op *op = client->ops; op; op = op->next) {
        if (!op->done && op->due_ns < due)
            due = op->due_ns;
    }
    return due;
}

static int timeout_ms(int64_t due_ns, int64_t now_ns)
{
    if (due_ns <= now_ns)
        return 0;
    /* Rounded up, so as not to spin through the last millisecond; and never for very long,
     * since epoll's clock does not count the time of a suspend. */
    int64_t ms = (due_ns - now_ns) / RL_NS_PER_MS + 1;
    return ms > 1000 ? 1000 : (int)ms;
}

static void drain_wake(redlock *client)
{
    uint64_t count;
    while (read(client->wake_fd, &count, sizeof(count)) < 0 && errno == EINTR)
        ;
}

/* Wait until `due_ns` at the longest, then handle what there is. The mutex is dropped for
 * the wait. Returns the time after the wait. */
static int64_t turn(redlock *client, int64_t now_ns, int64_t due_ns)
{
    struct epoll_event events[EVENTS_A_TURN];
    int timeout = timeout_ms(due_ns, now_ns);
    pthread_mutex_unlock(&client->mutex);
    int count = epoll_wait(client->epoll_fd, events, EVENTS_A_TURN, timeout);
    pthread_mutex_lock(&client->mutex);
    now_ns = rl_clock_now_ns();
    client->turned_ns = now_ns;
    for (int i = 0; i < count; i++) {
        if (events[i].data.ptr == client)
            drain_wake(client);
        else
            rl_node_step(events[i].data.ptr, events[i].events, now_ns);
    }
    rl_loop_tick(client, now_ns);
    rl_loop_flush(client, now_ns);
    return now_ns;
}

/* The beginning of every call. Where nobody leads, nobody has looked since the last one. */
int64_t rl_loop_look(redlock *client)
{
    int64_t now_ns = rl_clock_now_ns();
    if (client->leader)
        return now_ns;
    client->settings.driven_since_ns = now_ns;
    return turn(client, now_ns, now_ns);
}

int64_t rl_loop_catch_up(redlock *client)
{
    int64_t now_ns = rl_clock_now_ns();
    if (now_ns - client->turned_ns > IDLE_LIMIT_NS)
        return rl_loop_look(client);
    if (!client->leader)
        client->settings.driven_since_ns = now_ns;
    return now_ns;
}

static void lead(redlock *client, struct rl_op *op)
{
    client->leader = op;
    int64_t now_ns = rl_clock_now_ns();
    while (!op->done)
        now_ns = turn(client, now_ns, next_due_ns(client));
    client->leader = NULL;
    /* Somebody who sleeps must lead from here on. */
    for (struct rl_op *other = client->ops; other; other = other->next) {
        if (other->waits && !other->done) {
            pthread_cond_signal(&other->cond);
            break;
        }
    }
}

static void follow(redlock *client, struct rl_op *op)
{
    int64_t now_ns = rl_clock_now_ns();
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t wait_ns = op->due_ns > now_ns ? op->due_ns - now_ns : 0;
    if (wait_ns > RL_NS_PER_S)
        wait_ns = RL_NS_PER_S;
    int64_t at_ns = until.tv_nsec + wait_ns + RL_NS_PER_MS;
    until.tv_sec += (time_t)(at_ns / RL_NS_PER_S);
    until.tv_nsec = (long)(at_ns % RL_NS_PER_S);
    op->waits = true;
    int result = pthread_cond_timedwait(&op->cond, &client->mutex, &until);
    op->waits = false;
    if (result == ETIMEDOUT && !op->done && client->leader) {
        now_ns = rl_clock_now_ns();
        rl_loop_tick(client, now_ns);
        rl_loop_flush(client, now_ns);
    }
}

void rl_loop_wait(redlock *client, struct rl_op *op)
{
    while (!op->done) {
        if (client->leader)
            follow(client, op);
        else
            lead(client, op);
    }
}

void rl_loop_linger(redlock *client, int64_t until_ns)
{
    int64_t now_ns = rl_clock_now_ns();
    assert(!client->leader && !client->ops);
    while (now_ns < until_ns && rl_claims_pending(client, now_ns)) {
        int64_t due = next_due_ns(client);
        now_ns = turn(client, now_ns, due < until_ns ? due : until_ns);
    }
}
