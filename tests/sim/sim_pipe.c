/* sim_pipe.c - one way of a connection: bytes under way. They arrive in order, late or not at
 * all, in pieces where the path splits them. A hole keeps what comes to it until the sender
 * sends it again, with pauses that double, as TCP does.
 */
#include "config_auto.h"

#include "sim_net_parts.h"
#include "sim_real.h"

#include <assert.h>
#include <string.h>

enum {
    PIECES_MAX = 64,
    PIPE_BYTES = 1024,     /* at first */
    PIPE_KEPT = 64 * 1024, /* of a connection in the pool */
    PIPE_MAX = 64 * 1024 * 1024
};

static const struct sim_path *path_of(const struct sim_pipe *pipe)
{
    return &pipe->conn->route->path;
}

static struct sim_segment *segment_at(const struct sim_pipe *pipe, unsigned i)
{
    return &pipe->segments[(pipe->first + i) & (pipe->segments_size - 1)];
}

/* ---- arriving ------------------------------------------------------------------------- */

/* A hole has it. Who has sent RST sends nothing again, unless somebody who connects asks. */
static bool is_lost(const struct sim_pipe *pipe)
{
    const struct sim_file *socket = pipe->conn->socket;
    return !socket || socket->as.socket.state != SIM_CONNECTING;
}

static void stall(struct sim_pipe *pipe)
{
    pipe->stalled = true;
    pipe->conn->route->felt.held[pipe->way]++;
    if (pipe->reset && is_lost(pipe))
        sim_pipe_clear(pipe);
}

/* What comes next, and all else of it that is due: bytes that come together are one piece. */
static struct sim_segment take_due(struct sim_pipe *pipe)
{
    struct sim_segment taken = *segment_at(pipe, 0);
    do {
        pipe->first = (pipe->first + 1) & (pipe->segments_size - 1);
        pipe->count--;
        const struct sim_segment *next = segment_at(pipe, 0);
        if (pipe->count == 0 || next->at_ns > sim_now_ns() || next->kind != SIM_DATA ||
            taken.kind != SIM_DATA)
            break;
        taken.len += next->len;
        taken.asked_ns = next->asked_ns;
    } while (true);
    if (taken.kind == SIM_RST)
        pipe->reset = false;
    return taken;
}

static void arrive(struct sim_event *event)
{
    struct sim_pipe *pipe = SIM_OF(event, struct sim_pipe, event);
    struct sim_conn *conn = pipe->conn;
    const bool *hole = &path_of(pipe)->hole[pipe->way];
    conn->busy++;
    while (pipe->count > 0 && !*hole && segment_at(pipe, 0)->at_ns <= sim_now_ns()) {
        struct sim_segment segment = take_due(pipe);
        bool cut = pipe->cut && segment.kind == SIM_DATA && segment.len >= pipe->cut_left;
        if (cut)
            segment.len = (size_t)pipe->cut_left;
        if (pipe->cut && segment.kind == SIM_DATA)
            pipe->cut_left -= segment.len;
        sim_conn_arrive(pipe, segment);
        if (cut && pipe->cut)
            sim_path_cut(conn, pipe->cut_reset);
    }
    if (pipe->count > 0 && *hole)
        stall(pipe);
    else if (pipe->count > 0)
        sim_at(&pipe->event, segment_at(pipe, 0)->at_ns);
    conn->busy--;
    sim_conn_tidy(conn);
}

/* ---- sending -------------------------------------------------------------------------- */

static int64_t delay_ns(const struct sim_pipe *pipe)
{
    const struct sim_path *path = path_of(pipe);
    return sim_between(path->delay_low_ns[pipe->way], path->delay_high_ns[pipe->way]);
}

static void add_at(struct sim_pipe *pipe, int64_t at_ns, enum sim_segment_kind kind, size_t len)
{
    if (pipe->count == pipe->segments_size) {
        unsigned old = pipe->segments_size, size = old ? old * 2 : 8;
        pipe->segments = sim_more(pipe->segments, size * sizeof(*pipe->segments));
        memcpy(pipe->segments + old, pipe->segments, pipe->first * sizeof(*pipe->segments));
        pipe->segments_size = size;
    }
    if (at_ns < pipe->last_ns)
        at_ns = pipe->last_ns;
    pipe->last_ns = at_ns;
    int64_t sent_ns = sim_now_ns();
    int64_t asked_ns = pipe->way == SIM_BACK ? pipe->conn->asked_ns : sent_ns;
    *segment_at(pipe, pipe->count++) = (struct sim_segment){
        .at_ns = at_ns, .sent_ns = sent_ns, .asked_ns = asked_ns, .len = len, .kind = kind};
    pipe->conn->route->felt.sent++;
    pipe->conn->route->felt.held[pipe->way] += pipe->stalled;
    if (pipe->count == 1)
        sim_at(&pipe->event, at_ns);
}

static void add_segment(struct sim_pipe *pipe, enum sim_segment_kind kind, size_t len)
{
    add_at(pipe, sim_now_ns() + delay_ns(pipe), kind, len);
}

