/* certify.c - with `fencing strict`: a master that lost its fencing counters gets a fencing
 * certificate again, by what the others tell. core/certify.h has the way and the reason.
 *
 * Every client does it, when it sees the loss. However many clients do it at the same time, a
 * master is certified once for one loss. The others refuse older rounds once for it.
 */
#include "config_auto.h"

#include "engine/masters/certify.h"
#include "engine/masters/duplicates.h"
#include "node/node_met.h"

#include <assert.h>
#include <string.h>

#define AGAIN_NS RL_NS_PER_S

/* May its counters be trusted? It need not vote: what it knows of tokens rests on no guard and no
 * clock, and a replica's script says what it is. Where two servers answer, tokens that were taken
 * from the one are not known to the other. */
static bool vouches(const struct rl_node *node, int64_t now_ns)
{
    return node->mode == RL_UP && rl_is_certified(&node->fence.certificate) &&
           !rl_node_may_be_two(node, now_ns);
}

static bool has_loss(const struct rl_node *node)
{
    return node->mode == RL_UP && !rl_is_certified(&node->fence.certificate) &&
           strlen(node->fence.certificate.id) == RL_LOSS_LEN;
}

/* R11: Those that vouch, and are different servers. Of two that may be one, the first counts. */
static uint64_t vouching(const redlock *client, int64_t now_ns)
{
    uint64_t nodes = 0;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        const struct rl_node *node = &client->nodes.all[i];
        bool counts = vouches(node, now_ns);
        for (uint64_t rest = nodes; counts && rest; rest &= rest - 1)
            counts = !rl_may_be_one_server(node, &client->nodes.all[rl_first(rest)]);
        nodes |= counts ? rl_bit(i) : 0;
    }
    return nodes;
}

/* The next node with a loss for which the others may be read now, or looked at again where that
 * is of no use; NULL: there is none. */
static struct rl_node *next_lost(redlock *client, bool enough, int64_t now_ns)
{
    unsigned n = client->nodes.n;
    for (unsigned k = 1; k <= n; k++) {
        struct rl_node *node = &client->nodes.all[(client->certifying.now.node + k) % n];
        if (has_loss(node) &&
            now_ns >= (enough ? node->fence.certify_ns : node->fence.look_ns))
            return node;
    }
    return NULL;
}

/* When the next one may be. */
static int64_t next_ns(const redlock *client, bool enough)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < client->nodes.n; i++) {
        const struct rl_node *node = &client->nodes.all[i];
        if (has_loss(node))
            next = rl_earlier_ns(next, enough ? node->fence.certify_ns : node->fence.look_ns);
    }
    return next;
}

static void read_others(redlock *client, struct rl_node *lost, uint64_t others, int64_t now_ns)
{
    struct rl_certifying *certifying = &client->certifying.now;
    rl_certifying_begin(certifying, lost->index, &lost->fence.certificate);
    for (; others; others &= others - 1)
        rl_node_fence_again(&client->nodes.all[rl_first(others)], "read", certifying->loss, 0,
                            now_ns);
}

/* R11: Others are read for a node once a second at most, however many losses it tells: that is
 * work for all of them. */
void rl_certify_go_on(redlock *client, int64_t now_ns)
{
    struct rl_certifying *certifying = &client->certifying.now;
    struct rl_node *lost;
    if (!client->node_settings.fencing_strict ||
        (certifying->on && now_ns < certifying->again_ns))
        return;
    certifying->on = false;
    uint64_t others = vouching(client, now_ns);
    bool enough = rl_count(others) >= rl_quorum_needed(client->nodes.n);
    while (!certifying->on && (lost = next_lost(client, enough, now_ns))) {
        int64_t again_ns =
            now_ns + AGAIN_NS + (int64_t)rl_prng_below(&client->prng, (uint64_t)AGAIN_NS);
        lost->fence.look_ns = again_ns;
        if (enough) {
            lost->fence.certify_ns = again_ns;
            read_others(client, lost, others, now_ns);
            certifying->again_ns = again_ns;
        } else if (!lost->fence.asked) { /* others may be certified by an operator */
            rl_node_fence_again(lost, "lose", "", 0, now_ns);
        }
    }
    if (!certifying->on)
        certifying->again_ns = next_ns(client, enough);
}

/* If all is read that has to be. */
static void tell_floor(redlock *client, int64_t now_ns)
{
    struct rl_certifying *certifying = &client->certifying.now;
    int64_t since_ns[REDLOCK_NODES_MAX];
    for (unsigned i = 0; i < client->nodes.n; i++)
        since_ns[i] = client->nodes.all[i].since_ns;
    if (certifying->on && rl_certifying_decide(certifying, vouching(client, now_ns), since_ns,
                                               rl_quorum_needed(client->nodes.n)))
        rl_node_fence_again(&client->nodes.all[certifying->node], "certify", certifying->loss,
                            certifying->floor, now_ns);
}

void rl_certify_told(void *owner, struct rl_node *node, const struct rl_certificate *told,
                     int64_t now_ns)
{
    redlock *client = owner;
    struct rl_certifying *certifying = &client->certifying.now;
    struct rl_certificate *certificate = &node->fence.certificate;
    assert(node->index < client->nodes.n && client->node_settings.fencing_strict);
    bool news = rl_certificate_learn(certificate, told, &client->certifying.changes);
    if (news && !rl_is_certified(certificate))
        rl_client_log(client, REDLOCK_LOG_WARNING, "%s: %s", node->config->label,
                      rl_node_fence_why(node));
    if (certifying->on) {
        rl_certifying_learn(certifying, node->index, node->since_ns, certificate);
        tell_floor(client, now_ns);
    }
    if (!certifying->on)
        rl_certify_go_on(client, now_ns);
}
