/* tags: long unsanitized */
/* test_scripts_rw.c - random operations of a few owners and tokens on read-write locks, of
 * Redisson on the same ones, of time, and of people who put something else there: every answer,
 * every message in a lock's channel, and all that the master has, must be the model's. */
#include "config_auto.h"

#include "rw_world.h"

#include <stdio.h>
#include <string.h>

enum { OPERATIONS = 100000, COUNT_MAX = RW_HOLDS - 4 };

static unsigned long peers, others, upgrades, downgrades, marked, turns, messages_told;

/* ---- the library's scripts -------------------------------------------------------------- */

static void expect_message(struct frame *frame, unsigned i, const char *told)
{
    struct talk_message messages[TALK_CALLS_MAX];
    unsigned count = frame_heard(frame, messages);
    FRAME_CHECK(frame, count == (told != NULL));
    if (count > 0) {
        FRAME_CHECK(frame, strcmp(messages[0].channel, rw_names[i].channel) == 0);
        FRAME_CHECK(frame, strcmp(messages[0].text, told) == 0);
        messages_told++;
    }
}

/* Mostly who has it, and what is among the tokens; else whoever, and whatever. */
static void draw_call(struct frame *frame, unsigned i, bool write, struct rw_call *ret)
{
    ret->owner = frame_draw(frame, RW_PEER);
    ret->token = frame_draw(frame, RW_TOKENS);
    for (unsigned k = 0; k < 8 && frame_draw(frame, 4) > 0; k++) {
        const struct rw_field *field = rw_field_of(i, ret->owner, write);
        if (field->count > 0) {
            ret->token = field->hold[frame_draw(frame, field->count)].token;
            break;
        }
        ret->owner = frame_draw(frame, RW_PEER);
    }
    ret->waiter = frame_draw(frame, RW_WAITERS);
    ret->ttl_ms = frame_draw_ttl(frame);
    ret->writer_waiting_ms = frame_draw_ttl(frame);
    ret->reserve_ms = frame_draw(frame, 4) ? frame_draw_ttl(frame) : 0;
}

static void run_script(struct frame *frame, unsigned i, int row, enum rl_verb verb)
{
    struct rw_call drawn;
    char token[16], waiter[RL_WAITER_MAX];
    struct span when;
    const char *told;
    draw_call(frame, i, row == RL_ROW_WRITE, &drawn);
    if (verb == RL_ACQUIRE && frame_draw(frame, 3) == 0)
        drawn.writer_waiting_ms = 0;
    snprintf(token, sizeof(token), "token-%u", drawn.token);
    struct script_call call = {
        .row = row,
        .name = rw_names[i].name,
        .owner = rw_owners[drawn.owner],
        .token = token,
        .ttl_ms = drawn.ttl_ms,
        .writer_waiting_ms = drawn.writer_waiting_ms,
        .waiter = talk_waiter(1 + drawn.waiter, 1 + frame_draw(frame, 3), waiter),
        .reserve_ms = drawn.reserve_ms,
    };
    enum rw_mode before = rw_lock[i].mode;
    struct script_told answer = frame_run(frame, verb, &call, &when);
    struct frame_answer expected = rw_run(&rw_lock[i], row, verb, &drawn, when, &told);
    frame_compare(frame, &answer, &expected);
    expect_message(frame, i, told);
    upgrades += expected.code == 2;
    downgrades += before == RW_WRITE && rw_lock[i].mode == RW_READ;
    marked += strcmp(expected.holder, "a writer that waits") == 0;
    turns += strcmp(expected.holder, "readers whose turn it is") == 0;
    rw_await_soon(frame, i, when);
}

/* ---- Redisson, and people --------------------------------------------------------------- */

static void peer_locks(struct frame *frame, unsigned i, bool write)
{
    struct rw_field *field = rw_field_of(i, RW_PEER, write);
    char name[RW_KEY_MAX], key[RW_KEY_MAX], ttl[24];
    int64_t ttl_ms = (1 + frame_draw(frame, 4)) * HOUR_MS;
    struct span when = {.low_ms = now_ms()};
    bool raises =
        rw_lock[i].mode == RW_NONE || rw_lock[i].life.end.high_ms < when.low_ms + ttl_ms;
    if (!rw_peer_may(&rw_lock[i], write) || field->count >= COUNT_MAX)
        return;
    rw_field_name(RW_PEER, write, name);
    snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    rw_lease_name(i, name, field->count + 1, key);
    if (write || rw_lock[i].mode == RW_NONE)
        talk_do(&frame->talk, "HSET", rw_names[i].name, "mode", write ? "write" : "read",
                (char *)NULL);
    talk_do(&frame->talk, "HINCRBY", rw_names[i].name, name, "1", (char *)NULL);
    if (!write)
        talk_do(&frame->talk, "SET", key, "1", "PX", ttl, (char *)NULL);
    if (raises)
        talk_do(&frame->talk, "PEXPIRE", rw_names[i].name, ttl, (char *)NULL);
    when.high_ms = now_ms() + 1;
    rw_peer_lock(&rw_lock[i], write, ttl_ms, when);
}

