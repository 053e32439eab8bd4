/* driven.h - in which part of the time somebody looked at a client's connections. Core.
 *
 *   looks     |  |||     |||||                         |||||||
 *   time      ----------------------------------------------------->
 *                              '---- absence ---------'
 *
 * Time in which nobody looked is no evidence against a master: what it said meanwhile was
 * heard by nobody, and of what takes several messages (to connect, to log in) the next one was
 * not sent. So whoever looks again asks here for how long nobody did, and two things follow for
 * every connection (rl_node_absent, rl_sub_absent): its deadlines are put off by that time, and
 * what was begun before and has failed meanwhile is history: it is begun anew at once, and
 * counts as no failure.
 */
#ifndef RL_DRIVEN_H
#define RL_DRIVEN_H

#include "core/reconnect.h"

#include <stdbool.h>
#include <stdint.h>

/* Who sleeps on the descriptors: a caller who leads; the event loop or the background thread.
 */
enum rl_sleeps { RL_LEADER_SLEEPS, RL_DRIVER_SLEEPS };

struct rl_driven {
    int64_t looked_ns;   /* when somebody looked last */
    int64_t until_ns[2]; /* until then one sleeps who would wake if there were news; 0: none */
    int64_t back_ns;     /* the end of the last absence; 0: there was none */
    int64_t since_ns;    /* a caller has led all the time since then */
    int64_t unseen_ns; /* before that there was a time, however short, in which nobody looked */
};

/* One goes to sleep on the descriptors, until then at the longest; 0: does so no more. */
void rl_driven_sleeps(struct rl_driven *driven, enum rl_sleeps who, int64_t until_ns);

/* For how long did nobody look? 0: somebody did, or it is not worth telling. An absence is told
 * once, and ends here. */
int64_t rl_driven_returns(struct rl_driven *driven, int64_t now_ns);

/* A call begins, and nobody leads. */
void rl_driven_begins(struct rl_driven *driven, int64_t now_ns);

/* Somebody looks now. */
void rl_driven_looks(struct rl_driven *driven, int64_t now_ns);

/* Was it so long ago that somebody should look before he believes what is known? */
bool rl_driven_long_ago(const struct rl_driven *driven, int64_t now_ns);

/* Was it begun before such a time, and the first to fail? That was no absence, and yet worth
 * one more try at once. */
bool rl_driven_unseen(const struct rl_driven *driven, const struct rl_retry *retry);

/* Was that before the end of the last absence? */
bool rl_driven_before(const struct rl_driven *driven, int64_t at_ns);

#endif
