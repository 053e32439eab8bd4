/* sim_net_rig.c - a world of one process and masters that echo. */
#include "config_auto.h"

#include "sim_net_rig.h"

#include "sim_master.h"
#include "suite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

struct echo echo[3];

/* ---- the masters ---------------------------------------------------------------------- */

static struct session {
    struct echo *echo;
    struct sim_conn *conn;
} sessions[1000];
static unsigned sessions_used;

bool sim_master_listens(unsigned master)
{
    return echo[master].listens;
}

unsigned sim_master_shares_name(unsigned master)
{
    (void)master;
    return SIM_MASTERS_MAX;
}

void *sim_master_accept(unsigned master, struct sim_conn *conn)
{
    ck_assert_uint_lt(sessions_used, sizeof(sessions) / sizeof(*sessions));
    struct session *session = &sessions[sessions_used++];
    session->echo = &echo[master];
    session->conn = conn;
    echo[master].sessions++;
    echo[master].conn = conn;
    return session;
}

void sim_master_hear(void *session, const void *bytes, size_t len)
{
    struct session *self = session;
    struct echo *master = self->echo;
    if (len == 0 || len > sizeof(master->heard) - master->len)
        ck_abort_msg("%zu bytes come, after %zu", len, master->len);
    memcpy(master->heard + master->len, bytes, len);
    master->len += len;
    master->pieces++;
    if (master->answers)
        sim_conn_say(self->conn, bytes, len);
}

void sim_master_left(void *session)
{
    struct session *self = session;
    self->echo->left++;
    if (self->echo->conn == self->conn)
        self->echo->conn = NULL;
}

/* ---- the world ------------------------------------------------------------------------ */

struct role {
    struct sim_proc *proc;
    void (*program)(struct sim_proc *proc);
};

static void *perform(void *argument)
{
    struct role *role = argument;
    role->program(role->proc);
    return NULL;
}

static bool goes_on(void *fiber)
{
    return !sim_fiber_ended(fiber);
}

uint64_t play(uint64_t seed, void (*program)(struct sim_proc *proc))
{
    struct role role = {.program = program};
    sim_begin(seed);
    sessions_used = 0;
    for (unsigned i = 0; i < sizeof(echo) / sizeof(*echo); i++) {
        memset(&echo[i], 0, sizeof(echo[i]));
        echo[i].listens = echo[i].answers = true;
    }
    role.proc = sim_proc_new("p1");
    struct sim_fiber *fiber = sim_fiber_new(role.proc, perform, &role);
    sim_run_while(goes_on, fiber, 10000 * SIM_S);
    ck_assert(sim_fiber_ended(fiber));
    uint64_t hash = sim_hash();
    sim_procs_end();
    sim_end();
    return hash;
}

void let_pass(int64_t ns)
{
    sim_sleep(sim_now_ns() + ns);
}

/* ---- a client ------------------------------------------------------------------------- */

int dial(unsigned master)
{
    const int on = 1, idle_s = 10, every_s = 5;
    const unsigned dead_ms = 30000;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons(SIM_PORT),
                                  .sin_addr.s_addr = htonl(0x0a000001 + master)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, SIM_FD_BASE);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &dead_ms, sizeof(dead_ms));
    ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof(address)), -1);
    ck_assert_int_eq(errno, EINPROGRESS);
    return fd;
}

int call(unsigned master)
{
    int fd = dial(master);
    ck_assert_uint_eq(ready(fd), 0);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 60000), EPOLLOUT);
    ck_assert_int_eq(take_error(fd), 0);
    return fd;
}

unsigned wait_ready(int fd, unsigned events, int timeout_ms)
{
    struct pollfd wanted = {.fd = fd, .events = (short)events};
    poll(&wanted, 1, timeout_ms);
    return (unsigned short)wanted.revents;
}

unsigned ready(int fd)
{
    return wait_ready(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP, 0);
}

int take_error(int fd)
{
    int error = -1;
    socklen_t len = sizeof(error);
    ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len), 0);
    return error;
}

int recv_error(int fd)
{
    char byte;
    return recv(fd, &byte, 1, 0) < 0 ? errno : 0;
}

int send_error(int fd)
{
    return send(fd, "x", 1, MSG_NOSIGNAL) < 0 ? errno : 0;
}

void say(int fd, const void *bytes, size_t len)
{
    ck_assert_int_eq(send(fd, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

size_t hear(int fd, void *ret_bytes, size_t len, int64_t within_ns)
{
    int64_t end_ns = sim_now_ns() + within_ns;
    size_t heard = 0;
    while (heard < len && sim_now_ns() < end_ns) {
        int left_ms = (int)((end_ns - sim_now_ns()) / SIM_MS) + 1;
        if ((wait_ready(fd, EPOLLIN, left_ms) & EPOLLIN) == 0)
            break;
        ssize_t got = recv(fd, (uint8_t *)ret_bytes + heard, len - heard, 0);
        if (got <= 0)
            break;
        heard += (size_t)got;
    }
    return heard;
}

void fill(uint8_t *ret_bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ret_bytes[i] = (uint8_t)(sim_below(256));
}
