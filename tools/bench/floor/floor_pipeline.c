/* floor_pipeline.c - many pairs in flight on raw sockets: the floor of event loops and threads.
 */
#include "config_auto.h"

#include "bench/floor/floor_pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sysexits.h>
#include <unistd.h>

#define AWAITED_MAX 16384 /* replies of one node; a power of two */
#define UNSENT_MAX (4 * BENCH_REQUEST_MAX * BENCH_PIPE_SLOTS_MAX)
#define REPLIES_MAX 65536
#define SILENCE_MS 5000 /* after which a run is given up */

/* A reply that a node owes: to which slot's which round, and of which verb. */
struct awaited {
    uint32_t round;
    uint16_t slot;
    uint16_t verb;
};

struct pipeline_node {
    int fd; /* -1: broken */
    bool clogged;
    uint32_t sent;
    uint32_t answered;
    size_t unsent;
    size_t got;
    struct awaited awaited[AWAITED_MAX];
    char out[UNSENT_MAX];
    char replies[REPLIES_MAX];
};

/* One name, on which a pair at a time goes on. */
struct pipeline_slot {
    uint64_t asked; /* nodes that may have the key */
    int64_t began_ns;
    uint32_t round;
    enum bench_verb verb;
    unsigned waiting; /* nodes asked in this round */
    unsigned yes;
    unsigned no;
    struct bench_bytes request[2];
};

struct bench_pipeline {
    unsigned nodes;
    unsigned needed;
    int epoll_fd;
    struct bench_many many;
    struct bench_bytes success[2];
    struct pipeline_slot slot[BENCH_PIPE_SLOTS_MAX];
    struct pipeline_node node[]; /* so many as there are nodes: each has large buffers */
};

static void watch(struct bench_pipeline *pipeline, unsigned i, int operation)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};
    if (pipeline->node[i].clogged)
        event.events |= EPOLLOUT;
    epoll_ctl(pipeline->epoll_fd, operation, pipeline->node[i].fd, &event);
}

/* False: this node is left out of an acquire, it owes too much. A release has room by then. */
static bool append(struct pipeline_node *node, const struct pipeline_slot *slot, unsigned index)
{
    const struct bench_bytes *bytes = &slot->request[slot->verb];
    uint32_t owed = node->sent - node->answered;
    if (node->fd < 0)
        return false;
    if (slot->verb == BENCH_ACQUIRE &&
        (owed >= AWAITED_MAX / 2 || node->unsent > UNSENT_MAX / 2))
        return false;
    memcpy(node->out + node->unsent, bytes->at, bytes->len);
    node->unsent += bytes->len;
    node->awaited[node->sent++ % AWAITED_MAX] = (struct awaited){
        .round = slot->round, .slot = (uint16_t)index, .verb = (uint16_t)slot->verb};
    return true;
}

/* Have every node asked, or for a release those that were asked before. */
static void ask(struct bench_pipeline *pipeline, unsigned index, enum bench_verb verb)
{
    struct pipeline_slot *slot = &pipeline->slot[index];
    uint64_t asked = verb == BENCH_ACQUIRE ? ~UINT64_C(0) : slot->asked;
    slot->verb = verb;
    slot->round++;
    slot->waiting = slot->yes = slot->no = 0;
    slot->asked = 0;
    for (unsigned i = 0; i < pipeline->nodes; i++)
        if ((asked >> i & 1) != 0 && append(&pipeline->node[i], slot, index)) {
            slot->asked |= UINT64_C(1) << i;
            slot->waiting++;
        }
}

static void begin_pair(void *context, unsigned index)
{
    struct bench_pipeline *pipeline = context;
    if (pipeline->many.now_ns >= pipeline->many.end_ns) {
        pipeline->many.in_flight--;
        return;
    }
    pipeline->slot[index].began_ns = pipeline->many.now_ns;
    ask(pipeline, index, BENCH_ACQUIRE);
}

