/* test_chaos_figures.c - the verdict and the figures of redlock-chaos: what a run has shown,
 * waits and hand-offs, when a majority votes, availability and recovery. */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/faults/kinds.h"
#include "chaos/report/stats.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- what a run has shown --------------------------------------------------------------- */

static void two_overlap(void)
{
    made_asks(&made, 100 * MS, 0, 0);
    made_holds(&made, 200 * MS, 900 * MS, 0, 0);
    made_asks(&made, 150 * MS, 1, 0);
    made_holds(&made, 500 * MS, 1500 * MS, 1, 0);
}

TEST(figures, fault_that_was_never_seen_shows_nothing, .rows = 2)
{
    made_pair(&made, 0, 1, 0, 0);
    made_fault(&made, CHAOS_FAULT_PAUSE, 1 * SEC, 2 * SEC, 1, 0)->seen = _i > 0;
    made_fault(&made, CHAOS_FAULT_PAUSE, 3 * SEC, 4 * SEC, 1, 0)->seen = false;
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, _i > 0 ? 0 : 2);
    ck_assert_int_eq(verdict->passed, _i > 0);
    ck_assert_uint_eq(verdict->faults_done, 2);
    ck_assert_uint_eq(verdict->faults_unseen, _i > 0 ? 1 : 2);
    ck_assert_int_eq(strstr(verdict->text, "pause") != NULL, _i == 0);
}

/* Of so many so many were seen. */
static const struct {
    unsigned done, seen;
    const char *says; /* NULL: enough */
} effects[] = {
    {1, 1, NULL},    {2, 1, NULL},
    {3, 2, NULL},    {3, 1, "of most faults of pause (2 of 3)"},
    {4, 2, NULL},    {5, 3, NULL},
    {100, 50, NULL}, {100, 49, "of most faults of pause (51 of 100)"},
    {5, 5, NULL},    {5, 0, "ever seen of pause"},
};

TEST(figures, kind_that_mostly_has_no_effect_shows_nothing, .rows = ROWS(effects))
{
    made_pair(&made, 0, 1, 0, 0);
    for (unsigned i = 0; i < effects[_i].done; i++) {
        made_fault(&made, CHAOS_FAULT_PAUSE, (1 + i) * MS, (2 + i) * MS, 1, 0)->seen =
            i < effects[_i].seen;
        made_fault(&made, CHAOS_FAULT_OOM, (1 + i) * MS, (2 + i) * MS, 1, 0); /* all seen */
    }
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, effects[_i].says == NULL ? 0 : 2);
    ck_assert_uint_eq(verdict->faults_unseen, effects[_i].done - effects[_i].seen);
    if (effects[_i].says != NULL)
        ck_assert_ptr_nonnull(strstr(verdict->text, effects[_i].says));
    ck_assert_ptr_null(strstr(verdict->text, "oom"));
}

TEST(figures, kind_that_was_asked_for_and_not_done_shows_nothing)
{
    made_pair(&made, 0, 1, 0, 0);
    made_fault(&made, CHAOS_FAULT_PAUSE, 1 * SEC, 2 * SEC, 1, 0);
    made_fault(&made, CHAOS_FAULT_OOM, 3 * SEC, 4 * SEC, 1, 0)->begun_ns = 0;
    made.options.faults |= CHAOS_BIT(CHAOS_FAULT_RESET);
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, 2);
    ck_assert_ptr_nonnull(strstr(verdict->text, "reset, oom"));
    ck_assert_ptr_null(strstr(verdict->text, "pause"));
}

TEST(figures, too_few_holds_show_nothing, .rows = 2)
{
    made_pair(&made, 0, 1, 0, 0);
    made_pair(&made, 10 * MS, 2, 0, 0);
    made.options.min_holds = 2 + (unsigned)_i;
    ck_assert_int_eq(made_check(&made)->exit_status, _i == 0 ? 0 : 2);
}