/* Where the life of the lock is that of its longest lease, a peer takes it from there. */
static void peer_unlocks(struct frame *frame, unsigned i, bool write)
{
    struct rw_field *field = rw_field_of(i, RW_PEER, write);
    char name[RW_KEY_MAX], key[RW_KEY_MAX], ttl[24];
    if (field->count == 0)
        return;
    enum rw_mode before = rw_lock[i].mode;
    rw_lease_name(i, rw_field_name(RW_PEER, write, name), field->count, key);
    if (talk_do(&frame->talk, "HINCRBY", rw_names[i].name, name, "-1", (char *)NULL).number ==
        0)
        talk_do(&frame->talk, "HDEL", rw_names[i].name, name, (char *)NULL);
    if (!write)
        talk_do(&frame->talk, "DEL", key, (char *)NULL);
    rw_peer_unlock(&rw_lock[i], write);
    if (rw_lock[i].mode == RW_NONE)
        talk_do(&frame->talk, "DEL", rw_names[i].name, (char *)NULL);
    else if (rw_lock[i].mode != before)
        talk_do(&frame->talk, "HSET", rw_names[i].name, "mode", "read", (char *)NULL);
    struct life life;
    if (!write && rw_lock[i].mode != RW_NONE && rw_longest(&rw_lock[i], &life)) {
        struct span when = {.low_ms = now_ms()};
        int64_t ttl_ms = life.end.low_ms - when.low_ms;
        snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
        talk_do(&frame->talk, "PEXPIRE", rw_names[i].name, ttl, (char *)NULL);
        when.high_ms = now_ms() + 1;
        rw_lock[i].life = life_of(ttl_ms, when);
    }
}

/* A reader of Redisson 3 renews everybody's leases, and may cut them. */
static void peer_renews(struct frame *frame, unsigned i)
{
    char name[RW_KEY_MAX], key[RW_KEY_MAX], ttl[24];
    int64_t ttl_ms = (1 + frame_draw(frame, 4)) * HOUR_MS;
    if (rw_lock[i].reads[RW_PEER].count == 0)
        return;
    snprintf(ttl, sizeof(ttl), "%lld", (long long)ttl_ms);
    struct span when = {.low_ms = now_ms()};
    talk_do(&frame->talk, "PEXPIRE", rw_names[i].name, ttl, (char *)NULL);
    for (unsigned k = 0; k < 2 * RW_OWNERS; k++) {
        struct rw_field *field = rw_field_of(i, k / 2, k % 2);
        rw_field_name(k / 2, k % 2, name);
        for (unsigned h = 0; h < field->count; h++) {
            rw_lease_name(i, name, h + 1, key);
            talk_do(&frame->talk, "PEXPIRE", key, ttl, (char *)NULL);
        }
    }
    when.high_ms = now_ms() + 1;
    rw_lock[i].life = life_of(ttl_ms, when);
    for (unsigned k = 0; k < 2 * RW_OWNERS; k++) {
        struct rw_field *field = rw_field_of(i, k / 2, k % 2);
        for (unsigned h = 0; h < field->count; h++)
            field->hold[h].life = rw_lock[i].life;
    }
}

static void peer(struct frame *frame, unsigned i)
{
    unsigned what = frame_draw(frame, 8);
    snprintf(frame->doing, sizeof(frame->doing), "a peer at '%s'", rw_names[i].name);
    peers++;
    if (what < 3)
        peer_locks(frame, i, what == 2);
    else if (what < 7)
        peer_unlocks(frame, i, what == 6);
    else
        peer_renews(frame, i);
}

static void delete (struct frame *frame, unsigned i)
{
    talk_do(&frame->talk, "DEL", rw_names[i].name, (char *)NULL);
    rw_gone(&rw_lock[i]);
}

