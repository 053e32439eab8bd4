/* connection.c - see connection.h. */
#include "config_auto.h"

#include "net/connection.h"

#include "base/clock.h"
#include "base/wipe.h"
#include "net/usual_reply.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* R13: What a GET shows is the whole token. A script that echoes it leaves the first character out:
 * no reply to a GET that comes one too late, or twice, passes for this script's. */
const char *rl_inflight_proof(const struct rl_inflight *inflight, size_t *ret_len)
{
    const size_t from = !inflight->native;
    if (!inflight->by_token) {
        *ret_len = RL_NONCE_LEN;
        return inflight->nonce;
    }
    assert(inflight->token.len > 0);
    *ret_len = inflight->token.len - from;
    return inflight->token.bytes + from;
}

int rl_connection_init(struct rl_connection *connection, const struct rl_node_config *config,
                       struct rl_tls_context *tls, int epoll_fd, int wake_fd,
                       struct rl_tag *tag, rl_bulk_fn *on_bulk, void *context)
{
    assert(config && tag && tag->ready);
    *connection = (struct rl_connection){
        .config = config,
        .tls = tls,
        .link = rl_link_new(config, tls, epoll_fd, wake_fd, tag),
        .info_max = RL_REPLY_INFO_MAX,
        .on_bulk = on_bulk,
        .context = context,
    };
    if (!connection->link)
        return REDLOCK_ENOMEM;
    connection->reader = rl_reader_new(on_bulk, context);
    connection->out = malloc(RL_OUT_MIN);
    connection->fifo = malloc(rl_limits.fifo_min * sizeof(*connection->fifo));
    if (!connection->reader || !connection->out || !connection->fifo) {
        rl_connection_done(connection, false);
        return REDLOCK_ENOMEM;
    }
    connection->out_size = RL_OUT_MIN;
    connection->fifo_size = rl_limits.fifo_min;
    return 0;
}

/* R16: A forked child sends nothing, not even the end of TLS. */
void rl_connection_done(struct rl_connection *connection, bool in_child)
{
    if (in_child)
        rl_link_free_in_child(connection->link);
    else
        rl_link_free(connection->link);
    rl_connection_forget_login(connection);
    rl_reader_free(connection->reader);
    free(connection->out);
    free(connection->fifo);
    *connection = (struct rl_connection){0};
}

int rl_connection_reset(struct rl_connection *connection)
{
    assert(rl_link_state(connection->link) == RL_LINK_IDLE);
    /* The old reader may be in the middle of a reply, so a new one takes its place. */
    struct rl_reader *reader = rl_reader_new(connection->on_bulk, connection->context);
    if (!reader)
        return REDLOCK_ENOMEM;
    rl_connection_forget_login(connection);
    rl_reader_free(connection->reader);
    connection->reader = reader;
    connection->out_start = connection->out_end = 0;
    connection->fifo_first = connection->fifo_count = 0;
    connection->part_len = 0;
    memset(connection->script_known, 0, sizeof(connection->script_known));
    connection->why[0] = '\0';
    return 0;
}

static bool grow_out(struct rl_connection *connection, size_t len)
{
    size_t size = connection->out_size;
    while (size - connection->out_end < len) {
        if (size >= rl_limits.out_max)
            return false;
        size *= 2;
    }
    char *out = realloc(connection->out, size);
    if (!out)
        return false;
    connection->out = out;
    connection->out_size = size;
    return true;
}

static bool grow_fifo(struct rl_connection *connection)
{
    assert((connection->fifo_size & (connection->fifo_size - 1)) == 0); /* a power of 2 */
    if (connection->fifo_size >= rl_limits.fifo_max)
        return false;
    struct rl_inflight *fifo = calloc(2 * (size_t)connection->fifo_size, sizeof(*fifo));
    if (!fifo)
        return false;
    for (unsigned i = 0; i < connection->fifo_count; i++)
        fifo[i] = *rl_connection_inflight(connection, i);
    free(connection->fifo);
    connection->fifo = fifo;
    connection->fifo_first = 0;
    connection->fifo_size *= 2;
    return true;
}

/* R14: What a release needs is here already: it may not grow. */
bool rl_connection_make_room(struct rl_connection *connection, size_t len, bool may_grow)
{
    assert(connection->out_start <= connection->out_end);
    if (connection->out_size - connection->out_end < len && connection->out_start > 0) {
        memmove(connection->out, connection->out + connection->out_start,
                connection->out_end - connection->out_start);
        connection->out_end -= connection->out_start;
        connection->out_start = 0;
    }
    if (connection->out_size - connection->out_end < len &&
        !(may_grow && grow_out(connection, len)))
        return false;
    return connection->fifo_count < rl_connection_places(connection, may_grow) ||
           (may_grow && grow_fifo(connection));
}

/* R4: Behind all that was put before: so no release overtakes its acquire. */
void rl_connection_put(struct rl_connection *connection, const void *bytes, size_t len,
                       const struct rl_inflight *inflight)
{
    assert(len > 0 && len <= connection->out_size - connection->out_end);
    assert(connection->fifo_count < connection->fifo_size);
    memcpy(connection->out + connection->out_end, bytes, len);
    connection->out_end += len;
    connection->fifo_count++;
    *rl_connection_inflight(connection, connection->fifo_count - 1) = *inflight;
}

