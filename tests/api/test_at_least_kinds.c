/* test_at_least_kinds.c - options.at_least_ms of every kind of lock, of several names, of owners
 * that take it again, and of a lock that another process takes up. */
#include "config_auto.h"

#include "clients.h"

#include <string.h>

enum { LEAST_MS = 1500, PATIENT_MS = 20000, LONG_MS = 20000 };

static int64_t taken_ms; /* before the lock was asked for */

static int try_as(redlock *client, int kind, int64_t at_least_ms, int64_t wait_ms,
                  redlock_lock **ret_lock)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind;
    options.owner = kind == REDLOCK_PLAIN ? NULL : client == one ? "one" : "two";
    options.ttl_ms = 500;
    options.at_least_ms = at_least_ms;
    options.wait_ms = wait_ms;
    return redlock_try(client, "name", &options, ret_lock);
}

static redlock_lock *take(int kind, int64_t at_least_ms)
{
    redlock_lock *lock = NULL;
    ck_assert_int_eq(try_as(one, kind, at_least_ms, 0, &lock), 0);
    return lock;
}

static void expect_kept(int kind, int64_t at_least_ms)
{
    redlock_lock *other = NULL;
    ck_assert_int_eq(try_as(two, kind, 0, 0, &other), REDLOCK_EHELD);
    ck_assert_int_eq(try_as(two, kind, 0, PATIENT_MS, &other), 0);
    ck_assert_int_ge(now_ms() - taken_ms, at_least_ms);
    ck_assert_int_eq(redlock_release(other), 0);
}

static const struct {
    int kind, excluded;
    unsigned n;
} rows[] = {
    {REDLOCK_PLAIN, REDLOCK_PLAIN, 1},         {REDLOCK_PLAIN, REDLOCK_PLAIN, 3},
    {REDLOCK_REENTRANT, REDLOCK_REENTRANT, 1}, {REDLOCK_REENTRANT, REDLOCK_REENTRANT, 3},
    {REDLOCK_FAIR, REDLOCK_FAIR, 1},           {REDLOCK_READ, REDLOCK_WRITE, 1},
    {REDLOCK_READ, REDLOCK_WRITE, 3},          {REDLOCK_WRITE, REDLOCK_READ, 1},
    {REDLOCK_WRITE, REDLOCK_WRITE, 3},         {REDLOCK_WRITE, REDLOCK_READ, 3},
};

TEST(kinds, r21_released_lock_keeps_others_out, .rows = ROWS(rows))
{
    OPEN_CLIENTS(rows[_i].n, NULL);
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_release(take(rows[_i].kind, LEAST_MS)), 0);
    expect_kept(rows[_i].excluded, LEAST_MS);
}

/* It keeps out others. The owner's next hold ends, and the first one's time stands. */
TEST(kinds, owner_is_not_kept_out, .rows = 2)
{
    OPEN_CLIENTS(_i == 0 ? 1 : 3, NULL);
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_release(take(REDLOCK_REENTRANT, LEAST_MS)), 0);
    ck_assert_int_eq(redlock_release(take(REDLOCK_REENTRANT, 0)), 0);
    expect_kept(REDLOCK_REENTRANT, LEAST_MS);
}

/* Of nested holds each keeps its time: the outer one when the inner one has ended, and the inner
 * one when the outer one has. */
TEST(kinds, r21_longest_of_nested_holds_counts, .rows = 4)
{
    bool of_inner = _i % 2;
    OPEN_CLIENTS(_i < 2 ? 1 : 3, NULL);
    taken_ms = now_ms();
    redlock_lock *outer = take(REDLOCK_REENTRANT, of_inner ? 0 : LEAST_MS);
    redlock_lock *inner = take(REDLOCK_REENTRANT, of_inner ? LEAST_MS : 0);
    ck_assert_int_eq(redlock_release(inner), 0);
    ck_assert_int_eq(redlock_release(outer), 0);
    expect_kept(REDLOCK_REENTRANT, LEAST_MS);
}

/* A writer that reads under its own lock, and gives up the one first, or the other. */
TEST(kinds, r21_writer_that_reads_keeps_readers_out, .rows = 4)
{
    OPEN_CLIENTS(_i < 2 ? 1 : 3, NULL);
    taken_ms = now_ms();
    redlock_lock *writes = take(REDLOCK_WRITE, LEAST_MS);
    redlock_lock *reads = take(REDLOCK_READ, 0);
    ck_assert_int_eq(redlock_release(_i % 2 ? writes : reads), 0);
    ck_assert_int_eq(redlock_release(_i % 2 ? reads : writes), 0);
    expect_kept(REDLOCK_READ, LEAST_MS);
}

