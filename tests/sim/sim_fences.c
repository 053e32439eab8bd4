/* sim_fences.c - the oracle of fencing tokens: a hold has a greater one than every hold of its
 * name that another owner was told of before this one was asked for. That is so whatever the
 * clocks of clients do, and whichever keys of locks go. What a master lost is made up for by
 * its clock, where that was not set back by the half of a guard's window. With `fencing strict`
 * nothing that masters lose or their clocks do is an excuse, nor is a greater number that
 * somebody sets at one of them. */
#include "config_auto.h"

#include "sim_held.h"
#include "sim_master_parts.h"
#include "sim_names.h"

#include "core/fence.h"

#include <stdio.h>
#include <string.h>

enum { FENCES_MAX = 4096, SHOWN = 8 };

static struct fence {
    char name[SIM_NAMES_SHOWN];
    char owner[RL_OWNER_MAX + 1];
    char token[SHOWN + 1]; /* of the lock */
    uint64_t number;
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

/* A re-entry has the token of the hold around it, as long as its owner believes in that one. If
 * another owner was granted the lock meanwhile, that is told as an overlap; a store refuses
 * what is written with the lower token. */
static void compare(const struct fence *before, const struct sim_hold *hold, uint64_t number,
                    int64_t began_ns, bool again)
{
    if (same_owner(before, hold) || !sim_names_meet(before->name, hold->name))
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
    greatest = number > greatest ? number : greatest;
    fence->reported_ns = sim_now_ns();
}