/* R12: Nothing is sent beside AUTH, and the buffer forgets it. */
void rl_connection_put_login(struct rl_connection *connection, const void *bytes, size_t len,
                             const struct rl_inflight *inflight)
{
    assert(connection->out_end == 0);
    assert(connection->fifo_count == 0 && connection->login_len == 0);
    rl_connection_put(connection, bytes, len, inflight);
    connection->login_len = len;
}

static void wipe_login(struct rl_connection *connection)
{
    assert(connection->login_len <= connection->out_size);
    if (connection->login_len > 0)
        rl_wipe(connection->out, connection->login_len);
    connection->login_len = 0;
}

void rl_connection_forget_login(struct rl_connection *connection)
{
    wipe_login(connection);
    rl_mask_wipe(&connection->mask);
}

bool rl_connection_flush(struct rl_connection *connection)
{
    while (rl_connection_unsent(connection) && !rl_link_blocked(connection->link)) {
        ssize_t sent = rl_link_send(connection->link, connection->out + connection->out_start,
                                    connection->out_end - connection->out_start);
        if (sent < 0)
            return false;
        connection->out_start += (size_t)sent;
        if (sent == 0)
            break;
    }
    if (!rl_connection_unsent(connection)) {
        connection->out_start = connection->out_end = 0;
        wipe_login(connection);
    }
    return true;
}

/* Read the next reply. Its request sets the length allowed. 1, 0 or -1, as rl_reader_next(). */
static int next_reply(struct rl_connection *connection, const struct rl_reply **ret_reply)
{
    const struct rl_inflight *oldest = rl_connection_oldest(connection);
    bool info = oldest && oldest->type == RL_REQUEST_INFO;
    bool texts = oldest && oldest->type == RL_REQUEST_MASTER;
    rl_reader_allow(connection->reader, info ? connection->info_max : RL_REPLY_MAX, texts);
    return rl_reader_next(connection->reader, ret_reply);
}

/* Bytes that are read in one go. */
struct bytes {
    char at[RL_USUAL_MAX + RL_READ_CHUNK];
    size_t len;
    size_t used;
    int64_t now_ns; /* read after them: they prove nothing about a later time */
};

/* Receive bytes behind the beginning of a reply that was kept. As rl_link_recv(). */
static ssize_t receive(struct rl_connection *connection, struct bytes *bytes,
                       struct rl_clock *clock)
{
    size_t kept = connection->part_len;
    assert(kept <= sizeof(connection->part));
    if (kept > 0)
        memcpy(bytes->at, connection->part, kept);
    ssize_t got = rl_link_recv(connection->link, bytes->at + kept, RL_READ_CHUNK);
    if (got <= 0)
        return got;
    connection->part_len = 0;
    bytes->len = kept + (size_t)got;
    bytes->used = 0;
    bytes->now_ns = connection->heard_ns = rl_clock_steady_ns(clock);
    return got;
}

/* Take usual replies as long as there are any. False: the connection is gone. */
static bool take_usuals(struct rl_connection *connection, struct bytes *bytes,
                        rl_take_usual_fn *take, void *context)
{
    assert(rl_reader_idle(connection->reader));
    while (bytes->used < bytes->len) {
        const char *at = bytes->at + bytes->used;
        size_t left = bytes->len - bytes->used;
        const struct rl_inflight *oldest = rl_connection_oldest(connection);
        uint64_t number;
        size_t size = oldest ? rl_usual_reply(oldest, at, left, &number) : 0;
        if (size == 0)
            break;
        if (size == RL_USUAL_PART) {
            assert(left <= sizeof(connection->part));
            memcpy(connection->part, at, left);
            connection->part_len = left;
            size = left;
        }
        bytes->used += size;
        if (connection->part_len == 0 && !take(context, number, bytes->now_ns))
            return false;
    }
    return true;
}

/* Have the rest parsed, and take each whole reply. 1, 0: the connection is gone, or -1: these
 * are no replies. */
static int take_others(struct rl_connection *connection, const struct bytes *bytes,
                       rl_take_fn *take, void *context)
{
    const struct rl_reply *reply;
    if (rl_reader_feed(connection->reader, bytes->at + bytes->used, bytes->len - bytes->used))
        return -1;
    int more;
    while ((more = next_reply(connection, &reply)) == 1) {
        if (!take(context, reply, bytes->now_ns))
            return 0;
    }
    return more < 0 ? -1 : 1;
}

bool rl_connection_read(struct rl_connection *connection, struct rl_clock *clock,
                        rl_take_fn *take, rl_take_usual_fn *take_usual, void *context)
{
    struct bytes bytes;
    for (size_t budget = rl_limits.read_a_turn; budget > 0;) {
        ssize_t got = receive(connection, &bytes, clock);
        if (got <= 0)
            return true; /* nothing now, or FAILED */
        if (take_usual && rl_reader_idle(connection->reader) &&
            !take_usuals(connection, &bytes, take_usual, context))
            return true;
        int more = bytes.used < bytes.len ? take_others(connection, &bytes, take, context) : 1;
        if (more <= 0)
            return more == 0;
        /* A short read has mostly read all. The caller judges silence once nothing is left. */
        const struct rl_inflight *oldest = rl_connection_oldest(connection);
        if (got < RL_READ_CHUNK && !(oldest && bytes.now_ns >= oldest->deadline_ns))
            return true;
        budget -= (size_t)got < budget ? (size_t)got : budget;
    }
    return true;
}

struct rl_inflight *rl_connection_inflight(struct rl_connection *connection, unsigned i)
{
    assert(i < connection->fifo_count);
    return &connection->fifo[(connection->fifo_first + i) & (connection->fifo_size - 1)];
}
