/* test_chaos_assumptions.c - which findings of redlock-chaos a broken assumption excuses: when
 * a fault acts, on how many masters, and what it breaks. */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/faults/kinds.h"
#include "suite.h"

static struct made made;
static const struct chaos_verdict *verdict;

static void set_up(void)
{
    made_init(&made);
}

static void tear_down(void)
{
    made_free(&made);
}

/* 0 asks at 100, has it from 200 to 900; 1 gets it at 500. Times in ms. */
static const struct {
    enum chaos_fault_kind kind;
    int64_t begun, undone; /* undone 0: never */
    bool client_cmd, excused;
} excuses[] = {
    {CHAOS_FAULT_FLUSHALL, 300, 301, false, true},
    {CHAOS_FAULT_FLUSHALL, 499, 600, false, true},
    {CHAOS_FAULT_FLUSHALL, 500, 600, false, false}, /* the second one had it already */
    {CHAOS_FAULT_FLUSHALL, 50, 100, false, true},
    {CHAOS_FAULT_FLUSHALL, 50, 99, false, false}, /* before the first one asked */
    {CHAOS_FAULT_CLOCK, 300, 900, false, true},
    {CHAOS_FAULT_CLOCK, 600, 900, false, false},
    {CHAOS_FAULT_CLOCK_BACK, 300, 900, false, false},
    {CHAOS_FAULT_KILL, 300, 400, false, false}, /* the guard sees to that */
    {CHAOS_FAULT_KILL, 300, 400, true, true},   /* which others may lack */
    {CHAOS_FAULT_KILL, 50, 99, true, false},
    {CHAOS_FAULT_KILL, 50, 0, true, true},
    {CHAOS_FAULT_KILL_RDB, 300, 400, true, true},
    {CHAOS_FAULT_KILL_AOF, 300, 400, true, false},
    {CHAOS_FAULT_PAUSE, 300, 400, true, false},
    {CHAOS_FAULT_PARTITION, 300, 400, false, false},
    {CHAOS_FAULT_PAUSE_HOLDER, 300, 400, false, false},
    {CHAOS_FAULT_SCRIPT_FLUSH, 300, 400, false, false},
    {CHAOS_FAULT_WARM, 300, 400, false, true},
    {CHAOS_FAULT_WARM, 300, 400, true, true},
    {CHAOS_FAULT_WARM, 50, 100, false, true}, /* what is lost when the former one is back */
    {CHAOS_FAULT_WARM, 50, 99, false, false},
    {CHAOS_FAULT_MEMBERS, 300, 400, false, false}, /* majorities meet */
    {CHAOS_FAULT_MEMBERS_AT_ONCE, 300, 400, false, true},
    {CHAOS_FAULT_MEMBERS_AT_ONCE, 50, 100, false, true},
    {CHAOS_FAULT_MEMBERS_AT_ONCE, 50, 99, false, false},
};

static void overlap_at_500_ms(void)
{
    made_asks(&made, 100 * MS, 0, 0);
    made_holds(&made, 200 * MS, 900 * MS, 0, 0);
    made_asks(&made, 150 * MS, 1, 0);
    made_holds(&made, 500 * MS, 1500 * MS, 1, 0);
}

TEST(assumptions, excuse_acts_in_time_and_breaks_assumption, .rows = ROWS(excuses))
{
    overlap_at_500_ms();
    made.options.client_cmd = excuses[_i].client_cmd ? "other" : NULL;
    struct chaos_fault *fault = made_fault(&made, excuses[_i].kind, excuses[_i].begun * MS,
                                           excuses[_i].undone * MS, CHAOS_BIT(2), 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->excused, excuses[_i].excused ? 1 : 0);
    ck_assert_uint_eq(verdict->overlaps, excuses[_i].excused ? 0 : 1);
    ck_assert_ptr_eq(verdict->finding[0].by, excuses[_i].excused ? fault : NULL);
    ck_assert_int_eq(verdict->exit_status, excuses[_i].excused ? 0 : 1);
}

/* What markers prove is no excuse: a violation, where uptimes are an excuse. Clocks are one,
 * too. */
static const struct {
    enum chaos_fault_kind kind;
    bool markers, excused;
} proofs[] = {
    {CHAOS_FAULT_FLUSHALL, false, true}, {CHAOS_FAULT_FLUSHALL, true, false},
    {CHAOS_FAULT_WARM, false, true},     {CHAOS_FAULT_WARM, true, false},
    {CHAOS_FAULT_CLOCK, false, true},    {CHAOS_FAULT_CLOCK, true, true},
    {CHAOS_FAULT_KILL, false, false},    {CHAOS_FAULT_KILL, true, false},
};

TEST(assumptions, markers_leave_no_excuse_for_lost_keys, .rows = ROWS(proofs))
{
    overlap_at_500_ms();
    made.options.markers = proofs[_i].markers;
    made_fault(&made, proofs[_i].kind, 300 * MS, 400 * MS, CHAOS_BIT(2), 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->excused, proofs[_i].excused ? 1 : 0);
    ck_assert_uint_eq(verdict->overlaps, proofs[_i].excused ? 0 : 1);
    ck_assert_int_eq(verdict->exit_status, proofs[_i].excused ? 0 : 1);
}

/* A step is over at once: keys that are set after it live as long as they should. */
TEST(assumptions, old_step_excuses_nothing)
{
    made_fault(&made, CHAOS_FAULT_CLOCK, 100 * MS, 9 * SEC, CHAOS_BIT(2), 0);
    made_asks(&made, 2 * SEC, 0, 0);
    made_holds(&made, 2 * SEC + MS, 4 * SEC, 0, 0);
    made_asks(&made, 3 * SEC, 1, 0);
    made_holds(&made, 3 * SEC + MS, 5 * SEC, 1, 0);
    ck_assert_uint_eq(made_check(&made)->overlaps, 1);
}

