/* tags: threads */
/* test_several.c - several names at once: all or none, each a plain lock to everybody else, one
 * handle for all of them. Waiting for them: test_several_wait.c. */
#include "config_auto.h"

#include "told.h"
#include "wait_scene.h"

#include <stdio.h>
#include <string.h>

static const unsigned sizes[] = {1, 3, 5};
static const char *const ab[] = {"a", "b"};
static const char *const ba[] = {"b", "a"};
static const char *const bc[] = {"b", "c"};

/* The value under a name on a master; "" where there is none. */
static const char *value(unsigned node, const char *name)
{
    static struct reply reply;
    reply = master_do(masters, node, "GET", name, NULL);
    return reply.type == '$' && reply.len > 0 ? reply.text : "";
}

/* ---- all or none ------------------------------------------------------------------------ */

TEST(several, all_are_taken_with_one_token, .rows = 3)
{
    unsigned n = sizes[_i];
    OPEN_MASTERS(n);
    redlock_lock *lock = client_take_all(one, ba, 2);
    ck_assert(redlock_validity_ms(lock) > CLIENT_TTL_MS / 2);
    for (unsigned i = 0; i < n; i++) {
        ck_assert(wait_until(strcmp(value(i, "a"), redlock_token(lock)) == 0, 10000));
        ck_assert_str_eq(value(i, "b"), redlock_token(lock));
        ck_assert_int_gt(master_do(masters, i, "PTTL", "b", NULL).number, CLIENT_TTL_MS / 2);
    }
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(several, none_is_taken_where_one_is_held, .rows = 3)
{
    unsigned n = sizes[_i];
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    OPEN_MASTERS(n);
    redlock_lock *held = take_everywhere(masters, one, "b");
    ck_assert_int_eq(client_try_all(two, ab, 2, 0, &report, &lock), REDLOCK_EHELD);
    ck_assert_ptr_null(lock);
    ck_assert_uint_eq(report.held, n / 2 + 1); /* it stops to listen then, at the earliest */
    ck_assert(wait_until(client_stats(two).pending_releases == 0, 10000));
    ck_assert_uint_eq(masters_with(masters, "a"), 0);
    ck_assert(client_can_take(two, "a"));
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(client_try_all(two, ab, 2, 0, NULL, &lock) == 0, 10000));
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* Neither a set that shares a name with it, nor a lock on one of its names, nor a peer's SET.
 */
TEST(several, each_name_excludes_and_is_excluded)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    redlock_lock *held = client_take_all(one, ab, 2);
    ck_assert(wait_until(masters_with(masters, "b") == 3, 10000));
    ck_assert_int_eq(client_try_all(two, bc, 2, 0, NULL, &lock), REDLOCK_EHELD);
    ck_assert_int_eq(client_try(two, "a", 0, 0, NULL, &lock), REDLOCK_EHELD);
    ck_assert_int_eq(client_try(two, "b", 0, 0, NULL, &lock), REDLOCK_EHELD);
    ck_assert(client_can_take(two, "c"));
    ck_assert_int_eq(
        master_do(masters, 0, "SET", "b", "peer", "NX", "PX", "60000", NULL).number, -1);
    ck_assert_int_eq(redlock_release(held), 0);
    for (unsigned i = 0; i < 3; i++)
        ck_assert(wait_until(
            master_do(masters, i, "SET", "b", "peer", "NX", "PX", "60000", NULL).type == '+',
            10000));
    ck_assert_int_eq(client_try_all(two, ab, 2, 0, NULL, &lock), REDLOCK_EHELD);
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "DEL", "b", NULL);
    lock = client_take_all(two, bc, 2);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* Of those that others have, the first in the order of the names: as long as it lasts. */
TEST(several, refusal_tells_of_first_name)
{
    static const char *const names[] = {"z", "b", "a"};
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    OPEN_MASTERS(1);
    redlock_lock *last = client_take(one, "z");
    ck_assert_int_eq(client_try(one, "b", 3000, 0, NULL, &lock), 0);
    ck_assert_int_eq(client_try_all(two, names, 3, 0, &report, &last), REDLOCK_EHELD);
    ck_assert_str_eq(report.node[0].holder, redlock_token(lock));
    ck_assert(report.node[0].ttl_ms > 0 && report.node[0].ttl_ms <= 3000);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(client_try_all(two, names, 3, 0, &report, &lock), REDLOCK_EHELD);
    ck_assert_str_eq(report.node[0].holder, redlock_token(last));
    ck_assert_int_gt(report.node[0].ttl_ms, 3000);
    ck_assert_int_eq(redlock_release(last), 0);
}

