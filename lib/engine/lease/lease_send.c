/* lease_send.c - a lease's requests: encoded once, queued on many nodes. */
#include "config_auto.h"

#include "engine/lease/lease_parts.h"

#include "node/request.h"

#include <assert.h>
#include <string.h>

/* A request for a lease, encoded once for all nodes. It is a script by hash and, for
 * connections that have not carried the body yet, with the body. Or it is the native pair, in
 * the hash's place. The bytes are the client's: one request is made at a time, and none while
 * another is being queued. */
struct request {
    struct rl_request is;
    size_t by_hash_len, by_body_len; /* 0: not encoded yet */
    char *by_hash, *by_body;
    struct rl_inflight inflight; /* what is noted of it at each node */
};

/* R11: What scripts with fencing tokens are told besides. core/fence.h says why tokens may be
 * ahead of a master's clock, and how far. */
static void fence(struct rl_request *request, const struct rl_lease *lease)
{
    const redlock *client = lease->client;
    int64_t window_us = client->node_settings.guard_window_ns / 1000;
    assert(window_us > 0 && !lease->query);
    request->fenced = true;
    request->counter = rl_kind_counter(lease->target.kind, lease->voters->n);
    request->counter_life_ms = RL_FENCE_LIFE_MS + window_us / 1000;
    request->writes_back = lease->hold.phase == RL_HOLD_FENCING;
    request->fencing_token =
        request->writes_back ? lease->hold.fence.told : lease->hold.fence.token;
    request->ahead_us = rl_fence_taken_ahead_us(window_us);
    if (rl_verb_of(request->script) != RL_ACQUIRE)
        return;
    request->ahead_us = rl_fence_granted_ahead_us(window_us);
    request->proposed = rl_clock_wall_us() + (uint64_t)rl_fence_lead_us(window_us);
}

/* R8: How long the key may live that this request sets or extends; 0 for those that do
 * neither. */
static int64_t key_life_ns(const struct rl_lease *lease, enum rl_verb script, int64_t now_ns)
{
    const struct rl_hold *hold = &lease->hold;
    if (lease->query)
        return lease->query_ttl_ns;
    int64_t ttl_ns = rl_verb_of(script) == RL_ACQUIRE ? hold->ask_ttl_ns
                     : script == RL_RETAKE
                         ? rl_rest_ns(hold->deadline_ns, now_ns, hold->drift_factor)
                         : hold->extend_ttl_ns;
    return ttl_ns > 0 ? rl_key_life_ns(ttl_ns, hold->lock_delay_ns) : 0;
}

/* R9: With a strict guard the script looks at the marker first. */
static void request_init(struct request *request, struct rl_lease *lease, enum rl_verb script,
                         int64_t now_ns)
{
    redlock *client = lease->client;
    bool fenced = lease->hold.fence.wanted && rl_kind_fences(lease->target.kind, script);
    *request = (struct request){
        .is = {.target = &lease->target,
               .script = script,
               .token = lease->token,
               .token_len = lease->token_len,
               .ttl_ms = key_life_ns(lease, script, now_ns) / RL_NS_PER_MS,
               .uuid = client->identity.uuid,
               .waiter = lease->waiter,
               .age_us = (now_ns - lease->waits_since_ns) / 1000,
               .wakes_nobody = lease->wakes_nobody,
               .writer_waiting_ms = script == RL_ACQUIRE_OR_QUEUE ? RL_WRITER_WAITING_MS
                                    : lease->waits                ? RL_WRITER_FIRST_WAITING_MS
                                                                  : 0,
               .endless = lease->endless,
               .who = client->identity.holder,
               .max_ttl_ms = client->config.max_ttl_ms,
               .strict = client->config.guard == RL_GUARD_STRICT &&
                         rl_verb_takes(rl_verb_of(script))},
        .by_hash = client->requests.bytes,
        .by_body = client->requests.bytes + RL_REQUEST_MAX,
        .inflight = {.lease = lease,
                     .sent_ns = now_ns,
                     .deadline_ns = now_ns + lease->budget_ns,
                     .type = RL_REQUEST_VERB,
                     .verb = rl_verb_of(script),
                     .script = script,
                     .number = rl_script_number(lease->target.kind, script, fenced),
                     .native = lease->native && script == RL_ACQUIRE},
    };
    assert(lease->budget_ns > 0 && request->inflight.number < RL_SCRIPTS);
    assert(!request->is.strict || !request->inflight.native); /* a SET looks at no marker */
    request->inflight.by_token =
        request->inflight.native || lease->target.kind->script[script].echoes_token;
    if (request->inflight.by_token) {
        request->inflight.token.bytes = lease->token;
        request->inflight.token.len = lease->token_len;
    } else {
        rl_nonce_text(++client->requests.nonce, request->is.nonce);
        memcpy(request->inflight.nonce, request->is.nonce, sizeof(request->is.nonce));
    }
    if (request->inflight.native)
        return;
    if (rl_request_reserves(&request->is))
        request->is.reserve_ms = rl_voters_reserve_ms(lease->voters);
    if (fenced)
        fence(&request->is, lease);
    request->inflight.certified = fenced && client->node_settings.fencing_strict &&
                                  (request->is.writes_back || rl_verb_of(script) == RL_ACQUIRE);
}

