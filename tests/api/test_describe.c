/* test_describe.c - redlock_describe() and redlock_force_release() with locks of every kind
 * that the library itself has taken, on one master and on three; and masters that lie about
 * them. */
#include "config_auto.h"

#include "clients.h"
#include "fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static redlock_description *all;

static const unsigned sizes[] = {1, 3};

static void open_masters(unsigned n)
{
    open_cold_clients(n, NULL);
    all = calloc(1, sizeof(*all));
    ck_assert_ptr_nonnull(all);
    all->size = sizeof(*all);
}

static void close_all(void)
{
    close_clients();
    free(all);
}

/* Until a majority says that so many have it, or every master that nobody has: grants and
 * releases may still be on their way. */
static const redlock_view *look_for(const char *owner, unsigned holders, int expected)
{
    int64_t end_ms = now_ms() + 5000;
    bool so = false;
    while (!so) {
        ck_assert_int_eq(redlock_describe(one, "name", 4, owner, all), expected);
        so = all->majority.holders == holders;
        for (unsigned i = 0; holders == 0 && i < all->nodes; i++)
            so &= !all->node[i].answered || all->node[i].view.holders == 0;
        ck_assert(so || now_ms() < end_ms);
    }
    return &all->majority;
}

static const redlock_view *look(unsigned holders)
{
    return look_for(NULL, holders, REDLOCK_OK);
}

static void expect_holder(const redlock_view *view, unsigned i, int mode, const char *owner)
{
    ck_assert_uint_lt(i, view->shown);
    ck_assert_str_eq(view->holder[i].owner, owner);
    ck_assert_int_eq(view->holder[i].mode, mode);
    ck_assert_int_gt(view->holder[i].ttl_ms, CLIENT_TTL_MS - 5000);
    ck_assert_int_le(view->holder[i].ttl_ms, CLIENT_TTL_MS + 10);
}

/* ---- each kind -------------------------------------------------------------------------- */

START_TEST(a_plain_lock_is_its_tokens)
{
    open_masters(sizes[_i]);
    ck_assert_int_eq(look(0)->form, REDLOCK_FORM_FREE);
    redlock_lock *lock = client_take(one, "name");
    const redlock_view *view = look(1);
    /* One that was slow a moment ago is not asked. */
    ck_assert(wait_until((look(1), all->answered == sizes[_i]), 5000));
    ck_assert_int_eq(view->form, REDLOCK_FORM_PLAIN);
    expect_holder(view, 0, REDLOCK_PLAIN, redlock_token(lock));
    ck_assert_uint_eq(all->nodes, sizes[_i]);
    for (unsigned i = 0; i < all->nodes; i++) {
        ck_assert_int_eq(all->node[i].answered, 1);
        ck_assert_ptr_nonnull(strstr(all->node[i].node, "redis.sock"));
    }
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}
END_TEST

START_TEST(readers_and_the_writer_are_told_by_name)
{
    open_masters(sizes[_i]);
    redlock_lock *a = client_take_as(one, "name", REDLOCK_READ, "a");
    redlock_lock *b = client_take_as(two, "name", REDLOCK_READ, "b");
    redlock_lock *again = client_take_as(two, "name", REDLOCK_READ, "b");
    const redlock_view *view = look(2);
    ck_assert_int_eq(view->form, REDLOCK_FORM_READ_WRITE);
    ck_assert_uint_eq(view->holders, 2);
    expect_holder(view, 0, REDLOCK_READ, "a");
    expect_holder(view, 1, REDLOCK_READ, "b");
    ck_assert_uint_eq(view->holder[1].count, 2);
    expect_holder(look_for("b", 2, REDLOCK_OK), 0, REDLOCK_READ, "b");
    ck_assert_int_eq(redlock_release(a), 0);
    ck_assert_int_eq(redlock_release(b), 0);
    ck_assert_int_eq(redlock_release(again), 0);
    redlock_lock *writer = client_take_as(one, "name", REDLOCK_WRITE, "w");
    expect_holder(look(1), 0, REDLOCK_WRITE, "w");
    redlock_lock *reads = client_take_as(one, "name", REDLOCK_READ, "w");
    view = look(2); /* the same owner, as a reader and as the writer */
    expect_holder(view, 0, REDLOCK_READ, "w");
    expect_holder(view, 1, REDLOCK_WRITE, "w");
    ck_assert_int_eq(redlock_release(writer), 0);
    expect_holder(look(1), 0, REDLOCK_READ, "w");
    ck_assert_int_eq(redlock_release(reads), 0);
    close_all();
}
END_TEST

