/* test_sim_net.c - the simulated network: each fault has its effect, and no other. */
#include "config_auto.h"

#include "sim_net_rig.h"

#include "suite.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SEEDS = 100 };

static const unsigned over = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLHUP;

/* ---- bytes ---------------------------------------------------------------------------- */

static struct {
    size_t sends, short_writes, none_taken, recvs, short_reads;
} did;

static void send_some(int fd, const uint8_t *bytes, size_t len, size_t *sent)
{
    size_t part = 1 + (size_t)sim_below(300);
    if (part > len - *sent)
        part = len - *sent;
    ssize_t taken = send(fd, bytes + *sent, part, MSG_NOSIGNAL);
    did.sends++;
    if (taken < 0) {
        ck_assert_int_eq(errno, EAGAIN);
        did.none_taken++;
        return;
    }
    did.short_writes += (size_t)taken < part;
    *sent += (size_t)taken;
}

static void recv_some(int fd, uint8_t *bytes, size_t len, size_t *got)
{
    ssize_t part = recv(fd, bytes + *got, len - *got, 0);
    did.recvs++;
    ck_assert_int_gt(part, 0);
    *got += (size_t)part;
    did.short_reads += (wait_ready(fd, EPOLLIN, 0) & EPOLLIN) != 0;
}

static void talk(size_t len)
{
    static uint8_t bytes[20000], answer[20000];
    size_t sent = 0, got = 0;
    int fd = call(0);
    fill(bytes, len);
    while (got < len) {
        unsigned events = wait_ready(fd, EPOLLIN | (sent < len ? EPOLLOUT : 0u), 60000);
        ck_assert_uint_ne(events, 0);
        if (events & EPOLLOUT)
            send_some(fd, bytes, len, &sent);
        if (events & EPOLLIN)
            recv_some(fd, answer, len, &got);
        if (sim_below(4) == 0)
            let_pass(sim_between(1, SIM_MS));
    }
    ck_assert_uint_eq(echo[0].len, len);
    ck_assert_mem_eq(echo[0].heard, bytes, len);
    ck_assert_mem_eq(answer, bytes, len);
    ck_assert_int_eq(close(fd), 0);
}

static void talk_roughly(struct sim_proc *proc)
{
    struct sim_path *path = sim_path(proc, 0);
    for (unsigned way = 0; way < SIM_WAYS; way++) {
        path->delay_low_ns[way] = 0;
        path->delay_high_ns[way] = 5 * SIM_MS;
    }
    path->split_ppm = path->short_write_ppm = path->short_read_ppm = 300000;
    path->send_buffer = 2000;
    talk(20000);
}

TEST(bytes, bytes_arrive_in_order_however_rough_way)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        memset(&did, 0, sizeof(did));
        play(seed, talk_roughly);
        ck_assert_uint_gt(echo[0].pieces, 0);
        ck_assert_uint_gt(did.short_writes, 5);
        ck_assert_uint_gt(did.none_taken, 0);
        ck_assert_uint_gt(did.short_reads, 5);
    }
}

static void split_everything(struct sim_proc *proc)
{
    uint8_t bytes[500], answer[500];
    sim_path(proc, 0)->split_ppm = 1000000;
    sim_path(proc, 0)->delay_high_ns[SIM_THERE] = 10 * SIM_MS;
    int fd = call(0);
    fill(bytes, sizeof(bytes));
    say(fd, bytes, sizeof(bytes));
    ck_assert_uint_eq(hear(fd, answer, sizeof(answer), SIM_S), sizeof(answer));
    ck_assert_mem_eq(answer, bytes, sizeof(bytes));
    ck_assert_uint_gt(echo[0].pieces, 1);
    close(fd);
}

TEST(bytes, segment_that_is_split_arrives_in_pieces)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        play(seed, split_everything);
}

/* Each send is one piece, and takes as long as the path says: 1 ms there, 2 back. */
static void talk_evenly(struct sim_proc *proc)
{
    struct sim_path *path = sim_path(proc, 0);
    char answer[4];
    path->delay_low_ns[SIM_THERE] = path->delay_high_ns[SIM_THERE] = SIM_MS;
    path->delay_low_ns[SIM_BACK] = path->delay_high_ns[SIM_BACK] = 2 * SIM_MS;
    int fd = call(0);
    ck_assert_int_eq(sim_now_ns(), 3 * SIM_MS);
    for (unsigned i = 1; i <= 100; i++) {
        int64_t before_ns = sim_now_ns();
        say(fd, "1234", 4);
        ck_assert_uint_eq(hear(fd, answer, 4, SIM_S), 4);
        ck_assert_int_eq(sim_now_ns(), before_ns + 3 * SIM_MS);
        ck_assert_uint_eq(echo[0].pieces, i);
    }
    ck_assert_uint_eq(sim_path_felt(proc, 0)->sent, 2 + 200); /* two to connect */
    close(fd);
    let_pass(SIM_S);
    ck_assert_uint_eq(echo[0].left, 1);
}

