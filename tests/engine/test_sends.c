/* test_sends.c - what leaves a client, on real masters: the bytes and the system calls of a
 * plain pair and of tries in a row, who sends no native SET, what a marker adds to a greeting.
 * Pairs leave the background thread asleep, and sleep as often as raw sockets. */
#include "config_auto.h"

#include "client.h"
#include "marks.h"
#include "wire.h"

#include "base/limits.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { N = 3, SENT_MAX = 65536 };

static struct masters *masters;

/* ---- what leaves ------------------------------------------------------------------------ */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char sent[SENT_MAX];
static size_t sent_len;
static unsigned sends;
static bool records;

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    ssize_t done = sendto(fd, bytes, size, flags, NULL, 0);
    pthread_mutex_lock(&mutex);
    if (records && done > 0) {
        sends++;
        ck_assert_uint_le(sent_len + (size_t)done, SENT_MAX);
        memcpy(sent + sent_len, bytes, (size_t)done);
        sent_len += (size_t)done;
    }
    pthread_mutex_unlock(&mutex);
    return done;
}

/* How often the background thread has gone to sleep. */
static atomic_uint sleeps;
static pthread_t main_thread;

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    sleeps += !pthread_equal(pthread_self(), main_thread);
    return (int)syscall(SYS_poll, fds, count, timeout_ms);
}

static void record(bool on)
{
    pthread_mutex_lock(&mutex);
    records = on;
    if (on)
        sent_len = sends = 0;
    pthread_mutex_unlock(&mutex);
}

static unsigned count_sent(const char *what)
{
    unsigned count = 0;
    size_t len = strlen(what);
    for (size_t at = 0; at + len <= sent_len; at++)
        count += memcmp(sent + at, what, len) == 0;
    return count;
}

/* ---- a plain pair ----------------------------------------------------------------------- */

static redlock *open_ready(unsigned n, const char *settings)
{
    masters = masters_start(n, NULL);
    redlock *client = client_open(masters_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == n, 20000));
    return client;
}

static redlock_lock *take(redlock *client)
{
    redlock_lock *lock = NULL;
    ck_assert_int_eq(client_try(client, "name", 0, 0, NULL, &lock), 0);
    return lock;
}

/* All masters have it, and so nothing more leaves for this one. */
static void expect_everywhere(redlock *client)
{
    ck_assert(wait_until(masters_with(masters, "name") == masters->n, 5000));
    ck_assert_uint_eq(client_ready(client), masters->n);
}

static void expect_sent(const char *bytes, unsigned times)
{
    ck_assert_uint_eq(sends, times);
    ck_assert_uint_eq(sent_len, times * strlen(bytes));
    ck_assert_uint_eq(count_sent(bytes), times);
}

/* The digest, of 40 digits, is whatever it is. So is the last number, of two digits: for how
 * long the lock is reserved for a waiter. */
static void expect_release(const char *token)
{
    static const char head[] = "*7\r\n$7\r\nEVALSHA\r\n$40\r\n";
    static const char keys[] = "\r\n$1\r\n2\r\n$4\r\nname\r\n$20\r\n{name}:redlock:queue\r\n";
    char expected[512];
    const char *digest = sent + strlen(head);
    const char *reserve_ms = sent + sent_len / N - strlen("20\r\n");
    snprintf(expected, sizeof(expected), "%s%.40s%s$%zu\r\n%s\r\n$2\r\n%.2s\r\n", head,
             digest, keys, strlen(token), token, reserve_ms);
    expect_sent(expected, N);
}

/* One system call, and one round trip, to each master for each half. Whoever asks for no
 * fencing tokens, markers and the like does not send a byte for them. */
