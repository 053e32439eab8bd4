/* chaos.h - the data that the parts of redlock-chaos share: options, events, and findings. The
 * schedule, the checker and the reports are pure functions of these.
 *
 *   main.c                    the order of things, and the exit status
 *   options.c                 the command line
 *   faults/schedule.c         which fault when: drawn from the seed before anything begins
 *   faults/kinds.c            the faults' words, and the assumptions that they break
 *   faults/reachability.c     the contenders that a fault cuts off, and the state of a node
 *   faults/fault*.c           faults: done, seen to have an effect, undone
 *   place/proxy.c             the proxies through which contenders reach the masters
 *   workload/worker.c         contenders: processes that take locks and write under them
 *   check/keys.c              the keys of the locks that the masters have during the run
 *   check/stall.c             times in which the machine did not let a process run
 *   check/check.c             the checker
 *   report/progress.c         the terminal while it runs
 *   report/html.c, json.c ... the report */
#ifndef CHAOS_H
#define CHAOS_H

#include <redlock.h>

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Not given: the default then depends on values known later. */
#define CHAOS_USUAL UINT_MAX

enum { CHAOS_CLIENTS_MAX = 64, CHAOS_NAMES_MAX = 64, CHAOS_FAULTS_MAX = 4096 };

/* ---- faults --------------------------------------------------------------------------- */

/* The assumptions behind an operation of a contender; a fault may break one. */
enum chaos_assumption {
    CHAOS_NONE_BROKEN,
    CHAOS_KEYS_STAY, /* keys stay until they expire or are released */
    CHAOS_NO_STEP,   /* the masters' clocks do not step forward */
    CHAOS_GUARD,     /* masters that lost keys do not vote for a max-ttl */
    CHAOS_ONE_SERVER, /* what answers at a master's address is one server */
    CHAOS_ONE_LIST    /* all contenders have one list, or two whose majorities meet */
};

/* name on the command line, effect, broken assumption */
#define CHAOS_FAULTS(X)                                                                      \
    X(KILL, "kill", "SIGKILL a master, start it again empty", CHAOS_NONE_BROKEN)             \
    X(KILL_AOF, "kill-aof", "SIGKILL a master, start it again from its AOF", CHAOS_NONE_BROKEN) \
    X(KILL_RDB, "kill-rdb", "SIGKILL a master, start it again from an RDB file", CHAOS_NONE_BROKEN) \
    X(PAUSE, "pause", "SIGSTOP a master, SIGCONT it later", CHAOS_NONE_BROKEN)               \
    X(PAUSE_HOLDER, "pause-holder", "SIGSTOP a contender that holds a lock, for longer than its TTL", CHAOS_NONE_BROKEN) \
    X(KILL_HOLDER, "kill-holder", "SIGKILL a contender that holds a lock, start another", CHAOS_NONE_BROKEN) \
    X(PARTITION, "partition", "some contenders can't reach some masters", CHAOS_NONE_BROKEN) \
    X(PARTITION_THERE, "partition-there", "requests vanish on their way to a master", CHAOS_NONE_BROKEN) \
    X(PARTITION_BACK, "partition-back", "replies of a master vanish", CHAOS_NONE_BROKEN)     \
    X(HALVES, "halves", "contenders and masters are cut into two halves", CHAOS_NONE_BROKEN) \
    X(RING, "ring", "each contender reaches another majority of the masters", CHAOS_NONE_BROKEN) \
    X(DELAY, "delay", "bytes to and from a master take long", CHAOS_NONE_BROKEN)             \
    X(SPLIT, "split", "bytes arrive one by one", CHAOS_NONE_BROKEN)                          \
    X(HALF_OPEN, "half-open", "connections stay open and nothing passes any more", CHAOS_NONE_BROKEN) \
    X(RESET, "reset", "connections are reset", CHAOS_NONE_BROKEN)                            \
    X(CLOCK, "clock", "a master's clock steps forward", CHAOS_NO_STEP)                       \
    X(CLOCK_BACK, "clock-back", "a master's clock steps back", CHAOS_NONE_BROKEN)            \
    X(SCRIPT_FLUSH, "script-flush", "a master forgets its scripts", CHAOS_NONE_BROKEN)       \
    X(FLUSHALL, "flushall", "a master forgets its keys", CHAOS_KEYS_STAY)                    \
    X(CLIENT_PAUSE, "client-pause", "CLIENT PAUSE on a master", CHAOS_NONE_BROKEN)           \
    X(SLEEP, "sleep", "DEBUG SLEEP on a master", CHAOS_NONE_BROKEN)                          \
    X(OOM, "oom", "a master is at its maxmemory", CHAOS_NONE_BROKEN)                         \
    X(DISCONNECT, "disconnect", "compose: a container leaves the network", CHAOS_NONE_BROKEN) \
    X(WARM, "warm", "another server, up for long, takes a master's place", CHAOS_ONE_SERVER) \
    X(MEMBERS, "members", "a master leaves the contenders' lists in turn, and comes back", CHAOS_NONE_BROKEN) \
    X(MEMBERS_AT_ONCE, "members-at-once", "two masters leave these lists at once", CHAOS_ONE_LIST)

