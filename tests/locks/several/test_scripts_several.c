/* tags: long unsanitized */
/* test_scripts_several.c - random operations on several names at once, and on each of them
 * alone, by owners, waiters, peers and time: every answer, and who is woken, must be the
 * model's, which knows several names as nothing but each of them. */
#include "config_auto.h"

#include "kinds/name_set.h"
#include "several_model.h"

#include <stdio.h>
#include <string.h>

enum { LOCKS = SEVERAL_MAX, TOKENS = 5, OPERATIONS = 100000, RANKS = 64 };

/* In the order of their bytes. */
static const char *const names[LOCKS] = {"a", "a b%s", "b", "{orders}:42"};
static const char *const queues[LOCKS] = {
    "{a}" RL_QUEUE_SUFFIX, "{a b%s}" RL_QUEUE_SUFFIX, "{b}" RL_QUEUE_SUFFIX,
    "{orders}:42{}" RL_QUEUE_SUFFIX};

static struct model model;
static struct model_lock lock[LOCKS];
static unsigned long peers, whole, partial, several_calls;

/* ---- drawing ---------------------------------------------------------------------------- */

static unsigned draw_names(struct frame *frame)
{
    return 1 + frame_draw(frame, (1u << LOCKS) - 1);
}

/* A place in the order of the queues that nobody else in them has. */
static int draw_rank(struct frame *frame, unsigned mask, unsigned waiter)
{
    for (;;) {
        int rank = (int)frame_draw(frame, RANKS);
        bool used = false;
        for (unsigned i = 0; i < LOCKS; i++) {
            for (unsigned k = 0; (mask & 1u << i) && k < lock[i].queued; k++)
                used |= lock[i].queue[k].waiter != waiter && lock[i].queue[k].rank == rank;
        }
        if (!used)
            return rank;
    }
}

/* For whom one of them is kept, mostly: else whoever. */
static unsigned draw_waiter(struct frame *frame, unsigned mask)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        for (unsigned k = 0; (mask & 1u << i) && k < MODEL_WAITERS; k++) {
            if (model_kept_for(&lock[i], k) && frame_draw(frame, 2))
                return k;
        }
    }
    return frame_draw(frame, MODEL_WAITERS);
}

/* A token, and often the very names that it has. */
static void draw_token(struct frame *frame, unsigned *mask, char ret_token[16])
{
    const char *held = lock[frame_draw(frame, LOCKS)].holder;
    snprintf(ret_token, 16, "token-%u", frame_draw(frame, TOKENS));
    if (strncmp(held, "token-", 6) != 0 || frame_draw(frame, 3) == 0)
        return;
    snprintf(ret_token, 16, "%.15s", held);
    unsigned its = 0;
    for (unsigned i = 0; i < LOCKS; i++)
        its |= strcmp(lock[i].holder, ret_token) == 0 ? 1u << i : 0;
    if (frame_draw(frame, 3) > 0)
        *mask = its;
}

/* ---- operations ------------------------------------------------------------------------- */

static void expect_calls(struct frame *frame, unsigned count, const int called[])
{
    char calls[TALK_CALLS_MAX][RL_WAITER_MAX], waiter[RL_WAITER_MAX];
    FRAME_CHECK(frame, talk_calls(&frame->ear, calls) == count);
    for (unsigned i = 0; i < count; i++)
        FRAME_CHECK(frame, strcmp(calls[i], model_waiter((unsigned)called[i], waiter)) == 0);
}

static void await_ends(struct frame *frame, struct span when)
{
    for (unsigned i = 0; i < LOCKS; i++) {
        if (!lock[i].holder[0] || lock[i].end.low_ms >= when.high_ms + 60000)
            continue;
        frame_await_gone(frame, names[i]);
        model_free(&lock[i]);
    }
}

