/* sim_named_rw.c - scenarios of readers and writers on one master, in Redisson's format. */
#include "config_auto.h"

#include "sim_named_parts.h"

#define ONCE 0

/* With each of them stands the mode. */
static void together(void)
{
    sim_plays_together(1, 1);
    sim_expect(sim_master_keys(0) == 0);
}

static void downgrade(void)
{
    sim_plays_downgrade(1);
}

static void upgrade(void)
{
    sim_plays_upgrade(1);
}

static void writer_waits(void)
{
    sim_plays_writer_waits(1);
}

static void writer_crashes(void)
{
    sim_plays_writer_crashes(1);
}

/* Each hold has a lease of its own, and the lock lasts as long as the longest that is left. */
static void leases(void)
{
    sim_stage(1);
    struct sim_player *ann = sim_reader("ann"), *bob = sim_reader("bob"),
                      *cat = sim_writer("cat");
    struct sim_player *inner = sim_of_kind(sim_beside(bob), REDLOCK_READ);
    sim_curtain();
    sim_expect(sim_takes(ann, 5000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 300, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(inner, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(310);
    sim_expect(sim_releases(bob) == REDLOCK_EEXPIRED);
    sim_expect(sim_asks_validity(inner) > 0);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(700);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(inner) == REDLOCK_EEXPIRED);
    sim_expect(sim_asks_validity(cat) > 0);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void turns(void)
{
    sim_plays_turns(1);
}

/* The master is back without its keys: nobody gets anything of it until all leases that it has
 * forgotten are over. */
static void forgotten(void)
{
    struct sim_client_options how = {.max_ttl_ms = 5000};
    sim_stage(1);
    struct sim_player *ann = sim_of_kind(sim_is_there("ann", &how), REDLOCK_WRITE);
    struct sim_player *bob = sim_of_kind(sim_is_there("bob", &how), REDLOCK_READ);
    sim_curtain();
    sim_expect(sim_takes(ann, 5000, ONCE) == REDLOCK_OK);
    sim_master_kill(0);
    sim_master_start(0, SIM_EMPTY);
    int64_t back_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, 30000) == REDLOCK_OK);
    sim_expect(bob->done_ns - back_ns > 5 * SIM_S);
    sim_expect(bob->done_ns - back_ns <= 10 * SIM_S);
    sim_expect(sim_releases(ann) == REDLOCK_EEXPIRED);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

const struct sim_scenario sim_named_rw[] = {
    {"rw", "One master: ann and bob read at one time; cat, who writes, is alone.", together},
    {"rw-downgrade",
     "One master: ann writes, and reads on when she has written: bob reads beside her at once.",
     downgrade},
    {"rw-upgrade", "One master: ann reads and wants to write: she would wait for herself.",
     upgrade},
    {"rw-writer-waits",
     "One master: cat waits to write, and nobody begins to read; who reads already may do so "
     "again.",
     writer_waits},
    {"rw-writer-crashes", "One master: cat waits to write and is killed: her mark runs out.",
     writer_crashes},
    {"rw-leases",
     "One master: each hold ends when its own lease does, and giving it up then harms nobody.",
     leases},
    {"rw-turns",
     "One master: ann writes, and wants to write again at once: bob, who waits to read, has "
     "his "
     "turn.",
     turns},
    {"rw-forgotten",
     "The one master is back without its keys: it is not believed until ann's lease is over.",
     forgotten},
    {0},
};
