/* test_tls_end.c - the ways in which TLS ends: a goodbye, none, a cut, a forgery, garbage in
 * the handshake, a peer that is gone; and what is said and sent then. */
#include "config_auto.h"

#include "alloc.h"
#include "net/tls_internal.h"
#include "tls_scene.h"

#include <errno.h>
#include <openssl/err.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void begin_raw(void)
{
    tls_pair_begin(&pair, &world.node, NULL);
}

TEST(tls_1_3, end_without_goodbye_is_end_after_last_byte)
{
    tls_pair_say(&pair, "+OK\r\n", 5);
    close(pair.server_fd);
    pair.server_fd = -1;
    tls_pair_expect_got(&pair, "+OK\r\n");
    tls_pair_expect_failed(&pair, "closed by the server");
}

TEST(tls_1_3, end_with_goodbye_is_end_after_last_byte)
{
    tls_pair_say(&pair, "+OK\r\n", 5);
    SSL_shutdown(pair.server);
    tls_pair_move(&pair);
    tls_pair_expect_got(&pair, "+OK\r\n");
    tls_pair_expect_failed(&pair, "closed by the server");
}

TEST(tls_1_3, record_that_is_cut_gives_no_byte)
{
    char *waiting;
    ck_assert_int_eq(SSL_write(pair.server, "+OK\r\n", 5), 5);
    long len = BIO_get_mem_data(SSL_get_wbio(pair.server), &waiting);
    ck_assert_int_eq(send(pair.server_fd, waiting, (size_t)len - 1, MSG_NOSIGNAL), len - 1);
    close(pair.server_fd);
    pair.server_fd = -1;
    tls_pair_expect_failed(&pair, "closed by the server");
}

TEST(tls_1_3, record_that_is_forged_gives_no_byte)
{
    char *waiting;
    ck_assert_int_eq(SSL_write(pair.server, "+OK\r\n", 5), 5);
    long len = BIO_get_mem_data(SSL_get_wbio(pair.server), &waiting);
    waiting[len - 3] ^= 1;
    tls_pair_move(&pair);
    tls_pair_expect_failed(&pair, "TLS: decryption failed or bad record mac");
}

TEST(tls_1_3, sending_to_peer_that_is_gone_raises_no_signal)
{
    size_t sent;
    enum rl_tls_result result = RL_TLS_OK;
    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    close(pair.server_fd);
    pair.server_fd = -1;
    for (int i = 0; i < 10 && result == RL_TLS_OK; i++)
        result = rl_tls_send(pair.client, "x", 1, &sent);
    ck_assert_int_eq(result, RL_TLS_FAILED);
    ck_assert_str_eq(rl_tls_text(pair.client), strerror(EPIPE));
}