/* R11: With `fencing strict`: show the node's certificate. False: this round may not, and
 * `why`. */
static bool certify(struct request *request, const struct rl_lease *lease,
                    const struct rl_node *node, struct rl_vote_reply *ret_failed)
{
    const struct rl_certificate *certificate = &node->fence.certificate;
    if (!request->inflight.certified) /* else the bytes are this node's own */
        return true;
    request->is.certificate = certificate->id;
    request->is.certificate_key = node->keys->fencing;
    request->by_hash_len = request->by_body_len = 0;
    if (rl_certificate_serves(certificate, lease->certificates))
        return true;
    *ret_failed = (struct rl_vote_reply){.vote = RL_VOTE_FAILED,
                                         .why = rl_node_fence_why(node),
                                         .stale = rl_is_certified(certificate)};
    return false;
}

/* R22: A vote of this round counts only if Sentinels have named its server lately, seen from the
 * round's t0. What is filled in ends with an earlier round: it needs a word of now. */
static bool vouched(const struct rl_lease *lease, const struct rl_node *node, enum rl_verb verb,
                    int64_t now_ns, struct rl_vote_reply *ret_failed)
{
    const struct rl_hold *hold = &lease->hold;
    int64_t t0_ns = verb == RL_ACQUIRE  ? hold->ask.t0_ns
                    : verb == RL_EXTEND ? hold->extend.t0_ns
                                        : now_ns;
    if (rl_node_vouched(node, t0_ns))
        return true;
    *ret_failed = (struct rl_vote_reply){.vote = RL_VOTE_FAILED,
                                         .why = "its Sentinels are asked anew",
                                         .stale = true};
    return false;
}

static size_t encode(const struct request *request, bool by_body, char *bytes)
{
    return request->inflight.native ? rl_request_encode_native(&request->is, bytes)
                           : rl_request_encode(&request->is, by_body, bytes);
}

/* Queue the request on a slot of a node. False: there is no room for it. */
static bool put(struct request *request, struct rl_lease *lease, struct rl_node *node,
                unsigned slot)
{
    struct rl_connection *connection = &node->slot[slot].connection;
    assert(slot < RL_SLOTS);
    assert(lease->refs > 0 && !lease->spare);
    bool *known = &connection->script_known[request->inflight.number];
    bool by_body = !request->inflight.native && !*known;
    size_t *len = by_body ? &request->by_body_len : &request->by_hash_len;
    char *bytes = by_body ? request->by_body : request->by_hash;
    if (*len == 0)
        *len = encode(request, by_body, bytes);
    size_t whole = *len;
    if (request->is.strict)
        whole = rl_request_put_marker(bytes, *len, node->keys, node->marker.text);
    request->inflight.with_body = by_body;
    if (!rl_node_ask(node, slot, bytes, whole, request->is.script != RL_RELEASE,
                     &request->inflight))
        return false;
    *known |= by_body;
    lease->owed++;
    lease->voters->fill_in.owed += request->is.script == RL_RETAKE;
    lease->client->stats.commands += request->inflight.native ? 2 : 1;
    return true;
}

