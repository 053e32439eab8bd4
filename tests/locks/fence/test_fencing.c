/* tags: threads */
/* test_fencing.c - fencing tokens on real masters: they grow with each hold of a name, over
 * clients, kinds of locks, lost masters and restarts. */
#include "config_auto.h"

#include "clients.h"
#include "stepped.h"
#include "told.h"

#include "base/clock.h"
#include "base/limits.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER(name) "{" name "}:redlock:fence"

static redlock_options fenced(int kind)
{
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind;
    options.ttl_ms = 20000;
    options.fenced = 1;
    return options;
}

static redlock_lock *take_as(redlock *client, const char *name, int kind)
{
    redlock_options options = fenced(kind);
    redlock_lock *lock = NULL;
    ck_assert_int_eq(redlock_try(client, name, &options, &lock), 0);
    ck_assert_uint_gt(redlock_fencing_token(lock), 0);
    ck_assert_uint_lt(redlock_fencing_token(lock), UINT64_C(1) << 53);
    return lock;
}

static redlock_lock *take(redlock *client, const char *name)
{
    return take_as(client, name, REDLOCK_PLAIN);
}

/* Its token; and it is released. */
static uint64_t token_of(redlock_lock *lock)
{
    uint64_t token = redlock_fencing_token(lock);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_eq(redlock_fencing_token(lock), 0);
    return token;
}

static uint64_t counter_at(unsigned node, const char *counter)
{
    struct reply reply = master_do(masters, node, "GET", counter, (char *)NULL);
    return reply.type == '$' ? strtoull(reply.text, NULL, 10) : 0;
}

static void set_counter(unsigned node, const char *counter, const char *number)
{
    ck_assert_int_eq(master_do(masters, node, "SET", counter, number, (char *)NULL).type, '+');
}

/* ---- order ----------------------------------------------------------------------------- */

static const int kinds[] = {REDLOCK_PLAIN, REDLOCK_REENTRANT, REDLOCK_FAIR, REDLOCK_WRITE};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

TEST(order, tokens_grow_over_clients, .rows = 2 * KINDS)
{
    unsigned n = (unsigned)_i / KINDS ? 1 : 3;
    int kind = kinds[_i % KINDS];
    if (n > 1 && kind == REDLOCK_FAIR)
        return;
    uint64_t last = 0;
    open_clients(n, NULL);
    for (int i = 0; i < 40; i++) {
        uint64_t token = token_of(take_as(i % 3 ? one : two, "name", kind));
        ck_assert_uint_gt(token, last);
        last = token;
    }
    close_clients();
}

