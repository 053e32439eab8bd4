/* test_sim_master_queue.c - long queues of fair locks, on a model master and on redis-server:
 * the same scripts must answer the same there, and leave the same keys behind. A queue has more
 * owners than the scripts look at, of this library and of Redisson, many of them gone.
 *
 * The model's wall clock shows what the real one shows. All times of a queue are a multiple of
 * 50 s away from each other's limits, and 20 s more: how long the test takes decides nothing.
 *
 * REDLOCK_TEST_SEED names a run. */
#include "config_auto.h"

#include "sim_real_pair.h"

#include "sim_master_parts.h"
#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NONCE "0123456789abcdef"
#define HOURS "7200000"
#define LIFE_MS "600000"

enum { ROUNDS = 90, STEPS = 4, OWNERS = 420, KNOWN = OWNERS + 2, CHUNK = 90 };

static const char *const keys[] = {"f", "f:held", "f:queue", "f:times", "f:seen", "f:channel"};
enum { LOCK, HELD, QUEUE, TIMES, SEEN, CHANNEL };

static struct masters *masters;
static struct pair_run run;
static struct rl_prng draws;

static unsigned below(unsigned n)
{
    return (unsigned)rl_prng_below(&draws, n);
}

#define both(...) pair_say(&run, 0, __VA_ARGS__)

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * SIM_S + now.tv_nsec;
}

/* At each time of the run, both wall clocks show the same. */
static void set_model_clock(void)
{
    int64_t before_ns, wall_ns;
    do {
        before_ns = clock_ns(CLOCK_MONOTONIC);
        wall_ns = clock_ns(CLOCK_REALTIME);
    } while (clock_ns(CLOCK_MONOTONIC) - before_ns > SIM_MS);
    int64_t model_ns = sim_wall_ns(sim_server(0)) - sim_now_ns();
    sim_master_step_clock(0, wall_ns - (before_ns - run.start_ns) - model_ns);
}

/* ---- a queue ---------------------------------------------------------------------------- */

struct owner {
    bool ours, gone, placed, timed;
    char name[8];
    double till_ms, heard_ms;
};

static struct owner owners[KNOWN]; /* the last ones come later */
static unsigned count, odd;        /* the owner whose place and deadline are far apart */

/* So far that the part of the queue that scripts look at begins, or ends, about there. */
static void draw_odd_one(int step_ms)
{
    bool late = count < OWNERS - 20 || below(2);
    odd = late ? below(count) : 382 + below(6);
    owners[odd].till_ms += late ? ((int)below(5) + 126) * step_ms - 50000 : -300.0 * step_ms;
}

/* Sorted as the queue is, but for a few. Those in front may be gone, and any other. */
static void draw_owners(void)
{
    int64_t now_ms = clock_ns(CLOCK_REALTIME) / SIM_MS;
    unsigned kinds = below(4), passed = below(200), gone_front = below(3) ? below(200) : 0;
    int step_ms = below(2) ? 300000 : 100000;
    bool sorted = below(2);
    count = below(3) ? 129 + below(172) : OWNERS - below(20);
    for (unsigned i = 0; i < count; i++) {
        struct owner *owner = &owners[i];
        bool gone = i < gone_front ? below(40) : !below(20);
        owner->ours = kinds == 0 ? false : kinds == 1 ? true : below(2);
        owner->till_ms = (double)(now_ms + 20000 + ((int)i - (int)passed) * step_ms);
        if (!sorted && below(20) == 0)
            owner->till_ms += 50000.0 * below(20);
        owner->heard_ms = (double)(now_ms - 30000 - 50000 * (int)below(11));
        owner->heard_ms -= gone ? 600000 : 0;
        owner->placed = owner->timed = true;
    }
    draw_odd_one(step_ms);
}

/* Words of one command, several members each. */
static void add_members(const char *command, unsigned key)
{
    struct pair_words words = {0};
    char score[32];
    for (unsigned i = 0; i < count; i++) {
        const struct owner *owner = &owners[i];
        bool in = key == QUEUE ? owner->placed : key == TIMES ? owner->timed : owner->ours;
        if (in) {
            if (words.count == 0)
                pair_line(&words, command, keys[key], NULL);
            snprintf(score, sizeof(score), "%.17g",
                     key == TIMES ? owner->till_ms : owner->heard_ms);
            if (key != QUEUE)
                pair_word(&words, score);
            pair_word(&words, owner->name);
        }
        if (words.count > PAIR_WORDS_MAX - 2 || (i + 1 == count && words.count > 0)) {
            pair_send(&run, 0, &words);
            words = (struct pair_words){0};
        }
    }
}

static void end_keys(void)
{
    for (unsigned i = QUEUE; i <= SEEN; i++)
        both("PEXPIRE", keys[i], "86400000", NULL);
}