TEST(figures, early_end_and_full_logs_show_nothing, .rows = 2)
{
    made_pair(&made, 0, 1, 0, 0);
    if (_i == 0)
        snprintf(made.history.error, sizeof(made.history.error), "a master would not start");
    else
        made.history.lost_events = 1;
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, 2);
    ck_assert_ptr_nonnull(strstr(verdict->text, _i == 0 ? "would not start" : "1 events"));
}

/* What is missing in the log may be what a record is ahead by; what is there still counts. */
TEST(figures, full_logs_do_not_accuse_records)
{
    made.history.lost_events = 1;
    made_writes(&made, 4 * MS, 7, 0, 0);
    made.history.record[0] = 9;
    ck_assert_uint_eq(made_check(&made)->lost_updates, 0);
    made_writes(&made, 5 * MS, 7, 1, 0);
    ck_assert_uint_eq(made_check(&made)->lost_updates, 1);
    ck_assert_int_eq(made.verdict->exit_status, 1);
}

TEST(figures, violation_is_more_than_having_shown_nothing)
{
    two_overlap();
    made.options.min_holds = 1000;
    ck_assert_int_eq(made_check(&made)->exit_status, 1);
}

TEST(figures, broken_client_must_be_caught, .rows = 3)
{
    made.options.self_test = true;
    if (_i == 1) {
        two_overlap();
        made_fault(&made, CHAOS_FAULT_FLUSHALL, 300 * MS, 301 * MS, 1, 0); /* an excuse */
    } else if (_i == 2) {
        two_overlap();
    }
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, _i == 2 ? 0 : 2);
    ck_assert_int_eq(verdict->passed, _i == 2);
}

TEST(figures, empty_history_is_judged)
{
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, 2); /* also where no hold was asked for */
    ck_assert_ptr_nonnull(strstr(verdict->text, "no lock was ever had"));
    ck_assert_uint_eq(verdict->holds, 0);
    ck_assert_uint_eq(verdict->wait.count, 0);
}

/* ---- waits and hand-offs ---------------------------------------------------------------- */

TEST(figures, waits_holds_and_hand_offs)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 10 * MS, SEC, 0, 0);
    made_asks(&made, 20 * MS, 1, 0);
    made_event(&made, 50 * MS, CHAOS_LETS_GO, 0, 0);
    made_holds(&made, 53 * MS, SEC, 1, 0); /* asked before: 3 ms */
    made_event(&made, 60 * MS, CHAOS_LETS_GO, 1, 0);
    made_asks(&made, 61 * MS, 2, 0);
    made_holds(&made, 65 * MS, 100 * MS, 2, 0); /* asked later: no hand-off */
    made_asks(&made, 90 * MS, 3, 0);
    made_holds(&made, 150 * MS, 200 * MS, 3, 0); /* its time ran out: none either */
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->hand_off.count, 1);
    ck_assert_double_eq_tol(verdict->hand_off.max_ms, 3, 1e-9);
    ck_assert_uint_eq(verdict->wait.count, 4);
    ck_assert_double_eq_tol(verdict->wait.max_ms, 60, 1e-9);
    ck_assert_double_eq_tol(verdict->wait.p50_ms, 10, 1e-9);
    ck_assert_double_eq_tol(verdict->hold.max_ms, 50, 1e-9);
    ck_assert_double_eq_tol(verdict->hold.p50_ms, 35, 1e-9);
    ck_assert_double_eq_tol(verdict->holds_per_s, 0.4, 1e-9);
}

TEST(figures, nothing_is_passed_on_to_another_name)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 10 * MS, SEC, 0, 0);
    made_asks(&made, 20 * MS, 1, 1);
    made_event(&made, 50 * MS, CHAOS_LETS_GO, 0, 0);
    made_holds(&made, 53 * MS, SEC, 1, 1);
    ck_assert_uint_eq(made_check(&made)->hand_off.count, 0);
}

