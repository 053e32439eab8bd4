/* channel_scene.c - see channel_scene.h. */
#include "config_auto.h"

#include "channel_scene.h"

#include <stdio.h>

static bool runs(unsigned node)
{
    return masters->node[node].pid != 0 && !masters->node[node].paused;
}

long long listeners(unsigned node, const char *channel)
{
    struct reply reply =
        master_do(masters, node, "EVAL", "return redis.call('PUBSUB', 'NUMSUB', ARGV[1])[2]",
                  "0", channel, NULL);
    ck_assert_msg(reply.type == ':', "%s", reply.text);
    return reply.number;
}

static bool all_listen(const char *channel, long long count)
{
    for (unsigned i = 0; i < masters->n; i++) {
        if (runs(i) && listeners(i, channel) != count)
            return false;
    }
    return true;
}

void listeners_become(const char *channel, long long count)
{
    ck_assert_msg(wait_until(all_listen(channel, count), 10000),
                  "not %lld listen on %.200s, but %lld on the first master", count, channel,
                  listeners(0, channel));
}

long long channels(unsigned node)
{
    struct reply reply =
        master_do(masters, node, "EVAL", "return #redis.call('PUBSUB', 'CHANNELS')", "0", NULL);
    ck_assert_msg(reply.type == ':', "%s", reply.text);
    return reply.number;
}

void peer_takes(const char *name)
{
    for (unsigned i = 0; i < masters->n; i++) {
        struct reply reply =
            master_do(masters, i, "HSET", name, "5d1f3c0e-peer-of-another-kind:1", "1", NULL);
        ck_assert_msg(reply.type == ':', "%s", reply.text);
        master_do(masters, i, "PEXPIRE", name, "30000", NULL);
    }
}

void peer_gives_back(const char *name, const char *message)
{
    char channel[256];
    snprintf(channel, sizeof(channel), CHANNEL_OF("%s"), name);
    for (unsigned i = 0; i < masters->n; i++) {
        master_do(masters, i, "DEL", name, NULL);
        if (message)
            master_do(masters, i, "PUBLISH", channel, message, NULL);
    }
}
