/* witness.h - the Sentinels that a line names, as witnesses of who is master. Core: pure.
 *
 * A master that can fail over may be two servers at once, and its own word proves nothing. A
 * witness is a register: it never goes back to a server and term that it has left, and names one
 * server in one term. Two majorities of the same witnesses have one in common. So a vote counts
 * only if a majority of the witnesses that the line names said "X@e is master", and was asked
 * for that no earlier than D before the round began. Whoever heard a majority name Y@f then
 * begins a quarantine of max-ttl and D: when it ends, every lease by X@e is over.
 *
 *                        asked    t0                     lease by X@e ends, at most here
 *   client of X@e  --------|--D---|----------- max-ttl ----|
 *   the common witness  ------X@e----Y@f
 *   client of Y@f  ----------------------look|------- max-ttl + D -------|  votes at Y@f
 *
 * Which witness counts:
 *
 *   by its own id       (SENTINEL MYID.) One whose id is not known is in no set, and one id that
 *                       two hosts have counts once. Needed is the majority of those named.
 *   by its uptime       One that has just started may have lost its file and name a master of
 *                       long ago. It counts from when it has been up for the window.
 *   by its memory       Of each the highest (term, server) is remembered. If it names a lower
 *                       term, or another server in that term, it has gone back: no answer.
 *   if its host does    Another id at a host is a new witness, which counts once it has been
 *   not change it       known for the window. A host whose former id answers again leads to
 *                       several Sentinels, as a service of Kubernetes does: none of them counts.
 *
 * When a majority has gone back, the witnesses have forgotten (a file made anew at each start, or
 * REMOVE and MONITOR). Memory is dropped then, and the next look begins a quarantine whatever
 * marker stands there.
 *
 * Times are readings of one client's clock. A statement counts in the epoch of the clock in which
 * it was asked for.
 */
#ifndef RL_WITNESS_H
#define RL_WITNESS_H

#include "base/limits.h"
#include "core/sightings.h"
#include "core/statement.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* D: how old a statement may be at a round's t0. It is of the format, and no option: a client with
 * a greater one would break the others' quarantines. */
#define RL_WITNESS_D_NS RL_NS_PER_S

enum { RL_WITNESSES_MAX = 6 };

struct rl_witness {
    struct rl_sightings ids;  /* what its host has shown: the last one is its id */
    bool here;                /* it is connected */
    enum rl_unheard unheard;  /* if not: why, by the last try */
    bool no_uptime;           /* it told none */
    bool replaced;            /* it counts late, since another id was here before */
    int64_t counts_ns;        /* what it is asked from then on counts */
    struct rl_master_at best; /* the highest that it named; port 0: none is known */
    struct rl_statement last; /* its last answer */
    int64_t asked_ns;         /* when that was asked for; 0: it has not answered */
    int64_t epoch;
    bool back;                /* that answer is behind `best` */
};

/* All zeroes but for `named`: nobody has answered. */
struct rl_witnesses {
    unsigned named;
    int64_t forgot_ns; /* when a majority was last seen to have gone back; 0: never */
    struct rl_witness of[RL_WITNESSES_MAX];
};

/* Connected. `id` is what SENTINEL MYID told, shorter than RL_RUN_ID_SIZE; `uptime_s` is its
 * process's, of INFO (-1: not told). `window_ns`: rl_witness_window_ns. */
void rl_witness_met(struct rl_witnesses *witnesses, unsigned i, const char *id,
                    int64_t uptime_s, int64_t window_ns, int64_t now_ns);

/* It has answered a question that was sent at `asked_ns`, in that epoch of the clock. */
void rl_witness_answered(struct rl_witnesses *witnesses, unsigned i,
                         const struct rl_statement *statement, int64_t asked_ns,
                         int64_t epoch, int64_t now_ns);

/* Its connection has ended, or can't be made, and why. What it said stands. */
void rl_witness_gone(struct rl_witnesses *witnesses, unsigned i, enum rl_unheard unheard);

/* To whom does one connect? A majority of those named, asked no earlier than `since_ns`, has
 * named one server and term: *ret_at, of no run id. */
bool rl_witnesses_name(const struct rl_witnesses *witnesses, int64_t since_ns, int64_t epoch,
                       struct rl_master_at *ret_at);

/* Has such a majority named this server? `at` has the run id that the server itself told. What
 * was said of another process at this address does not count. */
bool rl_witnesses_vouch(const struct rl_witnesses *witnesses, const struct rl_master_at *at,
                        int64_t since_ns, int64_t epoch);

/* This client's last look at the marker: it was sent and read then (0: never), and found a marker
 * of that term (0: none, or none known). Have the witnesses forgotten? That is so if a majority
 * has gone back since it was sent, or one that was asked after it was read names lower terms. */
struct rl_look {
    int64_t sent_ns, read_ns;
    uint64_t marker_term;
};
bool rl_witnesses_forgot(const struct rl_witnesses *witnesses, const struct rl_look *look,
                         int64_t epoch);

/* What one says, or why it says nothing, for people: "doesn't answer", "names 10.0.0.1:6379 (term
 * 7)". By its last answer; what is longer than `size` is cut. */
void rl_witness_tell(const struct rl_witnesses *witnesses, unsigned i, char *ret, size_t size);

/* Why no majority names a server, for people: "2 of 3 Sentinels don't answer". */
void rl_witnesses_tell(const struct rl_witnesses *witnesses, char *ret, size_t size);

/* The quarantine of a server that can fail over, and for how long a witness must be up: max-ttl
 * and D, with the drift of the sum. */
int64_t rl_witness_window_ns(int64_t max_ttl_ns, double drift_factor);

#endif
