/* list_parts.h - reads the nodes and settings of a node list, from a file or from a text as in
 * REDLOCK_NODES. Core. */
#ifndef RL_LIST_PARTS_H
#define RL_LIST_PARTS_H

#include "config/node_options.h"
#include "config/reader.h"

/* A node that is being read, and where each of its options stands. */
struct rl_node_words {
    struct rl_node_config node;
    bool url_has_password; /* as it stands there, not in a variable */
    size_t option_at[RL_OPTION_COUNT];
};

/* In this order: its URL, its options, and the node is the config's. `node` is to be freed in
 * any case. */
int rl_node_words_url(struct rl_reader *reader, struct rl_node_words *words);
int rl_node_words_option(struct rl_reader *reader, struct rl_node_words *words);
int rl_node_words_end(struct rl_reader *reader, struct rl_node_words *words);

/* The value of the setting of this name, which is here. */
int rl_setting_words(struct rl_reader *reader, struct rl_slice name, enum rl_setting setting);

#endif
