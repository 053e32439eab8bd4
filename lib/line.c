/* line.c - see line.h. */
#include "config_auto.h"

#include "claim.h"
#include "text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define PLACES_MIN 16
#define PARTING_MAX_NS (5 * RL_NS_PER_MS)

/* ---- finding -------------------------------------------------------------------------- */

static struct rl_line **bucket_of(const struct rl_lines *lines, const void *name, size_t len)
{
    uint64_t hash = rl_hash(name, len);
    return &lines->bucket[hash & (lines->buckets - 1)];
}

struct rl_line *rl_line_find(redlock *client, const void *name, size_t name_len)
{
    const struct rl_lines *lines = &client->lines;
    if (lines->count == 0)
        return NULL;
    for (struct rl_line *line = *bucket_of(lines, name, name_len); line; line = line->next) {
        if (line->name_len == name_len && memcmp(line->name, name, name_len) == 0)
            return line;
    }
    return NULL;
}

static struct rl_line *by_number(const redlock *client, uint64_t number)
{
    const struct rl_lines *lines = &client->lines;
    uint64_t place = number & PLACE_MASK;
    struct rl_line *line = place < lines->places ? lines->place[place] : NULL;
    return line && line->number == number ? line : NULL;
}

bool rl_line_stands(const redlock *client, uint64_t number)
{
    return by_number(client, number) != NULL;
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
        struct rl_line **at = bucket_of(&grown, line->name, line->name_len);
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
    lines->place[place] = line;
}

static struct rl_line *take_spare(struct rl_lines *lines, size_t name_len)
{
    struct rl_line *line = lines->spare;
    if (line)
        lines->spare = line->next;
    else
        line = calloc(1, sizeof(*line));
    if (line && line->name_size < name_len) {
        char *name = realloc(line->name, name_len);
        if (!name) {
            line->next = lines->spare;
            lines->spare = line;
            return NULL;
        }
        line->name = name;
        line->name_size = name_len;
    }
    return line;
}

static struct rl_line *make(redlock *client, const struct rl_kind *kind, const void *name,
                            size_t name_len)
{
    struct rl_lines *lines = &client->lines;
    if (lines->count == PLACE_MASK || (lines->count == lines->places && grow(lines)))
        return NULL;
    struct rl_line *line = take_spare(lines, name_len);
    if (!line)
        return NULL;
    /* There is one, and near where the last one was put. */
    size_t place = lines->count;
    while (lines->place[place])
        place = (place + 1) & (lines->places - 1);
    number(lines, line, place);
    line->kind = kind;
    line->first = line->last = NULL;
    line->name_len = name_len;
    memcpy(line->name, name, name_len);
    struct rl_line **bucket = bucket_of(lines, name, name_len);
    line->next = *bucket;
    *bucket = line;
    lines->count++;
    return line;
}

static void put_away(redlock *client, struct rl_line *line, int64_t now_ns)
{
    struct rl_lines *lines = &client->lines;
    struct rl_line **at = bucket_of(lines, line->name, line->name_len);
    assert(!line->first);
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    lines->place[line->number & PLACE_MASK] = NULL;
    lines->count--;
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
        free(line->name);
        free(line);
    }
    free(lines->bucket);
    free(lines->place);
    *lines = (struct rl_lines){0};
}

/* ---- standing in it ------------------------------------------------------------------- */

int rl_line_join(redlock *client, struct rl_waiter *waiter, const struct rl_kind *kind,
                 const void *name, size_t name_len, int64_t now_ns)
{
    assert(!waiter->line);
    struct rl_line *line = rl_line_find(client, name, name_len);
    if (!line) {
        line = make(client, kind, name, name_len);
        if (!line)
            return REDLOCK_ENOMEM;
        rl_subs_want(client, now_ns);
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

/* Where we were woken the lock is kept for us: who gives up passes it on, who has won lets that
 * run out, since the next one would be woken for nothing. */
static void leave_queues(redlock *client, const struct rl_line *line, bool won, int64_t now_ns)
{
    uint64_t nodes = won ? line->entered & ~line->wakes : line->entered | line->wakes;
    struct rl_target target = {
        .kind = line->kind,
        .name = line->name,
        .name_len = line->name_len,
    };
    if (nodes)
        rl_claim_leave_queue(client, &target, line->number, nodes, now_ns);
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
    struct rl_line *line = by_number(client, number);
    if (!line)
        return;
    uint64_t bit = rl_bit(node);
    line->queued = queued == RL_QUEUED ? line->queued | bit : line->queued & ~bit;
    line->entered = queued == RL_NOT_QUEUED ? line->entered & ~bit : line->entered | bit;
    if (queued != RL_QUEUED)
        line->first->turn(line->first, RL_TURN_MISSED, now_ns);
}

/* ---- what happens --------------------------------------------------------------------- */

void rl_line_woken(redlock *client, unsigned node, uint64_t number, int64_t now_ns)
{
    struct rl_line *line = by_number(client, number);
    client->stats.wakes++;
    if (!line)
        return;
    if (!line->wakes)
        line->woken_ns = now_ns;
    line->wakes |= rl_bit(node);
    line->queued &= ~rl_bit(node); /* it was taken out to be woken */
    line->first->turn(line->first, RL_TURN_WOKEN, now_ns);
}

void rl_lines_changed(redlock *client, unsigned node, bool listens, int64_t now_ns)
{
    const struct rl_lines *lines = &client->lines;
    for (size_t i = 0; i < lines->places; i++) {
        struct rl_line *line = lines->place[i];
        if (!line)
            continue;
        line->queued &= ~rl_bit(node);
        if (listens)
            line->first->turn(line->first, RL_TURN_LISTENS, now_ns);
    }
}

void rl_line_freed(redlock *client, const void *name, size_t name_len, int64_t now_ns)
{
    struct rl_line *line = rl_line_find(client, name, name_len);
    if (line)
        line->first->turn(line->first, RL_TURN_FREED, now_ns);
}

/* ---- parting -------------------------------------------------------------------------- */

void rl_line_part(redlock *client, const void *name, size_t name_len, int64_t now_ns)
{
    struct rl_lines *lines = &client->lines;
    /* What a hand-off takes: the release, the wake-up, the acquire and its answer. */
    int64_t pause_ns = 4 * rl_client_round_trip_ns(client, rl_all(client->n));
    if (pause_ns > PARTING_MAX_NS)
        pause_ns = PARTING_MAX_NS;
    lines->parting[lines->partings++ % RL_PARTINGS] =
        (struct rl_parting){.hash = rl_hash(name, name_len), .until_ns = now_ns + pause_ns};
}

int64_t rl_line_parted_until_ns(const redlock *client, const void *name, size_t name_len)
{
    const struct rl_lines *lines = &client->lines;
    uint64_t hash = lines->partings > 0 ? rl_hash(name, name_len) : 0;
    int64_t until_ns = 0;
    for (unsigned i = 0; i < RL_PARTINGS && i < lines->partings; i++) {
        if (lines->parting[i].hash == hash && lines->parting[i].until_ns > until_ns)
            until_ns = lines->parting[i].until_ns;
    }
    return until_ns;
}
