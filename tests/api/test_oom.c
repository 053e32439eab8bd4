/* test_oom.c - every allocation fails once, and there is none where there should be none. */
#include "config_auto.h"

#include "alloc.h"
#include "base/limits.h"
#include "client.h"
#include "masters.h"
#include "told.h"

#include <malloc.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct masters *masters;
static const char *file;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);

static bool may_be(int code)
{
    return code == 0 || code == REDLOCK_ENOMEM;
}

/* With memory that is its own, which must not be used where the library has none. */
static int inspect(redlock *client)
{
    redlock_holder holders[REDLOCK_HOLDERS_SHOWN];
    redlock_node_info nodes[3];
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(nodes, 3, holders, REDLOCK_HOLDERS_SHOWN);
    int code = redlock_inspect_n(client, "name", 4, NULL, &info);
    return code == REDLOCK_ENOMEM && info.nodes > 0 ? REDLOCK_EINVAL : code;
}

/* With one of three nodes without memory the others go on. The line where something came out
 * that may not, or 0. No assertion of Check's: it allocates. */
static int live_once(bool whole)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL, *again = NULL;
    redlock_error error = REDLOCK_ERROR_INIT;
    char text[REDLOCK_HANDLE_MAX];
    int code = redlock_open(file, &error, &client);
    if (code != 0) /* ESYSTEM, ERANDOM: OpenSSL had no memory, and says no more than no */
        return !whole && !client && error.text[0] &&
                       (code == REDLOCK_ENOMEM || code == REDLOCK_ESYSTEM ||
                        code == REDLOCK_ERANDOM)
                   ? 0
                   : __LINE__;
    code = redlock_get_status(client, &status);
    if (code != 0)
        return __LINE__;
    code = client_try(client, "name", 0, 2000, &report, &lock);
    if (!may_be(code) || (code == 0) != (lock != NULL) || (whole && code != 0))
        return __LINE__;
    if (lock && !may_be(redlock_extend(lock, CLIENT_TTL_MS + 5000, NULL)))
        return __LINE__;
    if (lock && redlock_validity_ms(lock) <= 0)
        return __LINE__;
    if (!may_be(inspect(client)))
        return __LINE__;
    if (lock) {
        code = redlock_detach(lock, text, sizeof(text));
        if (!may_be(code))
            return __LINE__;
        code = code == 0 ? redlock_attach(client, text, &again) : code;
        if (!may_be(code) || (whole && !again))
            return __LINE__;
        code = again ? redlock_release(again) : 0;
        if (code != 0)
            return __LINE__;
    }
    if (!may_be(redlock_force_release_n(client, "name", 4, REDLOCK_OFF, &report)))
        return __LINE__;
    redlock_close(client);
    return 0;
}

TEST(oom, every_allocation_may_fail, .rows = 2)
{
    if (!alloc_works())
        return; /* a sanitizer has the allocator; the plain build tests this */
    masters = masters_start(3, NULL);
    file = masters_file(masters,
                        _i == 0 ? "background never\n" : "background never\nlinger 100ms\n");
    ck_assert_int_eq(live_once(true), 0); /* what is made once and kept is made, */
    ERR_clear_error();                    /* and what OpenSSL keeps, too */
    long live = alloc_live(), failed_calls = 0;
    for (long number = 1;; number++) {
        alloc_fail_at(number);
        int line = live_once(false);
        long counted = alloc_count();
        alloc_fail_at(0);
        ERR_clear_error(); /* OpenSSL's own list of what went wrong, kept per thread */
        ck_assert_msg(line == 0, "allocation %ld failed: line %d, code of the round %s", number,
                      line, client_told(&report));
        ck_assert_msg(alloc_live() == live, "allocation %ld failed: %ld blocks leaked", number,
                      alloc_live() - live);
        if (counted < number)
            break;
        failed_calls++;
    }
    ck_assert_int_gt(failed_calls, 30);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "FLUSHALL", NULL);
    ck_assert_int_eq(live_once(true), 0);
}

