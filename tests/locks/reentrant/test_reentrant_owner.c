/* tags: threads */
/* test_reentrant_owner.c - who has a reentrant lock: threads, clients, processes, and whom a
 * caller names; and how they wait for each other, and not for themselves. */
#include "config_auto.h"

#include "child.h"
#include "reentrant_scene.h"
#include "told.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- who is who ------------------------------------------------------------------------- */

static bool is_uuid_and_number(const char *owner)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx:";
    size_t len = strlen(form);
    for (size_t i = 0; i < len; i++) {
        if (form[i] == 'x' ? !strchr("0123456789abcdef", owner[i]) : owner[i] != form[i])
            return false;
    }
    return owner[len] != '\0' && strspn(owner + len, "0123456789") == strlen(owner + len);
}

/* The owner that the lock shows while this thread has it. */
static void note_owner(redlock *client, char ret_owner[256])
{
    redlock_lock *lock = take(client, NULL);
    count_becomes(1);
    snprintf(ret_owner, 256, "%s", owner_there());
    ck_assert_int_eq(redlock_release(lock), 0);
}

static void *note_in_thread(void *ret_owner)
{
    note_owner(one, ret_owner);
    return NULL;
}

static int note_in_child(void *argument)
{
    int fd = *(int *)argument;
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    char owner[256];
    child_expect(client_try_as(one, "name", REDLOCK_REENTRANT, NULL, 0, &lock) ==
                 REDLOCK_EFORK);
    /* No threads: sanitizers can't follow them into a child. */
    const char *file = masters_file(masters, "background never\n");
    child_expect(redlock_open(file, NULL, &client) == 0);
    child_expect(client_try_as(client, "name", REDLOCK_REENTRANT, NULL, 1000, &lock) == 0);
    struct reply reply = master_do(masters, 0, "HKEYS", "name", NULL);
    for (int i = 0; i < 1000 && reply.len == 0; i++)
        reply = master_do(masters, 0, "HKEYS", "name", NULL);
    snprintf(owner, sizeof(owner), "%.255s", reply.text);
    child_expect(write(fd, owner, sizeof(owner)) == (ssize_t)sizeof(owner));
    child_expect(redlock_release(lock) == 0);
    redlock_close(client);
    return 0;
}

/* Threads of one client, another client, a forked child with one of its own, the same again. */
TEST(owners, d59_threads_clients_and_processes_are_owners_of_their_own, .rows = 2)
{
    char owner[5][256];
    pthread_t thread;
    int fd[2];
    OPEN_MASTERS(sizes[_i]);
    note_owner(one, owner[0]);
    ck_assert_int_eq(pthread_create(&thread, NULL, note_in_thread, owner[1]), 0);
    pthread_join(thread, NULL);
    note_owner(two, owner[2]);
    ck_assert_int_eq(pipe(fd), 0);
    ck_assert_int_eq(child_run(note_in_child, &fd[1], 20000), 0);
    ck_assert_int_eq(read(fd[0], owner[3], sizeof(owner[3])), sizeof(owner[3]));
    close(fd[0]);
    close(fd[1]);
    for (int i = 0; i < 4; i++) {
        ck_assert_msg(is_uuid_and_number(owner[i]), "%s", owner[i]);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(owner[i], owner[k]);
    }
    ck_assert(strncmp(owner[0], owner[1], 36) == 0); /* of one client */
    ck_assert(strncmp(owner[0], owner[2], 36) != 0);
    note_owner(one, owner[4]);
    ck_assert_str_eq(owner[4], owner[0]);
}

static void *refused_in_thread(void *client)
{
    ck_assert_int_eq(try_once(client, NULL), REDLOCK_EHELD);
    return NULL;
}

TEST(owners, another_thread_is_refused, .rows = 2)
{
    pthread_t thread;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *lock = take(one, NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, refused_in_thread, one), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(try_once(two, NULL), REDLOCK_EHELD);
    ck_assert_int_eq(try_once(one, "somebody"), REDLOCK_EHELD);
    ck_assert_int_eq(try_once(one, NULL), 0);
    ck_assert_int_eq(redlock_release(lock), 0);
}

