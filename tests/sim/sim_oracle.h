/* sim_oracle.h - what must stay true, judged in true time, and said once it is not.
 *
 * Programs of simulated processes tell what the library told them; the masters tell what
 * happens to keys (sim_master.h, changed). The oracles compare. What they find while all
 * assumptions hold is a violation; after an assumption was broken it is a cost, and counted
 * apart.
 *
 *   overlap        two believe in one lock at one time
 *   revived        a hold is valid again after it had run out
 *   foreign write  a key deleted or shortened by somebody whose token it does not have
 *   twice          a call is done twice, or not at all; likewise the loss of a lock is told
 *   too long       redlock_validity_ms() says more than the deadline in force allows, or that
 *                  is later than a majority of the masters keeps the lock for
 *   orphan         a key, a queue entry, a byte of memory, a descriptor is left at the end
 *   starved        no faults any more, and still no lock within the stated bound
 *   leak           memory, queues or descriptors above their bounds
 *   wrong result   what came of a call is not what it told, or it took longer than it may;
 *                  or a clock that kept time is blamed
 *   unfair         one who waits for a fair lock is overtaken
 *   unfenced       a fencing token is not above that of an earlier hold
 *   too soon       a master gives a lock that may have forgotten another one; too few keep one
 *                  until its least time is over
 *   unwitnessed    a lock is had by votes of servers that can fail over, and too few of these
 *                  had the word of a majority of their Sentinels when the round began, or were in
 *                  quarantine
 */
#ifndef SIM_ORACLE_H
#define SIM_ORACLE_H

#include "sim_master.h"

#include <redlock.h>

/* What the documentation asks of the world. */
enum sim_assumption {
    SIM_KEYS_STAY,    /* FLUSHALL, eviction, DEL by hand */
    SIM_GUARD_ON,     /* a restart that lost keys, without the guard */
    SIM_NO_STEP,      /* a master's clock stepped */
    SIM_RATES,        /* a client's clock within the drift factor of a master's */
    SIM_TIME_COUNTS,  /* the client's clock counts all time (no snapshots) */
    SIM_ONE_SERVER,   /* each node is one server, and another than the others */
    SIM_ONE_LIST,     /* all clients have the same nodes */
    SIM_STEADY,       /* a client's clock steps back only where that is seen, never forward */
    SIM_REMEMBER,     /* a majority of a service's Sentinels keep what they have said */
    SIM_CUT,          /* who is made a replica ends its clients' connections */
    SIM_ASSUMPTIONS
};

enum sim_oracle {
    SIM_OVERLAP,
    SIM_REVIVED,
    SIM_FOREIGN_WRITE,
    SIM_TWICE,
    SIM_TOO_LONG,
    SIM_ORPHAN,
    SIM_STARVED,
    SIM_LEAK,
    SIM_UNFAIR,
    SIM_WRONG_RESULT,
    SIM_UNFENCED,
    SIM_TOO_SOON,
    SIM_UNWITNESSED,
    SIM_ORACLES
};

void sim_oracle_begin(void);
void sim_oracle_end(void);

/* An assumption is broken, for this world from now on. */
void sim_broke(enum sim_assumption assumption);

/* What was found. `text`: the first one, a sentence. */
struct sim_verdict {
    unsigned violations[SIM_ORACLES]; /* while assumptions held */
    unsigned costs[SIM_ORACLES];      /* after one was broken */
    char text[256];
};
const struct sim_verdict *sim_verdict(void);
bool sim_violated(void); /* any, while assumptions held */
void sim_found(enum sim_oracle oracle, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- holds ---------------------------------------------------------------------------- */

/* One lock, as the program that took it believes in it. Memory is the oracle's. */
struct sim_hold;

/* redlock_try() has returned it, asked for with these options (NULL: none): by them it is
 * judged whom it excludes, and not by what the library has made of them. The call began at the
 * true time `began_ns`. Every
 * redlock_validity_ms(lock) of the program goes through sim_believes(), which checks the
 * answer; the deadline in force is looked at by the oracle itself whenever anybody else takes
 * the name, and when it passes. */
struct sim_hold *sim_took(redlock_lock *lock, const char *name, const redlock_options *asked,
                          int64_t began_ns);
int64_t sim_believes(struct sim_hold *hold); /* redlock_validity_ms(), checked */
/* Right before redlock_release(), _detach(): from here on the program uses it no more. */
void sim_gives_up(struct sim_hold *hold);
void sim_gives_up_all(const redlock *client); /* right before redlock_close() */
/* Its process's clock was set back by so much, and it can't know, or forward: what it was told, and
 * what it wanted, it counts by that clock. */
void sim_miscounts(const struct sim_proc *proc, int64_t back_ns);
void sim_lost(const redlock_lock *lock); /* its on_lost was called */
void sim_lost_heard(const redlock_lock *lock); /* its on_lost is about to return */
/* It asked to be told of its loss, and is over: was it not told so far? And if that has lasted
 * for long: */
bool sim_awaits_loss(const struct sim_hold *hold);
void sim_lost_in_silence(const struct sim_hold *hold);
/* Right before redlock_detach(), and right after it: where it succeeded the program believes
 * in the text now, for as long as it was valid; and right after redlock_attach(), by a client
 * of the same host. */
void sim_detaches(struct sim_hold *hold);
void sim_detached(struct sim_hold *hold, bool gone);
void sim_attached(struct sim_hold *hold, redlock_lock *lock);

/* What a call that has just been done has come to. `began_ns`: own time. A try is judged by the
 * time it took only where no process was stopped so far. */
void sim_waited(const char *name, const redlock_options *asked, int64_t began_ns);
void sim_extended(const struct sim_hold *hold, int64_t ttl_ms, int64_t began_ns, int result);
void sim_released(const struct sim_hold *hold, int result);

/* For masters' options. */
void sim_key_changed(const struct sim_changed *changed);
void sim_master_asked(const struct sim_asked *asked);
void sim_master_stated(const struct sim_stated *stated);

/* A client logs this: does it blame a clock that has kept time? */
void sim_look_at_blame(const struct sim_proc *proc, const char *text);

/* Each call that is done once: begin, then end with the same number. */
uint64_t sim_call_begins(const char *what);
void sim_call_ends(uint64_t call);

/* Memory, descriptors and queues of a process, and the bounds that they must keep. */
void sim_look_at_sizes(const struct sim_proc *proc, unsigned clients);

/* At the end of a world, when all clients are closed, after a time in which every key must
 * have gone. */
void sim_look_for_orphans(void);

/* Some token of that holder's, as tokens tell it, under which a master has anything still that
 * was not detached, good until that changes. NULL: there is none. */
const char *sim_token_left(const char *holder, unsigned *ret_master);

uint64_t sim_acquired(void); /* holds so far */
int64_t sim_held_ns(void);   /* true time held, all together */

#endif
