/* test_chaos_shared.c - the checker of redlock-chaos where readers share: who may overlap whom,
 * and what a reader may read. */
#include "config_auto.h"

#include "chaos_made.h"

#include "suite.h"

#include <string.h>

static struct made made;
static const struct chaos_verdict *verdict;

static void set_up(void)
{
    made_init(&made);
    made.options.lock = CHAOS_READ_WRITE;
}

static void tear_down(void)
{
    made_free(&made);
}

static void shared(void)
{
    made.event[made.count - 1].shared = 1;
}

/* From 1 ms after `at_ns` on, for so long. */
static void hold(int64_t at_ns, int64_t for_ns, unsigned client, bool reads)
{
    made_asks(&made, at_ns, client, 0);
    if (reads)
        shared();
    made_holds(&made, at_ns + MS, at_ns + MS + for_ns, client, 0);
    if (reads)
        shared();
}

static void read_at(int64_t at_ns, uint64_t value, int64_t until_ns, unsigned client)
{
    made_reads(&made, at_ns, value, client, 0);
    made.event[made.count - 1].until_ns = until_ns;
    shared();
}

static void lets_go(int64_t at_ns, unsigned client)
{
    made_event(&made, at_ns, CHAOS_LETS_GO, client, 0);
}

/* ---- who may overlap whom --------------------------------------------------------------- */

TEST(shared, only_readers_overlap, .rows = 4)
{
    static const struct {
        bool first, second;
        uint64_t overlaps;
        const char *text;
    } pairs[] = {
        {true, true, 0, NULL},
        {true, false, 1,
         "contender 1 believed to hold lock 0 while contender 0 did, as a reader"},
        {false, true, 1,
         "contender 1 believed to read under lock 0 while contender 0 did, as a writer"},
        {false, false, 1, "contender 1 believed to hold lock 0 while contender 0 did, for"},
    };
    hold(0, 100 * MS, 0, pairs[_i].first);
    hold(50 * MS, 100 * MS, 1, pairs[_i].second);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->overlaps, pairs[_i].overlaps);
    ck_assert_int_eq(verdict->exit_status, pairs[_i].overlaps > 0 ? 1 : 0);
    ck_assert_uint_eq(verdict->holds, 2);
    ck_assert_uint_eq(verdict->shared, (unsigned)pairs[_i].first + pairs[_i].second);
    if (pairs[_i].text)
        ck_assert_msg(strstr(verdict->finding[0].text, pairs[_i].text) != NULL, "%s",
                      verdict->finding[0].text);
}

/* A writer among many readers overlaps each of them. */
TEST(shared, each_pair_counts_once)
{
    hold(0, 100 * MS, 0, true);
    hold(10 * MS, 100 * MS, 1, true);
    hold(20 * MS, 100 * MS, 2, false);
    hold(30 * MS, 10 * MS, 3, true);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->overlaps, 3);
}

/* A reader that was killed is believed until its time is over: a writer must wait for that. */
TEST(shared, killed_readers_hold_lasts, .rows = 2)
{
    hold(0, 100 * MS, 0, true);      /* until 101 */
    hold(20 * MS, 50 * MS, 0, true); /* the next one on its seat */
    lets_go(30 * MS, 0);
    hold((100 - _i) * MS, 10 * MS, 1, false); /* has it 1 ms later */
    ck_assert_uint_eq(made_check(&made)->overlaps, (unsigned)_i);
}

/* ---- what a reader reads ---------------------------------------------------------------- */

/* Client 1 writes 1 while client 0 reads twice; or before, or after. */
static void write_between(int64_t write_ns, int64_t again_ns, uint64_t again)
{
    hold(0, 100 * MS, 0, true);
    read_at(10 * MS, 0, 0, 0);
    made_asks(&made, write_ns - 3 * MS, 1, 0);
    made_holds(&made, write_ns - 2 * MS, SEC, 1, 0);
    made_reads(&made, write_ns - MS, 0, 1, 0);
    made_writes(&made, write_ns, 1, 1, 0);
    lets_go(write_ns + MS, 1);
    read_at(again_ns, again, 101 * MS, 0);
    lets_go(again_ns + MS, 0);
    made.history.record[0] = 1;
}

TEST(shared, record_that_changes_under_reader_is_found)
{
    write_between(50 * MS, 60 * MS, 1);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->changed_reads, 1);
    ck_assert_uint_eq(verdict->overlaps, 1);
    ck_assert_int_eq(verdict->exit_status, 1);
    ck_assert_ptr_nonnull(strstr(verdict->text, "1 changed read"));
    ck_assert_uint_eq(verdict->lost_updates, 0);
}

