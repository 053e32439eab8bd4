/* waiter.c - see waiter.h. */
#include "config_auto.h"

#include "waiter.h"

#include <stdio.h>

enum { MOMENT_MS = 10000, PROBE_MS = 1000 };

static void *wait_for_it(void *argument)
{
    struct waiter *waiter = argument;
    waiter->code = waiter->names
                       ? client_try_all(waiter->client, waiter->names, waiter->name_count,
                                        waiter->wait_ms, NULL, &waiter->lock)
                       : client_try_as(waiter->client, waiter->name, waiter->kind,
                                       waiter->owner, waiter->wait_ms, &waiter->lock);
    waiter->back_ms = now_ms();
    atomic_store(&waiter->back, true);
    return NULL;
}

static void start(struct waiter *waiter)
{
    redlock *client = waiter->client;
    uint64_t before = client_stats(client).waiting;
    waiter->begun_ms = now_ms();
    if (pthread_create(&waiter->thread, NULL, wait_for_it, waiter) != 0)
        suite_die("no thread for a waiter");
    ck_assert_msg(
        wait_until(client_stats(client).waiting > before || atomic_load(&waiter->back),
                   MOMENT_MS),
        "it does not wait for \"%s\"", waiter->name);
}

void waiter_start_as(struct waiter *waiter, redlock *client, const char *name, int kind,
                     const char *owner, int64_t wait_ms)
{
    *waiter = (struct waiter){
        .client = client,
        .name = name,
        .kind = kind,
        .owner = owner,
        .wait_ms = wait_ms,
    };
    start(waiter);
}

void waiter_start_all(struct waiter *waiter, redlock *client, const char *const names[],
                      size_t count, int64_t wait_ms)
{
    *waiter = (struct waiter){
        .client = client,
        .name = names[0],
        .names = names,
        .name_count = count,
        .wait_ms = wait_ms,
    };
    start(waiter);
}

void waiter_start(struct waiter *waiter, redlock *client, const char *name, int64_t wait_ms)
{
    waiter_start_as(waiter, client, name, REDLOCK_PLAIN, NULL, wait_ms);
}

bool waiter_is_back(struct waiter *waiter, int64_t limit_ms)
{
    return wait_until(atomic_load(&waiter->back), limit_ms);
}

void waiter_expect_code(struct waiter *waiter, int code, int64_t limit_ms)
{
    ck_assert_msg(waiter_is_back(waiter, limit_ms), "waits after %d ms more", (int)limit_ms);
    pthread_join(waiter->thread, NULL);
    ck_assert_msg(waiter->code == code, "%s, not %s", redlock_err_name(waiter->code),
                  redlock_err_name(code));
}

void waiter_expect_lock(struct waiter *waiter, int64_t limit_ms)
{
    waiter_expect_code(waiter, REDLOCK_OK, limit_ms);
    ck_assert_int_eq(redlock_release(waiter->lock), REDLOCK_OK);
}

void waiters_expect_in_turn(struct waiter waiters[], int count, int64_t limit_ms)
{
    for (int i = 0; i < count; i++) {
        ck_assert_msg(waiter_is_back(&waiters[i], limit_ms), "%d waits on", i);
        for (int k = i + 1; k < count; k++)
            ck_assert_msg(!atomic_load(&waiters[k].back), "%d came before %d", k, i);
        waiter_expect_lock(&waiters[i], 0);
    }
}

void waiter_mark(struct waiter *waiter)
{
    redlock_stats stats = client_stats(waiter->client);
    waiter->marked_wakes = stats.wakes;
    waiter->marked_probes = stats.probes;
    waiter->marked_ms = now_ms();
}

/* It does not look in its first second. Where what woke it came later than that, it may have
 * looked at that very moment. For a second that is believed, if messages came as well. */
static bool found_out_by_itself(struct waiter *waiter, uint64_t wakes)
{
    bool late = waiter->marked_ms - waiter->begun_ms >= PROBE_MS;
    int64_t since_ms = late && wakes > 0 ? waiter->marked_ms : waiter->begun_ms;
    return client_stats(waiter->client).probes != waiter->marked_probes &&
           waiter->back_ms - since_ms >= PROBE_MS;
}

void waiter_expect_woken(struct waiter *waiter, uint64_t wakes)
{
    ck_assert_msg(waiter_is_back(waiter, MOMENT_MS), "waits on");
    ck_assert_msg(!found_out_by_itself(waiter, wakes),
                  "looked by itself, maybe: %d ms after it began, %d after it was to be woken",
                  (int)(waiter->back_ms - waiter->begun_ms),
                  (int)(waiter->back_ms - waiter->marked_ms));
    /* The lock may be here before the last of them is read: it looks. */
    ck_assert_msg(
        wait_until((client_ready(waiter->client),
                    client_stats(waiter->client).wakes - waiter->marked_wakes >= wakes),
                   MOMENT_MS),
        "woken by %d messages",
        (int)(client_stats(waiter->client).wakes - waiter->marked_wakes));
    waiter_expect_lock(waiter, MOMENT_MS);
}

redlock_lock *take_everywhere(struct masters *masters, redlock *client, const char *name)
{
    unsigned running = 0;
    for (unsigned i = 0; i < masters->n; i++)
        running += masters->node[i].pid != 0 && !masters->node[i].paused;
    /* What was given up last may still be on its way, or be kept for somebody. */
    ck_assert(wait_until(masters_with(masters, name) == 0, MOMENT_MS));
    redlock_lock *lock = client_take(client, name);
    ck_assert(wait_until(masters_with(masters, name) == running, MOMENT_MS));
    return lock;
}

static const char *queue_of(const char *name)
{
    static _Thread_local char queue[128];
    snprintf(queue, sizeof(queue), "{%s}:redlock:queue", name);
    return queue;
}

bool queue_is(struct masters *masters, const char *name, long long count)
{
    unsigned agree = 0, needed = masters->n / 2 + 1;
    for (unsigned i = 0; i < masters->n; i++) {
        if (masters->node[i].pid == 0 || masters->node[i].paused)
            continue;
        struct reply reply = master_do(masters, i, "ZCARD", queue_of(name), NULL);
        if (reply.type != ':' || reply.number > count)
            return false;
        agree += reply.number == count;
    }
    return count == 0 || agree >= needed;
}

void queue_becomes(struct masters *masters, const char *name, long long count)
{
    char told[1024] = "";
    size_t len = 0;
    if (wait_until(queue_is(masters, name, count), MOMENT_MS))
        return;
    for (unsigned i = 0; i < masters->n && len < sizeof(told); i++) {
        if (masters->node[i].pid == 0 || masters->node[i].paused)
            continue;
        struct reply reply = master_do(masters, i, "ZRANGE", queue_of(name), "0", "-1", NULL);
        len += (size_t)snprintf(told + len, sizeof(told) - len, "; %u: %s", i, reply.text);
    }
    ck_abort_msg("not %lld in the queue of \"%s\"%s", count, name, told);
}

void nothing_is_left(struct masters *masters)
{
    for (unsigned i = 0; i < masters->n; i++) {
        if (masters->node[i].pid == 0 || masters->node[i].paused)
            continue;
        /* The note of a lock that was broken lasts as long as the lock would have. */
        bool empty =
            wait_until(master_do(masters, i, "DBSIZE", NULL).number ==
                           master_do(masters, i, "EXISTS", "{name}:redlock:broken", NULL).number,
                       MOMENT_MS);
        ck_assert_msg(empty, "master %u has %s", i,
                      master_do(masters, i, "KEYS", "*", NULL).text);
    }
}
