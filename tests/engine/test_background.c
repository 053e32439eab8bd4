/* tags: threads */
/* test_background.c - who drives a client while no call does: when the background thread comes
 * and goes and what it is like, what it does, and how it ends; descriptors; fork. */
#include "config_auto.h"

#include "child.h"
#include "masters.h"
#include "program.h"
#include "rig.h"
#include "stall.h"
#include "told.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { CHILD_MAY_START_THREADS = 0 }; /* ThreadSanitizer can't follow that */
#else
enum { CHILD_MAY_START_THREADS = 1 };
#endif

static struct masters *masters;
static const char *file;
static redlock *client, *other;

static void open_masters(const char *settings)
{
    masters = masters_start(3, NULL);
    file = masters_file(masters, settings);
    client = client_open(file);
    other = NULL;
}

static void close_masters(void)
{
    redlock_close(client);
    redlock_close(other);
}

/* ---- the thread ------------------------------------------------------------------------- */

/* Threads of this process with our name; `ret_blocked`: the signals that the last blocks. */
static unsigned background_threads(unsigned long *ret_blocked)
{
    unsigned count = 0;
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && (entry = readdir(tasks))) {
        char path[300], text[4096];
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        file_text(path, text, sizeof(text));
        if (strncmp(text, "Name:\tredlock\n", 14) != 0)
            continue;
        const char *blocked = strstr(text, "SigBlk:\t");
        count++;
        if (ret_blocked && blocked)
            *ret_blocked = strtoul(blocked + 8, NULL, 16);
    }
    if (tasks)
        closedir(tasks);
    return count;
}

/* Its last answers are in before anything is asked: nothing outlives the call. */
static void settle(void)
{
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    ck_assert_uint_eq(client_stats(client).pending_releases, 0);
}

TEST(drive, no_thread_without_work_that_outlives_call, .rows = 4)
{
    open_masters("background auto\n");
    settle();
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    redlock_lock *lock = client_take(client, "name");
    ck_assert_int_eq(redlock_inspect_n(client, "name", 4, NULL, &info), 0);
    ck_assert_int_eq(redlock_extend(lock, 20000, NULL), 0);
    settle();
    ck_assert_uint_eq(background_threads(NULL), 0);
    if (_i == 0) { /* two answers are enough, the third is outstanding */
        master_pause(masters, 1);
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert_uint_eq(client_stats(client).pending_releases, 1);
        ck_assert(wait_until(background_threads(NULL) == 1, 2000));
        master_resume(masters, 1);
    } else if (_i == 1) {
        struct told told = {.calls = 0};
        told_try(client, "async", 0, &told);
        ck_assert(wait_until(background_threads(NULL) == 1, 2000));
        ck_assert(wait_until(told.calls == 1, 5000));
    } else if (_i == 2) {
        told_take_renewed(client, "renewed", 1000, NULL);
        ck_assert(wait_until(background_threads(NULL) == 1, 2000));
    } else {
        redlock_options options = REDLOCK_OPTIONS_INIT;
        struct told lost = {.calls = 0};
        redlock_lock *watched;
        options.on_lost = told_lost;
        options.lost_context = &lost;
        ck_assert_int_eq(redlock_try(client, "watched", &options, &watched), 0);
        ck_assert(wait_until(background_threads(NULL) == 1, 2000));
        ck_assert_int_eq(redlock_release(watched), 0);
    }
    redlock_close(client);
    ck_assert_uint_eq(background_threads(NULL), 0);
}

/* How often the background thread has begun to sleep. It may wait for the mutex as often as
 * threads are quicker to take it, which is not counted. */
static atomic_ulong naps;

int poll(struct pollfd *fds, nfds_t count, int timeout)
{
    char name[16] = "";
    struct timespec limit = {timeout / 1000, timeout % 1000 * 1000000L};
    if (prctl(PR_GET_NAME, name) == 0 && strcmp(name, "redlock") == 0)
        atomic_fetch_add(&naps, 1);
    return ppoll(fds, count, timeout < 0 ? NULL : &limit, NULL);
}

