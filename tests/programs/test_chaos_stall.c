/* test_chaos_stall.c - a machine that stalls, as redlock-chaos judges it: what a stall excuses,
 * what it does not, and which stalls are none of the machine's. */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/check/stall.h"
#include "chaos/check/hold_history.h"
#include "suite.h"

#include <string.h>

enum { KEY = 77, NODE = 2 };

static struct made made;
static struct chaos_stay stay;
static struct chaos_stall stall[4];
static const struct chaos_verdict *verdict;

/* Contender 1 has lock 0 by KEY from 3 s on, with a ttl of 2 s, and lets go of it at 3.1 s; a
 * master has the key until it has run out. Contender 3 tried meanwhile, in vain. */
static void set_up(void)
{
    made_init(&made);
    made_asks(&made, 2900 * MS, 1, 0);
    made_holds(&made, 3000 * MS, 5000 * MS, 1, 0);
    made.event[made.count - 1].value = KEY;
    made_event(&made, 3100 * MS, CHAOS_LETS_GO, 1, 0);
    made_asks(&made, 2950 * MS, 3, 0);
    made_event(&made, 4000 * MS, CHAOS_REFUSED, 3, 0);
    stay =
        (struct chaos_stay){.from_ns = 3000 * MS, .to_ns = 4990 * MS, .key = KEY, .node = NODE};
    made.history.stays = &stay;
    made.history.stay_count = 1;
    made.history.stalls = stall;
    made.history.load = (struct chaos_load){.processors = 2, .begin = 1, .highest = 22.5};
}

static void tear_down(void)
{
    made_free(&made);
}

static void add(enum chaos_stalled what, unsigned number, int64_t from_ms, int64_t to_ms)
{
    stall[made.history.stall_count++] = (struct chaos_stall){.from_ns = from_ms * MS,
                                                             .to_ns = to_ms * MS,
                                                             .what = (uint8_t)what,
                                                             .number = (uint16_t)number};
}

/* It stayed for 1,890 ms after that, and 1,000 are allowed: 891 of it must have been lost. Stalls
 * of 400 ms, a fifth of the ttl, end a connection: 330 ms more are lost by them. */
static const struct {
    enum chaos_stalled what;
    unsigned number;
    int64_t from, to;
    bool of_nobody; /* the key is of a try that was refused */
    bool excused;
} stalls[] = {
    {CHAOS_STALLED_CONTENDER, 1, 3100, 3661, false, true},
    {CHAOS_STALLED_CONTENDER, 1, 3100, 3659, false, false}, /* it had time enough beside that */
    {CHAOS_STALLED_CONTENDER, 1, 1000, 3100, false, false}, /* before it let go */
    {CHAOS_STALLED_CONTENDER, 2, 3100, 4990, false, false}, /* another one */
    {CHAOS_STALLED_PROXIES, 0, 3900, 4900, false, true},
    {CHAOS_STALLED_MASTER, NODE, 3900, 4900, false, true},
    {CHAOS_STALLED_MASTER, NODE + 1, 3900, 4900, false, false},
    {CHAOS_STALLED_CONTENDER, 3, 3000, 4100, true, true},  /* it tried when the key came */
    {CHAOS_STALLED_CONTENDER, 0, 3000, 4100, true, false}, /* it did not */
};

TEST(stall, key_is_excused_where_stall_kept_it_from_being_taken_back, .rows = ROWS(stalls))
{
    if (stalls[_i].of_nobody)
        stay.key++;
    add(stalls[_i].what, stalls[_i].number, stalls[_i].from, stalls[_i].to);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, stalls[_i].excused ? 0 : 1);
    ck_assert_uint_eq(verdict->excused, stalls[_i].excused ? 1 : 0);
    ck_assert_uint_eq(verdict->stalled, verdict->excused);
    ck_assert_int_eq(verdict->exit_status, stalls[_i].excused ? 0 : 1);
    ck_assert_ptr_nonnull(strstr(verdict->text, "the machine stalled"));
    ck_assert_ptr_nonnull(strstr(verdict->text, "load up to 22.5 on 2 processors"));
    if (stalls[_i].excused)
        ck_assert_ptr_nonnull(strstr(verdict->finding[0].text, "the machine stalled, which"));
}

TEST(stall, key_without_stall_is_orphan)
{
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, 1);
    ck_assert_int_eq(verdict->exit_status, 1);
    ck_assert_ptr_null(strstr(verdict->text, "stalled"));
}

