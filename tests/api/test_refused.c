/* test_refused.c - what a caller says and can't be meant is EINVAL, and a line of the log tells
 * what would be right: of calls that only look, of NULL, of options, ttls, handles and items,
 * and of items that exclude each other. Opening tells it in its error. And who is refused by
 * another is told its name. */
#include "config_auto.h"

#include "client.h"
#include "masters.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 2 };

static struct masters *masters;
static redlock *client[CLIENTS];
static char logged[512]; /* the last line */

static void note(void *context, int level, const char *text)
{
    (void)context;
    ck_assert_int_eq(level, REDLOCK_LOG_ERROR);
    snprintf(logged, sizeof(logged), "%s", text);
}

static void open_masters(unsigned n)
{
    redlock_config config = REDLOCK_CONFIG_INIT;
    masters = masters_start(n, NULL);
    config.file = masters_file(masters, NULL);
    config.log = note;
    config.log_level = REDLOCK_LOG_ERROR;
    for (unsigned i = 0; i < CLIENTS; i++) {
        ck_assert_int_eq(redlock_open_config(&config, NULL, &client[i]), 0);
        ck_assert(wait_until(client_ready(client[i]) == n, 10000));
    }
    logged[0] = '\0';
}

static void close_all(void)
{
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    for (unsigned i = 0; i < CLIENTS; i++)
        redlock_close(client[i]);
}

/* It was this error, and the log has told why. */
static void expect_code(int result, int code, const char *part)
{
    ck_assert_int_eq(result, code);
    ck_assert_msg(strstr(logged, part), "'%s' in '%s'", part, logged);
    logged[0] = '\0';
}

static void expect(int result, const char *part)
{
    expect_code(result, REDLOCK_EINVAL, part);
}

/* ---- opening ---------------------------------------------------------------------------- */

TEST(refused, no_file_to_open, .rows = 2)
{
    static const struct {
        const char *file, *text;
    } none[] = {
        {NULL, "redlock_open: file is NULL; give the path of a node list file"},
        {"", "redlock_open: file is an empty string; give the path of a node list file"},
    };
    redlock_error error = REDLOCK_ERROR_INIT;
    ck_assert_int_eq(redlock_open(none[_i].file, NULL, &client[0]), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_open(none[_i].file, &error, &client[0]), REDLOCK_EINVAL);
    ck_assert_int_eq(error.code, REDLOCK_EINVAL);
    ck_assert_str_eq(error.text, none[_i].text);
    ck_assert_uint_eq(error.size, sizeof(error));
}