/* Each comes later than the one before it, or there would be no pieces to be seen. */
static void add_pieces(struct sim_pipe *pipe, size_t len)
{
    size_t most = len < PIECES_MAX ? len : PIECES_MAX;
    size_t pieces = (size_t)sim_scale(2, (int64_t)most);
    int64_t at_ns = sim_now_ns() + delay_ns(pipe);
    for (; pieces > 1 && len > 1; pieces--) {
        size_t piece = 1 + (size_t)sim_below(len * 2 / pieces + 1);
        piece = piece < len ? piece : len - 1;
        add_at(pipe, at_ns, SIM_DATA, piece);
        len -= piece;
        at_ns = pipe->last_ns + sim_scale(1, path_of(pipe)->delay_high_ns[pipe->way] + 1);
    }
    add_at(pipe, at_ns, SIM_DATA, len);
}

static void make_room(struct sim_pipe *pipe, size_t len)
{
    if (pipe->start == pipe->end)
        pipe->start = pipe->come = pipe->end = 0;
    if (pipe->size - pipe->end >= len)
        return;
    size_t used = pipe->end - pipe->start;
    if (used > 0)
        memmove(pipe->bytes, pipe->bytes + pipe->start, used);
    pipe->come -= pipe->start;
    pipe->start = 0;
    pipe->end = used;
    if (pipe->size - used >= len)
        return;
    size_t size = pipe->size ? pipe->size : PIPE_BYTES;
    while (size - used < len)
        size *= 2;
    assert(size <= PIPE_MAX);
    pipe->bytes = sim_more(pipe->bytes, size);
    pipe->size = size;
}

void sim_pipe_put(struct sim_pipe *pipe, const void *bytes, size_t len)
{
    make_room(pipe, len);
    memcpy(pipe->bytes + pipe->end, bytes, len);
    pipe->end += len;
    if (len > 1 && sim_chance(path_of(pipe)->split_ppm))
        add_pieces(pipe, len);
    else
        add_segment(pipe, SIM_DATA, len);
}

void sim_pipe_put_mark(struct sim_pipe *pipe, enum sim_segment_kind kind)
{
    add_segment(pipe, kind, 0);
}

void sim_pipe_put_reset(struct sim_pipe *pipe)
{
    if (pipe->reset)
        return;
    if (pipe->stalled && is_lost(pipe))
        sim_pipe_clear(pipe);
    pipe->reset = true;
    add_segment(pipe, SIM_RST, 0);
}

bool sim_pipe_owes(const struct sim_pipe *pipe, int64_t from_ns, int64_t to_ns)
{
    for (unsigned i = 0; i < pipe->count; i++) {
        const struct sim_segment *segment = segment_at(pipe, i);
        if (segment->kind == SIM_DATA && segment->asked_ns >= from_ns &&
            segment->asked_ns <= to_ns)
            return true;
    }
    return false;
}

/* ---- reading, losing ------------------------------------------------------------------ */

size_t sim_pipe_take(struct sim_pipe *pipe, void *bytes, size_t len)
{
    assert(len <= pipe->come - pipe->start);
    memcpy(bytes, pipe->bytes + pipe->start, len);
    pipe->start += len;
    return len;
}

void sim_pipe_clear(struct sim_pipe *pipe)
{
    sim_not(&pipe->event);
    pipe->end = pipe->come;
    pipe->first = pipe->count = 0;
    pipe->stalled = pipe->reset = false;
}

/* When it is sent again: the first of all times at which it would have been, hole or not,
 * from now on. */
static int64_t next_retry_ns(const struct sim_segment *segment)
{
    int64_t wait_ns = (segment->kind == SIM_SYN ? SIM_RETRY_CONNECT_MS : SIM_RETRY_MS) * SIM_MS;
    int64_t at_ns = segment->sent_ns + wait_ns;
    while (at_ns < sim_now_ns()) {
        if (wait_ns < SIM_RETRY_MAX_S * SIM_S)
            wait_ns *= 2;
        at_ns += wait_ns;
    }
    return at_ns;
}

void sim_pipe_lift(struct sim_pipe *pipe)
{
    if (!pipe->stalled)
        return;
    assert(pipe->count > 0);
    int64_t at_ns = next_retry_ns(segment_at(pipe, 0)) + delay_ns(pipe);
    pipe->stalled = false;
    for (unsigned i = 0; i < pipe->count; i++) {
        struct sim_segment *segment = segment_at(pipe, i);
        if (segment->at_ns < at_ns)
            segment->at_ns = at_ns;
        at_ns = segment->at_ns;
    }
    if (pipe->last_ns < at_ns)
        pipe->last_ns = at_ns;
    sim_at(&pipe->event, segment_at(pipe, 0)->at_ns);
}

void sim_pipe_init(struct sim_pipe *pipe, struct sim_conn *conn, enum sim_way way)
{
    pipe->event.fire = arrive;
    pipe->conn = conn;
    pipe->way = way;
    pipe->last_ns = 0;
    pipe->cut = false;
    pipe->start = pipe->come = pipe->end = 0;
    pipe->first = pipe->count = 0;
    pipe->stalled = pipe->reset = false;
}

void sim_pipe_empty(struct sim_pipe *pipe)
{
    sim_pipe_clear(pipe);
    if (pipe->size > PIPE_KEPT) {
        sim_real_free(pipe->bytes);
        pipe->bytes = NULL;
        pipe->size = 0;
    }
}