enum chaos_fault_kind {
#define CHAOS_FAULT_ENUM(name, word, text, breaks) CHAOS_FAULT_##name,
    CHAOS_FAULTS(CHAOS_FAULT_ENUM)
#undef CHAOS_FAULT_ENUM
    CHAOS_FAULT_KINDS
};

/* One fault, from the schedule on. Times count from the beginning of the run. */
struct chaos_fault {
    enum chaos_fault_kind kind;
    int64_t planned_ns, length_ns; /* by the schedule */
    uint64_t nodes;                /* masters that it is about, a bit each */
    uint64_t clients;              /* contenders that it is about */
    int64_t step_ms;               /* clock: how far; delay: how long; warm: 1: it has a marker */
    int64_t begun_ns;              /* read right before it is done; 0: it was not */
    int64_t undone_ns;             /* read right after it was undone; 0: it was not */
    bool seen;                     /* it was observed to have an effect while it lasted */
    char text[120];                /* how that was seen, or why it was not */
};

/* ---- the options ---------------------------------------------------------------------- */

enum chaos_where { CHAOS_LOCAL, CHAOS_FILE, CHAOS_COMPOSE };

/* The kind of lock that the contenders take. In their turns and in the checker, readers of a
 * read-write lock are `shared`, and all others hold alone. SEVERAL: plain locks, of several
 * names at once. */
enum chaos_lock {
    CHAOS_PLAIN,
    CHAOS_REENTRANT,
    CHAOS_FAIR,
    CHAOS_READ_WRITE,
    CHAOS_SEVERAL,
    CHAOS_LOCKS
};

/* The defect of the client of --self-test. */
enum chaos_breach {
    CHAOS_ONE_MASTER,  /* it asks one master alone */
    CHAOS_NO_RELEASE,  /* the same, and it never gives its key back */
    CHAOS_NO_ROLLBACK, /* it asks all; without a majority it leaves its keys there */
    CHAOS_NO_FENCE,    /* a good client, whose store takes every write, whatever its token */
    CHAOS_BREACHES
};

struct chaos_options {
    enum chaos_where where;
    const char *nodes_file;  /* FILE */
    unsigned local;          /* LOCAL: so many masters */
    unsigned clients, names;
    enum chaos_lock lock;
    bool fenced;         /* all but readers take it with a fencing token */
    bool markers;        /* the contenders' guard is by markers of the masters */
    bool strict;         /* and their scripts look at the marker, too */
    bool certified;      /* `fencing strict`: no loss of keys excuses a fencing token */
    int64_t duration_ms; /* 0: half a minute, or as long as the faults need */
    int64_t ttl_ms, hold_ms;
    int64_t max_recovery_ms; /* a lock must be had so soon after a majority's return; 0: any */
    uint64_t faults;         /* a bit a kind */
    uint64_t named;          /* those that --faults names one by one, which must be possible */
    uint64_t seed;
    const char *report;      /* a directory, or NULL */
    const char *client_cmd;  /* --client: somebody else's client, see docs/CHAOS.md */
    bool self_test;          /* something of ours is broken, which must be caught */
    enum chaos_breach breach;
    bool yes;
    unsigned min_holds;      /* fewer than these, and the run has shown nothing; by default
                                CHAOS_USUAL, which the duration tells */
    unsigned min_masters;    /* so has a client that asks fewer masters a hold; 0: any number,
                                CHAOS_USUAL: a majority of however many there are */
    double min_available;    /* a part of 1: a lock must be to be had so often; 0: any */
    int argc;
    char **argv; /* as given: for the line that reproduces it */
};

/* With --self-test: is it the client? Else it is the store, beside good contenders. */
static inline bool chaos_client_is_broken(const struct chaos_options *options)
{
    return options->self_test && options->breach != CHAOS_NO_FENCE;
}

/* ---- events --------------------------------------------------------------------------- */

