/* fair_model.c - see fair_model.h. */
#include "config_auto.h"

#include "fair_model.h"

#include <stdio.h>
#include <string.h>

const char *const fair_owner[FAIR_OWNERS] = {
    "1743c9c0-0795-4907-87fd-6c719a6b4586:1", "1743c9c0-0795-4907-87fd-6c719a6b4586:11",
    "2743c9c0-0795-4907-87fd-6c719a6b4586:1", "named by {its caller}",
    "peer-0795-4907-87fd-6c719a6b4586:1",     "peer-0795-4907-87fd-6c719a6b4586:2",
    "peer-1111-4907-87fd-6c719a6b4586:1",
};

static struct span plus(struct span span, int64_t ms)
{
    return (struct span){.low_ms = span.low_ms + ms, .high_ms = span.high_ms + ms};
}

static struct span later(struct span a, struct span b)
{
    return (struct span){.low_ms = a.low_ms > b.low_ms ? a.low_ms : b.low_ms,
                         .high_ms = a.high_ms > b.high_ms ? a.high_ms : b.high_ms};
}

/* When the lock ends, by the master's clock; or now. A script has read that clock before it
 * asks how much is left, and the master may stand still in between. */
static struct span end_of_lock(const struct fair *fair, const struct fair_call *call)
{
    if (reentrant_free(&fair->lock) || fair->lock.life.for_ever)
        return call->now;
    struct span end = fair->lock.life.end;
    end.low_ms += call->now.low_ms - call->when.low_ms;
    end.low_ms -= call->now.high_ms - call->now.low_ms;
    end.high_ms += call->now.high_ms - call->when.high_ms + 1;
    return end;
}

/* ---- the queue -------------------------------------------------------------------------- */

void fair_take_out(struct fair *fair, unsigned place)
{
    for (fair->places--; place < fair->places; place++)
        fair->place[place] = fair->place[place + 1];
}

static void take_all_out(struct fair *fair, unsigned who)
{
    for (unsigned i = fair->places; i-- > 0;) {
        if (fair->place[i] == who)
            fair_take_out(fair, i);
    }
}

/* Times of all behind `who`, and its own where it is asked for. */
static void move(struct fair *fair, unsigned who, struct span by, bool itself)
{
    bool behind = false, moved[FAIR_OWNERS] = {false};
    for (unsigned i = 0; i < fair->places; i++) {
        struct fair_time *till = &fair->till[fair->place[i]];
        bool moves = till->known && !moved[fair->place[i]];
        if (moves && (behind || (itself && fair->place[i] == who))) {
            moved[fair->place[i]] = true;
            till->at.low_ms += by.low_ms;
            till->at.high_ms += by.high_ms;
        }
        behind |= fair->place[i] == who;
    }
}

static void drop(struct fair *fair, unsigned who)
{
    const struct span share = {-FAIR_SHARE_MS, -FAIR_SHARE_MS};
    fair->heard[who].known = false;
    if (!fair->till[who].known)
        return;
    move(fair, who, share, false);
    take_all_out(fair, who);
    fair->till[who].known = false;
}

/* Waiters that have a time and no place, by their times, behind all that have a place. */
static unsigned all_of(const struct fair *fair, unsigned ret_all[])
{
    unsigned count = 0;
    bool done[FAIR_OWNERS] = {false};
    for (; count < fair->places; count++) {
        ret_all[count] = fair->place[count];
        done[fair->place[count]] = true;
    }
    for (;;) {
        int next = -1;
        for (unsigned who = 0; who < FAIR_OWNERS; who++) {
            if (fair->till[who].known && !done[who] &&
                (next < 0 || fair->till[who].at.low_ms < fair->till[next].at.low_ms))
                next = (int)who;
        }
        if (next < 0)
            return count;
        done[next] = true;
        ret_all[count++] = (unsigned)next;
    }
}

/* Everybody once, in order, with a place and a time; without those that are gone. */
static void mend(struct fair *fair, const struct fair_call *call)
{
    unsigned all[FAIR_PLACES_MAX + FAIR_OWNERS];
    unsigned placed = fair->places, count = all_of(fair, all);
    struct fair_time till[FAIR_OWNERS] = {{.known = false}}, heard[FAIR_OWNERS];
    struct span last = end_of_lock(fair, call);
    int64_t less = 0;
    bool done[FAIR_OWNERS] = {false};
    memcpy(heard, fair->heard, sizeof(heard));
    fair->places = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned who = all[i];
        if (done[who])
            continue;
        done[who] = true;
        int64_t more_ms = heard[who].known ? FAIR_SHARE_MS : FAIR_LIFE_MS;
        struct fair_time own = {.known = true, .at = plus(last, more_ms)};
        if (fair->till[who].known)
            own.at = plus(fair->till[who].at, -less);
        bool over = heard[who].known
                        ? fair_past(&heard[who], FAIR_LIFE_MS, call->now)
                        : (fair->places == 0 || i >= placed) && fair_past(&own, 0, call->now);
        if (over) {
            less += heard[who].known ? FAIR_SHARE_MS : 0;
            fair->dropped++;
            continue;
        }
        fair->place[fair->places++] = who;
        till[who] = own;
        last = own.at;
    }
    memcpy(fair->till, till, sizeof(till));
    for (unsigned who = 0; who < FAIR_OWNERS; who++)
        fair->heard[who].known &= till[who].known;
    fair->mended++;
}

