/* tags: long unsanitized */
/* test_qrw_model.c - random operations of several owners, and of time and of people who put
 * other data there, on a few read-write locks of a real master, next to a model in plain C:
 * every answer, every message and all that is left on the master must be the model's.
 * REDLOCK_TEST_OPERATIONS in the environment says how many, REDLOCK_TEST_SEED which: a failure
 * names its seed and its operation. */
#include "config_auto.h"

#include "kinds/keys.h"
#include "base/prng.h"
#include "qrw_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 3, OPERATIONS = 100000, SLACK_MS = 3 };
#define HOUR_MS INT64_C(3600000)
#define HALF_HOUR_MS (HOUR_MS / 2)

static const char *const names[LOCKS] = {"a", "a b", "{orders}:42"};
/* Where they begin and end must be known: no two of these may be taken for one another. */
static const char *const owners[QRW_OWNERS] = {"a", "a:1", "1:a", "4:a:1:x", "%d.*\\"};
static const char *const tokens[QRW_TOKENS] = {"t", "1:t", "b:t"};

struct world {
    unsigned long seed, operation;
    struct rl_prng prng;
    struct masters *masters;
    struct talk talk, ear;
    struct qrw_lock lock[LOCKS];
    unsigned long told[2][RL_VERBS][4], published[2], nested, over, marks_over, turns_over,
        turns, late, others;
    char doing[64];
};

