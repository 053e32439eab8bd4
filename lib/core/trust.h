/* trust.h - may this master vote now, and if not, why, and until when? The answer is decided
 * here alone, in one function, by all that is known of the master. Core: pure.
 *
 * A master that has forgotten a grant could grant the lock a second time. So a master that may
 * have forgotten a grant casts no vote for a whole window. After that window every lease that it
 * may have granted is over. The window is as long as the longest lease by the slowest clock.
 * With max-ttl 30 s and drift-factor 0.01 it is 30.3 s.
 *
 * What is believed, by the setting `guard`:
 *
 *   off          Nothing is waited for: a restarted master votes at once.
 *   on           INFO: the uptime, or how long this client has known the process.
 *   marker       The marker (marker.h), which is read beside each INFO. For a client that knew
 *                the former process, the waits of `on` hold as well.
 *   strict       The same, and each script that takes or keeps a lock looks at the marker, too.
 *
 * Each wait, and how it is rounded:
 *
 *   window       max-ttl * (1 + drift-factor), rounded up to the next nanosecond.
 *   restarted    By uptime: max-ttl and its drift in whole seconds, rounded up, and one second
 *                more, because INFO may tell up to one second too many. The sum is 32 s with the
 *                values above. Where max-ttl and its drift are whole seconds, the window still
 *                has 1 ns more (rl_clock_drift_ns): 101 s count as 102, the sum is 103 s. Or
 *                until this client has known the process (run_id) for the window, to the
 *                nanosecond: whichever comes first. (RL_WAIT_UPTIME)
 *   no uptime    Until this client has known the process for the window, to the nanosecond.
 *                (RL_WAIT_SEEN, as the next one)
 *   replaced     A replica, or a server that loads other keys, or another server that may have
 *                run beside the former one: the window since this client last saw that, to the
 *                nanosecond. An uptime proves nothing then, so the longer wait counts.
 *   quarantined  With markers: the window in whole milliseconds, rounded up, from when the
 *                first client saw that keys are lost. This wait ends by the server's clock and
 *                by our own, whichever is later. This wait is instead of `restarted`; but a client
 *                that knew the former process waits for `restarted` as well.
 *                (RL_WAIT_QUARANTINE)
 *   failed over  A master that can fail over: as quarantined, from when the first client saw it
 *                in its term. All its windows are longer by D and its drift (witness.h).
 *   two servers  The window since both answered at this address, to the nanosecond. To see the
 *                end, a new connection is made each sixteenth of the window, or each second.
 *
 * For all else nobody knows how long it takes. The master is asked again: each 100 ms while it
 * loads its keys, each second, or each ten seconds where a person must mend it (refusal.h).
 * Where an address of its name is unmet, the pauses grow. Users see the time that is left rounded
 * up, to milliseconds or seconds.
 */
#ifndef RL_TRUST_H
#define RL_TRUST_H

#include "core/identity.h"
#include "core/marker.h"

#include <stdbool.h>
#include <stdint.h>

/* How often a master that answers but can't vote is asked again. */
#define RL_ASK_AGAIN_NS RL_NS_PER_S

enum rl_fitness {
    RL_FIT,     /* it may vote */
    RL_GUARDED, /* it may have forgotten what it granted: a wait lets it vote */
    RL_UNFIT    /* its server may not vote, however long it is waited for */
};

/* Why it has no vote. The first one that applies is told; but a twin is one beside any other. */
enum rl_cause {
    RL_CAUSE_NONE, /* it votes */
    RL_CAUSE_TWIN, /* another node of the list leads to its server (duplicates.c) */
    RL_CAUSE_MAYBE_TWIN,
    RL_CAUSE_UNNAMED, /* no majority of its Sentinels names it */
    RL_CAUSE_MARKER_DENIED, /* the script that reads the marker was refused */
    RL_CAUSE_INFO_DENIED,
    RL_CAUSE_SERVER, /* loads, or is a replica, Sentinel, of a cluster, or evicts locks */
    RL_CAUSE_TWO_SERVERS,
    RL_CAUSE_ADDRESS, /* another address of its name may lead to another server */
    RL_CAUSE_NO_RUN_ID,
    RL_CAUSE_MARKER, /* the marker proves nothing */
    RL_CAUSE_LISTS,  /* other clients have other nodes; told after all those below */
    /* GUARDED: */
    RL_CAUSE_QUARANTINED,
    RL_CAUSE_WAS_REPLICA, /* replaced: seen as a replica, or it loaded its keys anew */
    RL_CAUSE_TOOK_PLACE,  /* replaced: another server, which may have run meanwhile */
    RL_CAUSE_RESTARTED,
    RL_CAUSE_NO_UPTIME,
    /* GUARDED, and asked at once: found between two looks by INFO. */
    RL_CAUSE_REPLACED, /* it has refused a request as replicas do */
    RL_CAUSE_UNMARKED, /* a strict script has found another marker */
    RL_CAUSES
};

