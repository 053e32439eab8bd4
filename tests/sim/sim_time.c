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
 * compared stands in the heap itself: the events are somewhere else in memory. */
struct entry {
    int64_t at_ns;
    uint64_t tie;
    struct sim_event *event;
};

static struct {
    struct entry *heap;
    size_t count, room;
    int64_t now_ns;
    unsigned at_once;
    bool stopped;
} time_line;

int64_t sim_now_ns(void)
{
    return time_line.now_ns;
}

void sim_time_begin(void)
{
    assert(time_line.count == 0);
    time_line.now_ns = 0;
    time_line.at_once = 0;
    time_line.stopped = false;
}

/* The heap itself is kept for the next world. */
void sim_time_end(void)
{
    assert(time_line.count == 0);
}

/* ---- the heap ------------------------------------------------------------------------- */

static bool before(const struct entry *a, const struct entry *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->tie < b->tie);
}

static void put(const struct entry *entry, size_t place)
{
    time_line.heap[place] = *entry;
    entry->event->place = place;
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
    size_t least = first_child_of(place);
    size_t end = least + 4 <= time_line.count + 1 ? least + 4 : time_line.count + 1;
    for (size_t child = least + 1; child < end; child++) {
        if (before(&time_line.heap[child], &time_line.heap[least]))
            least = child;
    }
    return least;
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
    event->at_ns = at_ns > time_line.now_ns ? at_ns : time_line.now_ns;
    event->tie = sim_tie();
    const struct entry entry = {event->at_ns, event->tie, event};
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
    const struct entry last = time_line.heap[time_line.count--];
    if (last.event != event)
        settle(&last, place);
}

/* ---- the loop ------------------------------------------------------------------------- */

static void happen(struct sim_event *event)
{
    if (event->at_ns != time_line.now_ns) {
        time_line.now_ns = event->at_ns;
        time_line.at_once = 0;
    } else if (++time_line.at_once > AT_ONCE_MAX) {
        sim_die("time stands still at %lld ns: something happens for ever",
                (long long)time_line.now_ns);
    }
    sim_not(event);
    event->fire(event);
}

bool sim_run_while(bool (*more)(void *context), void *context, int64_t limit_ns)
{
    time_line.stopped = false;
    while (time_line.count > 0 && (!more || more(context))) {
        struct sim_event *first = time_line.heap[1].event;
        if (first->at_ns > limit_ns) {
            time_line.now_ns = limit_ns > time_line.now_ns ? limit_ns : time_line.now_ns;
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
    if (time_line.now_ns < at_ns)
        time_line.now_ns = at_ns;
    return true;
}

void sim_stop(void)
{
    time_line.stopped = true;
}