TEST(figures, quantiles_are_by_nearest_rank)
{
    int64_t ns[100];
    for (int i = 0; i < 100; i++)
        ns[i] = (100 - i) * MS;
    struct chaos_quantiles quantiles = chaos_quantiles_of(ns, 100);
    ck_assert_double_eq(quantiles.p50_ms, 50);
    ck_assert_double_eq(quantiles.p90_ms, 90);
    ck_assert_double_eq(quantiles.p99_ms, 99);
    ck_assert_double_eq(quantiles.max_ms, 100);
    int64_t one = 7 * MS;
    quantiles = chaos_quantiles_of(&one, 1);
    ck_assert_double_eq(quantiles.p50_ms, 7);
    ck_assert_double_eq(quantiles.p99_ms, 7);
}

TEST(figures, histogram_has_every_time_in_its_column)
{
    const int64_t ns[] = {0, 999, 1000, 1300, 1 * MS, 1 * MS + 1, 10 * MS, 3600 * SEC};
    struct chaos_histogram histogram;
    chaos_histogram_of(ns, sizeof(ns) / sizeof(ns[0]), &histogram);
    ck_assert_uint_eq(histogram.count, 8);
    ck_assert_uint_eq(histogram.column[0], 3);
    ck_assert_uint_eq(histogram.column[1], 1);
    ck_assert_uint_eq(histogram.column[30], 2);
    ck_assert_uint_eq(histogram.column[40], 1);
    ck_assert_uint_eq(histogram.column[CHAOS_COLUMNS - 1], 1);
    ck_assert_double_eq(chaos_column_ns(30), 1e6);
}

TEST(figures, series_has_every_hold_in_its_interval)
{
    for (unsigned i = 0; i < 100; i++)
        made_pair(&made, i * 100 * MS, i + 1, 0, 0);
    made_asks(&made, 9990 * MS, 1, 1);
    made_event(&made, 10 * SEC, CHAOS_REFUSED, 1, 1); /* the last moment is in it too */
    made_sort(&made);
    struct chaos_hold_history hold_history;
    static struct chaos_series series;
    chaos_hold_history_read(&made.history, &hold_history);
    chaos_series_of(&made.history, &hold_history, &series);
    uint64_t holds = 0;
    ck_assert_int_eq(series.every_ns * (int64_t)series.count, 10 * SEC);
    for (size_t i = 0; i < series.count; i++)
        holds += series.point[i].holds;
    ck_assert_uint_eq(holds, 100);
    ck_assert_uint_eq(series.point[0].holds, 1);
    ck_assert_double_eq_tol(series.point[0].p99_ms, 1, 1e-9);
    ck_assert_uint_eq(series.point[series.count - 1].refusals, 1);
    chaos_hold_history_free(&hold_history);
}

/* ---- who reaches a majority when -------------------------------------------------------- */

static uint64_t quorum_at(int64_t at_ns)
{
    size_t count;
    struct chaos_quorum_time *quorum = chaos_quorum_times(&made.history, &count);
    uint64_t clients = 0;
    for (size_t i = 0; i < count && quorum[i].from_ns <= at_ns; i++)
        clients = quorum[i].clients;
    free(quorum);
    return clients;
}

