/* qrw_model.c - see qrw_model.h. */
#include "config_auto.h"

#include "qrw_model.h"

#include <assert.h>

static void drop(struct qrw_lock *lock, unsigned which)
{
    lock->member[which] = lock->member[--lock->members];
}

static struct qrw_member *find(struct qrw_lock *lock, const struct qrw_call *call)
{
    for (unsigned i = 0; i < lock->members; i++) {
        struct qrw_member *member = &lock->member[i];
        if (member->writer == call->writer && member->owner == call->owner &&
            member->token == call->token)
            return member;
    }
    return NULL;
}

static void raise(struct qrw_span *end, struct qrw_span other)
{
    if (end->low_ms < other.low_ms)
        end->low_ms = other.low_ms;
    if (end->high_ms < other.high_ms)
        end->high_ms = other.high_ms;
}

static void put(struct qrw_lock *lock, const struct qrw_call *call, struct qrw_span when)
{
    struct qrw_member *member = find(lock, call);
    struct qrw_span end = {when.low_ms + call->ttl_ms, when.high_ms + call->ttl_ms};
    if (!member) {
        assert(lock->members < QRW_MEMBERS);
        member = &lock->member[lock->members++];
        *member = (struct qrw_member){call->writer, call->owner, call->token, end};
    }
    raise(&member->end, end);
}

/* Of those that `which` says, who has the last end? More than one could have. */
struct who {
    unsigned count, owners;
    struct qrw_span end;
};

enum which { ALL, OTHERS, OTHER_WRITERS, OWN, OWN_WRITERS };

static bool is_of(const struct qrw_member *member, enum which which, unsigned owner)
{
    bool own = member->owner == owner;
    switch (which) {
    case ALL:
        return true;
    case OTHERS:
        return !own;
    case OTHER_WRITERS:
        return !own && member->writer;
    case OWN:
        return own;
    case OWN_WRITERS:
        return own && member->writer;
    }
    return false;
}

static struct who look(const struct qrw_lock *lock, enum which which, unsigned owner)
{
    struct who who = {.count = 0};
    for (unsigned i = 0; i < lock->members; i++) {
        if (!is_of(&lock->member[i], which, owner))
            continue;
        if (who.count++ == 0)
            who.end = lock->member[i].end;
        raise(&who.end, lock->member[i].end);
    }
    for (unsigned i = 0; i < lock->members; i++) {
        if (is_of(&lock->member[i], which, owner) &&
            lock->member[i].end.high_ms >= who.end.low_ms)
            who.owners |= 1u << lock->member[i].owner;
    }
    return who;
}

struct qrw_span qrw_last_end(const struct qrw_lock *lock)
{
    return look(lock, ALL, 0).end;
}

static struct qrw_told refuse(enum rl_code code, struct qrw_span end, struct qrw_span when)
{
    return (struct qrw_told){
        .code = code,
        .names = true,
        .left = {end.low_ms - when.high_ms, end.high_ms - when.low_ms},
        .published = -1,
    };
}

static struct qrw_span from_now(struct qrw_span when, int64_t ms)
{
    return (struct qrw_span){when.low_ms + ms, when.high_ms + ms};
}

static struct qrw_told read_lock(struct qrw_lock *lock, const struct qrw_call *call,
                                 struct qrw_span when)
{
    struct who writers = look(lock, OTHER_WRITERS, call->owner);
    struct qrw_told told = {.code = RL_GRANTED, .published = -1};
    bool waits = call->verb == RL_ACQUIRE_OR_QUEUE, turn = waits && lock->readers == QRW_TURN;
    bool has_turn = turn && when.low_ms - call->age_ms <= lock->turn_began.low_ms;
    if (writers.count > 0) {
        told = refuse(RL_REFUSED, writers.end, when);
        told.holders = writers.owners;
    } else if (lock->mark >= 0 && !has_turn && look(lock, OWN, call->owner).count == 0) {
        told = refuse(RL_REFUSED, lock->mark_end, when);
        told.other = "a writer that waits";
    } else {
        put(lock, call, when);
    }
    if (told.code == RL_REFUSED && waits && !turn) {
        lock->readers = QRW_WAITS;
        lock->readers_end = from_now(when, call->writer_waiting_ms);
    }
    return told;
}

