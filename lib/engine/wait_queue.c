/* wait_queue.c - see wait_queue.h. */
#include "config_auto.h"

#include "engine/lease.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define PLACES_MIN 16

/* ---- finding -------------------------------------------------------------------------- */

static struct rl_line **bucket_of(const struct rl_lines *lines, const struct rl_target *target)
{
    uint64_t hash = rl_hash(target->name, target->name_len);
    return &lines->bucket[hash & (lines->buckets - 1)];
}

/* Of one kind and name; where the masters serve owners in turn, also of one owner. */
static bool is_for(const struct rl_line *line, const struct rl_target *target)
{
    const struct rl_target *own = &line->target;
    if (own->kind != target->kind || own->name_len != target->name_len ||
        memcmp(own->name, target->name, own->name_len) != 0)
        return false;
    return own->kind->channel != RL_CHANNEL_FAIR ||
           (own->owner_len == target->owner_len &&
            memcmp(own->owner, target->owner, own->owner_len) == 0);
}

struct rl_line *rl_line_find(redlock *client, const struct rl_target *target)
{
    const struct rl_lines *lines = &client->lines;
    if (lines->count == 0)
        return NULL;
    for (struct rl_line *line = *bucket_of(lines, target); line; line = line->next) {
        if (is_for(line, target))
            return line;
    }
    return NULL;
}

struct rl_line *rl_line_by_number(const redlock *client, uint64_t number)
{
    const struct rl_lines *lines = &client->lines;
    uint64_t place = number & PLACE_MASK;
    struct rl_line *line = place < lines->places ? lines->place[place] : NULL;
    return line && line->number == number ? line : NULL;
}

uint64_t rl_line_rounds(const redlock *client, uint64_t number)
{
    const struct rl_line *line = rl_line_by_number(client, number);
    return line ? line->rounds : 0;
}

bool rl_line_stands(const redlock *client, uint64_t number)
{
    return rl_line_by_number(client, number) != NULL;
}

/* ---- where it hears -------------------------------------------------------------------- */

uint64_t rl_line_listening(const redlock *client, const struct rl_line *line)
{
    if (!line)
        return 0;
    return line->ear ? rl_ear_listening(line->ear) : client->subs.listening;
}

bool rl_line_pending(const redlock *client, const struct rl_line *line)
{
    return rl_subs_pending(client) || (line && line->ear && line->ear->asked);
}

uint64_t rl_line_queues_at(const redlock *client, const struct rl_kind *kind, uint64_t number)
{
    if (kind->queues_at_once)
        return rl_all(client->nodes.n);
    if (rl_kind_queues(kind))
        return client->subs.listening;
    return rl_line_listening(client, rl_line_by_number(client, number));
}

/* ---- making and putting away ---------------------------------------------------------- */

/* Twice the room, for the names and for the numbers. */
static int grow(struct rl_lines *lines)
{
    size_t size = lines->places ? 2 * lines->places : PLACES_MIN;
    struct rl_line **place = realloc(lines->place, size * sizeof(*place));
    if (!place)
        return REDLOCK_ENOMEM;
    memset(place + lines->places, 0, (size - lines->places) * sizeof(*place));
    lines->place = place;
    struct rl_line **bucket = calloc(size, sizeof(*bucket));
    if (!bucket)
        return REDLOCK_ENOMEM;
    struct rl_lines grown = {.bucket = bucket, .buckets = size};
    for (size_t i = 0; i < lines->places; i++) {
        struct rl_line *line = place[i];
        if (!line)
            continue;
        struct rl_line **at = bucket_of(&grown, &line->target);
        line->next = *at;
        *at = line;
    }
    free(lines->bucket);
    lines->bucket = bucket;
    lines->buckets = lines->places = size;
    return 0;
}

/* A new number: what is still said of the old one is not for those who stand here now. */
static void number(struct rl_lines *lines, struct rl_line *line, size_t place)
{
    line->number = (++lines->last_number << PLACE_BITS) | place;
    line->wakes = line->queued = line->entered = 0;
    line->heed_ns = 0;
    rl_backoff_init(&line->heed, RL_RETRY_MIN_MS * RL_NS_PER_MS, RL_PROBE_MS * RL_NS_PER_MS);
    lines->place[place] = line;
}

static struct rl_line *take_spare(struct rl_lines *lines, size_t size)
{
    struct rl_line *line = lines->spare;
    if (line)
        lines->spare = line->next;
    else
        line = calloc(1, sizeof(*line));
    if (line && line->bytes_size < size) {
        char *bytes = realloc(line->bytes, size);
        if (!bytes) {
            line->next = lines->spare;
            lines->spare = line;
            return NULL;
        }
        line->bytes = bytes;
        line->bytes_size = size;
    }
    return line;
}

static void keep_target(struct rl_line *line, const struct rl_target *target)
{
    line->target = *target;
    line->target.name = memcpy(line->bytes, target->name, target->name_len);
    line->target.owner = line->bytes + target->name_len;
    line->target.owner_len = target->kind->channel == RL_CHANNEL_FAIR ? target->owner_len : 0;
    if (line->target.owner_len > 0)
        memcpy(line->bytes + target->name_len, target->owner, target->owner_len);
}