START_TEST(a_reentrant_lock_is_counted)
{
    redlock_lock *lock[3];
    open_masters(sizes[_i]);
    for (unsigned i = 0; i < 3; i++) {
        lock[i] = client_take_as(one, "name", REDLOCK_REENTRANT, "me");
        const redlock_view *view = look(1);
        for (unsigned k = 0; k < 5000 && view->holder[0].count != i + 1; k++)
            view = look(1); /* a majority has it; the others soon */
        ck_assert_uint_eq(view->holder[0].count, i + 1);
        ck_assert_int_eq(view->form, REDLOCK_FORM_REENTRANT);
        expect_holder(view, 0, REDLOCK_PLAIN, "me");
    }
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_release(lock[i]), 0);
    ck_assert_int_eq(look(0)->form, REDLOCK_FORM_FREE);
    close_all();
}
END_TEST

/* ---- deleting, with somebody who waits -------------------------------------------------- */

struct waiter {
    pthread_t thread;
    int kind, result;
    redlock_lock *lock;
};

static void *wait_for_it(void *context)
{
    struct waiter *waiter = context;
    waiter->result = client_try_as(two, "name", waiter->kind, "two", 60000, &waiter->lock);
    return NULL;
}

static const struct {
    int holds, waits;
    bool one_only;
} forced[] = {
    {REDLOCK_PLAIN, REDLOCK_PLAIN, false}, {REDLOCK_REENTRANT, REDLOCK_REENTRANT, false},
    {REDLOCK_FAIR, REDLOCK_FAIR, true},    {REDLOCK_READ, REDLOCK_WRITE, false},
    {REDLOCK_WRITE, REDLOCK_READ, false},  {REDLOCK_WRITE, REDLOCK_WRITE, false},
};
enum { FORCED = sizeof(forced) / sizeof(forced[0]) };

/* Case 56: who waits hears of it at once, whatever is left of the lease. Case 60: its holder
 * has it no more. */
START_TEST(force_wakes_who_waits)
{
    struct waiter waiter = {.kind = forced[_i / 2].waits};
    unsigned n = sizes[_i % 2];
    if (n > 1 && forced[_i / 2].one_only)
        return;
    open_masters(n);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *held = NULL;
    options.kind = forced[_i / 2].holds;
    options.ttl_ms = 30000;
    options.owner = options.kind == REDLOCK_PLAIN ? NULL : "one";
    ck_assert_int_eq(redlock_try(one, "name", &options, &held), 0);
    ck_assert_int_eq(pthread_create(&waiter.thread, NULL, wait_for_it, &waiter), 0);
    ck_assert(wait_until(client_stats(two).waiting == 1, 5000));
    ck_assert(wait_until(look(1)->waiting > 0, 5000));
    int64_t begun_ms = now_ms();
    ck_assert_int_eq(redlock_force_release(one, "name", 4, NULL), 0);
    pthread_join(waiter.thread, NULL);
    ck_assert_int_eq(waiter.result, 0);
    ck_assert_int_lt(now_ms() - begun_ms, 5000); /* its lease would have lasted for 30 s */
    ck_assert_int_eq(redlock_extend(held, 30000, NULL), REDLOCK_EEXPIRED);
    (void)redlock_release(held);
    ck_assert_int_gt(redlock_validity_ms(waiter.lock), 0);
    ck_assert_int_eq(redlock_release(waiter.lock), 0);
    look(0);
    close_all();
}
END_TEST

