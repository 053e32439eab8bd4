/* sim_lookup.c - look-ups of names by a simulated resolver, each by a thread of the process as
 * the real ones are. "n1.sim" is master 0. */
#include "config_auto.h"

#include "sim_fiber.h"
#include "sim_master.h"
#include "sim_net.h"
#include "sim_real.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FASTEST_NS = 10000 };

/* Whoever goes last, the asker or the thread, frees it. */
struct lookup {
    struct sim_fiber *fiber;
    bool abandoned, writing, ended;
    int wake_fd;
    int port;
    unsigned master; /* SIM_MASTERS_MAX: it has no such name */
    enum rl_lookup_state state;
    struct rl_addresses addresses;
    const char *why;
};

static struct lookup *own(struct rl_lookup *lookup)
{
    return (struct lookup *)(void *)lookup;
}

static unsigned master_of(const char *host)
{
    unsigned number = 0;
    int len = 0;

    if (sscanf(host, "n%2u.sim%n", &number, &len) != 1 || len == 0 || host[len] != '\0' ||
        number == 0 || number > SIM_MASTERS_MAX)
        return SIM_MASTERS_MAX;
    return number - 1;
}

static void add(struct lookup *lookup, unsigned server)
{
    struct rl_address *address = &lookup->addresses.list[lookup->addresses.count++];
    address->len = sizeof(address->as.v4);
    address->as.v4.sin_family = AF_INET;
    address->as.v4.sin_port = htons((uint16_t)lookup->port);
    address->as.v4.sin_addr.s_addr = htonl(0x0a000001u + server);
}

static void find(struct lookup *lookup)
{
    struct sim_proc *proc = sim_proc();

    lookup->state = RL_LOOKUP_FAILED;
    if (proc->crashed || sim_chance(proc->rates.lookup_fail_ppm)) {
        proc->felt.lookups++;
        lookup->why = "Temporary failure in name resolution";
    } else if (lookup->master == SIM_MASTERS_MAX) {
        lookup->why = "Name or service not known";
    } else {
        unsigned other = sim_master_shares_name(lookup->master);
        add(lookup, lookup->master);
        if (other < SIM_MASTERS_MAX)
            add(lookup, other);
        if (proc->index % 2) /* name servers give them in turns */
            rl_addresses_turn(NULL, &lookup->addresses);
        lookup->state = RL_LOOKUP_DONE;
    }
    sim_mark(SIM_MARK_LOOKUP, proc->index, lookup->state);
    if (sim_tells() && lookup->why)
        sim_tell("%s can't look up a name: %s", proc->name, lookup->why);
}

static void *look_up(void *argument)
{
    struct lookup *lookup = argument;
    struct sim_proc *proc = sim_proc();
    int64_t takes_ns;

    if (!lookup->abandoned) {
        takes_ns = sim_scale(FASTEST_NS, proc->rates.lookup_max_ns);
        proc->felt.lookups += takes_ns > SIM_LOOKUP_NS;
        sim_sleep(sim_now_ns() + takes_ns);
    }
    if (!lookup->abandoned) {
        const uint64_t one = 1;
        find(lookup);
        lookup->writing = true;
        ssize_t written = write(lookup->wake_fd, &one, sizeof(one));
        (void)written;
        lookup->writing = false;
    }
    lookup->ended = true;
    if (lookup->abandoned)
        free(lookup);
    return NULL;
}

struct rl_lookup *sim_bound_rl_lookup_start(const char *host, int port, int wake_fd)
{
    if (!sim_proc())
        return sim_real_rl_lookup_start(host, port, wake_fd);
    sim_system_call();
    struct lookup *lookup = calloc(1, sizeof(*lookup));
    if (!lookup)
        return NULL;
    lookup->wake_fd = wake_fd;
    lookup->port = port;
    lookup->master = master_of(host);
    lookup->state = RL_LOOKUP_RUNNING;
    lookup->fiber = sim_fiber_new(sim_proc(), look_up, lookup);
    return (struct rl_lookup *)(void *)lookup;
}

enum rl_lookup_state sim_bound_rl_lookup_poll(struct rl_lookup *lookup,
                                              struct rl_addresses *ret_addresses, char *why,
                                              size_t why_size)
{
    if (!sim_proc())
        return sim_real_rl_lookup_poll(lookup, ret_addresses, why, why_size);
    const struct lookup *asked = own(lookup);
    if (asked->state == RL_LOOKUP_DONE)
        *ret_addresses = asked->addresses;
    else if (asked->state == RL_LOOKUP_FAILED)
        snprintf(why, why_size, "%s", asked->why);
    return asked->state;
}

/* Its thread ends soon, where a real one would go on for nobody. */
void sim_bound_rl_lookup_abandon(struct rl_lookup *lookup)
{
    if (!sim_proc() || !lookup) {
        sim_real_rl_lookup_abandon(lookup);
        return;
    }
    struct lookup *left = own(lookup);
    while (left->writing) /* the descriptor may be closed as soon as this returns */
        sim_fiber_stand(sim_now_ns() + SIM_US); /* it may be stopped there */
    left->abandoned = true; /* from here on the thread frees it, unless it has ended */
    if (left->ended)
        free(left);
    else
        sim_wake(left->fiber);
}
