/* place.h - where the masters of a run are, and what can be done to them there: private
 * processes (local.c), a node list of the user's (file.c), containers
 * (compose.c). A place does the faults of CHAOS_OF_PLACES to one master and undoes
 * them. Whether that had an effect is looked at by chaos_fault*.c, through fresh connections,
 * the same way everywhere; they also do what is done by commands, by proxies (the network),
 * and to contenders. */
#ifndef CHAOS_PLACE_H
#define CHAOS_PLACE_H

#include "chaos/faults/kinds.h"
#include "config/config.h"

struct chaos_place;

struct chaos_place_type {
    const char *name; /* "local", "file", "compose" */

    /* Have masters that answer: fill in place->config (rl_config_init() was called, nodes and
     * settings; host and port, or a socket's path, where this process reaches them), dir and
     * self. place->options is set. False: `why` says what is wrong and what would be right,
     * and nothing is left behind. */
    bool (*start)(struct chaos_place *place, char *why, size_t why_size);

    /* Undo whatever is still on, end what start() started, remove its files. Once, after a
     * start() that worked; also after a signal, so in any state. Not in a signal handler. */
    void (*end)(struct chaos_place *place);

    /* NULL, or why this kind, one of CHAOS_OF_PLACES, can be done to no masters of this place,
     * whichever they are. Asked before start(). */
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
    bool ours;               /* we started these masters: no one else minds what we do */
    void *self;              /* what the type keeps */
};

extern const struct chaos_place_type chaos_place_local;
extern const struct chaos_place_type chaos_place_file;
extern const struct chaos_place_type chaos_place_compose;

/* How long the contenders' max-ttl is, and so the guard of a master that was restarted. */
int64_t chaos_place_max_ttl_ms(const struct chaos_place *place);

/* Sleep; the display goes on meanwhile, and dead processes are noticed. For everything that
 * takes longer than some milliseconds: poll a condition with this in between. Returns false at
 * once when the run is to end (a signal came): give up then, or be quick. */
bool chaos_pause_ms(int64_t ms);

/* Nanoseconds since the run's beginning (CLOCK_BOOTTIME), as in events. */
int64_t chaos_now_ns(void);

#endif
