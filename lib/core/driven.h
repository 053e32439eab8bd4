/* driven.h - the times in which somebody polled a client's connections. Core.
 *
 *   looks     |  |||     |||||                         |||||||
 *   time      ----------------------------------------------------->
 *                              '---- absence ---------'
 *
 * Time in which nobody polled is no evidence against a master. In that time nobody read the
 * master's replies, or took the next step of a connect or handshake. So the first poll after
 * such an absence asks here how long the absence was. Two things follow for every connection
 * (rl_node_absent, rl_sub_absent). The deadlines of the connection move by that time. An attempt
 * that began before and failed meanwhile is begun anew at once, and does not count as a failure.
 */
#ifndef RL_DRIVEN_H
#define RL_DRIVEN_H

#include "core/reconnect.h"

#include <stdbool.h>
#include <stdint.h>

/* The sleepers on the descriptors: a caller that leads; the event loop or the background
 * thread.
 */
enum rl_sleeps { RL_LEADER_SLEEPS, RL_DRIVER_SLEEPS };

struct rl_driven {
    int64_t looked_ns;   /* when somebody polled last */
    int64_t until_ns[2]; /* until then a sleeper would wake at an event; 0: none */
    int64_t back_ns;     /* the end of the last absence; 0: there was none */
    int64_t since_ns;    /* a caller has led without a break since then */
    int64_t unseen_ns;   /* before that there was a time without sleeper or poll */
};

/* A sleeper begins to sleep on the descriptors, until `until_ns` at the longest; 0: it woke. */
void rl_driven_sleeps(struct rl_driven *driven, enum rl_sleeps sleeper, int64_t until_ns);

/* How long did nobody poll? 0: no absence, or a very short one. This call ends an absence, and
 * reports it once. */
int64_t rl_driven_returns(struct rl_driven *driven, int64_t now_ns);

/* As above, of an absence that has not ended yet. */
int64_t rl_driven_absent_ns(const struct rl_driven *driven, int64_t now_ns);

/* A call begins, and nobody leads. */
void rl_driven_begins(struct rl_driven *driven, int64_t now_ns);

/* Somebody polls now. */
void rl_driven_looks(struct rl_driven *driven, int64_t now_ns);

/* Is that time so long ago that the caller must poll before it trusts the known state? */
bool rl_driven_long_ago(const struct rl_driven *driven, int64_t now_ns);

/* Did a connect begin before a time without polls, and is it the first that failed? That time
 * was too short for an absence, but justifies one more connect at once. */
bool rl_driven_unseen(const struct rl_driven *driven, const struct rl_retry *retry);

/* When to connect again after an attempt failed, or a connection ended that had been up since
 * `up_ns` (0: it was not): what nobody looked at is no failure. */
void rl_driven_plan_retry(const struct rl_driven *driven, struct rl_retry *retry,
                          struct rl_prng *prng, int64_t up_ns, int64_t now_ns);

/* Is that time before the end of the last absence? */
bool rl_driven_before(const struct rl_driven *driven, int64_t at_ns);

#endif