TEST(assumptions, fault_planned_and_not_begun_excuses_nothing)
{
    overlap_at_500_ms();
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 300 * MS, 301 * MS, CHAOS_BIT(2), 0)->begun_ns = 0;
    ck_assert_uint_eq(made_check(&made)->overlaps, 1);
}

/* With 4 masters 3 are needed: two majorities share 2, so one that forgets is not enough. */
static const struct {
    unsigned nodes, needed;
    uint64_t first, second; /* hit by two faults */
    bool excused;
} shares[] = {
    {5, 3, 1, 0, true}, {4, 3, 1, 0, false}, {4, 3, 1, 1, false},      {4, 3, 1, 2, true},
    {4, 3, 3, 0, true}, {6, 4, 4, 8, true},  {4, 3, 1, 1 << 7, false}, {2, 2, 1, 0, false},
    {2, 2, 2, 1, true}, {1, 1, 1, 0, true},  {5, 3, 0, 0, false},      {5, 3, 1 << 5, 0, false},
};

TEST(assumptions, excuse_acts_on_enough_masters, .rows = ROWS(shares))
{
    overlap_at_500_ms();
    made.history.nodes = shares[_i].nodes;
    made.history.needed = shares[_i].needed;
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 300 * MS, 301 * MS, shares[_i].first, 0);
    if (shares[_i].second != 0)
        made_fault(&made, CHAOS_FAULT_CLOCK, 400 * MS, 600 * MS, shares[_i].second, 0);
    ck_assert_uint_eq(made_check(&made)->excused, shares[_i].excused ? 1 : 0);
}

TEST(assumptions, lost_update_is_excused_by_same_rule, .rows = 2)
{
    made_asks(&made, 100 * MS, 0, 0);
    made_holds(&made, 200 * MS, 900 * MS, 0, 0);
    made_reads(&made, 210 * MS, 0, 0, 0);
    made_asks(&made, 150 * MS, 1, 0);
    made_holds(&made, 500 * MS, 1500 * MS, 1, 0);
    made_reads(&made, 510 * MS, 0, 1, 0);
    made_writes(&made, 520 * MS, 1, 1, 0);
    made_writes(&made, 530 * MS, 1, 0, 0);
    made.history.record[0] = 1;
    if (_i == 1)
        made_fault(&made, CHAOS_FAULT_FLUSHALL, 300 * MS, 301 * MS, CHAOS_BIT(2), 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, _i == 1 ? 0 : 1);
    ck_assert_uint_eq(verdict->excused, _i == 1 ? 2 : 0);
}

static void hold_with_token(int64_t at_ns, unsigned client, unsigned name, uint64_t token)
{
    made_asks(&made, at_ns, client, name);
    made_holds(&made, at_ns + MS, at_ns + 5 * MS, client, name);
    made.event[made.count - 1].token = token;
}

/* Counters outlive locks: keys that were lost long ago count, but neither with markers nor with
 * certificates; clocks never do. */
TEST(assumptions, tokens_are_excused_by_any_earlier_loss_of_keys, .rows = 6)
{
    static const enum chaos_fault_kind kinds[] = {
        CHAOS_FAULT_FLUSHALL, CHAOS_FAULT_CLOCK,    CHAOS_FAULT_FLUSHALL,
        CHAOS_FAULT_FLUSHALL, CHAOS_FAULT_FLUSHALL, CHAOS_FAULT_MEMBERS_AT_ONCE};
    bool excused = _i == 0 || _i == 5; /* other lists are an excuse for any fleet */
    hold_with_token(1 * SEC, 0, 0, 5);
    hold_with_token(5 * SEC, 1, 0, 4);
    int64_t at_ns = _i == 2 ? 6 * SEC : SEC / 2;
    made.options.markers = _i == 3;
    made.options.certified = _i >= 4;
    made_fault(&made, kinds[_i], at_ns, at_ns + MS, 1, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->excused, excused ? 1 : 0);
    ck_assert_uint_eq(verdict->token_disorders, excused ? 0 : 1);
}

TEST(assumptions, findings_that_are_not_excused_are_kept)
{
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 1 * MS, 4 * SEC, 1, 0);
    for (int i = 0; i < 300; i++) { /* excused */
        made_asks(&made, (10 + 10 * i) * MS, 0, 0);
        made_holds(&made, (11 + 10 * i) * MS, (15 + 10 * i) * MS, 0, 0);
        made_asks(&made, (10 + 10 * i) * MS, 1, 0);
        made_holds(&made, (12 + 10 * i) * MS, (15 + 10 * i) * MS, 1, 0);
    }
    made_asks(&made, 6 * SEC, 0, 0);
    made_holds(&made, 6 * SEC, 7 * SEC, 0, 0);
    made_asks(&made, 6 * SEC, 1, 0);
    made_holds(&made, 6 * SEC + MS, 7 * SEC, 1, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->excused, 300);
    ck_assert_uint_eq(verdict->overlaps, 1);
    ck_assert_uint_eq(verdict->finding_count, 256);
    ck_assert(!verdict->finding[255].excused);
    for (size_t i = 1; i < 256; i++)
        ck_assert_int_ge(verdict->finding[i].at_ns, verdict->finding[i - 1].at_ns);
}

CASE(assumptions, .set_up = set_up, .tear_down = tear_down)