static void *release_in_thread(void *lock)
{
    ck_assert_int_eq(redlock_release(lock), 0);
    return NULL;
}

/* The owner is who took it: the handle is all that is needed to give it back. */
TEST(owners, hold_is_released_by_any_owner_of_its_handle, .rows = 2)
{
    pthread_t thread;
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, NULL), *inner = take(one, NULL);
    ck_assert_int_eq(pthread_create(&thread, NULL, release_in_thread, inner), 0);
    pthread_join(thread, NULL);
    count_becomes(1);
    ck_assert_int_eq(pthread_create(&thread, NULL, release_in_thread, outer), 0);
    pthread_join(thread, NULL);
}

/* A job that goes from one process to another: the second takes it before the first lets go. */
TEST(owners, d59_named_owner_is_one_across_processes, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *first = take(one, "job 7%s");
    count_becomes(1);
    ck_assert_str_eq(owner_there(), "job 7%s");
    redlock_lock *second = take(two, "job 7%s");
    count_becomes(2);
    ck_assert_int_eq(try_once(two, "job 8"), REDLOCK_EHELD);
    ck_assert_int_eq(redlock_release(first), 0);
    count_becomes(1);
    ck_assert_int_eq(try_once(one, NULL), REDLOCK_EHELD);
    ck_assert_int_gt(redlock_validity_ms(second), 0);
    ck_assert_int_eq(redlock_release(second), 0);
}

TEST(owners, owner_that_cannot_be_is_refused)
{
    char longest[130];
    redlock_lock *lock = NULL;
    memset(longest, 'o', sizeof(longest));
    longest[129] = '\0';
    OPEN_MASTERS(1);
    ck_assert_int_eq(client_try_as(one, "name", REDLOCK_REENTRANT, "", 0, &lock),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(client_try_as(one, "name", REDLOCK_REENTRANT, "mode", 0, &lock),
                     REDLOCK_EINVAL);
    ck_assert_int_eq(client_try_as(one, "name", REDLOCK_REENTRANT, longest, 0, &lock),
                     REDLOCK_EINVAL);
    longest[128] = '\0';
    ck_assert_int_eq(try_once(one, longest), 0);
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* Its own client's waiters wait for it: it must not wait for them. */
TEST(owners, nested_try_does_not_queue_behind_waiters, .rows = 2)
{
    struct waiter threads[3];
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, NULL), *inner = NULL;
    count_becomes(1);
    for (int i = 0; i < 3; i++)
        waiter_start_as(&threads[i], one, "name", REDLOCK_REENTRANT, NULL, 60000);
    ck_assert_int_eq(client_try_as(one, "name", REDLOCK_REENTRANT, NULL, -1, &inner), 0);
    ck_assert_int_eq(redlock_release(inner), 0);
    for (int i = 0; i < 3; i++)
        ck_assert(!waiter_is_back(&threads[i], 0));
    ck_assert_int_eq(redlock_release(outer), 0);
    for (int i = 0; i < 3; i++)
        waiter_expect_lock(&threads[i], 20000);
}

/* What it had before has run out: it waits as others do. */
TEST(owners, owner_of_expired_lock_queues)
{
    enum { TTL_MS = 300 };
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *expired = NULL;
    OPEN_MASTERS(3);
    options.kind = REDLOCK_REENTRANT;
    options.owner = "me";
    options.ttl_ms = TTL_MS;
    ck_assert_int_eq(redlock_try(one, "name", &options, &expired), 0);
    ck_assert(wait_until(redlock_validity_ms(expired) == 0, 5000));
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    redlock_lock *held = take(two, "other");
    waiter_start_as(&waiter, one, "name", REDLOCK_REENTRANT, "me", 60000);
    ck_assert(wait_until(client_stats(one).waiting == 1, 5000));
    ck_assert_int_eq(redlock_release(held), 0);
    waiter_expect_lock(&waiter, 10000);
    ck_assert_int_eq(redlock_release(expired), REDLOCK_EEXPIRED);
}

/* A nested try is not queued where it is refused for a moment: one master has another's key,
 * and one says nothing. */
TEST(owners, refused_nested_try_does_not_queue_either)
{
    enum { SILENT_MS = 700, WAIT_MS = 6000, TTL_MS = 300 };
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *outer = NULL, *inner = NULL;
    char silent[16];
    snprintf(silent, sizeof(silent), "%d", SILENT_MS);
    OPEN_MASTERS(3);
    master_do(masters, 2, "HSET", "name", "other", "1", NULL);
    master_do(masters, 2, "PEXPIRE", "name", "60000", NULL);
    ck_assert_int_eq(client_try_as(one, "name", REDLOCK_REENTRANT, "outer", 0, &outer), 0);
    waiter_start_as(&waiter, one, "name", REDLOCK_REENTRANT, "who waits", 60000);
    ck_assert(wait_until(client_stats(one).waiting == 1, 10000));
    master_do(masters, 1, "CLIENT", "PAUSE", silent, "ALL", NULL);
    options.kind = REDLOCK_REENTRANT;
    options.owner = "outer";
    options.ttl_ms = TTL_MS;
    options.wait_ms = WAIT_MS;
    ck_assert_int_eq(redlock_try(one, "name", &options, &inner), 0);
    redlock_release(inner);
    master_do(masters, 2, "DEL", "name", NULL);
    ck_assert_int_eq(redlock_release(outer), 0);
    waiter_expect_lock(&waiter, 10000);
}

/* Not while a hold is left. */
TEST(owners, only_last_release_lets_others_in, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, NULL), *inner = take(one, NULL);
    count_becomes(2);
    waiter_start_as(&waiter, two, "name", REDLOCK_REENTRANT, NULL, 30000);
    ck_assert_int_eq(redlock_release(outer), 0);
    count_becomes(1);
    ck_assert(!waiter_is_back(&waiter, 300));
    ck_assert_int_eq(redlock_release(inner), 0);
    waiter_expect_lock(&waiter, 10000);
}

