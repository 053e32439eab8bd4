/* tags: threads */
/* test_process.c - what the library does to the process it lives in: descriptors, signals,
 * and how a client ends. */
#include "config_auto.h"

#include "child.h"
#include "clients.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static redlock_node_vote report_votes[REDLOCK_NODES_MAX];
static redlock_report report = REDLOCK_REPORT_INIT(report_votes, REDLOCK_NODES_MAX);
static redlock_lock *lock;

/* ---- descriptors ------------------------------------------------------------------------ */

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *dir = opendir("/proc/self/fd");
    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

TEST(process, descriptors_stay_within_their_number)
{
    unsigned before = open_descriptors(), worst = 0;
    masters = masters_start(3, NULL);
    one = client_open(masters_file(masters, "stall-limit 50ms\n"));
    for (int round = 0; round < 40; round++) {
        unsigned node = (unsigned)round % 3;
        master_pause(masters, node);
        for (int i = 0; i < 3; i++) {
            redlock_lock *taken = NULL;
            if (client_try(one, "name", 500, 50, NULL, &taken) == 0)
                redlock_release(taken);
            unsigned now = open_descriptors();
            worst = now > worst ? now : worst;
        }
        master_resume(masters, node);
        if (round % 10 == 9)
            master_restart(masters, node, true);
    }
    ck_assert_uint_le(worst - before, 2 * 3 + 2);
    ck_assert_uint_gt(worst, before + 3);
    redlock_close(one);
    ck_assert_uint_eq(open_descriptors(), before);
}

/* Pages of the process, whatever they are for. */
static long pages(void)
{
    long count = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld", &count), 1);
    fclose(file);
    return count;
}

TEST(process, closed_client_leaves_no_page_behind)
{
    enum { CLIENTS = 400 };
    long before = 0;
    masters = masters_start(1, NULL);
    const char *file = masters_file(masters, "background never\n");
    for (int i = 0; i < 2 * CLIENTS; i++) {
        if (i == CLIENTS)
            before = pages(); /* what the first ones have left for the next is there */
        redlock_close(client_open(file));
    }
    ck_assert_int_lt(pages() - before, CLIENTS / 2);
}

enum { LOST_MAX = 10, LOST_MS = 600, FDS = 64 };

