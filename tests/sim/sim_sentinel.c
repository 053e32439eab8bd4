/* sim_sentinel.c - Sentinels as registers: for each service a master and a term. What raises a
 * term, and what is told meanwhile, is as in Redis 7.0's sentinel.c. */
#include "config_auto.h"

#include "sim_sentinel_parts.h"

#include <stdio.h>

static struct sim_sentinel sentinels[SIM_MASTERS_MAX];

bool sim_sentinel_watches(const struct sim_sentinel *sentinel, unsigned service)
{
    const struct sim_masters_options *options = sim_masters_options();
    for (unsigned i = 0; service < options->count && i < options->sentinels; i++) {
        if (sim_sentinel_at(service, i) == sentinel->server->index)
            return true;
    }
    return false;
}

static struct sim_sentinel *sentinel_of(unsigned server)
{
    assert(sim_server(server)->sentinel);
    return sim_server(server)->sentinel;
}

static struct sim_register *register_of(unsigned sentinel, unsigned service)
{
    assert(sim_sentinel_watches(sentinel_of(sentinel), service));
    return &sentinel_of(sentinel)->of[service];
}

static bool is_awake(const struct sim_sentinel *sentinel)
{
    return sentinel->server->up && sim_now_ns() >= sentinel->server->paused_until_ns;
}

/* ---- its life --------------------------------------------------------------------------- */

/* As its template has it. */
static void take_template(struct sim_sentinel *sentinel)
{
    sentinel->term = 0;
    for (unsigned i = 0; i < SIM_SERVICES_MAX; i++)
        sentinel->of[i] = (struct sim_register){.master = i};
}

struct sim_sentinel *sim_sentinel_begin(struct sim_server *server)
{
    struct sim_sentinel *sentinel = &sentinels[server->index];
    assert(sim_masters_options()->count <= SIM_SERVICES_MAX);
    memset(sentinel, 0, sizeof(*sentinel));
    sentinel->server = server;
    snprintf(sentinel->id, sizeof(sentinel->id), "%.36s%04x", server->run_id,
             server->index & 0xffff);
    take_template(sentinel);
    for (unsigned i = 0; i < sim_masters_options()->count; i++)
        memcpy(sentinel->of[i].run_id, sim_server(i)->run_id, sizeof(sentinel->of[i].run_id));
    return sentinel;
}

void sim_sentinel_end(struct sim_server *server)
{
    sim_not(&server->sentinel->tick);
    server->sentinel = NULL;
}

/* Its file has registers and terms; a failover that it led, and what INFO told it, are gone. */
void sim_sentinel_restart(struct sim_server *server, bool forgets)
{
    struct sim_sentinel *sentinel = server->sentinel;
    if (forgets && sim_sentinel_may_forget(server->index))
        sentinel->forgets = true;
    if (sentinel->forgets) {
        sim_tell("n%u has forgotten all masters but the first ones", server->index + 1);
        take_template(sentinel);
    }
    sentinel->forgets = false;
    for (unsigned i = 0; i < SIM_SERVICES_MAX; i++) {
        struct sim_register *reg = &sentinel->of[i];
        if (reg->step >= SIM_STEP_SEEN)
            reg->master = reg->promoted;
        reg->step = SIM_STEP_NONE;
        reg->run_id[0] = '\0';
    }
}

void sim_sentinel_forgets(unsigned sentinel)
{
    sentinel_of(sentinel)->forgets = true;
}

int64_t sim_sentinel_up_ns(unsigned sentinel)
{
    const struct sim_server *server = sim_server(sentinel);
    return sim_wall_ns(server) - server->started_s * SIM_S;
}

/* ---- what it says ----------------------------------------------------------------------- */

/* Whom get-master-addr-by-name names. */
unsigned sim_register_named(const struct sim_register *reg)
{
    return reg->step >= SIM_STEP_SEEN ? reg->promoted : reg->master;
}

bool sim_sentinel_says(unsigned sentinel, unsigned service, unsigned *ret_master,
                       uint64_t *ret_term)
{
    const struct sim_register *reg = register_of(sentinel, service);
    *ret_master = sim_register_named(reg);
    *ret_term = reg->term;
    /* Where the one that is promoted is the master that it has, the two addresses are the same. */
    return reg->step < SIM_STEP_SEEN || reg->promoted != reg->master;
}

static uint64_t newest_of(unsigned service, unsigned *ret_master)
{
    uint64_t newest = 0;
    *ret_master = service;
    for (unsigned i = 0; i < sim_masters_options()->sentinels; i++) {
        const struct sim_register *reg = register_of(sim_sentinel_at(service, i), service);
        if (reg->term > newest) {
            newest = reg->term;
            *ret_master = sim_register_named(reg);
        }
    }
    return newest;
}

