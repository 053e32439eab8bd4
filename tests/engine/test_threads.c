/* tags: threads */
/* test_threads.c - one client, many threads: who waits, who leads, and who gives up. */
#include "config_auto.h"

#include "clients.h"
#include "stall.h"

#include <dlfcn.h>
#include <pthread.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 8 };

static atomic_int failures;

/* Check's assertions are the main thread's. */
#define expect(condition)                                                                      \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                    \
            atomic_fetch_add(&failures, 1);                                                    \
        }                                                                                      \
    } while (0)

static void close_all(void)
{
    close_clients();
    ck_assert_int_eq(failures, 0);
}

static void run_some(void *(*body)(void *), int count)
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void run_threads(void *(*body)(void *))
{
    run_some(body, THREADS);
}

/* ---- together --------------------------------------------------------------------------- */

static void *take_own_names(void *argument)
{
    char name[32];
    for (int i = 0; i < 200; i++) {
        redlock_lock *lock = NULL;
        snprintf(name, sizeof(name), "name-%d-%d", (int)(intptr_t)argument, i % 7);
        expect(client_try(one, name, 0, 5000, NULL, &lock) == 0);
        expect(lock && redlock_validity_ms(lock) > 0);
        expect(i % 5 || redlock_extend(lock, CLIENT_TTL_MS + 5000, NULL) == 0);
        expect(redlock_release(lock) == 0);
    }
    return NULL;
}

TEST(threads, threads_share_connections)
{
    open_clients(3, NULL);
    run_threads(take_own_names);
    struct reply info = master_do(masters, 0, "INFO", "clients", NULL);
    /* One, two, and who asks. */
    ck_assert_msg(strstr(info.text, "connected_clients:3\r\n") != NULL, "%s", info.text);
    ck_assert_uint_eq(client_stats(one).acquired, THREADS * 200);
    ck_assert_uint_eq(client_stats(one).released, THREADS * 200);
    ck_assert_uint_eq(client_stats(one).held, 0);
    close_all();
}

/* What the client writes is counted on its way out. So is how often a thread sleeps because
 * another one leads, and how often a leader polls for a moment only, until others come. */
static atomic_llong writes, sleeps, short_polls;

enum { FUTEX_COMMAND = 127, FUTEX_WAITS = 9 }; /* FUTEX_CMD_MASK, FUTEX_WAIT_BITSET */

long syscall(long number, ...)
{
    static long (*_Atomic real)(long, ...);
    long args[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        args[i] = va_arg(list, long);
    va_end(list);
    if (!real)
        real = (long (*)(long, ...))(intptr_t)dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_futex && (args[1] & FUTEX_COMMAND) == FUTEX_WAITS)
        atomic_fetch_add(&sleeps, 1);
    return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
}

#ifdef HAVE_EPOLL_PWAIT2
int epoll_pwait2(int fd, struct epoll_event *events, int room, const struct timespec *timeout,
                 const sigset_t *signals)
{
    atomic_fetch_add(&short_polls, 1);
    return (int)syscall(SYS_epoll_pwait2, fd, events, room, timeout, signals, (size_t)8);
}
#endif

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    atomic_fetch_add(&writes, 1);
    return sendto(fd, bytes, size, flags, NULL, 0);
}

enum { PAIRS = 50, STRETCHES = 16 };

/* Under ThreadSanitizer the other thread needs longer than a leader yields, on an idle machine
 * too, so that polls are short there: that rule is one of the usual build. */
#ifdef __SANITIZE_THREAD__
#define SHORT_POLLS_MAX LLONG_MAX
#else
#define SHORT_POLLS_MAX PAIRS
#endif

static void *take_and_release(void *argument)
{
    char name[32];
    snprintf(name, sizeof(name), "pair-%d", (int)(intptr_t)argument);
    for (int i = 0; i < PAIRS; i++) {
        redlock_lock *lock = NULL;
        expect(client_try(one, name, 0, 5000, NULL, &lock) == 0);
        expect(redlock_release(lock) == 0);
    }
    return NULL;
}

/* A pair alone is two writes to a master, and so are pairs of all threads that go together. Two
 * threads may need 2.5 where it is 4 one by one, and eight 4 where it is 16. Of calls that go
 * together all but one sleep, once. The one yields until all are there, so that its poll ends
 * with answers. */