static struct model_call draw_call(struct frame *frame, unsigned mask, enum rl_verb verb,
                                   const char *token)
{
    struct model_call call = {
        .token = token,
        .ttl_ms = frame_draw_ttl(frame),
        .reserve_ms = frame_draw_ttl(frame),
        .waiter = draw_waiter(frame, mask),
    };
    call.rank = draw_rank(frame, mask, call.waiter);
    call.yields = frame_draw(frame, 4) == 0;
    if (verb == RL_RELEASE && frame_draw(frame, 4) == 0)
        call.reserve_ms = 0;
    return call;
}

static struct script_call script_of(const struct model_call *call, char waiter[RL_WAITER_MAX])
{
    return (struct script_call){
        .token = call->token,
        .ttl_ms = call->ttl_ms,
        .waiter = model_waiter(call->waiter, waiter),
        /* Ranks are 100 s apart: no delay of ours changes their order. */
        .age_us = (RANKS - call->rank) * 100000000LL + (call->yields ? 3500000 : 500000),
        .queue_ms = 10 * HOUR_MS,
        .reserve_ms = call->reserve_ms,
    };
}

static void run_several(struct frame *frame, enum rl_verb verb)
{
    char token[16], waiter[RL_WAITER_MAX], packed[RL_NAMES_BYTES_MAX], why[160];
    redlock_bytes given[LOCKS];
    unsigned mask = draw_names(frame);
    size_t count = 0;
    struct span when;
    draw_token(frame, &mask, token);
    struct model_call call = draw_call(frame, mask, verb, token);
    struct script_call script = script_of(&call, waiter);
    for (unsigned i = LOCKS; i-- > 0;) {
        if (mask & 1u << i)
            given[count++] = (redlock_bytes){.bytes = names[i], .len = strlen(names[i])};
    }
    script.row = RL_ROW_SEVERAL;
    script.name = packed;
    script.name_len = rl_names_pack(given, count, packed, why, sizeof(why));
    struct script_told told = frame_run(frame, verb, &script, &when);
    struct several_told expected = several_run(&model, lock, mask, verb, &call, when);
    frame_compare(frame, &told, &expected.answer);
    expect_calls(frame, expected.calls, expected.called);
    several_calls += expected.calls > 1;
    whole += told.yes == 1 && count > 1 && verb != RL_DEQUEUE;
    partial += told.yes == 0 && verb == RL_RELEASE && expected.calls > 0;
    await_ends(frame, when);
}

static void run_plain(struct frame *frame, unsigned i, enum rl_verb verb)
{
    char token[16], waiter[RL_WAITER_MAX];
    unsigned mask = 1u << i;
    struct span when;
    draw_token(frame, &mask, token);
    struct model_call call = draw_call(frame, 1u << i, verb, token);
    struct script_call script = script_of(&call, waiter);
    script.row = RL_ROW_PLAIN;
    script.name = names[i];
    when.low_ms = now_ms();
    struct script_told told = script_run(&frame->talk, verb, &script);
    when.high_ms = now_ms() + 1;
    struct model_told expected = model_run(&model, &lock[i], verb, &call, when);
    FRAME_CHECK(frame, told.type == '*' && told.yes == expected.yes);
    expect_calls(frame, expected.called >= 0, &expected.called);
    await_ends(frame, when);
}

/* Who knows of no queue: SET NX PX, and a silent DEL. */
static void peer(struct frame *frame, unsigned i)
{
    struct span when = {.low_ms = now_ms()};
    peers++;
    if (strcmp(lock[i].holder, "peer") == 0 && frame_draw(frame, 2)) {
        talk_do(&frame->talk, "DEL", names[i], (char *)NULL);
        model_free(&lock[i]);
        return;
    }
    struct wire_item set =
        talk_do(&frame->talk, "SET", names[i], "peer", "NX", "PX", "3600000", (char *)NULL);
    when.high_ms = now_ms() + 1;
    FRAME_CHECK(frame, (set.type == '+') == !lock[i].holder[0]);
    if (set.type == '+')
        model_set(&lock[i], "peer", HOUR_MS, when);
}