/* All that is known of a master that answers. */
struct rl_trust_known {
    enum rl_cause found; /* since INFO: TWO_SERVERS, REPLACED, UNMARKED, UNNAMED; nothing else
                          * counts */
    const char *unnamed; /* UNNAMED: what they say (rl_witnesses_tell); else NULL */

    const struct rl_info *info;         /* what INFO told; of an empty text where it was denied */
    const struct rl_identity *identity; /* that has learnt of it */
    enum rl_cause denied;               /* INFO_DENIED, MARKER_DENIED, NONE */
    const char *error;                  /* its text */
    bool two_servers;                   /* were met at this address within the window */
    bool replicas_told;                 /* its line says what its replicas may do */
    const char *unmet;                  /* ADDRESS: why; NULL: all addresses show one server */
    const char *other_list;             /* LISTS: why; NULL: they agree, or need not */

    bool guard;                         /* is the restart guard on, in any way? */
    int64_t window_ns;
    const struct rl_marker *marker; /* with markers; else NULL */
    enum rl_marker_says marker_says;
    int64_t replaced_ns;    /* when its keys were last seen replaced; 0: never */
    enum rl_cause replaced; /* WAS_REPLICA, TOOK_PLACE */

    /* For when it is asked again: */
    int64_t check_ns;  /* how often a master that votes is */
    int64_t asked_ns;  /* a master that votes: since when to count that */
    int64_t ask_ns;    /* as it was planned */
    int64_t unmet_pause_ns; /* where an address of its name is unmet: until it is; else 0 */
    bool wanted;       /* somebody wants a vote: a quarantine that is only looked at is set now */
    bool lists_wanted; /* the lists must be compared each check_ns, whether it votes or not */
    bool unsettled;    /* another connection met another process there */
};

struct rl_trust {
    enum rl_fitness fitness;
    enum rl_cause cause;
    int64_t until_ns; /* GUARDED: until when; INT64_MAX: nobody knows; else 0 */
    int64_t ask_ns;   /* when to ask it again */
    char why[192];    /* a master that votes: a warning, or empty */
};

void rl_trust_judge(const struct rl_trust_known *known, int64_t now_ns,
                    struct rl_trust *ret_trust);

/* The words of a cause that has the same ones always; NULL: it has not. */
const char *rl_trust_words(enum rl_cause cause);

/* What follows from who answers now. */
struct rl_trust_news {
    bool lost;              /* it may have lost keys */
    bool failed_over; /* in another term: what was granted in the former one is not void */
    bool process;           /* another one: whether it is a twin must be found out again */
    enum rl_cause replaced; /* its keys: WAS_REPLICA, TOOK_PLACE, NONE */
};
struct rl_trust_news rl_trust_learn(struct rl_identity *identity, const struct rl_info *info,
                                    uint64_t term, int64_t now_ns);

/* A server's uptime follows its clock, which was set forward by so much (clock_watch.h). Without
 * this the wait would be over too soon. So many seconds, rounded up, are taken off the uptime.
 * Whole seconds; -1: not told. */
int64_t rl_trust_uptime_s(int64_t uptime_s, int64_t ahead_ns);

/* The window. */
int64_t rl_guard_window_ns(int64_t max_ttl_ns, double drift_factor);

/* 0: it may vote. Else the time from now after which it is worth asking again. `uptime_s`: -1:
 * not told. `seen_ns`: for how long this client has known the process (0: from now on). */
int64_t rl_guard_wait_ns(int64_t window_ns, int64_t uptime_s, int64_t seen_ns);

#endif