/* It read before the write was done, or it did not change. */
TEST(shared, record_that_does_not_is_fine)
{
    write_between(50 * MS, 60 * MS, 0);
    ck_assert_uint_eq(made_check(&made)->changed_reads, 0);
}

/* A reader that was stopped and read when its time was over: it proves nothing. */
TEST(shared, late_read_proves_nothing, .rows = 2)
{
    int64_t at_ns = 101 * MS + _i;
    write_between(99 * MS, at_ns, 1);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->changed_reads, _i == 0 ? 1 : 0);
}

TEST(shared, flushed_keys_excuse_it)
{
    write_between(50 * MS, 60 * MS, 1);
    made_fault(&made, CHAOS_FAULT_FLUSHALL, 20 * MS, 21 * MS, 7, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->changed_reads, 0);
    ck_assert_uint_eq(verdict->excused, 2); /* the overlap too */
    ck_assert_int_eq(verdict->exit_status, 0);
}

/* A writer that landed too late is not the reader's lock's fault. */
TEST(shared, late_write_excuses_it)
{
    made_asks(&made, 0, 1, 0);
    made_holds(&made, MS, 20 * MS, 1, 0);
    made_reads(&made, 2 * MS, 0, 1, 0);
    hold(30 * MS, 100 * MS, 0, true);
    read_at(40 * MS, 0, 0, 0);
    made_writes(&made, 50 * MS, 1, 1, 0);
    made.event[made.count - 1].until_ns = 20 * MS;
    read_at(60 * MS, 1, 131 * MS, 0);
    made.history.record[0] = 1;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->changed_reads, 0);
    ck_assert_uint_eq(verdict->excused, 1);
}

/* The writer goes on as a reader: what it reads then is what it wrote. */
TEST(shared, writer_that_goes_on_as_reader, .rows = 2)
{
    hold(0, SEC, 0, false);
    made_reads(&made, 10 * MS, 0, 0, 0);
    made_writes(&made, 20 * MS, 1, 0, 0);
    lets_go(30 * MS, 0);
    made_holds(&made, 30 * MS, SEC, 0, 0);
    shared();
    read_at(40 * MS, 1, 0, 0);
    hold(45 * MS, 100 * MS, 2, true); /* another reader comes */
    if (_i > 0) {
        hold(50 * MS, 5 * MS, 1, false); /* and a writer, who must not */
        made_reads(&made, 52 * MS, 1, 1, 0);
        made_writes(&made, 53 * MS, 2, 1, 0);
    }
    read_at(60 * MS, 1 + (uint64_t)_i, SEC, 0);
    lets_go(70 * MS, 0);
    made.history.record[0] = 1 + (uint64_t)_i;
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->overlaps, _i > 0 ? 2 : 0);
    ck_assert_uint_eq(verdict->changed_reads, _i > 0 ? 1 : 0);
    ck_assert_uint_eq(verdict->lost_updates, 0);
    ck_assert_uint_eq(verdict->shared, 2);
}

/* A writer that is killed may have written what is not in the log; a reader can't have. */
TEST(shared, killed_reader_explains_no_write, .rows = 2)
{
    hold(0, 10 * MS, 0, _i > 0);
    made_reads(&made, 5 * MS, 0, 0, 0);
    if (_i > 0)
        shared();
    hold(20 * MS, 10 * MS, 0, true); /* the next one on its seat */
    lets_go(25 * MS, 0);
    made.history.record[0] = 1; /* nobody told of that */
    ck_assert_uint_eq(made_check(&made)->lost_updates, _i > 0 ? 1 : 0);
}

/* A write under a read lock is none that any reader of ours does; it is unread, and found. */
TEST(shared, second_read_is_no_read_before_write)
{
    hold(0, SEC, 0, true);
    read_at(10 * MS, 0, 0, 0);
    read_at(20 * MS, 0, SEC, 0);
    lets_go(30 * MS, 0);
    made_pair(&made, 40 * MS, 1, 0, 0);
    verdict = made_check(&made);
    ck_assert_uint_eq(verdict->changed_reads, 0);
    ck_assert_uint_eq(verdict->lost_updates, 0);
    ck_assert_uint_eq(verdict->overlaps, 0);
}

CASE(shared, .set_up = set_up, .tear_down = tear_down)
