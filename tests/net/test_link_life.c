/* test_link_life.c - a link's descriptor: how it is set up, that it never stays behind, and
 * what fork() and its shortage do to it. */
#include "config_auto.h"

#include "link_scene.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(unix_peer, descriptor_is_ours_alone)
{
    int fd = link_rig.link->fd;
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fcntl(fd, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

static int option(int level, int name)
{
    int value = -1;
    socklen_t size = sizeof(value);
    ck_assert_int_eq(getsockopt(link_rig.link->fd, level, name, &value, &size), 0);
    return value;
}

TEST(tcp_peer, tcp_socket_is_quick_and_notices_silent_end)
{
    ck_assert_int_ne(option(IPPROTO_TCP, TCP_NODELAY), 0);
    ck_assert_int_ne(option(SOL_SOCKET, SO_KEEPALIVE), 0);
    ck_assert_int_eq(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 30000);
    ck_assert_int_le(option(IPPROTO_TCP, TCP_KEEPIDLE), 30);
    ck_assert_int_le(option(IPPROTO_TCP, TCP_KEEPINTVL), 10);
}

TEST(unix_peer, error_event_without_anything_to_read_fails_link)
{
    if (link_rig.node.transport != RL_UNIX) {
        const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
        rl_link_step(link_rig.link, EPOLLERR | EPOLLHUP,
                     0); /* as if for one that lost the race */
        ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_OPEN);
        ck_assert_int_eq(connect(link_rig.link->fd, &nowhere, sizeof(nowhere)), 0);
    }
    rl_link_step(link_rig.link, EPOLLERR | EPOLLHUP, 0);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_FAILED);
    ck_assert_msg(strstr(rl_link_text(link_rig.link), strerror(ECONNRESET)), "%s",
                  rl_link_text(link_rig.link));
}

TEST(unix_peer, closing_lets_go_of_everything_and_opening_works_again)
{
    unsigned before = rig_descriptors();
    for (int i = 0; i < 50; i++) {
        char byte;
        rl_link_close(link_rig.link);
        ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_IDLE);
        ck_assert_str_eq(rl_link_text(link_rig.link), "");
        ck_assert_int_eq(read(peer_fd, &byte, 1), 0); /* and the peer is told */
        close(peer_fd);
        rl_link_close(link_rig.link); /* once more is nothing */
        accept_peer();
    }
    ck_assert_uint_eq(rig_descriptors(), before);
}

/* What has arrived can be read; and TCP says that there is nobody any more to send the rest, or
 * to take an answer, where it would be content with an end of the one direction. */
TEST(unix_peer, abort_takes_back_unread_bytes)
{
    char bytes[8];
    ck_assert_int_eq(rl_link_send(link_rig.link, "hello", 5), 5);
    rl_link_abort(link_rig.link);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_IDLE);
    ck_assert_int_eq(read(peer_fd, bytes, sizeof(bytes)), 5);
    ck_assert_int_eq(send(peer_fd, "x", 1, MSG_NOSIGNAL), -1);
    ck_assert(errno == EPIPE || errno == ECONNRESET);
    rl_link_abort(link_rig.link); /* once more is nothing */
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_IDLE);
}

TEST(unix_peer, link_may_be_freed_at_any_time)
{
    unsigned before = rig_descriptors();
    rig_end(&link_rig);
    ck_assert_uint_eq(rig_descriptors(), before - 3);
    rl_link_free(NULL);
    rl_link_free_in_child(NULL);
    rig_begin_tcp(&link_rig, "127.0.0.1", 1);
}

/* Run this in a forked child: what it returns must be 0. */
static void in_child(int (*body)(void))
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(5);
        _exit(body());
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

static int free_the_link(void)
{
    unsigned before = rig_descriptors();
    rl_link_free_in_child(link_rig.link);
    return rig_descriptors() == before - 1 ? 0 : 1;
}

