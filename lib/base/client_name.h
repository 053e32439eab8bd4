/* client_name.h - a client's name: its client-name, or "HOST:PID". The client's tokens end in
 * this name. A connection's name is RL_CONNECTION_PREFIX, the client's name, a colon, the mark
 * of the node list (config/list_mark.h), a colon and the client's uuid.
 */
#ifndef RL_CLIENT_NAME_H
#define RL_CLIENT_NAME_H

#include <stdbool.h>

#define RL_CONNECTION_PREFIX "redlock:"
#define RL_CONNECTION_NAME_MAX 191

/* Bytes of a host as it is shown: any other is shown as '-'. */
static inline bool rl_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
}

/* Bytes that a client-name may have: other tools show them unescaped. */
static inline bool rl_client_name_byte(char c)
{
    return rl_host_byte(c) || c == ':' || c == '@';
}

#endif