TEST(several, other_data_under_name_is_said_and_left_alone, .rows = 2)
{
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    OPEN_MASTERS(1);
    master_do(masters, 0, "RPUSH", "b", "x", NULL);
    ck_assert_int_eq(client_try_all(two, ab, 2, _i == 0 ? 0 : 60000, &report, &lock),
                     REDLOCK_EWRONGTYPE);
    ck_assert_str_eq(report.node[0].holder, "a list under b");
    ck_assert(!master_has(masters, 0, "a"));
    ck_assert_int_eq(master_do(masters, 0, "LLEN", "b", NULL).number, 1);
    master_do(masters, 0, "DEL", "b", NULL);
}

/* ---- names ------------------------------------------------------------------------------ */

TEST(several, name_given_twice_is_one_name)
{
    static const char *const names[] = {"b", "a", "b", "a", "ab", "b"};
    size_t len = 99;
    OPEN_MASTERS(3);
    redlock_lock *lock = client_take_all(one, names, 6);
    ck_assert_uint_eq(redlock_name_count(lock), 3);
    ck_assert_str_eq(redlock_name_at(lock, 0, &len), "a");
    ck_assert_uint_eq(len, 1);
    ck_assert_str_eq(redlock_name_at(lock, 1, &len), "ab");
    ck_assert_uint_eq(len, 2);
    ck_assert_str_eq(redlock_name_at(lock, 2, NULL), "b");
    ck_assert_str_eq(redlock_name_at(lock, 3, &len), "");
    ck_assert_uint_eq(len, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_eq(redlock_name_count(NULL), 0);
}

TEST(several, one_name_is_as_good_as_several)
{
    static const char *const name[] = {"name"};
    OPEN_MASTERS(3);
    redlock_lock *lock = client_take_all(one, name, 1), *other = NULL;
    ck_assert_uint_eq(redlock_name_count(lock), 1);
    ck_assert_str_eq(redlock_name_at(lock, 0, NULL), "name");
    ck_assert_int_eq(client_try(two, "name", 0, 0, NULL, &other), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(lock), 0);
    other = client_take(two, "name");
    ck_assert_uint_eq(redlock_name_count(other), 1);
    ck_assert_str_eq(redlock_name_at(other, 0, NULL), "name");
    ck_assert_str_eq(redlock_name_at(other, 1, NULL), "");
    ck_assert_int_eq(redlock_release(other), 0);
}

/* Spaces, percent signs, braces, colons, NULs, line ends, bytes that are no text. */
TEST(several, i101_names_of_sets_are_bytes)
{
    static const redlock_bytes names[] = {
        {"a b %s%n {x} : \r\n", 17},
        {"a\0b", 3},
        {"a\0c", 3},
        {"\0", 1},
        {"\xff\xfe", 2},
        {"*3\r\n", 4},
        {"a\0b\0", 4},
    };
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    redlock_lock *lock = NULL, *other = NULL;
    OPEN_MASTERS(3);
    ck_assert_int_eq(redlock_try_names_n(one, names, COUNT, NULL, &lock), 0);
    ck_assert_uint_eq(redlock_name_count(lock), COUNT);
    ck_assert(wait_until(master_do(masters, 0, "DBSIZE", NULL).number == COUNT, 10000));
    for (unsigned i = 0; i < COUNT; i++) {
        ck_assert_int_eq(redlock_try_n(two, names[i].bytes, names[i].len, NULL, &other),
                         REDLOCK_EHELD);
        const char *const words[] = {"GET", names[i].bytes};
        const size_t lens[] = {3, names[i].len};
        ck_assert_str_eq(master_do_n(masters, 0, 2, words, lens).text, redlock_token(lock));
    }
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

enum { LONG = REDLOCK_NAME_MAX / REDLOCK_NAMES_MAX };
static char long_name[REDLOCK_NAMES_MAX + 1][LONG + 2];
static const char *long_names[REDLOCK_NAMES_MAX + 1];

static void make_long_names(void)
{
    for (unsigned i = 0; i <= REDLOCK_NAMES_MAX; i++) {
        memset(long_name[i], 'x', LONG);
        long_name[i][0] = (char)('A' + (int)i);
        long_name[i][LONG] = '\0';
        long_names[i] = long_name[i];
    }
}

/* As many and as long as they may be: everything is done with them that can be done. */
TEST(several, as_many_names_as_there_may_be)
{
    OPEN_MASTERS(3);
    make_long_names();
    redlock_lock *lock = client_take_all(one, long_names, REDLOCK_NAMES_MAX), *other = NULL;
    ck_assert_uint_eq(redlock_name_count(lock), REDLOCK_NAMES_MAX);
    ck_assert(
        wait_until(master_do(masters, 2, "DBSIZE", NULL).number == REDLOCK_NAMES_MAX, 10000));
    ck_assert_int_eq(client_try(two, long_name[REDLOCK_NAMES_MAX - 1], 0, 0, NULL, &other),
                     REDLOCK_EHELD);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    waiter_start_all(&waiter, two, long_names, REDLOCK_NAMES_MAX, 30000);
    queue_becomes(masters, long_name[0], 1);
    queue_becomes(masters, long_name[REDLOCK_NAMES_MAX - 1], 1);
    waiter_mark(&waiter);
    ck_assert_int_eq(redlock_release(lock), 0);
    waiter_expect_woken(&waiter, 2);
}

static char logged[512];

static void keep(void *context, int level, const char *text)
{
    (void)context;
    if (level == REDLOCK_LOG_ERROR)
        snprintf(logged, sizeof(logged), "%s", text);
}

static void expect_refusal(int code, int expected, const char *words)
{
    ck_assert_msg(code == expected, "%s", redlock_err_name(code));
    ck_assert_msg(strstr(logged, words) != NULL, "\"%s\" and not \"%s\"", logged, words);
    logged[0] = '\0';
}

TEST(several, errors_are_said)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    OPEN_MASTERS(1);
    make_long_names();
    config.file = masters_file(masters, NULL);
    config.log = keep;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &client), 0);
    expect_refusal(redlock_try_names(client, NULL, 0, NULL, &lock), REDLOCK_EINVAL, "0 names");
    expect_refusal(redlock_try_names(client, ab, 0, NULL, &lock), REDLOCK_EINVAL, "0 names");
    expect_refusal(redlock_try_names_n(client, NULL, 2, NULL, &lock), REDLOCK_EINVAL,
                   "2 names");
    expect_refusal(redlock_try_names(client, long_names, REDLOCK_NAMES_MAX + 1, NULL, &lock),
                   REDLOCK_EINVAL, "65 names can't be locked at once: from 1 to 64 can");
    memcpy(long_name[3] + LONG, "y", 2);
    expect_refusal(redlock_try_names(client, long_names, REDLOCK_NAMES_MAX, NULL, &lock),
                   REDLOCK_EINVAL, "more than 4096 bytes together");
    expect_refusal(
        redlock_try_names(client, (const char *const[]){"a", "", "b"}, 3, NULL, &lock),
        REDLOCK_EINVAL, "name 2 of 3 is empty");
    expect_refusal(redlock_try_names(client, (const char *const[]){"a", NULL}, 2, NULL, &lock),
                   REDLOCK_EINVAL, "name 2 of 2 is empty");
    options.kind = REDLOCK_REENTRANT;
    expect_refusal(redlock_try_names(client, ab, 2, &options, &lock), REDLOCK_ENOTSUP,
                   "only plain locks");
    ck_assert_ptr_nonnull(
        strstr(redlock_strerror(REDLOCK_ENOTSUP), "several names need plain"));
    ck_assert_int_eq(redlock_try_names(NULL, ab, 2, NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try_names(client, ab, 2, NULL, NULL), REDLOCK_EINVAL);
    ck_assert_ptr_null(lock);
    redlock_close(client);
}