/* The connections are gone, and there is no memory when they are made anew. */
TEST(oom, reconnect_without_memory_is_tried_again)
{
    if (!alloc_works())
        return;
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    long failed_calls = 0;
    for (long number = 1;; number++) {
        redlock_lock *lock = NULL;
        for (unsigned i = 0; i < 3; i++)
            master_do(masters, i, "CLIENT", "KILL", "TYPE", "normal", NULL);
        alloc_fail_at(number);
        int code = client_try(client, "name", 0, 5000, &report, &lock);
        long counted = alloc_count();
        alloc_fail_at(0);
        ck_assert_msg(may_be(code), "allocation %ld failed: %d: %s", number, code,
                      client_told(&report));
        if (code == 0)
            ck_assert_int_eq(redlock_release(lock), 0);
        if (counted < number)
            break;
        failed_calls++;
    }
    ck_assert_int_ge(failed_calls, 3);
    ck_assert(wait_until(client_ready(client) == 3, 5000));
    redlock_close(client);
}

/* Each wait makes a line, and listens on a channel, on connections that the first one makes. */
TEST(oom, wait_without_memory_ends_and_leaves_nothing)
{
    if (!alloc_works())
        return;
    masters = masters_start(1, NULL);
    redlock *holder = client_open(masters_file(masters, NULL));
    redlock_lock *held = client_take_as(holder, "name", REDLOCK_REENTRANT, NULL);
    file = masters_file(masters, "background never\n");
    redlock_close(client_open(file)); /* what is made once and kept is made */
    long live = alloc_live(), failed_calls = 0, wait_ms = 20;
    for (long number = 1;; number++) {
        redlock_lock *lock = NULL;
        redlock *client = client_open(file);
        ck_assert(wait_until(client_ready(client) == 1, 5000));
        alloc_fail_at(number);
        int code = client_try_as(client, "name", REDLOCK_REENTRANT, NULL, wait_ms, &lock);
        long counted = alloc_count();
        alloc_fail_at(0);
        redlock_close(client);
        /* A master may have had no time to answer: the same once more, where it has. */
        bool too_short = code == REDLOCK_EUNDECIDED && wait_ms == 20;
        wait_ms = too_short ? 1000 : 20;
        if (too_short) {
            number--;
            continue;
        }
        ck_assert_msg(code == REDLOCK_EHELD || code == REDLOCK_ENOMEM,
                      "allocation %ld failed: %s", number, redlock_err_name(code));
        ck_assert_msg(alloc_live() <= live, "allocation %ld failed: %ld blocks leaked", number,
                      alloc_live() - live);
        if (counted < number)
            break;
        failed_calls++;
    }
    ck_assert_int_ge(failed_calls, 8);
    ck_assert_int_eq(redlock_release(held), 0);
    redlock_close(holder);
}

/* A node owes as many answers as there is room for. A question that finds no memory for one more
 * is not asked, and is not waited for. */
TEST(oom, question_without_memory_is_told_at_once)
{
    static struct told told[RL_FIFO_MIN];
    if (!alloc_works())
        return;
    masters = masters_start(1, NULL);
    redlock *client = client_open(masters_file(masters, "node-timeout 60s\n"));
    ck_assert(wait_until(client_ready(client) == 1, 5000));
    master_pause(masters, 0);
    for (int i = 0; i < RL_FIFO_MIN; i++) {
        char name[16];
        snprintf(name, sizeof(name), "n%d", i);
        (void)told_try(client, name, 60000, &told[i]);
    }
    int code = REDLOCK_ENOMEM;
    /* What has grown stays so, and then the next one has its number. */
    for (long tries = 0; code == REDLOCK_ENOMEM; tries++) {
        alloc_fail_at(1 + tries / 2);
        code = redlock_force_release_n(client, "name", 4, REDLOCK_OFF, &report);
        alloc_fail_at(0);
    }
    ck_assert_int_eq(code, REDLOCK_ENOQUORUM);
    ck_assert_str_eq(report_votes[0].text, "takes no more requests");
    master_resume(masters, 0);
    redlock_close(client);
}

/* Of which the pairs are: none, for one name. */
static size_t several;

