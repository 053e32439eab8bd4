/* tags: valgrind */
/* test_link_tls.c - TLS under a link: a real redis-server, servers that are silent or speak
 * something else, blocking, and fork(). */
#include "config_auto.h"

#include "base/clock.h"
#include "base/limits.h"
#include "fake_dns.h"
#include "loopback.h"
#include "masters.h"
#include "rig.h"
#include "suite.h"
#include "tls_certs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 5000 };

static char dir[SUITE_PATH_MAX];
static char ca[TLS_CERTS_PATH_MAX], other_ca[TLS_CERTS_PATH_MAX];
static char own_crt[TLS_CERTS_PATH_MAX], own_key[TLS_CERTS_PATH_MAX];
static char server_crt[TLS_CERTS_PATH_MAX], server_key[TLS_CERTS_PATH_MAX];
static struct masters *masters;
static int port;
static struct rig rig;

static void make_certificates(void)
{
    static const struct tls_cert certs[] = {
        {.name = "ca", .ca = true},
        {.name = "other-ca", .ca = true},
        {.name = "server", .issuer = "ca", .san = "DNS:localhost,IP:127.0.0.1"},
        {.name = "own", .issuer = "ca"},
    };
    suite_new_dir(dir);
    for (size_t i = 0; i < sizeof(certs) / sizeof(*certs); i++)
        tls_certs_make(dir, &certs[i]);
    tls_certs_path(ca, dir, "ca.crt");
    tls_certs_path(other_ca, dir, "other-ca.crt");
    tls_certs_path(own_crt, dir, "own.crt");
    tls_certs_path(own_key, dir, "own.key");
    tls_certs_path(server_crt, dir, "server.crt");
    tls_certs_path(server_key, dir, "server.key");
}

/* A master with a TLS port that wants certificates of its clients. */
static void start_master(void)
{
    static char port_text[8];
    static const char *const extra[] = {
        "--tls-port",     port_text,       "--tls-cert-file",    server_crt,
        "--tls-key-file", server_key,      "--tls-ca-cert-file", ca,
        "--tls-auth-clients", "yes", NULL,
    };
    port = net_free_port();
    snprintf(port_text, sizeof(port_text), "%d", port);
    masters = masters_start(1, extra);
}

static void start_world(void)
{
    make_certificates();
    start_master();
}

static void stop_master(void)
{
    masters_stop(masters);
}

static void set_up(void)
{
    fake_dns_answer("127.0.0.1"); /* localhost */
    rig_begin_tls(&rig, "localhost", port, ca, own_crt, own_key);
}

static void tear_down(void)
{
    rig_end(&rig);
}

static void expect_answer(const char *request, const char *reply)
{
    char bytes[64] = "";
    ck_assert_uint_lt(strlen(reply), sizeof(bytes));
    ck_assert_int_eq(rl_link_send(rig.link, request, strlen(request)),
                     (ssize_t)strlen(request));
    ck_assert(rig_read(&rig, bytes, strlen(reply)));
    ck_assert_str_eq(bytes, reply);
}

TEST(master, real_server_is_spoken_to)
{
    rig_expect_open(&rig);
    for (int i = 0; i < 100; i++)
        expect_answer("PING\r\n", "+PONG\r\n");
    rl_link_close(rig.link);
    rig_expect_open(&rig);
    expect_answer("PING\r\n", "+PONG\r\n");
}

/* The socket is empty then, and no epoll set would tell of them by itself. */
TEST(master, bytes_read_by_tls_are_told_of_until_received)
{
    char bytes[64] = "";
    ssize_t got;
    rig_expect_open(&rig);
    ck_assert_int_eq(rl_link_send(rig.link, "PING\r\nPING\r\nPING\r\n", 18), 18);
    for (ssize_t total = 0; total < 21; total += got) {
        ck_assert(rig_turn(&rig, LIMIT_MS));
        ck_assert_uint_ne(rig.last & ~(unsigned)EPOLLOUT, 0); /* it is no word of sending */
        got = rl_link_recv(rig.link, bytes + total, 3);
        ck_assert_int_ge(got, 0);
    }
    ck_assert_str_eq(bytes, "+PONG\r\n+PONG\r\n+PONG\r\n");
    ck_assert_int_eq(rl_link_recv(rig.link, bytes, 3), 0);
    ck_assert(!rig_turn(&rig, 0));
}

TEST(master, address_is_verified_as_well)
{
    rig_end(&rig);
    rig_begin_tls(&rig, "127.0.0.1", port, ca, own_crt, own_key);
    rig_expect_open(&rig);
    expect_answer("PING\r\n", "+PONG\r\n");
}