/* ---- the handle ------------------------------------------------------------------------- */

static unsigned lasting(const char *name, int64_t more_than_ms)
{
    unsigned count = 0;
    for (unsigned i = 0; i < masters->n; i++)
        count += master_do(masters, i, "PTTL", name, NULL).number > more_than_ms;
    return count;
}

/* A master that has yet to answer to the acquire is not asked. */
TEST(several, extending_extends_all, .rows = 3)
{
    unsigned n = sizes[_i];
    OPEN_MASTERS(n);
    redlock_lock *lock = client_take_all(one, ab, 2);
    ck_assert_int_eq(redlock_extend(lock, 25000, NULL), 0);
    ck_assert(redlock_validity_ms(lock) > 20000);
    ck_assert_uint_ge(lasting("a", 20000), n / 2 + 1);
    ck_assert_uint_ge(lasting("b", 20000), n / 2 + 1);
    ck_assert_int_eq(redlock_extend(lock, 5000, NULL), 0);
    ck_assert_uint_ge(lasting("b", 20000), n / 2 + 1);
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* Extended by a little more each time: a master that owes an answer is not asked. */
static bool extend_more(redlock_lock *lock)
{
    static int64_t ttl_ms = 20000;
    ttl_ms += 5;
    ck_assert_int_eq(redlock_extend(lock, ttl_ms, NULL), 0);
    return true;
}

/* What a minority has lost of it is taken again there, where nobody else has it. */
TEST(several, name_lost_by_minority_is_taken_again)
{
    OPEN_MASTERS(3);
    redlock_lock *lock = client_take_all(one, ab, 2);
    ck_assert(wait_until(masters_with(masters, "a") == 3, 10000));
    ck_assert_int_eq(master_do(masters, 1, "DEL", "a", NULL).number, 1);
    ck_assert(wait_until(extend_more(lock) && strcmp(value(1, "a"), redlock_token(lock)) == 0,
                         10000));
    /* Another's is not; and what is left there goes with the rest. */
    master_do(masters, 2, "SET", "b", "peer", "PX", "60000", NULL);
    for (int i = 0; i < 3; i++)
        ck_assert(extend_more(lock));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "a") == 0, CLIENT_TTL_MS / 4));
    ck_assert_str_eq(value(2, "b"), "peer");
    master_do(masters, 2, "DEL", "b", NULL);
}

