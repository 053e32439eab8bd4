/* fault_holder.c - faults of contenders, aimed at one that holds a lock: stopped for
 * longer than its lease, or killed with it. */
#include "config_auto.h"

#include "chaos/faults/fault.h"

#include "base/limits.h"

#include <stdatomic.h>

#define FIND_LIMIT_MS 3000
#define LEFT_MS 20 /* of its lease at least, when it is chosen */

static const char *cannot(struct chaos_run *run, enum chaos_fault_kind kind)
{
    (void)run;
    (void)kind;
    return NULL;
}

/* Stop a holder that still holds its lock once it stands. */
static bool stop_holder(struct chaos_run *run, struct chaos_active *active)
{
    int64_t limit_ns = chaos_now_ns() + FIND_LIMIT_MS * RL_NS_PER_MS;
    do {
        int client = chaos_workers_holder(&run->workers, 0, LEFT_MS);
        if (client < 0)
            continue;
        struct chaos_seat *seat = &run->record->seat[client];
        active->fault->begun_ns = chaos_now_ns(); /* its length counts from here */
        if (!chaos_workers_stop(&run->workers, (unsigned)client))
            break;
        active->client = client;
        active->done = true;
        active->until_ns = atomic_load(&seat->believes_until_ns);
        active->events = atomic_load(&seat->count);
        active->lives = atomic_load(&seat->lives);
        if (active->until_ns > chaos_now_ns()) {
            active->fault->clients = UINT64_C(1) << client;
            return true;
        }
        chaos_workers_resume(&run->workers, (unsigned)client); /* it let go just then */
        active->done = false;
    } while (chaos_now_ns() < limit_ns && chaos_pause_ms(1));
    chaos_fault_tell(active->fault, "nobody held a lock in %d ms", FIND_LIMIT_MS);
    return false;
}

static bool begin(struct chaos_run *run, struct chaos_active *active)
{
    if (!stop_holder(run, active))
        return false;
    unsigned client = (unsigned)active->client;
    unsigned name = atomic_load(&run->record->seat[client].holds_name);
    int64_t left_ms = (active->until_ns - chaos_now_ns()) / RL_NS_PER_MS;
    if (active->fault->kind == CHAOS_FAULT_PAUSE_HOLDER)
        return chaos_fault_tell(active->fault,
                                "contender %u stands with %lld ms left of lock %u", client,
                                (long long)left_ms, name);
    if (!chaos_workers_kill(&run->workers, client)) {
        chaos_fault_tell(active->fault, "contender %u could not be killed", client);
        return false;
    }
    return chaos_fault_tell(active->fault, "contender %u died with %lld ms left of lock %u",
                            client, (long long)left_ms, name);
}

/* The stopped holder's lease has expired, and it has logged nothing since. */
static bool seen(struct chaos_run *run, struct chaos_active *active)
{
    const struct chaos_seat *seat = &run->record->seat[active->client];
    if (active->fault->kind == CHAOS_FAULT_KILL_HOLDER)
        return true;
    int64_t past_ms = (chaos_now_ns() - active->until_ns) / RL_NS_PER_MS;
    if (past_ms < 0 || atomic_load(&seat->count) != active->events)
        return false;
    return chaos_fault_tell(active->fault,
                            "contender %u stands, and its lease of lock %u has run out",
                            (unsigned)active->client, atomic_load(&seat->holds_name));
}

static bool undo(struct chaos_run *run, struct chaos_active *active)
{
    unsigned client = (unsigned)active->client;
    bool fine = active->fault->kind == CHAOS_FAULT_PAUSE_HOLDER
                    ? chaos_workers_resume(&run->workers, client)
                    : chaos_workers_replace(&run->workers, client);
    if (!fine)
        chaos_fault_tell(active->fault, "contender %u could not be %s", client,
                         active->fault->kind == CHAOS_FAULT_PAUSE_HOLDER ? "continued"
                                                                         : "replaced");
    return fine;
}

/* The contender goes on, or its replacement does. */
static bool gone(struct chaos_run *run, struct chaos_active *active)
{
    const struct chaos_seat *seat = &run->record->seat[active->client];
    if (active->fault->kind == CHAOS_FAULT_PAUSE_HOLDER)
        return atomic_load(&seat->count) > active->events || run->ending;
    return atomic_load(&seat->lives) > active->lives;
}

const struct chaos_fault_way chaos_faults_of_holders = {
    CHAOS_OF_HOLDERS, cannot, begin, seen, NULL, undo, gone,
};
