/* variables.h - ${NAME} in a word of a node list file: the environment's value. Core. */
#ifndef RL_VARIABLES_H
#define RL_VARIABLES_H

#include "base/diagnostic.h"
#include "config/config.h"

/* The word with each variable in it replaced. A value is never parsed again: in a part of a
 * URL its bytes are written with percent signs where they would mean something there. A word
 * that is one variable is its value: that may be a whole URL.
 * `ret_text` is to be wiped and freed; NULL: there is no variable. 0, REDLOCK_ECONFIG (offset
 * into `word`) or REDLOCK_ENOMEM. */
int rl_variables_replace(const char *word, size_t len, bool is_url, rl_env_fn *env,
                         char **ret_text, struct rl_problem *problem);

#endif