static void turn_ear(struct frame *frame)
{
    unsigned client = frame_draw(frame, MODEL_CLIENTS);
    char waiter[RL_WAITER_MAX], channel[128];
    model_waiter(2 * client, waiter);
    if (model.listens[client]) {
        snprintf(channel, sizeof(channel), RL_WAKE_PREFIX "%.36s", waiter);
        talk_do(&frame->ear, "UNSUBSCRIBE", channel, (char *)NULL);
    } else {
        talk_listen(&frame->ear, waiter);
    }
    model.listens[client] = !model.listens[client];
}

static void run_out(struct frame *frame, unsigned i)
{
    if (frame_draw(frame, 4) > 0) {
        frame_runs_out(frame, names[i]);
        model_free(&lock[i]);
    } else {
        frame_runs_out(frame, queues[i]);
        lock[i].queued = 0;
    }
}

/* ---- the play --------------------------------------------------------------------------- */

static void begin(struct frame *frame)
{
    (void)frame;
}

static void step(struct frame *frame)
{
    static const enum rl_verb verbs[] = {RL_ACQUIRE_OR_QUEUE, RL_RELEASE,       RL_ACQUIRE,
                                         RL_EXTEND,           RL_RETAKE, RL_DEQUEUE};
    static const unsigned several[] = {30, 20, 8, 5, 5, 7}, plain[] = {10, 8, 4, 1, 1, 3};
    static const unsigned what[] = {70, 20, 7, 2, 1};
    unsigned i = frame_draw(frame, LOCKS);
    snprintf(frame->doing, sizeof(frame->doing), "something of '%s' alone", names[i]);
    switch (frame_choose(frame, what, 5)) {
    case 0:
        run_several(frame, verbs[frame_choose(frame, several, 6)]);
        break;
    case 1:
        run_plain(frame, i, verbs[frame_choose(frame, plain, 6)]);
        break;
    case 2:
        peer(frame, i);
        break;
    case 3:
        turn_ear(frame);
        break;
    default:
        run_out(frame, i);
    }
    if (frame->operation % 8 == 0)
        FRAME_CHECK(frame, model_queue_is(&frame->talk, queues[i], &lock[i]));
}

/* Everybody goes, and nothing stays. */
static void go(struct frame *frame)
{
    char waiter[RL_WAITER_MAX];
    for (unsigned i = 0; i < LOCKS; i++) {
        for (unsigned k = 0; k < MODEL_WAITERS; k++) {
            struct script_call call = {.name = names[i], .reserve_ms = 1};
            call.waiter = model_waiter(k, waiter);
            script_run(&frame->talk, RL_DEQUEUE, &call);
        }
        talk_do(&frame->talk, "DEL", names[i], (char *)NULL);
    }
    ck_assert_int_eq(talk_do(&frame->talk, "DBSIZE", (char *)NULL).number, 0);
}

static void end(struct frame *frame)
{
    unsigned long least = frame->operation / 2500;
    static const enum rl_verb both[] = {RL_ACQUIRE, RL_EXTEND, RL_RETAKE, RL_RELEASE,
                                        RL_ACQUIRE_OR_QUEUE};
    go(frame);
    if (frame->operation < OPERATIONS)
        return;
    for (unsigned i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
        ck_assert_uint_gt(frame->codes[both[i]][0], least);
        ck_assert_uint_gt(frame->codes[both[i]][1], least);
    }
    ck_assert_uint_gt(whole, least);
    ck_assert_uint_gt(partial, least);
    ck_assert_uint_gt(several_calls, least);
    ck_assert_uint_gt(model.tally.kept_taken, least);
    ck_assert_uint_gt(model.tally.skipped, least);
    ck_assert_uint_gt(peers, least);
    ck_assert_uint_gt(frame->ran_out, least);
}

int main(void)
{
    static const struct frame_play play = {
        .name = "scripts_several",
        .operations = OPERATIONS,
        .begin = begin,
        .step = step,
        .end = end,
    };
    return frame_main(&play);
}
