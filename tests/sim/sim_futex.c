/* sim_futex.c - words that threads of a simulated process sleep on. Where threads are switched
 * at random, some wake for nothing, as they may. */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_real.h"

bool sim_bound_rl_futex_wait(atomic_uint *word, unsigned seen, uint32_t bits,
                             const struct timespec *until)
{
    struct sim_fiber *self = sim_fiber();

    if (!sim_proc())
        return sim_real_rl_futex_wait(word, seen, bits, until);
    sim_system_call();
    if (atomic_load(word) != seen)
        return true;
    struct sim_queue *dozers = &self->proc->parts->dozers;
    int64_t until_ns = (int64_t)until->tv_sec * SIM_S + until->tv_nsec;
    bool in_time = true;
    self->futex = word;
    self->futex_bits = bits;
    sim_queue_add(dozers, self);
    if (sim_chance(self->proc->rates.switch_ppm / 8))
        sim_fiber_stand(sim_now_ns());
    else
        in_time = sim_sleep(sim_true_of_monotonic_ns(self->proc, until_ns));
    sim_queue_remove(dozers, self);
    return in_time;
}

void sim_bound_rl_futex_wake(atomic_uint *word, uint32_t bits)
{
    if (!sim_proc()) {
        sim_real_rl_futex_wake(word, bits);
        return;
    }
    for (struct sim_fiber *at = sim_proc()->parts->dozers.first; at; at = at->queue_next) {
        if (at->futex == word && (at->futex_bits & bits))
            sim_wake(at);
    }
    sim_system_call();
}