TEST(order, new_name_and_used_one_need_one_round_trip)
{
    OPEN_CLIENTS(5, NULL);
    for (int i = 0; i < 30; i++) {
        char name[16];
        snprintf(name, sizeof(name), "name %d", i / 2);
        redlock_lock *lock = take(i % 2 ? one : two, name);
        uint64_t token = redlock_fencing_token(lock);
        unsigned having = 0;
        char counter[40];
        snprintf(counter, sizeof(counter), "{%s}:redlock:fence", name);
        ck_assert(wait_until(masters_with(masters, name) == 5, 5000));
        for (unsigned node = 0; node < 5; node++)
            having += counter_at(node, counter) == token;
        ck_assert_uint_eq(having, 5);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    /* A pair is an acquire and a release at each master. No token had to be written back. */
    ck_assert_uint_eq(client_stats(one).commands + client_stats(two).commands, 30 * 2 * 5);
}

TEST(order, masters_that_are_behind_are_told)
{
    OPEN_CLIENTS(3, NULL);
    uint64_t far = rl_clock_wall_us() + 10 * 1000000;
    char text[32];
    for (unsigned node = 0; node < 3; node++) {
        snprintf(text, sizeof(text), "%llu", (unsigned long long)far + 10 * node);
        set_counter(node, COUNTER("name"), text);
    }
    redlock_lock *lock = take(one, "name");
    uint64_t token = redlock_fencing_token(lock);
    ck_assert_uint_gt(token, far + 10);
    ck_assert_uint_le(token, far + 21);
    unsigned having = 0;
    for (unsigned node = 0; node < 3; node++)
        having += counter_at(node, COUNTER("name")) >= token;
    ck_assert_uint_ge(having, 2);
    ck_assert_int_eq(redlock_release(lock), 0);
    ck_assert_uint_gt(token_of(take(two, "name")), token);
}

TEST(order, unfenced_holds_leave_counters_alone)
{
    OPEN_CLIENTS(3, NULL);
    uint64_t token = token_of(take(one, "name"));
    for (int i = 0; i < 5; i++) {
        redlock_lock *lock = client_take(two, "name");
        ck_assert_uint_eq(redlock_fencing_token(lock), 0);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
    for (unsigned node = 0; node < 3; node++)
        ck_assert_uint_eq(counter_at(node, COUNTER("name")), token);
}

/* ---- what masters forget ----------------------------------------------------------------- */

TEST(lost, masters_that_lost_everything_name_greater_tokens)
{
    OPEN_CLIENTS(3, NULL);
    uint64_t token = token_of(take(one, "name"));
    for (unsigned node = 0; node < 3; node++)
        ck_assert_int_eq(master_do(masters, node, "FLUSHALL", (char *)NULL).type, '+');
    ck_assert_uint_gt(token_of(take(two, "name")), token);
}

/* The masters of the case below: one whose clock is a minute ahead, and two others. */
static struct masters *ahead;

static redlock *open_with_one_ahead(void)
{
    volatile int64_t *step_ns;
    struct node_list list = {.len = 0};
    ahead = masters_start_stepped(1, &step_ns);
    *step_ns = INT64_C(60000000000);
    masters = masters_start(2, NULL);
    node_list_line(&list, "max-ttl 2s"); /* and the guard is on */
    node_list_add(&list, &ahead->node[0].unix_at);
    node_list_add(&list, &masters->node[0].unix_at);
    node_list_add(&list, &masters->node[1].unix_at);
    setenv("REDLOCK_NODES", node_list_write(&list), 1);
    redlock *client = client_open(getenv("REDLOCK_NODES"));
    ck_assert(wait_until(client_ready(client) == 3, 20000));
    return client;
}

/* Two of the three are there: the one ahead and one that then loses everything, and next that
 * one and the third, which was not told. */
TEST(lost, tokens_grow_past_restart_although_clock_is_ahead)
{
    redlock_options options = fenced(REDLOCK_PLAIN);
    redlock_node_vote votes[3];
    redlock_report report = REDLOCK_REPORT_INIT(votes, 3);
    redlock_lock *lock = NULL;
    CLIENT client = open_with_one_ahead();
    options.ttl_ms = 2000;
    options.report = &report;
    master_pause(masters, 1);
    int result = redlock_try(client, "name", &options, &lock);
    uint64_t told = result == 0 ? token_of(lock) : 0;
    master_restart(masters, 0, true);
    master_resume(masters, 1);
    master_pause(ahead, 0);
    options.report = NULL;
    options.wait_ms = 20000; /* which it takes for the guard */
    ck_assert_int_eq(redlock_try(client, "name", &options, &lock), 0);
    ck_assert_uint_gt(token_of(lock), told);
    ck_assert_int_eq(result, REDLOCK_ENOQUORUM);
    ck_assert_int_eq(votes[1].vote, REDLOCK_VOTE_FAILED);
    ck_assert_msg(strstr(votes[1].text, "too far ahead of this master's clock"), "%s",
                  client_told(&report));
    master_resume(ahead, 0);
}

/* Whichever two of the three answer first. */
TEST(lost, master_that_is_ahead_is_left_out)
{
    enum { TRIES = 60 };
    redlock_options options = fenced(REDLOCK_PLAIN);
    redlock_lock *lock = NULL;
    CLIENT client = open_with_one_ahead();
    uint64_t last = 0;
    options.ttl_ms = 2000;
    for (int i = 0; i < TRIES; i++) {
        ck_assert_int_eq(redlock_try(client, "name", &options, &lock), 0);
        ck_assert_uint_gt(redlock_fencing_token(lock), last);
        last = redlock_fencing_token(lock);
        ck_assert_int_eq(redlock_release(lock), 0);
    }
}

static void *try_in_vain(void *argument)
{
    redlock_options options = fenced(REDLOCK_REENTRANT);
    redlock_lock *lock = NULL;
    options.ttl_ms = 2000;
    options.wait_ms = 1000;
    ck_assert_int_lt(redlock_try(argument, "name", &options, &lock), 0);
    return NULL;
}

/* The third is away, so every majority has the one ahead in it. A round that is in vain wakes
 * the other waiters when it is undone: they must not drive each other. */
TEST(lost, rounds_without_token_are_few)
{
    enum { WAITERS = 8, ROUNDS = 30 * WAITERS }; /* by backoff each begins some 15 */
    redlock *client[WAITERS] = {open_with_one_ahead()};
    pthread_t waiter[WAITERS];
    uint64_t rounds = 0;
    for (unsigned i = 1; i < WAITERS; i++) {
        client[i] = client_open(getenv("REDLOCK_NODES"));
        ck_assert(wait_until(client_ready(client[i]) == 3, 20000));
    }
    master_pause(masters, 1);
    for (unsigned i = 0; i < WAITERS; i++)
        ck_assert_int_eq(pthread_create(&waiter[i], NULL, try_in_vain, client[i]), 0);
    for (unsigned i = 0; i < WAITERS; i++)
        pthread_join(waiter[i], NULL);
    for (unsigned i = 0; i < WAITERS; i++) {
        redlock_stats stats = REDLOCK_STATS_INIT;
        redlock_get_stats(client[i], &stats);
        rounds += stats.rounds;
    }
    ck_assert_uint_ge(rounds, WAITERS);
    ck_assert_uint_le(rounds, ROUNDS);
    master_resume(masters, 1);
    for (unsigned i = 0; i < WAITERS; i++)
        redlock_close(client[i]);
}

TEST(lost, counter_ends_and_lock_of_other_kinds_has_none_for_ever)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(one, "name");
    for (unsigned node = 0; node < 3; node++) {
        ck_assert(wait_until(master_has(masters, node, "name"), 5000));
        struct reply reply = master_do(masters, node, "PTTL", COUNTER("name"), (char *)NULL);
        ck_assert_int_gt(reply.number, RL_FENCE_LIFE_MS - 60000);
        ck_assert_int_le(reply.number, RL_FENCE_LIFE_MS + 31000);
        master_do(masters, node, "PEXPIRE", COUNTER("name"), "50000", (char *)NULL);
    }
    ck_assert_int_eq(redlock_extend(lock, 25000, NULL), 0); /* which lengthens it, too */
    unsigned longer = 0;
    for (unsigned node = 0; node < 3; node++)
        longer +=
            master_do(masters, node, "PTTL", COUNTER("name"), (char *)NULL).number > 60000;
    ck_assert_uint_ge(longer, 2);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(lost, renewal_writes_token_where_it_is_missing)
{
    redlock_options options = fenced(REDLOCK_PLAIN);
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    options.ttl_ms = 900;
    options.auto_renew = 1;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), 0);
    uint64_t token = redlock_fencing_token(lock);
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    /* A master that lost everything is healed with the lock's key and its counter. */
    master_do(masters, 1, "FLUSHALL", (char *)NULL);
    master_do(masters, 2, "DEL", COUNTER("name"), (char *)NULL);
    for (unsigned node = 0; node < 3; node++)
        ck_assert(wait_until(counter_at(node, COUNTER("name")) == token, 5000));
    ck_assert_uint_eq(redlock_fencing_token(lock), token);
    ck_assert_int_eq(redlock_release(lock), 0);
}

