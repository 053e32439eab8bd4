/* tls_pair.c - see tls_pair.h. The server's session works on memory; we carry the bytes. */
#include "config_auto.h"

#include "tls_pair.h"

#include "suite.h"

#include <errno.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void tls_world_make(struct tls_world *world)
{
    static const struct tls_cert ca = {.name = "ca", .ca = true};
    static const struct tls_cert named = {
        .name = "named", .issuer = "ca", .san = "DNS:redis.example"};
    suite_new_dir(world->dir);
    tls_certs_make(world->dir, &ca);
    tls_certs_make(world->dir, &named);
    tls_certs_path(world->ca_path, world->dir, "ca.crt");
    world->node = (struct rl_node_config){.transport = RL_TLS, .host = (char *)"redis.example"};
    world->node.ca_file = world->ca_path;
}

void tls_pair_begin(struct tls_pair *pair, const struct rl_node_config *node,
                    SSL_CTX *server_context)
{
    char why[256];
    int fds[2];
    memset(pair, 0, sizeof(*pair));
    pair->node = *node;
    pair->context = rl_tls_context_new(&pair->node, why, sizeof(why));
    if (!pair->context)
        suite_die("no context: %s", why);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
        suite_die("socketpair: %s", strerror(errno));
    pair->client_fd = fds[0];
    pair->server_fd = fds[1];
    pair->client = rl_tls_new(pair->context, &pair->node, pair->client_fd);
    if (!pair->client)
        suite_die("no session");
    pair->server_context = server_context;
    if (!server_context)
        return;
    pair->server = SSL_new(server_context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    if (!pair->server || !in || !out)
        suite_die("no server session");
    BIO_set_mem_eof_return(in, -1);
    BIO_set_mem_eof_return(out, -1);
    SSL_set_bio(pair->server, in, out);
    SSL_set_accept_state(pair->server);
}

void tls_pair_end(struct tls_pair *pair)
{
    rl_tls_free(pair->client);
    rl_tls_context_free(pair->context);
    SSL_free(pair->server);
    SSL_CTX_free(pair->server_context);
    if (pair->client_fd >= 0)
        close(pair->client_fd);
    if (pair->server_fd >= 0)
        close(pair->server_fd);
}

void tls_pair_begin_shaken(struct tls_pair *pair, const struct tls_world *world, int protocol)
{
    SSL_CTX *server = tls_certs_server(world->dir, "named", NULL);
    SSL_CTX_set_max_proto_version(server, protocol);
    tls_pair_begin(pair, &world->node, server);
    ck_assert_int_eq(tls_pair_shake(pair), RL_TLS_OK);
}

static size_t to_client(struct tls_pair *pair)
{
    char bytes[65536];
    char *waiting;
    size_t most = pair->step > 0 ? pair->step : sizeof(bytes);
    long len = BIO_get_mem_data(SSL_get_wbio(pair->server), &waiting);
    if (len <= 0)
        return 0;
    ssize_t sent = send(pair->server_fd, waiting, (size_t)len < most ? (size_t)len : most,
                        MSG_NOSIGNAL);
    if (sent <= 0)
        return 0;
    /* Now that it is known how many went, take them out. */
    return (size_t)BIO_read(SSL_get_wbio(pair->server), bytes, (int)sent);
}

static size_t to_server(struct tls_pair *pair)
{
    char bytes[65536];
    ssize_t got = recv(pair->server_fd, bytes, sizeof(bytes), 0);
    if (got <= 0)
        return 0;
    return (size_t)BIO_write(SSL_get_rbio(pair->server), bytes, (int)got);
}

size_t tls_pair_carry(struct tls_pair *pair)
{
    size_t moved = to_server(pair);
    return moved + to_client(pair);
}

size_t tls_pair_move(struct tls_pair *pair)
{
    size_t moved = to_server(pair);
    if (!SSL_is_init_finished(pair->server))
        SSL_do_handshake(pair->server);
    moved += to_client(pair);
    ERR_clear_error();
    return moved;
}

enum rl_tls_result tls_pair_shake(struct tls_pair *pair)
{
    enum rl_tls_result result = RL_TLS_WANT_READ;
    for (size_t moved = 1; moved > 0;) {
        if (result == RL_TLS_WANT_READ || result == RL_TLS_WANT_WRITE)
            result = rl_tls_handshake(pair->client);
        moved = tls_pair_move(pair);
    }
    return result;
}

void tls_pair_say(struct tls_pair *pair, const void *bytes, size_t len)
{
    if (SSL_write(pair->server, bytes, (int)len) != (int)len)
        suite_die("the server can't write");
    while (tls_pair_move(pair) > 0)
        continue;
}

size_t tls_pair_hear(struct tls_pair *pair, void *ret_bytes, size_t size)
{
    size_t total = 0, got = 0;
    tls_pair_move(pair);
    while (total < size &&
           SSL_read_ex(pair->server, (char *)ret_bytes + total, size - total, &got) == 1)
        total += got;
    ERR_clear_error();
    return total;
}

void tls_pair_expect_heard(struct tls_pair *pair, const char *expected)
{
    char heard[256] = "";
    size_t len = tls_pair_hear(pair, heard, sizeof(heard) - 1);
    heard[len] = '\0';
    ck_assert_str_eq(heard, expected);
}

void tls_pair_expect_sent(struct tls_pair *pair, const char *text)
{
    size_t sent;
    ck_assert_int_eq(rl_tls_send(pair->client, text, strlen(text), &sent), RL_TLS_OK);
    ck_assert_uint_eq(sent, strlen(text));
}

void tls_pair_expect_got(struct tls_pair *pair, const char *expected)
{
    char bytes[256];
    size_t got;
    ck_assert_int_eq(rl_tls_recv(pair->client, bytes, sizeof(bytes) - 1, &got), RL_TLS_OK);
    bytes[got] = '\0';
    ck_assert_str_eq(bytes, expected);
}

void tls_pair_expect_nothing(struct tls_pair *pair)
{
    char byte;
    size_t got = 1;
    ck_assert_int_eq(rl_tls_recv(pair->client, &byte, 1, &got), RL_TLS_WANT_READ);
    ck_assert_uint_eq(got, 0);
}

void tls_pair_expect_failed(struct tls_pair *pair, const char *text)
{
    char byte;
    size_t moved = 1;
    ck_assert_int_eq(rl_tls_recv(pair->client, &byte, 1, &moved), RL_TLS_FAILED);
    ck_assert_uint_eq(moved, 0);
    ck_assert_str_eq(rl_tls_text(pair->client), text);
    ck_assert_int_eq(rl_tls_send(pair->client, "x", 1, &moved), RL_TLS_FAILED);
    ck_assert_uint_eq(moved, 0);
    ck_assert_str_eq(rl_tls_text(pair->client), text);
    ck_assert_uint_eq(ERR_peek_error(), 0);
}
