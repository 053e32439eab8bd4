/* floor_wakeup.c - the floors under a hand-off, on raw sockets. */
#include "config_auto.h"

#include "bench/floor/floor_wakeup.h"

#include "bench/floor/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#define TURN_LIMIT_MS 5000 /* for the other one to give it up */
#define ROUND_LIMIT_MS 2000
#define CHANNEL_MAX 96

/* All scripts: KEYS[1] the lock, KEYS[2] a queue. To take it: ARGV[1] a nonce, ARGV[2] the token.
 * To release it: ARGV[1] the token, ARGV[2] a channel. */
static const char release_bare[] = "local mine = redis.call('GET', KEYS[1]) == ARGV[1]\n"
                                   "if mine then\n"
                                   "  redis.call('DEL', KEYS[1])\n"
                                   "end\n"
                                   "redis.call('PUBLISH', ARGV[2], ARGV[1])\n"
                                   "return mine and ARGV[1] or {ARGV[1], 0}\n";

/* The same, with the library's further work: a queue is entered and left, and the lock is
 * reserved for the next one. The reservation is under another name, because there is no third
 * waiter. */
static const char acquire_queued[] = "local holder = redis.call('GET', KEYS[1])\n"
                                     "if not holder then\n"
                                     "  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])\n"
                                     "  redis.pcall('ZREM', KEYS[2], ARGV[2])\n"
                                     "  return ARGV[1]\n"
                                     "end\n"
                                     "return {ARGV[1], 0}\n";
static const char release_queued[] =
    "local mine = redis.call('GET', KEYS[1]) == ARGV[1]\n"
    "if mine then\n"
    "  redis.call('DEL', KEYS[1])\n"
    "end\n"
    "redis.pcall('ZADD', KEYS[2], 1, ARGV[1])\n"
    "local first = redis.pcall('ZRANGE', KEYS[2], 0, 0)\n"
    "redis.call('ZREM', KEYS[2], first[1])\n"
    "redis.pcall('PUBLISH', ARGV[2], first[1])\n"
    "redis.call('SET', KEYS[2] .. ':next', first[1], 'PX', 20)\n"
    "return mine and ARGV[1] or {ARGV[1], 0}\n";

/* One connection to one master: for requests, or for messages. */
struct wire {
    int fd; /* -1: broken */
    uint64_t sent;
    uint64_t heard; /* replies, or messages */
    size_t got;
    char bytes[4096];
};

struct bench_wakeup {
    unsigned nodes;
    unsigned needed;
    int epoll_fd;
    enum bench_contender contender;
    unsigned index;
    uint64_t turns;                    /* taken so far */
    uint64_t round[REDLOCK_NODES_MAX]; /* the reply that counts in this round; 0: none */
    unsigned yes;
    unsigned no;
    enum bench_verb verb;
    struct bench_bytes request[2];
    struct bench_bytes success[2];
    struct wire asks[REDLOCK_NODES_MAX];
    struct wire listens[REDLOCK_NODES_MAX];
};

static void count(struct bench_wakeup *wakeup, unsigned i, const char *reply, size_t len)
{
    struct wire *wire = &wakeup->asks[i];
    const struct bench_bytes *success = &wakeup->success[wakeup->verb];
    if (++wire->heard != wakeup->round[i])
        return;
    bool yes = len == success->len && memcmp(reply, success->at, len) == 0;
    wakeup->yes += yes;
    wakeup->no += !yes;
}

static void drop(struct bench_wakeup *wakeup, struct wire *wire, unsigned i)
{
    close(wire->fd);
    wire->fd = -1;
    if (wire == &wakeup->asks[i] && wakeup->round[i] > wire->heard)
        wakeup->no++;
}

static void receive(struct bench_wakeup *wakeup, struct wire *wire, unsigned i)
{
    ssize_t got =
        recv(wire->fd, wire->bytes + wire->got, sizeof(wire->bytes) - wire->got, MSG_DONTWAIT);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN)
            drop(wakeup, wire, i);
        return;
    }
    size_t len = wire->got + (size_t)got;
    size_t at = 0;
    ssize_t whole;
    while (at < len && (whole = server_reply_length(wire->bytes + at, len - at)) > 0) {
        if (wire == &wakeup->listens[i])
            wire->heard++;
        else
            count(wakeup, i, wire->bytes + at, (size_t)whole);
        at += (size_t)whole;
    }
    wire->got = len - at;
    memmove(wire->bytes, wire->bytes + at, wire->got);
}

