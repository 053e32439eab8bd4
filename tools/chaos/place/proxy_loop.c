/* proxy_loop.c - the process that the proxies are: it takes connections, moves bytes, and
 * looks at its orders when it is woken. */
#include "config_auto.h"

#include "chaos/place/proxy_parts.h"
#include "chaos/check/stall.h"

#include "base/clock.h"
#include "base/limits.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define PIPES_MAX 4096
#define EVENTS 64

/* The process's own state, beside the shared one. */
struct loop {
    struct chaos_proxies *proxies;
    int epoll;
    unsigned room;
    struct chaos_proxy_conn **conn; /* NULL: free */
};

/* The source of an event: a listener's path, or a connection and its end. */
enum { TAG_WAKE, TAG_DOOR, TAG_THERE, TAG_BACK };

static uint64_t tag(unsigned what, unsigned index)
{
    return (uint64_t)index << 8 | what;
}

/* ---- in the process: pipes ------------------------------------------------------------ */

static void end_conn(struct loop *loop, unsigned index, bool reset)
{
    chaos_proxy_conn_free(loop->conn[index], reset);
    loop->conn[index] = NULL;
}

/* Have epoll wait for the events that the connection wants. A socket without wanted events is taken
 * out, because epoll would report its end again and again. */
static void arrange(struct loop *loop, unsigned index, enum chaos_way end)
{
    struct chaos_proxy_conn *conn = loop->conn[index];
    uint32_t wanted = conn->fd[end] < 0 ? 0 : chaos_proxy_conn_interest(conn, end);
    if (wanted == conn->interest[end])
        return;
    struct epoll_event event = {.events = wanted};
    event.data.u64 = tag(end == CHAOS_THERE ? TAG_THERE : TAG_BACK, index);
    int change = wanted == 0                ? EPOLL_CTL_DEL
                 : conn->interest[end] == 0 ? EPOLL_CTL_ADD
                                            : EPOLL_CTL_MOD;
    if (epoll_ctl(loop->epoll, change, conn->fd[end], &event) != 0)
        abort();
    conn->interest[end] = wanted;
}

static void move_conn(struct loop *loop, unsigned index, int64_t now_ns, int64_t *due_ns)
{
    bool reset = false;
    if (!chaos_proxy_conn_move(loop->conn[index], now_ns, due_ns, &reset)) {
        end_conn(loop, index, reset);
        return;
    }
    arrange(loop, index, CHAOS_THERE);
    arrange(loop, index, CHAOS_BACK);
}

/* Room for one more: the oldest that is of no use any more makes it. */
static unsigned find_room(struct loop *loop, const struct chaos_path *path)
{
    unsigned free_index = loop->room;
    unsigned dead = loop->room;
    for (unsigned i = 0; i < loop->room; i++) {
        if (loop->conn[i] == NULL)
            free_index = i;
        else if (loop->conn[i]->path == path && loop->conn[i]->dead && dead == loop->room)
            dead = i;
    }
    if (atomic_load(&path->connections) < CHAOS_CONNS_A_PATH)
        return free_index;
    if (dead < loop->room)
        end_conn(loop, dead, true);
    return dead;
}

/* Where the path leads to now. A connection keeps a pointer to it; the order that changes it resets
 * the connection. */
static const struct chaos_address *find_server(struct chaos_proxies *proxies,
                                               unsigned path_index)
{
    unsigned node = path_index % proxies->nodes;
    int port = atomic_load(&proxies->orders->path[path_index].spare_port);
    if (port == 0)
        return &proxies->master[node];
    struct sockaddr_in *address = (struct sockaddr_in *)&proxies->spare[node].address;
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address->sin_port = htons((uint16_t)port);
    proxies->spare[node].len = sizeof(*address);
    return &proxies->spare[node];
}

