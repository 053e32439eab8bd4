/* test_chaos_check.c - the checker of redlock-chaos: each rule on histories made by hand, at
 * its boundaries, and all of it on random ones against a plain reference. */
#include "config_auto.h"

#include "chaos_made.h"

#include "chaos/faults/kinds.h"
#include "chaos/report/stats.h"
#include "suite.h"

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

static uint64_t findings(void)
{
    return verdict->overlaps + verdict->lost_updates + verdict->changed_reads +
           verdict->token_disorders + verdict->orphans + verdict->excused;
}

/* ---- overlaps --------------------------------------------------------------------------- */

TEST(rules, holds_one_after_other_are_fine)
{
    for (unsigned i = 0; i < 10; i++)
        made_pair(&made, i * 5 * MS, i + 1, i % 4, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(findings(), 0);
    ck_assert_int_eq(verdict->exit_status, 0);
    ck_assert(verdict->passed);
    ck_assert_uint_eq(verdict->holds, 10);
    ck_assert_uint_eq(verdict->writes, 10);
}

/* The second begins at, or 1 ns before, the moment at which the first stops believing. */
static const struct {
    const char *how;
    enum chaos_what ends; /* ASKS: nothing does but its time */
    int64_t ends_ns, until_ns, begins_ns;
    uint64_t overlaps;
} boundaries[] = {
    {"let go", CHAOS_LETS_GO, 50, 100, 50, 0},
    {"let go", CHAOS_LETS_GO, 50, 100, 49, 1},
    {"found out", CHAOS_LOSES, 50, 100, 50, 0},
    {"found out", CHAOS_LOSES, 50, 100, 49, 1},
    {"ran out", CHAOS_ASKS, 0, 100, 100, 0},
    {"ran out", CHAOS_ASKS, 0, 100, 99, 1},
    {"ran out before it let go", CHAOS_LETS_GO, 150, 100, 120, 0},
    {"ran out before it found out", CHAOS_LOSES, 150, 100, 99, 1},
    {"released is not let go", CHAOS_RELEASED, 50, 100, 60, 1},
};

TEST(rules, hold_is_believed_until_first_of_three, .rows = ROWS(boundaries))
{
    made_asks(&made, 10 * MS, 0, 0);
    made_holds(&made, 20 * MS, boundaries[_i].until_ns * MS, 0, 0);
    if (boundaries[_i].ends != CHAOS_ASKS)
        made_event(&made, boundaries[_i].ends_ns * MS, boundaries[_i].ends, 0, 0);
    made_asks(&made, 15 * MS, 1, 0);
    made_holds(&made, boundaries[_i].begins_ns * MS, 500 * MS, 1, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->overlaps, boundaries[_i].overlaps);
    ck_assert_int_eq(verdict->exit_status, boundaries[_i].overlaps > 0 ? 1 : 0);
}

TEST(rules, overlap_says_who_when_and_how_long)
{
    made_asks(&made, 10 * MS, 2, 1);
    made_holds(&made, 20 * MS, 100 * MS, 2, 1);
    made_asks(&made, 15 * MS, 3, 1);
    made_holds(&made, 70 * MS, 300 * MS, 3, 1);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->finding_count, 1);
    const struct chaos_finding *finding = &verdict->finding[0];
    ck_assert_int_eq(finding->what, CHAOS_OVERLAP);
    ck_assert_int_eq(finding->at_ns, 70 * MS);
    ck_assert_int_eq(finding->for_ns, 30 * MS);
    ck_assert_uint_eq(finding->name, 1);
    ck_assert_uint_eq(finding->client, 3);
    ck_assert_uint_eq(finding->other, 2);
    ck_assert(!finding->excused && finding->by == NULL);
    ck_assert(!verdict->passed);
}

TEST(rules, locks_of_other_names_do_not_overlap)
{
    made_pair(&made, 0, 1, 0, 0);
    made_pair(&made, 0, 1, 1, 1);
    ck_assert_uint_eq(made_check(&made)->overlaps, 0);
}

