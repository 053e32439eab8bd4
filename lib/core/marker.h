/* marker.h - does a master still have the keys that it had? By its marker and its quarantine,
 * as a script read them there (kinds/marker/marker_join.lua). Core: pure.
 *
 * A missing marker, or another one, proves that keys were lost, or that nobody knows. The
 * script then sets a quarantine for the longest lease, which all clients find there. The
 * quarantine's key ends by the server's clock. A client that has seen the quarantine waits by
 * its own clock as well, because the server's clock may be set forward.
 */
#ifndef RL_MARKER_H
#define RL_MARKER_H

#include <stdbool.h>
#include <stdint.h>

#define RL_MARKER_TEXT_MAX 160

struct rl_marker_reading {
    char run_id[48]; /* of the server that read them; empty: not told */
    char why[16];    /* the script's word */
    char text[RL_MARKER_TEXT_MAX]; /* the marker that stands now */
    int64_t left_ms; /* of the quarantine; 0: none; -1: until somebody deletes it */
};

/* A marker of a master that can fail over names its term (witness.h). One of a later term than the
 * client's is left alone, and there is no vote until the Sentinels name that one. */
enum rl_marker_says {
    RL_MARKER_FREE,        /* the keys are those that it had: it may vote */
    RL_MARKER_QUARANTINED, /* earlier votes are void */
    RL_MARKER_UNFIT        /* nothing is known of its keys */
};

struct rl_marker {
    int64_t until_ns; /* by our clock: when to read again; 0: no quarantine was seen */
    int64_t ends_ns;  /* QUARANTINED: when it ends by what was read; INT64_MAX: nobody knows */
    const char *why;  /* QUARANTINED, UNFIT: a static text */
    int64_t read_ns;  /* when it was read last */
    uint64_t term;    /* that it names, also a later one; 0: none */
    char text[RL_MARKER_TEXT_MAX]; /* as it was then: a strict script looks whether it stands */
};

/* How often it is read on a connection that is up: a master that was emptied since votes
 * wrongly for so long. */
int64_t rl_marker_check_ns(int64_t max_ttl_ns);

/* A strict script that was sent at that time found another marker, or a quarantine. Does that
 * tell of a change since the marker was read? */
static inline bool rl_marker_gone(const struct rl_marker *marker, int64_t sent_ns)
{
    return sent_ns >= marker->read_ns;
}

/* Learn what was read. `run_id` is what INFO named on the same connection; `window_ns` as in
 * trust.h. */
enum rl_marker_says rl_marker_learn(struct rl_marker *marker,
                                    const struct rl_marker_reading *reading, const char *run_id,
                                    int64_t window_ns, int64_t now_ns);

#endif
