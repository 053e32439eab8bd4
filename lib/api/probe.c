/* probe.c - what redlock_probe() does. On each master a lock with a random name is taken,
 * waited for, extended and released, with the scripts of a plain lock.
 *
 *   LISTEN   the subscribers connect
 *   TAKE     acquire by the native pair, with a token of our own
 *   QUEUE    a second token is refused, and its waiter enters the queue
 *   EXTEND   twice: the script's body, then its hash
 *   RELEASE  which wakes the waiter
 *   WAKE     the message is heard on the client's channel
 *   LEAVE    the waiter gives up what the release kept for it
 *
 * Each phase asks the masters at which all phases before it went well, and waits for them at
 * most connect-timeout. The requests are queries (lease.h): no vote is counted, and nothing
 * here can grant a lock to anybody. */
#include "config_auto.h"

#include "api/probe.h"

#include "engine/lease/lease.h"
#include "api/probe_proofs.h"
#include "engine/loop/loop.h"
#include "engine/wait/subscribers.h"

#include <assert.h>

#define LEASE_MAX_NS (5 * RL_NS_PER_S) /* a lost release leaves the key so long */
#define LOOK_NS (10 * RL_NS_PER_MS)    /* how often connecting subscribers are checked */

enum phase {
    PHASE_LISTEN,
    PHASE_TAKE,
    PHASE_QUEUE,
    PHASE_EXTEND,
    PHASE_EXTEND_AGAIN,
    PHASE_RELEASE,
    PHASE_WAKE,
    PHASE_LEAVE,
    PHASE_DONE
};

struct rl_probe {
    struct rl_call call; /* first */
    struct rl_proofs proofs;
    struct rl_lease *holder, *waiter;
    int64_t lease_ns;
    uint64_t number; /* the waiter's */
    enum phase phase;
    uint64_t good;    /* nodes at which every phase so far succeeded */
    uint64_t taken;   /* nodes with an acquire sent, and no release yet */
    uint64_t waits;   /* nodes that have the waiter in their queue */
    uint64_t silent;  /* nodes that have not answered in this phase */
    int64_t until_ns; /* the end of this phase */
};

static const struct {
    enum rl_verb verb;
    enum rl_proof_of of;
} row_of[PHASE_DONE] = {
    [PHASE_TAKE] = {RL_ACQUIRE, RL_PROOF_ACQUIRE},
    [PHASE_QUEUE] = {RL_ACQUIRE_OR_QUEUE, RL_PROOF_WAKE},
    [PHASE_EXTEND] = {RL_EXTEND, RL_PROOF_EXTEND},
    [PHASE_EXTEND_AGAIN] = {RL_EXTEND, RL_PROOF_EXTEND},
    [PHASE_RELEASE] = {RL_RELEASE, RL_PROOF_RELEASE},
    [PHASE_LEAVE] = {RL_DEQUEUE, RL_PROOF_WAKE},
};

/* Does this phase send scripts? Then it has a row. */
static bool asks(enum phase phase)
{
    return phase != PHASE_LISTEN && phase != PHASE_WAKE && phase < PHASE_DONE;
}

/* ---- answers ---------------------------------------------------------------------------- */

/* The second token must be refused, and its waiter must be in the queue now. */
static void judge_queued(struct rl_probe *probe, unsigned node,
                         const struct rl_vote_reply *vote_reply)
{
    assert(probe->phase == PHASE_QUEUE && vote_reply->vote != RL_VOTE_FAILED);
    if (vote_reply->vote == RL_VOTE_YES)
        rl_proofs_fail(&probe->proofs, node, RL_PROOF_WAKE, "the key was gone before its time");
    else if (vote_reply->answer.place < 0)
        rl_proofs_fail(&probe->proofs, node, RL_PROOF_WAKE,
                       "could not enter the queue of waiters (TIME, ZADD, ZRANK, PEXPIRE)");
    else
        probe->waits |= rl_bit(node);
}

static void judge(struct rl_probe *probe, unsigned node, const struct rl_vote_reply *vote_reply)
{
    assert(asks(probe->phase));
    enum rl_proof_of of = row_of[probe->phase].of;
    if (vote_reply->vote == RL_VOTE_FAILED)
        rl_proofs_fail(&probe->proofs, node, of, "%s", vote_reply->why);
    else if (probe->phase == PHASE_QUEUE)
        judge_queued(probe, node, vote_reply);
    else if (vote_reply->vote == RL_VOTE_NO)
        rl_proofs_fail(&probe->proofs, node, of, "the key was gone before its time");
    else if (probe->phase != PHASE_LEAVE)
        rl_proofs_pass(&probe->proofs, node, of);
    if (of != RL_PROOF_WAKE && !(probe->proofs.proven[of] & rl_bit(node)))
        probe->good &= ~rl_bit(node);
}