unsigned sim_service_master(unsigned service)
{
    unsigned master;
    newest_of(service, &master);
    return master;
}

uint64_t sim_service_term(unsigned service)
{
    unsigned master;
    return newest_of(service, &master);
}

bool sim_service_named(unsigned service, unsigned *ret_master)
{
    unsigned n = sim_masters_options()->sentinels;
    unsigned names[SIM_MASTERS_MAX] = {0};
    *ret_master = service;
    for (unsigned i = 0; i < n; i++) {
        *ret_master = sim_register_named(register_of(sim_sentinel_at(service, i), service));
        if (++names[*ret_master] > n / 2)
            return true;
    }
    return n == 0;
}

int64_t sim_service_changed_ns(unsigned service)
{
    int64_t latest_ns = 0;
    for (unsigned i = 0; i < sim_masters_options()->sentinels; i++) {
        const struct sim_register *reg = register_of(sim_sentinel_at(service, i), service);
        latest_ns = reg->changed_ns > latest_ns ? reg->changed_ns : latest_ns;
    }
    return latest_ns;
}

/* Of one that others have left, and some have not: with it these could be a majority again. */
bool sim_sentinel_may_forget(unsigned sentinel)
{
    for (unsigned service = 0; service < sim_masters_options()->count; service++) {
        unsigned first = 0, others = 0;
        if (!sim_sentinel_watches(sentinel_of(sentinel), service))
            continue;
        for (unsigned i = 0; i < sim_masters_options()->sentinels; i++) {
            unsigned other = sim_sentinel_at(service, i);
            const struct sim_register *reg = register_of(other, service);
            first += other != sentinel && reg->term == 0;
            others += other != sentinel;
        }
        if (first > 0 && (first < others || register_of(sentinel, service)->term > 0))
            return false;
    }
    return true;
}

/* ---- a new master ----------------------------------------------------------------------- */

static void say_switch(struct sim_sentinel *sentinel, unsigned service, unsigned from, unsigned to)
{
    static const char channel[] = "+switch-master";
    char text[96];
    int len = snprintf(text, sizeof(text), "s%u 10.0.0.%u %d 10.0.0.%u %d", service + 1, from + 1,
                       SIM_PORT, to + 1, SIM_PORT);
    sim_publish(sentinel->server, &(struct sim_word){channel, sizeof(channel) - 1},
                &(struct sim_word){text, (size_t)len});
}

static void change_to(struct sim_sentinel *sentinel, unsigned service, unsigned master)
{
    struct sim_register *reg = &sentinel->of[service];
    unsigned from = reg->master;
    reg->step = SIM_STEP_NONE;
    reg->changed_ns = sim_now_ns();
    if (from == master)
        return;
    reg->master = master;
    reg->run_id[0] = '\0';
    sim_tell("n%u: s%u's master is n%u, term %llu", sentinel->server->index + 1, service + 1,
             master + 1, (unsigned long long)reg->term);
    say_switch(sentinel, service, from, master);
}

/* A newer term brings its master along, and ends what this one was about to do. */
bool sim_sentinel_hears(unsigned sentinel_index, unsigned service, unsigned from)
{
    struct sim_sentinel *sentinel = sentinel_of(sentinel_index), *other = sentinel_of(from);
    struct sim_register *reg = register_of(sentinel_index, service);
    const struct sim_register *told = register_of(from, service);
    if (sentinel == other || !is_awake(sentinel) || !is_awake(other))
        return false;
    if (other->term > sentinel->term)
        sentinel->term = other->term;
    if (told->term <= reg->term)
        return false;
    sim_mark(SIM_MARK_MASTER, sentinel_index << 8 | from, told->term);
    reg->term = told->term;
    if (sim_register_named(told) == reg->master) {
        sim_tell("n%u: s%u's master is n%u still, term %llu", sentinel_index + 1, service + 1,
                 reg->master + 1, (unsigned long long)reg->term);
        reg->changed_ns = sim_now_ns();
    } else {
        change_to(sentinel, service, sim_register_named(told));
    }
    return true;
}

void sim_sentinels_hear(unsigned service)
{
    unsigned n = sim_masters_options()->sentinels;
    for (unsigned i = 0; i < n; i++) {
        for (unsigned k = 0; k < n; k++)
            sim_sentinel_hears(sim_sentinel_at(service, i), service, sim_sentinel_at(service, k));
    }
}