TEST(real_masters, plain_pair_is_two_sends_per_master)
{
    char expected[512];
    redlock *client = open_ready(N, "background never\n");
    for (int i = 0; i < 3; i++) { /* the masters know the scripts then */
        redlock_lock *lock = take(client);
        expect_everywhere(client);
        ck_assert_int_eq(redlock_release(lock), 0);
        ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    }
    client_ready(client);
    record(true);
    redlock_lock *lock = take(client);
    const char *token = redlock_token(lock);
    snprintf(expected, sizeof(expected),
             "*6\r\n$3\r\nSET\r\n$4\r\nname\r\n$%zu\r\n%s\r\n"
             "$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n%d\r\n"
             "*2\r\n$3\r\nGET\r\n$4\r\nname\r\n",
             strlen(token), token, CLIENT_TTL_MS);
    expect_sent(expected, N);
    expect_everywhere(client);
    record(true);
    ck_assert_int_eq(redlock_release(lock), 0);
    expect_release(token);
    redlock_close(client);
}

/* The background thread, which renews a lock beside them, looks in every 10 ms only. It takes
 * callers for gone after 5 ms: pairs that the machine has delayed do not count. */
TEST(real_masters, pairs_do_not_wake_background_thread)
{
    enum { PAIRS = 400, SLOW_MS = 3 };
    redlock *client = open_ready(N, "");
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *renewed = NULL;
    unsigned slow = 0;
    options.auto_renew = 1;
    main_thread = pthread_self();
    ck_assert_int_eq(redlock_try(client, "renewed", &options, &renewed), 0);
    ck_assert_int_eq(redlock_release(take(client)), 0);
    unsigned before = sleeps;
    int64_t first_ms = now_ms();
    for (unsigned i = 0; i < PAIRS; i++) {
        int64_t begun_ms = now_ms();
        ck_assert_int_eq(redlock_release(take(client)), 0);
        slow += now_ms() - begun_ms >= SLOW_MS;
    }
    unsigned count = sleeps - before, looks = (unsigned)(now_ms() - first_ms) / 10;
    ck_assert_msg(count <= 10 + 2 * (looks + slow), "%u sleeps, %u looks, %u slow", count, looks,
                  slow);
    ck_assert_int_eq(redlock_release(renewed), 0);
    redlock_close(client);
}

/* A pair's requests as the client sent them, which may be sent again: the token is the same. */
enum { REQUEST_MAX = 512 };
static char take_bytes[REQUEST_MAX], release_bytes[REQUEST_MAX];

static void remember(char text[REQUEST_MAX])
{
    ck_assert_uint_eq(sends, N);
    ck_assert_uint_lt(sent_len / N, REQUEST_MAX);
    memcpy(text, sent, sent_len / N);
    text[sent_len / N] = '\0';
}

static void remember_pair(redlock *client)
{
    record(true);
    redlock_lock *lock = take(client);
    remember(take_bytes);
    expect_everywhere(client);
    record(true);
    ck_assert_int_eq(redlock_release(lock), 0);
    remember(release_bytes);
    record(false);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

/* Raw sockets to the same masters, and how many replies each still owes. */
static struct raw {
    int fd;
    unsigned owed;
    size_t len;
    char bytes[1024];
} raw[N];

static void raw_open(void)
{
    memset(raw, 0, sizeof(raw));
    for (unsigned i = 0; i < N; i++)
        raw[i].fd = master_connect_as(masters, i, "raw", 3);
}

static void raw_close(void)
{
    for (unsigned i = 0; i < N; i++)
        close(raw[i].fd);
}

static void raw_read(struct raw *one)
{
    struct wire_item items[WIRE_ITEMS_MAX];
    unsigned count;
    long size;
    ssize_t got = recv(one->fd, one->bytes + one->len, sizeof(one->bytes) - 1 - one->len, 0);
    ck_assert_int_gt(got, 0);
    one->len += (size_t)got;
    one->bytes[one->len] = '\0'; /* numbers are read as strings */
    while ((size = wire_parse(one->bytes, one->len, items, &count)) > 0) {
        ck_assert(items[0].type != '-' && one->owed > 0);
        one->owed--;
        one->len -= (size_t)size;
        memmove(one->bytes, one->bytes + size, one->len);
    }
}

/* Sleeps until some answer has come: how many masters owe none. */
static unsigned raw_turn(void)
{
    struct pollfd fds[N];
    unsigned answered = 0;
    for (unsigned i = 0; i < N; i++)
        fds[i] = (struct pollfd){.fd = raw[i].owed > 0 ? raw[i].fd : -1, .events = POLLIN};
    ck_assert_int_gt(poll(fds, N, 20000), 0);
    for (unsigned i = 0; i < N; i++) {
        if (fds[i].revents)
            raw_read(&raw[i]);
        answered += raw[i].owed == 0;
    }
    return answered;
}

/* All are asked, and a majority is waited for. */
static void raw_ask(const char *request, unsigned replies)
{
    for (unsigned i = 0; i < N; i++) {
        ssize_t done = send(raw[i].fd, request, strlen(request), MSG_NOSIGNAL);
        ck_assert_int_eq(done, (ssize_t)strlen(request));
        raw[i].owed += replies;
    }
    while (raw_turn() <= N / 2)
        continue;
}

/* How often this thread, or all of the process, have slept so far. */
static long slept(int who)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(who, &usage), 0);
    return usage.ru_nvcsw;
}

