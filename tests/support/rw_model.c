/* rw_model.c - see rw_model.h. */
#include "config_auto.h"

#include "rw_model.h"

#include <stdio.h>
#include <string.h>

/* Two threads of one client, another client, somebody named by its caller, and a peer. */
const char *const rw_owners[RW_OWNERS] = {
    "8743c9c0-0795-4907-87fd-6c719a6b4586:1",  "8743c9c0-0795-4907-87fd-6c719a6b4586:11",
    "00000000-0795-4907-87fd-6c719a6b4586:1",  "{job} 7%s",
    "11111111-2222-4333-8444-555555555555:87",
};

/* ---- holds ------------------------------------------------------------------------------ */

struct rw_hold *rw_find(struct rw_field *field, unsigned token)
{
    for (unsigned i = 0; i < field->count; i++) {
        if (!field->hold[i].over && field->hold[i].token == token)
            return &field->hold[i];
    }
    return NULL;
}

static unsigned fields(const struct rw_lock *lock)
{
    unsigned count = 0;
    for (unsigned owner = 0; owner < RW_OWNERS; owner++)
        count +=
            (lock->reads[owner].count > 0 ? 1u : 0) + (lock->writes[owner].count > 0 ? 1u : 0);
    return count;
}

void rw_gone(struct rw_lock *lock)
{
    lock->mode = RW_NONE;
    lock->other[0] = '\0';
    memset(lock->reads, 0, sizeof(lock->reads));
    memset(lock->writes, 0, sizeof(lock->writes));
}

/* Holds that are over count no more; how many are left. */
static unsigned look_over(struct rw_lock *lock, struct rw_field *field)
{
    unsigned left = 0, before = field->count;
    for (unsigned i = 0; i < before; i++) {
        if (!field->hold[i].over)
            field->hold[left++] = field->hold[i];
    }
    field->count = left;
    if (before > 0 && fields(lock) == 0)
        rw_gone(lock);
    return left;
}

static void add(struct rw_field *field, unsigned token, int64_t ttl_ms, struct span when)
{
    ck_assert_uint_lt(field->count, RW_HOLDS);
    field->hold[field->count++] =
        (struct rw_hold){.token = token, .life = life_of(ttl_ms, when)};
}

bool rw_longest(const struct rw_lock *lock, struct life *ret_life)
{
    bool any = false;
    for (unsigned i = 0; i < 2 * RW_OWNERS; i++) {
        const struct rw_field *field =
            i < RW_OWNERS ? &lock->reads[i] : &lock->writes[i - RW_OWNERS];
        for (unsigned k = 0; k < field->count; k++) {
            const struct life *life = &field->hold[k].life;
            if (field->hold[k].over)
                continue;
            if (!any || ret_life->end.low_ms < life->end.low_ms)
                ret_life->end.low_ms = life->end.low_ms;
            if (!any || ret_life->end.high_ms < life->end.high_ms)
                ret_life->end.high_ms = life->end.high_ms;
            any = true;
        }
    }
    ret_life->for_ever = false;
    return any;
}

static void last(struct rw_lock *lock, enum rw_mode mode, int64_t ttl_ms, struct span when)
{
    if (lock->mode == RW_NONE)
        lock->life = life_of(ttl_ms, when);
    life_raise(&lock->life, ttl_ms, when);
    lock->mode = mode;
}

/* ---- acquire, wait, retake -------------------------------------------------------------- */

static void refuse(const struct life *life, struct span when, int64_t code, const char *who,
                   struct frame_answer *ret)
{
    ret->code = code;
    life_left(life, when, ret);
    snprintf(ret->holder, sizeof(ret->holder), "%s", who);
}

static void refuse_for(const struct rw_lock *lock, struct span when, struct frame_answer *ret)
{
    char who[160] = "";
    for (unsigned owner = 0; owner < RW_OWNERS; owner++) {
        if (lock->writes[owner].count > 0)
            snprintf(who, sizeof(who), "%s", rw_owners[owner]);
        else if (lock->mode == RW_READ && fields(lock) == 1 && lock->reads[owner].count > 0)
            snprintf(who, sizeof(who), "%s", rw_owners[owner]);
    }
    if (!who[0])
        snprintf(who, sizeof(who), "%u readers", fields(lock));
    refuse(&lock->life, when, 0, who, ret);
}

