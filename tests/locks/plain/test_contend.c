/* tags: threads */
/* test_contend.c - many who want one name: threads of one client in their order, processes in
 * theirs, nobody starved and no update lost. CONTENDERS=512 makes the largest crowd as large
 * as that also in clients of their own. */
#include "config_auto.h"

#include "child.h"
#include "client.h"
#include "masters.h"
#include "waiter.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct masters *masters;
static const char *file;

static void open_masters(unsigned n)
{
    masters = masters_start(n, NULL);
    file = masters_file(masters, NULL);
}

static void close_masters(void)
{
    nothing_is_left(masters);
}

/* ---- threads of one client -------------------------------------------------------------- */

enum { LINED = 12 };

TEST(contend, threads_are_served_in_order_in_which_they_came)
{
    static struct waiter waiters[LINED];
    open_masters(3);
    redlock *one = client_open(file), *two = client_open(file);
    ck_assert(wait_until(client_ready(one) == 3 && client_ready(two) == 3, 10000));
    for (int round = 0; round < 3; round++) {
        redlock_lock *held = take_everywhere(masters, one, "name");
        for (int i = 0; i < LINED; i++)
            waiter_start(&waiters[i], two, "name", 60000);
        ck_assert_uint_eq(client_stats(two).waiting, LINED);
        ck_assert_int_eq(redlock_release(held), 0);
        waiters_expect_in_turn(waiters, LINED, 20000);
    }
    redlock_close(one);
    redlock_close(two);
    close_masters();
}

static void give_up(void *context, int result, redlock_lock *lock)
{
    (void)context;
    if (result == 0)
        redlock_release_async(lock, NULL, NULL);
}

static bool process(redlock *client)
{
    struct pollfd ready = {.fd = redlock_fd(client), .events = POLLIN};
    int timeout = redlock_timeout_ms(client);
    poll(&ready, 1, timeout >= 0 && timeout < 5 ? timeout : 5);
    return redlock_process(client) == 0;
}

/* Those that begin together have all asked before they know of each other. */
TEST(contend, process_is_one_contender_from_its_first_loss_on)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    open_masters(5);
    redlock *one = client_open(file), *two = client_open(file);
    ck_assert(wait_until(client_ready(one) == 5 && client_ready(two) == 5, 10000));
    redlock_lock *held = take_everywhere(masters, one, "name");
    options.wait_ms = 60000;
    ck_assert_int_ge(redlock_fd(two), 0); /* nothing is heard before we look */
    for (int i = 0; i < 10 * LINED; i++)
        ck_assert_int_eq(redlock_try_async_n(two, "name", 4, &options, give_up, NULL, NULL), 0);
    ck_assert(wait_until(process(two) && client_stats(two).waiting == 10 * LINED, 10000));
    for (int64_t end = now_ms() + 200; now_ms() < end;) /* in which one may do something */
        ck_assert(process(two));
    redlock_stats stats = client_stats(two);
    ck_assert_uint_ge(stats.rounds, 10 * LINED);
    ck_assert_uint_le(stats.rounds, 10 * LINED + 20);
    /* A native pair and a release a round, at each master. */
    ck_assert_uint_le(stats.commands, 3 * 5 * (10 * LINED + 20));
    ck_assert(wait_until(process(two) && queue_is(masters, "name", 1), 10000));
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(process(two) && client_stats(two).acquired == 10 * LINED &&
                             client_stats(two).held == 0,
                         20000));
    redlock_close(one);
    redlock_close(two);
    close_masters();
}

TEST(contend, process_is_one_contender)
{
    static struct waiter waiters[LINED];
    open_masters(5);
    redlock *one = client_open(file), *two = client_open(file);
    ck_assert(wait_until(client_ready(one) == 5 && client_ready(two) == 5, 10000));
    redlock_lock *held = take_everywhere(masters, one, "name");
    waiter_start(&waiters[0], two, "name", 60000);
    queue_becomes(masters, "name", 1);
    redlock_stats before = client_stats(two);
    int64_t begun = now_ms();
    for (int i = 1; i < LINED; i++)
        waiter_start(&waiters[i], two, "name", 60000);
    pause_ms(100); /* in which they are to do nothing */
    redlock_stats now = client_stats(two);
    uint64_t probes = now.probes - before.probes;
    /* By itself it looks once a second. */
    ck_assert_int_le((int)probes, (now_ms() - begun + 1000) / 1000);
    ck_assert_uint_le(now.commands - before.commands, (1 + probes) * 10);
    ck_assert(queue_is(masters, "name", 1));
    ck_assert_int_eq(redlock_release(held), 0);
    for (int i = 0; i < LINED; i++)
        waiter_expect_lock(&waiters[i], 20000);
    redlock_close(one);
    redlock_close(two);
    close_masters();
}