/* What no script of ours does to a queue; 0 to 8: nothing. */
static void damage(unsigned how)
{
    unsigned at = below(8) ? below(count) : 0;
    if (how == 9)
        owners[at].timed = false; /* and a place less, of another: as many of both */
    if (how == 9 || how == 10)
        owners[below(count)].placed = false;
    if (how == 11)
        owners[at].timed = false;
}

/* Its twin takes the place of somebody else: as many places as times. */
static void double_places(void)
{
    struct pair_words words = {0};
    unsigned from = below(count), to = below(4) ? (from + 1 + below(60)) % count : 0;
    struct owner kept = owners[to];
    pair_line(&words, "RPUSH", keys[QUEUE], NULL);
    for (unsigned i = 0; i < count; i++) {
        pair_word(&words, owners[i == to ? from : i].name);
        if (words.count == PAIR_WORDS_MAX || i + 1 == count) {
            pair_send(&run, 0, &words);
            words = (struct pair_words){0};
            pair_line(&words, "RPUSH", keys[QUEUE], NULL);
        }
    }
    owners[to] = kept;
}

static void build(void)
{
    unsigned how = below(18);
    both("DEL", keys[LOCK], keys[HELD], keys[QUEUE], keys[TIMES], keys[SEEN], NULL);
    draw_owners();
    damage(how);
    if (how >= 12 && how < 15)
        double_places();
    else
        add_members("RPUSH", QUEUE);
    add_members("ZADD", TIMES);
    add_members("ZADD", SEEN);
    if (below(8))
        end_keys();
    if (how >= 15 && how < 17)
        both("DEL", keys[SEEN], NULL); /* evicted */
    if (below(2)) {
        both("HSET", keys[LOCK], below(4) ? "holder" : owners[below(count)].name, "1", NULL);
        both("SADD", keys[HELD], "token", NULL);
        both("PEXPIRE", keys[LOCK], HOURS, NULL);
        both("PEXPIRE", keys[HELD], HOURS, NULL);
    }
    pair_compare(&run, 0);
}

/* ---- what is there afterwards ----------------------------------------------------------- */

/* The same members in the same order, or (`sorted` false) in any; nearly the same scores. */
static void compare_set(unsigned which, bool sorted)
{
    const char *name = keys[which];
    const struct sim_key *model = sim_key_find(sim_server(0), 0, name, strlen(name));
    size_t members = model ? model->members : 0, at = 0;
    double spare_ms = 2 * (double)run.apart_ns / SIM_MS + 3;
    char from[16], to[16];
    for (unsigned chunk = 0; at == chunk; chunk += CHUNK) {
        snprintf(from, sizeof(from), "%u", chunk);
        snprintf(to, sizeof(to), "%u", chunk + CHUNK - 1);
        struct reply reply =
            master_do(masters, 0, "ZRANGE", name, from, to, "WITHSCORES", NULL);
        ck_assert_int_eq(reply.type, '*');
        char *rest = reply.text, *word;
        for (; (word = strtok_r(rest, " ", &rest)); at++) {
            double score = strtod(strtok_r(rest, " ", &rest), NULL);
            ck_assert_msg(at < members, "%s: the model has %zu, not %s", name, members, word);
            size_t there = sorted ? at : sim_member_find(model, word, strlen(word));
            ck_assert_msg(there < members, "%s: the model does not have %s", name, word);
            ck_assert_msg(strcmp(model->member[there].text, word) == 0 &&
                              fabs(model->member[there].score - score) <= spare_ms,
                          "%s, %zu: the model has %s at %.3f, the real one %s at %.3f", name,
                          at, model->member[there].text, model->member[there].score, word,
                          score);
        }
    }
    ck_assert_uint_eq(at, members);
}

static void compare_keys(void)
{
    char from[16], to[16];
    for (unsigned chunk = 0; chunk < KNOWN + 1; chunk += CHUNK) {
        snprintf(from, sizeof(from), "%u", chunk);
        snprintf(to, sizeof(to), "%u", chunk + CHUNK - 1);
        both("LRANGE", keys[QUEUE], from, to, NULL);
    }
    for (unsigned i = LOCK; i <= SEEN; i++)
        both("PTTL", keys[i], NULL);
    both("SCARD", keys[HELD], NULL);
    both("HGET", keys[LOCK], "holder", NULL);
    pair_compare(&run, 0);
    compare_set(TIMES, true);
    compare_set(SEEN, false); /* two that were heard of in one ms on one of them only */
}

/* ---- the run ---------------------------------------------------------------------------- */

