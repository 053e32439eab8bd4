/* test_scripts_model.c - random operations of owners, waiters, peers and time on a few locks
 * of a real master, next to a model in plain C: every answer, and who is woken, must be the
 * model's. REDLOCK_TEST_OPERATIONS in the environment says how many, REDLOCK_TEST_SEED which:
 * a failure names its seed and its operation. */
#include "config_auto.h"

#include "prng.h"
#include "scripts_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 3, TOKENS = 5, OPERATIONS = 25000, RANKS = 64, SLACK_MS = 2 };
#define HOUR_MS INT64_C(3600000)

static const char *const names[LOCKS] = {"a", "a b", "{orders}:42"};

struct world {
    unsigned long seed, operation;
    struct rl_prng prng;
    struct masters *masters;
    struct talk talk, ear;
    int64_t start_ms;
    struct model model;
    struct model_lock lock[LOCKS];
    unsigned long ran_out, peers;
    char doing[64];
};

#define CHECK(world, condition)                                                                \
    ck_assert_msg(condition, "REDLOCK_TEST_SEED=%lu, operation %lu, %s: %s", (world)->seed,    \
                  (world)->operation, (world)->doing, #condition)

static unsigned draw(struct world *world, unsigned limit)
{
    return (unsigned)rl_prng_below(&world->prng, limit);
}

static const char *queue_name(unsigned i, char ret_name[64])
{
    snprintf(ret_name, 64, "%s%s", names[i], RL_QUEUE_SUFFIX);
    return ret_name;
}

/* ---- time ------------------------------------------------------------------------------ */

static void await_gone(struct world *world, const char *key)
{
    CHECK(world,
          wait_until(talk_do(&world->talk, "PTTL", key, (char *)NULL).number == -2, 10000));
    world->ran_out++;
}

static void lock_runs_out(struct world *world, unsigned i)
{
    talk_do(&world->talk, "PEXPIRE", names[i], "1", (char *)NULL);
    await_gone(world, names[i]);
    model_free(&world->lock[i]);
}

static void queue_runs_out(struct world *world, unsigned i)
{
    char queue[64];
    talk_do(&world->talk, "PEXPIRE", queue_name(i, queue), "1", (char *)NULL);
    await_gone(world, queue);
    world->lock[i].queued = 0;
}

/* Mostly of no end; some are over at once, by the script's own doing. */
static int64_t draw_ttl(struct world *world)
{
    return draw(world, 100) == 0 ? 1 + draw(world, 3) : (1 + draw(world, 4)) * HOUR_MS;
}

/* ---- operations ------------------------------------------------------------------------ */

/* A place in the order of the queue that nobody else in it has. */
static int draw_rank(struct world *world, const struct model_lock *lock, unsigned waiter)
{
    for (;;) {
        int rank = (int)draw(world, RANKS);
        bool used = false;
        for (unsigned i = 0; i < lock->queued; i++)
            used |= lock->queue[i].waiter != waiter && lock->queue[i].rank == rank;
        if (!used)
            return rank;
    }
}

static void compare(struct world *world, const struct script_told *told,
                    const struct model_told *expected)
{
    CHECK(world, told->type == '*');
    CHECK(world, told->parts == expected->parts);
    CHECK(world, told->yes == expected->yes);
    if (told->parts > 2) {
        CHECK(world, strcmp(told->holder, expected->holder) == 0);
        CHECK(world, told->left_ms >= expected->left.low_ms - SLACK_MS);
        CHECK(world, told->left_ms <= expected->left.high_ms + SLACK_MS);
    }
    CHECK(world, told->place == expected->place);
    char calls[TALK_CALLS_MAX][RL_WAITER_MAX], waiter[RL_WAITER_MAX];
    unsigned count = talk_calls(&world->ear, calls);
    CHECK(world, count == (expected->called >= 0));
    if (count > 0)
        CHECK(world, strcmp(calls[0], model_waiter((unsigned)expected->called, waiter)) == 0);
}

/* For whom a lock is kept, mostly: else whoever. */
static unsigned draw_waiter(struct world *world, const struct model_lock *lock)
{
    unsigned drawn = draw(world, MODEL_WAITERS);
    for (unsigned i = 0; model_kept(lock) && draw(world, 2) && i < MODEL_WAITERS; i++) {
        char waiter[RL_WAITER_MAX];
        if (strcmp(lock->holder + strlen(RL_KEPT_PREFIX), model_waiter(i, waiter)) == 0)
            return i;
    }
    return drawn;
}

static const char *draw_token(struct world *world, const struct model_lock *lock, char ret[16])
{
    snprintf(ret, 16, "token-%u", draw(world, TOKENS));
    bool held = lock->holder[0] && strncmp(lock->holder, "token-", 6) == 0;
    if (held && draw(world, 2))
        snprintf(ret, 16, "%.15s", lock->holder);
    return ret;
}

static void run_script(struct world *world, unsigned i, enum rl_verb verb)
{
    struct model_lock *lock = &world->lock[i];
    char token[16], waiter[RL_WAITER_MAX];
    struct model_call model_call = {
        .token = draw_token(world, lock, token),
        .ttl_ms = draw_ttl(world),
        .keep_ms = draw_ttl(world),
        .waiter = draw_waiter(world, lock),
    };
    model_call.rank = draw_rank(world, lock, model_call.waiter);
    if (verb == RL_RELEASE && draw(world, 4) == 0)
        model_call.keep_ms = 0;
    struct span when = {.low_ms = now_ms()};
    struct script_call call = {
        .name = names[i],
        .token = token,
        .ttl_ms = model_call.ttl_ms,
        .waiter = model_waiter(model_call.waiter, waiter),
        /* Ranks are 100 s apart: no delay of ours changes their order. */
        .age_us = ((when.low_ms - world->start_ms) + (RANKS - model_call.rank) * 100000) * 1000,
        .queue_ms = 10 * HOUR_MS,
        .keep_ms = model_call.keep_ms,
    };
    struct script_told told = script_run(&world->talk, verb, &call);
    when.high_ms = now_ms() + 1;
    struct model_told expected = model_run(&world->model, lock, verb, &model_call, when);
    compare(world, &told, &expected);
    if (lock->holder[0] && lock->end.low_ms < when.high_ms + 60000) {
        await_gone(world, names[i]);
        model_free(lock);
    }
}

/* Those who know of no queue: SET NX PX, and a silent DEL. */
static void peer(struct world *world, unsigned i)
{
    struct model_lock *lock = &world->lock[i];
    struct span when = {.low_ms = now_ms()};
    world->peers++;
    if (draw(world, 2) && strcmp(lock->holder, "peer") == 0) {
        talk_do(&world->talk, "DEL", names[i], (char *)NULL);
        model_free(lock);
        return;
    }
    struct wire_item set =
        talk_do(&world->talk, "SET", names[i], "peer", "NX", "PX", "3600000", (char *)NULL);
    when.high_ms = now_ms() + 1;
    CHECK(world, (set.type == '+') == !lock->holder[0]);
    if (set.type == '+')
        model_set(lock, "peer", HOUR_MS, when);
}

static void turn_ear(struct world *world)
{
    unsigned client = draw(world, MODEL_CLIENTS);
    char waiter[RL_WAITER_MAX], channel[128];
    bool *listens = &world->model.listens[client];
    model_waiter(2 * client, waiter);
    if (*listens) {
        snprintf(channel, sizeof(channel), RL_WAKE_PREFIX "%.36s", waiter);
        CHECK(world, talk_do(&world->ear, "UNSUBSCRIBE", channel, (char *)NULL).type == '*');
    } else {
        talk_listen(&world->ear, waiter);
    }
    *listens = !*listens;
}

/* All that the master has is what the model has. */
static void compare_queue(struct world *world, unsigned i)
{
    const struct model_lock *lock = &world->lock[i];
    struct wire_item items[WIRE_ITEMS_MAX];
    char queue[64];
    const char *const words[] = {"ZRANGE", queue_name(i, queue), "0", "-1"};
    const size_t lens[] = {6, strlen(queue), 1, 2};
    unsigned count = talk_ask(&world->talk, 4, words, lens, items);
    CHECK(world, count == 1 + lock->queued);
    for (unsigned k = 0; k < lock->queued; k++) {
        char waiter[RL_WAITER_MAX];
        model_waiter(lock->queue[k].waiter, waiter);
        CHECK(world, items[1 + k].len == strlen(waiter));
        CHECK(world, memcmp(items[1 + k].bytes, waiter, items[1 + k].len) == 0);
    }
}

static void step(struct world *world)
{
    static const struct {
        enum rl_verb verb;
        unsigned weight;
    } verbs[RL_VERBS] = {
        {RL_WAIT, 40},   {RL_RELEASE, 20}, {RL_ACQUIRE, 8}, {RL_LEAVE, 10},
        {RL_INSPECT, 5}, {RL_EXTEND, 5},   {RL_RETAKE, 4},  {RL_FORCE, 3},
    };
    unsigned i = draw(world, LOCKS), what = draw(world, 100), verb = 0;
    while (verb < RL_VERBS && what >= verbs[verb].weight)
        what -= verbs[verb++].weight;
    bool script = verb < RL_VERBS;
    snprintf(world->doing, sizeof(world->doing), "%s of '%s'",
             script ? rl_kind(REDLOCK_PLAIN)->script[verbs[verb].verb].name : "another's",
             names[i]);
    if (script)
        run_script(world, i, verbs[verb].verb);
    else if (draw(world, 3) > 0)
        peer(world, i);
    else if (draw(world, 2))
        turn_ear(world);
    else if (draw(world, 4) > 0)
        lock_runs_out(world, i);
    else if (draw(world, 4) == 0)
        queue_runs_out(world, i);
    if (world->operation % 8 == 0)
        compare_queue(world, i);
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

static void expect_no_dull_life(const struct world *world)
{
    const struct model_tally *tally = &world->model.tally;
    unsigned long least = world->operation / 2500;
    for (int verb = 0; verb < RL_VERBS; verb++) {
        ck_assert_uint_gt(tally->taken[verb], least);
        ck_assert(verb == RL_LEAVE || tally->refused[verb] > least);
    }
    ck_assert_uint_gt(tally->woken, least);
    ck_assert_uint_gt(tally->skipped, least);
    ck_assert_uint_gt(tally->kept_taken, least);
    ck_assert_uint_gt(tally->nobody_left, least);
    ck_assert_uint_gt(world->peers, least);
    ck_assert_uint_gt(world->ran_out, least);
}

/* Everybody goes, and nothing stays. */
static void go(struct world *world)
{
    char waiter[RL_WAITER_MAX];
    for (unsigned i = 0; i < LOCKS; i++) {
        for (unsigned k = 0; k < MODEL_WAITERS; k++) {
            struct script_call call = {.name = names[i], .keep_ms = HOUR_MS};
            call.waiter = model_waiter(k, waiter);
            script_run(&world->talk, RL_LEAVE, &call);
        }
        if (world->lock[i].holder[0] && !model_kept(&world->lock[i]))
            talk_do(&world->talk, "DEL", names[i], (char *)NULL);
    }
    ck_assert_int_eq(talk_do(&world->talk, "DBSIZE", (char *)NULL).number, 0);
}

START_TEST(the_scripts_do_what_the_model_does)
{
    static struct world world;
    unsigned long operations = setting("REDLOCK_TEST_OPERATIONS", OPERATIONS);
    char nobody[RL_WAITER_MAX];
    world.seed = setting("REDLOCK_TEST_SEED", 1);
    printf("REDLOCK_TEST_SEED=%lu, %lu operations\n", world.seed, operations);
    rl_prng_seed(&world.prng, world.seed);
    world.masters = masters_start(1, NULL);
    world.start_ms = now_ms();
    talk_open(&world.talk, world.masters, 0);
    talk_open(&world.ear, world.masters, 0);
    talk_listen(&world.ear, talk_waiter(0, 0, nobody)); /* always: what PING answers to */
    while (world.operation < operations) {
        world.operation++;
        step(&world);
    }
    for (unsigned i = 0; i < LOCKS; i++)
        compare_queue(&world, i);
    if (operations >= OPERATIONS)
        expect_no_dull_life(&world);
    go(&world);
    talk_close(&world.talk);
    talk_close(&world.ear);
    masters_stop(world.masters);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scripts_model");
    TCase *tcase = tcase_create("model");
    double operations = (double)setting("REDLOCK_TEST_OPERATIONS", OPERATIONS);
    tcase_set_timeout(tcase, 60 + operations / 500);
    tcase_add_test(tcase, the_scripts_do_what_the_model_does);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
