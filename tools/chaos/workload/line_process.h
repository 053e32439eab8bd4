/* line_process.h - a program that talks in lines on its stdin and stdout: started, asked,
 * ended. client_protocol.c knows the meaning of the lines. */
#ifndef CHAOS_LINE_PROCESS_H
#define CHAOS_LINE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHAOS_LINE_MAX = 512 }; /* bytes in a line that we are sent, its end left out */

struct chaos_line_process {
    pid_t pid; /* 0: not there any more */
    int to, from;
    size_t held;
    char buffer[CHAOS_LINE_MAX + 2];
};

enum chaos_line {
    CHAOS_LINE,         /* one has come */
    CHAOS_LINE_LATE,    /* none in time */
    CHAOS_LINE_STOPPED, /* none before `stop` said so */
    CHAOS_LINE_END, /* it has closed its stdout, or ended: see chaos_line_process_exit_text() */
    CHAOS_LINE_BAD  /* too long, or with a NUL in it */
};

/* How long to wait; -1: for ever. Only time during which this process ran counts. */
struct chaos_patience {
    int64_t limit_ms;
    bool (*stop)(void *context); /* or NULL */
    void *context;
    int64_t grace_ms; /* and so long after `stop` first said so */
};

/* Run `command` by /bin/sh -c; its stderr is `log_fd`, or ours where that is -1. It gets
 * SIGKILL when the calling thread ends. False: errno. Ignores SIGPIPE from then on. */
bool chaos_line_process_start(struct chaos_line_process *process, const char *command,
                              int log_fd);

/* Send a line with its end. A failed write shows when no answer comes. */
void chaos_line_process_write(struct chaos_line_process *process, const char *line);

/* The next line, without its end; for BAD and END, the part of it that came. */
enum chaos_line chaos_line_process_read(struct chaos_line_process *process,
                                        const struct chaos_patience *patience,
                                        char ret_line[CHAOS_LINE_MAX + 1]);

/* Is there a line, or a part of one, that nobody asked for? */
bool chaos_line_process_more(struct chaos_line_process *process);

/* How the program ended: "exited with 3", "was ended by signal 9 (Killed)". Waits a moment for
 * its end. */
void chaos_line_process_exit_text(struct chaos_line_process *process, char *ret_text,
                                  size_t size);

/* Close its stdin, wait a moment, end it. May be called again. */
void chaos_line_process_end(struct chaos_line_process *process);

#endif
