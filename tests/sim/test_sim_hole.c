/* test_sim_hole.c - holes of the simulated network: they delay and lose nothing, unless
 * somebody gives up.
 */
#include "config_auto.h"

#include "sim_net_rig.h"

#include "suite.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEEDS = 100 };

static enum sim_way way_tested;

static void fall_into_a_hole(struct sim_proc *proc)
{
    char answer[6];
    int fd = call(0);
    int idle = call(1);
    say(fd, "abc", 3);
    sim_path_hole(proc, 0, way_tested, true);
    say(fd, "def", 3);
    let_pass(5 * SIM_S);
    ck_assert_uint_eq(echo[0].len, way_tested == SIM_THERE ? 0 : 6);
    ck_assert_uint_eq(ready(fd), EPOLLOUT);
    ck_assert_uint_gt(sim_path_felt(proc, 0)->held[way_tested], 0);
    ck_assert_uint_eq(sim_path_felt(proc, 0)->held[SIM_WAYS - 1 - way_tested], 0);
    /* Elsewhere all goes on. */
    say(idle, "abc", 3);
    ck_assert_uint_eq(hear(idle, answer, 3, SIM_S), 3);
    ck_assert_uint_eq(sim_path_felt(proc, 1)->held[way_tested], 0);
    sim_path_hole(proc, 0, way_tested, false);
    ck_assert_uint_eq(hear(fd, answer, 6, 10 * SIM_S), 6);
    ck_assert_mem_eq(answer, "abcdef", 6);
    ck_assert_uint_eq(echo[0].len, 6);
    ck_assert_uint_eq(sim_queued_bytes(proc), 0);
    ck_assert_int_eq(take_error(fd), 0);
    close(fd);
    close(idle);
}

TEST(holes, hole_delays_and_loses_nothing)
{
    for (way_tested = SIM_THERE; way_tested < SIM_WAYS; way_tested++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            play(seed, fall_into_a_hole);
    }
}

static void connect_through_a_hole(struct sim_proc *proc)
{
    sim_path_hole(proc, 0, way_tested, true);
    int fd = dial(0);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 10000), 0);
    ck_assert_uint_eq(echo[0].sessions, way_tested == SIM_THERE ? 0 : 1);
    sim_path_hole(proc, 0, way_tested, false);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 10000), EPOLLOUT);
    ck_assert_int_eq(take_error(fd), 0);
    ck_assert_uint_eq(echo[0].sessions, 1);
    close(fd);
    let_pass(SIM_S);
    ck_assert_uint_eq(echo[0].left, 1);
    /* A refusal is not lost for ever either: who connects asks again. */
    echo[0].listens = false;
    sim_path_hole(proc, 0, way_tested, true);
    fd = dial(0);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 10000), 0);
    sim_path_hole(proc, 0, way_tested, false);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 10000), EPOLLOUT | EPOLLERR | EPOLLHUP);
    ck_assert_int_eq(take_error(fd), ECONNREFUSED);
    close(fd);
}

TEST(holes, connecting_hangs_while_there_is_hole)
{
    for (way_tested = SIM_THERE; way_tested < SIM_WAYS; way_tested++)
        play(1, connect_through_a_hole);
}

static void time_out(struct sim_proc *proc)
{
    int fd = call(0), idle = call(0);
    let_pass(100 * SIM_S);
    say(fd, "abc", 3);
    sim_path_hole(proc, 0, way_tested, true);
    int64_t begin_ns = sim_now_ns();
    ck_assert_uint_eq(wait_ready(idle, EPOLLIN, 15000), 0);
    ck_assert_uint_eq(wait_ready(fd, EPOLLIN, 60000), EPOLLIN | EPOLLERR | EPOLLHUP);
    ck_assert_int_eq(sim_now_ns(), begin_ns + 30 * SIM_S);
    ck_assert_int_eq(send_error(fd), ETIMEDOUT);
    ck_assert_int_eq(send_error(fd), EPIPE);
    /* Where nothing is sent, probes find out, once they had no answer for as long. */
    ck_assert_uint_ne(wait_ready(idle, EPOLLIN, 60000), 0);
    ck_assert_int_le(sim_now_ns(), begin_ns + 35 * SIM_S);
    ck_assert_int_eq(recv_error(idle), ETIMEDOUT);
    close(fd);
    close(idle);
    /* What the master has to say finds nobody. */
    ck_assert_uint_eq(echo[0].left, 0);
    if (way_tested == SIM_THERE)
        sim_conn_say(echo[0].conn, "!", 1);
    sim_path_hole(proc, 0, way_tested, false);
    let_pass(60 * SIM_S);
    ck_assert_uint_eq(echo[0].left, 1);
    let_pass(1000 * SIM_S);
    ck_assert_uint_eq(echo[0].left, 2);
}

TEST(holes, silence_ends_with_user_timeout)
{
    for (way_tested = SIM_THERE; way_tested < SIM_WAYS; way_tested++)
        play(1, time_out);
}

static bool relayed;

static void take_it_back(struct sim_proc *proc)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    char answer[3];
    sim_path(proc, 0)->relay = relayed;
    int fd = call(0);
    say(fd, "abc", 3);
    ck_assert_uint_eq(hear(fd, answer, 3, SIM_S), 3);
    sim_path_hole(proc, 0, SIM_THERE, true);
    say(fd, "def", 3);
    let_pass(SIM_S);
    say(fd, "ghi", 3); /* it is held, too, by what lies before it */
    ck_assert_uint_eq(sim_path_felt(proc, 0)->held[SIM_THERE], 2);
    ck_assert_int_eq(connect(fd, &nowhere, sizeof(nowhere)), 0);
    ck_assert_int_eq(shutdown(fd, SHUT_RDWR), relayed ? 0 : -1);
    close(fd);
    sim_path_hole(proc, 0, SIM_THERE, false);
    let_pass(60 * SIM_S);
    ck_assert_uint_eq(echo[0].len, relayed ? 9U : 3U);
    let_pass(1000 * SIM_S);
    ck_assert_uint_eq(echo[0].left, 1);
}

TEST(holes, aborted_bytes_do_not_arrive_unless_relay_has_them)
{
    relayed = false;
    play(1, take_it_back);
    relayed = true;
    play(1, take_it_back);
}
