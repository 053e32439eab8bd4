/* tags: threads */
/* test_fork.c - a client in a forked child: refused, silent, and harmless to its parent. */
#include "config_auto.h"

#include "child.h"
#include "client.h"
#include "fake.h"
#include "masters.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ThreadSanitizer can't follow a child with threads. No sanitizer's allocator survives a fork
 * while another thread is in it: the child waits for that thread's mutex for ever. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define ONE_THREAD true
#define SETTINGS "background never\n"
#else
#define ONE_THREAD false
#define SETTINGS NULL
#endif

/* A hold that outlives its test on a busy machine. */
enum { LONG_MS = 20000 };

static struct masters *masters;
static const char *file;
static redlock *client;
static redlock_lock *lock;
static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);

static void open_three(void)
{
    masters = masters_start(3, NULL);
    file = masters_file(masters, SETTINGS);
    client = client_open(file);
    ck_assert(wait_until(client_ready(client) == 3, 10000));
}

static void close_all(void)
{
    redlock_close(client);
}

/* Every call there is; `argument`: whether to close as well. */
static int call_everything(void *argument)
{
    static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
    static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
    redlock_lock *other = NULL;
    redlock_stats stats = REDLOCK_STATS_INIT;
    char text[REDLOCK_HANDLE_MAX];
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    child_expect(redlock_validity_ms(lock) == 0);
    child_expect(client_try(client, "other", 0, 1000, &report, &other) == REDLOCK_EFORK);
    child_expect(other == NULL);
    child_expect(redlock_extend(lock, 0, NULL) == REDLOCK_EFORK);
    child_expect(redlock_detach(lock, text, sizeof(text)) == REDLOCK_EFORK);
    child_expect(redlock_release(lock) == REDLOCK_EFORK);
    child_expect(redlock_attach(client, "anything", &other) == REDLOCK_EFORK);
    child_expect(redlock_inspect_n(client, "name", 4, NULL, &info) == REDLOCK_EFORK);
    child_expect(redlock_inspect_n(client, "name", 4, "me", &info) == REDLOCK_EFORK);
    child_expect(redlock_force_release_n(client, "name", 4, REDLOCK_ON, NULL) == REDLOCK_EFORK);
    child_expect(redlock_get_status(client, &status) == REDLOCK_EFORK);
    child_expect(redlock_get_stats(client, &stats) == REDLOCK_EFORK);
    redlock_shutdown(client);
    child_expect(redlock_validity_ms(lock) == 0);
    if (*(bool *)argument)
        redlock_close(client);
    return 0;
}