/* ---- data, and too few masters ---------------------------------------------------------- */

START_TEST(data_is_told_and_not_deleted)
{
    static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    open_masters(sizes[_i]);
    for (unsigned i = 0; i < masters->n; i++)
        (void)master_do(masters, i, "SADD", "name", "some", "data", NULL);
    const redlock_view *view = look(0);
    ck_assert_int_eq(view->form, REDLOCK_FORM_DATA);
    ck_assert_str_eq(view->data, "set");
    ck_assert_int_eq(view->ttl_ms, -1);
    ck_assert_int_eq(redlock_force_release(one, "name", 4, &report), REDLOCK_EWRONGTYPE);
    ck_assert_uint_eq(report.failed, masters->n);
    ck_assert_str_eq(report.node[0].text,
                     "has a set that is no lock under this name, which was left alone");
    ck_assert_int_eq(redlock_inspect(one, "name", 4, &report), 0);
    ck_assert_str_eq(report.node[0].holder, "a set that is no lock");
    for (unsigned i = 0; i < masters->n; i++)
        ck_assert_int_eq(master_do(masters, i, "SCARD", "name", NULL).number, 2);
    close_all();
}
END_TEST

/* Data on one of three masters: the two others are free of the lock, which is a majority. */
START_TEST(one_masters_data_is_that_ones_business)
{
    static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
    static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
    open_masters(3);
    redlock_lock *lock = client_take_as(one, "name", REDLOCK_REENTRANT, "me");
    look(1);
    (void)master_do(masters, 1, "DEL", "name", NULL);
    (void)master_do(masters, 1, "RPUSH", "name", "data", NULL);
    ck_assert_int_eq(redlock_describe(one, "name", 4, NULL, all), 0);
    ck_assert_int_eq(all->majority.form, REDLOCK_FORM_REENTRANT);
    ck_assert_int_eq(all->node[1].view.form, REDLOCK_FORM_DATA);
    ck_assert_int_eq(redlock_force_release(one, "name", 4, &report), 0);
    ck_assert_uint_eq(report.failed, 1);
    ck_assert_uint_eq(report.granted, 2);
    ck_assert_int_eq(master_do(masters, 1, "LLEN", "name", NULL).number, 1);
    (void)redlock_release(lock);
    close_all();
}
END_TEST

START_TEST(masters_that_are_down_are_told_of)
{
    open_masters(3);
    redlock_lock *lock = client_take_as(one, "name", REDLOCK_READ, "a");
    look(1);
    master_kill(masters, 0);
    ck_assert(wait_until(
        redlock_describe(one, "name", 4, NULL, all) == 0 && !all->node[0].answered, 5000));
    ck_assert_str_ne(all->node[0].text, "");
    ck_assert_uint_eq(all->answered, 2);
    ck_assert_uint_eq(all->majority.holders, 1);
    master_kill(masters, 1);
    ck_assert(
        wait_until(redlock_describe(one, "name", 4, NULL, all) == REDLOCK_ENOQUORUM, 5000));
    ck_assert_int_eq(all->majority.form, REDLOCK_FORM_UNKNOWN);
    ck_assert_uint_eq(all->majority.shown, 0);
    ck_assert_str_eq(all->node[2].view.holder[0].owner, "a"); /* what is known is there */
    (void)redlock_release(lock);
    close_all();
}
END_TEST

/* ---- wrong arguments -------------------------------------------------------------------- */

