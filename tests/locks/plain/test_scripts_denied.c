/* test_scripts_denied.c - what a user may not do, and what is not a queue, costs the waiters
 * their turn but never a lock: what is done with it is done, and told as always. */
#include "config_auto.h"

#include "scripts_scene.h"

#include <stdio.h>
#include <string.h>

/* A user who may do everything but what the rules say. */
static struct talk restricted;

/* What its script answers to this user: no error, and as many elements as always. */
static int few(unsigned client, enum rl_verb verb)
{
    struct script_told told = as(&restricted, client, verb, KEEP_MS);
    ck_assert_msg(told.type == '*', "%s", told.text);
    bool acquires = verb == RL_ACQUIRE || verb == RL_ACQUIRE_OR_QUEUE;
    ck_assert_uint_eq(told.parts, told.yes || !acquires         ? 2
                                  : verb == RL_ACQUIRE_OR_QUEUE ? 5
                                                                : 4);
    if (told.parts > 2) {
        ck_assert(told.left_ms > TTL_MS - 10000 && told.left_ms <= TTL_MS);
        ck_assert_uint_gt(told.holder_len, 0);
    }
    return (int)told.yes;
}

static void take_hold_and_give_up(enum rl_verb by)
{
    ck_assert_int_eq(few(1, RL_ACQUIRE_OR_QUEUE), 1);
    ck_assert_int_eq(few(2, RL_ACQUIRE_OR_QUEUE), 0);
    ck_assert_int_eq(few(1, RL_EXTEND), 1);
    ck_assert_int_eq(few(2, RL_RELEASE), 0);
    ck_assert_int_eq(few(3, RL_DEQUEUE), 1);
    ck_assert_int_eq(few(1, by), 1);
}

static const char *const some_rules[][10] = {
    {"~*", "resetchannels"},
    {"~*", "resetchannels", "&redlock:wake:other*"},
    {"~*", "&*", "-publish"},
    {"~*", "&*", "-zrange"},
    {"~*", "&*", "-zrem"},
    {"~*", "&*", "-zadd"},
    {"~*", "&*", "-zrank"},
    {"~*", "&*", "-time"},
    {"~*", "&*", "-@sortedset"},
    /* What locks alone need. */
    {"~*", "resetchannels", "-@all", "+eval", "+set", "+get", "+del", "+pttl", "+pexpire"},
};
enum { SOME_RULES = sizeof(some_rules) / sizeof(some_rules[0]) };

/* Every right that only waiting needs, taken away: locks come and go. A waiter is woken where
 * the rights that are left allow it. */
TEST(denied, without_rights_of_waiters_locks_come_and_go, .rows = SOME_RULES)
{
    static const enum rl_verb ways[] = {RL_RELEASE, RL_FORCE};
    listen_as(2);
    talk_log_in(&talk, scripts_masters, some_rules[_i], &restricted);
    for (unsigned i = 0; i < 2; i++) {
        talk_do(&talk, "DEL", QUEUE, (char *)NULL);
        take_hold_and_give_up(ways[i]);
        unsigned woken = called();
        ck_assert(woken == 0 || woken == 2);
        ck_assert_uint_eq(kept_for(), woken);
        talk_do(&talk, "DEL", LOCK, (char *)NULL);
    }
    talk_close(&restricted);
}

/* The queue is there, by others who may: a release by one who may not. */
TEST(denied, release_is_done_where_nobody_can_be_woken)
{
    /* With all rights but these it would have been client 2's turn. */
    static const char *const mute[][5] = {
        {"~*", "resetchannels"},
        {"~*", "&*", "-publish"},
        {"~*", "&*", "-zrange"},
        {"~*", "&*", "-zrem"},
    };
    listen_as(2);
    for (unsigned i = 0; i < 2 * sizeof(mute) / sizeof(mute[0]); i++) {
        talk_do(&talk, "DEL", QUEUE, LOCK, (char *)NULL);
        contend();
        talk_log_in(&talk, scripts_masters, mute[i / 2], &restricted);
        ck_assert_int_eq(few(1, i % 2 ? RL_FORCE : RL_RELEASE), 1);
        ck_assert_int_eq(lock_left_ms(), -2);
        ck_assert_uint_eq(called(), 0);
        ck_assert_int_ge(queue_len(), 2); /* one may have lost its place */
        talk_close(&restricted);
    }
    /* And it would have been. */
    talk_do(&talk, "DEL", QUEUE, (char *)NULL);
    contend();
    ck_assert_int_eq(yes(1, RL_RELEASE), 1);
    ck_assert_uint_eq(called(), 2);
}