TEST(lost, master_that_is_healed_gets_token)
{
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(one, "name");
    ck_assert(wait_until(masters_with(masters, "name") == 3, 5000));
    master_do(masters, 1, "FLUSHALL", (char *)NULL);
    ck_assert_int_eq(redlock_extend(lock, 25000, NULL), 0);
    /* Its refusal may come after the call: another call of the client takes it. */
    ck_assert(wait_until(client_ready(one) == 3 && master_has(masters, 1, "name"), 5000));
    ck_assert_uint_eq(counter_at(1, COUNTER("name")), redlock_fencing_token(lock));
    ck_assert_int_eq(redlock_release(lock), 0);
}

/* ---- what stands there ---------------------------------------------------------------------
 */

TEST(data, counter_that_is_no_number_gives_no_vote, .rows = 6)
{
    static const char *const wrong[] = {
        "x", "-1", "1.5", "9007199254740991", "99999999999999999", ""};
    redlock_options options = fenced(REDLOCK_PLAIN);
    redlock_node_vote votes[3];
    redlock_report report = REDLOCK_REPORT_INIT(votes, 3);
    redlock_lock *lock = NULL;
    options.report = &report;
    OPEN_CLIENTS(3, NULL);
    for (unsigned node = 0; node < 2; node++)
        set_counter(node, COUNTER("name"), wrong[_i]);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_ENOQUORUM);
    ck_assert_msg(strstr(votes[0].text, "the fencing counter {name}:redlock:fence is no number"),
                  "%s", votes[0].text);
    ck_assert(wait_until(masters_with(masters, "name") == 0, 5000));
}

