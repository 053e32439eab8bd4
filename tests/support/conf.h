/* conf.h - node list files in a directory of the test's own, loaded as a client loads them. */
#ifndef TEST_CONF_H
#define TEST_CONF_H

#include "config_load.h"
#include "suite.h"

#include <sys/types.h>

/* A checked fixture: a new directory, which becomes the working directory. */
void conf_set_up(void);
extern char conf_dir[SUITE_PATH_MAX];

void conf_write(const char *name, const char *text, size_t len, mode_t mode);
void conf_write_text(const char *name, const char *text, mode_t mode);

/* rl_config_load() of a file, or of all there is. Returns what it returned. */
int conf_load(const char *file);
int conf_load_config(const redlock_config *from);

/* What came out of it: the caller frees the config of a load that worked. Warnings are
 * lines. */
extern struct rl_config conf_config;
extern redlock_error conf_error;
extern char conf_warnings[4096];

#endif