TEST(master, refused_certificate_is_told_with_address)
{
    char start[64];
    rig_end(&rig);
    rig_begin_tls(&rig, "127.0.0.1", port, other_ca, own_crt, own_key);
    rig_open(&rig, LIMIT_MS);
    ck_assert_int_eq(rig_settle(&rig, LIMIT_MS), RL_LINK_FAILED);
    int len = snprintf(start, sizeof(start), "127.0.0.1:%d: certificate refused: ", port);
    ck_assert_msg(strncmp(rl_link_text(rig.link), start, (size_t)len) == 0, "%s",
                  rl_link_text(rig.link));
}

TEST(master, missing_client_certificate_is_told)
{
    char byte;
    rig_end(&rig);
    rig_begin_tls(&rig, "127.0.0.1", port, ca, NULL, NULL);
    rig_open(&rig, LIMIT_MS);
    /* TLS 1.3: our own handshake is over before the server has looked. */
    if (rig_settle(&rig, LIMIT_MS) == RL_LINK_OPEN)
        ck_assert(!rig_read(&rig, &byte, 1));
    ck_assert_int_eq(rl_link_state(rig.link), RL_LINK_FAILED);
    ck_assert_msg(strstr(rl_link_text(rig.link), "refused by the server"), "%s",
                  rl_link_text(rig.link));
}

/* The server takes our greeting for the beginning of a line, and waits for the rest. */
/* The server has hung up by then, and the connection is found reset by what is sent. */
TEST(master, reason_is_told_where_sending_finds_the_end)
{
    rig_end(&rig);
    rig_begin_tls(&rig, "localhost", port, ca, NULL, NULL);
    rig_expect_open(&rig);
    for (int i = 0; i < 100 && rl_link_state(rig.link) == RL_LINK_OPEN; i++) {
        pause_ms(20);
        (void)rl_link_send(rig.link, "PING\r\n", 6);
    }
    ck_assert_int_eq(rl_link_state(rig.link), RL_LINK_FAILED);
    ck_assert_msg(strstr(rl_link_text(rig.link), "certificate required"), "%s",
                  rl_link_text(rig.link));
}

TEST(master, plain_port_does_not_speak_tls)
{
    char expected[64];
    rig_end(&rig);
    rig_begin_tls(&rig, "127.0.0.1", masters->node[0].tcp_at.port, ca, NULL, NULL);
    snprintf(expected, sizeof(expected), "127.0.0.1:%d: timed out in the TLS handshake",
             rig.node.port);
    rig_open(&rig, 200);
    rig_expect_failed(&rig, expected);
}

TEST(master, server_that_is_killed_is_noticed)
{
    char byte;
    struct masters *of_all = masters;
    start_master(); /* one to kill */
    rig_end(&rig);
    set_up();
    rig_expect_open(&rig);
    master_kill(masters, 0);
    ck_assert(!rig_read(&rig, &byte, 1));
    ck_assert_int_eq(rl_link_state(rig.link), RL_LINK_FAILED);
    ck_assert_msg(strstr(rl_link_text(rig.link), "closed by the server") ||
                      strstr(rl_link_text(rig.link), strerror(ECONNRESET)),
                  "%s", rl_link_text(rig.link));
    stop_master();
    masters = of_all;
}

/* A megabyte and more each way: records are cut, held and flushed. */
TEST(master, long_requests_and_replies_pass_whole)
{
    enum { SIZE = 2 * 1024 * 1024, ROUNDS = 8 };
    char *request = malloc(SIZE + 64), *reply = malloc(SIZE + 64), head[32];
    for (int round = 0; round < ROUNDS; round++) {
        rig_open(&rig, LIMIT_MS);
        ck_assert_int_eq(rig_settle(&rig, LIMIT_MS), RL_LINK_OPEN);
        size_t len = (size_t)snprintf(request, 64, "*2\r\n$4\r\nECHO\r\n$%d\r\n", SIZE);
        for (int i = 0; i < SIZE; i++)
            request[len++] = (char)('a' + (i * 7 + i / 251 + round) % 26);
        memcpy(request + len, "\r\n", 2);
        len += 2;
        for (size_t sent = 0; sent < len;) {
            if (!rl_link_blocked(rig.link)) {
                ssize_t taken = rl_link_send(rig.link, request + sent, len - sent);
                ck_assert_int_ge(taken, 0);
                sent += (size_t)taken;
            } else {
                ck_assert(rig_turn(&rig, LIMIT_MS));
            }
        }
        size_t head_len = (size_t)snprintf(head, sizeof(head), "$%d\r\n", SIZE);
        ck_assert(rig_read(&rig, reply, head_len + SIZE + 2));
        ck_assert_int_eq(memcmp(reply, head, head_len), 0);
        ck_assert_int_eq(memcmp(reply + head_len, request + len - SIZE - 2, SIZE), 0);
        rl_link_close(rig.link);
    }
    free(request);
    free(reply);
}

