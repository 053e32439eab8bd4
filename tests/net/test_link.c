/* tags: valgrind */
/* test_link.c - a link's bytes, over unix and TCP sockets: quick, and right when the peer takes
 * no more, ends or resets. */
#include "config_auto.h"

#include "link_scene.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* System calls that the library makes, counted. */
static unsigned sends, recvs;

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    sends++;
    return syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
}

ssize_t recv(int fd, void *bytes, size_t len, int flags)
{
    recvs++;
    return syscall(SYS_recvfrom, fd, bytes, len, flags, NULL, NULL);
}

/* "127.0.0.1:port" or the socket's path, and a reason. */
static const char *with_place(const char *reason)
{
    static char text[300];
    if (at.path[0])
        snprintf(text, sizeof(text), "%s: %s", at.path, reason);
    else
        snprintf(text, sizeof(text), "127.0.0.1:%d: %s", at.port, reason);
    return text;
}

static void expect_end(const char *reason)
{
    char byte;
    while (rl_link_state(link_rig.link) == RL_LINK_OPEN &&
           rl_link_recv(link_rig.link, &byte, 1) == 0)
        ck_assert(rig_turn(&link_rig, 5000));
    ck_assert_int_eq(rl_link_state(link_rig.link), RL_LINK_FAILED);
    ck_assert_str_eq(rl_link_text(link_rig.link), with_place(reason));
    ck_assert_int_eq(link_rig.link->fd, -1);
    /* Nothing is left in the epoll set that could be told of for ever. */
    ck_assert(!rig_turn(&link_rig, 0));
}

TEST(unix_peer, bytes_pass_both_ways)
{
    char bytes[16] = "";
    ck_assert_int_eq(rl_link_recv(link_rig.link, bytes, sizeof(bytes)), 0);
    ck_assert_int_eq(rl_link_send(link_rig.link, "PING\r\n", 6), 6);
    ck_assert_int_eq(read(peer_fd, bytes, sizeof(bytes)), 6);
    ck_assert(net_send(peer_fd, "+PONG\r\n", 7));
    ck_assert(rig_read(&link_rig, bytes, 7));
    ck_assert_int_eq(memcmp(bytes, "+PONG\r\n", 7), 0);
    ck_assert(!rl_link_blocked(link_rig.link));
}

TEST(unix_peer, round_trip_is_one_send_and_one_receive)
{
    char bytes[16];
    unsigned before = epoll_ctls;
    sends = recvs = 0;
    for (int i = 0; i < 10; i++) {
        ck_assert_int_eq(rl_link_send(link_rig.link, "PING\r\n", 6), 6);
        ck_assert_int_eq(read(peer_fd, bytes, sizeof(bytes)), 6);
        ck_assert_int_eq(write(peer_fd, "+PONG\r\n", 7), 7);
        ck_assert(rig_turn(&link_rig, 5000));
        ck_assert_int_eq(rl_link_recv(link_rig.link, bytes, sizeof(bytes)), 7);
    }
    ck_assert_uint_eq(sends, 10);
    ck_assert_uint_eq(recvs, 10);
    ck_assert_uint_eq(epoll_ctls, before);
}

/* Send until nothing is taken any more, also a while later (TCP moves bytes over to the peer's
 * side in its own time): bytes taken. */
static size_t fill(const unsigned char *bytes, size_t len)
{
    size_t total = 0;
    ssize_t sent;
    do {
        while ((sent = rl_link_send(link_rig.link, bytes + total, len - total)) > 0) {
            total += (size_t)sent;
            ck_assert_uint_lt(total, len);
            ck_assert(rl_link_blocked(link_rig.link)); /* less than was offered */
        }
        ck_assert_int_eq(sent, 0);
        ck_assert(rl_link_blocked(link_rig.link));
    } while (rig_turn(&link_rig, 50));
    return total;
}

static unsigned char *new_pattern(size_t size)
{
    unsigned char *bytes = malloc(size);
    ck_assert_ptr_nonnull(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    return bytes;
}

TEST(unix_peer, full_kernel_blocks_until_there_is_room)
{
    enum { SIZE = 16 * 1024 * 1024 };
    unsigned char *bytes = new_pattern(SIZE), *heard = malloc(SIZE);
    size_t taken = fill(bytes, SIZE), total = 0;
    unsigned before = epoll_ctls;
    ssize_t more = rl_link_send(link_rig.link, bytes + taken, SIZE - taken);
    ck_assert_int_ge(more, 0); /* TCP may have room again, and too little to tell of it */
    taken += (size_t)more;
    ck_assert(rl_link_blocked(link_rig.link));
    ck_assert_uint_eq(epoll_ctls, before);
    ck_assert(!rig_turn(&link_rig, 0)); /* it waits, and does not spin */
    ck_assert(rl_link_blocked(link_rig.link));
    while (total < taken)
        total += (size_t)read(peer_fd, heard + total, taken - total);
    ck_assert_int_eq(memcmp(bytes, heard, taken), 0);
    ck_assert(rig_turn(&link_rig, 5000));
    ck_assert_uint_eq(link_rig.last & EPOLLOUT, EPOLLOUT);
    ck_assert(!rl_link_blocked(link_rig.link));
    ck_assert(!rig_turn(&link_rig, 0)); /* EPOLLOUT is not asked for any more */
    ck_assert_int_eq(rl_link_send(link_rig.link, bytes, 3), 3);
    free(bytes);
    free(heard);
}

TEST(unix_peer, replies_are_read_while_sending_is_blocked)
{
    enum { SIZE = 16 * 1024 * 1024 };
    char reply[8];
    unsigned char *bytes = new_pattern(SIZE);
    fill(bytes, SIZE);
    ck_assert_int_eq(write(peer_fd, "+OK\r\n", 5), 5);
    ck_assert(rig_turn(&link_rig, 5000));
    ck_assert_uint_eq(link_rig.last & EPOLLIN, EPOLLIN);
    ck_assert(rl_link_blocked(link_rig.link));
    ck_assert(rig_read(&link_rig, reply, 5));
    free(bytes);
}

static void peer_closes(void)
{
    close(peer_fd);
    peer_fd = -1;
}

TEST(unix_peer, end_comes_after_last_byte)
{
    char bytes[8];
    ck_assert(net_send(peer_fd, "+OK\r\n", 5));
    peer_closes();
    ck_assert(rig_read(&link_rig, bytes, 5));
    expect_end("closed by the server");
}

/* TCP learns of it from the answer to the first bytes. */
static void send_until_nothing_is_taken(void)
{
    ck_assert(wait_until(rl_link_send(link_rig.link, "x", 1) != 1, 5000));
}

TEST(unix_peer, sending_to_peer_that_is_gone_raises_no_signal)
{
    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    peer_closes();
    send_until_nothing_is_taken();
    expect_end("closed by the server");
}

/* A master whose connections are used up says so, and closes. */
TEST(unix_peer, last_words_are_read_though_nothing_can_be_sent)
{
    char bytes[8];
    ck_assert(net_send(peer_fd, "-ERR\r\n", 6));
    peer_closes();
    send_until_nothing_is_taken();
    ck_assert(rig_read(&link_rig, bytes, 6));
    expect_end("closed by the server");
}

TEST(tcp_peer, reset_is_told)
{
    net_close(peer_fd, true);
    peer_fd = -1;
    expect_end(strerror(ECONNRESET));
}

CASE(unix_peer, PEER_CASE, .set_up = set_up_unix)
CASE(tcp_peer, PEER_CASE, .set_up = set_up_tcp, .again = "unix_peer")