TEST(bytes, way_without_faults_has_only_its_delay)
{
    play(1, talk_evenly);
}

static void fill_the_buffer(struct sim_proc *proc)
{
    static uint8_t bytes[5000];
    struct sim_path *path = sim_path(proc, 0);
    path->send_buffer = 3000;
    echo[0].answers = false;
    int fd = call(0);
    sim_path_hole(proc, 0, SIM_THERE, true);
    ck_assert_int_eq(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), 3000);
    ck_assert_int_eq(send_error(fd), EAGAIN);
    ck_assert_uint_eq(ready(fd), 0);
    ck_assert_uint_eq(sim_queued_bytes(proc), 3000);
    sim_path_hole(proc, 0, SIM_THERE, false);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 10000), EPOLLOUT);
    ck_assert_uint_eq(echo[0].len, 3000);
    ck_assert_uint_eq(sim_queued_bytes(proc), 0);
    /* A writer is called once a third is free. */
    ck_assert_int_eq(send(fd, bytes, 2000, MSG_NOSIGNAL), 2000);
    ck_assert_uint_eq(ready(fd), EPOLLOUT);
    ck_assert_int_eq(send(fd, bytes, 1, MSG_NOSIGNAL), 1);
    ck_assert_uint_eq(ready(fd), 0);
    close(fd);
}

TEST(bytes, full_buffer_takes_no_more_until_there_is_room)
{
    play(1, fill_the_buffer);
}

/* ---- ends ----------------------------------------------------------------------------- */

static void be_refused(struct sim_proc *proc)
{
    echo[0].listens = false;
    int fd = dial(0);
    ck_assert_uint_eq(ready(fd), 0);
    ck_assert_uint_eq(wait_ready(fd, EPOLLOUT, 1000), EPOLLOUT | EPOLLERR | EPOLLHUP);
    ck_assert_int_eq(take_error(fd), ECONNREFUSED);
    ck_assert_int_eq(take_error(fd), 0);
    ck_assert_uint_eq(ready(fd), over);
    ck_assert_uint_eq(echo[0].sessions, 0);
    ck_assert_uint_eq(sim_path_felt(proc, 0)->refused, 1);
    close(fd);
}

TEST(faults, master_that_does_not_listen_refuses)
{
    play(1, be_refused);
}

static void be_reset(struct sim_proc *proc)
{
    char answer[3];
    int fd = call(0), other = call(1);
    say(fd, "abc", 3);
    let_pass(SIM_S); /* the answer lies there */
    say(fd, "def", 3);
    sim_path_reset(proc, 0);
    ck_assert_uint_eq(echo[0].left, 1);
    ck_assert_uint_eq(ready(fd), over | EPOLLERR);
    ck_assert_uint_eq(hear(fd, answer, 3, SIM_S), 3);
    ck_assert_int_eq(recv_error(fd), ECONNRESET);
    ck_assert_int_eq(recv(fd, answer, 1, 0), 0);
    ck_assert_int_eq(send_error(fd), EPIPE);
    let_pass(SIM_S);
    ck_assert_uint_eq(echo[0].len, 3);
    ck_assert_uint_eq(ready(other), EPOLLOUT);
    ck_assert_uint_eq(sim_path_felt(proc, 0)->reset, 1);
    ck_assert_uint_eq(sim_path_felt(proc, 1)->reset, 0);
    close(fd);
    close(other);
}

TEST(faults, reset_loses_bytes_under_way)
{
    play(1, be_reset);
}

