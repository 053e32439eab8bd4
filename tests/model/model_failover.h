/* model_failover.h - one master that fails over, its Sentinels as witnesses, and two clients; and
 * maybe further masters, which are single ones and never fail over.
 *
 * Time is whole ticks, and counts from now. A failover is led at any time, whatever anybody has
 * heard of the master. So partitions, pauses, flapping and failovers by hand are all in it. A
 * request is executed at any time after it was sent, or never. So is a full inbox of a server that
 * was paused. A replica's data is that of an earlier time of its master.
 *
 * A lease counts from its round's t0, so it is of no matter when a grant is read: it is counted at
 * once. What a hold that is over leaves behind only refuses, and goes at once.
 *
 * With further masters a round needs a majority, and is over when it has that: a later grant says
 * no more than a fill-in does. The clock of such a master may be set forward, so that its keys
 * end. All hear of that at once, and count what is left.
 */
#ifndef TEST_MODEL_FAILOVER_H
#define TEST_MODEL_FAILOVER_H

#include "explore.h"

/* What the library does (R22); where all below `broken` is 0, nothing is broken. */
struct failover_rules {
    unsigned witnesses;
    unsigned more_replicas; /* than one */
    unsigned plain;         /* further masters: 2, or none */
    unsigned ttl;           /* of each lease: max-ttl */
    unsigned older;         /* D: how much earlier than t0 a statement may have been asked for */
    unsigned window;        /* of the quarantine; 0: there is none */
    unsigned failovers;
    unsigned ahead;    /* a replica's key ends so much earlier than its master's */
    bool restarts;     /* a replica restarts empty, once */
    bool extends;      /* holds are extended */
    bool equal_terms;  /* failovers by hand: two may have one term */
    bool strict;       /* guard strict: requests name the replication id */
    unsigned steps;    /* forward, of the further masters' clocks */
    bool fills;        /* masters without the key are filled in */

    /* broken: */
    bool no_statement;       /* no statement is needed for a vote */
    bool one_witness;        /* one is enough for it */
    bool old_statement;      /* it may be older than D */
    bool by_server_only;     /* that of the server in another term is one */
    bool look_by_one;        /* the quarantine is begun at one witness's word */
    bool look_unread;        /* or before their answers were read, as the server is promoted */
    bool marker_termless;    /* the marker does not name the term */
    bool marker_lifeless;    /* nor the replication id */
    bool extends_quarantined; /* an extension counts in quarantine */
    bool connections_stay;   /* a demotion does not end them */
    bool fills_unstated;     /* a fill-in needs no statement */
    bool forgets;            /* a witness loses its memory, and counts at once */
    bool forgets_up;         /* the same, and it counts when it has been up for the window */
};

extern const struct model failover_model;

#endif
