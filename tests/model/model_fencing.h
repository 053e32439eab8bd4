/* model_fencing.h - fencing tokens: counters on masters, grants that name numbers, the token.
 *
 * There is no time in it: a key may be gone at any moment, and any client may be stopped for as
 * long as it likes. Each of `holds` contenders takes the lock once; its requests come at any
 * time, or never. A hold begins when its first request is granted, and ends never: that is when
 * the order of holds asks most.
 *
 * A token that a master refuses to take, as it is too far ahead of its clock, is a request that
 * never comes. That the others are not too far ahead is what SEED_ABOVE_HAD says.
 *
 * With `strict`, a master that lost its counter needs a certificate. The others are read for that
 * at any time, one after the other. A round may have a part that began before that: a master
 * which was read refuses it from then on. A round that begins later may not be refused.
 * One client certifies. Others do the same with `read_again`, for this loss, another, or an
 * earlier one: whatever they read gets another id. With `twins`, a name may come to lead to
 * another master's server.
 *
 * With `set` one master has another number, once: somebody writes it there, or that master lies.
 *
 * Numbers are only compared. So a grant names any number above the master's counter, whatever
 * clocks and proposals made it, and a state keeps the order of its numbers and not their size.
 */
#ifndef TEST_MODEL_FENCING_H
#define TEST_MODEL_FENCING_H

#include "explore.h"

/* A master that has lost its counter names numbers above ... */
enum seed {
    SEED_ABOVE_ALL,   /* all that were named anywhere: its clock is past them */
    SEED_ABOVE_HAD,   /* those that it named or took: it takes none far ahead of its clock */
    SEED_ABOVE_NAMED, /* broken: those that it named, but it takes any */
    SEED_ZERO         /* broken */
};

/* Of one master, a minority, somebody sets, once, ... */
enum set {
    SET_NOTHING,
    SET_UP,      /* the counter, or the floor, to any greater number */
    SET_COUNTER, /* broken: the counter to any number; so would a master do that lies */
    SET_FLOOR    /* broken, strict: what it tells when it is read, to any number */
};

/* What the library does; where all below `broken` is 0, nothing is broken. */
struct fencing_rules {
    unsigned masters, needed, holds;
    unsigned restarts; /* masters that lose their keys and counters, at most */
    bool strict;  /* counters are certified, and no clock is asked: `seed` is not used */
    bool read_again; /* masters are read by other clients, too */
    bool twins;      /* a loss may be that a name leads to the server of another one */
    bool fill_in; /* masters without the key get it, with the token, once the token is told */
    enum seed seed;
    enum set set;

    /* broken, all of R11: */
    bool not_written;   /* a majority need not have the token */
    bool unconditional; /* a write-back does not ask whether its hold has the key */
    bool ahead_counts;  /* a master that named a number above the token counts */
    bool filled_counts; /* so do masters that are filled in */
    bool lowered;       /* a master that is filled in takes the token for its counter */
    bool not_above;     /* a grant may name the counter itself */
    /* and of strict: */
    bool too_few;      /* one less than a quorum of the others is read */
    bool lost_tell;    /* a master that is not certified is read all the same */
    bool lost_vote;    /* it grants, and takes tokens */
    bool rounds_go_on; /* the others go on with rounds that were begun before they were read */
    bool floor_stays;  /* a master that takes a token does not tell it when it is read */
    bool late_counts;  /* what was read for an earlier loss certifies after a later one */
    bool ids_count;    /* a quorum of ids is read, and not of masters */
    bool twins_count;  /* each id counts once, and a server under two names may have two */
};

extern const struct model fencing_model;

#endif