/* By turns with raw sockets, so that the machine is as busy for both. It is counted how often
 * somebody sleeps, and not for how long. The library's are also those of the background thread,
 * which may look in every 10 ms. Callers that wake it each time add two a pair and more. */
TEST(real_masters, pairs_sleep_little_more_than_raw_sockets)
{
    enum { PAIRS = 500 };
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *renewed = NULL;
    long raw_count = 0;
    redlock *client = open_ready(N, "");
    options.auto_renew = 1;
    ck_assert_int_eq(redlock_try(client, "renewed", &options, &renewed), 0);
    ck_assert_int_eq(redlock_release(take(client)), 0); /* the masters know the script then */
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    remember_pair(client);
    raw_open();
    long before = slept(RUSAGE_SELF);
    int64_t first_ms = now_ms();
    for (int i = 0; i < PAIRS; i++) {
        ck_assert_int_eq(redlock_release(client_take(client, "other")), 0);
        long raw_before = slept(RUSAGE_THREAD);
        raw_ask(take_bytes, 2);
        raw_ask(release_bytes, 1);
        raw_count += slept(RUSAGE_THREAD) - raw_before;
    }
    long count = slept(RUSAGE_SELF) - before - raw_count;
    long looks = (long)(now_ms() - first_ms) / 10;
    ck_assert_msg(count <= raw_count * 5 / 4 + PAIRS / 2 + 4 * looks,
                  "%ld sleeps, %ld of raw sockets, %ld looks", count, raw_count, looks);
    raw_close();
    ck_assert_int_eq(redlock_release(renewed), 0);
    redlock_close(client);
}

/* ---- tries in a row --------------------------------------------------------------------- */

static unsigned ended;

static void on_taken(void *context, int result, redlock_lock *lock)
{
    (void)context;
    ck_assert_int_eq(result, 0);
    ck_assert_int_eq(redlock_release_async(lock, NULL, NULL), 0);
    ended++;
}

static void begin_try(redlock *client, const char *name)
{
    ck_assert_int_eq(
        redlock_try_async_n(client, name, strlen(name), NULL, on_taken, NULL, NULL), 0);
}

static bool is_readable(int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    return poll(&readable, 1, 0) == 1;
}

