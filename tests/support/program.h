/* program.h - run redlock(1), or any program, as a shell would. Its output is kept in files,
 * so that nothing blocks. Its end is awaited with a deadline. */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include "suite.h"

#include <sys/types.h>

struct program {
    pid_t pid;
    char dir[SUITE_PATH_MAX]; /* "in", "out" and "err" are in it */
    char *text;               /* what program_out() or program_err() read last */
};

/* What a program is started with, beside its arguments. All of it may be left 0. */
struct program_how {
    const char *input;              /* its stdin; NULL: nothing */
    size_t input_len;               /* 0: input is text */
    const char *const *environment; /* "NAME=value" to add, or "NAME" to take away; NULL ends */
    const char *directory;          /* to start it in */
    bool in_its_directory;          /* to start it in: its own */
    void (*before_exec)(void);      /* to be called in the child; may only do what is safe */
    bool keep_stdout;               /* ours, not a file */
};

/* $REDLOCK, or bin/redlock where the tests are built: absolute. */
const char *program_redlock(void);

#define REDLOCK(...) ((const char *const[]){program_redlock(), __VA_ARGS__, NULL})

/* Start it. It is killed and forgotten when the test ends, or the thread that started it. */
struct program *program_start(const struct program_how *how, const char *const argv[]);

/* Wait for its end and give its exit status as a shell does. Where a signal killed it that is
 * 128 and the signal's number. -1: it had to be killed after `limit_ms`. */
int program_wait(struct program *program, int limit_ms);

/* What it has written so far, NUL added; good until the next call for this program. */
const char *program_out(struct program *program);
const char *program_err(struct program *program);
bool program_printed(struct program *program, const char *text); /* to stdout, so far */

void program_kill(struct program *program); /* and wait for its end; it may have ended */

/* All of that in one: its exit status, and `ret_program` unless it is NULL. */
int program_run(const struct program_how *how, const char *const argv[],
                struct program **ret_program);

/* Is it there, and has not ended (a zombie has). */
bool process_lives(pid_t pid);
bool process_stands(pid_t pid); /* by a signal */

/* CLOCK_BOOTTIME, the clock of leases. */
int64_t boot_ms(void);

/* A small file's text, NUL added, in `ret_text`; "" where there is none. */
void file_text(const char *path, char *ret_text, size_t size);
void file_write(const char *path, const char *text);

#endif