static void admit(struct loop *loop, unsigned path_index, int64_t now_ns, int64_t *due_ns)
{
    struct chaos_proxies *proxies = loop->proxies;
    struct chaos_path *path = &proxies->orders->path[path_index];
    int on = 1;
    int fd = accept4(proxies->listener[path_index], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    unsigned index = find_room(loop, path);
    struct chaos_proxy_conn *conn =
        index < loop->room ? chaos_proxy_conn_new(fd, path, find_server(proxies, path_index))
                           : NULL;
    if (conn == NULL) {
        close(fd);
        return;
    }
    loop->conn[index] = conn;
    move_conn(loop, index, now_ns, due_ns);
}

/* ---- in the process: the loop --------------------------------------------------------- */

static void move_all(struct loop *loop, int64_t *due_ns)
{
    struct chaos_orders *orders = loop->proxies->orders;
    unsigned given = atomic_load(&orders->given);
    int64_t now_ns = rl_clock_now_ns();
    for (unsigned i = 0; i < loop->room; i++)
        if (loop->conn[i] != NULL)
            move_conn(loop, i, now_ns, due_ns);
    atomic_store(&orders->obeyed, given);
}

static void handle(struct loop *loop, uint64_t data, int64_t now_ns, int64_t *due_ns)
{
    unsigned index = (unsigned)(data >> 8);
    uint64_t count;
    switch (data & 0xff) {
    case TAG_WAKE:
        if (read(loop->proxies->wake, &count, sizeof(count)) > 0)
            *due_ns = 0; /* all of them, at once */
        break;
    case TAG_DOOR:
        admit(loop, index, now_ns, due_ns);
        break;
    default:
        if (loop->conn[index] != NULL)
            move_conn(loop, index, now_ns, due_ns);
    }
}

/* The timeout until `due_ns`. Shorter times than a millisecond are slept for. */
static int await(struct loop *loop, struct epoll_event *event, int64_t due_ns)
{
    int64_t left_ns = due_ns == INT64_MAX ? RL_NS_PER_S : due_ns - rl_clock_now_ns();
    if (left_ns > 0 && left_ns < RL_NS_PER_MS) {
        struct timespec nap = {.tv_nsec = (long)left_ns};
        nanosleep(&nap, NULL);
        left_ns = 0;
    }
    int ms = left_ns <= 0 ? 0 : left_ns >= RL_NS_PER_S ? 1000 : (int)(left_ns / RL_NS_PER_MS);
    return epoll_wait(loop->epoll, event, EVENTS, ms);
}

static _Noreturn void run(struct loop *loop)
{
    struct epoll_event event[EVENTS];
    int64_t due_ns = INT64_MAX;
    for (;;) {
        int count = await(loop, event, due_ns);
        int64_t now_ns = rl_clock_now_ns();
        bool all = due_ns <= now_ns;
        if (all)
            due_ns = INT64_MAX;
        for (int i = 0; i < count; i++)
            handle(loop, event[i].data.u64, now_ns, &due_ns);
        if (all || due_ns == 0) {
            due_ns = INT64_MAX;
            move_all(loop, &due_ns);
        }
    }
}

static void watch(struct loop *loop, int fd, uint64_t data)
{
    struct epoll_event event = {.events = EPOLLIN};
    event.data.u64 = data;
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        abort();
}

_Noreturn void chaos_proxy_main(struct chaos_proxies *proxies, pid_t parent)
{
    unsigned paths = proxies->clients * proxies->nodes;
    struct loop loop = {.proxies = proxies, .room = paths * CHAOS_CONNS_A_PATH};
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    setpgid(0, 0); /* a Ctrl-C is for the parent, which ends us */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    if (loop.room > PIPES_MAX)
        loop.room = PIPES_MAX;
    loop.conn = calloc(loop.room, sizeof(loop.conn[0]));
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (loop.conn == NULL || loop.epoll < 0)
        _exit(1);
    if (proxies->stalls != NULL && !chaos_heartbeat(proxies->stalls, CHAOS_STALLED_PROXIES, 0))
        _exit(1);
    watch(&loop, proxies->wake, tag(TAG_WAKE, 0));
    for (unsigned i = 0; i < paths; i++)
        watch(&loop, proxies->listener[i], tag(TAG_DOOR, i));
    run(&loop);
}