enum chaos_what {
    CHAOS_ASKS,     /* begins to try */
    CHAOS_HOLDS,    /* has it, until `until_ns` as it believes; again while it has it: it
                       was prolonged, and was never invalid in between */
    CHAOS_REFUSED,  /* did not get it; `result` says why */
    CHAOS_READS,    /* read `value` from the shared record, believing. Of a reader with
                       `until_ns`: again, having believed right before to hold it until then */
    CHAOS_WRITES,   /* wrote `value` = what it read + 1; right before it believed to hold it
                       until `until_ns`. `at_ns` is right after: where that is later, the
                       write landed too late, which no lease can prevent. A contender killed
                       in between leaves a record that is ahead of the log by one */
    CHAOS_LETS_GO,  /* stops believing, begins to release */
    CHAOS_RELEASED, /* `result` says how it ended */
    CHAOS_LOSES,    /* found out, while it held it, that it does not any more */
    CHAOS_STALE     /* its read or write was refused for its fencing token */
};

/* One line of a contender's log, in memory that outlives the contender. */
struct chaos_event {
    int64_t at_ns;    /* CLOCK_BOOTTIME since the run's beginning: one clock for all */
    int64_t until_ns; /* HOLDS, WRITES, and READS of a reader that does so again */
    uint64_t value;   /* READS, WRITES; HOLDS: the key on masters, 0: unknown */
    uint64_t token;   /* HOLDS: a fencing token where there is one; 0: none */
    int32_t result;
    uint16_t client, name;
    uint8_t what;     /* enum chaos_what */
    uint8_t shared;   /* 1: as a reader */
    uint8_t joint;    /* 1: with others at once, so that it alone is not to be had */
    uint8_t asked;    /* HOLDS, of --client: masters to which it has sent something since ASKS */
};

/* A key that was seen on a master for longer than half a ttl: the first and the last time. Its
 * value is as in its holders' logs (chaos_key_of). */
struct chaos_stay {
    int64_t from_ns, to_ns;
    uint64_t key;
    uint16_t node, name;
};

/* A time in which a process did not run, or a master did not answer, and no fault was the cause:
 * chaos/check/stall.h. */
enum chaos_stalled { CHAOS_STALLED_CONTENDER, CHAOS_STALLED_PROXIES, CHAOS_STALLED_MASTER };

struct chaos_stall {
    int64_t from_ns, to_ns;
    uint16_t number; /* of the contender, of the master */
    uint8_t what;    /* enum chaos_stalled */
};

/* How busy the machine was meanwhile: its load average over a minute. */
struct chaos_load {
    unsigned processors;
    double begin, highest;
};

/* The state of one node, or of the quorum, from some time on. */
enum chaos_node_state {
    CHAOS_NODE_UP,
    CHAOS_NODE_NO_VOTE, /* it answers and grants nothing: restarted lately, out of memory */
    CHAOS_NODE_SILENT,
    CHAOS_NODE_DOWN
};

/* A contender was killed then, so nobody releases what it had. */
struct chaos_kill {
    int64_t at_ns;
    unsigned client;
};

struct chaos_history {
    const struct chaos_options *options;
    unsigned nodes, needed;
    const char *node_name[REDLOCK_NODES_MAX]; /* without secrets */
    char server_version[24];
    int64_t begun_unix_s; /* the wall clock, for the report's head */
    int64_t duration_ns;  /* the real one */
    int64_t guard_ns;     /* a master that was started again does not vote for so long */
    size_t event_count;   /* sorted by time */
    const struct chaos_event *events;
    size_t fault_count;   /* in order of planned_ns */
    const struct chaos_fault *faults;
    uint64_t record[CHAOS_NAMES_MAX];  /* the shared records at the end */
    size_t stay_count;
    const struct chaos_stay *stays;
    size_t kill_count; /* in order of at_ns */
    const struct chaos_kill *kills;
    size_t stall_count; /* in order of from_ns */
    const struct chaos_stall *stalls;
    struct chaos_load load;
    unsigned left[REDLOCK_NODES_MAX];    /* keys while the contenders ended and afterwards, as */
    int64_t left_ns[REDLOCK_NODES_MAX];  /* they were seen last; 0: nobody looked, or saw any */
    unsigned orphans[REDLOCK_NODES_MAX]; /* keys that were left a max-ttl after the end */
    uint64_t lost_events;              /* logs that were full */
    char error[256];                   /* why the run ended before its time, or "" */
};

/* ---- findings ------------------------------------------------------------------------- */

