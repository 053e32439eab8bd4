/* duplicates.c - one server has one vote, however many names it has on the list.
 *
 * Nodes that are up and have the same run_id may be one server. Then one of them is a
 * duplicate, and casts no vote. They may also be two servers: a machine was cloned while its
 * server ran, or a server forges its run_id. So the client loads a script that returns a nonce
 * into one of the nodes. If the other node knows that script too, both are one server.
 *
 * Until the answer is known, the node that came last casts no vote, because it may be the same
 * server. A node that refuses the script casts no vote either: it can't serve locks.
 */
#include "config_auto.h"

#include "engine/masters/duplicates.h"

#include "base/entropy.h"
#include "base/sha1.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define PROVE_AGAIN_NS RL_NS_PER_S

/* Could it vote, if there were no duplicates? */
static bool stands(const struct rl_node *node)
{
    return node->mode == RL_UP && node->fitness == RL_FIT && node->info.run_id[0];
}

static bool alike(const struct rl_node *one, const struct rl_node *other)
{
    assert(one != other);
    return stands(one) && stands(other) && strcmp(one->info.run_id, other->info.run_id) == 0;
}

/* Both nodes must have noted the other one, because a new connection forgets its notes. */
static bool apart(const struct rl_node *one, const struct rl_node *other)
{
    return one->apart & rl_bit(other->index) && other->apart & rl_bit(one->index);
}

bool rl_may_be_one_server(const struct rl_node *one, const struct rl_node *other)
{
    assert(one->mode == RL_UP &&
           other->mode == RL_UP); /* else notes are of another connection */
    return strcmp(one->info.run_id, other->info.run_id) == 0 && !apart(one, other);
}

static bool same(const struct rl_node *one, const struct rl_node *other)
{
    return one->same & rl_bit(other->index) && other->same & rl_bit(one->index);
}

/* Decides which of two nodes that may be one server votes. */
static bool precedes(const struct rl_node *one, const struct rl_node *other)
{
    if (!same(one, other) && one->unteachable != other->unteachable)
        return other->unteachable;
    if (!same(one, other) && one->since_ns != other->since_ns)
        return one->since_ns < other->since_ns;
    assert(one->index != other->index);
    return one->index < other->index;
}

static void tell(const struct rl_nodes *nodes, const struct rl_node *node)
{
    const struct rl_node_settings *settings = node->settings;
    assert(node->duplicate_of >= 0 && (unsigned)node->duplicate_of != node->index);
    settings->events->log(
        settings->owner, REDLOCK_LOG_ERROR,
        "%s is the same server as %s: it has no vote; name %u different servers",
        node->config->label, nodes->all[node->duplicate_of].config->label, nodes->n);
}

/* Decide which nodes vote, by what is known now. */
static void judge(struct rl_nodes *nodes)
{
    for (unsigned i = 0; i < nodes->n; i++) {
        struct rl_node *node = &nodes->all[i];
        bool was = node->duplicate_of >= 0 && node->duplicate_proven;
        node->duplicate_of = -1;
        node->duplicate_proven = false;
        for (unsigned k = 0; k < nodes->n; k++) {
            const struct rl_node *other = &nodes->all[k];
            if (k == i || !alike(node, other) || apart(node, other) || precedes(node, other))
                continue;
            if (node->duplicate_of >= 0 && node->duplicate_proven)
                break;
            node->duplicate_of = (int)k;
            node->duplicate_proven = same(node, other);
        }
        if (node->duplicate_proven && !was)
            tell(nodes, node);
    }
}

/* ---- proving it ------------------------------------------------------------------------ */

static bool still_there(const struct rl_node *node, int64_t since_ns)
{
    return stands(node) && node->since_ns == since_ns;
}

static bool is_proving(const struct rl_proof *proof, const struct rl_nodes *nodes)
{
    assert(proof->teacher < nodes->n && proof->pupil < nodes->n);
    return proof->on && still_there(&nodes->all[proof->teacher], proof->teacher_since_ns) &&
           still_there(&nodes->all[proof->pupil], proof->pupil_since_ns);
}

static bool ask(const struct rl_proof *proof, struct rl_node *node, enum rl_request_type what,
                const char *command, const char *script, int64_t now_ns)
{
    char bytes[256];
    struct rl_out out;
    assert(proof->on); /* the reply is matched by its nonce */
    assert(what == RL_REQUEST_TEACH || what == RL_REQUEST_RECALL);
    rl_out_init(&out, bytes, sizeof(bytes));
    rl_put_array(&out, 3);
    rl_put_text(&out, command);
    rl_put_text(&out, script);
    rl_put_text(&out, "0");
    return rl_node_prove(node, what, &out, proof->nonce, now_ns);
}

