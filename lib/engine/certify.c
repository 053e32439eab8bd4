/* certify.c - with `fencing strict`: a master that lost its fencing counters gets a certificate
 * again, by what the others tell. core/certify.h has the way and the reason.
 *
 * Every client does it, when it sees the loss. However many clients do it at the same time, a
 * master is certified once for one loss. The others refuse older rounds once for it.
 */
#include "config_auto.h"

#include "engine/certify.h"

#include <assert.h>
#include <string.h>

#define AGAIN_NS RL_NS_PER_S

/* May its counters be trusted? It need not vote: what it knows of tokens rests on no guard and no
 * clock. */
static bool vouches(const struct rl_node *node)
{
    return node->mode == RL_UP && node->fitness != RL_UNFIT &&
           rl_is_certified(&node->fence.certificate);
}

static bool has_loss(const struct rl_node *node)
{
    return node->mode == RL_UP && !rl_is_certified(&node->fence.certificate) &&
           strlen(node->fence.certificate.id) == RL_LOSS_LEN;
}

static uint64_t vouching(const redlock *client)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < client->nodes.n; i++)
        nodes |= vouches(&client->nodes.all[i]) ? rl_bit(i) : 0;
    return nodes;
}

/* The next node with a loss; NULL: there is none. */
static struct rl_node *next_lost(redlock *client)
{
    unsigned n = client->nodes.n;
    for (unsigned k = 1; k <= n; k++) {
        struct rl_node *node = &client->nodes.all[(client->nodes.certifying.node + k) % n];
        if (has_loss(node))
            return node;
    }
    return NULL;
}

void rl_certify_go_on(redlock *client, int64_t now_ns)
{
    struct rl_certifying *certifying = &client->nodes.certifying;
    if (!client->nodes.settings.fencing_strict ||
        (certifying->on && now_ns < certifying->again_ns))
        return;
    certifying->on = false;
    certifying->again_ns = INT64_MAX;
    struct rl_node *lost = next_lost(client);
    if (!lost)
        return;
    uint64_t others = vouching(client);
    if (rl_count(others) >= rl_quorum_needed(client->nodes.n)) {
        rl_certifying_begin(certifying, lost->index, &lost->fence.certificate);
        for (; others; others &= others - 1)
            rl_node_fence_again(&client->nodes.all[rl_first(others)], "read",
                                certifying->loss, 0, now_ns);
    } else if (!lost->fence.asked) { /* others may be certified by an operator */
        rl_node_fence_again(lost, "look", "", 0, now_ns);
    }
    certifying->again_ns =
        now_ns + AGAIN_NS + (int64_t)rl_prng_below(&client->prng, (uint64_t)AGAIN_NS);
}

void rl_certify_told(void *owner, struct rl_node *node, const struct rl_certificate *told,
                     int64_t now_ns)
{
    redlock *client = owner;
    struct rl_certifying *certifying = &client->nodes.certifying;
    struct rl_certificate *certificate = &node->fence.certificate;
    assert(node->index < client->nodes.n && client->nodes.settings.fencing_strict);
    bool was_on = certifying->on;
    bool news = rl_certificate_learn(certificate, told, &client->nodes.certificates);
    if (news && !rl_is_certified(certificate))
        rl_client_log(client, REDLOCK_LOG_WARNING, "%s: %s", node->config->label,
                      rl_node_fence_why(node));
    if (was_on && (node->index == certifying->node || vouches(node)) &&
        rl_certifying_learn(certifying, node->index, certificate,
                            rl_quorum_needed(client->nodes.n)))
        rl_node_fence_again(&client->nodes.all[certifying->node], "certify", certifying->loss,
                            certifying->floor, now_ns);
    /* A look that told nothing new is repeated when its time has come, and not at once. */
    if (!certifying->on && (news || was_on))
        rl_certify_go_on(client, now_ns);
}