enum chaos_finding_kind {
    CHAOS_OVERLAP,
    CHAOS_LOST_UPDATE,
    CHAOS_CHANGED_READ,
    CHAOS_TOKEN_ORDER,
    CHAOS_ORPHAN,
    CHAOS_LATE,  /* a lock was had too long after a majority's return */
    CHAOS_SCARCE /* locks were to be had too seldom while a majority could vote */
};

struct chaos_finding {
    enum chaos_finding_kind what;
    int64_t at_ns;
    int64_t for_ns;           /* overlap, late: how long */
    unsigned name, client, other;
    bool excused;             /* an assumption was broken by a fault that could cause it, */
    const struct chaos_fault *by;
    bool stalled;             /* or the machine stalled for so long */
    char text[240];
};

struct chaos_quantiles {
    size_t count;
    double p50_ms, p90_ms, p99_ms, max_ms;
};

struct chaos_verdict {
    size_t finding_count;
    struct chaos_finding finding[256]; /* the first of them */
    /* While assumptions held; and the others, all kinds. */
    uint64_t overlaps, lost_updates, changed_reads, token_disorders, orphans, late, scarce;
    uint64_t excused;
    uint64_t stalled; /* of `excused` */
    uint64_t stalls;  /* that were long enough to matter; the longest; contenders of these */
    int64_t longest_stall_ns;
    unsigned starved;
    uint64_t shared; /* of `holds` */
    uint64_t holds, refusals, losses, writes;
    uint64_t stale; /* reads and writes that were refused for their fencing tokens */
    uint64_t faults_done, faults_unseen;
    struct chaos_quantiles wait, hold, hand_off;
    double holds_per_s;
    double available; /* part of the time with a voting majority in which a lock was held or to be had */
    int64_t unavailable_ns, quorum_ns;      /* it is 1 less the one by the other */
    double asked_mean;                    /* --client: masters asked per hold; */
    unsigned asked_least;                 /* the fewest; both 0: nobody counted */
    /* The longest time in which a lock was asked for and not held, although a majority could
     * vote. Then the longest time from a majority's return until the next hold. With each: the
     * name and the time. */
    int64_t longest_unavailable_ns, longest_at_ns;
    int64_t recovery_ns, recovery_at_ns;
    unsigned longest_name, recovery_name;
    bool passed;
    int exit_status;     /* 0, 1 (violation), 2 (the run has shown nothing) */
    char text[512];      /* one sentence */
};

/* chaos/check/check.c. `ret_verdict` is large: not on the stack. */
void chaos_check(const struct chaos_history *history, struct chaos_verdict *ret_verdict);

/* chaos/faults/schedule.c: at most CHAOS_FAULTS_MAX; the number of them. */
size_t chaos_schedule(const struct chaos_options *options, unsigned nodes,
                      struct chaos_fault *ret_faults);

extern const char *const chaos_lock_words[];       /* up to a NULL */
const char *chaos_lock_word(enum chaos_lock lock); /* "plain" */
const char *chaos_fault_word(enum chaos_fault_kind kind);
const char *chaos_fault_text(enum chaos_fault_kind kind);
enum chaos_assumption chaos_fault_breaks(enum chaos_fault_kind kind);
bool chaos_fault_restarts(enum chaos_fault_kind kind); /* undone, the master was started anew */
/* Undone, the restart guard of our contenders withholds the master's vote for a while. With
 * `fencing strict` it may give no token: a second loss before it is certified could not be mended.
 */
bool chaos_fault_guarded(const struct chaos_options *options, enum chaos_fault_kind kind);
/* Whether `fault`, while it is in force, keeps this contender from this master. In HALVES, the
 * masters and contenders with their bit set are one half. In a RING, a contender with its bit
 * set reaches only a majority. That majority begins with the master of the contender's number
 * and goes round. Except in HALVES, no bit at all means all contenders. */
bool chaos_fault_cuts(const struct chaos_fault *fault, unsigned nodes, unsigned client,
                      unsigned node);
/* guard_ns; 0 for somebody else's client, which may have no such rule. */
int64_t chaos_guard_ns(const struct chaos_history *history);
/* The master's own state: the worst that a fault makes of it. Clients cut off from it do not
 * count. */
enum chaos_node_state chaos_node_state(const struct chaos_history *history, unsigned node,
                                       int64_t at_ns);

/* The reports: 0 or -1 with errno. */
int chaos_report_html(const struct chaos_history *history, const struct chaos_verdict *verdict,
                      FILE *to);
int chaos_report_json(const struct chaos_history *history, const struct chaos_verdict *verdict,
                      FILE *to);

#endif