static void be_forgotten(struct sim_proc *proc)
{
    char answer[3];
    int fd = call(0);
    say(fd, "abc", 3);
    ck_assert_uint_eq(sim_path_open(proc, 0), 1);
    sim_path_forget(proc, 0, 2 * SIM_S);
    ck_assert_uint_eq(sim_path_open(proc, 0), 0);
    uint64_t lost = sim_path_felt(proc, 0)->lost;
    ck_assert_uint_eq(lost, 1); /* what was under way */
    ck_assert_uint_eq(hear(fd, answer, 3, SIM_S), 0);
    ck_assert_uint_eq(ready(fd), EPOLLOUT);
    int64_t begin_ns = sim_now_ns();
    say(fd, "def", 3);
    ck_assert_uint_eq(wait_ready(fd, EPOLLIN, 10000), EPOLLIN | EPOLLERR | EPOLLHUP);
    ck_assert_int_eq(sim_now_ns(), begin_ns + 2 * SIM_S);
    ck_assert_int_eq(recv_error(fd), ECONNRESET);
    ck_assert_uint_eq(echo[0].len + echo[0].left, 0);
    sim_conn_say(echo[0].conn, "!", 1);
    ck_assert_uint_eq(sim_path_felt(proc, 0)->lost, lost + 2);
    let_pass(3 * SIM_S);
    ck_assert_uint_eq(echo[0].left, 1);
    close(fd);
    /* New ones are not concerned. */
    fd = call(0);
    say(fd, "ghi", 3);
    ck_assert_uint_eq(hear(fd, answer, 3, SIM_S), 3);
    /* Nobody answers at all. */
    sim_path_forget(proc, 0, SIM_NEVER);
    begin_ns = sim_now_ns();
    say(fd, "jkl", 3);
    ck_assert_uint_ne(wait_ready(fd, EPOLLIN, 60000), 0);
    ck_assert_int_eq(sim_now_ns(), begin_ns + 30 * SIM_S);
    ck_assert_int_eq(take_error(fd), ETIMEDOUT);
    ck_assert_uint_eq(echo[0].len, 3);
    close(fd);
}

TEST(faults, forgotten_connection_delivers_nothing_more)
{
    play(1, be_forgotten);
}

/* ---- cuts ----------------------------------------------------------------------------- */

static enum sim_way way_tested;
static uint64_t cut_bytes;
static bool cut_resets;

static void be_cut(struct sim_proc *proc)
{
    uint8_t bytes[20], answer[20];
    int fd = call(0);
    fill(bytes, sizeof(bytes));
    sim_path_cut_after(proc, 0, way_tested, cut_bytes, cut_resets);
    for (unsigned i = 0; i < 4 && ready(fd) == EPOLLOUT; i++)
        say(fd, bytes + 5 * i, 5);
    size_t heard = hear(fd, answer, sizeof(answer), SIM_S);
    ck_assert_uint_eq(sim_path_felt(proc, 0)->cut, 1);
    ck_assert_mem_eq(answer, bytes, heard);
    ck_assert_mem_eq(echo[0].heard, bytes, echo[0].len);
    ck_assert_uint_eq(way_tested == SIM_THERE ? echo[0].len : heard, cut_bytes);
    ck_assert_uint_eq(echo[0].left, 1);
    if (cut_resets) {
        ck_assert_uint_eq(ready(fd) & EPOLLHUP, EPOLLHUP);
    } else {
        ck_assert_int_eq(recv(fd, answer, 1, 0), 0);
        ck_assert_uint_eq(ready(fd), EPOLLIN | EPOLLOUT | EPOLLRDHUP);
        /* Nobody has it any more at the other end. */
        say(fd, "x", 1);
        let_pass(SIM_S);
        ck_assert_int_eq(send_error(fd), EPIPE);
    }
    close(fd);
    fd = call(0); /* the next one is whole */
    say(fd, bytes, sizeof(bytes));
    ck_assert_uint_eq(hear(fd, answer, sizeof(answer), SIM_S), sizeof(answer));
    close(fd);
}

TEST(faults, cut_lets_exactly_so_many_bytes_through)
{
    for (unsigned i = 0; i < 4; i++) {
        way_tested = i & 1 ? SIM_THERE : SIM_BACK;
        cut_resets = i > 1;
        for (cut_bytes = 0; cut_bytes <= 20; cut_bytes++)
            play(cut_bytes, be_cut);
    }
}

/* ---- the same again ------------------------------------------------------------------- */

TEST(bytes, seed_is_history)
{
    uint64_t first = play(7, talk_roughly);
    ck_assert_uint_eq(play(7, talk_roughly), first);
    ck_assert_uint_ne(play(8, talk_roughly), first);
    play(9, be_forgotten);
    play(9, be_reset);
    ck_assert_uint_eq(play(7, talk_roughly), first);
}
