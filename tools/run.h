/* run.h - the parts of `redlock run`, which stays with the lock while the guard stays with
 * the command:
 *
 *   cmd_run.c       the order of things, and the exit status
 *   run_spawn.c     the guard's start, and COMMAND's environment
 *   run_extend.c    a thread that extends the lock, and tells the guard of it
 *   run_watch.c     signals, and what the guard says
 *   run_terminal.c  job control, as between a shell and its jobs
 *   run_orphans.c   what to do when the guard itself was killed
 *   run_guard.c, run_child.c   the other process
 */
#ifndef RUN_H
#define RUN_H

#include "cli.h"
#include "run_guard.h"

#include <pthread.h>
#include <stdatomic.h>

/* The lock, kept: a thread that has the lock extended each third of its lease. */
struct run_extender {
    const struct cli *cli;
    redlock_lock *lock;
    int control_fd;
    int64_t lease_ns;
    _Atomic int64_t deadline_ns; /* boottime; 0: lost */
    _Atomic int failure;         /* the code of the last extension; 0: it succeeded */
    int stop_fd;
    pthread_t thread;
    redlock_report report;
};

/* The terminal, if there is one. */
struct run_terminal {
    int fd;                /* /dev/tty; -1: none */
    bool was_given;        /* COMMAND's group has had it at least once */
    struct termios *modes; /* as they were at the start; NULL: none were saved */
};

struct run {
    const struct cli *cli;
    redlock *client;
    redlock_lock *lock;
    struct guard_times times;
    struct run_extender extender;
    struct run_terminal terminal;
    int control_fd;
    int signal_fd;
    pid_t guard;
    pid_t command;    /* its process group too; 0: not started */
    pid_t *strangers; /* children we had before */
    size_t stranger_count;

    bool stop_asked; /* we were sent TSTP, and passed it on */
    bool int_passed_on;
    bool ending; /* the guard has sent TERM or KILL */
    bool ended;  /* all has ended: `status`, `why` and `ended_at_ns` are known */
    bool guard_died;
    int not_run;       /* errno of exec */
    int guard_failure; /* errno of what the guard could not get */
    int status;
    int why; /* enum guard_why */
    int64_t ended_at_ns;
};

/* The time until which the lock is certainly ours; 0: it is not. */
int64_t run_deadline_ns(const redlock_lock *lock);

/* ---- run_spawn.c: 0 or an errno ---- */
int run_spawn(struct run *run, const char *nodes_path);

/* ---- run_extend.c ---- */
int run_extender_start(struct run_extender *extender); /* 0 or an errno */
void run_extender_stop(struct run_extender *extender); /* when its round under way is over */

/* ---- run_watch.c: until all has ended ---- */
void run_watch(struct run *run);
void run_order(const struct run *run, enum guard_order_kind kind, int signal_number);

/* ---- run_terminal.c ---- */
void run_terminal_open(struct run_terminal *terminal);
bool run_terminal_wanted(const struct run_terminal *terminal); /* give it from the start? */
void run_on_stopped(struct run *run, int signal_number);
void run_on_continued(struct run *run);
void run_terminal_close(struct run *run);

/* ---- run_orphans.c ---- */
void run_strangers_note(struct run *run);
void run_orphans_end(struct run *run); /* the guard is dead, or has to be */

#endif
