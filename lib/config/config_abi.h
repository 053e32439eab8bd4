/* config_abi.h - structs of an application, whatever version of redlock.h it knows. Core. */
#ifndef RL_CONFIG_ABI_H
#define RL_CONFIG_ABI_H

#include <redlock.h>

/* The application's struct as this library knows it. Fields that a smaller (older) struct
 * lacks have their defaults. A struct with unknown fields that are set is refused. 0 or
 * REDLOCK_EINVAL. */
int rl_config_take(const redlock_config *from, redlock_config *ret_whole, redlock_error *error);

/* The same for the `index`-th of its nodes; `whole` came from rl_config_take(). */
int rl_config_take_given(const redlock_config *whole, size_t index, redlock_node *ret_node,
                         redlock_error *error);

#endif
