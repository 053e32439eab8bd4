/* link.h - a byte pipe to one master: connects, sends, receives; TCP, TLS or unix socket.
 *
 * A link knows nothing of Redis. It never blocks, never raises SIGPIPE, and sets
 * close-on-exec on its descriptor. One connect tries every address of the name, within one
 * budget; the name is looked up by a thread of its own (resolve.h), so that a stuck resolver
 * stalls nobody else.
 *
 *   IDLE --rl_link_open--> RESOLVING --> CONNECTING --> SECURING --> OPEN
 *     ^                        |             |              |          |
 *     +----- rl_link_close ----+--------- FAILED (text says why) ------+
 *
 * Descriptors: one; up to four while an address is silent, which is tried once more every 250
 * ms. They are registered with the client's epoll set by the link itself (epoll data pointer =
 * the `tag` given at init): while OPEN for EPOLLIN always, EPOLLOUT only while it is blocked,
 * and EPOLLWRNORM while TLS holds bytes that the socket does not show any more. So: receive on
 * any event but EPOLLOUT.
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

/* What an epoll set's data pointer points to: the first member of whoever wants the events. */
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

/* Begin to connect; everything up to OPEN must be done by `deadline_ns` (boottime).
 * The link must be IDLE. May go to FAILED at once. */
void rl_link_open(struct rl_link *link, int64_t now_ns, int64_t deadline_ns);

/* Close the descriptor, wait for no look-up any more; back to IDLE, all text forgotten. (A
 * look-up that hangs is joined by the next open: one thread a link at the most. `wake_fd` may
 * fire for it until the link is freed.) */
void rl_link_close(struct rl_link *link);

/* Close it, and take back what has been sent and not arrived: it might arrive long after what
 * is sent by another way. */
void rl_link_abort(struct rl_link *link);

enum rl_link_state rl_link_state(const struct rl_link *link);

/* Why the link is FAILED: printable, no newline, names the address tried. */
const char *rl_link_text(const struct rl_link *link);

/* Let the link move: call when its descriptor is ready (`epoll_events`), when the wake
 * descriptor fired, or when rl_link_due_ns() has come. It changes the state only. */
void rl_link_step(struct rl_link *link, unsigned epoll_events, int64_t now_ns);

/* When rl_link_step() must be called at the latest while it is connecting; INT64_MAX: no
 * need. */
int64_t rl_link_due_ns(const struct rl_link *link);

/* Nobody looked for so long: while it is connecting, that time does not count. */
void rl_link_absent(struct rl_link *link, int64_t absent_ns);

/* OPEN only. Bytes taken (0: the kernel takes none now; EPOLLOUT is then waited for and
 * rl_link_step() will see it), or -1 and the link is FAILED. */
ssize_t rl_link_send(struct rl_link *link, const void *bytes, size_t len);

/* OPEN only. Bytes got (0: none now), or -1 and the link is FAILED (end of stream too).
 * Where `len` was filled there may be more, which later events tell of as well. */
ssize_t rl_link_recv(struct rl_link *link, void *bytes, size_t len);

/* True while sent bytes could not be taken and the kernel has not said it is ready again. */
bool rl_link_blocked(const struct rl_link *link);

/* The child after fork(): close the descriptor and free, touching neither the epoll set nor
 * the TLS session of the parent. */
void rl_link_free_in_child(struct rl_link *link);

#endif