TEST(fork, child_gets_efork_and_parent_does_not_notice, .rows = 2)
{
    bool with_close = _i == 1;
    open_three();
    ck_assert_int_eq(client_try(client, "name", LONG_MS, 0, NULL, &lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    client_ready(client);
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(child_run(call_everything, &with_close, 10000), 0);
        ck_assert_int_gt(redlock_validity_ms(lock), 0);
        ck_assert_uint_eq(masters_with(masters, "name"), 3);
        /* All three connections live, and the loop still hears of them. */
        ck_assert_uint_eq(client_ready(client), 3);
        ck_assert_int_eq(redlock_extend(lock, LONG_MS + 500 * (i + 1), NULL), 0);
        client_ready(client);
    }
    ck_assert_uint_eq(client_stats(client).reconnects, 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(client_take(client, "next")), 0);
    close_all();
}

TEST(fork, childs_close_sends_nothing)
{
    struct fake *fake;
    bool with_close = true;
    fakes_start(&fake, 1);
    client = client_open(fakes_file(&fake, 1, NULL));
    lock = client_take(client, "name");
    unsigned before = fake_count(fake, "*");
    ck_assert_int_eq(child_run(call_everything, &with_close, 10000), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_eq(fake_count(fake, "*"), before + 1);
    ck_assert_uint_eq(fake_connections(fake), 1);
    redlock_close(client);
}

/* ---- a client of the child's own -------------------------------------------------------- */

static int open_anew(void *argument)
{
    redlock *own = NULL;
    redlock_lock *mine = NULL;
    child_expect(redlock_open(file, NULL, &own) == 0);
    child_expect(client_try(own, "name", 0, 0, NULL, &mine) == REDLOCK_EHELD);
    child_expect(client_try(own, argument, 0, 2000, NULL, &mine) == 0);
    child_expect(strcmp(redlock_token(mine), redlock_token(lock)) != 0);
    child_expect(redlock_validity_ms(mine) > 0);
    child_expect(redlock_release(mine) == 0);
    redlock_close(own);
    redlock_close(client);
    return 0;
}

TEST(fork, child_may_open_client_of_its_own)
{
    open_three();
    lock = client_take(client, "name");
    struct child children[4];
    static char names[4][8] = {"a", "b", "c", "c"};
    for (int i = 0; i < 4; i++)
        children[i] = child_start(open_anew, names[i]);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(child_wait(&children[i], 20000), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    close_all();
}

/* Two children of one parent draw random bytes of their own. */
static int tell_token(void *argument)
{
    redlock *own = NULL;
    redlock_lock *mine = NULL;
    char token[128] = "";
    child_expect(redlock_open(file, NULL, &own) == 0);
    child_expect(client_try(own, "name", 0, 20000, NULL, &mine) == 0);
    snprintf(token, sizeof(token), "%.32s", redlock_token(mine));
    child_expect(write(*(int *)argument, token, 32) == 32);
    child_expect(redlock_release(mine) == 0);
    redlock_close(own);
    return 0;
}

TEST(fork, tokens_differ_between_children)
{
    enum { CHILDREN = 6 };
    char tokens[CHILDREN][33] = {""};
    struct child children[CHILDREN];
    int ends[2];
    open_three();
    redlock_release(client_take(client, "warm")); /* random bytes were drawn ahead here */
    ck_assert_int_eq(pipe(ends), 0);
    for (int i = 0; i < CHILDREN; i++)
        children[i] = child_start(tell_token, &ends[1]);
    for (int i = 0; i < CHILDREN; i++)
        ck_assert_int_eq(child_wait(&children[i], 30000), 0);
    for (int i = 0; i < CHILDREN; i++) {
        ck_assert_int_eq(read(ends[0], tokens[i], 32), 32);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(tokens[i], tokens[k]);
    }
    close_all();
}

/* ---- forks at the worst time ------------------------------------------------------------ */

static atomic_bool stop;

static void *keep_taking(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop)) {
        redlock_lock *mine = NULL;
        if (client_try(client, "busy", 0, 0, NULL, &mine) == 0)
            redlock_release(mine);
    }
    return NULL;
}

static void *keep_waiting(void *argument)
{
    (void)argument;
    while (!atomic_load(&stop)) {
        redlock_lock *mine = NULL;
        client_try(client, "name", 0, 50, NULL, &mine);
    }
    return NULL;
}

/* Another thread may be inside, with the client's lock in its hand, when we fork. */
TEST(fork, fork_in_middle_of_call_deadlocks_nobody)
{
    if (ONE_THREAD)
        return;
    pthread_t threads[2];
    bool with_close = true;
    open_three();
    redlock *other = client_open(file);
    ck_assert_int_eq(client_try(other, "name", LONG_MS, 0, NULL, &lock), 0);
    ck_assert_int_eq(pthread_create(&threads[0], NULL, keep_taking, NULL), 0);
    ck_assert_int_eq(pthread_create(&threads[1], NULL, keep_waiting, NULL), 0);
    for (int i = 0; i < 60; i++)
        ck_assert_int_eq(child_run(call_everything, &with_close, 10000), 0);
    atomic_store(&stop, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    redlock_close(other);
    close_all();
}

CASE(fork, .timeout_s = 120)