static void pairs(int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        redlock_lock *lock = NULL;
        ck_assert_int_eq(client_try(client, name, 10000, 0, NULL, &lock), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
}

static void *pairs_of_one(void *name)
{
    pairs(1000, name);
    return NULL;
}

/* Each release leaves a minority's answer to be read, and that is no reason to wake it: callers
 * that come and go read it. It looks in on them every 10 ms. When nobody comes any more it
 * sleeps for good. */
TEST(drive, callers_that_come_and_go_do_not_wake_it, .rows = 2)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    open_masters("background auto\n");
    settle();
    master_pause(masters, 2);
    pairs(1, "first");
    ck_assert(wait_until(background_threads(NULL) == 1, 5000));
    master_resume(masters, 2);
    ck_assert(wait_until(client_ready(client) == 3, 10000));
    unsigned long before = atomic_load(&naps);
    int64_t begun_ms = now_ms();
    if (_i == 0)
        pairs(3000, "name");
    for (int i = 0; i < 4 * _i; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, pairs_of_one, (void *)(uintptr_t)names[i]), 0);
    for (int i = 0; i < 4 * _i; i++)
        pthread_join(threads[i], NULL);
    unsigned long most = 30 + 2 * (unsigned long)(now_ms() - begun_ms) / 10;
    unsigned long slept = atomic_load(&naps) - before;
    ck_assert_msg(slept <= most, "%lu naps, not %lu", slept, most);
    for (before = 0; before != atomic_load(&naps); pause_ms(300))
        before = atomic_load(&naps);
    close_masters();
}

TEST(drive, always_means_from_beginning)
{
    open_masters("background always\n");
    ck_assert(wait_until(background_threads(NULL) == 1, 2000));
    settle();
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    ck_assert(wait_until(background_threads(NULL) == 1, 2000));
    redlock_close(client);
    ck_assert_uint_eq(background_threads(NULL), 0);
}

TEST(drive, never_means_never)
{
    struct told told = {.calls = 0};
    open_masters("background never\n");
    settle();
    told_take_renewed(client, "renewed", 1000, &told);
    master_pause(masters, 1);
    ck_assert_int_eq(redlock_release(client_take(client, "name")), 0);
    told_try(client, "async", 0, &told);
    ck_assert_uint_eq(background_threads(NULL), 0);
    ck_assert_uint_gt(client_stats(client).pending_releases, 0);
    master_resume(masters, 1);
    close_masters();
}

TEST(drive, thread_blocks_every_signal)
{
    unsigned long blocked = 0, wanted = 0;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    open_masters("background always\n");
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    for (int number = 1; number <= 64; number++) {
        ck_assert_int_eq(sigismember(&before, number), sigismember(&after, number));
        /* Two that can't be blocked, and two that the C library keeps for itself. */
        if (number != SIGKILL && number != SIGSTOP && number != 32 && number != 33)
            wanted |= 1ul << (number - 1);
    }
    ck_assert(wait_until(background_threads(&blocked) == 1, 2000));
    ck_assert_msg((blocked & wanted) == wanted, "%lx", wanted & ~blocked);
    close_masters();
}

/* A loop takes its place; and the other way round it never comes. */
TEST(drive, loop_needs_no_thread, .rows = 2)
{
    struct told told = {.calls = 0};
    open_masters(_i == 0 ? "background always\n" : NULL);
    settle();
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_uint_eq(background_threads(NULL), 0);
    told_try(client, "name", 0, &told);
    ck_assert(turn_until(client, told.calls == 1, 5000));
    redlock_release_async(told.lock, NULL, NULL);
    ck_assert_uint_eq(background_threads(NULL), 0);
    close_masters();
}

/* ---- what it does ----------------------------------------------------------------------- */

TEST(drive, unanswered_release_is_finished_without_any_call, .rows = 2)
{
    open_masters(NULL);
    settle();
    redlock_lock *lock = client_take(client, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    settle();
    if (_i == 0)
        master_pause(masters, 1);
    else
        master_kill(masters, 1);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_eq(client_stats(client).pending_releases, 1);
    if (_i == 0) {
        pause_ms(1500); /* the link drains by now, and another one stands in for it */
        master_resume(masters, 1);
    } else {
        master_restart(masters, 1, true);
        master_do(masters, 1, "SET", "name", "another's", NULL);
    }
    ck_assert(wait_until(client_stats(client).pending_releases == 0, 5000));
    ck_assert_uint_eq(masters_with(masters, "name"), (unsigned)_i);
    close_masters();
}

TEST(drive, never_leaves_it_to_next_call, .rows = 2)
{
    open_masters("background never\n");
    settle();
    redlock_lock *lock = client_take(client, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    settle();
    master_pause(masters, 1);
    ck_assert_int_eq(redlock_release(lock), 0);
    master_resume(masters, 1);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000)); /* it was sent */
    ck_assert_uint_eq(client_stats(client).pending_releases, 1);     /* nobody has heard */
    /* What a master executes first may be what it answers last. */
    if (_i == 0)
        client_ready(client);
    else
        ck_assert(wait_until(
            redlock_process(client) == 0 && client_stats(client).pending_releases == 0, 5000));
    ck_assert_uint_eq(client_stats(client).pending_releases, 0);
    close_masters();
}

