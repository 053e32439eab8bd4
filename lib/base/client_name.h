/* client_name.h - what a client calls itself: its client-name, or "HOST:PID". Its tokens end in
 * that, and each of its connections is named RL_CONNECTION_PREFIX, that, a colon and its uuid.
 */
#ifndef RL_CLIENT_NAME_H
#define RL_CLIENT_NAME_H

#include <stdbool.h>

#define RL_CONNECTION_PREFIX "redlock:"

/* Bytes of a host as it is shown: any other is shown as '-'. */
static inline bool rl_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
}

/* Bytes that a client-name may have: other people's tools show them without care. */
static inline bool rl_client_name_byte(char c)
{
    return rl_host_byte(c) || c == ':' || c == '@';
}

#endif
