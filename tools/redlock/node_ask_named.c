/* node_ask_named.c - a master whose line names Sentinels: they are asked side by side, and once a
 * majority names a server, that is the master. */
#include "config_auto.h"

#include "redlock/node_ask_parts.h"

#include <assert.h>
#include <stdlib.h>

/* Sentinels are numbered behind all masters, those of one line in a row. */
static unsigned number_of(const struct node_ask *asking, unsigned node, unsigned sentinel)
{
    return asking->config.node_count + node * RL_SENTINELS_MAX + sentinel;
}

static unsigned node_of(const struct node_ask *asking, unsigned number)
{
    return (number - asking->config.node_count) / RL_SENTINELS_MAX;
}

static unsigned sentinel_of(const struct node_ask *asking, unsigned number)
{
    return (number - asking->config.node_count) % RL_SENTINELS_MAX;
}

static struct service_look *look_of(struct node_ask *asking, unsigned number)
{
    return asking->service[node_of(asking, number)];
}

static const char *next(void *context, unsigned number)
{
    struct node_ask *asking = context;
    return sentinel_ask_next(look_of(asking, number), sentinel_of(asking, number),
                             rl_clock_steady_ns(&asking->clock));
}

static bool texts(void *context, unsigned number)
{
    struct node_ask *asking = context;
    return look_of(asking, number)->of[sentinel_of(asking, number)].ask.step == SENTINEL_MASTER;
}

static void on_bulk(void *context, unsigned number, const char *bytes, size_t len,
                    const struct rl_mask *mask)
{
    struct node_ask *asking = context;
    (void)mask;
    sentinel_ask_heard(look_of(asking, number), sentinel_of(asking, number), bytes, len);
}

static const char *on_reply(void *context, unsigned number, const struct rl_reply *reply)
{
    struct node_ask *asking = context;
    return sentinel_ask_answered(look_of(asking, number), sentinel_of(asking, number), reply,
                                 rl_clock_steady_ns(&asking->clock));
}

static bool on_error(void *context, unsigned number, const char *why)
{
    struct node_ask *asking = context;
    return sentinel_ask_refused(look_of(asking, number), sentinel_of(asking, number), why);
}

/* Its master is connected to as soon as it is named, or given up when nobody can name it. */
static void end(struct node_ask *asking, unsigned number, const char *why)
{
    unsigned node = node_of(asking, number);
    struct service_look *look = asking->service[node];
    struct peer *master = &asking->peer[node];
    int64_t now_ns = rl_clock_steady_ns(&asking->clock);
    char told[400];
    sentinel_ask_ended(look, sentinel_of(asking, number), why, now_ns);
    if (master->step != NAMING)
        return;
    if (look->named) {
        peer_begin(master, &look->config, now_ns);
    } else if (service_look_ended(look)) {
        rl_witnesses_tell(&look->witnesses, told, sizeof(told));
        peer_fail(master, "%s", told);
    }
}

static void on_end(void *context, unsigned number)
{
    end(context, number, NULL);
}

static void on_failure(void *context, unsigned number, const char *why)
{
    end(context, number, why);
}

void naming_begin(struct node_ask *asking, unsigned node, int64_t now_ns)
{
    static const struct node_questions questions = {.next = next,
                                                    .texts = texts,
                                                    .on_bulk = on_bulk,
                                                    .on_reply = on_reply,
                                                    .on_error = on_error,
                                                    .on_end = on_end,
                                                    .on_failure = on_failure};
    const struct rl_config *config = &asking->config;
    const struct rl_node_config *line = &config->nodes[node];
    struct service_look *look = malloc(sizeof(*look));
    assert(line->service && !asking->service[node]);
    peer_set_step(&asking->peer[node], NAMING);
    if (!look) {
        peer_fail(&asking->peer[node], "out of memory");
        return;
    }
    asking->service[node] = look;
    service_look_begin(look, line,
                       rl_witness_window_ns(config->max_ttl_ms * RL_NS_PER_MS,
                                            config->drift_factor));
    for (unsigned i = 0; i < line->sentinel_count; i++) {
        unsigned number = number_of(asking, node, i);
        asking->peer[number] = (struct peer){.tag.ready = peer_move,
                                             .asking = asking,
                                             .questions = &questions,
                                             .context = asking,
                                             .number = number};
        peer_begin(&asking->peer[number], &look->of[i].config, now_ns);
    }
}