#define CHECK(world, condition)                                                                \
    ck_assert_msg(condition, "REDLOCK_TEST_SEED=%lu, operation %lu, %s: %s", (world)->seed,    \
                  (world)->operation, (world)->doing, #condition)

static unsigned draw(struct world *world, unsigned limit)
{
    return (unsigned)rl_prng_below(&world->prng, limit);
}

static const char *key_of(char letter, unsigned i, char ret_key[RL_KEY_MAX + 1])
{
    struct rl_target target = {.name = names[i], .name_len = strlen(names[i])};
    ret_key[rl_key_text(letter, &target, ret_key)] = '\0';
    return ret_key;
}

/* Everything in it is over now, or for long not. */
static void pass(struct world *world, unsigned i)
{
    struct qrw_lock *lock = &world->lock[i];
    int64_t until_ms = 0, at_ms = now_ms();
    for (unsigned k = 0; k < lock->members + 2; k++) {
        bool mark = k == lock->members, readers = k > lock->members;
        struct qrw_span end = mark      ? lock->mark_end
                              : readers ? lock->readers_end
                                        : lock->member[k].end;
        if ((mark && lock->mark < 0) || (readers && lock->readers == QRW_NOBODY))
            continue;
        if (end.low_ms < at_ms + 60000 && end.high_ms + SLACK_MS > until_ms) {
            until_ms = end.high_ms + SLACK_MS;
            world->over += k < lock->members;
            world->marks_over += mark;
            world->turns_over += readers;
        }
    }
    while (now_ms() <= until_ms)
        pause_ms(1);
}

/* ---- comparing ------------------------------------------------------------------------- */

static int holder_among(const struct qrw_told *expected, const char *holder)
{
    if (expected->other)
        return strcmp(holder, expected->other) == 0;
    for (unsigned i = 0; i < QRW_OWNERS; i++) {
        if (expected->holders & 1u << i && strcmp(holder, owners[i]) == 0)
            return 1;
    }
    return 0;
}

static void compare(struct world *world, unsigned i, const struct qrw_call *call,
                    const struct script_told *told, const struct qrw_told *expected)
{
    unsigned waits = call->verb == RL_ACQUIRE_OR_QUEUE && expected->names;
    struct talk_message messages[TALK_CALLS_MAX];
    char channel[RL_KEY_MAX + 1];
    CHECK(world, told->type == '*');
    CHECK(world, told->yes == (int64_t)expected->code);
    CHECK(world, told->parts == (expected->names ? 4 : 2) + waits);
    if (expected->names) {
        CHECK(world, holder_among(expected, told->holder));
        CHECK(world, told->left_ms >= expected->left.low_ms - SLACK_MS);
        CHECK(world, told->left_ms <= expected->left.high_ms + SLACK_MS);
    }
    CHECK(world, told->place == (waits && expected->code != RL_REFUSED ? -1 : 0));
    unsigned count = talk_messages(&world->ear, messages);
    CHECK(world, count == (expected->published >= 0));
    if (count > 0) {
        CHECK(world, strcmp(messages[0].channel, key_of('C', i, channel)) == 0);
        CHECK(world, strcmp(messages[0].text, expected->published ? "1" : "0") == 0);
        world->published[expected->published]++;
    }
}

static bool in_model(struct world *world, const struct qrw_lock *lock, const char *bytes,
                     size_t len)
{
    for (unsigned k = 0; k < lock->members; k++) {
        const struct qrw_member *member = &lock->member[k];
        char text[64];
        int want = snprintf(text, sizeof(text), "%c:%zu:%s:%s", member->writer ? 'w' : 'r',
                            strlen(owners[member->owner]), owners[member->owner],
                            tokens[member->token]);
        if (len == (size_t)want && memcmp(bytes, text, len) == 0)
            return true;
    }
    CHECK(world, len < 64);
    return false;
}

/* All that the master has is what the model has, right after a script. */
static void compare_set(struct world *world, unsigned i)
{
    struct qrw_lock *lock = &world->lock[i];
    struct wire_item items[WIRE_ITEMS_MAX];
    const char *const words[] = {"ZRANGE", names[i], "0", "-1"};
    const size_t lens[] = {6, strlen(names[i]), 1, 2};
    char key[RL_KEY_MAX + 1];
    struct wire_item mark = talk_do(&world->talk, "EXISTS", key_of('m', i, key), (char *)NULL);
    CHECK(world, mark.number == (lock->mark >= 0 || lock->mark_is_data));
    struct wire_item readers = talk_do(&world->talk, "GET", key_of('R', i, key), (char *)NULL);
    CHECK(world, (readers.number >= 0) == (lock->readers != QRW_NOBODY));
    CHECK(world, readers.number < 0 ||
                     (memcmp(readers.bytes, "turn", 4) == 0) == (lock->readers == QRW_TURN));
    if (lock->other) {
        CHECK(world, talk_do(&world->talk, "PTTL", names[i], (char *)NULL).number == -1);
        return;
    }
    unsigned count = talk_ask(&world->talk, 4, words, lens, items);
    CHECK(world, count == 1 + lock->members);
    for (unsigned k = 1; k < count; k++)
        CHECK(world, in_model(world, lock, items[k].bytes, items[k].len));
    int64_t asked_ms = now_ms();
    int64_t left_ms = talk_do(&world->talk, "PTTL", names[i], (char *)NULL).number;
    if (lock->members == 0) {
        CHECK(world, left_ms == -2);
        return;
    }
    struct qrw_span end = qrw_last_end(lock);
    CHECK(world, left_ms >= end.low_ms - now_ms() - SLACK_MS);
    CHECK(world, left_ms <= end.high_ms - asked_ms + SLACK_MS);
}

/* ---- operations ------------------------------------------------------------------------ */

/* Mostly of no end; some are over at once. */
static int64_t draw_ttl(struct world *world)
{
    return draw(world, 60) == 0 ? 1 + draw(world, 3) : (1 + draw(world, 4)) * HOUR_MS;
}

static struct qrw_call draw_call(struct world *world, const struct qrw_lock *lock)
{
    static const enum rl_verb verbs[] = {
        RL_ACQUIRE,          RL_ACQUIRE, RL_ACQUIRE_OR_QUEUE, RL_ACQUIRE_OR_QUEUE,
        RL_ACQUIRE_OR_QUEUE, RL_RELEASE, RL_RELEASE,          RL_RELEASE,
        RL_RELEASE,          RL_EXTEND,  RL_RETAKE,    RL_DEQUEUE,
        RL_RELEASE,
    };
    /* Since before the last turn began; and of one that began half an hour ago. */
    static const int64_t ages[] = {-1, HALF_HOUR_MS / 2, HALF_HOUR_MS * 3 / 2, 10 * HOUR_MS};
    struct qrw_call call = {
        .writer = draw(world, 3) == 0,
        .verb = verbs[draw(world, sizeof(verbs) / sizeof(verbs[0]))],
        .owner = draw(world, QRW_OWNERS),
        .token = draw(world, QRW_TOKENS),
        .waiter = draw(world, QRW_WAITERS),
        .ttl_ms = draw_ttl(world),
        .writer_waiting_ms = draw(world, 8) == 0 ? 1 + draw(world, 3) : HOUR_MS,
        .age_ms = ages[draw(world, 4)],
        .reserve_ms = draw(world, 4) == 0   ? 0
                   : draw(world, 4) == 0 ? 1 + draw(world, 3)
                                         : HOUR_MS,
    };
    if (lock->members > 0 && draw(world, 2)) { /* of one who is in it, in whatever way */
        const struct qrw_member *member = &lock->member[draw(world, lock->members)];
        call.owner = member->owner;
        if (draw(world, 3) > 0)
            call.token = member->token;
        if (draw(world, 4) > 0)
            call.writer = member->writer;
    }
    if (call.verb == RL_DEQUEUE)
        call.writer = true;
    if (call.verb == RL_ACQUIRE && draw(world, 4) == 0)
        call.writer_waiting_ms = 0; /* it does not wait */
    if (lock->mark >= 0 && draw(world, 3) == 0) {
        call.waiter = (unsigned)lock->mark;
        call.verb = draw(world, 2) ? RL_DEQUEUE : call.verb;
        call.writer |= call.verb == RL_DEQUEUE;
    }
    return call;
}

static void run_script(struct world *world, unsigned i)
{
    struct qrw_lock *lock = &world->lock[i];
    struct qrw_call drawn = draw_call(world, lock);
    int row = drawn.writer ? RL_ROW_QWRITE : RL_ROW_QREAD;
    char waiter[RL_WAITER_MAX];
    struct script_call call = {
        .row = row,
        .name = names[i],
        .owner = owners[drawn.owner],
        .token = tokens[drawn.token],
        .ttl_ms = drawn.ttl_ms,
        .waiter = talk_waiter(drawn.waiter, 1, waiter),
        .reserve_ms = drawn.reserve_ms,
        .writer_waiting_ms = drawn.writer_waiting_ms,
        .age_us = drawn.age_ms * 1000,
    };
    snprintf(world->doing, sizeof(world->doing), "%s of '%s'",
             rl_kind(row)->script[drawn.verb].name, names[i]);
    unsigned before = lock->members;
    struct qrw_span when = {.low_ms = now_ms()};
    struct script_told told = script_run(&world->talk, drawn.verb, &call);
    when.high_ms = now_ms() + 1;
    struct qrw_told expected = qrw_run(lock, &drawn, when);
    compare(world, i, &drawn, &told, &expected);
    world->told[drawn.writer][drawn.verb][expected.code]++;
    world->turns += lock->readers == QRW_TURN;
    world->late += expected.code == RL_REFUSED && !drawn.writer &&
                   drawn.verb == RL_ACQUIRE_OR_QUEUE && lock->readers == QRW_TURN &&
                   expected.other;
    world->nested +=
        drawn.writer && expected.code == RL_GRANTED && lock->members > before && before > 0;
    pass(world, i);
}

/* Whoever deletes it, or puts something of their own there, or in place of the mark. */
static void stranger(struct world *world, unsigned i)
{
    struct qrw_lock *lock = &world->lock[i];
    char key[RL_KEY_MAX + 1];
    const char *name = names[i], *mark = key_of('m', i, key);
    snprintf(world->doing, sizeof(world->doing), "a stranger's doing at '%s'", name);
    talk_do(&world->talk, "DEL", name, (char *)NULL);
    lock->members = 0;
    bool was = lock->other;
    lock->other = NULL;
    if (draw(world, 3) == 0) {
        char readers[RL_KEY_MAX + 1];
        talk_do(&world->talk, "DEL", key_of('R', i, readers), (char *)NULL);
        lock->readers = QRW_NOBODY;
        talk_do(&world->talk, "DEL", mark, (char *)NULL);
        lock->mark = -1;
        lock->mark_is_data = !lock->mark_is_data && draw(world, 4) == 0;
        if (lock->mark_is_data)
            talk_do(&world->talk, "RPUSH", mark, "x", (char *)NULL);
    }
    if (was || draw(world, 2))
        return;
    world->others++;
    unsigned what = draw(world, 3);
    if (what == 0)
        talk_do(&world->talk, "SET", name, "x", (char *)NULL);
    else if (what == 1)
        talk_do(&world->talk, "RPUSH", name, "x", (char *)NULL);
    else
        talk_do(&world->talk, "ZADD", name, "1", "x", "2", "r:x", (char *)NULL);
    lock->other = what == 0 ? "a string" : what == 1 ? "a list" : "a sorted set";
}

/* Half an hour passes for the turn of readers. */
static void turn_passes(struct world *world, unsigned i)
{
    struct qrw_lock *lock = &world->lock[i];
    char key[RL_KEY_MAX + 1], left[24];
    int64_t at_ms = now_ms();
    if (lock->readers != QRW_TURN || lock->readers_end.low_ms - at_ms < HALF_HOUR_MS + 60000)
        return;
    snprintf(world->doing, sizeof(world->doing), "time passes for the turn at '%s'", names[i]);
    int64_t left_ms =
        talk_do(&world->talk, "PTTL", key_of('R', i, key), (char *)NULL).number - HALF_HOUR_MS;
    snprintf(left, sizeof(left), "%lld", (long long)left_ms);
    talk_do(&world->talk, "PEXPIRE", key, left, (char *)NULL);
    lock->readers_end = (struct qrw_span){at_ms + left_ms, now_ms() + 1 + left_ms};
    lock->turn_began.low_ms -= HALF_HOUR_MS;
    lock->turn_began.high_ms -= HALF_HOUR_MS;
}

static void step(struct world *world)
{
    unsigned i = draw(world, LOCKS);
    if (draw(world, 8) == 0)
        turn_passes(world, i);
    if (draw(world, world->lock[i].other ? 10 : 300) == 0)
        stranger(world, i);
    else
        run_script(world, i);
    if (draw(world, 4) == 0) {
        /* Scripts alone take out what is over: make one do so. */
        struct qrw_call none = {.verb = RL_EXTEND, .owner = 0, .token = 0, .ttl_ms = 1};
        struct qrw_lock *lock = &world->lock[i];
        struct script_call call = {.row = RL_ROW_QREAD,
                                   .name = names[i],
                                   .owner = "nobody",
                                   .token = "t",
                                   .ttl_ms = 1};
        struct qrw_span when = {.low_ms = now_ms()};
        script_run(&world->talk, RL_EXTEND, &call);
        when.high_ms = now_ms() + 1;
        none.owner = QRW_OWNERS; /* nobody, too */
        qrw_run(lock, &none, when);
        compare_set(world, i);
    }
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void expect_no_dull_life(const struct world *world)
{
    unsigned long least = world->operation / 2500;
    for (int writer = 0; writer < 2; writer++) {
        for (int verb = 0; verb < RL_VERBS; verb++) {
            const unsigned long *told = world->told[writer][verb];
            bool takes = verb == RL_ACQUIRE || verb == RL_ACQUIRE_OR_QUEUE;
            if (!rl_kind(writer ? RL_ROW_QWRITE : RL_ROW_QREAD)->script[verb].name ||
                verb == RL_INSPECT || verb == RL_FORCE)
                continue;
            ck_assert_uint_gt(told[RL_GRANTED], least);
            ck_assert(verb == RL_DEQUEUE || told[RL_REFUSED] > least);
            ck_assert(!(takes && writer) || told[RL_REPLY_UPGRADE] > least);
            ck_assert(!takes || told[RL_REPLY_WRONGTYPE] > least);
        }
    }
    ck_assert_uint_gt(world->published[0], least);
    ck_assert_uint_gt(world->published[1], least);
    ck_assert_uint_gt(world->nested, least);
    ck_assert_uint_gt(world->over, least);
    ck_assert_uint_gt(world->marks_over, least / 4);
    ck_assert_uint_gt(world->turns, least);
    ck_assert_uint_gt(world->turns_over, least / 4);
    ck_assert_uint_gt(world->late, least / 4);
    ck_assert_uint_gt(world->others, least);
}

TEST(model, scripts_agree_with_model_of_readers_and_writers)
{
    static struct world world;
    unsigned long operations = setting("REDLOCK_TEST_OPERATIONS", OPERATIONS);
    char key[RL_KEY_MAX + 1];
    world.seed = setting("REDLOCK_TEST_SEED", 1);
    printf("REDLOCK_TEST_SEED=%lu, %lu operations\n", world.seed, operations);
    fflush(stdout);
    rl_prng_seed(&world.prng, world.seed);
    world.masters = masters_start(1, NULL);
    talk_open(&world.talk, world.masters, 0);
    talk_open(&world.ear, world.masters, 0);
    for (unsigned i = 0; i < LOCKS; i++) {
        world.lock[i].mark = -1;
        talk_do(&world.ear, "SUBSCRIBE", key_of('C', i, key), (char *)NULL);
    }
    while (world.operation < operations) {
        world.operation++;
        step(&world);
    }
    if (operations >= OPERATIONS)
        expect_no_dull_life(&world);
    talk_close(&world.talk);
    talk_close(&world.ear);
}

CASE(model, .timeout_s = 60)

int main(void)
{
    model_case.timeout_s += (double)setting("REDLOCK_TEST_OPERATIONS", OPERATIONS) / 500;
    return suite_main();
}