/* A long hold is found with every one that it covers, not only with its neighbour. */
TEST(rules, every_pair_counts_once)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, 900 * MS, 0, 0);
    for (int i = 1; i <= 3; i++) {
        made_asks(&made, 0, (unsigned)i, 0);
        made_holds(&made, i * 100 * MS, i * 100 * MS + 50 * MS, (unsigned)i, 0);
    }
    ck_assert_uint_eq(made_check(&made)->overlaps, 3);
}

TEST(rules, prolonging_is_same_hold)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, 100 * MS, 0, 0);
    made_holds(&made, 60 * MS, 200 * MS, 0, 0); /* without ASKS */
    made_asks(&made, 10 * MS, 1, 0);
    made_holds(&made, 150 * MS, 300 * MS, 1, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->holds, 2);
    ck_assert_uint_eq(verdict->overlaps, 1);
    ck_assert_int_eq(verdict->finding[0].for_ns, 50 * MS);
}

/* The seat's next contender asks: the lock of the one that was killed is still believed in. */
TEST(rules, killed_holder_excludes_until_its_time_is_over)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, 100 * MS, 0, 0);
    made_asks(&made, 40 * MS, 0, 0);
    made_holds(&made, 99 * MS, 300 * MS, 0, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->holds, 2);
    ck_assert_uint_eq(verdict->overlaps, 1);
}

TEST(rules, hold_that_is_over_when_it_begins_is_none)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 50 * MS, 50 * MS, 0, 0);
    made_asks(&made, 0, 1, 0);
    made_holds(&made, 10 * MS, 100 * MS, 1, 0);
    ck_assert_uint_eq(made_check(&made)->overlaps, 0);
}

/* ---- fencing tokens --------------------------------------------------------------------- */

static void hold_with_token(int64_t at_ns, unsigned client, unsigned name, uint64_t token)
{
    made_asks(&made, at_ns, client, name);
    made_holds(&made, at_ns + MS, at_ns + 5 * MS, client, name);
    made.event[made.count - 1].token = token;
}

static const struct {
    uint64_t token[4];
    uint64_t disorders;
} tokens[] = {
    {{1, 2, 3, 4}, 0}, {{1, 2, 2, 3}, 1}, {{1, 5, 3, 4}, 2},
    {{0, 0, 0, 0}, 0}, {{7, 0, 8, 0}, 0}, {{9, 0, 8, 10}, 1},
};

TEST(rules, fencing_tokens_grow, .rows = ROWS(tokens))
{
    for (unsigned i = 0; i < 4; i++)
        hold_with_token(i * 10 * MS, i, 0, tokens[_i].token[i]);
    hold_with_token(100 * MS, 0, 1, 1); /* of another name */
    ck_assert_uint_eq(made_check(&made)->token_disorders, tokens[_i].disorders);
}

/* ---- lost updates ----------------------------------------------------------------------- */

TEST(rules, two_writes_of_one_value_lose_update)
{
    made_pair(&made, 0, 1, 0, 0);
    made_pair(&made, 10 * MS, 2, 1, 0);
    made_pair(&made, 20 * MS, 2, 2, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, 1);
    ck_assert_uint_eq(verdict->finding[0].client, 2);
    ck_assert_uint_eq(verdict->finding[0].other, 1);
    ck_assert_int_eq(verdict->finding[0].at_ns, 23 * MS);
    ck_assert_int_eq(verdict->exit_status, 1);
}

TEST(rules, write_far_behind_loses_all_in_between)
{
    for (unsigned i = 0; i < 5; i++)
        made_pair(&made, i * 10 * MS, i + 1, 0, 0);
    made_pair(&made, 50 * MS, 3, 1, 0);
    made_pair(&made, 60 * MS, 4, 2, 0); /* goes on from there: no fault of its own */
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, 3);
    ck_assert_uint_eq(verdict->finding_count, 1);
}

TEST(rules, record_at_end_matches_writes, .rows = 3)
{
    made_pair(&made, 0, 1, 0, 0);
    made_pair(&made, 10 * MS, 2, 1, 0);
    made.history.record[0] = (uint64_t)(1 + _i);
    uint64_t expected[] = {1, 0, 1}; /* behind by one, right, ahead by one */
    ck_assert_uint_eq(made_check(&made)->lost_updates, expected[_i]);
}