/* The masters stand, so that nothing but the client itself makes its descriptor readable. */
TEST(real_masters, tries_in_row_leave_together_but_first)
{
    redlock *client = open_ready(N, "node-timeout 20s\n");
    int fd = redlock_fd(client);
    ck_assert_int_eq(redlock_process(client), 0);
    for (unsigned i = 0; i < N; i++)
        master_pause(masters, i);
    record(true);
    begin_try(client, "first");
    ck_assert_uint_eq(sends, N);
    ck_assert(!is_readable(fd));
    begin_try(client, "second");
    begin_try(client, "third");
    ck_assert_uint_eq(sends, N);
    ck_assert(is_readable(fd)); /* the loop's next turn is due */
    ck_assert_int_eq(redlock_process(client), 0);
    ck_assert_uint_eq(sends, 2 * N);
    begin_try(client, "first of its turn");
    ck_assert_uint_eq(sends, 3 * N);
    begin_try(client, "fifth");
    ck_assert_uint_eq(sends, 3 * N);
    ck_assert_int_eq(redlock_timeout_ms(client), 0);
    ck_assert_uint_eq(sends, 3 * N);
    ck_assert_int_eq(redlock_cancel(client, UINT64_MAX), REDLOCK_ENOTHELD);
    ck_assert_uint_eq(sends, 4 * N); /* other calls take it along */
    for (unsigned i = 0; i < N; i++)
        master_resume(masters, i);
    ck_assert(wait_until((redlock_process(client), ended == 5), 20000));
    redlock_close(client);
}

/* "Returns once the release is on its way." */
TEST(real_masters, release_in_row_is_sent_at_once)
{
    redlock *client = open_ready(N, "");
    redlock_lock *lock = take(client);
    expect_everywhere(client);
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_int_eq(redlock_process(client), 0);
    ended = 0;
    begin_try(client, "first");
    begin_try(client, "second");
    ck_assert_int_eq(redlock_release_async(lock, NULL, NULL), 0);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
    ck_assert(wait_until((redlock_process(client), ended == 2), 5000));
    redlock_close(client);
}

static redlock_lock *take_lazily(redlock *client, const char *name)
{
    redlock_lock *lock = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.release = REDLOCK_RELEASE_LAZY;
    ck_assert_int_eq(redlock_try(client, name, &options, &lock), 0);
    return lock;
}

/* Else it would be lost if the process ends before the loop's next turn. */
TEST(real_masters, corked_release_does_not_wait_with_tries)
{
    redlock *client = open_ready(N, "");
    redlock_lock *one = take_lazily(client, "one"), *two = take_lazily(client, "two");
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_int_eq(redlock_process(client), 0);
    ended = 0;
    begin_try(client, "first");
    ck_assert_int_eq(redlock_release(one), 0);
    begin_try(client, "second");
    ck_assert(wait_until(masters_with(masters, "one") == 0, 5000));
    begin_try(client, "third");
    ck_assert_int_eq(redlock_release(two), 0);
    ck_assert(wait_until(masters_with(masters, "two") == 0, 5000));
    ck_assert(wait_until((redlock_process(client), ended == 3), 5000));
    redlock_close(client);
}

enum { CROWD = RL_FIFO_MIN };

static redlock_lock *crowd[CROWD];

static void on_crowd_taken(void *context, int result, redlock_lock *lock)
{
    ck_assert_int_eq(result, 0);
    *(redlock_lock **)context = lock;
    ended++;
}

/* The last master owes an answer to each, and is told of each release all the same. The
 * test counts half of them: all together are more than a standing master's socket takes. */
TEST(real_masters, tries_leave_room_for_their_releases)
{
    redlock *client = open_ready(N, "node-timeout 20s\n");
    ck_assert_int_ge(redlock_fd(client), 0);
    ck_assert_int_eq(redlock_process(client), 0);
    for (unsigned i = 0; i < N; i++)
        master_pause(masters, i);
    ended = 0;
    for (unsigned i = 0; i < CROWD; i++) {
        char name[16];
        int len = snprintf(name, sizeof(name), "name %u", i);
        ck_assert_int_eq(redlock_try_async_n(client, name, (size_t)len, NULL, on_crowd_taken,
                                             &crowd[i], NULL),
                         0);
    }
    for (unsigned i = 0; i < N - 1; i++)
        master_resume(masters, i);
    ck_assert(wait_until((redlock_process(client), ended == CROWD), 20000));
    for (unsigned i = 0; i < CROWD / 2; i++) {
        record(true);
        ck_assert_int_eq(redlock_release_async(crowd[i], NULL, NULL), 0);
        ck_assert_msg(sends == N, "release %u was sent to %u masters", i, sends);
    }
    record(false);
    for (unsigned i = CROWD / 2; i < CROWD; i++)
        ck_assert_int_eq(redlock_release_async(crowd[i], NULL, NULL), 0);
    master_resume(masters, N - 1);
    redlock_close(client);
}

