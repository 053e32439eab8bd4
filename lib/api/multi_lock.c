/* multi_lock.c - redlock_try_many: locks of several clients, all or none. Made of the calls for
 * one lock, since nothing that one client asks can tell of another's masters.
 *
 * Nobody waits for a lock while it has another: it waits for one, tries the others once, and
 * where one is refused gives up all and waits for that one. So there is no ring of those who
 * wait for each other, in whatever order each names its locks; and to sleep where it is refused
 * is to be woken when the reason is gone. Two who always take what the other needs next would
 * dance on for a while: a pause of random length ends that.
 */
#include "config_auto.h"

#include "core/backoff.h"
#include "engine/client.h"
#include "api/try.h"

#include <string.h>
#include <time.h>

struct taking {
    redlock_item *items;
    size_t count;
    int64_t wait_ms;
    int64_t end_ns; /* of a wait that has one, as the first one's client has the time */
};

static int64_t remaining_ns(const struct taking *taking)
{
    return taking->end_ns - rl_client_now_ns(taking->items[0].client);
}

static size_t name_len(const redlock_item *item)
{
    return item->name_len ? item->name_len : strlen(item->name);
}

static int kind_of(const redlock_item *item)
{
    return item->options ? item->options->kind : REDLOCK_PLAIN;
}

static bool same_owner(const redlock_item *one, const redlock_item *other)
{
    const char *a = one->options ? one->options->owner : NULL;
    const char *b = other->options ? other->options->owner : NULL;
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_name(const redlock_item *one, const redlock_item *other)
{
    return one->client == other->client && name_len(one) == name_len(other) &&
           memcmp(one->name, other->name, name_len(one)) == 0;
}

/* Can both be had under one name, whichever is taken first? Readers do not exclude each other,
 * and an owner does not exclude itself; but who reads can't become the writer. */
static bool go_together(const redlock_item *one, const redlock_item *other)
{
    int kind = kind_of(one);
    if (kind != kind_of(other) || kind == REDLOCK_PLAIN)
        return false;
    return kind == REDLOCK_READ || same_owner(one, other);
}

/* Whatever comes of it, what an item is left with is of this call. */
static int clear(redlock_item *items, size_t count)
{
    if (!items || count == 0 || count > REDLOCK_ITEMS_MAX)
        return REDLOCK_EINVAL;
    for (size_t i = 0; i < count; i++) {
        if (items[i].size != sizeof(*items))
            return REDLOCK_EINVAL;
    }
    for (size_t i = 0; i < count; i++) {
        items[i].lock = NULL;
        items[i].result = REDLOCK_OK;
    }
    return REDLOCK_OK;
}

static int check(const redlock_item *items, size_t count, int64_t wait_ms)
{
    for (size_t i = 0; i < count; i++) {
        if (!items[i].client || !items[i].name)
            return REDLOCK_EINVAL;
    }
    if (wait_ms < -1)
        return rl_client_refuse(items[0].client,
                                "wait_ms must be -1 (for ever), 0 (once) or more");
    for (size_t i = 0; i < count; i++) {
        const redlock_options *options = items[i].options;
        if (options && (options->size != sizeof(*options) || options->wait_ms != 0))
            return rl_client_refuse(items[i].client,
                                    "an item's options must begin with "
                                    "REDLOCK_OPTIONS_INIT, and leave wait_ms at 0");
        for (size_t k = 0; k < i; k++) {
            if (same_name(&items[i], &items[k]) && !go_together(&items[i], &items[k]))
                return rl_client_refuse(items[i].client, "two items have one name, and can't "
                                                         "both be had: only readers can, and "
                                                         "one kind again for one owner");
        }
    }
    return REDLOCK_OK;
}

/* The releases are on their way when this returns: nobody waits for the answers. */
static void give_up_all(const struct taking *taking)
{
    for (size_t i = 0; i < taking->count; i++) {
        if (taking->items[i].lock)
            redlock_release_async(taking->items[i].lock, NULL, NULL);
        taking->items[i].lock = NULL;
    }
}

/* None of their clients is freed from here on: closing one ends the call first. */
static int stay(redlock_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        items[i].result = rl_client_stay(items[i].client);
        if (items[i].result == REDLOCK_OK)
            continue;
        for (size_t k = 0; k < i; k++)
            rl_client_go(items[k].client);
        return items[i].result;
    }
    return REDLOCK_OK;
}

static void go(const struct taking *taking)
{
    for (size_t i = 0; i < taking->count; i++)
        rl_client_go(taking->items[i].client);
}

static struct rl_beside beside_of(const struct taking *taking)
{
    return (struct rl_beside){
        .items = taking->items,
        .count = taking->count,
        .left_ns = taking->wait_ms > 0 ? remaining_ns(taking) : INT64_MAX,
    };
}

