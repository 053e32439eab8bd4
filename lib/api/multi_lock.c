/* multi_lock.c - redlock_try_multi: locks of several clients, all or none. It uses the calls
 * for one lock, because a client knows nothing of another's masters.
 *
 * No call waits for a lock while it has another one. It waits for one lock and tries the others
 * once. If one is refused, it gives up all and waits for that one. So calls can't deadlock, in
 * whatever order they name their locks, and each sleeps where a release will wake it. Two calls
 * that keep taking each other's next lock are separated by a pause of random length.
 */
#include "config_auto.h"

#include "base/struct_abi.h"
#include "core/backoff.h"
#include "engine/client.h"
#include "api/try.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

struct taking {
    redlock_item items[REDLOCK_ITEMS_MAX]; /* in this library's layout */
    redlock_options options[REDLOCK_ITEMS_MAX];
    redlock *clients[REDLOCK_ITEMS_MAX];
    size_t count;
    int64_t wait_ms;
    int64_t end_ns; /* the end of the wait, by the clock of the first item's client */
    size_t held;    /* the item that another holder had when it was asked last; `count`: none */
};

static const struct rl_struct shape = {
    "redlock_item",
    "REDLOCK_ITEM",
    sizeof(redlock_item),
    offsetof(redlock_item, name_len),
};

/* ---- the caller's items, which are as far apart as they are large there ------------------ */

static redlock_item *item_at(const redlock_item *items, size_t index)
{
    return (redlock_item *)((uintptr_t)items + index * items[0].size);
}

/* Write an item's result. Every version has these members. */
static void put(redlock_item *item, redlock_lock *lock, int result)
{
    item->lock = lock;
    item->result = result;
}

static void put_all(const struct taking *taking, redlock_item *items)
{
    for (size_t i = 0; i < taking->count; i++)
        put(item_at(items, i), taking->items[i].lock, taking->items[i].result);
}

static int64_t remaining_ns(const struct taking *taking)
{
    assert(taking->count > 0 && taking->wait_ms > 0); /* else it has no end */
    return taking->end_ns - rl_client_now_ns(taking->clients[0]);
}

static bool same_owner(const redlock_item *one, const redlock_item *other)
{
    const char *a = one->options->owner;
    const char *b = other->options->owner;
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_name(const redlock_item *one, const redlock_item *other)
{
    return one->client == other->client && one->name_len == other->name_len &&
           memcmp(one->name, other->name, one->name_len) == 0;
}

/* Can both be held under one name, in any order? Readers do not exclude each other, and an
 * owner does not exclude itself; but a reader can't become the writer. */
static bool go_together(const redlock_item *one, const redlock_item *other)
{
    int kind = one->options->kind;
    if (kind != other->options->kind || kind == REDLOCK_PLAIN)
        return false;
    return kind == REDLOCK_READ || same_owner(one, other);
}

static bool sized(const redlock_item *items, size_t count)
{
    char why[RL_STRUCT_WHY_MAX];
    if (!items || count == 0 || count > REDLOCK_ITEMS_MAX)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!rl_struct_sized(&shape, items[0].size, why, sizeof(why)) ||
            item_at(items, i)->size != items[0].size)
            return false;
    }
    return true;
}

static int refuse(const struct taking *taking, size_t index, const char *why)
{
    return rl_client_refuse(taking->clients[index], why);
}

static int take_item(struct taking *taking, const redlock_item *given, size_t index)
{
    char why[RL_STRUCT_WHY_MAX];
    redlock_item *item = &taking->items[index];
    redlock_options *options = &taking->options[index];
    assert(index == taking->count && index < REDLOCK_ITEMS_MAX);
    if (!given->client || !given->name)
        return REDLOCK_EINVAL;
    taking->clients[index] = given->client;
    *options = (redlock_options)REDLOCK_OPTIONS_INIT;
    *item = (redlock_item)REDLOCK_ITEM(NULL, NULL, NULL);
    if (!rl_struct_take(&shape, given, item, why, sizeof(why)))
        return refuse(taking, index, why);
    if (item->options && !rl_options_take(item->options, options, why, sizeof(why)))
        return refuse(taking, index, why);
    if (options->wait_ms != 0)
        return refuse(taking, index,
                      "the options of an item leave wait_ms at 0: items wait "
                      "together, for the call's wait_ms");
    item->options = options;
    item->name_len = item->name_len ? item->name_len : strlen(item->name);
    put(item, NULL, REDLOCK_OK);
    return REDLOCK_OK;
}

