/* terminal.h - a pseudo-terminal with a little job-control shell on it: the calling process,
 * which becomes a session leader and types at its own terminal. For use in a child (child.h).
 */
#ifndef TEST_TERMINAL_H
#define TEST_TERMINAL_H

#include "suite.h"

#include <sys/types.h>

struct terminal {
    int master;
    int slave; /* our controlling terminal */
    size_t len;
    char screen[65536]; /* all that was written to it, NUL added */
};

/* False: no pseudo-terminal is to be had. */
bool terminal_open(struct terminal *terminal);

/* A job in a process group of its own; the caller is the shell and waits for it. It is
 * killed with the caller. `alone`: it gets a session and this terminal for itself. */
enum job_kind { JOB_FOREGROUND, JOB_BACKGROUND, JOB_ALONE };
pid_t terminal_job(struct terminal *terminal, const char *const argv[], enum job_kind kind);

/* As a shell's fg and bg. */
void terminal_fg(struct terminal *terminal, pid_t job);
void terminal_bg(struct terminal *terminal, pid_t job);

void terminal_type(struct terminal *terminal, const char *keys);

/* Wait until the screen has `text` (since terminal_clear()). */
bool terminal_shows(struct terminal *terminal, const char *text);
void terminal_clear(struct terminal *terminal);
long terminal_number(struct terminal *terminal, const char *word); /* that stands after it */

/* Who has it; waits until it is `group`. */
bool terminal_is_of(struct terminal *terminal, pid_t group);

/* Wait for a change of the job: what waitpid() says, or -1 after 10 s. */
int terminal_wait(struct terminal *terminal, pid_t job);

#endif
