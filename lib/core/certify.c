/* certify.c - see certify.h. Core. */
#include "config_auto.h"

#include "core/certify.h"

#include "core/fence.h"
#include "core/quorum.h"

#include <assert.h>
#include <string.h>

bool rl_is_certified(const struct rl_certificate *certificate)
{
    return strcmp(certificate->word, "certified") == 0;
}

/* R11: Only one that the client knew when its round began. */
bool rl_certificate_serves(const struct rl_certificate *certificate, uint64_t changes)
{
    assert(!rl_is_certified(certificate) || certificate->change > 0);
    return rl_is_certified(certificate) && certificate->change <= changes;
}

bool rl_certificate_learn(struct rl_certificate *certificate,
                          const struct rl_certificate *told, uint64_t *changes)
{
    assert(certificate->change <= *changes);
    bool same = strcmp(certificate->word, told->word) == 0 &&
                strcmp(certificate->id, told->id) == 0;
    uint64_t change = same ? certificate->change : ++*changes;
    *certificate = *told;
    certificate->change = change;
    return !same;
}

const char *rl_uncertified_why(const struct rl_certificate *certificate)
{
    static const struct {
        const char *word, *text;
    } table[] = {
        {"", "it has not told whether it has its fencing counters"},
        {"certified", "masters lost fencing counters during the round"},
        {"missing", "not certified for fencing tokens: it was emptied, or is new"},
        {"restarted", "not certified for fencing tokens since it was restarted"},
        {"resynced", "not certified for fencing tokens since it was a replica"},
        {"foreign",
         "not certified for fencing tokens: libredlock:fencing is another program's"},
        {"replica", "not certified for fencing tokens: it is a replica"},
        {"nameless", "not certified for fencing tokens: its scripts are told no run_id"},
    };
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strcmp(certificate->word, table[i].word) == 0)
            return table[i].text;
    }
    return "not certified for fencing tokens";
}

void rl_certifying_begin(struct rl_certifying *certifying, unsigned node,
                         const struct rl_certificate *certificate)
{
    assert(!rl_is_certified(certificate) && strlen(certificate->id) == RL_LOSS_LEN);
    assert(node < REDLOCK_NODES_MAX);
    *certifying = (struct rl_certifying){.on = true, .node = node, .again_ns = INT64_MAX};
    memcpy(certifying->loss, certificate->id, sizeof(certifying->loss));
}

/* R11: A reading counts for this loss only if it was asked for after the loss was known. */
void rl_certifying_learn(struct rl_certifying *certifying, unsigned node, int64_t since_ns,
                         const struct rl_certificate *certificate)
{
    assert(certifying->on && node < REDLOCK_NODES_MAX);
    assert(strlen(certifying->loss) == RL_LOSS_LEN);
    struct rl_reading *reading = &certifying->reading[node];
    bool of_loss = strncmp(certificate->id, certifying->loss, RL_LOSS_LEN) == 0;
    if (node == certifying->node) {
        certifying->on = of_loss && !rl_is_certified(certificate);
        return;
    }
    if (!rl_is_certified(certificate) || !of_loss)
        return;
    if (reading->id[0] && reading->since_ns == since_ns)
        return;
    memcpy(reading->id, certificate->id, sizeof(reading->id));
    reading->greatest = certificate->greatest;
    reading->since_ns = since_ns;
}

/* Has one of these nodes been read with this id? */
static bool is_known(const struct rl_certifying *certifying, uint64_t nodes, const char *id)
{
    for (; nodes; nodes &= nodes - 1) {
        if (strcmp(certifying->reading[rl_first(nodes)].id, id) == 0)
            return true;
    }
    return false;
}

/* R11: The greatest number of these readings that are not too far above this one. How many are
 * that, and not below it. */
static unsigned count_from(const struct rl_certifying *certifying, uint64_t nodes,
                           uint64_t least, uint64_t *ret_greatest)
{
    unsigned count = 0;
    uint64_t most = rl_fence_most(least);
    *ret_greatest = least;
    for (; nodes; nodes &= nodes - 1) {
        uint64_t number = certifying->reading[rl_first(nodes)].greatest;
        if (number < least || number > most)
            continue;
        count++;
        if (number > *ret_greatest)
            *ret_greatest = number;
    }
    return count;
}

/* R11: Each node counts once, and a loss needs a quorum of the others. */
bool rl_certifying_decide(struct rl_certifying *certifying, uint64_t others,
                          const int64_t since_ns[], unsigned needed)
{
    uint64_t read = 0;
    assert(certifying->on && needed > 0 && needed <= REDLOCK_NODES_MAX);
    for (others &= ~rl_bit(certifying->node); others; others &= others - 1) {
        unsigned node = rl_first(others);
        const struct rl_reading *reading = &certifying->reading[node];
        if (reading->id[0] && reading->since_ns == since_ns[node] &&
            !is_known(certifying, read, reading->id))
            read |= rl_bit(node);
    }
    for (uint64_t rest = read; !certifying->told && rest; rest &= rest - 1) {
        uint64_t least = certifying->reading[rl_first(rest)].greatest;
        certifying->told = count_from(certifying, read, least, &certifying->floor) >= needed;
        if (certifying->told)
            return true;
    }
    return false;
}
