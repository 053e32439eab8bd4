/* resolve.h - host names to addresses without ever waiting for the resolver.
 *
 * getaddrinfo() can block for half a minute and can't be stopped, so every look-up has a thread
 * of its own. The caller polls, is woken through an eventfd, and may abandon the look-up at any
 * time. The thread then ends later by itself, and touches nothing but its own job. Numeric
 * addresses need no thread.
 */
#ifndef RL_RESOLVE_H
#define RL_RESOLVE_H

#include "base/limits.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

struct rl_address {
    socklen_t len;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } as;
};

/* In the order in which they should be tried. */
struct rl_addresses {
    unsigned count;
    bool more; /* the name has others besides */
    struct rl_address list[RL_ADDRESSES_MAX];
};

#define RL_ADDRESS_TEXT_MAX 80 /* "[fe80::...%interface]:65535" and its NUL */

/* "127.0.0.1:6379", "[::1]:6379". */
void rl_address_text(const struct rl_address *address, char *ret_text, size_t size);

bool rl_address_is(const struct rl_address *a, const struct rl_address *b);

/* The last one first (rl_order_fn). */
void rl_addresses_turn(void *unused, struct rl_addresses *addresses);

/* True where `host` is an address and needs no look-up. */
bool rl_resolve_numeric(const char *host, int port, struct rl_addresses *ret_addresses);

struct rl_lookup;

/* Begin a look-up; `wake_fd` (an eventfd) is written to when it ends. NULL with errno set:
 * no memory or no thread. */
struct rl_lookup *rl_lookup_start(const char *host, int port, int wake_fd);

enum rl_lookup_state { RL_LOOKUP_RUNNING, RL_LOOKUP_DONE, RL_LOOKUP_FAILED };

/* Its state. DONE: at least one address was found. FAILED: `why` is filled in. Further calls
 * return the same. */
enum rl_lookup_state rl_lookup_poll(struct rl_lookup *lookup,
                                    struct rl_addresses *ret_addresses, char *why,
                                    size_t why_size);

/* Give it up, finished or not. This does not wait, and nothing touches `wake_fd` after it has
 * returned. NULL is allowed. */
void rl_lookup_abandon(struct rl_lookup *lookup);

/* In the child after fork(): the thread does not exist here, and its lock may be held for
 * ever. */
void rl_lookup_free_in_child(struct rl_lookup *lookup);

#endif