/* Read the bytes that come by `limit_ns`. False: none came. */
static bool wait_for_more(struct bench_wakeup *wakeup, int64_t limit_ns)
{
    struct epoll_event events[2 * REDLOCK_NODES_MAX];
    int64_t left_ns = limit_ns - bench_now_ns();
    int ready = epoll_wait(wakeup->epoll_fd, events, 2 * REDLOCK_NODES_MAX,
                           left_ns > 0 ? (int)(left_ns / 1000000) + 1 : 0);
    for (int e = 0; e < ready; e++) {
        unsigned i = events[e].data.u32 / 2;
        struct wire *wire =
            events[e].data.u32 % 2 == 0 ? &wakeup->asks[i] : &wakeup->listens[i];
        if (wire->fd >= 0)
            receive(wakeup, wire, i);
    }
    return ready > 0 || (ready < 0 && errno == EINTR);
}

static bool run_round(struct bench_wakeup *wakeup, enum bench_verb verb)
{
    const struct bench_bytes *request = &wakeup->request[verb];
    int64_t limit_ns = bench_now_ns() + ROUND_LIMIT_MS * INT64_C(1000000);
    unsigned asked = 0;
    wakeup->verb = verb;
    wakeup->yes = wakeup->no = 0;
    for (unsigned i = 0; i < wakeup->nodes; i++) {
        struct wire *wire = &wakeup->asks[i];
        wakeup->round[i] = 0;
        if (wire->fd < 0 || send(wire->fd, request->at, request->len,
                                 MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)request->len)
            continue;
        wakeup->round[i] = ++wire->sent;
        asked++;
    }
    while (wakeup->yes < wakeup->needed && asked - wakeup->no >= wakeup->needed)
        if (!wait_for_more(wakeup, limit_ns))
            break;
    return wakeup->yes >= wakeup->needed;
}

/* Has a majority reported so many releases of the other one that it is our turn? */
static bool is_our_turn(const struct bench_wakeup *wakeup)
{
    unsigned said = 0;
    for (unsigned i = 0; i < wakeup->nodes; i++)
        said += wakeup->listens[i].heard >= wakeup->turns + wakeup->index;
    return said >= wakeup->needed;
}

static bool wakeup_acquire(void *context)
{
    struct bench_wakeup *wakeup = context;
    int64_t limit_ns = bench_now_ns() + TURN_LIMIT_MS * INT64_C(1000000);
    while (!is_our_turn(wakeup))
        if (!wait_for_more(wakeup, limit_ns))
            return false;
    if (!run_round(wakeup, BENCH_ACQUIRE))
        return false;
    wakeup->turns++;
    return true;
}

static bool wakeup_release(void *context)
{
    return run_round(context, BENCH_RELEASE);
}

struct bench_driver bench_wakeup_driver(struct bench_wakeup *wakeup)
{
    return (struct bench_driver){.name = "floor",
                                 .context = wakeup,
                                 .acquire = wakeup_acquire,
                                 .release = wakeup_release};
}

