/* run.h - the parts of `redlock run`, which stays with the lock while the guard stays with
 * the command:
 *
 *   cmd_run.c         the order of things, and the exit status
 *   run_spawn.c       the guard's start, and then COMMAND's, with its environment
 *   run_supervise.c   the lock, signals, and what the guard says
 *   run_terminal.c    job control, as between a shell and its jobs
 *   run_account.c     why the lock was lost
 *   run_notify.c      what a service manager is told
 *   run_stay.c        after COMMAND, for --at-least
 *   run_lists.c       clients with another node list
 *   run_left.c        what the command started and runs on without it
 *   run_reap.c        what to do when the guard itself was killed
 *   run_guard.c, run_child.c, run_terminate.c   the other process
 *
 * The library renews the lock, on its own thread. It tells us where the lock is lost; that it
 * was renewed is seen by looking, and the guard is told.
 */
#ifndef RUN_H
#define RUN_H

#include "redlock/cli.h"
#include "base/clock.h"
#include "redlock/run_guard.h"
#include "redlock/run_lists.h"

#include <pthread.h>
#include <stdatomic.h>

/* The terminal, if there is one. */
struct run_terminal {
    int fd;                /* /dev/tty; -1: none */
    bool was_given;        /* COMMAND's group has had it at least once */
    struct termios *modes; /* as they were at the start; NULL: none were saved */
};

#define RUN_LEFT_SHOWN 5

struct run {
    const struct cli *cli;
    redlock *client;
    redlock_lock *lock;
    uint64_t fencing_token; /* 0: it has none */
    redlock_report report;
    redlock_node_vote votes[REDLOCK_NODES_MAX];
    redlock_hold_report hold; /* when COMMAND had ended */
    redlock_node_hold holds[REDLOCK_NODES_MAX];
    char *loss_json; /* of that; NULL: nothing */
    struct guard_times times;
    struct rl_clock clock; /* the times below are its own */
    int64_t give_up_ns;    /* the library gives the lock up so long before its end */
    int64_t deadline_ns;   /* boottime: the end that the guard was told of last */
    struct run_terminal terminal;
    int64_t lists_due_ns;    /* when clients with other lists are looked for; INT64_MAX: not any more */
    struct run_lists *lists; /* NULL: nobody looks */
    int signal_fd;
    pid_t guard; /* 0: it is gone */
    int guard_fd;
    pid_t command;     /* its process group too; 0: not started */
    bool had_children; /* before the guard */
    pid_t *strangers;  /* these, and what descends from them */
    size_t stranger_count;

    /* The library's thread uses these two as well. */
    _Atomic int control_fd;  /* guard_fd; -1: it has not been told to start COMMAND yet */
    _Atomic int64_t lost_ns; /* when it told us that the lock is lost; 0: it has not */

    int64_t stay_until_ns; /* boottime: --at-least is longer than a lease; 0: it is not */
    int stay_ended_by;     /* the signal; 0: none */
    bool lost_staying;     /* the lock was lost meanwhile */
    bool begun;            /* COMMAND may have run */
    bool stop_asked;       /* we were sent TSTP, and passed it on */
    bool int_passed_on;
    bool started;     /* COMMAND, by exec */
    bool ready_told;  /* to the service manager */
    bool terminating; /* the guard has sent TERM or KILL */
    bool ended;       /* all has ended: `status`, `why` and `ended_at_ns` are known */
    bool guard_died;
    bool guard_late;   /* it did not act in time, and was killed */
    int not_run;       /* errno of exec */
    int guard_failure; /* errno of what the guard could not get */
    char refused[24];  /* the call that was refused to it; "": none */
    int status;
    int why; /* enum guard_why */
    int64_t ended_at_ns;
    pid_t left[RUN_LEFT_SHOWN]; /* they run on without the lock */
    unsigned left_count;        /* of all */
    const char *result; /* for --json; NULL: COMMAND was not run */
};

/* ---- run_spawn.c ---- */

/* Fork the guard, which waits for run_start(). 0 or an errno. We must have one thread. */
int run_guard_fork(struct run *run);
/* Have it start COMMAND. 0 or an errno. */
int run_start(struct run *run);
/* It has nothing left to do. */
void run_guard_dismiss(struct run *run);

/* ---- run_supervise.c ---- */
void run_supervise(struct run *run); /* until all has ended */
void run_order(const struct run *run, enum guard_order_kind kind, int signal_number);
void run_lost(void *run, redlock_lock *lock); /* a redlock_lost_fn */

/* The time until which the lock is certainly ours; 0: it is not. */
int64_t run_deadline_ns(struct run *run);

/* ---- run_left.c ---- */

/* COMMAND has ended, and the lock is free: say what that started and runs on. */
void run_say_left(const struct run *run);

/* ---- run_account.c ---- */

/* Ask what is known of the lock, before it is released. */
void run_look_back(struct run *run);
/* No loss is known: it was ours until it was released. `released`: what that came to. */
bool run_was_held(const struct run *run, int released);
/* Why it was lost; where it was held, for how long. */
const char *run_account(const struct run *run, int released);

/* ---- run_notify.c ---- */

void run_notify_waits(const struct cli *cli, int code, const redlock_report *report);
/* Once COMMAND has been started; again until it could be told. */
void run_notify_ready(struct run *run);
void run_notify_lost(const struct run *run, int released);

/* ---- run_stay.c ---- */

/* The lock was taken: note until when others are kept out, where run has to see to that. */
void run_stay_plan(struct run *run, int64_t by_itself_ms);
/* COMMAND has ended: keep the lock until then, or until it is lost, or a signal comes. */
void run_stay(struct run *run);
/* Release the lock, or leave it to its lease; undo it where COMMAND never began. What
 * redlock_release() returned. */
int run_give_up(struct run *run, bool never_began);
/* COMMAND ended well: CLI_OK, or the status to leave with, because we could not stay. */
int run_stay_exit(struct run *run, int released);

/* ---- run_terminal.c ---- */
void run_terminal_open(struct run_terminal *terminal);
bool run_terminal_wanted(const struct run_terminal *terminal); /* give it from the start? */
void run_on_stopped(struct run *run, int signal_number);
void run_on_continued(struct run *run);
void run_terminal_close(struct run *run);

/* ---- run_reap.c ---- */
bool run_has_children(void);
void run_strangers_note(struct run *run);
void run_reap_orphans(struct run *run); /* the guard is dead, or has to be */

#endif
