/* sim_numbers.c - a number of fencing tokens that somebody sets at one master; and so would say
 * a master that lies. A greater one is no excuse for anything. */
#include "config_auto.h"

#include "sim_certify.h"
#include "sim_judge.h"
#include "sim_master_parts.h"

#include "core/fence.h"
#include "kinds/fencing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t any_number(uint64_t was, bool down)
{
    uint64_t number = 0;
    switch (sim_below(down ? 5 : 4)) {
    case 0:
        number = was + (uint64_t)sim_scale(1, INT64_C(1) << 50);
        break;
    case 1:
        number = RL_FENCE_CEILING - 1 + sim_below(3);
        break;
    case 2:
        number = RL_FENCE_CEILING + RL_FENCE_STEPS - 1 + sim_below(3);
        break;
    case 3:
        number = RL_FENCE_MAX - 1 - sim_below(3);
        break;
    default:
        return sim_below(was + 1);
    }
    return number > was ? number : was;
}

/* What it said last is not above what others believe, or it could vouch for nobody: then so many
 * may be missing that an operator must help. */
static uint64_t believed(uint64_t number, uint64_t was)
{
    uint64_t most = rl_fence_most(was);
    return number < most ? number : most;
}

static void set_certificate(struct sim_server *server, const struct sim_key *key, bool down,
                            char ret_text[512])
{
    struct sim_certificate certificate;
    snprintf(ret_text, 512, "%s", key->value.bytes);
    if (!sim_certificate_in(key, &certificate) || strcmp(certificate.word, "certified") != 0)
        return;
    uint64_t was = strtoull(certificate.greatest, NULL, 10);
    uint64_t number = believed(any_number(was, down), was);
    server->lowered |= number < was;
    snprintf(certificate.greatest, sizeof(certificate.greatest), "%llu",
             (unsigned long long)number);
    if (sim_below(2))
        memcpy(certificate.base, certificate.greatest, sizeof(certificate.base));
    sim_certificate_text(&certificate, ret_text);
}

bool sim_master_set_number(unsigned master, bool down)
{
    struct sim_server *server = sim_server(master);
    struct sim_call call = {.server = server, .db = sim_masters_options()->db};
    char text[512], name[160];
    size_t start = server->keys ? sim_below(server->keys) : 0;
    for (size_t i = 0; i < server->keys; i++) {
        struct sim_key *key = server->key[(start + i) % server->keys];
        bool counter = sim_is_counter(key->name.bytes);
        if (key->type != SIM_STRING || (!counter && strcmp(key->name.bytes, RL_FENCING_KEY)))
            continue;
        snprintf(name, sizeof(name), "%s", key->name.bytes);
        if (counter) {
            uint64_t was = strtoull(key->value.bytes, NULL, 10);
            uint64_t number = any_number(was, down);
            server->lowered |= number < was;
            snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
        } else {
            set_certificate(server, key, down, text);
        }
        sim_tell("n%u's %s is set to %s", master + 1, name, text);
        sim_key_set(server, &call, &(struct sim_word){name, strlen(name)},
                    &(struct sim_word){text, strlen(text)}, key->end_ms);
        return true;
    }
    return false;
}

/* As its operator does: one that it does not believe costs the name this master's vote. */
void sim_master_forget_numbers(unsigned master)
{
    struct sim_server *server = sim_server(master);
    for (size_t i = server->keys; i-- > 0;) {
        if (sim_is_counter(server->key[i]->name.bytes))
            sim_key_delete(server->key[i], NULL, SIM_EVICTED);
    }
    sim_tell("n%u's counters are deleted by hand", master + 1);
}
