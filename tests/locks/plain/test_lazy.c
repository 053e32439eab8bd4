/* tags: threads */
/* test_lazy.c - REDLOCK_RELEASE_LAZY on real masters: a release that waits for company leaves,
 * by the background thread, by an event loop, and when the process ends. */
#include "config_auto.h"

#include "clients.h"
#include "proxy.h"
#include "told.h"

#include <malloc.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { CHILD_MAY_START_THREADS = 0 }; /* ThreadSanitizer can't follow that */
#else
enum { CHILD_MAY_START_THREADS = 1 };
#endif

static redlock_options lazily(void)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.ttl_ms = 20000;
    options.release = REDLOCK_RELEASE_LAZY;
    return options;
}

static redlock_lock *take(const char *name)
{
    redlock_options options = lazily();
    redlock_lock *lock = NULL;
    ck_assert_int_eq(redlock_try(one, name, &options, &lock), 0);
    return lock;
}

static bool is_everywhere(const char *name)
{
    return wait_until(masters_with(masters, name) == 3, 5000);
}

/* ---- what it comes to -------------------------------------------------------------------- */

TEST(lazy, leaves_without_another_call, .rows = 2)
{
    OPEN_CLIENTS(3, _i == 0 ? "background auto\n" : "background always\n");
    redlock_lock *lock = take("name");
    ck_assert(is_everywhere("name"));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_validity_ms(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert(wait_until(client_stats(one).pending_releases == 0, 5000));
    ck_assert_uint_eq(client_stats(one).released, 1);
}

TEST(lazy, same_name_is_had_again_at_once)
{
    OPEN_CLIENTS(3, NULL);
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(redlock_release(take("name")), 0);
    redlock_lock *lock = take("name");
    ck_assert(is_everywhere("name"));
    ck_assert_int_gt(redlock_validity_ms(lock), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(lazy, second_release_finds_nothing)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take("name");
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_int_eq(redlock_release(lock), REDLOCK_ENOTHELD);
}

TEST(lazy, too_late_is_told)
{
    redlock_options options = lazily();
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    options.ttl_ms = 500;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert(wait_until(redlock_validity_ms(lock) == 0, 5000));
    ck_assert_int_eq(redlock_release(lock), REDLOCK_EEXPIRED);
}

TEST(lazy, renewed_lock_is_not_lost_by_it)
{
    redlock_options options = lazily();
    struct told lost = {.calls = 0};
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    options.ttl_ms = 900;
    options.auto_renew = 1;
    options.on_lost = told_lost;
    options.lost_context = &lost;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    ck_assert(wait_until(client_stats(one).extended > 0, 5000));
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert(!wait_until(lost.calls > 0, 1500));
}

/* ---- an event loop ----------------------------------------------------------------------- */

TEST(lazy, loop_thread_may_release_and_sends_it_in_its_next_turn, .rows = 2)
{
    redlock_options options = lazily();
    struct told told = {.calls = 0};
    OPEN_CLIENTS(3, _i == 0 ? NULL : "background never\n");
    ck_assert_int_ge(redlock_fd(one), 0);
    ck_assert_int_eq(redlock_try_async_n(one, "name", 4, &options, told_done, &told, NULL), 0);
    ck_assert(turn_until(one, told.calls == 1, 5000));
    ck_assert(turn_until(one, masters_with(masters, "name") == 3, 5000));
    ck_assert_int_eq(redlock_release(told.lock), 0);
    ck_assert_int_le(redlock_timeout_ms(one), 1);
    ck_assert(turn_until(one, masters_with(masters, "name") == 0, 5000));
}

static int released;

static void *release_it(void *lock)
{
    released = redlock_release(lock);
    return NULL;
}

/* The loop goes by the descriptor alone. */
TEST(lazy, release_by_another_thread_wakes_loop)
{
    redlock_options options = lazily();
    struct told told = {.calls = 0};
    pthread_t thread;
    OPEN_CLIENTS(3, NULL);
    struct pollfd fd = {.fd = redlock_fd(one), .events = POLLIN};
    ck_assert_int_eq(redlock_try_async_n(one, "name", 4, &options, told_done, &told, NULL), 0);
    ck_assert(turn_until(one, told.calls == 1, 5000));
    ck_assert(turn_until(one, masters_with(masters, "name") == 3, 5000));
    (void)redlock_timeout_ms(one);
    ck_assert_int_eq(pthread_create(&thread, NULL, release_it, told.lock), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(released, 0);
    while (masters_with(masters, "name") > 0) {
        ck_assert_int_eq(poll(&fd, 1, 5000), 1);
        ck_assert_int_eq(redlock_process(one), 0);
        (void)redlock_timeout_ms(one);
    }
}

/* ---- the end ----------------------------------------------------------------------------- */

TEST(lazy, close_sends_it)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take("name");
    ck_assert(is_everywhere("name"));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(one);
    one = NULL;
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

/* As a program that never closes its client. */
static void live_and_exit(const char *path)
{
    redlock *client = NULL;
    redlock_options options = lazily();
    redlock_lock *lock = NULL;
    if (redlock_open(path, NULL, &client) || redlock_try(client, "name", &options, &lock))
        _exit(1);
    exit(redlock_release(lock));
}

TEST(lazy, exit_sends_it)
{
    if (!CHILD_MAY_START_THREADS)
        return;
    open_clients(3, NULL);
    const char *path = masters_file(masters, NULL);
    for (int i = 0; i < 10; i++) {
        pid_t pid = fork();
        if (pid == 0)
            live_and_exit(path);
        int status;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_msg(WIFEXITED(status), "%d", status); /* the sanitizer may find leaks */
        ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    }
    close_clients();
}

/* As one that lives on after it has closed its client. What was freed can't be used unseen. */
static void close_and_exit(const char *path)
{
    redlock *client = NULL;
    redlock_options options = lazily();
    redlock_lock *lock = NULL;
#ifdef M_PERTURB
    mallopt(M_PERTURB, 0x5a);
#endif
    if (redlock_open(path, NULL, &client) || redlock_try(client, "name", &options, &lock) ||
        redlock_release(lock))
        _exit(1);
    redlock_close(client);
    exit(0);
}

TEST(lazy, exit_knows_nothing_of_client_that_was_closed)
{
    if (!CHILD_MAY_START_THREADS)
        return;
    open_clients(3, NULL);
    const char *path = masters_file(masters, NULL);
    pid_t pid = fork();
    if (pid == 0)
        close_and_exit(path);
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "%d", status);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    close_clients();
}

/* Takes a lock, says so, and releases it when it is told to: then it exits. */
static void live_until_told(const char *path, int told_by, int tells)
{
    redlock *client = NULL;
    redlock_options options = lazily();
    redlock_lock *lock = NULL;
    char byte = 0;
    if (redlock_open(path, NULL, &client) || redlock_try(client, "name", &options, &lock) ||
        write(tells, &byte, 1) != 1 || read(told_by, &byte, 1) != 1)
        _exit(1);
    exit(redlock_release(lock));
}

TEST(lazy, exit_waits_for_master_whose_connection_is_being_made)
{
    struct proxy *proxies[3];
    int to_child[2], from_child[2], status;
    char byte = 0;
    if (!CHILD_MAY_START_THREADS)
        return;
    open_clients(3, NULL);
    const char *path = proxies_start(masters, proxies, false, "linger 10s\nbackground always\n");
    ck_assert(pipe(to_child) == 0 && pipe(from_child) == 0);
    pid_t pid = fork();
    if (pid == 0)
        live_until_told(path, to_child[0], from_child[1]);
    ck_assert_int_eq(read(from_child[0], &byte, 1), 1);
    ck_assert(is_everywhere("name"));
    unsigned before = proxy_connections(proxies[2]);
    proxy_delay(proxies[2], PROXY_ALL, PROXY_BACK, 200);
    proxy_cut(proxies[2], PROXY_ALL, false);
    ck_assert(wait_until(proxy_connections(proxies[2]) > before, 5000));
    ck_assert_int_eq(write(to_child[1], &byte, 1), 1);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status), "%d", status);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    for (int i = 0; i < 2; i++) {
        close(to_child[i]);
        close(from_child[i]);
    }
    proxies_stop(proxies, 3);
    close_clients();
}

