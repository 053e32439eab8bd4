/* sim_world.h - one seed's world: masters, hosts and processes with programs that take locks,
 * faults, and an end in which everything must come right.
 *
 *   sim_world.c   what is drawn, and the order of things
 *   sim_supervise.c  programs' main threads, which open and close clients
 *   sim_work.c    programs of threads that make blocking calls
 *   sim_loop.c    programs that are driven by an event loop or by callbacks
 *   sim_kinds.c   of which kinds their locks are
 *   sim_members.c the list of masters is changed
 *   sim_failover.c masters with replicas and Sentinels
 *   sim_limits.c  how large the library's bounds are
 *   sim_faults.c  which faults there are and when (sim_fault.h)
 *   sim_idle.c    a program that is alone, and calls seldom
 *   sim_end.c     no faults any more: is everybody served, and is nothing left?
 *   sim_count.h   what came of many of them
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim_client.h"
#include "sim_count.h"

enum {
    SIM_NAMES_MAX = 12, /* of a world with small bounds; of others: */
    SIM_FEW_NAMES = 3,
    SIM_ACTORS_MAX = 24,
    SIM_THREADS_MAX = 3,
    SIM_TEXTS_MAX = 4,
    SIM_OWNER_BYTES = 24
};

/* Nothing of a program's lasts longer than this without a look at whether it is to end. */
#define SIM_STEP_NS (50 * SIM_MS)

/* Of which kinds the locks of a world are. */
enum sim_family {
    SIM_PLAIN_LOCKS,
    SIM_REENTRANT_LOCKS, /* nested tries, too */
    SIM_SHARED_LOCKS,    /* readers and writers; the same, and from one to the other */
    SIM_SEVERAL_LOCKS,   /* plain ones, one at a time or several at once */
    SIM_FAIR_LOCKS,      /* on one master */
    SIM_RW_LOCKS,        /* readers and writers, on one master */
    SIM_FAMILIES
};

/* How a process does its work. */
enum sim_style {
    SIM_BLOCKING,  /* threads that make blocking calls */
    SIM_CALLBACKS, /* a thread that makes asynchronous ones; the background thread calls back */
    SIM_LOOPING    /* the same, and it drives the client itself; others may block */
};

/* What a seed has drawn. */
struct sim_plan {
    enum sim_family family;
    bool fenced;    /* all locks but those of readers have fencing tokens */
    bool certified; /* fenced, with certificates: tokens grow whatever clocks and masters do */
    bool marked;    /* all clients read markers, and masters lose their keys for good */
    bool strict;    /* and each script that takes a lock looks at the marker */
    bool partial;   /* masters may be restarted with some of their keys */
    bool set_numbers; /* somebody sets numbers of tokens at a master, */
    bool set_down;    /* and also to lower ones */
    bool delayed;   /* all clients have a lock-delay */
    bool kept;      /* some locks keep others out for a least time */
    bool watching;  /* all clients watch their wall clocks, which are set */
    bool members;   /* the list of masters is changed, one at a time */
    bool limited;   /* the library's bounds are small */
    bool crowded;   /* there are more masters than in other worlds */
    bool failover;  /* masters have replicas, and Sentinels that name them (sim_failover.c) */
    unsigned replicas, sentinels;
    bool same_sentinels;
    unsigned masters, actors, names;
    char name[SIM_NAMES_MAX][24];
    int64_t ttl_max_ms; /* of the locks; max-ttl is no less */
    /* With less a lock may never be had, for a node's share of it is too short for an answer.
     * Who waits for ever asks for no less. */
    int64_t ttl_sure_ms;
    struct sim_client_options options; /* of all clients */
    int64_t delay_low_ns, delay_high_ns;
    unsigned split_ppm, short_ppm, switch_ppm;
    bool relays;     /* in every path there is one */
    int64_t work_ns; /* so long there may be faults */
    uint64_t enough; /* or until so many locks were taken */
    int64_t
        wall_apart_ns; /* the last master's time of day is ahead of the others' by so much */
    int64_t client_rate_ppb, master_rate_ppb; /* clocks run at most so much too fast or slow */
    enum sim_assumption breaks;               /* SIM_ASSUMPTIONS: none */
};

/* A lock as text, waiting for somebody of its host to take it up. */
struct sim_text {
    struct sim_hold *hold; /* NULL: none */
    char text[512];
};

/* A process with its program. One that is killed has a successor on its host. */
struct sim_actor {
    struct sim_proc *proc;
    unsigned host;
    enum sim_style style;
    unsigned threads;
    struct sim_client_options options;
    redlock *client;
    struct sim_fiber *supervisor;
    bool leaving;           /* its threads are to let go of the client */
    bool kept_unseen;       /* one was then told of a lock with a least time: R21 keeps it */
    bool watches;           /* the supervisor sleeps, and may be called */
    unsigned running, calm; /* threads that work; that were served after the faults' end */
    unsigned calling;       /* threads within a blocking call that may be ended by closing */
    bool gone;
};

enum sim_phase { SIM_WORK, SIM_CALM, SIM_OVER };