/* Three masters of five are hit, or two; what contenders 0 .. 3 can do then, and after it. */
static const struct {
    enum chaos_fault_kind kind;
    uint64_t nodes, clients, quorum;
    bool guarded; /* for 3 s after it */
} reaches[] = {
    {CHAOS_FAULT_KILL, 0x07, 0, 0x0, true},
    {CHAOS_FAULT_KILL, 0x03, 0, 0xf, false},
    {CHAOS_FAULT_KILL_AOF, 0x1c, 0, 0x0, true},
    {CHAOS_FAULT_PAUSE, 0x07, 0, 0x0, false},
    {CHAOS_FAULT_SLEEP, 0x07, 0, 0x0, false},
    {CHAOS_FAULT_CLIENT_PAUSE, 0x07, 0, 0x0, false},
    {CHAOS_FAULT_OOM, 0x07, 0, 0x0, false},
    {CHAOS_FAULT_DISCONNECT, 0x07, 0, 0x0, false},
    {CHAOS_FAULT_PARTITION, 0x07, 0x1, 0xe, false},
    {CHAOS_FAULT_PARTITION, 0x07, 0x0, 0x0, false}, /* no contender named: all */
    {CHAOS_FAULT_PARTITION_THERE, 0x1f, 0x6, 0x9, false},
    {CHAOS_FAULT_PARTITION_BACK, 0x03, 0xf, 0xf, false},
    {CHAOS_FAULT_HALVES, 0x07, 0x3, 0x3, false},
    {CHAOS_FAULT_HALVES, 0x03, 0x3, 0xc, false},
    {CHAOS_FAULT_RING, 0x1f, 0xf, 0xf, false},
    {CHAOS_FAULT_DELAY, 0x1f, 0xf, 0xf, false},
    {CHAOS_FAULT_FLUSHALL, 0x1f, 0xf, 0xf, false},
    {CHAOS_FAULT_CLOCK, 0x07, 0, 0xf, true}, /* put right by a new process */
    {CHAOS_FAULT_WARM, 0x07, 0, 0x0, true},
    {CHAOS_FAULT_MEMBERS, 0x01, 0, 0xf, false},
    {CHAOS_FAULT_MEMBERS_AT_ONCE, 0x07, 0, 0x0, false}, /* as if it were three of five */
};

TEST(figures, faults_take_majority_away, .rows = ROWS(reaches))
{
    made_fault(&made, reaches[_i].kind, 2 * SEC, 4 * SEC, reaches[_i].nodes,
               reaches[_i].clients);
    ck_assert_uint_eq(quorum_at(2 * SEC - 1), 0xf);
    ck_assert_uint_eq(quorum_at(2 * SEC), reaches[_i].quorum);
    ck_assert_uint_eq(quorum_at(4 * SEC - 1), reaches[_i].quorum);
    ck_assert_uint_eq(quorum_at(4 * SEC), reaches[_i].guarded ? 0 : 0xf);
    ck_assert_uint_eq(quorum_at(7 * SEC - 1), reaches[_i].guarded ? 0 : 0xf);
    ck_assert_uint_eq(quorum_at(7 * SEC), 0xf);
}

/* Emptied, and quarantined; nobody sees that without markers. */
TEST(figures, emptied_master_is_quarantined_by_markers)
{
    made.options.markers = true;
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 2 * SEC, 3 * SEC, 0x07, 0);
    ck_assert_uint_eq(quorum_at(2 * SEC - 1), 0xf);
    ck_assert_uint_eq(quorum_at(2 * SEC), 0);
    ck_assert_uint_eq(quorum_at(6 * SEC - 1), 0);
    ck_assert_uint_eq(quorum_at(6 * SEC), 0xf);
    ck_assert_int_eq(chaos_node_state(&made.history, 0, 4 * SEC), CHAOS_NODE_NO_VOTE);
}

/* Nobody knows whether somebody else's client waits after a restart: it need not. */
TEST(figures, guard_is_ours_alone)
{
    made.options.client_cmd = "other";
    made_fault(&made, CHAOS_FAULT_KILL, 2 * SEC, 4 * SEC, 0x07, 0);
    ck_assert_uint_eq(quorum_at(4 * SEC - 1), 0);
    ck_assert_uint_eq(quorum_at(4 * SEC), 0xf);
    ck_assert_int_eq(chaos_node_state(&made.history, 0, 4 * SEC), CHAOS_NODE_UP);
}

