/* line.h - the tries of this client that wait for one name: first come, first served. Only
 * the first one asks the masters, and it is queued there under the line's number, so that a
 * process is one contender however many of its threads wait. Mutex held. */
#ifndef RL_LINE_H
#define RL_LINE_H

#include "kind.h"

#include <redlock.h>
#include <stddef.h>

/* Why the first one in a line is called. */
enum rl_turn {
    RL_TURN_FIRST,  /* it has just become the first */
    RL_TURN_WOKEN,  /* a master has said that the lock was released */
    RL_TURN_FREED,  /* this client has released it: the release is queued at the masters */
    RL_TURN_LISTENS /* releases are heard now that would have been missed before */
};

/* Somebody in a line: part of a try. */
struct rl_waiter {
    struct rl_waiter *prev, *next;
    struct rl_line *line; /* NULL: in none */
    void (*turn)(struct rl_waiter *waiter, enum rl_turn why, int64_t now_ns);
};

struct rl_line {
    struct rl_line *next; /* in its bucket; spare */
    uint64_t number;      /* what the masters know it by */
    struct rl_waiter *first, *last;
    uint64_t wakes;   /* nodes that woke us since the first one asked last */
    int64_t woken_ns; /* the first of them */
    uint64_t queued;  /* nodes that have us in their queue */
    const struct rl_kind *kind;
    size_t name_len, name_size;
    char *name;
};

struct rl_lines {
    struct rl_line **bucket; /* by name; a power of 2 */
    struct rl_line **place;  /* by the low bits of the number */
    size_t buckets, places, count;
    uint64_t last_number;
    unsigned waiting; /* waiters in all of them */
    struct rl_line *spare;
};

struct rl_line *rl_line_find(redlock *client, const void *name, size_t name_len);

/* Stand at the end of the name's line. REDLOCK_ENOMEM. */
int rl_line_join(redlock *client, struct rl_waiter *waiter, const struct rl_kind *kind,
                 const void *name, size_t name_len, int64_t now_ns);

static inline bool rl_line_is_first(const struct rl_waiter *waiter)
{
    return waiter->line && waiter->line->first == waiter;
}

/* Step out (in no line: nothing). `won`: the lock was taken. The next one has its turn. */
void rl_line_leave(redlock *client, struct rl_waiter *waiter, bool won, int64_t now_ns);

/* A node has answered a RL_WAIT with the line's number: queued there, or not (any more). */
void rl_line_answered(redlock *client, uint64_t number, unsigned node, bool queued);

/* Is the line of that number still there? */
bool rl_line_stands(const redlock *client, uint64_t number);

/* A node says that the lock was released; a node is (not) listened to any more. */
void rl_line_woken(redlock *client, unsigned node, uint64_t number, int64_t now_ns);
void rl_lines_changed(redlock *client, unsigned node, bool listens, int64_t now_ns);

/* This client gives the lock up: the first in its line need not wait to hear of it. */
void rl_line_freed(redlock *client, const void *name, size_t name_len, int64_t now_ns);

void rl_lines_free(redlock *client);

#endif