static bool in_order(const struct fair *fair, struct span now)
{
    unsigned times = 0;
    const struct fair_time *oldest = NULL;
    for (unsigned who = 0; who < FAIR_OWNERS; who++) {
        const struct fair_time *heard = &fair->heard[who];
        times += fair->till[who].known;
        if (heard->known && (!oldest || heard->at.low_ms < oldest->at.low_ms))
            oldest = heard;
    }
    if (fair->places != times || (oldest && fair_past(oldest, FAIR_LIFE_MS, now)))
        return false;
    if (fair->places == 0)
        return true;
    unsigned head = fair->place[0];
    return fair->till[head].known &&
           (fair->heard[head].known || !fair_past(&fair->till[head], 0, now));
}

static int first(struct fair *fair, const struct fair_call *call)
{
    if (!in_order(fair, call->now))
        mend(fair, call);
    return fair->places > 0 ? (int)fair->place[0] : -1;
}

/* ---- ours ------------------------------------------------------------------------------- */

static void refuse(const char *holder, int64_t code, struct frame_answer *ret)
{
    ret->code = code;
    ret->parts = 4;
    snprintf(ret->holder, sizeof(ret->holder), "%s", holder);
}

static struct frame_answer take(struct fair *fair, const struct fair_call *call, int *ret_told)
{
    struct frame_answer answer = {.place = -1};
    if (fair->foreign[0]) {
        refuse(fair->foreign, 3, &answer);
        answer.for_ever = true;
        return answer;
    }
    int head = first(fair, call);
    if (head >= 0 && head != (int)call->who && reentrant_free(&fair->lock)) {
        const struct fair_time *heard = &fair->heard[head];
        struct span end = heard->known ? plus(heard->at, FAIR_LIFE_MS) : fair->till[head].at;
        refuse(fair_owner[head], 0, &answer);
        answer.left.low_ms = end.low_ms - call->now.high_ms + 1;
        answer.left.high_ms = end.high_ms - call->now.low_ms + 1;
        *ret_told = head;
        return answer;
    }
    struct reentrant_call plain = {
        .owner = fair_owner[call->who], .token = call->token, .ttl_ms = call->ttl_ms};
    bool published;
    answer = reentrant_run(&fair->lock, RL_ACQUIRE, &plain, call->when, &published);
    if (answer.code == 1 && head >= 0)
        drop(fair, call->who);
    return answer;
}

/* How many are waited for until sooner. */
static unsigned place_of(const struct fair *fair, unsigned who)
{
    const struct fair_time *own = &fair->till[who];
    unsigned place = 0;
    for (unsigned other = 0; other < FAIR_OWNERS; other++) {
        const struct fair_time *till = &fair->till[other];
        place += till->known && (till->at.low_ms < own->at.low_ms ||
                                 (till->at.low_ms == own->at.low_ms && other < who));
    }
    return place;
}

static void stay(struct fair *fair, const struct fair_call *call)
{
    const struct fair_time *own = &fair->till[call->who];
    int64_t share_ms = FAIR_SHARE_MS * (place_of(fair, call->who) + 1);
    if (!fair_past(own, FAIR_SHARE_MS / 2 - share_ms, call->now))
        return;
    move(fair, call->who, plus(call->now, share_ms - own->at.low_ms), true);
    fair->lifted++;
}

static unsigned enter(struct fair *fair, const struct fair_call *call)
{
    struct fair_time *own = &fair->till[call->who];
    if (own->known) {
        stay(fair, call);
    } else {
        unsigned last = fair->places > 0 ? fair->place[fair->places - 1] : 0;
        bool after = fair->places > 0 && fair->till[last].known;
        struct span from = after ? fair->till[last].at : end_of_lock(fair, call);
        own->known = true;
        own->at = plus(later(from, call->now), FAIR_SHARE_MS);
        fair->place[fair->places++] = call->who;
    }
    fair->heard[call->who] = (struct fair_time){.known = true, .at = call->now};
    return place_of(fair, call->who);
}

static void leave(struct fair *fair, const struct fair_call *call, int *ret_told)
{
    if (fair->foreign[0])
        return;
    first(fair, call);
    drop(fair, call->who);
    if (reentrant_free(&fair->lock) && fair->places > 0)
        *ret_told = (int)fair->place[0];
}

