/* connection.h - one connection to a master: a link, what is to be sent on it, and a first-in
 * first-out list of who awaits which reply. Requests and replies can't get out of step:
 * every reply belongs to the oldest entry, and scripts echo the entry's nonce. A native pair is
 * one entry with two replies.
 */
#ifndef RL_CONNECTION_H
#define RL_CONNECTION_H

#include "kinds/kind.h"
#include "net/link.h"
#include "net/resp.h"

struct rl_lease;
struct rl_clock;
struct rl_channel;

/* What a reply is for: a verb of a lock, or a step of the node's own. */
enum rl_request_type {
    RL_REQUEST_VERB,
    RL_REQUEST_AUTH,
    RL_REQUEST_SELECT,
    RL_REQUEST_SETNAME,
    RL_REQUEST_INFO,
    RL_REQUEST_PING,
    RL_REQUEST_ONEWAY,
    RL_REQUEST_TEACH,
    RL_REQUEST_RECALL,
    RL_REQUEST_SUBSCRIBE,
    RL_REQUEST_UNSUBSCRIBE
};

/* The native pair has two replies: what the first one, SET's, was. */
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
    };
    union {
        char nonce[RL_NONCE_LEN]; /* a script: what the reply must begin with; TEACH, RECALL */
        struct {
            const char *bytes; /* the lease's, which stays while an answer is owed to it */
            size_t len;
        } token; /* the native pair: what GET must show */
    };
    int64_t deadline_ns; /* past it, the node is not answering */
    int64_t sent_ns;
    enum rl_request_type type;
    enum rl_verb verb;   /* what the core calls it */
    enum rl_verb script; /* and what it was */
    unsigned number;     /* of that script (rl_script_number) */
    bool with_body;      /* the request carried the script, not its digest alone */
    bool native;         /* the native pair, no script: one entry, two replies */
    enum rl_set_reply set_reply;
};

struct rl_connection {
    struct rl_link *link;
    struct rl_reader *reader;
    char *out; /* out_start .. out_end is not sent yet */
    size_t out_start, out_end, out_size;
    struct rl_inflight *fifo; /* a ring; fifo_size is a power of 2 */
    unsigned fifo_first, fifo_count, fifo_size;
    size_t login_len;              /* `out` begins with a login, or what is left of one */
    int64_t heard_ns;              /* when bytes came last */
    bool script_known[RL_SCRIPTS]; /* its body was sent on this connection */
    struct rl_mask mask;           /* what was logged in with: told to nobody */
    char set_error[160];           /* of a native pair whose second reply is awaited */
    char why[160];
};

/* Reserve everything that RL_OUT_MIN and RL_FIFO_MIN promise. 0 or REDLOCK_ENOMEM. */
int rl_connection_init(struct rl_connection *connection, struct rl_link *link,
                       rl_bulk_fn *on_bulk, void *context);
void rl_connection_done(struct rl_connection *connection);

/* Forget everything queued and awaited; for a new connection. 0 or REDLOCK_ENOMEM. */
int rl_connection_reset(struct rl_connection *connection, rl_bulk_fn *on_bulk, void *context);

/* Room for a request of `len` bytes and its reply's entry? With `may_grow` memory may be
 * taken for it, up to RL_OUT_MAX and RL_FIFO_MAX; without (releases) it never is. */
bool rl_connection_room(struct rl_connection *connection, size_t len, bool may_grow);

/* Queue a request there is room for. */
void rl_connection_put(struct rl_connection *connection, const void *bytes, size_t len,
                       const struct rl_inflight *inflight);

/* The same, of a login: the first request, and the only one until it is answered. It is
 * overwritten once the kernel has it. */
void rl_connection_put_login(struct rl_connection *connection, const void *bytes, size_t len,
                             const struct rl_inflight *inflight);

/* The connection is gone: overwrite its login, and what of it was kept to be masked. */
void rl_connection_forget_login(struct rl_connection *connection);

/* Hand queued bytes to the kernel, as far as it takes them. False: the link has FAILED. */
bool rl_connection_flush(struct rl_connection *connection);

/* A whole reply. False: the connection is gone, and maybe another in its place. */
typedef bool rl_take_fn(void *context, const struct rl_reply *reply, int64_t now_ns);

/* Read what there is, within a turn's budget, and have each whole reply taken. False: what came
 * is no reply of a server, as rl_reader_text() tells. The link may be closed, or have FAILED.
 */
bool rl_connection_read(struct rl_connection *connection, struct rl_clock *clock,
                        rl_take_fn *take, void *context);

struct rl_inflight *rl_connection_inflight(struct rl_connection *connection,
                                           unsigned i); /* 0: the oldest */

/* The oldest awaited reply; NULL: none. Asked for in every turn. Then drop it. */
static inline struct rl_inflight *rl_connection_oldest(struct rl_connection *connection)
{
    return connection->fifo_count > 0 ? &connection->fifo[connection->fifo_first] : NULL;
}

void rl_connection_drop_oldest(struct rl_connection *connection);

static inline bool rl_connection_unsent(const struct rl_connection *connection)
{
    return connection->out_end > connection->out_start;
}

#endif
