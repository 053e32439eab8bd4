/* settings.h - the settings of a node list, each a row of one table. Core. */
#ifndef RL_SETTINGS_H
#define RL_SETTINGS_H

#include "config/config.h"
#include "base/diagnostic.h"

/* Its name in the node list file. */
const char *rl_setting_name(enum rl_setting setting);

/* The setting of that name, or -1. */
int rl_setting_find(const char *name, size_t len);

void rl_settings_default(struct rl_config *config);

/* Set one from the text of the node list file. 0, REDLOCK_ECONFIG or REDLOCK_ENOMEM. */
int rl_setting_parse(struct rl_config *config, enum rl_setting setting, const char *text,
                     size_t len, struct rl_problem *problem);

/* Set one from code: 1, or 0 if `from` does not set it, or an error. */
int rl_setting_override(struct rl_config *config, enum rl_setting setting,
                        const redlock_config *from, struct rl_problem *problem);

/* An error about one setting, at the place its value comes from. Returns REDLOCK_ECONFIG. */
int rl_setting_error(const struct rl_config *config, enum rl_setting setting,
                     redlock_error *error, const char *text);

#endif
