/* node_options.h - the options of a node (password-file=, ca-file=, ...), each a row of one
 * table, and the checks of a node as a whole. Core. */
#ifndef RL_NODE_OPTIONS_H
#define RL_NODE_OPTIONS_H

#include "config/config.h"
#include "base/diagnostic.h"

enum rl_node_option {
    RL_OPTION_PASSWORD_FILE,
    RL_OPTION_PASSWORD_ENV,
    RL_OPTION_CA_FILE,
    RL_OPTION_CA_DIR,
    RL_OPTION_CERT_FILE,
    RL_OPTION_KEY_FILE,
    RL_OPTION_SERVER_NAME,
    RL_OPTION_FAILOVER,
    RL_OPTION_SENTINEL_USER,
    RL_OPTION_SENTINEL_PASSWORD_FILE,
    RL_OPTION_SENTINEL_PASSWORD_ENV,
    RL_OPTION_SENTINEL_TLS,
    RL_OPTION_COUNT
};

/* Its name in the node list file (no '='), and the member of redlock_node. */
const char *rl_node_option_name(enum rl_node_option option);
const char *rl_node_option_member(enum rl_node_option option);

/* The option of that name, or -1. */
int rl_node_option_find(const char *name, size_t len);

/* The node's value of an option; NULL: none. */
const char *rl_node_option_get(const struct rl_node_config *node, enum rl_node_option option);

/* The same of a node built in code. */
const char *rl_node_option_given(const redlock_node *node, enum rl_node_option option);

/* Set one that is not set yet. 0, REDLOCK_ECONFIG or REDLOCK_ENOMEM. */
int rl_node_option_set(struct rl_node_config *node, enum rl_node_option option,
                       const char *text, size_t len, struct rl_problem *problem);

/* May another server take this master's place, by what its line says? */
bool rl_node_fails_over(const struct rl_node_config *node);

/* True of options whose value is the path of a file or directory. */
bool rl_node_option_is_path(enum rl_node_option option);

/* Put a path of malloc() in the place of the one that is there. */
void rl_node_option_replace(struct rl_node_config *node, enum rl_node_option option,
                            char *path);

/* Do URL and options fit together? 0, or REDLOCK_ECONFIG and the wrong option. */
int rl_node_check(const struct rl_node_config *node, enum rl_node_option *ret_option,
                  struct rl_problem *problem);

#endif
