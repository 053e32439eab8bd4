/* sim_keys.c - the oracle of keys: nobody's lock is deleted, replaced or cut short by who does
 * not have its token, nor by its own process while that still believes in it; and at the end
 * nothing is left. */
#include "config_auto.h"

#include "sim_judge.h"

#include "base/limits.h"
#include "kinds/kind.h"
#include "net/link_internal.h"

#include <stdio.h>
#include <string.h>

enum {
    SHOWN = 8,                      /* of a value, in a story */
    QUEUED_BYTES_MAX = 1024 * 1024, /* of a process's connections, all together */
    CLIENT_BYTES_MAX = 4 * 1024 * 1024, /* with so many masters, or fewer: */
    MANY_MASTERS = 7,
    MARK_KEY = 0x321
};

/* A value that keeps a lock free for who was woken is no token. */
static bool kept(const char *value)
{
    return strncmp(value, "redlock:next:", strlen("redlock:next:")) == 0;
}

static bool is(const char *text, const char *other)
{
    return text && strcmp(text, other) == 0;
}

static void found(const struct sim_changed *changed, const char *what)
{
    sim_found(SIM_FOREIGN_WRITE, "%s: %s on n%u %s (%.*s -> %.*s) by %s %s", what,
              changed->name, changed->master + 1,
              changed->command ? changed->command : "nobody", SHOWN,
              changed->before ? changed->before : "absent", SHOWN,
              changed->after ? changed->after : "absent", changed->by ? changed->by->name : "-",
              changed->argument ? changed->argument : "");
}

static void look_at_taken(const struct sim_changed *changed)
{
    if (changed->before && !kept(changed->before))
        found(changed, "another's lock is replaced");
    else if (!changed->after)
        found(changed, "the lock is taken for nothing");
    else if (!kept(changed->after) && changed->argument &&
             strcmp(changed->after, changed->argument) != 0)
        found(changed, "the lock is taken for another token");
    if (!kept(changed->after) && changed->by &&
        sim_may_have_forgotten(changed->master, sim_oracle_max_ttl_ns))
        sim_found(SIM_TOO_SOON, "n%u gives %s to %s (%s), and may have forgotten another's",
                  changed->master + 1, changed->name, changed->by->name, changed->command);
}

static void look_at_deleted(const struct sim_changed *changed)
{
    const struct sim_hold *hold;
    if (!changed->before || kept(changed->before) || is(changed->command, "force"))
        return;
    if (!changed->argument || strcmp(changed->before, changed->argument) != 0) {
        found(changed, "another's lock is deleted");
        return;
    }
    hold = sim_believed(changed->before);
    if (hold)
        sim_found(SIM_FOREIGN_WRITE,
                  "%s on n%u (%.*s) is deleted while %s believes in it for %.3f ms more",
                  changed->name, changed->master + 1, SHOWN, changed->before, sim_holder(hold),
                  (double)sim_believes_for_ns(hold) / (double)SIM_MS);
}

/* Of a writer or readers who wait: no lock. */
static bool is_mark(const char *name)
{
    const char *suffix = strstr(name, ":redlock:");
    return suffix &&
           (strcmp(suffix, ":redlock:writer") == 0 || strcmp(suffix, ":redlock:readers") == 0);
}

/* A counter of fencing tokens outlives its lock. */
bool sim_is_counter(const char *name)
{
    const char *suffix = strstr(name, RL_FENCE_SUFFIX);
    return (suffix && suffix[strlen(RL_FENCE_SUFFIX)] == '\0') ||
           strncmp(name, RL_REDISSON_FENCE_PREFIX, strlen(RL_REDISSON_FENCE_PREFIX)) == 0;
}

void sim_key_changed(const struct sim_changed *changed)
{
    if (is_mark(changed->name) || sim_is_counter(changed->name))
        return;
    sim_mark(MARK_KEY, changed->master, changed->change);
    switch (changed->change) {
    case SIM_TAKEN:
        look_at_taken(changed);
        break;
    case SIM_LONGER:
        if (changed->before && kept(changed->before))
            break; /* for who asks again for several names */
        if (!changed->before || !changed->argument ||
            strcmp(changed->before, changed->argument) != 0)
            found(changed, "another's lock is made to last longer");
        break;
    case SIM_DELETED:
        look_at_deleted(changed);
        break;
    case SIM_EXPIRED:
    case SIM_FLUSHED:
    case SIM_EVICTED:
    case SIM_FORGOTTEN:
    case SIM_RESTORED:
        break;
    }
}

/* ---- bounds, and the end -------------------------------------------------------------- */

/* Each connection has its buffers. */
static size_t client_bytes_max(void)
{
    unsigned masters = sim_server_count();
    return masters > MANY_MASTERS ? (size_t)CLIENT_BYTES_MAX / MANY_MASTERS * masters
                                  : (size_t)CLIENT_BYTES_MAX;
}

void sim_look_at_sizes(const struct sim_proc *proc, unsigned clients)
{
    /* Of a master: a connection that drains, one that is made beside it, and a subscriber. */
    unsigned each = 1 + 2 * RL_LINK_TRIES;
    unsigned servers = sim_server_count(); /* Sentinels among them */
    unsigned fds = sim_open_fds(proc), most = clients * (each * servers + 4);
    size_t queued = sim_queued_bytes(proc);
    if (proc->crashed)
        return;
    if (fds > most)
        sim_found(SIM_LEAK, "%s has %u descriptors open, of %u that %u clients may have",
                  proc->name, fds, most, clients);
    if (queued > QUEUED_BYTES_MAX)
        sim_found(SIM_LEAK, "%zu bytes are queued between %s and masters", queued, proc->name);
    if (proc->peak_bytes > client_bytes_max())
        sim_found(SIM_LEAK, "%s had %zu bytes of memory", proc->name, proc->peak_bytes);
}

void sim_look_for_orphans(void)
{
    for (unsigned i = 0; i < sim_master_count(); i++) {
        size_t left = sim_master_keys(i) - sim_counters(i);
        if (left > 0 && !sim_order_evicted(i))
            sim_found(SIM_ORPHAN, "%zu keys are left on n%u", left, i + 1);
    }
    for (unsigned i = 0; i < sim_proc_count(); i++) {
        const struct sim_proc *proc = sim_proc_at(i);
        if (sim_open_fds(proc) > 0)
            sim_found(SIM_ORPHAN, "%s has left %u descriptors open", proc->name,
                      sim_open_fds(proc));
        if (proc->live_blocks > 0)
            sim_found(SIM_ORPHAN, "%s has left %zu bytes of memory in %zu blocks", proc->name,
                      proc->live_bytes, proc->live_blocks);
    }
    sim_look_for_open_calls();
    sim_look_for_open_holds();
}
