/* wait_queue.c - see wait_queue.h. */
#include "config_auto.h"

#include "engine/wait/wait_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_BITS 24
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)
#define PLACES_MIN 16

/* ---- finding -------------------------------------------------------------------------- */

static uint64_t hash_of(const struct rl_wait_queues *queues, const struct rl_target *target)
{
    return rl_hash_of(&queues->by_name, target->name, target->name_len);
}

/* A queue is for one kind and name; if the masters serve owners in turn, also for one owner. */
static bool is_for(const struct rl_wait_queue *queue, const struct rl_target *target)
{
    const struct rl_target *own = &queue->target;
    if (own->kind != target->kind || own->name_len != target->name_len ||
        memcmp(own->name, target->name, own->name_len) != 0)
        return false;
    return own->kind->wakeup != RL_WAKEUP_FAIR ||
           (own->owner_len == target->owner_len &&
            memcmp(own->owner, target->owner, own->owner_len) == 0);
}

struct rl_wait_queue *rl_wait_queue_find(struct rl_wait_queues *queues,
                                         const struct rl_target *target)
{
    assert(target->kind && target->name_len > 0);
    if (queues->by_name.count == 0) /* mostly nobody waits */
        return NULL;
    struct rl_hashed *entry = rl_hash_find(&queues->by_name, hash_of(queues, target));
    for (; entry; entry = rl_hash_next(entry)) {
        struct rl_wait_queue *queue = RL_ITEM(entry, struct rl_wait_queue, by_name);
        if (is_for(queue, target))
            return queue;
    }
    return NULL;
}

struct rl_wait_queue *rl_wait_queue_by_number(const struct rl_wait_queues *queues,
                                              uint64_t number)
{
    uint64_t place = number & PLACE_MASK;
    struct rl_wait_queue *queue = place < queues->places ? queues->place[place] : NULL;
    return queue && queue->number == number ? queue : NULL;
}

uint64_t rl_wait_queue_rounds(const struct rl_wait_queues *queues, uint64_t number)
{
    const struct rl_wait_queue *queue = rl_wait_queue_by_number(queues, number);
    return queue ? queue->waking.rounds : 0;
}

bool rl_wait_queue_exists(const struct rl_wait_queues *queues, uint64_t number)
{
    return rl_wait_queue_by_number(queues, number) != NULL;
}

/* ---- where it hears -------------------------------------------------------------------- */

uint64_t rl_wait_queue_listening(const struct rl_wait_queues *queues,
                                 const struct rl_wait_queue *queue)
{
    if (!queue)
        return 0;
    return queue->channel ? rl_channel_listening(queue->channel) : queues->subs->listening;
}

bool rl_wait_queue_pending(const struct rl_wait_queues *queues,
                           const struct rl_wait_queue *queue)
{
    return rl_subs_pending(queues->subs) ||
           (queue && queue->channel && queue->channel->pending);
}

uint64_t rl_wait_queue_nodes(const struct rl_wait_queues *queues, const struct rl_kind *kind,
                             uint64_t number)
{
    assert(number != 0); /* 0 is no queue's */
    if (kind->queues_at_once)
        return rl_all(queues->voters->n);
    if (rl_kind_queues(kind))
        return queues->subs->listening;
    return rl_wait_queue_listening(queues, rl_wait_queue_by_number(queues, number));
}

/* ---- making and putting away ---------------------------------------------------------- */

/* Room for one more, by number and by name. */
static int reserve(struct rl_wait_queues *queues)
{
    assert(queues->by_name.count <= queues->places);
    if (queues->by_name.count == queues->places) {
        size_t size = queues->places ? 2 * queues->places : PLACES_MIN;
        assert(size <= PLACE_MASK + 1 && (size & (size - 1)) == 0);
        struct rl_wait_queue **place = realloc(queues->place, size * sizeof(*place));
        if (!place)
            return REDLOCK_ENOMEM;
        memset(place + queues->places, 0, (size - queues->places) * sizeof(*place));
        queues->place = place;
        queues->places = size;
    }
    return rl_hash_reserve(&queues->by_name);
}

/* Give the queue a new number: messages for the old one are not for the present waiters. */
static void number(struct rl_wait_queues *queues, struct rl_wait_queue *queue, size_t place)
{
    assert(place < queues->places && place <= PLACE_MASK);
    assert(!queues->place[place] || queues->place[place] == queue);
    queue->number = (++queues->last_number << PLACE_BITS) | place;
    rl_waking_init(&queue->waking, !queue->channel);
    queues->place[place] = queue;
}

