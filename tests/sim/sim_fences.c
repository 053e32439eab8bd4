/* sim_fences.c - the oracle of fencing tokens: a hold has a greater one than every hold of its
 * name that another owner was told of before this one was asked for. That is so whatever the
 * clocks of clients do, and whichever keys of locks go. What a master lost is made up for by
 * its clock, where that was not set back by the half of a guard's window. With `fencing strict`
 * nothing that masters lose or their clocks do is an excuse, nor is a greater number that
 * somebody sets at one of them. Between two holds by lists whose majorities need not meet only
 * the masters' clocks stand. */
#include "config_auto.h"

#include "sim_held.h"
#include "sim_master_parts.h"
#include "sim_names.h"

#include "core/fence.h"
#include "core/quorum.h"

#include <stdio.h>
#include <string.h>

enum { FENCES_MAX = 4096, SHOWN = 8 };

static struct fence {
    char name[SIM_NAMES_SHOWN];
    char owner[RL_OWNER_MAX + 1];
    char token[SHOWN + 1]; /* of the lock */
    uint64_t number;
    uint64_t list;       /* the masters of its client, a bit each */
    int64_t most_ns;     /* no number was above that so far; of masters' clocks */
    int64_t reported_ns; /* true time */
} fences[FENCES_MAX];    /* round and round */
static size_t fences_count;
static uint64_t greatest;

uint64_t sim_fences_greatest(void)
{
    return greatest;
}

void sim_fences_begin(void)
{
    fences_count = 0;
    greatest = 0;
}

static bool same_owner(const struct fence *fence, const struct sim_hold *hold)
{
    return fence->owner[0] != '\0' && strcmp(fence->owner, hold->owner) == 0;
}

/* The masters that its client's addresses or names are of. */
static uint64_t list_of(const struct sim_hold *hold)
{
    const struct rl_config *config = &hold->lock->client->config;
    uint64_t list = 0;
    for (unsigned i = 0; i < config->node_count; i++) {
        unsigned number = 0;
        if (sscanf(config->nodes[i].host, "10.0.0.%u", &number) == 1 ||
            sscanf(config->nodes[i].host, "n%u.sim", &number) == 1)
            list |= UINT64_C(1) << (number - 1);
    }
    return list;
}

/* A master takes a number that is ahead of its clock by the half of a window at most, and this
 * clock was ahead of what it is now by as much as it was set back. */
static int64_t greatest_clock_ns(const struct sim_hold *hold)
{
    int64_t window_us = hold->lock->client->node_settings.guard_window_ns / 1000;
    int64_t most_ns = 0;
    for (unsigned i = 0; i < sim_servers(); i++) {
        int64_t was_ns = sim_wall_ns(sim_server(i)) + sim_server(i)->set_back_ns;
        most_ns = was_ns > most_ns ? was_ns : most_ns;
    }
    return most_ns + rl_fence_taken_ahead_us(window_us) * 1000;
}

/* No master names a number behind its clock, which is set back and never forward. */
static int64_t lowest_clock_ns(uint64_t list, int64_t began_ns)
{
    int64_t least_ns = INT64_MAX;
    for (unsigned i = 0; i < sim_servers(); i++) {
        int64_t wall_ns = sim_wall_ns(sim_server(i));
        if (list >> i & 1 && wall_ns < least_ns)
            least_ns = wall_ns;
    }
    return least_ns - (sim_now_ns() - began_ns);
}

/* The list was changed twice, say, and nobody took the lock in between: else each of the two is
 * compared with that one. A later clock is above all former ones, but if it was set back. */
static bool no_master_in_common(const struct fence *before, uint64_t list, int64_t began_ns)
{
    return !rl_majorities_meet(rl_count(before->list), rl_count(list),
                               rl_count(before->list & list)) &&
           lowest_clock_ns(list, began_ns) < before->most_ns;
}

/* A re-entry has the token of the hold around it, as long as its owner believes in that one. If
 * another owner was granted the lock meanwhile, that is told as an overlap; a store refuses
 * what is written with the lower token. */
static void compare(const struct fence *before, const struct sim_hold *hold, uint64_t number,
                    int64_t began_ns, bool again)
{
    if (same_owner(before, hold) || !sim_names_meet(before->name, hold->name) ||
        no_master_in_common(before, list_of(hold), began_ns))
        return;
    if (number == before->number)
        sim_found(SIM_UNFENCED, "%s has %s (%.8s) with the fencing token of %s: %llu",
                  hold->proc->name, hold->name, hold->token, before->token,
                  (unsigned long long)number);
    else if (number < before->number && before->reported_ns <= began_ns && !again)
        sim_found(SIM_UNFENCED, "%s has %s (%.8s) with a fencing token %llu below that of %s",
                  hold->proc->name, hold->name, hold->token,
                  (unsigned long long)(before->number - number), before->token);
}

/* May a master have forgotten tokens that its clock is not above, or was a number made lower? */
static bool any_forgot(const struct sim_hold *hold)
{
    for (unsigned i = 0; i < sim_servers(); i++) {
        const struct sim_server *server = sim_server(i);
        if (server->lowered)
            return true;
        if (!sim_oracle_strict && server->killed_ns > 0 && server->set_back_ns > hold->max_ttl_ns * 45 / 100)
            return true;
    }
    return false;
}

void sim_look_at_fence(const struct sim_hold *hold, uint64_t number, int64_t began_ns)
{
    size_t known = fences_count < FENCES_MAX ? fences_count : FENCES_MAX;
    if (number == 0 || number >= RL_FENCE_MAX)
        sim_found(SIM_UNFENCED, "%s has %s (%.8s) without a fencing token", hold->proc->name,
                  hold->name, hold->token);
    bool again = sim_is_within(hold, number);
    for (size_t i = 0; i < known && !any_forgot(hold); i++)
        compare(&fences[i], hold, number, began_ns, again);
    struct fence *fence = &fences[fences_count++ % FENCES_MAX];
    snprintf(fence->name, sizeof(fence->name), "%s", hold->name);
    snprintf(fence->owner, sizeof(fence->owner), "%s", hold->owner);
    snprintf(fence->token, sizeof(fence->token), "%.*s", SHOWN, hold->token);
    fence->number = number;
    fence->list = list_of(hold);
    fence->most_ns = greatest_clock_ns(hold);
    greatest = number > greatest ? number : greatest;
    fence->reported_ns = sim_now_ns();
}