static bool stretch_goes_together(int threads)
{
    atomic_store(&writes, 0);
    atomic_store(&sleeps, 0);
    atomic_store(&short_polls, 0);
    run_some(take_and_release, threads);
    fprintf(stderr, "%d threads, %d pairs each: %lld writes, %lld sleeps, %lld short polls\n",
            threads, PAIRS, atomic_load(&writes), atomic_load(&sleeps),
            atomic_load(&short_polls));
    return atomic_load(&writes) < (8 + threads) * PAIRS / 4 * (long long)masters->n &&
           atomic_load(&sleeps) < 2 * PAIRS * (threads - 1) + PAIRS / 2 &&
           atomic_load(&short_polls) < SHORT_POLLS_MAX;
}

/* In one stretch at least. Threads that share a processor with other work often miss each
 * other. Those that never wait for each other do not go together in any. */
static bool threads_go_together(int threads)
{
    int together = 0;
    for (int i = 0; i < STRETCHES; i++)
        together += stretch_goes_together(threads);
    return together > 0;
}

TEST(threads, requests_of_threads_leave_together, .rows = 3)
{
    static const int counts[] = {2, 4, 8};
    open_clients(3, NULL);
    bool together = met_unless_stalled(threads_go_together(counts[_i]), STALL_MS, 10);
    ck_assert_msg(together, "%d threads", counts[_i]);
    close_all();
}

/* Not atomic on purpose: only the lock keeps the updates from being lost. */
static volatile int counter;
static atomic_int inside;

static void *count_under_lock(void *argument)
{
    redlock *client = (intptr_t)argument % 2 ? one : two;
    for (int i = 0; i < 25; i++) {
        redlock_lock *lock = NULL;
        expect(client_try(client, "counter", 0, 60000, NULL, &lock) == 0);
        expect(atomic_fetch_add(&inside, 1) == 0);
        int read = counter;
        usleep(200);
        counter = read + 1;
        atomic_fetch_sub(&inside, 1);
        expect(redlock_release(lock) == 0);
    }
    return NULL;
}

TEST(threads, no_update_is_lost_under_lock)
{
    open_clients(3, NULL);
    run_threads(count_under_lock);
    ck_assert_int_eq(counter, THREADS * 25);
    close_all();
}

/* ---- one waits, another works ----------------------------------------------------------- */

struct waiter {
    pthread_t thread;
    int64_t wait_ms;
    int64_t took_ms;
    int code;
    redlock_lock *lock;
};

static void *wait_for_it(void *argument)
{
    struct waiter *waiter = argument;
    int64_t begun = now_ms();
    waiter->code = client_try(one, "held", 0, waiter->wait_ms, NULL, &waiter->lock);
    waiter->took_ms = now_ms() - begun;
    return NULL;
}

static bool has_begun(const redlock_stats *before)
{
    redlock_stats now = client_stats(one);
    return now.rounds > before->rounds || now.waiting > before->waiting;
}

/* It asks the masters; or it waits behind others of the client, and begins no round. */
static void start_waiter(struct waiter *waiter, int64_t wait_ms)
{
    redlock_stats before = client_stats(one);
    *waiter = (struct waiter){.wait_ms = wait_ms, .code = -100};
    ck_assert_int_eq(pthread_create(&waiter->thread, NULL, wait_for_it, waiter), 0);
    ck_assert(wait_until(has_begun(&before), 20000));
}

TEST(threads, long_wait_delays_nobody)
{
    struct waiter waiter;
    open_clients(3, NULL);
    redlock_lock *held = client_take(two, "held");
    start_waiter(&waiter, 30000);
    int64_t begun;
    for (int i = 0; i < 100; i++) {
        redlock_lock *lock = client_take(one, "free");
        stall_watch();
        begun = now_ms();
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(now_ms() - begun < 200 || stall_excuses(STALL_MS));
    }
    ck_assert_int_eq(redlock_release(held), 0);
    begun = now_ms();
    pthread_join(waiter.thread, NULL);
    ck_assert_int_eq(waiter.code, 0);
    ck_assert_int_lt(now_ms() - begun, 2000);
    ck_assert_int_eq(redlock_release(waiter.lock), 0);
    close_all();
}