/* ---- crowds ----------------------------------------------------------------------------- */

enum { LOG_MAX = 4096, PEOPLE_MAX = 512 };

/* What the contenders share, between processes too. Only the lock guards it: the counter is
 * loaded and stored, not added to, on purpose. */
struct shared {
    atomic_int ready, failed;
    atomic_bool go;
    atomic_int counter, inside;
    int log[LOG_MAX]; /* who had it, in order */
    int takes[PEOPLE_MAX];
};

static struct shared *shared;

/* One process (or, in the same, one client) with its threads. */
struct crowd {
    int number; /* of the process */
    int threads;
    int takes; /* each of them; 0: until the log has `until` */
    int until;
    int hold_ms;
    bool own_clients; /* one a thread */
    redlock *client;
};

struct person {
    struct crowd *crowd;
    int number;
    pthread_t thread;
};

static bool wants_more(const struct crowd *crowd, int taken)
{
    return crowd->takes ? taken < crowd->takes : atomic_load(&shared->counter) < crowd->until;
}

static bool take_turn(const struct crowd *crowd, int number, redlock *client)
{
    redlock_lock *lock = NULL;
    if (client_try(client, "name", 30000, 60000, NULL, &lock) != 0)
        return false;
    bool alone = atomic_fetch_add(&shared->inside, 1) == 0;
    int read = atomic_load(&shared->counter);
    if (read < LOG_MAX)
        shared->log[read] = crowd->number;
    if (number < PEOPLE_MAX)
        shared->takes[number]++;
    if (crowd->hold_ms)
        pause_ms(crowd->hold_ms);
    atomic_store(&shared->counter, read + 1);
    atomic_fetch_sub(&shared->inside, 1);
    return redlock_release(lock) == 0 && alone;
}

static void *contend(void *argument)
{
    struct person *person = argument;
    struct crowd *crowd = person->crowd;
    redlock *client = crowd->client;
    if (crowd->own_clients && redlock_open(file, NULL, &client) != 0)
        atomic_fetch_add(&shared->failed, 1);
    atomic_fetch_add(&shared->ready, 1);
    while (!atomic_load(&shared->go))
        pause_ms(1);
    for (int taken = 0; wants_more(crowd, taken); taken++) {
        if (!take_turn(crowd, person->number, client))
            atomic_fetch_add(&shared->failed, 1);
    }
    if (crowd->own_clients)
        redlock_close(client);
    return NULL;
}

static int crowd_main(void *argument)
{
    struct crowd *crowd = argument;
    struct person *people = calloc((size_t)crowd->threads, sizeof(*people));
    child_expect(people);
    if (!crowd->own_clients)
        child_expect(redlock_open(file, NULL, &crowd->client) == 0);
    for (int i = 0; i < crowd->threads; i++) {
        people[i] = (struct person){crowd, crowd->number * crowd->threads + i, 0};
        child_expect(pthread_create(&people[i].thread, NULL, contend, &people[i]) == 0);
    }
    for (int i = 0; i < crowd->threads; i++)
        pthread_join(people[i].thread, NULL);
    if (!crowd->own_clients)
        redlock_close(crowd->client);
    free(people);
    return 0;
}

static void *crowd_thread(void *argument)
{
    if (crowd_main(argument) != 0)
        atomic_fetch_add(&shared->failed, 1);
    return NULL;
}