TEST(data, greatest_number_is_last_one)
{
    OPEN_CLIENTS(1, NULL);
    set_counter(0, COUNTER("name"), "9007199254740990");
    redlock_lock *lock = take(one, "name");
    ck_assert_uint_eq(redlock_fencing_token(lock), UINT64_C(9007199254740991));
    ck_assert_int_eq(redlock_release(lock), 0);
    redlock_options options = fenced(REDLOCK_PLAIN);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_ENOQUORUM);
}

TEST(data, data_of_other_type_gives_no_vote)
{
    redlock_options options = fenced(REDLOCK_PLAIN);
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(1, NULL);
    master_do(masters, 0, "LPUSH", COUNTER("name"), "a", (char *)NULL);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_ENOQUORUM);
    ck_assert(!master_has(masters, 0, "name"));
}

/* ---- kinds --------------------------------------------------------------------------------
 */

TEST(kinds, reader_has_none, .rows = 2)
{
    redlock_options options = fenced(REDLOCK_READ);
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(_i == 0 ? 3 : 1, NULL);
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_ENOTSUP);
    options = fenced(REDLOCK_PLAIN);
    options.fenced = 2;
    ck_assert_int_eq(redlock_try(one, "name", &options, &lock), REDLOCK_EINVAL);
}

TEST(kinds, reentry_keeps_token, .rows = 4)
{
    int kind = _i % 2 ? REDLOCK_WRITE : REDLOCK_REENTRANT;
    OPEN_CLIENTS(_i / 2 ? 1 : 3, NULL);
    redlock_lock *outer = take_as(one, "name", kind);
    redlock_lock *inner = take_as(one, "name", kind);
    uint64_t token = redlock_fencing_token(outer);
    ck_assert_uint_eq(redlock_fencing_token(inner), token);
    ck_assert_int_eq(redlock_release(outer), 0);
    ck_assert_uint_eq(redlock_fencing_token(inner), token);
    redlock_lock *innermost = take_as(one, "name", kind);
    ck_assert_uint_eq(redlock_fencing_token(innermost), token);
    ck_assert_int_eq(redlock_release(inner), 0);
    ck_assert_int_eq(redlock_release(innermost), 0);
    ck_assert_uint_gt(token_of(take_as(two, "name", kind)), token);
}

/* The number at the masters may be that of an earlier holder, whose late writes must be
 * refused. */
TEST(kinds, inner_hold_in_one_without_token_is_above_earlier_holders, .rows = 4)
{
    static const struct {
        int kind;
        unsigned masters;
    } table[] = {
        {REDLOCK_REENTRANT, 1}, {REDLOCK_FAIR, 1}, {REDLOCK_REENTRANT, 3}, {REDLOCK_WRITE, 3}};
    int kind = table[_i].kind;
    OPEN_CLIENTS(table[_i].masters, NULL);
    redlock_lock *earlier = take_as(one, "name", kind);
    uint64_t token = redlock_fencing_token(earlier);
    ck_assert_int_eq(redlock_release(earlier), 0);
    redlock_lock *outer = NULL;
    redlock_options options = REDLOCK_OPTIONS_INIT;
    options.kind = kind;
    ck_assert_int_eq(redlock_try(two, "name", &options, &outer), 0);
    ck_assert_uint_eq(redlock_fencing_token(outer), 0);
    ck_assert_uint_gt(token_of(take_as(two, "name", kind)), token);
    ck_assert_int_eq(redlock_release(outer), 0);
}

