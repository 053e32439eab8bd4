/* session.h - what a node and its subscriber do alike on a new connection: connect, log in,
 * give their name, and tell why it failed. */
#ifndef RL_SESSION_H
#define RL_SESSION_H

#include "net/connection.h"

#define RL_LOGIN_MAX (RL_PASSWORD_MAX + RL_USER_MAX + 64) /* bytes of an AUTH */

/* Begin to connect. TLS certificates that have changed are read before; a warning tells of
 * those that can't be read, and the earlier ones stay in use. 0 or REDLOCK_ENOMEM. */
int rl_session_connect(struct rl_connection *connection, int64_t now_ns, int64_t deadline_ns,
                       void (*log)(void *owner, int level, const char *format, ...),
                       void *owner);

/* Queue AUTH, alone: 1; 0: there is no password; -1: none that can be used, with `why` filled
 * in. */
int rl_session_login(struct rl_connection *connection, int64_t now_ns, int64_t deadline_ns,
                     char *why, size_t why_size);

/* Why the link has failed. `greeting`: no request but the first ones has been sent. A server
 * that refuses a connection gives the reason in reply to these. */
const char *rl_session_failure(const struct rl_connection *connection, bool greeting);

/* What is said of a server that was silent for the connect-timeout. Where it was `connected` its
 * process is in question, and not the way to it. */
const char *rl_session_silence(bool connected);

/* Write AUTH with the present password; nothing if there is none. The caller must wipe the
 * bytes soon. `mask` knows the password from now on. 0, or -1 with `why` filled in (never a
 * secret). */
int rl_login_put(struct rl_out *out, const struct rl_node_config *config, struct rl_mask *mask,
                 char *why, size_t why_size);

/* Write CLIENT SETNAME. The name is a courtesy: a refusal does not matter. */
void rl_login_put_name(struct rl_out *out, const char *name);

/* True if this reply accepts AUTH. */
bool rl_login_accepted(const struct rl_reply *reply);

#endif
