/* tls.h - OpenSSL behind link.c. Contexts and sessions never raise SIGPIPE, verify the chain
 * and the host name or address, and take TLS 1.2 or later. */
#ifndef RL_TLS_H
#define RL_TLS_H

#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rl_tls_context;
struct rl_tls;

/* Reads the TLS certificates. NULL with `why` filled in (names the file). */
struct rl_tls_context *rl_tls_context_new(const struct rl_node_config *node, char *why,
                                          size_t why_size);
void rl_tls_context_free(struct rl_tls_context *context);

/* Call it before each connect: it reads the files that have changed. False if they are of no
 * use, with `why` filled in, once for each change. The earlier ones then stay in use. */
bool rl_tls_context_renew(struct rl_tls_context *context, const struct rl_node_config *node,
                          char *why, size_t why_size);

/* A client session over the connected, non-blocking `fd`. NULL: out of memory. */
struct rl_tls *rl_tls_new(struct rl_tls_context *context, const struct rl_node_config *node,
                          int fd);
void rl_tls_free(struct rl_tls *tls);         /* sends close_notify if it can, does not wait */
void rl_tls_free_quietly(struct rl_tls *tls); /* sends nothing (after fork) */

enum rl_tls_result { RL_TLS_OK, RL_TLS_WANT_READ, RL_TLS_WANT_WRITE, RL_TLS_FAILED };

enum rl_tls_result rl_tls_handshake(struct rl_tls *tls);

/* Bytes that were taken count as sent. WANT_WRITE says that some of them wait here for the
 * socket: call again once it is writable, with no bytes if there are none. Until they are sent
 * no further bytes are taken. */
enum rl_tls_result rl_tls_send(struct rl_tls *tls, const void *bytes, size_t len,
                               size_t *ret_sent);

/* OK with fewer than `len` bytes: no more bytes wait in the session, but the socket may have
 * some. */
enum rl_tls_result rl_tls_recv(struct rl_tls *tls, void *bytes, size_t len, size_t *ret_got);

/* True if bytes that have left the socket wait here to be received. */
bool rl_tls_holds_more(const struct rl_tls *tls);

/* For so long all certificates from the peer's to the one that is trusted are good, by this
 * machine's time of day. -1: not known. */
int64_t rl_tls_left_s(const struct rl_tls *tls);

const char *rl_tls_text(const struct rl_tls *tls); /* why it FAILED */

#endif
