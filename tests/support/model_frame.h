/* model_frame.h - random operations on a few locks of a real master, next to a model in plain
 * C of what the scripts must do. All such tests share this file. A test draws an operation,
 * runs it on the master and in its model, and compares the two answers. Time is the master's
 * own, so that an end is known from a time to a time only. What ends soon is waited for.
 *
 * REDLOCK_TEST_SEED says which operations, REDLOCK_TEST_OPERATIONS how many: a failure names
 * both.
 */
#ifndef TEST_MODEL_FRAME_H
#define TEST_MODEL_FRAME_H

#include "base/prng.h"
#include "script_talk.h"

#define HOUR_MS INT64_C(3600000)

struct span {
    int64_t low_ms, high_ms;
};

/* Until when something lives. */
struct life {
    bool for_ever;
    struct span end;
};

struct frame {
    unsigned long seed, operation, operations;
    struct rl_prng prng;
    struct masters *masters;
    struct talk talk; /* with the master */
    struct talk ear;  /* what is published */
    char doing[200];  /* for messages: what the operation is */
    unsigned long ran_out;
    unsigned long codes[RL_VERBS][4]; /* how often a verb has answered so */
};

#define FRAME_CHECK(frame, condition)                                                          \
    ck_assert_msg(condition, "REDLOCK_TEST_SEED=%lu, operation %lu, %s: %s", (frame)->seed,    \
                  (frame)->operation, (frame)->doing, #condition)

/* The whole of such a program's main(). `end` checks what is left, and that the life was not
 * dull, where all operations were played that are usual. */
struct frame_play {
    const char *name;
    unsigned long operations; /* where the environment says nothing */
    void (*begin)(struct frame *frame);
    void (*step)(struct frame *frame);
    void (*end)(struct frame *frame);
};
int frame_main(const struct frame_play *play);

/* ---- drawing ---------------------------------------------------------------------------- */

unsigned frame_draw(struct frame *frame, unsigned limit);

/* An index, by its weight. */
unsigned frame_choose(struct frame *frame, const unsigned weights[], unsigned count);

/* Hours, mostly; else a few milliseconds. */
int64_t frame_draw_ttl(struct frame *frame);

/* ---- running ---------------------------------------------------------------------------- */

/* Run the script of that verb; `ret_when`: it was executed within. An error ends the test. */
struct script_told frame_run(struct frame *frame, enum rl_verb verb,
                             const struct script_call *call, struct span *ret_when);

/* What the model says of it. `left` and `holder` are of answers with more than two parts. */
struct frame_answer {
    unsigned parts;
    int64_t code;
    bool for_ever; /* left_ms is -1 */
    struct span left;
    char holder[160];
    int64_t place;
};
void frame_compare(struct frame *frame, const struct script_told *told,
                   const struct frame_answer *expected);

/* ---- time ------------------------------------------------------------------------------- */

/* From a script's PEXPIRE, or SET PX, at some time of `when`. */
struct life life_of(int64_t ttl_ms, struct span when);

/* Upwards only. Where it can't be known from here which is longer, the end is either. */
void life_raise(struct life *life, int64_t ttl_ms, struct span when);

/* Of an answer: what PTTL says at some time of `when`. */
void life_left(const struct life *life, struct span when, struct frame_answer *ret_answer);

/* Is it over soon? Then it must be waited for, before anything else is done. */
bool life_ends_soon(const struct life *life, struct span when);

/* Wait until the key has run out by itself; make it run out, and wait. */
void frame_await_gone(struct frame *frame, const char *key);
void frame_runs_out(struct frame *frame, const char *key);

/* Is what PTTL says of a key what `life` says? Dead: there must be none. */
void frame_compare_life(struct frame *frame, const char *key, bool alive,
                        const struct life *life);

/* ---- what is published ------------------------------------------------------------------ */

void frame_listen(struct frame *frame, const char *channel);

/* Since the last look: everything that scripts which have answered published is among it. */
unsigned frame_heard(struct frame *frame, struct talk_message ret_messages[TALK_CALLS_MAX]);

#endif
