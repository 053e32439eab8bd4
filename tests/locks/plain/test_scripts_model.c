/* tags: long unsanitized */
/* test_scripts_model.c - random operations of owners, waiters, peers and time on a few locks
 * of a real master, next to a model in plain C: every answer, and who is woken, must be the
 * model's. */
#include "config_auto.h"

#include "scripts_model.h"

#include <stdio.h>
#include <string.h>

enum { LOCKS = 3, TOKENS = 5, OPERATIONS = 100000, RANKS = 64, SLACK_MS = 2 };
static const char *const names[LOCKS] = {"a", "a b", "{orders}:42"};
static const char *const stems[LOCKS] = {"{a}", "{a b}", "{orders}:42{}"}; /* of other keys */

static struct model model;
static struct model_lock locks[LOCKS];
static unsigned long peers;
static int64_t start_ms;

static const char *queue_name(unsigned i, char ret_name[64])
{
    snprintf(ret_name, 64, "%s" RL_QUEUE_SUFFIX, stems[i]);
    return ret_name;
}

/* ---- time ------------------------------------------------------------------------------ */

static void lock_runs_out(struct frame *frame, unsigned i)
{
    frame_runs_out(frame, names[i]);
    model_free(&locks[i]);
}

static void queue_runs_out(struct frame *frame, unsigned i)
{
    char queue[64];
    frame_runs_out(frame, queue_name(i, queue));
    locks[i].queued = 0;
}

/* ---- operations ------------------------------------------------------------------------ */

/* A place in the order of the queue that nobody else in it has. */
static int draw_rank(struct frame *frame, const struct model_lock *lock, unsigned waiter)
{
    for (;;) {
        int rank = (int)frame_draw(frame, RANKS);
        bool used = false;
        for (unsigned i = 0; i < lock->queued; i++)
            used |= lock->queue[i].waiter != waiter && lock->queue[i].rank == rank;
        if (!used)
            return rank;
    }
}

static void compare(struct frame *frame, const struct script_told *told,
                    const struct model_told *expected)
{
    FRAME_CHECK(frame, told->type == '*');
    bool noted = expected->noted && told->parts == 4;
    FRAME_CHECK(frame, noted || told->parts == expected->parts);
    FRAME_CHECK(frame, told->yes == expected->yes);
    if (noted) {
        FRAME_CHECK(frame, strcmp(told->holder, SCRIPT_BREAKER) == 0 && told->left_ms >= 0);
    } else if (told->parts > 2) {
        FRAME_CHECK(frame, strcmp(told->holder, expected->holder) == 0);
        FRAME_CHECK(frame, told->left_ms >= expected->left.low_ms - SLACK_MS);
        FRAME_CHECK(frame, told->left_ms <= expected->left.high_ms + SLACK_MS);
    }
    FRAME_CHECK(frame, told->place == expected->place);
    char calls[TALK_CALLS_MAX][RL_WAITER_MAX], waiter[RL_WAITER_MAX];
    unsigned count = talk_calls(&frame->ear, calls);
    FRAME_CHECK(frame, count == (expected->called >= 0));
    if (count > 0)
        FRAME_CHECK(frame,
                    strcmp(calls[0], model_waiter((unsigned)expected->called, waiter)) == 0);
}

/* For whom a lock is kept, mostly: else whoever. */
static unsigned draw_waiter(struct frame *frame, const struct model_lock *lock)
{
    unsigned drawn = frame_draw(frame, MODEL_WAITERS);
    for (unsigned i = 0; model_kept(lock) && frame_draw(frame, 2) && i < MODEL_WAITERS; i++) {
        char waiter[RL_WAITER_MAX];
        if (strcmp(lock->holder + strlen(RL_RESERVED_PREFIX), model_waiter(i, waiter)) == 0)
            return i;
    }
    return drawn;
}

static const char *draw_token(struct frame *frame, const struct model_lock *lock, char ret[16])
{
    snprintf(ret, 16, "token-%u", frame_draw(frame, TOKENS));
    bool held = lock->holder[0] && strncmp(lock->holder, "token-", 6) == 0;
    if (held && frame_draw(frame, 2))
        snprintf(ret, 16, "%.15s", lock->holder);
    return ret;
}

static void run_script(struct frame *frame, unsigned i, enum rl_verb verb)
{
    struct model_lock *lock = &locks[i];
    char token[16], waiter[RL_WAITER_MAX];
    struct model_call model_call = {
        .token = draw_token(frame, lock, token),
        .ttl_ms = frame_draw_ttl(frame),
        .reserve_ms = frame_draw_ttl(frame),
        .waiter = draw_waiter(frame, lock),
    };
    model_call.rank = draw_rank(frame, lock, model_call.waiter);
    if (verb == RL_RELEASE && frame_draw(frame, 4) == 0)
        model_call.reserve_ms = 0;
    struct span when = {.low_ms = now_ms()};
    struct script_call call = {
        .name = names[i],
        .token = token,
        .ttl_ms = model_call.ttl_ms,
        .waiter = model_waiter(model_call.waiter, waiter),
        /* Ranks are 100 s apart: no delay of ours changes their order. */
        .age_us = ((when.low_ms - start_ms) + (RANKS - model_call.rank) * 100000) * 1000,
        .queue_ms = 10 * HOUR_MS,
        .reserve_ms = model_call.reserve_ms,
    };
    struct script_told told = script_run(&frame->talk, verb, &call);
    when.high_ms = now_ms() + 1;
    struct model_told expected = model_run(&model, lock, verb, &model_call, when);
    compare(frame, &told, &expected);
    if (lock->holder[0] && lock->end.low_ms < when.high_ms + 60000) {
        frame_await_gone(frame, names[i]);
        model_free(lock);
    }
}

