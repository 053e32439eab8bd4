/* sim_named_rw.c - scenarios of readers and writers on one master, in Redisson's format. */
#include "config_auto.h"

#include "sim_named.h"

#define ONCE 0

static struct sim_player *who(struct sim_player *player, int kind, const char *owner)
{
    player->options.kind = kind;
    player->options.owner = owner;
    return player;
}

static struct sim_player *one(const char *name, int kind)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    return who(sim_is_there(name, &how), kind, name);
}

static struct sim_player *reader(const char *name)
{
    return one(name, REDLOCK_READ);
}

static struct sim_player *writer(const char *name)
{
    return one(name, REDLOCK_WRITE);
}

/* The mode, and a count for each who has it. */
static size_t owners(void)
{
    size_t fields = sim_master_members(0, "jobs");
    return fields > 0 ? fields - 1 : 0;
}

static void together(void)
{
    sim_stage(1);
    struct sim_player *ann = reader("ann"), *bob = reader("bob"), *cat = writer("cat");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(owners() == 2);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    sim_expect(sim_master_keys(0) == 0);
}

static void downgrade(void)
{
    sim_stage(1);
    struct sim_player *ann = writer("ann"), *bob = reader("bob"), *cat = writer("cat");
    struct sim_player *reads = who(sim_beside(ann), REDLOCK_READ, "ann");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(reads, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(50);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    int64_t free_ns = sim_now_ns();
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(bob->done_ns - free_ns <= 5 * SIM_MS);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(reads) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void upgrade(void)
{
    sim_stage(1);
    struct sim_player *ann = reader("ann");
    struct sim_player *writes = who(sim_beside(ann), REDLOCK_WRITE, "ann");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    int64_t asked_ns = sim_now_ns();
    sim_expect(sim_takes(writes, 1000, 5000) == REDLOCK_EUPGRADE);
    sim_expect(sim_now_ns() - asked_ns <= 5 * SIM_MS);
    sim_expect(sim_asks_validity(ann) > 0);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(writes, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(writes) == REDLOCK_OK);
}

static void writer_waits(void)
{
    sim_stage(1);
    struct sim_player *ann = reader("ann"), *bob = reader("bob"), *cat = writer("cat");
    struct sim_player *again = who(sim_beside(ann), REDLOCK_READ, "ann");
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(cat, 1000, 5000);
    sim_pass_ms(50);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(20);
    sim_expect(bob->act != NULL);
    sim_expect(sim_takes(again, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(again) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(cat) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(bob->act != NULL);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
    int64_t free_ns = sim_now_ns();
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(bob->done_ns - free_ns <= 5 * SIM_MS);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

/* Its mark stands for 4 s after it was last heard of. */
static void writer_crashes(void)
{
    sim_stage(1);
    struct sim_player *ann = reader("ann"), *bob = reader("bob"), *cat = writer("cat");
    sim_curtain();
    sim_expect(sim_takes(ann, 30000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(cat, 1000, 30000);
    sim_pass_ms(100);
    sim_crashes(cat);
    int64_t dead_ns = sim_now_ns();
    sim_expect(sim_takes(bob, 1000, 30000) == REDLOCK_OK);
    sim_expect(bob->done_ns - dead_ns > 3 * SIM_S);
    sim_expect(bob->done_ns - dead_ns <= 5 * SIM_S);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* Each hold has a lease of its own, and the lock lasts as long as the longest that is left. */
static void leases(void)
{
    sim_stage(1);
    struct sim_player *ann = reader("ann"), *bob = reader("bob"), *cat = writer("cat");
    struct sim_player *inner = who(sim_beside(bob), REDLOCK_READ, "bob");
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
    sim_stage(1);
    struct sim_player *ann = writer("ann"), *bob = reader("bob");
    sim_delay_ms(bob, 0, 4, 4); /* he can't be there before her */
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(50);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_begins_to_take(ann, 1000, 5000);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
    sim_expect(ann->act != NULL);
    sim_pass_ms(20);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    int64_t free_ns = sim_now_ns();
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(ann->done_ns - free_ns <= 5 * SIM_MS);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

/* The master is back without its keys: nobody gets anything of it until all leases that it has
 * forgotten are over. */
static void forgotten(void)
{
    struct sim_client_options how = {.max_ttl_ms = 5000};
    sim_stage(1);
    struct sim_player *ann = who(sim_is_there("ann", &how), REDLOCK_WRITE, "ann");
    struct sim_player *bob = who(sim_is_there("bob", &how), REDLOCK_READ, "bob");
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