/* By how much they ended too late, at most. */
static int64_t end_waits(void)
{
    static const int64_t waits[THREADS] = {100, 900, 200, 800, 300, 700, 400, 500};
    struct waiter waiters[THREADS];
    int64_t late = 0;
    for (int i = 0; i < THREADS; i++) {
        waiters[i] = (struct waiter){.wait_ms = waits[i]};
        ck_assert_int_eq(pthread_create(&waiters[i].thread, NULL, wait_for_it, &waiters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(waiters[i].thread, NULL);
        /* The last round has what is left, and the masters may be too slow for that. */
        ck_assert(waiters[i].code == REDLOCK_EHELD || waiters[i].code == REDLOCK_EUNDECIDED ||
                  waiters[i].code == REDLOCK_ENOQUORUM);
        ck_assert_int_ge(waiters[i].took_ms, waits[i] - 100);
        late = waiters[i].took_ms - waits[i] > late ? waiters[i].took_ms - waits[i] : late;
    }
    return late;
}

/* Whoever leads the loop leaves: those who sleep must not sleep on, for up to 800 ms. To the
 * millisecond this is waits-of-one-client, a story of the simulator. */
TEST(threads, every_wait_ends_in_its_own_time)
{
    int64_t late = 0;
    open_clients(3, NULL);
    redlock_lock *held = client_take(two, "held");
    /* Connecting is not part of a wait. */
    ck_assert(wait_until(client_ready(one) == 3, 10000));
    ck_assert_msg(met_unless_stalled((late = end_waits()) < 90, STALL_MS, 3), "%d ms late",
                  (int)late);
    ck_assert_int_eq(redlock_release(held), 0);
    close_all();
}

TEST(threads, wait_for_ever_ends_with_lock)
{
    struct waiter waiter;
    open_clients(3, NULL);
    redlock_lock *held = client_take(two, "held");
    start_waiter(&waiter, -1);
    ck_assert_int_eq(redlock_release(held), 0);
    pthread_join(waiter.thread, NULL);
    ck_assert_int_eq(waiter.code, 0);
    ck_assert_int_eq(redlock_release(waiter.lock), 0);
    close_all();
}

/* ---- two on one handle ------------------------------------------------------------------ */

static redlock_lock *shared;
static atomic_int arrived, released, not_held, others;

static void meet(void)
{
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) % 2 != 0)
        continue;
}

static void *release_shared(void *argument)
{
    (void)argument;
    meet();
    int code = redlock_release(shared);
    atomic_fetch_add(code == 0 ? &released : code == REDLOCK_ENOTHELD ? &not_held : &others, 1);
    return NULL;
}

TEST(threads, of_two_releases_one_wins)
{
    open_clients(3, NULL);
    for (int i = 1; i <= 200; i++) {
        pthread_t thread;
        shared = client_take(one, "name");
        ck_assert_int_eq(pthread_create(&thread, NULL, release_shared, NULL), 0);
        release_shared(NULL);
        pthread_join(thread, NULL);
        ck_assert_int_eq(released, i);
        ck_assert_int_eq(not_held, i);
    }
    close_all();
}

static void *extend_shared(void *argument)
{
    (void)argument;
    int code = 0;
    meet();
    for (int64_t ttl = CLIENT_TTL_MS + 1; code != REDLOCK_ENOTHELD; ttl++) {
        code = redlock_extend(shared, ttl < 2 * CLIENT_TTL_MS ? ttl : 0, NULL);
        expect(code == 0 || code == REDLOCK_ENOTHELD || code == REDLOCK_EBUSY ||
               code == REDLOCK_EEXPIRED || code == REDLOCK_ENOQUORUM);
    }
    atomic_fetch_add(&not_held, 1);
    return NULL;
}

TEST(threads, release_wins_over_extension)
{
    open_clients(3, NULL);
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        shared = client_take(one, "name");
        ck_assert_int_eq(pthread_create(&thread, NULL, extend_shared, NULL), 0);
        meet();
        usleep((useconds_t)i * 10);
        int code = redlock_release(shared);
        ck_assert_msg(code == 0, "%d", code);
        ck_assert_int_eq(redlock_validity_ms(shared), 0);
        pthread_join(thread, NULL);
        ck_assert_int_eq(redlock_validity_ms(shared), 0);
        ck_assert_int_eq(redlock_extend(shared, 0, NULL), REDLOCK_ENOTHELD);
        ck_assert(wait_until((client_ready(one), masters_with(masters, "name") == 0), 5000));
    }
    ck_assert_int_eq(not_held, 100);
    close_all();
}

static atomic_bool looking;

static void *look_at_validity(void *argument)
{
    (void)argument;
    while (atomic_load(&looking)) {
        int64_t validity = redlock_validity_ms(shared);
        expect(validity >= 0 && validity <= CLIENT_TTL_MS + 5000);
    }
    return NULL;
}

