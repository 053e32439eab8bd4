/* link.h - a byte pipe to one master: connects, sends, receives; TCP, TLS or unix socket.
 *
 * A link knows nothing of Redis. A link never blocks, never raises SIGPIPE, and sets
 * close-on-exec on its descriptor. One connect tries every address of the name, within one
 * budget. A thread of its own looks the name up (resolve.h), so that a stuck resolver stalls
 * nobody else.
 *
 *   IDLE --rl_link_open--> RESOLVING --> CONNECTING --> SECURING --> OPEN
 *     ^                        |             |              |          |
 *     +----- rl_link_close ----+--------- FAILED (text says why) ------+
 *
 * A link has one descriptor, and up to four while an address is silent: the link tries that
 * address once more every 250 ms. The link registers its descriptors with the client's epoll set
 * itself (epoll data pointer = the `tag` given at init). While OPEN the link watches for EPOLLIN
 * always, and for EPOLLOUT while it is blocked. A link watches for EPOLLWRNORM while TLS holds
 * bytes that the socket does not show any more. For this reason the owner must receive on any
 * event but EPOLLOUT.
 */
#ifndef RL_LINK_H
#define RL_LINK_H

#include "config/config.h"

#include <stdbool.h>
#include <sys/types.h>

enum rl_link_state {
    RL_LINK_IDLE,
    RL_LINK_RESOLVING,
    RL_LINK_CONNECTING,
    RL_LINK_SECURING,
    RL_LINK_OPEN,
    RL_LINK_FAILED
};

struct rl_link; /* defined in link_internal.h: sized by rl_link_new */

/* The epoll set's data pointer points to this: it must be the first member of the struct that
 * handles the events. */
struct rl_tag {
    void (*ready)(struct rl_tag *tag, unsigned epoll_events, int64_t now_ns);
};

/* `node` must outlive the link. `tls` is the node's context (tls.h), NULL where not TLS.
 * `wake_fd` is an eventfd that the resolver's thread writes to when a name is known.
 * `tag` is the epoll data pointer: in a client, a struct rl_tag. NULL: out of memory. */
struct rl_tls_context;
struct rl_link *rl_link_new(const struct rl_node_config *node, struct rl_tls_context *tls,
                            int epoll_fd, int wake_fd, void *tag);
void rl_link_free(struct rl_link *link); /* closes first; NULL is allowed */

/* IDLE: the node's host and port are others now. A node may have none before the first open. */
void rl_link_readdress(struct rl_link *link);

/* Called with the addresses of the name before the first one is tried: they are tried in the
 * order that it leaves. */
struct rl_address;
struct rl_addresses;
typedef void rl_order_fn(void *context, struct rl_addresses *addresses);
void rl_link_set_order(struct rl_link *link, rl_order_fn *order, void *context);

/* OPEN: the addresses that were found, and the one of them that it leads to; NULL: a unix
 * socket. */
const struct rl_addresses *rl_link_addresses(const struct rl_link *link);
const struct rl_address *rl_link_address(const struct rl_link *link);

/* Begin to connect; everything up to OPEN must be done by `deadline_ns` (boottime).
 * The link must be IDLE. May go to FAILED at once. */
void rl_link_open(struct rl_link *link, int64_t now_ns, int64_t deadline_ns);

/* Close the descriptor, stop waiting for a look-up and forget the text; back to IDLE. The next
 * open joins a look-up that hangs, so a link has one thread at most. `wake_fd` may fire for it
 * until the link is freed. */
void rl_link_close(struct rl_link *link);

/* Close it, and drop the bytes that the kernel has not delivered yet. Otherwise they could
 * arrive long after bytes that are sent on another link. */
void rl_link_abort(struct rl_link *link);

enum rl_link_state rl_link_state(const struct rl_link *link);

/* Why the link is FAILED: printable, no newline, names the address tried. */
const char *rl_link_text(const struct rl_link *link);

/* Until a TLS certificate ends on which the link rests; -1: no TLS, or not known. */
int64_t rl_link_tls_left_s(const struct rl_link *link);

/* Advance the link. Call it when its descriptor is ready (`epoll_events`), when the wake
 * descriptor fired, or when rl_link_due_ns() has come. It only changes the state. */
void rl_link_step(struct rl_link *link, unsigned epoll_events, int64_t now_ns);

/* The latest time at which rl_link_step() must be called while it is connecting; INT64_MAX:
 * none. */
int64_t rl_link_due_ns(const struct rl_link *link);

/* Nobody polled for so long (core/driven.h). While it is connecting, that time does not
 * count. */
void rl_link_absent(struct rl_link *link, int64_t absent_ns);

/* OPEN only. Bytes taken (0: the kernel takes none now; EPOLLOUT is then waited for and
 * rl_link_step() will see it), or -1 and the link is FAILED. */
ssize_t rl_link_send(struct rl_link *link, const void *bytes, size_t len);

/* OPEN only. Bytes got (0: none now), or -1 and the link is FAILED (end of stream too). If
 * `len` bytes came there may be more; a later event will say so, too. */
ssize_t rl_link_recv(struct rl_link *link, void *bytes, size_t len);

/* True if the kernel refused bytes and has not said since that it is ready again. */
bool rl_link_blocked(const struct rl_link *link);

/* The child after fork(): close the descriptor and free, touching neither the epoll set nor
 * the TLS session of the parent. */
void rl_link_free_in_child(struct rl_link *link);

#endif