static int try_some(redlock *client, redlock_lock **ret_lock)
{
    static const char *const names[] = {"b", "c", "a", "name"};
    return several ? client_try_all(client, names, several, 0, &report, ret_lock)
                   : client_try(client, "name", 0, 0, &report, ret_lock);
}

static void pairs(redlock *client, int count)
{
    for (int i = 0; i < count; i++) {
        redlock_lock *lock = NULL;
        int code = try_some(client, &lock);
        if (code != 0)
            suite_die("try %d: %d: %s", i, code, client_told(&report));
        code = redlock_release(lock);
        if (code != 0)
            suite_die("release %d: %d", i, code);
    }
}

/* A release is sent, whatever there is no memory for: of as many names as there may be. */
TEST(oom, several_names_are_released_without_memory)
{
    static char bytes[REDLOCK_NAMES_MAX][REDLOCK_NAME_MAX / REDLOCK_NAMES_MAX];
    redlock_bytes names[REDLOCK_NAMES_MAX];
    if (!alloc_works())
        return;
    for (size_t i = 0; i < REDLOCK_NAMES_MAX; i++) {
        memset(bytes[i], 'A' + (int)i, sizeof(bytes[i]));
        names[i] = (redlock_bytes){.bytes = bytes[i], .len = sizeof(bytes[i])};
    }
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    for (long number = 1;; number++) {
        redlock_lock *lock = NULL;
        ck_assert(wait_until(client_ready(client) == 3, 10000));
        ck_assert_int_eq(redlock_try_names_n(client, names, REDLOCK_NAMES_MAX, NULL, &lock), 0);
        alloc_fail_at(number);
        int code = redlock_release(lock);
        long counted = alloc_count();
        alloc_fail_at(0);
        ck_assert(code == REDLOCK_OK || code == REDLOCK_EUNCONFIRMED);
        for (unsigned i = 0; i < 3; i++)
            ck_assert(wait_until(master_do(masters, i, "DBSIZE", NULL).number == 0, 2000));
        if (counted < number)
            break;
    }
    redlock_close(client);
}

TEST(oom, round_allocates_nothing, .rows = 2)
{
    several = _i == 0 ? 0 : 4;
    masters = masters_start(5, NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    ck_assert(wait_until(client_ready(client) == 5, 10000));
    pairs(client, 5000);
    /* A master that lags more than ever before makes the pools grow: that happens, but not
     * in every window. */
    long counted = 1;
    for (int window = 0; window < 20 && counted > 0; window++) {
        alloc_fail_at(0);
        pairs(client, 500);
        counted = alloc_count();
    }
    ck_assert_msg(counted == 0, "%ld allocations in 500 pairs", counted);
    redlock_close(client);
}

TEST(oom, memory_is_flat_over_many_pairs)
{
    masters = masters_start(3, NULL);
    redlock *client = client_open(masters_file(masters, NULL));
    pairs(client, 5000);
    long live = alloc_live();
    size_t in_use = mallinfo2().uordblks;
    pairs(client, 30000);
    /* What a master that lags needs is kept for the next time it lags: a pool, not a leak. */
    ck_assert_int_le(alloc_live(), live + 3000);
    ck_assert_uint_le(mallinfo2().uordblks, in_use + (1 << 20));
    redlock_close(client);
}

/* One of five does not answer: what it owes us is bounded, and comes down to nothing. */
TEST(oom, stopped_node_gathers_no_memory)
{
    masters = masters_start(5, NULL);
    redlock *client = client_open(masters_file(masters, "node-timeout 2s\n"));
    ck_assert(wait_until(client_ready(client) == 5, 10000));
    pairs(client, 2000);
    master_pause(masters, 3);
    pairs(client, 3000);
    size_t in_use = mallinfo2().uordblks;
    pairs(client, 10000);
    ck_assert_uint_le(mallinfo2().uordblks, in_use + (1 << 20));
    master_resume(masters, 3);
    ck_assert(
        wait_until((client_ready(client), client_stats(client).pending_releases == 0), 10000));
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    redlock_close(client);
}

CASE(oom, .timeout_s = 300)
