/* run_loss.h - a `redlock run --json` that loses its lock: what its last line and its JSON say
 * of the cause. */
#ifndef TEST_RUN_LOSS_H
#define TEST_RUN_LOSS_H

#include "cli_rig.h"

#define LOSS_NAME "backup"

/* It holds the lock, and COMMAND runs. */
struct program *loss_hold(const char *ttl);

/* It ends with 74. The line and the JSON name this cause. The line is added to the file
 * LOSS_LINES, behind the cause, if that is set: to be shown to people. */
void loss_expect(struct program *run, const char *loss, const char *text);

/* These words are in the line; that member of a master's in the JSON has this value (NULL:
 * any). */
void loss_expect_text(struct program *run, const char *text);
void loss_expect_node(struct program *run, unsigned node, const char *member,
                      const char *expected);

#endif
