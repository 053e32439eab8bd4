/* floor.c - the least a client can do for a quorum lock, on raw sockets. */
#include "config_auto.h"

#include "bench/floor/floor.h"

#include "bench/floor/requests.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#define UNANSWERED_MAX 4096 /* a power of two; a node that owes more is left alone */

struct floor_link {
    struct server_at node;
    int fd;
    uint32_t sent;
    uint32_t answered;
    uint32_t unsent_len; /* bytes that the kernel did not take */
    bool asked;          /* in the round that goes on */
    size_t got;          /* bytes of replies that are not whole yet */
    uint32_t round_of[UNANSWERED_MAX];
    uint8_t verb_of[UNANSWERED_MAX];
    char unsent[3 * BENCH_REQUEST_MAX];
    char replies[2048];
};

struct bench_floor {
    unsigned nodes;
    unsigned needed;
    int epoll_fd;
    int64_t limit_ms;
    uint32_t round; /* of an acquire or a release: only answers to this one count */
    unsigned yes;
    unsigned no;
    struct bench_requests requests;
    struct floor_link link[REDLOCK_NODES_MAX];
};

static void drop(struct bench_floor *floor, unsigned i)
{
    if (floor->link[i].fd >= 0)
        close(floor->link[i].fd);
    floor->link[i].fd = -1;
}

/* Wait for bytes from node `i`, and for room for ours where some are left over. */
static bool watch(struct bench_floor *floor, unsigned i, int operation)
{
    struct floor_link *link = &floor->link[i];
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    if (link->unsent_len > 0)
        event.events |= EPOLLOUT;
    return epoll_ctl(floor->epoll_fd, operation, link->fd, &event) == 0;
}

static void note_sent(struct bench_floor *floor, struct floor_link *link, enum bench_verb verb)
{
    link->verb_of[link->sent % UNANSWERED_MAX] = (uint8_t)verb;
    link->round_of[link->sent++ % UNANSWERED_MAX] = floor->round;
    link->asked = true;
}

/* Keep the bytes that the kernel did not take. They go first, so the order is kept. */
static bool keep_unsent(struct floor_link *link, const char *bytes, size_t len)
{
    if (len > sizeof(link->unsent) - link->unsent_len)
        return false;
    memcpy(link->unsent + link->unsent_len, bytes, len);
    link->unsent_len += (uint32_t)len;
    return true;
}

/* False: this node is not asked. */
static bool send_request(struct bench_floor *floor, unsigned i, enum bench_verb verb)
{
    struct floor_link *link = &floor->link[i];
    const struct bench_bytes *bytes = &floor->requests.request[verb];
    if (floor->link[i].fd < 0)
        return false;
    if (link->unsent_len > 0) {
        /* Clogged: it gets no new request, but an old one is still given up. */
        if (verb == BENCH_ACQUIRE || !keep_unsent(link, bytes->at, bytes->len))
            return false;
        note_sent(floor, link, verb);
        return true;
    }
    if (verb == BENCH_ACQUIRE && link->sent - link->answered >= UNANSWERED_MAX - 1)
        return false;
    ssize_t sent = send(floor->link[i].fd, bytes->at, bytes->len, MSG_NOSIGNAL);
    if (sent == (ssize_t)bytes->len) {
        note_sent(floor, link, verb);
        return true;
    }
    if (sent < 0 && errno != EAGAIN) {
        drop(floor, i);
        return false;
    }
    size_t done = sent > 0 ? (size_t)sent : 0;
    keep_unsent(link, bytes->at + done, bytes->len - done);
    watch(floor, i, EPOLL_CTL_MOD);
    note_sent(floor, link, verb);
    return true;
}

static void send_unsent(struct bench_floor *floor, unsigned i)
{
    struct floor_link *link = &floor->link[i];
    ssize_t sent = send(floor->link[i].fd, link->unsent, link->unsent_len, MSG_NOSIGNAL);
    if (sent < 0)
        return;
    link->unsent_len -= (uint32_t)sent;
    memmove(link->unsent, link->unsent + sent, link->unsent_len);
    if (link->unsent_len == 0)
        watch(floor, i, EPOLL_CTL_MOD);
}

static void count_reply(struct bench_floor *floor, struct floor_link *link, bool success)
{
    uint32_t round = link->round_of[link->answered++ % UNANSWERED_MAX];
    if (round != floor->round)
        return;
    if (success)
        floor->yes++;
    else
        floor->no++;
}

/* Read the replies of node `i`: usually one, the expected one. */
static void receive(struct bench_floor *floor, unsigned i)
{
    struct floor_link *link = &floor->link[i];
    ssize_t got = recv(floor->link[i].fd, link->replies + link->got,
                       sizeof(link->replies) - link->got, 0);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN)
            drop(floor, i);
        return;
    }
    size_t len = link->got + (size_t)got;
    size_t at = 0;
    while (at < len && link->answered != link->sent) {
        const char *reply = link->replies + at;
        const struct bench_bytes *success =
            &floor->requests.success[link->verb_of[link->answered % UNANSWERED_MAX]];
        bool yes = len - at >= success->len && memcmp(reply, success->at, success->len) == 0;
        ssize_t whole = yes && !success->goes_on
                            ? (ssize_t)success->len
                            : bench_answer_length(success, reply, len - at);
        if (whole == 0)
            break;
        if (whole < 0) {
            drop(floor, i);
            return;
        }
        count_reply(floor, link, yes);
        at += (size_t)whole;
    }
    link->got = len - at;
    memmove(link->replies, link->replies + at, link->got);
}

