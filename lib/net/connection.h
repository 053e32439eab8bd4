/* connection.h - one connection to a master. A connection has a link, the bytes to be sent on it,
 * and a first-in first-out list of the requests that await their replies. Requests and replies
 * can't get out of step: every reply belongs to the oldest entry, and scripts echo the entry's
 * nonce or token. A native pair (SET and GET in one write) is one entry with two replies.
 */
#ifndef RL_CONNECTION_H
#define RL_CONNECTION_H

#include "kinds/kind.h"
#include "net/link.h"
#include "net/resp.h"

#include <assert.h>

struct rl_lease;
struct rl_clock;
struct rl_channel;

/* The type of a request: a verb of a lock, or a step of the node's own. */
enum rl_request_type {
    RL_REQUEST_VERB,
    RL_REQUEST_AUTH,
    RL_REQUEST_SELECT,
    RL_REQUEST_SETNAME,
    RL_REQUEST_INFO,
    RL_REQUEST_JOIN,  /* marker_join.lua */
    RL_REQUEST_LISTS, /* lists_join.lua */
    RL_REQUEST_FENCE, /* fence_join.lua */
    RL_REQUEST_PING,
    RL_REQUEST_ONEWAY,
    RL_REQUEST_TEACH,
    RL_REQUEST_RECALL,
    RL_REQUEST_SUBSCRIBE,
    RL_REQUEST_UNSUBSCRIBE,
    RL_REQUEST_MYID, /* sent to Sentinels only (endpoint/sentinel.h) */
    RL_REQUEST_MASTER,
    RL_REQUEST_ADDRESS
};

/* The native pair has two replies. This is what the first one, SET's, was. */
enum rl_set_reply {
    RL_SET_AWAITED,
    RL_SET_OK,
    RL_SET_REFUSED,   /* the key exists */
    RL_SET_NO_MEMORY, /* an error that says for certain that nothing was set */
    RL_SET_FAILED     /* another error: rl_connection.set_error */
};

struct rl_inflight {
    union {
        struct rl_lease *lease; /* RL_REQUEST_VERB */
        struct rl_channel
            *channel; /* RL_REQUEST_(UN)SUBSCRIBE; NULL: the client's own channel */
        unsigned line; /* RL_REQUEST_MASTER, RL_REQUEST_ADDRESS: whose server is asked for */
    };
    union {
        char nonce[RL_NONCE_LEN]; /* a script: what the reply must begin with; JOIN, LISTS,
                                     FENCE, TEACH, RECALL */
        struct {
            const char *bytes; /* the lease's: it lives until its replies have come */
            size_t len;
        } token; /* in its place: the value that the native pair's GET must show, or whose end
                    the script must echo */
    };
    int64_t deadline_ns; /* after it, the node counts as not answering */
    int64_t sent_ns;
    enum rl_request_type type;
    enum rl_verb verb;   /* its verb for the core */
    enum rl_verb script; /* the script that was sent */
    unsigned number;     /* of the script (rl_script_number) */
    bool with_body;      /* the request carried the script, not its digest alone */
    bool native;         /* the native pair, no script: one entry, two replies */
    bool by_token;       /* `token` is used, and not `nonce` */
    bool certified;      /* it showed the node's fencing certificate */
    enum rl_set_reply set_reply;
};

/* What proves that a reply belongs to this entry. */
const char *rl_inflight_proof(const struct rl_inflight *inflight, size_t *ret_len);

/* The longest usual reply (usual_reply.h): a native pair's. */
#define RL_USUAL_MAX (RL_TOKEN_MAX + 32)

struct rl_connection {
    const struct rl_node_config *config;
    struct rl_tls_context *tls; /* the node's; NULL: no TLS */
    struct rl_link *link;
    rl_bulk_fn *on_bulk;
    void *context;
    struct rl_reader *reader;
    char *out; /* out_start .. out_end is not sent yet */
    size_t out_start, out_end, out_size;
    struct rl_inflight *fifo; /* a ring; fifo_size is a power of 2 */
    unsigned fifo_first, fifo_count, fifo_size;
    size_t info_max;         /* the longest reply to RL_REQUEST_INFO */
    size_t login_len;              /* `out` begins with so many bytes of a login */
    int64_t heard_ns;              /* when bytes came last */
    bool script_known[RL_SCRIPTS]; /* its body was sent on this connection */
    char part[RL_USUAL_MAX]; /* the beginning of a usual reply, whose rest has not come yet */
    size_t part_len;
    struct rl_mask mask;           /* the password of the login: no text may show it */
    char set_error[160];           /* SET's error, until the pair's second reply has come */
    char why[160];
};

