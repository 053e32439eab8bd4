/* tls.h - OpenSSL behind link.c: contexts and sessions that never raise SIGPIPE, verify the
 * chain and the host name or address, and take TLS 1.2 or later. */
#ifndef RL_TLS_H
#define RL_TLS_H

#include "config/config.h"

#include <stdbool.h>
#include <sys/types.h>

struct rl_tls_context;
struct rl_tls;

/* Certificates are read here. NULL with `why` filled in (names the file). */
struct rl_tls_context *rl_tls_context_new(const struct rl_node_config *node, char *why,
                                          size_t why_size);
void rl_tls_context_free(struct rl_tls_context *context);

/* Before a connection is made: read those files again that have changed. False where they are
 * of no use, with `why` filled in, once for each change; what was read before stays in use. */
bool rl_tls_context_renew(struct rl_tls_context *context, const struct rl_node_config *node,
                          char *why, size_t why_size);

/* A client session over the connected, non-blocking `fd`. NULL: out of memory. */
struct rl_tls *rl_tls_new(struct rl_tls_context *context, const struct rl_node_config *node,
                          int fd);
void rl_tls_free(struct rl_tls *tls); /* sends close_notify where it can, waits for nothing */
void rl_tls_free_quietly(struct rl_tls *tls); /* sends nothing (after fork) */

enum rl_tls_result { RL_TLS_OK, RL_TLS_WANT_READ, RL_TLS_WANT_WRITE, RL_TLS_FAILED };

enum rl_tls_result rl_tls_handshake(struct rl_tls *tls);

/* Bytes that were taken are taken, also with WANT_WRITE, which says that some of them are
 * still on their way: call again, with none if there are none, when it can be written.
 * Nothing is taken while earlier ones are on their way. */
enum rl_tls_result rl_tls_send(struct rl_tls *tls, const void *bytes, size_t len,
                               size_t *ret_sent);

/* Fewer than `len` bytes with OK: there is nothing more for now but in the socket. */
enum rl_tls_result rl_tls_recv(struct rl_tls *tls, void *bytes, size_t len, size_t *ret_got);

/* True where bytes that have left the socket wait in here to be received. */
bool rl_tls_holds_more(const struct rl_tls *tls);

const char *rl_tls_text(const struct rl_tls *tls); /* why it FAILED */

#endif