TEST(rules, record_that_nobody_wrote_is_nothing, .rows = 2)
{
    made.history.record[1] = (uint64_t)_i;
    ck_assert_uint_eq(made_check(&made)->lost_updates, (uint64_t)_i);
}

/* What comes between the read and the write, and whether it was matched. */
static const struct {
    uint64_t read;
    enum chaos_what between; /* RELEASED: nothing that matters */
    uint64_t unread;
} matches[] = {
    {0, CHAOS_RELEASED, 0}, {0, CHAOS_HOLDS, 0}, {0, CHAOS_LETS_GO, 1},
    {0, CHAOS_LOSES, 1},    {0, CHAOS_ASKS, 1},  {7, CHAOS_RELEASED, 1},
};

TEST(rules, write_follows_read_of_same_hold, .rows = ROWS(matches))
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, SEC, 0, 0);
    made_reads(&made, 2 * MS, matches[_i].read, 0, 0);
    made_event(&made, 3 * MS, matches[_i].between, 0, 0)->until_ns = SEC;
    made_writes(&made, 4 * MS, 1, 0, 0);
    made.history.record[0] = 1;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, matches[_i].unread);
}

TEST(rules, write_without_any_read)
{
    made_writes(&made, 4 * MS, 1, 0, 0);
    made.history.record[0] = 1;
    ck_assert_uint_eq(made_check(&made)->lost_updates, 1);
}

/* Killed after it wrote and before it told: one write may be missing in the log, not two. */
TEST(rules, killed_writer_leaves_record_one_ahead, .rows = 3)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, 50 * MS, 0, 0);
    made_reads(&made, 2 * MS, 0, 0, 0);
    made_asks(&made, 60 * MS, 0, 0); /* the next one on its seat */
    made_pair(&made, 100 * MS, (uint64_t)(1 + _i), 1, 0);
    uint64_t expected[] = {0, 0, 1}; /* it did not write, it did, and one more did */
    ck_assert_uint_eq(made_check(&made)->lost_updates, expected[_i]);
}

TEST(rules, writer_killed_at_very_end, .rows = 3)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, 50 * MS, 0, 0);
    made_reads(&made, 2 * MS, 0, 0, 0);
    made.history.record[0] = (uint64_t)_i;
    uint64_t expected[] = {0, 0, 1};
    ck_assert_uint_eq(made_check(&made)->lost_updates, expected[_i]);
}

/* Stopped between its last look and the write: 0 reads 1, is stopped; 1 writes 2; 0 writes 2
 * when its time is over. `_i`: by how many ns. */
TEST(rules, write_that_lands_too_late_is_excused, .rows = 2)
{
    made_pair(&made, 0, 1, 2, 0);
    made_asks(&made, 10 * MS, 0, 0);
    made_holds(&made, 11 * MS, 100 * MS, 0, 0);
    made_reads(&made, 12 * MS, 1, 0, 0);
    made_pair(&made, 100 * MS, 2, 1, 0);
    made_writes(&made, 300 * MS, 2, 0, 0);
    made.event[made.count - 1].until_ns = 300 * MS - _i;
    struct chaos_fault *pause =
        made_fault(&made, CHAOS_FAULT_PAUSE_HOLDER, 20 * MS, 290 * MS, 0, CHAOS_BIT(0));
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, _i > 0 ? 0 : 1);
    ck_assert_uint_eq(verdict->excused, _i > 0 ? 1 : 0);
    if (_i > 0)
        ck_assert_ptr_eq(verdict->finding[0].by, pause);
}

/* ---- a store that checks fencing tokens -------------------------------------------------- */

/* The first holder was stopped before its write, and the second has written. */
static void late_write(uint64_t value)
{
    made.options.fenced = true;
    made_asks(&made, 1 * MS, 0, 0);
    made_holds(&made, 2 * MS, 100 * MS, 0, 0);
    made_reads(&made, 3 * MS, 0, 0, 0);
    made_fault(&made, CHAOS_FAULT_PAUSE_HOLDER, 4 * MS, 400 * MS, 0, 1);
    made_pair(&made, 200 * MS, 1, 1, 0);
    if (value > 0)
        made_event(&made, 410 * MS, CHAOS_WRITES, 0, 0)->value = value;
    else
        made_event(&made, 410 * MS, CHAOS_STALE, 0, 0);
}

