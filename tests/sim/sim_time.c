/* sim_time.c - true time: a heap of what is to happen, and the loop that lets it happen. */
#include "config_auto.h"

#include "sim_parts.h"
#include "sim_real.h"

#include <assert.h>

enum {
    FIRST_ROOM = 256,
    /* So much in one instant is a world that has no way out of it. */
    AT_ONCE_MAX = 20000000
};

/* A heap of four children each, that begins at 1, so that a place of 0 is none. What is
 * compared stands in the heap itself: the events are somewhere else in memory.
 *
 * While an event happens its place, the first one, is a hole that comes before all others:
 * what is scheduled then, and mostly something is, takes it, and the heap is put in order once
 * instead of twice. */
struct entry {
    int64_t at_ns;
    uint64_t tie;
    struct sim_event *event; /* NULL: the hole */
};

static struct {
    struct entry *heap;
    size_t count, room;
    unsigned at_once;
    bool stopped;
    bool hole;
} time_line;

int64_t sim_present_ns;

void sim_time_begin(void)
{
    assert(time_line.count == 0);
    sim_present_ns = 0;
    time_line.at_once = 0;
    time_line.stopped = false;
}

/* The heap itself is kept for the next world. */
void sim_time_end(void)
{
    assert(time_line.count == 0);
}

/* ---- the heap ------------------------------------------------------------------------- */

/* No branches: which of two comes first is as good as drawn, and no processor guesses it. */
static bool before(const struct entry *a, const struct entry *b)
{
    unsigned __int128 a_key = (unsigned __int128)(uint64_t)a->at_ns << 64 | a->tie;
    unsigned __int128 b_key = (unsigned __int128)(uint64_t)b->at_ns << 64 | b->tie;
    return a_key < b_key;
}

static const struct entry *first_of(const struct entry *a, const struct entry *b)
{
    return before(b, a) ? b : a;
}

static void put(const struct entry *entry, size_t place)
{
    struct entry *at = &time_line.heap[place];
    at->at_ns = entry->at_ns;
    at->tie = entry->tie;
    at->event = entry->event;
    at->event->place = place;
}

static size_t parent_of(size_t place)
{
    return (place + 2) / 4;
}

static size_t first_child_of(size_t place)
{
    return 4 * place - 2;
}

static void rise(const struct entry *entry, size_t place)
{
    while (place > 1 && before(entry, &time_line.heap[parent_of(place)])) {
        put(&time_line.heap[parent_of(place)], place);
        place = parent_of(place);
    }
    put(entry, place);
}

static size_t least_child_of(size_t place)
{
    const struct entry *child = &time_line.heap[first_child_of(place)];
    size_t count = time_line.count + 1 - first_child_of(place);
    const struct entry *least = child;
    if (count >= 4) {
        least = first_of(first_of(child, child + 1), first_of(child + 2, child + 3));
    } else {
        for (size_t i = 1; i < count; i++)
            least = first_of(least, child + i);
    }
    return (size_t)(least - time_line.heap);
}

static void sink(const struct entry *entry, size_t place)
{
    while (first_child_of(place) <= time_line.count) {
        size_t child = least_child_of(place);
        if (!before(&time_line.heap[child], entry))
            break;
        put(&time_line.heap[child], place);
        place = child;
    }
    put(entry, place);
}

static void settle(const struct entry *entry, size_t place)
{
    if (place > 1 && before(entry, &time_line.heap[parent_of(place)]))
        rise(entry, place);
    else
        sink(entry, place);
}

/* The last one takes that place, if it is another's. */
static void vacate(size_t place)
{
    const struct entry last = time_line.heap[time_line.count--];
    if (place <= time_line.count)
        settle(&last, place);
}

static void grow(void)
{
    size_t room = time_line.room ? 2 * time_line.room : FIRST_ROOM;
    void *heap = sim_real_realloc(time_line.heap, (room + 1) * sizeof(*time_line.heap));
    if (!heap)
        sim_die("no memory for %zu events", room);
    time_line.heap = heap;
    time_line.room = room;
}

void sim_at(struct sim_event *event, int64_t at_ns)
{
    assert(event->fire);
    event->at_ns = at_ns > sim_present_ns ? at_ns : sim_present_ns;
    event->tie = sim_tie();
    const struct entry entry = {event->at_ns, event->tie, event};
    if (time_line.hole) {
        if (event->place)
            vacate(event->place);
        time_line.hole = false;
        sink(&entry, 1);
        return;
    }
    if (event->place) {
        settle(&entry, event->place);
        return;
    }
    if (time_line.count == time_line.room)
        grow();
    rise(&entry, ++time_line.count);
}

void sim_not(struct sim_event *event)
{
    size_t place = event->place;
    if (!place)
        return;
    assert(place <= time_line.count && time_line.heap[place].event == event);
    event->place = 0;
    vacate(place);
}

/* ---- the loop ------------------------------------------------------------------------- */

static void happen(struct sim_event *event)
{
    if (event->at_ns != sim_present_ns) {
        sim_present_ns = event->at_ns;
        time_line.at_once = 0;
    } else if (++time_line.at_once > AT_ONCE_MAX) {
        sim_die("time stands still at %lld ns: something happens for ever",
                (long long)sim_present_ns);
    }
    assert(!time_line.hole && time_line.heap[1].event == event);
    event->place = 0;
    time_line.hole = true;
    time_line.heap[1] = (struct entry){0};
    event->fire(event);
    if (time_line.hole) {
        time_line.hole = false;
        vacate(1);
    }
}

bool sim_run_while(bool (*more)(void *context), void *context, int64_t limit_ns)
{
    time_line.stopped = false;
    while (time_line.count > 0 && (!more || more(context))) {
        struct sim_event *first = time_line.heap[1].event;
        if (first->at_ns > limit_ns) {
            sim_present_ns = limit_ns > sim_present_ns ? limit_ns : sim_present_ns;
            break;
        }
        happen(first);
        if (time_line.stopped)
            return false;
    }
    return true;
}

bool sim_run_until(int64_t at_ns)
{
    if (!sim_run_while(NULL, NULL, at_ns))
        return false;
    if (sim_present_ns < at_ns)
        sim_present_ns = at_ns;
    return true;
}

void sim_stop(void)
{
    time_line.stopped = true;
}