TEST(unix_peer, child_that_frees_its_copy_disturbs_nobody)
{
    char bytes[8];
    unsigned before = epoll_ctls;
    in_child(free_the_link);
    ck_assert_uint_eq(epoll_ctls, before);
    ck_assert_int_eq(rl_link_send(link_rig.link, "PING\r\n", 6), 6);
    ck_assert_int_eq(read(peer_fd, bytes, sizeof(bytes)), 6);
    ck_assert_int_eq(write(peer_fd, "+OK\r\n", 5), 5);
    ck_assert(rig_turn(&link_rig, 5000)); /* still in the epoll set */
    ck_assert(rig_read(&link_rig, bytes, 5));
}

/* A child that has a copy of every descriptor, until let_go(). */
struct copier {
    pid_t pid;
    int ends[2];
};

static struct copier copy_all(void)
{
    struct copier copier;
    char byte;
    ck_assert_int_eq(pipe2(copier.ends, O_CLOEXEC), 0);
    copier.pid = fork();
    ck_assert_int_ge(copier.pid, 0);
    if (copier.pid == 0) {
        close(copier.ends[1]);
        _exit((int)read(copier.ends[0], &byte, 1));
    }
    return copier;
}

static void let_go(const struct copier *copier)
{
    close(copier->ends[0]);
    close(copier->ends[1]);
    waitpid(copier->pid, NULL, 0);
}

/* A child's copy of the descriptor keeps the connection, and its place in the epoll set, from
 * ending with close(). */
TEST(unix_peer, closing_works_while_child_has_copy)
{
    char byte;
    struct copier copier = copy_all();
    ck_assert_int_eq(write(peer_fd, "x", 1), 1);
    rl_link_close(link_rig.link);
    ck_assert(!rig_turn(&link_rig, 0));
    ck_assert(recv(peer_fd, &byte, 1, 0) <= 0);
    let_go(&copier);
}

/* Send until the kernel takes no more: how much it has taken. */
static size_t send_all_it_takes(void)
{
    static const char bytes[65536];
    size_t taken = 0;
    while (!rl_link_blocked(link_rig.link)) {
        ssize_t sent = rl_link_send(link_rig.link, bytes, sizeof(bytes));
        ck_assert_int_ge(sent, 0);
        taken += (size_t)sent;
    }
    return taken;
}

/* The peer sends no more: the link learns that by reading, and fails. */
static void half_close(void)
{
    char byte;
    int64_t end_ms = now_ms() + 5000;
    ck_assert_int_eq(shutdown(peer_fd, SHUT_WR), 0);
    while (rl_link_recv(link_rig.link, &byte, 1) == 0) {
        ck_assert_int_lt(now_ms(), end_ms);
        rig_turn(&link_rig, 100);
    }
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_FAILED);
}

/* TCP would go on to send it: while a child has a copy of the descriptor also after a close()
 * that is to discard it, and to a peer that has closed its own direction only. */
TEST(tcp_peer, bytes_in_kernel_are_taken_back, .rows = 3)
{
    const struct timeval limit = {.tv_sec = 5};
    static char bytes[65536];
    struct copier copier;
    size_t taken = send_all_it_takes(), arrived = 0;
    ssize_t got;
    if (_i == 1)
        copier = copy_all();
    if (_i == 2)
        half_close();
    rl_link_abort(link_rig.link);
    setsockopt(peer_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    while ((got = read(peer_fd, bytes, sizeof(bytes))) > 0)
        arrived += (size_t)got;
    ck_assert(got == -1 && errno == ECONNRESET);
    ck_assert_uint_lt(arrived, taken);
    if (_i == 1)
        let_go(&copier);
}

TEST(unix_peer, without_descriptors_link_fails_and_recovers)
{
    struct rlimit limit;
    rl_link_close(link_rig.link);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t usual = limit.rlim_cur;
    limit.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    rig_open(&link_rig, 5000);
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_FAILED); /* at once */
    ck_assert_msg(strstr(rl_link_text(link_rig.link), strerror(EMFILE)), "%s",
                  rl_link_text(link_rig.link));
    rl_link_close(link_rig.link);
    limit.rlim_cur = usual;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    rig_expect_open(&link_rig);
}

CASE(unix_peer, PEER_CASE, .set_up = set_up_unix)
CASE(tcp_peer, PEER_CASE, .set_up = set_up_tcp, .again = "unix_peer")