struct frame_answer fair_run(struct fair *fair, enum rl_verb verb, const struct fair_call *call,
                             int *ret_told)
{
    struct frame_answer answer = {.parts = 2, .code = 1};
    struct reentrant_call plain = {.owner = fair_owner[call->who],
                                   .token = call->token,
                                   .ttl_ms = call->ttl_ms,
                                   .wakes = call->wakes};
    bool free_now;
    *ret_told = -1;
    switch (verb) {
    case RL_ACQUIRE:
    case RL_ACQUIRE_OR_QUEUE:
    case RL_RETAKE:
        answer = take(fair, call, ret_told);
        if (verb == RL_ACQUIRE_OR_QUEUE && answer.code == 0)
            answer.place = enter(fair, call);
        answer.parts = answer.code == 1 || verb == RL_RETAKE ? 2
                       : verb == RL_ACQUIRE_OR_QUEUE                ? 5
                                                                    : 4;
        if (verb == RL_RETAKE)
            answer.code = answer.code == 1;
        break;
    case RL_EXTEND:
        answer = reentrant_run(&fair->lock, verb, &plain, call->when, &free_now);
        break;
    case RL_RELEASE:
        answer = reentrant_run(&fair->lock, verb, &plain, call->when, &free_now);
        if ((answer.code || call->wakes) && reentrant_free(&fair->lock) && !fair->foreign[0])
            *ret_told = first(fair, call);
        break;
    case RL_DEQUEUE:
        leave(fair, call, ret_told);
        break;
    default:
        suite_die("the model knows no verb %d", (int)verb);
    }
    return answer;
}

/* ---- Redisson's ------------------------------------------------------------------------- */

static void pop_stale(struct fair *fair, struct span now)
{
    while (fair->places > 0 && fair->till[fair->place[0]].known &&
           fair_past(&fair->till[fair->place[0]], 0, now)) {
        fair->till[fair->place[0]].known = false;
        fair_take_out(fair, 0);
    }
}

bool fair_peer_lock(struct fair *fair, const struct fair_call *call, int64_t wait_ms,
                    bool enters)
{
    struct reentrant *lock = &fair->lock;
    struct fair_time *own = &fair->till[call->who];
    pop_stale(fair, call->now);
    bool next = fair->places == 0 || fair->place[0] == call->who;
    if (reentrant_free(lock) && next) {
        if (fair->places > 0)
            fair_take_out(fair, 0);
        own->known = false;
        for (unsigned who = 0; who < FAIR_OWNERS; who++)
            fair->till[who].at = plus(fair->till[who].at, -wait_ms);
    }
    if ((reentrant_free(lock) && next) ||
        (reentrant_held(lock) && strcmp(lock->owner, fair_owner[call->who]) == 0))
        return reentrant_peer_lock(lock, fair_owner[call->who], call->ttl_ms, call->when);
    if (!enters || own->known)
        return false;
    /* PTTL of what is not there is -2. */
    struct span base = end_of_lock(fair, call);
    if (reentrant_free(lock)) {
        base = plus(call->now, -2);
        base.low_ms -= call->now.high_ms - call->now.low_ms; /* its clock was read before */
    }
    unsigned last = fair->places > 0 ? fair->place[fair->places - 1] : 0;
    if (fair->places > 0 && last != call->who && fair->till[last].known)
        base = fair->till[last].at;
    *own = (struct fair_time){.known = true, .at = plus(base, wait_ms)};
    fair->place[fair->places++] = call->who;
    return false;
}

void fair_peer_gives_up(struct fair *fair, const struct fair_call *call, int64_t wait_ms)
{
    bool behind = false;
    for (unsigned i = 0; i < fair->places; i++) {
        struct fair_time *till = &fair->till[fair->place[i]];
        if (behind && !till->known)
            *till = (struct fair_time){.known = true, .at = {-wait_ms, -wait_ms}};
        else if (behind)
            till->at = plus(till->at, -wait_ms);
        behind |= fair->place[i] == call->who;
    }
    fair->till[call->who].known = false;
    take_all_out(fair, call->who);
}

int fair_peer_unlock(struct fair *fair, const struct fair_call *call, int *ret_told)
{
    bool free_now = false;
    int result = 1;
    *ret_told = -1;
    pop_stale(fair, call->now);
    if (!reentrant_free(&fair->lock)) {
        bool had = reentrant_peer_unlock(&fair->lock, fair_owner[call->who], call->ttl_ms,
                                         call->when, &free_now);
        result = !had ? -1 : free_now;
    }
    if (reentrant_free(&fair->lock) && fair->places > 0)
        *ret_told = (int)fair->place[0];
    return result;
}
