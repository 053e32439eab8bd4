/* connection.c - see connection.h. */
#include "config_auto.h"

#include "net/connection.h"

#include "base/clock.h"
#include "base/wipe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int rl_wire_init(struct rl_wire *wire, struct rl_link *link, rl_bulk_fn *on_bulk, void *context)
{
    *wire = (struct rl_wire){.link = link};
    wire->reader = rl_reader_new(on_bulk, context);
    wire->out = malloc(RL_OUT_MIN);
    wire->fifo = malloc(RL_FIFO_MIN * sizeof(*wire->fifo));
    if (!wire->reader || !wire->out || !wire->fifo) {
        rl_wire_done(wire);
        return REDLOCK_ENOMEM;
    }
    wire->out_size = RL_OUT_MIN;
    wire->fifo_size = RL_FIFO_MIN;
    return 0;
}

void rl_wire_done(struct rl_wire *wire)
{
    rl_wire_forget_login(wire);
    rl_reader_free(wire->reader);
    free(wire->out);
    free(wire->fifo);
    *wire = (struct rl_wire){0};
}

int rl_wire_reset(struct rl_wire *wire, rl_bulk_fn *on_bulk, void *context)
{
    /* The old reader may be in the middle of a reply: it is of no use any more. */
    struct rl_reader *reader = rl_reader_new(on_bulk, context);
    if (!reader)
        return REDLOCK_ENOMEM;
    rl_wire_forget_login(wire);
    rl_reader_free(wire->reader);
    wire->reader = reader;
    wire->out_start = wire->out_end = 0;
    wire->fifo_first = wire->fifo_count = 0;
    memset(wire->script_known, 0, sizeof(wire->script_known));
    wire->why[0] = '\0';
    return 0;
}

static bool grow_out(struct rl_wire *wire, size_t len)
{
    size_t size = wire->out_size;
    while (size - wire->out_end < len) {
        if (size >= RL_OUT_MAX)
            return false;
        size *= 2;
    }
    char *out = realloc(wire->out, size);
    if (!out)
        return false;
    wire->out = out;
    wire->out_size = size;
    return true;
}

static bool grow_fifo(struct rl_wire *wire)
{
    if (wire->fifo_size >= RL_FIFO_MAX)
        return false;
    struct rl_inflight *fifo = calloc(2 * (size_t)wire->fifo_size, sizeof(*fifo));
    if (!fifo)
        return false;
    for (unsigned i = 0; i < wire->fifo_count; i++)
        fifo[i] = *rl_wire_inflight(wire, i);
    free(wire->fifo);
    wire->fifo = fifo;
    wire->fifo_first = 0;
    wire->fifo_size *= 2;
    return true;
}

bool rl_wire_room(struct rl_wire *wire, size_t len, bool may_grow)
{
    if (wire->out_size - wire->out_end < len && wire->out_start > 0) {
        memmove(wire->out, wire->out + wire->out_start, wire->out_end - wire->out_start);
        wire->out_end -= wire->out_start;
        wire->out_start = 0;
    }
    if (wire->out_size - wire->out_end < len && !(may_grow && grow_out(wire, len)))
        return false;
    return wire->fifo_count < wire->fifo_size || (may_grow && grow_fifo(wire));
}

void rl_wire_put(struct rl_wire *wire, const void *bytes, size_t len,
                 const struct rl_inflight *inflight)
{
    assert(len > 0 && len <= wire->out_size - wire->out_end);
    assert(wire->fifo_count < wire->fifo_size);
    memcpy(wire->out + wire->out_end, bytes, len);
    wire->out_end += len;
    wire->fifo_count++;
    *rl_wire_inflight(wire, wire->fifo_count - 1) = *inflight;
}

void rl_wire_put_login(struct rl_wire *wire, const void *bytes, size_t len,
                       const struct rl_inflight *inflight)
{
    assert(wire->out_end == 0);
    rl_wire_put(wire, bytes, len, inflight);
    wire->secret_len = len;
}

static void wipe_login(struct rl_wire *wire)
{
    if (wire->secret_len > 0)
        rl_wipe(wire->out, wire->secret_len);
    wire->secret_len = 0;
}

void rl_wire_forget_login(struct rl_wire *wire)
{
    wipe_login(wire);
    rl_mask_wipe(&wire->mask);
}

bool rl_wire_flush(struct rl_wire *wire)
{
    while (rl_wire_unsent(wire) && !rl_link_blocked(wire->link)) {
        ssize_t sent = rl_link_send(wire->link, wire->out + wire->out_start,
                                    wire->out_end - wire->out_start);
        if (sent < 0)
            return false;
        wire->out_start += (size_t)sent;
        if (sent == 0)
            break;
    }
    if (!rl_wire_unsent(wire)) {
        wire->out_start = wire->out_end = 0;
        wipe_login(wire);
    }
    return true;
}

/* The next reply, as long as what it answers allows: 1, 0 or -1, as rl_reader_next(). */
static int next_reply(struct rl_wire *wire, const struct rl_reply **ret_reply)
{
    const struct rl_inflight *oldest = rl_wire_oldest(wire);
    bool info = oldest && oldest->ask == RL_ASK_INFO;
    rl_reader_allow(wire->reader, info ? RL_REPLY_INFO_MAX : RL_REPLY_MAX);
    return rl_reader_next(wire->reader, ret_reply);
}

bool rl_wire_read(struct rl_wire *wire, struct rl_clock *clock, rl_take_fn *take, void *context)
{
    char bytes[RL_READ_CHUNK];
    for (size_t budget = RL_READ_BUDGET; budget > 0;) {
        ssize_t got = rl_link_recv(wire->link, bytes, sizeof(bytes));
        if (got <= 0)
            return true; /* nothing now, or FAILED */
        /* After the bytes, not before: what they prove is only as old as this. */
        int64_t now_ns = wire->heard_ns = rl_clock_steady_ns(clock);
        const struct rl_reply *reply;
        if (rl_reader_feed(wire->reader, bytes, (size_t)got) != 0)
            return false;
        int more;
        while ((more = next_reply(wire, &reply)) == 1) {
            if (!take(context, reply, now_ns))
                return true;
        }
        if (more < 0)
            return false;
        /* A short read has mostly read all. Silence is judged when there is nothing more. */
        const struct rl_inflight *oldest = rl_wire_oldest(wire);
        if ((size_t)got < sizeof(bytes) && !(oldest && now_ns >= oldest->deadline_ns))
            return true;
        budget -= (size_t)got < budget ? (size_t)got : budget;
    }
    return true;
}

struct rl_inflight *rl_wire_inflight(struct rl_wire *wire, unsigned i)
{
    assert(i < wire->fifo_count);
    return &wire->fifo[(wire->fifo_first + i) & (wire->fifo_size - 1)];
}

void rl_wire_drop_oldest(struct rl_wire *wire)
{
    assert(wire->fifo_count > 0);
    wire->fifo_first = (wire->fifo_first + 1) & (wire->fifo_size - 1);
    wire->fifo_count--;
}
