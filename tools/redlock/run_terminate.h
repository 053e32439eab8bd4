/* run_terminate.h - inside the guard: its state, and how it ends COMMAND and what descends from
 * it. The picture is in run_guard.c. */
#ifndef RUN_TERMINATE_H
#define RUN_TERMINATE_H

#include "base/clock.h"
#include "redlock/run_guard.h"

enum guard_phase { GUARD_PHASE_RUNNING, GUARD_PHASE_TERMINATING, GUARD_PHASE_KILLING };

struct guard {
    struct guard_start start;
    struct rl_clock clock;
    enum guard_phase phase;
    enum guard_why why;
    int64_t deadline_ns;
    int64_t kill_at_ns;  /* TERMINATING */
    int64_t again_at_ns; /* KILLING */
    int64_t again_ns;
    int control_fd; /* -1: run is dead */
    int timer_fd;
    int child_fd;    /* a signalfd for CHLD */
    int terminal_fd; /* -1: there is none */
    int exec_fd;     /* -1: exec has been heard of */
    int exec_errno;  /* 0: it succeeded, or nothing is known yet */
    pid_t command;
    bool ended; /* COMMAND has, and has been waited for */
    int status;
    int64_t ended_at_ns;
    const char *refused; /* the call that was; NULL: none */
    bool descendants;    /* the lock is for all that descends from COMMAND */
};

/* Say something to run, if it lives. */
void guard_tell(const struct guard *guard, enum guard_news_kind kind, int value);

/* Signal the group `scope`, 0: everything below us. */
void guard_signal(const struct guard *guard, pid_t scope, int number);

/* When TERM is due; where there is no grace to speak of it is KILL that is. */
int64_t guard_terminate_at_ns(const struct guard *guard);

/* TERM now and KILL later; with no time for that, KILL. Only while it is RUNNING. */
void guard_terminate(struct guard *guard, enum guard_why why);

/* KILL, and again in a while. */
void guard_kill(struct guard *guard);

/* Say who runs on. */
void guard_tell_left(const struct guard *guard);

/* Is anyone left to be ended, COMMAND itself aside? */
bool guard_anyone_left(const struct guard *guard);

#endif
