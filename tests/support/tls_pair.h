/* tls_pair.h - a client session of ours and a server's, in one thread, with a hand on every
 * byte that the server sends. */
#ifndef TEST_TLS_PAIR_H
#define TEST_TLS_PAIR_H

#include "suite.h"
#include "net/tls.h"
#include "tls_certs.h"

#include <stdbool.h>
#include <stddef.h>

/* A CA, a server "redis.example" under it, and the node that a client of it has. */
struct tls_world {
    char dir[SUITE_PATH_MAX];
    char ca_path[TLS_CERTS_PATH_MAX];
    struct rl_node_config node;
};

void tls_world_make(struct tls_world *world);

struct tls_pair {
    struct rl_node_config node;
    struct rl_tls_context *context;
    struct rl_tls *client;
    int client_fd; /* both do not block */
    int server_fd;
    SSL_CTX *server_context;
    SSL *server;
    size_t step; /* bytes passed on at a time; 0: all there are */
};

/* Over a unix socket pair. `server_context` is taken over; NULL: the test plays the server
 * with raw bytes on server_fd. */
void tls_pair_begin(struct tls_pair *pair, const struct rl_node_config *node,
                    SSL_CTX *server_context);
void tls_pair_end(struct tls_pair *pair);

/* In this world, up to this protocol, with the handshake over. */
void tls_pair_begin_shaken(struct tls_pair *pair, const struct tls_world *world, int protocol);

/* Pass on what each side has for the other, once: bytes moved. The first leaves the server's
 * session alone, the second lets it go on with its handshake. */
size_t tls_pair_carry(struct tls_pair *pair);
size_t tls_pair_move(struct tls_pair *pair);

/* Go on until the client's handshake is over, and both sides are at rest: how it ended. */
enum rl_tls_result tls_pair_shake(struct tls_pair *pair);

/* The server says something (all of it is on its way when this returns). */
void tls_pair_say(struct tls_pair *pair, const void *bytes, size_t len);

/* What the server has heard by now: bytes put into `ret_bytes`. */
size_t tls_pair_hear(struct tls_pair *pair, void *ret_bytes, size_t size);

/* Expectations of a test. The last: receiving and sending fail with this text, and move
 * nothing. */
void tls_pair_expect_heard(struct tls_pair *pair, const char *expected);
void tls_pair_expect_sent(struct tls_pair *pair, const char *text);
void tls_pair_expect_got(struct tls_pair *pair, const char *expected);
void tls_pair_expect_nothing(struct tls_pair *pair);
void tls_pair_expect_failed(struct tls_pair *pair, const char *text);

#endif
