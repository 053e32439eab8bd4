/* config_nodes.h - between config.c and config_file.c. Core. */
#ifndef RL_CONFIG_NODES_H
#define RL_CONFIG_NODES_H

#include "config/config.h"
#include "base/diagnostic.h"

/* Move a whole, checked node into the config, which has room for it. `node` is empty
 * afterwards. 0 or REDLOCK_ENOMEM. */
int rl_config_take_node(struct rl_config *config, struct rl_node_config *node,
                        struct rl_problem *problem);

#endif
