/* model_lock.h - the protocol of the plain lock: rounds, votes, validity, the restart guard.
 *
 * Time is whole ticks, and counts from now: no history is too long. There are `holds`
 * contenders, each with one hold at a time, on `masters` masters. A request or a reply comes at
 * any time, in any order, or never.
 *
 * Some things are left out, because they only refuse, and any request may be refused. These
 * are waiters and their reservations, and the looks of connected clients, which withhold votes.
 * Unless `endings` is set, so are the keys and the late requests of a hold that is over.
 *
 * A clock's error is its whole error: a key ends up to `skew` ticks before or after its time. A
 * master that restarted may get a late request that was sent to the process before.
 */
#ifndef TEST_MODEL_LOCK_H
#define TEST_MODEL_LOCK_H

#include "explore.h"

enum fill_in {
    FILL_NOTHING,
    FILL_AFTER_YES, /* R8: after a majority's yes, and the masters filled in do not count */
    FILL_AND_COUNT  /* with the extension itself, and they count */
};

/* With a marker no client needs to have met the former server. Whoever connects finds another
 * marker or none, and the quarantine that is set for all. Each loss is of both. */
enum marker {
    UNMARKED,
    MARKED,       /* guard marker: it is read when a client connects */
    MARKED_STRICT /* guard strict: and by each script that takes or keeps a lock */
};

/* What a lock of the library does; where all below `broken` is 0, nothing is broken. */
struct lock_rules {
    unsigned masters, needed, holds;
    unsigned ttl,
        brief_ttl;        /* brief_ttl: some ask for less than max-ttl, which is ttl. 0: none */
    unsigned drift, skew; /* taken off validity; what clocks differ by in a lease */
    unsigned restarts;    /* masters that lose their keys, at most */
    unsigned window;      /* of the restart guard; 0: there is none */
    enum marker marker;
    bool flushed;  /* with a marker: FLUSHALL, and connections stand */
    bool replaced; /* these are other servers instead, up for long, under the same name */
    bool extends;
    enum fill_in fill_in;
    bool endings; /* releases, and what comes late for a hold that is over, are played out */

    /* broken: */
    bool from_reply;        /* R1: a hold is valid for its whole ttl from its last reply on */
    bool extend_from_reply; /* R6: so it is when it is extended */
    bool extend_late;       /* R6, R7: it is extended though it is over */
    bool stale_answers;     /* R6: answers to older rounds of extends count */
    bool token_again;       /* R3: the next round has the same token */
    bool release_any;       /* CE19: a release does not compare the token */
    bool guard_by_own_ttl;  /* R9: the window is what the asker itself asks for */
    bool unknown_server;    /* R9: another server is not noticed */
    bool marker_survives;   /* R9: a marker does not name its process */
    bool new_votes_at_once; /* R9: a master without a marker is marked, and not quarantined */
    bool quarantine_alone;  /* R9: only the client that sets a quarantine heeds it */
    bool stranger;          /* A1: one client has never met the former server */
    bool silent;            /* A1: clients may not have heard from it for long */
    bool keys_vanish;       /* A9: the restarts are keys that are deleted */
};

extern const struct model lock_model;

#endif