TEST(threads, validity_may_be_read_at_any_time)
{
    pthread_t thread;
    open_clients(3, NULL);
    for (int i = 0; i < 20; i++) {
        shared = client_take(one, "name");
        atomic_store(&looking, true);
        ck_assert_int_eq(pthread_create(&thread, NULL, look_at_validity, NULL), 0);
        ck_assert_int_eq(redlock_extend(shared, CLIENT_TTL_MS + 5000, NULL), 0);
        ck_assert_int_eq(redlock_release(shared), 0);
        atomic_store(&looking, false);
        pthread_join(thread, NULL);
    }
    close_all();
}

/* ---- cancel ----------------------------------------------------------------------------- */

static void cancel_by_signal(int number)
{
    (void)number;
    redlock_shutdown(one);
}

TEST(threads, cancel_ends_every_wait_and_no_hold)
{
    struct waiter waiters[3];
    open_clients(3, NULL);
    redlock_lock *held = client_take(two, "held"), *mine = client_take(one, "mine");
    for (int i = 0; i < 3; i++)
        start_waiter(&waiters[i], -1);
    struct sigaction action = {.sa_handler = cancel_by_signal};
    ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    for (int i = 0; i < 3; i++) {
        pthread_join(waiters[i].thread, NULL);
        ck_assert_int_eq(waiters[i].code, REDLOCK_ECANCELED);
    }
    ck_assert_int_gt(redlock_validity_ms(mine), 0);
    ck_assert_int_eq(redlock_extend(mine, CLIENT_TTL_MS + 5000, NULL), 0);
    ck_assert_int_eq(redlock_release(mine), 0);
    redlock_lock *later = NULL;
    ck_assert_int_eq(client_try(one, "later", 0, 1000, NULL, &later), REDLOCK_ECANCELED);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(masters_with(masters, "held") == 0, 2000));
    close_all();
}

/* Nothing happens for seconds, but for the cancel. */
TEST(threads, cancel_wakes_loop_that_sleeps)
{
    struct waiter waiter;
    open_clients(3, NULL);
    for (unsigned i = 0; i < 3; i++)
        master_pause(masters, i);
    start_waiter(&waiter, -1); /* a node's share of the ttl is 3.3 s */
    int64_t begun = now_ms();
    redlock_shutdown(one);
    pthread_join(waiter.thread, NULL);
    ck_assert_int_lt(now_ms() - begun, 2500);
    ck_assert_int_eq(waiter.code, REDLOCK_ECANCELED);
    for (unsigned i = 0; i < 3; i++)
        master_resume(masters, i);
    ck_assert(wait_until(masters_with(masters, "held") == 0, 2000));
    close_all();
}

/* Our calls are no cancellation points: the thread ends at its own. */
static atomic_int came_through;

static void *take_until_canceled(void *argument)
{
    (void)argument;
    for (;;) {
        redlock_lock *lock = NULL;
        if (client_try(one, "held", 0, 20, NULL, &lock) == REDLOCK_EHELD)
            atomic_fetch_add(&came_through, 1);
        pthread_testcancel();
    }
    return NULL;
}

TEST(threads, canceled_thread_leaves_client_whole)
{
    open_clients(3, NULL);
    redlock_lock *held = client_take(two, "held");
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        int before = came_through;
        ck_assert_int_eq(pthread_create(&thread, NULL, take_until_canceled, NULL), 0);
        ck_assert(wait_until(came_through > before, 5000));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        redlock_lock *lock = NULL;
        ck_assert_int_eq(client_try(one, "free", 0, 5000, NULL, &lock), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    ck_assert_int_eq(redlock_release(held), 0);
    close_all();
}

/* ---- clients ---------------------------------------------------------------------------- */

static const char *shared_file;

static void *open_and_close(void *argument)
{
    for (int i = 0; i < 10; i++) {
        redlock *client = NULL;
        redlock_lock *lock = NULL;
        char name[16];
        snprintf(name, sizeof(name), "own-%d", (int)(intptr_t)argument);
        expect(redlock_open(shared_file, NULL, &client) == 0);
        expect(client_try(client, name, 0, 0, NULL, &lock) == 0);
        redlock_close(client); /* releases it */
    }
    return NULL;
}

TEST(threads, clients_come_and_go_in_parallel)
{
    open_clients(3, NULL);
    shared_file = masters_file(masters, NULL);
    run_threads(open_and_close);
    ck_assert_int_eq(master_do(masters, 0, "DBSIZE", NULL).number, 0);
    close_all();
}

CASE(threads, .timeout_s = 120)