/* ---- who sends no native SET ------------------------------------------------------------ */

enum {
    PLAIN,
    REPORT,
    FENCED,
    DELAYED,
    STRICT_GUARD,
    REENTRANT,
    FAIR,
    READ,
    WRITE,
    NAMES,
    CASES
};

static const struct {
    unsigned n;
    int kind;
    const char *settings;
} cases[CASES] = {
    [PLAIN] = {N, REDLOCK_PLAIN, ""},
    [REPORT] = {N, REDLOCK_PLAIN, ""},
    [FENCED] = {N, REDLOCK_PLAIN, ""},
    [DELAYED] = {N, REDLOCK_PLAIN, "lock-delay 100ms\n"},
    [STRICT_GUARD] = {N, REDLOCK_PLAIN, "guard strict\n"},
    [REENTRANT] = {N, REDLOCK_REENTRANT, ""},
    [FAIR] = {1, REDLOCK_FAIR, ""},
    [READ] = {N, REDLOCK_READ, ""},
    [WRITE] = {N, REDLOCK_WRITE, ""},
    [NAMES] = {N, REDLOCK_PLAIN, ""},
};

static int try_as(redlock *client, int i, redlock_lock **ret_lock)
{
    redlock_node_vote votes[N];
    redlock_report report = REDLOCK_REPORT_INIT(votes, N);
    redlock_options options = REDLOCK_OPTIONS_INIT;
    static const char *const names[] = {"name", "other"};
    options.kind = cases[i].kind;
    options.fenced = i == FENCED;
    options.report = i == REPORT ? &report : NULL;
    if (i == NAMES)
        return redlock_try_names(client, names, 2, &options, ret_lock);
    return redlock_try(client, "name", &options, ret_lock);
}

/* Only scripts take a lock of a kind with more than one key. The same is true for a fencing
 * token, a report, and a guard that looks at each lock. */
TEST(real_masters, only_plain_lock_is_taken_by_native_set, .rows = CASES)
{
    redlock_lock *lock = NULL;
    const char *settings = cases[_i].settings;
    masters = masters_start(cases[_i].n, NULL);
    if (_i == STRICT_GUARD)
        masters_mark(masters);
    redlock *client = client_open(_i == STRICT_GUARD ? masters_guarded_file(masters, settings)
                                                     : masters_file(masters, settings));
    ck_assert(wait_until(client_ready(client) == cases[_i].n, 20000));
    record(true);
    ck_assert_int_eq(try_as(client, _i, &lock), 0);
    record(false);
    bool native = _i == PLAIN || _i == DELAYED;
    ck_assert_uint_eq(count_sent("\r\n$3\r\nSET\r\n"), native ? cases[_i].n : 0);
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_close(client);
}

/* ---- greetings -------------------------------------------------------------------------- */

/* How often the client has to send until all masters vote. */
static unsigned greet(const char *file)
{
    record(true);
    redlock *client = client_open(file);
    ck_assert(wait_until(client_ready(client) == N, 20000));
    record(false);
    redlock_close(client);
    return sends;
}

TEST(real_masters, marker_is_one_more_send_of_greeting_at_most)
{
    masters = masters_start(N, NULL);
    masters_mark(masters);
    unsigned without = greet(masters_file(masters, NULL));
    unsigned with_marker = greet(masters_guarded_file(masters, "guard marker\n"));
    ck_assert_uint_ge(without, N);
    ck_assert_msg(with_marker <= without + N, "%u and %u sends", without, with_marker);
}

CASE(real_masters, .timeout_s = 60)
