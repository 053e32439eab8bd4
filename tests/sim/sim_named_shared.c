/* sim_named_shared.c - scenarios of readers and writers on several masters, and the steps of
 * those that are the same on one. */
#include "config_auto.h"

#include "sim_named_parts.h"

#define ONCE 0

static struct sim_player *one(const char *name, int kind)
{
    struct sim_client_options how = {.max_ttl_ms = 30000};
    return sim_of_kind(sim_is_there(name, &how), kind);
}

struct sim_player *sim_reader(const char *name)
{
    return one(name, REDLOCK_READ);
}

struct sim_player *sim_writer(const char *name)
{
    return one(name, REDLOCK_WRITE);
}

/* ---- on one master or on three ---------------------------------------------------------- */

/* bob reads and cat writes, mostly. */
static struct sim_player *ann, *bob, *cat;

static void three_enter(unsigned masters, int anns_kind)
{
    sim_stage(masters);
    ann = one("ann", anns_kind);
    bob = sim_reader("bob");
    cat = sim_writer("cat");
}

/* Masters on which so many have it, or which have so many members for it. */
static unsigned with(size_t holds)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim_master_count(); i++)
        count += sim_master_members(i, "jobs") == holds;
    return count;
}

void sim_plays_together(unsigned masters, size_t beside)
{
    three_enter(masters, REDLOCK_READ);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_OK);
    sim_expect(with(2 + beside) == masters);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void shared(void)
{
    sim_plays_together(3, 0);
    sim_pass_ms(10);
    sim_expect(with(0) == 3);
}

void sim_plays_downgrade(unsigned masters)
{
    three_enter(masters, REDLOCK_WRITE);
    struct sim_player *reads = sim_of_kind(sim_beside(ann), REDLOCK_READ);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(reads, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(50);
    sim_hands_over(ann, bob, 5);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    if (masters > 1) /* and a majority keeps hers for her */
        sim_expect(sim_asks_validity(reads) > 0);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(reads) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void downgrade(void)
{
    sim_plays_downgrade(3);
}

void sim_plays_upgrade(unsigned masters)
{
    sim_stage(masters);
    ann = sim_reader("ann");
    struct sim_player *writes = sim_of_kind(sim_beside(ann), REDLOCK_WRITE);
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

static void upgrade(void)
{
    sim_plays_upgrade(3);
}

void sim_plays_writer_waits(unsigned masters)
{
    three_enter(masters, REDLOCK_READ);
    struct sim_player *again = sim_of_kind(sim_beside(ann), REDLOCK_READ);
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
    sim_hands_over(cat, bob, 5);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
}

static void writer_waits(void)
{
    sim_plays_writer_waits(3);
}

/* Its mark stands for 4 s after it was last heard of. */
void sim_plays_writer_crashes(unsigned masters)
{
    three_enter(masters, REDLOCK_READ);
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

static void writer_crashes(void)
{
    sim_plays_writer_crashes(3);
}

/* ann has written, and wants to again at once; bob waited to read, and does. */
static void bobs_turn(void)
{
    for (unsigned i = 0; i < sim_master_count(); i++)
        sim_delay_ms(bob, i, 4, 4); /* he can't be there before her */
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_begins_to_take(bob, 1000, 5000);
    sim_pass_ms(50);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_begins_to_take(ann, 1000, 5000);
    sim_expect(sim_finishes(bob) == REDLOCK_OK);
}

void sim_plays_turns(unsigned masters)
{
    sim_stage(masters);
    ann = sim_writer("ann");
    bob = sim_reader("bob");
    bobs_turn();
    sim_expect(ann->act != NULL);
    sim_pass_ms(20);
    sim_hands_over(bob, ann, 5);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void turns(void)
{
    sim_plays_turns(3);
}

/* ---- on three masters ------------------------------------------------------------------- */

/* On different masters each of them is first. */
static void race(void)
{
    sim_stage(3);
    ann = sim_reader("ann");
    bob = sim_writer("bob");
    sim_delay_ms(ann, 2, 5, 1);
    sim_delay_ms(bob, 0, 5, 1);
    sim_delay_ms(bob, 1, 2, 1);
    sim_curtain();
    sim_begins_to_take(ann, 1000, ONCE);
    sim_begins_to_take(bob, 1000, ONCE);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(bob) == REDLOCK_EHELD);
    sim_pass_ms(20);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(with(0) == 3);
}

/* n3 is back without its keys, and may vote at once (no guard). */
static void reader_filled_in(void)
{
    struct sim_client_options how = {.guard = REDLOCK_OFF};
    sim_stage(3);
    ann = sim_of_kind(sim_is_there("ann", &how), REDLOCK_READ);
    bob = sim_of_kind(sim_is_there("bob", &how), REDLOCK_WRITE);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_master_kill(2);
    sim_master_start(2, SIM_EMPTY);
    sim_pass_ms(200);
    sim_expect(with(1) == 2);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK); /* which connects */
    sim_pass_ms(20);
    sim_expect(sim_extends(ann, 1000) == REDLOCK_OK);
    sim_pass_ms(20);
    sim_expect(with(1) == 3);
    sim_expect(sim_takes(bob, 1000, ONCE) == REDLOCK_EHELD);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
}

static void lease_of_its_own(void)
{
    three_enter(3, REDLOCK_READ);
    sim_curtain();
    sim_expect(sim_takes(ann, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_takes(bob, 300, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_EHELD);
    sim_pass_ms(310);
    sim_expect(sim_takes(cat, 1000, ONCE) == REDLOCK_OK);
    sim_expect(sim_releases(bob) == REDLOCK_EEXPIRED);
    sim_expect(sim_asks_validity(cat) > 0);
    sim_expect(with(1) == 3);
    sim_expect(sim_releases(cat) == REDLOCK_OK);
}

static void latecomer(void)
{
    sim_stage(3);
    ann = sim_writer("ann");
    bob = sim_reader("bob");
    struct sim_player *dan = sim_reader("dan");
    bobs_turn();
    sim_begins_to_take(dan, 1000, 5000);
    sim_pass_ms(14);
    sim_expect(sim_releases(bob) == REDLOCK_OK);
    sim_expect(sim_finishes(ann) == REDLOCK_OK);
    sim_expect(dan->act != NULL);
    sim_expect(sim_releases(ann) == REDLOCK_OK);
    sim_expect(sim_finishes(dan) == REDLOCK_OK);
    sim_expect(sim_releases(dan) == REDLOCK_OK);
}

const struct sim_scenario sim_named_shared[] = {
    {"shared", "ann and bob read at one time; cat, who writes, is alone.", shared},
    {"shared-downgrade",
     "ann writes, and reads on when she has written: bob reads beside her at once.", downgrade},
    {"shared-upgrade", "ann reads and wants to write: she would wait for herself.", upgrade},
    {"shared-writer-waits",
     "cat waits to write: who reads already may do so again, and nobody else begins to.",
     writer_waits},
    {"shared-writer-crashes", "cat waits to write and is killed: her mark runs out.",
     writer_crashes},
    {"shared-turns",
     "ann writes, and wants to write again at once: bob, who waits to read, has his turn.",
     turns},
    {"shared-latecomer",
     "It is bob's turn, who has waited; dan, who comes later, comes after ann, who writes.",
     latecomer},
    {"shared-race", "A reader and a writer ask at one time, and each is first somewhere.",
     race},
    {"shared-filled-in",
     "A master has lost a reader: it is told anew when the reader finds it again.",
     reader_filled_in},
    {"shared-leases",
     "bob's lease is his own: it ends when it ends, and giving it up then harms nobody.",
     lease_of_its_own},
    {0},
};
