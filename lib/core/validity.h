/* validity.h - until when a lock is surely ours: every rule about the deadline of a hold. Core:
 * pure. The callers read the clock.
 *
 *   t0                                  deadline      t0 + ttl
 *   |-------------- validity --------------|--- drift ---|
 *   |------ shown to the user ----|-margin-|       (of a lock that is renewed or watched)
 *
 * Times are readings of one client's clock in ns. Across a step back of that clock they mean
 * nothing (base/clock.h). A deadline of 0 is none: the lock is not held.
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

/* Does its drift leave anything of a TTL? With one that it eats up nothing can be won. */
bool rl_validity_possible(int64_t ttl_ns, double drift_factor);

/* The deadline that a round gives. It counts from before the round's first byte, because a key
 * may live from then on: t0 + ttl - drift. */
int64_t rl_validity_end_ns(int64_t t0_ns, int64_t ttl_ns, double drift_factor);

/* The deadline after an extension: it only grows, because its user may rely on the old one. */
int64_t rl_validity_extended_ns(int64_t deadline_ns, int64_t until_ns);

/* Would an extension that begins now give no more? Then there is nothing to ask for, because
 * keys are extended upwards only. */
bool rl_validity_lasts(int64_t deadline_ns, int64_t now_ns, int64_t ttl_ns,
                       double drift_factor);

/* When a key is gone by itself: one that begins to live, or to live on, at `made_ns` at the
 * latest; one of a lock with this deadline. A server's clock may run slower than ours. */
int64_t rl_key_gone_ns(int64_t made_ns, int64_t ttl_ns, double drift_factor);
int64_t rl_key_gone_after_ns(int64_t deadline_ns, int64_t ttl_ns, double drift_factor);

/* ---- is it over? ---------------------------------------------------------------------- */

/* With less than a millisecond left it is, because the user is told whole ones, and 0 is
 * final. */
bool rl_validity_over(int64_t deadline_ns, int64_t now_ns);

/* The first moment at which it is. */
int64_t rl_validity_over_ns(int64_t deadline_ns);

/* What the user is told: whole milliseconds, rounded down; 0 when it is over. */
int64_t rl_validity_left_ms(int64_t deadline_ns, int64_t now_ns);

/* The time until then, for the shares of a round. Negative: it has passed. */
int64_t rl_validity_left_ns(int64_t until_ns, int64_t now_ns);

/* Can two times be compared? Only within one epoch of the clock, because nobody knows how much
 * time has passed across a step back. */
bool rl_validity_timed(int64_t epoch_then, int64_t epoch_now);

/* ---- given up before its end ---------------------------------------------------------- */

/* A watched lock counts as lost so long before its deadline, because its user needs a moment to
 * stop in. */
int64_t rl_lost_margin_ns(int64_t ttl_ns);

/* The deadline that max_hold_ms sets: it is over when these have passed, not a millisecond
 * earlier. 0, or more than any lock lasts: INT64_MAX. */
int64_t rl_max_hold_end_ns(int64_t now_ns, int64_t max_hold_ms);

/* The deadline that the user of a watched lock is shown: whichever end comes first. */
int64_t rl_watched_end_ns(int64_t deadline_ns, int64_t margin_ns, int64_t max_hold_end_ns);

/* When to extend a lock: when a third of its TTL has passed, so that two more rounds fit. Of a
 * TTL so short that the margin is most of it, in half of the time until it is given up. */
int64_t rl_renewal_due_ns(int64_t deadline_ns, int64_t ttl_ns, double drift_factor,
                          int64_t margin_ns);

/* ---- the deadline that is shown ------------------------------------------------------- */

/* Any thread may read it at any time, without the mutex. Two promises are kept here:
 *
 * A shown validity holds. A hold that dies before the shown deadline keeps its keys until then,
 * unless the user releases it.
 *
 * 0 is final. A thread that was told 0 has made it so: an extension that was confirmed in time,
 * but is read later, must not revive the lock. */
struct rl_shown {
    _Atomic int64_t deadline_ns; /* 0: not valid */
    _Atomic int64_t clock_epoch; /* of that time */
};

/* Before its user has it: the epoch first, because a deadline is read before its epoch. */
void rl_shown_begin(struct rl_shown *shown, int64_t deadline_ns, int64_t clock_epoch);

/* The hold, or its user's interest in it, has ended. Returns what was shown. */
int64_t rl_shown_end(struct rl_shown *shown);

/* The hold was extended. False: 0 was shown, and the hold must be given up. */
bool rl_shown_extend(struct rl_shown *shown, int64_t deadline_ns);

/* Whoever tells 0 makes it so. False: it has grown since it was read, and is as `*deadline_ns`
 * says now; it was not 0. */
bool rl_shown_expire(struct rl_shown *shown, int64_t *deadline_ns);

/* The first thing to read: read after the clock, a deadline that has grown in a pause between
 * the two would make a late yes. And the last: is it of the clock's epoch now? */
int64_t rl_shown_deadline_ns(const struct rl_shown *shown);
bool rl_shown_timed(const struct rl_shown *shown, int64_t epoch_now);

/* Until when the keys of a hold that died must stay. Where 0 is shown it is a last millisecond,
 * because another thread may have been told that one. */
int64_t rl_shown_keys_until_ns(int64_t shown_ns, int64_t now_ns);

/* ---- of a handle's text --------------------------------------------------------------- */

/* Can these times of the kernel's clock be true? The text was not written later than now, nor
 * before `since_ns`, when the clock last went back; and no lock lasts for longer than max-ttl.
 */
bool rl_validity_credible(int64_t written_ns, int64_t deadline_ns, int64_t max_ttl_ns,
                          int64_t kernel_now_ns, int64_t since_ns);

#endif