/* Two that stalled at once lost that time once. */
TEST(stall, time_that_several_lost_counts_once)
{
    add(CHAOS_STALLED_CONTENDER, 1, 3100, 3500);
    add(CHAOS_STALLED_PROXIES, 0, 3150, 3600);
    add(CHAOS_STALLED_MASTER, NODE, 3200, 3400);
    ck_assert_int_eq(
        chaos_stalled_ns(&made.history, CHAOS_BIT(1), CHAOS_BIT(NODE), 0, 10 * SEC), 500 * MS);
    ck_assert_int_eq(chaos_stalled_ns(&made.history, 0, 0, 3200 * MS, 3300 * MS), 100 * MS);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, 1);
    ck_assert_uint_eq(verdict->stalls, 3);
    ck_assert_uint_eq(verdict->starved, 1);
    ck_assert_int_eq(verdict->longest_stall_ns, 450 * MS);
}

/* Overlaps are no matter of time: a stall excuses none. */
TEST(stall, overlap_is_not_excused_by_stall)
{
    made.history.stay_count = 0;
    made_asks(&made, 6000 * MS, 1, 1);
    made_holds(&made, 6100 * MS, 8000 * MS, 1, 1);
    made_asks(&made, 6000 * MS, 2, 1);
    made_holds(&made, 6200 * MS, 8000 * MS, 2, 1);
    add(CHAOS_STALLED_CONTENDER, 1, 6000, 8000);
    add(CHAOS_STALLED_CONTENDER, 2, 6000, 8000);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->overlaps, 1);
    ck_assert_int_eq(verdict->exit_status, 1);
}

/* A majority is away from 1 s to 2 s, and contender 0 has its lock 500 ms later. */
TEST(stall, late_recovery_is_excused_where_stall_made_it_late, .rows = 2)
{
    made.history.stay_count = 0;
    made.options.max_recovery_ms = 300;
    made_fault(&made, CHAOS_FAULT_PAUSE, 1 * SEC, 2 * SEC, 7, 0);
    made_asks(&made, 1500 * MS, 0, 1);
    made_holds(&made, 2500 * MS, 2600 * MS, 0, 1);
    add(CHAOS_STALLED_CONTENDER, 0, 2100, 2100 + (_i == 0 ? 190 : 250));
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->recovery_ns, 500 * MS);
    ck_assert_uint_eq(verdict->late, _i == 0 ? 1 : 0);
    ck_assert_uint_eq(verdict->stalled, _i == 0 ? 0 : 1);
}

/* What a fault of the run did is none of the machine's. Times in ms; the stall is of contender
 * 1 or of master NODE, from 3,000 to 4,000. */
static const struct {
    enum chaos_fault_kind kind;
    int64_t begun, undone;
    uint64_t nodes, clients;
    enum chaos_stalled what;
    bool kept;
} sifted[] = {
    {CHAOS_FAULT_PAUSE_HOLDER, 2990, 4010, 0, CHAOS_BIT(1), CHAOS_STALLED_CONTENDER, false},
    {CHAOS_FAULT_PAUSE_HOLDER, 2990, 4010, 0, CHAOS_BIT(2), CHAOS_STALLED_CONTENDER, true},
    {CHAOS_FAULT_PAUSE_HOLDER, 4001, 5000, 0, CHAOS_BIT(1), CHAOS_STALLED_CONTENDER, true},
    {CHAOS_FAULT_PAUSE, 2990, 4010, CHAOS_BIT(NODE), 0, CHAOS_STALLED_CONTENDER, true},
    {CHAOS_FAULT_PAUSE, 2990, 3010, CHAOS_BIT(NODE), 0, CHAOS_STALLED_MASTER, false},
    {CHAOS_FAULT_KILL, 1000, 2500, CHAOS_BIT(NODE), 0, CHAOS_STALLED_MASTER, false},
    {CHAOS_FAULT_KILL, 1000, 1900, CHAOS_BIT(NODE), 0, CHAOS_STALLED_MASTER, true},
    {CHAOS_FAULT_SLEEP, 2990, 4010, CHAOS_BIT(0), 0, CHAOS_STALLED_MASTER, true},
};

TEST(stall, effect_of_fault_is_no_stall_of_machine, .rows = ROWS(sifted))
{
    bool master = sifted[_i].what == CHAOS_STALLED_MASTER;
    made_fault(&made, sifted[_i].kind, sifted[_i].begun * MS, sifted[_i].undone * MS,
               sifted[_i].nodes, sifted[_i].clients);
    add(CHAOS_STALLED_PROXIES, 0, 5000, 6000);
    add(sifted[_i].what, master ? NODE : 1, 3000, 4000);
    size_t kept = chaos_stalls_sift(&made.history, stall, made.history.stall_count);
    ck_assert_uint_eq(kept, sifted[_i].kept ? 2 : 1);
    ck_assert_uint_eq(stall[0].what, sifted[_i].kept ? sifted[_i].what : CHAOS_STALLED_PROXIES);
}

CASE(stall, .set_up = set_up, .tear_down = tear_down)
