/* test_rw_crowd.c - crowds of readers and writers on one master: threads and processes of which
 * none reads beside a writer, no update that is lost, and nobody who starves (case g86). */
#include "config_auto.h"

#include "rw_scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { LIMIT_MS = 60000, CROWD_MAX = 16 };

/* What the lock guards, for processes too: two numbers that writers change without care. */
static struct guarded {
    volatile long first, second;
    atomic_int readers, writers, ready, together;
    atomic_int
        wrong; /* a reader beside a writer, two writers, numbers that differ, a failure */
    atomic_bool go, over;
    atomic_long reads, writes;
} * guarded;

static const char *file; /* written once, for all that read it */

/* A thread with a client of its own, or the one that is given. */
struct one {
    redlock *client;
    bool writes, opens;
    int turns; /* 0: until it is over */
    int hold_ms;
    pthread_t thread;
};

static void expect(bool condition)
{
    if (!condition)
        atomic_fetch_add(&guarded->wrong, 1);
}

static void look(const struct one *one_of)
{
    struct guarded *g = guarded;
    long first = g->first;
    if (one_of->writes) {
        expect(atomic_fetch_add(&g->writers, 1) == 0 && atomic_load(&g->readers) == 0);
        g->first = first + 1;
        pause_ms(one_of->hold_ms);
        g->second = g->second + 1;
        expect(atomic_fetch_sub(&g->writers, 1) == 1 && g->second == first + 1);
        atomic_fetch_add(&g->writes, 1);
        return;
    }
    int readers = atomic_fetch_add(&g->readers, 1) + 1;
    atomic_fetch_add(&g->together, readers > 1);
    atomic_fetch_add(&g->reads, 1); /* counted when it begins */
    pause_ms(one_of->hold_ms);
    expect(g->first == first && g->second == first && atomic_load(&g->writers) == 0);
    atomic_fetch_sub(&g->readers, 1);
}

static void *work(void *argument)
{
    struct one *one_of = argument;
    redlock *client = one_of->client;
    if (one_of->opens && redlock_open(file, NULL, &client) != 0)
        suite_die("a client can't be opened");
    atomic_fetch_add(&guarded->ready, 1);
    while (!atomic_load(&guarded->go))
        pause_ms(1);
    for (int i = 0; !atomic_load(&guarded->over) && (one_of->turns == 0 || i < one_of->turns);
         i++) {
        redlock_lock *lock = NULL;
        int kind = one_of->writes ? REDLOCK_WRITE : REDLOCK_READ;
        int code = client_try_as(client, NAME, kind, NULL, LIMIT_MS, &lock);
        expect(code == 0);
        if (code == 0) {
            look(one_of);
            expect(redlock_release(lock) == 0);
        }
    }
    if (one_of->opens)
        redlock_close(client);
    return NULL;
}

static void begin_crowd(void)
{
    open_masters(1);
    file = masters_file(masters, NULL);
    guarded =
        mmap(NULL, sizeof(*guarded), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(guarded != MAP_FAILED);
}

static void start(struct one crowd[], int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&crowd[i].thread, NULL, work, &crowd[i]), 0);
    ck_assert(wait_until(atomic_load(&guarded->ready) >= count, LIMIT_MS));
}

static void join(struct one crowd[], int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(crowd[i].thread, NULL);
}

static void end_crowd(void)
{
    ck_assert_int_eq(atomic_load(&guarded->wrong), 0);
    ck_assert_int_eq(guarded->first, atomic_load(&guarded->writes));
    ck_assert_int_eq(guarded->second, guarded->first);
    munmap(guarded, sizeof(*guarded));
    close_all();
}

/* ---- no update is lost ------------------------------------------------------------------ */

enum { PROCESSES = 3, THREADS = 4, TURNS = 60 };

/* Two readers and two writers who share a client, or each with one of its own. */
static int process(void *argument)
{
    struct one crowd[THREADS];
    bool opens = *(int *)argument;
    redlock *client = NULL;
    if (!opens)
        child_expect(redlock_open(file, NULL, &client) == 0);
    for (int i = 0; i < THREADS; i++) {
        crowd[i] = (struct one){
            .client = client,
            .opens = opens,
            .writes = i % 2,
            .turns = TURNS,
        };
        child_expect(pthread_create(&crowd[i].thread, NULL, work, &crowd[i]) == 0);
    }
    join(crowd, THREADS);
    redlock_close(client);
    return 0;
}