/* All of it is lost with one name; the others are given up with it, and long before their end.
 */
TEST(several, name_lost_is_all_lost, .rows = 3)
{
    unsigned n = sizes[_i];
    OPEN_MASTERS(n);
    redlock_lock *lock = client_take_all(one, ab, 2);
    ck_assert(wait_until(masters_with(masters, "b") == n, 10000));
    for (unsigned i = 0; i < n; i++)
        ck_assert_int_eq(master_do(masters, i, "DEL", "a", NULL).number, 1);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_uint_eq(masters_with(masters, "b"), n); /* what was told holds */
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert(wait_until(masters_with(masters, "b") == 0, CLIENT_TTL_MS / 4));
}

TEST(several, release_tells_that_one_was_gone)
{
    OPEN_MASTERS(3);
    redlock_lock *lock = client_take_all(one, ab, 2);
    ck_assert(wait_until(masters_with(masters, "b") == 3, 10000));
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(master_do(masters, i, "DEL", "b", NULL).number, 1);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert(wait_until(masters_with(masters, "a") == 0, CLIENT_TTL_MS / 4));
}

TEST(several, all_are_renewed_and_their_loss_is_told)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    static struct told lost;
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    options.ttl_ms = 1500;
    options.auto_renew = 1;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try_names(one, ab, 2, &options, &lock), 0);
    for (int64_t end = now_ms() + 3000; now_ms() < end; pause_ms(20)) {
        ck_assert(redlock_validity_ms(lock) > 0);
        ck_assert(masters_with(masters, "a") >= 2 && masters_with(masters, "b") >= 2);
    }
    for (unsigned i = 0; i < 3; i++)
        master_do(masters, i, "DEL", "a", NULL);
    ck_assert(wait_until(atomic_load(&lost.calls) == 1, 10000));
    ck_assert_ptr_eq(lost.lock, lock);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

/* Another client takes it up with all of its names; and one that only shows it has it still. */
TEST(several, it_is_handed_over_with_all_names)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    make_long_names();
    for (int i = 0; i < 2; i++) {
        const char *const *names = i == 0 ? ba : long_names;
        size_t count = i == 0 ? 2 : REDLOCK_NAMES_MAX;
        redlock_lock *first = client_take_all(one, names, count);
        char token[128];
        /* A late grant would come behind the other client's release. */
        ck_assert(wait_until(masters_with(masters, names[0]) == 3, 10000));
        snprintf(token, sizeof(token), "%s", redlock_token(first));
        ck_assert_int_eq(redlock_handle(first, text, sizeof(text)), 0);
        ck_assert_int_eq(redlock_detach(first, text, sizeof(text)), 0);
        ck_assert_int_eq(redlock_attach(two, text, &lock), 0);
        ck_assert_str_eq(redlock_token(lock), token);
        ck_assert_uint_eq(redlock_name_count(lock), count);
        ck_assert(redlock_validity_ms(lock) > CLIENT_TTL_MS / 2);
        ck_assert(!client_can_take(one, redlock_name_at(lock, count - 1, NULL)));
        ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
}

