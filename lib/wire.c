/* wire.c - see wire.h. */
#include "config_auto.h"

#include "wire.h"

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
    struct rl_waiting *fifo = calloc(2 * (size_t)wire->fifo_size, sizeof(*fifo));
    if (!fifo)
        return false;
    for (unsigned i = 0; i < wire->fifo_count; i++)
        fifo[i] = *rl_wire_waiting(wire, i);
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
                 const struct rl_waiting *waiting)
{
    assert(len > 0 && len <= wire->out_size - wire->out_end);
    assert(wire->fifo_count < wire->fifo_size);
    memcpy(wire->out + wire->out_end, bytes, len);
    wire->out_end += len;
    wire->fifo_count++;
    *rl_wire_waiting(wire, wire->fifo_count - 1) = *waiting;
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
    if (!rl_wire_unsent(wire))
        wire->out_start = wire->out_end = 0;
    return true;
}

struct rl_waiting *rl_wire_waiting(struct rl_wire *wire, unsigned i)
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
