/* subscribers.c - the client's subscriber connections (subscriber.h), which tell of releases.
 * They are made at the first wait for a lock, kept afterwards, and watched while somebody
 * waits. */
#include "config_auto.h"

#include "engine/subscribers.h"

#include "engine/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A client that waited may wait again within this time. */
#define UNWANTED_NS (5 * RL_NS_PER_S)

static struct rl_sub *make(redlock *client)
{
    assert(client->subs.events && !client->subs.all);
    struct rl_sub *subs = calloc(client->nodes.n, sizeof(*subs));
    for (unsigned i = 0; subs && i < client->nodes.n; i++) {
        if (rl_sub_init(&subs[i], i, client->nodes.all[i].config, &client->node_settings,
                        client->subs.events, client->nodes.all[i].tls, client->identity.uuid,
                        client->loop.epoll_fd, client->loop.wake_fd) == 0)
            continue;
        while (i > 0)
            rl_sub_done(&subs[--i], false);
        free(subs);
        return NULL;
    }
    for (unsigned i = 0; subs && i < client->nodes.n; i++)
        subs[i].channels = &client->subs.channels;
    return subs;
}

void rl_subs_start(redlock *client, int64_t now_ns)
{
    if (!client->subs.all)
        client->subs.all = make(client);
    if (!client->subs.all) /* no memory for them: waiters poll instead */
        return;
    client->subs.wanted = true;
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_sub_want(&client->subs.all[i], now_ns);
}

void rl_subs_sync(redlock *client, struct rl_channel *channel, int64_t now_ns)
{
    assert(channel->users > 0 || !channel->queues.first); /* each queue on it is a user */
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++)
        rl_sub_sync(&client->subs.all[i], channel, now_ns);
    rl_channel_free_if_idle(&client->subs.channels, channel);
    client->subs.unflushed = client->subs.all != NULL;
}

void rl_subs_flush(redlock *client, int64_t now_ns)
{
    assert(client->subs.all && client->subs.unflushed);
    client->subs.unflushed = false;
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++)
        rl_sub_flush(&client->subs.all[i], now_ns);
}

uint64_t rl_subs_alive(const redlock *client, int64_t since_ns)
{
    uint64_t heard = 0;
    assert(client->subs.all || !client->subs.listening); /* only subscribers listen */
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++) {
        if (client->subs.all[i].connection.heard_ns >= since_ns)
            heard |= rl_bit(i);
    }
    return heard;
}

bool rl_subs_pending(const redlock *client)
{
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++) {
        if (rl_sub_pending(&client->subs.all[i]))
            return true;
    }
    return false;
}

/* Nobody has waited for a while: stop watching the connections. */
static void unwant(redlock *client)
{
    assert(client->subs.all);
    client->subs.wanted = false;
    for (unsigned i = 0; i < client->nodes.n; i++)
        rl_sub_unwant(&client->subs.all[i]);
}

void rl_subs_absent(redlock *client, int64_t absent_ns)
{
    assert(absent_ns > 0);
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++)
        rl_sub_absent(&client->subs.all[i], absent_ns);
}

void rl_subs_tick(redlock *client, int64_t now_ns)
{
    assert(client->subs.all || !client->subs.wanted);
    if (client->subs.wanted && client->wait_queues.by_name.count == 0 &&
        client->probes.running == 0 && now_ns - client->wait_queues.left_ns > UNWANTED_NS)
        unwant(client);
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++)
        rl_sub_tick(&client->subs.all[i], now_ns);
}

int64_t rl_subs_due_ns(redlock *client)
{
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++)
        due_ns = rl_earlier_ns(due_ns, rl_sub_due_ns(&client->subs.all[i]));
    return due_ns;
}

void rl_subs_done(redlock *client, bool in_child)
{
    for (unsigned i = 0; client->subs.all && i < client->nodes.n; i++)
        rl_sub_done(&client->subs.all[i], in_child);
    free(client->subs.all);
    client->subs.all = NULL;
}