static void give_up(struct rl_proof *proof, int64_t now_ns)
{
    assert(proof->on);
    proof->on = false;
    proof->again_ns = now_ns + PROVE_AGAIN_NS;
}

/* Load a script into the teacher that no other server has. */
static void teach(struct rl_proof *proof, struct rl_node *teacher, struct rl_node *pupil,
                  int64_t now_ns)
{
    uint64_t random;
    assert(!proof->on && teacher != pupil);
    char script[64];
    *proof = (struct rl_proof){
        .on = true,
        .teacher = teacher->index,
        .pupil = pupil->index,
        .teacher_since_ns = teacher->since_ns,
        .pupil_since_ns = pupil->since_ns,
        .again_ns = INT64_MAX,
    };
    bool drawn = rl_entropy_bytes(&random, sizeof(random)) == 0;
    if (drawn)
        rl_nonce_text(random, proof->nonce);
    snprintf(script, sizeof(script), "return '%.*s'", RL_NONCE_LEN, proof->nonce);
    if (!drawn || rl_sha1_text(script, proof->sha) != 0 ||
        !ask(proof, teacher, RL_REQUEST_TEACH, "EVAL", script, now_ns))
        give_up(proof, now_ns);
}

/* Begin the next proof: two nodes that may be one server. */
static void go_on(struct rl_proof *proof, struct rl_nodes *nodes, int64_t now_ns)
{
    if (is_proving(proof, nodes))
        return;
    proof->on = false;
    if (proof->again_ns != INT64_MAX && now_ns < proof->again_ns)
        return;
    proof->again_ns = INT64_MAX;
    for (unsigned i = 0; i < nodes->n; i++) {
        for (unsigned k = 0; k < i; k++) {
            struct rl_node *one = &nodes->all[k], *other = &nodes->all[i];
            if (!alike(one, other) || apart(one, other) || same(one, other))
                continue;
            if (precedes(one, other))
                teach(proof, one, other, now_ns);
            else
                teach(proof, other, one, now_ns);
            return;
        }
    }
}

void rl_duplicates_find(struct rl_proof *proof, struct rl_nodes *nodes, int64_t now_ns)
{
    judge(nodes);
    go_on(proof, nodes, now_ns);
    for (unsigned i = 0; i < nodes->n; i++)
        nodes->all[i].proving = proof->on && nodes->all[i].duplicate_of >= 0;
}

static bool says_nonce(const struct rl_proof *proof, const struct rl_reply *reply)
{
    return reply->type == RL_REPLY_BULK && rl_part_is(reply, 0, proof->nonce, RL_NONCE_LEN);
}

/* Handle the reply to a proof. True: something new is known. */
static bool take(struct rl_proof *proof, struct rl_nodes *nodes, struct rl_node *node,
                 enum rl_request_type what, const struct rl_reply *reply, int64_t now_ns)
{
    struct rl_node *teacher = &nodes->all[proof->teacher];
    struct rl_node *pupil = &nodes->all[proof->pupil];
    bool knows = says_nonce(proof, reply);
    assert(proof->on && teacher != pupil);
    if (what == RL_REQUEST_TEACH && node == teacher) {
        teacher->unteachable = !knows;
        if (!knows || !ask(proof, pupil, RL_REQUEST_RECALL, "EVALSHA", proof->sha, now_ns))
            give_up(proof, now_ns);
        return !knows;
    }
    if (what != RL_REQUEST_RECALL || node != pupil)
        return false;
    if (knows) {
        teacher->same |= rl_bit(pupil->index);
        pupil->same |= rl_bit(teacher->index);
    } else if (rl_error_is(reply, "NOSCRIPT")) {
        teacher->apart |= rl_bit(pupil->index);
        pupil->apart |= rl_bit(teacher->index);
    } else {
        give_up(proof, now_ns);
        return false;
    }
    proof->on = false;
    return true;
}

bool rl_duplicates_proved(struct rl_proof *proof, struct rl_nodes *nodes, struct rl_node *node,
                          const struct rl_inflight *inflight, const struct rl_reply *reply,
                          int64_t now_ns)
{
    assert(inflight->type == RL_REQUEST_TEACH || inflight->type == RL_REQUEST_RECALL);
    /* The reply may belong to a proof that was given up. */
    if (!is_proving(proof, nodes) || memcmp(inflight->nonce, proof->nonce, RL_NONCE_LEN) != 0)
        return false;
    return take(proof, nodes, node, inflight->type, reply, now_ns) || !proof->on;
}