/* A writer's leases last as long as the lock. */
static void keep_writes(struct rw_lock *lock, unsigned owner, struct span when)
{
    struct rw_field *field = &lock->writes[owner];
    int64_t took_ms = when.high_ms - when.low_ms;
    for (unsigned i = 0; i < field->count; i++) {
        struct span *end = &field->hold[i].life.end;
        if (end->low_ms < lock->life.end.low_ms)
            end->low_ms = lock->life.end.low_ms;
        if (end->high_ms < lock->life.end.high_ms + took_ms)
            end->high_ms = lock->life.end.high_ms + took_ms;
    }
}

static void take_read(struct rw_lock *lock, bool heeds_mark, const struct rw_call *call,
                      struct span when, struct frame_answer *ret)
{
    struct rw_field *field = &lock->reads[call->owner];
    bool writes = lock->mode == RW_WRITE && lock->writes[call->owner].count > 0;
    if (lock->other[0]) {
        refuse(&lock->life, when, 3, lock->other, ret);
        return;
    }
    if (lock->mode == RW_WRITE && !writes) {
        refuse_for(lock, when, ret);
        return;
    }
    struct rw_hold *hold = rw_find(field, call->token);
    bool has_turn = lock->turn && (lock->waiting & 1u << call->waiter);
    if (!hold && look_over(lock, field) == 0 && !writes && heeds_mark && lock->marks &&
        !has_turn) {
        refuse(&lock->mark_life, when, 0, "a writer that waits", ret);
        return;
    }
    if (hold)
        life_raise(&hold->life, call->ttl_ms, when);
    else
        add(field, call->token, call->ttl_ms, when);
    last(lock, writes ? RW_WRITE : RW_READ, call->ttl_ms, when);
    keep_writes(lock, call->owner, when);
    ret->code = 1;
}

static void take_write(struct rw_lock *lock, bool heeds_turn, const struct rw_call *call,
                       struct span when, struct frame_answer *ret)
{
    struct rw_field *field = &lock->writes[call->owner];
    if (lock->other[0]) {
        refuse(&lock->life, when, 3, lock->other, ret);
        return;
    }
    if (lock->mode == RW_READ && look_over(lock, &lock->reads[call->owner]) > 0) {
        refuse(&lock->life, when, 2, rw_owners[call->owner], ret);
        return;
    }
    if (lock->mode == RW_READ || (lock->mode == RW_WRITE && field->count == 0)) {
        refuse_for(lock, when, ret);
        return;
    }
    if (lock->mode == RW_NONE && lock->turn && heeds_turn) {
        refuse(&lock->waiting_life, when, 0, "readers whose turn it is", ret);
        return;
    }
    struct rw_hold *hold = rw_find(field, call->token);
    if (hold)
        life_raise(&hold->life, call->ttl_ms, when);
    else
        add(field, call->token, call->ttl_ms, when);
    last(lock, RW_WRITE, call->ttl_ms, when);
    keep_writes(lock, call->owner, when);
    ret->code = 1;
}

static void unmark(struct rw_lock *lock, unsigned waiter)
{
    lock->marks &= ~(1u << waiter);
}

static void mark(struct rw_lock *lock, const struct rw_call *call, struct span when)
{
    if (!lock->marks)
        lock->mark_life = life_of(call->writer_waiting_ms, when);
    life_raise(&lock->mark_life, call->writer_waiting_ms, when);
    lock->marks |= 1u << call->waiter;
}

static void wait_to_read(struct rw_lock *lock, const struct rw_call *call, struct span when)
{
    if (lock->turn)
        return;
    if (!lock->waiting)
        lock->waiting_life = life_of(call->writer_waiting_ms, when);
    life_raise(&lock->waiting_life, call->writer_waiting_ms, when);
    lock->waiting |= 1u << call->waiter;
}

static void wait_no_more(struct rw_lock *lock, unsigned waiter)
{
    lock->waiting &= ~(1u << waiter);
    lock->turn = lock->turn && lock->waiting;
}

/* ---- release ---------------------------------------------------------------------------- */

static const char *give_up(struct rw_lock *lock, bool write, const struct rw_call *call,
                           struct span when, struct frame_answer *ret)
{
    struct rw_field *field = write ? &lock->writes[call->owner] : &lock->reads[call->owner];
    struct rw_hold *hold = rw_find(field, call->token);
    if (!hold)
        return NULL;
    bool was_write = lock->mode == RW_WRITE;
    ret->code = 1;
    if (write) { /* what has run out stays until the lock does: it may be a peer's */
        *hold = field->hold[--field->count];
    } else {
        hold->over = true;
        look_over(lock, field);
    }
    if (was_write && lock->writes[call->owner].count > 0)
        return NULL;
    bool held = rw_longest(lock, &lock->life);
    /* Servers before 7.2 read the clock anew for each command of a script. */
    lock->life.end.high_ms += when.high_ms - when.low_ms;
    bool reads_on = was_write && held;
    if (!held)
        rw_gone(lock);
    if (reads_on)
        lock->mode = RW_READ;
    if (call->reserve_ms == 0 || (held && !reads_on))
        return NULL;
    if (was_write && lock->waiting) {
        lock->turn = true;
        lock->waiting_life = life_of(call->reserve_ms, when);
    }
    return was_write ? "1" : "0";
}

