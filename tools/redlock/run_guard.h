/* run_guard.h - what `redlock run` and its guard say to each other, over a socket pair that
 * keeps messages whole. The guard is forked, so structs travel as they are.
 *
 *   run  --- start, deadlines, signals, end --->  guard  --- fork, exec --->  COMMAND
 *        <-- started, stopped, terminating, ended ---
 *
 * The end of the stream is a message too: the other one is dead. */
#ifndef RUN_GUARD_H
#define RUN_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli;

/* When what happens, counted back from the end of the lease. */
struct guard_times {
    int64_t grace_ns;  /* TERM comes so long before the end */
    int64_t margin_ns; /* KILL comes so long before it, that all has ended at the end */
};

/* The first message. Behind it, in the same message, stand the changes to the environment for
 * COMMAND, a string each: "NAME=value" sets a variable, "NAME" takes it away. */
struct guard_start {
    struct guard_times times;
    int64_t deadline_ns; /* boottime */
    pid_t run_group;     /* whose terminal it is when COMMAND has ended */
    bool foreground;     /* make COMMAND's group the terminal's foreground group */
};

enum guard_order_kind {
    GUARD_DEADLINE = 1, /* the lock was extended until deadline_ns */
    GUARD_SIGNAL = 2,   /* signal COMMAND's group */
    GUARD_END = 3       /* the lock is lost: KILL, now */
};

struct guard_order {
    int kind;
    int signal_number;
    int64_t deadline_ns;
};

enum guard_news_kind {
    GUARD_STARTED = 1,     /* pid runs COMMAND */
    GUARD_NOT_RUN = 2,     /* value: errno of exec; the guard ends now */
    GUARD_STOPPED = 3,     /* value: the signal that stopped COMMAND */
    GUARD_TERMINATING = 4, /* value: enum guard_why; TERM or KILL was sent */
    GUARD_ENDED = 5,       /* value: COMMAND's wait status; all has ended, the guard ends now */
    GUARD_FAILED = 6, /* value: errno of what the guard needed and did not get; it ends now */
    GUARD_LEFT = 7,   /* value: a process that COMMAND started, and that runs on */
    GUARD_BEGINS = 8, /* COMMAND is forked next: from now on it may have run */
    GUARD_NEVER_RAN = 9 /* it has not: its process ended before exec */
};

enum guard_why {
    GUARD_WHY_NOTHING = 0, /* COMMAND ended by itself */
    GUARD_WHY_LEFTOVERS,   /* it did, and left others in its group: those are ended */
    GUARD_WHY_DEADLINE,    /* no extension came in time */
    GUARD_WHY_LOST,        /* GUARD_END */
    GUARD_WHY_ALONE        /* run is dead */
};

struct guard_news {
    int kind;
    int value;
    int why; /* of TERMINATING and ENDED: enum guard_why */
    pid_t pid;
    char call[24]; /* FAILED: which was refused; "": none */
    int64_t at_ns; /* ENDED: when COMMAND itself had ended; --descendants: the last of them */
};

/* ---- run_guard.c ---- */

/* All that the forked process does; its exit status. */
int guard_main(int control_fd, const struct cli *cli);

/* ---- run_child.c ---- */

/* Make these changes to our environment; their memory becomes part of it. 0 or an errno. */
int run_child_environment(char *changes, size_t len);

/* Fork and exec COMMAND as the leader of its own process group, which becomes the foreground
 * group of this terminal (-1: of none). Its pid, or -1 with errno. An errno can be read from
 * *ret_exec_fd if exec fails, and its end if it does not. */
pid_t run_child_start(const struct cli *cli, int foreground_fd, int *ret_exec_fd);

/* That end was read, and the process was not waited for: did it run COMMAND? A signal may have
 * ended it before. Where the system does not say, it did. */
bool run_child_ran(pid_t pid);

#endif