/* As many processes with that crowd; none: in this one. They begin together. */
static void run_crowds(int processes, struct crowd crowd)
{
    struct child children[64];
    struct crowd copies[64];
    int count = processes ? processes : 1;
    pthread_t thread;
    shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(shared != MAP_FAILED);
    for (int i = 0; i < count; i++) {
        copies[i] = crowd;
        copies[i].number = i;
        if (processes)
            children[i] = child_start(crowd_main, &copies[i]);
    }
    if (!processes)
        ck_assert_int_eq(pthread_create(&thread, NULL, crowd_thread, &copies[0]), 0);
    ck_assert(wait_until(atomic_load(&shared->ready) == count * crowd.threads, 20000));
    atomic_store(&shared->go, true);
    for (int i = 0; i < processes; i++)
        ck_assert_int_eq(child_wait(&children[i], 60000), 0);
    if (!processes)
        pthread_join(thread, NULL);
    ck_assert_int_eq(atomic_load(&shared->failed), 0);
}

static void end_crowds(int takes)
{
    ck_assert_int_eq(atomic_load(&shared->counter), takes);
    munmap(shared, sizeof(*shared));
    close_masters();
}

/* Jain's index of what so many got: 1 where all got the same, 1/n where one got it all. */
static double fairness(const int *got, int count)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < count; i++) {
        sum += got[i];
        squares += (double)got[i] * got[i];
    }
    return squares > 0 ? sum * sum / (count * squares) : 0;
}

static const struct {
    int processes, threads, takes;
    bool own_clients;
} crowds[] = {
    {0, 2, 100, false}, {0, 8, 25, false}, {0, 64, 4, false}, /* threads on one client */
    {0, 2, 50, true},   {0, 8, 15, true},  {0, 64, 2, true},  /* each with its own */
    {2, 1, 50, false},  {8, 1, 15, false}, {64, 1, 2, false}, /* processes */
    {2, 4, 20, false},  {8, 8, 3, false},                     /* of many threads */
};

TEST(contend, no_update_is_lost, .rows = 11)
{
    int processes = crowds[_i].processes, threads = crowds[_i].threads;
    int count = (processes ? processes : 1) * threads;
    open_masters(3);
    run_crowds(processes, (struct crowd){.threads = threads,
                                         .takes = crowds[_i].takes,
                                         .own_clients = crowds[_i].own_clients});
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(shared->takes[i], crowds[_i].takes);
    end_crowds(count * crowds[_i].takes);
}

/* Both processes want more for as long as it lasts. */
TEST(contend, processes_take_turns_with_any_crowd_in_each, .rows = 2)
{
    enum { TAKES = 400 };
    int got[8] = {0}, processes = _i == 0 ? 2 : 8, run = 0, longest = 0;
    open_masters(3);
    run_crowds(processes, (struct crowd){.threads = 4, .until = TAKES, .hold_ms = 1});
    int all = atomic_load(&shared->counter);
    ck_assert_int_ge(all, TAKES);
    for (int i = TAKES / 4; i < TAKES; i++) {
        run = i > 0 && shared->log[i] == shared->log[i - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
        got[shared->log[i]]++;
    }
    ck_assert_msg(longest <= 12, "%d in a row", longest);
    double index = fairness(got, processes);
    ck_assert_msg(index >= 0.9, "Jain's index %.2f", index);
    end_crowds(all);
}

/* They hold it for a millisecond each; who is overlooked waits far longer than the others. */
TEST(contend, nobody_starves_among_64)
{
    enum { PROCESSES = 64, TAKES = 640 };
    open_masters(3);
    run_crowds(PROCESSES, (struct crowd){.threads = 1, .until = TAKES, .hold_ms = 1});
    int all = atomic_load(&shared->counter);
    double index = fairness(shared->takes, PROCESSES);
    ck_assert_msg(index >= 0.9, "Jain's index %.2f", index);
    for (int i = 0; i < PROCESSES; i++)
        ck_assert_int_gt(shared->takes[i], 0);
    end_crowds(all);
}

TEST(contend, each_of_512_gets_it_once, .rows = 2)
{
    const char *large = getenv("CONTENDERS");
    bool own_clients = large && strtol(large, NULL, 10) >= PEOPLE_MAX;
    int processes = _i == 0 && !own_clients ? 4 : 32; /* of 1024 descriptors at most */
    open_masters(3);
    run_crowds(processes, (struct crowd){.threads = PEOPLE_MAX / processes,
                                         .takes = 1,
                                         .own_clients = own_clients});
    for (int i = 0; i < PEOPLE_MAX; i++)
        ck_assert_int_eq(shared->takes[i], 1);
    end_crowds(PEOPLE_MAX);
}

CASE(contend, .timeout_s = 100)