static bool watch(struct bench_wakeup *wakeup, struct wire *wire, int fd, uint32_t number)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};
    wire->fd = fd;
    return epoll_ctl(wakeup->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* The scripts of both verbs; a bare acquire is none. */
static bool load(const struct bench_wakeup *wakeup, struct server_talk *talk,
                 char ret_sha[2][48])
{
    if (wakeup->contender == BENCH_WAKEUP_BARE)
        return bench_script_load(talk, release_bare, ret_sha[BENCH_RELEASE]);
    return bench_script_load(talk, acquire_queued, ret_sha[BENCH_ACQUIRE]) &&
           bench_script_load(talk, release_queued, ret_sha[BENCH_RELEASE]);
}

static bool connect_node(struct bench_wakeup *wakeup, unsigned i, const struct server_at *node,
                         const char *channel, char ret_sha[2][48])
{
    struct server_talk talk;
    char text[64];
    const char *subscribe[2] = {"SUBSCRIBE", channel};
    if (!server_talk_open(&talk, node) || !watch(wakeup, &wakeup->asks[i], talk.fd, 2 * i) ||
        !load(wakeup, &talk, ret_sha))
        return false;
    return server_talk_open(&talk, node) &&
           watch(wakeup, &wakeup->listens[i], talk.fd, 2 * i + 1) &&
           server_talk_ask(&talk, 2, subscribe, text, sizeof(text)) == '*';
}

static bool connect_all(struct bench_wakeup *wakeup, const struct bench *bench,
                        const char *channel, char ret_sha[2][48])
{
    for (unsigned i = 0; i < wakeup->nodes; i++)
        if (wakeup->epoll_fd < 0 ||
            !connect_node(wakeup, i, &bench->node[i], channel, ret_sha)) {
            fprintf(stderr, "redlock-bench: master %u can't be reached by a plain socket\n",
                    i + 1);
            return false;
        }
    return true;
}

static void build(struct bench_wakeup *wakeup, const char *name, int64_t ttl_ms,
                  char sha[2][48], const char *channel)
{
    bool bare = wakeup->contender == BENCH_WAKEUP_BARE;
    char queue[64];
    char token[40];
    char ttl[24];
    snprintf(queue, sizeof(queue), "%s:queue", name);
    snprintf(token, sizeof(token), "%032u", wakeup->index);
    snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    const char *set[6] = {"SET", name, token, "NX", "PX", ttl};
    const char *acquire[8] = {"EVALSHA", sha[0], "2", name, queue, BENCH_NONCE, token, ttl};
    const char *release[7] = {"EVALSHA", sha[1], "2", name, queue, token, channel};
    struct bench_bytes *request = wakeup->request;
    request[BENCH_ACQUIRE].len = server_encode(request[BENCH_ACQUIRE].at, BENCH_REQUEST_MAX,
                                               bare ? 6 : 8, bare ? set : acquire);
    request[BENCH_RELEASE].len =
        server_encode(request[BENCH_RELEASE].at, BENCH_REQUEST_MAX, 7, release);
    bench_script_success(&wakeup->success[BENCH_ACQUIRE], BENCH_NONCE, false);
    bench_script_success(&wakeup->success[BENCH_RELEASE], token, false);
    if (bare)
        wakeup->success[BENCH_ACQUIRE] =
            (struct bench_bytes){.len = 5, .replies = 1, .at = "+OK\r\n"};
}

int bench_wakeup_open(const struct bench *bench, enum bench_contender contender, unsigned index,
                      const char *name, int64_t ttl_ms, struct bench_wakeup **ret_wakeup)
{
    char channel[2][CHANNEL_MAX];
    char sha[2][48] = {"", ""};
    struct bench_wakeup *wakeup = bench_zeroed(sizeof(*wakeup));
    if (wakeup == NULL)
        return EX_OSERR;
    wakeup->nodes = bench->nodes;
    wakeup->needed = bench->needed;
    wakeup->contender = contender;
    wakeup->index = index;
    wakeup->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < wakeup->nodes; i++)
        wakeup->asks[i].fd = wakeup->listens[i].fd = -1;
    for (unsigned i = 0; i < 2; i++)
        snprintf(channel[i], sizeof(channel[i]), "%s:%u", name, i);
    if (!connect_all(wakeup, bench, channel[index], sha)) {
        bench_wakeup_close(wakeup);
        return EX_UNAVAILABLE;
    }
    build(wakeup, name, ttl_ms, sha, channel[1 - index]);
    *ret_wakeup = wakeup;
    return 0;
}

void bench_wakeup_close(struct bench_wakeup *wakeup)
{
    if (wakeup == NULL)
        return;
    for (unsigned i = 0; i < wakeup->nodes; i++) {
        if (wakeup->asks[i].fd >= 0)
            close(wakeup->asks[i].fd);
        if (wakeup->listens[i].fd >= 0)
            close(wakeup->listens[i].fd);
    }
    if (wakeup->epoll_fd >= 0)
        close(wakeup->epoll_fd);
    free(wakeup);
}
