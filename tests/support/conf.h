/* conf.h - node list files in a directory of the test's own, loaded as a client loads them; and
 * their text alone. */
#ifndef TEST_CONF_H
#define TEST_CONF_H

#include "config/config_load.h"
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

/* ECONFIG, of this file and place, with these words in its text. */
void conf_expect_error(const redlock_error *error, const char *file, int line, int column,
                       const char *wrong);

/* ---- without a file --------------------------------------------------------------------- */

/* Parse and check, as "n.conf". Returns what these return. */
int conf_parse(const char *text, size_t len, struct rl_config *ret_config,
               redlock_error *ret_error);
/* The same of a list in words. */
int conf_parse_words(const char *text, struct rl_config *ret_config, redlock_error *ret_error);

/* Lines that set all there is to what it is not by default; a config must have that. */
#define CONF_EVERY                                                                             \
    "max-ttl 20s\nttl 8s\nnode-timeout 250ms\nconnect-timeout 2s\nstall-limit 3s\n"            \
    "linger 4s\ndrift-factor 0.05\nguard strict\nclient-name aAzZ09._:@-\nbackground never\n"  \
    "lock-delay 600ms\nconfig-agreement warn\nwatch-wall-clock on\nfencing strict\n"           \
    "status-prefix \"a b:\"\nstatus-kinds plain,fenced\n"
void conf_expect_every(const struct rl_config *config);

#endif
