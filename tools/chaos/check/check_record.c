/* check_record.c - the shared records. Every write adds 1 to the value that its contender read
 * under the lock. The values written to a record are thus 1, 2, 3 ... Violations are:
 *
 *   - a write of a value that is not above the last one written: the updates in between are
 *     lost, its own among them in the end
 *   - a write that is not 1 above the value that its contender read in this hold
 *   - a record that differs from the last write, or a value that nobody wrote
 *   - a record that a reader reads twice in one hold, with different values
 *
 * In two cases the lock is not at fault. A contender killed between its write and its log entry
 * leaves a record that is 1 ahead. A contender stopped between its last check of the lock and
 * its write writes too late. No lease can prevent that, only a fencing token can. So the
 * effects of a late write are excused, unless tokens are checked (store.h).
 *
 * Then nothing is excused, and contenders do not look before they write. The store takes one
 * access after the other, so no value is written twice. A write may be logged late. */
#include "config_auto.h"

#include "chaos/check/check.h"
#include "chaos/check/store.h"

#include <inttypes.h>
#include <stdlib.h>

struct reader {
    bool has_read, shared;
    uint64_t value;
    int64_t at_ns;
};

struct record {
    unsigned name;
    uint64_t value; /* as it was written last */
    int64_t at_ns;  /* when, and by which contender */
    unsigned writer;
    int64_t late_ns; /* the last late write: when, and by which contender; -1: none */
    unsigned late_client;
    unsigned char *seen; /* fenced: a bit for each value that was written */
    uint64_t ahead;      /* writes that are not in the log, */
    uint64_t explained;  /* and as many as may be missing there */
    int64_t ahead_ns;
    struct reader reader[CHAOS_CLIENTS_MAX];
};

/* A killed contender may have written the record that it read. */
static void forget_read(struct record *record, unsigned client, bool killed)
{
    if (killed && record->reader[client].has_read && !record->reader[client].shared)
        record->explained++;
    record->reader[client].has_read = false;
}

/* A finding of this event and the last writer. */
static struct chaos_finding finding_of(enum chaos_finding_kind what,
                                       const struct record *record,
                                       const struct chaos_event *event)
{
    return (struct chaos_finding){
        .what = what,
        .at_ns = event->at_ns,
        .name = record->name,
        .client = event->client,
        .other = record->writer,
    };
}

static void find_unread(struct chaos_found *found, const struct record *record,
                        const struct chaos_event *event)
{
    struct chaos_finding finding = finding_of(CHAOS_LOST_UPDATE, record, event);
    finding.other = event->client;
    snprintf(finding.text, sizeof(finding.text),
             "contender %u wrote %" PRIu64 " to record %u and had not read %" PRIu64
             " under the lock",
             (unsigned)event->client, event->value, record->name, event->value - 1);
    chaos_find(found, &finding, 1);
}

/* Did a late write land after this contender's read? Without a read, the event's own time
 * counts. */
static bool was_late(struct chaos_found *found, const struct record *record,
                     const struct chaos_event *event, struct chaos_finding *finding)
{
    const struct reader *reader = &record->reader[event->client];
    int64_t read_ns = reader->has_read ? reader->at_ns : event->at_ns;
    if (record->late_ns < read_ns)
        return false;
    finding->excused = true;
    finding->by = chaos_pause_of(found->history, record->late_client, 0, record->late_ns);
    snprintf(finding->text, sizeof(finding->text),
             "contender %u wrote to record %u when its time was over: it was stopped between "
             "its last look and the write, which no lease can prevent",
             record->late_client, record->name);
    return true;
}

static void find_lost(struct chaos_found *found, struct record *record,
                      const struct chaos_event *event)
{
    uint64_t lost = record->value - event->value + 1;
    struct chaos_finding finding = finding_of(CHAOS_LOST_UPDATE, record, event);
    if (was_late(found, record, event, &finding)) {
        record->explained += lost; /* it may have been logged late, and not done late */
        chaos_find(found, &finding, lost);
        return;
    }
    int64_t asked_ns = record->at_ns;
    const struct chaos_hold *holds[] = {
        chaos_hold_history_at(found->hold_history, record->name, event->client, event->at_ns),
        chaos_hold_history_at(found->hold_history, record->name, record->writer, record->at_ns),
    };
    for (size_t i = 0; i < 2; i++)
        if (holds[i] != NULL && holds[i]->asked_ns < asked_ns)
            asked_ns = holds[i]->asked_ns;
    finding.by = chaos_broken_assumption(found->history, asked_ns, event->at_ns, false);
    finding.excused = finding.by != NULL;
    if (finding.excused) /* two wrote at once: maybe logged in another order than done */
        record->explained += lost;
    snprintf(finding.text, sizeof(finding.text),
             "contender %u wrote %" PRIu64 " to record %u after contender %u had made it "
             "%" PRIu64 ": %" PRIu64 " lost",
             (unsigned)event->client, event->value, record->name, record->writer, record->value,
             lost);
    chaos_find(found, &finding, lost);
}

/* A value that was written before. */
static bool seen_before(struct record *record, uint64_t value)
{
    if (!record->seen)
        record->seen = chaos_room(CHAOS_STORE_VALUES / 8, 1);
    if (value >= CHAOS_STORE_VALUES)
        return true;
    unsigned char bit = (unsigned char)(1u << value % 8);
    bool before = record->seen[value / 8] & bit;
    record->seen[value / 8] |= bit;
    return before;
}

