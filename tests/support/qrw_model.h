/* qrw_model.h - what the scripts of a read-write lock of several masters must do, said once
 * more and plainly: one master's lock, in C. The clock is the tests'; since it is not the
 * master's, an end is known from a time to a time. */
#ifndef TEST_QRW_MODEL_H
#define TEST_QRW_MODEL_H

#include "script_talk.h"

enum {
    QRW_OWNERS = 5,
    QRW_TOKENS = 3,
    QRW_WAITERS = 3,
    QRW_MEMBERS = 2 * QRW_OWNERS * QRW_TOKENS
};

struct qrw_span {
    int64_t low_ms, high_ms;
};

struct qrw_member {
    bool writer;
    unsigned owner, token;
    struct qrw_span end;
};

struct qrw_lock {
    const char *other; /* what else stands there, in the scripts' words; NULL: nothing */
    unsigned members;  /* also those that are over, until a script takes them out */
    struct qrw_member member[QRW_MEMBERS];
    int mark; /* whose; -1: there is none */
    struct qrw_span mark_end;
    bool mark_is_data;
    enum { QRW_NOBODY, QRW_WAITS, QRW_TURN } readers; /* who were kept out */
    struct qrw_span readers_end, turn_began;
};

struct qrw_call {
    bool writer; /* by a script of qwrite, else of qread */
    enum rl_verb verb;
    unsigned owner, token, waiter;
    int64_t ttl_ms, writer_waiting_ms, reserve_ms; /* reserve_ms 0: silently */
    int64_t age_ms;                                /* for so long it has waited */
};

struct qrw_told {
    enum rl_code code;
    bool names;           /* a holder, and what is left */
    unsigned holders;     /* it is one of these owners, a bit each; 0: */
    const char *other;    /* that */
    struct qrw_span left; /* of the time */
    int published;        /* -1: nothing */
};

/* Is it over by then? */
static inline bool qrw_over(struct qrw_span end, int64_t at_ms)
{
    return end.high_ms < at_ms;
}

struct qrw_told qrw_run(struct qrw_lock *lock, const struct qrw_call *call,
                        struct qrw_span when);

/* When the last one in it is over. */
struct qrw_span qrw_last_end(const struct qrw_lock *lock);

#endif
