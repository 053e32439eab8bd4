/* endpoints.c - see endpoints.h. */
#include "config_auto.h"

#include "endpoint/endpoints.h"

#include "base/times.h"
#include "config/sentinels.h"
#include "core/quorum.h"

#include <assert.h>
#include <stdlib.h>

/* The Sentinel that serves this one of the line, too; NULL: none yet. */
static struct rl_sentinel *find(struct rl_endpoints *endpoints,
                                const struct rl_node_config *line, unsigned at)
{
    for (unsigned i = 0; i < endpoints->count; i++) {
        struct rl_sentinel *sentinel = &endpoints->all[i];
        const struct rl_sentinel_line *first = &sentinel->line[0];
        if (rl_sentinels_alike(first->node->config, first->witness, line, at))
            return sentinel;
    }
    return NULL;
}

static int add_line(struct rl_endpoints *endpoints, struct rl_node *node, int epoll_fd,
                    int wake_fd, char *why, size_t why_size)
{
    for (unsigned i = 0; i < node->config->sentinel_count; i++) {
        struct rl_sentinel *sentinel = find(endpoints, node->config, i);
        if (!sentinel) {
            sentinel = &endpoints->all[endpoints->count++];
            int result = rl_sentinel_init(sentinel, endpoints, node->config, i, epoll_fd,
                                          wake_fd, why, why_size);
            if (result)
                return result;
        }
        sentinel->line[sentinel->lines++] =
            (struct rl_sentinel_line){.node = node, .witness = i};
    }
    return 0;
}

int rl_endpoints_init(struct rl_endpoints *endpoints, struct rl_node *nodes, unsigned n,
                      int epoll_fd, int wake_fd, char *why, size_t why_size)
{
    unsigned most = 0;
    for (unsigned i = 0; i < n; i++)
        most += nodes[i].config->sentinel_count;
    if (most == 0)
        return 0;
    endpoints->settings = nodes[0].settings;
    endpoints->all = calloc(most, sizeof(*endpoints->all));
    if (!endpoints->all)
        return REDLOCK_ENOMEM;
    int result = 0;
    for (unsigned i = 0; i < n && result == 0; i++)
        result = add_line(endpoints, &nodes[i], epoll_fd, wake_fd, why, why_size);
    return result;
}

void rl_endpoints_done(struct rl_endpoints *endpoints, bool in_child)
{
    for (unsigned i = 0; i < endpoints->count; i++)
        rl_sentinel_done(&endpoints->all[i], in_child);
    free(endpoints->all);
    *endpoints = (struct rl_endpoints){.count = 0};
}

void rl_endpoints_absent(struct rl_endpoints *endpoints, int64_t absent_ns)
{
    for (unsigned i = 0; i < endpoints->count; i++)
        rl_sentinel_absent(&endpoints->all[i], absent_ns);
}

/* Could more answers make a majority for this line? Each is waited for once, so that what they
 * say is known. */
static bool is_hopeful(struct rl_endpoints *endpoints, const struct rl_node *node,
                       int64_t now_ns)
{
    const struct rl_witnesses *witnesses = &node->named->witnesses;
    unsigned count = 0;
    bool unheard = false;
    for (unsigned i = 0; i < endpoints->count; i++) {
        struct rl_sentinel *sentinel = &endpoints->all[i];
        for (unsigned k = 0; k < sentinel->lines; k++) {
            const struct rl_witness *witness = &witnesses->of[sentinel->line[k].witness];
            if (sentinel->line[k].node != node)
                continue;
            unheard |= !sentinel->heard;
            if (now_ns >= witness->counts_ns)
                count += rl_sentinel_awaited(sentinel, now_ns) ||
                         (sentinel->mode == RL_SENTINEL_UP && witness->last.told);
        }
    }
    return unheard || count >= rl_quorum_needed(witnesses->named);
}

void rl_endpoints_heard(struct rl_endpoints *endpoints, struct rl_node *node, bool vouched,
                        int64_t now_ns)
{
    rl_node_hear(node, vouched, is_hopeful(endpoints, node, now_ns), now_ns);
}

void rl_endpoints_tick(struct rl_endpoints *endpoints, bool used, int64_t now_ns)
{
    for (unsigned i = 0; i < endpoints->count; i++)
        rl_sentinel_tick(&endpoints->all[i], used, now_ns);
}

int64_t rl_endpoints_due_ns(struct rl_endpoints *endpoints, bool used)
{
    int64_t due_ns = INT64_MAX;
    for (unsigned i = 0; i < endpoints->count; i++)
        due_ns = rl_earlier_ns(due_ns, rl_sentinel_due_ns(&endpoints->all[i], used));
    return due_ns;
}
