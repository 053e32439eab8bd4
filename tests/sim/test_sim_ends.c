/* test_sim_ends.c - what is left when a connection, a process, a master or a simulated world
 * ends. */
#include "config_auto.h"

#include "sim_net_rig.h"

#include "suite.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static void be_left(struct sim_proc *proc)
{
    char answer[8];
    (void)proc;
    int fd = call(0);
    struct sim_conn *conn = echo[0].conn;
    sim_conn_say(conn, "bye", 3);
    sim_conn_end(conn, false);
    ck_assert_uint_eq(hear(fd, answer, 8, SIM_S), 3);
    ck_assert_uint_eq(ready(fd), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
    ck_assert_int_eq(recv(fd, answer, 1, 0), 0);
    say(fd, "x", 1); /* is taken, and was in vain */
    let_pass(SIM_S);
    ck_assert_uint_eq(ready(fd) & (EPOLLERR | EPOLLHUP), EPOLLERR | EPOLLHUP);
    ck_assert_int_eq(take_error(fd), EPIPE);
    close(fd);
    fd = call(0);
    conn = echo[0].conn;
    sim_conn_say(conn, "bye", 3);
    sim_conn_end(conn, true);
    let_pass(SIM_S);
    ck_assert_int_eq(recv(fd, answer, 1, 0), -1);
    ck_assert_int_eq(errno, ECONNRESET);
    close(fd);
    let_pass(SIM_S);
    ck_assert_uint_eq(echo[0].len + echo[0].left, 0);
}

TEST(ends, bytes_sent_by_master_before_close_arrive)
{
    play(1, be_left);
}

static void leave(struct sim_proc *proc)
{
    int fd = call(0);
    say(fd, "abc", 3);
    shutdown(fd, SHUT_RDWR);
    ck_assert_uint_eq(ready(fd) & EPOLLHUP, EPOLLHUP);
    close(fd);
    let_pass(SIM_S);
    ck_assert_uint_eq(echo[0].len, 3); /* what the kernel had taken still arrives */
    ck_assert_uint_eq(echo[0].left, 1);
    /* In a hole, until it is lifted. */
    fd = call(0);
    sim_path_hole(proc, 0, SIM_THERE, true);
    say(fd, "def", 3);
    close(fd);
    let_pass(60 * SIM_S);
    ck_assert_uint_eq(echo[0].len, 3);
    sim_path_hole(proc, 0, SIM_THERE, false);
    let_pass(60 * SIM_S);
    ck_assert_uint_eq(echo[0].len, 6);
    ck_assert_uint_eq(echo[0].left, 2);
    /* An answer that was not read makes it a reset, of what a hole has as well. */
    fd = call(0);
    say(fd, "ghi", 3);
    let_pass(SIM_S);
    sim_path_hole(proc, 0, SIM_THERE, true);
    say(fd, "jkl", 3);
    let_pass(SIM_S);
    close(fd);
    let_pass(SIM_S);
    sim_path_hole(proc, 0, SIM_THERE, false);
    let_pass(100 * SIM_S);
    ck_assert_uint_eq(echo[0].len, 9);
    ck_assert_uint_eq(echo[0].left, 2);
    let_pass(1000 * SIM_S); /* and the master finds out by itself */
    ck_assert_uint_eq(echo[0].left, 3);
    /* Before it is connected. */
    fd = dial(0);
    close(fd);
    fd = dial(0);
    sim_path(proc, 0)->delay_low_ns[SIM_BACK] = sim_path(proc, 0)->delay_high_ns[SIM_BACK] =
        SIM_S;
    let_pass(SIM_S / 2);
    close(fd);
    let_pass(SIM_S);
    ck_assert_uint_eq(echo[0].sessions, 4);
    ck_assert_uint_eq(echo[0].left, 4);
}

TEST(ends, bytes_sent_by_client_before_close_arrive)
{
    play(1, leave);
}

static void *crash_later(void *proc)
{
    let_pass(SIM_S);
    sim_proc_crash(proc);
    return NULL;
}

static void die(struct sim_proc *proc)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(EPOLL_CLOEXEC), fd = call(0), unread = call(1);
    ck_assert_int_eq(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event), 0);
    echo[0].answers = false;
    say(unread, "abc", 3);
    let_pass(SIM_S);
    sim_path(proc, 0)->delay_low_ns[SIM_THERE] = sim_path(proc, 0)->delay_high_ns[SIM_THERE] =
        2 * SIM_S;
    say(fd, "abc", 3);
    sim_fiber_new(proc, crash_later, proc);
    ck_assert_int_eq(epoll_wait(set, &event, 1, -1), 1); /* a ghost goes on */
    ck_assert_uint_eq(event.events, EPOLLIN | EPOLLERR | EPOLLHUP);
    ck_assert_int_eq(send(fd, "x", 1, MSG_NOSIGNAL), -1);
    ck_assert_int_eq(errno, ECONNRESET);
    ck_assert_uint_eq(echo[0].len, 0);
    let_pass(3 * SIM_S);
    ck_assert_uint_eq(echo[0].len, 3); /* what its kernel had taken */
    ck_assert_uint_eq(echo[0].left, 1);
    ck_assert_uint_eq(echo[1].left, 1);
    close(fd);
    close(unread);
    close(set);
    ck_assert_uint_eq(sim_open_fds(proc), 0);
    let_pass(1000 * SIM_S);
    ck_assert_uint_eq(echo[0].left, 1);
}

TEST(ends, crash_closes_open_descriptors)
{
    play(1, die);
}

/* The world ends with connections of all kinds. */
static void leave_all_open(struct sim_proc *proc)
{
    call(0);
    epoll_create1(EPOLL_CLOEXEC);
    int fd = call(1);
    say(fd, "abc", 3);
    close(fd);
    call(2);
    sim_path_forget(proc, 2, SIM_NEVER);
    sim_path_hole(proc, 0, SIM_THERE, true);
    fd = call(1);
    sim_path_hole(proc, 1, SIM_BACK, true);
    say(fd, "abc", 3);
    dial(0);
}

TEST(ends, end_of_world_leaves_nothing_scheduled)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        play(seed, leave_all_open);
        for (unsigned i = 0; i < 3; i++)
            ck_assert_uint_eq(echo[i].left, echo[i].sessions);
    }
}