/* What waits in the parent is the parent's. */
TEST(lazy, exit_of_child_sends_nothing)
{
    redlock_options options = lazily();
    struct told told = {.calls = 0};
    int status;
    OPEN_CLIENTS(3, NULL);
    ck_assert_int_ge(redlock_fd(one), 0);
    ck_assert_int_eq(redlock_try_async_n(one, "name", 4, &options, told_done, &told, NULL), 0);
    ck_assert(turn_until(one, told.calls == 1, 5000));
    ck_assert(turn_until(one, masters_with(masters, "name") == 3, 5000));
    ck_assert_int_eq(redlock_release(told.lock), 0);
    pid_t pid = fork();
    if (pid == 0)
        exit(0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_uint_eq(masters_with(masters, "name"), 3);
    ck_assert(turn_until(one, masters_with(masters, "name") == 0, 5000));
}

/* ---- refused ----------------------------------------------------------------------------- */

TEST(lazy, needs_somebody_to_send_it)
{
    redlock_options options = lazily();
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, "background never\n");
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
    options.release = 2;
    ck_assert_int_eq(redlock_try(two, "name", &options, &lock), REDLOCK_EINVAL);
    options.release = -1;
    ck_assert_int_eq(redlock_try(two, "name", &options, &lock), REDLOCK_EINVAL);
}

CASE(lazy, .timeout_s = 60)