/* A vote of the current round has come. The vote that ends a round begins the next one. */
static void judge(struct bench_pipeline *pipeline, unsigned index)
{
    struct pipeline_slot *slot = &pipeline->slot[index];
    bool lost = slot->waiting - slot->no < pipeline->needed;
    if (slot->yes < pipeline->needed && !lost)
        return;
    bool counts = pipeline->many.now_ns < pipeline->many.end_ns;
    if (slot->verb == BENCH_ACQUIRE && !lost) {
        if (pipeline->many.samples != NULL && counts)
            bench_samples_add(pipeline->many.samples, pipeline->many.now_ns - slot->began_ns);
        ask(pipeline, index, BENCH_RELEASE);
        return;
    }
    if (slot->verb == BENCH_ACQUIRE)
        ask(pipeline, index, BENCH_RELEASE); /* given up; its answer counts nowhere */
    slot->round++;
    pipeline->many.slice.failures += lost;
    pipeline->many.slice.pairs += !lost && counts;
    begin_pair(pipeline, index);
}

static void count_reply(struct bench_pipeline *pipeline, struct pipeline_node *node, bool yes)
{
    const struct awaited *awaited = &node->awaited[node->answered++ % AWAITED_MAX];
    struct pipeline_slot *slot = &pipeline->slot[awaited->slot];
    if (slot->round != awaited->round)
        return;
    slot->yes += yes;
    slot->no += !yes;
    judge(pipeline, awaited->slot);
}

/* The connection broke: this node will not answer the requests sent to it. */
static void drop(struct bench_pipeline *pipeline, struct pipeline_node *node)
{
    close(node->fd);
    node->fd = -1;
    node->unsent = 0;
    while (node->answered != node->sent)
        count_reply(pipeline, node, false);
}

static void receive(struct bench_pipeline *pipeline, struct pipeline_node *node)
{
    ssize_t got = recv(node->fd, node->replies + node->got, REPLIES_MAX - node->got, 0);
    if (got <= 0) {
        if (got == 0 || errno != EAGAIN)
            drop(pipeline, node);
        return;
    }
    size_t len = node->got + (size_t)got;
    size_t at = 0;
    while (at < len && node->answered != node->sent) {
        const char *reply = node->replies + at;
        const struct bench_bytes *success =
            &pipeline->success[node->awaited[node->answered % AWAITED_MAX].verb];
        bool yes = len - at >= success->len && memcmp(reply, success->at, success->len) == 0;
        ssize_t whole =
            yes ? (ssize_t)success->len : bench_answer_length(success, reply, len - at);
        if (whole == 0)
            break;
        if (whole < 0) {
            drop(pipeline, node);
            return;
        }
        count_reply(pipeline, node, yes);
        at += (size_t)whole;
    }
    node->got = len - at;
    memmove(node->replies, node->replies + at, node->got);
}

static void flush(struct bench_pipeline *pipeline, unsigned i)
{
    struct pipeline_node *node = &pipeline->node[i];
    if (node->fd < 0 || node->unsent == 0)
        return;
    ssize_t sent = send(node->fd, node->out, node->unsent, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN) {
        drop(pipeline, node);
        return;
    }
    size_t done = sent > 0 ? (size_t)sent : 0;
    bool clogged = done < node->unsent;
    node->unsent -= done;
    memmove(node->out, node->out + done, node->unsent);
    if (clogged != node->clogged) {
        node->clogged = clogged;
        watch(pipeline, i, EPOLL_CTL_MOD);
    }
}

/* False: after so long a silence nothing will come any more. */
static bool turn(void *context)
{
    struct bench_pipeline *pipeline = context;
    struct epoll_event events[REDLOCK_NODES_MAX];
    for (unsigned i = 0; i < pipeline->nodes; i++)
        if (!pipeline->node[i].clogged)
            flush(pipeline, i);
    int ready = epoll_wait(pipeline->epoll_fd, events, REDLOCK_NODES_MAX, SILENCE_MS);
    pipeline->many.now_ns = bench_now_ns();
    for (int i = 0; i < ready; i++) {
        unsigned index = events[i].data.u32;
        if ((events[i].events & EPOLLOUT) != 0)
            flush(pipeline, index);
        if ((events[i].events & ~(uint32_t)EPOLLOUT) != 0 && pipeline->node[index].fd >= 0)
            receive(pipeline, &pipeline->node[index]);
    }
    return ready > 0 || (ready < 0 && errno == EINTR);
}

