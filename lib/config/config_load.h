/* config_load.h - shell around config.h: reads the node list file and secrets. */
#ifndef RL_CONFIG_LOAD_H
#define RL_CONFIG_LOAD_H

#include "config/config.h"
#include "config/config_abi.h"
#include "base/wipe.h"

/* Receives one warning: a sentence without newline. Its level is REDLOCK_LOG_ERROR if others
 * may read a secret, else REDLOCK_LOG_WARNING. */
typedef void rl_warn_fn(void *context, int level, const char *text);

/* Makes a checked config of the arguments of redlock_open_config(). `error` is never NULL.
 * Relative paths in the file are taken from the file's directory, those given in code from the
 * working directory; the config has absolute ones. REDLOCK_EINVAL if the struct itself is wrong
 * (size, nothing set), REDLOCK_ESYSTEM if descriptors have run out, else as config.h. On an
 * error the config is as after init. */
int rl_config_load(struct rl_config *config, const redlock_config *from, rl_warn_fn *warn,
                   void *warn_context, redlock_error *error);

/* The password of a node, read anew: from its file (one trailing newline is dropped), its
 * environment variable, or the URL. `ret_password` has RL_PASSWORD_MAX + 1 bytes; wipe it soon.
 * Returns its length (0: none configured), or -1 with `why` filled in (never a secret). */
int rl_node_password(const struct rl_node_config *node, char *ret_password, char *why,
                     size_t why_size);

#endif