START_TEST(wrong_arguments_are_einval)
{
    static const char *const owners[] = {"", "mode", "me:write"};
    open_masters(1);
    ck_assert_int_eq(redlock_describe(NULL, "name", 4, NULL, all), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_describe(one, NULL, 4, NULL, all), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_describe(one, "name", 0, NULL, all), REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_describe(one, "name", REDLOCK_NAME_MAX + 1, NULL, all),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(redlock_describe(one, "name", 4, NULL, NULL), REDLOCK_EINVAL);
    for (unsigned i = 0; i < 3; i++)
        ck_assert_int_eq(redlock_describe(one, "name", 4, owners[i], all), REDLOCK_EINVAL);
    all->size--;
    ck_assert_int_eq(redlock_describe(one, "name", 4, NULL, all), REDLOCK_EINVAL);
    all->size++;
    close_all();
}
END_TEST

START_TEST(a_child_gets_efork)
{
    open_masters(1);
    ck_assert_int_eq(redlock_describe(one, "name", 4, NULL, all), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(redlock_describe(one, "name", 4, NULL, all) == REDLOCK_EFORK ? 0 : 1);
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    close_all();
}
END_TEST

/* ---- masters that lie ------------------------------------------------------------------- */

/* None of these is an answer to an inspection: that master has failed, and is alone in it. */
static const char *const lies[] = {
    "*2\r\n{nonce}:1\r\n",
    "*4\r\n{nonce}:0\r\n:9\r\n$2\r\nme\r\n",
    "*5\r\n{nonce}:0\r\n:9\r\n$2\r\nme\r\n:0\r\n",
    "*5\r\n{nonce}:3\r\n:9\r\n$2\r\nme\r\n$11\r\nfree 0 0 0\n\r\n",
    "*5\r\n{nonce}:1\r\n:9\r\n$0\r\n\r\n$0\r\n\r\n",
    "*5\r\n{nonce}:1\r\n:9\r\n$0\r\n\r\n$10\r\nfree 0 0 0\r\n",
    "*5\r\n{nonce}:0\r\n:9\r\n$2\r\nme\r\n$28\r\nplain 0 0 1\nx 1 9 99999 me\n\n\r\n",
    "*5\r\n{nonce}:0\r\n:9\r\n$2\r\nme\r\n$18\r\nplain 0 0 1\nx 1 9 \r\n",
    "-WRONGTYPE nonsense\r\n",
};
enum { LIES = sizeof(lies) / sizeof(lies[0]) };

START_TEST(a_lie_is_no_answer)
{
    struct fake *fakes[3];
    fakes_start(fakes, 3);
    one = client_open(fakes_file(fakes, 3, NULL));
    all = calloc(1, sizeof(*all));
    ck_assert_ptr_nonnull(all);
    all->size = sizeof(*all);
    ck_assert(wait_until(client_ready(one) == 3, 10000)); /* so that all are asked */
    redlock_lock *lock = client_take(one, "name");
    ck_assert(wait_until(fake_has(fakes[0], "name") && fake_has(fakes[1], "name") &&
                             fake_has(fakes[2], "name"),
                         5000));
    fake_rule(fakes[2], &(struct fake_rule){.match = "inspect *", .reply = lies[_i]});
    ck_assert_int_eq(redlock_describe(one, "name", 4, NULL, all), 0);
    ck_assert_int_eq(all->node[2].answered, 0);
    ck_assert_str_ne(all->node[2].text, "");
    ck_assert_uint_eq(all->answered, 2);
    ck_assert_str_eq(all->majority.holder[0].owner, redlock_token(lock));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(one);
    fakes_stop(fakes, 3);
    free(all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("describe");
    TCase *tcase = tcase_create("describe");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_plain_lock_is_its_tokens, 0, 2);
    tcase_add_loop_test(tcase, readers_and_the_writer_are_told_by_name, 0, 2);
    tcase_add_loop_test(tcase, a_reentrant_lock_is_counted, 0, 2);
    tcase_add_loop_test(tcase, force_wakes_who_waits, 0, 2 * FORCED);
    tcase_add_loop_test(tcase, data_is_told_and_not_deleted, 0, 2);
    tcase_add_test(tcase, one_masters_data_is_that_ones_business);
    tcase_add_test(tcase, masters_that_are_down_are_told_of);
    tcase_add_test(tcase, wrong_arguments_are_einval);
    tcase_add_test(tcase, a_child_gets_efork);
    tcase_add_loop_test(tcase, a_lie_is_no_answer, 0, LIES);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
