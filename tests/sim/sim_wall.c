/* sim_wall.c - the wall clocks of model masters: each goes at a rate of its own, and may be
 * stepped. What expires, and INFO's uptime, are read off them, as Redis does. */
#include "config_auto.h"

#include "sim_master_parts.h"

/* What a clock of that rate gains in so long, rounded down. */
static int64_t gain(int64_t ns, int64_t rate_ppb)
{
    int64_t s = ns / SIM_S, rest = ns % SIM_S;
    return s * rate_ppb + rest * rate_ppb / SIM_S;
}

int64_t sim_wall_ns(const struct sim_server *server)
{
    int64_t passed_ns = sim_now_ns() - server->wall_at_ns;
    return server->wall_ns + passed_ns + gain(passed_ns, server->rate_ppb);
}

int64_t sim_masters_apart_ns(void)
{
    int64_t least = sim_wall_ns(sim_server(0)), most = least;
    for (unsigned i = 1; i < sim_servers(); i++) {
        int64_t wall_ns = sim_wall_ns(sim_server(i));
        least = wall_ns < least ? wall_ns : least;
        most = wall_ns > most ? wall_ns : most;
    }
    return most - least;
}

int64_t sim_wall_ms(const struct sim_server *server)
{
    return sim_wall_ns(server) / SIM_MS;
}

int64_t sim_wall_true_ns(const struct sim_server *server, int64_t wall_ns)
{
    int64_t wanted_ns = wall_ns - server->wall_ns;
    if (wanted_ns <= 0)
        return server->wall_at_ns;
    if (wanted_ns > SIM_NEVER / 4)
        return SIM_NEVER;
    int64_t rate = server->rate_ppb, ns = wanted_ns;
    if (rate == 0)
        return server->wall_at_ns + ns;
    assert(rate > -SIM_S);
    /* Near it; then to the very ns. */
    ns = (int64_t)((long double)wanted_ns * SIM_S / (long double)(SIM_S + rate));
    while (ns + gain(ns, rate) < wanted_ns)
        ns++;
    while (ns > 0 && ns - 1 + gain(ns - 1, rate) >= wanted_ns)
        ns--;
    return server->wall_at_ns + ns;
}

/* What is due at a time of this clock is due at another true time now. */
static void move_ends(struct sim_server *server)
{
    for (size_t i = 0; i < server->keys; i++)
        sim_key_move(server->key[i], server->key[i]->end_ms);
}

static void anchor(struct sim_server *server, int64_t step_ns, int64_t rate_ppb)
{
    server->wall_ns = sim_wall_ns(server) + step_ns;
    server->wall_at_ns = sim_now_ns();
    server->rate_ppb = rate_ppb;
    move_ends(server);
}

void sim_master_step_clock(unsigned master, int64_t by_ns)
{
    struct sim_server *server = sim_server(master);
    sim_mark(SIM_MARK_MASTER, master, (uint64_t)by_ns);
    sim_tell("n%u's clock steps by %lld ms", master + 1, (long long)(by_ns / SIM_MS));
    anchor(server, by_ns, server->rate_ppb);
    if (by_ns < 0) {
        server->set_back_ns -= by_ns;
        sim_tell_lost(server, true, false);
    }
}

void sim_master_clock_rate(unsigned master, int64_t rate_ppb)
{
    sim_mark(SIM_MARK_MASTER, master, (uint64_t)rate_ppb);
    sim_tell("n%u's clock goes %lld ppm too fast from now on", master + 1,
             (long long)(rate_ppb / 1000));
    anchor(sim_server(master), 0, rate_ppb);
}
