/* lease_send.c - a claim's requests: encoded once, queued on many nodes. */
#include "config_auto.h"

#include "engine/lease_parts.h"

#include "kinds/keys.h"
#include "kinds/name_set.h"

#include <assert.h>
#include <string.h>

/* A script's request for a claim, encoded once for all nodes: by hash and, for connections
 * that have not carried the script's body yet, with the body. The bytes are the client's: one
 * request is made at a time, and none while another is being queued. */
struct request {
    enum rl_verb script;
    unsigned number; /* rl_script_number */
    char nonce[RL_NONCE_LEN];
    int64_t ttl_ms;
    int64_t now_ns;
    size_t by_hash_len, by_body_len; /* 0: not encoded yet */
    char *by_hash, *by_body;
};

static void request_init(struct request *request, struct rl_claim *claim, enum rl_verb script,
                         int64_t now_ns)
{
    request->script = script;
    request->number = rl_script_number(claim->target.kind, script);
    request->now_ns = now_ns;
    rl_nonce_text(++claim->client->nonce, request->nonce);
    request->by_hash_len = request->by_body_len = 0;
    request->by_hash = claim->client->request_bytes;
    request->by_body = request->by_hash + RL_REQUEST_MAX;
    int64_t ttl_ns = claim->query                       ? claim->query_ttl_ns
                     : rl_verb_of(script) == RL_ACQUIRE ? claim->hold.ttl_ns
                                                        : claim->hold.extend_ttl_ns;
    request->ttl_ms = ttl_ns / RL_NS_PER_MS;
}

/* For how long a lock is kept free for the one whom its release wakes: for its wake-up and its
 * acquire to arrive, and a while for its scheduler. A liveness hint: too short is harmless. */
static int64_t keep_ms(redlock *client)
{
    int64_t trip_ms = rl_client_round_trip_ns(client, rl_all(client->n)) / RL_NS_PER_MS;
    int64_t ms = RL_KEEP_MIN_MS + 4 * trip_ms;
    return ms < RL_KEEP_MAX_MS ? ms : RL_KEEP_MAX_MS;
}

static void put_argument(struct rl_out *out, const struct request *request,
                         const struct rl_claim *claim, char which)
{
    char waiter[RL_WAITER_MAX];
    switch (which) {
    case 'o':
        rl_put_bulk(out, claim->target.owner, claim->target.owner_len);
        break;
    case 't':
        rl_put_bulk(out, claim->token, claim->token_len);
        break;
    case 'T':
        rl_put_number(out, request->ttl_ms);
        break;
    case 'w':
        rl_put_bulk(out, waiter, rl_waiter_text(claim->client->uuid, claim->waiter, waiter));
        break;
    case 'a':
        rl_put_number(out, (request->now_ns - claim->waits_since_ns) / 1000);
        break;
    case 'q':
        rl_put_number(out, RL_QUEUE_TTL_MS);
        break;
    case 'f':
        rl_put_number(out, RL_FAIR_WAITER_MS);
        break;
    case 's':
        rl_put_number(out, RL_SHORTENED_MS);
        break;
    case 'm':
        rl_put_number(out, request->script == RL_WAIT ? RL_WRITER_MARK_MS
                           : claim->waits             ? RL_WRITER_FIRST_MARK_MS
                                                      : 0);
        break;
    case 'K':
        rl_put_number(out, keep_ms(claim->client));
        break;
    case 'k':
        rl_put_number(out, claim->silent ? 0 : keep_ms(claim->client));
        break;
    case 'e':
        rl_put_number(out, claim->endless);
        break;
    default:
        assert(false && "an argument of the kind's table");
    }
}

static void put_keys(struct rl_out *out, const char *letters, const struct rl_target *target)
{
    char key[RL_KEY_MAX];
    for (; *letters; letters++) {
        struct rl_target one = *target;
        redlock_bytes name;
        for (size_t at = 0; rl_names_next(target, &at, &name);) {
            one.name = name.bytes;
            one.name_len = name.len;
            if (*letters == 'n' || *letters == 'N')
                rl_put_bulk(out, name.bytes, name.len);
            else
                rl_put_bulk(out, key, rl_key_text(*letters, &one, key));
        }
    }
}

static size_t encode(const struct request *request, const struct rl_claim *claim, bool by_body,
                     char bytes[RL_REQUEST_MAX])
{
    const struct rl_script *script = &claim->target.kind->script[request->script];
    size_t keys = strlen(script->keys) * rl_names_count(&claim->target);
    struct rl_out out;
    rl_out_init(&out, bytes, RL_REQUEST_MAX);
    rl_put_array(&out, 4u + (unsigned)(keys + strlen(script->args)));
    rl_put_text(&out, by_body ? "EVAL" : "EVALSHA");
    rl_put_text(&out, by_body ? script->body : claim->client->sha[request->number]);
    rl_put_number(&out, (int64_t)keys);
    put_keys(&out, script->keys, &claim->target);
    rl_put_bulk(&out, request->nonce, sizeof(request->nonce));
    for (const char *which = script->args; *which; which++)
        put_argument(&out, request, claim, *which);
    assert(!out.overflow);
    return out.len;
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
        *len = encode(request, claim, by_body, bytes);
    if (!rl_node_takes(node, slot, *len, request->script != RL_RELEASE))
        return false;
    struct rl_waiting waiting = {
        .claim = claim,
        .sent_ns = now_ns,
        .deadline_ns = now_ns + claim->budget_ns,
        .ask = RL_ASK_VERB,
        .verb = rl_verb_of(request->script),
        .script = request->script,
        .number = request->number,
        .with_body = by_body,
    };
    memcpy(waiting.nonce, request->nonce, sizeof(waiting.nonce));
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
        struct rl_node *node = &claim->client->nodes[i];
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
    request_init(&request, claim, verb, now_ns);
    for (; nodes; nodes &= nodes - 1) {
        struct rl_node *node = &claim->client->nodes[rl_first(nodes)];
        if (!put(&request, claim, node, node->active, now_ns)) {
            struct rl_judged judged = {.vote = RL_VOTE_FAILED, .why = "takes no more requests"};
            rl_claim_hear(claim, node, verb, &judged);
        }
    }
    rl_claim_leave(claim, now_ns);
}

uint64_t rl_claim_leave_queue(redlock *client, const struct rl_target *target, uint64_t waiter,
                              uint64_t nodes, int64_t now_ns)
{
    /* Not a claim of its own: nothing is taken, and nobody waits for what comes of it. */
    struct rl_claim leaving = {
        .client = client,
        .target = *target,
        .waiter = waiter,
    };
    uint64_t untold = 0;
    if (!target->kind->script[RL_LEAVE].body)
        return 0;
    struct request request;
    request_init(&request, &leaving, RL_LEAVE, now_ns);
    size_t len = encode(&request, &leaving, true, request.by_body);
    for (; nodes; nodes &= nodes - 1) {
        unsigned i = rl_first(nodes);
        if (!rl_node_tell(&client->nodes[i], request.by_body, len, now_ns))
            untold |= rl_bit(i);
    }
    return untold;
}
