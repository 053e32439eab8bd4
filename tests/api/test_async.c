/* tags: threads */
/* test_async.c - asynchronous calls driven by a loop that goes by the descriptor and the
 * time-out alone, or by the background thread: results, order, time. */
#include "config_auto.h"

#include "fake.h"
#include "masters.h"
#include "told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct masters *masters;
static redlock *client, *other;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);

static void open_masters(const char *settings)
{
    masters = masters_start(3, NULL);
    client = client_open(masters_file(masters, settings));
    other = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 3 && client_ready(other) == 3, 10000));
}

static void close_masters(void)
{
    redlock_close(client);
    redlock_close(other);
}

/* All must go well. */
static redlock_lock *take_by_loop(const char *name)
{
    struct told told = {.calls = 0};
    told_try(client, name, 0, &told);
    ck_assert(turn_until(client, told.calls == 1, 5000));
    ck_assert_int_eq(told.result, 0);
    return told.lock;
}

/* ---- results ---------------------------------------------------------------------------- */

TEST(async, lock_is_taken_extended_and_released_by_loop)
{
    struct told took = {.calls = 0}, extended = {.calls = 0}, released = {.calls = 0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    uint64_t id = 0;
    char name[] = {'n', '\0', 'm'};
    open_masters(NULL);
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_int_eq(redlock_fd(client), redlock_fd(client));
    options.ttl_ms = 5000;
    options.report = &report;
    ck_assert_int_eq(redlock_try_async_n(client, name, 3, &options, told_done, &took, &id), 0);
    ck_assert_uint_ne(id, 0);
    memset(name, 'x', sizeof(name)); /* it was copied */
    options.ttl_ms = 1;
    ck_assert(turn_until(client, took.calls == 1, 5000));
    ck_assert_int_eq(took.result, 0);
    ck_assert_int_gt(took.validity_ms, 4000);
    ck_assert(pthread_equal(took.thread, pthread_self()));
    size_t len;
    ck_assert_mem_eq(redlock_name_at(took.lock, 0, &len), "n\0m", 3);
    ck_assert_uint_eq(len, 3);
    ck_assert_msg(report.nodes == 3 && report.needed == 2 && report.rounds == 1 &&
                      report.granted >= 2 && report.held == 0,
                  "%s", client_told(&report));

    ck_assert_int_eq(redlock_extend_async(took.lock, 20000, &report, told_done, &extended), 0);
    ck_assert_int_eq(redlock_extend_async(took.lock, 0, NULL, told_done, &extended),
                     REDLOCK_EBUSY);
    ck_assert(turn_until(client, extended.calls == 1, 5000));
    ck_assert_int_eq(extended.result, 0);
    ck_assert_ptr_eq(extended.lock, took.lock);
    ck_assert_int_gt(extended.validity_ms, 19000);
    ck_assert_msg(report.granted >= 2, "%s", client_told(&report));

    ck_assert_int_eq(redlock_release_async(took.lock, told_done, &released), 0);
    ck_assert_int_eq(redlock_validity_ms(took.lock), 0);
    ck_assert_int_eq(redlock_release_async(took.lock, told_done, &released), REDLOCK_ENOTHELD);
    ck_assert_int_eq(redlock_extend_async(took.lock, 0, NULL, told_done, &extended),
                     REDLOCK_ENOTHELD);
    ck_assert(turn_until(client, released.calls == 1, 5000));
    ck_assert_int_eq(released.result, 0);
    ck_assert_ptr_null(released.lock);
    ck_assert(turn_until(client, client_stats(client).pending_releases == 0, 2000));
    ck_assert_int_eq(master_do(masters, 0, "DBSIZE", NULL).number, 0);
    ck_assert_uint_eq(client_stats(client).released, 1);
    ck_assert_int_eq(took.calls, 1);
    ck_assert_int_eq(extended.calls, 1);
    close_masters();
    ck_assert_int_eq(released.calls, 1);
}

TEST(async, callbacks_get_results_of_blocking_calls)
{
    struct told told = {.calls = 0};
    open_masters(NULL);
    redlock_lock *held = client_take(other, "name");
    told_try(client, "name", 0, &told);
    ck_assert(turn_until(client, told.calls == 1, 5000));
    ck_assert_int_eq(told.result, REDLOCK_EHELD);
    ck_assert_ptr_null(told.lock);
    ck_assert_int_eq(redlock_release(held), 0);

    redlock_lock *lock = take_by_loop("gone");
    ck_assert(wait_until(masters_with(masters, "gone") == 3, 2000));
    told_turn(client, 50); /* hear all of them: who owes an answer can't be asked */
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "DEL", "gone", NULL);
    ck_assert_int_eq(redlock_extend_async(lock, 20000, NULL, told_done, &told), 0);
    ck_assert(turn_until(client, told.calls == 2, 5000));
    ck_assert_int_eq(told.result, REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_extend_async(lock, 0, NULL, told_done, &told), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release_async(lock, told_done, &told), 0);
    ck_assert(turn_until(client, told.calls == 3, 5000));
    ck_assert_int_eq(told.result, REDLOCK_EEXPIRED);

    lock = take_by_loop("unknown");
    master_kill(masters, 0);
    master_kill(masters, 1);
    ck_assert_int_eq(redlock_extend_async(lock, 20000, NULL, told_done, &told), 0);
    ck_assert(turn_until(client, told.calls == 4, 10000));
    ck_assert_int_eq(told.result, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(redlock_release_async(lock, told_done, &told), 0);
    ck_assert(turn_until(client, told.calls == 5, 10000));
    ck_assert_int_eq(told.result, REDLOCK_EUNCONFIRMED);
    told_try(client, "none", 0, &told);
    ck_assert(turn_until(client, told.calls == 6, 10000));
    ck_assert_int_eq(told.result, REDLOCK_ENOQUORUM);
    close_masters();
    ck_assert_int_eq(told.calls, 6);
}

TEST(async, release_without_callback_is_counted)
{
    open_masters("node-timeout 200ms\n");
    ck_assert_int_eq(redlock_release_async(take_by_loop("name"), NULL, NULL), 0);
    ck_assert(turn_until(client, client_stats(client).released == 1, 5000));
    ck_assert_uint_eq(client_stats(client).unconfirmed, 0);
    redlock_lock *lock = take_by_loop("name");
    master_pause(masters, 0);
    master_pause(masters, 1);
    ck_assert_int_eq(redlock_release_async(lock, NULL, NULL), 0);
    ck_assert(turn_until(client, client_stats(client).unconfirmed == 1, 5000));
    ck_assert_uint_eq(client_stats(client).released, 1);
    master_resume(masters, 0);
    master_resume(masters, 1);
    close_masters();
}

/* A loop that stands is no reason to say that a release is not confirmed. */
TEST(async, release_answered_while_loop_stood_is_confirmed)
{
    enum { NODE_TIMEOUT_MS = 200 };
    struct told told = {.calls = 0};
    open_masters("node-timeout 200ms\n");
    redlock_lock *lock = take_by_loop("name");
    int64_t begun = now_ms();
    ck_assert_int_eq(redlock_release_async(lock, told_done, &told), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0 &&
                             now_ms() - begun > 2 * NODE_TIMEOUT_MS,
                         5000));
    ck_assert(turn_until(client, told.calls == 1, 5000));
    ck_assert_int_eq(told.result, 0);
    close_masters();
}