TEST(rules, late_write_that_is_refused_is_counted)
{
    late_write(0);
    verdict = made_check(&made);
    ck_assert_uint_eq(findings(), 0);
    ck_assert_uint_eq(verdict->stale, 1);
    ck_assert_ptr_nonnull(strstr(verdict->text, "1 accesses too late"));
}

TEST(rules, late_write_that_is_taken_is_excused_by_nothing)
{
    late_write(1);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, 1);
    ck_assert_uint_eq(verdict->excused, 0);
    ck_assert_int_eq(verdict->exit_status, 1);
}

/* It was done before the other's, and its contender was stopped before it could tell. */
TEST(rules, write_that_is_logged_late_is_none_lost)
{
    made.options.fenced = true;
    made_asks(&made, 1 * MS, 0, 0);
    made_holds(&made, 2 * MS, 100 * MS, 0, 0);
    made_reads(&made, 3 * MS, 0, 0, 0);
    made_pair(&made, 200 * MS, 2, 1, 0);
    made_writes(&made, 410 * MS, 1, 0, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(findings(), 0);
}

/* The late one's write is the earlier one here, and he who had the lock writes over it. */
TEST(rules, writer_over_late_write_is_excused)
{
    made_asks(&made, 0, 0, 0);
    made_holds(&made, 1 * MS, 100 * MS, 0, 0);
    made_reads(&made, 2 * MS, 0, 0, 0);
    made_asks(&made, 50 * MS, 1, 0);
    made_holds(&made, 110 * MS, SEC, 1, 0);
    made_reads(&made, 120 * MS, 0, 1, 0);
    made_writes(&made, 130 * MS, 1, 0, 0);
    made.event[made.count - 1].until_ns = 100 * MS;
    made_writes(&made, 140 * MS, 1, 1, 0);
    made.history.record[0] = 1;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, 0);
    ck_assert_uint_eq(verdict->excused, 1);
}

/* Two that hold at once, for a reason: what they write may be logged in another order than it
 * was done, and what follows is not ahead for that. */
TEST(rules, writes_of_excused_race_are_not_ahead)
{
    made_pair(&made, 0, 1, 2, 0);
    made_asks(&made, 10 * MS, 0, 0);
    made_holds(&made, 11 * MS, SEC, 0, 0);
    made_reads(&made, 12 * MS, 1, 0, 0);
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 20 * MS, 21 * MS, 7, 0);
    made_pair(&made, 100 * MS, 2, 1, 0);
    made_pair(&made, 110 * MS, 3, 1, 0);
    made_writes(&made, 119 * MS, 2, 0, 0); /* before the 3, in truth */
    made_pair(&made, 200 * MS, 4, 2, 0);
    made.history.record[0] = 4;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->lost_updates, 0);
    ck_assert_uint_gt(verdict->excused, 0);
    ck_assert_int_eq(verdict->exit_status, 0);
}

/* ---- orphans ---------------------------------------------------------------------------- */

/* Three keys of the first master, one of the last. What excuses the three, if anything. */
static const struct {
    enum chaos_fault_kind kind;
    int64_t undone_ns; /* 0: never */
    uint64_t nodes;
    bool excused;
} orphans[] = {
    {CHAOS_FAULT_PAUSE, 3 * SEC, 1, false},
    {CHAOS_FAULT_CLOCK_BACK, 0, 1, true},
    {CHAOS_FAULT_CLOCK_BACK, 0, 2, false},             /* another one's clock */
    {CHAOS_FAULT_CLOCK_BACK, 3 * SEC, 1, false},       /* forward again, or a new process */
    {CHAOS_FAULT_CLOCK_BACK, 10 * SEC - MS, 1, false}, /* however late */
    {CHAOS_FAULT_CLOCK, 0, 1, false},
};

TEST(rules, orphans_count, .rows = ROWS(orphans))
{
    uint64_t excused = orphans[_i].excused ? 3 : 0;
    made_pair(&made, 0, 1, 0, 0);
    made.history.orphans[0] = 3;
    made.history.orphans[4] = 1;
    struct chaos_fault *fault = made_fault(&made, orphans[_i].kind, 2 * SEC,
                                           orphans[_i].undone_ns, orphans[_i].nodes, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->orphans, 4 - excused);
    ck_assert_uint_eq(verdict->excused, excused);
    ck_assert_ptr_eq(verdict->finding[0].by, excused > 0 ? fault : NULL);
    ck_assert_int_eq(verdict->exit_status, 1);
}

