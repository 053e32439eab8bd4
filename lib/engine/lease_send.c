/* lease_send.c - a claim's requests: encoded once, queued on many nodes. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#include "engine/request.h"

#include <string.h>

/* A script's request for a claim, encoded once for all nodes: by hash and, for connections
 * that have not carried the script's body yet, with the body. The bytes are the client's: one
 * request is made at a time, and none while another is being queued. */
struct request {
    struct rl_request is;
    unsigned number;                 /* rl_script_number */
    size_t by_hash_len, by_body_len; /* 0: not encoded yet */
    char *by_hash, *by_body;
};

static void request_init(struct request *request, const struct rl_claim *claim,
                         enum rl_verb script, int64_t now_ns)
{
    redlock *client = claim->client;
    int64_t ttl_ns = claim->query                       ? claim->query_ttl_ns
                     : rl_verb_of(script) == RL_ACQUIRE ? claim->hold.ttl_ns
                                                        : claim->hold.extend_ttl_ns;
    *request = (struct request){
        .is = {.target = &claim->target,
               .script = script,
               .token = claim->token,
               .token_len = claim->token_len,
               .ttl_ms = ttl_ns / RL_NS_PER_MS,
               .uuid = client->identity.uuid,
               .waiter = claim->waiter,
               .age_us = (now_ns - claim->waits_since_ns) / 1000,
               .silent = claim->silent,
               .mark_ms = script == RL_WAIT ? RL_WRITER_MARK_MS
                          : claim->waits    ? RL_WRITER_FIRST_MARK_MS
                                            : 0,
               .endless = claim->endless},
        .number = rl_script_number(claim->target.kind, script),
        .by_hash = client->requests.bytes,
        .by_body = client->requests.bytes + RL_REQUEST_MAX,
    };
    rl_nonce_text(++client->requests.nonce, request->is.nonce);
    if (rl_request_keeps(&request->is))
        request->is.keep_ms = rl_nodes_keep_ms(&client->nodes);
}

/* Queue the request on a slot of a node. False: there is no room for it. */
static bool put(struct request *request, struct rl_claim *claim, struct rl_node *node,
                unsigned slot, int64_t now_ns)
{
    struct rl_wire *wire = &node->slot[slot].wire;
    bool by_body = !wire->script_known[request->number];
    size_t *len = by_body ? &request->by_body_len : &request->by_hash_len;
    char *bytes = by_body ? request->by_body : request->by_hash;
    if (*len == 0)
        *len = rl_request_encode(
            &request->is, by_body ? NULL : claim->client->requests.sha[request->number], bytes);
    if (!rl_node_takes(node, slot, *len, request->is.script != RL_RELEASE))
        return false;
    struct rl_waiting waiting = {
        .claim = claim,
        .sent_ns = now_ns,
        .deadline_ns = now_ns + claim->budget_ns,
        .ask = RL_ASK_VERB,
        .verb = rl_verb_of(request->is.script),
        .script = request->is.script,
        .number = request->number,
        .with_body = by_body,
    };
    memcpy(waiting.nonce, request->is.nonce, sizeof(waiting.nonce));
    rl_node_put(node, slot, bytes, *len, &waiting);
    wire->script_known[request->number] = true;
    claim->owed++;
    claim->client->stats.commands++;
    return true;
}

/* Send `script` to `nodes`, as long as the hold wants it sent. */
static unsigned send(struct rl_claim *claim, enum rl_verb script, uint64_t nodes,
                     int64_t now_ns)
{
    struct request request;
    unsigned did = 0;
    if (!nodes)
        return 0;
    request_init(&request, claim, script, now_ns);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = &claim->client->nodes.all[i];
        if (claim->hold.phase == RL_HOLD_ENDING)
            break;
        enum rl_verb verb = rl_verb_of(script);
        if (put(&request, claim, node, node->active, now_ns))
            rl_hold_sent(&claim->hold, i, node->active, verb, true);
        else
            did |= rl_hold_unsent(&claim->hold, i, verb, now_ns);
    }
    return did;
}

unsigned rl_claim_send_taking(struct rl_claim *claim, enum rl_verb verb, uint64_t nodes,
                              int64_t now_ns)
{
    /* Who waits enters the queue where it will hear of a release. */
    uint64_t queues = 0;
    if (verb == RL_ACQUIRE && claim->waiter)
        queues = rl_line_queues_at(claim->client, claim->target.kind, claim->waiter);
    claim->queues |= nodes & queues;
    unsigned did = send(claim, RL_WAIT, nodes & queues, now_ns);
    return did | send(claim, verb, nodes & ~queues, now_ns);
}

void rl_claim_send_releases(struct rl_claim *claim, int64_t now_ns)
{
    struct rl_hold *hold = &claim->hold;
    if (hold->phase != RL_HOLD_ENDING || claim->detached || now_ns < claim->retry_ns)
        return;
    uint64_t nodes = hold->due | hold->carry[0] | hold->carry[1];
    if (!nodes)
        return;
    struct request request;
    request_init(&request, claim, RL_RELEASE, now_ns);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = &claim->client->nodes.all[i];
        for (unsigned slot = 0; slot < RL_SLOTS; slot++) {
            bool active = slot == node->active;
            if (rl_hold_wants_release(hold, i, slot, active) &&
                put(&request, claim, node, slot, now_ns))
                rl_hold_sent(hold, i, slot, RL_RELEASE, active);
        }
    }
}

void rl_claim_query(struct rl_claim *claim, enum rl_verb verb, uint64_t nodes, int64_t now_ns,
                    int64_t deadline_ns)
{
    struct request request;
    rl_claim_enter(claim);
    claim->query = true;
    claim->budget_ns = deadline_ns - now_ns;
    request_init(&request, claim, verb, now_ns);
    for (; nodes; nodes &= nodes - 1) {
        struct rl_node *node = &claim->client->nodes.all[rl_first(nodes)];
        if (!put(&request, claim, node, node->active, now_ns)) {
            struct rl_judged judged = {.vote = RL_VOTE_FAILED, .why = "takes no more requests"};
            rl_claim_hear(claim, node, verb, &judged);
        }
    }
    rl_claim_leave(claim, now_ns);
}
