/* talk.h - a foreign lock client in a contender's place. This program is told line by line what
 * to do; docs/CHAOS.md has the lines.
 *
 * The program is a child in the contender's own process group. A signal to the group (SIGSTOP
 * of a holder, SIGKILL) thus hits both, as it would hit one process. So contenders that use
 * this must lead their own group. All calls of one client come from one thread. Times are
 * CLOCK_BOOTTIME. */
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

/* The result of the greeting. */
enum chaos_said chaos_talk_greeted(const struct chaos_talk *talk);

/* Take `name`, waiting for about `wait_ms` at most if it can do so, and ask until when.
 * `ret_token` is 0 where it has none. An acquired lock that has no validity left is released,
 * and refused. */
enum chaos_said chaos_talk_acquire(struct chaos_talk *talk, const char *name, int64_t wait_ms,
                                   int64_t *ret_deadline_ns, uint64_t *ret_token);

/* Until when is the lock ours? The validity counts from before the question, so that time spent
 * in between is never added. */
enum chaos_said chaos_talk_validity(struct chaos_talk *talk, int64_t *ret_deadline_ns);

/* OK: the new deadline. NO: not extended, and still ours as before. */
enum chaos_said chaos_talk_extend(struct chaos_talk *talk, int64_t *ret_deadline_ns);
enum chaos_said chaos_talk_release(struct chaos_talk *talk);

/* Has it ever been WRONG? Then chaos_talk_reason() still says how. */
bool chaos_talk_wrong(const struct chaos_talk *talk);

/* The reason, printable, valid until the next call. Also the redlock error code closest to
 * it. */
const char *chaos_talk_reason(const struct chaos_talk *talk);
int chaos_talk_code(const struct chaos_talk *talk);

/* Tell it to end, wait a little, end it. NULL is allowed. */
void chaos_talk_quit(struct chaos_talk *talk);

#endif