TEST(rw_crowd, no_update_is_lost_between_processes, .rows = 2)
{
    struct child children[PROCESSES];
    begin_crowd();
    for (int i = 0; i < PROCESSES; i++)
        children[i] = child_start(process, &_i);
    ck_assert(wait_until(atomic_load(&guarded->ready) == PROCESSES * THREADS, LIMIT_MS));
    atomic_store(&guarded->go, true);
    for (int i = 0; i < PROCESSES; i++)
        ck_assert_int_eq(child_wait(&children[i], LIMIT_MS), 0);
    ck_assert_int_eq(atomic_load(&guarded->writes), PROCESSES * THREADS / 2 * TURNS);
    ck_assert_int_eq(atomic_load(&guarded->reads), PROCESSES * THREADS / 2 * TURNS);
    ck_assert_int_gt(atomic_load(&guarded->together), 0);
    end_crowd();
}

/* ---- nobody starves --------------------------------------------------------------------- */

enum { READERS = 8, WRITES = 20, HOLD_MS = 5 };

/* Counted in holds and not in time: how often do others begin to read while a writer waits? It
 * is once each at most, but for what is on its way, and for threads that don't get to run. */
TEST(rw_crowd, g86_stream_of_readers_lets_writer_in)
{
    struct one readers[READERS];
    long passed = 0;
    begin_crowd();
    for (int i = 0; i < READERS; i++)
        readers[i] = (struct one){.opens = true, .hold_ms = HOLD_MS};
    start(readers, READERS);
    atomic_store(&guarded->go, true);
    struct one writer = {.client = one, .writes = true, .turns = 1};
    for (int i = 0; i < WRITES; i++) {
        long begun = atomic_load(&guarded->reads);
        work(&writer);
        passed += atomic_load(&guarded->reads) - begun;
        pause_ms(3 + i);
    }
    atomic_store(&guarded->over, true);
    join(readers, READERS);
    ck_assert_int_eq(atomic_load(&guarded->writes), WRITES);
    ck_assert_int_gt(atomic_load(&guarded->together), WRITES);
    ck_assert_msg(passed < 4 * READERS * WRITES, "%ld reads were begun while %d writes waited",
                  passed, WRITES);
    printf("%ld reads were begun while %d writes waited\n", passed, WRITES);
    end_crowd();
}

/* Writers who keep coming do not starve readers either: when one is done it is the turn of the
 * readers who wait, whoever else is there. Counted in holds again. */
TEST(rw_crowd, stream_of_writers_lets_readers_in)
{
    enum { WRITERS = 4, READS = 20 };
    struct one writers[WRITERS];
    long passed = 0;
    begin_crowd();
    for (int i = 0; i < WRITERS; i++)
        writers[i] = (struct one){.opens = true, .writes = true, .hold_ms = 2};
    start(writers, WRITERS);
    atomic_store(&guarded->go, true);
    struct one reader = {.client = one, .turns = 1};
    for (int i = 0; i < READS; i++) {
        long before = atomic_load(&guarded->writes);
        work(&reader);
        passed += atomic_load(&guarded->writes) - before;
        pause_ms(3 + i);
    }
    atomic_store(&guarded->over, true);
    join(writers, WRITERS);
    ck_assert_int_eq(atomic_load(&guarded->reads), READS);
    ck_assert_msg(passed < 10 * READS, "%ld writes were done while %d reads waited", passed,
                  READS);
    printf("%ld writes were done while %d reads waited\n", passed, READS);
    end_crowd();
}

/* A reader may read once more though a writer of its own client waits behind it. */
TEST(rw_crowd, threads_of_one_client_do_not_wait_for_each_other)
{
    struct one crowd[CROWD_MAX];
    begin_crowd();
    for (int i = 0; i < CROWD_MAX; i++)
        crowd[i] = (struct one){.client = one, .writes = i % 4 == 0, .turns = 40};
    start(crowd, CROWD_MAX);
    atomic_store(&guarded->go, true);
    join(crowd, CROWD_MAX);
    ck_assert_int_gt(atomic_load(&guarded->together), 0);
    end_crowd();
}

CASE(rw_crowd, .timeout_s = 120)