/* ---- order ------------------------------------------------------------------------------ */

TEST(async, callbacks_come_in_order_of_completion)
{
    enum { TRIES = 5 };
    static const int order[TRIES] = {3, 0, 4, 2, 1};
    struct told told[TRIES], quick = {.calls = 0};
    uint64_t ids[TRIES];
    memset(told, 0, sizeof(told));
    open_masters(NULL);
    redlock_lock *held = client_take(other, "name");
    redlock_fd(client);
    for (int i = 0; i < TRIES; i++)
        ids[i] = told_try(client, "name", -1, &told[i]);
    told_try(client, "free", 0, &quick);
    ck_assert(turn_until(client, quick.calls == 1, 5000)); /* begun last, done first */
    for (int i = 0; i < TRIES; i++)
        ck_assert_int_eq(redlock_cancel(client, ids[order[i]]), 0);
    for (int i = 0; i < TRIES; i++)
        ck_assert_int_eq(told[i].calls, 0);
    ck_assert_int_eq(redlock_timeout_ms(client), 0);
    ck_assert_int_eq(redlock_process(client), 0);
    for (int i = 0; i < TRIES; i++) {
        ck_assert_int_eq(told[order[i]].calls, 1);
        ck_assert_int_eq(told[order[i]].result, REDLOCK_ECANCELED);
        ck_assert_uint_eq(told[order[i]].place, quick.place + (unsigned)i + 1);
    }
    ck_assert_int_eq(redlock_release(held), 0);
    close_masters();
}

/* Tries of one client for one name are served in the order in which they came. */
TEST(async, waiting_tries_are_served_in_order)
{
    enum { TRIES = 6 };
    struct told told[TRIES], released[TRIES];
    memset(told, 0, sizeof(told));
    memset(released, 0, sizeof(released));
    open_masters(NULL);
    redlock_lock *held = client_take(other, "name");
    redlock_fd(client);
    for (int i = 0; i < TRIES; i++)
        told_try(client, "name", 30000, &told[i]);
    ck_assert(turn_until(client, client_stats(client).waiting == TRIES, 5000));
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < TRIES; i++) {
        ck_assert(turn_until(client, told[i].calls == 1, 5000));
        ck_assert_int_eq(told[i].result, 0);
        ck_assert(i + 1 == TRIES || told[i + 1].calls == 0);
        redlock_release_async(told[i].lock, told_done, &released[i]);
    }
    ck_assert(turn_until(client, released[TRIES - 1].calls == 1, 5000));
    ck_assert_uint_eq(client_stats(client).waiting, 0);
    close_masters();
}