/* ---- descriptors ------------------------------------------------------------------------ */

enum { FDS = 1024 };

static void note_descriptors(bool open[FDS])
{
    for (int fd = 0; fd < FDS; fd++)
        open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static void expect_none_inherited(const bool before[FDS])
{
    for (int fd = 0; fd < FDS; fd++) {
        int flags = before[fd] ? -1 : fcntl(fd, F_GETFD);
        ck_assert_msg(flags < 0 || (flags & FD_CLOEXEC), "descriptor %d", fd);
    }
}

static void *wait_for_held(void *argument)
{
    redlock_lock *lock = NULL;
    *(int *)argument = client_try(client, "held", 0, -1, NULL, &lock);
    return NULL;
}

TEST(drive, descriptors_are_no_more_than_was_promised)
{
    enum { N = 3 };
    pthread_t thread;
    int code = 0;
    struct told told = {.calls = 0};
    masters = masters_start(N, NULL);
    other = client_open(masters_file(masters, NULL));
    file = masters_file(masters, "stall-limit 200ms\nnode-timeout 100ms\n");
    redlock_lock *held = client_take(other, "held");
    bool were_open[FDS];
    note_descriptors(were_open);
    unsigned before = rig_descriptors(), most = 0;
    client = client_open(file);
    ck_assert(wait_until(client_ready(client) == N, 10000));
    ck_assert_uint_le(rig_descriptors() - before, N + 2);
    ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_held, &code), 0);
    ck_assert(wait_until(client_stats(client).waiting == 1, 5000));
    ck_assert(wait_until(rig_descriptors() - before >= 2 * N + 2, 5000));
    redlock_fd(client);
    ck_assert_uint_le(rig_descriptors() - before, 2 * N + 4);
    expect_none_inherited(were_open);
    /* Nobody answers: each master gets a second connection beside the one that drains. */
    for (unsigned i = 0; i < N; i++)
        master_pause(masters, i);
    for (int64_t end = now_ms() + 1500; now_ms() < end;) {
        told_try(client, "name", 0, &told);
        int calls = told.calls + 1;
        ck_assert(turn_until(client, told.calls == calls, 5000));
        unsigned count = rig_descriptors() - before;
        most = count > most ? count : most;
    }
    for (unsigned i = 0; i < N; i++)
        master_resume(masters, i);
    ck_assert_msg(most > 2 * N + 4 && most <= 3 * N + 4, "%u", most);
    redlock_shutdown(client);
    pthread_join(thread, NULL);
    ck_assert_int_eq(code, REDLOCK_ECANCELED);
    redlock_close(client);
    ck_assert_uint_eq(rig_descriptors(), before);
    ck_assert_int_eq(redlock_release(held), 0);
    redlock_close(other);
}

/* ---- fork ------------------------------------------------------------------------------- */

/* A third of the shorter lease here: by then its renewal is due, and late. */
enum { STALL_LEAST_MS = 300 };

static redlock_lock *renewed, *waited;
static struct told lost, waiting;

/* By a thread of the child's own. */
static bool is_renewed(redlock *own)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.ttl_ms = 900;
    options.auto_renew = 1;
    bool stays = redlock_try(own, "own", &options, &lock) == 0 &&
                 !wait_until(redlock_validity_ms(lock) == 0, 1200) &&
                 background_threads(NULL) == 1;
    return lock && redlock_release(lock) == 0 && stays;
}

static int live_in_child(void *argument)
{
    const bool *closes = argument;
    redlock *own = NULL;
    redlock_lock *lock = NULL;
    struct told took = {.calls = 0};
    child_expect(redlock_validity_ms(renewed) == 0);
    child_expect(redlock_fd(client) == REDLOCK_EFORK);
    child_expect(redlock_timeout_ms(client) == REDLOCK_EFORK);
    child_expect(redlock_process(client) == REDLOCK_EFORK);
    child_expect(redlock_cancel(client, 1) == REDLOCK_EFORK);
    child_expect(redlock_try_async_n(client, "a", 1, NULL, told_done, &took, NULL) ==
                 REDLOCK_EFORK);
    child_expect(redlock_extend_async(renewed, 0, NULL, told_done, &took) == REDLOCK_EFORK);
    child_expect(redlock_release_async(renewed, told_done, &took) == REDLOCK_EFORK);
    child_expect(redlock_release(renewed) == REDLOCK_EFORK);
    if (*closes)
        redlock_close(client);
    child_expect(redlock_open(file, NULL, &own) == 0);
    child_expect(client_try(own, "renewed", 0, 0, NULL, &lock) == REDLOCK_EHELD);
    child_expect(met_unless_stalled(is_renewed(own), STALL_LEAST_MS, 3));
    child_expect(redlock_try_async_n(own, "own", 3, NULL, told_done, &took, NULL) == 0);
    child_expect(wait_until(took.calls == 1, 5000) && took.result == 0);
    redlock_close(own);
    child_expect(background_threads(NULL) == 0);
    return lost.calls + waiting.calls == 0 ? 0 : __LINE__;
}