static void serve(struct bench_floor *floor, const struct epoll_event *event)
{
    unsigned i = event->data.u32;
    struct floor_link *link = &floor->link[i];
    if ((event->events & EPOLLOUT) != 0)
        send_unsent(floor, i);
    if ((event->events & ~(uint32_t)EPOLLOUT) == 0)
        return;
    receive(floor, i);
    if (link->fd < 0 && link->asked && link->sent != link->answered)
        floor->no++;
}

/* Ask every node, and wait for `needed` to say yes or for that to be out of reach. */
static bool run_round(struct bench_floor *floor, enum bench_verb verb)
{
    struct epoll_event events[REDLOCK_NODES_MAX];
    unsigned asked = 0;
    int64_t limit_ns = floor->limit_ms > 0 ? bench_now_ns() + floor->limit_ms * 1000000 : 0;
    floor->round++;
    floor->yes = 0;
    floor->no = 0;
    for (unsigned i = 0; i < floor->nodes; i++) {
        bool wanted = verb == BENCH_ACQUIRE || floor->link[i].asked;
        floor->link[i].asked = false;
        if (wanted && send_request(floor, i, verb))
            asked++;
    }
    while (floor->yes < floor->needed && asked - floor->no >= floor->needed) {
        int timeout_ms = -1;
        if (limit_ns != 0) {
            int64_t left_ns = limit_ns - bench_now_ns();
            timeout_ms = left_ns > 0 ? (int)((left_ns + 999999) / 1000000) : 0;
        }
        int ready = epoll_wait(floor->epoll_fd, events, REDLOCK_NODES_MAX, timeout_ms);
        if (ready == 0)
            break;
        for (int i = 0; i < ready; i++)
            serve(floor, &events[i]);
    }
    return floor->yes >= floor->needed;
}

static bool floor_acquire(void *context)
{
    struct bench_floor *floor = context;
    if (run_round(floor, BENCH_ACQUIRE))
        return true;
    for (unsigned i = 0; i < floor->nodes; i++)
        if (floor->link[i].asked)
            send_request(floor, i, BENCH_RELEASE);
    return false;
}

static bool floor_release(void *context)
{
    return run_round(context, BENCH_RELEASE);
}

struct bench_driver bench_floor_driver(struct bench_floor *floor)
{
    static const char *const names[] = {"floor, same bytes", "floor, bare SET"};
    return (struct bench_driver){.name = names[floor->requests.kind],
                                 .context = floor,
                                 .acquire = floor_acquire,
                                 .release = floor_release};
}

void bench_floor_limit(struct bench_floor *floor, int64_t limit_ms)
{
    floor->limit_ms = limit_ms;
}

/* Connect link `i`; its server knows the scripts afterwards. */
static bool connect_link(struct bench_floor *floor, unsigned i)
{
    struct floor_link *link = &floor->link[i];
    struct server_talk talk;
    drop(floor, i);
    if (!server_talk_open(&talk, &link->node))
        return false;
    if (!bench_requests_load(&floor->requests, &talk) ||
        fcntl(talk.fd, F_SETFL, O_NONBLOCK) != 0) {
        server_talk_close(&talk);
        return false;
    }
    link->fd = talk.fd;
    link->sent = link->answered = link->unsent_len = 0;
    link->asked = false;
    link->got = 0;
    if (!watch(floor, i, EPOLL_CTL_ADD))
        drop(floor, i);
    return link->fd >= 0;
}

static void close_floor(void *what)
{
    struct bench_floor *floor = what;
    for (unsigned i = 0; i < floor->nodes; i++)
        drop(floor, i);
    if (floor->epoll_fd >= 0)
        close(floor->epoll_fd);
    free(floor);
}

static int open_floor(const struct bench *bench, const struct bench_requests *requests,
                      const char *name, const char *token, int64_t ttl_ms,
                      struct bench_floor **ret_floor)
{
    struct bench_floor *floor = bench_zeroed(sizeof(*floor));
    if (floor == NULL)
        return EX_OSERR;
    floor->requests = *requests;
    floor->nodes = bench->nodes;
    floor->needed = bench->needed;
    for (unsigned i = 0; i < floor->nodes; i++)
        floor->link[i].fd = -1;
    floor->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    bench_at_end(close_floor, floor);
    for (unsigned i = 0; i < floor->nodes; i++) {
        floor->link[i].node = bench->node[i];
        if (floor->epoll_fd < 0 || !connect_link(floor, i)) {
            fprintf(stderr, "redlock-bench: master %u can't be reached by a plain socket\n",
                    i + 1);
            return EX_UNAVAILABLE;
        }
    }
    bench_requests_build(&floor->requests, name, token, ttl_ms);
    *ret_floor = floor;
    return 0;
}

int bench_floor_open(const struct bench *bench, enum bench_floor_kind kind, const char *name,
                     const char *token, int64_t ttl_ms, struct bench_floor **ret_floor)
{
    static struct bench_requests requests; /* too big for a stack */
    requests = (struct bench_requests){.kind = kind};
    return open_floor(bench, &requests, name, token, ttl_ms, ret_floor);
}

int bench_floor_open_kind(const struct bench *bench, const struct bench_floor_lock *lock,
                          const char *name, const char *token, int64_t ttl_ms,
                          struct bench_floor **ret_floor)
{
    static struct bench_requests requests;
    requests = (struct bench_requests){
        .kind = BENCH_SAME_BYTES,
        .lock = lock->kind,
        .owner = lock->owner,
        .counter = lock->fenced ? rl_kind_counter(lock->kind, bench->nodes) : 0,
    };
    return open_floor(bench, &requests, name, token, ttl_ms, ret_floor);
}

bool bench_floor_reconnect(struct bench_floor *floor)
{
    bool all = true;
    for (unsigned i = 0; i < floor->nodes; i++)
        if (floor->link[i].fd < 0 && !connect_link(floor, i))
            all = false;
    return all;
}