static struct rl_line *make(redlock *client, const struct rl_target *target)
{
    struct rl_lines *lines = &client->lines;
    if (lines->count == PLACE_MASK || (lines->count == lines->places && grow(lines)))
        return NULL;
    struct rl_line *line = take_spare(lines, target->name_len + target->owner_len);
    if (!line)
        return NULL;
    keep_target(line, target);
    if (!rl_line_give_ear(client, line)) {
        line->next = lines->spare;
        lines->spare = line;
        return NULL;
    }
    /* There is one, and near where the last one was put. */
    size_t place = lines->count;
    while (lines->place[place])
        place = (place + 1) & (lines->places - 1);
    number(lines, line, place);
    line->first = line->last = NULL;
    struct rl_line **bucket = bucket_of(lines, target);
    line->next = *bucket;
    *bucket = line;
    lines->count++;
    return line;
}

static void put_away(redlock *client, struct rl_line *line, int64_t now_ns)
{
    struct rl_lines *lines = &client->lines;
    struct rl_line **at = bucket_of(lines, &line->target);
    assert(!line->first);
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    lines->place[line->number & PLACE_MASK] = NULL;
    lines->count--;
    rl_line_take_ear(client, line, now_ns);
    line->next = lines->spare;
    lines->spare = line;
    lines->left_ns = now_ns;
}

void rl_lines_free(redlock *client)
{
    struct rl_lines *lines = &client->lines;
    for (size_t i = 0; i < lines->places; i++) {
        struct rl_line *line = lines->place[i];
        if (!line)
            continue;
        line->next = lines->spare;
        lines->spare = line;
    }
    while (lines->spare) {
        struct rl_line *line = lines->spare;
        lines->spare = line->next;
        free(line->bytes);
        free(line);
    }
    for (unsigned i = 0; i < RL_DEPARTED; i++)
        free(lines->departed[i].bytes);
    free(lines->bucket);
    free(lines->place);
    *lines = (struct rl_lines){0};
}

/* ---- standing in it ------------------------------------------------------------------- */

int rl_line_join(redlock *client, struct rl_waiter *waiter, const struct rl_target *target,
                 int64_t now_ns)
{
    assert(!waiter->line);
    struct rl_line *line = rl_line_find(client, target);
    if (!line) {
        line = make(client, target);
        if (!line)
            return REDLOCK_ENOMEM;
        rl_subs_want(client, now_ns);
        if (line->ear)
            rl_subs_tune(client, line->ear, now_ns);
    }
    waiter->line = line;
    waiter->next = NULL;
    waiter->prev = line->last;
    if (line->last)
        line->last->next = waiter;
    else
        line->first = waiter;
    line->last = waiter;
    client->lines.waiting++;
    return 0;
}

/* Where we were woken by name we were taken out of the queue, and the lock is kept for us: who
 * gives up passes it on, who has won lets that run out, since the next one would be woken for
 * nothing. Who waits for several names may still be queued for others of them; and where all
 * were told, nothing has changed. */
static void leave_queues(redlock *client, const struct rl_line *line, bool won, int64_t now_ns)
{
    uint64_t woken = line->ear ? 0 : line->wakes;
    uint64_t nodes = won ? line->entered : line->entered | woken;
    if (won && !line->target.kind->several)
        nodes &= ~woken;
    if (nodes)
        rl_line_depart(client, &line->target, line->number, nodes, now_ns);
}

void rl_line_leave(redlock *client, struct rl_waiter *waiter, bool won, int64_t now_ns)
{
    struct rl_line *line = waiter->line;
    if (!line)
        return;
    bool was_first = line->first == waiter;
    if (waiter->prev)
        waiter->prev->next = waiter->next;
    else
        line->first = waiter->next;
    if (waiter->next)
        waiter->next->prev = waiter->prev;
    else
        line->last = waiter->prev;
    waiter->line = NULL;
    client->lines.waiting--;
    if (!line->first) {
        leave_queues(client, line, won, now_ns);
        put_away(client, line, now_ns);
    } else if (was_first) {
        if (won) {
            leave_queues(client, line, true, now_ns);
            number(&client->lines, line, line->number & PLACE_MASK);
        }
        line->first->turn(line->first, RL_TURN_FIRST, now_ns);
    }
}

void rl_line_answered(redlock *client, uint64_t number, unsigned node, enum rl_queued queued,
                      int64_t now_ns)
{
    struct rl_line *line = rl_line_by_number(client, number);
    if (!line)
        return;
    uint64_t bit = rl_bit(node);
    /* Where we were woken by name meanwhile, that took us out: its word has been quicker. */
    if (queued == RL_QUEUED && (line->ear || !(line->wakes & bit)))
        line->queued |= bit;
    else if (queued != RL_WAS_QUEUED)
        line->queued &= ~bit;
    line->entered = queued == RL_NOT_QUEUED ? line->entered & ~bit : line->entered | bit;
    if (queued == RL_NOT_QUEUED || queued == RL_MAYBE_QUEUED)
        line->first->turn(line->first, RL_TURN_MISSED, now_ns);
}
