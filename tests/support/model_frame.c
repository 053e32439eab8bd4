/* model_frame.c - see model_frame.h. */
#include "config_auto.h"

#include "model_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLACK_MS = 2, SOON_MS = 60000, LIMIT_MS = 10000 };

static const struct frame_play *played;

/* ---- drawing ---------------------------------------------------------------------------- */

unsigned frame_draw(struct frame *frame, unsigned limit)
{
    return (unsigned)rl_prng_below(&frame->prng, limit);
}

unsigned frame_choose(struct frame *frame, const unsigned weights[], unsigned count)
{
    unsigned sum = 0, chosen = 0;
    for (unsigned i = 0; i < count; i++)
        sum += weights[i];
    unsigned drawn = frame_draw(frame, sum);
    while (drawn >= weights[chosen])
        drawn -= weights[chosen++];
    return chosen;
}

int64_t frame_draw_ttl(struct frame *frame)
{
    if (frame_draw(frame, 100) == 0)
        return 1 + frame_draw(frame, 3);
    return (1 + frame_draw(frame, 4)) * HOUR_MS;
}

/* ---- running ---------------------------------------------------------------------------- */

struct script_told frame_run(struct frame *frame, enum rl_verb verb,
                             const struct script_call *call, struct span *ret_when)
{
    snprintf(frame->doing, sizeof(frame->doing), "%s of '%s' for '%s', token '%s'",
             rl_kind(call->row)->script[verb].name, call->name,
             call->owner ? call->owner : "nobody", call->token ? call->token : "none");
    ret_when->low_ms = now_ms();
    struct script_told told = script_run(&frame->talk, verb, call);
    ret_when->high_ms = now_ms() + 1;
    ck_assert_msg(told.type == '*', "REDLOCK_TEST_SEED=%lu, operation %lu, %s: %s", frame->seed,
                  frame->operation, frame->doing, told.text);
    FRAME_CHECK(frame, told.yes >= 0 && told.yes < 4);
    frame->codes[verb][told.yes]++;
    return told;
}

static void compare_left(struct frame *frame, int64_t left_ms, bool for_ever, struct span left)
{
    if (for_ever) {
        FRAME_CHECK(frame, left_ms == -1);
        return;
    }
    FRAME_CHECK(frame, left_ms >= left.low_ms - SLACK_MS);
    FRAME_CHECK(frame, left_ms <= left.high_ms + SLACK_MS);
}

void frame_compare(struct frame *frame, const struct script_told *told,
                   const struct frame_answer *expected)
{
    FRAME_CHECK(frame, told->yes == expected->code);
    FRAME_CHECK(frame, told->parts == expected->parts);
    if (told->parts > 2) {
        ck_assert_msg(strcmp(told->holder, expected->holder) == 0,
                      "REDLOCK_TEST_SEED=%lu, operation %lu, %s: '%s' stands there, not '%s'",
                      frame->seed, frame->operation, frame->doing, told->holder,
                      expected->holder);
        compare_left(frame, told->left_ms, expected->for_ever, expected->left);
    }
    if (told->parts > 4)
        FRAME_CHECK(frame, told->place == expected->place);
}

/* ---- time ------------------------------------------------------------------------------- */

struct life life_of(int64_t ttl_ms, struct span when)
{
    return (struct life){
        .end = {.low_ms = when.low_ms + ttl_ms, .high_ms = when.high_ms + ttl_ms},
    };
}

void life_raise(struct life *life, int64_t ttl_ms, struct span when)
{
    struct life other = life_of(ttl_ms, when);
    if (life->for_ever) {
        *life = other;
        return;
    }
    if (life->end.low_ms < other.end.low_ms && life->end.high_ms < other.end.low_ms)
        life->end.low_ms = other.end.low_ms;
    if (life->end.high_ms < other.end.high_ms)
        life->end.high_ms = other.end.high_ms;
}

void life_left(const struct life *life, struct span when, struct frame_answer *ret_answer)
{
    ret_answer->for_ever = life->for_ever;
    ret_answer->left.low_ms = life->end.low_ms - when.high_ms;
    ret_answer->left.high_ms = life->end.high_ms - when.low_ms;
}

bool life_ends_soon(const struct life *life, struct span when)
{
    return !life->for_ever && life->end.low_ms < when.high_ms + SOON_MS;
}

void frame_await_gone(struct frame *frame, const char *key)
{
    struct talk *talk = &frame->talk;
    FRAME_CHECK(frame,
                wait_until(talk_do(talk, "PTTL", key, (char *)NULL).number == -2, LIMIT_MS));
    frame->ran_out++;
}

void frame_runs_out(struct frame *frame, const char *key)
{
    talk_do(&frame->talk, "PEXPIRE", key, "1", (char *)NULL);
    frame_await_gone(frame, key);
}

void frame_compare_life(struct frame *frame, const char *key, bool alive,
                        const struct life *life)
{
    struct frame_answer expected = {.parts = 0};
    struct span when = {.low_ms = now_ms()};
    int64_t left_ms = talk_do(&frame->talk, "PTTL", key, (char *)NULL).number;
    when.high_ms = now_ms() + 1;
    if (!alive) {
        FRAME_CHECK(frame, left_ms == -2);
        return;
    }
    life_left(life, when, &expected);
    compare_left(frame, left_ms, expected.for_ever, expected.left);
}

/* ---- what is published ------------------------------------------------------------------ */

void frame_listen(struct frame *frame, const char *channel)
{
    FRAME_CHECK(frame, talk_do(&frame->ear, "SUBSCRIBE", channel, (char *)NULL).type == '*');
}

unsigned frame_heard(struct frame *frame, struct talk_message ret_messages[TALK_CALLS_MAX])
{
    return talk_messages(&frame->ear, ret_messages);
}

/* ---- the program ------------------------------------------------------------------------ */

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

TEST(model, scripts_agree_with_model)
{
    static struct frame frame;
    frame.operations = setting("REDLOCK_TEST_OPERATIONS", played->operations);
    frame.seed = setting("REDLOCK_TEST_SEED", 1);
    printf("REDLOCK_TEST_SEED=%lu, %lu operations\n", frame.seed, frame.operations);
    rl_prng_seed(&frame.prng, frame.seed);
    frame.masters = masters_start(1, NULL);
    talk_open(&frame.talk, frame.masters, 0);
    talk_open(&frame.ear, frame.masters, 0);
    frame_listen(&frame, "nothing"); /* always: how PING is answered depends on it */
    played->begin(&frame);
    while (frame.operation < frame.operations) {
        frame.operation++;
        played->step(&frame);
    }
    played->end(&frame);
    talk_close(&frame.talk);
    talk_close(&frame.ear);
    masters_stop(frame.masters);
}

CASE(model, .timeout_s = 60)

int frame_main(const struct frame_play *play)
{
    played = play;
    model_case.timeout_s +=
        (double)setting("REDLOCK_TEST_OPERATIONS", play->operations) / 500;
    return suite_main();
}
