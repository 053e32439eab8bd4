/* sentinels.h - the Sentinels of a line, which name its server. Core. */
#ifndef RL_SENTINELS_H
#define RL_SENTINELS_H

#include "config/config.h"

/* Does one of the lines name Sentinels? */
bool rl_config_has_sentinels(const struct rl_config *config);

/* Do both lines name a service of this name, and a Sentinel that both name? Then both are one
 * server. */
bool rl_sentinels_name_one(const struct rl_node_config *a, const struct rl_node_config *b);

/* How to connect to a Sentinel of the line: as to a node. All texts are the line's own, but the
 * label, which is written to `label`. */
#define RL_SENTINEL_LABEL_MAX (RL_HOST_MAX + 48)
struct rl_node_config rl_sentinel_config(const struct rl_node_config *node, unsigned sentinel,
                                         char label[RL_SENTINEL_LABEL_MAX]);

/* Do both lines reach that Sentinel of theirs alike, so that one connection serves both? */
bool rl_sentinels_alike(const struct rl_node_config *a, unsigned of_a,
                        const struct rl_node_config *b, unsigned of_b);

#endif