/* Where a name of it is lost, what is left of an attached one goes as well. */
TEST(several, attached_one_is_all_lost_too)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock *lock = NULL;
    OPEN_MASTERS(1);
    lock = client_take_all(one, ab, 2);
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &lock), 0);
    ck_assert_int_eq(master_do(masters, 0, "DEL", "a", NULL).number, 1);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
    ck_assert(wait_until(masters_with(masters, "b") == 0, CLIENT_TTL_MS / 4));
}

TEST(several, without_blocking)
{
    static const redlock_bytes names[] = {{"b", 1}, {"a", 1}};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    struct told taken = {0}, waits = {0}, canceled = {0}, released = {0};
    uint64_t id;
    OPEN_MASTERS(3);
    options.wait_ms = 30000;
    ck_assert_int_eq(redlock_try_names_async_n(one, names, 2, &options, told_done, &taken, NULL),
                     0);
    ck_assert(turn_until(one, atomic_load(&taken.calls) == 1, 10000));
    ck_assert_int_eq(taken.result, 0);
    ck_assert_uint_eq(redlock_name_count(taken.lock), 2);
    ck_assert_int_eq(redlock_try_names_async_n(one, names, 2, &options, told_done, &waits, NULL),
                     0);
    ck_assert_int_eq(
        redlock_try_names_async_n(one, names, 1, &options, told_done, &canceled, &id), 0);
    ck_assert(turn_until(one, client_stats(two).held == 0 && queue_is(masters, "b", 2), 10000));
    ck_assert_int_eq(redlock_cancel(one, id), 0);
    ck_assert_int_eq(redlock_release_async(taken.lock, told_done, &released), 0);
    ck_assert(turn_until(one,
                         atomic_load(&waits.calls) == 1 && atomic_load(&canceled.calls) == 1 &&
                             atomic_load(&released.calls) == 1,
                         10000));
    ck_assert_int_eq(released.result, 0);
    ck_assert_int_eq(canceled.result, REDLOCK_ECANCELED);
    ck_assert_int_eq(waits.result, 0);
    ck_assert_int_eq(redlock_release_async(waits.lock, NULL, NULL), 0);
    ck_assert_int_eq(redlock_try_names_async_n(one, names, 0, NULL, told_done, &taken, NULL),
                     REDLOCK_EINVAL);
    ck_assert(turn_until(one, client_stats(one).pending_releases == 0, 10000));
}

/* ---- masters ---------------------------------------------------------------------------- */

TEST(several, dead_and_silent_master_are_done_without)
{
    OPEN_MASTERS(5);
    master_kill(masters, 0);
    master_pause(masters, 3);
    for (int i = 0; i < 5; i++) {
        redlock_lock *lock = client_take_all(one, ab, 2), *other = NULL;
        ck_assert_int_eq(client_try_all(two, bc, 2, 0, NULL, &other), REDLOCK_EHELD);
        ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    /* What the silent one was asked is undone when it goes on. */
    master_resume(masters, 3);
    ck_assert(wait_until(master_do(masters, 3, "DBSIZE", NULL).number == 0, 10000));
}

TEST(several, too_few_masters_are_no_quorum)
{
    redlock_lock *lock = NULL;
    OPEN_MASTERS(3);
    master_kill(masters, 0);
    master_kill(masters, 1);
    ck_assert(wait_until(client_ready(one) == 1, 10000));
    ck_assert_int_eq(client_try_all(one, ab, 2, 0, NULL, &lock), REDLOCK_ENOQUORUM);
    ck_assert(wait_until(masters_with(masters, "a") == 0, 10000));
}

TEST(several, masters_that_forget_scripts_are_sent_them_again)
{
    OPEN_MASTERS(3);
    for (int i = 0; i < 3; i++) {
        redlock_lock *lock = client_take_all(one, ab, 2);
        for (unsigned k = 0; k < 3; k++)
            master_do(masters, k, "SCRIPT", "FLUSH", NULL);
        ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
        for (unsigned k = 0; k < 3; k++)
            master_do(masters, k, "SCRIPT", "FLUSH", NULL);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    ck_assert_uint_eq(client_stats(one).reconnects, 0);
}

CASE(several, .timeout_s = 60)