static void see_descriptors(bool ret_there[FDS])
{
    for (int fd = 0; fd < FDS; fd++)
        ret_there[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* The number `which` of those that are new; -1: there are fewer. */
static int new_descriptor(const bool before[FDS], int which)
{
    bool there[FDS];
    see_descriptors(there);
    for (int fd = 0; fd < FDS; fd++) {
        if (there[fd] && !before[fd] && which-- == 0)
            return fd;
    }
    return -1;
}

static unsigned errors_logged;

static void count_errors(void *context, int level, const char *text)
{
    (void)context;
    errors_logged += level == REDLOCK_LOG_ERROR && strstr(text, "closed or replaced") != NULL;
}

static int64_t cpu_ms(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000) +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

/* To ThreadSanitizer it is a race to close what another thread waits on, as it is meant here. */
#ifdef __SANITIZE_THREAD__
#define RACES_ARE_SEEN true
#else
#define RACES_ARE_SEEN false
#endif

struct losing {
    const char *file;
    int which; /* of the client's descriptors */
};

static int lose_descriptor(void *argument)
{
    const struct losing *losing = argument;
    redlock *client = NULL;
    redlock_lock *taken = NULL, *held = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_config config = REDLOCK_CONFIG_INIT;
    bool before[FDS];
    see_descriptors(before);
    config.file = losing->file;
    config.log = count_errors;
    options.ttl_ms = 3000;
    options.auto_renew = 1;
    char name[24];
    snprintf(name, sizeof(name), "held:%d", losing->which);
    child_expect(redlock_open_config(&config, NULL, &client) == 0);
    child_expect(redlock_try(client, name, &options, &held) == 0);
    pause_ms(100); /* the thread sleeps */
    int lost = new_descriptor(before, losing->which);
    int64_t before_ms = cpu_ms();
    if (lost >= 0)
        close(lost);
    pause_ms(LOST_MS);
    int code = client_try(client, "other", 500, 0, NULL, &taken);
    child_expect(code == 0 || code == REDLOCK_ENOQUORUM || code == REDLOCK_EUNDECIDED ||
                 code == REDLOCK_EHELD);
    redlock_release(taken);
    redlock_release(held);
    redlock_close(client);
    child_expect(cpu_ms() - before_ms < LOST_MS / 2);
    child_expect(errors_logged <= 1);
    return 0;
}

/* A program that closes descriptors which are not its own: nothing spins, and all ends. */
TEST(process, descriptor_that_program_closed_makes_nothing_spin)
{
    static struct losing losing[LOST_MAX];
    struct child children[LOST_MAX];
    if (RACES_ARE_SEEN)
        return;
    masters = masters_start(3, NULL);
    const char *file = masters_file(masters, "background always\n");
    for (int i = 0; i < LOST_MAX; i++) {
        losing[i] = (struct losing){.file = file, .which = i};
        children[i] = child_start(lose_descriptor, &losing[i]);
    }
    for (int i = 0; i < LOST_MAX; i++) {
        int result = child_wait(&children[i], 20000);
        ck_assert_msg(result == 0, "descriptor %d: line %d", i, result);
    }
}

/* Every number of free descriptors, from none to enough: an error or less of a quorum, and
 * all well once there are some again. */
static int live_with_few_descriptors(void *file)
{
    redlock_node_status status_nodes[REDLOCK_NODES_MAX];
    redlock_status_report status = REDLOCK_STATUS_INIT(status_nodes, REDLOCK_NODES_MAX);
    int highest = 0;
    for (int allowed = 0; allowed < 12; allowed++) {
        redlock *client = NULL;
        redlock_lock *taken = NULL;
        int next = dup(0);
        child_expect(next > 0);
        close(next);
        struct rlimit limit = {.rlim_cur = (rlim_t)(next + allowed), .rlim_max = 4096};
        child_expect(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        int code = redlock_open(file, NULL, &client);
        child_expect(code == 0 || code == REDLOCK_ESYSTEM || code == REDLOCK_ECONFIG);
        bool took = code == 0 && client_try(client, "name", 2000, 0, NULL, &taken) == 0;
        child_expect(!took || redlock_release(taken) == 0);
        child_expect(took || allowed < 8);
        limit.rlim_cur = 1024;
        child_expect(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        if (code == 0) {
            child_expect(wait_until(redlock_get_status(client, &status) == 0, 5000));
            child_expect(client_try(client, "name", 2000, 3000, NULL, &taken) == 0);
            child_expect(redlock_release(taken) == 0);
        }
        redlock_close(client);
        highest += took;
    }
    child_expect(highest > 0);
    return 0;
}

TEST(process, too_few_descriptors_are_error_and_no_crash)
{
    masters = masters_start(3, NULL);
    const char *file = masters_file(masters, NULL);
    ck_assert_int_eq(child_run(live_with_few_descriptors, (void *)(uintptr_t)file, 60000), 0);
}

/* ---- signals ---------------------------------------------------------------------------- */

static void count_signal(int number)
{
    (void)number;
}

/* A signal without SA_RESTART every 200 us, in every call. */
TEST(process, interrupted_calls_go_on)
{
    OPEN_CLIENTS(3, NULL);
    struct sigaction action = {.sa_handler = count_signal};
    ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
    struct itimerval every = {.it_interval.tv_usec = 200, .it_value.tv_usec = 200};
    ck_assert_int_eq(setitimer(ITIMER_REAL, &every, NULL), 0);
    for (int i = 0; i < 300; i++) {
        redlock_lock *other = NULL;
        lock = NULL;
        int code = client_try(one, "name", 0, 0, &report, &lock);
        ck_assert_msg(code == 0, "%d: %s", code, client_told(&report));
        if (i % 50 == 0) {
            int64_t begun = now_ms();
            ck_assert_int_eq(client_try(two, "name", 0, 200, &report, &other), REDLOCK_EHELD);
            ck_assert_int_ge(now_ms() - begun, 150);
        }
        ck_assert_int_eq(redlock_extend(lock, CLIENT_TTL_MS + 10000, NULL), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    redlock_close(one);
    one = client_open(masters_file(masters, NULL)); /* the greeting too */
    ck_assert_int_eq(redlock_release(client_take(one, "name")), 0);
    memset(&every, 0, sizeof(every));
    setitimer(ITIMER_REAL, &every, NULL);
}

static volatile sig_atomic_t pipes_broken;

static void count_broken_pipe(int number)
{
    (void)number;
    pipes_broken++;
}

/* Masters hang up while requests are being sent to them. */
TEST(process, sigpipe_is_never_raised)
{
    struct sigaction action = {.sa_handler = count_broken_pipe};
    ck_assert_int_eq(sigaction(SIGPIPE, &action, NULL), 0);
    OPEN_CLIENTS(3, NULL);
    for (int i = 0; i < 60; i++) {
        for (unsigned k = 0; k < 3; k++)
            master_do(masters, k, "CLIENT", "KILL", "TYPE", "normal", NULL);
        lock = NULL;
        if (client_try(one, "name", 0, i % 2 ? 300 : 0, NULL, &lock) == 0)
            redlock_release(lock);
    }
    for (unsigned k = 0; k < 3; k++)
        master_kill(masters, k);
    lock = NULL;
    ck_assert_int_ne(client_try(one, "name", 0, 0, NULL, &lock), 0);
    ck_assert_int_eq(pipes_broken, 0);
}

/* ---- close ------------------------------------------------------------------------------ */

TEST(process, close_lingers_for_releases_but_not_for_ever)
{
    OPEN_CLIENTS(3, "linger 400ms\n");
    lock = client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    master_pause(masters, 1);
    int64_t begun = now_ms();
    redlock_close(one);
    one = NULL;
    int64_t took = now_ms() - begun;
    ck_assert_int_lt(took, 3000);
    ck_assert_uint_eq(masters_with(masters, "name"), 0);
    /* The stopped one was sent its release before the connection was closed. */
    master_resume(masters, 1);
    ck_assert(wait_until(!master_has(masters, 1, "name"), 2000));
}

TEST(process, close_without_linger_still_sends_them)
{
    OPEN_CLIENTS(3, "linger 0ms\n");
    client_take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    redlock_close(one);
    one = NULL;
    ck_assert(wait_until(masters_with(masters, "name") == 0, 2000));
}

TEST(process, close_with_everything_dead_returns)
{
    OPEN_CLIENTS(3, NULL);
    client_take(one, "name");
    for (unsigned i = 0; i < 3; i++)
        master_kill(masters, i);
    int64_t begun = now_ms();
    redlock_close(one);
    one = NULL;
    ck_assert_int_lt(now_ms() - begun, 3000);
}

CASE(process, .timeout_s = 120)
