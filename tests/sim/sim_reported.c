/* sim_reported.c - the oracle of what programs are told: is it so? Of how long a lock is
 * valid, of its loss, and of what came of a call. */
#include "config_auto.h"

#include "sim_held.h"

#define LATE_NS (10 * SIM_MS) /* timers are of whole milliseconds, and threads take turns */

enum { MARK_REPORTED = 0x313 };

/* ---- how long it is valid ------------------------------------------------------------- */

/* The longest that any lock of its TTL can be valid for, counted from before the first byte. */
static int64_t whole_ms(const struct sim_hold *hold)
{
    const struct rl_lease *lease = hold->lock->lease;
    if (!lease || lease->hold.maybe_set == 0)
        return INT64_MAX;
    const struct rl_hold *keys = &lease->hold;
    int64_t ttl_ns = keys->key_life_ns - keys->lock_delay_ns;
    return rl_validity_end_ns(0, ttl_ns, keys->drift_factor) / SIM_MS;
}

/* What is told was so at some time of the call: it may be old when it is heard, since a thread
 * can be stopped right before. */
int64_t sim_believes(struct sim_hold *hold)
{
    int64_t before_ns = sim_hold_in_force_ns(hold), own_ns = sim_own_ns(hold->proc);
    int64_t left_ms = redlock_validity_ms(hold->lock);
    int64_t after_ns = sim_hold_in_force_ns(hold);
    /* It may have been lost in between, or made to last longer. */
    int64_t most_ns = before_ns > after_ns ? before_ns : after_ns;
    int64_t most_ms = (most_ns - own_ns) / SIM_MS;
    if (!hold->attached && most_ms > whole_ms(hold))
        most_ms = whole_ms(hold);
    if (left_ms > 0 && left_ms > most_ms)
        sim_found(
            SIM_TOO_LONG, "%s is told that it has %s (%.8s) for %lld ms more: %lld are left",
            hold->proc->name, hold->name, hold->token, (long long)left_ms, (long long)most_ms);
    int64_t least_ns = before_ns < after_ns ? before_ns : after_ns;
    if (left_ms < (least_ns - sim_own_ns(hold->proc)) / SIM_MS)
        sim_found(SIM_WRONG_RESULT,
                  "%s is told that it has %s (%.8s) for %lld ms, and has it longer",
                  hold->proc->name, hold->name, hold->token, (long long)left_ms);
    sim_hold_look(hold);
    if (left_ms == 0) /* it has been told to stop */
        hold->reported_ns = 0;
    else if (own_ns + left_ms * SIM_MS > hold->reported_ns)
        hold->reported_ns = own_ns + left_ms * SIM_MS;
    hold->over |= left_ms == 0;
    return left_ms;
}

/* ---- its loss ------------------------------------------------------------------------- */

/* A handle without a lock is one that was given up: its program may have forgotten it. */
static void look_at_handle(const redlock_lock *lock, const char *what)
{
    if (redlock_token(lock)[0] == '\0' && !sim_proc()->crashed)
        sim_found(SIM_TWICE, "%s is told of the loss of a lock %s", sim_proc()->name, what);
}

void sim_lost_heard(const redlock_lock *lock)
{
    look_at_handle(lock, "that is given up before the callback is done");
}

bool sim_awaits_loss(const struct sim_hold *hold)
{
    return hold->open && hold->hears && hold->over && !hold->reported;
}

void sim_lost_in_silence(const struct sim_hold *hold)
{
    sim_found(SIM_TWICE, "%s is never told that %s (%.8s) is lost", hold->proc->name,
              hold->name, hold->token);
}

void sim_lost(const redlock_lock *lock)
{
    struct sim_hold *hold = sim_hold_of(lock);
    look_at_handle(lock, "that it has given up");
    if (!hold) /* it was lost before its program was told that it had it */
        return;
    sim_mark(MARK_REPORTED, hold->proc->index, 2);
    if (sim_tells())
        sim_tell("%s is told that %s (%.8s) is lost", hold->proc->name, hold->name,
                 hold->token);
    sim_hold_look(hold);
    if (!sim_hold_runs_out(hold, hold->deadline_ns) && !hold->proc->crashed)
        sim_found(SIM_TOO_LONG, "%s is told that %s (%.8s) is lost, and it is still valid",
                  hold->proc->name, hold->name, hold->token);
    if (hold->reported)
        sim_found(SIM_TWICE, "%s is told twice that %s (%.8s) is lost", hold->proc->name,
                  hold->name, hold->token);
    hold->over = hold->reported = true;
    hold->reported_ns = 0;
}

/* ---- what came of a call -------------------------------------------------------------- */

/* As long as it may wait, or as one round may take; and what connecting takes at first. */
void sim_waited(const char *name, const redlock_options *asked, int64_t began_ns)
{
    int64_t took_ns = sim_own_ns(sim_proc()) - began_ns;
    int64_t may_ms = asked->wait_ms ? asked->wait_ms : asked->ttl_ms;
    int64_t may_ns = (may_ms + RL_DEFAULT_CONNECT_TIMEOUT_MS) * SIM_MS + LATE_NS;
    if (asked->wait_ms >= 0 && took_ns > may_ns)
        sim_found(SIM_WRONG_RESULT,
                  "%s has waited for %s for %.3f ms, and not %.3f at the most",
                  sim_proc()->name, name, (double)took_ns / (double)SIM_MS,
                  (double)may_ns / (double)SIM_MS);
}

void sim_extended(const struct sim_hold *hold, int64_t ttl_ms, int64_t began_ns, int result)
{
    if (result != REDLOCK_OK || hold->proc->crashed)
        return;
    if (ttl_ms * SIM_MS > hold->max_ttl_ns)
        sim_found(SIM_WRONG_RESULT, "%s has extended %s by %lld ms, above max-ttl",
                  hold->proc->name, hold->name, (long long)ttl_ms);
    int64_t deadline_ns = sim_hold_in_force_ns(hold);
    double drift_factor = hold->lock->client->config.drift_factor;
    /* 0: it is lost since, which is told by and by. A clock that is set meanwhile counts the
     * call as longer. */
    if (ttl_ms == 0 || hold->watched || deadline_ns == 0 ||
        (sim_assumptions_broken() & 1u << SIM_STEADY) ||
        deadline_ns >= rl_validity_end_ns(began_ns, ttl_ms * SIM_MS, drift_factor))
        return;
    sim_found(SIM_WRONG_RESULT, "%s has extended %s (%.8s) by %lld ms, and has it for %.3f ms",
              hold->proc->name, hold->name, hold->token, (long long)ttl_ms,
              (double)(deadline_ns - began_ns) / (double)SIM_MS);
}

void sim_released(const struct sim_hold *hold, int result)
{
    unsigned n = hold->nodes;
    if (result != REDLOCK_OK || hold->proc->crashed)
        return;
    if (hold->over)
        sim_found(SIM_WRONG_RESULT, "%s has released %s (%.8s) in time, which was over",
                  hold->proc->name, hold->name, hold->token);
    unsigned left = sim_masters_with(hold->token, hold->max_ttl_ns);
    unsigned may_be_left = n - (n / 2 + 1) + rl_count(hold->owed);
    sim_released_kept(hold);
    if (!hold->lazy && left > may_be_left && !sim_left_to_end(hold) && !sim_assumptions_broken())
        sim_found(SIM_WRONG_RESULT,
                  "%s has released %s (%.8s), and %u of %u masters have it still",
                  hold->proc->name, hold->name, hold->token, left, n);
}
