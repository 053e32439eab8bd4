/* multi_lock.c - redlock_try_multi: locks of several clients, all or none. It uses the calls
 * for one lock, because a client knows nothing of another's masters.
 *
 * No call waits for a lock while it has another one. It waits for one lock and tries the others
 * once. If one is refused, it gives up all and waits for that one. So calls can't deadlock, in
 * whatever order they name their locks, and each sleeps where a release will wake it. Two calls
 * that keep taking each other's next lock are separated by a pause of random length.
 */
#include "config_auto.h"

#include "core/backoff.h"
#include "engine/client/client.h"
#include "engine/enter.h"
#include "api/lock.h"
#include "api/multi_items.h"
#include "api/try.h"

#include <assert.h>
#include <time.h>

static int64_t remaining_ns(const struct rl_multi *taking)
{
    assert(taking->count > 0 && taking->wait_ms > 0); /* else it has no end */
    return taking->end_ns - rl_client_now_ns(taking->clients[0]);
}

/* The releases are on their way when this returns: nobody waits for the answers. */
static void give_up_all(struct rl_multi *taking)
{
    for (size_t i = 0; i < taking->count; i++) {
        if (taking->items[i].lock) {
            rl_lock_unkeep(taking->items[i].lock);
            redlock_release_async(taking->items[i].lock, NULL, NULL);
        }
        taking->items[i].lock = NULL;
    }
}

/* From here on none of their clients may be freed: closing one ends this call first. */
static int stay(struct rl_multi *taking)
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

static void go(const struct rl_multi *taking)
{
    for (size_t i = 0; i < taking->count; i++)
        rl_client_go(taking->clients[i]);
}

static struct rl_group group_of(const struct rl_multi *taking)
{
    return (struct rl_group){
        .clients = taking->clients,
        .count = taking->count,
        .left_ns = taking->wait_ms > 0 ? remaining_ns(taking) : INT64_MAX,
    };
}

static int take(const struct rl_multi *taking, redlock_item *item, int64_t wait_ms)
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
    return item->result;
}

static int64_t remaining_ms(const struct rl_multi *taking)
{
    if (taking->wait_ms <= 0)
        return taking->wait_ms;
    int64_t left_ns = remaining_ns(taking);
    return left_ns > 0 ? left_ns / RL_NS_PER_MS : 0;
}

/* Wait for `first`, then try the others once, from the next one on and around. All must still
 * be held when the last one is acquired. On failure *ret_refused is the item whose result is
 * returned, and none is held. */
static int take_all(struct rl_multi *taking, size_t first, size_t *ret_refused)
{
    assert(taking->count > 0 && first < taking->count);
    int result = REDLOCK_OK;
    size_t at = first;
    for (size_t i = 0; i < taking->count && result == REDLOCK_OK; i++) {
        at = (first + i) % taking->count;
        result = take(taking, &taking->items[at], i == 0 ? remaining_ms(taking) : 0);
    }
    /* What was asked too briefly to tell does not make another's lock vanish. */
    if (result == REDLOCK_EUNDECIDED && taking->held < taking->count) {
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
    return result == REDLOCK_EHELD || result == REDLOCK_ENOQUORUM ||
           result == REDLOCK_EUNDECIDED || result == REDLOCK_EEXPIRED;
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

static void set_end(struct rl_multi *taking)
{
    if (taking->wait_ms > RL_DURATION_MAX_MS)
        taking->end_ns = INT64_MAX / 2;
    else if (taking->wait_ms > 0)
        taking->end_ns = rl_client_now_ns(taking->clients[0]) + taking->wait_ms * RL_NS_PER_MS;
}

static int take_in_time(struct rl_multi *taking)
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
    struct rl_multi taking;
    if (!rl_multi_sized(items, count))
        return rl_multi_refuse(items, count);
    /* Clear the results: an item must not keep those of an earlier call. */
    for (size_t i = 0; i < count; i++)
        rl_multi_put(rl_multi_item(items, i), NULL, REDLOCK_OK);
    taking.count = 0;
    taking.wait_ms = wait_ms;
    int result = rl_multi_take(&taking, items, count);
    if (result == REDLOCK_OK)
        result = rl_multi_check(&taking);
    if (result)
        return result;
    result = stay(&taking);
    if (result == REDLOCK_OK) {
        result = take_in_time(&taking);
        go(&taking);
    }
    rl_multi_put_all(&taking, items);
    return result;
}

int64_t redlock_validity_multi(const redlock_item *items, size_t count)
{
    int64_t least_ms = INT64_MAX;
    if (!rl_multi_sized(items, count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        int64_t ms = redlock_validity_ms(rl_multi_item(items, i)->lock);
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
    if (!rl_multi_sized(items, count))
        return rl_multi_refuse(items, count);
    for (size_t i = 0; i < count; i++) {
        redlock_item *item = rl_multi_item(items, i);
        item->result = item->lock ? rl_client_stay(item->lock->client) : REDLOCK_OK;
    }
    for (size_t i = 0; i < count; i++) {
        redlock_item *item = rl_multi_item(items, i);
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