/* Those who wait under one name follow each other in at once. */
TEST(owners, waiters_of_one_owner_have_it_together, .rows = 2)
{
    struct waiter threads[3];
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *held = take(two, NULL);
    count_becomes(1);
    for (int i = 0; i < 3; i++)
        waiter_start_as(&threads[i], one, "name", REDLOCK_REENTRANT, "crew", 30000);
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert(waiter_is_back(&threads[i], 10000));
        ck_assert_int_eq(threads[i].code, 0);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i].thread, NULL);
        ck_assert_int_gt(redlock_validity_ms(threads[i].lock), 0);
        ck_assert_int_eq(redlock_release(threads[i].lock), 0);
    }
}

/* And the holds that were there, nested or not, are lost. */
TEST(owners, c56_forced_release_wakes_waiters, .rows = 2)
{
    OPEN_MASTERS(sizes[_i]);
    redlock_lock *outer = take(one, NULL), *inner = take(one, NULL);
    count_becomes(2);
    client_ready(one);
    waiter_start_as(&waiter, two, "name", REDLOCK_REENTRANT, NULL, 30000);
    ck_assert_int_eq(redlock_force_release_n(one, "name", 4, REDLOCK_OFF, NULL), 0);
    ck_assert(waiter_is_back(&waiter, 5000));
    ck_assert_int_eq(redlock_extend(outer, 2 * CLIENT_TTL_MS, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_extend(inner, 2 * CLIENT_TTL_MS, NULL), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(outer), REDLOCK_EEXPIRED);
    ck_assert_int_eq(redlock_release(inner), REDLOCK_EEXPIRED);
    ck_assert_int_gt(redlock_validity_ms(waiter.lock), 0);
    waiter_expect_lock(&waiter, 10000);
}

/* ---- an event loop ---------------------------------------------------------------------- */

static void try_in_loop(const char *owner, int64_t wait_ms, struct told *told)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = REDLOCK_REENTRANT;
    options.owner = owner;
    options.ttl_ms = CLIENT_TTL_MS;
    options.wait_ms = wait_ms;
    ck_assert_int_eq(redlock_try_async_n(one, "name", 4, &options, told_done, told, NULL), 0);
}

