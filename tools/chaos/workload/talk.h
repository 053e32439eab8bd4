/* talk.h - somebody else's lock client in a contender's place: a program that is told
 * line by line what to do, see docs/CHAOS.md for the lines.
 *
 * The program is a child in the contender's own process group, so that a signal to the group
 * (SIGSTOP of a holder, SIGKILL) meets both as it would meet one process: contenders that use
 * this must lead a group of their own. All calls of one client come from one thread. Times
 * are CLOCK_BOOTTIME. */
#ifndef CHAOS_TALK_H
#define CHAOS_TALK_H

#include "base/mask.h"

#include <stdbool.h>
#include <stdint.h>

enum chaos_said {
    CHAOS_SAID_OK,
    CHAOS_SAID_NO,      /* not done, see chaos_talk_reason() */
    CHAOS_SAID_GONE,    /* the lock is not ours any more */
    CHAOS_SAID_NOTHING, /* not answered before `stop` said so; only quit may follow */
    CHAOS_SAID_WRONG    /* it died, was late or talked nonsense: chaos_talk_reason() is a
                           sentence with its line; only quit may follow */
};

struct chaos_talk_plan {
    const char *command; /* for /bin/sh -c */
    int64_t ttl_ms;
    unsigned nodes;
    const char *const *node;     /* URLs, as this contender reaches the masters */
    const struct rl_mask *mask;  /* their secrets: in no reason */
    int log_fd;                  /* its stderr; -1: ours */
    bool (*stop)(void *context); /* the run is over: no answer is waited for; or NULL */
    void *stop_context;
};

struct chaos_talk; /* one program */

/* Run it and greet it. NULL: out of memory, descriptors or processes (errno). Else see
 * chaos_talk_greeted(). */
struct chaos_talk *chaos_talk_start(const struct chaos_talk_plan *plan);

/* What came of the greeting. */
enum chaos_said chaos_talk_greeted(const struct chaos_talk *talk);

/* Take `name`, waiting for about `wait_ms` at most if it can do so, and ask until when.
 * `ret_token` is 0 where it has none. An acquired lock that has no validity left is released,
 * and refused. */
enum chaos_said chaos_talk_acquire(struct chaos_talk *talk, const char *name, int64_t wait_ms,
                                   int64_t *ret_deadline_ns, uint64_t *ret_token);

/* Until when is it ours? Counted from before the question, so that time which anybody spends
 * in between is never added. */
enum chaos_said chaos_talk_validity(struct chaos_talk *talk, int64_t *ret_deadline_ns);

/* OK: the new deadline. NO: not extended, and still ours as before. */
enum chaos_said chaos_talk_extend(struct chaos_talk *talk, int64_t *ret_deadline_ns);
enum chaos_said chaos_talk_release(struct chaos_talk *talk);

/* Has it ever been WRONG? Then chaos_talk_reason() still says how. */
bool chaos_talk_wrong(const struct chaos_talk *talk);

/* Why; printable; until the next call. A redlock error code that says about the same. */
const char *chaos_talk_reason(const struct chaos_talk *talk);
int chaos_talk_code(const struct chaos_talk *talk);

/* Tell it to end, wait a little, end it. NULL is allowed. */
void chaos_talk_quit(struct chaos_talk *talk);

#endif
