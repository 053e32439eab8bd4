/* report.h - each node's vote in the last round of a call, for the call's user. The report
 * must be written only while the call is in progress, and only as far as the user's structs
 * reach. The structs may be of another version of redlock.h. */
#ifndef RL_REPORT_H
#define RL_REPORT_H

#include "core/quorum.h"
#include "engine/client/client.h"

struct rl_call;

struct rl_report {
    redlock_report *to;                   /* the user's; NULL: none is wanted */
    redlock_report whole;                 /* the same as this library knows it */
    uint64_t granted, held, failed, free; /* nodes with that vote; the others have none */
    uint64_t explained;                   /* nodes with a text */
};

/* Can this report be written? NULL can. False, and why: its sizes were not set. */
bool rl_report_fits(const redlock_report *report, char *why, size_t why_size);

/* Begin a report for `to`, which must fit, or NULL: no node has been asked. */
void rl_report_open(struct rl_report *report, const struct rl_nodes *nodes, redlock_report *to);

/* A round begins in which only the nodes in `voting` are asked. */
void rl_report_begin(struct rl_call *call, uint64_t voting, int64_t now_ns);

/* These nodes are not asked: they have failed, except those that are connecting. */
void rl_report_unasked(struct rl_call *call, uint64_t nodes, int64_t now_ns);

void rl_report_vote(struct rl_call *call, unsigned node, int vote,
                    const struct rl_vote_reply *vote_reply);

/* The round is decided: silent nodes have failed. Write the sums. */
void rl_report_end(struct rl_call *call, const struct rl_round *round, int64_t now_ns);

#endif