/* Two masters are down, and the ring leaves each contender three: not always the right ones. */
TEST(figures, ring_and_dead_masters_add_up)
{
    made_fault(&made, CHAOS_FAULT_KILL, 2 * SEC, 0, 0x3, 0);
    made_fault(&made, CHAOS_FAULT_RING, 3 * SEC, 4 * SEC, 0x1f, 0xf);
    ck_assert_uint_eq(quorum_at(2 * SEC), 0xf);
    ck_assert_uint_eq(quorum_at(3 * SEC), 0x4); /* 2 reaches 2, 3 and 4 */
    ck_assert_uint_eq(quorum_at(9 * SEC), 0xf); /* and the dead ones stay dead */
    ck_assert_int_eq(chaos_node_state(&made.history, 0, 9 * SEC), CHAOS_NODE_DOWN);
    ck_assert_int_eq(chaos_node_state(&made.history, 2, 9 * SEC), CHAOS_NODE_UP);
}

TEST(figures, worst_of_several_faults_is_state)
{
    made_fault(&made, CHAOS_FAULT_OOM, 1 * SEC, 9 * SEC, 0x1, 0);
    made_fault(&made, CHAOS_FAULT_PAUSE, 2 * SEC, 4 * SEC, 0x1, 0);
    made_fault(&made, CHAOS_FAULT_KILL, 3 * SEC, 5 * SEC, 0x1, 0);
    static const enum chaos_node_state states[] = {
        CHAOS_NODE_UP,   CHAOS_NODE_NO_VOTE, CHAOS_NODE_SILENT,
        CHAOS_NODE_DOWN, CHAOS_NODE_DOWN,    CHAOS_NODE_NO_VOTE,
    };
    for (unsigned i = 0; i < 6; i++)
        ck_assert_int_eq(chaos_node_state(&made.history, 0, i * SEC), states[i]);
    ck_assert_int_eq(chaos_node_state(&made.history, 1, 3 * SEC), CHAOS_NODE_UP);
}

/* ---- availability and recovery ---------------------------------------------------------- */

/* One lock of two, held from 0 to `held` ms, asked for from then, had again at `again` ms. */
static void gap(int64_t held, int64_t again)
{
    made.options.names = 1;
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 0, 9 * SEC, 0, 0);
    made_asks(&made, MS, 1, 0);
    made_event(&made, held * MS, CHAOS_LETS_GO, 0, 0);
    made_holds(&made, again * MS, 10 * SEC, 1, 0);
}

TEST(figures, short_gap_is_hand_off_and_long_one_is_not, .rows = 2)
{
    gap(2000, 3000 + _i);
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->longest_unavailable_ns, (1000 + _i) * MS);
    ck_assert_double_eq_tol(verdict->available, _i == 0 ? 1 : 1 - 0.1001, 1e-9);
    ck_assert_int_eq(verdict->recovery_ns, 0);
}

TEST(figures, without_majority_nothing_is_missed)
{
    gap(2000, 6250);
    made_fault(&made, CHAOS_FAULT_PAUSE, 1900 * MS, 6 * SEC, 0x07, 0);
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->longest_unavailable_ns, 250 * MS);
    ck_assert_int_eq(verdict->recovery_ns, 250 * MS);
    ck_assert_double_eq_tol(verdict->available, 1, 1e-9);
}

/* A majority votes, but not for the one that asks. */
TEST(figures, gap_belongs_to_clients_that_can_have_lock)
{
    gap(2000, 6250);
    made_fault(&made, CHAOS_FAULT_PARTITION, 1900 * MS, 6 * SEC, 0x07, CHAOS_BIT(1));
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->longest_unavailable_ns, 250 * MS);
    ck_assert_int_eq(verdict->recovery_ns, 0); /* it never went away for the others */
}

TEST(figures, nobody_asks_and_nothing_is_missed)
{
    made.options.names = 1;
    made_pair(&made, 0, 1, 0, 0);
    made_pair(&made, 8 * SEC, 2, 0, 0);
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->longest_unavailable_ns, 1 * MS);
    ck_assert_int_eq(verdict->recovery_ns, 0); /* the beginning is no return */
    ck_assert_double_eq_tol(verdict->available, 1, 1e-9);
}

