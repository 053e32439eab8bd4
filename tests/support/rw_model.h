/* rw_model.h - what the scripts of the read and write locks must do, said once more and
 * plainly. It is one lock, in C, with its readers, its writer and the writers that wait. It
 * also has what else may come to stand under its name. */
#ifndef TEST_RW_MODEL_H
#define TEST_RW_MODEL_H

#include "model_frame.h"

/* The last owner is a thread of Redisson's: its holds have no tokens of ours. */
enum { RW_OWNERS = 5, RW_PEER = RW_OWNERS - 1, RW_TOKENS = 5, RW_WAITERS = 3, RW_HOLDS = 24 };

struct rw_hold {
    unsigned token;
    bool over; /* its own lease has run out; it still counts until somebody looks */
    struct life life;
};

struct rw_field {
    unsigned count;
    struct rw_hold hold[RW_HOLDS];
};

enum rw_mode { RW_NONE, RW_READ, RW_WRITE }; /* RW_NONE: nobody has it */

struct rw_lock {
    enum rw_mode mode;
    struct rw_field reads[RW_OWNERS], writes[RW_OWNERS];
    struct life life;
    char other[64]; /* "", or what else stands there, in words; `mode` is RW_NONE then */
    unsigned marks; /* clients in the mark, a bit each */
    struct life mark_life;
    unsigned waiting; /* clients of readers who wait, likewise */
    bool turn;        /* which it is theirs */
    struct life waiting_life;
};

struct rw_call {
    unsigned owner, token, waiter;
    int64_t ttl_ms, writer_waiting_ms, reserve_ms; /* reserve_ms 0: nobody is told */
};

extern const char *const rw_owners[RW_OWNERS];

/* The script of that verb of the row (read or write), executed at some time of `when`.
 * *ret_told: what waiters are told, or NULL. */
struct frame_answer rw_run(struct rw_lock *lock, int row, enum rl_verb verb,
                           const struct rw_call *call, struct span when, const char **ret_told);

/* The hold of that token whose lease has not run out, or NULL. */
struct rw_hold *rw_find(struct rw_field *field, unsigned token);

/* It ran out, or was deleted. */
void rw_gone(struct rw_lock *lock);

/* What Redisson's own scripts do where they may: lock(), unlock(). */
bool rw_peer_may(const struct rw_lock *lock, bool write);
void rw_peer_lock(struct rw_lock *lock, bool write, int64_t ttl_ms, struct span when);
void rw_peer_unlock(struct rw_lock *lock, bool write);

/* The longest lease of all, as the life of the lock; false: there is none. */
bool rw_longest(const struct rw_lock *lock, struct life *ret_life);

#endif