/* A pattern for the names covers the queues. */
TEST(denied, right_to_names_is_one_to_queues)
{
    static const char *const rules[] = {"~orders:*", "~{orders:*", "resetchannels", "&redlock:wake:*", NULL};
    listen_as(2);
    talk_log_in(&talk, scripts_masters, rules, &restricted);
    take_hold_and_give_up(RL_RELEASE);
    ck_assert_uint_eq(called(), 2);
    ck_assert_uint_eq(kept_for(), 2);
    ck_assert_int_eq(few(2, RL_ACQUIRE_OR_QUEUE), 1);
    ck_assert_int_eq(few(2, RL_RELEASE), 1);
    talk_close(&restricted);
    ck_assert_int_eq(talk_do(&talk, "DBSIZE", (char *)NULL).number, 0);
}

static int64_t data_len(void)
{
    return talk_do(&talk, "LLEN", QUEUE, (char *)NULL).number;
}

/* Somebody's data where the queue should be stays as it is, for as long as it did. */
TEST(denied, foreign_data_in_place_of_queue_is_left_alone)
{
    static const enum rl_verb ways[] = {RL_RELEASE, RL_FORCE};
    talk_do(&talk, "RPUSH", QUEUE, "some", "data", (char *)NULL);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_eq(yes(1, RL_ACQUIRE_OR_QUEUE), 1);
        struct script_told told = as(&talk, 2, RL_ACQUIRE_OR_QUEUE, KEEP_MS);
        ck_assert(told.type == '*' && told.parts == 5 && told.yes == 0 && told.place == -1);
        ck_assert_int_eq(yes(2, RL_DEQUEUE), 1);
        ck_assert_int_eq(yes(1, ways[i]), 1);
        ck_assert_int_eq(lock_left_ms(), -2);
        ck_assert_int_eq(yes(2, RL_DEQUEUE), 1);
        ck_assert_int_eq(yes(1, RL_RELEASE), 0);
        ck_assert_int_eq(yes(1, RL_FORCE), 0);
        ck_assert_int_eq(data_len(), 2);
        ck_assert_int_eq(talk_do(&talk, "PTTL", QUEUE, (char *)NULL).number, -1);
    }
}

/* Data under the lock's own name is nobody's turn. */
TEST(denied, foreign_data_in_place_of_lock_is_left_alone)
{
    static const enum rl_verb verbs[] = {RL_ACQUIRE, RL_EXTEND, RL_RETAKE, RL_RELEASE,
                                         RL_ACQUIRE_OR_QUEUE};
    listen_as(2);
    listen_as(3);
    contend();
    talk_do(&talk, "DEL", LOCK, (char *)NULL);
    talk_do(&talk, "RPUSH", LOCK, "some", "data", (char *)NULL);
    for (unsigned i = 0; i <= sizeof(verbs) / sizeof(verbs[0]); i++) {
        bool leaves = i == sizeof(verbs) / sizeof(verbs[0]);
        struct script_told told = as(&talk, 2, leaves ? RL_DEQUEUE : verbs[i], KEEP_MS);
        bool wants = !leaves && (verbs[i] == RL_ACQUIRE || verbs[i] == RL_ACQUIRE_OR_QUEUE);
        ck_assert_int_eq(told.type, '*');
        ck_assert_int_eq(told.yes,
                         wants ? RL_REPLY_WRONGTYPE : leaves); /* who wants it is told */
        ck_assert_int_eq(talk_do(&talk, "LLEN", LOCK, (char *)NULL).number, 2);
        ck_assert_int_eq(lock_left_ms(), -1);
        ck_assert_int_eq(queue_len(), leaves ? 2 : 3); /* to leave is one's own business */
        ck_assert_uint_eq(called(), 0);
    }
}

/* No memory to enter the queue or to take a lock, but what is held is given up. */
TEST(denied, master_without_memory_lets_go)
{
    listen_as(2);
    contend();
    talk_do(&talk, "CONFIG", "SET", "maxmemory", "1", (char *)NULL);
    struct script_told told = as(&talk, 4, RL_ACQUIRE_OR_QUEUE, KEEP_MS);
    ck_assert(told.type == '*' && told.parts == 5 && told.yes == 0);
    told = as(&talk, 1, RL_RELEASE, KEEP_MS);
    talk_do(&talk, "CONFIG", "SET", "maxmemory", "0", (char *)NULL);
    ck_assert_msg(told.type == '*' && told.yes == 1, "%s", told.text);
    ck_assert_uint_eq(called(), 2);
    ck_assert_uint_eq(kept_for(), 2);
}

CASE(denied,
     .timeout_s = 30, .set_up_once = scripts_start, .tear_down_once = scripts_stop,
     .set_up = scripts_begin, .tear_down = scripts_end)