TEST(kinds, one_token_is_above_those_of_all_names)
{
    static const char *const names[] = {"a", "b", "c"};
    redlock_options options = fenced(REDLOCK_PLAIN);
    redlock_lock *lock = NULL;
    OPEN_CLIENTS(3, NULL);
    uint64_t far = rl_clock_wall_us() + 20 * 1000000, token;
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)far);
    for (unsigned node = 0; node < 3; node++)
        set_counter(node, COUNTER("b"), text);
    ck_assert_int_eq(redlock_try_names(one, names, 3, &options, &lock), 0);
    token = redlock_fencing_token(lock);
    ck_assert_uint_gt(token, far);
    ck_assert_int_eq(redlock_release(lock), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_gt(token_of(take(two, names[i])), token);
}

TEST(kinds, reentrant_lock_on_one_master_has_redissons_counter)
{
    OPEN_CLIENTS(1, NULL);
    set_counter(0, "redisson_lock_token:{name}", "41");
    uint64_t token = token_of(take_as(one, "name", REDLOCK_REENTRANT));
    ck_assert_uint_gt(token, 41);
    ck_assert_uint_eq(counter_at(0, "redisson_lock_token:{name}"), token);
    ck_assert_int_eq(
        master_do(masters, 0, "PTTL", "redisson_lock_token:{name}", (char *)NULL).number, -1);
    ck_assert_int_eq(
        master_do(masters, 0, "INCR", "redisson_lock_token:{name}", (char *)NULL).type, ':');
    ck_assert_uint_gt(token_of(take_as(two, "name", REDLOCK_REENTRANT)), token + 1);
}

/* ---- handles, waiting, many ------------------------------------------------------------- */

TEST(use, detached_text_has_token)
{
    char text[REDLOCK_HANDLE_MAX];
    OPEN_CLIENTS(3, NULL);
    redlock_lock *lock = take(one, "name"), *again = NULL;
    uint64_t token = redlock_fencing_token(lock);
    ck_assert_int_eq(redlock_detach(lock, text, sizeof(text)), 0);
    ck_assert_int_eq(redlock_attach(two, text, &again), 0);
    ck_assert_uint_eq(redlock_fencing_token(again), token);
    for (unsigned node = 0; node < 3; node++)
        master_do(masters, node, "DEL", COUNTER("name"), (char *)NULL);
    ck_assert_int_eq(redlock_extend(again, 25000, NULL), 0);
    unsigned having = 0;
    for (unsigned node = 0; node < 3; node++)
        having += counter_at(node, COUNTER("name")) == token;
    ck_assert_uint_ge(having, 2);
    ck_assert_int_eq(redlock_release(again), 0);
}

enum { TURNS = 60 };

struct contender {
    redlock *client;
    pthread_t thread;
};

static uint64_t highest; /* under the lock: what a storage has seen */
static int refused_writes;

static void *contend(void *context)
{
    const struct contender *contender = context;
    redlock_options options = fenced(REDLOCK_PLAIN);
    options.wait_ms = REDLOCK_FOREVER;
    for (int i = 0; i < TURNS; i++) {
        redlock_lock *lock = NULL;
        if (redlock_try(contender->client, "name", &options, &lock) != 0)
            suite_die("a contender got no lock");
        uint64_t token = redlock_fencing_token(lock);
        if (token <= highest)
            refused_writes++;
        highest = token;
        redlock_release(lock);
    }
    return NULL;
}

TEST(use, waiters_get_tokens_in_order_of_their_holds)
{
    struct contender contenders[6];
    OPEN_CLIENTS(3, NULL);
    highest = 0;
    for (int i = 0; i < 6; i++) {
        contenders[i].client = i % 2 ? one : two;
        ck_assert_int_eq(pthread_create(&contenders[i].thread, NULL, contend, &contenders[i]),
                         0);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(contenders[i].thread, NULL);
    ck_assert_int_eq(refused_writes, 0);
}

CASE(order, .timeout_s = 60)
CASE(lost, .timeout_s = 90)
CASE(use, .timeout_s = 60)