static const char *leave(struct rw_lock *lock, unsigned waiter)
{
    bool was_in = lock->marks & 1u << waiter;
    unmark(lock, waiter);
    return was_in && !lock->marks ? "1" : NULL;
}

/* What waiting does, for who asked: the waiter's client is put down, or let go. */
static void wait(struct rw_lock *lock, bool write, enum rl_verb verb,
                 const struct rw_call *call, struct span when, const struct frame_answer *told)
{
    bool readers = lock->mode == RW_READ || (lock->mode == RW_NONE && lock->turn);
    if (told->code == 1 && write)
        unmark(lock, call->waiter);
    else if (told->code == 1 && verb == RL_ACQUIRE_OR_QUEUE)
        wait_no_more(lock, call->waiter);
    else if (told->code == 0 && write && readers && call->writer_waiting_ms > 0)
        mark(lock, call, when);
    else if (told->code == 0 && !write && verb == RL_ACQUIRE_OR_QUEUE)
        wait_to_read(lock, call, when);
}

struct frame_answer rw_run(struct rw_lock *lock, int row, enum rl_verb verb,
                           const struct rw_call *call, struct span when, const char **ret_told)
{
    struct frame_answer ret = {.code = 0};
    bool write = row == RL_ROW_WRITE;
    struct rw_field *field = write ? &lock->writes[call->owner] : &lock->reads[call->owner];
    struct rw_hold *hold = rw_find(field, call->token);
    bool acquires = verb == RL_ACQUIRE || verb == RL_ACQUIRE_OR_QUEUE;
    *ret_told = NULL;
    if (verb == RL_RELEASE) {
        *ret_told = give_up(lock, write, call, when, &ret);
    } else if (verb == RL_DEQUEUE) {
        if (write)
            *ret_told = leave(lock, call->waiter);
        else
            wait_no_more(lock, call->waiter);
        ret.code = 1;
    } else if (verb == RL_EXTEND && hold) {
        life_raise(&hold->life, call->ttl_ms, when);
        life_raise(&lock->life, call->ttl_ms, when);
        keep_writes(lock, call->owner, when);
        ret.code = 1;
    } else if (verb != RL_EXTEND && write) {
        take_write(lock, acquires, call, when, &ret);
    } else if (verb != RL_EXTEND) {
        take_read(lock, acquires, call, when, &ret);
    }
    if (acquires)
        wait(lock, write, verb, call, when, &ret);
    else if (ret.code != 1)
        ret.code = 0;
    ret.parts = !acquires || ret.code == 1 ? 2 : verb == RL_ACQUIRE_OR_QUEUE ? 5 : 4;
    return ret;
}

/* ---- Redisson --------------------------------------------------------------------------- */

bool rw_peer_may(const struct rw_lock *lock, bool write)
{
    if (lock->other[0])
        return false;
    return lock->mode == RW_NONE ||
           (!write && (lock->mode == RW_READ || lock->writes[RW_PEER].count > 0));
}

void rw_peer_lock(struct rw_lock *lock, bool write, int64_t ttl_ms, struct span when)
{
    enum rw_mode mode = write || lock->mode == RW_WRITE ? RW_WRITE : RW_READ;
    struct rw_field *field = write ? &lock->writes[RW_PEER] : &lock->reads[RW_PEER];
    add(field, 0, ttl_ms, when);
    field->hold[field->count - 1].over = write; /* its writers have no lease of their own */
    last(lock, mode, ttl_ms, when);
}

void rw_peer_unlock(struct rw_lock *lock, bool write)
{
    struct rw_field *field = write ? &lock->writes[RW_PEER] : &lock->reads[RW_PEER];
    struct life life;
    field->count--;
    if (fields(lock) == 0)
        rw_gone(lock);
    else if (write && field->count == 0)
        lock->mode = RW_READ;
    else if (!write && rw_longest(lock, &life))
        lock->life = life;
    else if (!write && lock->mode == RW_READ)
        rw_gone(lock);
}