struct sim_world {
    uint64_t seed;
    struct sim_plan plan;
    struct sim_actor actor[SIM_ACTORS_MAX];
    unsigned actor_count;
    struct sim_text text[SIM_ACTORS_MAX][SIM_TEXTS_MAX]; /* by host */
    enum sim_phase phase;
    int64_t calm_ns; /* when the last fault had ended */
    unsigned owners; /* so far */
    int64_t back_ns; /* masters' clocks were set back by so much, all together */
    struct sim_tally *tally;
    uint64_t faults[SIM_FAULT_KINDS]; /* of the worlds before it */
};

extern struct sim_world sim_world;

/* A try of this actor has won a lock while it leaves, and nobody will take it up. */
static inline void sim_won_unseen(struct sim_actor *actor, const redlock_options *options)
{
    actor->kept_unseen |= options->at_least_ms > 0;
}

/* Play it from beginning to end. False: it can't be ended, the process is of no more use. */
bool sim_world_play(uint64_t seed, struct sim_tally *tally);

/* sim_world.c: how many there were in it, of these kinds. */
uint64_t sim_world_faults(enum sim_fault first, enum sim_fault last);
/* A process on that host begins its program. */
struct sim_actor *sim_actor_start(unsigned host, const struct sim_proc *before);

/* sim_supervise.c */
void *sim_supervise(void *actor);             /* the main thread of every process */
void sim_actor_call(struct sim_actor *actor); /* the supervisor looks up */
/* sim_work.c */
void *sim_work(void *actor);
bool sim_leaves(const struct sim_actor *actor); /* its threads have to come to an end */
void sim_thread_ends(struct sim_actor *actor);
void sim_on_lost(void *context, redlock_lock *lock);
void sim_count_try(const char *name, int result);
/* sim_loop.c */
void *sim_loop(void *actor);

/* sim_kinds.c. SIM_FAMILIES: the seed says which. */
extern int sim_family_wanted;
const char *sim_family_name(enum sim_family family);
enum sim_family sim_family_of(uint64_t seed);
const char *sim_kinds_wanted(void); /* as --kinds has it */
extern bool sim_fenced_wanted;      /* in every world */
bool sim_fenced_of(uint64_t seed);
bool sim_certified_of(uint64_t seed);
void sim_operator_begin(void);     /* sim_operator.c: only in worlds with fencing strict */
void sim_operator_end(void);
void sim_operator_certifies(void); /* every master that is up */
extern bool sim_marked_wanted;
bool sim_marked_of(uint64_t seed);
bool sim_strict_of(uint64_t seed);
extern bool sim_partial_wanted;
bool sim_partial_of(uint64_t seed);
bool sim_numbers_of(uint64_t seed);
bool sim_lower_of(uint64_t seed);
extern bool sim_delayed_wanted;
bool sim_delayed_of(uint64_t seed);
extern bool sim_kept_wanted;
bool sim_kept_of(uint64_t seed);
int64_t sim_draw_at_least(int kind); /* ms; 0 in other worlds, and when faults are over */
extern bool sim_watching_wanted;
bool sim_watching_of(uint64_t seed);
extern bool sim_members_wanted;
extern bool sim_failover_wanted; /* no world has it that is not asked for */
bool sim_members_of(uint64_t seed);
/* sim_limits.c: the library's bounds, small or as they are; and how many masters are many. */
extern bool sim_limited_wanted, sim_crowded_wanted;
bool sim_limited_of(uint64_t seed);
bool sim_crowded_of(uint64_t seed);
void sim_limits_draw(bool limited);
unsigned sim_draw_crowd(void);
/* The owner's text is the caller's, and must last as long as the options. */
void sim_draw_kind(redlock_options *options, char owner[SIM_OWNER_BYTES]);
/* The options for taking it once more, by the same owner. False: it does not. */
bool sim_draw_nested(const redlock_options *outer, redlock_options *ret_inner);
/* A name, or several of them as one (sim_names.h). Good for ever. */
const char *sim_draw_name(void);
/* What everybody must get in the end, by a number below plan.names. */
const char *sim_served_name(unsigned i);

/* A lock's options, drawn. `renews`: it may ask for what needs somebody who drives. */
void sim_draw_options(redlock_options *ret_options, char owner[SIM_OWNER_BYTES], bool renews);

/* sim_world.c: are the masters' clocks so far apart, or were they before one was set back, that
 * one may not take the fencing token of another? */
bool sim_clocks_apart(void);

/* sim_world.c: the way from a process to the masters, as the seed has it. */
void sim_world_connect(const struct sim_proc *proc);

/* sim_members.c. Masters are bits; 0: the list is never changed. */
void sim_members_begin(void);
void sim_members_end(void); /* of the changes */
uint64_t sim_members_of_host(unsigned host);
uint64_t sim_members_last(void);
/* Its host has got another list since its client was opened. */
bool sim_members_stale(const struct sim_actor *actor);

/* sim_failover.c: what else a seed draws there; Sentinels begin; all is put right in the end. */
void sim_failover_draw(struct sim_plan *plan);
void sim_failover_begin(void);
void sim_failover_end(void);
int64_t sim_failover_served_ns(void); /* added to the bound of sim_end.c */

/* sim_idle.c: the others are gone, every key is, and all masters vote. False: it can't be
 * ended. */
bool sim_idle(void);

/* sim_end.c */
/* The faults have ended: wait until all are served and gone. False: they can't be ended. */
bool sim_calm_down(void);
/* Wait until every key must have gone, look for what is left, and free everything. */
bool sim_clear_up(void);

#endif