struct bench_slice bench_pipeline_run(struct bench_pipeline *pipeline, unsigned slots,
                                      int64_t duration_ms, struct bench_samples *samples)
{
    const struct bench_many_way way = {.context = pipeline, .begin = begin_pair, .turn = turn};
    return bench_many_run(&pipeline->many, &way, slots, duration_ms, samples);
}

static bool connect_node(struct bench_pipeline *pipeline, unsigned i,
                         const struct server_at *node, struct bench_requests *requests)
{
    struct server_talk talk;
    if (!server_talk_open(&talk, node))
        return false;
    pipeline->node[i].fd = talk.fd;
    bool fine =
        bench_requests_load(requests, &talk) && fcntl(talk.fd, F_SETFL, O_NONBLOCK) == 0;
    watch(pipeline, i, EPOLL_CTL_ADD);
    return fine;
}

/* As long as the library's names in the same scenario, and others for each kind of floor. */
static void build_slots(struct bench_pipeline *pipeline, struct bench_requests *requests,
                        const char *token, int64_t ttl_ms)
{
    const char *floor = requests->kind == BENCH_BARE ? "plain" : "floor";
    char name[64];
    for (unsigned i = 0; i < BENCH_PIPE_SLOTS_MAX; i++) {
        snprintf(name, sizeof(name), "redlock-bench:%s:%03u", floor, i);
        bench_requests_build(requests, name, token, ttl_ms);
        pipeline->slot[i].request[BENCH_ACQUIRE] = requests->request[BENCH_ACQUIRE];
        pipeline->slot[i].request[BENCH_RELEASE] = requests->request[BENCH_RELEASE];
    }
    pipeline->success[BENCH_ACQUIRE] = requests->success[BENCH_ACQUIRE];
    pipeline->success[BENCH_RELEASE] = requests->success[BENCH_RELEASE];
}

static void close_pipeline(void *what)
{
    struct bench_pipeline *pipeline = what;
    for (unsigned i = 0; i < pipeline->nodes; i++)
        if (pipeline->node[i].fd >= 0)
            close(pipeline->node[i].fd);
    if (pipeline->epoll_fd >= 0)
        close(pipeline->epoll_fd);
    free(pipeline);
}

int bench_pipeline_open(const struct bench *bench, enum bench_floor_kind kind,
                        const char *token, int64_t ttl_ms, struct bench_pipeline **ret_pipeline)
{
    static struct bench_requests requests; /* big for a stack, and the same for every slot */
    requests = (struct bench_requests){.kind = kind};
    struct bench_pipeline *pipeline =
        bench_zeroed(sizeof(*pipeline) + bench->nodes * sizeof(struct pipeline_node));
    if (pipeline == NULL)
        return EX_OSERR;
    pipeline->nodes = bench->nodes;
    pipeline->needed = bench->needed;
    pipeline->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    for (unsigned i = 0; i < pipeline->nodes; i++)
        pipeline->node[i].fd = -1;
    bench_at_end(close_pipeline, pipeline);
    for (unsigned i = 0; i < pipeline->nodes; i++)
        if (pipeline->epoll_fd < 0 || !connect_node(pipeline, i, &bench->node[i], &requests)) {
            fprintf(stderr, "redlock-bench: master %u can't be reached by a plain socket\n",
                    i + 1);
            return EX_UNAVAILABLE;
        }
    build_slots(pipeline, &requests, token, ttl_ms);
    *ret_pipeline = pipeline;
    return 0;
}