/* Somebody deletes the lock, and may put something else there, for a while. */
static void people(struct frame *frame, unsigned i)
{
    static const struct {
        const char *words[4], *what;
    } data[] = {
        {{"SET", "x", NULL, NULL}, "a string (a plain lock, or data)"},
        {{"LPUSH", "x", NULL, NULL}, "a list"},
        {{"HSET", "you", "1", NULL}, "a hash that is no lock"},
        {{"HSET", "mode", "fast", NULL}, "a hash that is no lock"},
    };
    unsigned what = frame_draw(frame, 5);
    snprintf(frame->doing, sizeof(frame->doing), "people at '%s'", rw_names[i].name);
    delete (frame, i);
    if (what > 3)
        return;
    others++;
    talk_do(&frame->talk, data[what].words[0], rw_names[i].name, data[what].words[1],
            data[what].words[2], (char *)NULL);
    snprintf(rw_lock[i].other, sizeof(rw_lock[i].other), "%s", data[what].what);
    rw_lock[i].life = (struct life){.for_ever = true};
}

/* ---- the life --------------------------------------------------------------------------- */

static bool full(unsigned i)
{
    for (unsigned k = 0; k < 2 * RW_OWNERS; k++) {
        if (rw_field_of(i, k / 2, k % 2)->count >= COUNT_MAX)
            return true;
    }
    return false;
}

static void begin(struct frame *frame)
{
    for (unsigned i = 0; i < RW_LOCKS; i++)
        frame_listen(frame, rw_names[i].channel);
}

static void step(struct frame *frame)
{
    static const unsigned weights[] = {20, 20, 34, 8, 5, 4, 5, 4, 1};
    static const enum rl_verb verbs[] = {RL_ACQUIRE, RL_ACQUIRE_OR_QUEUE, RL_RELEASE, RL_EXTEND,
                                         RL_RETAKE};
    unsigned i = frame_draw(frame, RW_LOCKS);
    unsigned what = frame_choose(frame, weights, sizeof(weights) / sizeof(weights[0]));
    int row = frame_draw(frame, 3) ? RL_ROW_READ : RL_ROW_WRITE;
    if (full(i))
        delete (frame, i);
    if (rw_lock[i].other[0] && frame_draw(frame, 4) == 0)
        delete (frame, i);
    if (what < 5)
        run_script(frame, i, row, verbs[what]);
    else if (what == 5)
        run_script(frame, i, row, RL_DEQUEUE);
    else if (what == 6)
        peer(frame, i);
    else if (what == 7)
        rw_time_passes(frame, i);
    else if (frame_draw(frame, 4) == 0)
        people(frame, i);
    if (frame->operation % 8 == 0)
        rw_compare(frame, i);
}

static void end(struct frame *frame)
{
    unsigned long least = frame->operation / 2500;
    for (unsigned i = 0; i < RW_LOCKS; i++)
        rw_compare(frame, i);
    printf("%lu peers, %lu others, %lu upgrades, %lu downgrades, %lu marked, %lu turns, %lu "
           "messages, "
           "%lu moved, %lu ran out\n",
           peers, others, upgrades, downgrades, marked, turns, messages_told, rw_moved,
           frame->ran_out);
    if (frame->operations < OPERATIONS)
        return;
    for (int verb = 0; verb < RL_VERBS; verb++) {
        if (verb == RL_INSPECT || verb == RL_FORCE)
            continue;
        ck_assert_uint_gt(frame->codes[verb][1], least);
        ck_assert(verb == RL_DEQUEUE || frame->codes[verb][0] > least);
    }
    ck_assert_uint_gt(frame->codes[RL_ACQUIRE][3], least);
    ck_assert_uint_gt(upgrades, least);
    ck_assert_uint_gt(downgrades, least);
    ck_assert_uint_gt(marked, least);
    ck_assert_uint_gt(turns, least);
    ck_assert_uint_gt(messages_told, least);
    ck_assert_uint_gt(rw_moved, least);
    ck_assert_uint_gt(peers, least);
    ck_assert_uint_gt(others, least);
    ck_assert_uint_gt(frame->ran_out, least);
}

int main(void)
{
    static const struct frame_play play = {
        .name = "scripts_rw",
        .operations = OPERATIONS,
        .begin = begin,
        .step = step,
        .end = end,
    };
    return frame_main(&play);
}
