/* validity.h - every rule about the deadline of a hold, the time until which a lock is surely
 * ours. Core: pure. The callers read the clock.
 *
 *   t0                                     deadline      t0 + ttl
 *   |--------------- validity ----------|1 ms|--- drift ---|
 *   |---- shown to the user ----|1 ms|-margin-|    (of a lock that is renewed or has on_lost)
 *
 * In the last millisecond before each of the two ends the lock is over already, because users
 * see whole milliseconds (rl_validity_over). With a whole millisecond left it stands. So the
 * first moment at which it is over is the end - 1 ms + 1 ns (rl_validity_over_ns). The drift is the
 * sum of ttl * drift-factor, 1 ns and 2 ms (rl_drift_ns).
 *
 * Times are readings of one client's clock in ns (CLOCK_BOOTTIME, base/clock.h). Across a step
 * back of that clock these times mean nothing. A deadline of 0 is none: the lock is not held.
 */
#ifndef RL_VALIDITY_H
#define RL_VALIDITY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ---- what a round gives --------------------------------------------------------------- */

/* Rounded up, because a drift that comes out too small makes a lock look too long. */
int64_t rl_clock_drift_ns(int64_t time_ns, double drift_factor);

/* ttl * factor + 2 ms: both sides round to milliseconds, whatever their clocks do. */
int64_t rl_drift_ns(int64_t ttl_ns, double drift_factor);

/* Does the drift leave anything of the TTL? If not, no lock can be acquired. */
bool rl_validity_possible(int64_t ttl_ns, double drift_factor);

/* The deadline of a round: t0 + ttl - drift. t0 must be read before the round's first byte is
 * sent, because a key may live from then on. */
int64_t rl_validity_end_ns(int64_t t0_ns, int64_t ttl_ns, double drift_factor);

/* The deadline after an extension: it only grows, because its user may rely on the old one. */
int64_t rl_validity_extended_ns(int64_t deadline_ns, int64_t until_ns);

/* True if an extension that begins now would gain nothing. Then it must not be sent, because
 * keys are only extended upwards. */
bool rl_validity_lasts(int64_t deadline_ns, int64_t now_ns, int64_t ttl_ns,
                       double drift_factor);

/* How long a key lives that is set for this TTL: nobody else gets a lock that was not released
 * for the lock-delay. So keys may live longer than the lock, never shorter. */
int64_t rl_key_life_ns(int64_t ttl_ns, int64_t lock_delay_ns);

/* What is left of a lock with this deadline, for a master that gets its key late. It is the
 * least TTL that reaches the deadline by any clocks. The keys that the lock rests on live for
 * no less. */
int64_t rl_rest_ns(int64_t deadline_ns, int64_t now_ns, double drift_factor);

/* When a key has expired by itself: one that was set or extended at `made_ns` at the latest;
 * one of a lock with this deadline. A server's clock may run slower than ours. */
int64_t rl_key_gone_ns(int64_t made_ns, int64_t life_ns, double drift_factor);
int64_t rl_key_gone_after_ns(int64_t deadline_ns, int64_t lock_delay_ns, int64_t life_ns,
                             double drift_factor);

/* ---- is it over? ---------------------------------------------------------------------- */

/* A lock with less than a millisecond left is over, because the user sees whole milliseconds,
 * and 0 is final. */
bool rl_validity_over(int64_t deadline_ns, int64_t now_ns);

/* The first moment at which it is. */
int64_t rl_validity_over_ns(int64_t deadline_ns);

/* The value for the user: whole milliseconds, rounded down; 0 when it is over. */
int64_t rl_validity_left_ms(int64_t deadline_ns, int64_t now_ns);

/* The time until then, for the shares of a round. Negative: it has passed. */
int64_t rl_validity_left_ns(int64_t until_ns, int64_t now_ns);

/* May two times be compared? Only within one epoch of the clock: the time that passed across a
 * step back is unknown. */
bool rl_validity_timed(int64_t epoch_then, int64_t epoch_now);

/* ---- given up before its end ---------------------------------------------------------- */

/* How long before its deadline a lock that is renewed or watched counts as lost: its user needs
 * time to stop. */
int64_t rl_lost_margin_ns(int64_t ttl_ns);

/* The deadline that max_hold_ms sets: the lock is over after that time and not a millisecond
 * earlier. 0, or more than any lock lasts: INT64_MAX. */
int64_t rl_max_hold_end_ns(int64_t now_ns, int64_t max_hold_ms);

/* The deadline shown to the user of a watched lock: the earlier of both ends. */
int64_t rl_watched_end_ns(int64_t deadline_ns, int64_t margin_ns, int64_t max_hold_end_ns);

/* When to extend a lock: when a third of its TTL has passed, so that two more rounds fit. If
 * the margin is most of a short TTL, after half of the time until it counts as lost. */
int64_t rl_renewal_due_ns(int64_t deadline_ns, int64_t ttl_ns, double drift_factor,
                          int64_t margin_ns);

/* ---- the deadline that is shown ------------------------------------------------------- */

/* Any thread may read it at any time, without the mutex. Two promises are kept here:
 *
 * A shown validity holds. A hold that dies before the shown deadline keeps its keys until then,
 * unless the user releases it.
 *
 * 0 is final. A thread that reads 0 makes it so: an extension that was confirmed in time, but
 * is processed later, must not revive the lock. */
struct rl_shown {
    _Atomic int64_t deadline_ns; /* 0: not valid */
    _Atomic int64_t clock_epoch; /* of that time */
};

/* Must be called before the user has the lock. It writes the epoch first, because readers
 * read the deadline before the epoch. */
void rl_shown_begin(struct rl_shown *shown, int64_t deadline_ns, int64_t clock_epoch);

/* The hold has ended, or its user has given it up. Returns the deadline that was shown. */
int64_t rl_shown_end(struct rl_shown *shown);

/* The hold was extended. False: 0 was shown, and the hold must be given up. */
bool rl_shown_extend(struct rl_shown *shown, int64_t deadline_ns);

/* A caller must do this before it returns 0 to the user. False: the deadline has grown since it
 * was read, and `*deadline_ns` has the new one; the lock is not over. */
bool rl_shown_expire(struct rl_shown *shown, int64_t *deadline_ns);

/* Read the deadline before the clock: read after it, a deadline that grew in a pause between
 * the two would give a late yes. At last check the epoch: is the deadline of the clock's
 * present epoch? */
int64_t rl_shown_deadline_ns(const struct rl_shown *shown);
bool rl_shown_timed(const struct rl_shown *shown, int64_t epoch_now);

/* Until when the keys of a dead hold must stay. If 0 is shown, one more millisecond, because
 * another thread may have just read 1. */
int64_t rl_shown_keys_until_ns(int64_t shown_ns, int64_t now_ns);

/* ---- of a handle's text --------------------------------------------------------------- */

/* Can these times of a handle text be true? It can't have been written after now, nor before
 * `since_ns`, when the clock last went back. And no lock lasts longer than max-ttl.
 */
bool rl_validity_credible(int64_t written_ns, int64_t deadline_ns, int64_t max_ttl_ns,
                          int64_t kernel_now_ns, int64_t since_ns);

#endif