static void on_heard(struct rl_call *call, struct rl_node *node, enum rl_verb verb,
                     const struct rl_vote_reply *vote_reply)
{
    struct rl_probe *probe = (struct rl_probe *)call;
    uint64_t bit = rl_bit(node->index);
    assert(node->index < call->voters->n);
    if (call->done || !(probe->silent & bit) || verb != rl_verb_of(row_of[probe->phase].verb))
        return;
    probe->silent &= ~bit;
    judge(probe, node->index, vote_reply);
    if (!probe->silent)
        rl_call_due(call, 0); /* not from within the lease's callback */
}

static bool on_woken(struct rl_call *call, unsigned node, uint64_t number)
{
    struct rl_probe *probe = (struct rl_probe *)call;
    assert(node < call->voters->n);
    if (probe->number != number)
        return false;
    if ((probe->waits & rl_bit(node)) && !call->done) {
        rl_proofs_pass(&probe->proofs, node, RL_PROOF_WAKE);
        probe->waits &= ~rl_bit(node);
        if (probe->phase == PHASE_WAKE && !probe->waits)
            rl_call_due(call, 0);
    }
    return true;
}

/* ---- phases ----------------------------------------------------------------------------- */

/* Masters that vote: a grant of another master would count for nothing. */
static uint64_t provable(redlock *client, int64_t now_ns)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        if (rl_node_standing(&client->nodes.all[i], now_ns) > RL_STANDING_STALLED)
            nodes |= rl_bit(i);
    }
    return nodes;
}

static void judge_listening(struct rl_probe *probe)
{
    redlock *client = probe->call.client;
    assert(probe->phase == PHASE_LISTEN);
    for (uint64_t deaf = probe->good & ~client->subs.listening; deaf; deaf &= deaf - 1) {
        unsigned i = rl_first(deaf);
        rl_proofs_fail(&probe->proofs, i, RL_PROOF_WAKE, "%s",
                       client->nodes.all[i].sub ? client->nodes.all[i].sub->why
                                                : redlock_strerror(REDLOCK_ENOMEM));
    }
}

static void judge_silent(struct rl_probe *probe)
{
    long long ms =
        (long long)(probe->call.client->node_settings.connect_timeout_ns / RL_NS_PER_MS);
    assert(asks(probe->phase));
    enum rl_proof_of of = row_of[probe->phase].of;
    for (uint64_t rest = probe->silent; rest; rest &= rest - 1)
        rl_proofs_fail(&probe->proofs, rl_first(rest), of,
                       "no answer to the script within %lld ms", ms);
    if (of != RL_PROOF_WAKE)
        probe->good &= ~probe->silent;
    probe->silent = 0;
}

static void phase_end(struct rl_probe *probe)
{
    if (probe->phase == PHASE_LISTEN) {
        judge_listening(probe);
    } else if (probe->phase == PHASE_WAKE) {
        for (uint64_t rest = probe->waits; rest; rest &= rest - 1)
            rl_proofs_fail(&probe->proofs, rl_first(rest), RL_PROOF_WAKE,
                           "the release's message did not come (PUBLISH)");
    } else {
        judge_silent(probe);
    }
}

static void ask(struct rl_probe *probe, struct rl_lease *lease, uint64_t nodes, int64_t now_ns)
{
    assert(asks(probe->phase) && !probe->silent);
    probe->silent = nodes;
    rl_lease_query(lease, row_of[probe->phase].verb, nodes, now_ns, probe->until_ns);
}

static void phase_begin(struct rl_probe *probe, int64_t now_ns)
{
    redlock *client = probe->call.client;
    assert(!probe->silent && !probe->call.done); /* phase_end() has judged them */
    assert((probe->good & ~rl_all(client->nodes.n)) == 0);
    probe->until_ns = now_ns + client->node_settings.connect_timeout_ns;
    switch (probe->phase) {
    case PHASE_LISTEN:
        rl_subs_start(&client->subs, now_ns);
        break;
    case PHASE_TAKE:
        probe->taken = probe->good;
        ask(probe, probe->holder, probe->good, now_ns);
        break;
    case PHASE_QUEUE:
        probe->waiter->waits_since_ns = now_ns;
        ask(probe, probe->waiter, probe->good & client->subs.listening, now_ns);
        break;
    case PHASE_EXTEND: /* to more than the remaining TTL, so that it has an effect */
        probe->holder->query_ttl_ns = probe->lease_ns;
        ask(probe, probe->holder, probe->good, now_ns);
        break;
    case PHASE_EXTEND_AGAIN:
        ask(probe, probe->holder, probe->good, now_ns);
        break;
    case PHASE_RELEASE: /* each node that may have a key and may answer */
        ask(probe, probe->holder, probe->taken, now_ns);
        probe->taken = 0;
        probe->silent &= probe->good;
        break;
    case PHASE_LEAVE:
        ask(probe, probe->waiter, probe->good & client->subs.listening, now_ns);
        break;
    case PHASE_WAKE: /* without a release there is no message */
        probe->waits &= probe->good;
        break;
    case PHASE_DONE:
        break;
    }
}