/* ---- time ------------------------------------------------------------------------------- */

/* Nothing ever happens on the descriptor: what ends these is the time-out. */
TEST(async, timeout_says_when_to_come_at_latest)
{
    struct fake *fakes[3];
    struct told waited = {.calls = 0}, lost = {.calls = 0}, unheard = {.calls = 0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 900;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    fakes_start(fakes, 3);
    client = client_open(fakes_file(fakes, 3, NULL));
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    struct told took = {.calls = 0};
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_int_eq(redlock_try_async_n(client, "short", 5, &options, told_done, &took, NULL),
                     0);
    ck_assert(turn_until(client, took.calls == 1, 5000));
    int64_t begun = now_ms();
    for (int i = 0; i < 3; i++)
        fake_rule(fakes[i],
                  &(struct fake_rule){.match = "*", .cut = true, .then = FAKE_SILENT});
    told_try(client, "silent", 400, &waited); /* a node's share of it is 133 ms */
    ck_assert_int_eq(redlock_release_async(took.lock, told_done, &unheard), 0);
    unsigned turns = 0;
    while ((waited.calls == 0 || unheard.calls == 0) && now_ms() < begun + 5000) {
        told_turn(client, 5000);
        turns++;
    }
    ck_assert(waited.result == REDLOCK_EUNDECIDED || waited.result == REDLOCK_ENOQUORUM);
    /* Of the 5 s that the loop would sleep. */
    ck_assert_int_lt(waited.at_ms - begun, 400 + 2000);
    ck_assert_int_eq(unheard.result, REDLOCK_EUNCONFIRMED);
    ck_assert_int_lt(unheard.at_ms - begun, 300 + 2000);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_msg(turns < 100, "%u turns", turns);
    redlock_close(client);
}

TEST(async, loop_hears_of_losses_and_wakes_in_time)
{
    struct told took = {.calls = 0}, lost = {.calls = 0}, waited = {.calls = 0};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_masters(NULL);
    redlock_lock *held = client_take(other, "held");
    options.ttl_ms = 700;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_int_eq(redlock_try_async_n(client, "short", 5, &options, told_done, &took, NULL),
                     0);
    ck_assert(turn_until(client, took.calls == 1, 5000));
    int64_t begun = took.at_ms;
    told_try(client, "held", 400, &waited);
    unsigned turns = 0;
    for (; lost.calls == 0 && now_ms() < begun + 5000; turns++)
        told_turn(client, 5000);
    ck_assert_int_eq(waited.result, REDLOCK_EHELD);
    ck_assert_int_lt(waited.at_ms - begun, 400 + 2000);
    ck_assert_int_ge(waited.at_ms - begun, 300);
    ck_assert_int_le(lost.at_ms - begun, took.validity_ms + 2000);
    ck_assert_ptr_eq(lost.lock, took.lock);
    ck_assert_msg(turns < 200, "%u turns", turns);
    ck_assert_int_eq(redlock_release(held), 0);
    close_masters();
}

TEST(async, idle_client_wants_nothing)
{
    open_masters(NULL);
    ck_assert_int_eq(redlock_release_async(take_by_loop("name"), NULL, NULL), 0);
    ck_assert(turn_until(client, client_stats(client).pending_releases == 0, 2000));
    /* Its nodes are known and up: nothing is due for a second at the least. */
    unsigned turns = 0;
    for (int64_t end = now_ms() + 500; now_ms() < end; turns++)
        told_turn(client, end - now_ms() > 0 ? end - now_ms() : 0);
    ck_assert_msg(turns < 10, "%u turns", turns);
    close_masters();
}

/* ---- without a loop --------------------------------------------------------------------- */

TEST(async, background_thread_delivers_where_there_is_no_loop, .rows = 2)
{
    struct told took = {.calls = 0}, extended = {.calls = 0}, released = {.calls = 0};
    open_masters(_i == 0 ? NULL : "background always\n");
    for (int i = 1; i <= 20; i++) {
        told_try(client, "name", 1000, &took);
        ck_assert(wait_until(took.calls == i, 5000));
        ck_assert_int_eq(took.result, 0);
        ck_assert(!pthread_equal(took.thread, pthread_self()));
        ck_assert_int_eq(redlock_extend_async(took.lock, 20000, NULL, told_done, &extended), 0);
        ck_assert(wait_until(extended.calls == i, 5000));
        ck_assert_int_eq(extended.result, 0);
        ck_assert_int_eq(redlock_release_async(took.lock, told_done, &released), 0);
        ck_assert(wait_until(released.calls == i, 5000));
        ck_assert_int_eq(released.result, 0);
    }
    close_masters();
}

CASE(async, .timeout_s = 60)
