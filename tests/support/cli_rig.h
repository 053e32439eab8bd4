/* cli_rig.h - what the tests of redlock(1) share: five masters named by $REDLOCK_NODES, and
 * checks of what the program printed. */
#ifndef TEST_CLI_RIG_H
#define TEST_CLI_RIG_H

#include "masters.h"
#include "program.h"

#include <redlock.h>

extern struct masters *cli_masters;
extern struct masters *cli_lone; /* NULL: there is none */

/* How long to wait for what comes in no time, on a machine that is not too busy. */
enum { CLI_MOMENT_MS = 20000 };

/* Settings for masters_file(): a busy machine may take longer to connect than people want to
 * wait for it. */
#define CLI_PATIENT "connect-timeout 10s\n"

/* Fixtures, for a whole case or for each test. */
void cli_rig_start(void);
void cli_rig_start_keeping(void);   /* masters that keep their keys when they are killed */
void cli_rig_start_with_lone(void); /* and one master beside the five */
void cli_rig_stop(void);

/* $REDLOCK_NODES names the one, or the five; `settings` as for masters_file(). Returns them. */
struct masters *cli_choose(bool one, const char *settings);

/* One line, and it is redlock's. Warnings of the time while COMMAND ran may stand before it. */
bool cli_one_line(const char *text);

/* stdout is JSON and has `path`, with this value (NULL: any). */
void cli_expect_json(struct program *program, const char *path, const char *expected);

/* A majority has the key. It need not be all, since a command ends when a majority has
 * granted. A master to which it had no connection by then was never asked. */
bool cli_majority_has(const char *name);

/* No master has the key, or none soon. A command ends when a majority has confirmed its
 * release, and the others may have yet to do it. */
void cli_expect_free(const char *name);

/* Exit statuses of `redlock status`. */
enum { CLI_FIT = 0, CLI_DEGRADED = 1, CLI_NOT_FIT = 69 };

/* Run `redlock status` with that result, as text and as JSON: both agree on the verdict. The
 * JSON is kept for more questions. */
struct program *cli_expect_status(int status);

/* That check of a node (from 0) came out so, for a reason and with a remedy that have these
 * words (NULL: any). */
void cli_expect_check(struct program *program, unsigned node, const char *check,
                      const char *result, const char *reason, const char *remedy);

/* `redlock run OPTION NAME`, which has the lock when this returns, until it is freed. The
 * option may be "". */
struct program *cli_hold(const char *option, const char *name);

/* `redlock lock`: the handle, good until the next call. */
const char *cli_acquire(const char *name, const char *ttl);

#endif