static int take(const struct taking *taking, redlock_item *item, int64_t wait_ms)
{
    const struct rl_beside beside = beside_of(taking);
    const redlock_bytes name = {.bytes = item->name, .len = name_len(item)};
    const struct rl_asked asked = {.names = &name, .count = 1, .beside = &beside};
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    if (item->options)
        options = *item->options;
    options.wait_ms = wait_ms;
    item->result = rl_try(item->client, &asked, &options, &lock);
    item->lock = item->result == REDLOCK_OK ? lock : NULL;
    return item->result;
}

static int64_t remaining_ms(const struct taking *taking)
{
    if (taking->wait_ms <= 0)
        return taking->wait_ms;
    int64_t left_ns = remaining_ns(taking);
    return left_ns > 0 ? left_ns / RL_NS_PER_MS : 0;
}

/* Wait for `first`, then take the others as they are, from the next one on and around. What was
 * taken first must still be held when the last one is. On failure *ret_refused is the item
 * whose result is returned, and none is held. */
static int take_all(const struct taking *taking, size_t first, size_t *ret_refused)
{
    int result = REDLOCK_OK;
    size_t at = first;
    for (size_t i = 0; i < taking->count && result == REDLOCK_OK; i++) {
        at = (first + i) % taking->count;
        result = take(taking, &taking->items[at], i == 0 ? remaining_ms(taking) : 0);
    }
    if (result == REDLOCK_ECANCELED) {
        /* Maybe the client of another one than this has ended its try. */
        const struct rl_beside beside = beside_of(taking);
        size_t ended = rl_beside_ended(&beside);
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
    *ret_refused = at;
    return result;
}

/* Is it another's doing, so that asking again can help? */
static bool may_change(int result)
{
    return result == REDLOCK_EHELD || result == REDLOCK_ENOQUORUM || result == REDLOCK_EEXPIRED;
}

static void pause_ns(int64_t ns)
{
    struct timespec left = {.tv_sec = ns / RL_NS_PER_S, .tv_nsec = ns % RL_NS_PER_S};
    int cancel_state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    while (nanosleep(&left, &left) != 0)
        continue; /* interrupted */
    pthread_setcancelstate(cancel_state, NULL);
}

/* A seed of the client's, whose generator is under its lock. */
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

int redlock_try_many(redlock_item *items, size_t count, int64_t wait_ms)
{
    struct taking taking = {.items = items, .count = count, .wait_ms = wait_ms};
    struct rl_backoff backoff;
    struct rl_prng prng;
    size_t first = 0;
    int result = clear(items, count);
    if (result == REDLOCK_OK)
        result = check(items, count, wait_ms);
    if (result == REDLOCK_OK)
        result = stay(items, count);
    if (result)
        return result;
    seed(items[0].client, &prng);
    rl_backoff_init(&backoff, RL_RETRY_MIN_MS * RL_NS_PER_MS, RL_RETRY_MAX_MS * RL_NS_PER_MS);
    if (wait_ms > 0)
        taking.end_ns = wait_ms > RL_DURATION_MAX_MS
                            ? INT64_MAX / 2
                            : rl_client_now_ns(items[0].client) + wait_ms * RL_NS_PER_MS;
    while ((result = take_all(&taking, first, &first)) != REDLOCK_OK) {
        int64_t pause = rl_backoff_next_ns(&backoff, &prng);
        int64_t left_ms = remaining_ms(&taking);
        if (!may_change(result) || left_ms == 0)
            break;
        if (left_ms > 0 && pause > left_ms * RL_NS_PER_MS)
            pause = left_ms * RL_NS_PER_MS;
        pause_ns(pause);
    }
    go(&taking);
    return result;
}

int64_t redlock_validity_many(const redlock_item *items, size_t count)
{
    int64_t least_ms = items && count > 0 ? INT64_MAX : 0;
    for (size_t i = 0; items && i < count; i++) {
        int64_t ms = redlock_validity_ms(items[i].lock);
        if (ms < least_ms)
            least_ms = ms;
    }
    return least_ms;
}

int redlock_release_many(redlock_item *items, size_t count)
{
    int first = REDLOCK_OK;
    for (size_t i = 0; items && i < count; i++) {
        redlock_lock *lock = items[i].lock;
        items[i].result = lock ? rl_client_stay(lock->client) : REDLOCK_OK;
    }
    for (size_t i = 0; items && i < count; i++) {
        redlock_lock *lock = items[i].lock;
        if (lock && items[i].result == REDLOCK_OK) {
            redlock *client = lock->client;
            items[i].result = redlock_release(lock);
            rl_client_go(client);
        }
        if (items[i].result != REDLOCK_EFORK && items[i].result != REDLOCK_EDEADLK)
            items[i].lock = NULL;
        if (first == REDLOCK_OK)
            first = items[i].result;
    }
    return first;
}