TEST(tls_1_3, saying_goodbye_to_peer_that_is_gone_raises_no_signal)
{
    ck_assert(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    close(pair.server_fd);
    pair.server_fd = -1;
    rl_tls_free(pair.client);
    pair.client = NULL;
}

static bool something_came(void)
{
    struct pollfd ready = {.fd = pair.server_fd, .events = POLLIN};
    return poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0;
}

TEST(tls_1_3, freeing_says_goodbye)
{
    char byte;
    size_t got;
    rl_tls_free(pair.client);
    pair.client = NULL;
    tls_pair_move(&pair);
    ck_assert_int_eq(SSL_read_ex(pair.server, &byte, 1, &got), 0);
    ck_assert_int_eq(SSL_get_shutdown(pair.server) & SSL_RECEIVED_SHUTDOWN,
                     SSL_RECEIVED_SHUTDOWN);
    ERR_clear_error();
}

TEST(tls_1_3, freeing_quietly_sends_nothing)
{
    rl_tls_free_quietly(pair.client);
    rl_tls_free_quietly(NULL);
    rl_tls_free(NULL);
    pair.client = NULL;
    ck_assert(!something_came());
}

static int free_while_inside(void)
{
    struct rl_tls *tls = pair.client;
    tls->inside = true;
    rl_tls_free_quietly(tls);
    return tls->rules == pair.context->rules && SSL_is_init_finished(tls->ssl) ? 0 : 1;
}

/* Another thread was at work on it when the process forked: nobody may walk through that. */
TEST(tls_1_3, child_gives_up_session_that_was_being_worked_on)
{
    int status;
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        alarm(5);
        _exit(free_while_inside());
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    tls_pair_expect_sent(&pair, "PING\r\n");
    tls_pair_expect_heard(&pair, "PING\r\n");
}

TEST(tls_1_3, context_may_be_freed_before_its_sessions)
{
    rl_tls_context_free(pair.context);
    pair.context = NULL;
    tls_pair_expect_sent(&pair, "PING\r\n");
    tls_pair_expect_heard(&pair, "PING\r\n");
}

TEST(tls_1_3, sessions_and_contexts_free_their_memory)
{
    enum { SESSIONS = 8 };
    long before = 0;
    if (!alloc_works())
        return;
    for (int i = 0; i < 2 * SESSIONS; i++) {
        if (i == SESSIONS)
            before = alloc_live(); /* OpenSSL has by now what it keeps for later */
        tls_pair_end(&pair);
        begin_1_3();
    }
    ck_assert_int_lt(alloc_live() - before, SESSIONS);
}

TEST(tls_1_2, renegotiation_is_refused)
{
    char byte;
    ck_assert_int_eq(SSL_renegotiate(pair.server), 1);
    ck_assert_int_eq(SSL_do_handshake(pair.server), 1); /* the wish is on its way */
    ck_assert_uint_gt(tls_pair_carry(&pair), 0);
    tls_pair_expect_nothing(&pair);
    ck_assert_uint_gt(tls_pair_carry(&pair), 0);
    ck_assert_int_eq(SSL_read(pair.server, &byte, 1), -1);
    ck_assert_int_eq(ERR_GET_REASON(ERR_peek_error()), SSL_R_NO_RENEGOTIATION);
    ERR_clear_error();
}

static void expect_handshake_failed(const char *text)
{
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_FAILED);
    ck_assert_str_eq(rl_tls_text(pair.client), text);
    ck_assert_uint_eq(ERR_peek_error(), 0);
}

TEST(handshake, server_may_hang_up_in_handshake)
{
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_WANT_READ);
    ck_assert(something_came());
    shutdown(pair.server_fd, SHUT_RDWR);
    expect_handshake_failed("closed by the server in the TLS handshake");
}

TEST(handshake, server_that_speaks_something_else_is_told_so, .rows = 3)
{
    static const char *const words[] = {
        "-ERR max number of clients reached\r\n",
        "+PONG\r\n",
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
    };
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_WANT_READ);
    const char *said = words[_i];
    ck_assert_int_eq(send(pair.server_fd, said, strlen(said), 0), (ssize_t)strlen(said));
    expect_handshake_failed("the server does not speak TLS");
}

TEST(handshake, every_kind_of_garbage_fails_handshake, .rows = 100)
{
    unsigned char bytes[600];
    unsigned state = (unsigned)_i * 2654435761U + 1;
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_WANT_READ);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        state = state * 1103515245U + 12345U;
        bytes[i] = (unsigned char)(state >> 16);
    }
    if (_i % 2) /* something that begins as a record does */
        memcpy(bytes, (unsigned char[]){22, 3, 3, 1, 0}, 5);
    ck_assert_int_eq(send(pair.server_fd, bytes, sizeof(bytes), 0), sizeof(bytes));
    shutdown(pair.server_fd, SHUT_WR);
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_FAILED);
    ck_assert_str_ne(rl_tls_text(pair.client), "");
}

TEST(handshake, reset_in_handshake_is_told)
{
    ck_assert_int_eq(rl_tls_handshake(pair.client), RL_TLS_WANT_READ);
    close(pair.server_fd); /* with the greeting unread */
    pair.server_fd = -1;
    expect_handshake_failed(strerror(ECONNRESET));
}

CASE(tls_1_3, TLS_CASE, .set_up = begin_1_3)
CASE(tls_1_2, TLS_CASE, .set_up = begin_1_2, .again = "tls_1_3")
CASE(handshake, TLS_CASE, .set_up = begin_raw)

int main(void)
{
    tls_certs_lax_policy();
    return suite_main();
}