static int take_items(struct taking *taking, const redlock_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int result = take_item(taking, item_at(items, i), i);
        if (result)
            return result;
        taking->count++;
    }
    return REDLOCK_OK;
}

static int check(const struct taking *taking)
{
    const redlock_item *items = taking->items;
    if (taking->wait_ms < -1)
        return refuse(taking, 0, "wait_ms must be -1 (for ever), 0 (once) or more");
    for (size_t i = 0; i < taking->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (same_name(&items[i], &items[k]) && !go_together(&items[i], &items[k]))
                return refuse(taking, i,
                              "two items have one name, and can't both be had: only "
                              "readers can, and one kind again for one owner");
        }
    }
    return REDLOCK_OK;
}

/* The releases are on their way when this returns: nobody waits for the answers. */
static void give_up_all(struct taking *taking)
{
    for (size_t i = 0; i < taking->count; i++) {
        if (taking->items[i].lock)
            redlock_release_async(taking->items[i].lock, NULL, NULL);
        taking->items[i].lock = NULL;
    }
}

/* From here on none of their clients may be freed: closing one ends this call first. */
static int stay(struct taking *taking)
{
    for (size_t i = 0; i < taking->count; i++) {
        int result = rl_client_stay(taking->clients[i]);
        taking->items[i].result = result;
        if (result == REDLOCK_OK)
            continue;
        while (i-- > 0)
            rl_client_go(taking->clients[i]);
        return result;
    }
    return REDLOCK_OK;
}

static void go(const struct taking *taking)
{
    for (size_t i = 0; i < taking->count; i++)
        rl_client_go(taking->clients[i]);
}

static struct rl_group group_of(const struct taking *taking)
{
    return (struct rl_group){
        .clients = taking->clients,
        .count = taking->count,
        .left_ns = taking->wait_ms > 0 ? remaining_ns(taking) : INT64_MAX,
    };
}

/* *ret_cut_short: the end of the wait left less time than an answer may take. */
static int take(const struct taking *taking, redlock_item *item, int64_t wait_ms,
                bool *ret_cut_short)
{
    assert(!item->lock && item->options); /* none is held twice */
    struct rl_group group = group_of(taking);
    const redlock_bytes name = {.bytes = item->name, .len = item->name_len};
    const struct rl_names_arg names_arg = {.names = &name, .count = 1, .group = &group};
    redlock_options options = *item->options;
    redlock_lock *lock = NULL;
    options.wait_ms = wait_ms;
    item->result = rl_try(item->client, &names_arg, &options, &lock);
    item->lock = item->result == REDLOCK_OK ? lock : NULL;
    *ret_cut_short = group.cut_short;
    return item->result;
}

static int64_t remaining_ms(const struct taking *taking)
{
    if (taking->wait_ms <= 0)
        return taking->wait_ms;
    int64_t left_ns = remaining_ns(taking);
    return left_ns > 0 ? left_ns / RL_NS_PER_MS : 0;
}

/* Wait for `first`, then try the others once, from the next one on and around. All must still
 * be held when the last one is acquired. On failure *ret_refused is the item whose result is
 * returned, and none is held. */
static int take_all(struct taking *taking, size_t first, size_t *ret_refused)
{
    assert(taking->count > 0 && first < taking->count);
    int result = REDLOCK_OK;
    bool cut_short = false;
    size_t at = first;
    for (size_t i = 0; i < taking->count && result == REDLOCK_OK; i++) {
        at = (first + i) % taking->count;
        result =
            take(taking, &taking->items[at], i == 0 ? remaining_ms(taking) : 0, &cut_short);
    }
    /* Silence in the last few milliseconds of a wait does not make another's lock vanish. */
    if (result == REDLOCK_ENOQUORUM && cut_short && taking->held < taking->count) {
        taking->items[at].result = REDLOCK_OK;
        at = taking->held;
        result = taking->items[at].result = REDLOCK_EHELD;
    }
    if (result == REDLOCK_ECANCELED) {
        /* The client of another item may have ended this try. */
        const struct rl_group group = group_of(taking);
        size_t ended = rl_group_canceled(&group);
        at = ended < taking->count ? ended : at;
        taking->items[at].result = result;
    }
    for (size_t i = 0; i < taking->count && result == REDLOCK_OK; i++) {
        at = i;
        if (redlock_validity_ms(taking->items[i].lock) == 0)
            result = taking->items[i].result = REDLOCK_EEXPIRED;
    }
    if (result)
        give_up_all(taking);
    taking->held = result == REDLOCK_EHELD ? at : taking->count;
    *ret_refused = at;
    return result;
}

