/* sim_held.h - one hold, between the files of the oracles of holds: who believes in what
 * (sim_holds.c), and is what programs are told so (sim_reported.c)? */
#ifndef SIM_HELD_H
#define SIM_HELD_H

#include "sim_judge.h"

#include "engine/lease/lease.h"

enum { SIM_NAMES_SHOWN = 32 };

struct sim_hold {
    struct sim_event over_event; /* first: the deadline passes */
    bool open;                   /* its program has not given it up */
    bool over;                   /* its program was told so, or could be: for good */
    bool reported;               /* on_lost was called */
    redlock_lock *lock;          /* NULL: as text */
    bool leaves;                 /* a call detaches it: its handle goes before that is back */
    bool detached;               /* at any time */
    bool attached;               /* by a client that knows no TTL but the text's */
    uint64_t owed;               /* nodes with a request in flight when it was detached */
    struct sim_proc *proc;
    int64_t deadline_ns;          /* in force when it was last looked at; own time */
    int64_t reported_ns;          /* until then, its program was told, it is valid */
    int64_t took_ns;              /* true time */
    struct sim_hold *prev, *next; /* open ones */
    bool shared;                  /* with others who read */
    bool hears;                   /* it asked to be told of a loss */
    bool watched;                 /* its validity ends before its deadline */
    bool lazy;                    /* its release is queued when the call returns */
    unsigned nodes;               /* of its client's list */
    int64_t max_ttl_ns;           /* nobody may ask for more */
    int64_t margin_ns;            /* so long before its keys may go it is given up */
    int64_t lock_delay_ns;        /* nobody else gets it for so long after its deadline */
    int64_t delayed_ns;           /* that is until then; true time */
    int64_t until_ns;             /* and then at the latest, which it asked for; own time */
    bool several;                 /* names */
    uint64_t fencing_token;       /* 0: none */
    char owner[RL_OWNER_MAX + 1]; /* "": a plain lock has none */
    char name[SIM_NAMES_SHOWN];
    char token[RL_TOKEN_MAX + 1];
};

/* The deadline that redlock_validity_ms() counts down to. */
int64_t sim_hold_in_force_ns(const struct sim_hold *hold);

/* Does its owner believe in another hold of the name, with this fencing token? */
bool sim_is_within(const struct sim_hold *hold, uint64_t fencing_token);

/* When it is over as redlock_validity_ms() tells it. */
bool sim_hold_runs_out(const struct sim_hold *hold, int64_t deadline_ns);

/* Not both at once, unless they are of one owner or both read. */
bool sim_conflict(const struct sim_hold *one, const struct sim_hold *other);

/* sim_kept.c: others are kept out for so long; its program gives it up; the release is back. Who
 * takes a lock is looked at: is it kept for another? */
void sim_kept_begin(void);
void sim_kept_end(void);
void sim_keeps(const struct sim_hold *hold, int64_t at_least_ms);
void sim_gave_up_kept(const struct sim_hold *hold);
void sim_released_kept(const struct sim_hold *hold);
void sim_look_at_kept(const struct sim_hold *hold);
bool sim_left_to_end(const struct sim_hold *hold); /* its keys are, after its release */

/* The deadline may have changed since; it may have passed. */
void sim_hold_look(struct sim_hold *hold);

/* Of those that were not given up; NULL: none. */
struct sim_hold *sim_hold_of(const redlock_lock *lock);

#endif
