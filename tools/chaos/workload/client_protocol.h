/* client_protocol.h - a foreign lock client in a contender's place. This program is told line
 * by line what to do; docs/CHAOS.md has the lines.
 *
 * The program is a child in the contender's own process group. A signal to the group (SIGSTOP
 * of a holder, SIGKILL) thus hits both, as it would hit one process. So contenders that use
 * this must lead their own group. All calls of one client come from one thread. Times are
 * CLOCK_BOOTTIME. */
#ifndef CHAOS_CLIENT_PROTOCOL_H
#define CHAOS_CLIENT_PROTOCOL_H

#include "base/mask.h"

#include <stdbool.h>
#include <stdint.h>

enum chaos_said {
    CHAOS_SAID_OK,
    CHAOS_SAID_NO,      /* not done, see chaos_protocol_reason() */
    CHAOS_SAID_GONE,    /* the lock is not ours any more */
    CHAOS_SAID_NOTHING, /* not answered before `stop` said so; only quit may follow */
    CHAOS_SAID_WRONG    /* it died, was late or talked nonsense: chaos_protocol_reason() is a
                           sentence with its line; only quit may follow */
};

struct chaos_protocol_plan {
    const char *command; /* for /bin/sh -c */
    int64_t ttl_ms;
    unsigned nodes;
    const char *const *node;     /* URLs, as this contender reaches the masters */
    const struct rl_mask *mask;  /* their secrets: in no reason */
    int log_fd;                  /* its stderr; -1: ours */
    bool (*stop)(void *context); /* the run is over: no answer is waited for; or NULL */
    void *stop_context;
};

struct chaos_protocol; /* one program */

/* Run it and greet it. NULL: out of memory, descriptors or processes (errno). Else see
 * chaos_protocol_greeted(). */
struct chaos_protocol *chaos_protocol_start(const struct chaos_protocol_plan *plan);

/* The result of the greeting. */
enum chaos_said chaos_protocol_greeted(const struct chaos_protocol *protocol);

/* Take `name`, waiting for about `wait_ms` at most if it can do so, and ask until when.
 * `ret_token` is 0 where it has none. An acquired lock that has no validity left is released,
 * and refused. */
enum chaos_said chaos_protocol_acquire(struct chaos_protocol *protocol, const char *name,
                                       int64_t wait_ms, int64_t *ret_deadline_ns,
                                       uint64_t *ret_token);

/* Until when is the lock ours? The validity counts from before the question, so that time spent
 * in between is never added. */
enum chaos_said chaos_protocol_validity(struct chaos_protocol *protocol,
                                        int64_t *ret_deadline_ns);

/* OK: the new deadline. NO: not extended, and still ours as before. */
enum chaos_said chaos_protocol_extend(struct chaos_protocol *protocol,
                                      int64_t *ret_deadline_ns);
enum chaos_said chaos_protocol_release(struct chaos_protocol *protocol);

/* Has it ever been WRONG? Then chaos_protocol_reason() still says how. */
bool chaos_protocol_wrong(const struct chaos_protocol *protocol);

/* The reason, printable, valid until the next call. Also the redlock error code closest to
 * it. */
const char *chaos_protocol_reason(const struct chaos_protocol *protocol);
int chaos_protocol_code(const struct chaos_protocol *protocol);

/* Tell it to end, wait a little, end it. NULL is allowed. */
void chaos_protocol_quit(struct chaos_protocol *protocol);

#endif