/* Make a link to the node, whose events have this tag, and reserve the memory that RL_OUT_MIN
 * and RL_FIFO_MIN promise. `on_bulk` is called with `context`. 0 or REDLOCK_ENOMEM. */
int rl_connection_init(struct rl_connection *connection, const struct rl_node_config *config,
                       struct rl_tls_context *tls, int epoll_fd, int wake_fd,
                       struct rl_tag *tag, rl_bulk_fn *on_bulk, void *context);

/* Free it and its link, and zero it; a zeroed one may be freed again. `in_child`: after a
 * fork, where the parent goes on using its socket. */
void rl_connection_done(struct rl_connection *connection, bool in_child);

/* Forget all requests, for a new connection. 0 or REDLOCK_ENOMEM. */
int rl_connection_reset(struct rl_connection *connection);

/* How many requests may be unanswered before this one. Releases must not take memory. So what
 * may grow leaves the other half of the entries to them. */
static inline unsigned rl_connection_places(const struct rl_connection *connection,
                                            bool may_grow)
{
    return may_grow ? connection->fifo_size / 2 : connection->fifo_size;
}

/* Is there room for a request of `len` bytes and its entry? With `may_grow` it may take memory,
 * up to RL_OUT_MAX and RL_FIFO_MAX. Inline, because mostly there is. */
bool rl_connection_make_room(struct rl_connection *connection, size_t len, bool may_grow);
static inline bool rl_connection_room(struct rl_connection *connection, size_t len,
                                      bool may_grow)
{
    return (connection->out_size - connection->out_end >= len &&
            connection->fifo_count < rl_connection_places(connection, may_grow)) ||
           rl_connection_make_room(connection, len, may_grow);
}

/* Queue a request. The caller must have asked for room. */
void rl_connection_put(struct rl_connection *connection, const void *bytes, size_t len,
                       const struct rl_inflight *inflight);

/* Queue a login. It must be the first request, and the only one until its reply has come. Its
 * bytes are overwritten once the kernel has taken them. */
void rl_connection_put_login(struct rl_connection *connection, const void *bytes, size_t len,
                             const struct rl_inflight *inflight);

/* The connection is gone: overwrite its login and the mask's copy of the password. */
void rl_connection_forget_login(struct rl_connection *connection);

/* Hand queued bytes to the kernel, as many as it takes. False: the link has FAILED. */
bool rl_connection_flush(struct rl_connection *connection);

/* Receives one whole reply. It returns false if the connection is gone; another may be in its
 * place. */
typedef bool rl_take_fn(void *context, const struct rl_reply *reply, int64_t now_ns);

/* Receives the usual reply to the oldest request (usual_reply.h): a grant. As rl_take_fn. */
typedef bool rl_take_usual_fn(void *context, uint64_t number, int64_t now_ns);

/* Read what has come, within the budget of one turn, and call `take` for each whole reply, or
 * `take_usual`, which may be NULL. False: the bytes are no reply of a server, and
 * rl_reader_text() says why. The link may be closed or FAILED afterwards. */
bool rl_connection_read(struct rl_connection *connection, struct rl_clock *clock,
                        rl_take_fn *take, rl_take_usual_fn *take_usual, void *context);

struct rl_inflight *rl_connection_inflight(struct rl_connection *connection,
                                           unsigned i); /* 0: the oldest */

/* The request whose reply comes next; NULL: none. Inline, because every turn asks. Drop it once
 * its reply has been handled. */
static inline struct rl_inflight *rl_connection_oldest(struct rl_connection *connection)
{
    return connection->fifo_count > 0 ? &connection->fifo[connection->fifo_first] : NULL;
}

static inline void rl_connection_drop_oldest(struct rl_connection *connection)
{
    assert(connection->fifo_count > 0);
    connection->fifo_first = (connection->fifo_first + 1) & (connection->fifo_size - 1);
    if (--connection->fifo_count == 0)
        connection->fifo_first = 0; /* few entries are used again and again */
}

static inline bool rl_connection_unsent(const struct rl_connection *connection)
{
    return connection->out_end > connection->out_start;
}

#endif