static struct qrw_told write_lock(struct qrw_lock *lock, const struct qrw_call *call,
                                  struct qrw_span when)
{
    struct who others = look(lock, OTHERS, call->owner), own = look(lock, OWN, call->owner);
    bool writes = look(lock, OWN_WRITERS, call->owner).count > 0, marks = false;
    struct qrw_told told = {.code = RL_GRANTED, .published = -1};
    if (own.count > 0 && !writes) {
        told = refuse(RL_REPLY_UPGRADE, qrw_last_end(lock), when);
        told.holders = others.count > 0 ? others.owners : 1u << call->owner;
    } else if (others.count > 0) {
        told = refuse(RL_REFUSED, others.end, when);
        told.holders = others.owners;
        marks = look(lock, OTHER_WRITERS, call->owner).count == 0;
    } else if (!writes && lock->readers == QRW_TURN) {
        told = refuse(RL_REFUSED, lock->readers_end, when);
        told.other = "readers whose turn it is";
        marks = true;
    } else {
        put(lock, call, when);
        lock->mark = -1;
    }
    if (marks && call->writer_waiting_ms > 0 && !lock->mark_is_data) {
        lock->mark = (int)call->waiter;
        lock->mark_end = from_now(when, call->writer_waiting_ms);
    }
    return told;
}

static bool retakes(struct qrw_lock *lock, const struct qrw_call *call)
{
    if (call->verb == RL_EXTEND)
        return find(lock, call) != NULL;
    return look(lock, call->writer ? OTHERS : OTHER_WRITERS, call->owner).count == 0;
}

/* A writer's release takes back what its client left where it was refused. */
static void unmark(struct qrw_lock *lock, const struct qrw_call *call)
{
    if (call->writer && call->reserve_ms > 0 && lock->mark == (int)call->waiter)
        lock->mark = -1;
}

static struct qrw_told release(struct qrw_lock *lock, const struct qrw_call *call,
                               struct qrw_span when)
{
    struct qrw_told told = {.code = RL_REFUSED, .published = -1};
    struct qrw_member *mine = find(lock, call);
    unmark(lock, call);
    if (!mine)
        return told;
    drop(lock, (unsigned)(mine - lock->member));
    told.code = RL_GRANTED;
    if (call->reserve_ms == 0)
        return told;
    if (call->writer && look(lock, OWN_WRITERS, call->owner).count == 0) {
        told.published = 1;
        if (lock->readers != QRW_NOBODY) {
            lock->readers = QRW_TURN;
            lock->turn_began = when;
            lock->readers_end = from_now(when, call->reserve_ms);
        }
    } else if (!call->writer && lock->members == 0) {
        told.published = 0;
        if (lock->readers == QRW_TURN)
            lock->readers = QRW_NOBODY;
    }
    return told;
}

static struct qrw_told leave(struct qrw_lock *lock, const struct qrw_call *call)
{
    bool mine = lock->mark == (int)call->waiter;
    if (mine)
        lock->mark = -1;
    return (struct qrw_told){.code = RL_GRANTED, .published = mine ? 1 : -1};
}

struct qrw_told qrw_run(struct qrw_lock *lock, const struct qrw_call *call,
                        struct qrw_span when)
{
    bool takes = call->verb == RL_ACQUIRE || call->verb == RL_ACQUIRE_OR_QUEUE;
    if (lock->mark >= 0 && qrw_over(lock->mark_end, when.low_ms))
        lock->mark = -1;
    if (lock->readers != QRW_NOBODY && qrw_over(lock->readers_end, when.low_ms))
        lock->readers = QRW_NOBODY;
    if (call->verb == RL_DEQUEUE)
        return leave(lock, call);
    if (lock->other) {
        if (call->verb == RL_RELEASE)
            unmark(lock, call);
        struct qrw_span for_ever = {when.high_ms - 1, when.low_ms - 1};
        struct qrw_told told = {.code = RL_REFUSED, .published = -1};
        if (takes) {
            told = refuse(RL_REPLY_WRONGTYPE, for_ever, when);
            told.other = lock->other;
        }
        return told;
    }
    for (unsigned i = lock->members; i-- > 0;) {
        if (qrw_over(lock->member[i].end, when.low_ms))
            drop(lock, i);
    }
    if (takes)
        return call->writer ? write_lock(lock, call, when) : read_lock(lock, call, when);
    if (call->verb == RL_RELEASE)
        return release(lock, call, when);
    struct qrw_told told = {.code = RL_REFUSED, .published = -1};
    if (retakes(lock, call)) {
        put(lock, call, when);
        told.code = RL_GRANTED;
    }
    return told;
}
