/* fair_scene.c - see fair_scene.h. */
#include "config_auto.h"

#include "fair_scene.h"

#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct talk talks[FAIR_PEERS]; /* of peers */
static unsigned peers;

void fair_open(void)
{
    open_masters(1);
}

void fair_close(void)
{
    while (peers > 0)
        talk_close(&talks[--peers]);
    close_all();
}

redlock_lock *fair_hold(redlock *client, const char *owner)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    redlock_lock *lock = NULL;
    options.ttl_ms = FAIR_LEASE_MS; /* max-ttl: no test is to be late for it */
    options.kind = REDLOCK_FAIR;
    options.owner = owner;
    ck_assert_int_eq(redlock_try(client, FAIR_NAME, &options, &lock), 0);
    return lock;
}

void fair_wait(struct waiter *who, redlock *client, const char *owner)
{
    long long before = fair_queued();
    waiter_start_as(who, client, FAIR_NAME, REDLOCK_FAIR, owner, FAIR_LONG_MS);
    fair_queue_becomes(before + 1);
}

void fair_hears(const char *owner)
{
    char channel[FAIR_KEY_MAX];
    listeners_become(fair_peer_channel(FAIR_NAME, owner, channel), 1);
}

long long fair_queued(void)
{
    return master_do(masters, 0, "LLEN", FAIR_QUEUE, NULL).number;
}

void fair_queue_becomes(long long count)
{
    ck_assert_msg(wait_until(fair_queued() == count, FAIR_SOON_MS),
                  "not %lld in the queue: %.500s", count,
                  master_do(masters, 0, "LRANGE", FAIR_QUEUE, "0", "-1", NULL).text);
}

const char *fair_queued_at(int place)
{
    static struct reply reply;
    char text[16];
    snprintf(text, sizeof(text), "%d", place);
    reply = master_do(masters, 0, "LINDEX", FAIR_QUEUE, text, NULL);
    return reply.text;
}

int64_t fair_left_ms(const char *owner)
{
    struct reply reply = master_do(masters, 0, "ZSCORE", FAIR_TIMES, owner, NULL);
    ck_assert_msg(reply.type == '$' && reply.len > 0, "%s is not in the queue", owner);
    return strtoll(reply.text, NULL, 10) - fair_wall_ms();
}

void fair_silence(const char *owner, int64_t ms)
{
    char text[24];
    snprintf(text, sizeof(text), "-%lld", (long long)ms);
    struct reply reply =
        master_do(masters, 0, "ZADD", FAIR_SEEN, "XX", "INCR", text, owner, NULL);
    ck_assert_msg(reply.type == '$' && reply.len > 0, "%s is not in the queue", owner);
}

void fair_age(int64_t ms)
{
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)ms);
    master_do(masters, 0, "EVAL",
              "for _, who in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do "
              "redis.call('ZINCRBY', KEYS[1], -ARGV[1], who) end",
              "1", FAIR_TIMES, text, NULL);
}

/* ---- other processes -------------------------------------------------------------------- */

static int wait_in_child(void *argument)
{
    redlock *client = NULL;
    redlock_lock *lock = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = REDLOCK_FAIR;
    options.wait_ms = -1;
    options.owner = argument;
    child_expect(redlock_open(masters_file(masters, NULL), NULL, &client) == 0);
    child_expect(redlock_try(client, FAIR_NAME, &options, &lock) == 0);
    master_do(masters, 0, "RPUSH", "order", options.owner, NULL);
    child_expect(redlock_release(lock) == 0);
    redlock_close(client);
    return 0;
}

struct child fair_child(const char *owner)
{
    long long before = fair_queued();
    struct child child = child_start(wait_in_child, (char *)owner);
    fair_queue_becomes(before + 1);
    return child;
}

struct script_call fair_call(const char *owner)
{
    return (struct script_call){.row = REDLOCK_FAIR,
                                .name = FAIR_NAME,
                                .owner = owner,
                                .token = "t",
                                .ttl_ms = 10000,
                                .fair_ms = RL_FAIR_WAITER_MS};
}

struct fair_peer fair_peer_open(const char *owner)
{
    ck_assert_uint_lt(peers, FAIR_PEERS);
    struct talk *talk = &talks[peers++];
    talk_open(talk, masters, 0);
    return (struct fair_peer){
        .talk = talk, .name = FAIR_NAME, .owner = owner, .lease_ms = 30000, .wait_ms = 300000};
}