TEST(owners, loops_thread_is_one_owner_and_its_coroutines_are_named, .rows = 2)
{
    struct told outer = {.calls = 0}, inner = {.calls = 0}, named = {.calls = 0};
    struct told released = {.calls = 0};
    char owner[16] = "coroutine 1";
    OPEN_MASTERS(sizes[_i]);
    ck_assert_int_ge(redlock_fd(one), 0);
    try_in_loop(NULL, 0, &outer);
    try_in_loop(NULL, 0, &inner);
    ck_assert(turn_until(one, outer.calls == 1 && inner.calls == 1, 5000));
    ck_assert_int_eq(outer.result, 0);
    ck_assert_int_eq(inner.result, 0);
    ck_assert(turn_until(one, count_at(0) == 2, 5000));
    try_in_loop(owner, 20000, &named);
    memset(owner, 'x', sizeof(owner)); /* it was copied */
    ck_assert_int_eq(redlock_release_async(outer.lock, told_done, &released), 0);
    ck_assert(turn_until(one, released.calls == 1, 5000));
    ck_assert_int_eq(named.calls, 0);
    ck_assert_int_eq(redlock_release_async(inner.lock, told_done, &released), 0);
    ck_assert(turn_until(one, named.calls == 1, 10000));
    ck_assert_int_eq(named.result, 0);
    ck_assert(turn_until(one, strcmp(owner_there(), "coroutine 1") == 0, 5000));
    ck_assert_int_eq(redlock_release_async(named.lock, told_done, &released), 0);
    ck_assert(turn_until(one, released.calls == 3, 5000));
    ck_assert(turn_until(one, masters_with(masters, "name") == 0, 5000));
}

/* ---- however many ----------------------------------------------------------------------- */

enum { HOLDERS = 20, HELD_EACH = 1000, REFUSALS = 20, DEARER = 8 };

static void *hold_many(void *prefix)
{
    for (int i = 0; i < HELD_EACH; i++) {
        char name[40];
        redlock_options options = REDLOCK_OPTIONS_INIT;
        redlock_lock *lock = NULL;
        options.kind = REDLOCK_REENTRANT;
        options.ttl_ms = 600000;
        options.wait_ms = 20000;
        snprintf(name, sizeof(name), "%s-%d", (const char *)prefix, i);
        if (redlock_try(two, name, &options, &lock) != 0)
            return prefix;
    }
    return NULL;
}

/* The time that this process worked for each round of tries that are refused: however long the
 * machine stands still meanwhile. */
static double cost_of_a_round(void)
{
    struct timespec begun, done;
    uint64_t before = client_stats(two).rounds;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    for (int i = 0; i < REFUSALS; i++) {
        redlock_lock *lock = NULL;
        ck_assert_int_ne(client_try_as(two, "name", REDLOCK_REENTRANT, "b", 40, &lock), 0);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &done);
    double us = (double)(done.tv_sec - begun.tv_sec) * 1e6 +
                (double)(done.tv_nsec - begun.tv_nsec) / 1e3;
    return us / (double)(client_stats(two).rounds - before);
}

TEST(many, refusal_costs_same_beside_many_locks)
{
    static char prefixes[HOLDERS][8];
    pthread_t threads[HOLDERS];
    void *failed;
    OPEN_CLIENTS(1, "max-ttl 10m\n");
    ck_assert_ptr_nonnull(take_for(one, "a", 600000));
    double few = cost_of_a_round();
    for (int i = 0; i < HOLDERS; i++) {
        snprintf(prefixes[i], sizeof(prefixes[i]), "h%d", i);
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hold_many, prefixes[i]), 0);
    }
    for (int i = 0; i < HOLDERS; i++) {
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    double many = cost_of_a_round();
    ck_assert_msg(many < (double)DEARER * few, "%.0f us beside none, %.0f us beside %d", few,
                  many, HOLDERS * HELD_EACH);
}

CASE(owners, .timeout_s = 60)
CASE(many, .timeout_s = 120)
