/* claim_send.c - a claim's requests: encoded once, queued on many nodes. */
#include "config_auto.h"

#include "claim_parts.h"

#include <assert.h>
#include <string.h>

#define REQUEST_MAX (REDLOCK_NAME_MAX + RL_TOKEN_MAX + 4096)

/* A verb's request for a claim, encoded once for all nodes: by hash and, for connections
 * that have not carried the script's body yet, with the body. */
struct request {
    enum rl_verb verb;
    char nonce[RL_NONCE_LEN];
    int64_t ttl_ms;
    size_t by_hash_len, by_body_len; /* 0: not encoded yet */
    char by_hash[REQUEST_MAX];
    char by_body[REQUEST_MAX];
};

static void request_init(struct request *request, struct rl_claim *claim, enum rl_verb verb)
{
    request->verb = verb;
    rl_nonce_text(++claim->client->nonce, request->nonce);
    request->by_hash_len = request->by_body_len = 0;
    int64_t ttl_ns = verb == RL_ACQUIRE ? claim->hold.ttl_ns : claim->hold.extend_ttl_ns;
    request->ttl_ms = ttl_ns / RL_NS_PER_MS;
}

static size_t encode(const struct request *request, const struct rl_claim *claim, bool by_body,
                     char bytes[REQUEST_MAX])
{
    const struct rl_script *script = &claim->kind->script[request->verb];
    struct rl_out out;
    rl_out_init(&out, bytes, REQUEST_MAX);
    rl_put_array(&out, 5u + script->with_token + script->with_ttl);
    rl_put_text(&out, by_body ? "EVAL" : "EVALSHA");
    rl_put_text(&out, by_body ? script->body : claim->client->sha[request->verb]);
    rl_put_bulk(&out, "1", 1);
    rl_put_bulk(&out, claim->name, claim->name_len);
    rl_put_bulk(&out, request->nonce, sizeof(request->nonce));
    if (script->with_token)
        rl_put_bulk(&out, claim->token, claim->token_len);
    if (script->with_ttl)
        rl_put_number(&out, request->ttl_ms);
    assert(!out.overflow);
    return out.len;
}

/* Queue the request on a slot of a node. False: there is no room for it. */
static bool put(struct request *request, struct rl_claim *claim, struct rl_node *node,
                unsigned slot, int64_t now_ns)
{
    struct rl_wire *wire = &node->slot[slot].wire;
    bool by_body = !(wire->scripts_known & (1u << request->verb));
    size_t *len = by_body ? &request->by_body_len : &request->by_hash_len;
    char *bytes = by_body ? request->by_body : request->by_hash;
    if (*len == 0)
        *len = encode(request, claim, by_body, bytes);
    if (!rl_node_takes(node, slot, *len, request->verb != RL_RELEASE))
        return false;
    struct rl_waiting waiting = {
        .claim = claim,
        .sent_ns = now_ns,
        .deadline_ns = now_ns + claim->budget_ns,
        .ask = RL_ASK_VERB,
        .verb = request->verb,
        .by_body = by_body,
    };
    memcpy(waiting.nonce, request->nonce, sizeof(waiting.nonce));
    rl_node_put(node, slot, bytes, *len, &waiting);
    wire->scripts_known |= 1u << request->verb;
    claim->owed++;
    claim->client->stats.commands++;
    return true;
}

unsigned rl_claim_send_taking(struct rl_claim *claim, enum rl_verb verb, uint64_t nodes,
                            int64_t now_ns)
{
    struct request request;
    unsigned did = 0;
    request_init(&request, claim, verb);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = &claim->client->nodes[i];
        if (claim->hold.phase == RL_HOLD_ENDING)
            break;
        if (put(&request, claim, node, node->active, now_ns))
            rl_hold_sent(&claim->hold, i, node->active, verb, true);
        else
            did |= rl_hold_unsent(&claim->hold, i, verb, now_ns);
    }
    return did;
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
    request_init(&request, claim, RL_RELEASE);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        struct rl_node *node = &claim->client->nodes[i];
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
    request_init(&request, claim, verb);
    for (; nodes; nodes &= nodes - 1) {
        struct rl_node *node = &claim->client->nodes[rl_first(nodes)];
        if (!put(&request, claim, node, node->active, now_ns)) {
            struct rl_judged judged = {.vote = RL_VOTE_FAILED, .why = "takes no more requests"};
            rl_claim_hear(claim, node, verb, &judged);
        }
    }
    rl_claim_leave(claim, now_ns);
}