TEST(master, child_that_frees_its_copy_disturbs_nobody)
{
    int status;
    rig_expect_open(&rig);
    expect_answer("PING\r\n", "+PONG\r\n");
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(5);
        unsigned before = rig_descriptors();
        rl_link_free_in_child(rig.link);
        rl_tls_context_free(rig.tls);
        _exit(rig_descriptors() == before - 1 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    /* A byte of the child's would have broken the session. */
    for (int i = 0; i < 10; i++)
        expect_answer("PING\r\n", "+PONG\r\n");
}

/* ---- servers that are no servers ------------------------------------------------------- */

static int listener;

static void set_up_listener(void)
{
    struct endpoint at = {.port = 0};
    listener = net_listen(&at, 16);
    port = at.port;
    rig_begin_tls(&rig, "127.0.0.1", port, ca, NULL, NULL);
}

static void tear_down_listener(void)
{
    rig_end(&rig);
    close(listener);
}

TEST(handshake, silence_in_handshake_costs_budget)
{
    char expected[128];
    int64_t begun = now_ms();
    rig_open(&rig, 100);
    rig_expect_failed(&rig, (snprintf(expected, sizeof(expected),
                                      "127.0.0.1:%d: timed out in the TLS handshake", port),
                             expected));
    ck_assert_int_ge(now_ms() - begun, 99);
    ck_assert_uint_le(rig.events, 3); /* it waited, and did not spin */
}

static bool is_securing_at(const char *address)
{
    return rl_link_state(rig.link) == RL_LINK_SECURING &&
           strcmp(rig.link->where, loopback_text(address, port)) == 0;
}

/* Each of them accepts, and says nothing then. */
TEST(handshake, silence_in_handshake_costs_share_of_address)
{
    enum { BUDGET_MS = 4000 };
    loopback_listen("127.0.0.2", port, 8);
    loopback_listen("127.0.0.3", port, 8);
    rig_end(&rig);
    rig_begin_tls(&rig, "redis.example", port, ca, NULL, NULL);
    fake_dns_answer("127.0.0.2 127.0.0.3");
    int64_t now_ns = rl_clock_now_ns(), half_ns = now_ns + BUDGET_MS / 2 * RL_NS_PER_MS;
    rl_link_open(rig.link, now_ns, now_ns + BUDGET_MS * RL_NS_PER_MS);
    ck_assert(wait_until((rig_turn(&rig, 10), is_securing_at("127.0.0.2:%d")), BUDGET_MS));
    int64_t due_ns = rl_link_due_ns(rig.link);
    ck_assert_int_ge(due_ns, half_ns);
    ck_assert_int_lt(due_ns, now_ns + BUDGET_MS * RL_NS_PER_MS);
    rl_link_step(rig.link, 0, due_ns - 1);
    ck_assert(is_securing_at("127.0.0.2:%d"));
    rl_link_step(rig.link, 0, due_ns);
    ck_assert(wait_until((rig_turn(&rig, 10), is_securing_at("127.0.0.3:%d")), BUDGET_MS));
}

TEST(handshake, hang_up_in_handshake_is_told)
{
    char expected[128], bytes[4096];
    rig_open(&rig, LIMIT_MS);
    while (rl_link_state(rig.link) != RL_LINK_SECURING)
        rig_turn(&rig, LIMIT_MS);
    int peer = accept(listener, NULL, NULL);
    ck_assert_int_gt(read(peer, bytes, sizeof(bytes)), 0);
    close(peer);
    snprintf(expected, sizeof(expected),
             "127.0.0.1:%d: closed by the server in the TLS handshake", port);
    rig_expect_failed(&rig, expected);
}

TEST(handshake, answer_that_is_not_tls_is_told)
{
    char expected[128];
    rig_open(&rig, LIMIT_MS);
    while (rl_link_state(rig.link) != RL_LINK_SECURING)
        rig_turn(&rig, LIMIT_MS);
    int peer = accept(listener, NULL, NULL);
    ck_assert(net_send(peer, "-ERR max number of clients reached\r\n", 36));
    snprintf(expected, sizeof(expected), "127.0.0.1:%d: the server does not speak TLS", port);
    rig_expect_failed(&rig, expected);
    close(peer);
}

TEST(handshake, link_may_be_freed_in_handshake)
{
    unsigned before = rig_descriptors();
    for (int i = 0; i < 3; i++) {
        rig_open(&rig, LIMIT_MS);
        while (rl_link_state(rig.link) != RL_LINK_SECURING)
            rig_turn(&rig, LIMIT_MS);
        rl_link_close(rig.link);
        ck_assert_uint_eq(rig_descriptors(), before);
    }
    rig_open(&rig, LIMIT_MS);
    while (rl_link_state(rig.link) != RL_LINK_SECURING)
        rig_turn(&rig, LIMIT_MS);
}

CASE(master, .timeout_s = 60, .set_up_once = start_world, .tear_down_once = stop_master,
     .set_up = set_up, .tear_down = tear_down)
CASE(handshake, .timeout_s = 30, .set_up_once = make_certificates, .set_up = set_up_listener,
     .tear_down = tear_down_listener)
