/* certify.c - with `fencing strict`: a master that lost its fencing counters gets a fencing
 * certificate again, by what the others tell. core/certify.h has the way and the reason.
 *
 * Every client does it, when it sees the loss. However many clients do it at the same time, a
 * master is certified once for one loss. The others refuse older rounds once for it.
 */
#include "config_auto.h"

#include "engine/masters/certify.h"

#include "base/times.h"
#include "engine/masters/duplicates.h"
#include "node/node_met.h"

#include <assert.h>
#include <string.h>

#define AGAIN_NS RL_NS_PER_S

/* May its counters be trusted? It need not vote: what it knows of tokens rests on no guard and
 * no clock, and a replica's script says what it is. Where two servers answer, tokens that were
 * taken from the one are not known to the other. */
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

/* R11: Those that vouch, and are different servers. Of two that may be one, the first counts.
 */
static uint64_t vouching(const struct rl_nodes *nodes, int64_t now_ns)
{
    uint64_t found = 0;
    for (unsigned i = 0; i < nodes->n; i++) {
        const struct rl_node *node = &nodes->all[i];
        bool counts = vouches(node, now_ns);
        for (uint64_t rest = found; counts && rest; rest &= rest - 1)
            counts = !rl_may_be_one_server(node, &nodes->all[rl_first(rest)]);
        found |= counts ? rl_bit(i) : 0;
    }
    return found;
}

/* The next node behind `last` with a loss for which the others may be read now, or looked at
 * again where that is of no use; NULL: there is none. */
static struct rl_node *next_lost(struct rl_nodes *nodes, unsigned last, bool enough,
                                 int64_t now_ns)
{
    unsigned n = nodes->n;
    for (unsigned k = 1; k <= n; k++) {
        struct rl_node *node = &nodes->all[(last + k) % n];
        if (has_loss(node) && now_ns >= (enough ? node->fence.certify_ns : node->fence.look_ns))
            return node;
    }
    return NULL;
}

/* When the next one may be. */
static int64_t next_ns(const struct rl_nodes *nodes, bool enough)
{
    int64_t next = INT64_MAX;
    for (unsigned i = 0; i < nodes->n; i++) {
        const struct rl_node *node = &nodes->all[i];
        if (has_loss(node))
            next = rl_earlier_ns(next, enough ? node->fence.certify_ns : node->fence.look_ns);
    }
    return next;
}

static void read_others(struct rl_certifying *certifying, struct rl_nodes *nodes,
                        struct rl_node *lost, uint64_t others, int64_t now_ns)
{
    rl_certifying_begin(certifying, lost->index, &lost->fence.certificate);
    for (; others; others &= others - 1)
        rl_node_fence_again(&nodes->all[rl_first(others)], "read", certifying->loss, 0, now_ns);
}

/* R11: Others are read for a node once a second at most, however many losses it tells: that is
 * work for all of them. */
void rl_certify_go_on(struct rl_certificates *certificates, struct rl_nodes *nodes,
                      int64_t now_ns)
{
    struct rl_certifying *certifying = &certificates->now;
    const struct rl_node_settings *settings = nodes->all[0].settings;
    struct rl_node *lost;
    if (!settings->fencing_strict || (certifying->on && now_ns < certifying->again_ns))
        return;
    certifying->on = false;
    uint64_t others = vouching(nodes, now_ns);
    bool enough = rl_count(others) >= rl_quorum_needed(nodes->n);
    while (!certifying->on && (lost = next_lost(nodes, certifying->node, enough, now_ns))) {
        int64_t again_ns =
            now_ns + AGAIN_NS + (int64_t)rl_prng_below(settings->prng, (uint64_t)AGAIN_NS);
        lost->fence.look_ns = again_ns;
        if (enough) {
            lost->fence.certify_ns = again_ns;
            read_others(certifying, nodes, lost, others, now_ns);
            certifying->again_ns = again_ns;
        } else if (!lost->fence.asked) { /* others may be certified by an operator */
            rl_node_fence_again(lost, "lose", "", 0, now_ns);
        }
    }
    if (!certifying->on)
        certifying->again_ns = next_ns(nodes, enough);
}

/* If all is read that has to be. */
static void tell_floor(struct rl_certifying *certifying, struct rl_nodes *nodes, int64_t now_ns)
{
    int64_t since_ns[REDLOCK_NODES_MAX];
    for (unsigned i = 0; i < nodes->n; i++)
        since_ns[i] = nodes->all[i].since_ns;
    if (certifying->on && rl_certifying_decide(certifying, vouching(nodes, now_ns), since_ns,
                                               rl_quorum_needed(nodes->n)))
        rl_node_fence_again(&nodes->all[certifying->node], "certify", certifying->loss,
                            certifying->floor, now_ns);
}

void rl_certify_told(struct rl_certificates *certificates, struct rl_nodes *nodes,
                     struct rl_node *node, const struct rl_certificate *told, int64_t now_ns)
{
    const struct rl_node_settings *settings = node->settings;
    struct rl_certifying *certifying = &certificates->now;
    struct rl_certificate *certificate = &node->fence.certificate;
    assert(node->index < nodes->n && settings->fencing_strict);
    bool news = rl_certificate_learn(certificate, told, &certificates->changes);
    if (news && !rl_is_certified(certificate))
        settings->events->log(settings->owner, REDLOCK_LOG_WARNING, "%s: %s",
                              node->config->label, rl_node_fence_why(node));
    if (certifying->on) {
        rl_certifying_learn(certifying, node->index, node->since_ns, certificate);
        tell_floor(certifying, nodes, now_ns);
    }
    if (!certifying->on)
        rl_certify_go_on(certificates, nodes, now_ns);
}