TEST(drive, child_lives_anew_and_its_parent_goes_on, .rows = 2)
{
    bool closes = _i == 1;
    if (!CHILD_MAY_START_THREADS)
        return;
    open_masters(NULL);
    other = client_open(file);
    /* A lock that is had before the third master is there is filled in there, by a thread. */
    ck_assert(wait_until(client_ready(other) == 3 && client_ready(client) == 3, 10000));
    redlock_lock *held = client_take(other, "held");
    renewed = told_take_renewed(client, "renewed", 1500, &lost);
    told_try(client, "held", -1, &waiting);
    ck_assert(wait_until(background_threads(NULL) == 1, 2000));
    ck_assert(wait_until(client_stats(client).waiting == 1, 5000));
    client_is_quiet(client); /* a sanitizer's allocator does not outlive a fork in its midst */
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(child_run(live_in_child, &closes, 20000), 0);
        ck_assert_int_gt(redlock_validity_ms(renewed), 0);
    }
    ck_assert_uint_eq(client_stats(client).reconnects, 0);
    ck_assert_int_eq(lost.calls, 0);
    ck_assert_int_eq(redlock_release(held), 0);
    ck_assert(wait_until(waiting.calls == 1, 5000));
    ck_assert_int_eq(waiting.result, 0);
    waited = waiting.lock;
    ck_assert_int_eq(redlock_release(waited), 0);
    ck_assert_int_eq(redlock_release(renewed), 0);
    close_masters();
}

/* ---- close under calls ------------------------------------------------------------------ */

enum { TRY, EXTEND, RELEASE, INSPECT, FORCE, STATUS, CALLS };
struct caller {
    pthread_t thread;
    int which;
    int64_t back_ms;
    atomic_int code;
    redlock_lock *lock;
};

static void *call(void *argument)
{
    struct caller *caller = argument;
    redlock_lock_info info = REDLOCK_LOCK_INFO_INIT(NULL, 0, NULL, 0);
    static redlock_node_status status_nodes[REDLOCK_NODES_MAX];
    static redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
    redlock_lock *lock = NULL;
    int code = 1;
    switch (caller->which) {
    case TRY:
        code = client_try(client, "held", 0, -1, NULL, &lock);
        break;
    case EXTEND:
        code = redlock_extend(caller->lock, 20000, NULL);
        break;
    case RELEASE:
        code = redlock_release(caller->lock);
        break;
    case INSPECT:
        code = redlock_inspect_n(client, "held", 4, NULL, &info);
        break;
    case FORCE:
        code = redlock_force_release_n(client, "other", 5, REDLOCK_OFF, NULL);
        break;
    case STATUS:
        code = redlock_get_status(client, &status);
        break;
    default:
        break;
    }
    caller->back_ms = now_ms();
    atomic_store(&caller->code, code);
    return NULL;
}

TEST(drive, close_sends_blocked_callers_home_first, .rows = 2)
{
    struct caller callers[2 * CALLS];
    open_masters(_i == 0 ? NULL : "background never\n");
    settle();
    for (int i = 0; i < 2 * CALLS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "own-%d", i);
        callers[i] = (struct caller){.which = i % CALLS, .code = 1};
        callers[i].lock = client_take(client, name);
    }
    settle();
    for (unsigned i = 0; i < 3; i++)
        master_pause(masters, i);
    uint64_t before = client_stats(client).commands;
    for (int i = 0; i < 2 * CALLS; i++)
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, call, &callers[i]), 0);
    ck_assert(wait_until(client_stats(client).commands >= before + 3 * 2 * (CALLS - 1), 5000));
    int64_t begun = now_ms();
    redlock_close(client);
    int64_t closed = now_ms();
    for (int i = 0; i < 2 * CALLS; i++) {
        pthread_join(callers[i].thread, NULL);
        ck_assert_msg(callers[i].code == REDLOCK_ECANCELED, "call %d: %s", callers[i].which,
                      redlock_err_name(callers[i].code));
        ck_assert_int_le(callers[i].back_ms, closed);
    }
    ck_assert_int_lt(closed - begun, 1500);
    for (unsigned i = 0; i < 3; i++)
        master_resume(masters, i);
    ck_assert(wait_until(master_do(masters, 0, "DBSIZE", NULL).number == 0, 5000));
}

CASE(drive, .timeout_s = 60)