/* When the phase ends; 0: it is over. */
static int64_t phase_due_ns(const struct rl_probe *probe, int64_t now_ns)
{
    if (now_ns >= probe->until_ns)
        return 0;
    if (probe->phase == PHASE_LISTEN)
        return rl_subs_pending(&probe->call.client->subs)
                   ? rl_earlier_ns(now_ns + LOOK_NS, probe->until_ns)
                   : 0;
    uint64_t awaited = probe->phase == PHASE_WAKE ? probe->waits : probe->silent;
    return awaited ? probe->until_ns : 0;
}

static void on_step(struct rl_call *call, int64_t now_ns)
{
    struct rl_probe *probe = (struct rl_probe *)call;
    redlock_status_report *status = &probe->proofs.status->whole;
    assert(probe->phase < PHASE_DONE);
    for (int64_t due_ns; (due_ns = phase_due_ns(probe, now_ns)) == 0;) {
        phase_end(probe);
        if (++probe->phase == PHASE_DONE) {
            rl_proofs_publish(&probe->proofs);
            rl_call_finish(call,
                           status->proven >= status->needed ? REDLOCK_OK : REDLOCK_ENOQUORUM);
            return;
        }
        phase_begin(probe, now_ns);
    }
    rl_call_due(call, phase_due_ns(probe, now_ns));
}

/* ---- the call --------------------------------------------------------------------------- */

static int lease_new(struct rl_probe *probe, const struct rl_target *target,
                     struct rl_lease **ret_lease)
{
    assert(probe->lease_ns / 2 >= RL_NS_PER_MS); /* half of it is a TTL, too */
    int result = rl_lease_new(probe->call.client, target, NULL, ret_lease);
    if (result)
        return result;
    rl_lease_ref(*ret_lease); /* ours until the end, even if replies come late */
    (*ret_lease)->call = &probe->call;
    (*ret_lease)->query = true;
    /* acquire as for any free lock */
    (*ret_lease)->native = probe->call.client->config.guard != RL_GUARD_STRICT;
    (*ret_lease)->query_ttl_ns = probe->lease_ns / 2;
    return 0;
}

static void lease_end(struct rl_lease *lease, int64_t now_ns)
{
    if (!lease)
        return;
    assert(lease->query && lease->refs > 0); /* the reference of lease_new() */
    lease->call = NULL;
    rl_lease_unref(lease, now_ns);
}

static void end(struct rl_probe *probe)
{
    redlock *client = probe->call.client;
    int64_t now_ns = rl_client_now_ns(client);
    assert(probe->call.done);
    client->probes.running--;
    if (probe->taken) /* the probe was cut short */
        rl_lease_query(probe->holder, RL_RELEASE, probe->taken, now_ns,
                       now_ns + client->node_settings.connect_timeout_ns);
    lease_end(probe->waiter, now_ns);
    lease_end(probe->holder, now_ns);
    rl_loop_flush_unless_led(client, now_ns);
}

/* R9: No bare SET under a strict guard. */
int rl_probe_run(redlock *client, const struct rl_target *target, struct rl_status *status)
{
    struct rl_probe probe = {
        .proofs.status = status,
        .lease_ns = rl_earlier_ns(client->config.max_ttl_ms * RL_NS_PER_MS, LEASE_MAX_NS),
        .number = RL_CALL_NUMBERS + ++client->probes.count,
    };
    assert(target->kind->native && client->calls.callers > 0);
    assert(status->to && status->whole.nodes == client->nodes.n); /* rl_status_open() */
    int64_t now_ns = rl_loop_poll_if_idle(client);
    probe.call.step = on_step;
    probe.call.on_vote = on_heard;
    probe.call.woken = on_woken;
    int result = rl_call_begin(&probe.call, client);
    if (result)
        return result;
    client->probes.running++;
    result = lease_new(&probe, target, &probe.holder);
    if (!result)
        result = lease_new(&probe, target, &probe.waiter);
    if (result) {
        rl_call_finish(&probe.call, result);
    } else {
        probe.waiter->waiter = probe.number;
        probe.good = provable(client, now_ns);
        phase_begin(&probe, now_ns);
        on_step(&probe.call, now_ns);
    }
    result = rl_call_wait(&probe.call, now_ns, NULL);
    end(&probe);
    return result;
}