TEST(kinds, readers_are_not_kept_out_by_a_reader, .rows = 2)
{
    redlock_lock *other = NULL;
    OPEN_CLIENTS(_i == 0 ? 1 : 3, NULL);
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_release(take(REDLOCK_READ, LEAST_MS)), 0);
    ck_assert_int_eq(try_as(two, REDLOCK_READ, 0, 0, &other), 0);
    ck_assert_int_eq(redlock_release(other), 0);
    expect_kept(REDLOCK_WRITE, LEAST_MS);
}

TEST(kinds, r21_several_names_are_all_kept)
{
    static const char *const names[] = {"a", "b"};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    options.ttl_ms = 500;
    options.at_least_ms = LEAST_MS;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try_names(one, names, 2, &options, &lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    for (int i = 2; i-- > 0;) {
        ck_assert_int_eq(client_try(two, names[i], 1000, PATIENT_MS, NULL, &lock), 0);
        ck_assert_int_ge(now_ms() - taken_ms, LEAST_MS);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
}

TEST(kinds, r21_fenced_lock_is_kept_and_its_next_token_is_greater)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    options.ttl_ms = 500;
    options.fenced = 1;
    options.at_least_ms = LEAST_MS;
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    uint64_t token = redlock_fencing_token(lock);
    ck_assert_int_eq(redlock_release(lock), 0);
    options.at_least_ms = 0;
    options.wait_ms = PATIENT_MS;
    ck_assert_int_eq(redlock_try(two, "name", &options, &lock), 0);
    ck_assert_int_ge(now_ms() - taken_ms, LEAST_MS);
    ck_assert_uint_gt(redlock_fencing_token(lock), token);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* ---- what others see -------------------------------------------------------------------- */

/* They are told how long to wait, and wait so long: they don't ask again and again. */
TEST(others, waiter_learns_the_end_from_the_refusal)
{
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(votes, REDLOCK_NODES_MAX);
    redlock_lock *other = NULL;
    OPEN_CLIENTS(3, NULL);
    taken_ms = now_ms();
    ck_assert_int_eq(redlock_release(take(REDLOCK_PLAIN, LEAST_MS)), 0);
    ck_assert_int_eq(client_try(two, "name", 1000, 0, &report, &other), REDLOCK_EHELD);
    int64_t left_ms = LEAST_MS - (now_ms() - taken_ms);
    for (unsigned i = 0; i < report.node_count; i++) {
        if (votes[i].vote == REDLOCK_VOTE_HELD)
            ck_assert_int_ge(votes[i].ttl_ms, left_ms - 5);
    }
    uint64_t before = client_stats(two).rounds;
    ck_assert_int_eq(client_try(two, "name", 1000, PATIENT_MS, NULL, &other), 0);
    ck_assert_uint_le(client_stats(two).rounds - before, 6);
    ck_assert_int_eq(redlock_release(other), 0);
}

/* ---- handles ---------------------------------------------------------------------------- */

static redlock_lock *hand_over(redlock_lock *lock)
{
    char text[REDLOCK_HANDLE_MAX];
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &lock), 0);
    return lock;
}

TEST(handles, r21_text_carries_the_time)
{
    redlock_lock *other = NULL;
    OPEN_CLIENTS(3, NULL);
    taken_ms = now_ms();
    redlock_lock *lock = hand_over(take(REDLOCK_PLAIN, LEAST_MS));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(client_try(one, "name", 1000, PATIENT_MS, NULL, &other), 0);
    ck_assert_int_ge(now_ms() - taken_ms, LEAST_MS);
    ck_assert_int_eq(redlock_release(other), 0);
}

TEST(handles, extended_by_the_usual_ttl_it_still_keeps_its_time)
{
    redlock_lock *other = NULL;
    OPEN_CLIENTS(3, NULL);
    taken_ms = now_ms();
    redlock_lock *lock = hand_over(take(REDLOCK_PLAIN, LEAST_MS));
    ck_assert_int_eq(redlock_extend(lock, 0, NULL), 0);
    ck_assert_int_gt(redlock_validity_ms(lock), 500);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(client_try(one, "name", 1000, PATIENT_MS, NULL, &other), 0);
    ck_assert_int_ge(now_ms() - taken_ms, LEAST_MS);
    ck_assert_int_eq(redlock_release(other), 0);
}

TEST(handles, released_after_the_time_it_is_free)
{
    OPEN_CLIENTS(3, NULL);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.ttl_ms = LONG_MS;
    options.at_least_ms = 300;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    lock = hand_over(lock);
    pause_ms(310);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

CASE(kinds, .timeout_s = 90)
CASE(others, .timeout_s = 90)
CASE(handles, .timeout_s = 90)
