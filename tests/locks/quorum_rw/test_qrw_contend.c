/* test_qrw_contend.c - crowds of readers and writers on several masters: never a reader beside
 * a writer, nor a writer beside another (case f87: nor in a race on a quorum), no update that
 * is lost, and no writer that starves, while masters go and come. */
#include "config_auto.h"

#include "rw_scene.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { MOMENT_MS = 10000, CROWD = 10, CLIENTS = 3 };

/* What the lock guards: two numbers that writers change without care, the same way. */
static struct guarded {
    atomic_int readers, writers;
    atomic_bool over;
    atomic_ulong reads, writes, overlaps, torn, other;
    volatile unsigned long first, second;
} guarded;

struct one {
    redlock *client;
    pthread_t thread;
    char owner[16];
    bool writes;
    unsigned long holds;
    int hold_ms;
};

static void look(bool writes, int hold_ms)
{
    struct guarded *g = &guarded;
    atomic_fetch_add(writes ? &g->writers : &g->readers, 1);
    unsigned long first = g->first;
    if (writes)
        g->first = first + 1;
    pause_ms(hold_ms);
    if (writes)
        g->second = g->second + 1;
    else if (g->first != first || g->second != first)
        atomic_fetch_add(&g->torn, 1);
    if (atomic_load(&g->writers) > writes || (writes && atomic_load(&g->readers) > 0))
        atomic_fetch_add(&g->overlaps, 1);
    atomic_fetch_sub(writes ? &g->writers : &g->readers, 1);
}

static void *work(void *argument)
{
    struct one *one_of = argument;
    while (!atomic_load(&guarded.over)) {
        redlock_lock *lock = NULL;
        int code = one_of->writes ? try_write(one_of->client, one_of->owner, 1000, &lock)
                                  : try_read(one_of->client, one_of->owner, 1000, &lock);
        if (code == REDLOCK_OK) {
            look(one_of->writes, one_of->hold_ms);
            one_of->holds++;
            atomic_fetch_add(one_of->writes ? &guarded.writes : &guarded.reads, 1);
            redlock_release(lock);
        } else if (code != REDLOCK_EHELD && code != REDLOCK_ENOQUORUM &&
                   code != REDLOCK_EUNDECIDED) {
            atomic_fetch_add(&guarded.other, 1);
        }
    }
    return NULL;
}

static redlock *clients[CLIENTS];
static struct one crowd[CROWD];

static void begin(unsigned n, unsigned writers, int hold_ms)
{
    open_masters(n);
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i] = client_open(masters_file(masters, NULL));
        ck_assert(wait_until(client_ready(clients[i]) == n, MOMENT_MS));
    }
    for (unsigned i = 0; i < CROWD; i++) {
        crowd[i] = (struct one){
            .client = clients[i % CLIENTS], .writes = i < writers, .hold_ms = hold_ms};
        snprintf(crowd[i].owner, sizeof(crowd[i].owner), "%u", i);
        ck_assert_int_eq(pthread_create(&crowd[i].thread, NULL, work, &crowd[i]), 0);
    }
}

static void end(void)
{
    atomic_store(&guarded.over, true);
    for (unsigned i = 0; i < CROWD; i++)
        pthread_join(crowd[i].thread, NULL);
    for (unsigned i = 0; i < CLIENTS; i++)
        redlock_close(clients[i]);
    printf("%lu reads, %lu writes\n", atomic_load(&guarded.reads),
           atomic_load(&guarded.writes));
    ck_assert_uint_eq(atomic_load(&guarded.overlaps), 0);
    ck_assert_uint_eq(atomic_load(&guarded.torn), 0);
    ck_assert_uint_eq(atomic_load(&guarded.other), 0);
    ck_assert_uint_eq(guarded.first, atomic_load(&guarded.writes));
    ck_assert_uint_eq(guarded.second, atomic_load(&guarded.writes));
    close_all();
}

static bool done(unsigned long reads, unsigned long writes)
{
    return atomic_load(&guarded.reads) >= reads && atomic_load(&guarded.writes) >= writes;
}

TEST(crowds, g87_reader_and_writer_race_on_quorum_and_never_both_win)
{
    begin(3, CROWD / 2, 0);
    ck_assert(wait_until(done(300, 300), 3 * MOMENT_MS));
    end();
}

TEST(crowds, no_update_is_lost_while_masters_go_and_come)
{
    begin(5, CROWD / 3, 1);
    ck_assert(wait_until(done(50, 50), 3 * MOMENT_MS));
    master_pause(masters, 1);
    master_kill(masters, 3);
    ck_assert(wait_until(done(150, 100), 3 * MOMENT_MS));
    master_resume(masters, 1);
    master_pause(masters, 0);
    ck_assert(wait_until(done(250, 150), 3 * MOMENT_MS));
    master_resume(masters, 0);
    end();
}

/* There is always somebody who reads, were it not for the writer that waits. */
TEST(crowds, g86_stream_of_readers_does_not_starve_writer)
{
    begin(3, 1, 20);
    ck_assert(wait_until(done(100, 20), 3 * MOMENT_MS));
    ck_assert_uint_ge(crowd[0].holds, 20);
    end();
}

/* There is always a writer that comes back at once. */
TEST(crowds, stream_of_writers_does_not_starve_reader)
{
    begin(3, CROWD - 1, 1);
    ck_assert(wait_until(done(20, 100), 3 * MOMENT_MS));
    end();
}

CASE(crowds, .timeout_s = 120)
