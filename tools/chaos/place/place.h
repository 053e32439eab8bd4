/* place.h - the place of a run's masters, and the faults that can be done to them there. There
 * are private processes (local.c), a user's node list (file.c) and containers (compose.c).
 *
 * A place does the faults of CHAOS_OF_PLACES to one master and undoes them. All other faults
 * are done by commands, by proxies (the network) and to contenders: faults/fault*.c. The same
 * files check each fault's effect, through fresh connections. */
#ifndef CHAOS_PLACE_H
#define CHAOS_PLACE_H

#include "chaos/faults/kinds.h"
#include "config/config.h"

struct chaos_place;

struct chaos_place_type {
    const char *name; /* "local", "file", "compose" */

    /* Start masters that answer. Fill in dir, self and place->config: nodes, settings, and the
     * host and port, or the socket's path, at which this process reaches them. rl_config_init()
     * was called, and place->options is set. False: `why` has the error and its remedy, and
     * nothing is left behind. */
    bool (*start)(struct chaos_place *place, char *why, size_t why_size);

    /* Undo all faults in force, end the processes of start(), and remove its files. Called
     * once, after a start() that worked; also after a signal, so in any state. Not in a signal
     * handler. */
    void (*end)(struct chaos_place *place);

    /* NULL, or why this kind, one of CHAOS_OF_PLACES or CHAOS_OF_SPARES, is impossible for all
     * masters of such a place. Asked before start(). */
    const char *(*never)(enum chaos_fault_kind kind);

    /* NULL: this kind, one of CHAOS_OF_PLACES, can be done to masters here. Else why not, as
     * the end of a sentence: "containers have no clock of their own". Asked before the first
     * fault, after start(). */
    const char *(*cannot)(const struct chaos_place *place, enum chaos_fault_kind kind);

    /* Do it to one master, and return when it is done as far as can be told from outside
     * (the process is dead, stopped, disconnected). False: `why`. */
    bool (*inflict)(struct chaos_place *place, const struct chaos_fault *fault, unsigned node,
                    char *why, size_t why_size);

    /* Undo it: the master is up again as it was, or as the fault says (KILL: empty). Need
     * not wait until it answers: that is looked at afterwards. */
    bool (*undo)(struct chaos_place *place, const struct chaos_fault *fault, unsigned node,
                 char *why, size_t why_size);

    /* Every master is there that should be. False: `why`. NULL: it is not looked after. */
    bool (*fine)(struct chaos_place *place, char *why, size_t why_size);
};

struct chaos_place {
    const struct chaos_place_type *type;
    const struct chaos_options *options;
    struct rl_config config; /* the masters, with secrets, and the settings that all share */
    char dir[128];           /* ours, removed at the end; "" until somebody made it */
    bool ours;               /* we started these masters: nobody else uses them */
    /* For each master another server, at a port of this machine; 0: there is none. */
    int spare_port[REDLOCK_NODES_MAX];
    void *self; /* the type's own state */
};

extern const struct chaos_place_type chaos_place_local;
extern const struct chaos_place_type chaos_place_file;
extern const struct chaos_place_type chaos_place_compose;

/* The contenders' max-ttl, and so the guard of a restarted master. */
int64_t chaos_place_max_ttl_ms(const struct chaos_place *place);

/* Sleep; the display goes on meanwhile, and dead processes are noticed. Use it wherever
 * something takes longer than some milliseconds, and poll a condition between the calls.
 * Returns false at once when the run is to end, because a signal came. Then give up, or be
 * quick. */
bool chaos_pause_ms(int64_t ms);

/* Nanoseconds since the run's beginning (CLOCK_BOOTTIME), as in events. */
int64_t chaos_now_ns(void);

#endif
