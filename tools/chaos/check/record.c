/* record.c - see record.h. The contender on a seat is the one writer of its log. The log is
 * read after the contender has ended. Its memory is touched only as far as needed. */
#include "config_auto.h"

#include "chaos/check/record.h"

#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EVENTS_MIN 65536
#define EVENTS_A_S 3000 /* of one contender: far more than a quorum has answered so far */
#define EVENTS_OF_ALL ((size_t)1 << 25)

static size_t room_of(const struct chaos_options *options)
{
    size_t room = (size_t)(options->duration_ms / 1000 + 1) * EVENTS_A_S;
    size_t most = EVENTS_OF_ALL / options->clients;
    if (room < EVENTS_MIN)
        room = EVENTS_MIN;
    return room < most ? room : most;
}

static size_t size_of(size_t seats, size_t room)
{
    return sizeof(struct chaos_record) + seats * room * sizeof(struct chaos_event);
}

struct chaos_record *chaos_record_new(const struct chaos_options *options)
{
    size_t room = room_of(options);
    void *memory = mmap(NULL, size_of(options->clients, room), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct chaos_record *record = memory;
    struct chaos_event *event = (struct chaos_event *)(record + 1);
    record->seats = options->clients;
    chaos_store_begin(&record->store, options->fenced && options->breach != CHAOS_NO_FENCE);
    for (unsigned i = 0; i < record->seats; i++) {
        record->seat[i].client = (uint16_t)i;
        record->seat[i].room = room;
        record->seat[i].event = event + i * room;
    }
    return record;
}

void chaos_record_free(struct chaos_record *record)
{
    if (record != NULL)
        munmap(record, size_of(record->seats, record->seat[0].room));
}

int64_t chaos_record_now_ns(const struct chaos_record *record)
{
    return rl_clock_now_ns() - record->begun_ns;
}

void chaos_record_lock_name(const struct chaos_record *record, unsigned name,
                            char ret_text[CHAOS_LOCK_NAME_MAX])
{
    snprintf(ret_text, CHAOS_LOCK_NAME_MAX, "%s%u", record->prefix, name);
}

/* ---- logs ----------------------------------------------------------------------------- */

static void log_event(struct chaos_seat *seat, enum chaos_what what, unsigned name,
                      struct chaos_event event)
{
    size_t count = atomic_load_explicit(&seat->count, memory_order_relaxed);
    if (count == seat->room) {
        atomic_fetch_add(&seat->lost, 1);
        return;
    }
    event.what = (uint8_t)what;
    event.name = (uint16_t)name;
    event.client = seat->client;
    event.shared = seat->shared;
    event.joint = seat->joint;
    seat->event[count] = event;
    /* A contender that is killed before this has not logged it. */
    atomic_store_explicit(&seat->count, count + 1, memory_order_release);
}

void chaos_asks(struct chaos_record *record, struct chaos_seat *seat, unsigned name)
{
    struct chaos_event event = {.at_ns = chaos_record_now_ns(record)};
    log_event(seat, CHAOS_ASKS, name, event);
}

void chaos_refused(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                   int result)
{
    struct chaos_event event = {.at_ns = chaos_record_now_ns(record), .result = result};
    log_event(seat, CHAOS_REFUSED, name, event);
}

void chaos_holds(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                 int64_t until_ns, uint64_t token)
{
    struct chaos_event event = {
        .at_ns = chaos_record_now_ns(record),
        .until_ns = until_ns,
        .token = token,
        .value = seat->key,
        .asked = seat->asked,
    };
    log_event(seat, CHAOS_HOLDS, name, event);
    if (atomic_load(&seat->believes_until_ns) == 0)
        atomic_fetch_add(&seat->holds, 1);
    atomic_store(&seat->holds_name, name);
    atomic_store(&seat->holds_shared, seat->shared);
    atomic_store(&seat->believes_until_ns, until_ns);
}

/* An access whose token is not the highest any more. */
static void log_stale(struct chaos_record *record, struct chaos_seat *seat, unsigned name)
{
    struct chaos_event event = {.at_ns = chaos_record_now_ns(record)};
    log_event(seat, CHAOS_STALE, name, event);
}

bool chaos_reads(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                 uint64_t *ret_value)
{
    struct chaos_event event = {0};
    if (!chaos_store_read(&record->store, name, seat->token, ret_value)) {
        log_stale(record, seat, name);
        return false;
    }
    event.value = *ret_value;
    event.at_ns = chaos_record_now_ns(record);
    log_event(seat, CHAOS_READS, name, event);
    return true;
}

void chaos_reads_again(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                       int64_t until_ns)
{
    assert(name < CHAOS_NAMES_MAX && seat->shared);
    struct chaos_event event = {.until_ns = until_ns,
                                .value = chaos_store_value(&record->store, name)};
    event.at_ns = chaos_record_now_ns(record);
    log_event(seat, CHAOS_READS, name, event);
}

bool chaos_writes(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                  uint64_t value, int64_t until_ns)
{
    struct chaos_event event = {.until_ns = until_ns, .value = value};
    if (!chaos_store_write(&record->store, name, seat->token, value)) {
        log_stale(record, seat, name);
        return false;
    }
    event.at_ns = chaos_record_now_ns(record);
    log_event(seat, CHAOS_WRITES, name, event);
    return true;
}

/* The time is read first, because an action after that time is not done under the lock. */
static void stops(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                  enum chaos_what what)
{
    struct chaos_event event = {.at_ns = chaos_record_now_ns(record)};
    atomic_store(&seat->believes_until_ns, 0);
    log_event(seat, what, name, event);
}

void chaos_loses(struct chaos_record *record, struct chaos_seat *seat, unsigned name)
{
    stops(record, seat, name, CHAOS_LOSES);
}

void chaos_lets_go(struct chaos_record *record, struct chaos_seat *seat, unsigned name)
{
    stops(record, seat, name, CHAOS_LETS_GO);
}

void chaos_released(struct chaos_record *record, struct chaos_seat *seat, unsigned name,
                    int result)
{
    struct chaos_event event = {.at_ns = chaos_record_now_ns(record), .result = result};
    log_event(seat, CHAOS_RELEASED, name, event);
}

void chaos_fails(struct chaos_record *record, const struct chaos_seat *seat, const char *text)
{
    uint32_t nobody = 0;
    if (!atomic_compare_exchange_strong(&record->failed, &nobody, 1))
        return;
    snprintf(record->failure, sizeof(record->failure), "contender %u: %s",
             (unsigned)seat->client, text);
    atomic_store(&record->failed, 2);
}

/* ---- all of them ---------------------------------------------------------------------- */

/* Each log is in order already. The logs are merged, so that events of one contender at one
 * time keep their order. */
static void merge(const struct chaos_record *record, struct chaos_event *ret_events,
                  size_t total)
{
    size_t at[CHAOS_CLIENTS_MAX] = {0};
    for (size_t i = 0; i < total; i++) {
        const struct chaos_event *next = NULL;
        unsigned from = 0;
        for (unsigned s = 0; s < record->seats; s++) {
            const struct chaos_seat *seat = &record->seat[s];
            if (at[s] == atomic_load(&seat->count))
                continue;
            if (next == NULL || seat->event[at[s]].at_ns < next->at_ns) {
                next = &seat->event[at[s]];
                from = s;
            }
        }
        assert(next != NULL);
        ret_events[i] = *next;
        at[from]++;
    }
}

struct chaos_event *chaos_record_events(const struct chaos_record *record, size_t *ret_count,
                                        uint64_t *ret_lost)
{
    size_t total = 0;
    uint64_t lost = 0;
    for (unsigned s = 0; s < record->seats; s++) {
        total += atomic_load(&record->seat[s].count);
        lost += atomic_load(&record->seat[s].lost);
    }
    struct chaos_event *events = malloc((total > 0 ? total : 1) * sizeof(*events));
    if (events == NULL)
        return NULL;
    merge(record, events, total);
    *ret_count = total;
    *ret_lost = lost;
    return events;
}