/* It would be ignored: a token is all that a plain lock has. */
TEST(refused, owner_of_plain_lock)
{
    static const char *const names[] = {"a", "b"};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.owner = "me";
    open_masters(1);
    expect(redlock_try(client[0], "name", &options, &lock), "owner is for all kinds but plain");
    expect(redlock_try_names(client[0], names, 2, &options, &lock),
           "owner is for all kinds but plain");
    for (options.kind = REDLOCK_REENTRANT; options.kind <= REDLOCK_WRITE; options.kind++) {
        ck_assert_int_eq(redlock_try(client[0], "name", &options, &lock), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    close_all();
}

/* ---- looking ---------------------------------------------------------------------------- */

static const char no_name[] = "at least one byte", long_name[] = "at most 4096";

TEST(refused, to_inspect)
{
    redlock_node_info node[1];
    redlock_holder holder[1];
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(node, 1, holder, 1);
    static const char *const owners[] = {"", "mode", "me:write"};
    open_masters(1);
    ck_assert_int_eq(redlock_inspect_n(NULL, "name", 4, NULL, &info), REDLOCK_EINVAL);
    expect(redlock_inspect(client[0], NULL, NULL, &info), no_name);
    expect(redlock_inspect_n(client[0], NULL, 4, NULL, &info), no_name);
    expect(redlock_inspect_n(client[0], "name", 0, NULL, &info), no_name);
    expect(redlock_inspect_n(client[0], "name", REDLOCK_NAME_MAX + 1, NULL, &info), long_name);
    for (unsigned i = 0; i < 3; i++)
        expect(redlock_inspect_n(client[0], "name", 4, owners[i], &info), "1 to 128 bytes");
    expect(redlock_inspect_n(client[0], "name", 4, NULL, NULL), "redlock_lock_info: is NULL");
    info.size--;
    expect(redlock_inspect_n(client[0], "name", 4, NULL, &info), "redlock_lock_info: its size");
    info.size++;
    info.node_size = 0;
    expect(redlock_inspect_n(client[0], "name", 4, NULL, &info), "info.node_size: its size");
    info.node_size = sizeof(node[0]);
    info.holder_size = 0;
    expect(redlock_inspect_n(client[0], "name", 4, NULL, &info), "info.holder_size: its size");
    info.node_size = 0;
    info.node = NULL; /* then nobody looks at their sizes */
    info.holder = NULL;
    ck_assert_int_eq(redlock_inspect_n(client[0], "name", 4, NULL, &info), 0);
    close_all();
}

TEST(refused, to_force)
{
    redlock_report report = REDLOCK_REPORT_INIT(NULL, 0);
    open_masters(1);
    ck_assert_int_eq(redlock_force_release_n(NULL, "name", 4, REDLOCK_OFF, NULL), REDLOCK_EINVAL);
    expect(redlock_force_release(client[0], NULL, REDLOCK_DEFAULT, NULL), no_name);
    expect(redlock_force_release_n(client[0], NULL, 4, REDLOCK_OFF, NULL), no_name);
    expect(redlock_force_release_n(client[0], "name", 4, -1, NULL), "endless must be");
    expect(redlock_force_release_n(client[0], "name", 4, REDLOCK_OFF + 1, NULL),
           "endless must be");
    report.size--;
    expect(redlock_force_release_n(client[0], "name", 4, REDLOCK_OFF, &report),
           "redlock_report: its size");
    close_all();
}

/* ---- taking and extending --------------------------------------------------------------- */

static void never(void *context, int result, redlock_lock *lock)
{
    (void)context;
    (void)result;
    (void)lock;
    abort();
}

TEST(refused, null_where_something_is_to_be_returned)
{
    static const char *const names[] = {"a", "b"};
    static const redlock_bytes bytes[] = {{"a", 1}, {"b", 1}};
    static const char no_lock[] = "ret_lock is NULL", no_done[] = "done is NULL";
    open_masters(1);
    ck_assert_int_eq(redlock_try(NULL, "name", NULL, NULL), REDLOCK_EINVAL);
    expect(redlock_try(client[0], "name", NULL, NULL), no_lock);
    expect(redlock_try_names(client[0], names, 2, NULL, NULL), no_lock);
    expect(redlock_try_async_n(client[0], "name", 4, NULL, NULL, NULL, NULL), no_done);
    expect(redlock_try_names_async_n(client[0], bytes, 2, NULL, NULL, NULL, NULL), no_done);
    redlock_lock *lock = client_take(client[0], "name");
    expect(redlock_extend_async(lock, 0, NULL, NULL, NULL), no_done);
    expect(redlock_handle(lock, NULL, REDLOCK_HANDLE_MAX), "ret_text is NULL");
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

TEST(refused, auto_renew_that_is_neither_0_nor_1)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock;
    open_masters(1);
    options.auto_renew = 2;
    expect(redlock_try(client[0], "name", &options, &lock), "auto_renew must be 0, or 1");
    options.auto_renew = -1;
    expect(redlock_try(client[0], "name", &options, &lock), "auto_renew must be 0, or 1");
    close_all();
}

/* With the bounds, as for a try. */
TEST(refused, ttl_of_an_extension)
{
    static const char bounds[] =
        "at least 10 ms, above the drift and at most 30000 ms (max-ttl)";
    static const int64_t wrong[] = {INT64_MIN, -1, 1, 30001, INT64_MAX};
    open_masters(1);
    redlock_lock *lock = client_take(client[0], "name");
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        expect(redlock_extend(lock, wrong[i], NULL), bounds);
        expect(redlock_extend_async(lock, wrong[i], NULL, never, NULL), bounds);
    }
    ck_assert_int_eq(redlock_extend(lock, 30000, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* ---- handles ---------------------------------------------------------------------------- */

TEST(refused, handle_that_does_not_fit_or_is_none)
{
    char text[REDLOCK_HANDLE_MAX];
    const char *bad[] = {"", "rl4", text};
    redlock_lock *taken;
    open_masters(1);
    redlock_lock *lock = client_take(client[0], "name");
    expect(redlock_handle(lock, text, 10), "does not fit into 10 bytes");
    expect(redlock_detach(lock, text, 10), "REDLOCK_HANDLE_MAX (6656)");
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    expect(redlock_attach(client[1], NULL, &taken), "text is NULL");
    expect(redlock_attach(client[1], text, NULL), "ret_lock is NULL");
    size_t last = strlen(text) - 1;
    char cut = text[last];
    text[last] = '\0';
    for (unsigned i = 0; i < 3; i++) {
        int result = redlock_attach(client[1], bad[i], &taken);
        ck_assert_ptr_null(strstr(logged, "rl4")); /* who has a handle has the lock */
        expect_code(result, REDLOCK_EHANDLE, "no handle, or not all of one");
    }
    text[last] = cut;
    ck_assert_int_eq(redlock_attach(client[1], text, &taken), 0);
    ck_assert_int_eq(redlock_release(taken), 0);
    close_all();
}

/* By a client whose list is another one: its locks are shorter. */
TEST(refused, handle_of_lock_that_lasts_too_long_here)
{
    char text[REDLOCK_HANDLE_MAX];
    redlock_config config = REDLOCK_CONFIG_INIT;
    redlock *here;
    redlock_lock *taken;
    open_masters(1);
    ck_assert_int_eq(redlock_detach(client_take(client[0], "name"), text, sizeof(text)), 0);
    config.file = masters_file(masters, NULL);
    config.log = note;
    config.log_level = REDLOCK_LOG_ERROR;
    config.lock_delay_ms = 25000;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &here), 0);
    expect_code(redlock_attach(here, text, &taken), REDLOCK_EHANDLE, "has a longer ttl than");
    redlock_close(here);
    config.lock_delay_ms = 0;
    config.max_ttl_ms = 5000;
    config.ttl_ms = 1000;
    ck_assert_int_eq(redlock_open_config(&config, NULL, &here), 0);
    expect_code(redlock_attach(here, text, &taken), REDLOCK_EHANDLE, "lasts beyond max-ttl");
    redlock_close(here);
    ck_assert_int_eq(redlock_attach(client[1], text, &taken), 0);
    ck_assert_int_eq(redlock_release(taken), 0);
    close_all();
}

/* ---- by another ------------------------------------------------------------------------- */

/* Not every master has answered when it is decided. */
static const redlock_node_vote *first_held(const redlock_report *report)
{
    unsigned i = 0;
    while (i < report->nodes && report->node[i].vote != REDLOCK_VOTE_HELD)
        i++;
    ck_assert_uint_lt(i, report->nodes);
    return &report->node[i];
}

/* As the owner calls itself, also where the masters mark it as the writer. */
TEST(refused, writer_is_told_by_its_name, .rows = 2)
{
    enum { WAIT_MS = 500 }; /* long enough for an answer on a busy machine */
    static const unsigned sizes[] = {1, 3};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    redlock_lock *other;
    open_masters(sizes[_i]);
    redlock_lock *lock = client_take_as(client[0], "name", REDLOCK_WRITE, "w1");
    options.report = &report;
    options.owner = "r1";
    for (options.kind = REDLOCK_READ; options.kind <= REDLOCK_WRITE; options.kind++) {
        ck_assert_int_eq(redlock_try(client[1], "name", &options, &other), REDLOCK_EHELD);
        ck_assert_str_eq(first_held(&report)->holder, "w1");
        ck_assert_int_eq(client_try_as(client[1], "name", options.kind, "r1", WAIT_MS, &other),
                         REDLOCK_EHELD);
    }
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* ---- two items of one name -------------------------------------------------------------- */

/* What the two items are, and can they be had together? */
struct pair {
    int kind[2];
    const char *owner[2];
    bool can;
};

enum { PLAIN = REDLOCK_PLAIN, REENTRANT, FAIR, READ, WRITE };

static const struct pair pairs[] = {
    {{PLAIN, PLAIN}, {NULL, NULL}, false},
    {{PLAIN, REENTRANT}, {NULL, NULL}, false},
    {{PLAIN, READ}, {NULL, NULL}, false},
    {{REENTRANT, REENTRANT}, {NULL, NULL}, true},
    {{REENTRANT, REENTRANT}, {"a", "a"}, true},
    {{REENTRANT, REENTRANT}, {"a", "b"}, false},
    {{REENTRANT, REENTRANT}, {"a", NULL}, false},
    {{REENTRANT, WRITE}, {"a", "a"}, false},
    {{READ, READ}, {NULL, NULL}, true},
    {{READ, READ}, {"a", "a"}, true},
    {{READ, READ}, {"a", "b"}, true},
    {{READ, READ}, {NULL, "b"}, true},
    {{WRITE, WRITE}, {NULL, NULL}, true},
    {{WRITE, WRITE}, {"a", "a"}, true},
    {{WRITE, WRITE}, {"a", "b"}, false},
    /* The writer may read as well, but who reads can't become the writer. */
    {{WRITE, READ}, {"a", "a"}, false},
    {{WRITE, READ}, {"a", "b"}, false},
    /* On one master only. */
    {{FAIR, FAIR}, {NULL, NULL}, true},
    {{FAIR, FAIR}, {"a", "b"}, false},
    {{FAIR, REENTRANT}, {"a", "a"}, false},
};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

static void take_both(const struct pair *pair, unsigned first)
{
    redlock_options options[2];
    redlock_item items[2];
    for (unsigned i = 0; i < 2; i++) {
        options[i] = (redlock_options)REDLOCK_OPTIONS_INIT;
        options[i].kind = pair->kind[(first + i) % 2];
        options[i].owner = pair->owner[(first + i) % 2];
        items[i] = (redlock_item)REDLOCK_ITEM(client[0], "name", &options[i]);
    }
    int result = redlock_try_multi(items, 2, 0);
    if (!pair->can) {
        expect(result, "two items have one name");
        ck_assert(!items[0].lock && !items[1].lock);
        ck_assert_uint_eq(client_stats(client[0]).rounds, 0);
        return;
    }
    ck_assert_msg(result == 0, "%s", redlock_err_name(result));
    ck_assert_int_gt(redlock_validity_multi(items, 2), 0);
    /* They are two locks, each given up by itself. */
    redlock_lock *other;
    ck_assert_int_eq(redlock_release(items[0].lock), 0);
    ck_assert_int_eq(client_try_as(client[1], "name", REDLOCK_WRITE, "c", 0, &other),
                     pair->kind[0] == READ || pair->kind[0] == WRITE ? REDLOCK_EHELD
                                                                     : REDLOCK_EWRONGTYPE);
    ck_assert_int_eq(redlock_release(items[1].lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

TEST(refused, two_items_of_one_name, .rows = PAIRS)
{
    const struct pair *pair = &pairs[_i];
    static const unsigned sizes[] = {1, 3};
    bool fair = pair->kind[0] == FAIR || pair->kind[1] == FAIR;
    for (unsigned i = 0; i < (fair ? 1 : 2); i++) {
        open_masters(sizes[i]);
        take_both(pair, 0);
        take_both(pair, 1);
        close_all();
    }
}

/* Told to the client of the first item, if there is one. */
TEST(refused, items_that_are_none)
{
    redlock_item items[REDLOCK_ITEMS_MAX + 1];
    open_masters(1);
    for (unsigned i = 0; i <= REDLOCK_ITEMS_MAX; i++)
        items[i] = (redlock_item)REDLOCK_ITEM(client[0], "name", NULL);
    ck_assert_int_eq(redlock_try_multi(items, 0, 0), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_try_multi(NULL, 2, 0), REDLOCK_EINVAL);
    expect(redlock_try_multi(items, REDLOCK_ITEMS_MAX + 1, 0), "65 items are too many");
    expect(redlock_release_multi(items, REDLOCK_ITEMS_MAX + 1), "from 1 to 64");
    items[1].size = 0;
    expect(redlock_try_multi(items, 2, 0), "not of one size");
    items[1].size = items[0].size;
    items[1].client = NULL;
    expect(redlock_try_multi(items, 2, 0), "the client of an item is NULL");
    items[1] = (redlock_item)REDLOCK_ITEM(client[1], NULL, NULL);
    expect(redlock_try_multi(items, 2, 0), "the name of an item is NULL");
    items[0].size = 0;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    items[0].size = items[1].size;
    items[0].client = NULL;
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EINVAL);
    ck_assert_str_eq(logged, ""); /* whose log could it be? */
    close_all();
}

/* Other names, and other clients, are no matter of this. */
TEST(refused, two_items_that_differ_in_name_or_client)
{
    open_masters(1);
    redlock_item items[] = {REDLOCK_ITEM(client[0], "name", NULL),
                            REDLOCK_ITEM(client[0], "nam", NULL)};
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), 0);
    ck_assert_int_eq(redlock_release_multi(items, 2), 0);
    items[0].name_len = 3; /* which makes it the same */
    expect(redlock_try_multi(items, 2, 0), "two items have one name");
    items[0] = (redlock_item)REDLOCK_ITEM(client[1], "nam", NULL);
    ck_assert_int_eq(redlock_try_multi(items, 2, 0), REDLOCK_EHELD);
    ck_assert_str_eq(logged, "");
    close_all();
}

static void *refused_beside(void *context)
{
    redlock_error *error = context;
    redlock_lock *lock;
    ck_assert_int_eq(redlock_try(client[0], "", NULL, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_last_error(client[0], error), 0);
    return NULL;
}

TEST(refused, refused_call_can_ask_for_its_sentence)
{
    redlock_lock *lock;
    redlock_error none = REDLOCK_ERROR_INIT, mine = REDLOCK_ERROR_INIT;
    redlock_error other = REDLOCK_ERROR_INIT;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    pthread_t thread;
    masters = masters_start(1, NULL);
    client[0] = client_open(masters_file(masters, NULL)); /* without a log */
    ck_assert_int_eq(redlock_last_error(client[0], &none), 0);
    ck_assert_str_eq(none.text, "");
    options.wait_ms = -2;
    ck_assert_int_eq(redlock_try(client[0], "name", &options, &lock), REDLOCK_EINVAL);
    ck_assert_int_eq(pthread_create(&thread, NULL, refused_beside, &other), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(redlock_last_error(client[0], &mine), 0);
    ck_assert_int_eq(mine.code, REDLOCK_EINVAL);
    ck_assert_ptr_nonnull(strstr(mine.text, "wait_ms must be -1"));
    ck_assert_ptr_nonnull(strstr(other.text, "name"));
    ck_assert_ptr_null(strstr(other.text, "wait_ms"));
    ck_assert_int_eq(redlock_last_error(client[0], NULL), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_last_error(NULL, &mine), REDLOCK_EINVAL);
    redlock_close(client[0]);
}

CASE(refused, .timeout_s = 30)