/* Those who know of no queue: SET NX PX, and a silent DEL. */
static void peer(struct frame *frame, unsigned i)
{
    struct model_lock *lock = &locks[i];
    struct span when = {.low_ms = now_ms()};
    peers++;
    if (frame_draw(frame, 2) && strcmp(lock->holder, "peer") == 0) {
        talk_do(&frame->talk, "DEL", names[i], (char *)NULL);
        model_free(lock);
        return;
    }
    struct wire_item set =
        talk_do(&frame->talk, "SET", names[i], "peer", "NX", "PX", "3600000", (char *)NULL);
    when.high_ms = now_ms() + 1;
    FRAME_CHECK(frame, (set.type == '+') == !lock->holder[0]);
    if (set.type == '+')
        model_set(lock, "peer", HOUR_MS, when);
}

static void turn_ear(struct frame *frame)
{
    unsigned client = frame_draw(frame, MODEL_CLIENTS);
    char waiter[RL_WAITER_MAX], channel[128];
    bool *listens = &model.listens[client];
    model_waiter(2 * client, waiter);
    if (*listens) {
        snprintf(channel, sizeof(channel), RL_WAKE_PREFIX "%.36s", waiter);
        FRAME_CHECK(frame,
                    talk_do(&frame->ear, "UNSUBSCRIBE", channel, (char *)NULL).type == '*');
    } else {
        talk_listen(&frame->ear, waiter);
    }
    *listens = !*listens;
}

/* All that the master has is what the model has. */
static void compare_queue(struct frame *frame, unsigned i)
{
    char queue[64];
    FRAME_CHECK(frame, model_queue_is(&frame->talk, queue_name(i, queue), &locks[i]));
}

static void step(struct frame *frame)
{
    static const struct {
        enum rl_verb verb;
        unsigned weight;
    } verbs[RL_VERBS] = {
        {RL_ACQUIRE_OR_QUEUE, 40}, {RL_RELEASE, 20}, {RL_ACQUIRE, 8},       {RL_DEQUEUE, 10},
        {RL_INSPECT, 5},           {RL_EXTEND, 5},   {RL_RETAKE, 4}, {RL_FORCE, 3},
    };
    unsigned i = frame_draw(frame, LOCKS), what = frame_draw(frame, 100), verb = 0;
    while (verb < RL_VERBS && what >= verbs[verb].weight)
        what -= verbs[verb++].weight;
    bool script = verb < RL_VERBS;
    const char *name =
        script ? rl_kind(REDLOCK_PLAIN)->script[verbs[verb].verb].name : "another's";
    snprintf(frame->doing, sizeof(frame->doing), "%s of '%s'", name ? name : "a look or force",
             names[i]);
    if (script)
        run_script(frame, i, verbs[verb].verb);
    else if (frame_draw(frame, 3) > 0)
        peer(frame, i);
    else if (frame_draw(frame, 2))
        turn_ear(frame);
    else if (frame_draw(frame, 4) > 0)
        lock_runs_out(frame, i);
    else if (frame_draw(frame, 4) == 0)
        queue_runs_out(frame, i);
    if (frame->operation % 8 == 0)
        compare_queue(frame, i);
}

static void expect_no_dull_life(const struct frame *frame)
{
    const struct model_tally *tally = &model.tally;
    unsigned long least = frame->operation / 2500;
    for (int verb = 0; verb < RL_VERBS; verb++) {
        ck_assert_uint_gt(tally->taken[verb], least);
        ck_assert(verb == RL_DEQUEUE || tally->refused[verb] > least);
    }
    ck_assert_uint_gt(tally->woken, least);
    ck_assert_uint_gt(tally->skipped, least);
    ck_assert_uint_gt(tally->kept_taken, least);
    ck_assert_uint_gt(tally->nobody_left, least);
    ck_assert_uint_gt(peers, least);
    ck_assert_uint_gt(frame->ran_out, least);
}

/* Everybody goes, and nothing stays. */
static void go(struct frame *frame)
{
    char waiter[RL_WAITER_MAX];
    for (unsigned i = 0; i < LOCKS; i++) {
        for (unsigned k = 0; k < MODEL_WAITERS; k++) {
            struct script_call call = {.name = names[i], .reserve_ms = HOUR_MS};
            call.waiter = model_waiter(k, waiter);
            script_run(&frame->talk, RL_DEQUEUE, &call);
        }
        if (locks[i].holder[0] && !model_kept(&locks[i]))
            talk_do(&frame->talk, "DEL", names[i], (char *)NULL);
        char note[64];
        snprintf(note, sizeof(note), "%s:redlock:broken", stems[i]);
        talk_do(&frame->talk, "DEL", note, (char *)NULL);
    }
    ck_assert_int_eq(talk_do(&frame->talk, "DBSIZE", (char *)NULL).number, 0);
}

static void begin(struct frame *frame)
{
    (void)frame;
    start_ms = now_ms();
}

static void end(struct frame *frame)
{
    for (unsigned i = 0; i < LOCKS; i++)
        compare_queue(frame, i);
    if (frame->operations >= OPERATIONS)
        expect_no_dull_life(frame);
    go(frame);
}

int main(void)
{
    static const struct frame_play play = {
        .name = "scripts_model",
        .operations = OPERATIONS,
        .begin = begin,
        .step = step,
        .end = end,
    };
    return frame_main(&play);
}
