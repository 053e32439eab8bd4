/* certify.c - see certify.h. Core. */
#include "config_auto.h"

#include "core/certify.h"

#include <assert.h>
#include <string.h>

bool rl_is_certified(const struct rl_certificate *certificate)
{
    return strcmp(certificate->word, "certified") == 0;
}

bool rl_certificate_serves(const struct rl_certificate *certificate, uint64_t changes)
{
    assert(!rl_is_certified(certificate) || certificate->number > 0);
    return rl_is_certified(certificate) && certificate->number <= changes;
}

bool rl_certificate_learn(struct rl_certificate *certificate,
                          const struct rl_certificate *told, uint64_t *changes)
{
    assert(certificate->number <= *changes);
    bool same = strcmp(certificate->word, told->word) == 0 &&
                strcmp(certificate->id, told->id) == 0;
    uint64_t number = same ? certificate->number : ++*changes;
    *certificate = *told;
    certificate->number = number;
    return !same;
}

const char *rl_uncertified_why(const struct rl_certificate *certificate)
{
    static const struct {
        const char *word, *text;
    } table[] = {
        {"", "it has not told whether it has its fencing counters"},
        {"certified", "masters lost fencing counters during the round"},
        {"missing",
         "not certified for fencing tokens: it was emptied, or is new (redlock init)"},
        {"restarted", "not certified for fencing tokens since it was restarted"},
        {"resynced", "not certified for fencing tokens since it was a replica"},
        {"foreign",
         "not certified for fencing tokens: other data was in the certificate's place"},
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

static bool was_read(const struct rl_certifying *certifying, const char *id)
{
    assert(certifying->read_count <= REDLOCK_NODES_MAX);
    for (unsigned i = 0; i < certifying->read_count; i++) {
        if (strcmp(certifying->read[i], id) == 0)
            return true;
    }
    return false;
}

bool rl_certifying_learn(struct rl_certifying *certifying, unsigned node,
                         const struct rl_certificate *certificate, unsigned needed)
{
    assert(certifying->on && needed > 0 && needed <= REDLOCK_NODES_MAX);
    assert(node < REDLOCK_NODES_MAX && certifying->read_count <= needed);
    assert(strlen(certifying->loss) == RL_LOSS_LEN);
    bool of_loss = strncmp(certificate->id, certifying->loss, RL_LOSS_LEN) == 0;
    if (node == certifying->node) {
        certifying->on = of_loss && !rl_is_certified(certificate);
        return false;
    }
    if (!rl_is_certified(certificate) || !of_loss)
        return false;
    if (was_read(certifying, certificate->id) || certifying->read_count == needed)
        return false;
    memcpy(certifying->read[certifying->read_count++], certificate->id,
           sizeof(certificate->id));
    if (certifying->floor < certificate->greatest)
        certifying->floor = certificate->greatest;
    return certifying->read_count == needed;
}