/* Send `script` to `nodes`, as long as the hold wants it sent. */
static unsigned send(struct rl_lease *lease, enum rl_verb script, uint64_t nodes,
                     int64_t now_ns)
{
    struct request request;
    unsigned events = 0;
    if (!nodes)
        return 0;
    request_init(&request, lease, script, now_ns);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = lease->voters->node[i];
        if (lease->hold.phase == RL_HOLD_ENDING)
            break;
        enum rl_verb verb = rl_verb_of(script);
        struct rl_vote_reply failed;
        bool may = certify(&request, lease, node, &failed) &&
                   vouched(lease, node, verb, now_ns, &failed);
        if (!may)
            rl_lease_on_vote(lease, node, verb, &failed);
        if (may && put(&request, lease, node, node->current))
            rl_hold_sent(&lease->hold, i, node->current, verb, true);
        else
            events |= rl_hold_unsent(&lease->hold, i, verb, now_ns);
    }
    return events;
}

unsigned rl_lease_send_taking(struct rl_lease *lease, enum rl_verb verb, uint64_t nodes,
                              int64_t now_ns)
{
    assert(rl_verb_takes(verb));
    assert(!lease->query && !lease->detached);
    assert((nodes & ~rl_all(lease->voters->n)) == 0);
    /* A waiter enters the queues of nodes from which it will hear of a release. */
    uint64_t queues = 0;
    if (verb == RL_ACQUIRE && lease->waiter)
        queues =
            rl_wait_queue_nodes(&lease->client->wait_queues, lease->target.kind, lease->waiter);
    lease->queues |= nodes & queues;
    unsigned events = send(lease, RL_ACQUIRE_OR_QUEUE, nodes & queues, now_ns);
    return events | send(lease, verb, nodes & ~queues, now_ns);
}

void rl_lease_send_releases(struct rl_lease *lease, int64_t now_ns)
{
    struct rl_hold *hold = &lease->hold;
    assert(!lease->query && !lease->detached);
    if (hold->phase != RL_HOLD_ENDING || now_ns < lease->retry_ns)
        return;
    uint64_t nodes = rl_hold_to_release(hold); /* mostly none */
    struct request request;
    bool begun = false;
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = lease->voters->node[i];
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            bool current = slot == node->current;
            if (!rl_hold_wants_release(hold, i, slot, current))
                continue;
            if (!begun)
                request_init(&request, lease, RL_RELEASE, now_ns);
            begun = true;
            if (put(&request, lease, node, slot))
                rl_hold_sent(hold, i, slot, RL_RELEASE, current);
        }
    }
}

void rl_lease_query(struct rl_lease *lease, enum rl_verb verb, uint64_t nodes, int64_t now_ns,
                    int64_t deadline_ns)
{
    struct request request;
    assert(lease->hold.phase == RL_HOLD_NEW && !lease->lock); /* no hold, no vote */
    assert(lease->call); /* nobody else is told the answers */
    assert((nodes & ~rl_all(lease->voters->n)) == 0 && deadline_ns > now_ns);
    rl_lease_ref(lease);
    lease->query = true;
    lease->budget_ns = deadline_ns - now_ns;
    request_init(&request, lease, verb, now_ns);
    for (; nodes; nodes &= nodes - 1) {
        struct rl_node *node = lease->voters->node[rl_first(nodes)];
        if (!put(&request, lease, node, node->current)) {
            struct rl_vote_reply vote_reply = {.vote = RL_VOTE_FAILED,
                                               .why = "takes no more requests"};
            rl_lease_on_vote(lease, node, verb, &vote_reply);
        }
    }
    rl_lease_unref(lease, now_ns);
}