/* The second gap after a majority's return is not what it took to recover. */
/* Who asks for several locks at once waits for all, and tells nothing of any one of them: not
 * before it is refused and asks for one alone. */
TEST(figures, request_for_several_names_makes_no_gap, .rows = 2)
{
    made_asks(&made, 1 * SEC, 0, 0);
    made.event[made.count - 1].joint = (uint8_t)_i;
    made_event(&made, 3 * SEC, CHAOS_REFUSED, 0, 0);
    made_asks(&made, 3 * SEC + 10 * MS, 0, 0);
    made_holds(&made, 3 * SEC + 30 * MS, 4 * SEC, 0, 0);
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->longest_unavailable_ns, _i ? 20 * MS : 2 * SEC + 30 * MS);
}

TEST(figures, recovery_is_first_gap_after_return)
{
    made.options.names = 1;
    made_fault(&made, CHAOS_FAULT_PAUSE, 1 * SEC, 2 * SEC, 0x07, 0);
    made_asks(&made, 1 * SEC, 0, 0);
    made_asks(&made, 1 * SEC, 1, 0);
    made_holds(&made, 2 * SEC + 30 * MS, 5 * SEC, 0, 0);
    made_event(&made, 3 * SEC, CHAOS_LETS_GO, 0, 0);
    made_holds(&made, 3 * SEC + 70 * MS, 5 * SEC, 1, 0);
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->recovery_ns, 30 * MS);
    ck_assert_int_eq(verdict->recovery_at_ns, 2 * SEC);
    ck_assert_int_eq(verdict->longest_unavailable_ns, 70 * MS);
    ck_assert_int_eq(verdict->longest_at_ns, 3 * SEC);
    ck_assert_uint_eq(verdict->longest_name, 0);
}

/* 0: it may take as long as it does. */
static const struct {
    int64_t max_ms;
    bool late;
} bounds[] = {{0, false}, {1, true}, {29, true}, {30, false}, {31, false}};

TEST(figures, recovery_that_takes_too_long_is_violation, .rows = ROWS(bounds))
{
    made.options.names = 2;
    made.options.max_recovery_ms = bounds[_i].max_ms;
    made_fault(&made, CHAOS_FAULT_PAUSE, 1 * SEC, 2 * SEC, 0x07, 0);
    made_asks(&made, 1 * SEC, 0, 1);
    made_asks(&made, 1 * SEC, 1, 0);
    made_holds(&made, 2 * SEC + 30 * MS, 5 * SEC, 0, 1);
    made_holds(&made, 2 * SEC + 20 * MS, 5 * SEC, 1, 0);
    made_asks(&made, 6 * SEC, 0, 1);
    made_holds(&made, 6500 * MS, 7 * SEC, 0, 1); /* slower, and after no return */
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->late, bounds[_i].late ? 1 : 0);
    ck_assert_int_eq(verdict->exit_status, bounds[_i].late ? 1 : 0);
    ck_assert_uint_eq(verdict->finding_count, bounds[_i].late ? 1 : 0);
    if (bounds[_i].late) {
        ck_assert_int_eq(verdict->finding[0].what, CHAOS_LATE);
        ck_assert_uint_eq(verdict->finding[0].name, 1);
        ck_assert_int_eq(verdict->finding[0].at_ns, 2 * SEC);
        ck_assert_ptr_nonnull(strstr(verdict->text, "1 late recovery"));
    }
}

/* The only lock is not to be had from 2 s to 4 s of 10 s, though a majority votes. */
static const struct {
    double least;
    int64_t stalled_ms; /* of these */
    unsigned violations, excused;
} least[] = {
    {0, 0, 0, 0}, {0.7999, 0, 0, 0}, {0.81, 0, 1, 0},
    {1, 0, 1, 0}, {0.85, 400, 1, 0}, {0.85, 600, 0, 1},
};