static struct rl_wait_queue *make(struct rl_wait_queues *queues, const struct rl_target *target)
{
    if (queues->by_name.count == PLACE_MASK || reserve(queues))
        return NULL;
    struct rl_wait_queue *queue =
        RL_ITEM(rl_list_pop(&queues->spare), struct rl_wait_queue, entry);
    if (!queue)
        queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    assert(!queue->waiters.first); /* nobody waits in a spare one */
    queue->found = (struct rl_finding){.code = 0};
    bool kept = rl_target_keep(&queue->target, &queue->bytes, target) == 0;
    if (kept && target->kind->wakeup != RL_WAKEUP_FAIR)
        queue->target.owner_len = 0;
    if (!kept || !rl_wait_queue_subscribe(queues, queue)) {
        rl_list_push(&queues->spare, &queue->entry);
        return NULL;
    }
    /* A free place exists, and near the last one used. */
    size_t place = queues->by_name.count;
    while (queues->place[place])
        place = (place + 1) & (queues->places - 1);
    number(queues, queue, place);
    rl_hash_add(&queues->by_name, &queue->by_name, hash_of(queues, target));
    return queue;
}

static void put_away(struct rl_wait_queues *queues, struct rl_wait_queue *queue, int64_t now_ns)
{
    assert(!queue->waiters.first);
    assert(queues->place[queue->number & PLACE_MASK] == queue);
    rl_hash_remove(&queues->by_name, &queue->by_name);
    queues->place[queue->number & PLACE_MASK] = NULL;
    rl_wait_queue_unsubscribe(queues, queue, now_ns);
    rl_list_push(&queues->spare, &queue->entry);
    queues->left_ns = now_ns;
}

static void free_queue(struct rl_wait_queue *queue)
{
    if (queue)
        free(queue->bytes.at);
    free(queue);
}

void rl_wait_queues_free(struct rl_wait_queues *queues)
{
    for (size_t i = 0; i < queues->places; i++)
        free_queue(queues->place[i]);
    RL_EACH_FREED (struct rl_wait_queue, queue, &queues->spare, entry)
        free_queue(queue);
    for (unsigned i = 0; i < RL_PENDING_LEAVES; i++)
        free(queues->pending_leave[i].bytes);
    rl_hash_free(&queues->by_name);
    free(queues->place);
    *queues = (struct rl_wait_queues){0};
}

/* ---- standing in it ------------------------------------------------------------------- */

int rl_wait_queue_join(struct rl_wait_queues *queues, struct rl_waiter *waiter,
                       const struct rl_target *target, int64_t now_ns)
{
    assert(!waiter->queue);
    struct rl_wait_queue *queue = rl_wait_queue_find(queues, target);
    if (!queue) {
        queue = make(queues, target);
        if (!queue)
            return REDLOCK_ENOMEM;
        rl_subs_start(queues->subs, now_ns);
        if (queue->channel)
            rl_subs_sync(queues->subs, queue->channel, now_ns);
    }
    waiter->queue = queue;
    rl_list_append(&queue->waiters, &waiter->entry);
    queues->waiting++;
    return 0;
}

static void leave_queues(struct rl_wait_queues *queues, const struct rl_wait_queue *queue,
                         bool won, int64_t now_ns)
{
    assert(won || !queue->waiters.first); /* else the others still wait under this number */
    uint64_t nodes = rl_waking_leaves(&queue->waking, won, queue->target.kind->several);
    if (nodes)
        rl_wait_queue_leave_nodes(queues, &queue->target, queue->number, nodes, now_ns);
}

void rl_wait_queue_leave(struct rl_wait_queues *queues, struct rl_waiter *waiter, bool won,
                         int64_t now_ns)
{
    struct rl_wait_queue *queue = waiter->queue;
    if (!queue)
        return;
    bool was_first = rl_wait_queue_is_first(waiter);
    assert(rl_list_has(&queue->waiters, &waiter->entry));
    rl_list_remove(&queue->waiters, &waiter->entry);
    assert(queues->waiting > 0);
    waiter->queue = NULL;
    queues->waiting--;
    if (!queue->waiters.first) {
        leave_queues(queues, queue, won, now_ns);
        put_away(queues, queue, now_ns);
    } else if (was_first) {
        if (won) {
            rl_waking_won(&queue->waking);
            leave_queues(queues, queue, true, now_ns);
            number(queues, queue, queue->number & PLACE_MASK);
        }
        rl_wait_queue_call(queue, RL_TURN_FIRST, now_ns);
    }
}

void rl_wait_queue_on_reply(struct rl_wait_queues *queues, uint64_t number, unsigned node,
                            enum rl_queued queued, int64_t now_ns)
{
    struct rl_wait_queue *queue = rl_wait_queue_by_number(queues, number);
    assert(node < queues->voters->n);
    if (queue && rl_waking_answer(&queue->waking, node, queued))
        rl_wait_queue_call(queue, RL_TURN_MISSED, now_ns);
}