/* The first ones, those where a script stops looking, the last one, a new one, or any. */
static const char *some_of_it(void)
{
    static const unsigned places[] = {0, 0, 1, 2, 126, 127, 128, 129, 130};
    unsigned what = below(18);
    return what < 9    ? owners[places[what] < count ? places[what] : 0].name
           : what < 10 ? owners[count - 1].name
           : what < 11 ? owners[KNOWN - 1].name
           : what < 12 ? "holder"
           : what < 15 ? owners[odd].name
                       : owners[below(count)].name;
}

static void run_script(const char *script, const char *owner, bool takes, const char *keep)
{
    struct pair_words words = {0};
    pair_line(&words, "EVAL", script_body(script), "6", NULL);
    for (unsigned i = LOCK; i <= CHANNEL; i++)
        pair_word(&words, keys[i]);
    pair_line(&words, NONCE, owner, NULL);
    if (takes || keep)
        pair_word(&words, "token");
    if (takes || keep)
        pair_word(&words, takes ? HOURS : keep);
    pair_word(&words, LIFE_MS);
    pair_send(&run, 0, &words);
    pair_compare(&run, 0);
}

/* One owner of a round waits: no two times in a queue are counted from two moments. */
static void step(const char *waiter)
{
    switch (below(8)) {
    case 0:
    case 1:
    case 2:
        run_script("fair_wait", waiter, true, NULL);
        break;
    case 3:
    case 4:
        run_script("fair_leave", some_of_it(), false, NULL);
        break;
    case 5:
        run_script("fair_release", "holder", false, below(2) ? "0" : "300");
        break;
    case 6:
        run_script("fair_acquire", some_of_it(), true, NULL);
        break;
    default:
        run_script("fair_retake", some_of_it(), true, NULL);
    }
}

static void real_do(const char *a, const char *b, const char *c, const char *d)
{
    struct reply reply = master_do(masters, 0, a, b, c, d, (char *)NULL);
    ck_assert_msg(reply.type && reply.type != '-', "%s %s: %s", a, b, reply.text);
}

/* One step in six is refused writes. */
static void step_in_trouble(const char *waiter, unsigned how)
{
    if (how == 0)
        real_do("CONFIG", "SET", "maxmemory", "1");
    else if (how == 1)
        real_do("REPLICAOF", "127.0.0.1", "1", NULL);
    if (how < 2)
        sim_master_trouble(0, how == 0 ? SIM_OOM : SIM_READONLY, 1000000);
    step(waiter);
    sim_master_trouble(0, SIM_NO_TROUBLE, 0);
    if (how == 0)
        real_do("CONFIG", "SET", "maxmemory", "0");
    else if (how == 1)
        real_do("REPLICAOF", "NO", "ONE", NULL);
}

/* Pair 1 hears of each wake-up. */
static void listen_to_all(void)
{
    char channel[32];
    for (unsigned i = 0; i < KNOWN; i++) {
        struct pair_words words = {0};
        snprintf(owners[i].name, sizeof(owners[i].name), "w%03u", i * 89 % KNOWN);
        snprintf(channel, sizeof(channel), "%s:%s", keys[CHANNEL], owners[i].name);
        pair_line(&words, "SUBSCRIBE", channel, NULL);
        pair_send(&run, 1, &words);
    }
    pair_compare(&run, 1);
}

TEST(queues, long_queues_are_kept_alike)
{
    const char *text = getenv("REDLOCK_TEST_SEED");
    unsigned long seed = text && *text ? strtoul(text, NULL, 10) : 1;
    unsigned long most = 0;
    printf("REDLOCK_TEST_SEED=%lu\n", seed);
    rl_prng_seed(&draws, seed);
    masters = masters_start(1, NULL);
    pair_begin(&run, seed, 2, masters, NULL);
    set_model_clock();
    listen_to_all();
    for (unsigned round = 0; round < ROUNDS; round++) {
        build();
        const char *waiter = some_of_it();
        for (unsigned i = 0; i < STEPS; i++) {
            step_in_trouble(waiter, below(12));
            compare_keys();
        }
        most += sim_master_members(0, keys[QUEUE]) > 128;
    }
    printf("%lu replies, %lu queues still long, %lu granted, %lu refused, %lu messages\n",
           run.compared, most, run.tally.granted, run.tally.queued, run.tally.messages);
    ck_assert_uint_gt(most, ROUNDS / 4);
    ck_assert_uint_gt(run.tally.queued, ROUNDS / 4);
    ck_assert_uint_gt(run.tally.messages, ROUNDS / 4);
    ck_assert_uint_gt(sim_master_troubled(0), ROUNDS / 8);
    ck_assert_uint_eq(run.tally.in_lua, 0);
    pair_end(&run);
}

CASE(queues, .timeout_s = 60)

int main(void)
{
    return pair_main();
}
