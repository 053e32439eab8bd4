/* subscribers.c - the client's subscriber connections (subscriber.h), which tell of releases.
 * They are made at the first wait for a lock, kept afterwards, and watched while somebody
 * waits. */
#include "config_auto.h"

#include "engine/wait/subscribers.h"

#include "engine/client/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A client that waited may wait again within this time. */
#define UNWANTED_NS (5 * RL_NS_PER_S)

static struct rl_sub *make(redlock *client)
{
    assert(client->subs.events && !client->subs.block);
    struct rl_sub *subs = calloc(client->nodes.n, sizeof(*subs));
    for (unsigned i = 0; subs && i < client->nodes.n; i++) {
        if (rl_sub_init(&subs[i], &client->nodes.all[i], client->subs.events,
                        client->identity.uuid, client->loop.epoll_fd,
                        client->loop.wake_fd) == 0)
            continue;
        while (i > 0)
            rl_sub_done(&subs[--i], false);
        free(subs);
        return NULL;
    }
    for (unsigned i = 0; subs && i < client->nodes.n; i++) {
        subs[i].channels = &client->subs.channels;
        client->nodes.all[i].sub = &subs[i];
    }
    return subs;
}

void rl_subs_start(redlock *client, int64_t now_ns)
{
    if (!client->subs.block)
        client->subs.block = make(client);
    if (!client->subs.block) /* no memory for them: waiters poll instead */
        return;
    client->subs.wanted = true;
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_sub_want(client->nodes.all[i].sub, now_ns);
}

void rl_subs_sync(redlock *client, struct rl_channel *channel, int64_t now_ns)
{
    assert(channel->users > 0 || !channel->queues.first); /* each queue on it is a user */
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++)
        rl_sub_sync(client->nodes.all[i].sub, channel, now_ns);
    rl_channel_free_if_idle(&client->subs.channels, channel);
    client->subs.unflushed = client->subs.block != NULL;
}

void rl_subs_flush(redlock *client, int64_t now_ns)
{
    assert(client->subs.block && client->subs.unflushed);
    client->subs.unflushed = false;
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++)
        rl_sub_flush(client->nodes.all[i].sub, now_ns);
}

uint64_t rl_subs_alive(const redlock *client, int64_t since_ns)
{
    uint64_t heard = 0;
    assert(client->subs.block || !client->subs.listening); /* only subscribers listen */
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++) {
        if (client->nodes.all[i].sub->connection.heard_ns >= since_ns)
            heard |= rl_bit(i);
    }
    return heard;
}

bool rl_subs_pending(const redlock *client)
{
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++) {
        if (rl_sub_pending(client->nodes.all[i].sub))
            return true;
    }
    return false;
}

/* Nobody has waited for a while: stop watching the connections. */
static void unwant(redlock *client)
{
    assert(client->subs.block);
    client->subs.wanted = false;
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_sub_unwant(client->nodes.all[i].sub);
}

void rl_subs_absent(redlock *client, int64_t absent_ns)
{
    assert(absent_ns > 0);
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++)
        rl_sub_absent(client->nodes.all[i].sub, absent_ns);
}

void rl_subs_tick(redlock *client, int64_t now_ns)
{
    assert(client->subs.block || !client->subs.wanted);
    if (client->subs.wanted && client->wait_queues.by_name.count == 0 &&
        client->probes.running == 0 && now_ns - client->wait_queues.left_ns > UNWANTED_NS)
        unwant(client);
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++)
        rl_sub_tick(client->nodes.all[i].sub, now_ns);
}

int64_t rl_subs_due_ns(redlock *client)
{
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++)
        due_ns = rl_earlier_ns(due_ns, rl_sub_due_ns(client->nodes.all[i].sub));
    return due_ns;
}

void rl_subs_done(redlock *client, bool in_child)
{
    for (unsigned i = 0; client->subs.block && i < client->nodes.n; i++) {
        rl_sub_done(client->nodes.all[i].sub, in_child);
        client->nodes.all[i].sub = NULL;
    }
    free(client->subs.block);
    client->subs.block = NULL;
}