TEST(figures, lock_that_is_to_be_had_too_seldom_is_violation, .rows = ROWS(least))
{
    made.options.names = 1;
    made.options.min_available = least[_i].least;
    made_asks(&made, 2 * SEC, 0, 0);
    made_holds(&made, 4 * SEC, 5 * SEC, 0, 0);
    const struct chaos_stall stall = {.from_ns = 3 * SEC,
                                      .to_ns = 3 * SEC + least[_i].stalled_ms * MS};
    made.history.stalls = &stall;
    made.history.stall_count = 1;
    verdict = made_check(&made);
    ck_assert_double_eq_tol(verdict->available, 0.8, 1e-9);
    ck_assert_uint_eq(verdict->scarce, least[_i].violations);
    ck_assert_uint_eq(verdict->excused, least[_i].excused);
    ck_assert_int_eq(verdict->exit_status, least[_i].violations > 0 ? 1 : 0);
    if (least[_i].violations > 0)
        ck_assert_ptr_nonnull(strstr(verdict->text, "to be had 80 % of the time only"));
}

/* A client that asks so many of five masters for each of its three locks. */
static const struct {
    unsigned asked[3], min;
    int status;
} asked[] = {
    {{1, 1, 1}, CHAOS_USUAL, 2}, {{3, 3, 3}, CHAOS_USUAL, 0}, {{5, 5, 5}, CHAOS_USUAL, 0},
    {{3, 3, 2}, CHAOS_USUAL, 2}, {{1, 1, 1}, 0, 0},           {{1, 1, 1}, 1, 0},
    {{4, 4, 4}, 5, 2},
};

TEST(figures, client_that_asks_too_few_masters_has_shown_nothing, .rows = ROWS(asked))
{
    unsigned fewest = 5;
    made.options.client_cmd = "client";
    made.options.min_masters = asked[_i].min;
    for (int i = 0; i < 3; i++) {
        made_asks(&made, (1 + i) * SEC, 0, 0);
        made_holds(&made, (1 + i) * SEC + MS, (1 + i) * SEC + 9 * MS, 0, 0);
        made.event[made.count - 1].asked = (uint8_t)asked[_i].asked[i];
        if (fewest > asked[_i].asked[i])
            fewest = asked[_i].asked[i];
    }
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->exit_status, asked[_i].status);
    ck_assert_uint_eq(verdict->asked_least, fewest);
    ck_assert(verdict->passed == (asked[_i].status == 0));
    if (asked[_i].status != 0)
        ck_assert_ptr_nonnull(strstr(verdict->text, "of 5 masters per hold"));
}

/* Who is refused and asks again at once has wanted it all the time. */
TEST(figures, refusals_do_not_hide_gap)
{
    made.options.names = 1;
    for (int i = 0; i < 20; i++) {
        made_asks(&made, SEC + i * 200 * MS, 0, 0);
        made_event(&made, SEC + i * 200 * MS + 150 * MS, CHAOS_REFUSED, 0, 0);
    }
    made_asks(&made, 5 * SEC, 0, 0);
    made_holds(&made, 5 * SEC, 6 * SEC, 0, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->refusals, 20);
    ck_assert_int_eq(verdict->longest_unavailable_ns, 4 * SEC);
    ck_assert_double_eq_tol(verdict->wait.max_ms, 4000, 1e-9);
}

TEST(figures, recovery_that_never_comes_counts_until_end)
{
    made.options.names = 1;
    made_asks(&made, 1 * SEC, 0, 0);
    made_fault(&made, CHAOS_FAULT_PAUSE, 500 * MS, 6 * SEC, 0x07, 0);
    made.options.max_recovery_ms = 3999;
    verdict = made_check(&made);
    ck_assert_int_eq(verdict->recovery_ns, 4 * SEC);
    ck_assert_uint_eq(verdict->late, 1);
    ck_assert_double_eq_tol(verdict->available, 1 - 4.0 / 4.5, 1e-9);
}

CASE(figures, .set_up = set_up, .tear_down = tear_down)
