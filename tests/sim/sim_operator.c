/* sim_operator.c - who looks after worlds with `fencing strict`. Where so many masters lost
 * their counters that clients can't certify them, somebody must say above which number tokens
 * go on. */
#include "config_auto.h"

#include "sim_world.h"

#include "core/quorum.h"
#include "sim_judge.h"

enum { LOOKS_EVERY_MS = 200 };
#define AHEAD_US (3600 * UINT64_C(1000000))

static struct {
    struct sim_event tick; /* first */
    uint64_t above;        /* what was said last */
} operator;

void sim_operator_certifies(void)
{
    uint64_t told = sim_fences_greatest();
    operator.above = (told > operator.above ? told : operator.above) + AHEAD_US;
    for (unsigned i = 0; i < sim_world.plan.masters; i++) {
        if (!sim_master_up(i) || sim_master_certified(i))
            continue;
        sim_tell("n%u is certified by hand, above %llu", i + 1,
                 (unsigned long long)operator.above);
        sim_master_certify(i, operator.above);
    }
}

static void look(struct sim_event *event)
{
    unsigned certified = 0;
    for (unsigned i = 0; i < sim_world.plan.masters; i++)
        certified += sim_master_certified(i);
    /* Clients with a shorter list may have no quorum of others earlier. */
    unsigned needed = rl_quorum_needed(sim_world.plan.masters);
    if (sim_world.plan.breaks == SIM_ONE_LIST)
        needed = sim_world.plan.masters;
    if (certified < needed)
        sim_operator_certifies();
    sim_at(event, sim_now_ns() + LOOKS_EVERY_MS * SIM_MS);
}

void sim_operator_begin(void)
{
    operator.tick.fire = look;
    operator.above = 0;
    if (sim_world.plan.certified)
        look(&operator.tick);
}

void sim_operator_end(void)
{
    if (sim_world.plan.certified)
        sim_not(&operator.tick);
}