/* ---- a failover ------------------------------------------------------------------------- */

/* Those that are up vote, and know the term then. False: they are no majority. */
static bool elect(const struct sim_sentinel *leader, unsigned service, uint64_t *ret_term)
{
    unsigned n = sim_masters_options()->sentinels, awake = 0;
    uint64_t newest = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct sim_sentinel *other = sentinel_of(sim_sentinel_at(service, i));
        awake += is_awake(other);
        if (is_awake(other) && other->term > newest)
            newest = other->term;
    }
    if (awake < n / 2 + 1 || !is_awake(leader))
        return false;
    for (unsigned i = 0; i < n; i++) {
        struct sim_sentinel *other = sentinel_of(sim_sentinel_at(service, i));
        if (is_awake(other))
            other->term = newest + 1;
    }
    *ret_term = newest + 1;
    return true;
}

bool sim_sentinel_begins(unsigned sentinel_index, unsigned service, unsigned to, bool elected)
{
    struct sim_sentinel *sentinel = sentinel_of(sentinel_index);
    struct sim_register *reg = register_of(sentinel_index, service);
    if (reg->step != SIM_STEP_NONE || !is_awake(sentinel) || to == reg->master)
        return false;
    if (elected && !elect(sentinel, service, &reg->next_term))
        return false;
    if (!elected)
        reg->next_term = ++sentinel->term;
    sim_mark(SIM_MARK_MASTER, sentinel_index << 8 | to, reg->next_term);
    sim_tell("n%u begins a failover of s%u to n%u, term %llu%s", sentinel_index + 1, service + 1,
             to + 1, (unsigned long long)reg->next_term, elected ? "" : ", by hand");
    reg->promoted = to;
    reg->forced = !elected;
    reg->step = elected ? SIM_STEP_WAIT_START : SIM_STEP_SELECT;
    return true;
}

void sim_sentinel_gives_up(unsigned sentinel, unsigned service)
{
    struct sim_register *reg = register_of(sentinel, service);
    if (reg->step < SIM_STEP_SEEN)
        reg->step = SIM_STEP_NONE;
}

bool sim_sentinel_steps(unsigned sentinel_index, unsigned service, int64_t lag_ns)
{
    struct sim_sentinel *sentinel = sentinel_of(sentinel_index);
    struct sim_register *reg = register_of(sentinel_index, service);
    if (reg->step == SIM_STEP_NONE || !is_awake(sentinel))
        return false;
    if (reg->step == SIM_STEP_TELL) {
        sim_replica_promoted(reg->promoted, lag_ns);
    } else if (reg->step == SIM_STEP_TOLD && sim_is_replica(reg->promoted)) {
        return true; /* it waits */
    } else if (reg->step == SIM_STEP_TOLD) {
        reg->term = reg->next_term;
        reg->changed_ns = sim_now_ns();
        sim_tell("n%u: s%u's master is to be n%u, term %llu", sentinel_index + 1, service + 1,
                 reg->promoted + 1, (unsigned long long)reg->term);
    } else if (reg->step == SIM_STEP_DONE) {
        change_to(sentinel, service, reg->promoted);
        return true;
    }
    reg->step++;
    return true;
}

void sim_sentinel_fails_over(unsigned sentinel, unsigned service, unsigned to)
{
    if (!sim_sentinel_begins(sentinel, service, to, true))
        return;
    for (unsigned i = 0; i < SIM_STEP_DONE; i++)
        sim_sentinel_steps(sentinel, service, 0);
}

/* ---- replicas --------------------------------------------------------------------------- */

bool sim_sentinel_corrects(unsigned sentinel_index, unsigned service, unsigned server)
{
    const struct sim_sentinel *sentinel = sentinel_of(sentinel_index);
    const struct sim_register *reg = register_of(sentinel_index, service);
    const struct sim_server *master = sim_server(sim_register_named(reg));
    bool sane = master->up && !master->follows && sim_now_ns() >= master->paused_until_ns;
    bool meant = reg->step != SIM_STEP_NONE && server == reg->promoted;
    if (!is_awake(sentinel) || !sane || server == master->index || meant)
        return false;
    return sim_replica_follows(server, master->index, true);
}

void sim_sentinel_looks(unsigned sentinel, unsigned service)
{
    struct sim_register *reg = register_of(sentinel, service);
    const struct sim_server *master = sim_server(reg->master);
    if (is_awake(sentinel_of(sentinel)) && master->up && sim_now_ns() >= master->paused_until_ns)
        memcpy(reg->run_id, master->run_id, sizeof(reg->run_id));
}
