/* test_reentrant_denied.c - the scripts of the reentrant kind for a user who may not do all:
 * what is done with a lock is done where only telling of it is denied; else it is an error,
 * nothing is changed, and nothing is taken for another kind of lock. */
#include "config_auto.h"

#include "script_talk.h"

#include <stdio.h>
#include <string.h>

#define CHANNEL "redisson_lock__channel:{k}"

static struct script_told run(struct talk *via, enum rl_verb verb, const char *token)
{
    struct script_call call = {
        .row = REDLOCK_REENTRANT,
        .name = "k",
        .owner = "me",
        .token = token,
        .ttl_ms = 60000,
        .reserve_ms = 20,
    };
    return script_run(via, verb, &call);
}

static int64_t count(void)
{
    return talk_do(&talk_here, "SCARD", "{k}:redlock:holds", (char *)NULL).number;
}

TEST(denied, release_is_done_where_it_cannot_be_told, .rows = 3)
{
    static const char *const rules[][4] = {
        {"~*", "resetchannels"},
        {"~*", "resetchannels", "&redlock:wake:*"},
        {"~*", "&*", "-publish"},
    };
    struct talk ear, restricted;
    struct talk_message messages[TALK_CALLS_MAX];
    talk_open(&ear, talk_masters, 0);
    ck_assert_int_eq(talk_do(&ear, "SUBSCRIBE", CHANNEL, (char *)NULL).type, '*');
    talk_log_in(&talk_here, talk_masters, rules[_i], &restricted);
    ck_assert_int_eq(run(&restricted, RL_ACQUIRE, "a").yes, 1);
    ck_assert_int_eq(run(&restricted, RL_ACQUIRE_OR_QUEUE, "b").yes, 1);
    ck_assert_int_eq(run(&restricted, RL_EXTEND, "a").yes, 1);
    ck_assert_int_eq(count(), 2);
    ck_assert_int_eq(run(&restricted, RL_RELEASE, "a").yes, 1);
    ck_assert_int_eq(count(), 1);
    ck_assert_int_eq(run(&restricted, RL_RELEASE, "b").yes, 1);
    ck_assert_int_eq(talk_do(&talk_here, "DBSIZE", (char *)NULL).number, 0);
    ck_assert_uint_eq(talk_messages(&ear, messages), 0);
    /* And it would have been. */
    ck_assert_int_eq(run(&talk_here, RL_ACQUIRE, "a").yes, 1);
    ck_assert_int_eq(run(&talk_here, RL_RELEASE, "a").yes, 1);
    ck_assert_uint_eq(talk_messages(&ear, messages), 1);
    talk_close(&ear);
    talk_close(&restricted);
}

/* Half a right is none: an error for all, whether there is a lock or not. */
TEST(denied, denied_command_is_error_and_changes_nothing, .rows = 4)
{
    static const char *const rules[][5] = {
        {"~k", "~redisson*", "&*"}, /* not the tokens */
        {"~{k}:redlock:holds", "~redisson*", "&*"},
        {"~*", "&*", "-hmget"},
        {"~*", "&*", "-sismember", "-srem"},
    };
    static const enum rl_verb verbs[] = {RL_ACQUIRE, RL_ACQUIRE_OR_QUEUE, RL_EXTEND,
                                         RL_RETAKE, RL_RELEASE};
    struct talk restricted;
    talk_log_in(&talk_here, talk_masters, rules[_i], &restricted);
    for (unsigned held = 0; held < 2; held++) {
        for (unsigned i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
            bool looks = held || verbs[i] == RL_ACQUIRE || verbs[i] == RL_ACQUIRE_OR_QUEUE ||
                         verbs[i] == RL_RETAKE || _i < 3;
            struct script_told told = run(&restricted, verbs[i], "a");
            ck_assert_msg(told.type == '-' || (!looks && told.yes == 0), "%s, %s: %d",
                          rl_kind(REDLOCK_REENTRANT)->script[verbs[i]].name,
                          held ? "held" : "free", (int)told.yes);
            ck_assert_int_eq(count(), held);
            ck_assert_int_eq(talk_do(&talk_here, "DBSIZE", (char *)NULL).number, held ? 2 : 0);
        }
        ck_assert_int_eq(run(&talk_here, RL_ACQUIRE, "a").yes, 1);
    }
    talk_close(&restricted);
}

CASE(denied, TALK_FIXTURES, .timeout_s = 30)
