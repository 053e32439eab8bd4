/* subscribers.c - the client's subscriber connections (subscriber.h), which tell of releases.
 * They are made at the first wait for a lock, kept afterwards, and watched while somebody
 * waits. */
#include "config_auto.h"

#include "engine/wait/subscribers.h"

#include "base/times.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A client that waited may wait again within this time. */
#define UNWANTED_NS (5 * RL_NS_PER_S)

static struct rl_sub *make(struct rl_subs *subs)
{
    assert(subs->events && !subs->block);
    unsigned n = subs->nodes->n;
    struct rl_sub *block = calloc(n, sizeof(*block));
    for (unsigned i = 0; block && i < n; i++) {
        if (rl_sub_init(&block[i], &subs->nodes->all[i], subs->events, subs->uuid,
                        subs->epoll_fd, subs->wake_fd) == 0)
            continue;
        while (i > 0)
            rl_sub_done(&block[--i], false);
        free(block);
        return NULL;
    }
    for (unsigned i = 0; block && i < n; i++) {
        block[i].channels = &subs->channels;
        subs->nodes->all[i].sub = &block[i];
    }
    return block;
}

void rl_subs_start(struct rl_subs *subs, int64_t now_ns)
{
    if (!subs->block)
        subs->block = make(subs);
    if (!subs->block) /* no memory for them: waiters poll instead */
        return;
    subs->wanted = true;
    for (unsigned i = 0; i < subs->nodes->n; i++)
        rl_sub_want(subs->nodes->all[i].sub, now_ns);
}

void rl_subs_sync(struct rl_subs *subs, struct rl_channel *channel, int64_t now_ns)
{
    assert(channel->users > 0 || !channel->queues.first); /* each queue on it is a user */
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++)
        rl_sub_sync(subs->nodes->all[i].sub, channel, now_ns);
    rl_channel_free_if_idle(&subs->channels, channel);
    subs->unflushed = subs->block != NULL;
}

void rl_subs_flush(struct rl_subs *subs, int64_t now_ns)
{
    assert(subs->block && subs->unflushed);
    subs->unflushed = false;
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++)
        rl_sub_flush(subs->nodes->all[i].sub, now_ns);
}

uint64_t rl_subs_alive(const struct rl_subs *subs, int64_t since_ns)
{
    uint64_t heard = 0;
    assert(subs->block || !subs->listening); /* only subscribers listen */
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++) {
        if (subs->nodes->all[i].sub->connection.heard_ns >= since_ns)
            heard |= rl_bit(i);
    }
    return heard;
}

bool rl_subs_pending(const struct rl_subs *subs)
{
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++) {
        if (rl_sub_pending(subs->nodes->all[i].sub))
            return true;
    }
    return false;
}

/* Nobody has waited for a while: stop watching the connections. */
static void unwant(struct rl_subs *subs)
{
    assert(subs->block);
    subs->wanted = false;
    for (unsigned i = 0; i < subs->nodes->n; i++)
        rl_sub_unwant(subs->nodes->all[i].sub);
}

void rl_subs_absent(struct rl_subs *subs, int64_t absent_ns)
{
    assert(absent_ns > 0);
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++)
        rl_sub_absent(subs->nodes->all[i].sub, absent_ns);
}

void rl_subs_tick(struct rl_subs *subs, int64_t unused_since_ns, int64_t now_ns)
{
    assert(subs->block || !subs->wanted);
    if (subs->wanted && now_ns - unused_since_ns > UNWANTED_NS)
        unwant(subs);
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++)
        rl_sub_tick(subs->nodes->all[i].sub, now_ns);
}

int64_t rl_subs_due_ns(struct rl_subs *subs)
{
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++)
        due_ns = rl_earlier_ns(due_ns, rl_sub_due_ns(subs->nodes->all[i].sub));
    return due_ns;
}

void rl_subs_done(struct rl_subs *subs, bool in_child)
{
    for (unsigned i = 0; subs->block && i < subs->nodes->n; i++) {
        rl_sub_done(subs->nodes->all[i].sub, in_child);
        subs->nodes->all[i].sub = NULL;
    }
    free(subs->block);
    subs->block = NULL;
}