/* Did another holder cause it? Then asking again can help. */
static bool may_change(int result)
{
    return result == REDLOCK_EHELD || result == REDLOCK_ENOQUORUM || result == REDLOCK_EEXPIRED;
}

static void pause_ns(int64_t ns)
{
    assert(ns >= 0);
    struct timespec left = {.tv_sec = ns / RL_NS_PER_S, .tv_nsec = ns % RL_NS_PER_S};
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    while (nanosleep(&left, &left) != 0)
        continue; /* interrupted */
    pthread_setcancelstate(cancel_state, NULL);
}

/* A seed from the client's generator, which its mutex guards. */
static void seed(redlock *client, struct rl_prng *prng)
{
    int cancel_state;
    uint64_t number = 0;
    if (rl_client_enter(client, &cancel_state) == REDLOCK_OK) {
        number = rl_prng_next(&client->prng);
        rl_client_leave(client, cancel_state);
    }
    rl_prng_seed(prng, number);
}

static void set_end(struct taking *taking)
{
    if (taking->wait_ms > RL_DURATION_MAX_MS)
        taking->end_ns = INT64_MAX / 2;
    else if (taking->wait_ms > 0)
        taking->end_ns = rl_client_now_ns(taking->clients[0]) + taking->wait_ms * RL_NS_PER_MS;
}

static int take_in_time(struct taking *taking)
{
    struct rl_backoff backoff;
    struct rl_prng prng;
    size_t first = 0;
    int result;
    taking->held = taking->count;
    seed(taking->clients[0], &prng);
    rl_backoff_init(&backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS, RL_RETRY_MAX_MS * RL_NS_PER_MS);
    set_end(taking);
    while ((result = take_all(taking, first, &first)) != REDLOCK_OK) {
        int64_t pause = rl_backoff_next_ns(&backoff, &prng);
        int64_t left_ms = remaining_ms(taking);
        if (!may_change(result) || left_ms == 0)
            break;
        if (left_ms > 0 && pause > left_ms * RL_NS_PER_MS)
            pause = left_ms * RL_NS_PER_MS;
        pause_ns(pause);
    }
    return result;
}

int redlock_try_multi(redlock_item *items, size_t count, int64_t wait_ms)
{
    struct taking taking;
    if (!sized(items, count))
        return REDLOCK_EINVAL;
    /* Clear the results: an item must not keep those of an earlier call. */
    for (size_t i = 0; i < count; i++)
        put(item_at(items, i), NULL, REDLOCK_OK);
    taking.count = 0;
    taking.wait_ms = wait_ms;
    int result = take_items(&taking, items, count);
    if (result == REDLOCK_OK)
        result = check(&taking);
    if (result)
        return result;
    result = stay(&taking);
    if (result == REDLOCK_OK) {
        result = take_in_time(&taking);
        go(&taking);
    }
    put_all(&taking, items);
    return result;
}

int64_t redlock_validity_multi(const redlock_item *items, size_t count)
{
    int64_t least_ms = INT64_MAX;
    if (!sized(items, count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        int64_t ms = redlock_validity_ms(item_at(items, i)->lock);
        if (ms < least_ms)
            least_ms = ms;
    }
    return least_ms;
}

int redlock_release_multi(redlock_item *items, size_t count)
{
    int first = REDLOCK_OK;
    if (count == 0)
        return REDLOCK_OK;
    if (!sized(items, count))
        return REDLOCK_EINVAL;
    for (size_t i = 0; i < count; i++) {
        redlock_item *item = item_at(items, i);
        item->result = item->lock ? rl_client_stay(item->lock->client) : REDLOCK_OK;
    }
    for (size_t i = 0; i < count; i++) {
        redlock_item *item = item_at(items, i);
        redlock_lock *lock = item->lock;
        if (lock && item->result == REDLOCK_OK) {
            redlock *client = lock->client;
            item->result = redlock_release(lock);
            rl_client_go(client);
        }
        if (item->result != REDLOCK_EFORK && item->result != REDLOCK_EDEADLK)
            item->lock = NULL;
        if (first == REDLOCK_OK)
            first = item->result;
    }
    return first;
}