/* ---- the random reference --------------------------------------------------------------- */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % below;
}

/* What the checker must find, kept in the order in which it is made. */
static struct span {
    unsigned client, name;
    int64_t asked, from, to;
} spans[400];
static size_t span_count;

/* One contender's section at a random time, for a random time: most of them overlap. */
static void make_section(unsigned client, int64_t *at)
{
    unsigned name = (unsigned)draw(2);
    struct span *span = &spans[span_count++];
    *span = (struct span){.client = client, .name = name, .asked = *at};
    made_asks(&made, *at, client, name);
    span->from = *at + (int64_t)draw(30);
    int64_t until = span->from + (int64_t)draw(40), last = span->from;
    made_holds(&made, span->from, until, client, name);
    for (uint64_t i = draw(3); i > 0; i--) {
        last += (int64_t)draw(20);
        until = until > last ? until : last;
        until += (int64_t)draw(30);
        made_holds(&made, last, until, client, name);
    }
    span->to = until;
    if (draw(3) > 0) {
        last += (int64_t)draw(60);
        made_event(&made, last, draw(2) == 0 ? CHAOS_LETS_GO : CHAOS_LOSES, client, name);
        span->to = last < until ? last : until;
    }
    /* Logs are written one line after the other. */
    *at = last + 1 + (int64_t)draw(40);
}

static bool overlap(const struct span *a, const struct span *b)
{
    return a->name == b->name && a->from < a->to && b->from < b->to && a->from < b->to &&
           b->from < a->to;
}

/* Keys are lost at `flush`: it excuses whom it came between. */
static bool is_excused(const struct span *a, const struct span *b, int64_t flush, int64_t done)
{
    const struct span *first = a->from < b->from ? a : b;
    const struct span *second = first == a ? b : a;
    if (a->from == b->from) /* in the order in which they are in the log */
        first = a, second = b;
    return flush < second->from && done >= first->asked;
}

TEST(rules, random_histories_as_plain_reference, .rows = 300)
{
    state = (uint64_t)_i * 7919 + 1;
    int64_t flush = 1 + (int64_t)draw(400), done = flush + (int64_t)draw(50);
    span_count = 0;
    made_fault(&made, CHAOS_FAULT_FLUSHALL, flush, done, CHAOS_BIT(draw(5)), 0);
    for (unsigned client = 0; client < 4; client++) {
        int64_t at = (int64_t)draw(50);
        while (at < 1000)
            make_section(client, &at);
    }
    uint64_t excused = 0, violations = 0;
    for (size_t i = 0; i < span_count; i++) {
        for (size_t k = i + 1; k < span_count; k++) {
            if (!overlap(&spans[i], &spans[k]))
                continue;
            if (is_excused(&spans[i], &spans[k], flush, done))
                excused++;
            else
                violations++;
        }
    }
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->holds, span_count);
    ck_assert_uint_eq(verdict->overlaps, violations);
    ck_assert_uint_eq(verdict->excused, excused);
    ck_assert_int_eq(verdict->exit_status, violations > 0 ? 1 : 0);
}

/* Writes of random values to one record, by contenders that read what they say they read. */
TEST(rules, random_writes_as_plain_reference, .rows = 50)
{
    state = (uint64_t)_i * 104729 + 3;
    uint64_t record = 0, lost = 0;
    int64_t at = 0;
    for (int i = 0; i < 100; i++, at += 10 * MS) {
        uint64_t back = draw(10) == 0 && record > 0 ? draw(record < 5 ? record : 5) + 1 : 0;
        lost += back;
        record = record - back + 1;
        made_pair(&made, at, record, (unsigned)draw(4), 0);
    }
    ck_assert_uint_eq(made_check(&made)->lost_updates, lost);
    ck_assert_uint_eq(made.verdict->writes, record + lost);
}

CASE(rules, .set_up = set_up, .tear_down = tear_down)