static void find_stale(struct chaos_found *found, const struct record *record,
                       const struct chaos_event *event)
{
    struct chaos_finding finding = finding_of(CHAOS_LOST_UPDATE, record, event);
    snprintf(finding.text, sizeof(finding.text),
             "contender %u made record %u %" PRIu64
             ", as another had before: a write with an old fencing token was taken",
             (unsigned)event->client, record->name, event->value);
    chaos_find(found, &finding, 1);
}

/* A write of a value that is not above the last one. Where the store has checked its token, it
 * was done before that one, and is logged only now. */
static void write_below(struct chaos_found *found, struct record *record,
                        const struct chaos_event *event)
{
    if (!found->history->options->fenced)
        find_lost(found, record, event);
    else if (record->ahead > 0)
        record->ahead--;
}

static void write_to(struct chaos_found *found, struct record *record,
                     const struct chaos_event *event)
{
    bool fenced = found->history->options->fenced;
    bool complete = found->history->lost_events == 0;
    bool above = event->value > record->value;
    struct reader *reader = &record->reader[event->client];
    if (event->until_ns < event->at_ns) {
        record->late_ns = event->at_ns;
        record->late_client = event->client;
    }
    if (complete && (!reader->has_read || reader->value + 1 != event->value))
        find_unread(found, record, event);
    if (fenced && seen_before(record, event->value)) {
        find_stale(found, record, event);
    } else if (!above) {
        write_below(found, record, event);
    } else if (event->value > record->value + 1) {
        record->ahead += event->value - record->value - 1;
        record->ahead_ns = event->at_ns;
    }
    reader->has_read = false;
    if (fenced && !above)
        return;
    record->value = event->value;
    record->at_ns = event->at_ns;
    record->writer = event->client;
}

/* A reader reads again. If it was stopped before that, it may be too late, and the read proves
 * nothing. */
static void read_again(struct chaos_found *found, struct record *record,
                       const struct chaos_event *event)
{
    const struct reader *reader = &record->reader[event->client];
    if (!reader->has_read || !reader->shared || event->value == reader->value ||
        event->at_ns > event->until_ns)
        return;
    struct chaos_finding finding = finding_of(CHAOS_CHANGED_READ, record, event);
    const struct chaos_hold *hold =
        chaos_hold_history_at(found->hold_history, record->name, event->client, event->at_ns);
    if (!was_late(found, record, event, &finding)) {
        finding.by = chaos_broken_assumption(
            found->history, hold != NULL ? hold->asked_ns : reader->at_ns, event->at_ns, false);
        finding.excused = finding.by != NULL;
        snprintf(finding.text, sizeof(finding.text),
                 "contender %u read %" PRIu64 " from record %u under its read lock, and then "
                 "%" PRIu64,
                 (unsigned)event->client, reader->value, record->name, event->value);
    }
    chaos_find(found, &finding, 1);
}

static void take(struct chaos_found *found, struct record *record,
                 const struct chaos_event *event)
{
    struct reader *reader = &record->reader[event->client];
    switch ((enum chaos_what)event->what) {
    case CHAOS_READS:
        if (event->shared && event->until_ns != 0)
            read_again(found, record, event);
        else
            *reader = (struct reader){true, event->shared, event->value, event->at_ns};
        break;
    case CHAOS_WRITES:
        write_to(found, record, event);
        break;
    case CHAOS_ASKS:
        forget_read(record, event->client, true);
        break;
    case CHAOS_STALE:
        found->verdict->stale++;
        forget_read(record, event->client, false);
        break;
    case CHAOS_LETS_GO:
    case CHAOS_LOSES:
        forget_read(record, event->client, false);
        break;
    case CHAOS_HOLDS:
    case CHAOS_REFUSED:
    case CHAOS_RELEASED:
        break;
    }
}

/* Compare the record at the end with the value that follows from the log. */
static void close_record(struct chaos_found *found, struct record *record)
{
    uint64_t at_end = found->history->record[record->name];
    for (unsigned client = 0; client < CHAOS_CLIENTS_MAX; client++)
        forget_read(record, client, true);
    if (at_end > record->value) {
        record->ahead += at_end - record->value;
        record->ahead_ns = found->history->duration_ns;
    }
    struct chaos_finding finding = {
        .what = CHAOS_LOST_UPDATE,
        .at_ns = at_end < record->value ? found->history->duration_ns : record->ahead_ns,
        .name = record->name,
        .client = record->writer,
        .other = record->writer,
    };
    if (at_end < record->value) {
        snprintf(finding.text, sizeof(finding.text),
                 "record %u is %" PRIu64 " at the end, and was made %" PRIu64
                 " by the last write",
                 record->name, at_end, record->value);
        chaos_find(found, &finding, record->value - at_end);
    }
    if (record->ahead > record->explained) {
        finding.at_ns = record->ahead_ns;
        snprintf(finding.text, sizeof(finding.text),
                 "record %u is ahead by %" PRIu64 " writes that no contender told of",
                 record->name, record->ahead - record->explained);
        chaos_find(found, &finding, record->ahead - record->explained);
    }
}

void chaos_check_record(struct chaos_found *found)
{
    const struct chaos_history *history = found->history;
    struct record *records = chaos_room(CHAOS_NAMES_MAX, sizeof(*records));
    for (unsigned name = 0; name < CHAOS_NAMES_MAX; name++)
        records[name] = (struct record){.name = name, .late_ns = -1};
    for (size_t i = 0; i < history->event_count; i++)
        take(found, &records[history->events[i].name], &history->events[i]);
    for (unsigned name = 0; name < CHAOS_NAMES_MAX && history->lost_events == 0; name++)
        close_record(found, &records[name]);
    for (unsigned name = 0; name < CHAOS_NAMES_MAX; name++)
        free(records[name].seen);
    free(records);
}
